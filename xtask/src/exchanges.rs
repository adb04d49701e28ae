//! `cargo xtask exchanges`: the endpoint against the independent one, on many random exchanges.

use crate::command::{self, cargo};
use crate::options::Options;

/// Its options, for the list.
pub const OPTIONS: &str = "[--count 10000000]";

const COUNT: &str = "--count";

/// Runs the comparison of `cwnd-tcp`. Returns whether all exchanges agreed; it prints the seed that fails.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[COUNT], &[])?;
    let count = options.number(COUNT, 10_000_000)?;
    let mut test = cargo();
    test.args(["test", "--quiet", "--release", "--package", "cwnd-tcp", "--test", "independent"])
        .args(["--", "--nocapture"])
        .env("CWND_EXCHANGES", count.to_string());
    command::run(&mut test)
}
