//! The driver of runs that are done elsewhere.

use super::{
    LOOK, RunSummary, Status,
    batch::{self, BatchError},
    forecast::pilots_first,
    plan::{Plan, Task},
    tally::Tally,
};
use crate::{
    EngineKind, Engines, RunKey, SharedEngine, StoreError,
    store::{NewContent, Store},
};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    fmt,
    time::Instant,
};

/// Hands out the simulated runs of a plan in [batches](super::batch), and stores what comes back.
///
/// What does the batches is up to the caller, and so is to do a batch again that was lost: batches come back in any order, and
/// results that are there already, of a batch that was done twice, are ignored. Runs in real time are not handed out.
pub struct Sweep {
    engine: SharedEngine,
    waiting: VecDeque<Task>,
    /// What was handed out and is not stored, by key.
    out: HashMap<RunKey, Task>,
    tally: Tally,
    /// How many batches may be done at once, at least 1.
    workers: usize,
    /// Planned CPU seconds of what waits.
    planned_s: f64,
    /// What of the store has been looked at.
    cursor: i64,
    begin: Instant,
    looked: Instant,
    /// Runs that were stored here since then.
    stored: usize,
    /// Results that were there already.
    ignored: usize,
}

/// Why results cannot be stored.
#[derive(Debug)]
pub enum SweepError {
    /// They are none, or those of another version.
    Batch(BatchError),
    /// The store cannot be written.
    Store(StoreError),
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SweepError::Batch(error) => error.fmt(f),
            SweepError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SweepError {}

impl From<BatchError> for SweepError {
    fn from(error: BatchError) -> SweepError {
        SweepError::Batch(error)
    }
}

impl From<StoreError> for SweepError {
    fn from(error: StoreError) -> SweepError {
        SweepError::Store(error)
    }
}

impl Sweep {
    /// No batch has more runs, however short they are: a batch and its results are held in memory.
    pub const MOST_RUNS: usize = 2_000;

    /// Begins with what a plan says is missing in a store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn new(engines: &Engines, plan: &Plan, store: &Store, workers: usize) -> Result<Sweep, StoreError> {
        let mut tasks: Vec<Task> = plan.of(EngineKind::Sim).cloned().collect();
        // The longest first, as in threads; but runs of a cell follow each other, since they share its scenario.
        tasks.sort_by(|a, b| {
            b.cost.cpu_s.total_cmp(&a.cost.cpu_s).then((a.cell, a.repeat).cmp(&(b.cell, b.repeat)))
        });
        pilots_first(&mut tasks, |task| (task.cell, task.cost.cpu_s));
        let now = Instant::now();
        let workers = workers.max(1);
        Ok(Sweep {
            engine: SharedEngine::clone(engines.of(EngineKind::Sim)),
            planned_s: tasks.iter().map(|task| task.cost.cpu_s).sum(),
            waiting: tasks.into(),
            out: HashMap::new(),
            tally: Tally::new(plan, workers),
            workers,
            cursor: store.cursor()?,
            begin: now,
            looked: now,
            stored: 0,
            ignored: 0,
        })
    }

    /// Says how many batches may be done at once from now on.
    pub fn set_workers(&mut self, workers: usize) {
        self.workers = workers.max(1);
    }

    /// Returns a batch that takes about this many CPU seconds, at least one run; none when all runs are handed out. Batches are
    /// smaller before the first results, when costs are only planned, and at the end, so that workers end together.
    pub fn next_batch(&mut self, seconds: f64) -> Option<Vec<u8>> {
        /// The part of what remains for a worker that one batch may have.
        const PART: f64 = 0.5;
        /// The part of a batch's time before any result.
        const FIRST: f64 = 0.25;
        let pace = self.tally.cpu_pace();
        let mut left_s = seconds * if pace.is_some() { 1.0 } else { FIRST };
        left_s = left_s.min(PART * self.planned_s * pace.unwrap_or(1.0) / self.workers as f64);
        let mut tasks: Vec<Task> = Vec::new();
        while let Some(task) = self.waiting.front() {
            let expected_s = self.tally.expected_s(task);
            if !tasks.is_empty() && (expected_s > left_s || tasks.len() == Sweep::MOST_RUNS) {
                break;
            }
            left_s -= expected_s;
            self.planned_s -= task.cost.cpu_s;
            tasks.extend(self.waiting.pop_front());
        }
        if tasks.is_empty() {
            return None;
        }
        let batch = batch::write(&*self.engine, &tasks);
        self.out.extend(tasks.into_iter().map(|task| (task.key, task)));
        Some(batch)
    }

    /// Stores results, all in one transaction. Results of runs that are stored already are ignored.
    ///
    /// # Errors
    /// If these are no results, or those of another version, or the store cannot be written; then nothing has changed.
    pub fn put(&mut self, store: &mut Store, results: &[u8]) -> Result<(), SweepError> {
        let returned = batch::read(results)?;
        self.look(store)?;
        let traces = store.traces();
        let (mut keys, mut runs) = (HashSet::new(), Vec::new());
        for mut one in returned {
            let Some(task) = self.out.get(&one.key).filter(|_| keys.insert(one.key)) else {
                self.ignored += 1;
                continue;
            };
            if let (Some((file, digest)), NewContent::Done { trace, .. }) =
                (one.trace.take(), &mut one.content)
            {
                *trace = Some(traces.write_encoded(one.key, &file, digest)?);
            }
            runs.push((one.key, one.into_run(task.spec(&*self.engine))));
        }
        let (keys, runs): (Vec<RunKey>, Vec<_>) = runs.into_iter().unzip();
        store.put_all(&runs)?;
        self.stored += runs.len();
        let elapsed = self.begin.elapsed();
        for (key, run) in keys.iter().zip(&runs) {
            if let Some(task) = self.out.remove(key) {
                self.tally.came_in(&task, run, elapsed);
            }
        }
        Ok(())
    }

    /// Returns how far it has come.
    pub fn status(&self) -> Status {
        self.tally.status(self.begin.elapsed())
    }

    /// Returns how many runs were handed out and are not stored.
    pub fn out(&self) -> usize {
        self.out.len()
    }

    /// Returns how many results were ignored, since they were there already.
    pub fn ignored(&self) -> usize {
        self.ignored
    }

    /// Returns what was done up to now.
    pub fn summary(&self) -> RunSummary {
        let mut ran = self.tally.ran.clone();
        ran.elapsed = self.begin.elapsed();
        ran.stopped = !self.waiting.is_empty() || !self.out.is_empty();
        ran
    }

    /// Checks periodically for runs that other processes have stored.
    fn look(&mut self, store: &Store) -> Result<(), StoreError> {
        if self.looked.elapsed() < LOOK {
            return Ok(());
        }
        self.looked = Instant::now();
        // What was stored here is among neither: `put` has removed it.
        let keys: HashSet<RunKey> = store.stored_since(&mut self.cursor)?.into_iter().collect();
        let mut others: Vec<Task> = keys.iter().filter_map(|key| self.out.remove(key)).collect();
        // To look at all that waits takes long when that is a million runs.
        if keys.len() > others.len() + std::mem::take(&mut self.stored) {
            let (gone, waiting) = self.waiting.drain(..).partition(|task| keys.contains(&task.key));
            self.waiting = waiting;
            others.extend::<VecDeque<Task>>(gone);
            self.planned_s = self.waiting.iter().map(|task| task.cost.cpu_s).sum();
        }
        self.tally.by_others(&others);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
