//! The flags of `cwnd compare`.

use crate::{
    memory::MemoryFlags,
    numbers::{repeats, threads, whole},
    recording::RecordingFlags,
    setting_flags::{Selection, SettingFlags, checked},
};
use clap::{Args, ValueEnum};
use cwnd_experiment::settings::{self, Setting};
use cwnd_scenario::Time;
use cwnd_study::EngineKind;
use std::{
    io::{self, IsTerminal},
    path::PathBuf,
};

const EXAMPLES: &str = "\
Quantities carry their unit: `100 ms`, `1.5 s`, `10 us`; `1 Gbit/s`, `unlimited`; `64 KB`, `5.1 GB`.
Buffers count packets: `1000`, `1 BDP`, `max(1 BDP, 2/flow)`; or bytes: `64 KB`; or nothing: `unlimited`.
1 BDP = bottleneck rate x largest base round-trip time (propagation only) / wire size of a packet.

Examples:
  Four flows of each of two algorithms over a long fat path:
    cwnd compare cubic elastic --flows 4 --rate '1 Gbit/s' --rtt '200 ms' --buffer 1000

  The same over the TCP of the running kernel, in real time:
    sudo cwnd compare cubic-linux elastic --engine kernel --rate '100 Mbit/s' --rtt '40 ms' --duration '20 s'

  One flow and a tiny buffer, drawn over time:
    cwnd compare agile-sd cubic-2008 --delay '4 ms' --buffer 5 --plot windows.svg

  Two algorithms against each other, with 30 repeats:
    cwnd compare --mix 'agile-sd:lambda_max=4*2,cubic*2' --repeats 30

  A queue that keeps the delay short, marks, and losses in bursts:
    cwnd compare cubic dctcp --rate '50 Mbit/s' --rtt '40 ms' --queue 'codel:ecn' \\
      --loss 'gilbert-elliott:to_bad=1e-4,to_good=0.1'

  Flows that differ in start and round-trip time:
    cwnd compare --rate '100 Mbit/s' --rtt '20 ms' --buffer 250 --duration '600 s' \\
      --flow 'cubic; start=1 s; rtt=80 ms' --flow 'cubic; start=21 s; rtt=320 ms'

  The same, kept for `cwnd report` and `cwnd export`; running it again does only what is missing:
    cwnd compare cubic elastic --repeats 30 --save results/cubic-elastic

  A study file to edit and run with `cwnd run`:
    cwnd compare cubic elastic --repeats 30 --print-study > cubic-elastic.toml

  The packets of a run for Wireshark:
    cwnd compare cubic --rate '10 Mbit/s' --rtt '40 ms' --duration '10 s' --pcap cubic.pcapng

  Short flows with web-search sizes, together with one flow of each of two algorithms:
    cwnd compare cubic bbr --rate '100 Mbit/s' --rtt '20 ms' \\
      --short-flows 'cubic; load=20 %; size=web-search'";

/// Run algorithms over the same network and compare their results.
///
/// Each algorithm named is a run of its own, with `--flows` flows of it; each `--mix` is one run, and all `--flow`
/// together are one. By default one flow crosses a dumbbell: 1 Gbit/s between access links of 10 Gbit/s, 1 + 100 + 1 ms one
/// way, a buffer of 1 BDP, for 100 s, on the linux stack. Every flag of flows, network, stack and time is a key of `[scenario]` in a study file.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Algorithms, each perhaps with parameters: `cubic`, `agile-sd:lambda_max=4,beta2=0.9`. `cwnd algorithms`
    /// lists them.
    #[arg(value_name = "ALGORITHM", value_parser = algorithm)]
    pub algorithms: Vec<String>,

    /// What the runs are.
    #[command(flatten)]
    pub settings: SettingFlags<Comparison>,

    /// What runs the flows: `sim`, the simulator; `kernel`, the TCP of this host's kernel, in real time and as root; `vm`, that of
    /// a kernel in a virtual machine, which needs QEMU; `vm:6.18`, of this series [default: sim].
    #[arg(long, value_name = "ENGINE", help_heading = RUNS)]
    pub engine: Option<EngineKind>,

    /// Seed of all that is random; repeat i has this + i - 1.
    #[arg(long, value_name = "N", value_parser = whole::<u64>, default_value = "1", allow_hyphen_values = true,
          help_heading = RUNS)]
    pub seed: u64,

    /// How many times to run each, with different seeds. The table then shows means with 95 % intervals.
    #[arg(long, value_name = "N", value_parser = repeats, default_value = "1", allow_hyphen_values = true,
          help_heading = RUNS)]
    pub repeats: u32,

    /// How many threads: each does one run, and those that are left help with large runs [default: one a core].
    #[arg(long, alias = "jobs", value_name = "N", value_parser = threads, allow_hyphen_values = true,
          help_heading = RUNS)]
    pub threads: Option<u16>,

    #[command(flatten)]
    pub memory: MemoryFlags,

    /// Keep the results in this directory, for `cwnd report`, `cwnd export` and `cwnd diff`. The same command again runs
    /// only what is missing.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub save: Option<PathBuf>,

    /// Print the study file of this comparison and run nothing: `cwnd run` gives the same runs.
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["save", "json", "pcap", "qlog", "open", "sketch"])]
    pub print_study: bool,

    /// Print one JSON document instead of a table.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Write samples of all runs over time, as `.csv` or `.parquet`.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub trace: Option<PathBuf>,

    /// Draw windows and queue over time, as `.svg`, `.png` or `.pdf`; with repeats, of the first.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub plot: Option<PathBuf>,

    /// Sketch this over time under the table, of the first repeat [default: cwnd on a terminal, else none].
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with = "json", help_heading = OUTPUT)]
    pub sketch: Option<Sketched>,

    /// Write the report as a page, beside the results of `--save` or as a temporary file, and open it.
    #[arg(long, help_heading = OUTPUT)]
    pub open: bool,

    /// Time between samples: for `--trace`, `--plot` and `--sketch`, and for the percentiles of the queue delay [default: a tenth
    /// of the shortest base RTT, or so much more that there are at most 5,000 times].
    #[arg(long, value_name = "TIME", value_parser = sample, allow_hyphen_values = true, help_heading = OUTPUT)]
    pub sample: Option<Time>,

    /// What is recorded of the first repeat of each run.
    #[command(flatten)]
    pub recording: RecordingFlags,

    /// Simulate every packet on the general path, without shortcuts: slower, and the same outcome to the bit.
    /// `=SHORTCUT` leaves out a single one (see ARCHITECTURE.md).
    #[arg(long, value_name = "SHORTCUT", num_args = 0..=1, require_equals = true, default_missing_value = "all",
          value_parser = cwnd_sim::Shortcuts::without)]
    pub no_fast_path: Option<cwnd_sim::Shortcuts>,

    /// Neither progress nor notes on standard error.
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
}

/// What a sketch shows over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sketched {
    /// The congestion window of the flows.
    Cwnd,
    /// Their throughput.
    Throughput,
    /// Nothing.
    None,
}

impl Flags {
    /// Returns what is sketched, if anything is.
    pub fn sketched(&self) -> Option<Sketched> {
        let usual = if io::stdout().is_terminal() && !self.json { Sketched::Cwnd } else { Sketched::None };
        Some(self.sketch.unwrap_or(usual)).filter(|what| *what != Sketched::None)
    }
}

/// A comparison has a flag for every setting; algorithms are named without one.
pub struct Comparison;

impl Selection for Comparison {
    fn has(setting: &Setting) -> bool {
        setting.key != "algorithm"
    }
}

const RUNS: &str = "Runs";
const OUTPUT: &str = "Output";

fn sample(text: &str) -> Result<Time, String> {
    match text.parse::<Time>() {
        Ok(Time(0)) => Err("samples need a time between them: write `100 ms`, for example".to_owned()),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

fn algorithm(text: &str) -> Result<String, String> {
    let setting = settings::find("algorithm").ok_or("there is no such setting")?;
    checked(setting, text)
}
