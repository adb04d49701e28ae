//! Estimates of a path from a recording: `--from FILE`.
//!
//! Each format is a file. It reads the text or bytes and returns an [`Import`]: for each of the four quantities of a path
//! either a value and how it was estimated, or why the file does not tell it. Nothing is assumed: a quantity that is
//! missing must be given by its flag.

mod capture;
mod iperf3;
mod mahimahi;
mod measurements;
mod ss;

pub use capture::is_capture;

use cwnd_scenario::DeliveryTrace;
use cwnd_study::input_file::{self, MAX_INPUT};
use std::path::Path;

/// The properties of a path that a recording contains.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The kind of file, and what of it was read.
    pub source: String,
    /// Rate of the bottleneck, counted on wire bytes, bit/s.
    pub rate: Finding,
    /// Base round-trip time, seconds.
    pub rtt: Finding,
    /// Share of packets lost, 0 to 1.
    pub loss: Finding,
    /// Limit of the bottleneck's queue, bytes.
    pub buffer: Finding,
    /// The delivery trace in the file, if it is one. The simulation follows it instead of a constant rate.
    pub trace: Option<DeliveryTrace>,
}

/// One quantity of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// It was estimated.
    Found {
        /// In base units.
        value: f64,
        /// From what, and whether it is a bound.
        how: String,
    },
    /// It was not, for this reason.
    Missing(String),
}

impl Finding {
    fn found(value: f64, how: impl Into<String>) -> Finding {
        match value.is_finite() {
            true => Finding::Found { value, how: how.into() },
            false => Finding::Missing("it is not a finite number in this file".to_owned()),
        }
    }

    fn missing(why: impl Into<String>) -> Finding {
        Finding::Missing(why.into())
    }

    fn value(&self) -> Option<f64> {
        match self {
            Finding::Found { value, .. } => Some(*value),
            Finding::Missing(_) => None,
        }
    }
}

const FORMATS: &str = "a CSV with the columns time, rate, rtt, loss; the output of `ss -tin`; a pcap or pcapng file; the output \
                       of `iperf3 --json`; or a Mahimahi trace";

/// Reads a recording, whose kind follows from its contents.
///
/// # Errors
/// A message that names the file, what is wrong and where, and which files are read.
pub fn read(path: &Path) -> Result<Import, String> {
    let bytes = input_file::read(path, MAX_INPUT).map_err(|error| error.to_string())?;
    parse(&bytes).map_err(|why| format!("`{}`: {why}", path.display()))
}

fn parse(bytes: &[u8]) -> Result<Import, String> {
    if capture::is_capture(bytes) {
        return capture::parse(bytes);
    }
    let unknown = || format!("it is none of the files that are read: {FORMATS}");
    let text = std::str::from_utf8(bytes).map_err(|_| unknown())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().find(|line| !line.trim().is_empty()).ok_or("it is empty")?;
    if first.trim_start().starts_with('{') {
        return iperf3::parse(text);
    }
    if first.trim().bytes().all(|byte| byte.is_ascii_digit()) {
        return mahimahi::parse(text);
    }
    if ss::is_output(text) {
        return ss::parse(text);
    }
    if measurements::is_header(first) {
        return measurements::parse(text);
    }
    Err(unknown())
}

/// What is said of a share of retransmissions: in the simulation queues overflow by themselves.
const UPPER_BOUND: &str =
    "an upper bound: drops of full queues are in it, so state `--loss 0` if there are no others";

/// Returns the wire bytes of a full packet over its payload: Ethernet (14), IPv4 (20), and TCP with timestamps (32).
fn wire_share(mss: f64) -> f64 {
    (mss + 66.0) / mss
}

/// Estimates the limit of the queue from the longest round trip that was seen: a lower bound.
fn buffer(longest: f64, base: f64, rate: f64, how: &str) -> Finding {
    let bytes = ((longest - base) * rate / 8.0).max(0.0);
    Finding::found(
        bytes,
        format!(
            "({how} {} ms - base RTT) x rate; a lower bound: the queue may never have been full",
            decimals(longest * 1e3)
        ),
    )
}

/// Writes a number with three significant digits at least.
fn decimals(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests;
