//! `cwnd lab`: real kernels over emulated networks, for other programs than `cwnd run --engine kernel`.

mod answer;
mod bench;
mod demo;
mod doctor;
mod link;
pub mod live;
mod log;
mod network;
mod program;
mod set;
mod shell;
mod vm;

use crate::{failure::Failure, recording::Capture};
use clap::{Args, Subcommand};
use cwnd_lab::{Record, Testbed};
use cwnd_scenario::Scenario;
use std::path::Path;

/// Emulated networks on this host: for the TCP of its kernel, and for programs of your own.
///
/// Two network namespaces hang on an emulator of links, queues and losses. Nothing outside of them is touched but by `lab link
/// --outside`, and all of it goes away at the end. Studies run in such a network with `cwnd run --engine kernel`.
#[derive(Args)]
pub struct Flags {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Tell what this machine offers, and what is missing.
    Doctor(doctor::Flags),
    /// Run a program over an emulated link; or keep the link up between two namespaces that programs find by name.
    Link(Box<link::Flags>),
    /// Change a link that `cwnd lab link` keeps up: rate, delay, buffer, losses.
    Set(set::Flags),
    /// Show flows of this kernel over an emulated link while they run: throughput, round-trip time and window.
    Demo(Box<demo::Flags>),
    /// Run a program in the network of a study, of any topology. `link` has one path, but also names, a log and changes.
    Shell(shell::Flags),
    /// Measure what this machine can hold: how exact delay and rate are.
    Bench(bench::Flags),
    /// Run a command over another Linux kernel, in a virtual machine.
    Vm(vm::Flags),
    #[command(hide = true)]
    Answer(answer::Flags),
}

/// Do what the flags ask.
pub fn run(flags: Flags) -> Result<(), Failure> {
    match flags.action {
        Action::Doctor(flags) => doctor::run(&flags),
        Action::Link(flags) => link::run(&flags),
        Action::Set(flags) => set::run(&flags),
        Action::Demo(flags) => demo::run(&flags),
        Action::Shell(flags) => shell::run(&flags),
        Action::Bench(flags) => bench::run(&flags),
        Action::Vm(flags) => vm::run(&flags),
        Action::Answer(flags) => answer::run(&flags),
    }
}

/// Finds out whether this machine can emulate networks.
///
/// # Errors
/// What is missing.
fn require() -> Result<(), Failure> {
    let missing = cwnd_lab::doctor::missing();
    if !missing.is_empty() {
        return Err(Failure::broken(format!(
            "this machine cannot emulate networks:\n  {}\n`cwnd lab doctor` tells all that was looked for",
            missing.join("\n  ")
        )));
    }
    Ok(())
}

/// Build a network, with IPv6 if asked for, and capture its packets if a file is named. Names that a killed process has left go
/// first.
fn build(
    scenario: &Scenario,
    ipv6: bool,
    pcap: Option<&Path>,
) -> Result<(Testbed, Option<Capture>), Failure> {
    require()?;
    cwnd_lab::clean_up();
    let (capture, observer) = match pcap.map(Capture::begin).transpose()? {
        Some((capture, observer)) => (Some(capture), Some(observer)),
        None => (None, None),
    };
    let testbed = Testbed::new(scenario, observer)
        .and_then(|mut testbed| if ipv6 { testbed.add_ipv6().map(|()| testbed) } else { Ok(testbed) })
        .map_err(|error| Failure::broken(format!("the network cannot be built: {error}")))?;
    Ok((testbed, capture))
}

/// A network that has been taken down.
struct TakenDown {
    record: Record,
    /// Packets that were dropped by others than the emulator, by the counter of the kernel.
    other_drops: Vec<String>,
}

/// Removes a network, and prints notes if it was not accurate. Captured packets are written to the end.
fn take_down(testbed: Testbed, capture: Option<Capture>) -> Result<TakenDown, Failure> {
    let failed = |error: std::io::Error| Failure::broken(format!("the emulator: {error}"));
    let other_drops = testbed.other_drops().map_err(failed)?;
    let record = testbed.end().map_err(failed)?;
    if let Some(capture) = capture {
        capture.end()?;
    }
    for warning in cwnd_lab::validity_warnings(&record) {
        crate::terminal::tell!("note: {warning}");
    }
    if !other_drops.is_empty() {
        crate::terminal::tell!("note: dropped by others than the emulator: {}", other_drops.join(", "));
    }
    Ok(TakenDown { record, other_drops })
}
