//! A file that its owner alone may read.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    path::Path,
};

/// More than a token has.
const MOST: u64 = 4096;

/// Reads a file; refuses one that others may read.
///
/// # Errors
/// If it cannot be read, or others may read it.
pub fn read(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if file.metadata()?.mode() & 0o077 != 0 {
            let why = "others may read it: make it private with `chmod 600`";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
    }
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

/// Creates a file that does not exist yet.
///
/// # Errors
/// If it exists or cannot be created.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}
