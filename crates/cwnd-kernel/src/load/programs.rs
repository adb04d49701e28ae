//! The programs of `host/`, which are no congestion controls: embedded, and loaded with the names that they need.

use super::{LoadError, Messages, host, object::NAME_SIZE};
use libbpf_rs::{Link, Object, ObjectBuilder, ProgramMut};
use std::{
    ffi::CString,
    fs::{self, File},
    os::{
        fd::{AsFd, AsRawFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
};

/// An object of `host/`.
#[derive(Debug)]
pub struct HostProgram {
    /// The name of its C file.
    pub file: &'static str,
    pub(super) object: &'static [u8],
}

macro_rules! host_program {
    ($file:literal) => {{
        // The loader reads words, so the bytes begin at one.
        #[repr(C, align(8))]
        struct Aligned<T: ?Sized>(T);
        static OBJECT: &Aligned<[u8]> =
            &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".bpf.o")));
        HostProgram { file: $file, object: &OBJECT.0 }
    }};
}

/// Selects a congestion control for the connections of a cgroup.
pub static SELECT: HostProgram = host_program!("select");
/// Gives a share of a cgroup's connections another congestion control, and counts.
pub static CANARY: HostProgram = host_program!("canary");
/// Reads sockets.
pub static SOCKETS: HostProgram = host_program!("sockets");

impl HostProgram {
    /// Returns all of them.
    pub fn all() -> [&'static HostProgram; 3] {
        [&SELECT, &CANARY, &SOCKETS]
    }

    /// Loads it, with its constants if it has any.
    ///
    /// # Errors
    /// What this host lacks, or what the kernel refused.
    pub(super) fn load(&self, constants: Option<&[u8]>) -> Result<Object, LoadError> {
        let missing = host::missing();
        if !missing.is_empty() {
            return Err(LoadError::Host(missing));
        }
        let quiet = Messages::collect();
        let refused =
            |error: libbpf_rs::Error| LoadError::refused("load the program", self.file, &error, &quiet);
        let mut open = ObjectBuilder::default().open_memory(self.object).map_err(refused)?;
        if let Some(constants) = constants {
            let mut maps = open.maps_mut();
            let mut map = maps
                .find(|map| map.name().to_string_lossy().contains(".rodata"))
                .expect("an object with constants has a map of them");
            map.set_initial_value(constants).map_err(refused)?;
        }
        open.load().map_err(refused)
    }
}

/// Returns the only program of an object.
pub fn only_program(object: &mut Object) -> ProgramMut<'_> {
    object.progs_mut().next().expect("each object of host/ has a program")
}

/// Attaches a program to a cgroup.
pub fn attach(object: &mut Object, cgroup: &Cgroup) -> Result<Link, LoadError> {
    let failed = |error: String| {
        LoadError::Kernel(format!("the kernel refused the program in {}: {error}", cgroup.path.display()))
    };
    let directory = File::open(&cgroup.path).map_err(|error| failed(error.to_string()))?;
    let quiet = Messages::collect();
    only_program(object)
        .attach_cgroup(directory.as_fd().as_raw_fd())
        .map_err(|error| failed(format!("{error}{}", quiet.text())))
}

/// A name as the programs take it.
///
/// # Errors
/// No congestion control of that name is registered.
pub fn registered_name(name: &str) -> Result<[u8; NAME_SIZE], LoadError> {
    let registered = host::registered();
    if name.len() >= NAME_SIZE || !registered.iter().any(|other| other == name) {
        return Err(LoadError::Parameter(format!(
            "`{name}` is no congestion control of this host: it has {}; `cwnd kernel load` loads more",
            registered.join(", ")
        )));
    }
    let mut bytes = [0; NAME_SIZE];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    Ok(bytes)
}

/// A control group (version 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    /// Its directory.
    pub path: PathBuf,
    /// The kernel's number of it.
    pub id: u64,
}

/// `statfs` of a cgroup2 file system.
const CGROUP2_MAGIC: i64 = 0x6367_7270;

impl Cgroup {
    /// Finds a cgroup by its directory: absolute, or below the mount point of cgroup2. `/` alone is the root of all.
    ///
    /// # Errors
    /// There is no such cgroup, or it is one of version 1.
    pub fn find(path: &Path) -> Result<Cgroup, LoadError> {
        let wrong = |why: String| LoadError::Parameter(format!("cgroup {}: {why}", path.display()));
        let mount =
            Cgroup::mount().ok_or_else(|| wrong("this host has no cgroup2 file system".to_owned()))?;
        let directory = match path.strip_prefix("/").unwrap_or(path) {
            _ if path.starts_with(&mount) => path.to_owned(),
            // Without a slash at the end.
            below if below.as_os_str().is_empty() => mount,
            below => mount.join(below),
        };
        let about =
            fs::metadata(&directory).map_err(|error| wrong(format!("{}: {error}", directory.display())))?;
        if !about.is_dir() || !is_cgroup2(&directory) {
            return Err(wrong(format!("{} is no cgroup2 directory", directory.display())));
        }
        Ok(Cgroup { path: directory, id: about.ino() })
    }

    /// Finds a cgroup by its number.
    pub(super) fn of_id(id: u64) -> Option<Cgroup> {
        let mut directories = vec![Cgroup::mount()?];
        while let Some(path) = directories.pop() {
            if fs::metadata(&path).is_ok_and(|about| about.ino() == id) {
                return Some(Cgroup { path, id });
            }
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            directories.extend(below.map(|entry| entry.path()));
        }
        None
    }

    /// Returns where cgroup2 is mounted.
    pub fn mount() -> Option<PathBuf> {
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let of_line = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            (words.get(2) == Some(&"cgroup2")).then(|| PathBuf::from(words[1].replace("\\040", " ")))
        };
        mounts.lines().find_map(of_line)
    }
}

fn is_cgroup2(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_encoded_bytes()) else { return false };
    // SAFETY: the string ends in zero, and the structure is one of plain numbers.
    unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        libc::statfs(path.as_ptr(), &raw mut about) == 0 && about.f_type as i64 == CGROUP2_MAGIC
    }
}
