//! What is measured.

/// A scenario of CUBIC flows, with its bars if it has any.
pub struct Row {
    pub name: &'static str,
    /// What `cwnd compare` is told beside what all rows have in common.
    pub arguments: &'static [&'static str],
    /// Nanoseconds a packet, at most.
    pub bar_ns: Option<f64>,
    /// Peak memory, MiB, at most, however long the run.
    pub bar_mib: Option<f64>,
}

/// The stack of rows that name none.
pub const STACK: &[&str] = &["--stack", "ns2", "--packet-size", "1000"];

/// What all rows have in common: nothing is drawn at random.
pub const COMMON: &[&str] = &[
    "compare",
    "cubic",
    "--access-rate",
    "1 Gbit/s",
    "--access-delay",
    "1 ms",
    "--start-jitter",
    "0 s",
    "--send-overhead",
    "0 s",
    "--json",
    "--quiet",
];

macro_rules! far {
    ($flows:literal $(, $more:literal)*) => {
        &["--flows", $flows, "--rate", "1 Gbit/s", "--delay", "100 ms", "--buffer", "1000", "--access-buffer", "1000"
          $(, $more)*]
    };
}

/// The rows, in the order of the table: 1 Gbit/s, RTT 204 ms, buffers of 1,000, and the ns2 stack, if they say nothing else.
pub const ROWS: &[Row] = &[
    Row { name: "1 flow", arguments: far!("1"), bar_ns: None, bar_mib: None },
    Row { name: "4 flows", arguments: far!("4"), bar_ns: Some(30.0), bar_mib: Some(32.0) },
    Row { name: "64 flows", arguments: far!("64"), bar_ns: None, bar_mib: None },
    Row { name: "1,000 flows", arguments: far!("1000"), bar_ns: Some(90.0), bar_mib: None },
    Row {
        name: "4 flows, RTT 12 ms, buffer 100, PER 1e-4",
        arguments: &[
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
        bar_ns: Some(60.0),
        bar_mib: None,
    },
    Row {
        name: "50 flows, 100 Mbit/s, RTT 100 ms",
        arguments: &[
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
        bar_ns: None,
        bar_mib: None,
    },
    Row {
        name: "4 flows and 4 against them",
        arguments: far!("4", "--reverse-flows", "4"),
        bar_ns: None,
        bar_mib: None,
    },
    Row {
        name: "4 flows, the linux stack",
        arguments: far!("4", "--stack", "linux"),
        bar_ns: None,
        bar_mib: None,
    },
];

macro_rules! link {
    ($name:literal, $over:literal $(, $more:literal)*) => {
        Row {
            name: $name,
            arguments: far!("4", "--reverse-queue", "drop-tail", "--ecn", "off" $(, $more)*),
            bar_ns: Some($over),
            bar_mib: None,
        }
    };
}

/// The row of four flows with other bottlenecks. Their bars are nanoseconds more than the first row takes.
pub const LINK_ROWS: &[Row] = &[
    link!("drop-tail", 0.0),
    link!("RED, thresholds 300 and 900", 15.0, "--queue", "red:min=300,max=900"),
    link!("CoDel", 15.0, "--queue", "codel:target=20 ms"),
    link!("FQ-CoDel", 40.0, "--queue", "fq-codel:target=20 ms,ecn=off"),
    link!("PIE", 15.0, "--queue", "pie"),
    link!("DualPI2", 15.0, "--queue", "dualpi2"),
    link!("losses, 1e-6", 15.0, "--loss", "1e-6"),
    link!("losses in bursts", 15.0, "--loss", "gilbert-elliott:to_bad=3e-7,to_good=0.3,loss_bad=1"),
    link!("policer", 15.0, "--policer", "2 Gbit/s, 10 MB"),
    link!("jitter, first in first out", 15.0, "--jitter", "uniform:10 us"),
    link!("rate by steps", 15.0, "--schedule", "90 s: 900 Mbit/s"),
];

/// The row that a reference is held against.
pub fn four_flows() -> &'static Row {
    &ROWS[1]
}
