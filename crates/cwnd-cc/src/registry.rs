//! The list of algorithms: what each is called, what it is, its parameters and how to build one.

use crate::CongestionControl;
use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};
use core::fmt;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// A number.
    Number(f64),
    /// A switch.
    Switch(bool),
    /// One of a few words.
    Word(String),
}

/// Parameters by name; what is left out has its default.
pub type Parameters = BTreeMap<String, ParameterValue>;

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// A number from `min` to `max`, both allowed.
    Number {
        /// Default value.
        default: f64,
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// On or off.
    Switch {
        /// Default value.
        default: bool,
    },
    /// One of a few words.
    Word {
        /// Default value.
        default: &'static str,
        /// All values.
        choices: &'static [&'static str],
    },
}

/// One parameter of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name, as a scenario writes it.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Unit (`"segments"`, `"s"`, `"1"` for a ratio).
    pub unit: &'static str,
    /// Default and range.
    pub kind: ParameterKind,
    /// Where the default comes from.
    pub source: &'static str,
}

/// What an algorithm reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Packet loss.
    Loss,
    /// Round-trip time.
    Delay,
    /// Explicit congestion marks.
    Ecn,
    /// Delivery rate.
    Rate,
}

/// An algorithm as the registry knows it.
pub struct AlgorithmInfo {
    /// Name, as a scenario writes it.
    pub name: &'static str,
    /// Full name.
    pub title: &'static str,
    /// Year of publication.
    pub year: u16,
    /// Paper, RFC or draft.
    pub reference: &'static str,
    /// What it does, in a line or two.
    pub summary: &'static str,
    /// What it reacts to.
    pub signals: &'static [Signal],
    /// What it is based on.
    pub based_on: &'static str,
    /// Where else it is implemented.
    pub implemented_in: &'static str,
    /// Counts up whenever its behaviour changes, so that stored results are told apart.
    pub version: u32,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Build one with the given parameters.
    pub build: fn(&Parameters) -> Result<Box<dyn CongestionControl>, ParameterError>,
}

impl fmt::Debug for AlgorithmInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlgorithmInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why parameters were refused.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterError {
    /// No parameter has this name.
    Unknown {
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// The value is outside its range or of another kind.
    Invalid {
        /// Which parameter.
        name: String,
        /// The value given, as text.
        value: String,
        /// What would be right.
        expected: String,
    },
}
