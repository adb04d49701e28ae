//! A run of a scenario, and what must hold for it.

use cwnd_metrics::Metric;
use cwnd_scenario::{Engine, EngineError, Outcome, Rate, Scenario};
use cwnd_sim::Simulator;

/// The largest run, packets and bytes: an input must take milliseconds.
const PACKETS: f64 = 5_000.0;
const MEMORY: f64 = 50e6;

/// What rounding may add to a ratio of sums of floating-point numbers.
const ROUNDING: f64 = 1e-9;

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
    conserves(&outcome);
    for (name, value) in cwnd_metrics::values(scenario, &outcome) {
        let metric = cwnd_metrics::find(&name).unwrap_or_else(|| panic!("there is no metric {name}"));
        let tolerance = tolerance(scenario, metric);
        let is_in_range = value >= metric.range.least - tolerance && value <= metric.range.most + tolerance;
        assert!(is_in_range, "{name} is {value}, out of {}", metric.range);
    }
    true
}

/// Checks that every packet is accounted for.
fn conserves(outcome: &Outcome) {
    for flow in &outcome.flows {
        let gone = flow.packets_dropped + flow.packets_lost + flow.packets_in_flight;
        let accounted = flow.packets_received + flow.duplicates + gone;
        assert_eq!(flow.packets_sent + flow.packets_copied, accounted, "{flow:?}");
    }
    for link in &outcome.links {
        let accounted = link.dropped + link.lost + link.delivered + link.in_flight;
        assert_eq!(link.arrived + link.copied, accounted, "{link:?}");
    }
}

/// Transmission times are whole nanoseconds: each packet may take half of one less than at its link's rate.
fn tolerance(scenario: &Scenario, metric: &Metric) -> f64 {
    if !metric.name.contains("utilisation") && !metric.name.contains("slowdown") {
        return ROUNDING;
    }
    let rates = scenario.network.links.iter().map(|link| link.fastest_rate());
    let fastest = rates.filter(|rate| *rate != Rate::UNLIMITED).max().map_or(0.0, |rate| rate.0 as f64);
    let stack = &scenario.stack;
    let smallest = stack.first_packet.unwrap_or(u32::MAX).min(stack.data_overhead + 1).min(stack.ack_size);
    ROUNDING + 0.5e-9 * fastest / (f64::from(smallest) * 8.0)
}
