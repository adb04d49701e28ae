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
use cwnd_kernel::{KernelAlgorithm, load::LoadError};
use cwnd_report::table::{Align, Sacrifice, Table};

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

/// Returns the name of a registered congestion control for a name as users write it: `bulk` is `cwnd_bulk` if that is registered, and
/// `elastic` is `cwnd_elastic`. Any other name is returned as it is.
fn registered(name: &str) -> String {
    let registered = cwnd_kernel::load::registered();
    let instance = cwnd_kernel::load::kernel_name(name).ok();
    let algorithm = cwnd_kernel::find(name).map(KernelAlgorithm::kernel_name);
    let names = [Some(name.to_owned()), instance, algorithm].into_iter().flatten();
    names.into_iter().find(|name| registered.contains(name)).unwrap_or_else(|| name.to_owned())
}

fn failure(error: LoadError) -> Failure {
    match error {
        LoadError::Parameter(why) => Failure::bad_input(why),
        error => Failure::broken(error.to_string()),
    }
}
