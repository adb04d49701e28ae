//! The granularity of Linux's timers: the tick, and the timer wheel.

use crate::NEVER;

/// A level of the wheel is eight times as coarse as the one below it, which it follows from this number of ticks on.
const FIRST_LEVEL: u64 = 63;
const LEVEL_SHIFT: u32 = 3;
const LEVELS: u32 = 9;

/// When a timer expires that is set for a time. Timers never expire early; far ones expire late, by up to an eighth of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimerWheel {
    /// The length of a tick, ns; zero if timers expire exactly.
    tick: u64,
}

impl TimerWheel {
    /// Creates the wheel of a kernel with `hz` ticks a second; with zero, timers expire exactly.
    pub fn new(hz: u32) -> TimerWheel {
        TimerWheel { tick: if hz == 0 { 0 } else { 1_000_000_000 / u64::from(hz) } }
    }

    /// Returns its ticks a second; 0 if timers expire exactly.
    pub fn hz(&self) -> u32 {
        1_000_000_000u64.checked_div(self.tick).unwrap_or(0) as u32
    }

    /// Returns a time in whole ticks, rounded up, ns.
    #[inline]
    pub fn round_up(&self, time: u64) -> u64 {
        if self.tick == 0 || time == NEVER { time } else { time.div_ceil(self.tick) * self.tick }
    }

    /// Returns two ticks, ns, the shortest time that Linux's TCP sets; 2 ms where timers expire exactly.
    pub fn two_ticks(&self) -> u64 {
        if self.tick == 0 { 2_000_000 } else { 2 * self.tick }
    }

    /// Returns when a timer expires that is set at `now` for `wait` later. `expiring`: it is set by a timer that has just expired,
    /// when the wheel's clock is one tick ahead.
    ///
    /// The time is rounded up to a boundary of the level, beyond one that it lies on: a timer never expires early
    /// (`calc_wheel_index` in Linux).
    #[inline]
    pub fn expiry(&self, now: u64, wait: u64, expiring: bool) -> u64 {
        if self.tick == 0 || wait >= NEVER / 2 {
            return now.saturating_add(wait);
        }
        let (clock, ticks) = (now / self.tick, wait.div_ceil(self.tick));
        let expires = clock + ticks;
        let distance = ticks.saturating_sub(u64::from(expiring));
        let mut shift = 0;
        while shift < LEVEL_SHIFT * (LEVELS - 1) && distance >= FIRST_LEVEL << shift {
            shift += LEVEL_SHIFT;
        }
        (((expires >> shift) + 1) << shift) * self.tick
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn timers_are_late_by_the_granularity_of_their_level() {
        let wheel = TimerWheel::new(1000);
        let ms = |now: u64, wait: u64| {
            assert_eq!(wheel.expiry(now, wait, false) % MS, 0);
            wheel.expiry(now, wait, false) / MS
        };
        // Below 63 ticks: the tick after. 62.5 ms are 63 ticks, the first of the next level.
        assert_eq!((ms(100 * MS, 2 * MS), ms(100 * MS + 1, 2 * MS), ms(0, 62 * MS)), (103, 103, 63));
        assert_eq!(ms(0, 62_500_000), 64);
        // Below 504: multiples of 8, beyond 304 itself.
        assert_eq!((ms(0, 303 * MS), ms(0, 304 * MS)), (304, 312));
        // Below 4,032: of 64. Below 32,256: of 512.
        assert_eq!((ms(0, 504 * MS), ms(0, 4031 * MS), ms(0, 5000 * MS)), (512, 4032, 5120));
    }

    #[test]
    fn a_recorded_backoff() {
        // Port 20034 of the recordings, time of the kernel's clock (monotonic time less 300 s), rto 252 ms: timeouts at 14,952,
        // 15,208 and 15,720 ms. Each is set when the last one expires; 504 ticks are 503 from the clock ahead.
        let wheel = TimerWheel::new(1000);
        let clock = |ms: u64| (ms + 4_096_000 - 300_000) * MS;
        assert_eq!(wheel.expiry(clock(14_952), 252 * MS, true), clock(15_208));
        assert_eq!(wheel.expiry(clock(15_208), 504 * MS, true), clock(15_720));
        // Port 20099: 508 ticks on, a multiple of 64 less 300,000.
        assert_eq!(wheel.expiry(clock(58_072), 534 * MS, true), clock(58_656));
    }

    #[test]
    fn other_rates() {
        // 250 Hz: 4 ms. 10 ms are 3 ticks from 1 on.
        let wheel = TimerWheel::new(250);
        assert_eq!((wheel.expiry(5 * MS, 10 * MS, false), wheel.round_up(10 * MS)), (20 * MS, 12 * MS));
        assert_eq!((wheel.two_ticks(), wheel.expiry(0, NEVER, false)), (8 * MS, NEVER));
        let exact = TimerWheel::new(0);
        assert_eq!((exact.expiry(5, 10, true), exact.round_up(10), exact.two_ticks()), (15, 10, 2 * MS));
    }
}
