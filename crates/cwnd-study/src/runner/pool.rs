//! The runs that wait, and the memory that those in progress may need.

use super::plan::Task;
use crate::RunKey;
use std::{
    collections::{HashSet, VecDeque},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// The runs that wait.
pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: VecDeque<Task>,
    running: usize,
    /// Bytes that are not taken.
    free: f64,
}

impl Pool {
    pub fn new(tasks: Vec<Task>, memory: f64) -> Pool {
        let state = State { waiting: tasks.into(), running: 0, free: memory };
        Pool { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// The first run for which there is memory, once there is one; none when no more waits.
    pub fn take(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if state.waiting.is_empty() {
                return None;
            }
            // Estimates of memory are no promises: a run that is alone always begins.
            let alone = state.running == 0;
            let fits = state.waiting.iter().position(|task| task.cost.memory <= state.free);
            if let Some(task) = fits.or(alone.then_some(0)).and_then(|place| state.waiting.remove(place)) {
                state.running += 1;
                state.free -= task.cost.memory;
                return Some(task);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A run is over.
    pub fn give_back(&self, task: &Task) {
        let mut state = self.lock();
        state.running -= 1;
        state.free += task.cost.memory;
        drop(state);
        self.changed.notify_all();
    }

    /// Runs that somebody else has done. Those of them that still waited are given back.
    pub fn remove(&self, keys: &[RunKey]) -> Vec<Task> {
        if keys.is_empty() {
            return Vec::new();
        }
        let keys: HashSet<&RunKey> = keys.iter().collect();
        let mut state = self.lock();
        let (removed, kept): (VecDeque<Task>, VecDeque<Task>) =
            state.waiting.drain(..).partition(|task| keys.contains(&task.key));
        state.waiting = kept;
        drop(state);
        self.changed.notify_all();
        removed.into()
    }

    /// No run is begun any more.
    pub fn close(&self) {
        self.lock().waiting.clear();
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
