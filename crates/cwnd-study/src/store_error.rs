//! What can go wrong with a store, in words that help.

use crate::output_file::OutputFileError;
#[cfg(feature = "store")]
use rusqlite::{Error as Sqlite, ErrorCode};
use std::{
    error, fmt,
    path::{Path, PathBuf},
};

/// Why a store cannot be used: which file, why, and what would help.
#[derive(Debug)]
pub struct StoreError {
    /// The file or directory.
    pub path: PathBuf,
    /// What kind of trouble it is.
    pub kind: StoreErrorKind,
    /// What is wrong, and what to do.
    pub reason: String,
}

/// A kind of trouble with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no store.
    Missing,
    /// What is there is something else: not a store, another study's, or of another version.
    Foreign,
    /// It was written over, or in part only.
    Damaged,
    /// It cannot be written: a full disk, a directory that takes nothing.
    Unwritable,
    /// Anything else.
    Other,
}

impl StoreError {
    pub(crate) fn new(path: &Path, kind: StoreErrorKind, reason: impl Into<String>) -> StoreError {
        StoreError { path: path.into(), kind, reason: reason.into() }
    }

    #[cfg(feature = "store")]
    /// An error of SQLite in what a user knows.
    pub(crate) fn sqlite(path: &Path, error: &Sqlite) -> StoreError {
        use StoreErrorKind::{Damaged, Foreign, Other, Unwritable};
        let (kind, reason) = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => {
                (Foreign, "it is no SQLite database; choose another directory".to_owned())
            }
            Some(ErrorCode::DatabaseCorrupt) => (Damaged, damaged(path, &error.to_string())),
            Some(ErrorCode::DiskFull) => (
                Unwritable,
                "the disk is full; free some space and give the same command again: what was stored is safe"
                    .to_owned(),
            ),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                let advice = "choose a directory that you may write to";
                (Unwritable, format!("it cannot be written ({error}); {advice}"))
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
                Other,
                "another process has been writing to it for a minute; wait until that one is done".to_owned(),
            ),
            Some(ErrorCode::SystemIoFailure) => {
                (Unwritable, format!("the disk failed or is full ({error}); what was stored before is safe"))
            }
            _ => (Other, error.to_string()),
        };
        StoreError::new(path, kind, reason)
    }

    pub(crate) fn io(path: &Path, what: &str, error: &std::io::Error) -> StoreError {
        StoreError::new(path, StoreErrorKind::Unwritable, format!("{what}: {error}"))
    }
}

#[cfg(feature = "store")]
/// What to do about a database that SQLite calls malformed. SQLite says the same of a page that the disk failed to read (EIO).
pub(crate) fn damaged(path: &Path, how: &str) -> String {
    // The check of a whole database begins with a line of stars.
    let how = how.lines().find(|line| !line.starts_with("***")).unwrap_or("damaged");
    let (path, how) = (path.display(), how.trim_end_matches('.'));
    format!(
        "it is damaged, or the disk failed to read it ({how}). Nothing has been changed. Run the command again; if it fails again, \
         `sqlite3 {path} .recover` can save what is whole, or move it away (`mv {path} {path}.damaged`) and run the command: it \
         repeats the runs"
    )
}

impl From<OutputFileError> for StoreError {
    fn from(error: OutputFileError) -> StoreError {
        StoreError { path: error.path, kind: StoreErrorKind::Unwritable, reason: error.reason }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path.display(), self.reason)
    }
}

impl error::Error for StoreError {}
