//! Sampling a process while it works.

use crate::statistics::median;
use std::fs;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Between two samples.
const EVERY: Duration = Duration::from_millis(100);
/// Fewer tell nothing.
const LEAST: usize = 40;

/// A process that has ended.
pub struct Watched {
    /// Resident memory, MiB.
    pub memory: Trend,
    pub descriptors: Trend,
    pub seconds: f64,
    /// What was done with it.
    pub done: String,
}

/// Medians of the second and the last quarter of the samples: the first quarter is the warm-up.
pub struct Trend {
    pub begin: f64,
    pub end: f64,
}

impl Trend {
    fn new(samples: &[f64]) -> Trend {
        let quarter = samples.len() / 4;
        let begin = median(&samples[quarter..2 * quarter]);
        Trend { begin, end: median(&samples[samples.len() - quarter..]) }
    }

    pub fn growth(&self) -> f64 {
        self.end - self.begin
    }
}

/// Starts a program, samples it until `work` returns, and ends it.
pub fn watch(
    command: &mut Command,
    work: impl FnOnce(&mut Child) -> Result<String, String>,
) -> Result<Watched, String> {
    let begin = Instant::now();
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let process = child.id();
    let is_over = AtomicBool::new(false);
    let (samples, done) = thread::scope(|scope| {
        let sampler = scope.spawn(|| samples(process, &is_over));
        let done = work(&mut child);
        is_over.store(true, Ordering::Relaxed);
        (sampler.join().unwrap_or_default(), done)
    });
    // It has ended already if the work was to wait for its end.
    let _ = child.kill();
    child.wait().map_err(|error| error.to_string())?;
    let done = done?;
    if samples.len() < LEAST {
        let (seconds, least) = (begin.elapsed().as_secs_f64(), LEAST as f64 * EVERY.as_secs_f64());
        return Err(format!(
            "it ended after {seconds:.1} s; samples of {least} s are needed: ask for more work"
        ));
    }
    let of = |value: fn(&(f64, f64)) -> f64| Trend::new(&samples.iter().map(value).collect::<Vec<_>>());
    Ok(Watched {
        memory: of(|sample| sample.0),
        descriptors: of(|sample| sample.1),
        seconds: begin.elapsed().as_secs_f64(),
        done,
    })
}

/// Returns resident memory and descriptors over time.
fn samples(process: u32, is_over: &AtomicBool) -> Vec<(f64, f64)> {
    let mut samples = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        // There is nothing to read of a process that has just ended.
        samples.extend(sample(process));
        thread::sleep(EVERY);
    }
    samples
}

fn sample(process: u32) -> Option<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = resident.trim().strip_suffix(" kB")?.parse().ok()?;
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).ok()?.count();
    Some((kib / 1024.0, descriptors as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_leaves_out_the_warm_up() {
        let warm_up = (0..10).map(f64::from);
        let steady: Vec<f64> = warm_up.clone().chain([10.0; 30]).collect();
        assert_eq!(Trend::new(&steady).growth(), 0.0);
        // One more with each sample: from the middle of the second quarter to that of the last are 20 samples.
        let leak: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(Trend::new(&leak).growth(), 20.0);
    }

    #[test]
    fn a_program_that_keeps_what_it_reads_grows() {
        let script =
            "x=''; for i in 1 2 3 4 5; do x=$x$(head -c 4000000 /dev/zero | tr '\\0' x); sleep 1; done";
        let mut bash = Command::new("bash");
        let watched = watch(bash.args(["-c", script]), |child| {
            child.wait().map(|_| String::new()).map_err(|error| error.to_string())
        });
        assert!(watched.unwrap().memory.growth() > 4.0);
    }
}
