//! A run of a scenario, and what must hold for it.

use cwnd_scenario::{Engine, EngineError, FlowOutcome, LinkOutcome, Outcome, Scenario, Time};
use cwnd_sim::Simulator;

/// The largest run, packets and bytes: an input must take milliseconds.
const PACKETS: f64 = 5_000.0;
const MEMORY: f64 = 50e6;

/// Checks a scenario. Runs it twice if it is small, and checks the outcome. Returns whether it ran.
pub fn check(scenario: &Scenario) -> bool {
    let Ok(cost) = Simulator.check(scenario) else { return false };
    if !(cost.packets < PACKETS && cost.memory < MEMORY) || scenario.flows.len() > 64 {
        return false;
    }
    let outcome = match Simulator.run(scenario) {
        Ok(outcome) => outcome,
        Err(EngineError::Refused(problems)) => {
            assert!(!problems.is_empty());
            return false;
        }
        Err(EngineError::Failed(_)) => return false,
    };
    // A `Debug` text has every bit of a number, and a value that is not a number equals itself.
    let again = Simulator.run(scenario).expect("the same scenario ran before");
    assert_eq!(format!("{outcome:?}"), format!("{again:?}"), "two runs of one scenario differ");
    check_losses(&outcome);
    if scenario.warm_up > Time::ZERO {
        check_warm_up(scenario, &outcome);
    } else {
        outcome.check_conservation().unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    for (name, value) in cwnd_metrics::values(scenario, &outcome) {
        let metric = cwnd_metrics::find(&name).unwrap_or_else(|| panic!("there is no metric {name}"));
        assert!(metric.allows(scenario, value), "{name} is {value}, out of {}", metric.range);
    }
    true
}

/// Checks that links have counted what flows have lost. The simulator computes the packets that a link delivered from its other counts,
/// so that [`Outcome::check_conservation`] cannot find a loss that only the link has missed. Links also count ACKs.
fn check_losses(outcome: &Outcome) {
    let flows = |count: fn(&FlowOutcome) -> u64| outcome.flows.iter().map(count).sum::<u64>();
    let links = |count: fn(&LinkOutcome) -> u64| outcome.links.iter().map(count).sum::<u64>();
    for (name, of_flows, of_links) in [
        ("dropped", flows(|flow| flow.packets_dropped), links(|link| link.dropped)),
        ("lost", flows(|flow| flow.packets_lost), links(|link| link.lost)),
        ("copied", flows(|flow| flow.packets_copied), links(|link| link.copied)),
    ] {
        assert!(of_flows <= of_links, "flows have {of_flows} packets {name}, and links {of_links}");
    }
}

/// Checks an outcome that has a warm-up. Packets that were in the network when the counting began arrive without having been
/// counted as sent. In the whole run, and in the warm-up by itself, every packet must be accounted for, and the outcome must be
/// their difference.
fn check_warm_up(scenario: &Scenario, outcome: &Outcome) {
    let run = |duration| {
        let scenario = Scenario { warm_up: Time::ZERO, duration, ..scenario.clone() };
        let outcome = Simulator.run(&scenario).expect("the same scenario ran before");
        outcome.check_conservation().unwrap_or_else(|wrong| panic!("{wrong}"));
        outcome
    };
    let difference = run(scenario.duration).since(&run(scenario.warm_up));
    assert_eq!(counts(&difference), counts(outcome), "the warm-up and the rest are not the whole");
}

/// Returns the counts of an outcome without its integrals, which are sums of other parts if they begin later.
fn counts(outcome: &Outcome) -> String {
    let mut outcome = outcome.clone();
    for flow in &mut outcome.flows {
        (flow.cwnd_integral, flow.rtt_sum_s) = (0.0, 0.0);
        // In transmission when the counting began: counted as sent before, and by the whole run as not yet sent.
        flow.bytes_left.clear();
    }
    outcome.links.iter_mut().for_each(|link| link.waiting_integral = 0.0);
    format!("{outcome:?}")
}
