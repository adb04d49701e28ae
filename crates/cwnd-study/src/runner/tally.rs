//! Counts what is done, and tells how long the rest takes.

use super::{Plan, RunSummary, Running, Status, forecast::Forecast, plan::Task};
use crate::{
    EngineKind,
    store::{NewContent, NewRun},
};
use std::time::{Duration, Instant};

/// Counts what is done.
pub(super) struct Tally {
    pub ran: RunSummary,
    /// The engine whose runs are on.
    kind: EngineKind,
    simulated: Forecast,
    /// How long the simulator was at it, once its runs are over.
    simulated_in: Option<Duration>,
    real: Real,
    /// The run in real time that is on, with its expected seconds and when it began.
    running: Option<(usize, u32, f64, Instant)>,
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
        let simulated = plan.tasks.iter().filter(|task| !task.engine.is_real_time());
        let mut tally = Tally {
            ran: RunSummary { missing: plan.tasks.len(), ..RunSummary::default() },
            kind: EngineKind::Sim,
            simulated: Forecast::new(simulated.map(|task| (task.cell, task.cost.cpu_s)), jobs),
            simulated_in: None,
            real: Real::default(),
            running: None,
        };
        let real = plan.tasks.iter().filter(|task| task.engine.is_real_time());
        tally.real.expected_left = real.map(|task| task.cost.wall_s).sum();
        tally
    }

    /// The runs of an engine begin.
    pub fn phase(&mut self, kind: EngineKind, elapsed: Duration) {
        if kind.is_real_time() {
            self.simulated_in.get_or_insert(elapsed);
        }
        self.kind = kind;
    }

    /// A run has begun.
    pub fn began(&mut self, task: &Task, elapsed: Duration) {
        match task.engine.is_real_time() {
            true => self.running = Some((task.cell, task.repeat, task.cost.wall_s, Instant::now())),
            false => self.simulated.began(task.cell, task.cost.cpu_s, elapsed.as_secs_f64()),
        }
    }

    /// A run is over.
    pub fn done(&mut self, task: &Task, new: &NewRun, elapsed: Duration) {
        self.ran.done += 1;
        self.ran.cpu_s += new.cpu_s;
        if let NewContent::Failed(reason) = &new.content {
            self.ran.failures.push((task.cell, task.repeat, reason.clone()));
        }
        if !task.engine.is_real_time() {
            self.simulated.done(task.cell, task.cost.cpu_s, new.cpu_s, elapsed.as_secs_f64());
            return;
        }
        self.real.expected_left -= task.cost.wall_s;
        if let Some((_, _, expected, begin)) = self.running.take() {
            self.real.expected += expected;
            self.real.took += begin.elapsed().as_secs_f64();
        }
    }

    /// A simulated run was done elsewhere, and its result has just come in.
    pub fn came_in(&mut self, task: &Task, new: &NewRun, elapsed: Duration) {
        // When it began is not known; that it had a core is all that the forecast needs.
        let began = elapsed.saturating_sub(Duration::try_from_secs_f64(new.cpu_s).unwrap_or_default());
        self.began(task, began);
        self.done(task, new, elapsed);
    }

    /// Returns the CPU seconds that a simulated run takes, by what is known of its cell and of the others.
    pub fn expected_s(&self, task: &Task) -> f64 {
        self.simulated.expected(task.cell, task.cost.cpu_s)
    }

    /// Returns the CPU time that simulated runs take, as a multiple of what was planned; none before the first is done.
    pub fn cpu_pace(&self) -> Option<f64> {
        self.simulated.cpu_pace()
    }

    /// Other processes have done runs that had not begun here.
    pub fn by_others(&mut self, tasks: &[Task]) {
        self.ran.by_others += tasks.len();
        for task in tasks {
            match task.engine.is_real_time() {
                true => self.real.expected_left -= task.cost.wall_s,
                false => self.simulated.gone(task.cell, task.cost.cpu_s),
            }
        }
    }

    pub fn status(&self, elapsed: Duration) -> Status {
        let simulated = self.simulated.left(self.simulated_in.unwrap_or(elapsed).as_secs_f64());
        let left = simulated.map(|seconds| seconds + self.real.left(self.running));
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Status {
            total: self.ran.missing,
            stored: self.ran.done + self.ran.by_others,
            failed: self.ran.failures.len(),
            elapsed,
            left: left.map(seconds),
            pace: self.simulated.pace(),
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

impl Real {
    /// Seconds that the rest takes: what is expected, corrected by what it took so far, without what is behind.
    fn left(&self, running: Option<(usize, u32, f64, Instant)>) -> f64 {
        let worth = if self.expected > 0.0 { self.took / self.expected } else { 1.0 };
        let behind = running
            .map_or(0.0, |(_, _, expected, begin)| begin.elapsed().as_secs_f64().min(expected * worth));
        (self.expected_left.max(0.0) * worth - behind).max(0.0)
    }
}
