//! `cwnd kernel`: the algorithms in the running Linux kernel.

use crate::{
    failure::Failure,
    output::{self, json},
};
use clap::{Args, Subcommand};
use cwnd_kernel::{KernelAlgorithm, load};
use cwnd_report::table::{Align, Table};
use serde::Serialize;

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
    Load(LoadFlags),
    /// Take algorithms away.
    Unload(UnloadFlags),
    /// Show what is loaded, and how many sockets use what.
    Status(StatusFlags),
}

#[derive(Args)]
struct LoadFlags {
    /// Algorithms, as `elastic`; `all` for all of them.
    #[arg(required = true)]
    names: Vec<String>,

    /// A parameter, as `beta=0.8`; may be given several times.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,

    /// Make it the congestion control of sockets that ask for none (of this network namespace), until it is unloaded.
    #[arg(long)]
    default: bool,
}

#[derive(Args)]
struct UnloadFlags {
    /// Algorithms, as `elastic`; `all` for all that are loaded.
    #[arg(required = true)]
    names: Vec<String>,

    /// Also while sockets use it: they keep it until they close.
    #[arg(long)]
    force: bool,
}

#[derive(Args)]
struct StatusFlags {
    /// Print one JSON document instead of text.
    #[arg(long)]
    json: bool,
}

/// Do what the flags ask.
pub fn run(flags: Flags) -> Result<(), Failure> {
    match flags.action {
        Action::List => list(),
        Action::Load(flags) => load(&flags),
        Action::Unload(flags) => unload(&flags),
        Action::Status(flags) => status(&flags),
    }
}

fn list() -> Result<(), Failure> {
    let columns = ["name", "in the kernel", "title", "parameters"].map(|name| (name, Align::Left));
    let mut table = Table::new(columns).indent(2);
    for algorithm in cwnd_kernel::all() {
        let parameters: Vec<&str> = algorithm.parameters.iter().map(|parameter| parameter.name).collect();
        table.row([algorithm.name, &algorithm.kernel_name(), algorithm.info().title, &parameters.join(", ")]);
    }
    output::print(&format!("\n{table}\n  `cwnd algorithms NAME` tells what the parameters mean.\n\n"))
}

fn load(flags: &LoadFlags) -> Result<(), Failure> {
    let algorithms = find(&flags.names, || cwnd_kernel::all().iter().collect())?;
    let mut parameters = Vec::new();
    for parameter in &flags.parameters {
        let Some((name, value)) = parameter.split_once('=') else {
            return Err(Failure::bad_input(format!(
                "--param: \"{parameter}\" is not NAME=VALUE, as beta=0.8"
            )));
        };
        parameters.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    if flags.default && algorithms.len() > 1 {
        return Err(Failure::bad_input("--default: one algorithm can be the default, and several are named"));
    }
    // All or nothing: what is loaded before one is refused goes away with its guard.
    let loaded: Vec<load::Loaded> = algorithms
        .iter()
        .map(|algorithm| load::load(algorithm, &parameters))
        .collect::<Result<_, _>>()
        .map_err(failure)?;
    let mut text = String::new();
    for loaded in loaded {
        let (name, loaded_algorithm) = (loaded.kernel_name(), loaded.algorithm());
        let path = loaded.pin().map_err(failure)?;
        text += &format!("loaded {name}, kept by {}\n", path.display());
        if flags.default {
            load::make_default(&name).map_err(|error| taken_back(loaded_algorithm, error))?;
            text += &format!("{name} is what new sockets take if they ask for none\n");
        }
    }
    output::print(&text)
}

/// All or nothing: an algorithm that cannot be the default does not stay. That it cannot is what is told.
fn taken_back(algorithm: &'static KernelAlgorithm, error: load::LoadError) -> Failure {
    let stays = load::unload(algorithm, true).err().map_or(String::new(), |why| format!("\n{why}"));
    Failure::broken(format!("{error}{stays}"))
}

fn unload(flags: &UnloadFlags) -> Result<(), Failure> {
    for algorithm in find(&flags.names, load::pinned)? {
        load::unload(algorithm, flags.force).map_err(failure)?;
        output::print(&format!("unloaded {}\n", algorithm.kernel_name()))?;
    }
    Ok(())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Status {
    /// What this host lacks to load algorithms.
    missing: Vec<String>,
    loaded: Vec<LoadedStatus>,
    /// Sockets of every network namespace by congestion control, those that listen included.
    sockets: load::Sockets,
}

#[derive(Serialize)]
struct LoadedStatus {
    name: &'static str,
    kernel_name: String,
    sockets: usize,
}

fn status(flags: &StatusFlags) -> Result<(), Failure> {
    let sockets = load::sockets();
    let loaded = load::pinned().into_iter().map(|algorithm| {
        let kernel_name = algorithm.kernel_name();
        let sockets = sockets.get(&kernel_name).copied().unwrap_or(0);
        LoadedStatus { name: algorithm.name, kernel_name, sockets }
    });
    let status = Status { missing: load::missing(), loaded: loaded.collect(), sockets };
    if flags.json {
        return output::print(&json::pretty(&status));
    }
    let mut table =
        Table::new([("congestion control", Align::Left), ("sockets", Align::Right), ("", Align::Left)]);
    for loaded in &status.loaded {
        table.row([&loaded.kernel_name, &loaded.sockets.to_string(), "loaded by cwnd"]);
    }
    for (name, count) in &status.sockets {
        if status.loaded.iter().all(|loaded| loaded.kernel_name != *name) {
            table.row([name, &count.to_string(), ""]);
        }
    }
    let mut text = format!("\n{}\n", table.indent(2));
    if status.loaded.is_empty() {
        text += "  No algorithm is loaded; `cwnd kernel load NAME` loads one.\n";
    }
    for why in &status.missing {
        text += &format!("  This host cannot load algorithms; missing is {why}.\n");
    }
    output::print(&(text + "\n"))
}

/// The algorithms of these names.
fn find(
    names: &[String],
    all: impl Fn() -> Vec<&'static KernelAlgorithm>,
) -> Result<Vec<&'static KernelAlgorithm>, Failure> {
    if let [name] = names
        && name == "all"
    {
        return Ok(all());
    }
    names.iter().map(|name| cwnd_kernel::find_or_explain(name).map_err(Failure::bad_input)).collect()
}

fn failure(error: load::LoadError) -> Failure {
    match error {
        load::LoadError::Parameter(why) => Failure::bad_input(why),
        error => Failure::broken(error.to_string()),
    }
}
