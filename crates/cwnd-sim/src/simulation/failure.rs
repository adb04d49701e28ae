//! Runs that have no outcome because an algorithm set a value with which its flow stops.

use super::Simulation;
use cwnd_cc::IllegalValue;
use cwnd_scenario::{EngineError, Scenario, Time};

impl Simulation<'_> {
    /// Returns the error of a run in which an algorithm has set a value that no [window](cwnd_cc::Window) may have, such as a `cwnd`
    /// of NaN: the first such value. The counts of the run mean nothing then. [`run_with`](crate::run_with) ends with this error.
    pub fn failure(&self) -> Option<EngineError> {
        let scenario = &*self.scenario;
        let found = |flow| Some((flow, self.sender(flow).illegal_value()?));
        let first = (0..scenario.flows.len()).filter_map(found).min_by_key(|(_, (at, _))| *at);
        first.map(|(flow, found)| illegal_value(scenario, flow, found, self.origin))
    }
}

/// Returns the error of a run in which the algorithm of a flow has set a value that no window may have. `at` is when, on the engine's
/// clock, which is `origin` at the scenario's time zero.
#[doc(hidden)]
pub fn illegal_value(
    scenario: &Scenario,
    flow: usize,
    (at, illegal): (u64, IllegalValue),
    origin: u64,
) -> EngineError {
    let name = &scenario.flows[flow].algorithm.name;
    let time = Time(at.saturating_sub(origin));
    EngineError::Failed(format!(
        "flow {}: {name} set {} to {} at {time}; it must be {}",
        flow + 1,
        illegal.field,
        illegal.value,
        illegal.rule
    ))
}
