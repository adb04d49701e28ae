//! The coarse clock of a kernel, which some modules of Linux measure with: jiffies, of 1 ms, 4 ms or 10 ms (`CONFIG_HZ`).

use crate::{Init, Nanos};

/// A clock of whole ticks.
#[derive(Clone, Copy, Debug)]
pub struct Jiffies {
    /// Ticks a second.
    hz: u64,
    /// The length of a tick, ns.
    tick: u64,
}

impl Default for Jiffies {
    /// Ticks of a millisecond.
    fn default() -> Self {
        Jiffies::new(1000)
    }
}

impl Jiffies {
    /// Creates a clock with this many ticks a second, at least one.
    pub fn new(hz: u32) -> Jiffies {
        let hz = u64::from(hz.max(1));
        Jiffies { hz, tick: 1_000_000_000 / hz }
    }

    /// Creates the clock of a connection: that of the stack's timers, or of milliseconds where these expire exactly.
    pub fn of(init: &Init) -> Jiffies {
        if init.timer_hz > 0 { Jiffies::new(init.timer_hz) } else { Jiffies::default() }
    }

    /// Returns its ticks a second.
    #[inline]
    pub fn hz(self) -> u64 {
        self.hz
    }

    /// Returns the whole ticks since the engine's time zero.
    #[inline]
    pub fn at(self, time: Nanos) -> u64 {
        time.0 / self.tick
    }

    /// Returns a duration of whole microseconds, as the kernel has them, in ticks, rounded up.
    #[inline]
    pub fn round_up(self, duration: Nanos) -> u64 {
        (duration.0 / 1000 * 1000).div_ceil(self.tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_rounded_up_and_times_down() {
        let jiffies = Jiffies::of(&Init { timer_hz: 250, ..Init::default() });
        assert_eq!(jiffies.hz(), 250);
        assert_eq!([0, 3_999_999, 4_000_000].map(|ns| jiffies.at(Nanos(ns))), [0, 0, 1]);
        // 999 ns are no microsecond.
        assert_eq!(
            [0, 999, 1000, 4_000_999, 4_001_000].map(|ns| jiffies.round_up(Nanos(ns))),
            [0, 0, 1, 1, 2]
        );
        assert_eq!(Jiffies::of(&Init::default()).at(Nanos::from_millis(7)), 7);
    }
}
