//! The command line from outside: what it prints, what it refuses, and what it leaves behind.

mod advise;
mod algorithms;
mod attack;
mod bad_input;
mod closed_pipes;
mod compare;
mod drill;
mod evaluate;
#[cfg(target_os = "linux")]
mod lab;
mod output;
mod recording;
mod report;
mod reproduce;
#[cfg(target_os = "linux")]
mod resources;
mod saved;
mod studies;
mod terminal;
#[cfg(unix)]
mod tutorial;

use std::process::{Command, Output};

/// Run `cwnd` with these arguments.
fn cwnd(arguments: &[&str]) -> Output {
    command(arguments).output().expect("cwnd starts")
}

/// `cwnd` with these arguments, in a terminal of no stated width.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cwnd"));
    command.args(arguments).env_remove("COLUMNS");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("cwnd prints UTF-8")
}

/// What it prints, if it succeeds.
#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let output = cwnd(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The JSON document that it prints.
#[track_caller]
fn document(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(arguments)).expect("one JSON document")
}
