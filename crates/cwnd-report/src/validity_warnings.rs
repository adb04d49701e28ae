//! Runs over an emulated network that did not keep its times, and so are not valid.

use cwnd_scenario::{Emulation, Implementation};
use cwnd_study::{Results, RunResult};

/// Stands behind what such a run has a part in.
pub const MARK: &str = "(!)";

/// The runs of a study that are not valid.
pub fn runs(results: &Results) -> Vec<(&Emulation, &RunResult)> {
    let doubted = |run| emulation(run).filter(|emulation| !emulation.is_valid()).map(|found| (found, run));
    results.runs.iter().filter_map(doubted).collect()
}

/// What a run's network says of itself, if it was an emulated one.
pub fn emulation(run: &RunResult) -> Option<&Emulation> {
    run.emulation.as_deref()
}

/// What ran the algorithms of these runs, each once.
pub fn implementations<'a>(runs: impl IntoIterator<Item = &'a Emulation>) -> Vec<&'a Implementation> {
    let mut different: Vec<&Implementation> = Vec::new();
    for one in runs.into_iter().flat_map(|emulation| &emulation.implementations) {
        if !different.contains(&one) {
            different.push(one);
        }
    }
    different
}

/// How many of a cell's runs are not valid.
pub fn of_cell(results: &Results, cell: usize) -> usize {
    results.runs_of(cell).iter().filter(|run| !run.is_valid()).count()
}

/// Each doubt once, with all runs that have it, in the order in which they are first met.
pub fn reasons<'a, R>(doubted: impl IntoIterator<Item = (&'a Emulation, R)>) -> Vec<(&'a str, Vec<R>)>
where
    R: Copy,
{
    let mut reasons: Vec<(&str, Vec<R>)> = Vec::new();
    for (emulation, run) in doubted {
        for doubt in &emulation.validity_warnings {
            match reasons.iter_mut().find(|(known, _)| known == doubt) {
                Some((_, runs)) => runs.push(run),
                None => reasons.push((doubt, vec![run])),
            }
        }
    }
    reasons
}

/// What a run is called: `kernel, cubic, 20 ms (seed 2)`.
pub fn place(results: &Results, run: &RunResult) -> String {
    let label = results.study.cell_label(run.cell);
    format!("{label}{}(seed {})", if label.is_empty() { "" } else { " " }, run.seed)
}
