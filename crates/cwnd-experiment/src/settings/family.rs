//! Families of kinds: what a setting selects by name.

use serde::Serialize;

/// What kinds there are kinds of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Queues: `queue = "codel"`.
    Queue,
    /// Losses on a line: `loss = "1e-3"`.
    Loss,
    /// Jitters of a line: `jitter = "uniform:5 ms"`.
    Jitter,
    /// Shapes of networks: `topology = "parking-lot"`.
    Topology,
}

/// All families, in the order of the page.
pub const FAMILIES: [Family; 4] = [Family::Queue, Family::Loss, Family::Jitter, Family::Topology];

impl Family {
    /// Its name in the plural.
    pub fn title(self) -> &'static str {
        match self {
            Family::Queue => "Queues",
            Family::Loss => "Losses",
            Family::Jitter => "Jitter",
            Family::Topology => "Topologies",
        }
    }

    /// The settings that say which is meant.
    pub fn settings(self) -> &'static [&'static str] {
        match self {
            Family::Queue => &["queue", "reverse-queue", "access-queue"],
            Family::Loss => &["loss", "reverse-loss"],
            Family::Jitter => &["jitter", "reverse-jitter"],
            Family::Topology => &["topology"],
        }
    }
}
