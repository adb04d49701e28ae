//! cwnd as a program, over the recorded path.

use super::cases::{self, Case};
use super::curves::{Curve, Point};
use crate::{command, json};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The recorded path's delay, one way. Its bottleneck lets a packet go at once that finds it idle, and the next one a
/// packet's time later; ours takes a packet's time for each. So that the round-trip time is the recorded 40 ms, the delay is
/// shorter by half of the 121.12 us of a packet and the 5.28 us of an ACK.
const DELAY: &str = "19936800 ns";

/// A run's answer, of each flow.
#[derive(Clone, Debug)]
pub struct Means {
    /// Mbit/s.
    pub goodput: f64,
    /// Segments.
    pub cwnd: f64,
    /// Congestion episodes of all flows of the run.
    pub episodes: f64,
}

/// How a flow of ours went.
pub struct Flow {
    /// One point each hundredth of a second.
    pub curve: Curve,
    /// Recovery episodes from the fifth second on.
    pub episodes: u32,
}

/// The recorded receiver's window grows up to 64 MiB: it acknowledges every packet for the first half of that (`highspeed` and
/// `hybla`, which count ACKs, grow half as fast from 33.5 MB on, in all recordings). In packets of 1,448 B.
const RECEIVE_WINDOW: &str = "46341";

fn compare(cwnd: &Path, buffer: u32, duration: f64) -> Command {
    let mut command = Command::new(cwnd);
    command.args([
        "compare",
        "--stack",
        "linux",
        "--rate",
        "100 Mbit/s",
        "--delay",
        DELAY,
        "--json",
        "--quiet",
    ]);
    command.args(["--receive-window", RECEIVE_WINDOW]);
    command.args(["--access-rate", "unlimited", "--access-delay", "0 s", "--send-overhead", "0 s"]);
    command.args(["--buffer", &buffer.to_string(), "--duration", &format!("{duration} s")]);
    command
}

fn over_path(command: &mut Command, case: &Case) {
    if let Some(packets) = case.marks_beyond {
        command.args(["--ecn-threshold", &packets.to_string()]);
    }
}

/// A single flow without random loss.
pub fn lossless(cwnd: &Path, case: &Case) -> Result<Flow, String> {
    let trace = Trace::new();
    let mut command = compare(cwnd, cases::BUFFER, cases::SINGLE_TIME);
    over_path(&mut command, case);
    command.args([case.algorithm, "--start-jitter", "0 s", "--sample", "10 ms", "--trace"]).arg(&trace.0);
    command::output(&mut command)?;
    trace.flow(None)
}

/// A single flow with random loss, once for each seed; counted from the fifth second on.
pub fn lossy(cwnd: &Path, case: &Case, seeds: usize) -> Result<Vec<Means>, String> {
    let mut command = compare(cwnd, cases::BUFFER, cases::SINGLE_TIME);
    over_path(&mut command, case);
    command.args([case.algorithm, "--start-jitter", "0 s", "--per", &cases::LOSS.to_string()]);
    command.args(["--warm-up", &format!("{} s", cases::SINGLE_FROM), "--repeats", &seeds.to_string()]);
    Ok(runs(&mut command)?.into_iter().flatten().collect())
}

/// A pair of flows, for so many starts within a round-trip time.
pub fn pair(cwnd: &Path, cases: [&Case; 2], starts: usize) -> Result<Vec<Vec<Means>>, String> {
    let mut command = compare(cwnd, cases::PAIR_BUFFER, cases::PAIR_TIME);
    command.args(["--flow", cases[0].algorithm]);
    command.args(["--flow", &format!("{}; start={} s", cases[1].algorithm, cases::PAIR_OFFSET)]);
    command.args(["--start-jitter", &format!("{} s", cases::RTT), "--repeats", &starts.to_string()]);
    command.args(["--warm-up", &format!("{} s", cases::PAIR_FROM)]);
    runs(&mut command)
}

/// The curves of a pair of flows that start exactly when the recorded ones did; times count from each flow's start.
pub fn pair_curves(cwnd: &Path, cases: [&Case; 2]) -> Result<[Curve; 2], String> {
    let trace = Trace::new();
    let mut command = compare(cwnd, cases::PAIR_BUFFER, cases::PAIR_TIME);
    command.args(["--flow", cases[0].algorithm]);
    command.args(["--flow", &format!("{}; start={} s", cases[1].algorithm, cases::PAIR_OFFSET)]);
    command.args(["--start-jitter", "0 s", "--sample", "100 ms", "--trace"]).arg(&trace.0);
    command::output(&mut command)?;
    let flow = |number: u32| Ok::<Curve, String>(trace.flow(Some(number))?.curve);
    let mut second = flow(2)?;
    second.0.retain(|point| point.time >= cases::PAIR_OFFSET);
    second.0.iter_mut().for_each(|point| point.time -= cases::PAIR_OFFSET);
    Ok([flow(1)?, second])
}

/// The flows of all runs.
fn runs(command: &mut Command) -> Result<Vec<Vec<Means>>, String> {
    let document: Value = serde_json::from_str(&command::output(command)?)
        .map_err(|error| format!("{}: {error}", command::shown(command)))?;
    let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    list(&document, "runs")
        .iter()
        .map(|run| {
            let episodes = json::number(run, "/congestion_events")?;
            list(run, "flows")
                .iter()
                .map(|flow| {
                    let goodput = json::number(flow, "/goodput_bps")? / 1e6;
                    Ok(Means { goodput, cwnd: json::number(flow, "/cwnd_mean")?, episodes })
                })
                .collect()
        })
        .collect()
}

/// A file for the samples of one run, gone afterwards.
struct Trace(PathBuf);

impl Trace {
    fn new() -> Trace {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        Trace(std::env::temp_dir().join(format!("cwnd-fidelity-linux-{}-{number}.csv", std::process::id())))
    }

    /// The flow of this number, or the only one.
    fn flow(&self, number: Option<u32>) -> Result<Flow, String> {
        let text =
            std::fs::read_to_string(&self.0).map_err(|error| format!("{}: {error}", self.0.display()))?;
        flow(&text, number).ok_or_else(|| "the trace lacks a column".to_owned())
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // It is in a directory for temporary files, whatever becomes of it.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn flow(text: &str, only: Option<u32>) -> Option<Flow> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next()?.split(',').collect();
    let column = |name: &str| head.iter().position(|&known| known == name);
    let (time, cwnd) = (column("time_s")?, column("cwnd")?);
    let (acked, state, of) = (column("delivered_bytes")?, column("state")?, column("flow")?);
    let mut flow = Flow { curve: Curve(Vec::new()), episodes: 0 };
    let (mut lost, mut in_recovery) = (false, false);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |column: usize| fields.get(column)?.parse::<f64>().ok();
        if only.is_some_and(|only| number(of) != Some(f64::from(only))) {
            continue;
        }
        let time = number(time)?;
        let recovers = matches!(*fields.get(state)?, "recovery" | "loss");
        lost |= recovers;
        flow.episodes += u32::from(recovers && !in_recovery && time > cases::SINGLE_FROM);
        in_recovery = recovers;
        flow.curve.0.push(Point { time, cwnd: number(cwnd)?, acked: number(acked)?, lost });
    }
    Some(flow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_trace() {
        let text = "time_s,flow,cwnd,delivered_bytes,state\n0,1,10,0,open\n4,1,20,100,recovery\n\
                    6,1,20,200,open\n6,2,10,0,open\n7,1,30,300,recovery\n8,1,30,400,recovery\n9,1,9,400,loss\n";
        let second = super::flow(text, Some(2)).unwrap();
        assert_eq!((second.episodes, second.curve.0.len()), (0, 1));
        let flow = flow(text, Some(1)).unwrap();
        assert_eq!((flow.episodes, flow.curve.0.len()), (1, 6));
        assert_eq!(flow.curve.first_loss(), Some((0.0, 4.0)));
    }
}
