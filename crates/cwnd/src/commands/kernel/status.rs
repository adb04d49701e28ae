//! `cwnd kernel status`: what is loaded, what keeps it, and who uses it.

use super::failure;
use crate::{
    failure::Failure,
    output::{self, json},
};
use clap::Args;
use cwnd_kernel::load::{self, Counts, Keeper, LoadedObject, RunningCanary, Sockets};
use cwnd_report::table::{Align, Sacrifice, Table};
use serde::Serialize;
use std::{fs, path::PathBuf, time::Duration};

#[derive(Args)]
pub struct StatusFlags {
    /// Print one JSON document instead of text.
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
pub struct Status {
    /// What this host lacks to load algorithms.
    missing: Vec<String>,
    loaded: Vec<LoadedStatus>,
    /// Whether this process may see what is loaded, which takes root: `loaded`, `selections` and `canaries` are empty without.
    sees_loaded: bool,
    /// Sockets of every network namespace by congestion control, those that listen included.
    sockets: Sockets,
    /// What cgroups select.
    selections: Vec<SelectionStatus>,
    /// Routes that select a congestion control.
    routes: Vec<RouteStatus>,
    /// Running canaries (`cwnd kernel canary`).
    canaries: Vec<CanaryStatus>,
    /// Whether the kernel counts the calls of programs (`kernel.bpf_stats_enabled`).
    counting: bool,
    /// What sockets of this network namespace get that ask for none.
    default: Option<String>,
}

#[derive(Serialize)]
struct LoadedStatus {
    name: &'static str,
    kernel_name: String,
    /// Sockets that have this object, in every network namespace.
    sockets: usize,
    /// SHA-256 of its text, if it is known.
    source: Option<String>,
    /// As they are given to `load`; without those that are the defaults.
    parameters: Option<String>,
    /// What keeps it registered.
    keeper: String,
    /// The file that keeps it.
    pin: Option<PathBuf>,
    /// It has a file or a process that keeps it: without, no socket can select it any more.
    registered: bool,
    /// Another object was loaded in its place with `--replace`; sockets that were open then have it.
    replaced: bool,
    /// Network namespaces whose default it is.
    default_of: Vec<String>,
    /// Seconds since it was loaded.
    age_s: Option<f64>,
    /// Calls of its hooks and the time that they took, while the kernel counted them.
    calls: u64,
    time_ns: u64,
    hooks: Vec<Hook>,
}

#[derive(Serialize)]
struct Hook {
    name: String,
    calls: u64,
    time_ns: u64,
}

#[derive(Serialize)]
struct SelectionStatus {
    /// The directory of the cgroup; none if it has been removed.
    cgroup: Option<PathBuf>,
    congestion_control: String,
    /// Whether a congestion control of that name is registered.
    registered: bool,
    pin: PathBuf,
}

#[derive(Serialize)]
struct RouteStatus {
    /// A path to its network namespace.
    namespace: PathBuf,
    /// Where it leads, as `ip route` writes it.
    to: String,
    congestion_control: String,
}

#[derive(Serialize)]
struct CanaryStatus {
    /// The directory of the cgroup; none if it has been removed.
    cgroup: Option<PathBuf>,
    congestion_control: String,
    /// The congestion control of the other connections; none for what they would get without the canary.
    rest: Option<String>,
    /// The share of new connections that get it, from 0 to 1.
    share: f64,
    /// Open canaries are going back to what they had before.
    returning: bool,
    /// What keeps it.
    keeper: String,
    canary_counts: GroupStatus,
    rest_counts: GroupStatus,
}

/// What a group of connections has done since its canary began.
#[derive(Serialize)]
pub(super) struct GroupStatus {
    /// Connections that had a round trip.
    connections: u64,
    segments: u64,
    retransmissions: u64,
    mean_rtt_s: f64,
}

impl GroupStatus {
    pub(super) fn new(counts: &Counts) -> GroupStatus {
        GroupStatus {
            connections: counts.sockets,
            segments: counts.segments,
            retransmissions: counts.retransmissions,
            mean_rtt_s: counts.mean_rtt_s(),
        }
    }

    pub(super) fn in_words(&self) -> String {
        let rate = if self.segments == 0 { 0.0 } else { self.retransmissions as f64 / self.segments as f64 };
        format!(
            "{} connections, {:.3} % retransmitted, {:.2} ms",
            self.connections,
            100.0 * rate,
            1e3 * self.mean_rtt_s
        )
    }
}

impl CanaryStatus {
    fn new(canary: RunningCanary) -> CanaryStatus {
        CanaryStatus {
            cgroup: canary.cgroup.map(|cgroup| cgroup.path),
            congestion_control: canary.name,
            rest: canary.rest,
            share: canary.share,
            returning: canary.returning,
            keeper: canary.keeper.to_string(),
            canary_counts: GroupStatus::new(&canary.groups.canary.total()),
            rest_counts: GroupStatus::new(&canary.groups.rest.total()),
        }
    }

    fn in_words(&self) -> String {
        let cgroup = self.cgroup.as_ref().map_or_else(
            || "a cgroup that was removed".to_owned(),
            |cgroup| format!("cgroup {}", cgroup.display()),
        );
        let name = &self.congestion_control;
        let what = match self.returning {
            true => format!("The canaries of {cgroup} are going back from {name} to what they had before"),
            false => {
                format!(
                    "{} % of the new connections of {cgroup} get {name}",
                    (1e4 * self.share).round() / 100.0
                )
            }
        };
        format!(
            "{what} (a canary, {}): {}; the rest: {}.",
            self.keeper,
            self.canary_counts.in_words(),
            self.rest_counts.in_words()
        )
    }
}

impl LoadedStatus {
    fn new(object: &LoadedObject, objects: &[LoadedObject], sockets: usize) -> LoadedStatus {
        let registered = object.keeper != Keeper::Nothing;
        let replaced = !registered
            && objects
                .iter()
                .any(|other| other.kernel_name == object.kernel_name && other.keeper != Keeper::Nothing);
        let hooks: Vec<Hook> = object
            .programs
            .iter()
            .map(|program| Hook {
                name: program.hook.clone(),
                calls: program.calls,
                time_ns: program.time_ns,
            })
            .collect();
        LoadedStatus {
            name: object.algorithm.name,
            kernel_name: object.kernel_name.clone(),
            sockets,
            source: object.source.clone(),
            parameters: object.parameters.as_ref().map(|parameters| object.algorithm.describe(parameters)),
            keeper: object.keeper.to_string(),
            pin: match &object.keeper {
                Keeper::Pin(path) => Some(path.clone()),
                _ => None,
            },
            registered,
            replaced,
            default_of: if replaced { Vec::new() } else { load::default_of(&object.kernel_name) },
            age_s: object.age.map(|age| age.as_secs_f64()),
            calls: hooks.iter().map(|hook| hook.calls).sum(),
            time_ns: hooks.iter().map(|hook| hook.time_ns).sum(),
            hooks,
        }
    }
}

/// Does what the flags ask.
pub fn run(flags: &StatusFlags) -> Result<(), Failure> {
    let objects = load::loaded().map_err(failure)?;
    let status = Status::now(&objects);
    if flags.json {
        return output::print(&json::pretty(&status));
    }
    output::print(&text(&status, &objects))
}

impl Status {
    /// Asks the kernel, which has these objects loaded.
    pub fn now(objects: &[LoadedObject]) -> Status {
        let sockets = load::sockets();
        let loaded = objects.iter().zip(load::sockets_of(objects, &sockets));
        let loaded = loaded.map(|(object, sockets)| LoadedStatus::new(object, objects, sockets)).collect();
        let mut missing = load::missing();
        if missing.is_empty()
            && let Err(why) = load::try_loading()
        {
            missing.push(format!("what this kernel wants: {why}"));
        }
        let selections = load::selections().into_iter().map(|selection| SelectionStatus {
            cgroup: selection.cgroup.map(|cgroup| cgroup.path),
            congestion_control: selection.name,
            registered: selection.registered,
            pin: selection.pin,
        });
        Status {
            missing,
            loaded,
            sees_loaded: load::sees_loaded(),
            sockets,
            selections: selections.collect(),
            routes: load::routes().into_iter().map(RouteStatus::new).collect(),
            canaries: load::canaries().into_iter().map(CanaryStatus::new).collect(),
            counting: counts_calls(),
            default: load::default_here(),
        }
    }
}

impl RouteStatus {
    fn new(route: load::Route) -> RouteStatus {
        let load::Route { namespace, to, congestion_control } = route;
        RouteStatus { namespace, to, congestion_control }
    }
}

/// Whether the kernel counts the calls of programs.
pub fn counts_calls() -> bool {
    fs::read_to_string("/proc/sys/kernel/bpf_stats_enabled").is_ok_and(|text| text.trim() == "1")
}

fn text(status: &Status, objects: &[LoadedObject]) -> String {
    let mut table = Table::new([
        ("congestion control", Align::Left),
        ("sockets", Align::Right),
        ("loaded", Align::Right),
        ("calls", Align::Right),
        ("source", Align::Left),
    ])
    .indent(2);
    for (loaded, object) in status.loaded.iter().zip(objects) {
        let what = format!("{} ({}), {}", loaded.name, object.description(), loaded.keeper);
        let calls = if loaded.calls > 0 { loaded.calls.to_string() } else { String::new() };
        table.row([
            loaded.kernel_name.as_str(),
            &loaded.sockets.to_string(),
            &object.age.map_or_else(String::new, age),
            &calls,
            &what,
        ]);
    }
    for (name, count) in &status.sockets {
        if status.loaded.iter().all(|loaded| loaded.kernel_name != *name) {
            table.row([name, &count.to_string(), "", "", ""]);
        }
    }
    let table = output::fitted(table, &[Sacrifice::Drop("calls"), Sacrifice::Shorten("source", 24)]);
    let notes: String = notes(status).iter().map(|note| output::wrapped(note, 2)).collect();
    format!("\n{table}\n{notes}\n")
}

fn notes(status: &Status) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if !status.sees_loaded {
        notes.push("Only root sees what is loaded, its sockets' state, selections and canaries.".to_owned());
    } else if status.loaded.is_empty() {
        notes.push("No algorithm is loaded; `cwnd kernel load NAME` loads one.".to_owned());
    } else if !status.counting {
        notes.push(
            "The kernel counts no calls; `sysctl kernel.bpf_stats_enabled=1` makes it count.".to_owned(),
        );
    }
    let is_loaded = |default: &&String| status.loaded.iter().any(|loaded| loaded.kernel_name == **default);
    if let Some(default) = status.default.as_ref().filter(|default| !is_loaded(default)) {
        notes.push(format!("{default} is the default of this network namespace."));
    }
    for loaded in &status.loaded {
        if !loaded.default_of.is_empty() {
            notes.push(format!("{} is the default of {}.", loaded.kernel_name, loaded.default_of.join(", ")));
        }
        if loaded.replaced {
            notes.push(format!(
                "A former {0} ({1}) was replaced; sockets that were open then keep it until they close.",
                loaded.kernel_name,
                loaded.parameters.as_deref().filter(|text| !text.is_empty()).unwrap_or("default parameters")
            ));
        } else if !loaded.registered {
            notes.push(format!(
                "No file keeps {0} any more: it was unloaded while sockets used it, which keep it until they close, or its file was \
                 removed. `cwnd kernel unload {0}` restores the defaults that have it.",
                loaded.kernel_name
            ));
        }
    }
    // Several former objects of a name say the same.
    notes.dedup();
    for selection in &status.selections {
        let name = &selection.congestion_control;
        notes.push(match (&selection.cgroup, selection.registered) {
            (Some(cgroup), true) => format!("cgroup {} selects {name}.", cgroup.display()),
            (Some(cgroup), false) => format!(
                "cgroup {} selects {name}, which is not loaded: its connections get what they would get without the selection.",
                cgroup.display()
            ),
            (None, _) => format!(
                "A cgroup that was removed selected {name}; `cwnd kernel unselect removed` forgets it ({}).",
                selection.pin.display()
            ),
        });
    }
    for route in &status.routes {
        let (to, name) = (&route.to, &route.congestion_control);
        notes.push(format!("The route to {to} selects {name} ({}).", route.namespace.display()));
    }
    notes.extend(status.canaries.iter().map(CanaryStatus::in_words));
    for why in &status.missing {
        notes.push(format!("This host cannot load algorithms; missing is {why}."));
    }
    notes
}

/// A duration for a person: `42 s`, `12 min`, `3 h`, `8 d`.
pub fn age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7200 => format!("{} min", seconds / 60),
        seconds @ ..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        let texts =
            [0, 119, 120, 7199, 7200, 172_799, 172_800].map(|seconds| age(Duration::from_secs(seconds)));
        assert_eq!(texts, ["0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 d"]);
    }
}
