//! How well an emulated network kept its times.

use crate::Time;
use serde::{Deserialize, Serialize};

/// What a run over a real kernel says about itself: whether the network that it ran over was the one that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Emulation {
    /// How much later than due packets came out of the emulator: the median.
    pub late_p50: Time,
    /// The same: 99 of 100 packets were no later.
    pub late_p99: Time,
    /// The same: the latest.
    pub late_max: Time,
    /// How far the bottleneck's rate was from what it should have been, as a share of that: the greatest deviation over a second
    /// in which it never rested. None if there was no such second, or its rate varies.
    pub rate_error: Option<f64>,
    /// The share of CPU time that the machine's hypervisor gave to others meanwhile.
    pub steal: f64,
    /// Why the result is not valid, a sentence each; none if it is.
    pub validity_warnings: Vec<String>,
    /// What ran it: the kernel's release and architecture.
    pub host: String,
    /// What ran each algorithm.
    pub implementations: Vec<Implementation>,
}

/// What ran an algorithm over a real kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Implementation {
    /// The algorithm, as the scenario names it.
    pub algorithm: String,
    /// The kernel's built-in, a module of it, or BPF with the digest of its source.
    pub by: String,
}

impl std::fmt::Display for Implementation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.algorithm, self.by)
    }
}

impl Emulation {
    /// Whether the machine was fast enough.
    pub fn is_valid(&self) -> bool {
        self.validity_warnings.is_empty()
    }
}
