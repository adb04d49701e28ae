//! The congestion control of sockets that ask for none, which every network namespace has its own of.

use super::LoadError;
use crate::all;
use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

const SETTING: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// What it was before; gone at a reboot, as what is loaded is.
const MEMORY: &str = "/run/cwnd";
/// What every kernel has.
const LAST_RESORT: &str = "reno";

/// Make a loaded algorithm the default of this network namespace, and remember what was.
///
/// # Errors
/// The setting cannot be written; nothing has changed then.
pub fn make_default(kernel_name: &str) -> Result<(), LoadError> {
    let before = setting()?;
    fs::write(SETTING, kernel_name).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => LoadError::Kernel(format!(
            "{kernel_name} cannot be the default of this network namespace: outside of the host's own one only those can \
             that every user may take. Load it there, without --default; add it there to \
             net.ipv4.tcp_allowed_congestion_control; then set net.ipv4.tcp_congestion_control here"
        )),
        _ => failed(Path::new(SETTING), &error),
    })?;
    // A second default keeps the memory of the first: that is what was there without cwnd.
    if all().iter().any(|algorithm| algorithm.kernel_name() == before) {
        return Ok(());
    }
    remember(&before).inspect_err(|_| {
        // It was there a moment ago.
        let _ = fs::write(SETTING, &before);
    })
}

fn remember(before: &str) -> Result<(), LoadError> {
    let memory = memory()?;
    let written = fs::create_dir_all(MEMORY).and_then(|()| fs::write(&memory, before));
    written.map_err(|error| failed(&memory, &error))
}

/// If the algorithm is the default, put back what was before it.
///
/// # Errors
/// The setting cannot be written.
pub fn restore_default(kernel_name: &str) -> Result<(), LoadError> {
    if setting()? != kernel_name {
        return Ok(());
    }
    let memory = memory()?;
    let before = fs::read_to_string(&memory).unwrap_or_else(|_| LAST_RESORT.to_owned());
    fs::write(SETTING, before.trim()).map_err(|error| {
        LoadError::Kernel(format!(
            "{kernel_name} is the default, and {} cannot be put back in its place: {error}; set another with `sysctl \
             net.ipv4.tcp_congestion_control={LAST_RESORT}`, and unload it again",
            before.trim()
        ))
    })?;
    let _ = fs::remove_file(memory);
    // The last one leaves no folder.
    let _ = fs::remove_dir(MEMORY);
    Ok(())
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
