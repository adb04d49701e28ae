//! Round-trip times of a path.

use crate::Nanos;

/// The smoothed round-trip time (RFC 6298 section 2), the latest and the smallest sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttEstimator {
    /// The latest sample; zero before the first.
    pub latest: Nanos,
    /// The smallest sample; [`Nanos::MAX`] before the first.
    pub min: Nanos,
    /// Eight times the smoothed time, so that no fraction of an update is lost, ns.
    smoothed8: u64,
}

impl RttEstimator {
    /// Creates an estimator without samples.
    pub const EMPTY: RttEstimator = RttEstimator { latest: Nanos::ZERO, min: Nanos::MAX, smoothed8: 0 };

    /// Adds a sample. The smoothed time takes an eighth of it.
    pub fn add(&mut self, rtt: Nanos) {
        self.latest = rtt;
        self.min = self.min.min(rtt);
        self.smoothed8 = match self.smoothed8 {
            0 => rtt.0.saturating_mul(8),
            smoothed8 => (smoothed8 - (smoothed8 >> 3)).saturating_add(rtt.0),
        };
    }

    /// Returns the smoothed time; zero before the first sample.
    pub fn smoothed(&self) -> Nanos {
        Nanos(self.smoothed8 >> 3)
    }

    /// Returns the smallest sample for comparisons with intervals; zero before the first.
    pub fn known_min(&self) -> Nanos {
        if self.min == Nanos::MAX { Nanos::ZERO } else { self.min }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eighth_of_each_sample_counts() {
        let mut rtt = RttEstimator::EMPTY;
        assert_eq!((rtt.smoothed(), rtt.known_min()), (Nanos::ZERO, Nanos::ZERO));
        rtt.add(Nanos(800));
        assert_eq!((rtt.latest, rtt.smoothed(), rtt.min), (Nanos(800), Nanos(800), Nanos(800)));
        // 7/8 of 800 and 1/8 of 1,600.
        rtt.add(Nanos(1600));
        assert_eq!((rtt.latest, rtt.smoothed(), rtt.min), (Nanos(1600), Nanos(900), Nanos(800)));
    }
}
