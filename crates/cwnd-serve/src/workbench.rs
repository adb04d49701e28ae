//! The interface between the server and the command line: both use the same code for studies and the kernel.

use cwnd_study::{
    Study,
    runner::{Progress, RunSummary},
};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

/// The parts of the command line that the server calls.
pub trait Workbench: Send + Sync + 'static {
    /// Reads a study file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    fn load_study(&self, file: &Path) -> Result<Study, String>;

    /// Does the runs of a study that its store does not have, as `cwnd run` does, until `stop` is true.
    ///
    /// # Errors
    /// If the study cannot be run here, or its store cannot be written.
    fn run_study(
        &self,
        order: StudyOrder,
        progress: &mut dyn Progress,
        stop: &Arc<AtomicBool>,
    ) -> Result<RunSummary, String>;

    /// Returns what `cwnd kernel list` and `cwnd kernel status --json` print, as one JSON object.
    ///
    /// # Errors
    /// If this program or this user cannot read it, with the reason.
    fn kernel(&self) -> Result<Value, String>;

    /// Checks an estimate of memory, bytes, against what runs may use.
    ///
    /// # Errors
    /// If it is more, with both numbers.
    fn check_memory(&self, bytes: f64) -> Result<(), String>;
}

/// A study that is to be run.
pub struct StudyOrder {
    /// The study.
    pub study: Study,
    /// The directory of its results.
    pub directory: PathBuf,
    /// The command that makes the same results, for the store.
    pub command: String,
}
