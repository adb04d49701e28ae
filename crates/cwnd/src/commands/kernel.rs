//! `cwnd kernel`: the algorithms in the running Linux kernel.

mod load;
mod status;

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
    List,
    /// Load algorithms: they stay until they are unloaded or the host is booted.
    Load(load::LoadFlags),
    /// Take algorithms away.
    Unload(load::UnloadFlags),
    /// Show what is loaded, and how many sockets use what.
    Status(status::StatusFlags),
}

/// Do what the flags ask.
pub fn run(flags: Flags) -> Result<(), Failure> {
    match flags.action {
        Action::List => list(),
        Action::Load(flags) => load::load(&flags),
        Action::Unload(flags) => load::unload(&flags),
        Action::Status(flags) => status::run(&flags),
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

fn failure(error: LoadError) -> Failure {
    match error {
        LoadError::Parameter(why) => Failure::bad_input(why),
        error => Failure::broken(error.to_string()),
    }
}
