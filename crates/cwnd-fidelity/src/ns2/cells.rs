//! What is compared: the cells of P2 and single flows of P0 and P1, and the result of a run.

use std::fmt;

/// A network and the duration of a run. All settings have access links of the same rate and 1 ms, packets with 1,000 B of
/// payload, SACK, timestamps, and one ACK for each packet.
#[derive(Clone, Copy, PartialEq)]
pub struct Setting {
    pub flows: u32,
    /// Mbit/s.
    pub rate: u32,
    /// Delay of the bottleneck, one way, milliseconds.
    pub delay_ms: u32,
    /// Queue limit of the bottleneck, packets.
    pub buffer: u32,
    /// Queue limit of the access links, of which each sender has one, packets.
    pub access_buffer: u32,
    /// Seconds.
    pub duration: u32,
    /// Time between samples of the first flow's window, seconds; zero for none.
    pub sample: f64,
}

/// One way, milliseconds.
pub const ACCESS_DELAY_MS: u32 = 1;
/// Payload of a packet, and its size on the wire with 50 B of headers, bytes.
pub const PAYLOAD: f64 = 1000.0;
pub const WIRE: f64 = 1050.0;
/// Transmission time of a packet, nanoseconds.
const PACKET_NS: u64 = 8_400;

/// The same algorithm as a module of ns-2.35 and in cwnd.
#[derive(Clone, Copy, PartialEq)]
pub struct Pair {
    pub module: &'static str,
    pub algorithm: &'static str,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.algorithm, self.module)
    }
}

const CUBIC: Pair = Pair { module: "cubic", algorithm: "cubic-2008" };
const COMPOUND: Pair = Pair { module: "compound", algorithm: "compound-ns2" };

/// The variants of P2 that are modules of ns-2.35, and cwnd's algorithms with the settings of those modules.
pub static PAIRS: [Pair; 9] = [
    Pair { module: "reno", algorithm: "newreno" },
    Pair { module: "bic", algorithm: "bic" },
    CUBIC,
    Pair { module: "highspeed", algorithm: "highspeed" },
    Pair { module: "htcp", algorithm: "htcp:rtt_scaling=true" },
    Pair { module: "illinois", algorithm: "illinois:keep_beta=true" },
    Pair { module: "scalable", algorithm: "scalable:ai_cnt=50" },
    Pair { module: "yeah", algorithm: "yeah" },
    COMPOUND,
];

/// Modules that P2 did not compare. Only the comparison with ns-2's clock has them.
pub static OTHERS: [Pair; 2] =
    [Pair { module: "vegas", algorithm: "vegas" }, Pair { module: "veno", algorithm: "veno" }];

/// Queue limits of P2's table 3, packets.
pub const BUFFERS: [u32; 6] = [100, 250, 500, 1000, 2500, 5000];

/// Returns P2's network with a queue limit: four flows, RTT 204 ms.
pub const fn four_flows(buffer: u32) -> Setting {
    Setting { flows: 4, rate: 1000, delay_ms: 100, buffer, access_buffer: 25, duration: 150, sample: 0.0 }
}

/// Fifty flows that share a bandwidth-delay product of 2,381 packets: some always wait for a timeout.
pub const FIFTY_FLOWS: Setting = Setting {
    flows: 50,
    rate: 100,
    delay_ms: 98,
    buffer: 2381,
    access_buffer: 2381,
    duration: 12,
    sample: 0.0,
};

/// Returns the start times of the fifty flows, nanoseconds: within five seconds.
pub fn fifty_starts_ns(seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..FIFTY_FLOWS.flows).map(|_| splitmix64(&mut state) % 5_000_000_000).collect()
}

/// The kind of start times of four flows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Starts {
    /// All at 0: the flow that wins a tie at the queue wins it every time.
    Together,
    /// Within the transmission time of one packet per flow. No result depends on ties, but the packets of the flows
    /// alternate, so the bottleneck's queue fills in slow start. The first second contains the starts at a random time,
    /// because ns-2 rounds times, and the rounding depends on their magnitude.
    Packet,
    /// Within one base round-trip time: the slow start of each flow runs alone and fills the sender's own queue.
    RoundTrip,
}

impl Starts {
    pub const ALL: [Starts; 3] = [Starts::Together, Starts::Packet, Starts::RoundTrip];

    /// Returns the name in the recorded rows.
    pub fn name(self) -> &'static str {
        match self {
            Starts::Together => "together",
            Starts::Packet => "packet",
            Starts::RoundTrip => "round-trip",
        }
    }

    /// Returns the start time of each flow, nanoseconds: uniform, drawn from the seed, the same for both simulators.
    pub fn times_ns(self, setting: &Setting, seed: u64) -> Vec<u64> {
        let within = match self {
            Starts::Together => 1,
            Starts::Packet => u64::from(setting.flows) * PACKET_NS,
            Starts::RoundTrip => u64::from(2 * (setting.delay_ms + 2 * ACCESS_DELAY_MS)) * 1_000_000,
        };
        let mut state = seed;
        let begin = if self == Starts::Packet { splitmix64(&mut state) % 1_000_000_000 } else { 0 };
        (0..setting.flows).map(|_| begin + splitmix64(&mut state) % within).collect()
    }
}

/// Returns the next number of the generator SplitMix64 of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The result of a run: counts at its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Packets sent, with retransmissions.
    pub sent: u64,
    pub retransmitted: u64,
    /// Drops at the bottleneck's queue, and at the senders' own.
    pub dropped: u64,
    pub dropped_at_senders: u64,
    pub timeouts: u64,
    /// Window reductions of all flows.
    pub cuts: u64,
    /// Segments that each flow received in order.
    pub received: Vec<u64>,
    /// Windows of the first flow after 1, 2, … sampling intervals.
    pub windows: Vec<f64>,
}

impl Run {
    /// Returns the throughput of segments received in order, with headers, Mbit/s.
    pub fn throughput_mbps(&self, setting: &Setting) -> f64 {
        let packets: u64 = self.received.iter().sum();
        packets as f64 * WIRE * 8.0 / f64::from(setting.duration) / 1e6
    }

    /// Returns Jain's index of the flows: (sum x)^2 / (n sum x^2).
    pub fn jain_index(&self) -> f64 {
        let shares = || self.received.iter().map(|&packets| packets as f64);
        let squares: f64 = shares().map(|share| share * share).sum();
        shares().sum::<f64>().powi(2) / (self.received.len() as f64 * squares)
    }

    /// Returns the drops at all queues.
    pub fn drops(&self) -> f64 {
        (self.dropped + self.dropped_at_senders) as f64
    }
}

/// A figure of one flow, for several algorithms.
pub struct Single {
    pub title: &'static str,
    pub setting: Setting,
    /// Time between the printed windows, seconds.
    pub shown: u32,
    /// Window whose first time is printed, segments.
    pub landmark: f64,
    pub pairs: &'static [Pair],
}

const fn one_flow(delay_ms: u32, buffer: u32) -> Setting {
    Setting { flows: 1, rate: 1000, delay_ms, buffer, access_buffer: buffer, duration: 100, sample: 0.1 }
}

/// The figures of single flows in P0 and P1.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_starts() {
        // The generator's published test values for the seed 1234567.
        let mut state = 1_234_567;
        assert_eq!(splitmix64(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(splitmix64(&mut state), 3_203_168_211_198_807_973);
        let setting = four_flows(100);
        assert_eq!(Starts::Together.times_ns(&setting, 7), [0; 4]);
        for (starts, begin, within) in
            [(Starts::Packet, 1_000_000_000, 33_600), (Starts::RoundTrip, 1, 204_000_000)]
        {
            let draws = || (0..50).map(|seed| starts.times_ns(&setting, seed));
            for times in draws() {
                let (first, last) = (times.iter().min().unwrap(), times.iter().max().unwrap());
                assert!(last - first < within && *last < begin + within, "{times:?}");
            }
            let least = |of: fn(&[u64]) -> u64| draws().map(|times| of(&times)).min().unwrap();
            let most = |of: fn(&[u64]) -> u64| draws().map(|times| of(&times)).max().unwrap();
            let spread: fn(&[u64]) -> u64 = |times| times.iter().max().unwrap() - times.iter().min().unwrap();
            assert!(most(spread) > within * 9 / 10 && least(spread) < within / 2);
            let all = begin + within;
            assert!(least(|times| times[0]) < all / 10 && most(|times| times[0]) > all * 9 / 10);
        }
    }

    #[test]
    fn counts_headers_and_shares() {
        let run = Run { received: vec![300, 100], dropped: 2, dropped_at_senders: 3, ..Run::default() };
        // 400 packets of 8,400 bit in 150 s; 400^2 / (2 (300^2 + 100^2)).
        assert!((run.throughput_mbps(&four_flows(100)) - 0.0224).abs() < 1e-9);
        assert!((run.jain_index() - 0.8).abs() < 1e-9);
        assert_eq!(run.drops(), 5.0);
    }
}
