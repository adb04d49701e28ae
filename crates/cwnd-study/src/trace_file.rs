//! The samples of runs as a file for other tools: CSV or Parquet.
//!
//! One row for each flow at each sample time, with these columns:
//!
//! | column | meaning |
//! |---|---|
//! | `algorithm` | algorithm of the flow, with its parameters |
//! | `seed` | seed of the run |
//! | `time_s` | time of the sample, seconds |
//! | `flow` | number of the flow, from 1 |
//! | `cwnd` | congestion window, segments |
//! | `ssthresh` | slow-start threshold, segments; absent while infinite |
//! | `rtt_s` | smoothed round-trip time, seconds; absent before the first sample |
//! | `delivered_bytes` | payload bytes acknowledged so far |
//! | `in_flight` | segments in flight |
//! | `state` | `open`, `disorder`, `cwr`, `recovery` or `loss` |
//! | `queue_<link>` | packets that wait at the link, for each link of any run; absent in runs without it |

mod csv;
mod parquet;
mod read;

pub(crate) use csv::field;
pub use read::{digest, read};

use std::path::Path;

use crate::TracedRun;
use crate::output_file::{self, OutputFileError};

/// Why a trace cannot be written.
pub type TraceFileError = OutputFileError;

/// The extensions that a trace's name may have.
pub const EXTENSIONS: [&str; 2] = ["csv", "parquet"];

/// Writes the samples of `runs`, one run after the other, in the format that the extension of `path` names.
/// The file appears whole or not at all.
///
/// # Errors
/// If the extension is neither `.csv` nor `.parquet`, or the file cannot be written.
///
/// # Panics
/// If a trace contradicts itself (a sample without a time, a time without a queue length).
pub fn write(path: &Path, runs: &[TracedRun<'_>]) -> Result<(), TraceFileError> {
    output_file::check_extension(path, KIND, &EXTENSIONS)?;
    let queues = queues(runs);
    output_file::write_with(path, |file| match output_file::extension(path).as_str() {
        "parquet" => parquet::write(file, runs, &queues),
        _ => csv::write(file, runs, &queues),
    })
}

/// Whether [`write()`] could write to `path`, found out before a long run and not after it.
///
/// # Errors
/// If the extension is neither `.csv` nor `.parquet`, the directory does not exist or takes no files, or
/// the file exists and cannot be replaced.
pub fn check_writable(path: &Path) -> Result<(), TraceFileError> {
    output_file::check_writable(path, KIND, &EXTENSIONS)
}

const KIND: &str = "a trace";

/// The links of all runs, in the order of their first appearance.
fn queues<'a>(runs: &[TracedRun<'a>]) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in runs.iter().flat_map(|run| &run.trace.queues) {
        if !all.contains(&name.as_str()) {
            all.push(name);
        }
    }
    all
}

/// For each of `queues`, its place in the run's own list.
fn places(run: &TracedRun<'_>, queues: &[&str]) -> Vec<Option<usize>> {
    queues.iter().map(|name| run.trace.queues.iter().position(|own| own == name)).collect()
}

#[cfg(test)]
mod tests;
