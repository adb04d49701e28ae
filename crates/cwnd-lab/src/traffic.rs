//! The applications at both ends: one thread sends for all flows and looks at their sockets, another receives, unless the emulator does.

use crate::address;
use crate::emulator::Clock;
use crate::live::LiveFlows;
use crate::namespace::Namespace;
use crate::receivers::Receivers;
use crate::socket::{self, INFINITE_SSTHRESH, TcpInfo};
use crate::states::{FlowStates, StateReader};
use socket2::Socket;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often sockets are looked at, ns: often enough to see each recovery, which lasts a round trip.
const LOOK: u64 = 10_000_000;

/// Bytes that are given to a socket at a time.
const CHUNK: usize = 1 << 18;

/// What a flow is to do, in times of the emulator's clock, ns.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// The kernel's name of its congestion control.
    pub algorithm: String,
    /// When its handshake begins.
    pub connect: u64,
    /// When it may send.
    pub start: u64,
    /// When it gives no more, if ever.
    pub stop: Option<u64>,
    /// How many bytes it has, if not endlessly many.
    pub bytes: Option<u64>,
}

/// What all flows are to do.
#[derive(Clone, Debug)]
pub struct TrafficPlan {
    /// One for each flow.
    pub flows: Vec<FlowPlan>,
    /// Integrals are kept as they were then, if at all.
    pub warm_up: Option<u64>,
    /// When to keep a row of each flow: never falling.
    pub samples: Vec<u64>,
    /// Receives the state of the sockets during the run.
    pub live: Option<Arc<LiveFlows>>,
}

/// What a flow's socket told.
#[derive(Clone, Debug, Default)]
pub struct FlowRecord {
    /// When it began to send, if it did.
    pub started: Option<u64>,
    /// When it gave no more, if it did before its end.
    pub stopped: Option<u64>,
    /// The window integrated over time, segments x ns.
    pub cwnd_integral: f64,
    /// The largest window or finite slow-start threshold that was seen, segments.
    pub window_max: u32,
    /// Times at which it was found in recovery, reduction or loss, and had not been before.
    pub congestion_events: u64,
    /// What the socket told last.
    pub last: TcpInfo,
    /// The same at the end of the warm-up.
    pub at_warm_up: Option<Box<FlowRecord>>,
}

/// What a socket told at a time of [`TrafficPlan::samples`].
#[derive(Clone, Debug)]
pub struct Row {
    /// Index of the time.
    pub time: usize,
    /// Flow.
    pub flow: usize,
    /// What it told.
    pub info: TcpInfo,
    /// The state of its algorithm, as [`TrafficRecord::states`] names it.
    pub state: Vec<f64>,
}

/// What the senders answer.
#[derive(Clone, Debug, Default)]
pub struct TrafficRecord {
    /// One for each flow.
    pub flows: Vec<FlowRecord>,
    /// By time and then by flow.
    pub rows: Vec<Row>,
    /// For each flow the names of what rows have of its algorithm's state.
    pub states: Vec<Vec<&'static str>>,
}

/// The threads. They end when this is dropped.
pub struct Traffic {
    senders: Option<JoinHandle<io::Result<TrafficRecord>>>,
    receivers: Option<JoinHandle<io::Result<()>>>,
    stop: Arc<AtomicBool>,
}

impl Traffic {
    /// Begins: the senders in their namespace, and the receivers if they are to have a thread, which rests for this time after each read.
    ///
    /// # Errors
    /// If a thread cannot be had.
    pub fn start(
        plan: TrafficPlan,
        states: FlowStates,
        clock: Clock,
        senders: &Namespace,
        receivers: Option<(Receivers, Duration)>,
    ) -> io::Result<Traffic> {
        let stop = Arc::new(AtomicBool::new(false));
        let (inside, ends) = (senders.try_clone()?, stop.clone());
        let senders = thread::Builder::new().name("senders".into()).spawn(move || {
            inside.enter()?;
            Senders::new(plan, states, clock).run(&ends)
        })?;
        let receive = |(receivers, rest)| {
            let ends = stop.clone();
            thread::Builder::new().name("receivers".into()).spawn(move || receive(receivers, rest, &ends))
        };
        let receivers = receivers.map(receive).transpose()?;
        Ok(Traffic { senders: Some(senders), receivers, stop })
    }

    /// Whether one of the threads has ended by itself, which none does unless something is wrong.
    pub fn has_ended(&self) -> bool {
        self.senders.as_ref().is_some_and(JoinHandle::is_finished)
            || self.receivers.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// End it, and ask what was.
    ///
    /// # Errors
    /// What went wrong at either end.
    pub fn end(mut self) -> io::Result<TrafficRecord> {
        self.stop.store(true, Ordering::Relaxed);
        let senders = self.senders.take().expect("it has not been dropped");
        let panicked = |what: &str| io::Error::other(format!("the {what} panicked"));
        let record = senders.join().map_err(|_| panicked("senders"))?;
        if let Some(receivers) = self.receivers.take() {
            receivers.join().map_err(|_| panicked("receivers"))??;
        }
        record
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Whoever wants to know how they ended calls `end`.
        let _ = self.senders.take().map(JoinHandle::join);
        let _ = self.receivers.take().map(JoinHandle::join);
    }
}

struct Senders {
    plan: TrafficPlan,
    states: FlowStates,
    clock: Clock,
    flows: Vec<Flow>,
    next_look: u64,
    rows: Vec<Row>,
    sampled: usize,
}

#[derive(Default)]
struct Flow {
    socket: Option<Socket>,
    phase: Phase,
    given: u64,
    record: FlowRecord,
    looked: u64,
    was_reducing: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Waiting,
    Connecting,
    Connected,
    Sending,
    Ended,
}

impl Senders {
    fn new(plan: TrafficPlan, states: FlowStates, clock: Clock) -> Senders {
        let flows = plan.flows.iter().map(|_| Flow::default()).collect();
        Senders { plan, states, clock, flows, next_look: 0, rows: Vec::new(), sampled: 0 }
    }

    fn run(mut self, stop: &AtomicBool) -> io::Result<TrafficRecord> {
        let data = vec![0x5A; CHUNK];
        let mut ready: Vec<libc::pollfd> = Vec::new();
        let mut of: Vec<usize> = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            let mut wake = self.next_look;
            for (flow, plan) in self.flows.iter_mut().zip(&self.plan.flows) {
                if flow.phase == Phase::Waiting && plan.connect > now {
                    wake = wake.min(plan.connect);
                }
                if flow.phase == Phase::Connected && plan.start > now {
                    wake = wake.min(plan.start);
                }
                if let Some(stop) = plan.stop.filter(|stop| *stop > now) {
                    wake = wake.min(stop);
                }
            }
            for i in 0..self.flows.len() {
                self.go_on(i, now, &data).map_err(|error| about(i, error))?;
            }
            if now >= self.next_look {
                self.look(now).map_err(|error| io::Error::new(error.kind(), format!("TCP_INFO: {error}")))?;
                self.next_look = now - now % LOOK + LOOK;
                wake = wake.min(self.next_look);
            }
            ready.clear();
            of.clear();
            for (i, flow) in self.flows.iter().enumerate() {
                if let (Some(socket), Phase::Connecting | Phase::Sending) = (&flow.socket, flow.phase) {
                    ready.push(libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLOUT, revents: 0 });
                    of.push(i);
                }
            }
            poll(&mut ready, wake.saturating_sub(self.clock.now()))?;
        }
        let now = self.clock.now();
        self.look(now).map_err(|error| io::Error::new(error.kind(), format!("TCP_INFO: {error}")))?;
        let names = |reader: &Option<Arc<dyn StateReader>>| {
            reader.as_ref().map_or(Vec::new(), |reader| reader.names())
        };
        let states = self.states.iter().map(names).collect();
        let flows = self.flows.into_iter().map(|flow| flow.record).collect();
        Ok(TrafficRecord { flows, rows: self.rows, states })
    }

    /// Do what a flow can do now.
    fn go_on(&mut self, i: usize, now: u64, data: &[u8]) -> io::Result<()> {
        let (flow, plan) = (&mut self.flows[i], &self.plan.flows[i]);
        if flow.phase == Phase::Waiting && now >= plan.connect {
            let socket = socket::connect(address::sender(i), address::receiver(i), &plan.algorithm)?;
            if let Some(reader) = &self.states[i] {
                reader.watch(&socket);
            }
            flow.socket = Some(socket);
            flow.phase = Phase::Connecting;
        }
        let Some(socket) = &flow.socket else { return Ok(()) };
        if flow.phase == Phase::Connecting {
            if let Some(error) = socket.take_error()? {
                return Err(error);
            }
            if socket.peer_addr().is_ok() {
                flow.phase = Phase::Connected;
            }
        }
        if flow.phase == Phase::Connected && now >= plan.start {
            flow.phase = Phase::Sending;
            flow.record.started = Some(now);
            flow.looked = now;
        }
        if flow.phase != Phase::Sending {
            return Ok(());
        }
        if plan.stop.is_some_and(|stop| stop <= now) {
            flow.phase = Phase::Ended;
            flow.record.stopped = Some(now);
            return Ok(());
        }
        loop {
            let left = plan.bytes.map_or(u64::MAX, |bytes| bytes - flow.given);
            if left == 0 {
                flow.phase = Phase::Ended;
                return socket.shutdown(std::net::Shutdown::Write);
            }
            match (&*socket).write(&data[..data.len().min(left.min(CHUNK as u64) as usize)]) {
                Ok(count) => flow.given += count as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Look at all sockets.
    fn look(&mut self, now: u64) -> io::Result<()> {
        let samples = self.plan.samples.iter().skip(self.sampled);
        let due = samples.take_while(|at| **at <= now).count();
        for (i, flow) in self.flows.iter_mut().enumerate() {
            let (Some(socket), Some(started)) = (&flow.socket, flow.record.started) else { continue };
            let info = TcpInfo::of(socket)?;
            let state = match &self.states[i] {
                Some(reader) if due > 0 => reader.read(socket, info.cwnd),
                _ => Vec::new(),
            };
            flow.look(now, info);
            if let Some(live) = &self.plan.live {
                live.tell(i, &info);
            }
            // One look may be late for several of them; those before the flow began have no row.
            for time in self.sampled..self.sampled + due {
                if self.plan.samples[time] >= started {
                    self.rows.push(Row { time, flow: i, info, state: state.clone() });
                }
            }
            if self.plan.warm_up.is_some_and(|at| at <= now) && flow.record.at_warm_up.is_none() {
                flow.record.at_warm_up = Some(Box::new(flow.record.clone()));
            }
        }
        if due > 1 {
            self.rows.sort_by_key(|row| (row.time, row.flow));
        }
        self.sampled += due;
        Ok(())
    }
}

impl Flow {
    fn look(&mut self, now: u64, info: TcpInfo) {
        // The window is taken to have been what it was seen as last.
        let before = if self.record.last.cwnd > 0 { self.record.last.cwnd } else { info.cwnd };
        self.record.cwnd_integral += f64::from(before) * (now - self.looked) as f64;
        let threshold = if info.ssthresh == INFINITE_SSTHRESH { 0 } else { info.ssthresh };
        self.record.window_max = self.record.window_max.max(info.cwnd).max(threshold);
        self.looked = now;
        let reducing = info.state >= 2;
        self.record.congestion_events += u64::from(reducing && !self.was_reducing);
        self.was_reducing = reducing;
        self.record.last = info;
    }
}

/// Longest time between checks whether receivers are to stop.
const RECEIVERS_LOOK: Duration = Duration::from_millis(20);

fn receive(mut receivers: Receivers, rest: Duration, stop: &AtomicBool) -> io::Result<()> {
    while !stop.load(Ordering::Relaxed) {
        receivers.serve(RECEIVERS_LOOK)?;
        if !rest.is_zero() {
            thread::sleep(rest);
        }
    }
    Ok(())
}

/// Wait until one is ready, at most so long, ns.
fn poll(sockets: &mut [libc::pollfd], most: u64) -> io::Result<()> {
    let most = Duration::from_nanos(most.max(1000));
    let timeout = libc::timespec {
        tv_sec: most.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(most.subsec_nanos() as i32),
    };
    // SAFETY: both live as long as the call, and the array is as long as said.
    let woken = unsafe {
        let count = sockets.len() as libc::nfds_t;
        libc::ppoll(sockets.as_mut_ptr(), count, &raw const timeout, std::ptr::null())
    };
    match io::Error::last_os_error() {
        error if woken < 0 && error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

fn about(flow: usize, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("flow {flow}: {error}"))
}
