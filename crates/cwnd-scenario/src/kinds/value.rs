//! The values of parameters: what each takes, how it is read, and how it is written.

use crate::{Decimal, Probability, Time};
use std::fmt;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Time(Time),
    Count(u64),
    Switch(bool),
    Counts(Vec<u64>),
}

/// What values a parameter takes; bounds are allowed themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ValueType {
    /// A number.
    Number(f64, f64),
    /// A probability.
    Probability,
    /// A time.
    Time(Time, Time),
    /// A whole number.
    Count(u64, u64),
    /// On or off.
    Switch,
    /// Whole numbers from 1 on, in rising order.
    Counts,
}

impl ValueType {
    /// The value that a text means, or what would be right.
    pub fn read(self, text: &str) -> Result<Value, String> {
        let outside = || format!("it takes {self}");
        match self {
            ValueType::Number(least, most) => {
                let number = text.parse::<Decimal>().map_err(|error| error.message)?.to_f64();
                (least..=most).contains(&number).then_some(Value::Number(number)).ok_or_else(outside)
            }
            ValueType::Probability => {
                let probability: Probability =
                    text.parse().map_err(|error: crate::UnitError| error.message)?;
                Ok(Value::Number(probability.value()))
            }
            ValueType::Time(least, most) => {
                let time: Time = text.parse().map_err(|error: crate::UnitError| error.message)?;
                (least..=most).contains(&time).then_some(Value::Time(time)).ok_or_else(outside)
            }
            ValueType::Count(least, most) => {
                let count = whole(text)?;
                (least..=most).contains(&count).then_some(Value::Count(count)).ok_or_else(outside)
            }
            ValueType::Switch => match text {
                "on" | "true" => Ok(Value::Switch(true)),
                "off" | "false" => Ok(Value::Switch(false)),
                _ => Err(outside()),
            },
            ValueType::Counts => match whole(text)? {
                0 => Err("the first is 1".to_owned()),
                count => Ok(Value::Counts(vec![count])),
            },
        }
    }
}

fn whole(text: &str) -> Result<u64, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("it must be a whole number in digits, such as `4`".to_owned());
    }
    text.parse().map_err(|_| "it is far too large".to_owned())
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Number(least, most) => write!(f, "a number from {least} to {most}"),
            ValueType::Probability => f.write_str("a probability: 0 to 1, or a percentage"),
            ValueType::Time(least, most) => write!(f, "a time from {least} to {most}"),
            ValueType::Count(least, most) => write!(f, "a whole number from {least} to {most}"),
            ValueType::Switch => f.write_str("on or off"),
            ValueType::Counts => f.write_str("whole numbers from 1 on, in rising order"),
        }
    }
}

/// As it is read.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Without an exponent a small number is a row of zeros.
            Value::Number(number) if *number > 0.0 && *number < 1e-3 => write!(f, "{number:e}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Time(time) => write!(f, "{time}"),
            Value::Count(count) => write!(f, "{count}"),
            Value::Switch(on) => f.write_str(if *on { "on" } else { "off" }),
            Value::Counts(counts) => {
                f.write_str(&counts.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// A Rust type that a parameter can have.
pub(super) trait ParameterValue: Sized {
    fn value(&self) -> Value;
    /// Take a value that [`ValueType`] of the right kind has read.
    fn take(&mut self, value: Value);
}

macro_rules! held {
    ($($type:ty, $variant:ident, $value:ident => $to:expr, $from:expr;)*) => {$(
        impl ParameterValue for $type {
            fn value(&self) -> Value {
                let $value = self;
                Value::$variant($to)
            }

            fn take(&mut self, value: Value) {
                if let Value::$variant($value) = value {
                    *self = $from;
                }
            }
        }
    )*};
}

held! {
    f64, Number, value => *value, value;
    Time, Time, value => *value, value;
    // Its bounds in the table are those of the type.
    u32, Count, value => u64::from(*value), value as u32;
    bool, Switch, value => *value, value;
    Vec<u64>, Counts, value => value.clone(), value;
}
