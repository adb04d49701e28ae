//! Runs what a store has not yet of a study.
//!
//! Threads take runs, the one expected to take longest first, so that at the end none has all the others wait for it;
//! a run begins only when the memory that it may need is free. The thread that called stores what comes back, one
//! transaction a run, and tells a [`Progress`].
//!
//! When it is to stop, it stops at once: what was stored is safe, and the runs in progress are left behind. Another
//! process may run the same study in the same store. Each notices what the other has stored; where both take up the
//! same run, they store the same bytes.

mod clock;
mod panics;
mod plan;
mod pool;

pub use plan::{Plan, check, plan};

use crate::store::{NewContent, NewRun, Store, StoreError, StoredTrace, encode, sampled_metrics};
pub use clock::Clock;
use cwnd_scenario::{Engine, EngineError, Problem};
use plan::Task;
use pool::Pool;
use std::{
    fmt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

/// What runs may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// How many run at once, at least 1.
    pub jobs: usize,
    /// Memory that those which run at once may need together, bytes.
    pub memory: f64,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// Runs that were missing at the beginning.
    pub total: usize,
    /// Of these, stored by now, those of other processes included.
    pub stored: usize,
    /// Of the stored ones, those that failed here.
    pub failed: usize,
    /// Since the beginning.
    pub elapsed: Duration,
    /// Until the end, about; none before the first run is stored.
    pub left: Option<Duration>,
}

/// Is told how far it has come.
pub trait Progress {
    /// After each run, and some times a second.
    fn update(&mut self, status: &Status);
}

/// Nothing is told.
impl Progress for () {
    fn update(&mut self, _: &Status) {}
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ran {
    /// Runs that were missing at the beginning.
    pub missing: usize,
    /// Runs that were done here and stored, failed ones included.
    pub done: usize,
    /// Runs that another process stored meanwhile.
    pub by_others: usize,
    /// The runs that failed here: the cell, the repeat and the reason.
    pub failures: Vec<(usize, u32, String)>,
    /// CPU time of all runs that were done here, seconds.
    pub cpu_s: f64,
    /// How long it took.
    pub elapsed: Duration,
    /// Whether it was stopped before all was done.
    pub stopped: bool,
}

/// Why a study cannot be run (to its end).
#[derive(Debug)]
pub enum RunError {
    /// The engine does not take a cell.
    Refused {
        /// Index into [`Study::cells`](crate::Study::cells).
        cell: usize,
        /// Everything that is wrong with it.
        problems: Vec<Problem>,
    },
    /// A run of this cell may need so much memory, bytes, which is more than the limit.
    TooLarge {
        /// Index into [`Study::cells`](crate::Study::cells).
        cell: usize,
        /// Bytes.
        memory: f64,
    },
    /// The store does.
    Store(StoreError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Refused { problems, .. } => EngineError::Refused(problems.clone()).fmt(f),
            RunError::TooLarge { memory, .. } => {
                write!(
                    f,
                    "one run may need about {:.1} GB of memory, which is more than there is for it",
                    memory / 1e9
                )
            }
            RunError::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> RunError {
        RunError::Store(error)
    }
}

/// How often to look for a wish to stop, and to tell the progress.
const TICK: Duration = Duration::from_millis(100);

/// How often to look for what other processes have stored.
const LOOK: Duration = Duration::from_millis(250);

/// Does all runs of a plan, and stores each. Ends early, leaving runs in progress behind, once `stop` is true.
///
/// # Errors
/// If the store cannot be written; what was stored is safe. A run that fails is no error.
pub fn run<E: Engine + Send + Sync + 'static>(
    engine: &Arc<E>,
    plan: &Plan,
    store: &mut Store,
    limits: Limits,
    progress: &mut dyn Progress,
    stop: &AtomicBool,
) -> Result<Ran, RunError> {
    let begin = Instant::now();
    let mut tally = Tally::new(plan, limits.jobs.max(1));
    let mut cursor = store.cursor()?;
    let pool = Arc::new(Pool::new(plan.tasks.clone(), limits.memory));
    let (sender, receiver) = mpsc::sync_channel(4 * limits.jobs.max(1));
    let workers: Vec<_> = (0..limits.jobs.clamp(1, plan.tasks.len().max(1)))
        .map(|_| {
            let (engine, pool, sender) = (Arc::clone(engine), Arc::clone(&pool), sender.clone());
            let directory = store.directory().to_owned();
            panics::spawn(move || work(&*engine, &pool, &directory, &sender))
        })
        .collect();
    drop(sender);

    let (mut told, mut looked) = (begin, begin);
    let result = loop {
        let message = receiver.recv_timeout(TICK);
        let finished = matches!(message, Err(RecvTimeoutError::Disconnected));
        if let Ok((task, done)) = message {
            let stored = done.and_then(|new| store.put(task.key, &new).map(|()| new));
            match stored {
                Ok(new) => tally.done(&task, &new),
                Err(error) => break Err(error),
            }
        }
        if finished {
            break Ok(());
        }
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            match store.stored_since(&mut cursor) {
                Ok(keys) => tally.by_others(&pool.remove(&keys)),
                Err(error) => break Err(error),
            }
        }
        if told.elapsed() >= TICK {
            told = Instant::now();
            progress.update(&tally.status(begin.elapsed()));
        }
        if stop.load(Ordering::Relaxed) {
            tally.ran.stopped = true;
            break Ok(());
        }
    };
    pool.close();
    if result.is_ok() && !tally.ran.stopped {
        // They have nothing more to do: the channel was closed by the last of them.
        workers.into_iter().for_each(|worker| drop(worker.join()));
    }
    progress.update(&tally.status(begin.elapsed()));
    tally.ran.elapsed = begin.elapsed();
    result.map(|()| tally.ran).map_err(RunError::Store)
}

type Message = (Task, Result<NewRun, StoreError>);

/// What a thread does: one run after the other, until there are none or nobody listens.
fn work(engine: &impl Engine, pool: &Pool, directory: &Path, to: &mpsc::SyncSender<Message>) {
    while let Some(task) = pool.take() {
        let done = run_one(engine, &task, directory);
        pool.give_back(&task);
        if to.send((task, done)).is_err() {
            return;
        }
    }
}

/// One run. Whatever goes wrong in it is a failure of this run alone; only a trace that cannot be written is more.
fn run_one(engine: &impl Engine, task: &Task, directory: &Path) -> Result<NewRun, StoreError> {
    let scenario = task.scenario();
    let clock = Clock::start();
    let failed = |reason: String| NewRun { content: NewContent::Failed(reason), cpu_s: clock.seconds() };
    let mut outcome = match panics::caught(|| engine.run(&scenario)) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => return Ok(failed(error.to_string())),
        Err(panic) => return Ok(failed(panic)),
    };
    let cpu_s = clock.seconds();
    let measured = panics::caught(|| {
        let counts = encode(&scenario, &outcome)?;
        Ok::<_, String>((counts, sampled_metrics(&scenario, &mut outcome)))
    });
    let (counts, sampled) = match measured {
        Ok(Ok(measured)) => measured,
        Ok(Err(reason)) | Err(reason) => return Ok(failed(reason)),
    };
    let trace = match outcome.trace.as_ref().filter(|_| task.traced) {
        Some(trace) => Some(StoredTrace::write(directory, task.key, &scenario, trace)?),
        None => None,
    };
    Ok(NewRun { content: NewContent::Done { counts, sampled, trace }, cpu_s })
}

/// Counts what is done.
struct Tally {
    ran: Ran,
    jobs: f64,
    /// CPU seconds that are expected of all that is not stored yet.
    expected_left: f64,
    /// CPU seconds that were expected of what was done here, and that it took.
    expected: f64,
}

impl Tally {
    fn new(plan: &Plan, jobs: usize) -> Tally {
        Tally {
            ran: Ran { missing: plan.tasks.len(), ..Ran::default() },
            jobs: jobs as f64,
            expected_left: plan.tasks.iter().map(|task| task.cost.cpu_s).sum(),
            expected: 0.0,
        }
    }

    fn done(&mut self, task: &Task, new: &NewRun) {
        self.ran.done += 1;
        self.ran.cpu_s += new.cpu_s;
        self.expected += task.cost.cpu_s;
        self.expected_left -= task.cost.cpu_s;
        if let NewContent::Failed(reason) = &new.content {
            self.ran.failures.push((task.cell, task.repeat, reason.clone()));
        }
    }

    fn by_others(&mut self, tasks: &[Task]) {
        self.ran.by_others += tasks.len();
        self.expected_left -= tasks.iter().map(|task| task.cost.cpu_s).sum::<f64>();
    }

    /// The engine's estimates are upper bounds, and threads may have to share their cores: what both were worth so far is
    /// held against what is left.
    fn status(&self, elapsed: Duration) -> Status {
        let worth = self.ran.cpu_s / self.expected.max(f64::MIN_POSITIVE);
        // Runs in progress are half done, about.
        let begun = 1.0 + 0.5 * self.jobs / self.ran.done.max(1) as f64;
        let waiting = elapsed.as_secs_f64() * self.jobs / (self.ran.cpu_s * begun).max(f64::MIN_POSITIVE);
        let left = self.expected_left.max(0.0) * worth / self.jobs * waiting.max(1.0);
        Status {
            total: self.ran.missing,
            stored: self.ran.done + self.ran.by_others,
            failed: self.ran.failures.len(),
            elapsed,
            left: (self.ran.done > 0).then(|| Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX)),
        }
    }
}

#[cfg(test)]
mod tests;
