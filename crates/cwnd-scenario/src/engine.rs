//! What answers a scenario.

use crate::{Outcome, Scenario};
use std::fmt;

/// Answers scenarios: the simulator, or a laboratory of real kernels.
pub trait Engine {
    /// What a run would cost, or everything that is wrong with the scenario.
    fn check(&self, scenario: &Scenario) -> Result<Cost, Vec<Problem>>;

    /// A text that decides the outcome together with nothing else: equal texts, equal outcomes.
    fn identity(&self, scenario: &Scenario) -> String;

    /// Run it.
    fn run(&self, scenario: &Scenario) -> Result<Outcome, EngineError>;
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
