//! Quantities with units, as scenarios, studies and command lines write them.
//!
//! Each quantity is read by its `FromStr` and written by its `Display`, and what is written reads back as
//! the same value. Decimals become integers exactly (`0.1 ms` is 100,000 ns); what does not come out whole
//! is rounded to the nearest, a half upwards. Errors say what was wrong and what would be right, and leave
//! it to the caller to quote the text and name its place.

mod decimal;
mod probability;
mod rate;
mod size;
mod suffix;
mod time;

pub use decimal::{Decimal, NotInteger};
pub use probability::Probability;
pub use rate::Rate;
pub use size::ByteSize;
pub use time::Time;

use std::fmt;

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What was wrong, and what would be right.
    pub message: String,
}

impl UnitError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> UnitError {
        UnitError { message: message.into() }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnitError {}
