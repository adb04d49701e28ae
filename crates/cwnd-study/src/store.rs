//! The store: what came of every run, kept for good.
//!
//! A directory holds the results of one study:
//!
//! | file | what it is |
//! |---|---|
//! | `results.sqlite` | a row a run, the scenarios of the runs, and the study as it was run |
//! | `study.toml` | the study file's text as it was run, for people; what counts is the copy in the database |
//! | `inputs/` | files that the study names, such as delivery traces, as they were |
//! | `traces/<key>.parquet` | the samples of a run, where the study keeps them |
//!
//! A run is known by its [`RunKey`]. Runs that end within 20 ms of each other are one transaction: a process that is killed
//! loses these and the runs in progress, and nothing else, and a run whose key is there is never done again. Rows of algorithms that have changed since,
//! or of cells that a study no longer has, stay; they are found again when the study goes back.
//!
//! A row describes itself. It holds the run's [`RunSpec`] (the engine and its versions, the whole scenario as canonical
//! JSON, the seed) and the raw counts as JSON; both can be read without the study file and without this program (texts
//! are compressed in zlib's format). The key is the hash of that specification, and [`Store::get`] computes it again.
//!
//! Metrics are computed from the stored scenario and counts when they are read: a new metric, or a better definition of
//! an old one, costs no new run and cannot leave a stale value behind. Only metrics that are made from samples are kept as
//! values, because the samples themselves mostly are not; when their definitions change,
//! [`SAMPLED_VERSION`](cwnd_metrics::SAMPLED_VERSION) is counted up, and runs that have older ones are missing.
//!
//! Several processes may use one store at the same time.

mod columns;
mod database;
pub(crate) mod inputs;
mod rows;
mod study;
mod traces;
mod values;

pub(crate) use traces::encode as encode_trace;
pub use traces::{StoredTrace, TraceStore};

use crate::{Provenance, RunKey, RunScale, RunSpec, StoreError, output_file};
use cwnd_scenario::{Outcome, Scenario};
use rows::Rows;
use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};
use values::Values;

/// The results of a study, in a directory or in memory.
#[derive(Debug)]
pub struct Store {
    traces: TraceStore,
    contents: Contents,
}

/// Where runs are kept.
#[derive(Debug)]
enum Contents {
    /// In the database of a directory.
    Rows(Rows),
    /// In memory, as they are.
    Values(Values),
}

/// The study whose results a store holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptStudy {
    /// [`Study::name`](crate::Study::name).
    pub name: String,
    /// The study file's text.
    pub text: String,
    /// How much of it is run.
    pub scale: RunScale,
    /// Repeats of each cell, which may be others than the file says.
    pub repeats: u32,
    /// The keys of its runs: cell by cell, repeats in order.
    pub keys: Vec<RunKey>,
    /// What ran it last.
    pub provenance: Provenance,
}

/// How many runs of a study a store has ([`Store::count`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Those that were run.
    pub done: usize,
    /// Those that failed.
    pub failed: usize,
}

/// A run that the store has.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// What came of it.
    pub state: StoredState,
    /// CPU seconds that it took.
    pub cpu_s: f64,
    /// When it was stored.
    pub finished: SystemTime,
    /// The version of cwnd that ran it.
    pub version: String,
}

/// What came of a run that the store has.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredState {
    /// It was run.
    Done {
        /// What was run.
        spec: Box<RunSpec>,
        /// Its scenario, with its seed and without labels ([`Scenario::without_labels`]).
        scenario: Arc<Scenario>,
        /// Its counts, without samples.
        outcome: Arc<Outcome>,
        /// Metrics that were made from its samples, by name.
        sampled: BTreeMap<String, f64>,
        /// The file of its samples, if they are kept.
        trace: Option<Box<StoredTrace>>,
    },
    /// It failed, for this reason.
    Failed(String),
    /// It is there, but cannot be used: for this reason it must be run again.
    Unusable(String),
}

/// What is to be stored of a run.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// The key of `spec`.
    pub key: RunKey,
    /// What was run.
    pub spec: RunSpec,
    /// What came of it.
    pub content: NewContent,
    /// CPU seconds that it took.
    pub cpu_s: f64,
}

/// What came of a run that is to be stored.
#[derive(Clone, Debug)]
pub enum NewContent {
    /// It was run.
    Done {
        /// What was counted.
        counts: Counts,
        /// Metrics that were made from its samples, by name; none if it was not sampled.
        sampled: Option<BTreeMap<String, f64>>,
        /// The file of its samples, which is there already.
        trace: Option<StoredTrace>,
    },
    /// It failed, for this reason.
    Failed(String),
}

/// What was counted in a run.
#[derive(Clone, Debug)]
pub enum Counts {
    /// As a store in a directory keeps it: JSON, compressed in zlib's format.
    Encoded(Vec<u8>),
    /// As a store in memory keeps it.
    Whole {
        /// The scenario, with its seed and without labels ([`Scenario::without_labels`]).
        scenario: Arc<Scenario>,
        /// The counts, without samples.
        outcome: Arc<Outcome>,
    },
}

/// Which of [`Counts`] a store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountsForm {
    /// [`Counts::Encoded`].
    Encoded,
    /// [`Counts::Whole`].
    Whole,
}

impl Counts {
    /// Creates them from a scenario's outcome, without its samples.
    ///
    /// # Errors
    /// If the outcome has not one flow and one link for each of the scenario's, or a count is not finite.
    pub fn new(form: CountsForm, scenario: &Arc<Scenario>, outcome: Outcome) -> Result<Counts, String> {
        match form {
            CountsForm::Encoded => columns::write_counts(scenario, &outcome).map(Counts::Encoded),
            CountsForm::Whole => {
                columns::check_counts(scenario, &outcome)?;
                let scenario = match scenario.has_labels() {
                    true => Arc::new(scenario.without_labels()),
                    false => Arc::clone(scenario),
                };
                Ok(Counts::Whole { scenario, outcome: Arc::new(Outcome { trace: None, ..outcome }) })
            }
        }
    }

    /// Returns the bytes of [`Counts::Encoded`].
    ///
    /// # Errors
    /// As [`Counts::new`].
    pub fn encoded(&self) -> Result<Cow<'_, [u8]>, String> {
        match self {
            Counts::Encoded(bytes) => Ok(Cow::Borrowed(bytes)),
            Counts::Whole { scenario, outcome } => columns::write_counts(scenario, outcome).map(Cow::Owned),
        }
    }
}

/// A store that stays as it was, for who reads it ([`Store::view`]).
pub(crate) struct StoreView<'a> {
    _transaction: Option<rusqlite::Transaction<'a>>,
}

/// The database of a directory of results.
pub const DATABASE: &str = "results.sqlite";

impl Store {
    /// Opens the store of a directory for writing; makes both if they are not there.
    ///
    /// # Errors
    /// If the directory cannot be written, or what is there is damaged, of another version, or no store.
    pub fn create(directory: &Path) -> Result<Store, StoreError> {
        output_file::create_directory(directory)
            .map_err(|error| StoreError::io(directory, "the directory cannot be made", &error))?;
        Ok(Store::new(TraceStore::Directory(directory.into()), Contents::Rows(Rows::create(directory)?)))
    }

    /// Opens the store of a directory for reading. Others may write to it meanwhile.
    ///
    /// # Errors
    /// If there is none, or what is there is damaged, of another version, or no store.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        Ok(Store::new(TraceStore::Directory(directory.into()), Contents::Rows(Rows::open(directory)?)))
    }

    /// Makes an empty store in memory. It is read as one in a directory is, but all of it goes with this value.
    pub fn in_memory() -> Store {
        Store::new(TraceStore::Memory, Contents::Values(Values::default()))
    }

    fn new(traces: TraceStore, contents: Contents) -> Store {
        Store { traces, contents }
    }

    /// Returns the directory, if the store is in one.
    pub fn directory(&self) -> Option<&Path> {
        match &self.traces {
            TraceStore::Directory(directory) => Some(directory),
            TraceStore::Memory => None,
        }
    }

    /// Returns where samples are kept.
    pub fn traces(&self) -> TraceStore {
        self.traces.clone()
    }

    /// Returns how the store keeps counts. It takes them in the other form, too.
    pub fn counts_form(&self) -> CountsForm {
        match self.contents {
            Contents::Rows(_) => CountsForm::Encoded,
            Contents::Values(_) => CountsForm::Whole,
        }
    }

    /// Returns what messages call the store.
    pub(crate) fn place(&self) -> PathBuf {
        self.directory().map_or_else(|| "the results in memory".into(), Path::to_owned)
    }

    /// Returns what the store has of a run.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn get(&self, key: RunKey) -> Result<Option<StoredRun>, StoreError> {
        match &self.contents {
            Contents::Rows(rows) => rows.get(key),
            Contents::Values(values) => Ok(values.get(key)),
        }
    }

    /// Holds the store as it is now for everything that is read while the result lives, and locks it once for all of it. Others may write
    /// meanwhile, but their log grows, and whoever is the last to close the store may be unable to empty it: a view must be short.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) fn view(&self) -> Result<StoreView<'_>, StoreError> {
        match &self.contents {
            Contents::Rows(rows) => {
                rows.view().map(|transaction| StoreView { _transaction: Some(transaction) })
            }
            Contents::Values(_) => Ok(StoreView { _transaction: None }),
        }
    }

    /// Stores what came of a run, in a transaction of its own. A failure never takes the place of what was run.
    ///
    /// # Errors
    /// If the store cannot be written; then nothing has changed.
    pub fn put(&mut self, run: &NewRun) -> Result<(), StoreError> {
        self.put_all([run])
    }

    /// Stores what came of several runs as [`Store::put`] does, all of them in one transaction.
    ///
    /// # Errors
    /// If the store cannot be written; then nothing has changed.
    pub fn put_all<'a>(&mut self, runs: impl IntoIterator<Item = &'a NewRun>) -> Result<(), StoreError> {
        match &mut self.contents {
            Contents::Rows(rows) => rows.put_all(&mut runs.into_iter()),
            Contents::Values(values) => {
                runs.into_iter().for_each(|run| values.put(run));
                Ok(())
            }
        }
    }

    /// The runs that were stored after those that `cursor` (0 at first) has come to, by this process or another.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn stored_since(&self, cursor: &mut i64) -> Result<Vec<RunKey>, StoreError> {
        match &self.contents {
            Contents::Rows(rows) => rows.stored_since(cursor),
            Contents::Values(values) => Ok(values.stored_since(cursor)),
        }
    }

    /// Counts how many of these runs are stored as done and as failed, without reading their contents. A key that is given twice
    /// counts twice.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count(&self, keys: &[RunKey]) -> Result<RunCounts, StoreError> {
        match &self.contents {
            Contents::Rows(rows) => rows.count(keys),
            Contents::Values(values) => Ok(values.count(keys)),
        }
    }

    /// The last row, for [`Store::stored_since`].
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn cursor(&self) -> Result<i64, StoreError> {
        match &self.contents {
            Contents::Rows(rows) => rows.cursor(),
            Contents::Values(values) => Ok(values.cursor()),
        }
    }
}

#[cfg(test)]
mod tests;
