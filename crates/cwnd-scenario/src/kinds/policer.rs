//! A policer in one line of text: `50 Mbit/s, 100 KB`.

use crate::{ByteSize, NotationError, Policer, Rate, notation::Piece};
use std::{fmt, str::FromStr};

const FORM: &str = "a policer is written with its rate and its burst: `50 Mbit/s, 100 KB`";

impl FromStr for Policer {
    type Err = NotationError;

    /// The rate at which its bucket fills, and the bytes that it holds.
    fn from_str(text: &str) -> Result<Policer, NotationError> {
        let whole = Piece::whole(text).trimmed();
        let Some((rate, burst)) = whole.cut(',') else { return Err(whole.error(FORM)) };
        let (rate_at, burst_at) = (rate.trimmed(), burst.trimmed());
        let rate: Rate = rate_at.quantity()?;
        let burst: ByteSize = burst_at.quantity()?;
        if rate == Rate::UNLIMITED {
            return Err(rate_at.error("a policer has a rate: leave it out if there is none"));
        }
        if burst == ByteSize(0) {
            return Err(burst_at.error("nothing would ever pass: a burst holds at least one packet"));
        }
        Ok(Policer { rate, burst: burst.0 })
    }
}

/// As it is read.
impl fmt::Display for Policer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.rate, ByteSize(self.burst))
    }
}
