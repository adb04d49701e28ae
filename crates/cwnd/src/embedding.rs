//! What other fronts share with the command line, so that the same words give the same study, the same runs and the same page.

pub use crate::commands::run::{Elsewhere, Prepared};
pub use crate::failure::Failure;

use crate::commands::{
    Command, compare,
    evaluate::{
        self,
        python::{Class, class},
    },
    report, reproduce, run,
};
use crate::{Cli, catalogue, engines, interrupt, memory::MemoryFlags};
use clap::{Args, FromArgMatches, Parser};
use cwnd_study::{Engines, Named, Results, SharedEngine, Study, memory::MemoryBudget};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

/// Returns the text of the study that `cwnd compare` makes of its arguments (without the program's and the command's name).
///
/// # Errors
/// Everything that is wrong with them, by flag.
pub fn comparison(arguments: &[String]) -> Result<String, Failure> {
    compare::study_text(&flags("compare", arguments)?)
}

/// Reads the arguments of a command.
fn flags<F: Args + FromArgMatches>(name: &'static str, arguments: &[String]) -> Result<F, Failure> {
    let command = F::augment_args(clap::Command::new(name).no_binary_name(true));
    let refused = |error: clap::Error| {
        let text = error.render().to_string();
        // What follows tells how to ask the program for help.
        let message = text.split("\n\nUsage:").next().unwrap_or(&text);
        let message = message.split("\n\nFor more information").next().unwrap_or(message);
        let message = message.replacen("for '[ALGORITHM]...'", "for an algorithm", 1);
        Failure::bad_input(message.trim_start_matches("error: ").trim_end())
    };
    let matches = command.try_get_matches_from(arguments).map_err(refused)?;
    F::from_arg_matches(&matches).map_err(refused)
}

/// Returns the flag that ends an [`evaluation`] when it is set.
pub fn stop() -> Arc<AtomicBool> {
    interrupt::leave_to_program()
}

/// Does what `cwnd evaluate` does with these arguments (without the program's and the command's name), with engines from elsewhere.
/// Returns the ledger as JSON; it and the page are written as well. Signals are left to the caller, who sets [`stop`] to end it.
///
/// # Errors
/// The arguments are wrong, or a run failed.
pub fn evaluation(arguments: &[String], engines: &dyn Fn(&Study) -> Engines) -> Result<String, Failure> {
    evaluate::elsewhere(&flags("evaluate", arguments)?, engines)
}

/// Returns the file and the name of the class in Python that `cwnd evaluate` is asked to evaluate, given the command's arguments (the
/// first is the program's name). None if this is another command or algorithm, or a wrong one, which
/// [`command_line`](crate::command_line) explains.
pub fn class_of_file(arguments: &[OsString]) -> Option<(String, String)> {
    let cli = Cli::try_parse_from(arguments).ok()?;
    let class = class_of_command(&cli).ok().flatten()?;
    Some((class.file, class.name))
}

/// Returns the class in a file that a command names as its algorithm.
///
/// # Errors
/// The algorithm is a file of Python without a class.
pub(crate) fn class_of_command(cli: &Cli) -> Result<Option<Class>, Failure> {
    match &cli.command {
        Command::Evaluate(flags) => class(&flags.algorithm),
        _ => Ok(None),
    }
}

/// Does all that the command `cwnd evaluate` does, given its arguments (the first is the program's name), with engines from elsewhere.
///
/// # Errors
/// The arguments are wrong, or the command fails.
pub fn evaluate_with(arguments: &[OsString], engines: &dyn Fn(&Study) -> Engines) -> Result<(), Failure> {
    match Cli::try_parse_from(arguments) {
        Ok(Cli { command: Command::Evaluate(flags) }) => evaluate::run_with(&flags, engines),
        _ => Err(Failure::bad_input("this is not the command `evaluate`")),
    }
}

/// Prepares what `cwnd run --executor` runs elsewhere, given the command's arguments (the first is the program's name). None if
/// this is another command, or a wrong one, which [`command_line`](crate::command_line) explains.
///
/// # Errors
/// If the study cannot be run.
pub fn elsewhere(arguments: &[OsString]) -> Result<Option<Elsewhere>, Failure> {
    match Cli::try_parse_from(arguments) {
        Ok(Cli { command: Command::Run(flags) }) => run::elsewhere(&flags),
        _ => Ok(None),
    }
}

/// Says whether there is what a study names.
///
/// # Errors
/// A message that says what is wrong and what would be right.
pub fn check_name(named: Named<'_>) -> Result<(), String> {
    catalogue::check(named)
}

/// Returns the memory that runs may use together: what is stated, such as `4 GB`, or what this process has.
///
/// # Errors
/// If the text is no size.
pub fn memory(stated: Option<&str>) -> Result<MemoryBudget, Failure> {
    let flags = stated.map_or(Ok(MemoryFlags::default()), |text| text.parse().map(MemoryFlags::stated));
    Ok(flags.map_err(|error| Failure::bad_input(format!("memory: {error}")))?.budget())
}

/// Writes the report's page of results into a directory, and returns its path.
///
/// # Errors
/// If it cannot be written.
pub fn write_page(results: &Results, directory: &Path) -> Result<PathBuf, Failure> {
    report::page(results, directory)
}

/// Returns the text of a paper's study, which are all in the program, by its name (`agile-sd/throughput`); none if there is none.
pub fn paper_study(name: &str) -> Option<&'static str> {
    reproduce::text(name)
}

/// Returns the simulator of this build, as [`engines`] has it.
pub fn simulator() -> SharedEngine {
    std::sync::Arc::new(crate::simulator::Simulator::default())
}

/// Returns the simulator of this build, for scenarios without algorithms from elsewhere, and the kernel's laboratory if a study
/// needs it and this machine can have it.
pub fn engines(study: &Study) -> Engines {
    engines::of_study(study)
}
