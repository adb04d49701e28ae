//! Runs scenarios on all cores, in whatever order, and gives the results in the order asked.

use crate::failure::Failure;
use cwnd_scenario::{Engine, EngineError, Outcome, Scenario, Trace, metrics::RunMetrics};
use cwnd_study::runner::Clock;
use serde::Serialize;
use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// One run to be done.
#[derive(Clone, Copy)]
pub struct Task {
    /// Which plan it is of.
    pub plan: usize,
    /// Its seed.
    pub seed: u64,
    /// Whether its samples are kept.
    pub sampled: bool,
}

/// A run that is done.
pub struct Done {
    /// Its seed.
    pub seed: u64,
    /// Its metrics.
    pub metrics: RunMetrics,
    /// Its samples, if they were asked for.
    pub trace: Option<Trace>,
    /// What it cost.
    pub timing: Timing,
}

/// What a run cost.
#[derive(Clone, Copy, Serialize)]
pub struct Timing {
    /// CPU time of the thread that ran it, seconds.
    pub cpu_s: f64,
    /// The same for each data packet that arrived at the bottleneck's queue, nanoseconds.
    pub cpu_ns_per_packet: Option<f64>,
    /// How many such packets there were.
    #[serde(skip)]
    pub packets: u64,
}

/// Run all tasks on so many threads. The results are in the order of the tasks, whoever ran them.
///
/// # Errors
/// The first failure; tasks that have not begun by then are not run.
pub fn run<E: Engine + Sync>(
    engine: &E,
    tasks: &[Task],
    threads: usize,
    progress: bool,
    scenario: impl Fn(&Task) -> Scenario + Sync,
) -> Result<Vec<Done>, Failure> {
    let next = AtomicUsize::new(0);
    let slots: Vec<OnceLock<Done>> = tasks.iter().map(|_| OnceLock::new()).collect();
    let failure: Mutex<Option<Failure>> = Mutex::new(None);
    let progress = Progress::new(tasks.len(), progress);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(index) else { return };
                    match run_one(engine, &scenario(task), task) {
                        Ok(done) => {
                            slots[index].get_or_init(|| done);
                            progress.one_more();
                        }
                        Err(error) => {
                            next.store(tasks.len(), Ordering::Relaxed);
                            failure.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(error);
                            return;
                        }
                    }
                }
            });
        }
    });
    progress.clear();
    if let Some(failure) = failure.into_inner().unwrap_or_else(|e| e.into_inner()) {
        return Err(failure);
    }
    Ok(slots.into_iter().filter_map(OnceLock::into_inner).collect())
}

/// The results of each plan, its repeats in order.
pub fn by_plan<'a>(plans: usize, tasks: &[Task], done: &'a [Done]) -> Vec<Vec<&'a Done>> {
    let mut results: Vec<Vec<&Done>> = vec![Vec::new(); plans];
    for (task, done) in tasks.iter().zip(done) {
        results[task.plan].push(done);
    }
    results
}

fn run_one(engine: &impl Engine, scenario: &Scenario, task: &Task) -> Result<Done, Failure> {
    let clock = Clock::start();
    let mut outcome = engine.run(scenario).map_err(|error| match error {
        EngineError::Refused(problems) => Failure::problems(&problems),
        EngineError::Failed(why) => Failure::broken(format!("the run with seed {} failed: {why}", task.seed)),
    })?;
    let cpu_s = clock.seconds();
    let packets = bottleneck_packets(scenario, &outcome);
    let timing =
        Timing { cpu_s, cpu_ns_per_packet: (packets > 0).then(|| cpu_s * 1e9 / packets as f64), packets };
    let trace = outcome.trace.take();
    Ok(Done { seed: task.seed, metrics: RunMetrics::new(scenario, &outcome), trace, timing })
}

fn bottleneck_packets(scenario: &Scenario, outcome: &Outcome) -> u64 {
    outcome.links.get(scenario.network.bottleneck).map_or(0, |link| link.data_arrived)
}

/// A line on standard error that counts finished runs, if a person looks at it.
struct Progress {
    total: usize,
    done: AtomicUsize,
    shown: bool,
}

impl Progress {
    fn new(total: usize, wanted: bool) -> Progress {
        let progress =
            Progress { total, done: AtomicUsize::new(0), shown: wanted && io::stderr().is_terminal() };
        progress.show(0);
        progress
    }

    fn one_more(&self) {
        self.show(self.done.fetch_add(1, Ordering::Relaxed) + 1);
    }

    fn show(&self, done: usize) {
        if self.shown {
            // A terminal that refuses is no reason to stop.
            let _ = write!(io::stderr(), "\r\x1b[K  {done} of {} runs done", self.total);
        }
    }

    fn clear(&self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
