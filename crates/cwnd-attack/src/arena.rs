//! Evaluations: both algorithms on the same path with the same seeds.

use crate::{goal::Goal, path::Path};
use cwnd_experiment::{ExperimentSpec, settings};
use cwnd_scenario::{AlgorithmSpec, Engine, Scenario, Time};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The number of seeds with which a found path is confirmed and shrunk, and repeats of its study.
pub const SEEDS: u32 = 5;

/// Two algorithms, an engine and a metric.
pub struct Arena<'a> {
    /// The engine, which runs several scenarios at once.
    pub engine: &'a (dyn Engine + Sync),
    /// The algorithm under attack.
    pub candidate: AlgorithmSpec,
    /// What it is compared with.
    pub reference: AlgorithmSpec,
    /// By what.
    pub goal: Goal,
    /// The seed of the runs of a search; [`SEEDS`] from it on confirm its result.
    pub seed: u64,
}

/// The values of both algorithms on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// That of the algorithm under attack.
    pub candidate: f64,
    /// That of the reference.
    pub reference: f64,
    /// How much worse the candidate is: [`Goal::effect`].
    pub effect: f64,
}

impl Arena<'_> {
    /// Returns the scenario of an algorithm on a path; none if the path contradicts itself.
    pub fn scenario(&self, path: &Path, algorithm: &AlgorithmSpec, seed: u64) -> Option<Scenario> {
        let mut spec = ExperimentSpec {
            candidate: Some(algorithm.clone()),
            sample: self.goal.metric.needs_samples().then(|| sample(path)),
            ..ExperimentSpec::default()
        };
        for (key, texts) in path.settings() {
            match key {
                "flow" => spec.flow = texts.iter().map(|text| text.parse().ok()).collect::<Option<_>>()?,
                _ => (settings::find(key)?.set)(&mut spec, &texts.join("; ")).ok()?,
            }
        }
        spec.resolve(seed).ok()
    }

    /// Evaluates a path with the seed of the search; none if a value cannot be measured.
    pub fn evaluate(&self, path: &Path) -> Option<Pair> {
        self.with_seed(path, self.seed)
    }

    /// Returns the means over [`SEEDS`] seeds; none if a value cannot be measured.
    pub fn confirm(&self, path: &Path) -> Option<Pair> {
        let pairs: Option<Vec<Pair>> =
            (0..u64::from(SEEDS)).map(|i| self.with_seed(path, self.seed.wrapping_add(i))).collect();
        let pairs = pairs?;
        let mean = |of: fn(&Pair) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
        Some(Pair {
            candidate: mean(|pair| pair.candidate),
            reference: mean(|pair| pair.reference),
            effect: mean(|pair| pair.effect),
        })
    }

    /// Applies a function to all paths on this many threads. Returns the results in the order of the paths.
    pub fn on_all<T: Send>(&self, paths: &[Path], threads: usize, of: impl Fn(&Path) -> T + Sync) -> Vec<T> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(index) else { return done };
                done.push((index, of(path)));
            }
        };
        let mut done: Vec<(usize, T)> = thread::scope(|scope| {
            let workers: Vec<_> = (1..threads.min(paths.len())).map(|_| scope.spawn(work)).collect();
            let own = work();
            let others = workers.into_iter().map(|worker| worker.join());
            others
                .flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .chain(own)
                .collect()
        });
        done.sort_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, result)| result).collect()
    }

    fn with_seed(&self, path: &Path, seed: u64) -> Option<Pair> {
        let candidate = self.value(path, &self.candidate, seed)?;
        let reference = self.value(path, &self.reference, seed)?;
        Some(Pair { candidate, reference, effect: self.goal.effect(candidate, reference) })
    }

    fn value(&self, path: &Path, algorithm: &AlgorithmSpec, seed: u64) -> Option<f64> {
        let scenario = self.scenario(path, algorithm, seed)?;
        let outcome = self.engine.run(&scenario).ok()?;
        self.goal.value(&scenario, &outcome)
    }
}

/// Returns the time between samples on a path, in whole milliseconds: 250 in a run.
pub fn sample(path: &Path) -> Time {
    Time((path.duration / 250).next_multiple_of(1_000_000))
}
