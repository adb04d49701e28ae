//! `cwnd kernel select` and `unselect`.

use super::{DigestsFlag, failure, note_on, registered};
use crate::{failure::Failure, output};
use clap::{Args, Subcommand};
use cwnd_kernel::load::{self, Cgroup, SELECT};
use std::path::PathBuf;

#[derive(Args)]
pub struct SelectFlags {
    #[command(subcommand)]
    what: Select,
}

#[derive(Subcommand)]
enum Select {
    /// Select for the new connections of a cgroup (version 2) and those below it, in both directions. An application that selects a
    /// congestion control itself keeps its choice. The selection stays until `unselect` or the next boot.
    Cgroup {
        /// The cgroup: its directory, or its path below the mount point of cgroup2, as `system.slice`.
        #[arg(value_name = "PATH")]
        path: PathBuf,
        /// A congestion control of the host: the name of a loaded algorithm or instance, or one of the kernel's own (`NAME@host`
        /// where both have the name).
        name: String,
        #[command(flatten)]
        digests: DigestsFlag,
    },
}

#[derive(Args)]
pub struct UnselectFlags {
    #[command(subcommand)]
    what: Unselect,
}

#[derive(Subcommand)]
enum Unselect {
    /// Remove the selection of a cgroup. Open connections keep their congestion control.
    Cgroup {
        /// The cgroup, as for `select`.
        #[arg(value_name = "PATH")]
        path: PathBuf,
    },
    /// Forget the selections of cgroups that have been removed.
    Removed,
}

/// Selects.
pub fn select(flags: &SelectFlags) -> Result<(), Failure> {
    let Select::Cgroup { path, name, digests } = &flags.what;
    digests.check(&SELECT)?;
    let cgroup = Cgroup::find(path).map_err(failure)?;
    let selection = load::select(&cgroup, &registered(name)).map_err(failure)?;
    note_on(name, &selection.name);
    output::print(&format!(
        "new connections of {} get {}, kept by {}\n",
        cgroup.path.display(),
        selection.name,
        selection.pin.display()
    ))
}

/// Removes a selection.
pub fn unselect(flags: &UnselectFlags) -> Result<(), Failure> {
    match &flags.what {
        Unselect::Cgroup { path } => {
            let cgroup = Cgroup::find(path).map_err(failure)?;
            load::unselect(&cgroup).map_err(failure)?;
            output::print(&format!("{} selects nothing now\n", cgroup.path.display()))
        }
        Unselect::Removed => {
            let count = load::forget_removed_cgroups();
            output::print(&format!("forgot {count} selection{}\n", if count == 1 { "" } else { "s" }))
        }
    }
}
