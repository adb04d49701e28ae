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
mod study;
mod traces;

pub(crate) use traces::encode as encode_trace;
pub use traces::{StoredTrace, TraceStore};

use crate::{Provenance, RunKey, RunScale, RunSpec, ScenarioText, StoreError, key::KeysBySeed, output_file};
use cwnd_scenario::{Identity, Outcome, Scenario};
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use sha2::{Digest, Sha256};
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// The results of a study, in a directory or in memory.
#[derive(Debug)]
pub struct Store {
    traces: TraceStore,
    connection: Connection,
    /// What the run that was read last shares with the other repeats of its cell.
    last_read: RefCell<Option<SharedRow>>,
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
        outcome: Box<Outcome>,
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
        /// Its counts as [`encode`] writes them.
        counts: Vec<u8>,
        /// Metrics that were made from its samples, by name; none if it was not sampled.
        sampled: Option<BTreeMap<String, f64>>,
        /// The file of its samples, which is there already.
        trace: Option<StoredTrace>,
    },
    /// It failed, for this reason.
    Failed(String),
}

/// Writes an outcome's counts as the store keeps them.
///
/// # Errors
/// If the outcome has not one flow and one link for each of the scenario's, or a count is not finite.
pub fn encode(scenario: &Scenario, outcome: &Outcome) -> Result<Vec<u8>, String> {
    columns::write_counts(scenario, outcome)
}

const DONE: u8 = 0;
const FAILED: u8 = 1;

impl Store {
    /// Opens the store of a directory for writing; makes both if they are not there.
    ///
    /// # Errors
    /// If the directory cannot be written, or what is there is damaged, of another version, or no store.
    pub fn create(directory: &Path) -> Result<Store, StoreError> {
        output_file::create_directory(directory)
            .map_err(|error| StoreError::io(directory, "the directory cannot be made", &error))?;
        let connection = database::create(&directory.join(DATABASE))?;
        Ok(Store::new(TraceStore::Directory(directory.into()), connection))
    }

    /// Opens the store of a directory for reading. Others may write to it meanwhile.
    ///
    /// # Errors
    /// If there is none, or what is there is damaged, of another version, or no store.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let connection = database::open(&directory.join(DATABASE))?;
        Ok(Store::new(TraceStore::Directory(directory.into()), connection))
    }

    /// Makes an empty store in memory. It has the tables of a store in a directory and is read in the same way, but all of
    /// it goes with this value.
    ///
    /// # Errors
    /// If the database cannot be made.
    pub fn in_memory() -> Result<Store, StoreError> {
        Ok(Store::new(TraceStore::Memory(Arc::default()), database::in_memory()?))
    }

    fn new(traces: TraceStore, connection: Connection) -> Store {
        Store { traces, connection, last_read: RefCell::default() }
    }

    /// Returns the directory, if the store is in one.
    pub fn directory(&self) -> Option<&Path> {
        match &self.traces {
            TraceStore::Directory(directory) => Some(directory),
            TraceStore::Memory(_) => None,
        }
    }

    /// Returns where samples are kept.
    pub fn traces(&self) -> TraceStore {
        self.traces.clone()
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
        let failed = |error: rusqlite::Error| self.failed(&error);
        let sql = "SELECT engine, seed, state, content, sampled, trace, checksum, cpu_s, finished, version, scenario \
                   FROM runs WHERE key = ?1";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let read = |row: &Row<'_>| {
            let sealed = Sealed {
                engine: row.get(0)?,
                seed: row.get::<_, i64>(1)?,
                state: row.get(2)?,
                content: row.get(3)?,
                sampled: row.get(4)?,
                trace: row.get(5)?,
            };
            let whole = sealed.checksum(key) == row.get::<_, i64>(6)?;
            let milliseconds: i64 = row.get(8)?;
            let version: String = row.get(9)?;
            let state = match whole && self.read_shared(row.get(10)?, &sealed.engine)? {
                true => self.unseal(key, sealed, &version),
                false => Err("its row in the store is damaged".to_owned()),
            };
            Ok(StoredRun {
                state: state.unwrap_or_else(StoredState::Unusable),
                cpu_s: row.get(7)?,
                finished: UNIX_EPOCH + std::time::Duration::from_millis(milliseconds.unsigned_abs()),
                version,
            })
        };
        statement.query_row([&key.0[..]], read).optional().map_err(failed)
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
        let finished = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
        let execute = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // The repeats of a cell share a scenario, whose row is looked up once, and their keys but for the seeds.
            let mut last: Option<(&RunSpec, i64, KeysBySeed)> = None;
            for run in runs {
                let spec = &run.spec;
                let same = |(one, ..): &(&RunSpec, i64, KeysBySeed)| {
                    one.scenario == spec.scenario && one.identity == spec.identity
                };
                let (_, row, keys) = match last.take().filter(same) {
                    Some(last) => last,
                    None => (spec, put_scenario(&transaction, &spec.scenario)?, spec.keys_by_seed()),
                };
                put_run(&transaction, run, keys.key(spec.seed), row, finished)?;
                last = Some((spec, row, keys));
            }
            transaction.commit()
        };
        execute(&mut self.connection).map_err(|error| self.failed(&error))
    }

    /// The runs that were stored after those that `cursor` (0 at first) has come to, by this process or another.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn stored_since(&self, cursor: &mut i64) -> Result<Vec<RunKey>, StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut statement = self
            .connection
            .prepare_cached("SELECT rowid, key FROM runs WHERE rowid > ?1 ORDER BY rowid")
            .map_err(failed)?;
        let rows = statement.query_map([*cursor], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
        let mut keys = Vec::new();
        for row in rows {
            let (id, key): (i64, [u8; 32]) = row.map_err(failed)?;
            *cursor = id;
            keys.push(RunKey(key));
        }
        Ok(keys)
    }

    /// Counts how many of these runs are stored as done and as failed, without reading their contents. A key that is given twice
    /// counts twice.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count(&self, keys: &[RunKey]) -> Result<RunCounts, StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut statement = self.connection.prepare_cached("SELECT key, state FROM runs").map_err(failed)?;
        let rows = statement.query_map([], |row| Ok((RunKey(row.get(0)?), row.get(1)?))).map_err(failed)?;
        let states: HashMap<RunKey, u8> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
        let of = |state| keys.iter().filter(|key| states.get(key) == Some(&state)).count();
        Ok(RunCounts { done: of(DONE), failed: of(FAILED) })
    }

    /// The last row, for [`Store::stored_since`].
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn cursor(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(rowid), 0) FROM runs";
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(&error))
    }

    /// Reads a row of `scenarios` and a run's engine, unless they are those of the run that was read before. Returns whether
    /// both are there and whole.
    fn read_shared(&self, scenario: i64, engine: &str) -> rusqlite::Result<bool> {
        let mut last = self.last_read.borrow_mut();
        if last.as_ref().is_some_and(|last| last.row == scenario && last.engine == engine) {
            return Ok(true);
        }
        let sql = "SELECT text FROM scenarios WHERE id = ?1";
        let text = self
            .connection
            .prepare_cached(sql)?
            .query_row([scenario], |row| Ok(columns::decompress(row.get_ref(0)?.as_blob()?)))
            .optional()?;
        *last = text.flatten().and_then(|text| SharedRow::new(scenario, engine, text));
        Ok(last.is_some())
    }

    /// Reads a row whose checksum is right.
    ///
    /// # Errors
    /// Why the row cannot be used.
    fn unseal(&self, key: RunKey, sealed: Sealed, version: &str) -> Result<StoredState, String> {
        let damaged = "its row in the store is damaged: its scenario, engine and seed do not have its key";
        let mut last = self.last_read.borrow_mut();
        let shared = last.as_mut().ok_or(damaged)?;
        let seed = sealed.seed as u64;
        if shared.keys.key(seed) != key {
            return Err(damaged.to_owned());
        }
        if sealed.state != DONE {
            return Ok(StoredState::Failed(String::from_utf8_lossy(&sealed.content).into_owned()));
        }
        let by =
            |reason: String| format!("{reason}; cwnd {version} stored it, and this is {}", crate::VERSION);
        let scenario = shared.scenario.as_mut();
        let scenario = scenario.map_err(|error| by(format!("its scenario cannot be read ({error})")))?;
        // A copy is made only if the run that was read before is still there.
        Arc::make_mut(scenario).seed = seed;
        let scenario = Arc::clone(scenario);
        let spec = RunSpec { seed, ..shared.spec.clone() };
        let outcome = columns::read_counts(&scenario, &sealed.content).map_err(by)?;
        let sampled = sealed.sampled.as_deref().map_or(Some(BTreeMap::new()), columns::read_sampled);
        let sampled = sampled.ok_or("the metrics made from samples have changed since")?;
        let trace = sealed.trace.as_deref().map(|bytes| self.find_trace(key, bytes).map(Box::new));
        let trace = trace.transpose()?;
        let (spec, outcome) = (Box::new(spec), Box::new(outcome));
        Ok(StoredState::Done { spec, scenario, outcome, sampled, trace })
    }

    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.place().join(DATABASE), error)
    }
}

/// The database of a directory of results.
pub const DATABASE: &str = "results.sqlite";

/// Adds the row of a run, whose scenario has this row. `finished` is in milliseconds since 1970.
fn put_run(
    connection: &Connection,
    run: &NewRun,
    key: RunKey,
    scenario: i64,
    finished: i64,
) -> rusqlite::Result<()> {
    let sealed = Sealed::of(run);
    let sql =
        "INSERT INTO runs (key, scenario, engine, seed, state, content, sampled, trace, checksum, cpu_s,
               finished, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
               ON CONFLICT (key) DO UPDATE SET scenario = excluded.scenario, engine = excluded.engine,
               seed = excluded.seed, state = excluded.state, content = excluded.content,
               sampled = excluded.sampled, trace = excluded.trace, checksum = excluded.checksum,
               cpu_s = excluded.cpu_s, finished = excluded.finished, version = excluded.version
               WHERE excluded.state = 0 OR state != 0";
    connection.prepare_cached(sql)?.execute(params![
        &key.0[..],
        scenario,
        sealed.engine,
        sealed.seed,
        sealed.state,
        sealed.content,
        sealed.sampled,
        sealed.trace,
        sealed.checksum(key),
        run.cpu_s,
        finished,
        crate::VERSION,
    ])?;
    Ok(())
}

/// Returns the row of a scenario, which is added if it is not there. The text of a damaged row is replaced.
fn put_scenario(connection: &Connection, scenario: &ScenarioText) -> rusqlite::Result<i64> {
    let digest: [u8; 32] = Sha256::digest(scenario.as_str()).into();
    let sql = "SELECT id, text FROM scenarios WHERE digest = ?1";
    let found = connection
        .prepare_cached(sql)?
        .query_row([&digest[..]], |row| {
            let whole = columns::decompress(row.get_ref(1)?.as_blob()?);
            Ok((row.get(0)?, whole.is_some_and(|text| text == scenario.as_str())))
        })
        .optional()?;
    if let Some((id, true)) = found {
        return Ok(id);
    }
    let sql = "INSERT INTO scenarios (digest, text) VALUES (?1, ?2)
               ON CONFLICT (digest) DO UPDATE SET text = excluded.text RETURNING id";
    let text = columns::compress(scenario.as_str());
    connection.prepare_cached(sql)?.query_row(params![&digest[..], text], |row| row.get(0))
}

/// What repeats of a cell share: it is read, hashed and parsed once for all of them.
#[derive(Debug)]
struct SharedRow {
    /// The row of the scenario, and the text of the engine.
    row: i64,
    engine: String,
    spec: RunSpec,
    keys: KeysBySeed,
    /// The scenario with the seed of the run that was read last, or why it cannot be read.
    scenario: Result<Arc<Scenario>, String>,
}

impl SharedRow {
    /// Returns none if the engine cannot be read.
    fn new(row: i64, engine: &str, scenario: String) -> Option<SharedRow> {
        let identity: Identity = serde_json::from_str(engine).ok()?;
        let spec = RunSpec { identity, scenario: ScenarioText::from_stored(scenario), seed: 0 };
        let scenario = spec.scenario.parse().map(Arc::new).map_err(|error| error.to_string());
        Some(SharedRow { row, engine: engine.to_owned(), keys: spec.keys_by_seed(), spec, scenario })
    }
}

/// The columns of a row that decide what came of a run. The scenario is not among them: the key tells whether it is whole.
struct Sealed {
    engine: String,
    seed: i64,
    state: u8,
    content: Vec<u8>,
    sampled: Option<Vec<u8>>,
    trace: Option<Vec<u8>>,
}

impl Sealed {
    fn of(run: &NewRun) -> Sealed {
        let engine = serde_json::to_string(&run.spec.identity).expect("its maps have text for keys");
        let seed = run.spec.seed as i64;
        match &run.content {
            NewContent::Done { counts, sampled, trace } => Sealed {
                engine,
                seed,
                state: DONE,
                content: counts.clone(),
                sampled: sampled.as_ref().map(columns::write_sampled),
                trace: trace.as_ref().map(StoredTrace::to_bytes),
            },
            NewContent::Failed(reason) => Sealed {
                engine,
                seed,
                state: FAILED,
                content: reason.clone().into_bytes(),
                sampled: None,
                trace: None,
            },
        }
    }

    /// The first eight bytes of a hash over the key and the columns. SQLite does not see a page that was written
    /// over as long as it still looks like one.
    fn checksum(&self, key: RunKey) -> i64 {
        let mut hash = Sha256::new();
        hash.update(key.0);
        hash.update(self.seed.to_le_bytes());
        hash.update([self.state]);
        let parts = [Some(self.engine.as_bytes()), Some(&self.content)];
        for part in parts.into_iter().chain([self.sampled.as_deref(), self.trace.as_deref()]) {
            hash.update(part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
            hash.update(part.unwrap_or_default());
        }
        let hash: [u8; 32] = hash.finalize().into();
        i64::from_le_bytes(hash[..8].try_into().expect("eight bytes"))
    }
}

#[cfg(test)]
mod tests;
