//! What the kernel has loaded: it is asked for its objects, so that what no file names is found, too.

use super::{
    LoadError, PINS,
    object::{CONSTANTS_MAP, Constants},
    types::{self, TX_START_HOOK},
};
use crate::{KernelAlgorithm, Values, all};
use libbpf_rs::{
    Link, MapCore, MapFlags, MapHandle, MapType,
    btf::Btf,
    libbpf_sys,
    query::{LinkInfoIter, LinkTypeInfo, MapInfoIter, ProgInfoIter, ProgInfoQueryOptions, ProgramInfo},
};
use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// An algorithm of cwnd that the kernel has loaded.
#[derive(Clone, Debug)]
pub struct LoadedObject {
    /// The kernel's number of its operations.
    pub id: u32,
    /// The name by which sockets take it.
    pub kernel_name: String,
    /// Which algorithm it is.
    pub algorithm: &'static KernelAlgorithm,
    /// SHA-256 of its text, in hexadecimal digits; nothing of one that an older cwnd loaded.
    pub source: Option<String>,
    /// Its parameters; likewise.
    pub parameters: Option<Values>,
    /// What keeps it registered.
    pub keeper: Keeper,
    /// How long ago its programs were loaded.
    pub age: Option<Duration>,
    /// Its programs, in the order of the kernel's structure.
    pub programs: Vec<ProgramCount>,
}

/// How often a program of an algorithm was called, and how long that took: counted while `kernel.bpf_stats_enabled` is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCount {
    /// The hook, as `cong_avoid`.
    pub hook: String,
    /// Calls.
    pub calls: u64,
    /// The time that they took, nanoseconds.
    pub time_ns: u64,
}

/// What keeps an algorithm registered with the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// A file of the BPF file system.
    Pin(PathBuf),
    /// A process, until it ends: its number and its name.
    Process(u32, String),
    /// A link that is neither pinned here nor held by a process that can be seen.
    Elsewhere,
    /// Nothing: no socket can ask for it by name any more. Sockets that have it keep it in the kernel, and so does a
    /// network namespace whose default it is.
    Nothing,
}

impl fmt::Display for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keeper::Pin(path) => write!(f, "kept by {}", path.display()),
            Keeper::Process(id, name) => write!(f, "kept by process {id} ({name}), until it ends"),
            Keeper::Elsewhere => f.write_str(
                "kept by a link that is not visible here (another BPF file system or PID namespace)",
            ),
            Keeper::Nothing => f.write_str("not pinned; sockets or a default keep it"),
        }
    }
}

impl LoadedObject {
    /// Whether it is this program's algorithm with these parameters.
    pub fn is(&self, algorithm: &KernelAlgorithm, parameters: &Values) -> bool {
        std::ptr::eq(self.algorithm, algorithm)
            && self.source.as_deref() == Some(algorithm.source)
            && self.parameters.as_ref() == Some(parameters)
    }

    /// Returns its parameters, and the beginning of its digest.
    pub fn description(&self) -> String {
        let (Some(source), Some(parameters)) = (&self.source, &self.parameters) else {
            return "by an older cwnd".to_owned();
        };
        let parameters = self.algorithm.describe(parameters);
        let with = if parameters.is_empty() { "default parameters".to_owned() } else { parameters };
        format!("{with}, source {}", &source[..12])
    }
}

/// Whether this process may see what is loaded ([`loaded`]).
pub fn sees_loaded() -> bool {
    let mut first = 0;
    // SAFETY: a call with plain numbers, which writes one.
    unsafe { libbpf_sys::bpf_map_get_next_id(0, &raw mut first) != -libc::EPERM }
}

/// The algorithms of cwnd that the kernel has, by their numbers. Only root can see any.
///
/// # Errors
/// The kernel does not show its types.
pub fn loaded() -> Result<Vec<LoadedObject>, LoadError> {
    let maps = || MapInfoIter::default().filter(|map| map.ty == MapType::StructOps);
    if maps().next().is_none() {
        return Ok(Vec::new());
    }
    let value = Value::of_this_kernel()?;
    let links = links();
    let mut pins = pins();
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let programs: BTreeMap<u32, ProgramInfo> =
        ProgInfoIter::with_query_opts(options).map(|program| (program.id, program)).collect();
    let now = since_boot();
    let constants: BTreeMap<u32, Constants> = MapInfoIter::default()
        .filter(|map| map.name.to_string_lossy().contains(CONSTANTS_MAP))
        .filter_map(|map| Some((map.id, Constants::read(&content(map.id)?)?)))
        .collect();
    let mut found = Vec::new();
    for map in maps() {
        let name = map.name.to_string_lossy();
        let file = name.strip_suffix("_two").unwrap_or(&name);
        let Some(algorithm) = all().iter().find(|algorithm| algorithm.file == file) else { continue };
        // One that goes away meanwhile is not loaded.
        let Some(bytes) = content(map.id) else { continue };
        let Some(kernel_name) = value.name(&bytes).filter(|name| name.starts_with("cwnd_")) else { continue };
        let hooks: Vec<(&str, &ProgramInfo)> = value
            .programs(&bytes)
            .filter_map(|(hook, program)| Some((hook, programs.get(&program)?)))
            .collect();
        let mut maps = hooks.iter().flat_map(|(_, program)| &program.map_ids);
        let constants = maps.find_map(|map| constants.get(map));
        let keeper = match links.get(&map.id) {
            None => Keeper::Nothing,
            Some(link) => pins.remove(link).map(Keeper::Pin).unwrap_or_else(|| holder(*link)),
        };
        found.push(LoadedObject {
            id: map.id,
            kernel_name,
            algorithm,
            source: constants.map(|constants| hexadecimal(&constants.source)),
            parameters: constants.map(|constants| constants.parameters),
            keeper,
            age: hooks.first().and_then(|(_, program)| now?.checked_sub(program.load_time)),
            programs: hooks.iter().map(|(hook, program)| ProgramCount::new(hook, program)).collect(),
        });
    }
    Ok(found)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the first value of a map.
pub(super) fn content(map: u32) -> Option<Vec<u8>> {
    MapHandle::from_map_id(map).ok()?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()?
}

impl ProgramCount {
    fn new(hook: &str, program: &ProgramInfo) -> ProgramCount {
        ProgramCount { hook: hook.to_owned(), calls: program.run_cnt, time_ns: program.run_time_ns }
    }
}

/// The time since the host was booted, on the clock of a program's load time.
fn since_boot() -> Option<Duration> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is one of plain numbers.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut now) };
    (done == 0).then(|| Duration::new(now.tv_sec as u64, now.tv_nsec as u32))
}

/// The hooks of `tcp_congestion_ops` that algorithms have.
const HOOKS: [&str; 9] = [
    "ssthresh",
    "cong_avoid",
    "set_state",
    "cwnd_event",
    TX_START_HOOK,
    "pkts_acked",
    "cong_control",
    "undo_cwnd",
    "init",
];

/// Where the kernel's value of such a map has what is looked for.
struct Value {
    name: usize,
    /// What stands there is the number of the hook's program; 0 for none.
    hooks: Vec<(&'static str, usize)>,
}

impl Value {
    fn of_this_kernel() -> Result<Value, LoadError> {
        let read = || {
            let btf = Btf::from_vmlinux().ok()?;
            let data = types::offset(&btf, "bpf_struct_ops_tcp_congestion_ops", "data")?;
            let at = |member| Some(data + types::offset(&btf, "tcp_congestion_ops", member)?);
            let hooks = HOOKS.iter().filter_map(|hook| Some((*hook, at(hook)?))).collect();
            Some(Value { name: at("name")?, hooks })
        };
        read().ok_or_else(|| {
            LoadError::Kernel("the kernel's types of congestion control cannot be read".into())
        })
    }

    fn name(&self, bytes: &[u8]) -> Option<String> {
        let field = bytes.get(self.name..self.name + super::object::NAME_SIZE)?;
        let end = field.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&field[..end]).into_owned())
    }

    /// The hooks that have a program, and its number.
    fn programs(&self, bytes: &[u8]) -> impl Iterator<Item = (&'static str, u32)> {
        self.hooks.iter().filter_map(|(hook, at)| {
            let id = u32::from_ne_bytes(bytes.get(*at..at + 4)?.try_into().ok()?);
            (id != 0).then_some((*hook, id))
        })
    }
}

/// The link of each map that one registers.
fn links() -> BTreeMap<u32, u32> {
    let of_map = |link: libbpf_rs::query::LinkInfo| match link.info {
        LinkTypeInfo::StructOps(info) => Some((info.map_id, link.id)),
        _ => None,
    };
    LinkInfoIter::default().filter_map(of_map).collect()
}

/// The file of each link that is pinned where cwnd pins.
fn pins() -> BTreeMap<u32, PathBuf> {
    // A folder there has other links.
    let entries = fs::read_dir(PINS).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| path.is_file());
    files.filter_map(|path| Some((Link::open(&path).ok()?.info().ok()?.id, path))).collect()
}

/// The process that holds a link.
pub(super) fn holder(link: u32) -> Keeper {
    let line = format!("link_id:\t{link}");
    let holds = |process: &Path| {
        let descriptors = fs::read_dir(process.join("fdinfo")).into_iter().flatten().flatten();
        let mut texts = descriptors.filter_map(|entry| fs::read_to_string(entry.path()).ok());
        texts.any(|text| text.lines().any(|other| other == line))
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())));
    let mut holders = ids.filter(|(_, path): &(u32, PathBuf)| holds(path));
    holders.next().map_or(Keeper::Elsewhere, |(id, path)| {
        let name = fs::read_to_string(path.join("comm")).unwrap_or_default();
        Keeper::Process(id, name.trim().to_owned())
    })
}
