//! cwnd as a program.

use super::cells::{ACCESS_DELAY_MS, Chance, PAYLOAD, Run, Setting, WIRE};
use crate::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Run a setting with an algorithm.
pub fn run(cwnd: &Path, setting: &Setting, algorithm: &str, chance: Chance) -> Result<Run, String> {
    let mut command = Command::new(cwnd);
    command.args(["compare", algorithm, "--stack", "ns2", "--rate", "1 Gbit/s", "--json", "--quiet"]);
    let mut say = |flag: &str, value: String| {
        command.args([flag, &value]);
    };
    say("--flows", setting.flows.to_string());
    say("--delay", format!("{} ms", setting.delay_ms));
    say("--access-delay", format!("{ACCESS_DELAY_MS} ms"));
    say("--buffer", setting.buffer.to_string());
    say("--access-buffer", setting.access_buffer.to_string());
    say("--duration", format!("{} s", setting.duration));
    let (seed, jitter, overhead) = chance.bounds(setting);
    say("--seed", seed.to_string());
    say("--start-jitter", format!("{jitter} s"));
    say("--send-overhead", format!("{overhead} s"));
    let trace = (setting.sample > 0.0).then(Trace::new);
    if let Some(trace) = &trace {
        say("--sample", format!("{} s", setting.sample));
        say("--trace", trace.0.display().to_string());
    }
    let run = json::first_run(&mut command)?;

    let number = |path: &str| json::number(&run, path);
    let flows = run["flows"].as_array().map_or(&[][..], Vec::as_slice);
    let goodputs: Result<Vec<f64>, String> =
        flows.iter().map(|flow| json::number(flow, "/goodput_bps")).collect();
    Ok(Run {
        throughput_mbps: number("/goodput_bps")? * WIRE / PAYLOAD / 1e6,
        jain: jain_index(&goodputs?),
        resent: number("/retransmissions")? / number("/packets_sent")?,
        cuts: number("/congestion_events")? as u64,
        windows: trace.map_or_else(|| Ok(Vec::new()), |trace| trace.windows())?,
    })
}

/// (sum x)^2 / (n sum x^2).
pub fn jain_index(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

/// A file for the samples of one run, gone afterwards.
struct Trace(PathBuf);

impl Trace {
    fn new() -> Trace {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        Trace(std::env::temp_dir().join(format!("cwnd-fidelity-{}-{number}.csv", std::process::id())))
    }

    /// The windows of the first flow, without the one at time zero.
    fn windows(&self) -> Result<Vec<f64>, String> {
        let text =
            std::fs::read_to_string(&self.0).map_err(|error| format!("{}: {error}", self.0.display()))?;
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let column = |name: &str| {
            head.iter()
                .position(|&known| known == name)
                .ok_or_else(|| format!("the trace has no column {name}"))
        };
        let (time, window) = (column("time_s")?, column("cwnd")?);
        let field = |line: &str, column: usize| line.split(',').nth(column)?.parse::<f64>().ok();
        let samples = lines.filter_map(|line| Some((field(line, time)?, field(line, window)?)));
        Ok(samples.filter(|&(time, _)| time > 0.0).map(|(_, window)| window).collect())
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // It is in a directory for temporary files, whatever becomes of it.
        let _ = std::fs::remove_file(&self.0);
    }
}
