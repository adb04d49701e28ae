//! What tells runs apart.

use cwnd_scenario::{Engine, Scenario};
use sha2::{Digest, Sha256};
use std::fmt;

/// SHA-256 of [`Engine::identity`]: everything that decides what comes of a run, and nothing else. Equal keys,
/// equal outcomes, whatever study the run belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey(pub [u8; 32]);

impl RunKey {
    /// The key of a scenario for an engine. The seed belongs to it, and so does the time between samples: a run
    /// with a trace is another than the same run without.
    pub fn of(engine: &dyn Engine, scenario: &Scenario) -> RunKey {
        RunKey(Sha256::digest(engine.identity(scenario)).into())
    }
}

impl fmt::Display for RunKey {
    /// 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunKey({self})")
    }
}
