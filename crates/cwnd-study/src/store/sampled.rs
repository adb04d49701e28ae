//! Metrics that are made from samples, as values.

use cwnd_scenario::{Outcome, Scenario};
use std::collections::BTreeMap;

/// The metrics that take the samples: those that are not there, or not the same, without them.
pub(crate) fn of(scenario: &Scenario, outcome: &mut Outcome) -> Option<BTreeMap<String, f64>> {
    scenario.sample?;
    let mut with = cwnd_metrics::values(scenario, outcome);
    let trace = outcome.trace.take();
    let without = cwnd_metrics::values(scenario, outcome);
    outcome.trace = trace;
    with.retain(|name, value| without.get(name).map(|value| value.to_bits()) != Some(value.to_bits()));
    Some(with)
}
