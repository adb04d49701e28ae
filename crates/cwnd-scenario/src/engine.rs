//! The engines that run a scenario.

use crate::{Helpers, Outcome, Scenario};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// Runs scenarios: the simulator, or a laboratory of real kernels.
pub trait Engine {
    /// What a run would cost, or everything that is wrong with the scenario.
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>>;

    /// Returns what decides the outcome besides the scenario: runs of equal scenarios by engines of equal identity have
    /// equal outcomes.
    fn identity(&self, scenario: &Scenario) -> Identity;

    /// Run it.
    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError>;

    /// Runs it, and may use helpers, on which the outcome does not depend. Fails with [`EngineError::stopped`] if they say that nobody
    /// wants it any more.
    fn run_with_helpers(&self, scenario: &Scenario, helpers: &Helpers) -> Result<Outcome, EngineError> {
        let _ = helpers;
        self.run(scenario)
    }
}

/// An engine and the versions of everything in it that takes part in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Identity {
    /// The engine's name, such as `cwnd-sim`.
    pub engine: String,
    /// Versions or digests by name: of the engine itself, of each algorithm, of the host that it runs on.
    pub versions: BTreeMap<String, String>,
}

impl Identity {
    /// Creates the identity of an engine, given these names and their versions.
    pub fn new<const N: usize>(engine: &str, versions: [(&str, String); N]) -> Identity {
        let versions = versions.map(|(name, version)| (name.to_owned(), version)).into();
        Identity { engine: engine.to_owned(), versions }
    }
}

/// What a run is expected to cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Packets, data and ACKs, at most about.
    pub packets: f64,
    /// CPU seconds.
    pub cpu_s: f64,
    /// Seconds by the clock of a run that has what it needs for itself: as `cpu_s`, but for an engine that runs in real time.
    pub wall_s: f64,
    /// Peak memory, bytes.
    pub memory: f64,
}

/// One thing wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: a field's path, such as `flows[3].route`.
    pub place: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// The scenario cannot be run.
    Refused(Vec<Problem>),
    /// The run broke down.
    Failed(String),
}

impl EngineError {
    /// Of a run whose outcome nobody wants any more ([`Helpers::is_stopped`]).
    pub fn stopped() -> EngineError {
        EngineError::Failed("it was stopped".to_owned())
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Refused(problems) => {
                for (i, problem) in problems.iter().enumerate() {
                    if i > 0 {
                        f.write_str("\n")?;
                    }
                    write!(f, "{problem}")?;
                }
                Ok(())
            }
            EngineError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for EngineError {}
