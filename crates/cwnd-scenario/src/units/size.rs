//! Numbers of bytes.

use super::{
    UnitError,
    suffix::{Family, Measured, Suffix},
};
use std::{fmt, str::FromStr};

/// A number of bytes.
///
/// Read from `64 KB`, `5.1 GB` (powers of 1,000), `1 MiB` (powers of 1,024) or a plain number of bytes; at most
/// [`ByteSize::MOST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(pub u64);

const FAMILY: Family = Family {
    kind: "a number of bytes",
    suffixes: &[
        Suffix { name: "B", also: &["bytes", "byte"], mistaken: &[], scale: 1 },
        Suffix { name: "KB", also: &["kB"], mistaken: &["k"], scale: 1_000 },
        Suffix { name: "MB", also: &[], mistaken: &["m"], scale: 1_000_000 },
        Suffix { name: "GB", also: &[], mistaken: &["g"], scale: 1_000_000_000 },
        Suffix { name: "TB", also: &[], mistaken: &["t"], scale: 1_000_000_000_000 },
        Suffix { name: "KiB", also: &[], mistaken: &[], scale: 1 << 10 },
        Suffix { name: "MiB", also: &[], mistaken: &[], scale: 1 << 20 },
        Suffix { name: "GiB", also: &[], mistaken: &[], scale: 1 << 30 },
        Suffix { name: "TiB", also: &[], mistaken: &[], scale: 1 << 40 },
    ],
    ignores_case: false,
    usual: "KB",
    max: ByteSize::MOST.0,
    max_text: "1000 TB",
};

impl ByteSize {
    /// The most that is read from a text: 1,000 TB.
    pub const MOST: ByteSize = ByteSize(1_000_000_000_000_000);
}

impl FromStr for ByteSize {
    type Err = UnitError;

    /// A number and `B`, `KB`, `MB`, `GB`, `TB`, `KiB`, `MiB`, `GiB` or `TiB`, or a number of bytes. Rounded to
    /// whole bytes.
    fn from_str(text: &str) -> Result<ByteSize, UnitError> {
        match FAMILY.parse(text)? {
            Measured::Units(bytes) => Ok(ByteSize(bytes)),
            Measured::Bare(number) => FAMILY.scale(number, 1).map(ByteSize),
        }
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FAMILY.display(self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        text.parse::<ByteSize>().expect_err(text).message
    }

    #[test]
    fn reads_every_unit() {
        for (text, bytes) in [
            ("64 KB", 64_000),
            ("64 kB", 64_000),
            ("64 KiB", 65_536),
            ("5.1 GB", 5_100_000_000),
            ("1 MiB", 1_048_576),
            ("1500", 1_500),
            ("1500 B", 1_500),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
    }

    #[test]
    fn refuses_with_a_reason() {
        assert_eq!(refused("2e3 TB"), "it is too large: 1000 TB is the most");
        assert_eq!(refused("0.2"), "it is too small: less than half of 1 B");
        assert_eq!(
            refused("1 gb"),
            "unknown unit `gb` (did you mean `GB`?): a number of bytes takes B, KB, MB, GB, TB, KiB, MiB, GiB or TiB"
        );
    }

    #[test]
    fn is_written_in_a_fitting_unit() {
        for (bytes, text) in [(0, "0 B"), (999, "999 B"), (5_100_000_000, "5.1 GB"), (65_536, "65.536 KB")] {
            assert_eq!(ByteSize(bytes).to_string(), text);
            assert_eq!(text.parse(), Ok(ByteSize(bytes)));
        }
    }
}
