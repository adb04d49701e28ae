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
    // A second default keeps the memory of the first: that is what was there without cwnd.
    let remembered = !before.starts_with("cwnd_");
    if remembered {
        remember(&before)?;
    }
    fs::write(SETTING, kernel_name).map_err(|error| {
        if remembered {
            forget();
        }
        failed(Path::new(SETTING), &error)
    })
}

fn remember(before: &str) -> Result<(), LoadError> {
    let memory = memory()?;
    let written = fs::create_dir_all(MEMORY).and_then(|()| fs::write(&memory, before));
    written.map_err(|error| failed(&memory, &error))
}

fn forget() {
    if let Ok(memory) = memory() {
        let _ = fs::remove_file(memory);
        // The last one leaves no folder.
        let _ = fs::remove_dir(MEMORY);
    }
}

/// In each network namespace whose default the algorithm is, put back what was before it.
///
/// # Errors
/// A setting cannot be written.
pub fn restore_default(kernel_name: &str) -> Result<(), LoadError> {
    // This one first, of which it is known that it can be entered.
    restore_here(kernel_name)?;
    sockets::in_each_namespace(|_| restore_here(kernel_name)).into_iter().collect()
}

fn restore_here(kernel_name: &str) -> Result<(), LoadError> {
    if setting()? != kernel_name {
        return Ok(());
    }
    let before = fs::read_to_string(memory()?).unwrap_or_default().trim().to_owned();
    let usable = !before.is_empty() && may_be_default(&before)?;
    let before = if usable { before.as_str() } else { LAST_RESORT };
    fs::write(SETTING, before).map_err(|error| {
        LoadError::Kernel(format!(
            "{kernel_name} is the default, and {before} cannot be put back in its place: {error}; set another with `sysctl \
             net.ipv4.tcp_congestion_control={LAST_RESORT}`, and unload it again"
        ))
    })?;
    forget();
    Ok(())
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
            true => fs::write(SETTING, kernel_name).map_err(|error| failed(Path::new(SETTING), &error)),
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
    let words = |path: &Path| match memory().ok() == own {
        true => "this network namespace".to_owned(),
        false => format!("the network namespace {}", path.display()),
    };
    let here = |path: &Path| setting().is_ok_and(|setting| setting == kernel_name).then(|| words(path));
    sockets::in_each_namespace(here).into_iter().flatten().collect()
}

/// Returns the default of this network namespace.
pub fn default_here() -> Option<String> {
    setting().ok()
}

fn setting() -> Result<String, LoadError> {
    let text = fs::read_to_string(SETTING).map_err(|error| failed(Path::new(SETTING), &error))?;
    Ok(text.trim().to_owned())
}

/// Where this network namespace's former default is kept.
fn memory() -> Result<PathBuf, LoadError> {
    const NAMESPACE: &str = "/proc/thread-self/ns/net";
    let about = fs::metadata(NAMESPACE).map_err(|error| failed(Path::new(NAMESPACE), &error))?;
    Ok(Path::new(MEMORY).join(format!("default-before.{}", about.ino())))
}

fn failed(path: &Path, error: &io::Error) -> LoadError {
    LoadError::Kernel(format!("{}: {error}", path.display()))
}
