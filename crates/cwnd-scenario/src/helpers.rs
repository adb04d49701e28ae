//! What a run is given besides its scenario: threads that help it, and the wish that it stops.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// The name of a thread that helps a run.
pub const HELPER_THREAD: &str = "cwnd helper";

/// Threads that nobody uses now. Clones are the same threads, so that runs can share them.
#[derive(Clone, Debug, Default)]
pub struct SpareThreads(Arc<AtomicUsize>);

impl SpareThreads {
    /// Creates this many spare threads.
    pub fn new(threads: usize) -> SpareThreads {
        SpareThreads(Arc::new(threads.into()))
    }

    /// Returns how many there are.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Adds threads.
    pub fn add(&self, threads: usize) {
        self.0.fetch_add(threads, Ordering::Relaxed);
    }

    /// Reserves `most` threads, or as many as there are. Returns how many.
    pub fn take(&self, most: usize) -> usize {
        let rest = |spare: usize| Some(spare.saturating_sub(most));
        let before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).unwrap_or(0);
        before.min(most)
    }
}

/// The threads that a run may use besides the one that runs it.
///
/// An engine takes them when it has enough to do for them and gives them back at the end. No outcome depends on them.
#[derive(Clone, Debug, Default)]
pub struct Helpers {
    spare: SpareThreads,
    /// Tells the CPU time of the calling thread.
    clock: Option<fn() -> Duration>,
    /// CPU time of helpers that have ended, ns.
    cpu: Arc<AtomicU64>,
    /// Becomes true if nobody wants the outcome any more.
    stop: Option<Arc<AtomicBool>>,
}

impl Helpers {
    /// Creates the helpers of one run. `clock` tells the CPU time of the calling thread.
    pub fn new(spare: &SpareThreads, clock: fn() -> Duration) -> Helpers {
        Helpers { spare: spare.clone(), clock: Some(clock), cpu: Arc::default(), stop: None }
    }

    /// Creates up to `threads` helpers whose CPU time nobody wants.
    pub fn uncounted(threads: usize) -> Helpers {
        Helpers { spare: SpareThreads::new(threads), ..Helpers::default() }
    }

    /// Sets what becomes true if nobody wants the outcome any more. The run then ends soon, without one.
    #[must_use]
    pub fn stopped_by(self, stop: &Arc<AtomicBool>) -> Helpers {
        Helpers { stop: Some(Arc::clone(stop)), ..self }
    }

    /// Returns the same without threads.
    #[must_use]
    pub fn without_threads(&self) -> Helpers {
        Helpers { spare: SpareThreads::default(), ..self.clone() }
    }

    /// Returns whether nobody wants the outcome any more.
    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Returns how many threads are to be had now.
    pub fn spare(&self) -> usize {
        self.spare.count()
    }

    /// Reserves `most` threads, or as many as there are. Returns how many.
    pub fn take(&self, most: usize) -> usize {
        self.spare.take(most)
    }

    /// Gives threads back.
    pub fn give_back(&self, threads: usize) {
        self.spare.add(threads);
    }

    /// Counts the CPU time of the calling thread, which is a helper that ends.
    pub fn note_cpu_time(&self) {
        let time = self.clock.map_or(Duration::ZERO, |clock| clock());
        self.cpu.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Returns the CPU time of the helpers that have ended.
    pub fn cpu_time(&self) -> Duration {
        Duration::from_nanos(self.cpu.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_share_threads() {
        let spare = SpareThreads::new(3);
        let [one, other] = [(); 2].map(|()| Helpers::new(&spare, || Duration::from_millis(5)));
        assert_eq!((one.take(2), other.take(2), other.take(1), spare.count()), (2, 1, 0, 0));
        one.give_back(2);
        one.note_cpu_time();
        one.note_cpu_time();
        assert_eq!((other.spare(), one.cpu_time()), (2, Duration::from_millis(10)));
        assert_eq!(other.cpu_time(), Duration::ZERO);
    }
}
