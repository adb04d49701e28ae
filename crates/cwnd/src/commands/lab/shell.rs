//! `cwnd lab shell`: a program in the network of a study.

use super::{build, live::Live, take_down};
use crate::{catalogue, failure::Failure, output};
use clap::Args;
use cwnd_lab::{Guard, Server, address};
use cwnd_scenario::Scenario;
use cwnd_study::Study;
use std::{
    ffi::OsString,
    os::fd::{AsFd, AsRawFd},
    path::PathBuf,
};

const EXAMPLES: &str = "\
The program runs where flows are sent from. CWND_SERVER is the other end's address, and CWND_SERVER_NETNS its namespace
(for `nsenter --net=$CWND_SERVER_NETNS`). What goes to the n-th address of 198.19.0.0/16 takes the way of the study's n-th flow.

Examples:
  A shell in the network of the study's first cell:
    cwnd lab shell studies/matrix.toml

  iperf3 over one cell's, with its other half at the other end:
    cwnd lab shell studies/matrix.toml --cell 'cubic, alone, LAN' --server 'iperf3 -s' -- sh -c 'sleep 1; iperf3 -c $CWND_SERVER'";

/// The flags.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// The study file.
    #[arg(value_name = "STUDY")]
    study: PathBuf,

    /// The cell whose network it is, as `cwnd check` and reports label it [default: the first].
    #[arg(long, value_name = "CELL")]
    cell: Option<String>,

    /// A command for a shell at the other end; it is ended with the program.
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,

    /// Write the packets that cross both ends' devices, as `.pcapng`.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,

    /// The program [default: your shell].
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Do what the flags ask. The program's failure is a failure.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let scenario = scenario(flags)?;
    let (testbed, capture) = build(&scenario, flags.pcap.as_deref())?;
    // Dropped after the server, and before the network.
    let guard = Guard::new([testbed.senders(), testbed.receivers()])
        .map_err(|error| Failure::broken(format!("programs cannot be guarded: {error}")))?;
    let server = match &flags.server {
        Some(line) => Some(
            Server::start(line, testbed.receivers())
                .map_err(|error| Failure::broken(format!("--server: {error}")))?,
        ),
        None => None,
    };
    let shell = [std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())];
    let words = if flags.command.is_empty() { &shell[..] } else { &flags.command[..] };
    let told = words[0].to_string_lossy().into_owned();
    let cannot = |error: std::io::Error| Failure::broken(format!("`{told}` cannot be run: {error}"));
    let mut command = testbed.senders().command(&words[0]).map_err(cannot)?;
    command.args(&words[1..]).env("CWND_SERVER", address::receiver(0).to_string());
    let other = format!("/proc/{}/fd/{}", std::process::id(), testbed.receivers().as_fd().as_raw_fd());
    let ended = command.env("CWND_SERVER_NETNS", other).status().map_err(cannot)?;
    drop(server);
    drop(guard);
    output::print(&format!(
        "\n{}\n",
        Live::new(&scenario).text(testbed.snapshot(), crate::terminal::columns())
    ))?;
    take_down(testbed, capture)?;
    if ended.success() { Ok(()) } else { Err(Failure::broken(format!("`{told}` ended with {ended}"))) }
}

fn scenario(flags: &Flags) -> Result<Scenario, Failure> {
    let study = Study::load(&flags.study, &catalogue::check)
        .map_err(|error| Failure::bad_input(error.to_string()))?;
    let cell = super::super::check::cell(&study, flags.cell.as_deref())?;
    Ok(study.cells[cell].scenario.clone())
}
