//! The samples that figures over time are drawn from.

use crate::engines;
use cwnd_scenario::Trace;
use cwnd_study::{Results, RunState, Samples};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The samples of runs, by their index in [`Results::runs`], or why they cannot be had.
#[derive(Clone, Debug, Default)]
pub struct Traces(BTreeMap<usize, Result<Arc<Trace>, String>>);

impl Traces {
    /// Reads them from where the results keep them.
    pub fn of(results: &Results) -> Traces {
        Traces::read(results, |samples| samples.read().map_err(|error| error.to_string()))
    }

    /// Reads what the study's figures over time need, and what lays two engines side by side, and no more: of each cell
    /// the first repeat that was recorded. A file that cannot be read is told in the figure.
    pub fn read(results: &Results, mut read: impl FnMut(&Samples) -> Result<Arc<Trace>, String>) -> Traces {
        let mut traces = BTreeMap::new();
        let mut wanted: Vec<usize> = Vec::new();
        for figure in &results.study.figures {
            if !figure.kind.is_sampled() {
                continue;
            }
            wanted.extend(results.study.select(&figure.select));
        }
        wanted.extend(engines::pairs(&results.study).iter().flat_map(|pair| [pair.sim, pair.kernel]));
        for cell in wanted {
            let Some((run, file)) = recorded(results, cell) else { continue };
            traces.entry(run).or_insert_with(|| read(file).and_then(sound));
        }
        Traces(traces)
    }

    /// The samples of a cell: the run's index with them, or why there are none.
    pub(crate) fn of_cell(&self, results: &Results, cell: usize) -> Result<(usize, &Trace), String> {
        let Some((run, _)) = recorded(results, cell) else {
            // A run whose samples are damaged counts as failed; its reason says so, and what to do.
            let failed = results.runs_of(cell).iter().find_map(|run| match &run.state {
                RunState::Failed(reason) => Some(reason.clone()),
                RunState::Missing | RunState::Done(_) => None,
            });
            return Err(failed.unwrap_or_else(|| "no samples were recorded".to_owned()));
        };
        match self.0.get(&run) {
            Some(Ok(trace)) => Ok((run, trace)),
            Some(Err(why)) => Err(why.clone()),
            None => Err("its samples were not read".into()),
        }
    }
}

/// The first run of a cell with recorded samples.
fn recorded(results: &Results, cell: usize) -> Option<(usize, &Samples)> {
    let repeats = results.study.repeats as usize;
    let runs = (cell * repeats..(cell + 1) * repeats).filter_map(|run| Some((run, results.runs.get(run)?)));
    runs.filter_map(|(run, result)| Some((run, result.trace.as_ref()?))).next()
}

/// A trace from a file may contradict itself; a figure must not fall over it.
fn sound(trace: Arc<Trace>) -> Result<Arc<Trace>, String> {
    let times = trace.times.len();
    let is_sound = trace.samples.iter().all(|sample| sample.time_index < times)
        && trace.queue_lengths.len() == times
        && trace.observed.iter().all(|observed| observed.values.len() == times)
        && trace.queue_lengths.iter().all(|lengths| lengths.len() == trace.queues.len());
    if is_sound { Ok(trace) } else { Err("its samples contradict themselves".into()) }
}
