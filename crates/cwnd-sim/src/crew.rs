//! Threads that do the tasks of a phase together with the thread that asks for it.
//!
//! A phase is a range of tasks. Each thread begins with a part of the range and then helps with the others. The thread that
//! asks waits only for tasks that others have begun, so that a helper that the machine does not run delays nobody.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// What a thread does: its number and a task are given.
type Work = dyn Fn(usize, usize) + Send + Sync;
/// What is called when a helper ends, on its thread.
pub type AtEnd = Arc<dyn Fn() + Send + Sync>;

/// For how long a helper looks for the next phase before it sleeps. In a virtual machine it takes about 60 microseconds to wake it; while
/// 1,000 flows of the ns2 stack run, one link of a phase takes 130 microseconds longer than the other.
const SPIN_TIME: Duration = Duration::from_micros(200);
/// How many times it checks before it reads the clock.
const LOOKS: u32 = 50;
/// How often the asking thread looks whether all is done before it lets others run.
const SPINS: u32 = 200;

/// Threads.
pub struct Crew {
    shared: Arc<Shared>,
    helpers: Vec<JoinHandle<()>>,
}

struct Shared {
    work: Box<Work>,
    /// For each thread, the part of the range with which it begins: the next task in the low half, and the end of the part in
    /// the high half.
    parts: Vec<AtomicU64>,
    finished: AtomicUsize,
    /// Counts phases.
    phase: AtomicU64,
    ends: AtomicBool,
    /// How many helpers sleep or are about to.
    asleep: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
    /// The first panic of a task.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Crew {
    /// Creates a crew of `threads` threads, among them the one that asks for phases, which is number 0.
    ///
    /// # Errors
    /// The system does not give as many threads.
    pub fn new(
        threads: usize,
        at_end: &AtEnd,
        work: impl Fn(usize, usize) + Send + Sync + 'static,
    ) -> std::io::Result<Crew> {
        let shared = Arc::new(Shared {
            work: Box::new(work),
            parts: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            finished: AtomicUsize::new(0),
            phase: AtomicU64::new(0),
            ends: AtomicBool::new(false),
            asleep: AtomicUsize::new(0),
            lock: Mutex::new(()),
            wake: Condvar::new(),
            panic: Mutex::new(None),
        });
        // Dropped on an error, it ends the threads that there are.
        let mut crew = Crew { shared, helpers: Vec::new() };
        for thread in 1..threads {
            let (shared, at_end) = (Arc::clone(&crew.shared), Arc::clone(at_end));
            let help = move || {
                shared.help(thread);
                at_end();
            };
            crew.helpers.push(Builder::new().name(cwnd_scenario::HELPER_THREAD.to_owned()).spawn(help)?);
        }
        Ok(crew)
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.shared.parts.len()
    }

    /// Does the tasks of a phase. All is done when it returns.
    ///
    /// # Panics
    /// If a task panics; no other task is in progress then.
    pub fn run(&self, tasks: &Range<usize>) {
        let shared = &*self.shared;
        shared.finished.store(0, Ordering::Relaxed);
        let threads = shared.parts.len();
        let begin = |thread: usize| tasks.start + tasks.len() * thread / threads;
        for (thread, part) in shared.parts.iter().enumerate() {
            let range = (begin(thread + 1) as u64) << 32 | begin(thread) as u64;
            // Whoever takes a task sees what was prepared before.
            part.store(range, Ordering::Release);
        }
        shared.phase.fetch_add(1, Ordering::SeqCst);
        if shared.asleep.load(Ordering::SeqCst) > 0 {
            drop(shared.lock.lock().unwrap_or_else(PoisonError::into_inner));
            shared.wake.notify_all();
        }
        shared.take_tasks(0);
        let mut spins = 0;
        while shared.finished.load(Ordering::Acquire) < tasks.len() {
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        if let Some(panic) = shared.panic.lock().unwrap_or_else(PoisonError::into_inner).take() {
            resume_unwind(panic);
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        self.shared.phase.fetch_add(1, Ordering::SeqCst);
        drop(self.shared.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.shared.wake.notify_all();
        // Panics of tasks were caught, so that a helper ends well.
        self.helpers.drain(..).for_each(|helper| drop(helper.join()));
    }
}

impl Shared {
    /// What a helper does, phase by phase.
    fn help(&self, thread: usize) {
        let mut seen = 0;
        loop {
            let begin = Instant::now();
            let begins = || self.phase.load(Ordering::Acquire) != seen;
            while !begins_soon(begins) {
                if begin.elapsed() > SPIN_TIME {
                    self.sleep(seen);
                }
            }
            // In this order: `ends` is set before the last phase begins, and the last phase must not be missed.
            seen = self.phase.load(Ordering::Acquire);
            if self.ends.load(Ordering::SeqCst) {
                return;
            }
            self.take_tasks(thread);
        }
    }

    /// Sleeps while the phase is `seen`.
    fn sleep(&self, seen: u64) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever begins a phase either finds this helper asleep or is seen here.
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while self.phase.load(Ordering::SeqCst) == seen {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }

    /// Does tasks, the thread's own ones first, until none is left that nobody has begun.
    fn take_tasks(&self, thread: usize) {
        let threads = self.parts.len();
        for i in 0..threads {
            let part = &self.parts[(thread + i) % threads];
            while let Some(task) = if i == 0 { take_first(part) } else { take_last(part) } {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.work)(thread, task))) {
                    self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
                }
                self.finished.fetch_add(1, Ordering::Release);
            }
        }
    }
}

/// Checks a number of times whether something begins.
fn begins_soon(begins: impl Fn() -> bool) -> bool {
    (0..LOOKS).any(|_| {
        std::hint::spin_loop();
        begins()
    })
}

/// Claims the first task of a part, if there is one. It is one of the present phase, also for a helper that was late: a phase
/// ends only when all its tasks are done.
fn take_first(part: &AtomicU64) -> Option<usize> {
    let taken = part.fetch_update(Ordering::Acquire, Ordering::Relaxed, |range| {
        let (next, end) = (range as u32, (range >> 32) as u32);
        (next < end).then_some(range + 1)
    });
    taken.ok().map(|range| range as u32 as usize)
}

/// Claims the last task of a part of another thread, so that those which this thread does are the same in most phases.
fn take_last(part: &AtomicU64) -> Option<usize> {
    let taken = part.fetch_update(Ordering::Acquire, Ordering::Relaxed, |range| {
        let (next, end) = (range as u32, (range >> 32) as u32);
        (next < end).then(|| range - (1 << 32))
    });
    taken.ok().map(|range| (range >> 32) as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each phase adds to what the one before has written.
    #[test]
    fn a_phase_sees_what_the_one_before_has_done() {
        const TASKS: usize = 37;
        let cells: Arc<Vec<AtomicUsize>> = Arc::new((0..2 * TASKS).map(|_| AtomicUsize::new(1)).collect());
        let written = Arc::clone(&cells);
        let ended = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ended);
        let at_end: AtEnd = Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        // The tasks of the second phase read what other tasks of the first have written.
        let crew = Crew::new(3, &at_end, move |_, task| {
            let from = (task * 5 + TASKS) % (2 * TASKS);
            let read = written[from].load(Ordering::Relaxed);
            written[task].fetch_add(if task < TASKS { read } else { 1 }, Ordering::Relaxed);
        })
        .expect("three threads");
        for _ in 0..200 {
            crew.run(&(0..TASKS));
            crew.run(&(TASKS..2 * TASKS));
        }
        assert!(cells[TASKS..].iter().all(|cell| cell.load(Ordering::Relaxed) == 201));
        drop(crew);
        assert_eq!(ended.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_crew_ends_at_once_after_a_phase() {
        // The helpers may still be on their way to the last phase when the end comes.
        let at_end: AtEnd = Arc::new(|| ());
        for _ in 0..3_000 {
            Crew::new(2, &at_end, |_, _| ()).expect("two threads").run(&(0..1));
        }
    }

    #[test]
    fn a_panic_reaches_the_one_who_asks() {
        let at_end: AtEnd = Arc::new(|| ());
        let crew = Crew::new(2, &at_end, |_, task| assert!(task != 3, "task {task}")).expect("two threads");
        crew.run(&(0..3));
        let panic = catch_unwind(AssertUnwindSafe(|| crew.run(&(0..8)))).expect_err("a task panics");
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("task 3"));
        crew.run(&(4..8));
    }
}
