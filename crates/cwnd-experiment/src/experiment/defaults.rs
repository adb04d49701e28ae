//! What an experiment has that is not said, by the edition of these rules.

use super::ExperimentSpec;
use cwnd_scenario::StackProfile;

/// The rules of what is not said. Stored results keep the study's text, and are read by the rules of their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Defaults {
    /// Today's: the stack is `linux`, and access links are wider than the bottleneck.
    #[default]
    Current,
    /// Until the end of 2026: the stack was `ns2`, and access links had the bottleneck's rate and buffer.
    Ns2,
}

impl ExperimentSpec {
    /// Returns an experiment of which nothing is said, by these rules.
    pub fn with_defaults(defaults: Defaults) -> ExperimentSpec {
        let mut experiment = ExperimentSpec { defaults, ..ExperimentSpec::default() };
        if defaults == Defaults::Ns2 {
            experiment.stack = StackProfile::Ns2.into();
        }
        experiment
    }
}
