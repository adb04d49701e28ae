//! Results as one JSON document.

use crate::runner::{Done, Timing};
use cwnd_scenario::metrics::RunMetrics;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    /// The version that made it.
    version: &'static str,
    /// The command that makes it again.
    command: Vec<String>,
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    algorithm: &'a str,
    seed: u64,
    #[serde(flatten)]
    metrics: &'a RunMetrics,
    timing: Timing,
}

/// The document of all runs, plan by plan and repeat by repeat, with a newline.
pub fn document(names: &[&str], results: &[Vec<&Done>]) -> String {
    let runs = names.iter().zip(results).flat_map(|(name, repeats)| {
        repeats.iter().map(|done| Run {
            algorithm: name,
            seed: done.seed,
            metrics: &done.metrics,
            timing: done.timing,
        })
    });
    let command = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let command = std::iter::once("cwnd".to_owned()).chain(command).collect();
    pretty(&Document { version: env!("CARGO_PKG_VERSION"), command, runs: runs.collect() })
}

/// A value as JSON that a person can read, with a newline.
pub fn pretty(value: &impl Serialize) -> String {
    // What is serialised here are plain structs with text keys, for which JSON cannot fail.
    let text = serde_json::to_string_pretty(value).expect("plain data become JSON");
    text + "\n"
}
