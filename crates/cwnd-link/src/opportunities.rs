//! Delivery traces: packets leave at given times only.

use cwnd_scenario::DeliveryTrace;
use std::sync::Arc;

const MILLISECOND: u64 = 1_000_000;

/// The opportunities of a [`DeliveryTrace`], one after the other.
///
/// The trace begins at the scenario's time zero and is repeated for ever, and before time zero as well: a handshake may
/// come before it.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    times_ms: Arc<[u32]>,
    /// Length of the trace, nanoseconds.
    length: u64,
    /// Offset of the outer clock, so that the trace begins at whole multiples of its length.
    shift: u64,
    /// Beginning of the current repetition of the trace, and the next opportunity in it.
    base: u64,
    next: usize,
    /// Time of the opportunity that was used last, and its remaining bytes.
    latest: u64,
    left: u32,
}

impl Opportunities {
    pub fn new(trace: &DeliveryTrace, origin: u64) -> Opportunities {
        // A trace without length would have no end of opportunities at one moment.
        let last = trace.times_ms.last().map_or(1, |&last| last.max(1));
        let length = u64::from(last) * MILLISECOND;
        Opportunities {
            times_ms: if trace.times_ms.is_empty() { [1].into() } else { trace.times_ms.shared() },
            length,
            shift: (length - origin % length) % length,
            base: 0,
            next: 0,
            latest: 0,
            left: 0,
        }
    }

    /// Returns when a packet that begins at `now` leaves; see [`crate::Transmitter::finish`].
    pub fn leave(&mut self, now: u64, bytes: u32, waited: bool) -> u64 {
        let now = now + self.shift;
        let mut needed = bytes.max(1);
        if waited && now == self.latest {
            if needed <= self.left {
                self.left -= needed;
                return now - self.shift;
            }
            needed -= self.left;
        }
        // One that comes at the very moment of an opportunity, and has not waited for it, comes too late.
        self.skip_before(now + u64::from(!waited));
        loop {
            self.latest = self.next_at();
            self.next += 1;
            if self.next == self.times_ms.len() {
                self.base += self.length;
                self.next = 0;
            }
            if needed <= DeliveryTrace::BYTES {
                self.left = DeliveryTrace::BYTES - needed;
                return self.latest - self.shift;
            }
            needed -= DeliveryTrace::BYTES;
        }
    }

    fn next_at(&self) -> u64 {
        self.base + u64::from(self.times_ms[self.next]) * MILLISECOND
    }

    fn skip_before(&mut self, end: u64) {
        if self.next_at() >= end {
            return;
        }
        // The last opportunity of a turn comes at its very end.
        let turns = (end - 1 - self.base) / self.length;
        if turns > 0 {
            self.base += turns * self.length;
            self.next = 0;
        }
        let end = end - self.base;
        let early = |&time: &u32| u64::from(time) * MILLISECOND < end;
        self.next += self.times_ms[self.next..].partition_point(early);
        // Only in a trace that is all zeros does none remain.
        if self.next == self.times_ms.len() {
            self.base += self.length;
            self.next = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opportunities(times_ms: &[u32], origin: u64) -> Opportunities {
        Opportunities::new(&DeliveryTrace { name: "test".to_owned(), times_ms: times_ms.into() }, origin)
    }

    /// Milliseconds at which packets of these sizes leave that all wait from `now` on.
    fn burst(mut opportunities: Opportunities, now: u64, sizes: &[u32]) -> Vec<u64> {
        let mut free_at = now;
        let leave = |(i, &bytes): (usize, &u32)| {
            free_at = opportunities.leave(free_at, bytes, i > 0);
            assert_eq!(free_at % MILLISECOND, 0);
            free_at / MILLISECOND
        };
        sizes.iter().enumerate().map(leave).collect()
    }

    #[test]
    fn small_packets_share_an_opportunity() {
        // 700 + 700 fit into 1,500 B, and 100 B are left; of the third packet 100 B go with them and 600 B at 5 ms, where
        // 900 B are left for the fourth.
        assert_eq!(burst(opportunities(&[2, 5, 9], 0), 0, &[700, 700, 700, 700]), [2, 2, 5, 5]);
        // Exactly what is left still fits; a byte more does not.
        assert_eq!(burst(opportunities(&[2, 5, 9], 0), 0, &[1000, 500, 1]), [2, 2, 5]);
        assert_eq!(burst(opportunities(&[2, 5, 9], 0), 0, &[1000, 501]), [2, 5]);
    }

    #[test]
    fn a_packet_may_need_several() {
        // 1,501 B need two, and 1,499 B of the second are left. 4,500 B need three.
        assert_eq!(burst(opportunities(&[2, 5, 9], 0), 0, &[1501, 1499, 1]), [5, 5, 9]);
        assert_eq!(burst(opportunities(&[2, 5, 9], 0), 0, &[4500]), [9]);
        // Two opportunities at one time.
        assert_eq!(burst(opportunities(&[2, 2, 9], 0), 0, &[1500, 1500, 1500]), [2, 2, 9]);
    }

    #[test]
    fn it_begins_again_at_its_end() {
        // Length 9 ms: after 9 come 9 + 2, 9 + 5, 18, ...
        assert_eq!(burst(opportunities(&[2, 5, 9], 0), 0, &[1500; 7]), [2, 5, 9, 11, 14, 18, 20]);
        // One at 0 comes at each beginning, together with the one at the end of the turn before.
        assert_eq!(burst(opportunities(&[0, 4], 0), 1, &[1500; 5]), [4, 4, 8, 8, 12]);
    }

    #[test]
    fn what_nothing_waits_for_is_lost() {
        let ms = MILLISECOND;
        let mut opportunities = opportunities(&[2, 5, 9], 0);
        assert_eq!(opportunities.leave(0, 100, false), 2 * ms);
        // 1,400 B are left at 2 ms, but this one comes when the transmitter is idle, be it at that very moment.
        assert_eq!(opportunities.leave(2 * ms, 100, false), 5 * ms);
        assert_eq!(opportunities.leave(5 * ms + 1, 100, false), 9 * ms);
        // Far later, at the end of a turn, just before it, and just after it: 9,000 turns are 81 s.
        assert_eq!(opportunities.leave(81_000 * ms - 1, 100, false), 81_000 * ms);
        assert_eq!(opportunities.leave(81_000 * ms, 100, false), 81_002 * ms);
        assert_eq!(opportunities.leave(81_009 * ms + 1, 100, false), 81_011 * ms);
    }

    #[test]
    fn it_begins_at_time_zero_of_the_scenario_and_lies_before_it_too() {
        let ms = MILLISECOND;
        // Time zero is 10 ms + 3 ns on the clock, where a turn of 9 ms begins; the one before it began at 1 ms + 3 ns.
        let mut opportunities = opportunities(&[2, 5, 9], 10 * ms + 3);
        assert_eq!(opportunities.leave(0, 1500, false), ms + 3);
        assert_eq!(opportunities.leave(ms + 3, 1500, true), 3 * ms + 3);
        assert_eq!(opportunities.leave(7 * ms, 1500, false), 10 * ms + 3);
        assert_eq!(opportunities.leave(10 * ms + 3, 1500, true), 12 * ms + 3);
    }

    #[test]
    fn a_trace_that_is_none_does_not_hang() {
        for times in [&[][..], &[0], &[0, 0]] {
            let mut opportunities = opportunities(times, 5);
            let mut now = 0;
            for _ in 0..5 {
                now = opportunities.leave(now + 10 * MILLISECOND, 1500, false);
            }
            assert!(now < 100 * MILLISECOND, "{times:?}: {now}");
        }
    }
}
