//! The allowance for aggregated ACKs, as in Linux 6.1.
//!
//! ```text
//! excess       segments delivered since the epoch began - BtlBw (time since it began)
//! extra_acked  the greatest excess of the last 5 to 10 round trips
//! epoch        begins again with an ACK before which the excess was not positive
//! ```
//!
//! A path that holds ACKs back and delivers them together leaves the sender without ACKs in between. `extra_acked` is what it must
//! have in flight beyond the bandwidth-delay product in order to continue to send.

use crate::Nanos;

/// Round trips of each of the two windows of the maximum.
const WINDOW_ROUNDS: u32 = 5;

/// An epoch of this many segments ends in any case.
const LONGEST_EPOCH: u64 = 1 << 20;

/// The epoch, and the maximum.
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    since: Nanos,
    /// Segments delivered in the epoch.
    acked: u64,
    /// The greatest excess of each window, and the window under way.
    windows: [u64; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    /// Begins an epoch.
    pub fn restart(&mut self, now: Nanos) {
        self.since = now;
        self.acked = 0;
    }

    /// Handles an ACK that delivers `acked` segments. `expected(span)` is what the bandwidth delivers in a time; `cwnd`, the
    /// window, bounds the excess.
    pub fn on_ack(
        &mut self,
        now: Nanos,
        acked: u32,
        round_start: bool,
        cwnd: f64,
        expected: impl Fn(Nanos) -> u64,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.windows[self.current] = 0;
            }
        }
        let acked = u64::from(acked);
        let mut due = expected(now.since(self.since));
        if self.acked <= due || self.acked + acked >= LONGEST_EPOCH {
            self.restart(now);
            due = 0;
        }
        self.acked = (self.acked + acked).min(LONGEST_EPOCH - 1);
        let excess = (self.acked - due).min(cwnd as u64);
        self.windows[self.current] = self.windows[self.current].max(excess);
    }

    /// Returns `extra_acked`, segments.
    pub fn extra_acked(&self) -> u64 {
        self.windows[0].max(self.windows[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK at `ms` over a path of one segment a millisecond.
    fn ack(aggregation: &mut Aggregation, ms: u64, acked: u32, round_start: bool) -> u64 {
        let expected = |span: Nanos| span.0 / 1_000_000;
        aggregation.on_ack(Nanos::from_millis(ms), acked, round_start, 500.0, expected);
        aggregation.extra_acked()
    }

    #[test]
    fn the_excess_is_what_comes_before_it_is_due() {
        let mut aggregation = Aggregation::default();
        // One a millisecond: each ACK begins an epoch, and itself is the excess.
        for ms in 1..10 {
            assert_eq!(ack(&mut aggregation, ms, 1, false), 1);
        }
        // 20 ms of silence, then twenty at once, in four ACKs: 5, 10, 15 and 20 - 0 are not due yet.
        for (acks, expected) in [5, 10, 15, 20].into_iter().enumerate() {
            assert_eq!(ack(&mut aggregation, 30, 5, false), expected, "{acks}");
        }
        // 12 ms later 12 of the 20 were due: 20 + 5 - 12 = 13 are less. After another 15 ms 27 were due, of 25: a new epoch.
        assert_eq!(ack(&mut aggregation, 42, 5, false), 20);
        assert_eq!(aggregation.acked, 25);
        assert_eq!(ack(&mut aggregation, 57, 3, false), 20);
        assert_eq!((aggregation.acked, aggregation.since), (3, Nanos::from_millis(57)));
    }

    #[test]
    fn the_maximum_is_of_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        ack(&mut aggregation, 100, 40, true);
        // The 40 are of the first window, in round 1. It is the window of rounds 10 to 14 again.
        for round in 2..14 {
            let expected = if round < 10 { 40 } else { 1 };
            assert_eq!(ack(&mut aggregation, 100 * round, 1, true), expected, "{round}");
        }
    }

    #[test]
    fn the_window_bounds_it() {
        let mut aggregation = Aggregation::default();
        assert_eq!(ack(&mut aggregation, 100, 900, false), 500);
    }
}
