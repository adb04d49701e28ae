//! The flags of `cwnd compare`.

mod network;

pub use network::NetworkFlags;

use crate::{catalogue, engines::EngineName, memory::MemoryFlags, recording::RecordingFlags};
use clap::{Args, ValueEnum};
use cwnd_scenario::{
    AlgorithmSpec, Buffer, ByteSize, EcnThreshold, FlowGroup, Mix, NotationError, Probability, Rate,
    ShortFlows, Time, Traffic, build::MAX_FLOWS,
};
use std::{path::PathBuf, str::FromStr};

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

  The packets of a run for Wireshark:
    cwnd compare cubic --stack linux --rate '10 Mbit/s' --rtt '40 ms' --duration '10 s' --pcap cubic.pcapng

  Short flows, of sizes as in web search, beside a flow of each of two algorithms:
    cwnd compare cubic bbr --stack linux --rate '100 Mbit/s' --rtt '20 ms' --access-rate '1 Gbit/s' \\
      --short-flows 'cubic; load=20 %; size=web-search'";

/// Run algorithms over the same network and lay their results side by side.
///
/// Each algorithm named is a run of its own, with `--flows` flows of it; each `--mix` is one run, and all `--flow`
/// together are one. By default one flow crosses a dumbbell: 1 Gbit/s, 1 + 100 + 1 ms one way, buffers of 1 BDP, for
/// 100 s, on the ns2 stack.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Algorithms, each perhaps with parameters: `cubic`, `agile-sd:lambda_max=4,beta2=0.9`. `cwnd algorithms`
    /// lists them.
    #[arg(value_name = "ALGORITHM", value_parser = algorithm)]
    pub algorithms: Vec<Said<AlgorithmSpec>>,

    /// How many flows each algorithm has [default: 1].
    #[arg(long, value_name = "N", value_parser = flow_count, allow_hyphen_values = true, help_heading = FLOWS)]
    pub flows: Option<u32>,

    /// Several algorithms on one bottleneck: `agile-sd:lambda_max=4,beta2=0.9*2,elastic*2`. A piece without `=`
    /// begins a new item, `*N` stands last. May be given again for a further run.
    #[arg(long, value_name = "MIX", value_parser = mix, help_heading = FLOWS)]
    pub mix: Vec<Said<Mix>>,

    /// A flow, or some equal ones, with all that sets it apart: `ALGORITHM; count=1; start=21 s; stop=85 s;
    /// rtt=320 ms; bytes=5.1 GB; traffic=live:5 Mbit/s; deadline=50 ms; reverse`; in a satellite network `side=wired`, in
    /// a parking lot `hop=2`. May be given again for further flows of the same run.
    #[arg(long, value_name = "FLOW", value_parser = flow, help_heading = FLOWS)]
    pub flow: Vec<Said<FlowGroup>>,

    /// So many endless flows of the same algorithm from right to left, beside the others.
    #[arg(long, value_name = "N", value_parser = count_or_none, default_value = "0", allow_hyphen_values = true,
          help_heading = FLOWS)]
    pub reverse_flows: u32,

    /// Each flow sends so much and ends, instead of sending without end: `5.1 GB`, or a number of bytes.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, help_heading = FLOWS)]
    pub bytes: Option<ByteSize>,

    /// What applications give their flows to send [default: bulk]: `on-off:exponential 2 s,1 s`, `live:5 Mbit/s`,
    /// `responses:size=web-search,think=1 s`.
    #[arg(long, value_name = "TRAFFIC", help_heading = FLOWS)]
    pub traffic: Option<Traffic>,

    /// How long after its start each flow should be complete; D2TCP is told [default: it does not matter].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = FLOWS)]
    pub deadline: Option<Time>,

    /// Flows that arrive at random, send some bytes and end, beside the others: `cubic; load=20 %; size=web-search`, or
    /// `rate=50/s` instead of the load.
    #[arg(long, value_name = "FLOWS", value_parser = short_flows, help_heading = FLOWS)]
    pub short_flows: Option<Said<ShortFlows>>,

    /// Flow i starts i - 1 times this after the first.
    #[arg(long, value_name = "TIME", default_value = "0 s", allow_hyphen_values = true, help_heading = FLOWS)]
    pub stagger: Time,

    /// Flow i of n sends nothing new from n - i times this before the end [default: flows do not stop].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = FLOWS)]
    pub stop_stagger: Option<Time>,

    /// `dumbbell`: each flow has its own hosts and access links. `path`: all share one line between two hosts.
    /// `parking-lot`: bottlenecks in a row. `satellite`: flows over a satellite and over wires. `incast`: many senders,
    /// one receiver.
    #[arg(long, value_enum, default_value = "dumbbell", help_heading = NETWORK)]
    pub topology: TopologyName,

    /// Rate of the bottleneck, counted on wire bytes [default: 1 Gbit/s; with --rate-trace its mean].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, help_heading = NETWORK)]
    pub rate: Option<Rate>,

    /// Delay of the bottleneck, one way [default: 100 ms].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "rtt", help_heading = NETWORK)]
    pub delay: Option<Time>,

    /// Base round-trip time: sets the bottleneck's delay so that the whole path has it.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = NETWORK)]
    pub rtt: Option<Time>,

    /// What the queue before the bottleneck holds.
    #[arg(long, value_name = "BUFFER", default_value = "1 BDP", allow_hyphen_values = true, help_heading = NETWORK)]
    pub buffer: Buffer,

    /// Rate of the access links [default: the bottleneck's; 1 Gbit/s with a satellite].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, help_heading = NETWORK)]
    pub access_rate: Option<Rate>,

    /// Delay of each access link, one way [default: 1 ms; 10 ms with a satellite].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = NETWORK)]
    pub access_delay: Option<Time>,

    /// What the queues of the access links hold, a sender's own queue among them [default: as the bottleneck's].
    #[arg(long, value_name = "BUFFER", allow_hyphen_values = true, help_heading = NETWORK)]
    pub access_buffer: Option<Buffer>,

    /// Packet error rate: each packet that crosses the bottleneck forward is lost with this probability (`1e-5`,
    /// `0.1 %`).
    #[arg(long, value_name = "PROBABILITY", default_value = "0", allow_hyphen_values = true, conflicts_with = "loss",
          help_heading = NETWORK)]
    pub per: Probability,

    /// The bottleneck marks packets that find more than so many packets (`50`), or more than such a part of its
    /// limit (`20%`) [default: it marks none].
    #[arg(long, value_name = "THRESHOLD", allow_hyphen_values = true, help_heading = NETWORK)]
    pub ecn_threshold: Option<EcnThreshold>,

    /// What else is said of the network.
    #[command(flatten)]
    pub network: NetworkFlags,

    /// What runs the flows [default: sim].
    #[arg(long, value_name = "ENGINE", value_enum, help_heading = STACK)]
    pub engine: Option<EngineName>,

    /// `ns2`: ns-2.35's TCP-Linux agent, whose queues count the packet in transmission. `linux`: today's Linux
    /// [default: ns2; linux with --engine kernel].
    #[arg(long, value_enum, help_heading = STACK)]
    pub stack: Option<StackName>,

    /// Payload of a packet, bytes [default: 1000 with ns2; by the MTU with linux].
    #[arg(long, value_name = "BYTES", value_parser = whole::<u32>, allow_hyphen_values = true,
          conflicts_with = "mtu", help_heading = STACK)]
    pub packet_size: Option<u32>,

    /// IP bytes of a packet, with linux alone [default: 1500, which carry 1448 in 1514 on the wire].
    #[arg(long, value_name = "BYTES", value_parser = whole::<u32>, allow_hyphen_values = true, help_heading = STACK)]
    pub mtu: Option<u32>,

    /// Selective acknowledgements [default: on].
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = STACK)]
    pub sack: Option<Switch>,

    /// Timestamps; they cost 10 bytes a packet with ns2, 12 with linux [default: on].
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = STACK)]
    pub timestamps: Option<Switch>,

    /// One ACK for every second packet [default: off with ns2, on with linux].
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true, help_heading = STACK)]
    pub delayed_ack: Option<Switch>,

    /// Explicit congestion notification (RFC 3168); `auto` is on where a queue marks.
    #[arg(long, value_enum, default_value = "auto", help_heading = STACK)]
    pub ecn: EcnName,

    /// The receiver's window, packets [default: 100000 with ns2, where it is the initial ssthresh too; 4 x (BDP +
    /// buffers) with linux].
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_hyphen_values = true, help_heading = STACK)]
    pub receive_window: Option<u32>,

    /// How long to simulate.
    #[arg(long, value_name = "TIME", default_value = "100 s", allow_hyphen_values = true, help_heading = TIME)]
    pub duration: Time,

    /// What happens before this time is not counted.
    #[arg(long, value_name = "TIME", default_value = "0 s", allow_hyphen_values = true, help_heading = TIME)]
    pub warm_up: Time,

    /// Seed of all that is random; repeat i has this + i - 1.
    #[arg(long, value_name = "N", value_parser = whole::<u64>, default_value = "1", allow_hyphen_values = true,
          help_heading = TIME)]
    pub seed: u64,

    /// How many times to run each, with different seeds. The table then shows means with 95 % intervals.
    #[arg(long, value_name = "N", value_parser = repeats, default_value = "1", allow_hyphen_values = true,
          help_heading = TIME)]
    pub repeats: u32,

    /// Each flow starts up to this much later, uniformly drawn; `0 s` for not at all [default: one base round-trip
    /// time].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = TIME)]
    pub start_jitter: Option<Time>,

    /// Each packet leaves its sender up to this much later, uniformly drawn, as with ns-2's `overhead_`; `0 s` for
    /// not at all [default: one serialisation time at the bottleneck].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = TIME)]
    pub send_overhead: Option<Time>,

    /// Which of simultaneous arrivals at a link comes first: by number of the host or link that it comes from, or by turn,
    /// as in ns-2: from where it is longest ago that one came. It matters where nothing is random.
    #[arg(long, value_name = "ORDER", default_value = "by-number", help_heading = TIME)]
    pub ties: TiesName,

    /// Print one JSON document instead of a table.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Write samples of all runs over time, as `.csv` or `.parquet`.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub trace: Option<PathBuf>,

    /// Draw windows and queue over time, as `.svg`; with repeats, of the first.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub plot: Option<PathBuf>,

    /// Time between samples for `--trace` and `--plot`.
    #[arg(long, value_name = "TIME", value_parser = sample, default_value = "100 ms", allow_hyphen_values = true,
          help_heading = OUTPUT)]
    pub sample: Time,

    /// What is recorded of the first repeat of each run.
    #[command(flatten)]
    pub recording: RecordingFlags,

    #[command(flatten)]
    pub memory: MemoryFlags,

    /// Simulate every packet on the general path, without shortcuts: slower, and the same outcome to the bit.
    /// `=SHORTCUT` leaves out a single one (see ARCHITECTURE.md).
    #[arg(long, value_name = "SHORTCUT", num_args = 0..=1, require_equals = true, default_missing_value = "all",
          value_parser = crate::simulator::without_shortcuts)]
    pub no_fast_path: Option<cwnd_sim::Shortcuts>,

    /// Neither progress nor notes on standard error.
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
}

const FLOWS: &str = "Flows";
const NETWORK: &str = "Network";
const STACK: &str = "Stack";
const TIME: &str = "Time and chance";
const OUTPUT: &str = "Output";

/// The most repeats of a run.
const MAX_REPEATS: u32 = 100_000;

/// A topology by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TopologyName {
    Dumbbell,
    Path,
    ParkingLot,
    Satellite,
    Incast,
}

/// A stack profile by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StackName {
    Ns2,
    Linux,
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    #[value(alias = "true")]
    On,
    #[value(alias = "false")]
    Off,
}

/// Whether to use ECN.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EcnName {
    Auto,
    #[value(alias = "true")]
    On,
    #[value(alias = "false")]
    Off,
}

/// Which of simultaneous arrivals comes first.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TiesName {
    ByNumber,
    ByTurn,
}

/// A value with the text that said it.
#[derive(Clone)]
pub struct Said<T> {
    pub text: String,
    pub value: T,
}

impl<T: FromStr<Err = NotationError>> Said<T> {
    fn parse(text: &str) -> Result<Said<T>, String> {
        let value = text.parse().map_err(|error: NotationError| error.to_string())?;
        Ok(Said { text: text.trim().to_owned(), value })
    }
}

fn sample(text: &str) -> Result<Time, String> {
    match text.parse::<Time>() {
        Ok(Time(0)) => Err("samples need a time between them: write `100 ms`, for example".to_owned()),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

fn algorithm(text: &str) -> Result<Said<AlgorithmSpec>, String> {
    let said = Said::<AlgorithmSpec>::parse(text)?;
    catalogue::algorithm(&said.value).map(|()| said)
}

fn mix(text: &str) -> Result<Said<Mix>, String> {
    let said = Said::<Mix>::parse(text)?;
    for (i, group) in said.value.0.iter().enumerate() {
        catalogue::algorithm(&group.algorithm).map_err(|error| format!("item {}: {error}", i + 1))?;
    }
    Ok(said)
}

fn flow(text: &str) -> Result<Said<FlowGroup>, String> {
    if whole::<u64>(text).is_ok() {
        return Err("--flow describes a flow, such as `cubic; start=21 s`; --flows says how many".to_owned());
    }
    let said = Said::<FlowGroup>::parse(text)?;
    catalogue::algorithm(&said.value.algorithm).map(|()| said)
}

fn short_flows(text: &str) -> Result<Said<ShortFlows>, String> {
    let said = Said::<ShortFlows>::parse(text)?;
    catalogue::algorithm(&said.value.algorithm).map(|()| said)
}

const TOO_LARGE: &str = "it is far too large";

/// A whole number, written in digits.
fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    let text = text.trim();
    if text.starts_with("--") {
        return Err(format!("a value is missing before `{text}`"));
    }
    if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return Err("it must not be negative".to_owned());
    }
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("it must be a whole number in digits, such as `4`".to_owned());
    }
    text.parse().map_err(|_| TOO_LARGE.to_owned())
}

fn between(text: &str, least: u32, most: u32, what: &str) -> Result<u32, String> {
    match whole::<u32>(text) {
        Ok(value) if value < least => Err(format!("there must be at least {least}")),
        Ok(value) if value <= most => Ok(value),
        Err(error) if error != TOO_LARGE => Err(error),
        _ => Err(format!("too many: {most} {what} are the most")),
    }
}

fn flow_count(text: &str) -> Result<u32, String> {
    between(text, 1, MAX_FLOWS, "flows")
}

fn count_or_none(text: &str) -> Result<u32, String> {
    between(text, 0, MAX_FLOWS, "flows")
}

fn repeats(text: &str) -> Result<u32, String> {
    between(text, 1, MAX_REPEATS, "repeats")
}
