//! Digests of outcomes, which every build on every machine must compute. The test `snapshot` and the example `digests`
//! include this file.

use cwnd_experiment::{Buffer, ExperimentSpec, FlowGroup, LineDelay, StackChoice, Topology};
use cwnd_scenario::{AlgorithmSpec, Engine, Outcome, Probability, Rate, Scenario, StackProfile, Time};
use cwnd_sim::Simulator;
use std::fmt::Write;

/// The networks of [`networks`], each with the settings that make it. Jitter and traffic draw random numbers with logarithms, powers
/// and sines.
const NETWORKS: [&str; 15] = [
    "queue=drop-tail",
    "queue=drop-tail; ecn-threshold=20; ecn=accurate",
    "queue=red:ecn=on",
    "queue=codel:ecn=on",
    "queue=fq-codel",
    "queue=pie:ecn=on",
    "queue=dualpi2",
    "loss=gilbert-elliott:to_bad=1e-3,to_good=0.1",
    "jitter=uniform:5 ms",
    "jitter=exponential:2 ms",
    "jitter=normal:5 ms,1 ms",
    "topology=parking-lot",
    "topology=incast",
    "topology=satellite; loss=1e-4",
    "traffic=on-off:exponential 300 ms,pareto 100 ms shape 1.5",
];

/// The stacks on each network.
const STACKS: [&str; 2] = ["ns2", "linux"];

/// The flows of each network: an integer and two floating-point algorithms of different kinds, with losses, delays and rates.
const FLOWS: [&str; 3] = ["cubic", "bbr3", "compound"];

/// Returns a table with a line for each algorithm: a digest for each profile.
pub fn algorithms() -> String {
    let mut text = String::from("digests of outcomes, with 20 packets of buffer and a loss of 0.001\n\n");
    for info in cwnd_cc::all() {
        let _ = write!(text, "{:15}", info.name);
        for profile in [StackProfile::Ns2, StackProfile::Linux] {
            let _ = write!(text, " {:016x}", of_outcome(&run(&small_path(info.name, profile, 20, 0.001))));
        }
        text.push('\n');
    }
    text
}

/// Returns a table with a line for each network and stack: the digests of the outcome and of its metrics.
pub fn networks() -> String {
    let mut text = format!("digests of outcomes and of metrics, of {}\n\n", FLOWS.join(", "));
    for network in NETWORKS {
        for stack in STACKS {
            let settings = format!("stack={stack}; {network}");
            let scenario = with_settings(&settings);
            let outcome = run(&scenario);
            let metrics = cwnd_metrics::values(&scenario, &outcome);
            let [outcome, metrics] = [format!("{outcome:?}"), format!("{metrics:?}")].map(|text| fnv(&text));
            let _ = writeln!(text, "{settings}: {outcome:016x} {metrics:016x}");
        }
    }
    text
}

/// Returns one flow for 20 s over 50 Mbit/s with a round-trip time of 20 ms, which hold about 120 packets.
pub fn small_path(algorithm: &str, profile: StackProfile, buffer: u32, loss: f64) -> Scenario {
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
    setup.scenario(&[flow(algorithm)], 1).expect("the setup can be met")
}

/// Runs a scenario that must be valid.
pub fn run(scenario: &Scenario) -> Outcome {
    Simulator.run(scenario).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a flow of each algorithm for 4 s over 20 Mbit/s with a round-trip time of 40 ms.
fn with_settings(settings: &str) -> Scenario {
    let mut setup = ExperimentSpec {
        rate: Rate(20_000_000),
        delay: LineDelay::OneWay(Time::from_millis(20)),
        duration: Time::from_secs(4),
        ..ExperimentSpec::default()
    };
    for setting in settings.split("; ") {
        let (key, value) = setting.split_once('=').expect("a key and a value");
        let setting =
            cwnd_experiment::settings::find(key).unwrap_or_else(|| panic!("there is no setting {key}"));
        (setting.set)(&mut setup, value).unwrap_or_else(|error| panic!("{key}: {error}"));
    }
    setup.scenario(&FLOWS.map(flow), 1).unwrap_or_else(|problems| panic!("{settings}: {problems:?}"))
}

fn flow(algorithm: &str) -> FlowGroup {
    FlowGroup::new(AlgorithmSpec { name: algorithm.to_owned(), ..AlgorithmSpec::default() }, 1)
}

/// Returns the digest of an outcome without what the digests of [`algorithms`] are older than: the begin of what counts, an emulated
/// network, and what left each link.
fn of_outcome(outcome: &Outcome) -> u64 {
    let mut outcome = outcome.clone();
    outcome.flows.iter_mut().for_each(|flow| flow.bytes_left.clear());
    let text = format!("{outcome:?}").replacen("begin: Time(0), ", "", 1);
    fnv(&text.replacen(", emulation: None", "", 1).replace(", bytes_left: []", ""))
}

/// FNV-1a of a text, in which floating-point numbers stand with all their digits.
fn fnv(text: &str) -> u64 {
    text.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}
