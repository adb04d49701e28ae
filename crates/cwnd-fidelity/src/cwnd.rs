//! The program `cwnd`: its command `compare`, the JSON that it prints, and its traces.

use crate::program;
use crate::samples::Samples;
use serde::Deserialize;
use std::path::PathBuf;
use std::process::Command;
use tempfile::NamedTempFile;

/// The program.
pub struct Cwnd(PathBuf);

/// A run of `cwnd compare --json`.
#[derive(Deserialize)]
pub struct RunDocument {
    pub packets_sent: f64,
    pub retransmissions: f64,
    pub timeouts: f64,
    pub congestion_events: f64,
    pub flows: Vec<FlowDocument>,
    pub queues: Vec<QueueDocument>,
}

/// A flow of a run.
#[derive(Deserialize)]
pub struct FlowDocument {
    pub goodput_bps: f64,
    /// Time average of the congestion window, segments.
    pub cwnd_mean: Option<f64>,
    #[serde(default)]
    pub retransmissions: f64,
    /// Time from its start until everything was acknowledged; none if it did not end.
    pub completion_time_s: Option<f64>,
}

/// The queue of a link.
#[derive(Deserialize)]
pub struct QueueDocument {
    pub link: String,
    pub dropped: f64,
}

impl Cwnd {
    /// Finds the program beside this one.
    pub fn find() -> Result<Cwnd, String> {
        program::built("cwnd").map(Cwnd)
    }

    /// Returns the command `cwnd` without arguments.
    pub fn command(&self) -> Command {
        Command::new(&self.0)
    }

    /// Returns the command `cwnd compare` with a stack profile, its result in JSON.
    pub fn compare(&self, stack: &str) -> Command {
        let mut command = self.command();
        command.args(["compare", "--stack", stack, "--json", "--quiet"]);
        command
    }
}

/// Runs `cwnd compare`, and returns all runs of its result.
pub fn runs(compare: &mut Command) -> Result<Vec<RunDocument>, String> {
    #[derive(Deserialize)]
    struct Document {
        runs: Vec<RunDocument>,
    }
    let text = program::output(compare)?;
    let document: Document = serde_json::from_str(&text).map_err(|error| format!("{compare:?}: {error}"))?;
    Ok(document.runs)
}

/// The temporary file of `--trace`.
pub struct Trace(NamedTempFile);

impl Trace {
    /// Adds the options that sample the flows, for example each `10 ms`, and write the samples to a temporary file.
    pub fn of(compare: &mut Command, interval: &str) -> Result<Trace, String> {
        let file =
            NamedTempFile::with_suffix(".csv").map_err(|error| format!("a temporary file: {error}"))?;
        compare.args(["--sample", interval, "--trace"]).arg(file.path());
        Ok(Trace(file))
    }

    /// Reads the samples after the command has run.
    pub fn read(&self) -> Result<Samples, String> {
        let path = self.0.path();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Samples::parse(&text))
    }
}
