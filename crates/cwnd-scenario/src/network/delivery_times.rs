//! The times of a delivery trace, and what is computed of them once.

use crate::Rate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// Times in milliseconds, shared by their copies: a trace may have hundreds of thousands of them, and a study many cells. The greatest
/// rate over each length of time is kept, since each cell needs it.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(from = "Arc<[u32]>", into = "Arc<[u32]>")]
pub struct DeliveryTimes {
    times: Arc<[u32]>,
    greatest_rates: Arc<Mutex<BTreeMap<u64, Rate>>>,
}

impl DeliveryTimes {
    /// Returns the times as they are shared.
    pub fn shared(&self) -> Arc<[u32]> {
        self.times.clone()
    }

    /// Returns the greatest rate over this length of time in milliseconds, which `compute` finds if no copy of the times has it yet.
    pub(super) fn greatest_rate(&self, window_ms: u64, compute: impl FnOnce() -> Rate) -> Rate {
        // What a panic of `compute` leaves behind is whole: the entry is made after it.
        let mut known = self.greatest_rates.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(window_ms).or_insert_with(compute)
    }
}

impl Deref for DeliveryTimes {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.times
    }
}

/// The times alone count.
impl PartialEq for DeliveryTimes {
    fn eq(&self, other: &DeliveryTimes) -> bool {
        self.times == other.times
    }
}

impl From<Arc<[u32]>> for DeliveryTimes {
    fn from(times: Arc<[u32]>) -> DeliveryTimes {
        DeliveryTimes { times, greatest_rates: Arc::default() }
    }
}

impl From<DeliveryTimes> for Arc<[u32]> {
    fn from(times: DeliveryTimes) -> Arc<[u32]> {
        times.times
    }
}

impl From<Vec<u32>> for DeliveryTimes {
    fn from(times: Vec<u32>) -> DeliveryTimes {
        DeliveryTimes::from(Arc::<[u32]>::from(times))
    }
}

impl From<&[u32]> for DeliveryTimes {
    fn from(times: &[u32]) -> DeliveryTimes {
        DeliveryTimes::from(Arc::<[u32]>::from(times))
    }
}

impl<const N: usize> From<[u32; N]> for DeliveryTimes {
    fn from(times: [u32; N]) -> DeliveryTimes {
        DeliveryTimes::from(Arc::<[u32]>::from(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greatest_rate_is_computed_once_for_all_copies() {
        let times = DeliveryTimes::from([1, 2]);
        let copy = times.clone();
        assert_eq!(times.greatest_rate(100, || Rate(5)), Rate(5));
        assert_eq!(copy.greatest_rate(100, || panic!("it is known")), Rate(5));
        assert_eq!(copy.greatest_rate(200, || Rate(3)), Rate(3));
        // Other times are not those.
        assert_eq!(DeliveryTimes::from([1, 2]).greatest_rate(100, || Rate(7)), Rate(7));
        assert!(copy == DeliveryTimes::from([1, 2]) && copy != DeliveryTimes::from([1, 3]));
    }
}
