//! What the runs of a study gave.

use crate::Study;
use std::{collections::BTreeMap, path::PathBuf};

/// A study with what its runs gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The study.
    pub study: Study,
    /// One for each cell and repeat: cell by cell, repeats in order.
    pub runs: Vec<RunResult>,
    /// What made them.
    pub provenance: Provenance,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Index into [`Study::cells`].
    pub cell: usize,
    /// From 0.
    pub repeat: u32,
    /// Its seed.
    pub seed: u64,
    /// What came of it.
    pub state: RunState,
    /// The file of its samples, if they were recorded.
    pub trace: Option<PathBuf>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunState {
    /// It has not been run.
    Missing,
    /// It failed, for this reason.
    Failed(String),
    /// Its metrics by name; a metric that could not be measured is not there.
    Done(BTreeMap<String, f64>),
}

/// What made the results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Version of cwnd.
    pub version: String,
    /// Commit it was built from, if known.
    pub commit: Option<String>,
    /// The command that makes the results again.
    pub command: String,
    /// The engine, such as `sim`.
    pub engine: String,
}

impl Results {
    /// The values of a metric in a cell, one for each repeat that has it, in the order of the seeds.
    pub fn values(&self, cell: usize, metric: &str) -> Vec<f64> {
        self.runs_of(cell).iter().filter_map(|run| run.metric(metric)).collect()
    }

    /// The runs of a cell.
    pub fn runs_of(&self, cell: usize) -> &[RunResult] {
        let repeats = self.study.repeats as usize;
        &self.runs[cell * repeats..(cell + 1) * repeats]
    }
}

impl RunResult {
    /// A metric of this run, if it was run and has it.
    pub fn metric(&self, name: &str) -> Option<f64> {
        match &self.state {
            RunState::Done(metrics) => metrics.get(name).copied(),
            RunState::Missing | RunState::Failed(_) => None,
        }
    }
}
