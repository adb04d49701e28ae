//! Results as a table for other tools: CSV, Parquet or JSON, one row a run.
//!
//! | column | meaning |
//! |---|---|
//! | `key` | 64 hexadecimal digits that decide the outcome (canonical exports only) |
//! | one for each axis | the label of its point; and `<axis>_value` where points have values, in the axis's unit |
//! | `repeat` | from 0 |
//! | `seed` | seed of the run |
//! | `state` | `done`, `failed` or `missing` |
//! | `reason` | why it failed |
//! | one for each metric | those that the study names first, then all others by name; absent where not measured |
//! | one for each setting that applies, and `<setting>_value` for quantities | its value in effect, as a flag or a study takes it; the number is in the unit of an axis of it |
//! | `versions` | the versions of the engine and of all that took part (not in canonical exports) |
//! | `trace_sha256` | hash of the samples ([`trace_file::digest`](crate::trace_file::digest)), if they are kept |
//! | `trace` | their file, relative to the directory (not in canonical exports) |
//! | `cpu_s` | CPU time of the run, seconds (not in canonical exports) |
//! | `finished` | when it was stored, UTC (not in canonical exports) |
//! | `version` | the version of cwnd that ran it (not in canonical exports) |
//!
//! Rows are in the study's order: cell by cell, repeats in order. An axis whose name another column has gets `axis_`
//! before it; an axis of a setting with the same values is one column. Settings are named by their keys with `_` for `-`
//! (`packet_size`), are the same in the exports of all studies, and include defaults, so files of several studies can be
//! joined. Numbers are the shortest text that reads back as the same number; an absent value is an empty field, a
//! null, or not in the JSON object.
//!
//! A **canonical** export is what "the same results" means: rows are sorted by key, nothing tells when, where or how
//! fast they were made, and equal results give equal bytes, whatever the threads, the number of interruptions and the
//! order of the runs. It is CSV or JSON.
//!
//! In CSV a text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return)
//! has an apostrophe before it. Numbers, Parquet and JSON have none.

mod flows;
mod sheet;
mod write;

pub use crate::parquet::Kind;
pub use flows::{flows, write_flows};
pub use sheet::{Column, Entry, Sheet};

use crate::{Results, RunResult, RunState, Store, StoreError, StoreErrorKind, StoredRun, StoredState, Study};
use std::{fmt, io};

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values (RFC 4180, lines ended by a line feed).
    Csv,
    /// Apache Parquet.
    Parquet,
    /// One document: the study's name, and an object a run, each on a line of its own.
    Json,
}

impl Format {
    /// Each with the extension of its files.
    pub const ALL: [(&str, Format); 3] =
        [("csv", Format::Csv), ("parquet", Format::Parquet), ("json", Format::Json)];
}

/// Why an export failed.
#[derive(Debug)]
pub enum ExportError {
    /// The store cannot be read.
    Store(StoreError),
    /// The text cannot be written.
    Write(io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Store(error) => error.fmt(f),
            ExportError::Write(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExportError {}

/// A run that the store has and that cannot be used: its row is damaged, or from another version of cwnd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableRun {
    /// The label of its cell.
    pub cell: String,
    /// Its seed.
    pub seed: u64,
    /// Why, and what to do.
    pub reason: String,
}

/// Writes all runs of the study that was last run in a store. Returns those that cannot be used; their rows say `failed`.
///
/// # Errors
/// If the store cannot be read or the text not be written; or a canonical export is to be Parquet, whose files tell
/// what wrote them.
pub fn write(
    store: &Store,
    study: Study,
    format: Format,
    canonical: bool,
    to: &mut (impl io::Write + Send),
) -> Result<Vec<UnusableRun>, ExportError> {
    if canonical && format == Format::Parquet {
        let reason = "a canonical export is CSV or JSON: a Parquet file tells which version wrote it";
        let error = StoreError::new(&store.place(), StoreErrorKind::Other, reason);
        return Err(ExportError::Store(error));
    }
    let (sheet, results, rows) = sheet_of(store, study, canonical).map_err(ExportError::Store)?;
    write_sheet(&sheet, format, &results.study.name, "runs", to)?;
    let unusable = |(run, row): (&RunResult, &Option<StoredRun>)| match (&run.state, row.as_ref()?) {
        (RunState::Failed(reason), StoredRun { state: StoredState::Unusable(_), .. }) => Some(UnusableRun {
            cell: results.study.cell_label(run.cell),
            seed: run.seed,
            reason: reason.clone(),
        }),
        _ => None,
    };
    Ok(results.runs.iter().zip(&rows).filter_map(unusable).collect())
}

/// Returns all runs of the study that was last run in a store, one row a run.
///
/// # Errors
/// If the store cannot be read.
pub fn runs(store: &Store, study: Study) -> Result<Sheet, StoreError> {
    sheet_of(store, study, false).map(|(sheet, _, _)| sheet)
}

type Rows = Vec<Option<StoredRun>>;

fn sheet_of(store: &Store, study: Study, canonical: bool) -> Result<(Sheet, Results, Rows), StoreError> {
    let keys = store.study()?.map(|kept| kept.keys).unwrap_or_default();
    let mut rows = Vec::new();
    let results = Results::with_each(study, store, &mut |_, row| rows.push(row))?;
    let sheet = Sheet::new(&results, &rows, &keys, store.directory(), canonical);
    Ok((sheet, results, rows))
}

/// Writes a sheet in a format. `rows` is what JSON calls its rows.
fn write_sheet(
    sheet: &Sheet,
    format: Format,
    study: &str,
    rows: &str,
    to: &mut (impl io::Write + Send),
) -> Result<(), ExportError> {
    let written = match format {
        Format::Csv => write::csv(sheet, to),
        Format::Parquet => write::parquet(sheet, to),
        Format::Json => write::json(sheet, (study, rows), to),
    };
    written.map_err(ExportError::Write)
}

#[cfg(test)]
mod tests;
