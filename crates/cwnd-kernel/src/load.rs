//! Into the running kernel and out of it.
//!
//! [`load`] registers an algorithm and answers a [`Loaded`]: while that lives, every socket of the host may take the
//! algorithm by its name (`TCP_CONGESTION`); dropping it takes the algorithm away again. [`Loaded::pin`] makes it
//! outlive the program: a link in the BPF file system under [`PINS`] keeps it then, and [`unload`] removes that.

mod default;
mod host;
mod sockets;

pub use default::{make_default, restore_default};
pub use host::missing;
pub use sockets::{Sockets, sockets};

use crate::{KernelAlgorithm, all};
use libbpf_rs::{Link, MapCore, MapType, Object, ObjectBuilder, PrintLevel, query, set_print};
use std::{collections::BTreeMap, fmt, fs, os::fd::AsFd, path::PathBuf, sync::Mutex};

/// Where the links of algorithms are that outlive the program that loaded them.
pub const PINS: &str = "/sys/fs/bpf/cwnd";

/// Why something could not be done.
#[derive(Debug)]
pub enum LoadError {
    /// What this host lacks, a sentence each.
    Host(Vec<String>),
    /// A parameter is wrong.
    Parameter(String),
    /// An algorithm of this name is registered already.
    Registered(String),
    /// No such algorithm is loaded.
    NotLoaded(String),
    /// Sockets use it.
    InUse(String, usize),
    /// The kernel refused; what it said.
    Kernel(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Host(missing) => {
                write!(f, "this host cannot load algorithms:")?;
                missing.iter().try_for_each(|why| write!(f, "\n  {why}"))
            }
            LoadError::Parameter(why) => write!(f, "{why}"),
            LoadError::Registered(name) => {
                write!(f, "{name} is loaded already; unload it first to load it with other parameters")
            }
            LoadError::NotLoaded(name) => write!(f, "{name} is not loaded (nothing at {PINS}/{name})"),
            LoadError::InUse(name, count) => write!(
                f,
                "{count} socket{} {name}; wait for {}, or take it away from new sockets with --force \
                 (those that have it keep it until they close)",
                if *count == 1 { " uses" } else { "s use" },
                if *count == 1 { "it" } else { "them" },
            ),
            LoadError::Kernel(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// An algorithm that is registered with the kernel for as long as this lives.
#[derive(Debug)]
pub struct Loaded {
    algorithm: &'static KernelAlgorithm,
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

/// Register an algorithm with parameters by name and value.
///
/// # Errors
/// A host that cannot do it, wrong parameters, a name that is taken, or a kernel that refuses the program.
pub fn load(algorithm: &'static KernelAlgorithm, given: &[(String, String)]) -> Result<Loaded, LoadError> {
    let values = algorithm.values(given).map_err(LoadError::Parameter)?;
    let missing = host::missing();
    if !missing.is_empty() {
        return Err(LoadError::Host(missing));
    }
    let name = algorithm.kernel_name();
    if host::registered().contains(&name) {
        return Err(LoadError::Registered(name));
    }
    let quiet = Messages::collect();
    let refused = |what: &str, error: libbpf_rs::Error| {
        LoadError::Kernel(format!("the kernel refused to {what} {name}: {error}{}", quiet.text()))
    };
    let mut open =
        ObjectBuilder::default().open_memory(algorithm.object).map_err(|error| refused("read", error))?;
    let two_arguments = host::cong_control_has_two_arguments();
    let twofold = open.maps().any(|map| map.name().to_string_lossy().ends_with("_two"));
    for mut map in open.maps_mut() {
        if map.name().to_string_lossy().ends_with(".rodata.parameters") {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
            let data = map.initial_value_mut().expect("an object's constants have a value");
            data[..bytes.len()].copy_from_slice(&bytes);
        } else if twofold && map.map_type() == MapType::StructOps {
            let two = map.name().to_string_lossy().ends_with("_two");
            map.set_autocreate(two == two_arguments).map_err(|error| refused("choose the form of", error))?;
        }
    }
    let mut object = open.load().map_err(|error| refused("load", error))?;
    let mut operations = object
        .maps_mut()
        .find(|map| map.map_type() == MapType::StructOps && map.autocreate())
        .expect("every object has operations");
    let link = operations.attach_struct_ops().map_err(|error| refused("register", error))?;
    Ok(Loaded { algorithm, link: Some(link), object })
}

impl Loaded {
    /// The algorithm.
    pub fn algorithm(&self) -> &'static KernelAlgorithm {
        self.algorithm
    }

    /// Its name in the kernel, for `TCP_CONGESTION`.
    pub fn kernel_name(&self) -> String {
        self.algorithm.kernel_name()
    }

    /// Keep it registered when this program is gone, until [`unload`].
    ///
    /// # Errors
    /// The BPF file system cannot be written.
    pub fn pin(mut self) -> Result<PathBuf, LoadError> {
        host::mount_bpf_file_system()?;
        let path = pin_of(self.algorithm);
        fs::create_dir_all(PINS).map_err(|error| LoadError::Kernel(format!("{PINS}: {error}")))?;
        let mut link = self.link.take().expect("only pinning takes it, and takes the whole");
        link.pin(&path)
            .map_err(|error| LoadError::Kernel(format!("cannot pin {}: {error}", path.display())))?;
        Ok(path)
    }

    /// What each of its programs is and has cost.
    pub fn programs(&self) -> Vec<ProgramCost> {
        let prefix = format!("{}_", self.algorithm.name.replace('-', "_"));
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
            wait_until_gone(&self.algorithm.kernel_name());
        }
    }
}

/// The kernel takes an algorithm away a moment after its last link is gone.
fn wait_until_gone(name: &str) {
    for _ in 0..500 {
        if !host::registered().iter().any(|other| other == name) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// The algorithms that are pinned.
pub fn pinned() -> Vec<&'static KernelAlgorithm> {
    all().iter().filter(|algorithm| pin_of(algorithm).exists()).collect()
}

/// Take a pinned algorithm away. Sockets that use it keep it until they close.
///
/// # Errors
/// It is not pinned, or sockets use it and `force` is not set.
pub fn unload(algorithm: &'static KernelAlgorithm, force: bool) -> Result<(), LoadError> {
    let path = pin_of(algorithm);
    let name = algorithm.kernel_name();
    if !path.exists() {
        return Err(LoadError::NotLoaded(name));
    }
    let used = sockets().get(&name).copied().unwrap_or(0);
    if used > 0 && !force {
        return Err(LoadError::InUse(name, used));
    }
    restore_default(&name)?;
    let failed = |error: &dyn fmt::Display| LoadError::Kernel(format!("cannot unload {name}: {error}"));
    fs::remove_file(&path).map_err(|error| failed(&error))?;
    wait_until_gone(&name);
    // The last one leaves no folder.
    let _ = fs::remove_dir(PINS);
    Ok(())
}

fn pin_of(algorithm: &KernelAlgorithm) -> PathBuf {
    PathBuf::from(PINS).join(algorithm.kernel_name())
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
