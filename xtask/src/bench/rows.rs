//! What is measured.

/// A scenario of CUBIC flows, with its bars if it has any.
pub struct Row {
    pub name: &'static str,
    pub kind: Kind,
    /// Settings as flags, in addition to those that all rows of the kind have in common.
    arguments: &'static [&'static str],
    /// Simulated seconds.
    pub seconds: u32,
    /// Nanoseconds a packet, at most.
    pub bar_ns: Option<f64>,
    /// Peak memory, MiB, at most, however long the run.
    pub bar_mib: Option<f64>,
}

impl Row {
    /// Its settings as flags, with this duration.
    pub fn arguments(&self, seconds: u32) -> Vec<String> {
        let names_its_stack = self.arguments.contains(&"--stack") || self.kind == Kind::Defaults;
        let stack = if names_its_stack { &[] } else { STACK };
        let said = [self.kind.arguments(), stack, self.arguments].concat().into_iter().map(str::to_owned);
        said.chain(["--duration".to_owned(), format!("{seconds} s")]).collect()
    }
}

/// What is measured of the command's own work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Without what users get by default: nothing is drawn at random, access links are as fast as the bottleneck, and the stack is
    /// ns2 if the row names none. `cwnd compare` samples up to four flows of these rows; the program whose instructions are counted
    /// does not.
    Bare,
    /// What users get who name only the path: drawn starts, a send overhead for each packet, and of few flows samples over time.
    /// These rows say the interval that `cwnd compare` chooses, because the program whose instructions are counted chooses none.
    Defaults,
}

impl Kind {
    /// The settings that rows of this kind have in common.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Kind::Bare => BARE,
            Kind::Defaults => &[],
        }
    }
}

const BARE: &[&str] = &[
    "--access-rate",
    "1 Gbit/s",
    "--access-delay",
    "1 ms",
    "--start-jitter",
    "0 s",
    "--send-overhead",
    "0 s",
];

/// The stack of bare rows that name none.
const STACK: &[&str] = &["--stack", "ns2", "--packet-size", "1000"];

/// Simulated seconds of most rows.
const LONG: u32 = 100;

macro_rules! far {
    ($flows:literal $(, $more:literal)*) => {
        &["--flows", $flows, "--rate", "1 Gbit/s", "--delay", "100 ms", "--buffer", "1000", "--access-buffer", "1000"
          $(, $more)*]
    };
}

macro_rules! path {
    ($flows:literal, $rate:literal, $rtt:literal $(, $more:literal)*) => {
        &["--flows", $flows, "--rate", $rate, "--rtt", $rtt $(, $more)*]
    };
}

const fn bare(name: &'static str, arguments: &'static [&'static str], bar_ns: Option<f64>) -> Row {
    Row { name, kind: Kind::Bare, arguments, seconds: LONG, bar_ns, bar_mib: None }
}

const fn defaults(name: &'static str, arguments: &'static [&'static str], seconds: u32, bar_ns: f64) -> Row {
    Row { name, kind: Kind::Defaults, arguments, seconds, bar_ns: Some(bar_ns), bar_mib: None }
}

/// The rows, in the order of the table. Bare ones: 1 Gbit/s, RTT 204 ms, buffers of 1,000, and the ns2 stack, if they say
/// nothing else. Those with the defaults: a buffer of a bandwidth-delay product, and the linux stack.
pub const ROWS: &[Row] = &[
    bare("1 flow", far!("1"), None),
    Row { bar_mib: Some(32.0), ..bare("4 flows", far!("4"), Some(20.0)) },
    bare("64 flows", far!("64"), None),
    bare("1,000 flows", far!("1000"), Some(60.0)),
    bare(
        "4 flows, RTT 12 ms, buffer 100, PER 1e-4",
        &[
            "--flows",
            "4",
            "--rate",
            "1 Gbit/s",
            "--delay",
            "4 ms",
            "--buffer",
            "100",
            "--access-buffer",
            "100",
            "--per",
            "1e-4",
        ],
        Some(60.0),
    ),
    bare(
        "50 flows, 100 Mbit/s, RTT 100 ms",
        &[
            "--flows",
            "50",
            "--rate",
            "100 Mbit/s",
            "--delay",
            "48 ms",
            "--buffer",
            "1000",
            "--access-buffer",
            "1000",
        ],
        None,
    ),
    bare("4 flows and 4 against them", far!("4", "--reverse-flows", "4"), None),
    bare("4 flows, the linux stack", far!("4", "--stack", "linux"), None),
    bare("1,000 flows, the linux stack", far!("1000", "--stack", "linux"), Some(100.0)),
    defaults(
        "defaults, ns2 stack, 4 flows, 204 ms",
        path!("4", "1 Gbit/s", "204 ms", "--stack", "ns2", "--sample", "20.4 ms"),
        LONG,
        28.0,
    ),
    defaults(
        "defaults, 4 flows, 204 ms",
        path!("4", "1 Gbit/s", "204 ms", "--sample", "20.4 ms"),
        LONG,
        40.0,
    ),
    defaults("defaults, 1,000 flows, 204 ms", path!("1000", "1 Gbit/s", "204 ms"), 30, 100.0),
    defaults("defaults, 10,000 flows, 40 ms", path!("10000", "1 Gbit/s", "40 ms"), 10, 200.0),
    defaults("defaults, 100 flows, 10 Gbit/s, 40 ms", path!("100", "10 Gbit/s", "40 ms"), 10, 60.0),
    defaults(
        "defaults, 1 flow, 100 Gbit/s, 200 ms",
        path!("1", "100 Gbit/s", "200 ms", "--sample", "20 ms"),
        10,
        40.0,
    ),
    Row {
        bar_mib: Some(4_096.0),
        ..defaults(
            "defaults, 100,000 flows, 100 Gbit/s, 40 ms",
            path!("100000", "100 Gbit/s", "40 ms"),
            1,
            300.0,
        )
    },
];

macro_rules! link {
    ($name:literal, $over:literal $(, $more:literal)*) => {
        bare($name, far!("4", "--reverse-queue", "drop-tail", "--ecn", "off" $(, $more)*), Some($over))
    };
}

/// The row of four flows with other bottlenecks. Their bars are nanoseconds more than the first row takes.
pub const LINK_ROWS: &[Row] = &[
    link!("drop-tail", 0.0),
    link!("RED, thresholds 300 and 900", 15.0, "--queue", "red:min=300,max=900"),
    link!("CoDel", 15.0, "--queue", "codel:target=20 ms"),
    link!("FQ-CoDel", 15.0, "--queue", "fq-codel:target=20 ms,ecn=off"),
    link!("PIE", 15.0, "--queue", "pie"),
    link!("DualPI2", 15.0, "--queue", "dualpi2"),
    link!("losses, 1e-6", 15.0, "--loss", "1e-6"),
    link!("losses in bursts", 15.0, "--loss", "gilbert-elliott:to_bad=3e-7,to_good=0.3,loss_bad=1"),
    link!("policer", 15.0, "--policer", "2 Gbit/s, 10 MB"),
    link!("jitter, first in first out", 20.0, "--jitter", "uniform:10 us"),
    link!("rate by steps", 15.0, "--schedule", "90 s: 900 Mbit/s"),
];

/// A row that ns-2 and ns-3 run as well.
pub struct PeerRow {
    pub name: &'static str,
    pub flows: u32,
    /// What cwnd runs.
    pub ours: Row,
}

macro_rules! peer {
    ($name:literal, $flows:literal, $text:literal) => {
        PeerRow {
            name: $name,
            flows: $flows,
            ours: bare(
                $name,
                &[
                    "--flows",
                    $text,
                    "--rate",
                    "100 Mbit/s",
                    "--delay",
                    "48 ms",
                    "--buffer",
                    "1000",
                    "--access-buffer",
                    "1000",
                ],
                None,
            ),
        }
    };
}

/// The rows that ns-2 and ns-3 run as well. Their settings are those of `peers.rs`.
pub const PEER_ROWS: &[PeerRow] = &[peer!("4 flows", 4, "4"), peer!("100 flows", 100, "100")];

/// Rows that are also measured on two threads, and how many times as fast they then are at least.
pub const THREAD_ROWS: &[(&str, f64)] = &[
    ("1,000 flows", 1.6),
    ("1,000 flows, the linux stack", 1.6),
    ("defaults, 4 flows, 204 ms", 1.0),
    ("defaults, 1,000 flows, 204 ms", 1.6),
    ("defaults, 10,000 flows, 40 ms", 1.6),
];

/// The row that a reference is held against.
pub fn four_flows() -> &'static Row {
    named("4 flows")
}

/// Returns the row of this name.
///
/// # Panics
/// If there is none.
pub fn named(name: &str) -> &'static Row {
    ROWS.iter()
        .chain(LINK_ROWS)
        .find(|row| row.name == name)
        .unwrap_or_else(|| panic!("there is no row {name}"))
}
