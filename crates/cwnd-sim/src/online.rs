//! A link that keeps its queue: whatever decides about a packet only when it leaves.
//!
//! The closed form of `link.rs` needs drop-tail at a known rate. All else (active queue management, rates that
//! vary, jitter, policers) goes through the state machines of `cwnd-link`, which are asked as time goes on:
//! an arrival is put into the queue, and the transmitter takes the next packet when the one before it has left.
//!
//! Such a link is always a stage of its own. It handles what arrives before its limit, and what leaves before it; what leaves
//! at the limit too, since transmissions that end come before arrivals of the same time, unless packets in transmission count.
//! A packet is handed on when its transmission begins, or in the run in which it ends; what is known of the future besides is
//! [`quiet_until`].

mod service;
mod stage;

pub use stage::{Turn, quiet_until, run};

use crate::fault::{self, Fault};
use crate::link::LinkCounts;
use crate::ring::Ring;
use cwnd_link::{Arrival, Codepoint, Line, Policer, Queue, Transmitter};
use cwnd_scenario::{Counting, Effects, LinkSpec, QueueSpec};
use cwnd_tcp::packet::{BARE, CE, CWR, ECE, ECT, ECT1, ESTABLISHED, Packet, SACK, SYN};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A packet without its time: its timestamp, its number and channel, and the rest (see `packet.rs`).
type Words = [u64; 3];

/// The state of a link that keeps its queue.
#[derive(Clone, Debug)]
pub struct Online {
    queue: Queue<Words>,
    service: Service,
}

/// What serves the queue, and what has been counted.
#[derive(Clone, Debug)]
struct Service {
    /// When the packet in transmission leaves and the transmitter takes the next one; [`NEVER`] if there is none. Where the
    /// packet in transmission counts, that comes after all that arrives at that moment, as in ns-2.
    leaves: u64,
    /// Wire bytes of the packet in transmission.
    sending_bytes: u32,
    /// The packet in transmission, unless it is on the line already: one that leaves before the run ends is put there when
    /// its transmission begins.
    sending: Option<Words>,
    counting: Counting,
    /// When packets ceased to wait, added up, less when they began to: what has been waited but for those that still wait.
    /// Modulo 2^128, since it may be less than nothing.
    waited: u128,
    counts: LinkCounts,
    /// What the queue drops, on its way to the grave.
    dropped: Vec<Words>,
    transmitter: Transmitter,
    line: Line,
    policer: Option<Policer>,
    /// Packets on a line on which they may overtake each other: when they come out, and in which order they left.
    overtaking: BinaryHeap<Reverse<(u64, i64, Words)>>,
    /// The next number of that order, and the first of those given so far.
    order: (i64, i64),
}

/// Not in this simulation.
const NEVER: u64 = u64::MAX;

impl Online {
    /// An idle link. `origin` is the engine's clock at the scenario's time zero, `index` the link's number.
    pub fn new(spec: &LinkSpec, full_packet: u32, origin: u64, seed: u64, index: u64) -> Online {
        let service = Service {
            leaves: NEVER,
            sending_bytes: 0,
            sending: None,
            counting: spec.queue.counting,
            waited: 0,
            counts: LinkCounts::default(),
            dropped: Vec::new(),
            transmitter: Transmitter::new(spec.rate, spec.schedule.as_ref(), origin),
            line: Line::new(spec, origin, seed, index),
            policer: spec.effects.policer.as_ref().map(Policer::new),
            overtaking: BinaryHeap::new(),
            order: (0, 0),
        };
        Online { queue: queue(spec, full_packet, seed, index), service }
    }

    /// The least time from a packet's arrival to its coming out, for packets of at least `size` bytes.
    pub fn least_latency(&self, size: u32) -> u64 {
        self.service.transmitter.least_time(size).saturating_add(self.service.line.least_delay())
    }

    /// When something happens here next, if nothing comes.
    pub fn next_event(&self) -> u64 {
        let overtaking = self.service.overtaking.peek().map_or(NEVER, |Reverse((at, ..))| *at);
        self.service.leaves.min(overtaking)
    }

    /// What it has counted; arrivals, losses and waiting times are asked for elsewhere.
    pub fn counts(&self) -> LinkCounts {
        self.service.counts
    }

    /// Waiting times added up to `now`, ns.
    pub fn waited(&self, now: u64) -> u128 {
        self.service.waited.wrapping_add(self.waiting() as u128 * u128::from(now))
    }

    /// Packets that wait, without the one in transmission.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// The packets that are here and have not been handed on.
    pub fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        self.waiting_packets().chain(self.packet_in_transmission()).chain(self.packets_on_line())
    }

    /// Returns those that wait in the queue.
    pub fn waiting_packets(&self) -> impl Iterator<Item = Packet> + '_ {
        self.queue.iter().map(|&words| packet(words))
    }

    /// Returns the one in transmission, unless it has been handed on.
    pub fn packet_in_transmission(&self) -> impl Iterator<Item = Packet> + '_ {
        self.service.sending.iter().map(|&words| packet(words))
    }

    /// Returns those on a line on which packets may overtake each other.
    pub fn packets_on_line(&self) -> impl Iterator<Item = Packet> + '_ {
        self.service.overtaking.iter().map(|Reverse((_, _, words))| packet(*words))
    }

    /// Whether packets may overtake each other on its line.
    pub fn reorders(&self) -> bool {
        self.service.line.reorders()
    }

    /// Change the line for a trial of [`Online::least_latency`], or for good: a rate.
    pub fn set_rate(&mut self, now: u64, rate: cwnd_scenario::Rate) {
        let leaves = Some(self.service.leaves).filter(|&leaves| leaves != NEVER);
        if let Some(leaves) = self.service.transmitter.set_rate(now, rate, leaves) {
            self.service.leaves = leaves.min(NEVER - 1);
        }
    }

    /// See [`Online::set_rate`]: a delay.
    pub fn set_delay(&mut self, now: u64, delay: cwnd_scenario::Time) {
        self.service.line.set_delay(now, delay);
    }

    /// Lose otherwise from the next packet on that leaves.
    pub fn set_loss(&mut self, loss: &cwnd_scenario::Loss) {
        self.service.line.set_loss(loss);
    }

    /// Do something else to packets from now on: the line's effects, and the policer. A policer that stays goes on with what
    /// its bucket holds; a new one begins full.
    ///
    /// # Errors
    /// ACK thinning, or whether packets overtake each other, would change.
    pub fn set_effects(&mut self, old: &Effects, effects: &Effects) -> Result<(), String> {
        if effects.ack_thinning != old.ack_thinning {
            return Err("ACK thinning cannot change while it runs".to_owned());
        }
        self.service.line.set_effects(effects).map_err(|fixed| fixed.to_string())?;
        if effects.policer != old.policer {
            self.service.policer = effects.policer.as_ref().map(Policer::new);
        }
        Ok(())
    }

    /// Change the queue's limit and parameters; what waits stays.
    ///
    /// # Errors
    /// It is another discipline.
    pub fn set_queue(&mut self, spec: &QueueSpec) -> Result<(), String> {
        self.queue.set_spec(spec).map_err(|other| other.to_string())?;
        self.service.counting = spec.counting;
        Ok(())
    }

    /// Rate or delay have changed: what was handed on because nothing could overtake it may be overtaken after all.
    pub fn take_back(&mut self, rings: &mut [Ring], outs: &[u32]) {
        if !self.service.line.reorders() || fault::is(Fault::NotTakenBack) {
            return;
        }
        for &out in outs {
            let ring = &mut rings[out as usize];
            self.service.order.1 -= ring.len() as i64;
            let mut order = self.service.order.1..;
            while !ring.is_empty() {
                let [at, sent, sequence, rest] = ring.pop_words();
                let place = order.next().expect("it has no end");
                self.service.overtaking.push(Reverse((at, place, [sent, sequence, rest])));
            }
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
pub fn queue<P: Copy>(spec: &LinkSpec, full_packet: u32, seed: u64, index: u64) -> Queue<P> {
    use cwnd_link::{Purpose, Stream};
    let stream = Stream::new(seed, Purpose::Queue, index);
    Queue::new(&spec.queue, spec.effects.ack_thinning, spec.rate, full_packet, stream)
}
