//! A link that keeps its queue: whatever decides about a packet only when it leaves.
//!
//! The closed form of `link.rs` needs drop-tail at a known rate. All else (active queue management, rates that
//! vary, jitter, policers) goes through the state machines of `cwnd-link`, which are asked as time goes on:
//! an arrival is put into the queue, and the transmitter takes the next packet when the one before it has left.
//!
//! Such a link is always a stage of its own. It handles what arrives before its limit, and what leaves at
//! its limit or before, since transmissions that end come before arrivals of the same time. A packet is handed on when it has
//! left, so what is known of the future is [`quiet_until`].

mod stage;

pub use stage::{Outside, go_on, quiet_until, run};

use crate::fault::{self, Fault};
use crate::link::LinkCounts;
use crate::net::Net;
use crate::packet::{BARE, CE, CWR, ECE, ECT, ECT1, ESTABLISHED, LOST, Packet, SACK, SYN};
use crate::ring::Ring;
use cwnd_link::{Arrival, Codepoint, Line, Policer, Queue, Transmitter};
use cwnd_scenario::{Counting, LinkSpec, QueueSpec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet without its time: its timestamp, its number and channel, and the rest (see `packet.rs`).
type Words = [u64; 3];

/// The state of a link that keeps its queue.
#[derive(Clone, Debug)]
pub struct Online {
    queue: Queue<Words>,
    transmitter: Transmitter,
    line: Line,
    policer: Option<Policer>,
    counting: Counting,
    /// How many packets wait: what the queue would say, asked once a change.
    waiting: usize,
    /// The packet in transmission, and when it will have left; [`NEVER`] if there is none.
    sending: Words,
    leaves: u64,
    /// Where the packet in transmission counts: when the last one left, and its wire bytes, until the transmitter takes the
    /// next one. It does so after all that arrives at that moment, as in ns-2; [`NEVER`] if it is not about to.
    asks: (u64, u32),
    /// Packets on a line on which they may overtake each other: when they come out, and in which order they left.
    overtaking: BinaryHeap<Reverse<(u64, i64, Words)>>,
    /// The next number of that order, and the first of those given so far.
    order: (i64, i64),
    /// What the queue drops, on its way to the grave.
    dropped: Vec<Words>,
    counts: LinkCounts,
    /// Up to when waiting has been added up.
    waited_to: u64,
}

/// Not in this simulation.
const NEVER: u64 = u64::MAX;

impl Online {
    /// An idle link. `origin` is the engine's clock at the scenario's time zero, `index` the link's number.
    pub fn new(spec: &LinkSpec, full_packet: u32, origin: u64, seed: u64, index: u64) -> Online {
        Online {
            queue: queue(spec, full_packet, seed, index),
            transmitter: Transmitter::new(spec.rate, spec.schedule.as_ref(), origin),
            line: Line::new(spec, origin, seed, index),
            policer: spec.effects.policer.as_ref().map(Policer::new),
            counting: spec.queue.counting,
            waiting: 0,
            sending: [0; 3],
            leaves: NEVER,
            asks: (NEVER, 0),
            overtaking: BinaryHeap::new(),
            order: (0, 0),
            dropped: Vec::new(),
            counts: LinkCounts::default(),
            waited_to: 0,
        }
    }

    /// The least time from a packet's arrival to its coming out, for packets of at least `size` bytes.
    pub fn least_latency(&self, size: u32) -> u64 {
        self.transmitter.least_time(size).saturating_add(self.line.least_delay())
    }

    /// When something happens here next, if nothing comes.
    pub fn next_event(&self) -> u64 {
        let overtaking = self.overtaking.peek().map_or(NEVER, |Reverse((at, ..))| *at);
        self.leaves.min(self.asks.0).min(overtaking)
    }

    /// What it has counted up to `now`; arrivals and losses are counted by others.
    pub fn counts(&self) -> LinkCounts {
        self.counts
    }

    /// Waiting times added up to `now`, ns.
    pub fn waited(&self, now: u64) -> u128 {
        self.counts.waited + self.waiting as u128 * u128::from(now - self.waited_to)
    }

    /// Packets that wait, without the one in transmission.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// The packets that are here and have not been handed on.
    pub fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        let sending = (self.leaves != NEVER).then_some(&self.sending);
        let overtaking = self.overtaking.iter().map(|Reverse((_, _, words))| words);
        self.queue.iter().chain(sending).chain(overtaking).map(|&words| packet(words))
    }

    /// Whether packets may overtake each other on its line.
    pub fn reorders(&self) -> bool {
        self.line.reorders()
    }

    /// Change the line for a trial of [`Online::least_latency`], or for good: a rate.
    pub fn set_rate(&mut self, now: u64, rate: cwnd_scenario::Rate) {
        let leaves = Some(self.leaves).filter(|&leaves| leaves != NEVER);
        if let Some(leaves) = self.transmitter.set_rate(now, rate, leaves) {
            self.leaves = leaves.min(NEVER - 1);
        }
    }

    /// See [`Online::set_rate`]: a delay.
    pub fn set_delay(&mut self, now: u64, delay: cwnd_scenario::Time) {
        self.line.set_delay(now, delay);
    }

    /// Lose otherwise from the next packet on that leaves.
    pub fn set_loss(&mut self, loss: &cwnd_scenario::Loss) {
        self.line.set_loss(loss);
    }

    /// Change the queue's limit and parameters; what waits stays.
    ///
    /// # Errors
    /// It is another discipline.
    pub fn set_queue(&mut self, spec: &QueueSpec) -> Result<(), String> {
        self.queue.set_spec(spec).map_err(|other| other.to_string())?;
        self.counting = spec.counting;
        Ok(())
    }

    /// Rate or delay have changed: what was handed on because nothing could overtake it may be overtaken after all.
    pub fn take_back(&mut self, rings: &mut [Ring], outs: &[u32]) {
        if !self.line.reorders() || fault::is(Fault::NotTakenBack) {
            return;
        }
        for &out in outs {
            let ring = &mut rings[out as usize];
            self.order.1 -= ring.len() as i64;
            let mut order = self.order.1..;
            while !ring.is_empty() {
                let [at, sent, sequence, rest] = ring.pop_words();
                let place = order.next().expect("it has no end");
                self.overtaking.push(Reverse((at, place, [sent, sequence, rest])));
            }
        }
    }

    #[inline]
    fn count_waiting(&mut self, now: u64) {
        self.counts.waited += self.waiting as u128 * u128::from(now - self.waited_to);
        self.waited_to = now;
    }

    /// A packet arrives.
    #[inline]
    fn arrive(&mut self, now: u64, words: Words, to: &mut Outside<'_>) {
        let bytes = size(words);
        let transmitting = match self.asks {
            (NEVER, _) => (self.leaves != NEVER).then(|| size(self.sending)),
            (_, leaving) => Some(leaving),
        };
        if self.policer.as_mut().is_some_and(|policer| !policer.admits(now, bytes)) {
            self.dropped.push(words);
            return self.bury(to.net);
        }
        self.count_waiting(now);
        let before = self.waiting;
        self.queue.enqueue(now, words, about(&packet(words)), transmitting, &mut self.dropped);
        self.waiting = self.queue.waiting();
        if self.waiting > before {
            let found = before + usize::from(transmitting.is_some());
            self.counts.max_waiting = self.counts.max_waiting.max(found as u64);
        }
        if transmitting.is_none() {
            self.send_next(now, false, to);
        }
        self.bury(to.net);
    }

    /// The packet in transmission has left.
    #[inline]
    fn leave(&mut self, to: &mut Outside<'_>) {
        let now = self.leaves;
        self.leaves = NEVER;
        self.cross(now, self.sending, to);
        if self.counting == Counting::WithTransmission {
            self.asks = (now, size(self.sending));
            return;
        }
        self.send_next(now, true, to);
        self.bury(to.net);
    }

    /// Do what happens by itself: packets that leave at `leave_by` or before, and transmitters that ask before `ask_before`.
    /// Answers how many left.
    #[inline]
    fn go_on(&mut self, leave_by: u64, ask_before: u64, to: &mut Outside<'_>) -> u64 {
        let mut left = 0;
        loop {
            if self.leaves <= leave_by {
                self.leave(to);
                left += 1;
            } else if self.asks.0 < ask_before {
                let now = std::mem::replace(&mut self.asks.0, NEVER);
                self.send_next(now, true, to);
                self.bury(to.net);
            } else {
                return left;
            }
        }
    }

    /// The transmitter is free: it takes the packets that wait, until one takes time.
    #[inline]
    fn send_next(&mut self, now: u64, mut waited: bool, to: &mut Outside<'_>) {
        loop {
            self.count_waiting(now);
            let next = self.queue.dequeue(now, &mut self.dropped);
            self.waiting = self.queue.waiting();
            let Some(next) = next else { return };
            let mut words = next.packet;
            if next.mark {
                words[2] |= u64::from(CE) << 48;
                self.counts.marked += 1;
            }
            let leaves = self.transmitter.finish(now, next.bytes, waited);
            if leaves > now {
                // One that never leaves is in transmission all the same.
                (self.sending, self.leaves) = (words, leaves.min(NEVER - 1));
                return;
            }
            self.cross(now, words, to);
            waited = true;
        }
    }

    /// A packet is on the line.
    #[inline]
    fn cross(&mut self, now: u64, mut words: Words, to: &mut Outside<'_>) {
        let way = self.line.cross(now);
        if way.lost {
            words[2] |= u64::from(LOST) << 48;
        }
        self.hand_on(way.at, words, to);
        if way.twice {
            let copy = to.net.copy_words(words);
            self.counts.copied += 1;
            self.hand_on(way.at, copy, to);
        }
    }

    #[inline]
    fn hand_on(&mut self, at: u64, words: Words, to: &mut Outside<'_>) {
        if self.line.reorders() {
            self.overtaking.push(Reverse((at, self.order.0, words)));
            self.order.0 += 1;
        } else {
            to.put(at, words);
        }
    }

    #[inline]
    fn bury(&mut self, net: &mut Net) {
        if !self.dropped.is_empty() {
            self.bury_all(net);
        }
    }

    #[cold]
    fn bury_all(&mut self, net: &mut Net) {
        self.counts.dropped += self.dropped.len() as u64;
        for [sent, sequence, rest] in self.dropped.drain(..) {
            net.bury_words([0, sent, sequence, rest]);
        }
    }
}

/// A packet, at no time.
#[inline]
fn packet([sent, sequence, rest]: Words) -> Packet {
    Packet::from_words([0, sent, sequence, rest])
}

fn size([_, _, rest]: Words) -> u32 {
    (rest >> 32) as u32 & 0xFFFF
}

/// What a queue asks of a packet.
#[inline]
pub fn about(packet: &Packet) -> Arrival {
    let flags = packet.flags;
    let ecn = match flags & (ECT | ECT1 | CE) {
        bits if bits & CE != 0 => Codepoint::Ce,
        bits if bits & ECT == 0 => Codepoint::NotEct,
        bits if bits & ECT1 != 0 => Codepoint::Ect1,
        _ => Codepoint::Ect0,
    };
    let plain_ack = flags & (BARE | SACK | ECE | CWR | SYN | ESTABLISHED) == BARE;
    Arrival { bytes: u32::from(packet.size), flow: packet.channel, ecn, plain_ack }
}

/// The queue of a link.
pub fn queue<P>(spec: &LinkSpec, full_packet: u32, seed: u64, index: u64) -> Queue<P> {
    use cwnd_link::{Purpose, Stream};
    let stream = Stream::new(seed, Purpose::Queue, index);
    Queue::new(&spec.queue, spec.effects.ack_thinning, spec.rate, full_packet, stream)
}
