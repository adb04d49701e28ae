//! A run of a scenario, and what must hold for it.

use cwnd_scenario::{Engine, EngineError, Scenario};
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
    outcome.check_conservation().unwrap_or_else(|wrong| panic!("{wrong}"));
    for (name, value) in cwnd_metrics::values(scenario, &outcome) {
        let metric = cwnd_metrics::find(&name).unwrap_or_else(|| panic!("there is no metric {name}"));
        assert!(metric.allows(scenario, value), "{name} is {value}, out of {}", metric.range);
    }
    true
}
