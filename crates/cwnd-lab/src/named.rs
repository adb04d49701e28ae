//! Namespaces that other programs find by name (`ip netns exec NAME`), for as long as the process that named them.
//!
//! A name is a mount, which outlives a process that is killed. So it is recorded, with the process that it belongs to, and
//! whoever comes next takes away those of processes that are no more. One process at a time gives names or takes them away.

use crate::forwarding;
use crate::namespace::Namespace;
use std::ffi::CString;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Where `ip netns` looks.
const NAMES: &str = "/run/netns";

/// Where names are written down: a file a name, with its process.
const RECORDS: &str = "/run/cwnd-lab";

/// A name of a namespace. It goes away when this is dropped.
#[derive(Debug)]
pub struct Named {
    name: String,
}

impl Named {
    /// Give a namespace a name.
    ///
    /// # Errors
    /// If it is taken, or names cannot be given.
    pub fn new(name: &str, namespace: &Namespace) -> io::Result<Named> {
        let records = Records::open()?;
        records.clean_up();
        fs::create_dir_all(NAMES)?;
        let path = Path::new(NAMES).join(name);
        let taken = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => io::Error::new(
                error.kind(),
                format!(
                    "there is a network namespace `{name}` already (`ip netns list`): choose another name"
                ),
            ),
            _ => error,
        };
        // Recorded first, so that a process that is killed between leaves no name without a record. Both files are made only
        // where there is none, and only who made both takes both away.
        records.add(name).map_err(taken)?;
        if let Err(error) = fs::File::create_new(&path) {
            let _ = fs::remove_file(Path::new(RECORDS).join(name));
            return Err(taken(error));
        }
        let named = Named { name: name.to_owned() };
        let given = mount(namespace, &path);
        // Taking it away waits for the records.
        drop(records);
        given.map(|()| named)
    }
}

fn mount(namespace: &Namespace, path: &Path) -> io::Result<()> {
    let from = c_path(Path::new(&format!("/proc/self/fd/{}", namespace.as_fd().as_raw_fd())));
    let to = c_path(path);
    // SAFETY: both paths end with a zero and live as long as the call; the others are not used by a bind mount.
    let done = unsafe {
        let nothing = std::ptr::null();
        libc::mount(from.as_ptr(), to.as_ptr(), nothing, libc::MS_BIND, nothing.cast())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

impl Drop for Named {
    fn drop(&mut self) {
        // Without the records nobody else touches names either.
        let records = Records::open();
        remove(&self.name);
        drop(records);
    }
}

/// The folder of records, for one process at a time while this lives.
pub(crate) struct Records {
    _lock: fs::File,
}

impl Records {
    /// Waits for those that have it.
    pub(crate) fn open() -> io::Result<Records> {
        loop {
            let failed = |error: io::Error| io::Error::new(error.kind(), format!("{RECORDS}: {error}"));
            // Who can open it can lock it.
            fs::DirBuilder::new().recursive(true).mode(0o700).create(RECORDS).map_err(failed)?;
            let folder = match fs::File::open(RECORDS) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                folder => folder.map_err(failed)?,
            };
            // SAFETY: a call with plain numbers; the lock is gone with the file.
            if unsafe { libc::flock(folder.as_raw_fd(), libc::LOCK_EX) } != 0 {
                return Err(io::Error::last_os_error());
            }
            // Whoever had it may have taken the folder away, and another may have made it again.
            if fs::metadata(RECORDS)
                .is_ok_and(|there| Some(there.ino()) == folder.metadata().ok().map(|own| own.ino()))
            {
                return Ok(Records { _lock: folder });
            }
        }
    }

    /// Records that a name is this process's, in its network namespace.
    pub(crate) fn add(&self, name: &str) -> io::Result<()> {
        let id = std::process::id();
        let mut record = fs::File::create_new(Path::new(RECORDS).join(name))?;
        write!(record, "{id} {} {}", began(id), own_network())
    }

    /// Removes what processes have left that are no more. Returns the names. A device to the outside and its rules can be removed only in the
    /// network namespace that has them. If that is gone, so are they, and the record alone is left.
    pub(crate) fn clean_up(&self) -> Vec<String> {
        let mut gone = Vec::new();
        for record in entries(Path::new(RECORDS)) {
            let owner = fs::read_to_string(record.path()).unwrap_or_default();
            let mut words = owner.split(' ');
            let [id, time, network] = std::array::from_fn(|_| words.next().unwrap_or_default());
            // Another process may have the number by now; it began at another time.
            let lives = id.parse().is_ok_and(|id: u32| !time.is_empty() && began(id) == time);
            let name = record.file_name().to_string_lossy().into_owned();
            let is_device = name.starts_with(forwarding::DEVICE);
            let is_here = network == own_network();
            if lives || (is_device && !is_here && network_lives(network)) {
                continue;
            }
            if is_device && is_here {
                forwarding::close(&name);
            }
            // Last: if this process is killed before, the record tells the next one.
            remove(&name);
            gone.push(name);
        }
        gone
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        // The last name leaves no folder.
        let _ = fs::remove_dir(RECORDS);
    }
}

/// Take away names of processes that are no more. Returns which.
pub fn clean_up() -> Vec<String> {
    // Where there are no records, there is nothing to do, and without root nothing can be done.
    if !Path::new(RECORDS).exists() {
        return Vec::new();
    }
    Records::open().map_or_else(|_| Vec::new(), |records| records.clean_up())
}

/// The records are this process's meanwhile.
pub(crate) fn remove(name: &str) {
    let path: PathBuf = Path::new(NAMES).join(name);
    let path_c = c_path(&path);
    // SAFETY: the path ends with a zero and lives as long as the call.
    unsafe { libc::umount2(path_c.as_ptr(), libc::MNT_DETACH) };
    // What is not there any more need not be removed.
    let _ = fs::remove_file(&path);
    let _ = fs::remove_file(Path::new(RECORDS).join(name));
}

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("names have no zeros: they are checked as file names")
}

/// The network namespace of this process, as `/proc` names it.
fn own_network() -> String {
    let link = fs::read_link("/proc/self/ns/net").unwrap_or_default();
    link.to_string_lossy().into_owned()
}

/// Whether a network namespace is still there, as far as this process may read: a thread is in it, a process has it open, or it has a name.
/// Some processes hide theirs even from root, such as a container's first one that has more rights than its others.
fn network_lives(network: &str) -> bool {
    let is_process = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().parse::<u32>().is_ok();
    // A process that was killed before its record was complete had made nothing.
    !network.is_empty()
        && entries(Path::new("/proc")).filter(is_process).any(|process| has_network(&process.path(), network))
}

fn has_network(process: &Path, network: &str) -> bool {
    let is_it = |link: &Path| fs::read_link(link).is_ok_and(|target| target.as_os_str() == network);
    // A name is a mount, of which this is the root.
    let has_name = || fs::read_to_string(process.join("mountinfo")).is_ok_and(|text| text.contains(network));
    entries(&process.join("task")).any(|task| is_it(&task.path().join("ns/net")))
        || entries(&process.join("fd")).any(|descriptor| is_it(&descriptor.path()))
        || has_name()
}

/// What a folder has in it; nothing of one that cannot be read.
fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// When a process began, in ticks since the machine was started; nothing if there is none, or if it has ended and its parent has not
/// waited for it.
fn began(process: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field is the program's name in brackets, and may have spaces in it.
    let after = stat.rsplit_once(") ").map(|(_, after)| after).unwrap_or_default();
    let mut fields = after.split(' ');
    if fields.next().is_some_and(|state| ["Z", "X"].contains(&state)) {
        return String::new();
    }
    fields.nth(18).unwrap_or_default().to_owned()
}

/// Whether something can be the name of a namespace.
///
/// # Errors
/// What is wrong with it.
pub fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 60 || name.starts_with('.') || !name.chars().all(plain) {
        return Err(format!("`{name}` cannot be a name: letters, digits, `-`, `_` and `.`, at most 60"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_told_apart_by_when_they_began() {
        let own = began(std::process::id());
        assert!(own.parse::<u64>().is_ok(), "{own}");
        assert_eq!(began(u32::MAX), "");
        // One that has ended is none, before its parent waits for it as well.
        let mut ended = std::process::Command::new("sleep").arg("0").spawn().unwrap();
        let patience = std::time::Instant::now();
        while !began(ended.id()).is_empty() {
            assert!(patience.elapsed().as_secs() < 20, "{}", began(ended.id()));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(ended.wait().unwrap().success());
    }

    #[test]
    fn a_network_namespace_lives_while_a_process_has_it() {
        assert!(network_lives(&own_network()));
        assert!(!network_lives("net:[1]") && !network_lives(""));
        // Open, although no thread is in it.
        let Ok(namespace) = Namespace::new() else { return };
        let network = fs::read_link(namespace.path()).unwrap();
        let network = network.to_str().unwrap();
        assert!(network.starts_with("net:[") && network_lives(network), "{network}");
    }

    #[test]
    fn names_are_file_names() {
        assert_eq!(check_name("cwnd-a"), Ok(()));
        for bad in ["", "a/b", "..", ".hidden", "a b", "a\0b"] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
