/// A point in time or a span of it, in nanoseconds. The origin is the transport's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Nanos(pub u64);

impl Nanos {
    /// Zero: an empty span, or the origin.
    pub const ZERO: Nanos = Nanos(0);
    /// The latest time.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// Creates a span of whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Nanos(ms * 1_000_000)
    }

    /// Creates a span of whole microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Nanos(us * 1_000)
    }

    /// Returns the span in seconds.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        // Spans fit a signed number, which converts in one instruction.
        self.0.min(i64::MAX as u64) as i64 as f64 * 1e-9
    }

    /// Returns the seconds since `earlier`; negative if `earlier` is later. The two must be less than 292 years apart.
    #[inline]
    pub fn secs_since(self, earlier: Nanos) -> f64 {
        self.0.wrapping_sub(earlier.0) as i64 as f64 * 1e-9
    }

    /// Returns the span since `earlier`; zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl core::ops::Add for Nanos {
    type Output = Nanos;
    #[inline]
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl From<core::time::Duration> for Nanos {
    /// Converts a duration. One of more than 584 years becomes [`Nanos::MAX`].
    fn from(duration: core::time::Duration) -> Nanos {
        Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    #[test]
    fn durations_convert() {
        assert_eq!(Nanos::from(Duration::from_micros(3)), Nanos(3_000));
        assert_eq!(Nanos::from(Duration::MAX), Nanos::MAX);
    }
}
