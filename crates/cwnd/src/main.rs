//! The command line. Each command is a file of [`commands`]: it reads its flags, lets the other crates do the work,
//! and prints what comes back.
#![forbid(unsafe_code)]

mod catalogue;
mod commands;
mod engines;
mod failure;
mod interrupt;
mod output;
mod recording;
mod runner;
mod simulator;

use clap::Parser;
use commands::Command;
use std::process::ExitCode;

/// A laboratory for TCP congestion control.
///
/// Simulates the algorithms of the literature over the networks of the literature, exactly and fast, and compares
/// them.
#[derive(Parser)]
#[command(name = "cwnd", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    // Bad flags end here: the parser prints one message and leaves with code 2.
    match Cli::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
