//! The recorded algorithms and paths.

/// An algorithm of the kernel, and cwnd's algorithm with the kernel's settings.
pub struct Case {
    /// Name in the recordings.
    pub module: &'static str,
    pub algorithm: &'static str,
    /// Queue length in packets above which the queue sets ECN marks.
    pub marks_beyond: Option<u32>,
    /// Whether only throughput and mean window have bars, and not the curve.
    pub by_means: bool,
}

const fn case(module: &'static str, algorithm: &'static str) -> Case {
    Case { module, algorithm, marks_beyond: None, by_means: false }
}

/// All algorithms with bars.
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

/// The recorded pairs of flows, by module.
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

/// Returns the case of a module.
///
/// # Panics
/// If the module has no case.
pub fn of(module: &str) -> &'static Case {
    CASES.iter().find(|case| case.module == module).expect("pairs are made of cases")
}

/// Queue limits of a single flow's path and of a pair's, packets.
pub const BUFFER: u32 = 100;
pub const PAIR_BUFFER: u32 = 330;
/// Probability of the recorded random loss.
pub const LOSS: f64 = 0.001;
/// Base round-trip time, seconds.
pub const RTT: f64 = 0.04;
/// Duration of runs with one flow and with a pair, and the start of their means, seconds.
pub const SINGLE_TIME: f64 = 30.0;
pub const SINGLE_FROM: f64 = 5.0;
pub const PAIR_TIME: f64 = 60.0;
pub const PAIR_FROM: f64 = 20.0;
/// Start of the second flow of a pair, seconds.
pub const PAIR_OFFSET: f64 = 10.0;
