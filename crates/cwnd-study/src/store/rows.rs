//! The runs of a store in a directory: rows of a database.

use super::{
    DATABASE, NewContent, NewRun, RunCounts, StoredRun, StoredState, StoredTrace, columns, database, traces,
};
use crate::{RunKey, RunSpec, ScenarioText, StoreError, key::KeysBySeed};
use cwnd_scenario::{Identity, Scenario};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use sha2::{Digest, Sha256};
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

pub(super) const DONE: u8 = 0;
const FAILED: u8 = 1;

/// The database of a directory.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) directory: PathBuf,
    pub(super) connection: Connection,
    /// What the run that was read last shares with the other repeats of its cell.
    last_read: RefCell<Option<SharedRow>>,
}

impl Rows {
    /// Opens the database of a directory for writing; makes it if it is not there.
    pub(super) fn create(directory: &Path) -> Result<Rows, StoreError> {
        Ok(Rows::new(directory, database::create(&directory.join(DATABASE))?))
    }

    /// Opens the database of a directory for reading.
    pub(super) fn open(directory: &Path) -> Result<Rows, StoreError> {
        Ok(Rows::new(directory, database::open(&directory.join(DATABASE))?))
    }

    fn new(directory: &Path, connection: Connection) -> Rows {
        Rows { directory: directory.into(), connection, last_read: RefCell::default() }
    }

    /// Says what SQLite did not do.
    pub(super) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.directory.join(DATABASE), error)
    }

    /// Begins a transaction that only reads. It has the state at its first statement.
    pub(super) fn view(&self) -> Result<Transaction<'_>, StoreError> {
        self.connection.unchecked_transaction().map_err(|error| self.failed(&error))
    }

    pub(super) fn get(&self, key: RunKey) -> Result<Option<StoredRun>, StoreError> {
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

    /// Stores runs in one transaction.
    pub(super) fn put_all(&mut self, runs: &mut dyn Iterator<Item = &NewRun>) -> Result<(), StoreError> {
        let finished = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
        let execute = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // The repeats of a cell share a scenario, whose row is looked up once.
            let mut last: Option<(&ScenarioText, i64)> = None;
            for run in runs {
                let text = &run.spec.scenario;
                let row = match last.filter(|(of, _)| *of == text) {
                    Some((_, row)) => row,
                    None => put_scenario(&transaction, text)?,
                };
                put_run(&transaction, run, row, finished)?;
                last = Some((text, row));
            }
            transaction.commit()
        };
        execute(&mut self.connection).map_err(|error| self.failed(&error))
    }

    pub(super) fn stored_since(&self, cursor: &mut i64) -> Result<Vec<RunKey>, StoreError> {
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

    pub(super) fn count(&self, keys: &[RunKey]) -> Result<RunCounts, StoreError> {
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut statement = self.connection.prepare_cached("SELECT key, state FROM runs").map_err(failed)?;
        let rows = statement.query_map([], |row| Ok((RunKey(row.get(0)?), row.get(1)?))).map_err(failed)?;
        let states: HashMap<RunKey, u8> = rows.collect::<rusqlite::Result<_>>().map_err(failed)?;
        let of = |state| keys.iter().filter(|key| states.get(key) == Some(&state)).count();
        Ok(RunCounts { done: of(DONE), failed: of(FAILED) })
    }

    pub(super) fn cursor(&self) -> Result<i64, StoreError> {
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
        let trace =
            sealed.trace.as_deref().map(|bytes| traces::find(&self.directory, key, bytes).map(Box::new));
        let trace = trace.transpose()?;
        let (spec, outcome) = (Box::new(spec), Arc::new(outcome));
        Ok(StoredState::Done { spec, scenario, outcome, sampled, trace })
    }
}

/// Adds the row of a run, whose scenario has this row. `finished` is in milliseconds since 1970.
fn put_run(connection: &Connection, run: &NewRun, scenario: i64, finished: i64) -> rusqlite::Result<()> {
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
        &run.key.0[..],
        scenario,
        sealed.engine,
        sealed.seed,
        sealed.state,
        sealed.content,
        sealed.sampled,
        sealed.trace,
        sealed.checksum(run.key),
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
pub(super) struct Sealed {
    pub engine: String,
    pub seed: i64,
    pub state: u8,
    pub content: Vec<u8>,
    pub sampled: Option<Vec<u8>>,
    pub trace: Option<Vec<u8>>,
}

impl Sealed {
    fn of(run: &NewRun) -> Sealed {
        let engine = serde_json::to_string(&run.spec.identity).expect("its maps have text for keys");
        let seed = run.spec.seed as i64;
        let failed = |engine, reason: &str| Sealed {
            engine,
            seed,
            state: FAILED,
            content: reason.to_owned().into_bytes(),
            sampled: None,
            trace: None,
        };
        match &run.content {
            NewContent::Done { counts, sampled, trace } => match counts.encoded() {
                Ok(content) => Sealed {
                    engine,
                    seed,
                    state: DONE,
                    content: content.into_owned(),
                    sampled: sampled.as_ref().map(columns::write_sampled),
                    trace: trace.as_ref().map(StoredTrace::to_bytes),
                },
                Err(reason) => failed(engine, &reason),
            },
            NewContent::Failed(reason) => failed(engine, reason),
        }
    }

    /// The first eight bytes of a hash over the key and the columns. SQLite does not see a page that was written
    /// over as long as it still looks like one.
    pub(super) fn checksum(&self, key: RunKey) -> i64 {
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
