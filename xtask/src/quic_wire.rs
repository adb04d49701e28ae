//! `cargo xtask quic-wire`: transfers of noq and quinn over a real network interface, with losses, and their CPU time.
//!
//! It builds `cwnd-quic-transfer` and its example `wire`, which emulates the link and runs the program at both ends.

use crate::command::{output, root, run_showing, shown};
use crate::json;
use crate::options::Options;
use crate::test::emulation;
use std::fs;
use std::process::Command;

pub const OPTIONS: &str = "[--size '100 MB'] [--runs 7] [--link-runs 3] [--only loss|cpu] [--record]";

const WITH_VALUE: [&str; 4] = ["--size", "--runs", "--link-runs", "--only"];
const RECORD: &str = "--record";

/// The page with the tables, and the lines around them.
const PAGE: &str = "docs/how-to/quic-transfer.md";
const BEGIN: &str = "<!-- transfers -->";
const END: &str = "<!-- end of transfers -->";

/// Measures, prints the tables, and with `--record` writes them into the page. Returns whether all transfers ended well.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &WITH_VALUE, &[RECORD])?;
    if let Some(why) = emulation() {
        return Err(why);
    }
    let package = ["--package", "cwnd-quic-transfer"];
    let program = json::build(&[&package[..], &["--bin", "cwnd-quic-transfer"]].concat())?;
    let wire = json::build(&[&package[..], &["--example", "wire"]].concat())?;
    let mut command = Command::new(wire);
    command.arg("--program").arg(program).current_dir(root());
    let given = WITH_VALUE.iter().filter_map(|name| Some([*name, options.text(name)?]));
    command.args(given.flatten());
    println!("{}", shown(&command));
    let mut printed = String::new();
    let passed = run_showing(&mut command, |line| {
        printed += line.trim_end();
        printed.push('\n');
    })?;
    if passed && options.has(RECORD) {
        record(&printed, &arguments.join(" "))?;
    }
    Ok(passed)
}

/// Writes the tables into the page.
fn record(printed: &str, given: &str) -> Result<(), String> {
    let file = root().join(PAGE);
    let text = fs::read_to_string(&file).map_err(|error| format!("{PAGE}: {error}"))?;
    let date = output(Command::new("date").arg("+%Y-%m-%d"))?;
    let text = with_tables(&text, printed, &format!("`cargo xtask quic-wire {given}`, {}", date.trim()))
        .ok_or_else(|| format!("{PAGE} has no place for the tables: {BEGIN} and {END}"))?;
    fs::write(&file, text).map_err(|error| format!("{PAGE}: {error}"))
}

/// Returns the page with these tables, under their source.
fn with_tables(page: &str, printed: &str, source: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let tables = format!("{source}:\n\n```text\n{}\n```", printed.trim_end());
    Some(format!("{before}{BEGIN}\n\n{tables}\n\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_replace_those_before() {
        let page = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let new = with_tables(&page, "1 2\n\n", "`cargo xtask`, 2026-01-02").unwrap();
        assert_eq!(
            new,
            format!("a\n{BEGIN}\n\n`cargo xtask`, 2026-01-02:\n\n```text\n1 2\n```\n\n{END}\nb\n")
        );
        assert_eq!(with_tables(&new, "1 2\n\n", "`cargo xtask`, 2026-01-02").as_ref(), Some(&new));
        assert_eq!(with_tables("a", "", ""), None);
    }
}
