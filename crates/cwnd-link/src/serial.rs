//! Serialisation time of packets.

use cwnd_scenario::Rate;

/// Serialisation time at a rate, in whole nanoseconds, rounded to the nearest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SerialTime {
    /// Nanoseconds per byte, times 2^shift.
    scaled: u64,
    shift: u32,
}

impl SerialTime {
    /// Creates the serialisation time of a rate; an unlimited rate takes no time. A rate below 2 bit/s counts as 2 bit/s.
    pub fn new(rate: Rate) -> SerialTime {
        if rate == Rate::UNLIMITED {
            return SerialTime::default();
        }
        let bits_per_second = u128::from(rate.0.max(2));
        // As many fraction bits as leave room for 2^16 bytes.
        let scaled = |shift: u32| ((8_000_000_000u128 << shift) + bits_per_second / 2) / bits_per_second;
        let shift = (0..=40).rev().find(|&shift| scaled(shift) < 1 << 47).unwrap_or(0);
        SerialTime { scaled: scaled(shift) as u64, shift }
    }

    /// Returns the transmission time of a packet of this size in wire bytes (at most 65,535), ns.
    #[inline(always)]
    pub fn of(self, bytes: u32) -> u64 {
        let half = (1u64 << self.shift) >> 1;
        // At a finite rate nothing takes no time at all.
        ((self.scaled * u64::from(bytes) + half) >> self.shift).max(u64::from(self.scaled > 0))
    }

    /// Nanoseconds a byte, times 2^40, exactly as [`SerialTime::of`] takes them: of two rates the one with the lesser slope
    /// never takes longer, whatever is rounded.
    pub fn slope(self) -> u128 {
        u128::from(self.scaled) << (40 - self.shift)
    }

    /// What is left of a transmission when the rate changes: `remaining` nanoseconds at `old` hold so
    /// many bits, which take this long at the new rate.
    pub fn convert(self, remaining: u64, old: SerialTime) -> u64 {
        if old.scaled == 0 {
            return 0;
        }
        let (new, old) = (self.slope(), old.slope());
        u64::try_from((u128::from(remaining) * (new >> 8) + (old >> 9)) / (old >> 8)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_exact_where_the_nanoseconds_are_whole() {
        // 1,050 B x 8 = 8,400 bit: 8,400 ns at 1 Gbit/s; 1,514 B at 100 Mbit/s: 121,120 ns.
        assert_eq!(SerialTime::new(Rate(1_000_000_000)).of(1050), 8400);
        assert_eq!(SerialTime::new(Rate(100_000_000)).of(1514), 121_120);
        assert_eq!(SerialTime::new(Rate(1000)).of(65_535), 524_280_000_000);
        assert_eq!(SerialTime::new(Rate::UNLIMITED).of(1500), 0);
    }

    #[test]
    fn rounds_to_the_nearest() {
        // 1,000 B at 3 Mbit/s: 2,666,666.67 ns; 40 B at 7 Gbit/s: 45.71 ns.
        assert_eq!(SerialTime::new(Rate(3_000_000)).of(1000), 2_666_667);
        assert_eq!(SerialTime::new(Rate(7_000_000_000)).of(40), 46);
    }

    #[test]
    fn converts_what_is_left() {
        let fast = SerialTime::new(Rate(1_000_000_000));
        let slow = SerialTime::new(Rate(250_000_000));
        assert_eq!(slow.convert(2100, fast), 8400);
        assert_eq!(fast.convert(8400, slow), 2100);
        assert_eq!(slow.convert(500, SerialTime::new(Rate::UNLIMITED)), 0);
        assert_eq!(SerialTime::new(Rate::UNLIMITED).convert(500, slow), 0);
    }
}
