//! Measures how close the stack profiles are to what they imitate: `linux` to recordings of Linux 6.1, and `ns2` to ns-2.35.
//!
//! The program runs `cwnd` and the example `ns2_clock`, which must lie beside it; `cargo xtask fidelity` builds all three.
//! `data/` has the recordings, the known misses and the script for ns-2. `docs/fidelity.md` explains the results.
#![forbid(unsafe_code)]

mod cwnd;
mod linux;
mod ns2;
mod parallel;
mod program;
mod samples;
mod table;

use clap::Parser;
use std::num::NonZeroUsize;
use std::process::ExitCode;

/// Compares `--stack linux` with recordings of Linux 6.1, or with `--ns2` `--stack ns2` with ns-2.35.
#[derive(Parser)]
#[command(name = "cargo xtask fidelity")]
struct Options {
    /// Compares with the recordings of Linux 6.1 (the default).
    #[arg(long, conflicts_with = "Ns2")]
    linux: bool,
    /// Records the flows of the first archive again, with Linux 6.1 in a virtual machine, and compares both recordings.
    #[arg(long, conflicts_with = "Ns2")]
    vm: bool,
    /// Of the recordings in a virtual machine, only these: names as `reno-0`, or folders as `pairs/`.
    #[arg(long, value_name = "NAMES", requires = "vm", value_delimiter = ',')]
    rows: Vec<String>,
    #[command(flatten)]
    ns2: ns2::Options,
    /// Number of seeds: of runs with random loss (`--linux`, 200 by default), of start times per cell (`--ns2`, all by
    /// default; `--clock`, 1).
    #[arg(long, value_name = "N")]
    seeds: Option<NonZeroUsize>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let seeds = options.seeds.map(NonZeroUsize::get);
    let result = match options.ns2.mode() {
        None if options.vm => linux::record(&options.rows),
        Some(mode) => ns2::run(mode, seeds),
        None => linux::run(seeds),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("cwnd-fidelity: {why}");
            ExitCode::from(2)
        }
    }
}
