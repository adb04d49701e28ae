//! Drives one congestion control algorithm through a list of events, without packets.
//!
//! The format is a line format, so that a stack in any language can read it with string splitting alone. A line is a word and
//! `key=value` pairs; `#` begins a comment. Windows count segments, rates payload bytes a second, times have a unit (`ns`, `us`, `ms`,
//! `s`). A stack that counts bytes multiplies by `mss`.
//!
//! | line | meaning |
//! |---|---|
//! | `algorithm NAME parameter=value …` | the algorithm; first line |
//! | `init at=T cwnd=N ssthresh=N mss=N arithmetic=real rtt=T seed=N ecn=off` | starts the connection; all keys have defaults |
//! | `ack at=T acked=N …` | an ACK; keys below |
//! | `loss at=T flight_size=N in_flight=N lost=N` | a loss begins an episode: fast recovery |
//! | `ecn at=T …` | an ECN echo begins an episode |
//! | `timeout at=T …` | the retransmission timer expires |
//! | `recovered at=T` | the episode ends |
//! | `undo at=T cwnd=N ssthresh=N` | the episode proves spurious; the transport restores these values |
//! | `idle at=T for=T` | the first transmission after idle time |
//! | `expect name=value …` | compares; `value~tolerance` allows a difference |
//!
//! Keys of `ack`: `acked` (delivered; required), `cumulative` (default `acked`), `lost`, `marked`, `rtt`, `in_flight` (default: the
//! window), `cwnd_limited` and `app_limited` (`yes` or `no`), `round=new`, and for a delivery-rate sample `delivered`, `interval`,
//! `prior_delivered`, `tx_in_flight`. `in_flight` and `flight_size` of an episode default to the window.
//!
//! What no connection can have is refused: an episode within another one (but a timeout), `cumulative` past what was delivered, more marks
//! than delivered segments, an idle time from before the connection.
//!
//! Names of `expect`: `cwnd`, `ssthresh`, `pacing_rate`, `recovery_cwnd` (the window that recovery aims at), `slow_start` (1 or 0), and
//! each value that the algorithm shows of its state (`cwnd algorithms NAME` lists them).
//!
//! The driver does what a transport does around the algorithm: it keeps the smoothed and the least round-trip time (RFC 6298), counts
//! delivered segments and rounds, sets `cwnd` to `ssthresh` when an episode ends (unless the algorithm owns recovery), and to the
//! restart window after a timeout.

mod driver;
mod read;

use crate::cursor::{Place, ScriptError};
use driver::Driver;
use read::Line;
use serde_json::{Value, json};

/// The result of a file.
pub type EventsResult = Result<Summary, EventsError>;

/// A file whose expectations all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The algorithm.
    pub algorithm: String,
    /// The events.
    pub events: usize,
    /// The values that were compared.
    pub checks: usize,
}

/// Why a file did not pass.
#[derive(Clone, Debug, PartialEq)]
pub enum EventsError {
    /// A line cannot be read.
    Line(ScriptError),
    /// A value differs.
    Difference {
        /// The line.
        place: Place,
        /// The name of the value.
        name: String,
        /// The value that the file states.
        expected: f64,
        /// The value.
        actual: f64,
        /// The comment of the line, which names the equation.
        comment: String,
    },
}

impl From<ScriptError> for EventsError {
    fn from(error: ScriptError) -> Self {
        EventsError::Line(error)
    }
}

/// Reads a file's text and drives the algorithm.
///
/// # Errors
/// A line cannot be read, or a value differs from the one expected.
pub fn run(text: &str) -> EventsResult {
    let mut driver: Option<Driver> = None;
    let mut summary = Summary { algorithm: String::new(), events: 0, checks: 0 };
    for (number, line) in text.lines().enumerate() {
        let Some(line) = Line::read(line, number as u32 + 1)? else { continue };
        match (&mut driver, line.word.as_str()) {
            (None, "algorithm") => {
                let created = Driver::new(&line)?;
                summary.algorithm = created.name().to_owned();
                driver = Some(created);
            }
            (None, _) => {
                return Err(line.error("the first line names the algorithm: `algorithm newreno`").into());
            }
            (Some(_), "algorithm") => return Err(line.error("a file drives one algorithm").into()),
            (Some(driver), "expect") => summary.checks += driver.expect(&line)?,
            (Some(driver), _) => {
                driver.event(&line)?;
                summary.events += 1;
            }
        }
    }
    match driver {
        Some(_) => Ok(summary),
        None => Err(ScriptError::new(Place { line: 1, column: 1 }, "the file is empty").into()),
    }
}

/// Returns a report for people.
pub fn text(name: &str, result: &EventsResult) -> String {
    match result {
        Ok(Summary { algorithm, events, checks }) => {
            format!("ok     {name} ({algorithm}: {events} events, {checks} values)\n")
        }
        Err(EventsError::Line(error)) => format!("ERROR  {name}:{error}\n"),
        Err(EventsError::Difference { place, name: value, expected, actual, comment }) => {
            let comment =
                if comment.is_empty() { String::new() } else { format!("\n    equation:  {comment}") };
            format!(
                "FAILED {name}\n  {name}:{place}: {value}\n    expected:  {expected}\n    actual:    {actual}{comment}\n"
            )
        }
    }
}

/// Returns a report for programs.
pub fn json(name: &str, result: &EventsResult) -> Value {
    match result {
        Ok(Summary { algorithm, events, checks }) => {
            json!({ "events": name, "result": "passed", "algorithm": algorithm, "count": events, "checks": checks })
        }
        Err(EventsError::Line(error)) => json!({
            "events": name,
            "result": "error",
            "line": error.place.line,
            "column": error.place.column,
            "message": error.message,
        }),
        Err(EventsError::Difference { place, name: value, expected, actual, comment }) => json!({
            "events": name,
            "result": "failed",
            "line": place.line,
            "name": value,
            "expected": if expected.is_finite() { json!(expected) } else { json!(expected.to_string()) },
            "actual": if actual.is_finite() { json!(actual) } else { json!(actual.to_string()) },
            "comment": comment,
        }),
    }
}
