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
mod in_order;
mod sheet;
mod write;

use crate::metric_values::Names;
pub use crate::parquet::Kind;
pub use flows::{flows, write_flows};
pub use sheet::{Column, Entry, Sheet};

use crate::{
    Derived, RunKey, RunResult, RunState, Store, StoreError, StoreErrorKind, StoredRun, StoredState, Study,
};
use in_order::in_order;
use sheet::{DerivedValues, Layout, RowMaker};
use std::{collections::BTreeSet, convert::Infallible, fmt, io, sync::Arc};
use write::{Piece, PieceWriter};

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
    let found = Found::new(store, &study).map_err(ExportError::Store)?;
    let layout = found.layout(&study, store, canonical);
    let mut writer =
        PieceWriter::new(format, &layout.columns, (&study.name, "runs"), to).map_err(ExportError::Write)?;
    let maker = || {
        let mut rows = RowMaker::new(&layout);
        let columns = &layout.columns;
        move |place: usize, run: &RunResult, row: Option<&StoredRun>| {
            Piece::new(format, columns, rows.row(place, run, row))
        }
    };
    let order = layout.order(found.keys.len());
    let written = in_order((&study, store), &order, &maker, |piece| writer.write(&piece));
    written.map_err(ExportError::Store)?.and_then(|()| writer.finish()).map_err(ExportError::Write)?;
    Ok(found.unusable)
}

/// Returns all runs of the study that was last run in a store, one row a run.
///
/// # Errors
/// If the store cannot be read.
pub fn runs(store: &Store, study: Study) -> Result<Sheet, StoreError> {
    let found = Found::new(store, &study)?;
    let layout = found.layout(&study, store, false);
    let mut rows = Vec::with_capacity(found.keys.len());
    let maker = || {
        let mut rows = RowMaker::new(&layout);
        move |place: usize, run: &RunResult, row: Option<&StoredRun>| rows.row(place, run, row)
    };
    let read = in_order((&study, store), &layout.order(found.keys.len()), &maker, |row| {
        rows.push(row);
        Ok::<(), Infallible>(())
    })?;
    let Ok(()) = read;
    Ok(Sheet { columns: layout.columns, rows })
}

/// What must be known of all runs before the first row is written. Rows are read again for writing: of a million runs the
/// metrics do not fit into memory.
struct Found {
    /// The keys of all runs: cell by cell, repeats in order.
    keys: Vec<RunKey>,
    /// The metrics that any run has: those that the study names first.
    metrics: Vec<String>,
    derived: Vec<DerivedValues>,
    unusable: Vec<UnusableRun>,
}

impl Found {
    fn new(store: &Store, study: &Study) -> Result<Found, StoreError> {
        let keys = store.study()?.map(|kept| kept.keys).unwrap_or_default();
        let order: Vec<usize> = (0..keys.len()).collect();
        let maker = || {
            |_: usize, run: &RunResult, row: Option<&StoredRun>| {
                let names = match &run.state {
                    RunState::Done(metrics) => Some(Arc::clone(metrics.names())),
                    RunState::Failed(_) | RunState::Missing => None,
                };
                let values = study.derived.iter().map(|one| run.metric(&one.metric).unwrap_or(f64::NAN));
                (names, values.collect::<Vec<f64>>(), unusable(study, run, row))
            }
        };
        let mut names: BTreeSet<String> = BTreeSet::new();
        // Runs share their names, so that these are looked at once for each thread that reads.
        let mut seen: Vec<Names> = Vec::new();
        let mut measured: Vec<Vec<f64>> = vec![Vec::new(); study.derived.len()];
        let mut all_unusable = Vec::new();
        let read = in_order((study, store), &order, &maker, |(own, values, unusable)| {
            if let Some(own) = own.filter(|own| !seen.iter().any(|other| Arc::ptr_eq(own, other))) {
                names.extend(own.iter().cloned());
                seen.truncate(MOST_SEEN - 1);
                seen.insert(0, own);
            }
            measured.iter_mut().zip(values).for_each(|(all, value)| all.push(value));
            all_unusable.extend(unusable);
            Ok::<(), Infallible>(())
        })?;
        let Ok(()) = read;
        let derived = derive(study, &measured);
        let is_there = |derived: &&DerivedValues| derived.values.iter().any(|value| !value.is_nan());
        names.extend(derived.iter().filter(is_there).map(|derived| derived.name.clone()));
        let named = study.metrics.iter().filter(|name| names.remove(*name)).cloned().collect::<Vec<_>>();
        let metrics = named.into_iter().chain(names).collect();
        Ok(Found { keys, metrics, derived, unusable: all_unusable })
    }

    fn layout<'a>(&'a self, study: &'a Study, store: &'a Store, canonical: bool) -> Layout<'a> {
        let keys = canonical.then_some(&self.keys[..]);
        Layout::new(study, &self.metrics, &self.derived, keys, store.directory())
    }
}

/// Names that are compared by their addresses before they are looked at.
const MOST_SEEN: usize = 64;

/// Computes the derived metrics of all runs from the values of the metrics that they are made of.
fn derive(study: &Study, measured: &[Vec<f64>]) -> Vec<DerivedValues> {
    let repeats = study.repeats as usize;
    let of = |(derived, values): (&Derived, &Vec<f64>)| {
        let references = study.references(derived);
        let value = |(place, this): (usize, &f64)| {
            let reference = values[references[place / repeats]? * repeats + place % repeats];
            Some(derived.formula.value(*this, reference)?).filter(|_| !this.is_nan() && !reference.is_nan())
        };
        let values = values.iter().enumerate().map(|one| value(one).unwrap_or(f64::NAN)).collect();
        DerivedValues { name: derived.name.clone(), values }
    };
    study.derived.iter().zip(measured).map(of).collect()
}

fn unusable(study: &Study, run: &RunResult, row: Option<&StoredRun>) -> Option<UnusableRun> {
    let (RunState::Failed(reason), StoredState::Unusable(_)) = (&run.state, &row?.state) else { return None };
    Some(UnusableRun { cell: study.cell_label(run.cell), seed: run.seed, reason: reason.clone() })
}

/// Writes a sheet in a format. `rows` is what JSON calls its rows.
fn write_sheet(
    sheet: Sheet,
    format: Format,
    study: &str,
    rows: &str,
    to: &mut (impl io::Write + Send),
) -> Result<usize, ExportError> {
    let Sheet { columns, rows: all } = sheet;
    let mut writer = PieceWriter::new(format, &columns, (study, rows), to).map_err(ExportError::Write)?;
    for row in all {
        writer.write(&Piece::new(format, &columns, row)).map_err(ExportError::Write)?;
    }
    let rows = writer.rows;
    writer.finish().map_err(ExportError::Write)?;
    Ok(rows)
}

#[cfg(test)]
mod tests;
