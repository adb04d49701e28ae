//! Settings of the kernel, and programs of this host that make and remove networks (`ip`, `nft`).

use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Writes a setting of the kernel.
pub fn write_setting(path: &str, value: &str) -> io::Result<()> {
    fs::write(path, value).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
}

/// Runs a program with this input.
pub fn run(command: &mut Command, input: &str) -> io::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let command = apart(command).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        let package = if name == "nft" { "nftables" } else { "iproute2" };
        io::Error::new(error.kind(), format!("`{name}` (package {package}): {error}"))
    })?;
    if let Some(mut pipe) = child.stdin.take() {
        // If it ends before it has read all, its error says why.
        let _ = pipe.write_all(input.as_bytes());
    }
    let done = child.wait_with_output()?;
    if done.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{name}: {}", String::from_utf8_lossy(&done.stderr).trim())))
}

/// Runs a program to remove something, and ignores its result: what is not there any more need not be removed.
pub fn run_quietly(command: &mut Command) {
    let _ = apart(command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

/// Runs a program, and returns what it prints; nothing if it fails.
pub fn output(command: &mut Command) -> Option<String> {
    let output = apart(command).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Puts a program into a process group of its own. Signals that a terminal sends to cwnd would end it in the middle.
fn apart(command: &mut Command) -> &mut Command {
    command.process_group(0)
}
