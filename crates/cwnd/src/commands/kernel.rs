//! `cwnd kernel`: the algorithms in the running Linux kernel.

use crate::{
    failure::Failure,
    output::{self, json},
};
use clap::{Args, Subcommand};
use cwnd_kernel::{KernelAlgorithm, load};
use cwnd_report::table::{Align, Sacrifice, Table};
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
    let sacrifices = [Sacrifice::Shorten("parameters", 16), Sacrifice::Drop("title")];
    let table = output::fitted(table, &sacrifices);
    output::print(&format!("\n{table}\n  `cwnd algorithms NAME` tells what the parameters mean.\n\n"))
}

fn load(flags: &LoadFlags) -> Result<(), Failure> {
    let algorithms = find(&flags.names)?;
    let parameters = cwnd_kernel::read_parameters(&flags.parameters)
        .map_err(|why| Failure::bad_input(format!("--param: {why}")))?;
    if flags.default && algorithms.len() > 1 {
        return Err(Failure::bad_input("--default: one algorithm can be the default, and several are named"));
    }
    let installed = load::install(&algorithms, &parameters, flags.default).map_err(failure)?;
    let mut text = String::new();
    for one in &installed {
        let what = if one.already { "already loaded" } else { "loaded" };
        text += &format!("{what} {}, kept by {}\n", one.kernel_name, one.pin.display());
        if flags.default {
            text += &format!("{} is what new sockets take if they ask for none\n", one.kernel_name);
        }
    }
    output::print(&text)
}

fn unload(flags: &UnloadFlags) -> Result<(), Failure> {
    let loaded = load::loaded().map_err(failure)?;
    let names = if is_all(&flags.names) {
        // Without those that a process has loaded for itself.
        let of_the_host = loaded.iter().filter(|object| object.kernel_name == object.algorithm.kernel_name());
        of_the_host.map(|object| object.kernel_name.clone()).collect()
    } else {
        let kernel_name = |name: &String| match loaded.iter().any(|object| object.kernel_name == *name) {
            true => Ok(name.clone()),
            false => cwnd_kernel::find_or_explain(name)
                .map(KernelAlgorithm::kernel_name)
                .map_err(Failure::bad_input),
        };
        flags.names.iter().map(kernel_name).collect::<Result<Vec<String>, Failure>>()?
    };
    for name in names {
        load::unload(&name, flags.force).map_err(failure)?;
        output::print(&format!("unloaded {name}\n"))?;
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
    /// SHA-256 of its text, if it is known.
    source: Option<String>,
    /// As they are given to `load`; without those that are the defaults.
    parameters: Option<String>,
    /// What keeps it registered.
    keeper: String,
    /// It has a file or a process that keeps it: without, no socket can ask for it any more.
    registered: bool,
    /// Network namespaces whose default it is.
    default_of: Vec<String>,
}

impl LoadedStatus {
    fn new(object: &load::LoadedObject, sockets: &load::Sockets) -> LoadedStatus {
        LoadedStatus {
            name: object.algorithm.name,
            kernel_name: object.kernel_name.clone(),
            sockets: sockets.get(&object.kernel_name).copied().unwrap_or(0),
            source: object.source.clone(),
            parameters: object.parameters.as_ref().map(|parameters| object.algorithm.describe(parameters)),
            keeper: object.keeper.to_string(),
            registered: object.keeper != load::Keeper::Nothing,
            default_of: load::default_of(&object.kernel_name),
        }
    }
}

fn status(flags: &StatusFlags) -> Result<(), Failure> {
    let objects = load::loaded().map_err(failure)?;
    let status = Status::now(&objects);
    if flags.json {
        return output::print(&json::pretty(&status));
    }
    output::print(&text(&status, &objects))
}

impl Status {
    fn now(objects: &[load::LoadedObject]) -> Status {
        let sockets = load::sockets();
        let loaded = objects.iter().map(|object| LoadedStatus::new(object, &sockets)).collect();
        let mut missing = load::missing();
        if missing.is_empty()
            && let Err(why) = load::try_loading()
        {
            missing.push(format!("what this kernel wants: {why}"));
        }
        Status { missing, loaded, sockets }
    }
}

/// An algorithm of the list, as `cwnd serve` shows it.
#[cfg(feature = "serve")]
#[derive(Serialize)]
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
    let objects = load::loaded().map_err(failure)?;
    let loadable: Vec<Loadable> = cwnd_kernel::all()
        .iter()
        .map(|algorithm| Loadable {
            name: algorithm.name,
            kernel_name: algorithm.kernel_name(),
            title: algorithm.info().title,
            parameters: algorithm.parameters.iter().map(|parameter| parameter.name).collect(),
        })
        .collect();
    Ok(serde_json::json!({ "status": Status::now(&objects), "loadable": loadable }))
}

fn text(status: &Status, objects: &[load::LoadedObject]) -> String {
    let mut table =
        Table::new([("congestion control", Align::Left), ("sockets", Align::Right), ("source", Align::Left)])
            .indent(2);
    for (loaded, object) in status.loaded.iter().zip(objects) {
        let what = format!("{} ({}), {}", loaded.name, object.description(), loaded.keeper);
        table.row([&loaded.kernel_name, &loaded.sockets.to_string(), &what]);
    }
    for (name, count) in &status.sockets {
        if status.loaded.iter().all(|loaded| loaded.kernel_name != *name) {
            table.row([name, &count.to_string(), ""]);
        }
    }
    let mut notes: Vec<String> = Vec::new();
    if status.loaded.is_empty() {
        notes.push("No algorithm is loaded; `cwnd kernel load NAME` loads one.".to_owned());
    }
    for loaded in &status.loaded {
        if !loaded.default_of.is_empty() {
            notes.push(format!("{} is the default of {}.", loaded.kernel_name, loaded.default_of.join(", ")));
        }
        if !loaded.registered {
            notes.push(format!(
                "{0} has lost its file: `cwnd kernel unload {0}` restores the defaults and removes it.",
                loaded.kernel_name
            ));
        }
    }
    for why in &status.missing {
        notes.push(format!("This host cannot load algorithms; missing is {why}."));
    }
    let table = output::fitted(table, &[Sacrifice::Shorten("source", 24)]);
    let notes: String = notes.iter().map(|note| output::wrapped(note, 2)).collect();
    format!("\n{table}\n{notes}\n")
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

fn failure(error: load::LoadError) -> Failure {
    match error {
        load::LoadError::Parameter(why) => Failure::bad_input(why),
        error => Failure::broken(error.to_string()),
    }
}
