//! `cwnd drill`: scripts that test the TCP endpoint, and events that test an algorithm.

use crate::{failure::Failure, output};
use clap::{Args, ValueEnum};
use cwnd_drill::{Settings, events, report, run_file};
use cwnd_scenario::LinuxVersion;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  Play a script of packetdrill against the simulated endpoint:
    cwnd drill fast-retransmit.pkt

  Play all scripts of a folder, with the rules of Linux 6.1 where versions differ:
    cwnd drill --kernel 6.1 gtests/net/tcp/slow_start

  Drive algorithms alone through events:
    cwnd drill --events crates/cwnd-drill/fixtures/newreno.events";

/// Test TCP by scripts: packetdrill scripts against the simulated endpoint, or events against one algorithm.
///
/// A script of packetdrill has packets that arrive, packets that are expected, system calls of the application, and assertions on
/// the fields of tcp_info. cwnd plays it in virtual time against the endpoint of `--stack linux`. On the first line that differs it
/// prints what was expected, what has happened, and the mechanism of TCP concerned. The exit code is 1 if anything differs.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Scripts, or folders with scripts (`*.pkt`).
    #[arg(value_name = "SCRIPT", required_unless_present = "events")]
    scripts: Vec<PathBuf>,

    /// Drive an algorithm through the events of this file; may be given again.
    #[arg(long, value_name = "FILE")]
    events: Vec<PathBuf>,

    /// Apply the rules of this version of Linux where versions differ, such as 5.10 or 6.1 [default: those of --stack linux].
    #[arg(long, value_name = "VERSION")]
    kernel: Option<LinuxVersion>,

    /// What plays the scripts: the simulated endpoint, or this host's kernel (in real time; needs root and a TUN device).
    #[arg(long, value_name = "ENGINE", default_value = "simulator")]
    engine: Player,

    /// Compare the flag PSH, too. It depends on how the kernel cuts writes into buffers.
    #[arg(long)]
    compare_push: bool,

    /// Print remarks on lines without effect, and what code blocks print.
    #[arg(long)]
    notes: bool,

    /// Print one JSON document with the result of every script.
    #[arg(long)]
    json: bool,
}

/// What plays scripts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Player {
    /// The endpoint of `--stack linux`, in virtual time.
    Simulator,
    /// This host's TCP, over a TUN device in a network namespace.
    Kernel,
}

/// Plays a script.
fn play(path: &Path, settings: Settings, engine: Player) -> report::ScriptResult {
    match engine {
        Player::Simulator => run_file(path, settings),
        #[cfg(target_os = "linux")]
        Player::Kernel => cwnd_drill::run_file_with(path, settings, |settings| {
            Ok(Box::new(cwnd_lab::drill::KernelEndpoint::new(settings)?))
        }),
        #[cfg(not(target_os = "linux"))]
        Player::Kernel => Err(cwnd_drill::FileError::Unreadable("--engine kernel needs Linux".to_owned())),
    }
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let mut paths = Vec::new();
    for path in &flags.scripts {
        scripts(path, &mut paths)?;
    }
    let settings = Settings { kernel: flags.kernel, compare_push: flags.compare_push, ..Settings::default() };
    let (mut reports, mut text) = (Vec::new(), String::new());
    let (mut passed, mut all) = (0, 0);
    for path in &paths {
        let result = play(path, settings.clone(), flags.engine);
        passed += usize::from(result.as_ref().is_ok_and(cwnd_drill::Outcome::passed));
        all += 1;
        let name = path.display().to_string();
        text.push_str(&report::text(&name, &result, flags.notes));
        reports.push(report::json(&name, &result));
    }
    for path in &flags.events {
        let name = path.display().to_string();
        let read = std::fs::read_to_string(path);
        let source = read.map_err(|error| Failure::bad_input(format!("{name}: {error}")))?;
        let result = events::run(&source);
        passed += usize::from(result.is_ok());
        all += 1;
        text.push_str(&events::text(&name, &result));
        reports.push(events::json(&name, &result));
    }
    text.push_str(&format!("{passed} of {all} passed\n"));
    output::print(&match flags.json {
        true => format!("{:#}\n", serde_json::Value::Array(reports)),
        false => text,
    })?;
    match passed == all {
        true => Ok(()),
        false => Err(Failure::broken(format!("{} of {all} did not pass", all - passed))),
    }
}

/// Adds a script, or those of a folder and its folders in order of their names.
fn scripts(path: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        paths.push(path.to_owned());
        return Ok(());
    }
    let before = paths.len();
    collect(path, paths).map_err(|error| Failure::bad_input(format!("{}: {error}", path.display())))?;
    if paths.len() == before {
        return Err(Failure::bad_input(format!("{}: the folder has no script `*.pkt`", path.display())));
    }
    Ok(())
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        entries.push(entry?.path());
    }
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            collect(&entry, paths)?;
        } else if entry.extension().is_some_and(|extension| extension == "pkt") {
            paths.push(entry);
        }
    }
    Ok(())
}
