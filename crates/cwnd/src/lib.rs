//! `cwnd`: a laboratory for TCP congestion control. This crate is the command line; the work is in other libraries.
//!
//! # Which crate to take
//!
//! | to | take |
//! |---|---|
//! | use a congestion control algorithm in a transport of your own (TCP or QUIC, `no_std`) | [`cwnd_cc`] |
//! | simulate a scenario, halt it, inspect it, change it and continue | [`cwnd_sim`] |
//! | describe a scenario: network, flows, stack; write an engine of your own | [`cwnd_scenario`] |
//! | make a scenario from options such as `rate` and `rtt` | [`cwnd_experiment`] |
//! | compute metrics of a run, and statistics over repeats | [`cwnd_metrics`] |
//! | read study files, run them, and read their stored results | [`cwnd_study`] |
//! | write reports, tables and figures of studies | [`cwnd_report`] |
//! | draw figures as SVG, of any data | [`cwnd_plot`] |
//! | write pcapng and qlog of a simulated run | [`cwnd_capture`] |
//! | compute what a paper's equations state | [`cwnd_models`] |
//! | put the algorithms into QUIC (noq, quinn, s2n-quic); run QUIC flows in simulated time | `cwnd_quic`, `cwnd_quic_s2n` |
//! | put a transport of your own on a simulated network of links and queues | `cwnd_net`, `cwnd_link` |
//! | use the TCP endpoint alone: sender, receiver, recovery, timers | `cwnd_tcp` |
//! | run a scenario with this host's kernel; give programs an emulated network (Linux) | `cwnd_lab` |
//! | load algorithms into the Linux kernel (Linux, with clang) | `cwnd_kernel` |
//! | serve result stores and runs to a local web page | `cwnd_serve` |
//!
//! Start with [`cwnd_sim`], whose page has a whole program. Most programs need it and [`cwnd_experiment`].
//!
//! # Inside
//!
//! Each command is a file of `commands`: it reads its flags, calls the other crates, and prints the result. The program is
//! [`command_line`] and nothing else; [`embedding`] is what other fronts, such as the Python package, share with it.
#![forbid(unsafe_code)]
// A reader that has gone away would end these with a panic: `output::print` and `terminal::tell!` write instead.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod catalogue;
#[cfg(all(test, target_os = "linux", feature = "serve", not(feature = "kernel")))]
mod cli_page;
mod commands;
pub mod embedding;
mod engines;
mod failure;
mod interrupt;
mod measured;
mod memory;
mod numbers;
mod output;
mod recording;
mod setting_flags;
mod simulator;
mod study_text;
mod terminal;

use clap::{CommandFactory, Parser};
use commands::{Command, evaluate::python};
use failure::Failure;
use std::{
    ffi::OsString,
    io::{self, Write},
    panic, thread,
};

/// A laboratory for TCP congestion control.
///
/// Simulates the algorithms of the literature over the networks of the literature, exactly and fast, and compares
/// them.
#[derive(Parser)]
#[command(name = "cwnd", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Stack of the thread that works: what Linux usually gives the main one.
const STACK: usize = 8 << 20;

/// Runs the command line with these arguments, of which the first is the program's name. Returns the exit code: 0, 1 if it could
/// not be done, 2 if what was asked for is wrong, or that of a signal.
pub fn command_line(arguments: Vec<OsString>) -> u8 {
    // The main thread's stack is what `ulimit -s` allows, and the parser alone takes 100 KB of it.
    match thread::Builder::new().name("cwnd".to_owned()).stack_size(STACK).spawn(|| work(arguments)) {
        Ok(worker) => worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
        Err(error) => Failure::broken(format!("no thread can be started: {error}")).report(),
    }
}

fn work(arguments: Vec<OsString>) -> u8 {
    let done = match Cli::try_parse_from(&arguments) {
        Ok(cli) => match embedding::class_of_command(&cli) {
            Ok(Some(class)) => match python::hand_over(&class, &arguments) {
                Ok(code) => return code,
                Err(failure) => Err(failure),
            },
            Ok(None) => cli.command.run(Cli::command()),
            Err(failure) => Err(failure),
        },
        Err(answer) if answer.use_stderr() => return refuse(&answer, &arguments),
        // The help or the version that was asked for.
        Err(answer) => output::written(answer.print().and_then(|()| io::stdout().flush())),
    };
    match done {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

/// Prints what is wrong with the flags: one message, in colour unless a flag has to be made printable.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> u8 {
    // The message repeats the arguments, colours among them.
    let acts = |word: &OsString| !terminal::is_plain(&word.to_string_lossy());
    match arguments.iter().any(acts) {
        true => terminal::write_error_line(error.render().to_string().trim_end()),
        false => drop(error.print()),
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}
