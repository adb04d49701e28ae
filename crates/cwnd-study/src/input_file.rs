//! Files that a person names, read within bounds.
//!
//! Only regular files of at most a stated size are read. A named pipe would block the program until somebody writes to it,
//! and a device such as `/dev/zero` never ends.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::{error, fmt, fs};

/// The largest file that a study may name, bytes.
pub const MAX_INPUT: u64 = 100_000_000;

/// Why a file cannot be read.
#[derive(Debug)]
pub struct InputFileError {
    /// The file that was asked for.
    pub path: PathBuf,
    /// What is wrong, and what would be right.
    pub reason: String,
    /// Whether the system failed to open or to read it. Otherwise it does not exist, or has the wrong type, size or content.
    pub is_of_system: bool,
}

/// Opens a regular file for reading and returns it with its size, bytes. Never blocks.
///
/// # Errors
/// If the file cannot be opened, or is a directory, a pipe, a device or a socket.
pub fn open(path: &Path) -> Result<(File, u64), InputFileError> {
    // The type is known before the file is opened, because opening a device can do things.
    check_type(path, &fs::metadata(path).map_err(|error| InputFileError::io(path, &error))?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    // If a pipe takes the file's place between the two calls, opening it does not wait for a writer.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path).map_err(|error| InputFileError::io(path, &error))?;
    let metadata = file.metadata().map_err(|error| InputFileError::io(path, &error))?;
    check_type(path, &metadata)?;
    Ok((file, metadata.len()))
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// As [`open`], or if the file is longer.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, InputFileError> {
    let (file, length) = open(path)?;
    let too_long = || InputFileError::new(path, format!("it is longer than {} MB", limit / 1_000_000));
    if length > limit {
        return Err(too_long());
    }
    // It may grow while it is read, and files of `/proc` say that they are empty.
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| InputFileError::io(path, &error))?;
    if bytes.len() as u64 > limit {
        return Err(too_long());
    }
    Ok(bytes)
}

/// Reads a regular file of at most `limit` bytes of UTF-8.
///
/// # Errors
/// As [`read`], or if it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String, InputFileError> {
    String::from_utf8(read(path, limit)?).map_err(|_| InputFileError::new(path, "it is not UTF-8 text"))
}

/// Checks that what stands at a path is a regular file or nothing, for libraries that open files themselves.
///
/// # Errors
/// If something else stands there, or it cannot be found out.
pub fn check_regular_if_present(path: &Path) -> Result<(), InputFileError> {
    match fs::metadata(path) {
        Ok(metadata) => check_type(path, &metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(InputFileError::io(path, &error)),
    }
}

fn check_type(path: &Path, metadata: &Metadata) -> Result<(), InputFileError> {
    match name_of(metadata.file_type()) {
        None => Ok(()),
        Some(name) => {
            Err(InputFileError::new(path, format!("it is {name}; only a regular file can be read")))
        }
    }
}

/// Returns what a file is if it is not a regular one.
fn name_of(kind: FileType) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let special = [
            (kind.is_fifo(), "a pipe"),
            (kind.is_char_device() || kind.is_block_device(), "a device"),
            (kind.is_socket(), "a socket"),
        ];
        if let Some((_, name)) = special.into_iter().find(|(is, _)| *is) {
            return Some(name);
        }
    }
    match (kind.is_file(), kind.is_dir()) {
        (true, _) => None,
        (_, true) => Some("a directory"),
        _ => Some("no file"),
    }
}

impl InputFileError {
    fn new(path: &Path, reason: impl Into<String>) -> InputFileError {
        InputFileError { path: path.to_owned(), reason: reason.into(), is_of_system: false }
    }

    fn io(path: &Path, error: &io::Error) -> InputFileError {
        let is_of_path = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        InputFileError { is_of_system: !is_of_path, ..InputFileError::new(path, error.to_string()) }
    }
}

impl fmt::Display for InputFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read `{}`: {}", self.path.display(), self.reason)
    }
}

impl error::Error for InputFileError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_regular_files_up_to_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        fs::write(&path, "twelve bytes").unwrap();
        assert_eq!(read_text(&path, 12).unwrap(), "twelve bytes");
        fs::write(&path, vec![b'a'; 2_000_001]).unwrap();
        let error = read(&path, 2_000_000).unwrap_err().to_string();
        assert_eq!(error, format!("cannot read `{}`: it is longer than 2 MB", path.display()));
        fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path, 12).unwrap_err().reason.contains("not UTF-8"));
        assert!(read(&directory.path().join("none"), 12).unwrap_err().reason.starts_with("No such file"));
        assert!(check_regular_if_present(&directory.path().join("none")).is_ok());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_never_ends_or_never_begins_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let socket = directory.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let cases = [
            (Path::new("/dev/zero"), "a device"),
            (&pipe, "a pipe"),
            (&socket, "a socket"),
            (directory.path(), "a directory"),
        ];
        for (path, name) in cases {
            let expected = format!("it is {name}; only a regular file can be read");
            assert_eq!(read(path, 12).unwrap_err().reason, expected);
            assert_eq!(check_regular_if_present(path).unwrap_err().reason, expected);
        }
        // It says that it has no bytes, and has more than the limit.
        assert!(read(Path::new("/proc/self/status"), 12).unwrap_err().reason.contains("longer"));
    }
}
