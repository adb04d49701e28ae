//! The commands, one file each: a new one is a file, a line in [`Command`] and a line in [`Command::run`].

mod advise;
mod algorithms;
mod attack;
mod check;
pub mod compare;
mod completions;
mod diff;
mod drill;
pub mod evaluate;
mod export;
#[cfg(feature = "kernel")]
mod kernel;
#[cfg(target_os = "linux")]
mod lab;
mod man;
mod metrics;
mod networks;
mod new;
pub mod report;
pub mod reproduce;
pub mod run;
mod schema;
#[cfg(feature = "serve")]
mod serve;

use crate::failure::Failure;
use clap::Subcommand;

/// What is to be done.
#[derive(Subcommand)]
pub enum Command {
    Compare(Box<compare::Flags>),
    Advise(Box<advise::Flags>),
    Evaluate(Box<evaluate::Flags>),
    Attack(Box<attack::Flags>),
    New(new::Flags),
    Check(check::Flags),
    Run(run::Flags),
    Export(export::Flags),
    Report(report::Flags),
    Reproduce(reproduce::Flags),
    Diff(diff::Flags),
    Drill(drill::Flags),
    Algorithms(algorithms::Flags),
    Metrics(metrics::Flags),
    Networks(networks::Flags),
    #[cfg(feature = "serve")]
    Serve(serve::Flags),
    Schema(schema::Flags),
    Completions(completions::Flags),
    Man(man::Flags),
    #[cfg(feature = "kernel")]
    Kernel(kernel::Flags),
    #[cfg(target_os = "linux")]
    Lab(lab::Flags),
}

impl Command {
    /// Do it. Some commands describe the whole command line, `cli`.
    pub fn run(self, cli: clap::Command) -> Result<(), Failure> {
        match self {
            Command::Compare(flags) => compare::run(*flags),
            Command::Advise(flags) => advise::run(*flags),
            Command::Evaluate(flags) => evaluate::run(&flags),
            Command::Attack(flags) => attack::run(*flags),
            Command::New(flags) => new::run(&flags),
            Command::Check(flags) => check::run(&flags),
            Command::Run(flags) => run::run(flags),
            Command::Export(flags) => export::run(&flags),
            Command::Report(flags) => report::run(&flags),
            Command::Reproduce(flags) => reproduce::run(&flags),
            Command::Diff(flags) => diff::run(&flags),
            Command::Drill(flags) => drill::run(&flags),
            Command::Algorithms(flags) => algorithms::run(&flags),
            Command::Metrics(flags) => metrics::run(&flags),
            Command::Networks(flags) => networks::run(&flags),
            #[cfg(feature = "serve")]
            Command::Serve(flags) => serve::run(&flags),
            Command::Schema(flags) => schema::run(&flags),
            Command::Completions(flags) => completions::run(&flags, cli),
            Command::Man(flags) => man::run(&flags, cli),
            #[cfg(feature = "kernel")]
            Command::Kernel(flags) => kernel::run(flags),
            #[cfg(target_os = "linux")]
            Command::Lab(flags) => lab::run(flags),
        }
    }
}
