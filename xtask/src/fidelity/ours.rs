//! cwnd as a program.

use super::cells::{ACCESS_DELAY_MS, PAYLOAD, Run, Setting};
use crate::json;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Run a setting with an algorithm. The flows start at these times, in nanoseconds.
pub fn run(cwnd: &Path, setting: &Setting, algorithm: &str, starts: &[u64]) -> Result<Run, String> {
    let mut command = Command::new(cwnd);
    command.args(["compare", "--stack", "ns2", "--json", "--quiet"]);
    let mut say = |flag: &str, value: String| {
        command.args([flag, &value]);
    };
    for start in starts {
        say("--flow", format!("{algorithm}; start={start} ns"));
    }
    // Nothing is random but the starts, and those are given.
    say("--start-jitter", "0 s".to_owned());
    say("--send-overhead", "0 s".to_owned());
    say("--ties", "by-turn".to_owned());
    say("--rate", format!("{} Mbit/s", setting.rate));
    say("--delay", format!("{} ms", setting.delay_ms));
    say("--access-delay", format!("{ACCESS_DELAY_MS} ms"));
    say("--buffer", setting.buffer.to_string());
    say("--access-buffer", setting.access_buffer.to_string());
    say("--duration", format!("{} s", setting.duration));
    let trace = (setting.sample > 0.0).then(Trace::new);
    if let Some(trace) = &trace {
        say("--sample", format!("{} s", setting.sample));
        say("--trace", trace.0.display().to_string());
    }
    let run = json::first_run(&mut command)?;
    let windows = trace.map_or_else(|| Ok(Vec::new()), |trace| trace.windows())?;
    Ok(Run { windows, ..answer(&run, setting)? })
}

/// Read what `cwnd compare --json` describes a run.
fn answer(run: &Value, setting: &Setting) -> Result<Run, String> {
    let number = |path: &str| Ok::<u64, String>(json::number(run, path)? as u64);
    let list = |name: &str| run[name].as_array().map_or(&[][..], Vec::as_slice);
    let received: Result<Vec<u64>, String> = list("flows")
        .iter()
        .map(|flow| {
            let bits = json::number(flow, "/goodput_bps")? * f64::from(setting.duration);
            Ok((bits / (8.0 * PAYLOAD)).round() as u64)
        })
        .collect();
    let dropped = |counts: &dyn Fn(&str) -> bool| -> Result<u64, String> {
        let queues = list("queues").iter().filter(|queue| queue["link"].as_str().is_some_and(counts));
        queues.map(|queue| Ok(json::number(queue, "/dropped")? as u64)).sum()
    };
    Ok(Run {
        sent: number("/packets_sent")?,
        retransmitted: number("/retransmissions")?,
        dropped: dropped(&|link| link == "bottleneck")?,
        dropped_at_senders: dropped(&|link| link.starts_with("access-") && !link.ends_with("-reverse"))?,
        timeouts: number("/timeouts")?,
        cuts: number("/congestion_events")?,
        received: received?,
        windows: Vec::new(),
    })
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

#[cfg(test)]
mod tests {
    use super::super::cells::four_flows;
    use super::*;

    #[test]
    fn reads_a_run() {
        let run = serde_json::json!({
            "packets_sent": 1000.0, "retransmissions": 3.0, "timeouts": 0.0, "congestion_events": 2.0,
            "queues": [
                { "link": "bottleneck", "dropped": 1.0 },
                { "link": "bottleneck-reverse", "dropped": 64.0 },
                { "link": "access-1", "dropped": 2.0 },
                { "link": "access-1-reverse", "dropped": 32.0 },
                { "link": "access-2", "dropped": 4.0 },
                { "link": "exit-1", "dropped": 16.0 },
            ],
            // 495 packets of 8,000 bit in 150 s.
            "flows": [{ "goodput_bps": 26_400.0 }],
        });
        let run = answer(&run, &four_flows(100)).unwrap();
        assert_eq!((run.sent, run.retransmitted, run.timeouts, run.cuts), (1000, 3, 0, 2));
        assert_eq!((run.dropped, run.dropped_at_senders, run.received), (1, 6, vec![495]));
    }
}
