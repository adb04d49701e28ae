//! Runs what a store has not yet of a study.
//!
//! Threads take runs: first one of each cell, which tell how long the others will take, then the one expected to take
//! longest first, so that at the end none has all the others wait for it. A thread for which no run is left is spare: a run in
//! progress may use it. A run begins only when the memory that it may need is free. The thread that called stores what comes back, and
//! tells a [`Progress`]. Runs that end within 20 ms of each other share a transaction. When no run of the simulator is left, those in real time are done, one at a
//! time and with nothing beside them.
//!
//! When it is to stop, it stops soon: what was stored is safe, and the simulator's runs in progress end without an outcome. A
//! run in real time has made things on the machine that must go again: its engine knows of the wish to stop as well, ends
//! the run, and is waited for; such a run counts as not done.
//!
//! [`Sweep`] has the runs done elsewhere instead: it hands them out in [batches](batch), which any process can run, and stores
//! what comes back.
//!
//! Another process may run the same study in the same store. Each notices what the other has stored; where both take up the
//! same run of the simulator, they store the same bytes.

pub mod batch;
mod clock;
mod forecast;
mod panics;
mod plan;
mod pool;
mod sweep;
mod tally;

pub use plan::{Checked, Plan, check, plan, plan_checked};

use crate::{
    EngineKind, Engines, RunKey, StoreError,
    memory::TooMuchMemory,
    sampled,
    store::{Counts, CountsForm, NewContent, NewRun, Store, TraceStore},
};
pub use clock::Clock;
use cwnd_scenario::{Engine, EngineError, Helpers, Problem, Scenario, SpareThreads, Trace};
use plan::Task;
use pool::Pool;
use std::{
    collections::HashSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
pub use sweep::{Sweep, SweepError};
use tally::Tally;

/// What runs may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// How many threads work, at least 1. Each does a run; those for which no run is left help with the runs in progress.
    pub threads: usize,
    /// Memory that those which run at once may need together, bytes.
    pub memory: f64,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Status {
    /// Runs that were missing at the beginning.
    pub total: usize,
    /// Of these, stored by now, those of other processes included.
    pub stored: usize,
    /// Of the stored ones, those that failed here.
    pub failed: usize,
    /// Since the beginning.
    pub elapsed: Duration,
    /// Until the end, about; none before the first run of a simulator is stored, if one is to be done.
    pub left: Option<Duration>,
    /// How long simulated runs take, as a multiple of what was planned; none before the first is stored.
    pub pace: Option<f64>,
    /// The run in real time that is on, if one is.
    pub running: Option<Running>,
}

/// A run in real time that is on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    /// What answers it.
    pub engine: EngineKind,
    /// Index into [`Study::cells`](crate::Study::cells).
    pub cell: usize,
    /// From 0.
    pub repeat: u32,
    /// Since it began.
    pub elapsed: Duration,
    /// How long it takes, about.
    pub expected: Duration,
}

/// Is told how far it has come.
pub trait Progress {
    /// After each run, and some times a second.
    fn update(&mut self, status: &Status);
}

/// Reports nothing.
impl Progress for () {
    fn update(&mut self, _: &Status) {}
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
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
    /// A run of this cell, the largest, may need more memory than there is for it.
    TooLarge {
        /// Index into [`Study::cells`](crate::Study::cells).
        cell: usize,
        /// How much it needs, and how much there is.
        memory: TooMuchMemory,
    },
    /// The store does.
    Store(StoreError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Refused { problems, .. } => EngineError::Refused(problems.clone()).fmt(f),
            RunError::TooLarge { memory, .. } => write!(f, "one run is too large: {memory}"),
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

/// Runs that end within this time are stored in one transaction: one for each run costs more than a run of a millisecond.
const TOGETHER: Duration = Duration::from_millis(20);

/// How long runs that nobody wants any more may take to end. Those of an engine that does not look at it are left behind.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often to look for what other processes have stored.
const LOOK: Duration = Duration::from_millis(250);

/// Does all runs of a plan, and stores each. Ends early once `stop` is true, which an engine in real time must know of as
/// well.
///
/// # Errors
/// If the store cannot be written; what was stored is safe, and `stop` is set if a run in real time was on. A run that
/// fails is no error.
pub fn run(
    engines: &Engines,
    plan: &Plan,
    store: &mut Store,
    limits: Limits,
    progress: &mut dyn Progress,
    stop: &AtomicBool,
) -> Result<RunSummary, RunError> {
    let begin = Instant::now();
    let threads = limits.threads.max(1);
    let pool = |kind| Arc::new(Pool::new(plan.of(kind).cloned().collect(), limits.memory));
    let pools: Vec<(EngineKind, Arc<Pool>)> =
        plan.engines().into_iter().map(|kind| (kind, pool(kind))).collect();
    let cursor = store.cursor()?;
    let tally = Tally::new(plan, threads);
    let mut session = Session {
        store,
        pools,
        tally,
        cursor,
        begin,
        told: begin,
        looked: begin,
        unstored: Vec::new(),
        stored: begin,
        own: HashSet::new(),
        progress,
        stop,
    };
    let mut result = Ok(());
    for kind in plan.engines() {
        result = session.runs_of(kind, engines, if kind.is_real_time() { 1 } else { threads });
        if result.is_err() || session.tally.ran.stopped {
            break;
        }
    }
    session.tell();
    let mut ran = session.tally.ran;
    ran.elapsed = begin.elapsed();
    result.map(|()| ran).map_err(RunError::Store)
}

/// What the calling thread works with.
struct Session<'a> {
    store: &'a mut Store,
    /// The runs that wait, for each engine.
    pools: Vec<(EngineKind, Arc<Pool>)>,
    tally: Tally,
    /// What of the store has been looked at.
    cursor: i64,
    begin: Instant,
    told: Instant,
    looked: Instant,
    /// What is done and not stored yet, with the time at which each run ended.
    unstored: Vec<(Task, NewRun, Instant)>,
    /// When runs were last stored.
    stored: Instant,
    /// What was stored here since other processes' runs were looked for.
    own: HashSet<RunKey>,
    progress: &'a mut dyn Progress,
    stop: &'a AtomicBool,
}

impl Session<'_> {
    /// Does all runs of an engine.
    fn runs_of(&mut self, kind: EngineKind, engines: &Engines, threads: usize) -> Result<(), StoreError> {
        let Some(pool) = self.pools.iter().find(|(of, _)| *of == kind).map(|(_, pool)| Arc::clone(pool))
        else {
            return Ok(());
        };
        self.tally.phase(kind, self.begin.elapsed());
        let (sender, receiver) = mpsc::sync_channel(4 * threads);
        let runs = threads.min(pool.waiting());
        let spare = SpareThreads::new(threads - runs);
        // No outcome is wanted any more: runs end without one.
        let ended = Arc::new(AtomicBool::new(false));
        let workers: Vec<_> = (0..runs)
            .map(|_| {
                let (engine, pool, sender) =
                    (Arc::clone(engines.of(kind)), Arc::clone(&pool), sender.clone());
                let (spare, ended) = (spare.clone(), Arc::clone(&ended));
                let (traces, form) = (self.store.traces(), self.store.counts_form());
                panics::spawn(move || {
                    work(&*engine, &pool, &traces, form, &Given { spare: spare.clone(), ended }, &sender);
                    // The runs of the others may use this thread now.
                    spare.add(1);
                })
            })
            .collect();
        drop(sender);
        let result = loop {
            match receiver.recv_timeout(if self.unstored.is_empty() { TICK } else { TOGETHER }) {
                Ok(message) => {
                    if let Err(error) = self.take(message) {
                        break Err(error);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let stored = if self.stored.elapsed() >= TOGETHER { self.store_done() } else { Ok(()) };
            if let Err(error) = stored.and_then(|()| self.look()) {
                break Err(error);
            }
            if self.told.elapsed() >= TICK {
                self.tell();
            }
            if self.stop.load(Ordering::Relaxed) {
                self.tally.ran.stopped = true;
                break Ok(());
            }
        };
        pool.close();
        let unwanted = result.is_err() || self.tally.ran.stopped;
        ended.store(unwanted, Ordering::Relaxed);
        if kind.is_kernels() && unwanted {
            self.stop.store(true, Ordering::Relaxed);
            // It ends by itself now. If it was over already, it is kept.
            for message in receiver {
                result.as_ref().map_or(Ok(()), |()| self.take(message))?;
            }
            workers.into_iter().for_each(|worker| drop(worker.join()));
        } else if unwanted {
            // None of them waits for its message to be taken.
            drop(receiver);
            let begin = Instant::now();
            while !workers.iter().all(JoinHandle::is_finished) && begin.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(1));
            }
        } else {
            // They have nothing more to do: the channel was closed by the last of them.
            workers.into_iter().for_each(|worker| drop(worker.join()));
        }
        result.and_then(|()| self.store_done())
    }

    /// Receives what a thread has done.
    fn take(&mut self, message: Message) -> Result<(), StoreError> {
        match message {
            Message::Began(task, at) => self.tally.began(&task, at.duration_since(self.begin)),
            Message::Done(task, done, at) => {
                let new = done?;
                let failed = matches!(new.content, NewContent::Failed(_));
                if failed && task.engine.is_kernels() && self.stop.load(Ordering::Relaxed) {
                    // It did not fail: it was ended.
                    return Ok(());
                }
                let real_time = task.engine.is_real_time();
                self.unstored.push((task, *new, at));
                if real_time {
                    // It took long, and the next one begins.
                    self.store_done()?;
                }
            }
        }
        Ok(())
    }

    /// Stores what is done, all of it in one transaction.
    fn store_done(&mut self) -> Result<(), StoreError> {
        self.stored = Instant::now();
        if self.unstored.is_empty() {
            return Ok(());
        }
        self.store.put_all(self.unstored.iter().map(|(_, run, _)| run))?;
        for (task, run, at) in self.unstored.drain(..) {
            self.own.insert(task.key);
            self.tally.done(&task, &run, at.duration_since(self.begin));
        }
        Ok(())
    }

    /// Checks periodically for runs that other processes have stored.
    fn look(&mut self) -> Result<(), StoreError> {
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            let mut keys = self.store.stored_since(&mut self.cursor)?;
            // To look for them among all that waits takes long when that is a million runs.
            keys.retain(|key| !self.own.contains(key));
            self.own.clear();
            for (_, pool) in &self.pools {
                self.tally.by_others(&pool.remove(&keys));
            }
        }
        Ok(())
    }

    fn tell(&mut self) {
        self.told = Instant::now();
        self.progress.update(&self.tally.status(self.begin.elapsed()));
    }
}

/// What a thread tells.
enum Message {
    /// A run has begun, at this time.
    Began(Task, Instant),
    /// A run is over, since this time.
    Done(Task, Result<Box<NewRun>, StoreError>, Instant),
}

/// What runs are given besides their scenarios.
#[derive(Default)]
struct Given {
    spare: SpareThreads,
    /// Becomes true when no outcome is wanted any more.
    ended: Arc<AtomicBool>,
}

impl Given {
    /// What one run is given.
    fn helpers(&self) -> Helpers {
        Helpers::new(&self.spare, Clock::of_thread).stopped_by(&self.ended)
    }
}

/// What a thread does: one run after the other, until there are none or nobody listens.
fn work(
    engine: &dyn Engine,
    pool: &Pool,
    traces: &TraceStore,
    form: CountsForm,
    given: &Given,
    to: &mpsc::SyncSender<Message>,
) {
    while let Some(task) = pool.take() {
        if to.send(Message::Began(task.clone(), Instant::now())).is_err() {
            return;
        }
        let done = run_one(engine, &task, traces, form, given);
        pool.give_back(&task);
        if to.send(Message::Done(task, done.map(Box::new), Instant::now())).is_err() {
            return;
        }
    }
}

/// One run. Whatever goes wrong in it is a failure of this run alone; only a trace that cannot be written is more.
fn run_one(
    engine: &dyn Engine,
    task: &Task,
    traces: &TraceStore,
    form: CountsForm,
    given: &Given,
) -> Result<NewRun, StoreError> {
    let scenario = task.scenario();
    let (mut content, found, cpu_s) = simulate(engine, &scenario, form, task.traced, given);
    if let (NewContent::Done { trace, .. }, Some(found)) = (&mut content, found) {
        *trace = Some(traces.write(task.key, &scenario, found)?);
    }
    Ok(NewRun { key: task.key, spec: task.spec(engine), content, cpu_s })
}

/// What came of a run, still without its trace, the trace if it is to be kept, and CPU seconds. It may use spare threads.
fn simulate(
    engine: &dyn Engine,
    scenario: &Arc<Scenario>,
    form: CountsForm,
    traced: bool,
    given: &Given,
) -> (NewContent, Option<Trace>, f64) {
    let (clock, helpers) = (Clock::start(), given.helpers());
    let seconds = || clock.seconds() + helpers.cpu_time().as_secs_f64();
    let failed = |reason: String| (NewContent::Failed(reason), None, seconds());
    let mut outcome = match panics::caught(|| engine.run_with_helpers(scenario, &helpers)) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => return failed(error.to_string()),
        Err(panic) => return failed(panic),
    };
    let cpu_s = seconds();
    let measured = panics::caught(|| {
        let sampled = sampled::metrics(scenario, &mut outcome);
        let trace = outcome.trace.take().filter(|_| traced);
        Ok::<_, String>((Counts::new(form, scenario, outcome)?, sampled, trace))
    });
    match measured {
        Ok(Ok((counts, sampled, trace))) => (NewContent::Done { counts, sampled, trace: None }, trace, cpu_s),
        Ok(Err(reason)) | Err(reason) => failed(reason),
    }
}

#[cfg(test)]
mod tests;
