//! Keeps all threads of a process on one processor.

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use std::fs;
use std::time::{Duration, Instant};

/// How long a process stays on one processor. Then Linux may move its threads for a moment.
const STAY: Duration = Duration::from_secs(2);
/// How long that moment is. A processor that idles takes over a thread that waits for another one within a few milliseconds.
const CHOICE: Duration = Duration::from_millis(20);

/// A process that is kept on one processor.
///
/// The two threads of a virtual machine with the clock of instructions take turns: one interprets the processor, and whenever that has
/// nothing to do, the other one moves the clock to the next timer. Ten thousand turns a second cost less on one processor than on two,
/// because none of them wakes another processor.
pub struct OneProcessor {
    process: u32,
    /// The processors that the process may use.
    allowed: CpuSet,
    /// Whether its threads may move at the moment, and since when that is so.
    is_free: bool,
    since: Instant,
}

impl OneProcessor {
    /// Puts a process, which has just begun, where Linux has begun it.
    pub fn new(process: u32) -> OneProcessor {
        let allowed = pid(process).and_then(|id| sched_getaffinity(Some(id)).ok()).unwrap_or_default();
        let mut kept = OneProcessor { process, allowed, is_free: true, since: Instant::now() };
        kept.stay();
        kept
    }

    /// Lets Linux choose again, now and then. Is to be called often.
    pub fn renew(&mut self) {
        let elapsed = self.since.elapsed();
        if self.is_free && elapsed >= CHOICE {
            self.stay();
        } else if !self.is_free && elapsed >= STAY {
            let allowed = self.allowed;
            self.place(&allowed);
            (self.is_free, self.since) = (true, Instant::now());
        }
    }

    /// Puts all threads on the processor of the one that has worked the most.
    fn stay(&mut self) {
        let busiest = self.threads().into_iter().max_by_key(|thread| thread.cpu);
        if let Some(thread) = busiest {
            let mut one = CpuSet::new();
            one.set(thread.processor);
            self.place(&one);
        }
        (self.is_free, self.since) = (false, Instant::now());
    }

    /// It is not an error if this fails: the process is slower then, or has ended.
    fn place(&self, processors: &CpuSet) {
        for thread in self.threads() {
            let _ = pid(thread.id).map(|id| sched_setaffinity(Some(id), processors));
        }
    }

    fn threads(&self) -> Vec<Thread> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process)).into_iter().flatten().flatten();
        tasks.filter_map(|task| Thread::read(&fs::read_to_string(task.path().join("stat")).ok()?)).collect()
    }
}

fn pid(number: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number).ok()?)
}

/// A thread, as `/proc` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thread {
    id: u32,
    /// Its CPU time in user mode, in ticks.
    cpu: u64,
    /// Where it ran last.
    processor: usize,
}

impl Thread {
    /// Reads a `stat` file (proc(5)). The name in parentheses may hold anything.
    fn read(stat: &str) -> Option<Thread> {
        let (id, rest) = stat.split_once(' ')?;
        // Fields from the third one on: the state.
        let fields: Vec<&str> = rest.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        Some(Thread {
            id: id.parse().ok()?,
            cpu: field(14)?.parse().ok()?,
            processor: field(39)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_thread_is_read_whatever_its_name_is() {
        let fields = |from: u32, to: u32| (from..=to).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let stat = format!("77 (a) b (c) S {}", fields(4, 52));
        assert_eq!(Thread::read(&stat), Some(Thread { id: 77, cpu: 14, processor: 39 }));
        assert_eq!(Thread::read("77 (a) S 1 2"), None);
    }

    #[test]
    fn a_process_stays_on_one_of_its_processors() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let of_child = || sched_getaffinity(pid(child.id())).unwrap();
        let allowed = of_child();
        let mut kept = OneProcessor::new(child.id());
        let one = of_child();
        assert_eq!(one.count(), 1);
        assert!((0..CpuSet::MAX_CPU).all(|processor| !one.is_set(processor) || allowed.is_set(processor)));
        kept.renew();
        assert_eq!(of_child(), one);
        kept.since -= STAY;
        kept.renew();
        assert_eq!(of_child(), allowed);
        kept.since -= CHOICE;
        kept.renew();
        assert_eq!(of_child().count(), 1);
        child.kill().unwrap();
        child.wait().unwrap();
        // It has ended.
        kept.since -= STAY;
        kept.renew();
    }
}
