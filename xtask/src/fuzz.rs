//! `cargo xtask fuzz`: random events for every algorithm, and what must hold after each.

use crate::command::{self, cargo};
use crate::options::Options;

/// Its options, for the list.
pub const OPTIONS: &str = "[--events 10000000] [--seed 1]";

const EVENTS: &str = "--events";
const SEED: &str = "--seed";

/// Run the fuzzer of `cwnd-cc`. Whether everything held; it prints the seed that fails.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[EVENTS, SEED], &[])?;
    let events = options.number(EVENTS, 10_000_000)?;
    let seed = options.number(SEED, 1)?;
    // The checks of overflow cost little beside what they find.
    let mut fuzz = cargo();
    fuzz.args(["run", "--quiet", "--release", "--config", "profile.release.overflow-checks=true"])
        .args(["--package", "cwnd-cc", "--example", "fuzz", "--"])
        .args([events.to_string(), seed.to_string()]);
    command::run(&mut fuzz)
}
