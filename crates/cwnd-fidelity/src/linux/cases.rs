//! The recorded algorithms and paths, and the loader of the archive of given losses, reordering, transfers and late starts.

use super::curves::Curve;
use super::recordings::{self, Recording};
use crate::samples::Samples;

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
    case("htcp", "htcp"),
    case("illinois", "illinois"),
    case("scalable", "scalable"),
    case("veno", "veno"),
    case("westwood", "westwood"),
    case("yeah", "yeah"),
    case("hybla", "hybla"),
    case("vegas", "vegas"),
    Case { marks_beyond: Some(50), ..case("dctcp-ecn50", "dctcp") },
    Case { by_means: true, ..case("bbr", "bbr") },
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
/// Ticks a second of the recorded kernel's timer.
pub const TIMER_HZ: u32 = 1000;
/// Base round-trip time, seconds.
pub const RTT: f64 = 0.04;
/// Duration of runs with one flow and with a pair, and the start of their means, seconds.
pub const SINGLE_TIME: f64 = 30.0;
pub const SINGLE_FROM: f64 = 5.0;
pub const PAIR_TIME: f64 = 60.0;
pub const PAIR_FROM: f64 = 20.0;
/// Start of the second flow of a pair, seconds.
pub const PAIR_OFFSET: f64 = 10.0;

/// A path of the second archive.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub rate: &'static str,
    /// One-way delay, less half of the transmission times of a packet and an ACK, and 1 us more, as for [`RTT`]'s path.
    pub delay: &'static str,
    /// Queue limit, packets.
    pub buffer: u32,
    /// Seconds.
    pub time: f64,
}

/// The path of the recorded transfers. The program that drops their packets makes every data packet 30 us late and its timer is
/// 51 us late; cwnd has half of the 81 us in each direction.
pub const TRANSFER_PATH: Path = Path { rate: "20 Mbit/s", delay: "24724500 ns", buffer: 100, time: 65.0 };

/// A single flow of the second archive.
#[derive(Clone, Copy, Debug)]
pub struct Single {
    /// Name of its file, without `.csv`.
    pub file: &'static str,
    pub module: &'static str,
    pub path: Path,
    /// Options of `cwnd compare` for what happens to its packets besides. Where they are random, `is_random`.
    pub options: &'static [&'static str],
    pub is_random: bool,
    /// Whether `h2loss1.rules` names the lost packets.
    pub given_losses: bool,
}

const H2: Path = Path { rate: "200 Mbit/s", delay: "9969400 ns", buffer: 60, time: 20.0 };
/// The full delay: Hybla truncates the ratio of its first round-trip time, that of the handshake, to 25 ms, which is 8 in the
/// recording.
const H3: Path = Path { rate: "20 Mbit/s", delay: "100 ms", buffer: 60, time: 60.0 };
const REORDER: Path = Path { rate: "20 Mbit/s", delay: "24684 us", buffer: 100, time: 30.0 };

const fn given(file: &'static str, module: &'static str) -> Single {
    Single { file, module, path: H2, options: &[], is_random: false, given_losses: true }
}

const fn reordered(file: &'static str, module: &'static str, time: f64) -> Single {
    let options: &[&str] = &["--jitter", "sometimes:0.02,10 ms,reorder=on"];
    let path = Path { time, ..REORDER };
    Single { file, module, path, options, is_random: true, given_losses: false }
}

/// The single flows of loss-based algorithms. `reorderT2` is `reorderT` with more counters, and the same to the byte.
pub static SINGLES: [Single; 8] = [
    given("h2nth1-reno-s1-f20001", "reno"),
    given("h2nth1-cubic-s1-f20001", "cubic"),
    given("h2nth1-highspeed-s1-f20001", "highspeed"),
    given("h2nth1-htcp-s1-f20001", "htcp"),
    Single { given_losses: false, path: H3, ..given("h3-hybla-s1", "hybla") },
    reordered("reorder1-reno-s1-f20001", "reno", 30.0),
    reordered("reorder1-cubic-s1-f20001", "cubic", 30.0),
    reordered("reorderT-cubic-s1-f20001", "cubic", 8.0),
];

/// Two flows of Illinois over the path of the pairs: the files' name without the flow's number, the end of the first flow, the
/// start of the second, and its end, seconds.
pub static LATE_STARTS: [(&str, f64, f64, f64); 6] = [
    ("ill2-s1-f2000", 29.0, 10.0, 29.0),
    ("illst-10.003-s1-f2000", 28.5, 10.003, 28.403),
    ("illst-10.008-s1-f2000", 28.5, 10.008, 28.408),
    ("illT-s1-f2000", 28.5, 10.008, 28.408),
    ("illst-10.021-s1-f2000", 28.5, 10.021, 28.421),
    ("illinois-illinois-buf330-off10-flow", 60.0, 10.0, 60.0),
];

/// A recorded transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// Its number.
    pub port: u32,
    pub module: String,
    pub bytes: u64,
    /// Numbers of the lost data packets and ACKs, each counted from 1.
    pub lost_data: Vec<u64>,
    pub lost_acks: Vec<u64>,
    /// Seconds from the end of the handshake to the arrival of the last ACK.
    pub completion: f64,
    pub retransmissions: f64,
    /// The kernel's clock of timers at the end of the handshake, modulo 4.096 s. Timers expire at multiples of up to 64 ms of it.
    pub clock: f64,
}

/// The second archive.
pub struct CaseRecordings {
    /// All transfers, of BBR as well.
    pub transfers: Vec<Transfer>,
    /// In the order of [`SINGLES`].
    pub singles: Vec<Recording>,
    /// In the order of [`LATE_STARTS`]; the second flow's times count from its own start.
    pub late_starts: Vec<[Curve; 2]>,
    /// Numbers of the data packets that [`Single::given_losses`] loses, from 1.
    pub given_losses: Vec<u64>,
}

/// Unpacks and reads the second archive.
pub fn read() -> Result<CaseRecordings, String> {
    let folder = recordings::unpack("linux-6.1-cases.tar.gz")?;
    let root = folder.path().join("linux-6.1-cases");
    let recording = |name: &str| recordings::recording(&root.join(format!("{name}.csv")));
    let transfers = parse_transfers(&Samples::parse(&recordings::text(&root.join("short2.csv"))?))?;
    let singles: Result<Vec<Recording>, String> = SINGLES.iter().map(|case| recording(case.file)).collect();
    let late_starts: Result<Vec<[Curve; 2]>, String> = LATE_STARTS
        .iter()
        .map(|(name, ..)| Ok([recording(&format!("{name}1"))?.curve, recording(&format!("{name}2"))?.curve]))
        .collect();
    let rules = recordings::text(&root.join("h2loss1.rules"))?;
    let given_losses = rules.lines().map(|rule| number(rule.split_whitespace().nth(2).unwrap_or_default()));
    Ok(CaseRecordings {
        transfers,
        singles: singles?,
        late_starts: late_starts?,
        given_losses: given_losses.collect::<Result<_, String>>()?,
    })
}

fn parse_transfers(samples: &Samples) -> Result<Vec<Transfer>, String> {
    let [port, module, bytes] = ["port", "module", "bytes"].map(|name| samples.column(name));
    let [data, acks] = ["lost_data", "lost_acks"].map(|name| samples.column(name));
    let [completion, again, clock] =
        ["completion_s", "retransmissions", "clock_s"].map(|name| samples.column(name));
    let (port, module, bytes, data, acks) = (port?, module?, bytes?, data?, acks?);
    let (completion, again, clock) = (completion?, again?, clock?);
    let numbers = |text: &str| text.split_whitespace().map(number).collect::<Result<Vec<u64>, String>>();
    let transfers = samples.iter().map(|sample| {
        Ok(Transfer {
            port: number(sample.text(port))? as u32,
            module: sample.text(module).to_owned(),
            bytes: number(sample.text(bytes))?,
            lost_data: numbers(sample.text(data))?,
            lost_acks: numbers(sample.text(acks))?,
            completion: sample.number(completion)?,
            retransmissions: sample.number(again)?,
            clock: sample.number(clock)?,
        })
    });
    transfers.collect()
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("\"{text}\" in the archive of cases is not a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_transfers() {
        let text = "port,module,bytes,lost_data,lost_acks,completion_s,retransmissions,clock_s\n\
                    20009,cubic,10136,1 2,,0.5,2,3.25\n";
        let transfers = parse_transfers(&Samples::parse(text)).unwrap();
        assert_eq!(transfers[0].lost_data, [1, 2]);
        assert!(transfers[0].lost_acks.is_empty());
        assert_eq!((transfers[0].port, transfers[0].completion), (20009, 0.5));
    }

    #[test]
    fn the_archive_is_complete() {
        let cases = read().unwrap();
        assert_eq!((cases.transfers.len(), cases.given_losses.len()), (212, 53));
        assert_eq!(cases.given_losses[0], 8703);
        // The kernel's counts at the end of the recording.
        assert_eq!(cases.singles[4].retransmissions, 2482.0);
    }
}
