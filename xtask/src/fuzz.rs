//! `cargo xtask fuzz`: random events for every algorithm, or with `--minutes` random command lines and coverage-guided targets.

mod commands;
mod coverage;

use crate::command::{self, cargo};
use crate::options::Options;
use std::time::Duration;

pub use coverage::obstacle;

/// Its options, for the list.
pub const OPTIONS: &str = "[--minutes N | --events 10000000] [--seed 1]";

const MINUTES: &str = "--minutes";
const EVENTS: &str = "--events";
const SEED: &str = "--seed";

/// The part of the time that command lines have; the targets share the rest.
const COMMANDS_SHARE: f64 = 0.25;

/// Runs the fuzzers. Returns whether everything held; they print the seed or the input that fails.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[MINUTES, EVENTS, SEED], &[])?;
    let seed = options.number(SEED, 1)?;
    match options.text(MINUTES) {
        None => events(options.number(EVENTS, 10_000_000)?, seed),
        Some(_) => {
            let seconds = 60.0 * options.number(MINUTES, 1)? as f64;
            let commands = commands::run(seed as u64, Duration::from_secs_f64(COMMANDS_SHARE * seconds))?;
            let targets = coverage::run(seed, (1.0 - COMMANDS_SHARE) * seconds)?;
            Ok(commands && targets)
        }
    }
}

/// Runs the fuzzer of `cwnd-cc`.
fn events(events: usize, seed: usize) -> Result<bool, String> {
    // The checks of overflow cost little, compared with what they find.
    let mut fuzz = cargo();
    fuzz.args(["run", "--quiet", "--release", "--config", "profile.release.overflow-checks=true"])
        .args(["--package", "cwnd-cc", "--example", "fuzz", "--"])
        .args([events.to_string(), seed.to_string()]);
    command::run(&mut fuzz)
}
