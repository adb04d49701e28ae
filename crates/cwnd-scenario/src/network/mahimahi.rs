//! The files in which delivery traces are kept: those of Mahimahi's `mm-link`.
//!
//! A line is an opportunity to deliver up to 1,500 bytes: the time at which it comes, in whole milliseconds since the
//! trace began. Times do not fall; a time that stands on several lines is several opportunities. The last one is also the
//! length of the trace, which begins again there (the manual page `mm-link(1)`; Netravali et al., "Mahimahi: Accurate
//! Record-and-Replay for HTTP", USENIX ATC 2015).

use super::DeliveryTrace;
use crate::Time;
use std::fmt;

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The line, counted from 1, if it is one.
    pub line: Option<usize>,
    /// What is wrong there, and what would be right.
    pub message: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for TraceError {}

impl DeliveryTrace {
    /// The latest time that a trace may have: that of [`Time::LONGEST`], about 39 hours.
    pub const LATEST_MS: u32 = (Time::LONGEST.0 / 1_000_000) as u32;

    /// Read the text of a trace file. Empty lines are taken at the end only.
    pub fn parse(name: impl Into<String>, text: &str) -> Result<DeliveryTrace, TraceError> {
        let mut times_ms = Vec::new();
        let mut last = 0;
        for (i, line) in text.trim_ascii_end().lines().enumerate() {
            let at = |message: String| TraceError { line: Some(i + 1), message };
            let time = time(line.trim_ascii()).map_err(at)?;
            if time < last {
                return Err(at(format!(
                    "{time} ms comes after {last} ms: times must not fall; sort the lines, or count the times from the \
                     beginning of the whole trace"
                )));
            }
            last = time;
            times_ms.push(time);
        }
        let whole = |message: &str| Err(TraceError { line: None, message: message.to_owned() });
        match times_ms.last() {
            None => {
                whole("the trace is empty: it needs a line with a time in milliseconds for each 1,500 bytes")
            }
            Some(0) => whole(
                "the last time is 0, so the trace has no length: it must be the time in milliseconds at which the trace \
                 begins again",
            ),
            Some(_) => Ok(DeliveryTrace { name: name.into(), times_ms: times_ms.into() }),
        }
    }

    /// The text of its file: [`DeliveryTrace::parse`] reads it back.
    pub fn to_text(&self) -> String {
        self.times_ms.iter().map(|time| format!("{time}\n")).collect()
    }
}

/// The time of a line.
fn time(line: &str) -> Result<u32, String> {
    let late = || {
        format!(
            "{line} ms is too late: {} ms (about 39 hours) is the latest time there is",
            DeliveryTrace::LATEST_MS
        )
    };
    match line.parse::<u64>() {
        Ok(time) => {
            u32::try_from(time).ok().filter(|&time| time <= DeliveryTrace::LATEST_MS).ok_or_else(late)
        }
        Err(_) if line.is_empty() => {
            Err("the line is empty: each line is a time in whole milliseconds".to_owned())
        }
        Err(_) if line.bytes().all(|byte| byte.is_ascii_digit()) => Err(late()),
        Err(_) if line.starts_with('-') => Err(format!("`{line}` is negative: the trace begins at 0")),
        Err(_) if line.parse::<f64>().is_ok() => {
            Err(format!("`{line}` is not whole: times are whole milliseconds, not seconds or fractions"))
        }
        Err(_) if line.split([' ', '\t', ',']).next().is_some_and(|word| word.parse::<u64>().is_ok()) => {
            Err(format!(
                "`{line}` is more than a time: write one time a line, and the same time again for each further 1,500 bytes"
            ))
        }
        Err(_) => Err(format!("`{line}` is not a number: each line is a time in whole milliseconds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rate;

    #[track_caller]
    fn refused(text: &str) -> String {
        DeliveryTrace::parse("test", text).expect_err(text).to_string()
    }

    #[test]
    fn reads_what_it_writes() {
        let trace = DeliveryTrace::parse("test", "0\n3\r\n3\n 10 \n\n").expect("a trace");
        assert_eq!((&*trace.name, &*trace.times_ms), ("test", &[0, 3, 3, 10][..]));
        // 4 x 1,500 B x 8 in 10 ms: 4.8 Mbit/s.
        assert_eq!(trace.mean_rate(), Rate(4_800_000));
        assert_eq!(trace.to_text(), "0\n3\n3\n10\n");
        assert_eq!(DeliveryTrace::parse("test", &trace.to_text()), Ok(trace));
    }

    #[test]
    fn refuses_with_line_and_reason() {
        assert_eq!(
            refused("5\n3\n"),
            "line 2: 3 ms comes after 5 ms: times must not fall; sort the lines, or count the times from the beginning \
             of the whole trace"
        );
        assert_eq!(
            refused("1\n0.5\n"),
            "line 2: `0.5` is not whole: times are whole milliseconds, not seconds or fractions"
        );
        assert_eq!(
            refused("1\n\n2\n"),
            "line 2: the line is empty: each line is a time in whole milliseconds"
        );
        assert_eq!(refused("-1\n"), "line 1: `-1` is negative: the trace begins at 0");
        assert_eq!(
            refused("1 1500\n"),
            "line 1: `1 1500` is more than a time: write one time a line, and the same time again for each further \
             1,500 bytes"
        );
        assert_eq!(
            refused("# 5G\n1\n"),
            "line 1: `# 5G` is not a number: each line is a time in whole milliseconds"
        );
        assert_eq!(
            refused("one\n"),
            "line 1: `one` is not a number: each line is a time in whole milliseconds"
        );
        let late = "ms is too late: 140737488 ms (about 39 hours) is the latest time there is";
        assert_eq!(refused("140737489\n"), format!("line 1: 140737489 {late}"));
        let endless = "9".repeat(30);
        assert_eq!(refused(&endless), format!("line 1: {endless} {late}"));
        assert_eq!(
            refused(" \n"),
            "the trace is empty: it needs a line with a time in milliseconds for each 1,500 bytes"
        );
        assert_eq!(
            refused("0\n0\n"),
            "the last time is 0, so the trace has no length: it must be the time in milliseconds at which the trace \
             begins again"
        );
    }
}
