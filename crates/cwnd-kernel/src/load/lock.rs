//! One program at a time changes what is loaded: between a look at what is there and the change another one would be lost.

use super::LoadError;
use std::{fs::File, os::fd::AsRawFd};

/// What is locked: the BPF file system, so that no file has to be left.
const LOCKED: &str = "/sys/fs/bpf";

/// Waits until no other program changes what is loaded. It is this one's turn while the value lives.
///
/// # Errors
/// There is no BPF file system, or it may not be read.
pub fn changes() -> Result<File, LoadError> {
    let wrong = |error: std::io::Error| LoadError::Kernel(format!("{LOCKED}: {error}"));
    let folder = File::open(LOCKED).map_err(wrong)?;
    // SAFETY: a call with plain numbers.
    match unsafe { libc::flock(folder.as_raw_fd(), libc::LOCK_EX) } {
        0 => Ok(folder),
        _ => Err(wrong(std::io::Error::last_os_error())),
    }
}
