//! What the command line gives to the server, so that both do the same.

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
    /// Why this program or this user cannot know it.
    fn kernel(&self) -> Result<Value, String>;

    /// Returns whether an estimate of memory, bytes, is permitted.
    ///
    /// # Errors
    /// How much is needed and how much may be used.
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
