//! QUIC flows in simulated time.

use cwnd_experiment::{ExperimentSpec, FlowGroup, LineDelay};
use cwnd_quic::host::{check_with, run_with};
use cwnd_scenario::{Outcome, Probability, Rate, Scenario, Time};

fn scenario(flows: &[&str], change: impl FnOnce(&mut ExperimentSpec)) -> Scenario {
    let mut spec = ExperimentSpec {
        rate: Rate(20_000_000),
        delay: LineDelay::OneWay(Time::from_millis(20)),
        duration: Time::from_secs(10),
        ..ExperimentSpec::default()
    };
    change(&mut spec);
    let groups: Vec<FlowGroup> = flows.iter().map(|text| text.parse().unwrap()).collect();
    spec.scenario(&groups, 7).unwrap()
}

fn run(scenario: &Scenario) -> Outcome {
    run_with(scenario, &cwnd_sim::registered).unwrap()
}

/// Payload of all flows as a share of what the bottleneck could have carried.
fn use_of_the_bottleneck(scenario: &Scenario, outcome: &Outcome) -> f64 {
    let bytes: u64 = outcome.flows.iter().map(|flow| flow.bytes_in_order).sum();
    let rate = scenario.network.links[scenario.network.bottleneck].rate.0 as f64;
    8.0 * bytes as f64 / rate / outcome.end.as_secs_f64()
}

#[track_caller]
fn conserved(outcome: &Outcome) {
    for flow in &outcome.flows {
        let arrived = flow.packets_received + flow.duplicates;
        let elsewhere = flow.packets_dropped + flow.packets_lost + flow.packets_in_flight;
        assert_eq!(flow.packets_sent + flow.packets_copied, arrived + elsewhere, "{flow:#?}");
    }
    for link in &outcome.links {
        let gone = link.dropped + link.lost + link.delivered + link.in_flight;
        assert_eq!(link.arrived + link.copied, gone, "{link:#?}");
    }
}

const FLOWS: [&str; 8] = [
    "cubic@noq; stack=noq",
    "newreno@noq; stack=noq",
    "bbr3@noq; stack=noq",
    "cubic@quinn; stack=quinn",
    "newreno@quinn; stack=quinn",
    "cubic; stack=noq",
    "bbr3; stack=noq",
    "cubic; stack=quinn",
];

#[test]
fn every_stack_fills_a_bottleneck() {
    for flow in FLOWS {
        let scenario = scenario(&[flow], |_| {});
        let outcome = run(&scenario);
        conserved(&outcome);
        let used = use_of_the_bottleneck(&scenario, &outcome);
        println!("{flow}: {used:.4} {:?}", outcome.flows[0]);
        assert!((0.80..0.96).contains(&used), "{flow}: {used}");
    }
}
