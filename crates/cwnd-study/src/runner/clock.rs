//! CPU time of a thread.

use cpu_time::ThreadTime;
use std::time::{Duration, Instant};

/// CPU time of this thread, or what passes where a system does not tell it.
pub struct Clock(Source);

enum Source {
    Cpu(ThreadTime),
    Wall(Instant),
}

impl Clock {
    /// Begin now.
    pub fn start() -> Clock {
        Clock(ThreadTime::try_now().map_or_else(|_| Source::Wall(Instant::now()), Source::Cpu))
    }

    /// Returns the CPU time of this thread since the thread began, or nothing where a system does not tell it.
    pub fn of_thread() -> Duration {
        ThreadTime::try_now().map_or(Duration::ZERO, |time| time.as_duration())
    }

    /// Seconds since it began; on the thread on which it did.
    pub fn seconds(&self) -> f64 {
        match &self.0 {
            Source::Cpu(start) => start.try_elapsed().unwrap_or_default().as_secs_f64(),
            Source::Wall(start) => start.elapsed().as_secs_f64(),
        }
    }
}
