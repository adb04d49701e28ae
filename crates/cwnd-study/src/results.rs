//! What the runs of a study gave.

#[cfg(feature = "store")]
mod in_order;
#[cfg(feature = "store")]
mod stored;

#[cfg(feature = "store")]
pub(crate) use in_order::in_order;
#[cfg(feature = "store")]
pub(crate) use stored::kept;

use crate::{MetricValues, Provenance, Samples, StoreError, Study, metric_values::SharedNames};
use cwnd_scenario::{Emulation, EngineError, Outcome, Scenario, Trace};
use std::{collections::BTreeMap, sync::Arc};

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
    /// Its samples, if they were recorded.
    pub trace: Option<Samples>,
    /// How well the network kept its times, if it was an emulated one.
    pub emulation: Option<Box<Emulation>>,
    /// For each metric of single flows that a figure draws, its values in the order of the flows; not a number where a flow
    /// has none.
    pub flows: BTreeMap<String, Vec<f64>>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunState {
    /// It has not been run.
    Missing,
    /// It failed, for this reason.
    Failed(String),
    /// Its metrics by name; a metric that could not be measured is not there.
    Done(MetricValues),
}

impl Results {
    /// Returns the results of a study of which nothing has been run. [`Results::put`] adds runs.
    pub fn empty(study: Study, provenance: Provenance) -> Results {
        let places = (0..study.cells.len()).flat_map(|cell| (0..study.repeats).map(move |i| (cell, i)));
        let runs = places.map(|(cell, repeat)| RunResult {
            cell,
            repeat,
            seed: study.seed_of(cell, repeat),
            state: RunState::Missing,
            trace: None,
            emulation: None,
            flows: BTreeMap::new(),
        });
        Results { runs: runs.collect(), study, provenance }
    }

    /// Adds what came of the run at this place of [`Results::runs`], without a store. [`Results::derive`] is to be called after the
    /// last one.
    pub fn put(&mut self, place: usize, outcome: Result<Outcome, EngineError>) {
        let RunResult { cell, repeat, .. } = self.runs[place];
        let scenario = self.study.scenario(cell, repeat);
        let mut outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => return self.runs[place].state = RunState::Failed(error.to_string()),
        };
        let sampled = crate::sampled::metrics(&scenario, &mut outcome).unwrap_or_default();
        let trace = outcome.trace.take().filter(|_| self.study.is_traced(cell, repeat));
        let measured = measure(
            &mut SharedNames::default(),
            &self.study.flow_metrics_asked(),
            &scenario,
            &outcome,
            &sampled,
        );
        let run = &mut self.runs[place];
        (run.state, run.flows) = (RunState::Done(measured.0), measured.1);
        run.trace = trace.map(|trace| Samples::Memory(Arc::new(trace)));
        run.emulation = outcome.emulation.map(Box::new);
    }

    /// Gives every run the metrics that are derived from it and its reference, the run of the same seed in the cell that
    /// differs in the derived metric's axis alone. A run whose reference is missing has none.
    pub fn derive(&mut self) {
        let study = &self.study;
        let repeats = study.repeats as usize;
        let mut names = SharedNames::default();
        for derived in &study.derived {
            let mut found: Vec<(usize, f64)> = Vec::new();
            let references = study.references(derived);
            for (index, run) in self.runs.iter().enumerate() {
                let reference = references[run.cell].map(|cell| &self.runs[cell * repeats + index % repeats]);
                let both = run.metric(&derived.metric).zip(reference.and_then(|r| r.metric(&derived.metric)));
                let value = both.and_then(|(this, reference)| derived.formula.value(this, reference));
                found.extend(value.map(|value| (index, value)));
            }
            for (index, value) in found {
                if let RunState::Done(metrics) = &mut self.runs[index].state {
                    names.add(metrics, &derived.name, value);
                }
            }
        }
    }

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
    /// Returns its samples, if they were recorded.
    ///
    /// # Errors
    /// Those of [`Samples::read`].
    pub fn read_trace(&self) -> Result<Option<Arc<Trace>>, StoreError> {
        self.trace.as_ref().map(Samples::read).transpose()
    }

    /// Whether its network kept its times; one that was simulated always did.
    pub fn is_valid(&self) -> bool {
        self.emulation.as_ref().is_none_or(|emulation| emulation.is_valid())
    }

    /// A metric of this run, if it was run and has it.
    pub fn metric(&self, name: &str) -> Option<f64> {
        match &self.state {
            RunState::Done(metrics) => metrics.get(name).copied(),
            RunState::Missing | RunState::Failed(_) => None,
        }
    }
}

/// Computes the metrics of a run, and its values for each metric of single flows that is asked for.
fn measure(
    names: &mut SharedNames,
    flow_metrics: &[&str],
    scenario: &Scenario,
    outcome: &Outcome,
    sampled: &BTreeMap<String, f64>,
) -> (MetricValues, BTreeMap<String, Vec<f64>>) {
    let mut metrics = names.values(scenario, outcome);
    let values = |name: &&str| {
        let values = cwnd_metrics::of_each_flow(scenario, outcome, sampled, name);
        let values = values.into_iter().map(|(_, value)| value.unwrap_or(f64::NAN));
        ((*name).to_owned(), values.collect())
    };
    let flows = flow_metrics.iter().map(values).collect();
    for (name, value) in sampled {
        names.add(&mut metrics, name, *value);
    }
    (metrics, flows)
}
