//! `cwnd lab shell`: a program in the network of a study.

use super::{
    build,
    live::Live,
    program::{Running, environment, failure_of},
    take_down,
};
use crate::{catalogue, failure::Failure, terminal};
use clap::Args;
use cwnd_lab::{Resolver, program::relay_signals};
use cwnd_scenario::Scenario;
use cwnd_study::Study;
use std::{ffi::OsString, path::PathBuf, thread, time::Duration};

const EXAMPLES: &str = concat!(
    environment!(),
    "
What goes to the n-th address of 198.19.0.0/16 takes the way of the study's n-th flow.

Examples:
  A shell in the network of the study's first cell:
    cwnd lab shell studies/matrix.toml

  iperf3 over one cell's, with its other half at the other end:
    cwnd lab shell studies/matrix.toml --cell 'cubic, alone, LAN' --server 'iperf3 -s' -- sh -c 'sleep 1; iperf3 -c $CWND_SERVER'"
);

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

    /// Give both ends addresses of IPv6, too. The n-th of the receivers is 2001:2:0:19::n; CWND_SERVER_IPV6 is the first.
    #[arg(long)]
    ipv6: bool,

    /// Write the packets that cross both ends' devices, as `.pcapng`.
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,

    /// Show no counters.
    #[arg(long, short)]
    quiet: bool,

    /// The program [default: your shell].
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Between two looks at whether the program has ended.
const TICK: Duration = Duration::from_millis(10);

/// Do what the flags ask. The program's exit code is that of the failure.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    relay_signals().map_err(|error| Failure::broken(format!("signals cannot be caught: {error}")))?;
    let scenario = scenario(flags)?;
    let (testbed, capture) = build(&scenario, flags.ipv6, flags.pcap.as_deref())?;
    let shell = [std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())];
    let words = if flags.command.is_empty() { &shell[..] } else { &flags.command[..] };
    let ends = [vec![testbed.senders()], vec![testbed.receivers()]];
    let mut running = Running::start(&ends, flags.ipv6, &Resolver::Own, flags.server.as_deref(), words)?;
    let ended = loop {
        match running.ended()? {
            Some(ended) => break ended,
            None => thread::sleep(TICK),
        }
    };
    drop(running);
    if !flags.quiet {
        terminal::tell!("\n{}", Live::new(&scenario).text(testbed.snapshot(), terminal::columns()));
    }
    take_down(testbed, capture)?;
    failure_of(ended)
}

fn scenario(flags: &Flags) -> Result<Scenario, Failure> {
    let study = Study::load(&flags.study, &catalogue::check)
        .map_err(|error| Failure::bad_input(error.to_string()))?;
    let cell = super::super::check::cell(&study, flags.cell.as_deref())?;
    Ok(study.cells[cell].scenario.clone())
}
