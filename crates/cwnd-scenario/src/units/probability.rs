//! Probabilities.

use super::{Decimal, UnitError};
use std::{fmt, str::FromStr};

/// A probability, from 0 to 1.
///
/// Read from `1e-4`, `0.1 %` or `0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Never.
    pub const ZERO: Probability = Probability(0.0);

    /// A probability of this value, if it is one.
    pub fn new(value: f64) -> Option<Probability> {
        (0.0..=1.0).contains(&value).then_some(Probability(value))
    }

    /// The probability that is nearest to a value: to show one that is kept as a number.
    pub fn nearest(value: f64) -> Probability {
        Probability(value.clamp(0.0, 1.0))
    }

    /// Its value, from 0 to 1.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl FromStr for Probability {
    type Err = UnitError;

    /// A number from 0 to 1, or a percentage; the nearest floating-point number to what is written.
    fn from_str(text: &str) -> Result<Probability, UnitError> {
        let (number, unit) = Decimal::split_unit(text)?;
        let value = match unit {
            "" => number.to_f64(),
            "%" => percent(number),
            _ => {
                return Err(UnitError::new(format!(
                    "unknown unit `{unit}`: a probability is written `1e-4` or `0.01 %`"
                )));
            }
        };
        Probability::new(value).ok_or_else(|| {
            let hint = if unit.is_empty() && value <= 100.0 {
                format!("; did you mean `{number} %`?")
            } else {
                ": 1 (100 %) is the most".to_owned()
            };
            UnitError::new(format!("it is too large for a probability{hint}"))
        })
    }
}

/// The nearest floating-point number to `number` percent.
fn percent(number: Decimal) -> f64 {
    // Appending the exponent keeps the text exact, where dividing by 100 would round twice.
    let text = number.to_string();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}", exponent - 2).parse().unwrap_or(f64::INFINITY)
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0.0 || self.0 >= 1e-3 { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<Probability>().expect_err(text).message
    }

    #[test]
    fn reads_numbers_and_percentages() {
        for (text, value) in [
            ("0", 0.0),
            ("1e-4", 1e-4),
            ("0.1 %", 0.001),
            ("0.1%", 0.001),
            ("1", 1.0),
            ("100 %", 1.0),
            ("7 %", 0.07),
        ] {
            assert_eq!(text.parse(), Ok(Probability(value)), "{text}");
        }
        assert_eq!("1e-20 %".parse(), Ok(Probability(1e-22)));
    }

    #[test]
    fn refuses_with_a_reason() {
        assert_eq!(refused("5"), "it is too large for a probability; did you mean `5 %`?");
        assert_eq!(refused("101 %"), "it is too large for a probability: 1 (100 %) is the most");
        assert_eq!(refused("1e99"), "it is too large for a probability: 1 (100 %) is the most");
        assert_eq!(refused("-1e-4"), "it must not be negative");
        assert_eq!(refused("nan"), "`nan` is not a number that can be used here");
        assert_eq!(
            refused("1 permille"),
            "unknown unit `permille`: a probability is written `1e-4` or `0.01 %`"
        );
    }

    #[test]
    fn is_written_shortly() {
        for (value, text) in [(0.0, "0"), (1e-4, "1e-4"), (0.05, "0.05"), (1.0, "1"), (1.5e-7, "1.5e-7")] {
            assert_eq!(Probability(value).to_string(), text);
            assert_eq!(text.parse(), Ok(Probability(value)));
        }
    }
}
