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
//! | `state.<name>` | a value of the state of the flow's algorithm, for each that any flow has (`cwnd algorithms NAME` lists them); absent for flows without it, and where the algorithm does not know it yet |

mod csv;
mod parquet;
mod read;

pub(crate) use csv::field;
pub(crate) use read::from_bytes;
pub use read::{digest, read};

use cwnd_scenario::Sample;
use std::path::Path;

use crate::output_file::{self, OutputFileError};
use crate::{STATE, TracedRun};

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
    let columns = Columns::of(runs);
    output_file::write_with(path, |file| match output_file::extension(path).as_str() {
        "parquet" => parquet::write(file, runs, &columns),
        _ => csv::write(file, runs, &columns),
    })
}

/// Returns the bytes of the Parquet file that [`write()`] makes of runs.
///
/// # Errors
/// If Parquet cannot hold them.
pub(crate) fn to_parquet(runs: &[TracedRun<'_>]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    parquet::write(&mut bytes, runs, &Columns::of(runs))?;
    Ok(bytes)
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

/// The columns that differ between runs.
struct Columns<'a> {
    /// The links of all runs, in the order of their first appearance.
    queues: Vec<&'a str>,
    /// The values of the state of all flows' algorithms, likewise.
    states: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    fn of(runs: &[TracedRun<'a>]) -> Columns<'a> {
        let queues = runs.iter().flat_map(|run| &run.trace.queues).map(String::as_str);
        let states = runs.iter().flat_map(|run| &run.trace.observed).map(|observed| observed.name.as_str());
        Columns { queues: distinct(queues), states: distinct(states) }
    }

    /// Their names in a file: queues, then states.
    fn names(&self) -> impl Iterator<Item = (String, bool)> {
        let queues = self.queues.iter().map(|queue| (format!("queue_{queue}"), false));
        queues.chain(self.states.iter().map(|state| (format!("{STATE}{state}"), true)))
    }

    /// For each queue, its place in the run's own list.
    fn places(&self, run: &TracedRun<'_>) -> Vec<Option<usize>> {
        self.queues.iter().map(|name| run.trace.queues.iter().position(|own| own == name)).collect()
    }

    /// For each flow of a run that has a state, and for each column of states, its values over time.
    fn states<'t>(&self, run: &TracedRun<'t>) -> Vec<Vec<Option<&'t [f64]>>> {
        let flows = run.trace.observed.iter().map(|observed| observed.flow + 1).max().unwrap_or(0);
        let mut table = vec![vec![None; self.states.len()]; flows];
        for observed in &run.trace.observed {
            if let Some(column) = self.states.iter().position(|name| *name == observed.name) {
                table[observed.flow][column] = Some(observed.values.as_slice());
            }
        }
        table
    }

    /// Returns the values of a sample for each column of states; none where the flow has none, or does not know it.
    fn values(&self, table: &[Vec<Option<&[f64]>>], sample: &Sample) -> impl Iterator<Item = Option<f64>> {
        let row = table.get(sample.flow);
        (0..self.states.len()).map(move |column| {
            let value = *row?[column]?.get(sample.time_index)?;
            (!value.is_nan()).then_some(value)
        })
    }
}

/// Returns each name once, in the order of their first appearance.
pub fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

#[cfg(test)]
mod tests;
