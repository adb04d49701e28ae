//! CPU time of a thread.

use cpu_time::ThreadTime;
use std::time::Instant;

/// CPU time of this thread, or what passes where a system does not tell it.
pub(super) enum Clock {
    Cpu(ThreadTime),
    Wall(Instant),
}

impl Clock {
    pub fn start() -> Clock {
        ThreadTime::try_now().map_or_else(|_| Clock::Wall(Instant::now()), Clock::Cpu)
    }

    pub fn seconds(&self) -> f64 {
        match self {
            Clock::Cpu(start) => start.try_elapsed().unwrap_or_default().as_secs_f64(),
            Clock::Wall(start) => start.elapsed().as_secs_f64(),
        }
    }
}
