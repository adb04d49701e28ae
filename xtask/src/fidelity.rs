//! `cargo xtask fidelity`: builds cwnd and runs the program `cwnd-fidelity`, which compares the stack profiles with recordings of
//! Linux 6.1 and with ns-2.35.

use crate::command::{self, install, succeeds};
use crate::json;
use std::process::Command;

/// Options of `cwnd-fidelity`.
pub const OPTIONS: &str =
    "[--linux] [--seeds N] | --vm [--rows NAMES] | --ns2 [--record | --windows | --clock] [--seeds N]";

/// Runs the comparison. Returns false if it failed, or missed a bar that is not a known miss.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let has = |names: &[&str]| arguments.iter().any(|argument| names.contains(&argument.as_str()));
    let needs_ns2 = has(&["--ns2", "--record", "--windows", "--clock"]);
    // `ns` reads a script from its standard input, which is empty here.
    if needs_ns2 && !succeeds(&mut Command::new("ns")) {
        install("ns2").map_err(|why| format!("ns-2.35 (the program `ns`) is not installed; {why}"))?;
    }
    if has(&["--vm"])
        && let Some(why) = crate::vm::programs()
    {
        return Err(why);
    }
    json::build_cwnd()?;
    if has(&["--clock"]) {
        json::build(&["--package", "cwnd-sim", "--example", "ns2_clock"])?;
    }
    let program = json::build(&["--package", "cwnd-fidelity"])?;
    command::run(Command::new(program).args(arguments))
}
