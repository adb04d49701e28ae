//! Starting and stopping studies, and their progress.

use crate::{
    refusal::Refusal,
    stores::Stores,
    tickets::{Ticket, Tickets},
    workbench::{StudyOrder, Workbench},
};
use cwnd_study::{
    Study,
    runner::{Progress, RunSummary, Status},
};
use serde::Serialize;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};
use tokio::sync::watch;

/// How far a study is, as pages read it.
#[derive(Clone, Debug, Serialize)]
pub struct StudyProgress {
    /// The number of its store.
    store: usize,
    phase: Phase,
    /// Runs that the store lacked when it began.
    total: usize,
    /// Of these, stored by now.
    stored: usize,
    /// Of these, failed.
    failed: usize,
    elapsed_s: f64,
    left_s: Option<f64>,
    /// What runs in real time now: its cell and repeat.
    running: Option<String>,
    /// Why it failed, or what came of it.
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Phase {
    Running,
    Stopping,
    Done,
    Stopped,
    Failed,
}

/// The study that is on, if one is.
pub struct StudyRuns {
    stores: Arc<Stores>,
    workbench: Arc<dyn Workbench>,
    tickets: Tickets,
    progress: watch::Sender<Option<StudyProgress>>,
    current: Mutex<Option<Current>>,
}

struct Current {
    store: usize,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl StudyRuns {
    /// Creates it, with nothing on.
    pub fn new(stores: Arc<Stores>, workbench: Arc<dyn Workbench>, tickets: Tickets) -> StudyRuns {
        StudyRuns {
            stores,
            workbench,
            tickets,
            progress: watch::Sender::new(None),
            current: Mutex::default(),
        }
    }

    /// Returns the progress: a receiver sees the latest state, and misses those that came while it was slow.
    pub fn progress(&self) -> watch::Receiver<Option<StudyProgress>> {
        self.progress.subscribe()
    }

    /// Starts what is missing of a study, or continues it. This reads files.
    ///
    /// # Errors
    /// If something else is on, or the study cannot be read.
    pub fn start(&self, store: usize) -> Result<(), Refusal> {
        let directory = self.stores.place(store)?.directory.clone();
        let mut current = self.lock();
        let ticket = self.tickets.study()?;
        let stored = self.stores.study_to_run(store).map_err(|why| Refusal::conflict(&why))?;
        let study = Study::clone(&stored.study);
        let labels = (0..study.cells.len()).map(|cell| study.cell_label(cell)).collect();
        let order = StudyOrder { study, directory, command: stored.command };
        let stop = Arc::new(AtomicBool::new(false));
        self.progress.send_replace(Some(StudyProgress::begin(store)));
        let telling = Telling { store, labels, sender: self.progress.clone(), stop: Arc::clone(&stop) };
        let workbench = Arc::clone(&self.workbench);
        let stopping = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("study".to_owned())
            .spawn(move || run(&*workbench, order, telling, &stopping, ticket))
            .map_err(|error| Refusal::broken(&format!("no thread can be started: {error}")))?;
        *current = Some(Current { store, stop, thread });
        Ok(())
    }

    /// Stops a study soon. What is stored stays, and [`StudyRuns::start`] continues it.
    ///
    /// # Errors
    /// If it is not running.
    pub fn stop(&self, store: usize) -> Result<(), Refusal> {
        self.stores.place(store)?;
        let current = self.lock();
        let running = current.as_ref().filter(|one| one.store == store && !one.thread.is_finished());
        let Some(running) = running else { return Err(Refusal::conflict("this study is not running")) };
        running.stop.store(true, Ordering::Relaxed);
        self.progress.send_if_modified(|progress| match progress {
            Some(progress) if progress.phase == Phase::Running => {
                progress.phase = Phase::Stopping;
                true
            }
            _ => false,
        });
        Ok(())
    }

    /// Stops what is on, and waits until it has ended.
    pub fn end(&self) {
        let current = self.lock().take();
        if let Some(current) = current {
            current.stop.store(true, Ordering::Relaxed);
            let _ = current.thread.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Current>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a study to its end and publishes what came of it.
fn run(
    workbench: &dyn Workbench,
    order: StudyOrder,
    mut telling: Telling,
    stop: &Arc<AtomicBool>,
    ticket: Ticket,
) {
    let ran = catch_unwind(AssertUnwindSafe(|| workbench.run_study(order, &mut telling, stop)));
    let ran = ran.unwrap_or_else(|_| {
        Err("the study ended with a panic; the program's standard error has it".to_owned())
    });
    // Before it is published that another may begin.
    drop(ticket);
    telling.sender.send_modify(|progress| {
        let progress = progress.get_or_insert_with(|| StudyProgress::begin(telling.store));
        progress.running = None;
        progress.left_s = None;
        (progress.phase, progress.message) = match ran {
            Err(why) => (Phase::Failed, why),
            Ok(ran) => (if ran.stopped { Phase::Stopped } else { Phase::Done }, summary(&ran)),
        };
    });
}

fn summary(ran: &RunSummary) -> String {
    let runs = |count: usize| if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
    let mut text = match ran.missing {
        0 => "every run is stored already".to_owned(),
        missing => format!(
            "{} of {} done in {:.1} s",
            ran.done + ran.by_others,
            runs(missing),
            ran.elapsed.as_secs_f64()
        ),
    };
    if let Some((_, _, reason)) = ran.failures.first() {
        text += &format!("; {} failed, the first because: {reason}", runs(ran.failures.len()));
    }
    text
}

impl StudyProgress {
    fn begin(store: usize) -> StudyProgress {
        StudyProgress {
            store,
            phase: Phase::Running,
            total: 0,
            stored: 0,
            failed: 0,
            elapsed_s: 0.0,
            left_s: None,
            running: None,
            message: String::new(),
        }
    }
}

/// Publishes the progress of a study.
struct Telling {
    store: usize,
    labels: Vec<String>,
    sender: watch::Sender<Option<StudyProgress>>,
    stop: Arc<AtomicBool>,
}

impl Progress for Telling {
    fn update(&mut self, status: &Status) {
        let running = status.running.map(|running| {
            let label = self.labels.get(running.cell).filter(|label| !label.is_empty());
            let cell = label.map(|label| format!("{label}, ")).unwrap_or_default();
            let (elapsed, expected) = (running.elapsed.as_secs(), running.expected.as_secs_f64().ceil());
            format!("on {}: {cell}repeat {}, {elapsed} of {expected} s", running.engine, running.repeat + 1)
        });
        let phase = if self.stop.load(Ordering::Relaxed) { Phase::Stopping } else { Phase::Running };
        self.sender.send_replace(Some(StudyProgress {
            store: self.store,
            phase,
            total: status.total,
            stored: status.stored,
            failed: status.failed,
            elapsed_s: status.elapsed.as_secs_f64(),
            left_s: status.left.map(|left| left.as_secs_f64()),
            running,
            message: String::new(),
        }));
    }
}
