//! Scripts in files.

use crate::cursor::ScriptError;
use crate::socket::Socket;
use crate::{Endpoint, Outcome, Settings, parse, run_with};
use std::path::Path;

/// The most bytes that a script may have.
const MAX_BYTES: u64 = 16 << 20;

/// Why a script in a file was not played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// The file cannot be read.
    Unreadable(String),
    /// It is not a script, or uses something that is not supported.
    Script(ScriptError),
}

/// Reads and plays the script in a file. Files that its commands name are looked up in the script's directory.
///
/// # Errors
/// The file cannot be read, or uses something that is not supported.
pub fn run_file(path: &Path, settings: Settings) -> Result<Outcome, FileError> {
    run_file_with(path, settings, |settings| Ok(Box::new(Socket::new(settings))))
}

/// Reads and plays the script in a file against an endpoint that `create` makes.
///
/// # Errors
/// See [`run_file`]; or the endpoint cannot be made.
pub fn run_file_with<'e>(
    path: &Path,
    settings: Settings,
    create: impl FnOnce(Settings) -> Result<Box<dyn Endpoint + 'e>, ScriptError>,
) -> Result<Outcome, FileError> {
    let text = read(path).map_err(FileError::Unreadable)?;
    let script = parse(&text).map_err(FileError::Script)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    let loader = |name: &str| read(&directory.join(name)).ok();
    run_with(&script, settings, &loader, create).map_err(FileError::Script)
}

fn read(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MAX_BYTES {
        return Err(format!("it has {size} bytes; a script has at most {MAX_BYTES}"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
