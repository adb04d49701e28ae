//! The congestion control of sockets that ask for none.

use super::LoadError;
use std::{fs, path::Path};

const SETTING: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// What it was before; gone at a reboot, as what is loaded is.
const BEFORE: &str = "/run/cwnd-default-before";

/// Make a loaded algorithm the default, and remember what was.
///
/// # Errors
/// The setting cannot be written.
pub fn make_default(kernel_name: &str) -> Result<(), LoadError> {
    let failed = |what: &str, error: std::io::Error| LoadError::Kernel(format!("{what}: {error}"));
    let before = fs::read_to_string(SETTING).map_err(|error| failed(SETTING, error))?;
    // A second default keeps the memory of the first: that is what was there without cwnd.
    if !Path::new(BEFORE).exists() {
        fs::write(BEFORE, before).map_err(|error| failed(BEFORE, error))?;
    }
    fs::write(SETTING, kernel_name).map_err(|error| failed(SETTING, error))
}

/// If the algorithm is the default, put back what was before it.
///
/// # Errors
/// The setting cannot be written.
pub fn restore_default(kernel_name: &str) -> Result<(), LoadError> {
    let now = fs::read_to_string(SETTING).unwrap_or_default();
    if now.trim() != kernel_name {
        return Ok(());
    }
    let before = fs::read_to_string(BEFORE).unwrap_or_else(|_| "cubic".to_owned());
    fs::write(SETTING, before.trim()).map_err(|error| {
        LoadError::Kernel(format!("{SETTING} cannot be put back to {}: {error}", before.trim()))
    })?;
    let _ = fs::remove_file(BEFORE);
    Ok(())
}
