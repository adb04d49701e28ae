//! `cargo xtask machines`: whether builds for other machines compute the digests that the snapshots of `cwnd-sim` have.
//!
//! What could differ: functions of the platform's mathematical library, fused multiplications and additions, the width of `usize`, the
//! order of bytes.

use crate::command::{cargo, install, output, root, shown, succeeds};
use crate::cross::{self, ARM, WASM};
use crate::options::Options;
use crate::table::{cells, table};
use crate::web;
use std::process::Command;
use std::time::Instant;

pub const OPTIONS: &str = "";

const PROGRAM: [&str; 5] = ["--release", "--package", "cwnd-sim", "--example", "digests"];
const SNAPSHOTS: [&str; 2] = ["outcomes_to_the_bit", "outcomes_of_networks_to_the_bit"];

struct Machine {
    name: &'static str,
    /// Why it cannot run, and what would change that.
    obstacle: Option<String>,
    build: Command,
    /// Prints the digests.
    run: Command,
}

/// Compares the digests of each machine. Returns whether none differs.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    Options::new(arguments, &[], &[])?;
    let committed = committed()?;
    let (mut rows, mut equal, mut different) = (Vec::new(), 0, 0);
    for machine in machines() {
        let (name, begin) = (machine.name, Instant::now());
        let (verdict, note) = match machine.digests()? {
            Err(obstacle) => ("SKIPPED", obstacle),
            Ok(digests) => {
                let wrong = differences(&committed, &digests);
                wrong.iter().for_each(|line| println!("{line}"));
                match wrong.len() {
                    0 => equal += 1,
                    _ => different += 1,
                }
                let note =
                    format!("{} of {} lines", committed.len().saturating_sub(wrong.len()), committed.len());
                (if wrong.is_empty() { "equal" } else { "DIFFERENT" }, note)
            }
        };
        let seconds = format!("{:.0} s", begin.elapsed().as_secs_f64());
        rows.push(vec![name.to_owned(), verdict.to_owned(), seconds, note]);
    }
    print!("\n{}", table(&[0, 1, 3], &[cells(&["build", "digests", "time", ""])], &rows));
    println!("{equal} equal, {different} different, {} skipped", rows.len() - equal - different);
    Ok(different == 0)
}

/// Returns the lines of the committed snapshots.
fn committed() -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    for snapshot in SNAPSHOTS {
        let path = root().join(format!("crates/cwnd-sim/tests/snapshots/snapshot__{snapshot}.snap"));
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let digests = text.splitn(3, "---\n").nth(2).ok_or_else(|| format!("{snapshot} has no digests"))?;
        lines.extend(filled(digests));
    }
    Ok(lines)
}

fn filled(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned)
}

fn machines() -> Vec<Machine> {
    let release = root().join("target/release/examples/digests");
    let folder = root().join("target/machines");
    let built = |target: &str, file: &str| folder.join(target).join("release/examples").join(file);
    let host = || {
        let mut build = cargo();
        build.arg("build").args(PROGRAM);
        build
    };
    let cross = |target: &str| {
        let mut build = cross::cargo("build", target);
        build.args(PROGRAM).args(["--target-dir", "target/machines"]);
        build
    };
    let mut native = host();
    native.args(["--target-dir", "target/machines/native"]).env("RUSTFLAGS", "-C target-cpu=native");
    let mut node = Command::new("node");
    node.arg(root().join("xtask/src/machines/wasm.mjs")).arg(built(WASM, "digests.wasm"));
    let mut qemu = Command::new("qemu-aarch64");
    qemu.args(["-L", "/usr/aarch64-linux-gnu"]).arg(built(ARM, "digests"));
    vec![
        Machine { name: "release", obstacle: None, build: host(), run: Command::new(release) },
        Machine {
            name: "for this processor",
            obstacle: None,
            build: native,
            run: Command::new(built("native", "digests")),
        },
        Machine {
            name: "WebAssembly in node",
            obstacle: web::node().or_else(|| cross::obstacle(WASM)),
            build: cross(WASM),
            run: node,
        },
        Machine {
            name: "aarch64 in qemu",
            obstacle: qemu_user().or_else(|| cross::obstacle(ARM)),
            build: cross(ARM),
            run: qemu,
        },
    ]
}

/// Returns why programs for ARM cannot be run. Installs what is missing where permitted.
fn qemu_user() -> Option<String> {
    let is_there = succeeds(Command::new("qemu-aarch64").arg("--version"));
    if is_there { None } else { install("qemu-user").err() }
}

impl Machine {
    /// Returns the lines that the program prints, or why it cannot run.
    fn digests(mut self) -> Result<Result<Vec<String>, String>, String> {
        println!("── {}: {}", self.name, shown(&self.build));
        if let Some(obstacle) = self.obstacle {
            println!("SKIPPED: {obstacle}");
            return Ok(Err(obstacle));
        }
        output(&mut self.build)?;
        println!("{}", shown(&self.run));
        output(&mut self.run).map(|text| Ok(filled(&text).collect()))
    }
}

/// Returns each committed line that the machine computes otherwise, and each line more.
fn differences(committed: &[String], computed: &[String]) -> Vec<String> {
    let missing = committed.iter().filter(|line| !computed.contains(line)).map(|line| format!("- {line}"));
    let more = computed.iter().filter(|line| !committed.contains(line)).map(|line| format!("+ {line}"));
    missing.chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_lines_that_differ() {
        let lines = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let committed = lines(&["cubic 1", "bbr 2"]);
        assert!(differences(&committed, &committed).is_empty());
        assert_eq!(differences(&committed, &lines(&["cubic 1", "bbr 3"])), ["- bbr 2", "+ bbr 3"]);
        assert_eq!(differences(&committed, &[]).len(), 2);
    }
}
