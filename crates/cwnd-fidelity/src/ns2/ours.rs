//! cwnd over the network of ns-2's script.

use super::cells::{ACCESS_DELAY_MS, PAYLOAD, Run, Setting};
use crate::cwnd::{Cwnd, RunDocument, Trace, runs};

/// Runs a setting with an algorithm. The flows start at these times, in nanoseconds.
pub fn run(cwnd: &Cwnd, setting: &Setting, algorithm: &str, starts: &[u64]) -> Result<Run, String> {
    let mut command = cwnd.compare("ns2");
    for start in starts {
        command.args(["--flow", &format!("{algorithm}; start={start} ns")]);
    }
    // Only the starts are random, and they are given.
    command.args(["--start-jitter", "0 s", "--send-overhead", "0 s", "--ties", "by-turn"]);
    command.args(["--rate", &format!("{} Mbit/s", setting.rate)]);
    command.args(["--delay", &format!("{} ms", setting.delay_ms)]);
    command.args(["--access-rate", "bottleneck", "--access-delay", &format!("{ACCESS_DELAY_MS} ms")]);
    command.args(["--buffer", &setting.buffer.to_string()]);
    command.args(["--access-buffer", &setting.access_buffer.to_string()]);
    command.args(["--duration", &format!("{} s", setting.duration)]);
    let sampled = setting.sample > 0.0;
    let trace = sampled.then(|| Trace::of(&mut command, &format!("{} s", setting.sample))).transpose()?;
    let documents = runs(&mut command)?;
    let document = documents.first().ok_or_else(|| format!("{command:?}: the result has no run"))?;
    let windows = trace.map_or_else(|| Ok(Vec::new()), |trace| windows(&trace))?;
    Ok(Run { windows, ..counts(document, setting) })
}

/// Returns the counts of a run, without windows.
fn counts(run: &RunDocument, setting: &Setting) -> Run {
    let segments =
        |goodput_bps: f64| (goodput_bps * f64::from(setting.duration) / (8.0 * PAYLOAD)).round() as u64;
    let dropped = |is_counted: fn(&str) -> bool| {
        let queues = run.queues.iter().filter(|queue| is_counted(&queue.link));
        queues.map(|queue| queue.dropped as u64).sum()
    };
    Run {
        sent: run.packets_sent as u64,
        retransmitted: run.retransmissions as u64,
        dropped: dropped(|link| link == "bottleneck"),
        dropped_at_senders: dropped(|link| link.starts_with("access-") && !link.ends_with("-reverse")),
        timeouts: run.timeouts as u64,
        cuts: run.congestion_events as u64,
        received: run.flows.iter().map(|flow| segments(flow.goodput_bps)).collect(),
        windows: Vec::new(),
    }
}

/// Returns the windows of the only flow, without the one at time 0.
fn windows(trace: &Trace) -> Result<Vec<f64>, String> {
    let samples = trace.read()?;
    let (time, cwnd) = (samples.column("time_s")?, samples.column("cwnd")?);
    let mut windows = Vec::new();
    for sample in samples.iter() {
        if sample.number(time)? > 0.0 {
            windows.push(sample.number(cwnd)?);
        }
    }
    Ok(windows)
}

#[cfg(test)]
mod tests {
    use super::super::cells::four_flows;
    use super::*;

    #[test]
    fn counts_the_queues_of_senders_and_bottleneck() {
        let document = serde_json::json!({
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
        let run = counts(&serde_json::from_value(document).unwrap(), &four_flows(100));
        assert_eq!((run.sent, run.retransmitted, run.timeouts, run.cuts), (1000, 3, 0, 2));
        assert_eq!((run.dropped, run.dropped_at_senders, run.received), (1, 6, vec![495]));
    }
}
