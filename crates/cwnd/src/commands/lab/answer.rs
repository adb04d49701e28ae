//! `cwnd lab answer`: what the engine of virtual machines runs in them.

use crate::{failure::Failure, recording::Capture};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Runs one scenario over this kernel, and prints its outcome and samples in the form that the engine reads.
#[derive(Args)]
pub struct Flags {
    /// The scenario as JSON.
    scenario: PathBuf,

    /// Write the packets into this file, `.pcapng`.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let file = flags.scenario.display();
    let text =
        std::fs::read(&flags.scenario).map_err(|error| Failure::bad_input(format!("{file}: {error}")))?;
    let (capture, observer) = flags.pcap.as_deref().map(Capture::begin).transpose()?.unzip();
    let outcome = cwnd_vm::answer(&text, observer).map_err(|why| Failure::broken(format!("{file}: {why}")));
    capture.map_or(Ok(()), Capture::end)?;
    let outcome = outcome?;
    std::io::stdout()
        .write_all(&outcome)
        .map_err(|error| Failure::broken(format!("standard output: {error}")))
}
