//! Round-trip time samples of one round trip.

use crate::Nanos;

/// The least round-trip time of the current round, and how many samples it is of.
#[derive(Clone, Copy, Debug)]
pub struct RoundRtt {
    /// The least sample; [`Nanos::MAX`] before the first.
    pub min: Nanos,
    /// Samples so far.
    pub samples: u32,
}

impl RoundRtt {
    /// A round without samples.
    pub const EMPTY: RoundRtt = RoundRtt { min: Nanos::MAX, samples: 0 };

    /// Take a sample.
    #[inline]
    pub fn add(&mut self, rtt: Nanos) {
        self.min = self.min.min(rtt);
        self.samples = self.samples.saturating_add(1);
    }
}
