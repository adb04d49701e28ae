//! What an algorithm shows of its state, so that a recording can tell why a window moves.

use crate::{Nanos, Window};

/// One value of an algorithm's state: its name and meaning. [`CongestionControl::observe`](crate::CongestionControl::observe)
/// writes the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observable {
    /// Name: a word in snake case, unique in its algorithm.
    pub name: &'static str,
    /// Symbol in the source.
    pub symbol: &'static str,
    /// Unit: `1` for a number without one, empty for a mode.
    pub unit: &'static str,
    /// What it is, with the source's equation.
    pub about: &'static str,
    /// If it is a mode, the names of its values 0, 1, 2, and so on.
    pub modes: &'static [&'static str],
}

impl Observable {
    /// Describes a quantity.
    pub const fn new(
        name: &'static str,
        symbol: &'static str,
        unit: &'static str,
        about: &'static str,
    ) -> Observable {
        Observable { name, symbol, unit, about, modes: &[] }
    }

    /// Describes a mode, whose value is an index into `modes`.
    pub const fn mode(
        name: &'static str,
        symbol: &'static str,
        about: &'static str,
        modes: &'static [&'static str],
    ) -> Observable {
        Observable { name, symbol, unit: "", about, modes }
    }
}

/// When an algorithm is observed, and the transport's round-trip times then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The time, on the clock of [`Ack::now`](crate::Ack::now).
    pub now: Nanos,
    /// The smoothed round-trip time; zero before the first sample.
    pub srtt: Nanos,
    /// The smallest round-trip time; [`Nanos::MAX`] before the first sample.
    pub min_rtt: Nanos,
}

/// Returns a time in seconds; NaN for [`Nanos::MAX`], which means that it is not known.
pub(crate) fn seconds(time: Nanos) -> f64 {
    if time == Nanos::MAX { f64::NAN } else { time.as_secs_f64() }
}

/// Returns a value that is known if it is positive and finite, and NaN otherwise.
pub(crate) fn known(value: f64) -> f64 {
    if value > 0.0 && value < f64::INFINITY { value } else { f64::NAN }
}

/// Returns a rate of segments a second in bits of payload a second; NaN unless it is known.
pub(crate) fn bits_per_second(rate: Option<f64>, window: &Window) -> f64 {
    rate.map_or(f64::NAN, known) * f64::from(window.mss()) * 8.0
}
