//! The text of the study that `cwnd new` writes.

use super::Choices;
use cwnd_scenario::Time;

/// About as many packets are simulated in a run.
const PACKETS: f64 = 100_000.0;
/// Bits of a packet on the wire, about.
const PACKET_BITS: f64 = 12_000.0;
/// Least duration of a run in round trips, since algorithms need them to converge, and in seconds.
const LEAST: (f64, f64) = (100.0, 5.0);
/// Greatest duration of a run, seconds, unless round trips are long.
const MOST_S: f64 = 30.0;

/// Returns the study, whose comments say what can be changed.
pub fn of(Choices { algorithms, rate, rtt }: &Choices) -> String {
    let duration = duration(rate.0 as f64, *rtt);
    let list: Vec<String> = algorithms.0.iter().map(|name| format!("\"{name}\"")).collect();
    let (names, list) = (algorithms.0.join(", "), list.join(", "));
    format!(
        r#"# A study: `cwnd check FILE` tells what it runs and costs, `cwnd run FILE` runs it and writes a report.
# Quantities carry their unit. `cwnd algorithms`, `cwnd networks` and `cwnd metrics` list what can be named here;
# `cwnd compare --help` explains every key of [scenario]; `cwnd schema` prints a JSON Schema for editors.

title = "Throughput and delay against the buffer: {names}"
question = "How much of the link does one flow use, and how long do its packets wait, as the buffer grows?"

# What all runs have in common. What is not named has its default.
[scenario]
topology = "path"         # one bottleneck between two hosts; or "dumbbell", "parking-lot"
rate = "{rate}"
rtt = "{rtt}"             # without queues
flows = 1                 # of one algorithm
stack = "linux"           # initial window 10, delayed ACKs, SACK; or "ns2"
duration = "{duration}"
start-jitter = "100 ms"   # when a flow starts is drawn for each repeat
# per = 1e-4              # packets lost to errors
# queue = "codel"         # the bottleneck's queue management

[run]
repeats = 5               # each with its own seed; intervals are computed over them
metrics = ["throughput_bps", "utilisation", "rtt_mean_s", "queue_delay_p95_s", "loss_ratio"]

# What varies: every combination of the axes' values is a cell, and each cell is run `repeats` times.
[[axes]]
name = "algorithm"
title = "Algorithm"
key = "algorithm"         # any key of [scenario]
values = [{list}]

[[axes]]
name = "buffer"
title = "Buffer"
key = "buffer"
values = ["0.25 BDP", "1 BDP", "4 BDP"]   # of the bottleneck; or packets: 100

# What the report shows.
[[figures]]
name = "utilisation"
title = "Share of the link that one flow uses"
kind = "line"             # or "bars", "heat-map", "trace"
x = "buffer"
y = "utilisation"
series = "algorithm"

[[figures]]
name = "delay"
title = "Queue delay, 95th percentile"
kind = "line"
x = "buffer"
y = "queue_delay_p95_s"
series = "algorithm"

[[tables]]
name = "all"
title = "All results"
rows = ["algorithm", "buffer"]
metrics = ["throughput_bps", "utilisation", "rtt_mean_s", "queue_delay_p95_s", "loss_ratio"]

# What you expect, written before the runs: the report says whether it holds.
[[claims]]
text = "With a buffer of one BDP every algorithm uses at least 80 % of the link."
measure = "least"
metric = "utilisation"
where = {{ buffer = "1 BDP" }}
expect = ">= 0.8"
"#
    )
}

/// Returns how long a run lasts, so that it is quick.
fn duration(bits: f64, rtt: Time) -> Time {
    let least = (LEAST.0 * rtt.as_secs_f64()).max(LEAST.1);
    let quick = PACKETS * PACKET_BITS / bits;
    Time::from_secs(quick.min(MOST_S).max(least).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_quick_but_have_time_to_converge() {
        let duration = |bits: f64, rtt| duration(bits, Time::from_millis(rtt));
        assert_eq!(duration(10e6, 40), Time::from_secs(30));
        // 1.2e9 bits at 100 Mbit/s are 12 s; at 10 Gbit/s 0.12 s; 100 round trips of a second are 100 s.
        assert_eq!(duration(100e6, 40), Time::from_secs(12));
        assert_eq!(duration(10e9, 1), Time::from_secs(5));
        assert_eq!(duration(100e6, 1_000), Time::from_secs(100));
    }
}
