//! Runs that have no outcome because an algorithm set a value with which its flow stops.

use super::Simulation;
use cwnd_scenario::{EngineError, Scenario, Time};
use cwnd_tcp::Sender;

impl Simulation<'_> {
    /// Returns the error of a run in which an algorithm has set a value that no [window](cwnd_cc::Window) may have, such as a `cwnd`
    /// of NaN: the first such value. The counts of the run mean nothing then. [`run_with`](crate::run_with) ends with this error.
    pub fn failure(&self) -> Option<EngineError> {
        let scenario = &*self.scenario;
        let failures = (0..scenario.flows.len())
            .filter_map(|flow| illegal_value(scenario, flow, self.sender(flow), self.origin));
        failures.min_by_key(|(at, _)| *at).map(|(_, message)| EngineError::Failed(message))
    }
}

/// Describes the first value that the algorithm of a flow has set and that no window may have. Also returns when that was on the
/// engine's clock, which is `origin` at the scenario's time zero.
#[doc(hidden)]
pub fn illegal_value(
    scenario: &Scenario,
    flow: usize,
    sender: &Sender,
    origin: u64,
) -> Option<(u64, String)> {
    let (at, illegal) = sender.illegal_value()?;
    let name = &scenario.flows[flow].algorithm.name;
    let time = Time(at.saturating_sub(origin));
    Some((
        at,
        format!(
            "flow {}: {name} set {} to {} at {time}; it must be {}",
            flow + 1,
            illegal.field,
            illegal.value,
            illegal.rule
        ),
    ))
}
