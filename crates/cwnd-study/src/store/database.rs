//! The database file: what makes it ours, and how it is opened.

use crate::store_error::{StoreError, StoreErrorKind, damaged};
use crate::{Provenance, input_file};
use rusqlite::{Connection, OpenFlags, Transaction, config::DbConfig, ffi};
use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// `cwnd` in ASCII: tells our databases from others'.
const APPLICATION_ID: i32 = 0x6377_6e64;

/// Version of the schema. Stores of any other are refused. Version 2 added the study's scale; up to then counts were kept
/// as distances from what the program of that time expected, and nothing later can read them. Version 3 stores runs that
/// describe themselves.
const USER_VERSION: i32 = 3;

/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long to wait for processes that read, before the log is emptied.
const READER_PATIENCE: Duration = Duration::from_secs(1);

/// - `scenarios`: the canonical JSON of each scenario that was run, without its seed ([`crate::ScenarioText`]), under its
///   SHA-256.
/// - `runs`: what came of each run. `scenario` (a row of `scenarios`), `engine` (JSON of the engine's name and versions) and
///   `seed` (an unsigned number, of which these are the bits) say what was run, and `key` is the SHA-256 of that. `content`
///   is the outcome's counts or the reason of a failure, `sampled` the metrics that take samples, `trace` two hashes of its
///   file. `checksum` is over all of these. The rest tells when, where and how long, and decides nothing.
/// - `study`: the one study whose results these are, as it was last run, and the keys of its runs,
///   which eight bytes of a hash over the row follow.
///
/// `scenarios.text`, `runs.sampled` and the counts in `runs.content` are JSON, compressed in zlib's format.
const TABLES: &str = "
    CREATE TABLE scenarios (
        id INTEGER PRIMARY KEY,
        digest BLOB UNIQUE NOT NULL,
        text BLOB NOT NULL
    ) STRICT;
    CREATE TABLE runs (
        key BLOB PRIMARY KEY NOT NULL,
        scenario INTEGER NOT NULL REFERENCES scenarios (id),
        engine TEXT NOT NULL,
        seed INTEGER NOT NULL,
        state INTEGER NOT NULL,
        content BLOB NOT NULL,
        sampled BLOB,
        trace BLOB,
        checksum INTEGER NOT NULL,
        cpu_s REAL NOT NULL,
        finished INTEGER NOT NULL,
        version TEXT NOT NULL
    ) STRICT;
    CREATE TABLE study (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        name TEXT NOT NULL,
        text TEXT NOT NULL,
        repeats INTEGER NOT NULL,
        keys BLOB NOT NULL,
        version TEXT NOT NULL,
        source_commit TEXT,
        command TEXT NOT NULL,
        engine TEXT NOT NULL,
        scale TEXT NOT NULL
    ) STRICT;
";

/// Opens the database for writing, and makes it if there is none.
pub(super) fn create(path: &Path) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::sqlite(path, &error);
    check_types(path)?;
    let mut connection = Connection::open(path).map_err(failed)?;
    distrust(&connection).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    if !recognise_at_once(&connection, path)? {
        // A run's row has some 700 bytes with one flow and 1,100 with four. Such rows are not split between pages: smaller
        // pages leave more space empty. A transaction writes whole pages: larger ones need more of a full disk.
        connection.pragma_update(None, "page_size", 4096).map_err(failed)?;
        // Nothing is waited for when the mode is switched; another process may be doing the same.
        patiently(|| switch_to_log(&connection)).map_err(failed)?;
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(failed)?;
        if !recognise(&transaction, path)? {
            transaction.execute_batch(TABLES).map_err(failed)?;
            transaction.pragma_update(None, "user_version", USER_VERSION).map_err(failed)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
        }
        transaction.commit().map_err(failed)?;
    }
    // A process that is killed loses nothing; a power cut may lose the last transactions, never the rest.
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
    // The log is copied into the database when it has 1 MiB.
    connection.pragma_update(None, "wal_autocheckpoint", 256).map_err(failed)?;
    check(&connection, path)?;
    empty_log(&connection).map_err(failed)?;
    sync_names(path).map_err(|error| StoreError::io(path, "its directory cannot be synced", &error))?;
    // Whether a transaction gets through is found out before the first run and not after it.
    let version = format!("BEGIN IMMEDIATE; PRAGMA user_version = {USER_VERSION}; COMMIT");
    connection.execute_batch(&version).map_err(failed)?;
    Ok(connection)
}

/// Switches to a write-ahead log. The statement commits after its only row, so that it must be executed to its end to report
/// errors. `Connection::query_row` executes it up to the row.
fn switch_to_log(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA journal_mode = WAL")?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Copies the log into the database and truncates it, so that the next transaction begins a log with new salts.
///
/// A power cut can lose one transaction in the log and keep later ones. SQLite then reads the log up to the gap, and appends
/// there. The later transactions stay in the file, with valid checksums that continue the lost one. They would come back at
/// the next start if the same bytes were written into the gap, and the transaction with which [`create`] ends writes the same
/// bytes each time.
///
/// A process that reads for longer than [`READER_PATIENCE`] prevents this, and the log is left as it is. That is safe if another
/// process has the store open for writing, because that process has emptied the log.
fn empty_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(READER_PATIENCE)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    connection.busy_timeout(PATIENCE)
}

/// Syncs the directory of the database: that the journal of its creation was removed must survive a power cut, or the journal would
/// undo what is stored from now on. SQLite syncs the directory, too, but ignores a failure of the disk. Systems that do not sync
/// directories are no failure.
fn sync_names(path: &Path) -> std::io::Result<()> {
    /// The disk failed, or too many files are open in the system or in this process: the same numbers on every Unix.
    const FAILURES: [i32; 3] = [5, 23, 24];
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match std::fs::File::open(directory).and_then(|directory| directory.sync_all()) {
        Err(error) if cfg!(unix) && error.raw_os_error().is_some_and(|code| FAILURES.contains(&code)) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Opens a database that is there, for reading.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::sqlite(path, &error);
    check_types(path)?;
    // Whatever exists is a file, as its type has just been checked.
    if !exists(path)? {
        let reason = "there are no results; `cwnd run STUDY --out DIR` makes them";
        return Err(StoreError::new(path, StoreErrorKind::Missing, reason));
    }
    let connection = match read_only(path, "") {
        Ok(connection) => connection,
        // Reading creates a file next to the database, which a read-only directory does not allow. As long as nothing
        // waits in the log or in a journal, the database by itself is all there is.
        Err(_) if is_empty(path, "-wal") && is_empty(path, "-journal") => {
            read_only(path, "?immutable=1").map_err(failed)?
        }
        // A process was interrupted before its database had a log. Only a process that writes can undo what it has written.
        Err(error) if is_interrupted(&error) => {
            let reason = "a process was interrupted while it wrote the database; `cwnd run STUDY --out DIR` undoes the incomplete \
                          change";
            return Err(StoreError::new(path, StoreErrorKind::Missing, reason));
        }
        Err(error) => return Err(failed(error)),
    };
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    if !recognise_at_once(&connection, path)? {
        let reason =
            "it is empty: a run was broken off before it began; `cwnd run STUDY --out DIR` begins again";
        return Err(StoreError::new(path, StoreErrorKind::Missing, reason));
    }
    Ok(connection)
}

fn read_only(path: &Path, parameters: &str) -> rusqlite::Result<Connection> {
    let escaped: String = path
        .to_string_lossy()
        .chars()
        .map(|c| match c {
            '%' | '?' | '#' => format!("%{:02x}", u32::from(c)),
            other => other.to_string(),
        })
        .collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("file:{escaped}{parameters}"), flags)?;
    distrust(&connection)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Checks that the database and the files that SQLite keeps next to it are regular files, if they exist: SQLite would wait
/// for a pipe's writer for ever.
fn check_types(path: &Path) -> Result<(), StoreError> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        input_file::check_regular_if_present(&with_suffix(path, suffix)).map_err(|error| {
            let kind = if error.is_of_system { StoreErrorKind::Unwritable } else { StoreErrorKind::Foreign };
            StoreError::new(&error.path, kind, error.reason)
        })?;
    }
    Ok(())
}

/// Returns the path with a suffix to its name.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Lets nothing run that a file's schema says: results may come from anybody.
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    for allowed in [
        DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
        DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
    ] {
        connection.set_db_config(allowed, false)?;
    }
    Ok(())
}

/// Whether a table holds what is read from it: it is no view and no virtual table, and none of its columns is computed.
fn is_ordinary(view: &Transaction<'_>, table: &str) -> rusqlite::Result<bool> {
    let sql =
        "SELECT (SELECT count(*) FROM sqlite_schema WHERE name = ?1 AND type = 'table' AND rootpage > 0) = 1
               AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden != 0)";
    view.query_row(sql, [table], |row| row.get(0))
}

/// Returns whether there is a database. Its type has been checked.
fn exists(path: &Path) -> Result<bool, StoreError> {
    path.try_exists().map_err(|error| StoreError::io(path, "it cannot be examined", &error))
}

/// Returns whether a file next to the database is empty or does not exist. A file whose size cannot be read may have content.
fn is_empty(path: &Path, suffix: &str) -> bool {
    match std::fs::metadata(with_suffix(path, suffix)) {
        Ok(file) => file.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Returns whether a connection that may not write has found an incomplete change in the database.
fn is_interrupted(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_READONLY_ROLLBACK)
}

/// [`recognise`] in a transaction of its own: its questions are about one moment, though another process may just be
/// making the tables.
fn recognise_at_once(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let view = connection.unchecked_transaction().map_err(|error| StoreError::sqlite(path, &error))?;
    recognise(&view, path)
}

/// Whether the database is ours and of this version; false if it is empty. Asks several questions, so `view` must be
/// in a transaction.
fn recognise(view: &Transaction<'_>, path: &Path) -> Result<bool, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::sqlite(path, &error);
    let pragma = |name: &str| view.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let application = pragma("application_id").map_err(failed)?;
    let version = pragma("user_version").map_err(failed)?;
    let foreign = |reason: String| Err(StoreError::new(path, StoreErrorKind::Foreign, reason));
    match (application, version) {
        (APPLICATION_ID, USER_VERSION) => {
            for table in ["runs", "scenarios", "study"] {
                if !is_ordinary(view, table).map_err(failed)? {
                    return foreign(format!(
                        "its `{table}` is no ordinary table, so cwnd did not make it; choose another directory"
                    ));
                }
            }
            Ok(true)
        }
        (APPLICATION_ID, 1..USER_VERSION) => foreign(format!(
            "it was made by an earlier version of cwnd (its schema is version {version}, this program's is \
             {USER_VERSION}), and its counts cannot be read any more; {}",
            recreate(view, path)
        )),
        (APPLICATION_ID, _) => foreign(format!(
            "it was made by a later version of cwnd (its schema is version {version}, this program's is \
             {USER_VERSION}); use that version, or choose another directory"
        )),
        (0, 0) => {
            let tables = view.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, u32>(0));
            match tables.map_err(failed)? {
                0 => Ok(false),
                _ => foreign("it is another program's database; choose another directory".to_owned()),
            }
        }
        _ => foreign("it is another program's database; choose another directory".to_owned()),
    }
}

/// Says how to recreate the results of an earlier schema. Both earlier schemas have the same columns of the study.
fn recreate(view: &Transaction<'_>, path: &Path) -> String {
    let directory = path.parent().unwrap_or(Path::new(""));
    // A path without a name of its own, such as `.`, cannot get a suffix.
    let named =
        directory.file_name().map_or_else(|| std::path::absolute(directory), |_| Ok(directory.into()));
    let directory = named.unwrap_or_else(|_| directory.into());
    let away = format!("mv {0} {0}.old", directory.display());
    let command = view.query_row("SELECT command FROM study", [], |row| row.get::<_, String>(0));
    match command.map(|command| Provenance::command_in(&command, &directory)) {
        Ok(command) => format!("move the directory away and run the study again: `{away} && {command}`"),
        Err(_) => format!("it has no study; move the directory away: `{away}`"),
    }
}

/// Finds damage before anything is written to it.
fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| StoreError::sqlite(path, &error))?;
    match found.as_str() {
        "ok" => Ok(()),
        how => Err(StoreError::new(path, StoreErrorKind::Damaged, damaged(path, how))),
    }
}

fn patiently<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
                    && begin.elapsed() < PATIENCE =>
            {
                thread::sleep(Duration::from_millis(20));
            }
            other => return other,
        }
    }
}
