//! `cargo xtask test`: everything that a change must pass.
//!
//! A step that fails does not keep the others from being run. A step that cannot be run here is skipped, and
//! says why and how to change that.

use crate::command::{cargo, install, run_showing, shown, succeeds};
use crate::json;
use crate::options::Options;
use crate::table::{cells, table};
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::{Duration, Instant};

struct Step {
    name: &'static str,
    command: Command,
    /// What stands in the way of it, and what to do about that.
    obstacle: Option<String>,
}

enum Verdict {
    Passed,
    Failed,
    Skipped(String),
}

struct Done {
    name: &'static str,
    verdict: Verdict,
    took: Duration,
    /// Tests that passed and failed, if it has any.
    tests: (u64, u64),
}

/// Run all steps. Whether none failed.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    Options::new(arguments, &[], &[])?;
    let begin = Instant::now();
    let done: Vec<Done> = steps().into_iter().map(Step::run).collect();
    print!("\n{}", summary(&done, begin.elapsed()));
    let count = |wanted: fn(&Verdict) -> bool| done.iter().filter(|step| wanted(&step.verdict)).count();
    let failed = count(|verdict| matches!(verdict, Verdict::Failed));
    let passed = count(|verdict| matches!(verdict, Verdict::Passed));
    println!("{passed} passed, {failed} failed, {} skipped", done.len() - passed - failed);
    Ok(failed == 0)
}

fn steps() -> Vec<Step> {
    let step = |name, words: &str, obstacle| {
        let mut command = cargo();
        command.args(words.split(' '));
        Step { name, command, obstacle }
    };
    // Tests that emulate networks skip themselves, and say why, where this cannot be had.
    if !succeeds(Command::new("ip").arg("-Version")) {
        let _ = install("iproute2");
    }
    let mut documentation = step("documentation", "doc --workspace --no-deps", None);
    documentation.command.env("RUSTDOCFLAGS", "-D warnings");
    vec![
        step("format", "fmt --all --check", component("fmt", "rustfmt")),
        step("lints", "clippy --workspace --all-targets -- -D warnings", component("clippy", "clippy")),
        // Examples hold no tests; the lints compile them.
        step("tests", "test --workspace --lib --bins --tests --no-fail-fast", None),
        step("examples in the documentation", "test --workspace --doc --no-fail-fast", None),
        step("report in a browser", "test --workspace --test browser -- --ignored", browser()),
        step("captures in tshark", "test --workspace --test tshark -- --ignored", tshark()),
        step("same bits when optimised", "test --release --package cwnd-sim --test snapshot", None),
        step("a sample of the papers", "xtask papers", None),
        step("crate graph is current", "xtask graph --check", None),
        step(
            "algorithms in this kernel",
            // The whole workspace, as above and below, so that libraries get the same features and are compiled once.
            "test --workspace --features cwnd/kernel --test kernel --test pauses",
            kernel(),
        ),
        step(
            "studies with the kernel's C",
            "test --workspace --features cwnd/kernel --test study --test lab kernel",
            clang(),
        ),
        step(
            "lints of the kernel's loader",
            "clippy --workspace --features cwnd/kernel --all-targets -- -D warnings",
            clang(),
        ),
        step("seeded faults", "test --workspace --features cwnd-sim/faults --test faults", faults()),
        documentation,
    ]
}

/// What is missing for a cargo command that comes with a component of the toolchain.
fn component(command: &str, component: &str) -> Option<String> {
    let is_there = succeeds(cargo().args([command, "--version"]));
    (!is_there).then(|| format!("{component} is not installed: rustup component add {component}"))
}

/// What keeps the report from being opened in a browser. Chromium is installed if that can be done.
fn browser() -> Option<String> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome-headless-shell"];
    let is_there = names.iter().any(|name| succeeds(Command::new(name).arg("--version")));
    if is_there { None } else { install("chromium").err() }
}

/// What keeps captures from being read by tshark, which is installed if that can be done.
fn tshark() -> Option<String> {
    if succeeds(Command::new("tshark").arg("--version")) { None } else { install("tshark").err() }
}

/// What keeps the algorithms from being compiled to BPF. What is needed is installed if that can be done.
fn clang() -> Option<String> {
    let is_there = succeeds(Command::new("clang").arg("--version"))
        && succeeds(Command::new("pkg-config").arg("libelf"));
    if is_there {
        None
    } else {
        ["clang", "libelf-dev", "zlib1g-dev", "pkg-config"].iter().find_map(|name| install(name).err())
    }
}

/// What keeps the algorithms from being loaded into this machine's kernel.
fn kernel() -> Option<String> {
    let root = std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0);
    if !root {
        return Some("only root may load congestion control into the kernel: run it as root".to_owned());
    }
    if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Some("the kernel shows no types (no /sys/kernel/btf/vmlinux)".to_owned());
    }
    // For marks; without it that part is left out, and says so.
    if !succeeds(Command::new("nft").arg("--version")) {
        let _ = install("nftables");
    }
    clang()
}

/// What keeps the seeded faults from being tried.
fn faults() -> Option<String> {
    let metadata = match json::metadata() {
        Ok(metadata) => metadata,
        Err(why) => return Some(why),
    };
    let empty = Vec::new();
    let packages = metadata["packages"].as_array().unwrap_or(&empty);
    let is_there =
        |package: &&Value| package["name"] == "cwnd-sim" && package["features"]["faults"].is_array();
    packages.iter().find(is_there).is_none().then(|| "cwnd-sim has no feature `faults`".to_owned())
}

impl Step {
    fn run(mut self) -> Done {
        println!("\n── {}: {}", self.name, shown(&self.command));
        if let Some(obstacle) = self.obstacle {
            println!("SKIPPED: {obstacle}");
            let verdict = Verdict::Skipped(obstacle);
            return Done { name: self.name, verdict, took: Duration::ZERO, tests: (0, 0) };
        }
        let begin = Instant::now();
        let mut tests = (0, 0);
        let result = run_showing(&mut self.command, |line| {
            if let Some((passed, failed)) = counts(line) {
                tests.0 += passed;
                tests.1 += failed;
            }
        });
        let took = begin.elapsed();
        let verdict = match result {
            Ok(true) => Verdict::Passed,
            Ok(false) => Verdict::Failed,
            Err(why) => {
                println!("it cannot be run: {why}");
                Verdict::Failed
            }
        };
        let word = if matches!(verdict, Verdict::Passed) { "passed" } else { "FAILED" };
        println!("── {}: {word} in {}", self.name, seconds(took));
        Done { name: self.name, verdict, took, tests }
    }
}

/// The tests that passed and failed, from the line that ends a test program's report.
fn counts(line: &str) -> Option<(u64, u64)> {
    let rest = line.strip_prefix("test result: ")?;
    let count = |what: &str| {
        let words: Vec<&str> = rest.split([' ', ';', '.']).filter(|word| !word.is_empty()).collect();
        let at = words.iter().position(|word| *word == what)?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    };
    Some((count("passed")?, count("failed")?))
}

fn summary(done: &[Done], took: Duration) -> String {
    let mut rows: Vec<Vec<String>> = done
        .iter()
        .map(|step| {
            let (verdict, note) = match &step.verdict {
                Verdict::Passed => ("passed", String::new()),
                Verdict::Failed => ("FAILED", String::new()),
                Verdict::Skipped(why) => ("SKIPPED", why.clone()),
            };
            let note = match step.tests {
                (0, 0) => note,
                (1, 0) => "1 test".to_owned(),
                (passed, 0) => format!("{passed} tests"),
                (passed, failed) => format!("{failed} of {} tests failed", passed + failed),
            };
            vec![step.name.to_owned(), verdict.to_owned(), seconds(step.took), note]
        })
        .collect();
    rows.push(vec!["all".to_owned(), String::new(), seconds(took), String::new()]);
    table(&[0, 1, 3], &[cells(&["step", "result", "time", ""])], &rows)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_tests() {
        let line =
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        assert_eq!(counts(line), Some((12, 0)));
        assert_eq!(counts("test result: FAILED. 3 passed; 2 failed; 0 ignored"), Some((3, 2)));
        assert_eq!(counts("test time ... ok"), None);
    }
}
