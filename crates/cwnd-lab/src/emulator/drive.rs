//! The emulator's loop: packets are read from one end's device, go through the network in its own time, and are written to the
//! other end's device when they are due.

use super::account::{FlowCounts, is_back};
use super::change::change;
use super::device::Device;
use super::lateness::{Lateness, RateMeter};
use super::net::{Inside, Net, Way, progress};
use super::packet;
use super::pool::{Frame, Meta};
use super::segments;
use crate::address;
use crate::receivers::Receivers;
use cwnd_net::{Delivery, LinkCounts};
use cwnd_scenario::LinkSpec;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Packets that are read from a device before due packets are written, at most.
const BATCH: usize = 16;

/// What is due so soon is waited for without sleeping, ns: to sleep and wake takes longer.
const SPIN: u64 = 4_000;

/// See [`Batching::wakings`].
const PERIOD: u64 = 1_000_000;

/// A loop that has not slept for so long rests once, even if there is more to do, ns. The kernel stops a thread of real-time priority that is
/// always busy for up to 50 ms of each second (`sched_rt_runtime_us`).
const BUSY: u64 = 1_000_000;

/// How long it rests then, ns.
const BUSY_REST: u64 = 60_000;

/// Longest time between checks whether the loop is to stop, ns.
const LOOK: u64 = 20_000_000;

/// How often others are told how far it is, ns.
const TELL: u64 = 50_000_000;

/// Which end a packet is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where flows are sent from.
    Senders = 0,
    /// Where they are received.
    Receivers = 1,
}

/// Is shown every packet as it leaves an end, and as it reaches one. Must be quick: the network waits for it.
pub trait PacketObserver: Send {
    /// `bytes` crosses the device of that end at `time`, ns on the emulator's clock.
    fn packet(&mut self, end: End, time: u64, bytes: &[u8]);
}

/// What the emulator is to do, on its own clock, which begins when [`Clock::start`] is called.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Counts are kept as they were then, if at all, ns.
    pub warm_up: Option<u64>,
    /// When it ends by itself, ns.
    pub end: u64,
    /// When to note the queues' lengths, ns: never falling.
    pub samples: Vec<u64>,
    /// Of which links.
    pub sampled: Vec<usize>,
    /// How it handles packets together.
    pub batching: Batching,
}

/// How packets are handled together, to handle more of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batching {
    /// Exact wake-ups in each millisecond. After those the loop sleeps for `rest` each time, and packets are up to that late. A wake-up
    /// costs more than a packet: 18 us of CPU time in a virtual machine, where 100,000 packets a second leave 10 us for each.
    pub wakings: u32,
    /// How long the loop rests at a time where much happens, ns.
    pub rest: u64,
    /// Packets of a flow that come out one after the other are received as one; see [`Device::new`].
    pub joins: bool,
}

/// The emulator's clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// It begins now.
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    /// ns since it began.
    #[inline]
    pub fn now(self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
}

/// All counts at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// When, ns.
    pub at: u64,
    /// One for each flow.
    pub flows: Vec<FlowCounts>,
    /// One for each link.
    pub links: Vec<LinkCounts>,
    /// Packets that wait at each link.
    pub waiting: Vec<u32>,
}

/// How far it is.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// What has been counted.
    pub counts: Counts,
    /// Median, 99th percentile and maximum of how late packets came out, ns.
    pub late: [u64; 3],
    /// The greatest deviation of the bottleneck's rate, as a share of it, over a second in which it never rested.
    pub rate_error: Option<f64>,
    /// Every flow has an end, and has reached it.
    pub completed: bool,
}

/// What the links are to be from now on.
#[derive(Clone, Debug)]
pub struct NewLinks {
    /// All links of the network, in the scenario's order.
    pub links: Vec<LinkSpec>,
    /// How it handles packets together from then on.
    pub batching: Batching,
}

/// New links, and who waits for the answer.
type Change = (NewLinks, SyncSender<Result<u64, String>>);

/// What joins the emulator's thread with others.
#[derive(Default)]
pub struct Control {
    stop: AtomicBool,
    snapshot: Mutex<Snapshot>,
    changes: Mutex<Vec<Change>>,
}

/// How long a change may take.
const CHANGE: Duration = Duration::from_secs(5);

impl Control {
    /// End it soon.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How far it was at most a twentieth of a second ago.
    pub fn snapshot(&self) -> Snapshot {
        lock(&self.snapshot).clone()
    }

    /// Changes the links, and waits until that has been done. Returns when that was, ns on the emulator's clock.
    ///
    /// # Errors
    /// What cannot change while the emulator runs. Nothing is changed then.
    pub fn change(&self, to: NewLinks) -> Result<u64, String> {
        let (done, answer) = mpsc::sync_channel(1);
        lock(&self.changes).push((to, done));
        answer.recv_timeout(CHANGE).unwrap_or_else(|_| Err("the emulator does not run any more".to_owned()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an emulator answers when it ends.
#[derive(Clone, Default)]
pub struct Record {
    /// At the end of the warm-up, if it came so far.
    pub at_warm_up: Option<Counts>,
    /// Then, and at the end: for each flow and each link of its data's way, the wire bytes of new data that had left the link;
    /// the first with what was in transmission.
    pub bytes_left: [Vec<Vec<u64>>; 2],
    /// At the end.
    pub at_end: Counts,
    /// Data packets of each flow that are in the network at the end.
    pub flows_in_flight: Vec<u64>,
    /// Packets at each link at the end.
    pub links_in_flight: Vec<u64>,
    /// Queue lengths: for each time at which they were to be noted and that came, one for each link that is sampled.
    pub queue_lengths: Vec<Vec<u32>>,
    /// How late packets came out.
    pub lateness: Lateness,
    /// The greatest deviation of the bottleneck's rate, as a share of it, over a second in which it never rested.
    pub rate_error: Option<f64>,
    /// Every flow has an end, and has reached it.
    pub completed: bool,
    /// Packets that an end's namespace refused when they were written to its device, and why the first was.
    pub refused: (u64, Option<String>),
    /// Packets that could not be read as IP packets.
    pub strangers: u64,
}

/// An emulator, ready to run.
pub struct Drive {
    net: Net,
    /// As they are now.
    links: Vec<LinkSpec>,
    devices: Devices,
    flows: u32,
    clock: Clock,
    plan: Plan,
    record: Record,
    /// When the present period of wakings began, and how many there were.
    wakings: (u64, u32),
    /// When it slept last, ns.
    slept: u64,
    /// The receivers for whom this thread reads, if it does.
    receivers: Option<Receivers>,
}

/// The devices at both ends of the network, and what is measured there.
struct Devices {
    ends: [Device; 2],
    clock: Clock,
    lateness: Lateness,
    meter: Option<RateMeter>,
    packet_observer: Option<Box<dyn PacketObserver>>,
    /// Packets have been written to the receivers' device since their sockets were read.
    came_out: bool,
}

impl Devices {
    /// Writes a packet that is due to the device of its end, or lets it wait there to be joined with what comes.
    #[inline]
    fn deliver(&mut self, delivery: Delivery<Frame>, inside: &mut Inside) {
        let to = if is_back(delivery.packet.meta.way) { End::Senders } else { End::Receivers };
        if !self.ends[to as usize].can_take(&delivery.packet) {
            self.write(to, inside);
        }
        if !self.ends[to as usize].take(delivery) {
            self.write(to, inside);
        }
    }

    /// Writes what waits at that end's device.
    #[inline]
    fn write(&mut self, to: End, inside: &mut Inside) {
        let now = self.clock.now();
        for Delivery { at, packet: frame, .. } in self.ends[to as usize].outgoing() {
            let late = now.saturating_sub(*at);
            self.lateness.record(late);
            if let (Some(meter), Some(sent)) = (&mut self.meter, frame.meta.sent) {
                meter.record(sent, late);
            }
            if let Some(observer) = &mut self.packet_observer {
                observer.packet(to, now, &segments::on_the_wire(frame));
            }
            // Before it is written: the answer may come while it is.
            inside.accounts.out(now, frame);
        }
        self.ends[to as usize].write(&mut inside.pool);
        self.came_out |= to == End::Receivers;
    }

    /// Writes what has waited long enough to be joined with what comes. Returns when there is more of it, ns.
    #[inline]
    fn write_due(&mut self, now: u64, inside: &mut Inside) -> Option<u64> {
        for end in [End::Senders, End::Receivers] {
            if self.ends[end as usize].deadline().is_some_and(|deadline| deadline <= now) {
                self.write(end, inside);
            }
        }
        self.ends.iter().filter_map(Device::deadline).min()
    }

    /// Returns how many packets the namespaces refused, and why the first was.
    fn refused(&self) -> (u64, Option<String>) {
        let [senders, receivers] = self.ends.each_ref().map(Device::refused);
        (senders.0 + receivers.0, senders.1.clone().or_else(|| receivers.1.clone()))
    }
}

impl Drive {
    /// An emulator of this network of links between `ends`, the devices of the senders' and the receivers' namespace. `meter` measures the
    /// bottleneck's rate.
    pub fn new(
        net: Net,
        links: Vec<LinkSpec>,
        ends: [Device; 2],
        clock: Clock,
        meter: Option<RateMeter>,
        plan: Plan,
        packet_observer: Option<Box<dyn PacketObserver>>,
    ) -> Drive {
        let devices =
            Devices { ends, clock, lateness: Lateness::default(), meter, packet_observer, came_out: false };
        let flows = (net.routes().len() / 2) as u32;
        Drive {
            net,
            links,
            devices,
            flows,
            clock,
            plan,
            record: Record::default(),
            wakings: (0, 0),
            slept: 0,
            receivers: None,
        }
    }

    /// Makes the emulator's thread read for these receivers.
    pub fn set_receivers(&mut self, receivers: Receivers) {
        self.receivers = Some(receivers);
    }

    /// Run until the plan's end, or until it is told to stop.
    ///
    /// # Errors
    /// If a device does not work.
    pub fn run(mut self, control: &Control) -> io::Result<Record> {
        let mut next_look = 0;
        let mut next_tell = 0;
        loop {
            let now = self.clock.now();
            let until = now.min(self.plan.end);
            self.sample(until);
            self.advance(until);
            if now >= next_look {
                // The ends of the warm-up and of all are met when they come.
                let ends = [self.plan.warm_up, Some(self.plan.end)].into_iter().flatten();
                let tells = (now / TELL + 1) * TELL;
                next_look = ends.filter(|end| *end > now).fold((now + LOOK).min(tells), u64::min);
                if control.stop.load(Ordering::Relaxed) || now >= self.plan.end {
                    return Ok(self.end(until));
                }
                self.keep_warm_up(now);
                for (to, done) in std::mem::take(&mut *lock(&control.changes)) {
                    // Who does not wait any more has given up.
                    let _ = done.try_send(self.change(now, to).map(|()| now));
                }
                if now >= next_tell {
                    next_tell = tells;
                    *lock(&control.snapshot) = self.snapshot(now);
                }
            }
            self.serve()?;
            let came = self.read(End::Senders)? + self.read(End::Receivers)?;
            let next_write = self.devices.write_due(now, self.net.observer_mut()).unwrap_or(u64::MAX);
            let is_busy = now.saturating_sub(self.slept) > BUSY;
            if came == 0 || is_busy {
                let next_sample =
                    self.plan.samples.get(self.record.queue_lengths.len()).copied().unwrap_or(u64::MAX);
                // What happens inside the network meanwhile happens at its own time, whenever it is looked at.
                let next_delivery = self.net.no_delivery_before().unwrap_or(u64::MAX);
                let wake = next_delivery.min(next_look).min(next_sample).min(next_write);
                self.wait(wake, is_busy)?;
            }
        }
    }

    /// Lets happen what happens by `now`.
    #[inline]
    fn advance(&mut self, now: u64) {
        while let Some(delivery) = self.net.next_delivery(now) {
            self.devices.deliver(delivery, self.net.observer_mut());
        }
    }

    /// Reads the receivers' sockets if packets have been written for them. The kernel has handed these to the sockets during the write.
    fn serve(&mut self) -> io::Result<()> {
        if let (Some(receivers), true) = (&mut self.receivers, self.devices.came_out) {
            receivers.serve(Duration::ZERO)?;
        }
        self.devices.came_out = false;
        Ok(())
    }

    fn change(&mut self, now: u64, to: NewLinks) -> Result<(), String> {
        self.advance(now);
        change(&mut self.net, now, &self.links, &to.links)?;
        if let Some(meter) = &mut self.devices.meter {
            meter.set_rate(now, to.links[self.net.observer().bottleneck].rate.0);
        }
        self.links = to.links;
        self.plan.batching = to.batching;
        self.devices.ends.iter_mut().for_each(|end| end.set_joins(to.batching.joins));
        Ok(())
    }

    /// Take what one end has sent. Returns how many packets that were.
    fn read(&mut self, from: End) -> io::Result<usize> {
        for came in 0..BATCH {
            let mut frame = self.net.observer_mut().pool.take();
            if !self.devices.ends[from as usize].read(&mut frame)? {
                self.net.observer_mut().pool.give_back(frame);
                return Ok(came);
            }
            let now = self.clock.now();
            let Some(header) = packet::read(frame.bytes()) else {
                self.net.observer_mut().pool.give_back(frame);
                self.record.strangers += 1;
                continue;
            };
            if let Some(observer) = &mut self.devices.packet_observer {
                observer.packet(from, now, &segments::on_the_wire(&frame));
            }
            let way = way(from, &header, self.flows);
            frame.meta = Meta { way, ecn: header.ecn, tcp: header.tcp, ..frame.meta };
            self.net.observer_mut().accounts.enters(now, &mut frame.meta);
            self.advance(now);
            self.net.send(now, way as usize, frame);
        }
        Ok(BATCH)
    }

    /// Wait until then, or until a packet comes, or rest. A busy loop rests in any case.
    fn wait(&mut self, until: u64, is_busy: bool) -> io::Result<()> {
        let now = self.clock.now();
        let left = until.saturating_sub(now);
        // At rates at which packets are joined, the next one is always this close, and the loop would spin all the time.
        let is_close = left <= SPIN;
        if is_close && !is_busy && !self.plan.batching.joins {
            while self.clock.now() < until {
                std::hint::spin_loop();
            }
            return Ok(());
        }
        if now - self.wakings.0 > PERIOD {
            self.wakings = (now, 0);
        }
        self.wakings.1 += 1;
        let poll = |end: &Device| libc::pollfd { fd: end.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let [senders, receivers] = &self.devices.ends;
        let mut polls = [poll(senders), poll(receivers)];
        // What comes while it rests is found after it.
        let (count, left) = if is_close || is_busy || self.wakings.1 > self.plan.batching.wakings {
            (0, if is_busy { self.plan.batching.rest.min(BUSY_REST) } else { self.plan.batching.rest })
        } else {
            (2, left)
        };
        let timeout = libc::timespec {
            tv_sec: (left / 1_000_000_000) as libc::time_t,
            tv_nsec: (left % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: both structures live as long as the call, and the array is at least as long as said.
        let woken = unsafe { libc::ppoll(polls.as_mut_ptr(), count, &raw const timeout, std::ptr::null()) };
        let error = io::Error::last_os_error();
        self.slept = self.clock.now();
        if woken < 0 && error.kind() != io::ErrorKind::Interrupted { Err(error) } else { Ok(()) }
    }

    /// Note the queues' lengths at the times that have come.
    fn sample(&mut self, now: u64) {
        while let Some(&at) = self.plan.samples.get(self.record.queue_lengths.len())
            && at <= now
        {
            self.advance(at);
            let lengths = self.plan.sampled.iter().map(|&link| self.net.waiting(link) as u32);
            self.record.queue_lengths.push(lengths.collect());
        }
    }

    fn keep_warm_up(&mut self, now: u64) {
        if self.record.at_warm_up.is_none() && self.plan.warm_up.is_some_and(|at| at <= now) {
            self.record.at_warm_up = Some(self.counts(now));
            self.record.bytes_left[0] = self.bytes_left(true);
        }
    }

    fn bytes_left(&self, begun: bool) -> Vec<Vec<u64>> {
        let links = self.net.routes().iter().step_by(2).map(|route| route.links.len());
        self.net.observer().accounts.bytes_left(links, progress(&self.net, begun))
    }

    fn counts(&mut self, at: u64) -> Counts {
        // What waits at a device has come out of the network, and must not be missing on both sides of it.
        self.devices.write_due(u64::MAX, self.net.observer_mut());
        let links = 0..self.net.links();
        Counts {
            at,
            flows: self.net.observer().accounts.counts(),
            waiting: links.clone().map(|link| self.net.waiting(link) as u32).collect(),
            links: links.map(|link| self.net.counts(link, at).clone()).collect(),
        }
    }

    fn snapshot(&mut self, now: u64) -> Snapshot {
        let lateness = &self.devices.lateness;
        Snapshot {
            late: [lateness.quantile(0.5), lateness.quantile(0.99), lateness.max],
            rate_error: self.devices.meter.as_ref().and_then(|meter| meter.error),
            completed: self.net.observer().accounts.all_completed(),
            counts: self.counts(now),
        }
    }

    fn end(mut self, now: u64) -> Record {
        self.sample(now);
        self.keep_warm_up(now);
        let counts = self.counts(now);
        self.record.bytes_left[1] = self.bytes_left(false);
        let mut record = self.record;
        record.flows_in_flight = vec![0; counts.flows.len()];
        record.links_in_flight = vec![0; counts.links.len()];
        for (link, carried) in self.net.packets() {
            let meta = &carried.packet.meta;
            link.into_iter().for_each(|link| record.links_in_flight[link] += 1);
            record.flows_in_flight[meta.way as usize / 2] += u64::from(meta.data);
        }
        record.at_end = counts;
        record.completed = self.net.observer().accounts.all_completed();
        record.refused = self.devices.refused();
        record.lateness = self.devices.lateness;
        record.rate_error = self.devices.meter.and_then(|meter| meter.error);
        record
    }
}

/// The way of a packet that an end has sent: that of the flow whose receiver's address it bears, and else the first flow's.
fn way(from: End, header: &packet::Header, flows: u32) -> Way {
    let (receiver, back) = match from {
        End::Senders => (header.destination, 0),
        End::Receivers => (header.source, 1),
    };
    let flow = address::flow_of(receiver).filter(|flow| *flow < flows).unwrap_or(0);
    2 * flow + back
}
