//! Runs scenarios on all cores, in whatever order, and gives the results in the order asked.

use crate::{failure::Failure, interrupt};
use cwnd_scenario::{Emulation, Engine, EngineError, Outcome, Scenario, Trace, metrics::RunMetrics};
use cwnd_study::{EngineKind, runner::Clock};
use serde::Serialize;
use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
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
    /// How well the network kept its times, if it was an emulated one.
    pub emulation: Option<Emulation>,
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
/// The first failure, or that the user has stopped it; tasks that have not begun by then are not run.
pub fn run(
    engine: &(dyn Engine + Send + Sync),
    kind: EngineKind,
    tasks: &[Task],
    threads: usize,
    progress: bool,
    scenario: impl Fn(&Task) -> Scenario + Sync,
) -> Result<Vec<Done>, Failure> {
    let next = AtomicUsize::new(0);
    let slots: Vec<OnceLock<Done>> = tasks.iter().map(|_| OnceLock::new()).collect();
    let failure: Mutex<Option<Failure>> = Mutex::new(None);
    let progress = Progress::new(tasks.len(), progress);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        if kind.is_real_time() {
            let expected = |index: usize| tasks.get(index).map(|task| scenario(task).duration.as_secs_f64());
            scope.spawn({
                let (progress, over) = (&progress, &over);
                move || progress.count_seconds(over, expected)
            });
        }
        for _ in 0..threads {
            scope.spawn(|| {
                let _over = Over(&over);
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(index) else { return };
                    match run_one(engine, &scenario(task), task) {
                        Ok(done) => {
                            slots[index].get_or_init(|| done);
                            progress.one_more();
                        }
                        Err(_) if kind.is_real_time() && interrupt::flag().load(Ordering::Relaxed) => {
                            next.store(tasks.len(), Ordering::Relaxed);
                            let stopped = Failure::stopped("stopped");
                            failure.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(stopped);
                            return;
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

fn run_one(engine: &dyn Engine, scenario: &Scenario, task: &Task) -> Result<Done, Failure> {
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
    let emulation = outcome.emulation.take();
    Ok(Done { seed: task.seed, metrics: RunMetrics::new(scenario, &outcome), trace, emulation, timing })
}

fn bottleneck_packets(scenario: &Scenario, outcome: &Outcome) -> u64 {
    outcome.links.get(scenario.network.bottleneck).map_or(0, |link| link.data_arrived)
}

/// Says that it is over when a thread ends, however it does.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
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

    /// Counts the seconds of runs in real time, one after the other, until it is over: who looks sees that something
    /// happens.
    fn count_seconds(&self, over: &AtomicBool, expected: impl Fn(usize) -> Option<f64>) {
        let (mut run, mut begin) = (0, Instant::now());
        while self.shown && !over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(100));
            let done = self.done.load(Ordering::Relaxed);
            if done != run {
                (run, begin) = (done, Instant::now());
            }
            if let Some(expected) = expected(run) {
                let elapsed = begin.elapsed().as_secs();
                let _ = write!(
                    io::stderr(),
                    "\r\x1b[K  {done} of {} runs done; {elapsed} of {:.0} s",
                    self.total,
                    expected.ceil()
                );
            }
        }
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
