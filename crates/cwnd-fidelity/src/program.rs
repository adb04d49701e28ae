//! Running other programs.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the path of a program that cargo builds into the same directory as this one.
pub fn built(name: &str) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let path = own.with_file_name(name);
    match path.is_file() {
        true => Ok(path),
        false => Err(format!("{} does not exist; `cargo xtask fidelity` builds it", path.display())),
    }
}

/// Returns the path of a file or directory of this crate's `data`.
pub fn data(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/data")).join(name)
}

/// Returns the text of a file in this crate's `data`.
pub fn read_data(name: &str) -> Result<String, String> {
    let path = data(name);
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a command, and returns its standard output. The error of a command that fails has its standard error.
pub fn output(command: &mut Command) -> Result<String, String> {
    let done = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr);
        return Err(format!("{command:?}: {}\n{}", done.status, why.trim_end()));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
