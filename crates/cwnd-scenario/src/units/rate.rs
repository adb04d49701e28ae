//! Rates of links.

use super::{
    UnitError,
    suffix::{Family, Measured, Suffix},
};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A rate in bits a second.
///
/// Read from `1 Gbit/s`, `2.5 Mbit/s` or `unlimited`; from [`Rate::LEAST`] to [`Rate::MOST`]. `100mbit` (as `tc` writes it),
/// `1Gbps` and `10G` (as `iperf3` does) are understood as well, in any case of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rate(pub u64);

const FAMILY: Family = Family {
    kind: "a rate",
    suffixes: &[
        Suffix { name: "bit/s", also: &["bps", "bit", "bits/s"], mistaken: &["b/s"], scale: 1 },
        Suffix { name: "kbit/s", also: &["kbps", "kbit", "kbits/s", "k"], mistaken: &["kb/s"], scale: 1_000 },
        Suffix {
            name: "Mbit/s",
            also: &["Mbps", "Mbit", "Mbits/s", "M"],
            mistaken: &["mb/s"],
            scale: 1_000_000,
        },
        Suffix {
            name: "Gbit/s",
            also: &["Gbps", "Gbit", "Gbits/s", "G"],
            mistaken: &["gb/s"],
            scale: 1_000_000_000,
        },
        Suffix {
            name: "Tbit/s",
            also: &["Tbps", "Tbit", "Tbits/s", "T"],
            mistaken: &["tb/s"],
            scale: 1_000_000_000_000,
        },
    ],
    ignores_case: true,
    usual: "Mbit/s",
    max: Rate::MOST.0,
    max_text: "10 Tbit/s (or `unlimited`)",
};

impl Rate {
    /// Transmission takes no time.
    pub const UNLIMITED: Rate = Rate(u64::MAX);

    /// The least rate that is read from a text: 1 kbit/s.
    pub const LEAST: Rate = Rate(1_000);

    /// The greatest rate, short of unlimited, that is read from a text: 10 Tbit/s.
    pub const MOST: Rate = Rate(10_000_000_000_000);

    /// Reads a rate that was measured, as [`Rate::from_str`] does, but from 0 on: little or nothing may have been delivered in a time.
    /// A 0 needs no unit.
    ///
    /// # Errors
    /// If it is no rate, above [`Rate::MOST`], or not 0 and less than half of 1 bit/s.
    pub fn of_measurement(text: &str) -> Result<Rate, UnitError> {
        if text.trim().eq_ignore_ascii_case("unlimited") {
            return Ok(Rate::UNLIMITED);
        }
        let bytes = text.trim_end().trim_end_matches("/s").trim_end_matches("ps");
        if bytes.ends_with('B') {
            return Err(UnitError::new("a rate counts bits, not bytes: 1 MB/s is written `8 Mbit/s`"));
        }
        match FAMILY.parse(text)? {
            Measured::Units(rate) => Ok(Rate(rate)),
            Measured::Bare(number) if number.is_zero() => Ok(Rate(0)),
            Measured::Bare(number) => Err(FAMILY.no_unit(number)),
        }
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    /// A number and `bit/s`, `kbit/s`, `Mbit/s`, `Gbit/s` or `Tbit/s`, or `unlimited`. Rounded to whole bits
    /// a second.
    fn from_str(text: &str) -> Result<Rate, UnitError> {
        match Rate::of_measurement(text)? {
            rate if rate >= Rate::LEAST => Ok(rate),
            _ => Err(UnitError::new("it is too small: 1 kbit/s is the least")),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Rate::UNLIMITED { f.write_str("unlimited") } else { FAMILY.display(self.0, f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<Rate>().expect_err(text).message
    }

    #[test]
    fn a_hint_has_a_sensible_unit() {
        assert_eq!(refused("20"), "a rate needs a unit: write `20 Mbit/s`, for example");
        assert_eq!(refused("1e7"), "a rate needs a unit: write `10000000 bit/s`, for example");
    }

    #[test]
    fn reads_every_unit() {
        for (text, rate) in [
            ("1 Gbit/s", 1_000_000_000),
            ("1Gbps", 1_000_000_000),
            ("2.5 Mbit/s", 2_500_000),
            ("1000 bit/s", 1_000),
            ("9.6 kbit/s", 9_600),
            ("10 Tbit/s", 10_000_000_000_000),
            ("100mbit", 100_000_000),
            ("1gbps", 1_000_000_000),
            ("10G", 10_000_000_000),
            ("10g", 10_000_000_000),
            ("1 gbit/s", 1_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Rate(rate)), "{text}");
        }
        assert_eq!("unlimited".parse(), Ok(Rate::UNLIMITED));
    }

    #[test]
    fn refuses_with_a_reason() {
        let takes = "a rate takes bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s";
        assert_eq!(refused("1"), "a rate needs a unit: write `1 Mbit/s`, for example");
        assert_eq!(refused("1 mb/s"), format!("unknown unit `mb/s` (did you mean `Mbit/s`?): {takes}"));
        assert_eq!(refused("1 Mbiit/s"), format!("unknown unit `Mbiit/s` (did you mean `Mbit/s`?): {takes}"));
        assert_eq!(refused("1 MB/s"), "a rate counts bits, not bytes: 1 MB/s is written `8 Mbit/s`");
        assert_eq!(refused("1 MBps"), "a rate counts bits, not bytes: 1 MB/s is written `8 Mbit/s`");
        assert_eq!(refused("0 bit/s"), "it is too small: 1 kbit/s is the least");
        assert_eq!(refused("0"), "it is too small: 1 kbit/s is the least");
        assert_eq!(refused("1 Pbit/s"), format!("unknown unit `Pbit/s`: {takes}"));
        assert_eq!(refused("11 Tbit/s"), "it is too large: 10 Tbit/s (or `unlimited`) is the most");
        assert_eq!(refused("-1 Gbit/s"), "it must not be negative");
    }

    #[test]
    fn a_measured_rate_may_be_less_than_that_of_a_link() {
        let measured = |text: &str| Rate::of_measurement(text).map_err(|error| error.message);
        for (text, rate) in
            [("0", 0), ("0 Gbit/s", 0), ("250 bit/s", 250), ("0.0004 Mbit/s", 400), ("20 Mbit/s", 20_000_000)]
        {
            assert_eq!(measured(text), Ok(Rate(rate)), "{text}");
        }
        for text in ["20", "-0 Mbit/s", "0 ms", "0 MB/s", "0.1 bit/s", "11 Tbit/s"] {
            assert_eq!(measured(text), Err(refused(text)), "{text}");
        }
    }

    #[test]
    fn is_written_in_a_fitting_unit() {
        for (rate, text) in [
            (Rate(1_000_000_000), "1 Gbit/s"),
            (Rate(2_500_000), "2.5 Mbit/s"),
            (Rate(1_000_000_001), "1.000000001 Gbit/s"),
            (Rate::UNLIMITED, "unlimited"),
        ] {
            assert_eq!(rate.to_string(), text);
            assert_eq!(text.parse(), Ok(rate));
        }
    }
}
