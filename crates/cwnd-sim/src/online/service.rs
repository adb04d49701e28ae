//! What serves a queue that is kept: the policer before it, the transmitter, and the line behind that.
//!
//! All that most packets need is in line where packets are handled ([`super::stage`]), once for each discipline: a packet
//! leaves the queue plainly, and transmitter and line go on as they do ([`Pace`]). The rest is out of line.

use super::stage::Outside;
use super::{NEVER, Service, Words, about, packet, size};
use crate::fault::{self, Fault};
use cwnd_link::{Arrival, Codepoint, Limits, QueueDiscipline, Steady, SteadyLine};
use cwnd_tcp::packet::{CE, LOST};
use std::cmp::Reverse;

/// How transmitter and line go on as long as neither changes.
pub(super) struct Pace {
    transmitter: Steady,
    line: SteadyLine,
    /// When the packet in transmission began, if the transmitter is to be told; else [`NEVER`].
    began: u64,
}

impl Service {
    /// How transmitter and line go on from here, for packets that leave before `stop`.
    pub(super) fn pace(&self, stop: u64) -> Pace {
        let mut transmitter = self.transmitter.steady();
        transmitter.end_by(stop - 1);
        Pace { transmitter, line: self.line.steady(), began: NEVER }
    }

    /// Tell transmitter and line what they were not asked.
    pub(super) fn settle(&mut self, pace: &Pace) {
        if fault::is(Fault::NotSettled) {
            return;
        }
        if pace.began != NEVER {
            self.transmitter.began(pace.began, self.sending_bytes);
        }
        self.line.passed(&pace.line);
    }

    /// The packet in transmission left only after the last run, and leaves in this one: nothing can come between any more.
    pub(super) fn put_on_line(&mut self, to: &mut Outside<'_>) {
        if self.leaves < to.stop()
            && let Some(words) = self.sending.take()
        {
            self.cross(self.leaves, words, to);
        }
    }

    /// A packet arrives. An ordinary one is full and has no flags.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // one call, in line
    pub(super) fn arrive<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        limits: &Limits,
        pace: &mut Pace,
        now: u64,
        words: Words,
        ordinary: bool,
        to: &mut Outside<'_>,
    ) {
        let about = if ordinary {
            let flow = (words[1] >> 32) as u32;
            Arrival { bytes: size(words), flow, ecn: Codepoint::NotEct, plain_ack: false }
        } else {
            about(&packet(words))
        };
        let idle = self.leaves == NEVER;
        let transmitting = if idle { None } else { Some(self.sending_bytes) };
        if let Some(policer) = &mut self.policer
            && !policer.admits(now, about.bytes)
        {
            self.dropped.push(words);
            return self.bury_all(to);
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
            self.went(before, after, now);
        }
        if idle {
            self.begin(queue, now, pace, to);
        } else if !self.dropped.is_empty() {
            self.bury_all(to);
        }
    }

    /// Do what happens by itself before `end`: packets leave, and the transmitter takes the next. Answers how many left.
    #[inline(always)]
    pub(super) fn go_on<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        pace: &mut Pace,
        end: u64,
        to: &mut Outside<'_>,
    ) -> u64 {
        let mut left = 0;
        while self.leaves < end {
            left += 1;
            self.send(queue, self.leaves, pace, to);
        }
        left
    }

    /// The transmitter was idle, and a packet has come.
    #[inline(never)]
    fn begin<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        now: u64,
        pace: &mut Pace,
        to: &mut Outside<'_>,
    ) {
        self.send(queue, now, pace, to);
        if !self.dropped.is_empty() {
            self.bury_all(to);
        }
    }

    /// The transmitter is free, and takes the next packet.
    #[inline(always)]
    fn send<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        now: u64,
        pace: &mut Pace,
        to: &mut Outside<'_>,
    ) {
        let Some(next) = queue.dequeue_plainly(now) else {
            if queue.waiting() == 0 {
                return self.rest(queue, now);
            }
            return self.send_otherwise(queue, None, now, pace, to);
        };
        self.waited = self.waited.wrapping_add(u128::from(now));
        // Word by word, and put together again where it is out of line: so they stay in registers.
        let [sent, sequence, mut rest] = next.packet;
        if next.mark {
            rest |= u64::from(CE) << 48;
            self.counts.marked += 1;
        }
        let Some(leaves) = pace.transmitter.finish(now, next.bytes) else {
            return self.send_otherwise(queue, Some(([sent, sequence, rest], next.bytes)), now, pace, to);
        };
        self.leaves = leaves;
        self.sending_bytes = next.bytes;
        pace.began = now;
        match pace.line.cross(leaves) {
            Some(at) => to.put(at, [sent, sequence, rest]),
            None => self.cross_otherwise(leaves, [sent, sequence, rest], pace, to),
        }
    }

    /// The transmitter is free, and nothing waits: the queue is told that it was asked.
    #[inline(never)]
    fn rest<D: QueueDiscipline<Words>>(&mut self, queue: &mut D, now: u64) {
        let none = queue.dequeue(now, &mut self.dropped);
        debug_assert!(none.is_none(), "nothing waited");
        self.leaves = NEVER;
    }

    /// The transmitter is free, and takes the packets that wait until one takes time, first this one if there is one: it has
    /// left the queue. At a transmitter that is not idle (one left just now) they waited behind that.
    #[inline(never)]
    fn send_otherwise<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        mut taken: Option<(Words, u32)>,
        now: u64,
        pace: &mut Pace,
        to: &mut Outside<'_>,
    ) {
        self.settle(pace);
        let mut waited = self.leaves != NEVER;
        self.leaves = NEVER;
        while let Some((words, bytes)) = taken.take().or_else(|| self.take(queue, now)) {
            let leaves = self.transmitter.finish(now, bytes, waited);
            if leaves > now {
                // One that never leaves is in transmission all the same.
                self.leaves = leaves.min(NEVER - 1);
                self.sending_bytes = bytes;
                self.sending = Some(words);
                // If it leaves in this run nothing can come between: no change, and nothing that others may do.
                self.put_on_line(to);
                break;
            }
            self.cross(now, words, to);
            waited = true;
        }
        if !self.dropped.is_empty() {
            self.bury_all(to);
        }
        *pace = self.pace(to.stop());
    }

    /// Take the next packet from the queue.
    fn take<D: QueueDiscipline<Words>>(&mut self, queue: &mut D, now: u64) -> Option<(Words, u32)> {
        let before = queue.waiting();
        let next = queue.dequeue(now, &mut self.dropped);
        self.went(before, queue.waiting(), now);
        let next = next?;
        let mut words = next.packet;
        if next.mark {
            words[2] |= u64::from(CE) << 48;
            self.counts.marked += 1;
        }
        Some((words, next.bytes))
    }

    /// So many waited before and wait after something that happened at `now`.
    #[inline]
    fn went(&mut self, before: usize, after: usize, now: u64) {
        let went = (before as u128).wrapping_sub(after as u128);
        self.waited = self.waited.wrapping_add(went.wrapping_mul(u128::from(now)));
    }

    /// A packet is on a line that does more than to delay, or something else from now on.
    #[inline(never)]
    fn cross_otherwise(&mut self, leaves: u64, words: Words, pace: &mut Pace, to: &mut Outside<'_>) {
        self.line.passed(&pace.line);
        self.cross(leaves, words, to);
        pace.line = self.line.steady();
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
            let copy = to.copy_words(words);
            self.counts.copied += 1;
            self.hand_on(way.at, copy, to);
        }
    }

    fn hand_on(&mut self, at: u64, words: Words, to: &mut Outside<'_>) {
        if self.line.reorders() {
            self.overtaking.push(Reverse((at, self.order.0, words)));
            self.order.0 += 1;
        } else {
            to.put(at, words);
        }
    }

    #[cold]
    #[inline(never)]
    fn bury_all(&mut self, to: &mut Outside<'_>) {
        self.counts.dropped += self.dropped.len() as u64;
        self.dropped.drain(..).for_each(|words| to.bury_words(words));
    }
}
