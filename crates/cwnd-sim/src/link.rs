//! A link: a first-in first-out queue, a transmitter and a line, in closed form.
//!
//! With drop-tail at a known rate nothing about a packet's future is open once it has arrived, so its
//! departure is computed there and then: `max(arrival, when the transmitter is free) + serialisation`.
//! The queue itself is never kept; how many packets it holds is asked of the last departure times, of
//! which "at least n packets are in the system" is a single comparison: has the n-th last one left?
//! A change of rate, delay or loss at `t` redoes what had been computed beyond `t` (see [`Link::redo`]).

use crate::packet::{BARE, CE, ECT, LOST, Packet};
use crate::ring::Ring;
use cwnd_link::{BernoulliLoss, Limits, SerialTime};
use cwnd_scenario::QueueSpec;

/// A departure that has been computed.
#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    /// When the last bit leaves the transmitter.
    at: u64,
    /// Wire bytes.
    size: u32,
    /// The ring that the packet was put into.
    ring: u32,
}

/// Where packets go from here.
#[derive(Clone, Debug)]
pub enum Next {
    /// All into one ring.
    One(u32),
    /// By channel.
    ByChannel(Box<[u32]>),
}

/// Ring number of a channel that does not come this way.
pub const NOWHERE: u32 = u32::MAX;

/// The state of a link. What every packet touches comes first.
#[derive(Clone, Debug)]
pub struct Link {
    /// When the transmitter is free.
    free_at: u64,
    serial: SerialTime,
    delay: u64,
    /// No packet comes out before this: after a change to a shorter delay nothing overtakes.
    not_before: u64,
    /// The last departure before the transmitter was last idle.
    previous: u64,
    /// The packet that ended that idleness: wire bytes, and its ring.
    first: (u32, u32),
    /// Departures since then, if any but that packet's; then its own is the first of them.
    count: usize,
    /// Packets that came, and those among them without data.
    arrived: u64,
    bare: u64,
    loss: Option<Box<BernoulliLoss>>,
    next: Next,
    /// The departures, in a ring: the latest ones, and among them always all that are in the system.
    departures: Box<[Departure]>,
    limits: Limits,
    /// For limits in bytes: how many of `count` have left, and the bytes of the others.
    left: usize,
    bytes_in_system: u64,
    dropped: u64,
    marked: u64,
    /// Losses on the line are counted by whoever stands at its end.
    pub lost: u64,
    /// Waiting times added up, ns.
    waited: u128,
    max_waiting: u64,
}

/// What a link has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Packets that came, ACKs and data.
    pub arrived: u64,
    /// Data packets among them.
    pub data_arrived: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets lost on the line that have come to its end.
    pub lost: u64,
    /// Waiting times added up, nanoseconds.
    pub waited: u128,
    /// Most packets that waited at once.
    pub max_waiting: u64,
}

impl Link {
    /// An idle link.
    pub fn new(serial: SerialTime, delay: u64, queue: &QueueSpec, loss: Option<BernoulliLoss>) -> Self {
        Link {
            free_at: 0,
            serial,
            delay,
            not_before: 0,
            previous: 0,
            first: (0, NOWHERE),
            count: 0,
            arrived: 0,
            bare: 0,
            loss: loss.map(Box::new),
            next: Next::One(NOWHERE),
            departures: vec![Departure::default(); 4].into(),
            limits: Limits::new(queue),
            left: 0,
            bytes_in_system: 0,
            dropped: 0,
            marked: 0,
            lost: 0,
            waited: 0,
            max_waiting: 0,
        }
    }

    /// Say where packets go.
    pub fn set_next(&mut self, next: Next) {
        self.next = next;
    }

    /// The ring that all its packets go into, if it is one.
    pub fn only_ring(&self) -> Option<u32> {
        match self.next {
            Next::One(ring) => Some(ring),
            Next::ByChannel(_) => None,
        }
    }

    #[inline(always)]
    fn ring_of(&self, channel: u32) -> u32 {
        match &self.next {
            Next::One(ring) => *ring,
            Next::ByChannel(rings) => rings[channel as usize],
        }
    }

    /// Take on a rate or delay, for [`Link::least_latency`] alone.
    pub fn set_line(&mut self, change: &Change) {
        match change {
            Change::Serial(serial) => self.serial = *serial,
            Change::Delay(delay) => self.delay = *delay,
            Change::Loss(_) => {}
        }
    }

    /// The least time from a packet's arrival to its coming out, for packets of at least `size` bytes.
    pub fn least_latency(&self, size: u32) -> u64 {
        self.serial.of(size) + self.delay
    }

    /// Packets that came so far.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// What it has counted.
    pub fn counts(&self) -> LinkCounts {
        LinkCounts {
            arrived: self.arrived,
            data_arrived: self.arrived - self.bare,
            dropped: self.dropped,
            marked: self.marked,
            lost: self.lost,
            waited: self.waited,
            max_waiting: self.max_waiting,
        }
    }

    /// A packet arrives at `now`. If it is taken, its `at` becomes the time at which it comes out of the
    /// line, and the answer is the ring that it goes into.
    #[inline(always)]
    pub fn offer(&mut self, now: u64, packet: &mut Packet) -> Option<u32> {
        self.arrived += 1;
        self.bare += u64::from(packet.flags & BARE);
        let size = u32::from(packet.size);
        let ring = self.ring_of(packet.channel);
        let departure = if self.free_at <= now {
            // Nobody is in the system: nothing to ask, and nothing to remember of those before.
            self.previous = self.free_at;
            self.first = (size, ring);
            self.count = 0;
            now + self.serial.of(size)
        } else {
            if !self.enqueue(now, packet, ring) {
                self.dropped += 1;
                return None;
            }
            self.free_at + self.serial.of(size)
        };
        self.free_at = departure;
        packet.at = (departure + self.delay).max(self.not_before);
        if let Some(loss) = &mut self.loss
            && loss.next_is_lost()
        {
            packet.flags |= LOST;
        }
        Some(ring)
    }

    /// The queue's verdict on a packet that finds the transmitter busy. If it is taken, its departure is
    /// remembered, and it is marked if need be.
    #[inline(always)]
    fn enqueue(&mut self, now: u64, packet: &mut Packet, ring: u32) -> bool {
        if self.count == 0 {
            self.remember_first();
        }
        if self.holds(self.limits.drop_at, now) {
            return false;
        }
        if self.limits.bytes != u64::MAX && !self.admit_bytes(now, packet) {
            return false;
        }
        if self.limits.mark_at != u64::MAX && packet.is(ECT) && self.holds(self.limits.mark_at, now) {
            self.marked += 1;
            packet.flags |= CE;
        }
        while self.holds(self.max_waiting + 1, now) {
            self.max_waiting += 1;
        }
        self.waited += u128::from(self.free_at - now);
        let size = u32::from(packet.size);
        self.remember(now, Departure { at: self.free_at + self.serial.of(size), size, ring });
        true
    }

    /// Whether at least `n` (not zero) packets are in the system at `now`. One that leaves at `now` is gone.
    #[inline(always)]
    fn holds(&self, n: u64, now: u64) -> bool {
        if n > self.count as u64 || n > self.departures.len() as u64 {
            // What was overwritten had left.
            return false;
        }
        let mask = self.departures.len() - 1;
        self.departures[(self.count - n as usize) & mask].at > now
    }

    /// The same for a limit in bytes.
    fn admit_bytes(&mut self, now: u64, packet: &Packet) -> bool {
        let mask = self.departures.len() - 1;
        while self.left < self.count && self.departures[self.left & mask].at <= now {
            self.bytes_in_system -= u64::from(self.departures[self.left & mask].size);
            self.left += 1;
        }
        let transmitting = u64::from(self.departures[self.left & mask].size);
        let counted = self.bytes_in_system - if self.limits.transmission_counts { 0 } else { transmitting };
        counted + u64::from(packet.size) <= self.limits.bytes
    }

    /// Put down the departure of the packet that ended the last idleness.
    #[inline]
    fn remember_first(&mut self) {
        self.departures[0] = Departure { at: self.free_at, size: self.first.0, ring: self.first.1 };
        self.count = 1;
        self.left = 0;
        self.bytes_in_system = u64::from(self.first.0);
    }

    #[inline(always)]
    fn remember(&mut self, now: u64, departure: Departure) {
        let capacity = self.departures.len();
        // Overwrite the oldest only if the one after it has left as well: one departure before those in
        // the system is always kept.
        if self.count >= capacity && self.departures[(self.count + 1) & (capacity - 1)].at > now {
            self.grow();
        }
        let mask = self.departures.len() - 1;
        self.departures[self.count & mask] = departure;
        self.count += 1;
        self.bytes_in_system += u64::from(departure.size);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.departures.len();
        let mut departures = vec![Departure::default(); old * 2].into_boxed_slice();
        for i in self.count.saturating_sub(old)..self.count {
            departures[i & (old * 2 - 1)] = self.departures[i & (old - 1)];
        }
        self.departures = departures;
    }

    /// How many of the latest departures lie at `t` or later: the packets in the system just before what
    /// happens at `t`.
    fn in_system(&self, t: u64) -> usize {
        let kept = self.count.min(self.departures.len());
        let mask = self.departures.len() - 1;
        (1..=kept).take_while(|n| self.departures[(self.count - n) & mask].at >= t).count()
    }

    /// Packets that wait just before `t`, without the one in transmission.
    pub fn waiting(&self, t: u64) -> usize {
        self.in_system(t).saturating_sub(1)
    }

    /// Of the waiting times that have been added up, what lies beyond `t`, nanoseconds.
    pub fn waiting_beyond(&self, t: u64) -> u128 {
        let mask = self.departures.len() - 1;
        let n = self.in_system(t);
        // A packet waits until the one before it has left.
        (1..n).map(|i| u128::from(self.departures[(self.count - n + i - 1) & mask].at - t)).sum()
    }

    /// Change the queue's limit, counting and threshold for those who arrive from now on.
    pub fn set_queue(&mut self, t: u64, queue: &QueueSpec) {
        self.limits = Limits::new(queue);
        self.settle_first();
        let mask = self.departures.len() - 1;
        self.left = self.count - self.in_system(t);
        self.bytes_in_system =
            (self.left..self.count).map(|i| u64::from(self.departures[i & mask].size)).sum();
    }

    /// Change what is not yet decided at `t`, when everything before `t` has been done and nothing at `t`
    /// or later: a rate applies to the bits that remain of the packet in transmission and to all behind
    /// it, a delay to what departs from `t` on, a loss probability to what crosses the line from `t` on.
    pub fn change(&mut self, t: u64, change: Change, rings: &mut [Ring]) {
        self.settle_first();
        let mask = self.departures.len() - 1;
        let n = self.in_system(t);
        let first = self.count - n;
        let last_left = match n {
            0 => self.free_at,
            _ if first > 0 => self.departures[(first - 1) & mask].at,
            _ => self.previous,
        };
        self.not_before = self.not_before.max(if last_left == 0 { 0 } else { last_left + self.delay });

        let places = self.places(first, rings);
        let old_serial = self.serial;
        match change {
            Change::Serial(serial) => self.serial = serial,
            Change::Delay(delay) => self.delay = delay,
            Change::Loss(fresh) => self.redraw(&places, rings, fresh),
        }

        let mut start = t;
        for (i, &(ring, depth)) in places.iter().enumerate() {
            let slot = (first + i) & mask;
            let old = self.departures[slot];
            let departure = if i == 0 {
                t + self.serial.convert(old.at - t, old_serial)
            } else {
                start + self.serial.of(old.size)
            };
            if i + 1 < n {
                self.waited = self.waited + u128::from(departure) - u128::from(old.at);
            }
            self.departures[slot].at = departure;
            let at = (departure + self.delay).max(self.not_before);
            rings[ring as usize].change_from_last(depth, |packet| packet.at = at);
            start = departure;
        }
        if n > 0 {
            self.free_at = start;
        }
    }

    /// Put down the first departure, if it has not been needed yet, so that all that may be in the system
    /// are in `departures`.
    fn settle_first(&mut self) {
        if self.count == 0 && self.first.1 != NOWHERE {
            self.remember_first();
        }
    }

    /// Where the packets of the departures from `first` on are: ring, and place counted from its end.
    fn places(&self, first: usize, rings: &[Ring]) -> Vec<(u32, usize)> {
        let mask = self.departures.len() - 1;
        let mut later = vec![0usize; rings.len()];
        let mut places: Vec<(u32, usize)> = (first..self.count)
            .rev()
            .map(|i| {
                let ring = self.departures[i & mask].ring;
                later[ring as usize] += 1;
                (ring, later[ring as usize] - 1)
            })
            .collect();
        places.reverse();
        places
    }

    /// Take back the losses drawn for packets that have not crossed the line yet, and draw again.
    fn redraw(&mut self, places: &[(u32, usize)], rings: &mut [Ring], fresh: BernoulliLoss) {
        let mut lost = Vec::with_capacity(places.len());
        for &(ring, depth) in places {
            rings[ring as usize].change_from_last(depth, |packet| lost.push(packet.is(LOST)));
        }
        let loss = match &mut self.loss {
            Some(loss) => {
                loss.rewind(&lost);
                loss.set_probability(fresh.probability());
                loss
            }
            none => none.insert(Box::new(fresh)),
        };
        for &(ring, depth) in places {
            let lost = loss.next_is_lost();
            rings[ring as usize].change_from_last(depth, |packet| {
                packet.flags = if lost { packet.flags | LOST } else { packet.flags & !LOST };
            });
        }
    }
}

/// What may change at a link while it runs.
#[derive(Clone, Debug)]
pub enum Change {
    /// The rate.
    Serial(SerialTime),
    /// The propagation delay, nanoseconds.
    Delay(u64),
    /// The probability of loss; the model is used as it is where there was none before.
    Loss(BernoulliLoss),
}
