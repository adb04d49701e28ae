//! What is to be run.

use super::{RunError, forecast::pilots_first};
use crate::{
    EngineKind, Engines, RunKey, RunSpec, StoredState, Study, key::KeysBySeed, memory::MemoryBudget,
    store::Store,
};
use cwnd_scenario::{Cost, Engine, Scenario, Time, mix};
use std::{
    collections::{BTreeSet, HashMap},
    process,
    sync::Arc,
};

/// What a store has not yet of a study.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The keys of all runs of the study: cell by cell, repeats in order.
    pub keys: Vec<RunKey>,
    /// What the store has, and need not be run again.
    pub present: usize,
    /// What is unusual, a sentence each: runs that failed before, rows that are damaged, traces that are gone.
    pub notes: Vec<String>,
    pub(super) tasks: Vec<Task>,
}

/// One run that is to be done.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub key: RunKey,
    pub engine: EngineKind,
    pub cell: usize,
    pub repeat: u32,
    /// What is run, with a seed of its own and the short flows that it draws.
    pub base: Arc<Scenario>,
    /// The specification of the run but for the seed; none if the scenario draws short flows, which are a part of it.
    pub shared_spec: Option<Arc<RunSpec>>,
    pub seed: u64,
    /// Whether its trace is kept.
    pub traced: bool,
    pub cost: Cost,
}

impl Task {
    pub fn scenario(&self) -> Arc<Scenario> {
        match self.base.seed == self.seed {
            true => Arc::clone(&self.base),
            false => Arc::new(self.base.with_seed(self.seed)),
        }
    }

    /// Returns what an engine is to run.
    pub fn spec(&self, engine: &dyn Engine) -> RunSpec {
        match &self.shared_spec {
            Some(shared) => RunSpec { seed: self.seed, ..RunSpec::clone(shared) },
            None => RunSpec::new(engine, &self.scenario()),
        }
    }
}

impl Plan {
    /// How many runs are to be done. Cells that ask the same share a run.
    pub fn missing(&self) -> usize {
        self.tasks.len()
    }

    /// How many of these an engine answers.
    pub fn missing_of(&self, engine: EngineKind) -> usize {
        self.of(engine).count()
    }

    /// Estimates the elapsed time of the missing runs, seconds, with this many at once. Those in real time are done one
    /// by one after the others.
    pub fn wall_s(&self, jobs: usize) -> f64 {
        let cost = |engine: EngineKind| match engine.is_real_time() {
            true => self.of(engine).map(|task| task.cost.wall_s).sum::<f64>(),
            false => self.of(engine).map(|task| task.cost.cpu_s).sum::<f64>() / jobs.max(1) as f64,
        };
        self.engines().into_iter().map(cost).sum()
    }

    /// CPU seconds that all missing runs of simulators take, about.
    pub fn cpu_s(&self) -> f64 {
        let simulated = self.tasks.iter().filter(|task| !task.engine.is_real_time());
        simulated.map(|task| task.cost.cpu_s).sum()
    }

    /// The engines that have something to do, in the order in which their runs are done.
    pub fn engines(&self) -> BTreeSet<EngineKind> {
        self.tasks.iter().map(|task| task.engine).collect()
    }

    pub(super) fn of(&self, engine: EngineKind) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(move |task| task.engine == engine)
    }
}

/// A study that its engines accept. Each cell has one entry for all repeats with the same time between samples.
#[derive(Clone, Debug)]
pub struct Checked(Vec<Vec<Asked>>);

#[derive(Clone, Debug)]
struct Asked {
    sample: Option<Time>,
    /// The scenario of the first of these repeats.
    base: Arc<Scenario>,
    cost: Cost,
}

/// Has the engines check every cell.
///
/// # Errors
/// The first cell that an engine does not take.
pub fn check(engines: &Engines, study: &Study) -> Result<Checked, RunError> {
    let of_cell = |cell: usize| {
        let mut asked: Vec<Asked> = Vec::new();
        for repeat in 0..study.repeats {
            let sample = study.sample_of(cell, repeat);
            if asked.iter().any(|asked| asked.sample == sample) {
                continue;
            }
            let base = study.scenario(cell, repeat);
            let cost = engines.of(study.cells[cell].engine).check(&base);
            let cost = cost.map_err(|problems| RunError::Refused { cell, problems })?;
            asked.push(Asked { sample, base: Arc::new(base), cost });
        }
        Ok(asked)
    };
    (0..study.cells.len()).map(of_cell).collect::<Result<_, _>>().map(Checked)
}

impl Checked {
    /// Returns it if the largest run fits into the memory budget together with `more` bytes.
    ///
    /// # Errors
    /// The cell of the largest run, if it does not fit.
    pub fn fit(self, memory: MemoryBudget, more: f64) -> Result<Checked, RunError> {
        let of_cell = |asked: &Vec<Asked>| asked.iter().map(|asked| asked.cost.memory).fold(0.0, f64::max);
        let largest = self.0.iter().map(of_cell).enumerate();
        let (cell, needed) = largest.rev().max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or_default();
        match memory.check(needed + more) {
            Ok(()) => Ok(self),
            Err(memory) => Err(RunError::TooLarge { cell, memory }),
        }
    }
}

/// Finds out what a store has not yet of a study, and what it costs. Runs that failed are tried again, and so are
/// those whose row or trace is damaged.
///
/// # Errors
/// If an engine refuses a cell, or the store cannot be read.
pub fn plan(engines: &Engines, study: &Study, store: &Store) -> Result<Plan, RunError> {
    plan_checked(check(engines, study)?, engines, study, store)
}

/// Plans a study as [`plan`] does, from the result of [`check`] by the same engines.
///
/// # Errors
/// If the store cannot be read.
pub fn plan_checked(
    checked: Checked,
    engines: &Engines,
    study: &Study,
    store: &Store,
) -> Result<Plan, RunError> {
    store.sweep_traces();
    let mut plan = Plan { keys: Vec::new(), present: 0, notes: Vec::new(), tasks: Vec::new() };
    let mut candidates: Vec<Task> = Vec::new();
    let mut known: HashMap<RunKey, usize> = HashMap::new();
    for (cell, asked) in checked.0.into_iter().enumerate() {
        let kind = study.cells[cell].engine;
        let engine = engines.of(kind);
        // Repeats differ in their seeds (and in the short flows drawn from them), and in whether they are sampled.
        let shared: Vec<_> = asked.iter().map(|asked| asked.shared(&**engine, store)).collect();
        for repeat in 0..study.repeats {
            let (seed, traced) = (study.seed_of(cell, repeat), study.is_traced(cell, repeat));
            let sample = study.sample_of(cell, repeat);
            let alike = asked.iter().zip(&shared).find(|(asked, _)| asked.sample == sample);
            let (Asked { base, cost, .. }, shared) = alike.expect("every way to sample was checked");
            let key = match shared {
                Some((_, keys)) => keys.key(seed),
                None => RunKey::of(&**engine, &study.scenario(cell, repeat)),
            };
            plan.keys.push(key);
            if let Some(same) = known.get(&key) {
                // Another cell asks the same. One of the two may keep the trace where the other does not.
                candidates[*same].traced |= traced;
                continue;
            }
            known.insert(key, candidates.len());
            let (base, cost) = (Arc::clone(base), *cost);
            let shared_spec = shared.as_ref().map(|(spec, _)| Arc::clone(spec));
            candidates.push(Task { key, engine: kind, cell, repeat, base, shared_spec, seed, traced, cost });
        }
    }
    for task in candidates {
        let place = || format!("{} (seed {})", study.cell_label(task.cell), task.seed);
        let missing = match store.get(task.key)?.map(|row| row.state) {
            None => true,
            Some(StoredState::Done { trace: Some(trace), .. }) if task.traced && !trace.has_states => {
                let wanted = study.shows_state(task.cell);
                if wanted {
                    plan.notes.push(format!(
                        "{} is run again: the state of its algorithms was not recorded",
                        place()
                    ));
                }
                wanted
            }
            Some(StoredState::Done { trace, .. }) => task.traced && trace.is_none(),
            Some(StoredState::Failed(reason)) => {
                plan.notes.push(format!("{} failed before and is tried again: {reason}", place()));
                true
            }
            Some(StoredState::Unusable(reason)) => {
                plan.notes.push(format!("{} is run again: {reason}", place()));
                true
            }
        };
        match missing {
            true => plan.tasks.push(task),
            false => plan.present += 1,
        }
    }
    longest_first(&mut plan.tasks, u64::from(process::id()), |task| task.cost.cpu_s);
    pilots_first(&mut plan.tasks, |task| (task.cell, task.cost.cpu_s));
    Ok(plan)
}

impl Asked {
    /// Returns the specification of the runs but for the seed, and their keys; none if each draws its own short flows.
    fn shared(&self, engine: &dyn Engine, store: &Store) -> Option<(Arc<RunSpec>, KeysBySeed)> {
        self.base.arrivals.is_none().then(|| {
            let spec = match store.directory() {
                Some(_) => RunSpec::new(engine, &self.base),
                None => RunSpec::without_text(engine, &self.base),
            };
            let keys = spec.keys_by_seed();
            (Arc::new(spec), keys)
        })
    }
}

/// The number of groups of equally long runs whose order a process decides.
const GROUPS: usize = 1_000;

/// Puts the longest runs first. Equally long ones are in an order that the number `own` decides, so that two processes begin with different ones.
/// Neighbours of a large study stay together: they are stored together, and whoever reads them in order reads each page of the store once.
fn longest_first<T>(runs: &mut Vec<T>, own: u64, cost: impl Fn(&T) -> f64) {
    let group = runs.len().div_ceil(GROUPS);
    let order = |(place, run): (usize, T)| (mix(mix(own) ^ (place / group) as u64), run);
    let mut placed: Vec<(u64, T)> = runs.drain(..).enumerate().map(order).collect();
    placed.sort_by(|(a, one), (b, other)| cost(other).total_cmp(&cost(one)).then_with(|| a.cmp(b)));
    runs.extend(placed.into_iter().map(|(_, run)| run));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equally_long_runs_keep_their_neighbours_and_each_process_has_its_order() {
        let ordered = |own| {
            let mut runs: Vec<(u32, f64)> = (0..3_000).map(|run| (run, 1.0)).collect();
            runs[1_234].1 = 2.0;
            longest_first(&mut runs, own, |(_, cost)| *cost);
            runs.into_iter().map(|(run, _)| run).collect::<Vec<u32>>()
        };
        let (one, other) = (ordered(1), ordered(2));
        assert_eq!((one[0], other[0]), (1_234, 1_234));
        // The groups of three: only the longest is away from its own.
        let follows = |pair: &[u32]| pair[1] == pair[0] + 1;
        assert!(one[1..].windows(2).filter(|pair| follows(pair)).count() >= 1_998);
        // Two processes meet only where groups happen to have the same place.
        let same = one[1..].iter().zip(&other[1..]).filter(|(a, b)| a == b);
        assert!(same.count() < 60);
        let mut sorted = one.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..3_000).collect::<Vec<u32>>());
    }

    #[test]
    fn few_runs_have_no_neighbours() {
        let mut runs: Vec<u32> = (0..8).collect();
        longest_first(&mut runs, 7, |_| 1.0);
        assert_ne!(runs, (0..8).collect::<Vec<u32>>());
        runs.sort_unstable();
        assert_eq!(runs, (0..8).collect::<Vec<u32>>());
        longest_first(&mut Vec::<u32>::new(), 7, |_| 1.0);
    }
}
