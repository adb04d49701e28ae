//! Decimal numbers, exactly as written.

use super::UnitError;
use std::{fmt, str::FromStr};

/// A decimal number that is not negative, exactly as written: `digits` x 10^`exponent`.
///
/// Equal numbers compare equal however they were written (`1.50` and `15e-1`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decimal {
    digits: u64,
    exponent: i32,
}

/// Why a decimal does not become an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotInteger {
    /// Too large.
    Overflow,
    /// Not zero, but rounds to it.
    Vanishes,
}

/// Exponents are cut here: what lies beyond is too large or too small for every quantity.
const EXTREME: i32 = 100_000;
/// 10^38 is the largest power of ten that fits.
const MOST_TENS: u32 = 38;

impl Decimal {
    /// The number `digits` x 10^`exponent`.
    pub fn new(digits: u64, exponent: i32) -> Decimal {
        if digits == 0 {
            return Decimal::default();
        }
        let (mut digits, mut exponent) = (digits, exponent.clamp(-EXTREME, EXTREME));
        while digits.is_multiple_of(10) {
            digits /= 10;
            exponent += 1;
        }
        Decimal { digits, exponent }
    }

    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// The nearest floating-point number.
    pub fn to_f64(self) -> f64 {
        // The standard library's parser rounds correctly, which a product of powers would not.
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::INFINITY)
    }

    /// This number of units of `scale`, rounded to the nearest integer, a half upwards.
    pub fn to_integer(self, scale: u64) -> Result<u128, NotInteger> {
        if self.digits == 0 {
            return Ok(0);
        }
        let product = u128::from(self.digits) * u128::from(scale);
        let tens = self.exponent.unsigned_abs();
        if self.exponent >= 0 {
            let factor = 10u128.checked_pow(tens).ok_or(NotInteger::Overflow)?;
            return product.checked_mul(factor).ok_or(NotInteger::Overflow);
        }
        if tens > MOST_TENS {
            return Err(NotInteger::Vanishes);
        }
        let divisor = 10u128.pow(tens);
        let rounded = product / divisor + u128::from(product % divisor >= divisor.div_ceil(2));
        if rounded == 0 { Err(NotInteger::Vanishes) } else { Ok(rounded) }
    }

    /// Splits a quantity into its number and what follows it, trimmed: the unit.
    ///
    /// # Errors
    /// Texts that do not begin with a number, and negative numbers.
    pub fn split_unit(text: &str) -> Result<(Decimal, &str), UnitError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(UnitError::new("a value is missing"));
        }
        if text.starts_with("--") {
            return Err(UnitError::new(format!("a value is missing before `{text}`")));
        }
        if let Some(rest) = text.strip_prefix(['-', '\u{2212}']) {
            return Err(UnitError::new(if rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
                "it must not be negative".to_owned()
            } else {
                format!("`{text}` does not begin with a number")
            }));
        }
        let unsigned = text.strip_prefix('+').unwrap_or(text);
        let length = number_length(unsigned);
        let (number, rest) = unsigned.split_at(length);
        if number.is_empty() || number == "." {
            let word = text.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or(text);
            let lower = word.to_ascii_lowercase();
            return Err(UnitError::new(if matches!(lower.as_str(), "nan" | "inf" | "infinity") {
                format!("`{word}` is not a number that can be used here")
            } else {
                format!("`{text}` does not begin with a number")
            }));
        }
        if rest.starts_with([',', '\'']) {
            return Err(UnitError::new(format!(
                "`{rest}` after `{number}`: write 100000 or 100_000, not 100,000"
            )));
        }
        if rest.starts_with(['.', '_']) {
            return Err(UnitError::new(format!("`{unsigned}` is not a number: `{rest}` is too much")));
        }
        Ok((parse_number(number)?, rest.trim_start()))
    }

    /// `value` / `scale`, exactly; `scale` is a power of ten.
    pub(super) fn ratio(value: u64, scale: u64) -> Decimal {
        Decimal::new(value, -(scale.ilog10() as i32))
    }
}

impl FromStr for Decimal {
    type Err = UnitError;

    /// Digits, a point, an exponent (`0.5`, `1e-4`, `100_000`).
    fn from_str(text: &str) -> Result<Decimal, UnitError> {
        match Decimal::split_unit(text)? {
            (number, "") => Ok(number),
            (_, rest) => Err(UnitError::new(format!("a plain number is wanted, without `{rest}`"))),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits.to_string();
        match self.exponent {
            0 => f.write_str(&digits),
            1..=12 => write!(f, "{digits}{}", "0".repeat(self.exponent as usize)),
            -12..=-1 => {
                let decimals = self.exponent.unsigned_abs() as usize;
                let padded = format!("{digits:0>width$}", width = decimals + 1);
                let (whole, fraction) = padded.split_at(padded.len() - decimals);
                write!(f, "{whole}.{fraction}")
            }
            _ => write!(f, "{digits}e{}", self.exponent),
        }
    }
}

/// How many bytes of `text` are a number.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let mut at = from;
        while bytes.get(at).is_some_and(|b| b.is_ascii_digit() || (*b == b'_' && at > from)) {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    // An `e` is an exponent only if a digit follows; otherwise it begins a unit.
    if end > 0 && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

fn parse_number(number: &str) -> Result<Decimal, UnitError> {
    let (mantissa, exponent) = match number.find(['e', 'E']) {
        Some(at) => (&number[..at], parse_exponent(&number[at + 1..])),
        None => (number, 0),
    };
    let (mut digits, mut shift, mut zeros, mut after_point) = (0u64, 0i64, 0u32, false);
    for byte in mantissa.bytes().filter(|b| *b != b'_') {
        match byte {
            b'.' => after_point = true,
            b'0' => {
                // Zeros are held back until another digit follows, so that trailing ones cost no precision.
                zeros = zeros.saturating_add(u32::from(digits != 0));
                shift -= i64::from(after_point);
            }
            _ => {
                digits = 10u64
                    .checked_pow(zeros.saturating_add(1))
                    .and_then(|tens| digits.checked_mul(tens))
                    .and_then(|shifted| shifted.checked_add(u64::from(byte - b'0')))
                    .ok_or_else(|| UnitError::new("it has too many digits: 19 are the most"))?;
                zeros = 0;
                shift -= i64::from(after_point);
            }
        }
    }
    let exponent =
        (i64::from(exponent) + shift + i64::from(zeros)).clamp(-i64::from(EXTREME), EXTREME.into());
    Ok(Decimal::new(digits, exponent as i32))
}

fn parse_exponent(text: &str) -> i32 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude = digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0i32, |sum, byte| (sum * 10 + i32::from(byte - b'0')).min(EXTREME));
    if negative { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<Decimal>().expect_err(text).message
    }

    #[test]
    fn reads_what_is_written() {
        assert_eq!(decimal("0"), Decimal::new(0, 0));
        assert_eq!(decimal("0.1"), Decimal::new(1, -1));
        assert_eq!(decimal("1.50"), decimal("15e-1"));
        assert_eq!(decimal("100_000"), Decimal::new(1, 5));
        assert_eq!(decimal(".5"), decimal("0.5"));
        assert_eq!(decimal("5."), decimal("5"));
        assert_eq!(decimal("+3"), decimal("3"));
        assert_eq!(decimal("10.010"), Decimal::new(1001, -2));
        assert_eq!(decimal("1E+3"), Decimal::new(1, 3));
        assert_eq!(decimal("0.30000000000000000000000000"), Decimal::new(3, -1));
    }

    #[test]
    fn refuses_with_a_reason() {
        assert_eq!(refused(""), "a value is missing");
        assert_eq!(refused("-1"), "it must not be negative");
        assert_eq!(refused("nan"), "`nan` is not a number that can be used here");
        assert_eq!(refused("-inf"), "`-inf` does not begin with a number");
        assert_eq!(refused("x"), "`x` does not begin with a number");
        assert_eq!(refused("1,000"), "`,000` after `1`: write 100000 or 100_000, not 100,000");
        assert_eq!(refused("1.2.3"), "`1.2.3` is not a number: `.3` is too much");
        assert_eq!(refused("5 ms"), "a plain number is wanted, without `ms`");
        assert_eq!(refused("12345678901234567890123"), "it has too many digits: 19 are the most");
        assert_eq!(refused("--json"), "a value is missing before `--json`");
    }

    #[test]
    fn becomes_an_integer_exactly_or_rounds() {
        assert_eq!(decimal("0.1").to_integer(1_000_000), Ok(100_000));
        assert_eq!(decimal("1.5").to_integer(1), Ok(2));
        assert_eq!(decimal("1.4999").to_integer(1), Ok(1));
        assert_eq!(decimal("0.4").to_integer(1), Err(NotInteger::Vanishes));
        assert_eq!(decimal("1e-99999999999").to_integer(1), Err(NotInteger::Vanishes));
        assert_eq!(decimal("1e99999999999").to_integer(1), Err(NotInteger::Overflow));
        assert_eq!(decimal("0e99999999999").to_integer(1), Ok(0));
    }

    #[test]
    fn becomes_the_nearest_float() {
        assert_eq!(decimal("0.001").to_f64(), 0.001);
        assert_eq!(decimal("1e-7").to_f64(), 1e-7);
        assert_eq!(decimal("1e999").to_f64(), f64::INFINITY);
        assert_eq!(decimal("1e-999").to_f64(), 0.0);
    }

    #[test]
    fn is_written_plainly() {
        for text in ["0", "0.1", "1.5", "1000", "0.000001", "12.0625", "1e20", "1e-20"] {
            assert_eq!(decimal(text).to_string(), text);
        }
    }
}
