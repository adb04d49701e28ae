//! The runs of a store in memory: kept as they are, so that none is encoded, compressed, and read again.

use super::{Counts, KeptStudy, NewContent, NewRun, RunCounts, StoredRun, StoredState, columns};
use crate::{RunKey, RunSpec, VERSION};
use cwnd_scenario::{Outcome, Scenario};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::SystemTime,
};

/// Runs in the order in which they were stored first, and the study.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub study: Option<KeptStudy>,
    runs: Vec<(RunKey, StoredRun)>,
    /// Indices into `runs`.
    places: HashMap<RunKey, usize>,
    /// The scenario of the run that was stored last. Repeats of a cell differ in their seeds alone, and share it with the seed of the
    /// first of them.
    last: Option<Arc<Scenario>>,
}

impl Values {
    pub(super) fn get(&self, key: RunKey) -> Option<StoredRun> {
        let mut run = self.runs[*self.places.get(&key)?].1.clone();
        if let StoredState::Done { spec, scenario, .. } = &mut run.state
            && scenario.seed != spec.seed
        {
            Arc::make_mut(scenario).seed = spec.seed;
        }
        Some(run)
    }

    /// Stores a run. A failure does not take the place of what was run.
    pub(super) fn put(&mut self, run: &NewRun) {
        let mut state = state(run);
        if let StoredState::Done { scenario, .. } = &mut state {
            self.share(scenario);
        }
        let is_failure = !matches!(state, StoredState::Done { .. });
        let (cpu_s, finished, version) = (run.cpu_s, SystemTime::now(), VERSION.to_owned());
        let stored = StoredRun { state, cpu_s, finished, version };
        match self.places.get(&run.key).map(|place| &mut self.runs[*place].1) {
            Some(StoredRun { state: StoredState::Done { .. }, .. }) if is_failure => {}
            Some(former) => *former = stored,
            None => {
                self.places.insert(run.key, self.runs.len());
                self.runs.push((run.key, stored));
            }
        }
    }

    /// Replaces a scenario by that of the run before if they differ in their seeds alone.
    fn share(&mut self, scenario: &mut Arc<Scenario>) {
        if let Some(last) = &self.last {
            let own = std::mem::replace(&mut Arc::make_mut(scenario).seed, last.seed);
            if scenario == last {
                *scenario = Arc::clone(last);
                return;
            }
            Arc::make_mut(scenario).seed = own;
        }
        self.last = Some(Arc::clone(scenario));
    }

    pub(super) fn stored_since(&self, cursor: &mut i64) -> Vec<RunKey> {
        let first = usize::try_from(*cursor).unwrap_or_default();
        *cursor = self.cursor();
        self.runs.iter().skip(first).map(|(key, _)| *key).collect()
    }

    pub(super) fn cursor(&self) -> i64 {
        self.runs.len() as i64
    }

    pub(super) fn count(&self, keys: &[RunKey]) -> RunCounts {
        let mut counts = RunCounts::default();
        for place in keys.iter().filter_map(|key| self.places.get(key)) {
            match self.runs[*place].1.state {
                StoredState::Done { .. } => counts.done += 1,
                StoredState::Failed(_) | StoredState::Unusable(_) => counts.failed += 1,
            }
        }
        counts
    }
}

/// Returns what the store has of a run.
fn state(run: &NewRun) -> StoredState {
    let (counts, sampled, trace) = match &run.content {
        NewContent::Failed(reason) => return StoredState::Failed(reason.clone()),
        NewContent::Done { counts, sampled, trace } => (counts, sampled, trace),
    };
    let (scenario, outcome) = match counts {
        Counts::Whole { scenario, outcome } => (Arc::clone(scenario), Arc::clone(outcome)),
        Counts::Encoded(bytes) => match decode(&run.spec, bytes) {
            Ok(decoded) => decoded,
            Err(reason) => return StoredState::Unusable(reason),
        },
    };
    let sampled: BTreeMap<String, f64> = sampled.clone().unwrap_or_default();
    let (spec, trace) = (Box::new(run.spec.clone()), trace.clone().map(Box::new));
    StoredState::Done { spec, scenario, outcome, sampled, trace }
}

/// Reads what another process has run.
fn decode(spec: &RunSpec, bytes: &[u8]) -> Result<(Arc<Scenario>, Arc<Outcome>), String> {
    let scenario = spec.scenario.parse().map_err(|error| format!("its scenario cannot be read ({error})"))?;
    let scenario = Scenario { seed: spec.seed, ..scenario };
    let outcome = columns::read_counts(&scenario, bytes)?;
    Ok((Arc::new(scenario), Arc::new(outcome)))
}
