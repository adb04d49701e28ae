//! Times of the operating system as [`Nanos`].

use crate::Nanos;
use std::time::Instant;

/// Converts instants to [`Nanos`] since an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(Instant);

impl Clock {
    /// Creates a clock that is zero at `origin`.
    pub fn starting_at(origin: Instant) -> Clock {
        Clock(origin)
    }

    /// Returns the time of an instant; zero before the origin.
    pub fn nanos(&self, instant: Instant) -> Nanos {
        Nanos::from(instant.saturating_duration_since(self.0))
    }
}
