//! `cwnd kernel`: the algorithms in the running Linux kernel.

mod canary;
mod config;
mod load;
mod metrics;
mod select;
mod status;
mod watch;

use crate::{failure::Failure, output};
use clap::{Args, Subcommand};
use cwnd_kernel::{
    KernelAlgorithm,
    load::{Approved, HostProgram, LoadError, ObservedSocket, SocketReader},
};
use cwnd_report::table::{Align, Sacrifice, Table};
use std::{fs, path::PathBuf};

/// Load algorithms into this host's Linux kernel (as BPF, no module, no reboot), see who uses them, and take them
/// away.
#[derive(Args)]
pub struct Flags {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the algorithms that can be loaded, and their parameters.
    List(ListFlags),
    /// Load algorithms: they stay until they are unloaded or the host is booted.
    Load(load::LoadFlags),
    /// Take algorithms away.
    Unload(load::UnloadFlags),
    /// Show what is loaded, and how many sockets use what.
    Status(status::StatusFlags),
    /// Select a congestion control for the new connections of a cgroup.
    Select(select::SelectFlags),
    /// Remove a selection.
    Unselect(select::UnselectFlags),
    /// Give a share of new connections another congestion control, and return to the former one if it is worse.
    Canary(canary::CanaryFlags),
    /// Show the connections with their algorithm's state, again and again on a terminal.
    Watch(watch::WatchFlags),
    /// Serve the state of connections and algorithms to Prometheus.
    Metrics(metrics::MetricsFlags),
}

/// Checks the programs that a command loads.
#[derive(Args)]
struct DigestsFlag {
    /// Refuse an object whose digest is not in this file, as `list --digests` prints them.
    #[arg(long, value_name = "FILE")]
    digests: Option<PathBuf>,
}

impl DigestsFlag {
    /// Returns the approved digests, if a file of them is given.
    fn approved(&self) -> Result<Option<Approved>, Failure> {
        let Some(path) = &self.digests else { return Ok(None) };
        let wrong = |why: String| Failure::bad_input(format!("--digests {}: {why}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Approved::read(&text).map(Some).map_err(wrong)
    }

    /// Checks one of the programs that are no algorithms.
    fn check(&self, program: &HostProgram) -> Result<(), Failure> {
        let Some(approved) = self.approved()? else { return Ok(()) };
        approved.check_program(program).map_err(unapproved)
    }
}

/// What an object was not loaded for.
fn unapproved(error: LoadError) -> Failure {
    Failure::broken(format!("--digests: {error}; nothing was loaded"))
}

#[derive(Args)]
struct ListFlags {
    /// Print the SHA-256 digest of each embedded object, as `sha256sum` does. `load --digests` takes the list.
    #[arg(long)]
    digests: bool,
}

/// Do what the flags ask.
pub fn run(flags: Flags) -> Result<(), Failure> {
    match flags.action {
        Action::List(ListFlags { digests: true }) => digests(),
        Action::List(_) => list(),
        Action::Load(flags) => load::load(&flags),
        Action::Unload(flags) => load::unload(&flags),
        Action::Status(flags) => status::run(&flags),
        Action::Select(flags) => select::select(&flags),
        Action::Unselect(flags) => select::unselect(&flags),
        Action::Canary(flags) => canary::run(&flags),
        Action::Watch(flags) => watch::run(&flags),
        Action::Metrics(flags) => metrics::run(&flags),
    }
}

fn list() -> Result<(), Failure> {
    let columns = ["name", "in the kernel", "title", "parameters"].map(|name| (name, Align::Left));
    let mut table = Table::new(columns).indent(2);
    for algorithm in cwnd_kernel::all() {
        let parameters: Vec<&str> = algorithm.parameters.iter().map(|parameter| parameter.name).collect();
        table.row([algorithm.name, &algorithm.kernel_name(), algorithm.info().title, &parameters.join(", ")]);
    }
    let sacrifices = [Sacrifice::Shorten("parameters", 16), Sacrifice::Drop("title")];
    let table = output::fitted(table, &sacrifices);
    output::print(&format!("\n{table}\n  `cwnd algorithms NAME` tells what the parameters mean.\n\n"))
}

fn digests() -> Result<(), Failure> {
    let lines = cwnd_kernel::load::digests().into_iter().map(|(name, digest)| format!("{digest}  {name}\n"));
    output::print(&lines.collect::<String>())
}

/// An algorithm of the list, as `cwnd serve` shows it.
#[cfg(feature = "serve")]
#[derive(serde::Serialize)]
struct Loadable {
    name: &'static str,
    kernel_name: String,
    title: &'static str,
    parameters: Vec<&'static str>,
}

/// Returns what `list` and `status` print, as one JSON object.
///
/// # Errors
/// What is loaded cannot be read; without root, that is always so.
#[cfg(feature = "serve")]
pub fn document() -> Result<serde_json::Value, Failure> {
    let objects = cwnd_kernel::load::loaded().map_err(failure)?;
    let loadable: Vec<Loadable> = cwnd_kernel::all()
        .iter()
        .map(|algorithm| Loadable {
            name: algorithm.name,
            kernel_name: algorithm.kernel_name(),
            title: algorithm.info().title,
            parameters: algorithm.parameters.iter().map(|parameter| parameter.name).collect(),
        })
        .collect();
    Ok(serde_json::json!({ "status": status::Status::now(&objects), "loadable": loadable }))
}

fn is_all(names: &[String]) -> bool {
    matches!(names, [name] if name == "all")
}

/// The algorithms of these names.
fn find(names: &[String]) -> Result<Vec<&'static KernelAlgorithm>, Failure> {
    if is_all(names) {
        return Ok(cwnd_kernel::all().iter().collect());
    }
    names.iter().map(|name| cwnd_kernel::find_or_explain(name).map_err(Failure::bad_input)).collect()
}

/// Returns the name in the kernel that a name as users write it has here: `elastic` is `cwnd_elastic`, as everywhere else, and `bulk`,
/// of `load --as`, is `cwnd_bulk`.
fn own_name(name: &str) -> Option<String> {
    let algorithm = cwnd_kernel::find(name).map(KernelAlgorithm::kernel_name);
    algorithm.or_else(|| cwnd_kernel::load::kernel_name(name).ok())
}

/// Returns the name of a registered congestion control for a name as users write it, if there is one: what is loaded here goes before
/// the kernel's own. `NAME@host` is the kernel's own.
fn registered_among(name: &str, registered: &[String]) -> Option<String> {
    let host = name.strip_suffix("@host");
    let names = [own_name(name).filter(|_| host.is_none()), Some(host.unwrap_or(name).to_owned())];
    names.into_iter().flatten().find(|name| registered.contains(name))
}

/// Does the same with what is registered now. Any other name is returned as it is.
fn registered(name: &str) -> String {
    registered_among(name, &cwnd_kernel::load::registered()).unwrap_or_else(|| name.to_owned())
}

/// Says that a name became the kernel's own congestion control where an algorithm of that name could be loaded.
fn note_on(name: &str, registered: &str) {
    if name == registered
        && let Some(algorithm) = cwnd_kernel::find(name)
    {
        crate::terminal::tell!(
            "note: `{name}` is the kernel's own: {} is not loaded (`cwnd kernel load {name}` loads it, and `{name}@host` means the \
             kernel's own)",
            algorithm.kernel_name()
        );
    }
}

fn failure(error: LoadError) -> Failure {
    match error {
        LoadError::Parameter(why) => Failure::bad_input(why),
        error => Failure::broken(error.to_string()),
    }
}

/// Reads the sockets of every network namespace.
fn read(reader: &SocketReader) -> Result<Vec<ObservedSocket>, Failure> {
    reader.read().map_err(|error| Failure::broken(format!("the sockets cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_it_is_everywhere_else() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (host, all) = (["reno", "cubic"], ["reno", "cubic", "cwnd_cubic", "cwnd_cubic9438", "cwnd_bulk"]);
        for (name, of_host, of_all) in [
            // RFC 9438's is loaded as cwnd_cubic9438, and Linux's as cwnd_cubic.
            ("cubic", Some("cubic"), Some("cwnd_cubic9438")),
            ("cubic-linux", None, Some("cwnd_cubic")),
            ("cubic@host", Some("cubic"), Some("cubic")),
            ("cwnd_cubic", None, Some("cwnd_cubic")),
            ("bulk", None, Some("cwnd_bulk")),
            ("reno", Some("reno"), Some("reno")),
            ("bulk@host", None, None),
        ] {
            assert_eq!(registered_among(name, &names(&host)).as_deref(), of_host, "{name}");
            assert_eq!(registered_among(name, &names(&all)).as_deref(), of_all, "{name}");
        }
    }
}
