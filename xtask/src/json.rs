//! What other programs say in JSON.

use crate::command;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// A number in a document, by its path.
pub fn number(value: &Value, path: &str) -> Result<f64, String> {
    value.pointer(path).and_then(Value::as_f64).ok_or_else(|| format!("there is no number {path}"))
}

/// What cargo knows of this workspace.
pub fn metadata() -> Result<Value, String> {
    let mut cargo = command::cargo();
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
    serde_json::from_str(&command::output(&mut cargo)?).map_err(|error| format!("cargo metadata: {error}"))
}

/// Build `cwnd` with all optimisations, and say where it is.
pub fn build_cwnd() -> Result<PathBuf, String> {
    build(&["--package", "cwnd"])
}

/// Build a program with all optimisations, and say where it is.
pub fn build(what: &[&str]) -> Result<PathBuf, String> {
    let mut cargo = command::cargo();
    cargo.args(["build", "--release", "--message-format=json-render-diagnostics"]).args(what);
    let messages = command::output(&mut cargo)?;
    let executable = messages.lines().rev().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executable.ok_or_else(|| format!("{} does not say where the program is", command::shown(&cargo)))
}

/// Run `cwnd compare` with `--json`, and give the first of its runs.
pub fn first_run(cwnd: &mut Command) -> Result<Value, String> {
    let mut document: Value = serde_json::from_str(&command::output(cwnd)?)
        .map_err(|error| format!("{}: {error}", command::shown(cwnd)))?;
    document.pointer_mut("/runs/0").map(Value::take).ok_or_else(|| "there is no run".to_owned())
}
