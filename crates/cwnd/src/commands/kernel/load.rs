//! `cwnd kernel load` and `unload`.

use super::{DigestsFlag, config::Config, failure, find, is_all, own_name, unapproved};
use crate::{failure::Failure, interrupt, output, terminal::tell};
use clap::Args;
use cwnd_kernel::{
    KernelAlgorithm,
    load::{self, Approved, Change, Installed, Instance, Keeper, SELECT},
};
use std::{path::PathBuf, sync::atomic::Ordering};

#[derive(Args)]
pub struct LoadFlags {
    /// Algorithms, as `elastic`; `all` for all of them.
    #[arg(required_unless_present = "config", conflicts_with = "config")]
    names: Vec<String>,

    /// Load what a file lists: algorithms with names and parameters, and the cgroups that select them.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "parameters", "default"])]
    config: Option<PathBuf>,

    #[command(flatten)]
    digests: DigestsFlag,

    /// The name in the kernel, `cwnd_NAME`: an algorithm can be loaded several times under different names, each with its own
    /// parameters. At most 10 lower-case letters, digits and `_` [default: the algorithm's name].
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,

    /// A parameter, as `beta=0.8`; may be given several times.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,

    /// Make it the congestion control of sockets that ask for none (of this network namespace), until it is unloaded.
    #[arg(long)]
    default: bool,

    /// Replace what is loaded under the same name. New sockets get the new one; sockets that are open keep the former one until they
    /// close.
    #[arg(long)]
    replace: bool,
}

#[derive(Args)]
pub struct UnloadFlags {
    /// Names, as `elastic` or that of `--as`; `all` for all that are loaded.
    #[arg(required_unless_present = "config", conflicts_with = "config")]
    names: Vec<String>,

    /// Unload what a file lists for `load --config`, and remove its selections.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Also while sockets use it, which keep it until they close, or while a route or a canary selects it.
    #[arg(long)]
    force: bool,
}

/// Loads algorithms.
pub fn load(flags: &LoadFlags) -> Result<(), Failure> {
    let approved = flags.digests.approved()?;
    if let Some(path) = &flags.config {
        return load_config(&Config::read(path)?, approved.as_ref(), flags.replace);
    }
    let algorithms = find(&flags.names)?;
    let parameters = cwnd_kernel::read_parameters(&flags.parameters)
        .map_err(|why| Failure::bad_input(format!("--param: {why}")))?;
    if flags.default && algorithms.len() > 1 {
        return Err(Failure::bad_input("--default: one algorithm can be the default, and several are named"));
    }
    if flags.name.is_some() && algorithms.len() > 1 {
        return Err(Failure::bad_input("--as: one algorithm can have this name, and several are named"));
    }
    let instance = |algorithm: &&'static KernelAlgorithm| match &flags.name {
        Some(name) => {
            load::kernel_name(name).map_err(|error| Failure::bad_input(format!("--as: {error}")))?;
            Instance::named(algorithm, name, &parameters).map_err(failure)
        }
        None => Instance::new(algorithm, &parameters).map_err(failure),
    };
    let instances = algorithms.iter().map(instance).collect::<Result<Vec<Instance>, Failure>>()?;
    let options = load::Options { default: flags.default, replace: flags.replace };
    install(&instances, approved.as_ref(), options).map(drop)
}

/// Loads what a file lists: all or nothing, also if a signal ends the command (a service manager stops it while it starts).
fn load_config(config: &Config, approved: Option<&Approved>, replace: bool) -> Result<(), Failure> {
    let stop = interrupt::catch().map_err(Failure::broken)?;
    let (default, mut instances) = config.instances()?;
    let options = load::Options { default: default.is_some(), replace };
    // The default is the last one.
    instances.extend(default);
    // Before anything changes: a replacement cannot be undone when the command ends.
    config.check_selections(&instances)?;
    if let Some(approved) = approved.filter(|_| config.selects()) {
        approved.check_program(&SELECT).map_err(unapproved)?;
    }
    let installed = install(&instances, approved, options)?;
    let stopped = || match stop.load(Ordering::Relaxed) {
        true => Err(Failure::stopped("stopped: what was not loaded before was unloaded".to_owned())),
        false => Ok(()),
    };
    let before = load::selections();
    let done = stopped().and_then(|()| config.select()).and_then(|()| stopped());
    if done.is_err() {
        config.unselect_new(&before);
        for one in installed.iter().filter(|one| one.change == Change::Loaded) {
            load::unload(&one.kernel_name, true).map_err(failure)?;
            output::print(&format!("unloaded {} again\n", one.kernel_name))?;
        }
        for one in installed.iter().filter(|one| one.change == Change::Replaced) {
            tell!("note: {} stays replaced", one.kernel_name);
        }
    }
    done
}

fn install(
    instances: &[Instance],
    approved: Option<&Approved>,
    options: load::Options,
) -> Result<Vec<Installed>, Failure> {
    if let Some(approved) = approved {
        let mut algorithms = instances.iter().map(Instance::algorithm);
        algorithms.try_for_each(|algorithm| approved.check(algorithm)).map_err(unapproved)?;
    }
    let installed = load::install(instances, options).map_err(failure)?;
    let mut text = String::new();
    for one in &installed {
        let what = match one.change {
            Change::Loaded => "loaded",
            Change::Already => "already loaded",
            Change::Replaced => "replaced",
        };
        text += &format!("{what} {}, kept by {}\n", one.kernel_name, one.pin.display());
    }
    if let Some(default) = installed.last().filter(|_| options.default) {
        text += &format!("{} is what new sockets take if they ask for none\n", default.kernel_name);
    }
    output::print(&text)?;
    Ok(installed)
}

/// Unloads algorithms.
pub fn unload(flags: &UnloadFlags) -> Result<(), Failure> {
    let loaded = load::loaded().map_err(failure)?;
    let config = flags.config.as_deref().map(Config::read).transpose()?;
    let mut names: Vec<String> = if let Some(config) = &config {
        config.unselect();
        let listed = config.names()?;
        listed.into_iter().filter(|name| loaded.iter().any(|object| object.kernel_name == *name)).collect()
    } else if is_all(&flags.names) {
        // Without those that a process has loaded for itself.
        let of_the_host = loaded.iter().filter(|object| {
            matches!(object.keeper, Keeper::Pin(_)) || object.kernel_name == object.algorithm.kernel_name()
        });
        of_the_host.map(|object| object.kernel_name.clone()).collect()
    } else {
        let is_loaded = |name: &String| loaded.iter().any(|object| object.kernel_name == *name);
        let kernel_name = |name: &String| match [own_name(name), Some(name.clone())]
            .into_iter()
            .flatten()
            .find(is_loaded)
        {
            Some(name) => Ok(name),
            None => cwnd_kernel::find_or_explain(name)
                .map(KernelAlgorithm::kernel_name)
                .map_err(|why| Failure::bad_input(format!("no `{name}` is loaded, and {why}"))),
        };
        flags.names.iter().map(kernel_name).collect::<Result<Vec<String>, Failure>>()?
    };
    // A replaced one has the name of the one in its place.
    names.sort();
    names.dedup();
    for name in names {
        let restored = load::unload(&name, flags.force).map_err(failure)?;
        let mut text = format!("unloaded {name}\n");
        for load::Restored { namespace, name } in restored {
            text += &format!("{name} is the default of {namespace} again\n");
        }
        output::print(&text)?;
    }
    Ok(())
}
