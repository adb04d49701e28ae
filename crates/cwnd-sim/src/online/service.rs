//! What serves a queue that is kept: the policer before it, the transmitter, and the line behind that.
//!
//! All of it is in line where packets are handled ([`super::stage`]), once for each discipline.

use super::stage::Outside;
use super::{NEVER, Service, Words, about, packet, size};
use crate::packet::{CE, LOST};
use cwnd_link::{Arrival, Codepoint, Limits, QueueDiscipline};
use cwnd_scenario::Counting;
use std::cmp::Reverse;

impl Service {
    #[inline(always)]
    fn count_waiting(&mut self, now: u64) {
        self.counts.waited += self.waiting as u128 * u128::from(now - self.waited_to);
        self.waited_to = now;
    }

    /// A packet arrives. An ordinary one is full and has no flags.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)] // one call, in line
    pub(super) fn arrive<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        limits: &Limits,
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
        let idle = self.leaves == NEVER && self.asks == NEVER;
        let transmitting = if idle { None } else { Some(self.sending_bytes) };
        if let Some(policer) = &mut self.policer
            && !policer.admits(now, about.bytes)
        {
            self.dropped.push(words);
            return self.bury(to);
        }
        self.count_waiting(now);
        let before = self.waiting;
        queue.enqueue(limits, now, words, about, transmitting, &mut self.dropped);
        self.waiting = queue.waiting();
        if self.waiting > before {
            let found = before + usize::from(transmitting.is_some());
            self.counts.max_waiting = self.counts.max_waiting.max(found as u64);
        }
        if transmitting.is_none() {
            self.begin_to_send(queue, now, to);
        }
        self.bury(to);
    }

    /// Do what happens by itself: packets that leave at `leave_by` or before, and transmitters that ask before `ask_before`.
    /// Answers how many left.
    #[inline(always)]
    pub(super) fn go_on<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        leave_by: u64,
        ask_before: u64,
        to: &mut Outside<'_>,
    ) -> u64 {
        let mut left = 0;
        loop {
            let mut now = self.asks;
            if self.leaves <= leave_by {
                now = self.leaves;
                self.leaves = NEVER;
                left += 1;
                if let Some(words) = self.sending.take() {
                    self.cross_now(now, words, to);
                }
                if now >= ask_before && self.counting == Counting::WithTransmission {
                    self.asks = now;
                    continue;
                }
            } else if now < ask_before {
                self.asks = NEVER;
            } else {
                return left;
            }
            self.send_next(queue, now, true, to);
            self.bury(to);
        }
    }

    /// The transmitter was idle.
    #[inline(never)]
    fn begin_to_send<D: QueueDiscipline<Words>>(&mut self, queue: &mut D, now: u64, to: &mut Outside<'_>) {
        self.send_next(queue, now, false, to);
    }

    /// The transmitter is free: it takes the packets that wait, until one takes time.
    #[inline(always)]
    fn send_next<D: QueueDiscipline<Words>>(
        &mut self,
        queue: &mut D,
        now: u64,
        mut waited: bool,
        to: &mut Outside<'_>,
    ) {
        loop {
            self.count_waiting(now);
            let next = queue.dequeue(now, &mut self.dropped);
            self.waiting = queue.waiting();
            let Some(next) = next else { return };
            let mut words = next.packet;
            if next.mark {
                words[2] |= u64::from(CE) << 48;
                self.counts.marked += 1;
            }
            let leaves = self.transmitter.finish(now, next.bytes, waited);
            if leaves > now {
                // One that never leaves is in transmission all the same.
                self.leaves = leaves.min(NEVER - 1);
                self.sending_bytes = next.bytes;
                if leaves < to.stop() {
                    // Nothing can come between: no change, and nothing that others may do.
                    self.cross(leaves, words, to);
                } else {
                    self.sending = Some(words);
                }
                return;
            }
            self.cross_now(now, words, to);
            waited = true;
        }
    }

    /// A packet leaves that took no time, or that was in transmission when a run ended.
    #[inline(never)]
    fn cross_now(&mut self, now: u64, words: Words, to: &mut Outside<'_>) {
        self.cross(now, words, to);
    }

    /// A packet is on the line.
    #[inline(always)]
    fn cross(&mut self, now: u64, mut words: Words, to: &mut Outside<'_>) {
        if let Some(at) = self.line.cross_plainly(now) {
            return to.put(at, words);
        }
        let way = self.line.cross(now);
        if way.lost {
            words[2] |= u64::from(LOST) << 48;
        }
        if way.twice || self.line.reorders() {
            return self.hand_on_oddly(way.at, way.twice, words, to);
        }
        to.put(way.at, words);
    }

    /// A packet comes out twice, or on a line on which it may be overtaken.
    #[inline(never)]
    fn hand_on_oddly(&mut self, at: u64, twice: bool, words: Words, to: &mut Outside<'_>) {
        self.hand_on(at, words, to);
        if twice {
            let copy = to.copy_words(words);
            self.counts.copied += 1;
            self.hand_on(at, copy, to);
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

    #[inline(always)]
    fn bury(&mut self, to: &mut Outside<'_>) {
        if !self.dropped.is_empty() {
            self.bury_all(to);
        }
    }

    #[cold]
    #[inline(never)]
    fn bury_all(&mut self, to: &mut Outside<'_>) {
        self.counts.dropped += self.dropped.len() as u64;
        self.dropped.drain(..).for_each(|words| to.bury_words(words));
    }
}
