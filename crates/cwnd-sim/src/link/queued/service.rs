//! What serves the queue of a link: the policer before it, the transmitter, and the line behind that.

use super::{NEVER, Words, arrival, codepoint_flags, packet, size};
use crate::fault::{self, Fault};
use crate::link::LinkCounts;
use cwnd_link::{
    Arrival, Codepoint, Departure, EcnRemark, Limits, Line, Policer, QueueDiscipline, Transmitter,
};
use cwnd_scenario::{Counting, LinkSpec};
use cwnd_tcp::packet::{CE, LOST};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The policer, the transmitter and the line of a link, and its counts.
#[derive(Clone, Debug)]
pub struct Service {
    /// When the packet in transmission leaves and the transmitter takes the next one; `u64::MAX` if it is idle. Where
    /// the limits count the packet in transmission, that comes after everything that arrives at that time, as in ns-2.
    pub leaves: u64,
    /// Wire bytes of the packet in transmission.
    pub sending_bytes: u32,
    /// The packet in transmission, unless it is on the line already. A packet that leaves before the run ends is put
    /// there when its transmission begins.
    pub sending: Option<Words>,
    /// Whether the limits count the packet in transmission.
    pub counting: Counting,
    /// Sum of the times at which packets ceased to wait, less those at which they began: the waiting times of all
    /// packets that do not wait any more. Modulo 2^128, because it may be negative.
    pub waited: u128,
    /// Counts of marks, drops and copies.
    pub counts: LinkCounts,
    /// Packets that the queue has dropped and that nobody has counted yet.
    dropped: Vec<Words>,
    /// The transmitter.
    pub transmitter: Transmitter,
    /// The line.
    pub line: Line,
    pub(super) policer: Option<Policer>,
    pub(super) ecn_remark: Option<EcnRemark>,
    /// Packets on a line on which they may overtake each other: when they reach its end, and in which order they left.
    pub(super) overtaking: BinaryHeap<Reverse<(u64, i64, Words)>>,
    /// The next number of that order, and the first of those given so far.
    pub(super) order: (i64, i64),
}

/// Where a link puts its packets.
pub trait Outlet {
    /// A packet reaches the end of the line at `at`.
    fn put(&mut self, at: u64, words: Words);
    /// A packet is dropped.
    fn drop_packet(&mut self, words: Words);
    /// Returns a copy of a packet.
    fn copy_packet(&mut self, words: Words) -> Words;
    /// Returns the time at which the run stops: nothing at that time or later may be done.
    fn stop(&self) -> u64;
}

/// How packets are taken from the queue and sent. [`EachPacket`] does it in general.
pub trait Dispatch {
    /// Begins a run of the link up to `stop`.
    fn begin(service: &Service, stop: u64) -> Self;

    /// Sends the next packet: the transmitter is free at `now`.
    fn send<D: QueueDiscipline<Words>>(
        &mut self,
        service: &mut Service,
        queue: &mut D,
        now: u64,
        outlet: &mut impl Outlet,
    );

    /// Sends a packet that was just taken from the queue, or that arrived at an idle transmitter and did not enter it.
    fn transmit<D: QueueDiscipline<Words>>(
        &mut self,
        service: &mut Service,
        queue: &mut D,
        next: Departure<Words>,
        now: u64,
        outlet: &mut impl Outlet,
    );

    /// Ends the run.
    fn end(&self, service: &mut Service);
}

/// Asks the queue, the transmitter and the line about each packet.
pub struct EachPacket;

impl Dispatch for EachPacket {
    fn begin(_: &Service, _: u64) -> Self {
        EachPacket
    }

    fn send<D: QueueDiscipline<Words>>(
        &mut self,
        service: &mut Service,
        queue: &mut D,
        now: u64,
        outlet: &mut impl Outlet,
    ) {
        service.send(queue, None, now, outlet);
    }

    fn transmit<D: QueueDiscipline<Words>>(
        &mut self,
        service: &mut Service,
        queue: &mut D,
        next: Departure<Words>,
        now: u64,
        outlet: &mut impl Outlet,
    ) {
        let taken = service.marked(next);
        service.send(queue, Some(taken), now, outlet);
    }

    fn end(&self, _: &mut Service) {}
}

impl Service {
    /// Creates an idle transmitter and an empty line.
    pub(super) fn new(spec: &LinkSpec, origin: u64, seed: u64, index: u64) -> Service {
        Service {
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
            ecn_remark: spec.effects.ecn_remark,
            overtaking: BinaryHeap::new(),
            order: (0, 0),
        }
    }

    /// Puts the packet in transmission on the line if it leaves in this run: nothing can come between any more.
    pub fn put_on_line(&mut self, outlet: &mut impl Outlet) {
        if self.leaves < outlet.stop()
            && let Some(words) = self.sending.take()
        {
            self.cross(self.leaves, words, outlet);
        }
    }

    /// Handles the arrival of a packet. `full`: it is a full data packet without flags.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // one call, inlined
    pub fn arrive<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        limits: &Limits,
        dispatch: &mut impl Dispatch,
        now: u64,
        mut words: Words,
        full: bool,
        outlet: &mut impl Outlet,
    ) {
        if let Some(remark) = self.ecn_remark {
            words = remarked(words, remark);
        }
        let about = if full {
            let flow = (words[1] >> 32) as u32;
            Arrival { bytes: size(words), flow, ecn: Codepoint::NotEct, plain_ack: false }
        } else {
            arrival(&packet(words))
        };
        let idle = self.leaves == NEVER;
        let transmitting = if idle { None } else { Some(self.sending_bytes) };
        if let Some(policer) = &mut self.policer
            && !policer.admits(now, about.bytes)
        {
            self.dropped.push(words);
            return self.count_dropped(outlet);
        }
        if idle && let Some(next) = queue.pass(limits, words, about) {
            return dispatch.transmit(self, queue, next, now, outlet);
        }
        let before = queue.waiting();
        queue.enqueue(limits, now, words, about, transmitting, &mut self.dropped);
        let after = queue.waiting();
        if after > before {
            let found = (before + usize::from(!idle)) as u64;
            if found > self.counts.max_waiting {
                self.counts.max_waiting = found;
            }
        }
        if after == before + 1 {
            self.waited = self.waited.wrapping_sub(u128::from(now));
        } else {
            self.note_departures(before, after, now);
        }
        if idle {
            self.start(queue, dispatch, now, outlet);
        } else if !self.dropped.is_empty() {
            self.count_dropped(outlet);
        }
    }

    /// Lets packets leave before `end`. Returns how many did.
    #[inline(always)]
    pub fn advance<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        dispatch: &mut impl Dispatch,
        end: u64,
        outlet: &mut impl Outlet,
    ) -> u64 {
        let mut left = 0;
        while self.leaves < end {
            left += 1;
            let now = self.leaves;
            dispatch.send(self, queue, now, outlet);
        }
        left
    }

    /// A packet has come to an idle transmitter.
    #[inline(never)]
    fn start<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        dispatch: &mut impl Dispatch,
        now: u64,
        outlet: &mut impl Outlet,
    ) {
        dispatch.send(self, queue, now, outlet);
        if !self.dropped.is_empty() {
            self.count_dropped(outlet);
        }
    }

    /// Tells the queue that the transmitter asked when nothing waited.
    #[inline(always)]
    pub fn rest<D: QueueDiscipline<Words>>(&mut self, queue: &mut D, now: u64) {
        queue.rest(now, &mut self.dropped);
        self.leaves = NEVER;
    }

    /// Takes packets from the queue until one occupies the transmitter for some time, first `taken` if there is one.
    /// At a transmitter that is not idle (a packet left just now) they waited behind that one.
    #[inline(never)]
    pub fn send<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        mut taken: Option<(Words, u32)>,
        now: u64,
        outlet: &mut impl Outlet,
    ) {
        let mut waited = self.leaves != NEVER;
        self.leaves = NEVER;
        while let Some((words, bytes)) = taken.take().or_else(|| self.take(queue, now)) {
            let leaves = self.transmitter.finish(now, bytes, waited);
            if leaves > now {
                // A packet that never leaves is in transmission all the same.
                self.leaves = leaves.min(NEVER - 1);
                self.sending_bytes = bytes;
                self.sending = Some(words);
                // If it leaves in this run nothing can come between: no change, and no act of another stage.
                self.put_on_line(outlet);
                break;
            }
            self.cross(now, words, outlet);
            waited = true;
        }
        if !self.dropped.is_empty() {
            self.count_dropped(outlet);
        }
    }

    /// Takes the next packet from the queue.
    fn take<D: QueueDiscipline<Words>>(&mut self, queue: &mut D, now: u64) -> Option<(Words, u32)> {
        let before = queue.waiting();
        let next = queue.dequeue(now, &mut self.dropped);
        self.note_departures(before, queue.waiting(), now);
        next.map(|next| self.marked(next))
    }

    /// Returns a packet with its mark, if it gets one, and its bytes.
    #[inline(always)]
    pub fn marked(&mut self, Departure { packet, bytes, mark }: Departure<Words>) -> (Words, u32) {
        // Separate words stay in registers; they are an array again where the code is not inlined.
        let [sent, sequence, mut rest] = packet;
        if mark {
            rest |= u64::from(CE) << 48;
            self.counts.marked += 1;
        }
        ([sent, sequence, rest], bytes)
    }

    /// Updates the waiting times: `before` packets waited before something that happened at `now`, `after` wait after it.
    #[inline]
    fn note_departures(&mut self, before: usize, after: usize, now: u64) {
        let departed = (before as u128).wrapping_sub(after as u128);
        self.waited = self.waited.wrapping_add(departed.wrapping_mul(u128::from(now)));
    }

    /// Puts a packet on the line that has left the transmitter at `now`.
    #[inline]
    pub fn cross(&mut self, now: u64, mut words: Words, outlet: &mut impl Outlet) {
        let crossing = self.line.cross(now);
        if crossing.lost {
            words[2] |= u64::from(LOST) << 48;
        }
        self.hand_on(crossing.at, words, outlet);
        if crossing.twice {
            let copy = outlet.copy_packet(words);
            self.counts.copied += 1;
            self.hand_on(crossing.at, copy, outlet);
        }
    }

    fn hand_on(&mut self, at: u64, words: Words, outlet: &mut impl Outlet) {
        if self.line.reorders() {
            self.overtaking.push(Reverse((at, self.order.0, words)));
            self.order.0 += 1;
        } else {
            outlet.put(at, words);
        }
    }

    #[cold]
    #[inline(never)]
    fn count_dropped(&mut self, outlet: &mut impl Outlet) {
        self.counts.dropped += self.dropped.len() as u64;
        self.dropped.drain(..).for_each(|words| outlet.drop_packet(words));
    }

    /// Returns whether a packet that leaves at the time of an arrival has left before it (see [`Service::leaves`]).
    pub fn leaves_before_arrivals(&self) -> bool {
        self.counting == Counting::WaitingOnly || fault::is(Fault::AsksTooEarly)
    }
}

/// Returns a packet with the ECN field that a link gives it.
#[cold]
fn remarked([sent, sequence, rest]: Words, remark: EcnRemark) -> Words {
    let codepoint = arrival(&packet([sent, sequence, rest])).ecn.remarked(remark);
    let field = u64::from(codepoint_flags(Codepoint::Ce) | codepoint_flags(Codepoint::Ect1));
    [sent, sequence, (rest & !(field << 48)) | u64::from(codepoint_flags(codepoint)) << 48]
}
