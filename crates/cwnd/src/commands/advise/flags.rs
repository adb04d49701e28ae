//! The flags of `cwnd advise`.

use super::{candidates, criterion::Criterion, traffic::ShortFlowsChoice};
use crate::{
    memory::MemoryFlags,
    setting_flags::{Selection, SettingFlags},
};
use clap::Args;
use cwnd_experiment::settings::Setting;
use cwnd_scenario::Time;
use cwnd_study::MAX_REPEATS;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  A path of which all is known, for transfers and web traffic:
    cwnd advise --rate 10Gbit/s --rtt 40ms --loss 0.01% --buffer 0.2BDP --short-flows web

  The same for the completion times of short flows, of three algorithms only:
    cwnd advise --rate 100Mbit/s --rtt 20ms --loss 0 --buffer 1BDP --for web --algorithms cubic-linux,bbr,elastic

  A path that was measured: what the file does not tell is given by flags, which replace what it tells:
    iperf3 -c HOST --json --get-server-output > path.json
    cwnd advise --from path.json --buffer 1BDP

  While a transfer runs, the state of its sockets once a second:
    for i in 1 2 3 4 5; do ss -tin >> path.txt; sleep 1; done
    cwnd advise --from path.txt

  A mobile link as a Mahimahi trace:
    cwnd advise --from traces/5g-mmwave.trace --rtt 40ms --loss 0 --buffer 1BDP --for interactive

  Twice as important as delay is throughput, and the study file with all its runs:
    cwnd advise --rate 50Mbit/s --rtt 80ms --loss 0 --buffer 1BDP --for throughput=2,rtt=1 --print-study > path.toml

--for names what algorithms are ranked by, measured in the runs:
  bulk         throughput of the long flows, counted on wire bytes, Mbit/s; more is better
  interactive  95th percentile of the smoothed round-trip time of the long flows, ms; less is better
  web          95th percentile of the completion time of the short flows, ms; less is better
  power        throughput / round-trip time (Kleinrock's power); the same as throughput=1,rtt=1
  throughput=A,rtt=B,completion=C
               throughput^A / (rtt^B x completion^C), of the same three quantities in Mbit/s and ms; more is better
Algorithms whose 95 % interval overlaps with that of the first one are as good as the first one.

docs/advise.md describes the runs, the formats of --from and how each quantity is estimated.";

/// Recommend a congestion control for a path, by simulation.
///
/// Simulates each candidate with Linux's TCP over the path, ranks them by --for, measures the harm to a CUBIC flow
/// next to each, and prints what the host must set. Rate, RTT, loss and buffer must be given, or found in --from.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Estimate the path from a file: CSV (time, rate, rtt, loss), `ss -tin`, pcap or pcapng, `iperf3 --json`, or a Mahimahi
    /// trace.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,

    /// The path.
    #[command(flatten)]
    pub settings: SettingFlags<PathSettings>,

    /// Short flows of the same algorithm next to the long ones: `web` (10 % of the rate and at most 100 a second, Pareto
    /// sizes of 30 KB in the mean), `none`, or as in `cwnd compare` without the algorithm: `load=20 %; size=web-search`
    /// [default: web if --for counts completion times, otherwise none].
    #[arg(long, value_name = "FLOWS", allow_hyphen_values = true)]
    pub short_flows: Option<ShortFlowsChoice>,

    /// What algorithms are ranked by: `bulk`, `interactive`, `web`, `power`, or weights such as `throughput=2,rtt=1`.
    #[arg(long = "for", value_name = "CRITERION", default_value = "bulk", allow_hyphen_values = true)]
    pub criterion: Criterion,

    /// Candidates, parted by commas, each perhaps with parameters [default: those that Linux ships or `cwnd kernel load`
    /// loads, without those that need marks].
    #[arg(long, value_name = "LIST", value_parser = candidates::list)]
    pub algorithms: Option<candidates::List>,

    /// Repeats of each run with different seeds, at least 2; all algorithms have the same seeds.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=MAX_REPEATS as i64), default_value = "5",
          allow_hyphen_values = true, help_heading = RUNS)]
    pub repeats: u32,

    /// Seed of the first repeat.
    #[arg(long, value_name = "N", default_value = "1", help_heading = RUNS)]
    pub seed: u64,

    /// The most CPU time that all runs together may be estimated to take; what would take more is refused.
    #[arg(long, value_name = "TIME", default_value = "1 h", allow_hyphen_values = true, help_heading = RUNS)]
    pub max_cpu: Time,

    /// How many threads: each does one run, and those that are left help with large runs [default: one a core].
    #[arg(long, alias = "jobs", value_name = "N", value_parser = clap::value_parser!(u16).range(1..),
          allow_hyphen_values = true, help_heading = RUNS)]
    pub threads: Option<u16>,

    #[command(flatten)]
    pub memory: MemoryFlags,

    /// Keep the results in this directory, for `cwnd report`, `cwnd export` and `cwnd diff`. The same command again runs
    /// only what is missing.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub save: Option<PathBuf>,

    /// Print the study file of these runs and run nothing: `cwnd run` gives the same runs.
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["save", "json"])]
    pub print_study: bool,

    /// Print one JSON document instead of tables.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Neither progress nor notes on standard error.
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
}

const RUNS: &str = "Runs";
const OUTPUT: &str = "Output";

/// The settings of a path that `cwnd advise` has flags for.
pub struct PathSettings;

const SETTINGS: [&str; 14] = [
    "rate",
    "rtt",
    "loss",
    "buffer",
    "queue",
    "ecn-threshold",
    "jitter",
    "policer",
    "reverse-rate",
    "ecn",
    "mtu",
    "flows",
    "duration",
    "warm-up",
];

impl Selection for PathSettings {
    fn has(setting: &Setting) -> bool {
        SETTINGS.contains(&setting.key)
    }

    fn default(setting: &Setting) -> &'static str {
        match setting.key {
            "rate" | "rtt" | "loss" | "buffer" => "found in --from, or it must be given",
            "duration" => "from the path: warm-up + max(20 s, 200 RTTs, 3 epochs of CUBIC)",
            "warm-up" => "from the path: max(5 s, 50 RTTs)",
            "flows" => "1",
            _ => setting.default,
        }
    }
}
