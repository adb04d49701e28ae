//! `--scale`.

use clap::ValueEnum;
use cwnd_study::RunScale;

/// How much of a study is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scale {
    /// What each study's `[quick]` leaves: minutes.
    Quick,
    /// The paper's own grids and repeats: hours.
    Paper,
    /// One run of the first and the last value of each axis that is a quantity: for tests.
    Sample,
}

impl From<Scale> for RunScale {
    fn from(scale: Scale) -> RunScale {
        match scale {
            Scale::Quick => RunScale::Quick,
            Scale::Paper => RunScale::Paper,
            Scale::Sample => RunScale::Sample,
        }
    }
}
