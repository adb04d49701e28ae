//! What is compared: settings of the papers, and what each simulator answers.

use std::fmt;

/// A network and how long it is watched. Everything not said here is the same everywhere: 1 Gbit/s, access
/// links of 1 ms, packets of 1,000 B of payload, SACK, timestamps, an ACK a packet.
#[derive(PartialEq)]
pub struct Setting {
    pub flows: u32,
    /// Delay of the bottleneck, one way, milliseconds.
    pub delay_ms: u32,
    /// Packets.
    pub buffer: u32,
    /// Packets; a sender's own queue is one of these.
    pub access_buffer: u32,
    /// Seconds.
    pub duration: u32,
    /// Time between samples of the first flow's window, seconds; zero for none.
    pub sample: f64,
}

/// One way, milliseconds.
pub const ACCESS_DELAY_MS: u32 = 1;
/// Bytes of payload, and on the wire with 50 of headers.
pub const PAYLOAD: f64 = 1000.0;
pub const WIRE: f64 = 1050.0;

/// The same algorithm as a module of ns-2.35's and as one of ours.
#[derive(PartialEq)]
pub struct Pair {
    pub module: &'static str,
    pub algorithm: &'static str,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.algorithm, self.module)
    }
}

/// Four flows of P2's table 3.
pub struct Cell {
    pub setting: Setting,
    pub pair: Pair,
    /// Whether it is run with random starts as well.
    pub also_random: bool,
}

/// One flow of a figure, by several algorithms.
pub struct Single {
    pub title: &'static str,
    pub setting: Setting,
    /// Time between the windows that are printed, seconds.
    pub shown: u32,
    /// When the window first comes to so much is printed.
    pub landmark: f64,
    pub pairs: &'static [Pair],
}

/// What is drawn at random.
#[derive(Clone, Copy)]
pub enum Chance {
    /// Nothing.
    None,
    /// When each flow starts, within one base round-trip time.
    Starts { seed: u64 },
    /// That, and how late a packet is sent, up to the time that it takes on the wire.
    Sending { seed: u64 },
}

impl Chance {
    /// The seed, the greatest delay of a start and that of a sending, in seconds.
    pub fn bounds(self, setting: &Setting) -> (u64, f64, f64) {
        let rtt = f64::from(2 * (setting.delay_ms + 2 * ACCESS_DELAY_MS)) / 1e3;
        match self {
            Chance::None => (1, 0.0, 0.0),
            Chance::Starts { seed } => (seed, rtt, 0.0),
            Chance::Sending { seed } => (seed, rtt, 8.4e-6),
        }
    }
}

/// What a simulator answers.
#[derive(Debug, PartialEq)]
pub struct Run {
    /// Of data in order, headers counted.
    pub throughput_mbps: f64,
    /// Jain's index of the flows.
    pub jain: f64,
    /// Retransmissions of all packets sent.
    pub resent: f64,
    /// Reductions of the window, of all flows.
    pub cuts: u64,
    /// Windows of the first flow, at 1, 2, … sampling times.
    pub windows: Vec<f64>,
}

const NEWRENO: Pair = Pair { module: "reno", algorithm: "newreno" };
const CUBIC: Pair = Pair { module: "cubic", algorithm: "cubic-2008" };
const COMPOUND: Pair = Pair { module: "compound", algorithm: "compound-ns2" };

const fn four_flows(buffer: u32) -> Setting {
    Setting { flows: 4, delay_ms: 100, buffer, access_buffer: 25, duration: 150, sample: 0.0 }
}

const fn one_flow(delay_ms: u32, buffer: u32) -> Setting {
    Setting { flows: 1, delay_ms, buffer, access_buffer: buffer, duration: 100, sample: 0.1 }
}

/// P2's cells. ns-2 takes 10 to 30 s of CPU for a run of CUBIC, so that it is here once.
pub static CELLS: [Cell; 5] = [
    Cell { setting: four_flows(100), pair: CUBIC, also_random: true },
    Cell { setting: four_flows(100), pair: NEWRENO, also_random: true },
    Cell { setting: four_flows(500), pair: NEWRENO, also_random: false },
    Cell { setting: four_flows(100), pair: COMPOUND, also_random: true },
    Cell { setting: four_flows(500), pair: COMPOUND, also_random: false },
];

/// P0's and P1's figures of single flows.
pub static SINGLES: [Single; 2] = [
    Single {
        title: "One flow (P1's figure 10a): 1 Gbit/s, RTT 12 ms, its own queue and the bottleneck's 5 packets, 100 s",
        setting: one_flow(4, 5),
        shown: 10,
        landmark: 1400.0,
        pairs: &[CUBIC, COMPOUND],
    },
    Single {
        title: "One flow (P0's figure 7): 1 Gbit/s, RTT 204 ms, both queues 6,400 packets, 100 s",
        setting: one_flow(100, 6400),
        shown: 10,
        landmark: 29_000.0,
        pairs: &[CUBIC, COMPOUND],
    },
];
