//! Into the running kernel and out of it.
//!
//! [`load()`] registers an algorithm and returns a [`Loaded`]: while that lives, every socket of the host may take the
//! algorithm by its name (`TCP_CONGESTION`); dropping it takes the algorithm away again. Names are the host's, so whoever
//! needs an algorithm for itself alone loads it with [`load_private`], under a name that nobody else has. [`install`] makes
//! an algorithm outlive the program: a link in the BPF file system under [`PINS`] keeps it then, and [`unload`] removes that.

mod canary;
mod chance;
mod default;
mod digests;
mod hints;
mod host;
mod install;
mod instance;
mod loaded;
mod lock;
mod netlink;
mod object;
mod observe;
mod programs;
mod routes;
mod sampled;
mod select;
mod sockets;
mod types;
mod verdict;

pub use canary::{Canary, Counts, Group, Groups, PARTS, RunningCanary, canaries};
pub use default::{Restored, check_default, default_here, default_of, make_default, restore_default};
pub use digests::{Approved, digests};
pub use host::{missing, registered};
pub use install::{Change, Installed, Options, Pinned, install};
pub use instance::{Instance, kernel_name};
pub use loaded::{Keeper, LoadedObject, ProgramCount, loaded, sees_loaded};
pub use observe::{ObservedSocket, SocketReader, sockets_of};
pub use programs::{CANARY, Cgroup, HostProgram, SELECT, SOCKETS};
pub use routes::{Route, routes};
pub use sampled::PrivateAreas;
pub use select::{Selection, forget_removed_cgroups, select, selections, unselect};
pub use sockets::{Sockets, sockets};
pub use verdict::{Bounds, Ending, Verdict, judge, watch};

use crate::{KernelAlgorithm, Values, find};
use libbpf_rs::{Link, MapCore, MapMut, MapType, Object, PrintLevel, query, set_print};
use std::{
    collections::BTreeMap,
    fmt, fs,
    hash::{BuildHasher, RandomState},
    os::fd::AsFd,
    path::PathBuf,
    sync::Mutex,
    time::Duration,
};

/// Where the links of algorithms are that outlive the program that loaded them.
pub const PINS: &str = "/sys/fs/bpf/cwnd";

/// Why something could not be done.
#[derive(Debug)]
pub enum LoadError {
    /// What this host lacks, a sentence each.
    Host(Vec<String>),
    /// A parameter is wrong.
    Parameter(String),
    /// Another algorithm, or the same with other parameters, is registered by this name: how it was loaded.
    Registered(String, String),
    /// No such algorithm is loaded.
    NotLoaded(String),
    /// Sockets use it.
    InUse(String, usize),
    /// These routes, or a canary in this cgroup, select it.
    Selected(String, String),
    /// The kernel refused; what it said.
    Kernel(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Host(missing) => {
                write!(f, "this host lacks:")?;
                missing.iter().try_for_each(|why| write!(f, "\n  {why}"))
            }
            LoadError::Parameter(why) => write!(f, "{why}"),
            LoadError::Registered(name, how) => {
                write!(
                    f,
                    "{name} is loaded already, and not as asked now, but with {how}; a host has one algorithm of a name: give this \
                     one another name with --as, or put it in the place of that one with --replace"
                )
            }
            LoadError::NotLoaded(name) => write!(f, "{name} is not loaded"),
            LoadError::InUse(name, count) => write!(
                f,
                "{count} socket{} {name}; wait for {}, or take it away from new sockets with --force \
                 (those that have it keep it until they close)",
                if *count == 1 { " uses" } else { "s use" },
                if *count == 1 { "it" } else { "them" },
            ),
            LoadError::Selected(name, by) => write!(
                f,
                "{name} is selected by {by}; end that first, or take it away all the same with --force"
            ),
            LoadError::Kernel(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for LoadError {}

impl LoadError {
    fn refused(what: &str, name: &str, error: &libbpf_rs::Error, messages: &Messages) -> LoadError {
        LoadError::Kernel(format!("the kernel refused to {what} {name}: {error}{}", messages.text()))
    }
}

/// An algorithm that is registered with the kernel for as long as this lives.
#[derive(Debug)]
pub struct Loaded {
    algorithm: &'static KernelAlgorithm,
    name: String,
    /// None once it is pinned.
    link: Option<Link>,
    object: Object,
}

/// What one program of an algorithm has cost so far, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCost {
    /// The hook, as `cong_avoid`.
    pub hook: String,
    /// Instructions of the translated program.
    pub instructions: usize,
    /// Instructions that the verifier went through.
    pub verified: u32,
    /// Calls, and the time they took in nanoseconds: counted while `kernel.bpf_stats_enabled` is 1.
    pub calls: u64,
    /// See `calls`.
    pub time_ns: u64,
}

/// Register an algorithm under its own name, with parameters by name and value.
///
/// # Errors
/// A host that cannot do it, wrong parameters, a name that is taken, or a kernel that refuses the program.
pub fn load(algorithm: &'static KernelAlgorithm, given: &[(String, String)]) -> Result<Loaded, LoadError> {
    load_as(algorithm, given, &algorithm.kernel_name())
}

/// Register an algorithm under a name that nobody else has, `cwnd_` and ten digits.
///
/// # Errors
/// Those of [`load()`], but for a name that is taken.
pub fn load_private(
    algorithm: &'static KernelAlgorithm,
    given: &[(String, String)],
) -> Result<Loaded, LoadError> {
    load_by_a_private_name(algorithm, given, algorithm.object)
}

/// Register an algorithm as [`load_private`] does, in the form whose state can be sampled
/// ([`Loaded::private_areas`]). It decides the same, and looks for a socket's entry at each ACK.
///
/// # Errors
/// Those of [`load_private`].
pub fn load_sampled(
    algorithm: &'static KernelAlgorithm,
    given: &[(String, String)],
) -> Result<Loaded, LoadError> {
    load_by_a_private_name(algorithm, given, algorithm.sampled)
}

fn load_by_a_private_name(
    algorithm: &'static KernelAlgorithm,
    given: &[(String, String)],
    object: &[u8],
) -> Result<Loaded, LoadError> {
    loop {
        match load_object(algorithm, object, given, &private_name(algorithm, given)) {
            // Of a million million names.
            Err(LoadError::Registered(..)) => {}
            done => return done,
        }
    }
}

fn private_name(algorithm: &KernelAlgorithm, given: &[(String, String)]) -> String {
    // Each `RandomState` has keys of its own.
    let hash = RandomState::new().hash_one((algorithm.source, given, std::process::id()));
    format!("cwnd_{:010x}", hash & 0xff_ffff_ffff)
}

/// Register an algorithm under a name of at most 15 characters that begins with `cwnd_`.
///
/// # Errors
/// Those of [`load()`].
pub fn load_as(
    algorithm: &'static KernelAlgorithm,
    given: &[(String, String)],
    name: &str,
) -> Result<Loaded, LoadError> {
    load_object(algorithm, algorithm.object, given, name)
}

fn load_object(
    algorithm: &'static KernelAlgorithm,
    object: &[u8],
    given: &[(String, String)],
    name: &str,
) -> Result<Loaded, LoadError> {
    instance::check_kernel_name(name)?;
    let values = algorithm.values(given).map_err(LoadError::Parameter)?;
    let missing = host::missing();
    if !missing.is_empty() {
        return Err(LoadError::Host(missing));
    }
    if host::registered().iter().any(|other| other == name) {
        let others = loaded()?.into_iter().find(|other| other.kernel_name == name);
        let how = others.map_or_else(
            || "not by cwnd".to_owned(),
            |other| format!("{}, {}", other.description(), other.keeper),
        );
        return Err(LoadError::Registered(name.to_owned(), how));
    }
    let mut object = verified_object(algorithm, object, values, name)?;
    let quiet = Messages::collect();
    let link = operations_of(&mut object)
        .attach_struct_ops()
        .map_err(|error| LoadError::refused("register", name, &error, &quiet))?;
    Ok(Loaded { algorithm, name: name.to_owned(), link: Some(link), object })
}

/// Loads the programs of an object, which the kernel's verifier checks. Nothing is registered yet.
fn verified_object(
    algorithm: &'static KernelAlgorithm,
    object: &[u8],
    values: Values,
    name: &str,
) -> Result<Object, LoadError> {
    let quiet = Messages::collect();
    let types = types::TcpTypes::of_this_kernel().unwrap_or_default();
    let open = object::prepare(algorithm, object, name, values, &types)?;
    open.load().map_err(|error| LoadError::refused("load", name, &error, &quiet))
}

/// Returns the map of an object that holds its `tcp_congestion_ops`.
fn operations_of(object: &mut Object) -> MapMut<'_> {
    let mut maps = object.maps_mut();
    maps.find(|map| map.map_type() == MapType::StructOps && map.autocreate())
        .expect("every object has operations")
}

/// Load an algorithm and take it away again, to find out whether this host can.
///
/// # Errors
/// What it lacks, or what the kernel said.
pub fn try_loading() -> Result<(), LoadError> {
    let plainest = find("newreno").expect("it is in the catalogue");
    load_private(plainest, &[]).map(drop)
}

impl Loaded {
    /// The algorithm.
    pub fn algorithm(&self) -> &'static KernelAlgorithm {
        self.algorithm
    }

    /// Its name in the kernel, for `TCP_CONGESTION`.
    pub fn kernel_name(&self) -> &str {
        &self.name
    }

    /// Keep it registered by a file of the BPF file system.
    ///
    /// # Errors
    /// The BPF file system cannot be written.
    pub fn pin(mut self) -> Result<Pinned, LoadError> {
        host::mount_bpf_file_system()?;
        let path = PathBuf::from(PINS).join(&self.name);
        let link = self.link.as_mut().expect("only pinning takes it, and takes the whole");
        let mut pin = || -> Result<(), String> {
            fs::create_dir_all(PINS).map_err(|error| format!("{PINS}: {error}"))?;
            link.pin(&path).map_err(|error| format!("cannot pin {}: {error}", path.display()))
        };
        // Whoever unloads the last algorithm takes the folder away, be it between these two steps.
        pin().or_else(|_| pin()).map_err(LoadError::Kernel)?;
        self.link = None;
        Ok(Pinned { name: self.name.clone(), path, stays: false })
    }

    /// What each of its programs is and has cost.
    pub fn programs(&self) -> Vec<ProgramCost> {
        let prefix = format!("{}_", self.algorithm.file);
        // The kernel keeps 15 characters of a program's name; the object has it whole.
        let hooks: BTreeMap<u32, String> = self
            .object
            .progs()
            .filter(libbpf_rs::ProgramImpl::autoload)
            .filter_map(|program| {
                let id = libbpf_rs::Program::id_from_fd(program.as_fd()).ok()?;
                Some((id, program.name().to_string_lossy().trim_start_matches(&prefix).to_owned()))
            })
            .collect();
        let options = query::ProgInfoQueryOptions::default().include_xlated_prog_insns(true);
        query::ProgInfoIter::with_query_opts(options)
            .filter_map(|program| {
                Some(ProgramCost {
                    hook: hooks.get(&program.id)?.clone(),
                    instructions: program.xlated_prog_insns.len() / 8,
                    verified: program.verified_insns,
                    calls: program.run_cnt,
                    time_ns: program.run_time_ns,
                })
            })
            .collect()
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.link.take().is_some() {
            wait_until_gone(&self.name);
        }
    }
}

/// How often, and how many times, to look whether something is gone: five seconds in all.
const LOOKS: (u32, Duration) = (500, Duration::from_millis(10));

/// The kernel takes an algorithm away a moment after its last link is gone.
fn wait_until_gone(name: &str) {
    wait_while(|| host::registered().iter().any(|other| other == name));
}

fn wait_while(there: impl Fn() -> bool) {
    let (times, pause) = LOOKS;
    for _ in 0..times {
        if !there() {
            return;
        }
        std::thread::sleep(pause);
    }
}

/// Take an algorithm away by its name in the kernel, be it pinned or not, and put back the default of each network
/// namespace that has it. Sockets that use it keep it until they close. Returns the defaults that were put back.
///
/// # Errors
/// It is not loaded, a process holds it, or sockets use it or routes or a canary select it and `force` is not set.
pub fn unload(kernel_name: &str, force: bool) -> Result<Vec<Restored>, LoadError> {
    let _alone = lock::changes()?;
    let objects = || -> Result<Vec<LoadedObject>, LoadError> {
        Ok(loaded()?.into_iter().filter(|object| object.kernel_name == kernel_name).collect())
    };
    let found = objects()?;
    if found.is_empty() {
        return Err(LoadError::NotLoaded(kernel_name.to_owned()));
    }
    if let Some(held) = found.iter().find(|one| matches!(one.keeper, Keeper::Process(..) | Keeper::Elsewhere))
    {
        return Err(LoadError::Kernel(format!(
            "{kernel_name} cannot be unloaded here: it is {}",
            held.keeper
        )));
    }
    // Those that were replaced before belong to their sockets alone. Where no other is left, defaults may still have them.
    let counted = sockets_of(&found, &sockets());
    let registered = |object: &LoadedObject| object.keeper != Keeper::Nothing;
    let only_replaced = !found.iter().any(registered);
    let meant = found.iter().zip(counted).filter(|(object, _)| only_replaced || registered(object));
    let (ids, counts): (Vec<u32>, Vec<usize>) = meant.map(|(object, count)| (object.id, count)).unzip();
    let used: usize = counts.iter().sum();
    if used > 0 && !force {
        return Err(LoadError::InUse(kernel_name.to_owned(), used));
    }
    if let Some(by) = selectors(kernel_name).filter(|_| !force) {
        return Err(LoadError::Selected(kernel_name.to_owned(), by));
    }
    let restored = restore_default(kernel_name)?;
    for object in &found {
        if let Keeper::Pin(path) = &object.keeper {
            fs::remove_file(path).map_err(|error| {
                LoadError::Kernel(format!("cannot unload {kernel_name}: {}: {error}", path.display()))
            })?;
        }
    }
    // The last one leaves no folder.
    let _ = fs::remove_dir(PINS);
    wait_until_gone(kernel_name);
    if used == 0 {
        let remain = |objects: Vec<LoadedObject>| objects.iter().any(|object| ids.contains(&object.id));
        wait_while(|| objects().is_ok_and(remain));
        if remain(objects()?) {
            return Err(LoadError::Kernel(format!(
                "{kernel_name} can no longer be asked for, but something still has it that cannot be seen from here: a network \
                 namespace whose default it is (`sysctl net.ipv4.tcp_congestion_control` in it), a closing socket, or the kernel \
                 itself, which never lets go of a default that it refused"
            )));
        }
    }
    Ok(restored)
}

/// Returns what would select it in vain without it, in words.
fn selectors(kernel_name: &str) -> Option<String> {
    let routes = routes().into_iter().filter(|route| route.congestion_control == kernel_name);
    // `ip route show` of a locked one crashes when there is no name to show (iproute2 6.1).
    let routes = routes.map(|route| format!("the route to {} ({})", route.to, route.namespace.display()));
    let has = |canary: &RunningCanary| {
        !canary.returning
            && [Some(&canary.name), canary.rest.as_ref()].contains(&Some(&kernel_name.to_owned()))
    };
    let canaries = canaries().into_iter().filter(has);
    let canaries = canaries.map(|canary| match canary.cgroup {
        Some(cgroup) => format!("the canary of {}", cgroup.path.display()),
        None => "a canary".to_owned(),
    });
    let all: Vec<String> = routes.chain(canaries).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Collects what libbpf says, instead of its writing it to the terminal, while this lives.
struct Messages {
    before: Option<(PrintLevel, libbpf_rs::PrintCallback)>,
}

static SAID: Mutex<String> = Mutex::new(String::new());

impl Messages {
    fn collect() -> Messages {
        lock().clear();
        Messages { before: set_print(Some((PrintLevel::Warn, |_, text| lock().push_str(&text)))) }
    }

    /// The end of what was said: the verifier says at last what it does not like.
    fn text(&self) -> String {
        let said = lock();
        let lines: Vec<&str> = said.lines().collect();
        let end = &lines[lines.len().saturating_sub(20)..];
        if end.is_empty() { String::new() } else { format!("\n  {}", end.join("\n  ")) }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        set_print(self.before.take());
    }
}

fn lock() -> std::sync::MutexGuard<'static, String> {
    SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
