//! Metrics that are made from samples, as values.

use super::bytes::{In, Out};
use cwnd_scenario::{Outcome, Scenario, metrics::SAMPLED_VERSION};
use std::collections::BTreeMap;

/// The metrics that take the samples: those that are not there, or not the same, without them.
pub(crate) fn of(scenario: &Scenario, outcome: &mut Outcome) -> Option<BTreeMap<String, f64>> {
    scenario.sample?;
    let mut with = crate::metric_values(scenario, outcome);
    let trace = outcome.trace.take();
    let without = crate::metric_values(scenario, outcome);
    outcome.trace = trace;
    with.retain(|name, value| without.get(name).map(|value| value.to_bits()) != Some(value.to_bits()));
    Some(with)
}

pub(super) fn encode(values: &BTreeMap<String, f64>) -> Vec<u8> {
    let mut out = Out::default();
    out.count(SAMPLED_VERSION.into());
    for (name, value) in values {
        out.text(name);
        out.number(*value);
    }
    out.0
}

/// None if they were written by another [`SAMPLED_VERSION`].
pub(super) fn decode(bytes: &[u8]) -> Option<BTreeMap<String, f64>> {
    let mut from = In(bytes);
    if from.count()? != u64::from(SAMPLED_VERSION) {
        return None;
    }
    let mut values = BTreeMap::new();
    while !from.is_empty() {
        values.insert(from.text()?, from.number()?);
    }
    Some(values)
}
