//! A value of the access links that may be the bottleneck's.

use cwnd_scenario::UnitError;
use std::{fmt, str::FromStr};

/// A value of the access links: one of their own, or the bottleneck's, whatever that is.
///
/// Read from `bottleneck` or as the value itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrBottleneck<T> {
    /// That of the bottleneck.
    Bottleneck,
    /// This value.
    Own(T),
}

impl<T> OrBottleneck<T> {
    /// Returns the value, where the bottleneck has `bottleneck`.
    pub fn or(self, bottleneck: T) -> T {
        match self {
            OrBottleneck::Bottleneck => bottleneck,
            OrBottleneck::Own(value) => value,
        }
    }
}

impl<T: FromStr<Err = UnitError>> FromStr for OrBottleneck<T> {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<OrBottleneck<T>, UnitError> {
        match text.trim() {
            "bottleneck" => Ok(OrBottleneck::Bottleneck),
            text => text.parse().map(OrBottleneck::Own).map_err(|error: UnitError| {
                UnitError::new(format!(
                    "{} (or `bottleneck`, for the same as the bottleneck's)",
                    error.message
                ))
            }),
        }
    }
}

impl<T: fmt::Display> fmt::Display for OrBottleneck<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrBottleneck::Bottleneck => f.write_str("bottleneck"),
            OrBottleneck::Own(value) => value.fmt(f),
        }
    }
}
