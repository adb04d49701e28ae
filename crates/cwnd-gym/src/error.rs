//! What can go wrong, as values.

use std::fmt;

/// Why an environment, a step or a policy was refused. The message says what would be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GymError {
    /// A value of the configuration, by its path (`interval`, `paths.loss`).
    Config {
        /// The field's path.
        place: String,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// An action, by the number of its environment.
    Action {
        /// The environment, counted from 0.
        environment: usize,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// A call with arrays of the wrong length, or a call that the state does not allow.
    Call(String),
    /// A scenario that the simulator refuses.
    Scenario(String),
    /// A policy's file.
    Policy(String),
}

impl GymError {
    pub(crate) fn config(place: &str, message: impl Into<String>) -> GymError {
        GymError::Config { place: place.to_owned(), message: message.into() }
    }
}

impl fmt::Display for GymError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GymError::Config { place, message } => write!(f, "{place}: {message}"),
            GymError::Action { environment, message } => {
                write!(f, "action of environment {environment}: {message}")
            }
            GymError::Call(message) | GymError::Scenario(message) | GymError::Policy(message) => {
                f.write_str(message)
            }
        }
    }
}

impl std::error::Error for GymError {}
