//! The commands, one file each: a new one is a file, a line in [`Command`] and a line in [`Command::run`].

mod algorithms;
mod compare;
mod metrics;

use crate::failure::Failure;
use clap::Subcommand;

/// What is to be done.
#[derive(Subcommand)]
pub enum Command {
    Compare(Box<compare::Flags>),
    Algorithms(algorithms::Flags),
    Metrics(metrics::Flags),
}

impl Command {
    /// Do it.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Compare(flags) => compare::run(*flags),
            Command::Algorithms(flags) => algorithms::run(&flags),
            Command::Metrics(flags) => metrics::run(&flags),
        }
    }
}
