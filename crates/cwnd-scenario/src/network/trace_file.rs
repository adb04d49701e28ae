//! The files of delivery traces: Mahimahi's format, one whole number of milliseconds a line.

use super::DeliveryTrace;
use std::fmt::{self, Write};

/// Why a text is not a delivery trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The line, from 1 on, if one line is to blame.
    pub line: Option<usize>,
    /// What was wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for TraceError {}

impl DeliveryTrace {
    /// Read the text of a trace file. Empty lines, and what follows a `#`, say nothing.
    ///
    /// # Errors
    /// A line that is not a whole number of milliseconds or comes before the one above it, and a text without any
    /// time after zero.
    pub fn parse(name: &str, text: &str) -> Result<DeliveryTrace, TraceError> {
        let mut times_ms: Vec<u32> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let wrong = |message: String| TraceError { line: Some(index + 1), message };
            let number = line.split('#').next().unwrap_or_default().trim();
            if number.is_empty() {
                continue;
            }
            let time: u32 = number.parse().map_err(|_| {
                wrong(format!("`{}` is not a whole number of milliseconds, such as `17`", shortened(number)))
            })?;
            if let Some(last) = times_ms.last().filter(|last| **last > time) {
                return Err(wrong(format!("{time} ms come after {last} ms: the times must not fall")));
            }
            times_ms.push(time);
        }
        match times_ms.last() {
            None => Err(TraceError {
                line: None,
                message: "it names no time: each line is a millisecond at which up to 1,500 bytes may leave"
                    .to_owned(),
            }),
            Some(0) => Err(TraceError {
                line: None,
                message: "all of its times are 0: the last is the trace's length, and must be more"
                    .to_owned(),
            }),
            Some(_) => Ok(DeliveryTrace { name: name.to_owned(), times_ms: times_ms.into() }),
        }
    }

    /// The text of its file.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for time in self.times_ms.iter() {
            let _ = writeln!(text, "{time}");
        }
        text
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 30;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 1).collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rate;

    #[test]
    fn a_trace_is_read_and_written() {
        let trace = DeliveryTrace::parse("a", "# made by hand\n0\n 3\n3 # two at once\n\n10\n").unwrap();
        assert_eq!(trace.times_ms.as_ref(), [0, 3, 3, 10]);
        // 4 x 1,500 B x 8 in 10 ms.
        assert_eq!(trace.mean_rate(), Rate(4_800_000));
        assert_eq!(DeliveryTrace::parse("a", &trace.to_text()), Ok(trace));
    }

    #[test]
    fn errors_name_the_line() {
        let said = |text: &str| DeliveryTrace::parse("a", text).unwrap_err().to_string();
        assert_eq!(said("1\n2.5\n"), "line 2: `2.5` is not a whole number of milliseconds, such as `17`");
        assert_eq!(said("5\n\n4"), "line 3: 4 ms come after 5 ms: the times must not fall");
        assert!(said("# nothing\n").starts_with("it names no time"));
        assert!(said("0\n0\n").starts_with("all of its times are 0"));
        assert!(said("-1").contains("`-1` is not a whole number"));
        assert!(said("99999999999").starts_with("line 1: "));
    }
}
