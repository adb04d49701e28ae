//! The congestion control of sockets that ask for none, which every network namespace has its own of.

use super::{LoadError, sockets};
use std::{
    fs, io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

const SETTING: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
/// What it was before; gone at a reboot, as what is loaded is.
const MEMORY: &str = "/run/cwnd";
/// What every kernel has, and every namespace may take.
const LAST_RESORT: &str = "reno";
/// The name of a file in [`MEMORY`], which the number of its network namespace follows.
const FILE: &str = "default-before.";
/// This network namespace, in words.
const OWN: &str = "this network namespace";

/// Reports whether this network namespace may take that congestion control as its default.
///
/// It is asked before anything is written: a kernel that refuses a default keeps a reference to it for ever, and with it the
/// algorithm's programs (seen on 6.18).
///
/// # Errors
/// What must be done before.
pub fn check_default(kernel_name: &str) -> Result<(), LoadError> {
    if may_be_default(kernel_name)? {
        return Ok(());
    }
    Err(LoadError::Kernel(format!(
        "{kernel_name} cannot be the default of this network namespace: outside of the host's own one only those can \
         that every user may take. Load it there, without --default; add it there to \
         net.ipv4.tcp_allowed_congestion_control; then set net.ipv4.tcp_congestion_control here"
    )))
}

fn may_be_default(kernel_name: &str) -> Result<bool, LoadError> {
    let about = fs::metadata(ALLOWED).map_err(|error| failed(Path::new(ALLOWED), &error))?;
    // Only the host's own namespace can write this setting, and only there everything registered can be the default.
    if about.permissions().mode() & 0o222 != 0 {
        return Ok(true);
    }
    let allowed = fs::read_to_string(ALLOWED).map_err(|error| failed(Path::new(ALLOWED), &error))?;
    Ok(allowed.split_whitespace().any(|name| name == kernel_name))
}

/// Make a loaded algorithm the default of this network namespace, and remember what was.
///
/// # Errors
/// It cannot be the default here, or the setting cannot be written; nothing has changed then.
pub fn make_default(kernel_name: &str) -> Result<(), LoadError> {
    check_default(kernel_name)?;
    let before = setting()?;
    if before == kernel_name {
        // Written again: the name may be that of other operations now.
        return write(kernel_name);
    }
    let former = Former::read()?;
    former.with(kernel_name, &before).write()?;
    write(kernel_name).inspect_err(|_| {
        let _ = former.write();
    })
}

/// A default that has been put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Where, in words.
    pub namespace: String,
    /// The default there now.
    pub name: String,
}

/// In each network namespace whose default the algorithm is, put back what was before it. Returns what was put back.
///
/// # Errors
/// A setting cannot be written.
pub fn restore_default(kernel_name: &str) -> Result<Vec<Restored>, LoadError> {
    // This one first, of which it is known that it can be entered.
    let here = restore_here(kernel_name)?;
    let here = here.map(|name| Restored { namespace: OWN.to_owned(), name });
    let elsewhere = sockets::in_each_namespace(|path| {
        let name = restore_here(kernel_name)?;
        Ok(name.map(|name| Restored { namespace: other(path), name }))
    });
    let elsewhere = elsewhere.into_iter().collect::<Result<Vec<_>, LoadError>>()?;
    forget_gone();
    Ok(here.into_iter().chain(elsewhere.into_iter().flatten()).collect())
}

/// Returns what was put back; nothing if another congestion control is the default.
fn restore_here(kernel_name: &str) -> Result<Option<String>, LoadError> {
    let former = Former::read()?;
    let rest = former.without(kernel_name);
    if setting()? != kernel_name {
        // Whoever set another one since has decided what it is.
        if rest != former {
            rest.write()?;
        }
        return Ok(None);
    }
    let before = former.before(kernel_name)?;
    fs::write(SETTING, &before).map_err(|error| {
        LoadError::Kernel(format!(
            "{kernel_name} is the default, and {before} cannot be put back in its place: {error}; set another with `sysctl \
             net.ipv4.tcp_congestion_control={LAST_RESORT}`, and unload it again"
        ))
    })?;
    rest.write()?;
    Ok(Some(before))
}

/// The defaults that this network namespace had before those that were set here: each with the one before it, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Former(Vec<(String, String)>);

impl Former {
    fn read() -> Result<Former, LoadError> {
        let text = fs::read_to_string(memory()?).unwrap_or_default();
        let pair =
            |line: &str| line.split_once(' ').map(|(name, before)| (name.to_owned(), before.to_owned()));
        Ok(Former(text.lines().filter_map(pair).collect()))
    }

    fn write(&self) -> Result<(), LoadError> {
        let memory = memory()?;
        if self.0.is_empty() {
            let _ = fs::remove_file(memory);
            // The last one leaves no folder.
            let _ = fs::remove_dir(MEMORY);
            return Ok(());
        }
        let text: String = self.0.iter().map(|(name, before)| format!("{name} {before}\n")).collect();
        let written = fs::create_dir_all(MEMORY).and_then(|()| fs::write(&memory, text));
        written.map_err(|error| failed(&memory, &error))
    }

    /// Adds that `before` was the default before `name`.
    fn with(&self, name: &str, before: &str) -> Former {
        let mut with = self.without(name);
        with.0.push((name.to_owned(), before.to_owned()));
        with
    }

    /// Leaves one out: what came after it came after the one before it.
    fn without(&self, name: &str) -> Former {
        let Some((_, before)) = self.0.iter().find(|(other, _)| other == name) else { return self.clone() };
        let rest = self.0.iter().filter(|(other, _)| other != name);
        let pair = |(other, of_other): &(String, String)| {
            (other.clone(), if of_other == name { before } else { of_other }.clone())
        };
        // One that was the default before and after it is not its own predecessor.
        Former(rest.map(pair).filter(|(other, before)| other != before).collect())
    }

    /// Returns what was the default before `name`, and is there and permitted.
    fn before(&self, name: &str) -> Result<String, LoadError> {
        let there = super::registered();
        let (mut rest, mut name) = (self.clone(), name.to_owned());
        while let Some((_, before)) = rest.0.iter().find(|(other, _)| *other == name).cloned() {
            if there.contains(&before) && may_be_default(&before)? {
                return Ok(before);
            }
            rest.0.retain(|(other, _)| *other != name);
            name = before;
        }
        Ok(LAST_RESORT.to_owned())
    }
}

/// Removes what is remembered of network namespaces that are gone, whose numbers others may get.
fn forget_gone() {
    let there = sockets::namespace_inodes();
    let of = |entry: &fs::DirEntry| entry.file_name().to_str()?.strip_prefix(FILE)?.parse::<u64>().ok();
    for entry in fs::read_dir(MEMORY).into_iter().flatten().flatten() {
        if of(&entry).is_some_and(|inode| !there.contains(&inode)) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir(MEMORY);
}

/// Returns whether every user may select the congestion control (`net.ipv4.tcp_allowed_congestion_control`).
pub fn is_allowed(kernel_name: &str) -> bool {
    let allowed = fs::read_to_string(ALLOWED).unwrap_or_default();
    allowed.split_whitespace().any(|name| name == kernel_name)
}

/// Makes the settings that name a congestion control mean the operations that are registered under this name now.
///
/// A replaced one (`install`) is still the default where it was, since the kernel keeps the default as a pointer to the operations.
/// Whether every user may select it is a flag of the operations, which new ones do not have.
///
/// # Errors
/// A setting cannot be written.
pub fn renew(kernel_name: &str, allowed: bool) -> Result<(), LoadError> {
    if allowed {
        let written = sockets::in_each_namespace(|_| allow_here(kernel_name));
        written.into_iter().collect::<Result<Vec<()>, LoadError>>()?;
    }
    let renewed =
        sockets::in_each_namespace(|_| match setting()? == kernel_name && may_be_default(kernel_name)? {
            true => write(kernel_name),
            false => Ok(()),
        });
    renewed.into_iter().collect()
}

/// Adds it to the list of those that every user may select, in the host's own namespace. Does nothing in others.
fn allow_here(kernel_name: &str) -> Result<(), LoadError> {
    let path = Path::new(ALLOWED);
    let about = fs::metadata(path).map_err(|error| failed(path, &error))?;
    if about.permissions().mode() & 0o222 == 0 || is_allowed(kernel_name) {
        return Ok(());
    }
    let before = fs::read_to_string(path).map_err(|error| failed(path, &error))?;
    let list = format!("{} {kernel_name}", before.trim());
    fs::write(path, list).map_err(|error| failed(path, &error))
}

/// The network namespaces whose default it is, in words.
pub fn default_of(kernel_name: &str) -> Vec<String> {
    let own = memory().ok();
    let words = |path: &Path| if memory().ok() == own { OWN.to_owned() } else { other(path) };
    let here = |path: &Path| setting().is_ok_and(|setting| setting == kernel_name).then(|| words(path));
    sockets::in_each_namespace(here).into_iter().flatten().collect()
}

/// Returns the default of this network namespace.
pub fn default_here() -> Option<String> {
    setting().ok()
}

/// Another network namespace, in words.
fn other(path: &Path) -> String {
    format!("the network namespace {}", path.display())
}

fn write(kernel_name: &str) -> Result<(), LoadError> {
    fs::write(SETTING, kernel_name).map_err(|error| failed(Path::new(SETTING), &error))
}

fn setting() -> Result<String, LoadError> {
    let text = fs::read_to_string(SETTING).map_err(|error| failed(Path::new(SETTING), &error))?;
    Ok(text.trim().to_owned())
}

/// Where this network namespace's former default is kept.
fn memory() -> Result<PathBuf, LoadError> {
    const NAMESPACE: &str = "/proc/thread-self/ns/net";
    let about = fs::metadata(NAMESPACE).map_err(|error| failed(Path::new(NAMESPACE), &error))?;
    Ok(Path::new(MEMORY).join(format!("{FILE}{}", about.ino())))
}

fn failed(path: &Path, error: &io::Error) -> LoadError {
    LoadError::Kernel(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn former(pairs: &[(&str, &str)]) -> Former {
        Former(pairs.iter().map(|(name, before)| ((*name).to_owned(), (*before).to_owned())).collect())
    }

    #[test]
    fn what_came_after_one_that_goes_came_after_the_one_before_it() {
        let two = Former::default().with("cwnd_agile", "bbr").with("cwnd_htcp", "cwnd_agile");
        assert_eq!(two, former(&[("cwnd_agile", "bbr"), ("cwnd_htcp", "cwnd_agile")]));
        assert_eq!(two.without("cwnd_agile"), former(&[("cwnd_htcp", "bbr")]));
        assert_eq!(two.without("cwnd_htcp"), former(&[("cwnd_agile", "bbr")]));
        assert_eq!(two.without("cubic"), two);
        // The first again: it was the default before and after the second.
        let again = two.with("cwnd_agile", "cwnd_htcp");
        assert_eq!(again, former(&[("cwnd_htcp", "bbr"), ("cwnd_agile", "cwnd_htcp")]));
        assert_eq!(again.without("cwnd_htcp"), former(&[("cwnd_agile", "bbr")]));
        assert_eq!(former(&[("a", "b"), ("b", "a")]).without("a"), Former::default());
    }

    #[test]
    fn what_is_not_there_is_not_put_back() {
        let of = former(&[("cwnd_first", "reno"), ("cwnd_second", "cwnd_first")]);
        assert_eq!(of.before("cwnd_second").unwrap(), "reno");
        assert_eq!(of.before("cwnd_third").unwrap(), LAST_RESORT);
        assert_eq!(former(&[("a", "b"), ("b", "a")]).before("a").unwrap(), LAST_RESORT);
    }
}
