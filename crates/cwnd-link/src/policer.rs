//! A policer: a token bucket that drops packets above its rate.

use cwnd_scenario::{Policer as PolicerSpec, Rate};

/// A single-rate token bucket without colours: the first of the two buckets of RFC 2697 (section 3, colour-blind), whose "red"
/// is a drop. A packet of B bytes passes if the bucket holds at least B, and removes them. A dropped packet removes nothing.
/// The bucket is full at the beginning.
///
/// The RFC lets the bucket gain a byte at a time; here it gains what the rate gives in each nanosecond, and nothing is
/// rounded: the bucket is counted in bits x 10^-9, of which one nanosecond brings as many as the rate has bits a second.
/// An unlimited rate fills it in no time, so that all but packets larger than the burst pass.
#[derive(Clone, Debug)]
pub struct Policer {
    /// Rate, bits per second: the gain per nanosecond in bits x 10^-9.
    rate: u64,
    /// Size of the bucket, and its content at `since`, in bits x 10^-9.
    full: u128,
    tokens: u128,
    since: u64,
}

/// Bits x 10^-9 in a byte.
const BYTE: u128 = 8_000_000_000;

impl Policer {
    /// Creates a full bucket.
    pub fn new(spec: &PolicerSpec) -> Policer {
        let full = u128::from(spec.burst) * BYTE;
        Policer { rate: spec.rate.0, full, tokens: full, since: 0 }
    }

    /// Returns whether a packet of this size in wire bytes passes that arrives at `now` (never earlier than the last one).
    #[inline]
    pub fn admits(&mut self, now: u64, bytes: u32) -> bool {
        let gained = if self.rate == Rate::UNLIMITED.0 {
            u128::MAX
        } else {
            u128::from(now.saturating_sub(self.since)) * u128::from(self.rate)
        };
        self.since = now;
        self.tokens = self.tokens.saturating_add(gained).min(self.full);
        let needed = u128::from(bytes) * BYTE;
        let passes = needed <= self.tokens;
        if passes {
            self.tokens -= needed;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policer(rate: u64, burst: u64) -> Policer {
        Policer::new(&PolicerSpec { rate: Rate(rate), burst })
    }

    #[test]
    fn a_burst_passes_and_then_one_packet_each_time_it_is_paid() {
        // 8 Mbit/s is one byte a microsecond. A bucket of 3,000 B lets two of four packets of 1,500 B pass at once;
        // it has 1,500 B again after exactly 1.5 ms, and not a nanosecond earlier.
        let mut policer = policer(8_000_000, 3000);
        assert_eq!([0; 4].map(|now| policer.admits(now, 1500)), [true, true, false, false]);
        assert!(!policer.admits(1_499_999, 1500));
        assert!(policer.admits(1_500_000, 1500));
        assert!(!policer.admits(2_999_999, 1500));
        assert!(policer.admits(3_000_000, 1500));
        // It never holds more than the burst: after a long pause two pass again, not three.
        assert_eq!([1 << 40; 3].map(|now| policer.admits(now, 1500)), [true, true, false]);
    }

    #[test]
    fn what_is_dropped_takes_nothing_and_a_smaller_one_may_pass() {
        let mut policer = policer(8_000_000, 1000);
        assert!(policer.admits(0, 600));
        assert!(!policer.admits(0, 500));
        assert!(policer.admits(0, 400));
        assert!(!policer.admits(0, 1));
        // A packet larger than the bucket never passes.
        assert!(!policer.admits(1 << 50, 1001));
    }

    #[test]
    fn does_not_drift_over_hours() {
        // 7 Mbit/s and packets of 1,000 B: 8,000 / 7e6 s = 1,142,857 1/7 ns a packet. When the bucket has been emptied,
        // the n-th packet is paid at the n-th multiple of that, rounded up (the bucket holds two, so that what was gained
        // in the rounding is not cut off). Ten hours are 31,500,000 packets; every 1,000th is tried a nanosecond too
        // early as well.
        let mut policer = policer(7_000_000, 2000);
        assert!(policer.admits(0, 2000));
        let paid = |n: u64| (n * 8_000_000).div_ceil(7);
        for n in 1..=31_500_000u64 {
            if n % 1000 == 0 {
                assert!(!policer.admits(paid(n) - 1, 1000), "{n}");
            }
            assert!(policer.admits(paid(n), 1000), "{n}");
        }
    }

    #[test]
    fn extremes_neither_panic_nor_lie() {
        let mut unlimited = policer(u64::MAX, 1500);
        assert_eq!([0; 3].map(|now| unlimited.admits(now, 1500)), [true; 3]);
        assert!(!unlimited.admits(0, 1501));
        let mut large = policer(10_000_000_000_000, u64::MAX);
        assert!(large.admits(0, u32::MAX) && large.admits(u64::MAX, u32::MAX));
        let mut empty = policer(1000, 0);
        assert!(!empty.admits(u64::MAX, 1));
    }
}
