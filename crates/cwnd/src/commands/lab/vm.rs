//! `cwnd lab vm`: a command over another kernel.

use crate::{failure::Failure, interrupt, output, terminal};
use clap::Args;
use cwnd_vm::{Clock, Job, Kernel, Machine};
use std::{path::PathBuf, sync::atomic::Ordering, time::Duration};

const EXAMPLES: &str = "\
In the machine the command runs as root. `cwnd` is this program, `ip` is iproute2's, and the rest is BusyBox. It has no network but
those that the command makes. The kernel is the newest of the version that was fetched before, or else the newest of Debian's
packages for virtual machines, which is fetched.

Examples:
  What Linux 6.12 offers to the laboratory:
    cwnd lab vm --kernel 6.12 -- cwnd lab doctor

  An algorithm over the newest kernel, whatever this host's kernel is:
    cwnd lab vm --kernel newest -- cwnd compare cubic-linux --engine kernel --rate '20 Mbit/s' --rtt '20 ms' --duration '5 s'

  Several commands:
    cwnd lab vm --kernel 6.1 -- 'uname -r; cwnd kernel load elastic'";

/// The flags.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// The kernel's version, as 6.12 or 6.12.95, or `newest`.
    #[arg(long, value_name = "VERSION", default_value = cwnd_vm::DEFAULT_KERNEL)]
    kernel: String,

    /// Fetch the newest of Debian's packages of that version, also if one was fetched before.
    #[arg(long)]
    fetch: bool,

    /// The folder of fetched kernels [default: cwnd/kernels in the user's cache].
    #[arg(long, value_name = "DIR")]
    kernels: Option<PathBuf>,

    /// Let the machine's clock be the host's. Without it, time is the instructions that are executed, and idle time takes none.
    #[arg(long)]
    host_clock: bool,

    /// The machine's memory, MiB.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(256..=65_536))]
    memory: u32,

    /// End the machine after this many seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    at_most: u64,

    /// The command: words, or one text for a shell.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Do what the flags ask. The command's failure is a failure.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let stop = interrupt::catch().map_err(Failure::broken)?;
    if let [first, ..] = &cwnd_vm::missing()[..] {
        return Err(Failure::broken(first.clone()));
    }
    let folder = flags.kernels.clone().unwrap_or_else(cwnd_vm::default_folder);
    let kernel = if flags.fetch {
        Kernel::fetch(&flags.kernel, &folder)
    } else {
        Kernel::find(&flags.kernel, &folder)
    };
    let kernel = kernel.map_err(|why| Failure::bad_input(format!("--kernel {}: {why}", flags.kernel)))?;
    terminal::tell!("kernel {}, SHA-256 {}", kernel.release, &kernel.digest[..16]);
    let machine = Machine {
        clock: if flags.host_clock { Clock::Host } else { Clock::Instructions },
        memory: flags.memory,
        at_most: Duration::from_secs(flags.at_most),
        ..Machine::new(kernel).map_err(Failure::broken)?
    };
    let job = Job { script: script(&flags.command), files: Vec::new() };
    let mut failed = None;
    let ended = machine.run(&job, &stop, |line| {
        if let Err(failure) = output::print(&format!("{line}\n")) {
            failed.get_or_insert(failure);
        }
    });
    let ended = ended.map_err(|why| match stop.load(Ordering::Relaxed) {
        true => Failure::stopped(why),
        false => Failure::broken(why),
    })?;
    match (failed, ended.code) {
        (Some(failure), _) => Err(failure),
        (None, 0) => Ok(()),
        (None, code) => Err(Failure::broken(format!("the command ended with {code}"))),
    }
}

/// Returns the command for a shell: one word is a text, several are quoted.
fn script(command: &[String]) -> String {
    match command {
        [text] => text.clone(),
        words => words
            .iter()
            .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_command_as_they_are() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(script(&words(&["uname -r; ls"])), "uname -r; ls");
        assert_eq!(script(&words(&["echo", "20 ms", "it's"])), r"'echo' '20 ms' 'it'\''s'");
    }
}
