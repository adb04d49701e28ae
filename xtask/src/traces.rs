//! `cargo xtask traces`: makes the delivery traces of the folder `traces`, which the repository does not keep.

use crate::command::{cargo, root, run_showing};
use crate::options::Options;

/// Its options, for the list.
pub const OPTIONS: &str = "[--to traces] [--scale 20] [--seed 1]";

const TO: &str = "--to";
const SCALE: &str = "--scale";
const SEED: &str = "--seed";

/// Run the generator of `cwnd-link`. Whether it has written them; it prints their rates.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[TO, SCALE, SEED], &[])?;
    let folder = match options.text(TO) {
        // As the caller means it; the generator runs elsewhere.
        Some(folder) => std::path::absolute(folder).map_err(|error| format!("{TO} {folder}: {error}"))?,
        None => root().join("traces"),
    };
    let (scale, seed) = (options.number(SCALE, 20)?, options.number(SEED, 1)?);
    let mut make = cargo();
    make.args(["run", "--quiet", "--package", "cwnd-link", "--example", "make_traces", "--"])
        .arg(folder)
        .args([scale.to_string(), seed.to_string()]);
    run_showing(&mut make, |_| {})
}
