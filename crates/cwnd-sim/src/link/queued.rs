//! A link that keeps its queue: any link that decides about a packet only when the packet leaves.
//!
//! [`super::ClosedForm`] covers drop-tail queues before a rate that seldom changes. Active queue management, traces, jitter that
//! reorders, copies, slots and policers need the state machines of `cwnd-link`, which are called as time advances: an arrival is
//! put into the queue, and the transmitter takes the next packet when the one before it has left.
//!
//! Such a link is always a stage of its own. It handles what arrives before its limit, and what leaves before it. It also
//! handles what leaves at the limit, because transmissions that end precede arrivals of the same time, unless the limits
//! count packets in transmission. A packet is handed on when its transmission begins, or in the run in which it ends.
//! [`QueuedLink::quiet_until`] tells the other stages what is known beyond that.

mod service;

pub use service::{Dispatch, EachPacket, Outlet, Service};

use super::{Arrivals, Change, LinkCounts, NOWHERE, NextRing};
use crate::fault::{self, Fault};
use crate::ring::Ring;
use cwnd_link::{Arrival, ChangeError, Codepoint, Policer, Queue};
use cwnd_scenario::{Effects, LinkSpec, Loss, QueueSpec, Rate, Time};
use cwnd_tcp::packet::{BARE, CE, CWR, ECE, ECN_OPTION, ECT, ECT1, ESTABLISHED, Packet, SACK, SYN};
use std::cmp::Reverse;

/// A packet without its time: its timestamp, its sequence number and channel, and the rest (see `packet.rs`).
pub type Words = [u64; 3];

/// No time within the simulation.
const NEVER: u64 = u64::MAX;

/// The state of a link that keeps its queue.
#[derive(Clone, Debug)]
pub struct QueuedLink {
    /// Packets that wait.
    pub queue: Queue<Words>,
    /// The server of the queue.
    pub service: Service,
    /// Where packets go.
    pub next: NextRing,
    /// Packets that came.
    pub arrivals: Arrivals,
    /// Wire bytes of a full packet.
    pub full_packet: u32,
}

impl QueuedLink {
    /// Creates an idle link. `origin` is the engine's clock at the scenario's time zero, `index` the link's number.
    pub fn new(spec: &LinkSpec, full_packet: u32, origin: u64, seed: u64, index: u64) -> QueuedLink {
        QueuedLink {
            queue: queue(spec, full_packet, seed, index),
            service: Service::new(spec, origin, seed, index),
            next: NextRing::One(NOWHERE),
            arrivals: Arrivals::default(),
            full_packet,
        }
    }

    /// Returns the least time from a packet's arrival to the end of the line, for packets of at least `size` bytes.
    pub fn least_latency(&self, size: u32) -> u64 {
        self.service.transmitter.least_time(size).saturating_add(self.service.line.least_delay())
    }

    /// Returns when something happens next if no packet arrives.
    pub fn next_event(&self) -> u64 {
        let overtaking = self.service.overtaking.peek().map_or(NEVER, |Reverse((at, ..))| *at);
        self.service.leaves.min(overtaking)
    }

    /// Returns the counts.
    pub fn counts(&self) -> LinkCounts {
        let Arrivals { packets, bare } = self.arrivals;
        LinkCounts { arrived: packets, data_arrived: packets - bare, ..self.service.counts }
    }

    /// Returns the sum of all waiting times up to `now`, ns.
    pub fn waited(&self, now: u64) -> u128 {
        self.service.waited.wrapping_add(self.waiting() as u128 * u128::from(now))
    }

    /// Returns how many packets wait, without the one in transmission.
    pub fn waiting(&self) -> usize {
        self.queue.waiting()
    }

    /// Returns the packets that are here and have not been handed on.
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

    /// Returns whether packets may overtake each other on the line.
    pub fn reorders(&self) -> bool {
        self.service.line.reorders()
    }

    /// Returns a time at which a packet of `smallest` bytes, the smallest there is, would have to come to an idle link to
    /// be the earliest packet that has not been handed on. The link has handled everything before `done`.
    ///
    /// If the packet in transmission has been handed on, the next one does not begin before it has left. All packets that
    /// reach the end of the line before that one must be [released](QueuedLink::release).
    pub fn quiet_until(&self, done: u64, smallest: u32) -> u64 {
        match self.service.leaves {
            NEVER => done,
            leaves if self.service.sending.is_none() => leaves.max(done),
            _ if fault::is(Fault::PromisesTooMuch) => done,
            leaves => leaves.saturating_sub(self.service.transmitter.least_time(smallest)),
        }
    }

    /// Returns a packet that reaches the end of a line on which packets may overtake each other by `until`, and its
    /// time. The earliest comes first.
    pub fn release(&mut self, until: u64) -> Option<(u64, Words)> {
        let overtaking = &mut self.service.overtaking;
        overtaking.peek().filter(|Reverse((at, ..))| *at <= until)?;
        overtaking.pop().map(|Reverse((at, _, words))| (at, words))
    }

    /// Sets the rate, for good or to try [`QueuedLink::least_latency`].
    pub fn set_rate(&mut self, now: u64, rate: Rate) {
        let leaves = Some(self.service.leaves).filter(|&leaves| leaves != NEVER);
        if let Some(leaves) = self.service.transmitter.set_rate(now, rate, leaves) {
            self.service.leaves = leaves.min(NEVER - 1);
        }
    }

    /// Sets the delay; see [`QueuedLink::set_rate`].
    pub fn set_delay(&mut self, now: u64, delay: Time) {
        self.service.line.set_delay(now, delay);
    }

    /// Changes the loss model from the next packet on that leaves.
    fn set_loss(&mut self, loss: &Loss) {
        self.service.line.set_loss(loss);
    }

    /// Changes the line's effects and the policer. A policer that stays keeps the level of its bucket; a new one begins
    /// full.
    ///
    /// # Errors
    /// Packets overtake each other on the line now and would not then, or the other way round.
    pub fn set_effects(&mut self, old: &Effects, effects: &Effects) -> Result<(), ChangeError> {
        self.service.line.set_effects(effects)?;
        self.service.ecn_remark = effects.ecn_remark;
        if effects.policer != old.policer {
            self.service.policer = effects.policer.as_ref().map(Policer::new);
        }
        Ok(())
    }

    /// Changes the queue's limit and parameters. Packets that wait stay.
    ///
    /// # Errors
    /// See [`Queue::set_spec`].
    pub fn set_queue(&mut self, spec: &QueueSpec) -> Result<(), ChangeError> {
        self.queue.set_spec(spec)?;
        self.service.counting = spec.counting;
        Ok(())
    }

    /// Applies a live change at `now`.
    pub fn change(&mut self, now: u64, change: Change, rings: &mut [Ring]) {
        match change {
            Change::Rate(rate) => self.set_rate(now, rate),
            Change::Delay(delay) => self.set_delay(now, Time(delay)),
            Change::Loss(loss, _) => return self.set_loss(&loss),
        }
        self.take_back(rings);
    }

    /// After a change of rate or delay: takes back packets that were handed on because nothing could overtake them.
    fn take_back(&mut self, rings: &mut [Ring]) {
        if !self.service.line.reorders() || fault::is(Fault::NotTakenBack) {
            return;
        }
        for out in self.next.all() {
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

/// Returns the packet, at no time.
#[inline]
fn packet([sent, sequence, rest]: Words) -> Packet {
    Packet::from_words([0, sent, sequence, rest])
}

fn size([_, _, rest]: Words) -> u32 {
    (rest >> 32) as u32 & 0xFFFF
}

/// Returns the properties of a packet that a queue needs.
#[inline]
pub fn arrival(packet: &Packet) -> Arrival {
    let flags = packet.flags;
    let ecn = match flags & (ECT | ECT1 | CE) {
        bits if bits & CE != 0 => Codepoint::Ce,
        bits if bits & ECT == 0 => Codepoint::NotEct,
        bits if bits & ECT1 != 0 => Codepoint::Ect1,
        _ => Codepoint::Ect0,
    };
    // Counters of accurate ECN survive the loss of an ACK.
    let sack = if flags & ECN_OPTION == 0 { SACK } else { 0 };
    let plain_ack = flags & (BARE | sack | ECE | CWR | SYN | ESTABLISHED) == BARE;
    Arrival { bytes: u32::from(packet.size), flow: packet.channel, ecn, plain_ack }
}

/// Returns the flags of a packet with this ECN field.
pub fn codepoint_flags(codepoint: Codepoint) -> u16 {
    match codepoint {
        Codepoint::NotEct => 0,
        Codepoint::Ect0 => ECT,
        Codepoint::Ect1 => ECT | ECT1,
        Codepoint::Ce => ECT | CE,
    }
}

/// Creates the queue of a link.
pub fn queue<P: Copy>(spec: &LinkSpec, full_packet: u32, seed: u64, index: u64) -> Queue<P> {
    use cwnd_link::{Purpose, Stream};
    let stream = Stream::new(seed, Purpose::Queue, index);
    Queue::new(&spec.queue, spec.effects.ack_thinning, spec.rate, full_packet, stream)
}
