//! `cwnd lab doctor`: what this machine offers.

use crate::{failure::Failure, output, output::json};
use clap::Args;
use cwnd_lab::{doctor, host};
use serde::Serialize;

/// The flags.
#[derive(Args)]
pub struct Flags {
    /// Print one JSON document instead of text.
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    /// Whether networks can be emulated here.
    works: bool,
    kernel: String,
    findings: Vec<Finding>,
    /// Names that a process had left which is no more; they are gone now.
    cleaned_up: Vec<String>,
}

#[derive(Serialize)]
struct Finding {
    what: &'static str,
    found: String,
    good: bool,
    optional: bool,
}

/// Do what the flags ask. That something is missing is a failure, told at the end.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let cleaned_up = cwnd_lab::clean_up();
    let missing = doctor::missing();
    let findings = doctor::findings().into_iter();
    let findings = findings.map(|doctor::Finding { what, found, good, optional }| Finding {
        what,
        found,
        good,
        optional,
    });
    let report = Report {
        works: missing.is_empty(),
        kernel: host::kernel(),
        findings: findings.collect(),
        cleaned_up,
    };
    if flags.json {
        output::print(&json::pretty(&report))?;
    } else {
        output::print(&text(&report))?;
    }
    match missing.len() {
        0 => Ok(()),
        1 => Err(Failure::broken("networks cannot be emulated here: one thing is missing")),
        many => Err(Failure::broken(format!("networks cannot be emulated here: {many} things are missing"))),
    }
}

fn text(report: &Report) -> String {
    const INDENT: usize = 11;
    let mut text = format!("\n  ok       kernel: {}\n", report.kernel);
    for Finding { what, found, good, optional } in &report.findings {
        let mark = match (good, optional) {
            (true, _) => "ok",
            (false, true) => "without",
            (false, false) => "MISSING",
        };
        let lines = output::wrapped(&format!("{what}: {found}"), INDENT);
        text += &format!("  {mark:<8} {}", lines.trim_start());
    }
    text += "\n";
    if !report.cleaned_up.is_empty() {
        let names = report.cleaned_up.join(", ");
        text += &output::wrapped(&format!("Taken away, left by a process that was killed: {names}"), 2);
    }
    if report.works {
        text += "  Networks can be emulated here; `cwnd lab bench` measures how well.\n\n";
    }
    text
}
