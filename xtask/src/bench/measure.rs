//! One measurement: a process that runs one scenario.

use super::rows::Row;
use crate::{command, json};
use serde::Deserialize;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// What a run cost.
pub struct Measurement {
    pub ns_per_packet: f64,
    /// Peak resident memory of the whole process.
    pub peak_mib: f64,
    /// CPU seconds of all threads of the run, and seconds of the whole process by the clock.
    pub cpu_s: f64,
    pub wall_s: f64,
    /// CPU seconds of the whole process.
    pub process_cpu_s: f64,
}

/// What a whole process used.
pub struct Usage {
    /// CPU seconds of all its threads.
    pub cpu_s: f64,
    /// Seconds by the clock.
    pub wall_s: f64,
    /// Peak resident memory.
    pub peak_mib: f64,
}

/// Runs a program whose output does not matter.
pub fn usage(command: &mut Command) -> Result<Usage, String> {
    output_and_usage(command).map(|(_, usage)| usage)
}

/// Runs a program, and returns what it prints as well.
pub fn output_and_usage(command: &mut Command) -> Result<(String, Usage), String> {
    let shown = command::shown(command);
    let failed = |why: &dyn std::fmt::Display| format!("{shown}: {why}");
    let begin = Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| failed(&error))?;
    let mut text = String::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_string(&mut text).map_err(|error| failed(&error))?;
    }
    let used = child.wait4().map_err(|error| failed(&error))?;
    if !used.status.success() {
        return Err(failed(&used.status));
    }
    let usage = Usage {
        cpu_s: cpu_s(&used.rusage),
        wall_s: begin.elapsed().as_secs_f64(),
        peak_mib: used.rusage.maxrss as f64 / f64::from(1 << 20),
    };
    Ok((text, usage))
}

fn cpu_s(used: &wait4::ResourceUsage) -> f64 {
    (used.utime + used.stime).as_secs_f64()
}

/// What is read of the document that `cwnd compare --json` prints.
#[derive(Deserialize)]
struct Document {
    runs: Vec<RunOfCwnd>,
}

#[derive(Deserialize)]
struct RunOfCwnd {
    timing: Timing,
}

#[derive(Clone, Copy, Deserialize)]
struct Timing {
    cpu_s: f64,
    cpu_ns_per_packet: f64,
}

/// Reads the timing of the first run.
fn timing(document: &Path) -> Option<Timing> {
    let document: Document = serde_json::from_reader(BufReader::new(File::open(document).ok()?)).ok()?;
    document.runs.first().map(|run| run.timing)
}

/// Runs a row for `seconds` of simulated time.
pub fn run(cwnd: &Path, row: &Row, seconds: u32) -> Result<Measurement, String> {
    run_on(cwnd, row, seconds, 1)
}

/// The same on several threads.
pub fn run_on(cwnd: &Path, row: &Row, seconds: u32, threads: u32) -> Result<Measurement, String> {
    let mut command = Command::new(cwnd);
    command.args(["compare", "cubic", "--json", "--quiet", "--threads", &threads.to_string()]);
    command.args(row.arguments(seconds));
    let shown = command::shown(&command);
    let failed = |why: &dyn std::fmt::Display| format!("{shown}: {why}");
    // To a file: from a pipe the document would be read more slowly than it is written, and this program must stay smaller than what
    // it measures, because a child begins with the peak memory of the process that starts it.
    let directory = command::root().join("target");
    let document = directory.join("bench.json");
    let output = fs::create_dir_all(&directory).and_then(|()| File::create(&document));
    let output = output.map_err(|error| format!("{}: {error}", document.display()))?;
    let begin = Instant::now();
    let mut child = command.stdout(output).spawn().map_err(|error| failed(&error))?;
    let used = child.wait4().map_err(|error| failed(&error))?;
    let wall_s = begin.elapsed().as_secs_f64();
    let timing = timing(&document).filter(|_| used.status.success()).ok_or_else(|| failed(&used.status))?;
    let _ = fs::remove_file(&document);
    Ok(Measurement {
        ns_per_packet: timing.cpu_ns_per_packet,
        peak_mib: used.rusage.maxrss as f64 / f64::from(1 << 20),
        cpu_s: timing.cpu_s,
        wall_s,
        process_cpu_s: cpu_s(&used.rusage),
    })
}

fn check_valgrind() -> Result<(), String> {
    let installed = command::succeeds(Command::new("valgrind").arg("--version"));
    let why = "there is no valgrind; install it: sudo apt-get install valgrind";
    if installed { Ok(()) } else { Err(why.to_owned()) }
}

/// Builds the program whose instructions are counted: `crates/cwnd-sim/examples/simulate.rs`, the simulator alone. The tests of
/// that crate in a release build have compiled all else that it needs.
///
/// # Errors
/// It cannot be built, or there is no valgrind.
pub fn build_counted() -> Result<PathBuf, String> {
    check_valgrind()?;
    json::build(&["--package", "cwnd-sim", "--example", "simulate"])
}

/// Returns the instructions a packet, as callgrind counts them in what a run of `longer` simulated seconds does beyond one of
/// `short`: start-up and slow start do not count. `more` are further flags.
pub fn instructions(
    program: &Path,
    row: &Row,
    more: &[&str],
    [short, longer]: [u32; 2],
) -> Result<f64, String> {
    let (instructions, packets) = counted(program, row, more, short)?;
    let (more_instructions, more_packets) = counted(program, row, more, longer)?;
    Ok((more_instructions - instructions) / (more_packets - packets))
}

/// Instructions and packets of a run.
fn counted(program: &Path, row: &Row, more: &[&str], seconds: u32) -> Result<(f64, f64), String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    valgrind.args(["--algorithm", "cubic"]).args(row.arguments(seconds)).args(more);
    let ran = valgrind.output().map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&ran.stderr);
    let collected = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    let packets = String::from_utf8_lossy(&ran.stdout).trim().parse().ok();
    collected.zip(packets).ok_or_else(|| format!("{}: {}\n{said}", command::shown(&valgrind), ran.status))
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
