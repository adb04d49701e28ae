//! Tables of what the algorithms reach on a small path, so that a change of behaviour shows as a change of a
//! table. After one that is meant, `INSTA_UPDATE=always cargo test -p cwnd-sim --test snapshot` writes them
//! again.

use cwnd_experiment::{Buffer, FlowGroup};
use cwnd_experiment::{ExperimentSpec, LineDelay, StackChoice, Topology};
use cwnd_metrics::RunMetrics;
use cwnd_scenario::{AlgorithmSpec, Engine, Outcome, Probability, Rate, Scenario, StackProfile, Time};
use cwnd_sim::Simulator;
use std::fmt::Write;

const ALGORITHMS: [&str; 4] = ["newreno", "cubic", "compound", "elastic"];
const BUFFERS: [u32; 4] = [5, 20, 80, 320];
const LOSSES: [f64; 5] = [0.0, 0.0001, 0.001, 0.01, 0.05];

/// One flow for 20 s over 50 Mbit/s with a round-trip time of 20 ms, which hold about 120 packets.
fn scenario(algorithm: &str, profile: StackProfile, buffer: u32, loss: f64) -> Scenario {
    let setup = ExperimentSpec {
        topology: Topology::Path,
        rate: Rate(50_000_000),
        delay: LineDelay::OneWay(Time::from_millis(10)),
        buffer: Buffer::from(buffer),
        per: Probability::new(loss).expect("it is one"),
        stack: StackChoice { profile, ..StackChoice::default() },
        duration: Time::from_secs(20),
        start_jitter: Some(Time::ZERO),
        send_overhead: Some(Time::ZERO),
        ..ExperimentSpec::default()
    };
    let algorithm = AlgorithmSpec { name: algorithm.to_owned(), ..AlgorithmSpec::default() };
    setup.scenario(&[FlowGroup::new(algorithm, 1)], 1).expect("the setup can be met")
}

fn run(scenario: &Scenario) -> Outcome {
    Simulator.run(scenario).unwrap_or_else(|error| panic!("{error}"))
}

/// A number that is the same for the same outcome alone: FNV-1a over its text, in which floating-point
/// numbers stand with all their digits. That nothing was cut from it, no network emulated, and what left
/// each link is not part of the text: the digests are older than warm-ups.
fn digest(outcome: &Outcome) -> u64 {
    let mut outcome = outcome.clone();
    outcome.flows.iter_mut().for_each(|flow| flow.bytes_left.clear());
    let text = format!("{outcome:?}").replacen("begin: Time(0), ", "", 1);
    let text = text.replacen(", emulation: None", "", 1).replace(", bytes_left: []", "");
    text.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

fn table(profile: StackProfile) -> String {
    let mut text = String::from("throughput in Mbit/s, by buffer (packets) and loss\n");
    for algorithm in ALGORITHMS {
        let _ = write!(text, "\n{algorithm:10}");
        for loss in LOSSES {
            let _ = write!(text, "{loss:>8}");
        }
        for buffer in BUFFERS {
            let _ = write!(text, "\n{buffer:10}");
            for loss in LOSSES {
                let scenario = scenario(algorithm, profile, buffer, loss);
                let metrics = RunMetrics::new(&scenario, &run(&scenario));
                let _ = write!(text, "{:>8.2}", metrics.throughput_bps / 1e6);
            }
        }
        text.push('\n');
    }
    text
}

/// A failing test prints this.
const RENEWAL: &str = "after a new algorithm: cargo xtask renew; after an intended change: INSTA_UPDATE=always cargo test -p cwnd-sim \
                       --test snapshot";

#[test]
fn throughput_with_the_ns2_profile() {
    insta::assert_snapshot!(table(StackProfile::Ns2));
}

#[test]
fn throughput_with_the_linux_profile() {
    insta::assert_snapshot!(table(StackProfile::Linux));
}

/// Every build, optimised or not and on any machine, must have these digests. A new algorithm adds a line.
#[test]
fn outcomes_to_the_bit() {
    let mut text = String::from("digests of outcomes, with 20 packets of buffer and a loss of 0.001\n\n");
    for info in cwnd_cc::all() {
        let _ = write!(text, "{:15}", info.name);
        for profile in [StackProfile::Ns2, StackProfile::Linux] {
            let _ = write!(text, " {:016x}", digest(&run(&scenario(info.name, profile, 20, 0.001))));
        }
        text.push('\n');
    }
    if std::env::var_os("CWND_RENEW").is_some() {
        add_new_algorithms(&text);
    }
    insta::with_settings!({ description => RENEWAL }, { insta::assert_snapshot!(text) });
}

/// Writes the digests if they only have lines more than the committed ones. What differs is left to the test.
fn add_new_algorithms(text: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots/snapshot__outcomes_to_the_bit.snap");
    let committed = std::fs::read_to_string(path).expect("the committed digests");
    let (_, rest) = committed.split_once("---\n").expect("a first line");
    let (about, digests) = rest.split_once("---\n").expect("a description above the digests");
    if digests.trim_end().lines().all(|line| text.lines().any(|new| new == line)) {
        std::fs::write(path, format!("---\n{about}---\n{text}")).expect("written");
    }
}
