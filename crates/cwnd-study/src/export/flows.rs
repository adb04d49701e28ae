//! The flows of all runs as a table, one row a flow.

use super::sheet::{Column, Entry, Sheet, axis_column};
use super::{ExportError, Format, write_sheet};
use crate::parquet::Kind;
use crate::{Results, RunResult, Store, StoreError, StoredRun, StoredState, Study};
use cwnd_metrics::size_class;
use std::io;

/// The columns after those of the axes.
const COLUMNS: [(&str, Kind); 13] = [
    ("repeat", Kind::Unsigned),
    ("seed", Kind::Unsigned),
    ("flow", Kind::Unsigned),
    ("algorithm", Kind::Text),
    ("group", Kind::Text),
    ("kind", Kind::Text),
    ("size_bytes", Kind::Unsigned),
    ("size_class", Kind::Text),
    ("start_s", Kind::Double),
    ("completed_s", Kind::Double),
    ("completion_time_s", Kind::Double),
    ("slowdown", Kind::Double),
    ("throughput_bps", Kind::Double),
];

/// Returns every flow of the runs of the study that was last run in a store, short flows included: cell by cell, repeats and
/// flows in order. Runs that are missing or failed have no flows.
///
/// | column | meaning |
/// |---|---|
/// | one for each axis | the label of its point |
/// | `repeat`, `seed` | the run; repeats count from 0 |
/// | `flow` | the number of the flow in the run, from 1 |
/// | `algorithm`, `group` | its algorithm with parameters; its group, if it has a name |
/// | `kind` | `lasting`, `short`, or `reverse` |
/// | `size_bytes`, `size_class` | what it has to send; absent of a flow that sends until the end |
/// | `start_s`, `completed_s` | when it started, and when its last byte was acknowledged, seconds from the beginning of the run |
/// | `completion_time_s` | the time between the two; absent if it did not complete |
/// | `slowdown`, `throughput_bps` | the metrics of this name, of the flow alone |
///
/// # Errors
/// If the store cannot be read.
pub fn flows(store: &Store, study: Study) -> Result<Sheet, StoreError> {
    let taken = |name: &str| COLUMNS.iter().any(|(column, _)| *column == name);
    let axes = study.axes.iter().map(|one| Column { name: axis_column(&one.name, taken), kind: Kind::Text });
    let own = COLUMNS.iter().map(|(name, kind)| Column { name: (*name).to_owned(), kind: *kind });
    let columns = axes.chain(own).collect();
    let like = study.clone();
    let make = |run: &RunResult, row: Option<StoredRun>| match row.map(|row| row.state) {
        Some(StoredState::Done { outcome, sampled, .. }) => rows(&like, run, &outcome, &sampled),
        _ => Vec::new(),
    };
    let (_, rows) = Results::with_each(study, store, &make)?;
    Ok(Sheet { columns, rows: rows.into_iter().flatten().collect() })
}

/// Writes what [`flows`] returns. Returns how many flows there are.
///
/// # Errors
/// If the store cannot be read or the text not be written.
pub fn write_flows(
    store: &Store,
    study: Study,
    format: Format,
    to: &mut (impl io::Write + Send),
) -> Result<usize, ExportError> {
    let name = study.name.clone();
    let sheet = flows(store, study).map_err(ExportError::Store)?;
    write_sheet(sheet, format, &name, "flows", to)
}

type Sampled = std::collections::BTreeMap<String, f64>;

/// Returns the flows of a run.
fn rows(
    study: &Study,
    run: &RunResult,
    outcome: &cwnd_scenario::Outcome,
    sampled: &Sampled,
) -> Vec<Vec<Entry>> {
    let scenario = study.scenario(run.cell, run.repeat);
    let of_flows = |name: &str| {
        let mut values: Vec<Option<f64>> = vec![None; outcome.flows.len()];
        for (flow, value) in cwnd_metrics::of_each_flow(&scenario, outcome, sampled, name) {
            values[flow] = value;
        }
        values
    };
    let (slowdown, throughput) = (of_flows("slowdown"), of_flows("throughput_bps"));
    let text = |text: Option<String>| text.map_or(Entry::Absent, Entry::Text);
    let number = |number: Option<f64>| number.map_or(Entry::Absent, Entry::Number);
    let mut rows = Vec::with_capacity(outcome.flows.len());
    for (i, (spec, counted)) in scenario.flows.iter().zip(&outcome.flows).enumerate() {
        let coordinates = study.axes.iter().zip(&study.cells[run.cell].coordinates);
        let mut row: Vec<Entry> =
            coordinates.map(|(axis, point)| Entry::Text(axis.points[*point].label.clone())).collect();
        let kind = match (spec.reverse, spec.short) {
            (true, _) => "reverse",
            (false, true) => "short",
            (false, false) => "lasting",
        };
        let end = counted.completed.map(|end| end.as_secs_f64());
        let taken = counted.completed.map(|end| end.0.saturating_sub(counted.start.0) as f64 / 1e9);
        row.extend([
            Entry::Count(run.repeat.into()),
            Entry::Count(run.seed),
            Entry::Count(i as u64 + 1),
            Entry::Text(spec.algorithm.to_string()),
            text(spec.group.clone()),
            Entry::Text(kind.to_owned()),
            spec.bytes.map_or(Entry::Absent, Entry::Count),
            text(spec.bytes.map(|bytes| size_class(bytes).to_owned())),
            Entry::Number(counted.start.as_secs_f64()),
            number(end),
            number(taken),
            number(slowdown[i]),
            number(throughput[i]),
        ]);
        rows.push(row);
    }
    rows
}
