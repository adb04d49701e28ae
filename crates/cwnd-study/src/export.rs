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
pub use sheet::{Column, Entry, Sheet, axis_column};

use crate::{
    Derived, KeptStudy, RunResult, RunState, Store, StoreError, StoreErrorKind, StoredRun, StoredState,
    Study,
    metric_values::Names,
    results::{in_order, kept},
};
use sheet::{DerivedValues, Layout, RowMaker};
use std::{
    collections::BTreeSet,
    convert::Infallible,
    fmt,
    fs::File,
    io::{self, BufWriter, Seek},
    sync::Arc,
};
use write::{PieceMaker, PieceWriter};

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
/// The store is read twice: the names of all metrics come before the first row. [`write_file`] mostly reads it once.
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
    check(store, format, canonical)?;
    let of_all = Known::of_all(store, &study).map_err(ExportError::Store)?;
    of_all.write((store, &study), format, canonical, to).map_err(|stop| stop.error(store))
}

/// The same into a file, which is written with the metrics of some runs until a run has another one, and then begun again with
/// those of all runs.
///
/// # Errors
/// See [`write()`].
pub fn write_file(
    store: &Store,
    study: Study,
    format: Format,
    canonical: bool,
    file: &mut BufWriter<File>,
) -> Result<Vec<UnusableRun>, ExportError> {
    check(store, format, canonical)?;
    let of_some = Known::of_some(store, &study).map_err(ExportError::Store)?;
    match of_some.write((store, &study), format, canonical, file) {
        Err(Stop::OtherMetric) => {
            file.rewind().and_then(|()| file.get_ref().set_len(0)).map_err(ExportError::Write)?;
            write(store, study, format, canonical, file)
        }
        written => written.map_err(|stop| stop.error(store)),
    }
}

/// Returns all runs of the study that was last run in a store, one row a run.
///
/// # Errors
/// If the store cannot be read.
pub fn runs(store: &Store, study: Study) -> Result<Sheet, StoreError> {
    if let Some(sheet) = Known::of_some(store, &study)?.sheet((store, &study))? {
        return Ok(sheet);
    }
    Known::of_all(store, &study)?.sheet((store, &study))?.ok_or_else(|| changed(store))
}

fn check(store: &Store, format: Format, canonical: bool) -> Result<(), ExportError> {
    if canonical && format == Format::Parquet {
        let reason = "a canonical export is CSV or JSON: a Parquet file tells which version wrote it";
        let error = StoreError::new(&store.place(), StoreErrorKind::Other, reason);
        return Err(ExportError::Store(error));
    }
    Ok(())
}

/// Why rows end before the last one.
enum Stop {
    Store(StoreError),
    Write(io::Error),
    /// A run has a metric that has no column.
    OtherMetric,
}

impl Stop {
    /// Returns what is wrong if the columns were those of all runs.
    fn error(self, store: &Store) -> ExportError {
        match self {
            Stop::Store(error) => ExportError::Store(error),
            Stop::Write(error) => ExportError::Write(error),
            Stop::OtherMetric => ExportError::Store(changed(store)),
        }
    }
}

/// Returns the error of an export in which a run has a metric that has no column, though the columns are those of all runs.
fn changed(store: &Store) -> StoreError {
    let reason = "while it was read, a run was stored with a metric that no other run has: export again";
    StoreError::new(&store.place(), StoreErrorKind::Other, reason)
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Stop {
        Stop::Store(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Write(error)
    }
}

/// What is known before the first row is written.
struct Known {
    kept: KeptStudy,
    /// The metrics that the runs looked at have: those that the study names first.
    metrics: Vec<String>,
    derived: Vec<DerivedValues>,
}

impl Known {
    /// Reads the names of all runs. The runs are read again for writing: the metrics of a million runs do not fit into memory.
    fn of_all(store: &Store, study: &Study) -> Result<Known, StoreError> {
        let kept = kept(store)?;
        let order = (0..kept.keys.len()).collect::<Vec<_>>();
        Known::of(store, study, kept, &order)
    }

    /// Reads the names of some runs, which mostly have the metrics of all. If the study has derived metrics it reads all runs, because
    /// these are computed from values of several runs.
    fn of_some(store: &Store, study: &Study) -> Result<Known, StoreError> {
        /// Neighbours, which differ in the last axes; and as many at equal distances, which differ in the first.
        const SOME: usize = 64;
        if !study.derived.is_empty() {
            return Known::of_all(store, study);
        }
        let kept = kept(store)?;
        let runs = kept.keys.len();
        let distant = (0..runs).step_by(runs.div_ceil(SOME).max(1));
        // Samples give metrics, and few runs may have them.
        let repeats = study.repeats as usize;
        let traced = (0..study.cells.len()).find(|cell| study.is_traced(*cell, 0)).map(|cell| cell * repeats);
        let order: BTreeSet<usize> =
            (0..runs.min(SOME)).chain(distant).chain(traced.filter(|place| *place < runs)).collect();
        Known::of(store, study, kept, &order.into_iter().collect::<Vec<_>>())
    }

    fn of(store: &Store, study: &Study, kept: KeptStudy, order: &[usize]) -> Result<Known, StoreError> {
        let maker = || {
            |_: usize, run: RunResult, _: Option<StoredRun>| {
                let names = match &run.state {
                    RunState::Done(metrics) => Some(Arc::clone(metrics.names())),
                    RunState::Failed(_) | RunState::Missing => None,
                };
                let values = study.derived.iter().map(|one| run.metric(&one.metric).unwrap_or(f64::NAN));
                (names, values.collect::<Vec<f64>>())
            }
        };
        let mut names: BTreeSet<String> = BTreeSet::new();
        // Runs share their names, so that these are looked at once for each thread that reads.
        let mut seen: Vec<Names> = Vec::new();
        let mut measured: Vec<Vec<f64>> = vec![Vec::new(); study.derived.len()];
        let read = in_order((study, store, &kept), order, &maker, |(own, values)| {
            if let Some(own) = own.filter(|own| !seen.iter().any(|other| Arc::ptr_eq(own, other))) {
                names.extend(own.iter().cloned());
                seen.truncate(MOST_SEEN - 1);
                seen.insert(0, own);
            }
            measured.iter_mut().zip(values).for_each(|(all, value)| all.push(value));
            Ok::<(), Infallible>(())
        })?;
        let Ok(()) = read;
        let derived = derive(study, &measured);
        let is_there = |derived: &&DerivedValues| derived.values.iter().any(|value| !value.is_nan());
        names.extend(derived.iter().filter(is_there).map(|derived| derived.name.clone()));
        let named = study.metrics.iter().filter(|name| names.remove(*name)).cloned().collect::<Vec<_>>();
        let metrics = named.into_iter().chain(names).collect();
        Ok(Known { kept, metrics, derived })
    }

    fn layout<'a>(&'a self, (store, study): (&'a Store, &'a Study), canonical: bool) -> Layout<'a> {
        let keys = canonical.then_some(&self.kept.keys[..]);
        Layout::new(study, &self.metrics, &self.derived, keys, store.directory())
    }

    /// Writes all runs. Returns those that cannot be used, in the study's order.
    fn write(
        &self,
        (store, study): (&Store, &Study),
        format: Format,
        canonical: bool,
        to: &mut (impl io::Write + Send),
    ) -> Result<Vec<UnusableRun>, Stop> {
        let layout = self.layout((store, study), canonical);
        let mut writer = PieceWriter::new(format, &layout.columns, (&study.name, "runs"), to)?;
        let maker = || {
            let mut rows = RowMaker::new(&layout);
            let pieces = PieceMaker::new(format, &layout.columns);
            move |place: usize, run: RunResult, row: Option<StoredRun>| {
                let piece = pieces.piece(rows.row(place, &run, row.as_ref())?);
                Some((piece, unusable(study, &run, row.as_ref()).map(|run| (place, run))))
            }
        };
        let mut unusable = Vec::new();
        let order = layout.order(self.kept.keys.len());
        in_order((study, store, &self.kept), &order, &maker, |made| {
            let (piece, cannot_be_used) = made.ok_or(Stop::OtherMetric)?;
            unusable.extend(cannot_be_used);
            writer.write(&piece).map_err(Stop::Write)
        })??;
        writer.finish()?;
        unusable.sort_by_key(|(place, _)| *place);
        Ok(unusable.into_iter().map(|(_, run)| run).collect())
    }

    /// Returns all runs; none if one of them has a metric that has no column.
    fn sheet(&self, (store, study): (&Store, &Study)) -> Result<Option<Sheet>, StoreError> {
        let layout = self.layout((store, study), false);
        let mut rows = Vec::with_capacity(self.kept.keys.len());
        let maker = || {
            let mut rows = RowMaker::new(&layout);
            move |place: usize, run: RunResult, row: Option<StoredRun>| rows.row(place, &run, row.as_ref())
        };
        let order = layout.order(self.kept.keys.len());
        let read = in_order((study, store, &self.kept), &order, &maker, |row| {
            rows.push(row.ok_or(())?);
            Ok::<(), ()>(())
        })?;
        Ok(read.is_ok().then_some(Sheet { columns: layout.columns, rows }))
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
    let pieces = PieceMaker::new(format, &columns);
    for row in all {
        writer.write(&pieces.piece(row)).map_err(ExportError::Write)?;
    }
    let rows = writer.rows;
    writer.finish().map_err(ExportError::Write)?;
    Ok(rows)
}

#[cfg(test)]
mod tests;
