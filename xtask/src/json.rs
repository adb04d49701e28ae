//! Cargo's descriptions in JSON.

use crate::command;
use serde_json::Value;
use std::path::PathBuf;

/// Returns cargo's description of this workspace.
pub fn metadata() -> Result<Value, String> {
    let mut cargo = command::cargo();
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
    serde_json::from_str(&command::output(&mut cargo)?).map_err(|error| format!("cargo metadata: {error}"))
}

/// Builds `cwnd` with all optimisations, and returns its path. The environment variable `CWND` names a program to run instead.
///
/// Where the algorithms in C can be compiled it has them: one program for all chores is compiled once.
pub fn build_cwnd() -> Result<PathBuf, String> {
    match std::env::var_os("CWND") {
        Some(program) => Ok(PathBuf::from(program)),
        None if crate::test::has_clang() => build_cwnd_with_kernel(),
        None => build(&["--package", "cwnd"]),
    }
}

/// Builds `cwnd` with the algorithms in C and all optimisations, and returns its path.
pub fn build_cwnd_with_kernel() -> Result<PathBuf, String> {
    build(&["--package", "cwnd", "--features", "kernel"])
}

/// Builds a program with all optimisations, and returns its path.
pub fn build(what: &[&str]) -> Result<PathBuf, String> {
    build_unoptimised(&[&["--release"], what].concat())
}

/// Builds a program as tests are built, and returns its path.
pub fn build_unoptimised(what: &[&str]) -> Result<PathBuf, String> {
    let mut cargo = command::cargo();
    cargo.args(["build", "--message-format=json-render-diagnostics"]).args(what);
    let messages = command::output(&mut cargo)?;
    let executable = messages.lines().rev().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executable.ok_or_else(|| format!("{} does not report the path of the program", command::shown(&cargo)))
}
