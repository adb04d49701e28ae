//! Files that are written whole or not at all.
//!
//! A file is written under a temporary name in its target's directory, flushed, synced to the disk and renamed. A
//! reader sees the old file or the new one, never a part; an error leaves the old one as it was.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{error, fmt};

/// Why a file cannot be written: which, why, and what would help.
#[derive(Debug)]
pub struct OutputFileError {
    /// The file that was asked for.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub reason: String,
    source: Option<io::Error>,
}

/// Writes `text` to `path`.
///
/// # Errors
/// If the file cannot be written; then nothing has changed.
pub fn write_text(path: &Path, text: &str) -> Result<(), OutputFileError> {
    write_with(path, |file| file.write_all(text.as_bytes()))
}

/// Writes to `path` what `content` writes.
///
/// # Errors
/// If `content` fails, or the file cannot be written; then nothing has changed.
pub fn write_with(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), OutputFileError> {
    let target = target(path)?;
    let mut temporary = Temporary::create(path, &target)?;
    let result = (|| {
        let file = temporary.file.as_mut().expect("open until it is renamed");
        content(file)?;
        file.flush()?;
        if let Some(old) = found(&target)? {
            file.get_ref().set_permissions(old.permissions())?;
        }
        file.get_ref().sync_all()?;
        temporary.rename(&target)
    })();
    result.map_err(|e| OutputFileError::io(path, "writing failed", e))
}

/// Creates a directory and its parents, if they are not there.
///
/// # Errors
/// What the system says. [`fs::create_dir_all`] says that a directory exists if its type cannot be read.
pub fn create_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path).or_else(|error| match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::new(io::ErrorKind::NotADirectory, "it is there, and is no directory")),
        Err(unread) if error.kind() == io::ErrorKind::AlreadyExists => Err(unread),
        _ => Err(error),
    })
}

/// Whether `path` can be written, found out before a long run and not after it. `extensions` are those that
/// the kind of file may have (without the dot); `kind` names it in the error, as in `"a trace"`.
///
/// # Errors
/// If the extension is another, the directory does not exist or takes no files, or the file exists and is
/// not one that can be replaced.
pub fn check_writable(path: &Path, kind: &str, extensions: &[&str]) -> Result<(), OutputFileError> {
    check_extension(path, kind, extensions)?;
    let target = target(path)?;
    Temporary::create(path, &target).map(drop)
}

/// Whether the extension is one of `extensions`; see [`check_writable`].
pub fn check_extension(path: &Path, kind: &str, extensions: &[&str]) -> Result<(), OutputFileError> {
    if extensions.contains(&extension(path).as_str()) {
        return Ok(());
    }
    let known = extensions.iter().map(|e| format!(".{e}")).collect::<Vec<_>>().join(" or ");
    let fix = path.with_extension(extensions[0]);
    let reason = format!("the name of {kind} ends in {known}; try `{}`", fix.display());
    Err(OutputFileError::new(path, reason))
}

/// The extension in lower case; empty if there is none.
pub fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

impl OutputFileError {
    /// Creates an error about a file whose content cannot be made.
    pub fn new(path: &Path, reason: impl Into<String>) -> OutputFileError {
        OutputFileError { path: path.into(), reason: reason.into(), source: None }
    }

    fn io(path: &Path, what: &str, source: io::Error) -> OutputFileError {
        let advice = match source.kind() {
            io::ErrorKind::PermissionDenied => "; choose a directory that you may write to",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "; free some space or choose another disk"
            }
            io::ErrorKind::ReadOnlyFilesystem => "; choose a directory on another file system",
            _ => "",
        };
        let reason = format!("{what}: {source}{advice}");
        OutputFileError { path: path.into(), reason, source: Some(source) }
    }
}

impl fmt::Display for OutputFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write `{}`: {}", self.path.display(), self.reason)
    }
}

impl error::Error for OutputFileError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_ref().map(|e| e as _)
    }
}

/// Returns what stands at a path, if anything does: an error of the disk does not mean that nothing does.
fn found(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The file to replace: behind any symbolic links, and nothing but a plain file.
fn target(path: &Path) -> Result<PathBuf, OutputFileError> {
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return Err(OutputFileError::new(path, "it is not the name of a file")),
    };
    match found(parent) {
        Ok(Some(metadata)) if metadata.is_dir() => {}
        Ok(Some(_)) => {
            return Err(OutputFileError::new(path, format!("`{}` is not a directory", parent.display())));
        }
        Ok(None) => {
            let parent = parent.display();
            let reason = format!(
                "the directory `{parent}` does not exist; create it (`mkdir -p {parent}`) or choose another"
            );
            return Err(OutputFileError::new(path, reason));
        }
        Err(error) => return Err(OutputFileError::io(path, "its directory cannot be examined", error)),
    }
    if path.file_name().is_none() {
        return Err(OutputFileError::new(path, "it is not the name of a file"));
    }
    let metadata = found(path).map_err(|error| OutputFileError::io(path, "it cannot be examined", error))?;
    let Some(metadata) = metadata else { return Ok(path.into()) };
    if metadata.is_dir() {
        return Err(OutputFileError::new(path, "it is a directory; add a file name"));
    }
    if !metadata.is_file() {
        return Err(OutputFileError::new(path, "it is not a plain file; choose another name"));
    }
    if metadata.permissions().readonly() {
        return Err(OutputFileError::new(
            path,
            "the file is read-only; choose another name or make it writable",
        ));
    }
    fs::canonicalize(path).map_err(|e| OutputFileError::io(path, "its place cannot be found", e))
}

/// A file in the target's directory that is deleted unless it is renamed.
struct Temporary {
    path: PathBuf,
    /// None once it has become the target.
    file: Option<BufWriter<File>>,
}

impl Temporary {
    fn create(asked: &Path, target: &Path) -> Result<Temporary, OutputFileError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut name = std::ffi::OsString::from(".");
        name.push(target.file_name().expect("a file, as `target` checked"));
        name.push(format!(".{}-{count}.tmp", std::process::id()));
        let path = target.with_file_name(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(|e| OutputFileError::io(asked, "its directory takes no new file", e))?;
        Ok(Temporary { path, file: Some(BufWriter::with_capacity(1 << 16, file)) })
    }

    fn rename(&mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.file = None;
        // The rename is in the directory's data. Not every system lets a directory be synced, and the file
        // itself is whole whether or not this one succeeds.
        if let Some(directory) = target.parent() {
            let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            let _ = File::open(directory).and_then(|d| d.sync_all());
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // `into_parts` drops the buffer without writing it.
            drop(file.into_parts());
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests;
