//! One measurement: a process that runs one scenario.

use super::rows::{COMMON, Row};
use crate::{command, json};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use wait4::Wait4;

/// What a run cost.
pub struct Measurement {
    pub ns_per_packet: f64,
    /// Peak resident memory of the whole process.
    pub peak_mib: f64,
}

/// Durations under callgrind, simulated seconds: what the second takes longer is counted, so that start-up
/// and slow start are not.
const SHORT: u32 = 10;
const LONGER: u32 = 30;

fn add_arguments(command: &mut Command, row: &Row, seconds: u32) {
    command.args(COMMON).args(row.arguments).args(["--duration", &format!("{seconds} s")]);
}

/// Run a row for so many simulated seconds.
pub fn run(cwnd: &Path, row: &Row, seconds: u32) -> Result<Measurement, String> {
    let mut command = Command::new(cwnd);
    add_arguments(&mut command, row, seconds);
    let shown = command::shown(&command);
    let failed = |why: &dyn std::fmt::Display| format!("{shown}: {why}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| failed(&error))?;
    let mut text = String::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_string(&mut text).map_err(|error| failed(&error))?;
    }
    let used = child.wait4().map_err(|error| failed(&error))?;
    if !used.status.success() {
        return Err(failed(&used.status));
    }
    let document: Value = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    Ok(Measurement {
        ns_per_packet: json::number(&document, "/runs/0/timing/cpu_ns_per_packet")?,
        peak_mib: used.rusage.maxrss as f64 / f64::from(1 << 20),
    })
}

/// Instructions a packet, as callgrind counts them.
pub fn instructions(cwnd: &Path, row: &Row) -> Result<f64, String> {
    let (instructions, packets) = counted(cwnd, row, SHORT)?;
    let (more_instructions, more_packets) = counted(cwnd, row, LONGER)?;
    Ok((more_instructions - instructions) / (more_packets - packets))
}

/// Instructions and packets of a run.
fn counted(cwnd: &Path, row: &Row, seconds: u32) -> Result<(f64, f64), String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(cwnd);
    add_arguments(&mut valgrind, row, seconds);
    let done = valgrind.output().map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    let collected = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    let document = serde_json::from_slice::<Value>(&done.stdout).ok();
    let (Some(collected), Some(document)) = (collected, document) else {
        return Err(format!("valgrind: {}\n{said}", done.status));
    };
    let timing = |name: &str| json::number(&document, &format!("/runs/0/timing/{name}"));
    let packets = (timing("cpu_s")? * 1e9 / timing("cpu_ns_per_packet")?).round();
    Ok((collected, packets))
}

/// What a reference program says of itself.
pub fn reference(program: &str) -> Result<f64, String> {
    let mut words = program.split_whitespace();
    let mut command = Command::new(words.next().ok_or("the reference is empty")?);
    let said = command::output(command.args(words))?;
    let number =
        said.split_once("ns/pkt=").and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| format!("`{program}` does not print ns/pkt=NUMBER, but: {}", said.trim_end()))
}
