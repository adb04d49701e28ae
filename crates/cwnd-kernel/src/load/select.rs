//! Selects a congestion control by cgroup: a program in the cgroup, which a link in the BPF file system keeps.

use super::{
    LoadError, PINS,
    canary::check_no_canary,
    host,
    loaded::content,
    programs::{self, Cgroup, SELECT},
};
use libbpf_rs::{
    Link,
    query::{LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions},
};
use std::{fs, path::PathBuf};

/// A congestion control that the new connections of a cgroup get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The cgroup; none if it has been removed.
    pub cgroup: Option<Cgroup>,
    /// The name of the congestion control.
    pub name: String,
    /// Whether a congestion control of that name is registered. Without one, connections get what they would get without the
    /// selection.
    pub registered: bool,
    /// The file that keeps the program.
    pub pin: PathBuf,
}

/// Where the links of selections are, by the number of the cgroup.
fn folder() -> PathBuf {
    PathBuf::from(PINS).join("cgroups")
}

/// Selects a congestion control for the new connections of a cgroup and of those below it, in both directions. The application's own
/// choice is left alone. A cgroup below with a selection of its own keeps that. Replaces a former selection of this cgroup.
///
/// # Errors
/// The name is not registered, a canary has the cgroup's connections, or the kernel refuses the program.
pub fn select(cgroup: &Cgroup, name: &str) -> Result<Selection, LoadError> {
    let bytes = programs::registered_name(name)?;
    check_no_canary(cgroup)?;
    let mut object = SELECT.load(Some(&bytes))?;
    host::mount_bpf_file_system()?;
    let pin = folder().join(cgroup.id.to_string());
    let failed = |error: String| LoadError::Kernel(format!("{}: {error}", pin.display()));
    if pin.exists() {
        let mut link = Link::open(&pin).map_err(|error| failed(error.to_string()))?;
        let program = programs::only_program(&mut object);
        link.update_prog(&program).map_err(|error| failed(error.to_string()))?;
    } else {
        let mut link = programs::attach(&mut object, cgroup)?;
        fs::create_dir_all(folder()).map_err(|error| failed(error.to_string()))?;
        link.pin(&pin).map_err(|error| failed(error.to_string()))?;
    }
    Ok(Selection { cgroup: Some(cgroup.clone()), name: name.to_owned(), registered: true, pin })
}

/// Returns the selections of the host.
pub fn selections() -> Vec<Selection> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let programs: Vec<_> = ProgInfoIter::with_query_opts(options).collect();
    let registered = host::registered();
    let files = fs::read_dir(folder()).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut selections: Vec<Selection> = files
        .filter_map(|pin| {
            let info = Link::open(&pin).ok()?.info().ok()?;
            let LinkTypeInfo::Cgroup(about) = info.info else { return None };
            let program = programs.iter().find(|program| program.id == info.prog_id)?;
            let bytes = program.map_ids.iter().find_map(|map| content(*map))?;
            let end = bytes.iter().position(|byte| *byte == 0)?;
            let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let registered = registered.contains(&name);
            // The number is 0 once the cgroup has been removed.
            Some(Selection { cgroup: Cgroup::of_id(about.cgroup_id), name, registered, pin })
        })
        .collect();
    selections.sort_by(|a, b| a.pin.cmp(&b.pin));
    selections
}

/// Removes the selection of a cgroup. Open connections keep their congestion control.
///
/// # Errors
/// The cgroup has none, or its file cannot be removed.
pub fn unselect(cgroup: &Cgroup) -> Result<(), LoadError> {
    let pin = folder().join(cgroup.id.to_string());
    remove(&pin).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            LoadError::Parameter(format!("cgroup {} has no selection", cgroup.path.display()))
        }
        _ => LoadError::Kernel(format!("{}: {error}", pin.display())),
    })
}

/// Removes the selections of cgroups that are gone. Returns how many there were.
pub fn forget_removed_cgroups() -> usize {
    let gone = selections().into_iter().filter(|selection| selection.cgroup.is_none());
    gone.filter(|selection| remove(&selection.pin).is_ok()).count()
}

fn remove(pin: &std::path::Path) -> std::io::Result<()> {
    // The kernel detaches the program of a removed file some time later, and by this at once.
    let link = pin.exists().then(|| Link::open(pin));
    fs::remove_file(pin)?;
    if let Some(Ok(link)) = link {
        let _ = link.detach();
    }
    // The last one leaves no folder.
    let _ = fs::remove_dir(folder());
    let _ = fs::remove_dir(PINS);
    Ok(())
}
