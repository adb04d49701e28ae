//! Counts what is done, and tells how long the rest takes.

use super::{Plan, RunSummary, Running, Status, plan::Task};
use crate::{
    EngineKind,
    store::{NewContent, NewRun},
};
use std::time::{Duration, Instant};

/// Counts what is done.
pub(super) struct Tally {
    pub ran: RunSummary,
    jobs: f64,
    /// The engine whose runs are on.
    kind: EngineKind,
    simulated: Simulated,
    real: Real,
    /// The run in real time that is on, with its expected seconds and when it began.
    running: Option<(usize, u32, f64, Instant)>,
}

/// Runs of which some are done at once, in whatever time they take.
#[derive(Default)]
struct Simulated {
    /// How many are not stored yet.
    missing: usize,
    /// How many were done here.
    done: usize,
    /// CPU seconds that are expected of all that is not stored yet.
    expected_left: f64,
    /// CPU seconds that were expected of what was done here, and that it took.
    expected: f64,
    took: f64,
    /// How long they were at it, once they are over.
    elapsed: Option<Duration>,
}

/// Runs in real time, one after the other.
#[derive(Default)]
struct Real {
    /// Seconds that are expected of all that is not stored yet.
    expected_left: f64,
    /// Seconds that were expected of what was done here, and that it took.
    expected: f64,
    took: f64,
}

impl Tally {
    pub fn new(plan: &Plan, jobs: usize) -> Tally {
        let mut tally = Tally {
            ran: RunSummary { missing: plan.tasks.len(), ..RunSummary::default() },
            jobs: jobs as f64,
            kind: EngineKind::Sim,
            simulated: Simulated::default(),
            real: Real::default(),
            running: None,
        };
        for task in &plan.tasks {
            match task.engine.is_real_time() {
                true => tally.real.expected_left += task.cost.wall_s,
                false => {
                    tally.simulated.missing += 1;
                    tally.simulated.expected_left += task.cost.cpu_s;
                }
            }
        }
        tally
    }

    /// The runs of an engine begin.
    pub fn phase(&mut self, kind: EngineKind, elapsed: Duration) {
        if kind.is_real_time() {
            self.simulated.elapsed.get_or_insert(elapsed);
        }
        self.kind = kind;
    }

    /// A run in real time has begun.
    pub fn began(&mut self, task: &Task) {
        self.running = Some((task.cell, task.repeat, task.cost.wall_s, Instant::now()));
    }

    pub fn done(&mut self, task: &Task, new: &NewRun) {
        self.ran.done += 1;
        self.ran.cpu_s += new.cpu_s;
        if let NewContent::Failed(reason) = &new.content {
            self.ran.failures.push((task.cell, task.repeat, reason.clone()));
        }
        self.stored(task);
        match self.running.take().filter(|_| task.engine.is_real_time()) {
            Some((_, _, expected, begin)) => {
                self.real.expected += expected;
                self.real.took += begin.elapsed().as_secs_f64();
            }
            None => {
                self.simulated.done += 1;
                self.simulated.expected += task.cost.cpu_s;
                self.simulated.took += new.cpu_s;
            }
        }
    }

    pub fn by_others(&mut self, tasks: &[Task]) {
        self.ran.by_others += tasks.len();
        tasks.iter().for_each(|task| self.stored(task));
    }

    fn stored(&mut self, task: &Task) {
        match task.engine.is_real_time() {
            true => self.real.expected_left -= task.cost.wall_s,
            false => {
                self.simulated.missing = self.simulated.missing.saturating_sub(1);
                self.simulated.expected_left -= task.cost.cpu_s;
            }
        }
    }

    pub fn status(&self, elapsed: Duration) -> Status {
        let simulated = self.simulated.left(self.jobs, elapsed);
        let left = simulated.map(|seconds| seconds + self.real.left(self.running));
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Status {
            total: self.ran.missing,
            stored: self.ran.done + self.ran.by_others,
            failed: self.ran.failures.len(),
            elapsed,
            left: left.map(seconds),
            running: self.running.map(|(cell, repeat, expected, begin)| Running {
                engine: self.kind,
                cell,
                repeat,
                elapsed: begin.elapsed(),
                expected: seconds(expected),
            }),
        }
    }
}

impl Simulated {
    /// Seconds that the rest takes; none if nothing tells it yet. The engine's estimates are upper bounds, and threads may
    /// have to share their cores: what both were worth so far is held against what is left.
    fn left(&self, jobs: f64, elapsed: Duration) -> Option<f64> {
        if self.done == 0 {
            return (self.missing == 0).then_some(0.0);
        }
        let worth = self.took / self.expected.max(f64::MIN_POSITIVE);
        // Runs in progress are half done, about.
        let begun = 1.0 + 0.5 * jobs / self.done as f64;
        let elapsed = self.elapsed.unwrap_or(elapsed).as_secs_f64();
        let waiting = elapsed * jobs / (self.took * begun).max(f64::MIN_POSITIVE);
        Some(self.expected_left.max(0.0) * worth / jobs * waiting.max(1.0))
    }
}

impl Real {
    /// Seconds that the rest takes: what is expected, corrected by what it took so far, without what is behind.
    fn left(&self, running: Option<(usize, u32, f64, Instant)>) -> f64 {
        let worth = if self.expected > 0.0 { self.took / self.expected } else { 1.0 };
        let behind = running
            .map_or(0.0, |(_, _, expected, begin)| begin.elapsed().as_secs_f64().min(expected * worth));
        (self.expected_left.max(0.0) * worth - behind).max(0.0)
    }
}
