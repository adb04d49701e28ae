//! A persistent pool of threads that work on parts of a whole, each part by one thread at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// How often a thread looks for work before it sleeps: a few ten microseconds.
const SPINS: u32 = 2_000;

/// Parts, and threads that work on them. The thread that calls [`Pool::run`] takes part.
pub struct Pool<P: Send + 'static> {
    shared: Arc<Shared<P>>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared<P> {
    parts: Vec<Mutex<P>>,
    work: fn(&mut P),
    /// The next part that nobody has taken.
    next: AtomicUsize,
    /// The same as `State::round`, to look at without the lock.
    round: AtomicU64,
    state: Mutex<State>,
    begin: Condvar,
    end: Condvar,
}

#[derive(Default)]
struct State {
    /// Counts calls of [`Pool::run`].
    round: u64,
    /// Workers that have not finished the round.
    working: usize,
    panicked: bool,
    stops: bool,
}

impl<P: Send + 'static> Pool<P> {
    /// Creates a pool of `threads` threads, the caller's included, that do `work` on each part.
    pub fn new(parts: Vec<P>, threads: usize, work: fn(&mut P)) -> std::io::Result<Pool<P>> {
        let shared = Arc::new(Shared {
            parts: parts.into_iter().map(Mutex::new).collect(),
            work,
            next: AtomicUsize::new(0),
            round: AtomicU64::new(0),
            state: Mutex::default(),
            begin: Condvar::new(),
            end: Condvar::new(),
        });
        let mut pool = Pool { shared: Arc::clone(&shared), workers: Vec::new() };
        for _ in 1..threads {
            let shared = Arc::clone(&shared);
            let builder = std::thread::Builder::new().name("cwnd-gym".to_owned());
            pool.workers.push(builder.spawn(move || shared.serve())?);
        }
        Ok(pool)
    }

    /// Returns the part of this number.
    pub fn part(&self, index: usize) -> MutexGuard<'_, P> {
        lock(&self.shared.parts[index])
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        self.shared.parts.len()
    }

    /// Does the work on each part, and returns when all of it is done.
    ///
    /// # Panics
    /// If the work on a part has panicked.
    pub fn run(&mut self) {
        let shared = &self.shared;
        shared.next.store(0, Ordering::Relaxed);
        {
            let mut state = lock(&shared.state);
            state.working = self.workers.len();
            state.round += 1;
            shared.round.store(state.round, Ordering::Release);
            shared.begin.notify_all();
        }
        shared.work_on_parts();
        let mut state = lock(&shared.state);
        while state.working > 0 {
            state = shared.end.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        assert!(!state.panicked, "an environment has panicked");
    }
}

impl<P: Send + 'static> Drop for Pool<P> {
    fn drop(&mut self) {
        lock(&self.shared.state).stops = true;
        self.shared.begin.notify_all();
        for worker in self.workers.drain(..) {
            // Its panic was reported by `run`.
            let _ = worker.join();
        }
    }
}

impl<P> Shared<P> {
    /// Waits for rounds and works, until the pool is dropped.
    fn serve(&self) {
        let mut done = 0;
        loop {
            let mut spins = 0;
            while self.round.load(Ordering::Acquire) == done && spins < SPINS {
                std::hint::spin_loop();
                spins += 1;
            }
            let mut state = lock(&self.state);
            while state.round == done && !state.stops {
                state = self.begin.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.stops {
                return;
            }
            done = state.round;
            drop(state);
            let result = catch_unwind(AssertUnwindSafe(|| self.work_on_parts()));
            let mut state = lock(&self.state);
            state.panicked |= result.is_err();
            state.working -= 1;
            if state.working == 0 {
                self.end.notify_one();
            }
        }
    }

    fn work_on_parts(&self) {
        while let Some(part) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            (self.work)(&mut lock(part));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_worked_on_once_a_round() {
        for threads in [1, 2, 5] {
            let mut pool = Pool::new(vec![0u32; 17], threads, |part| *part += 1).unwrap();
            for _ in 0..100 {
                pool.run();
            }
            assert!((0..pool.parts()).all(|index| *pool.part(index) == 100));
        }
    }

    #[test]
    fn a_panic_of_a_worker_is_one_of_the_caller() {
        let mut pool = Pool::new(vec![0u32; 64], 2, |_| panic!("on purpose")).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| pool.run())).is_err());
        drop(pool);
    }
}
