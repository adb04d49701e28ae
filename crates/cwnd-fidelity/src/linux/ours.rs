//! cwnd over the recorded path.

use super::cases::{self, Case, CaseRecordings, Path, Single, Transfer};
use super::curves::{Curve, Point};
use crate::cwnd::{self, Cwnd, Trace};
use crate::program;
use crate::samples::Samples;
use std::process::Command;

/// One-way delay of the path. The recorded bottleneck sends a packet at once when it is idle, and the next one a transmission
/// time later; cwnd's link takes a transmission time for each packet. The delay is therefore shorter by half of the 121.12 us of
/// a packet and the 5.28 us of an ACK. The recorded round-trip time is 40.002 ms, since each timer is 1 us late. Modules that round
/// up to milliseconds (H-TCP, Westwood) have 41 ms.
const DELAY: &str = "19937800 ns";

/// Receive window, packets of 1,448 B. The recorded receiver's window grows up to 64 MiB, and the receiver acknowledges every
/// packet for the first half of that. (`highspeed` and `hybla`, which count ACKs, grow half as fast from 33.5 MB on, in all
/// recordings.)
const RECEIVE_WINDOW: &str = "46341";

/// Means of a flow.
#[derive(Clone, Debug)]
pub struct Means {
    /// Mbit/s.
    pub goodput: f64,
    /// Segments.
    pub cwnd: f64,
    /// Congestion episodes of all flows of the run.
    pub episodes: f64,
    /// Segments that the flow sent again.
    pub retransmissions: f64,
}

/// A flow over time.
pub struct Flow {
    /// One point each 10 ms.
    pub curve: Curve,
    /// Recovery episodes from the fifth second on.
    pub episodes: u32,
}

fn compare(cwnd: &Cwnd, buffer: u32, time: f64) -> Command {
    compare_over(cwnd, &recorded_path(buffer, time))
}

fn recorded_path(buffer: u32, time: f64) -> Path {
    Path { rate: "100 Mbit/s", delay: DELAY, buffer, time }
}

fn compare_over(cwnd: &Cwnd, path: &Path) -> Command {
    let mut command = cwnd.compare("linux");
    command.args(path_options(path));
    command
}

/// Returns the options of `cwnd compare` for a path.
fn path_options(path: &Path) -> Vec<String> {
    let Path { rate, delay, buffer, time } = *path;
    let mut options = vec!["--rate", rate, "--delay", delay, "--receive-window", RECEIVE_WINDOW];
    options.extend(["--access-rate", "unlimited", "--access-buffer", "bottleneck"]);
    options.extend(["--access-delay", "0 s", "--send-overhead", "0 s"]);
    let mut options: Vec<String> = options.into_iter().map(str::to_owned).collect();
    options.extend(["--buffer".to_owned(), buffer.to_string(), "--duration".to_owned(), format!("{time} s")]);
    options
}

/// Returns the options of `cwnd compare` for the path of the first archive, with flows that start at the given times.
pub fn recorded(buffer: u32, time: f64) -> Vec<String> {
    let mut options = path_options(&recorded_path(buffer, time));
    options.extend(["--start-jitter", "0 s"].map(str::to_owned));
    options
}

fn compare_single(cwnd: &Cwnd, case: &Case) -> Command {
    let mut command = compare(cwnd, cases::BUFFER, cases::SINGLE_TIME);
    if let Some(packets) = case.marks_beyond {
        command.args(["--ecn-threshold", &packets.to_string()]);
    }
    command.args([case.algorithm, "--start-jitter", "0 s"]);
    command
}

fn compare_pair(cwnd: &Cwnd, cases: [&Case; 2]) -> Command {
    let mut command = compare(cwnd, cases::PAIR_BUFFER, cases::PAIR_TIME);
    command.args(["--flow", cases[0].algorithm]);
    command.args(["--flow", &format!("{}; start={} s", cases[1].algorithm, cases::PAIR_OFFSET)]);
    command
}

/// Runs a single flow without random loss.
pub fn lossless(cwnd: &Cwnd, case: &Case) -> Result<Flow, String> {
    let mut command = compare_single(cwnd, case);
    let trace = Trace::of(&mut command, "10 ms")?;
    program::output(&mut command)?;
    flow(&trace.read()?, 1)
}

/// Runs a single flow with random loss, once for each seed from 1 on, over a kernel with this timer. The means start at the fifth second.
pub fn lossy(cwnd: &Cwnd, case: &Case, seeds: usize, timer_hz: u32) -> Result<Vec<Means>, String> {
    let mut command = compare_single(cwnd, case);
    command.args(["--per", &cases::LOSS.to_string(), "--seed", "1", "--timer-hz", &timer_hz.to_string()]);
    command.args(["--warm-up", &format!("{} s", cases::SINGLE_FROM), "--repeats", &seeds.to_string()]);
    Ok(means(&mut command)?.into_iter().flatten().collect())
}

/// Runs a single flow of the second archive, and returns its curve.
pub fn single_curve(cwnd: &Cwnd, single: &Single) -> Result<Curve, String> {
    let mut command = compare_over(cwnd, &single.path);
    command.args([cases::of(single.module).algorithm, "--start-jitter", "0 s"]).args(single.options);
    let trace = Trace::of(&mut command, "100 ms")?;
    program::output(&mut command)?;
    Ok(flow(&trace.read()?, 1)?.curve)
}

/// Runs a single flow of the second archive; one that is random `seeds` times.
pub fn single(
    cwnd: &Cwnd,
    single: &Single,
    recorded: &CaseRecordings,
    seeds: usize,
) -> Result<Vec<Means>, String> {
    let mut command = compare_over(cwnd, &single.path);
    command.args([cases::of(single.module).algorithm, "--start-jitter", "0 s"]).args(single.options);
    if single.given_losses {
        command.args(["--loss", &nth(&recorded.given_losses, 2)]);
    }
    if single.is_random {
        command.args(["--repeats", &seeds.to_string()]);
    }
    Ok(means(&mut command)?.into_iter().flatten().collect())
}

/// The result of a transfer.
pub struct Completed {
    /// Seconds from the end of the handshake; `None` if it does not end within the run.
    pub time: Option<f64>,
    pub retransmissions: f64,
}

/// Runs a transfer. The SYN and the ACK of the handshake count among the sender's packets, and the receiver's SYN among its.
pub fn transfer(cwnd: &Cwnd, transfer: &Transfer) -> Result<Completed, String> {
    let mut command = compare_over(cwnd, &cases::TRANSFER_PATH);
    let algorithm = cases::of(&transfer.module).algorithm;
    command.args(["--flow", &format!("{algorithm}; start={} s; bytes={} B", transfer.clock, transfer.bytes)]);
    command.args(["--start-jitter", "0 s"]);
    if !transfer.lost_data.is_empty() {
        command.args(["--loss", &nth(&transfer.lost_data, 2)]);
    }
    if !transfer.lost_acks.is_empty() {
        command.args(["--reverse-loss", &nth(&transfer.lost_acks, 1)]);
    }
    let runs = cwnd::runs(&mut command)?;
    let flow = runs.first().and_then(|run| run.flows.first()).ok_or("there is no flow")?;
    Ok(Completed { time: flow.completion_time_s, retransmissions: flow.retransmissions })
}

/// Writes the loss of the packets with these numbers, after `more` packets of the handshake.
fn nth(numbers: &[u64], more: u64) -> String {
    let numbers: Vec<String> = numbers.iter().map(|number| (number + more).to_string()).collect();
    format!("nth:{}", numbers.join(","))
}

/// Runs two flows of Illinois, the second from a given time on, `starts` times with start times within a round-trip time, or once
/// without. Returns the means of both flows from `from` until the end of the first.
pub fn late_start(
    cwnd: &Cwnd,
    &(_, until, second, stop): &(&str, f64, f64, f64),
    from: f64,
    starts: usize,
) -> Result<Vec<Vec<Means>>, String> {
    let algorithm = cases::of("illinois").algorithm;
    let mut command = compare(cwnd, cases::PAIR_BUFFER, until.min(stop));
    command.args(["--flow", algorithm, "--flow", &format!("{algorithm}; start={second} s")]);
    command.args(["--warm-up", &format!("{from} s")]);
    let jitter = if starts > 1 { cases::RTT } else { 0.0 };
    command.args(["--start-jitter", &format!("{jitter} s"), "--repeats", &starts.to_string()]);
    means(&mut command)
}

/// Runs a pair of flows with start times within a round-trip time, `starts` times. Returns the means of both flows.
pub fn pair(cwnd: &Cwnd, cases: [&Case; 2], starts: usize) -> Result<Vec<Vec<Means>>, String> {
    let mut command = compare_pair(cwnd, cases);
    command.args(["--start-jitter", &format!("{} s", cases::RTT), "--repeats", &starts.to_string()]);
    command.args(["--warm-up", &format!("{} s", cases::PAIR_FROM)]);
    means(&mut command)
}

/// Runs a pair of flows with the recorded start times. Returns both curves; times count from each flow's start.
pub fn pair_curves(cwnd: &Cwnd, cases: [&Case; 2]) -> Result<[Curve; 2], String> {
    let mut command = compare_pair(cwnd, cases);
    command.args(["--start-jitter", "0 s"]);
    let trace = Trace::of(&mut command, "100 ms")?;
    program::output(&mut command)?;
    let samples = trace.read()?;
    let mut second = flow(&samples, 2)?.curve;
    second.0.retain(|point| point.time >= cases::PAIR_OFFSET);
    second.0.iter_mut().for_each(|point| point.time -= cases::PAIR_OFFSET);
    Ok([flow(&samples, 1)?.curve, second])
}

/// Runs `cwnd compare`. Returns the means of the flows of each run.
fn means(command: &mut Command) -> Result<Vec<Vec<Means>>, String> {
    let runs = cwnd::runs(command)?;
    runs.iter()
        .map(|run| {
            let flows = run.flows.iter().map(|flow| {
                let cwnd = flow.cwnd_mean.ok_or("a flow has no mean congestion window")?;
                Ok(Means {
                    goodput: flow.goodput_bps / 1e6,
                    cwnd,
                    episodes: run.congestion_events,
                    retransmissions: flow.retransmissions,
                })
            });
            flows.collect()
        })
        .collect()
}

/// Returns the flow with this number, counted from 1.
fn flow(samples: &Samples, number: u32) -> Result<Flow, String> {
    let [time, cwnd, acked, state, of] =
        ["time_s", "cwnd", "delivered_bytes", "state", "flow"].map(|name| samples.column(name));
    let (time, cwnd, acked, state, of) = (time?, cwnd?, acked?, state?, of?);
    let mut flow = Flow { curve: Curve(Vec::new()), episodes: 0 };
    let (mut lost, mut in_recovery) = (false, false);
    for sample in samples.iter() {
        if sample.number(of)? != f64::from(number) {
            continue;
        }
        let time = sample.number(time)?;
        let recovers = matches!(sample.text(state), "recovery" | "loss");
        lost |= recovers;
        flow.episodes += u32::from(recovers && !in_recovery && time > cases::SINGLE_FROM);
        in_recovery = recovers;
        flow.curve.0.push(Point { time, cwnd: sample.number(cwnd)?, acked: sample.number(acked)?, lost });
    }
    Ok(flow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_episodes_after_the_fifth_second() {
        let samples = Samples::parse(
            "time_s,flow,cwnd,delivered_bytes,state\n0,1,10,0,open\n4,1,20,100,recovery\n\
             6,1,20,200,open\n6,2,10,0,open\n7,1,30,300,recovery\n8,1,30,400,recovery\n9,1,9,400,loss\n",
        );
        let second = flow(&samples, 2).unwrap();
        assert_eq!((second.episodes, second.curve.0.len()), (0, 1));
        let first = flow(&samples, 1).unwrap();
        assert_eq!((first.episodes, first.curve.0.len()), (1, 6));
        assert_eq!(first.curve.first_loss(), Some((0.0, 4.0)));
    }
}
