//! `cwnd lab vm`: a command over another kernel.

use crate::{failure::Failure, interrupt, output, terminal};
use clap::Args;
use cwnd_vm::{Clock, Init, Job, Kernel, Machine, Printed};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::Duration,
};

const EXAMPLES: &str = "\
In the machine the command runs as root. `cwnd` is this program, `ip` is iproute2's, and the rest is BusyBox. It has no network but
those that the command makes, and its standard input is empty. Its standard output is this command's; its standard error and the
kernel's messages go to standard error. The exit code is the command's. The kernel is the newest of the version that was fetched
before, or else the newest of Debian's packages for virtual machines, which is fetched.

Examples:
  What Linux 6.12 offers to the laboratory:
    cwnd lab vm --kernel 6.12 -- cwnd lab doctor

  An algorithm over the newest kernel, whatever this host's kernel is:
    cwnd lab vm --kernel newest -- cwnd compare cubic-linux --engine kernel --rate '20 Mbit/s' --rtt '20 ms' --duration '5 s'

  Several commands:
    cwnd lab vm --kernel 6.1 -- 'uname -r; cwnd kernel load elastic'

  A unit of systemd that is started at boot, with a file that it reads:
    cwnd lab vm --unit cwnd.service --file kernel.toml=/etc/cwnd/kernel.toml -- systemctl status cwnd";

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

    /// A file for the machine, and its absolute path there. `cwnd` is there already, also as /usr/local/bin/cwnd.
    #[arg(long, value_name = "FILE=PATH", value_parser = file)]
    file: Vec<(PathBuf, String)>,

    /// Boot with this host's systemd, and start this unit at boot. The command runs after the boot.
    #[arg(long, value_name = "FILE")]
    unit: Vec<PathBuf>,

    /// The command: words, or one text for a shell.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Do what the flags ask. The exit code of a command that fails is that of the failure.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let stop = interrupt::catch().map_err(Failure::broken)?;
    let mut missing = cwnd_vm::missing();
    missing.extend((!flags.unit.is_empty()).then(cwnd_vm::systemd_missing).flatten());
    if let [first, ..] = &missing[..] {
        return Err(Failure::broken(first.clone()));
    }
    let job = job(flags)?;
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
    let mut failed = None;
    let ended = machine.run(&job, &stop, |printed| match printed {
        Printed::Output(bytes) => {
            if let Err(failure) = output::pass_on(bytes) {
                failed.get_or_insert(failure);
            }
        }
        Printed::Line(line) => terminal::tell!("{line}"),
    });
    let ended = ended.map_err(|why| match stop.load(Ordering::Relaxed) {
        true => Failure::stopped(why),
        false => Failure::broken(why),
    })?;
    match (failed, ended.code) {
        (Some(failure), _) => Err(failure),
        (None, 0) => Ok(()),
        (None, code) => Err(Failure::of_program(u8::try_from(code).unwrap_or(1), "")),
    }
}

/// Returns what the machine runs, with its files.
fn job(flags: &Flags) -> Result<Job, Failure> {
    let read = |file: &Path| {
        fs::read(file).map_err(|error| Failure::bad_input(format!("{}: {error}", file.display())))
    };
    let mut job = Job { script: script(&flags.command), streams: true, ..Job::default() };
    for (file, path) in &flags.file {
        job.files.push((path.clone(), read(file)?));
    }
    let mut enabled = Vec::new();
    for unit in &flags.unit {
        let name = unit.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if unit.extension().is_none() {
            return Err(Failure::bad_input(format!(
                "--unit {}: the name of a unit ends in its type, as cwnd.service",
                unit.display()
            )));
        }
        job.files.push((format!("/etc/systemd/system/{name}"), read(unit)?));
        enabled.push(name);
    }
    if !enabled.is_empty() {
        job.init = Init::Systemd { enabled };
    }
    Ok(job)
}

/// Reads `FILE=PATH`.
fn file(text: &str) -> Result<(PathBuf, String), String> {
    match text.split_once('=') {
        Some((file, path)) if path.starts_with('/') && !path.ends_with('/') => {
            Ok((PathBuf::from(file), path.to_owned()))
        }
        _ => Err("it is a file and its absolute path in the machine, as kernel.toml=/etc/cwnd/kernel.toml"
            .to_owned()),
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
    fn a_file_has_an_absolute_path() {
        assert_eq!(file("a/b.toml=/etc/b.toml"), Ok((PathBuf::from("a/b.toml"), "/etc/b.toml".to_owned())));
        for wrong in ["b.toml", "b.toml=", "b.toml=etc/b", "b.toml=/etc/"] {
            assert!(file(wrong).unwrap_err().contains("absolute path"));
        }
    }

    #[test]
    fn words_reach_the_command_as_they_are() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(script(&words(&["uname -r; ls"])), "uname -r; ls");
        assert_eq!(script(&words(&["echo", "20 ms", "it's"])), r"'echo' '20 ms' 'it'\''s'");
    }
}
