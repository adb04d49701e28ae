//! Times and spans of time.

use super::{
    UnitError,
    suffix::{Family, Measured, Suffix},
};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A point in time or a span of it, in whole nanoseconds.
///
/// Read from `100 ms`, `1.5 s`, `10 us`, `2 min` or `0`; at most [`Time::LONGEST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub u64);

const FAMILY: Family = Family {
    kind: "a time",
    suffixes: &[
        Suffix { name: "ns", also: &["nsec", "nanoseconds"], mistaken: &["nanos"], scale: 1 },
        Suffix {
            name: "us",
            also: &["\u{b5}s", "\u{3bc}s", "usec", "microseconds"],
            mistaken: &["micros"],
            scale: 1_000,
        },
        Suffix {
            name: "ms",
            also: &["msec", "milliseconds", "millisecond"],
            mistaken: &["millis"],
            scale: 1_000_000,
        },
        Suffix {
            name: "s",
            also: &["sec", "secs", "second", "seconds"],
            mistaken: &[],
            scale: 1_000_000_000,
        },
        Suffix { name: "min", also: &["mins", "minute", "minutes"], mistaken: &["m"], scale: 60_000_000_000 },
        Suffix { name: "h", also: &["hour", "hours"], mistaken: &["hr"], scale: 3_600_000_000_000 },
    ],
    ignores_case: false,
    usual: "ms",
    max: Time::LONGEST.0,
    max_text: "140737 s (about 39 h)",
};

impl Time {
    /// No time.
    pub const ZERO: Time = Time(0);

    /// The longest time that is read from a text: 2^47 ns, about 39 hours.
    pub const LONGEST: Time = Time(1 << 47);

    /// Whole milliseconds.
    pub const fn from_millis(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Whole seconds.
    pub const fn from_secs(s: u64) -> Time {
        Time(s * 1_000_000_000)
    }

    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl FromStr for Time {
    type Err = UnitError;

    /// A number and `ns`, `us`, `ms`, `s`, `min` or `h`; a zero may stand alone. Rounded to whole nanoseconds.
    fn from_str(text: &str) -> Result<Time, UnitError> {
        match FAMILY.parse(text)? {
            Measured::Units(ns) => Ok(Time(ns)),
            Measured::Bare(number) if number.is_zero() => Ok(Time::ZERO),
            Measured::Bare(number) => Err(FAMILY.no_unit(number)),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { f.write_str("0 s") } else { FAMILY.display(self.0, f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<Time>().expect_err(text).message
    }

    #[test]
    fn reads_every_unit_exactly() {
        for (text, ns) in [
            ("0", 0),
            ("0 s", 0),
            ("7 ns", 7),
            ("10 us", 10_000),
            ("10 \u{b5}s", 10_000),
            ("10\u{3bc}s", 10_000),
            ("0.1 ms", 100_000),
            ("100ms", 100_000_000),
            (" 1.5 s ", 1_500_000_000),
            ("150.102 s", 150_102_000_000),
            ("2 min", 120_000_000_000),
            ("3 seconds", 3_000_000_000),
            ("5ms", 5_000_000),
            ("1e-3 s", 1_000_000),
            ("0.25 h", 900_000_000_000),
            ("33.3333333 us", 33_333),
            ("140737488355328 ns", 1 << 47),
        ] {
            assert_eq!(text.parse(), Ok(Time(ns)), "{text}");
        }
    }

    #[test]
    fn refuses_with_a_reason() {
        assert_eq!(refused("100"), "a time needs a unit: write `100 ms`, for example");
        assert_eq!(
            refused("3 m"),
            "unknown unit `m` (did you mean `min`?): a time takes ns, us, ms, s, min or h"
        );
        assert_eq!(
            refused("3 MS"),
            "unknown unit `MS` (did you mean `ms`?): a time takes ns, us, ms, s, min or h"
        );
        assert_eq!(refused("3 parsec"), "unknown unit `parsec`: a time takes ns, us, ms, s, min or h");
        assert_eq!(refused("1e9 s"), "it is too large: 140737 s (about 39 h) is the most");
        assert_eq!(refused("1e999999999999 s"), "it is too large: 140737 s (about 39 h) is the most");
        assert_eq!(refused("0.3 ns"), "it is too small: less than half of 1 ns");
        assert_eq!(refused("-1 s"), "it must not be negative");
        assert_eq!(refused("NaN s"), "`NaN` is not a number that can be used here");
    }

    #[test]
    fn is_written_in_a_fitting_unit() {
        for (ns, text) in [
            (0, "0 s"),
            (999, "999 ns"),
            (10_500, "10.5 us"),
            (204_000_000, "204 ms"),
            (1_500_000_000, "1.5 s"),
            (100_000_000_000, "100 s"),
            (1_000_000_001, "1.000000001 s"),
        ] {
            assert_eq!(Time(ns).to_string(), text);
            assert_eq!(text.parse(), Ok(Time(ns)));
        }
    }
}
