//! Numbers of flags: each error says what would be valid.

use cwnd_study::MAX_REPEATS;
use std::str::FromStr;

const TOO_LARGE: &str = "it is far too large";

/// Parses a whole number, written in digits.
///
/// # Errors
/// What is wrong, and an example.
pub fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    let text = text.trim();
    if text.starts_with("--") {
        return Err(format!("a value is missing before `{text}`"));
    }
    if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Err("it must not be negative".to_owned());
    }
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("it must be a whole number, such as `4`".to_owned());
    }
    text.parse().map_err(|_| TOO_LARGE.to_owned())
}

/// Parses a number of repeats.
///
/// # Errors
/// As [`whole`], or how many are the least or the most.
pub fn repeats(text: &str) -> Result<u32, String> {
    counted(text, "repeats", MAX_REPEATS).map(|repeats| repeats as u32)
}

/// Parses a number of threads.
///
/// # Errors
/// As [`whole`], or how many are the least or the most.
pub fn threads(text: &str) -> Result<u16, String> {
    counted(text, "threads", u16::MAX.into()).map(|threads| threads as u16)
}

fn counted(text: &str, what: &str, most: u64) -> Result<u64, String> {
    match whole::<u64>(text) {
        Ok(0) => Err("there must be at least 1".to_owned()),
        Ok(count) if count <= most => Ok(count),
        Err(error) if error != TOO_LARGE => Err(error),
        _ => Err(format!("too many: {most} {what} are the most")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_number_says_what_is_valid() {
        assert_eq!((threads("2"), repeats(" 30 ")), (Ok(2), Ok(30)));
        for (text, why) in [
            ("0", "there must be at least 1"),
            ("-1", "it must not be negative"),
            ("two", "it must be a whole number, such as `4`"),
            ("1.5", "it must be a whole number, such as `4`"),
            ("70000", "too many: 65535 threads are the most"),
            ("99999999999999999999", "too many: 65535 threads are the most"),
            ("--json", "a value is missing before `--json`"),
        ] {
            assert_eq!(threads(text), Err(why.to_owned()));
        }
    }
}
