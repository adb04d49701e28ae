//! Namespaces that other programs find by name (`ip netns exec NAME`), for as long as the process that named them.
//!
//! A name is a mount, which outlives a process that is killed. So it is written down, with the process that it belongs to, before
//! it is given, and whoever comes next takes away those of processes that are no more.

use crate::namespace::Namespace;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
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
        clean_up();
        let path = Path::new(NAMES).join(name);
        if path.exists() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!(
                    "there is a network namespace `{name}` already (`ip netns list`): choose another name"
                ),
            ));
        }
        fs::create_dir_all(NAMES)?;
        fs::create_dir_all(RECORDS)?;
        fs::write(
            Path::new(RECORDS).join(name),
            format!("{} {}", std::process::id(), began(std::process::id())),
        )?;
        let named = Named { name: name.to_owned() };
        fs::File::create_new(&path)?;
        let from = c_path(Path::new(&format!("/proc/self/fd/{}", namespace.as_fd().as_raw_fd())));
        let to = c_path(&path);
        // SAFETY: both paths end with a zero and live as long as the call; the others are not used by a bind mount.
        let done = unsafe {
            let nothing = std::ptr::null();
            libc::mount(from.as_ptr(), to.as_ptr(), nothing, libc::MS_BIND, nothing.cast())
        };
        if done == 0 { Ok(named) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        remove(&self.name);
    }
}

/// Take away names of processes that are no more. Answers which.
pub fn clean_up() -> Vec<String> {
    let Ok(records) = fs::read_dir(RECORDS) else { return Vec::new() };
    let mut gone = Vec::new();
    for record in records.flatten() {
        let owner = fs::read_to_string(record.path()).unwrap_or_default();
        let (id, time) = owner.split_once(' ').unwrap_or_default();
        // Another process may have the number by now; it began at another time.
        let lives = id.parse().is_ok_and(|id: u32| !time.is_empty() && began(id) == time);
        if !lives {
            let name = record.file_name().to_string_lossy().into_owned();
            remove(&name);
            gone.push(name);
        }
    }
    gone
}

fn remove(name: &str) {
    let path: PathBuf = Path::new(NAMES).join(name);
    let path_c = c_path(&path);
    // SAFETY: the path ends with a zero and lives as long as the call.
    unsafe { libc::umount2(path_c.as_ptr(), libc::MNT_DETACH) };
    // What is not there any more need not be removed.
    let _ = fs::remove_file(&path);
    let _ = fs::remove_file(Path::new(RECORDS).join(name));
    let _ = fs::remove_dir(RECORDS);
}

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("names have no zeros: they are checked as file names")
}

/// When a process began, in ticks since the machine was started; nothing if there is none.
fn began(process: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field is the program's name in brackets, and may have spaces in it.
    let after = stat.rsplit_once(") ").map(|(_, after)| after).unwrap_or_default();
    after.split(' ').nth(19).unwrap_or_default().to_owned()
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
    }

    #[test]
    fn names_are_file_names() {
        assert_eq!(check_name("cwnd-a"), Ok(()));
        for bad in ["", "a/b", "..", ".hidden", "a b", "a\0b"] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
