//! What was recorded: algorithms, the path, and what is held to which bar.

/// An algorithm of the kernel, and ours with the kernel's settings.
pub struct Case {
    /// As the recordings call it.
    pub module: &'static str,
    pub algorithm: &'static str,
    /// The queue marks beyond so many packets.
    pub marks_beyond: Option<u32>,
    /// It is held to the bars of flow models (throughput and mean window alone), not to those of curves.
    pub by_means: bool,
}

const fn case(module: &'static str, algorithm: &'static str) -> Case {
    Case { module, algorithm, marks_beyond: None, by_means: false }
}

/// All algorithms that are held to bars.
pub static CASES: [Case; 15] = [
    case("reno", "newreno"),
    case("cubic", "cubic-linux"),
    case("cubic-nohystart", "cubic-linux:hystart=false"),
    case("bic", "bic"),
    case("highspeed", "highspeed"),
    case("htcp", "htcp:rtt_scaling=true"),
    case("illinois", "illinois"),
    case("scalable", "scalable"),
    case("veno", "veno"),
    case("westwood", "westwood:set_at=recovery-end"),
    case("yeah", "yeah"),
    case("hybla", "hybla:max_exponent=16"),
    case("vegas", "vegas"),
    Case { marks_beyond: Some(50), ..case("dctcp-ecn50", "dctcp") },
    Case { by_means: true, ..case("bbr", "bbr:pacing_margin=0.01") },
];

/// All recordings without random loss.
pub const MODULES: [&str; 19] = [
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "cubic-nohystart",
    "dctcp",
    "dctcp-ecn50",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];

/// Pairs of flows, as modules.
pub const PAIRS: [[&str; 2]; 9] = [
    ["bic", "bic"],
    ["cubic", "cubic"],
    ["htcp", "htcp"],
    ["reno", "bbr"],
    ["reno", "cubic"],
    ["reno", "htcp"],
    ["reno", "illinois"],
    ["reno", "reno"],
    ["scalable", "scalable"],
];

/// The case of a module.
pub fn of(module: &str) -> &'static Case {
    CASES.iter().find(|case| case.module == module).expect("pairs are made of cases")
}

/// Packets that the queue holds, in a single flow's path and a pair's.
pub const BUFFER: u32 = 100;
pub const PAIR_BUFFER: u32 = 330;
/// The recorded random loss, as a probability.
pub const LOSS: f64 = 0.001;
/// Base round-trip time, seconds.
pub const RTT: f64 = 0.04;
/// How long single flows and pairs are watched, seconds, and from when on their means count.
pub const SINGLE_TIME: f64 = 30.0;
pub const SINGLE_FROM: f64 = 5.0;
pub const PAIR_TIME: f64 = 60.0;
pub const PAIR_FROM: f64 = 20.0;
/// When the second flow of a pair starts.
pub const PAIR_OFFSET: f64 = 10.0;
