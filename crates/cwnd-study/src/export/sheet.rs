//! Columns and rows, whatever the format.

use crate::{
    RunKey, RunResult, RunState, Samples, StoredRun, StoredState, Study, keys, metric_values::Names,
    parquet::Kind,
};
use cwnd_experiment::settings::Setting;
use std::{
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows: each has an entry for each column, absent or of the column's kind.
    pub rows: Vec<Vec<Entry>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its entries are.
    pub kind: Kind,
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// There is no value.
    Absent,
    /// A text.
    Text(String),
    /// A count.
    Count(u64),
    /// A number.
    Number(f64),
}

/// Returns the name of an axis's column: that of the axis, with `axis_` before it if another column has that name.
pub fn axis_column(axis: &str, taken: impl Fn(&str) -> bool) -> String {
    if taken(axis) { format!("axis_{axis}") } else { axis.to_owned() }
}

/// What the rows of an export are made of.
pub(super) struct Layout<'a> {
    study: &'a Study,
    pub columns: Vec<Column>,
    /// The metrics, in the order of their columns.
    metrics: &'a [String],
    derived: &'a [DerivedValues],
    settings: Settings,
    /// The keys of all runs, if the export is canonical.
    keys: Option<&'a [RunKey]>,
    directory: Option<&'a Path>,
}

/// The values of a derived metric, one for each run; not a number where a run has none.
pub(super) struct DerivedValues {
    pub name: String,
    pub values: Vec<f64>,
}

impl<'a> Layout<'a> {
    pub fn new(
        study: &'a Study,
        metrics: &'a [String],
        derived: &'a [DerivedValues],
        keys: Option<&'a [RunKey]>,
        directory: Option<&'a Path>,
    ) -> Layout<'a> {
        let settings = Settings::of(study);
        let mut columns: Vec<Column> = Vec::new();
        let fixed = ["key", "repeat", "seed", "state", "reason", "trace_sha256"];
        let own = ["versions", "trace", "cpu_s", "finished", "version"];
        let mut add = |name: &str, kind| columns.push(Column { name: name.to_owned(), kind });
        if keys.is_some() {
            add("key", Kind::Text);
        }
        for axis in &study.axes {
            let taken = |name: &str| {
                fixed.contains(&name)
                    || own.contains(&name)
                    || metrics.iter().any(|metric| metric == name)
                    || settings.columns.iter().any(|column| column.name == name)
            };
            let name = axis_column(&axis.name, taken);
            add(&name, Kind::Text);
            if axis.points.iter().any(|point| point.value.is_some()) {
                add(&format!("{name}_value"), Kind::Double);
            }
        }
        add("repeat", Kind::Unsigned);
        add("seed", Kind::Unsigned);
        add("state", Kind::Text);
        add("reason", Kind::Text);
        metrics.iter().for_each(|metric| add(metric, Kind::Double));
        add("trace_sha256", Kind::Text);
        settings.columns.iter().for_each(|column| add(&column.name, column.kind));
        if keys.is_none() {
            let kinds = [Kind::Text, Kind::Text, Kind::Double, Kind::Text, Kind::Text];
            own.iter().zip(kinds).for_each(|(name, kind)| add(name, kind));
        }
        Layout { study, columns, metrics, derived, settings, keys, directory }
    }

    /// Returns the order of the rows, by the places of their runs.
    pub fn order(&self, runs: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..runs).collect();
        if let Some(keys) = self.keys {
            order.sort_by_key(|place| (keys.get(*place), *place));
        }
        order
    }
}

/// Makes rows.
pub(super) struct RowMaker<'a> {
    layout: &'a Layout<'a>,
    /// The names that the last run's metrics had, and for each column of a metric its place among them.
    last: Option<(Names, Vec<Option<usize>>)>,
}

impl<'a> RowMaker<'a> {
    pub fn new(layout: &'a Layout<'a>) -> RowMaker<'a> {
        RowMaker { layout, last: None }
    }

    /// Makes the row of the run at this place; none if it has a metric that has no column.
    pub fn row(&mut self, place: usize, run: &RunResult, stored: Option<&StoredRun>) -> Option<Vec<Entry>> {
        let Layout { study, columns, settings, .. } = self.layout;
        let mut row = Vec::with_capacity(columns.len());
        if let Some(keys) = self.layout.keys {
            row.push(keys.get(place).map_or(Entry::Absent, |key| Entry::Text(key.to_string())));
        }
        for (axis, point) in study.axes.iter().zip(&study.cells[run.cell].coordinates) {
            row.push(Entry::Text(axis.points[*point].label.clone()));
            if axis.points.iter().any(|point| point.value.is_some()) {
                row.push(axis.points[*point].value.map_or(Entry::Absent, Entry::Number));
            }
        }
        let (state, reason) = match &run.state {
            RunState::Done(_) => ("done", None),
            RunState::Failed(reason) => ("failed", Some(reason.clone())),
            RunState::Missing => ("missing", None),
        };
        row.extend([Entry::Count(run.repeat.into()), Entry::Count(run.seed), Entry::Text(state.into())]);
        row.push(reason.map_or(Entry::Absent, Entry::Text));
        self.metrics(place, run, &mut row)?;
        row.push(stored.and_then(samples).map_or(Entry::Absent, Entry::Text));
        row.extend(settings.cells[run.cell].iter().cloned());
        if self.layout.keys.is_none() {
            let directory = self.layout.directory;
            let trace = run.trace.as_ref().and_then(Samples::path);
            let trace = trace.map(|path| directory.and_then(|d| path.strip_prefix(d).ok()).unwrap_or(path));
            let text = |text: Option<String>| text.map_or(Entry::Absent, Entry::Text);
            row.push(text(stored.and_then(versions)));
            row.push(text(trace.map(|path| path.display().to_string())));
            row.push(stored.map_or(Entry::Absent, |run| Entry::Number(run.cpu_s)));
            row.push(text(stored.map(|run| utc(run.finished))));
            row.push(text(stored.map(|run| run.version.clone())));
        }
        Some(row)
    }

    /// Adds the metrics of a run, if all have columns.
    fn metrics(&mut self, place: usize, run: &RunResult, row: &mut Vec<Entry>) -> Option<()> {
        let Layout { metrics, derived, .. } = self.layout;
        let begin = row.len();
        match &run.state {
            RunState::Done(values) => {
                let names = values.names();
                if self.last.as_ref().is_none_or(|(last, _)| !Arc::ptr_eq(last, names)) {
                    let find = |metric: &String| names.binary_search(metric).ok();
                    let places: Vec<_> = metrics.iter().map(find).collect();
                    if places.iter().flatten().count() < names.len() {
                        return None;
                    }
                    self.last = Some((Arc::clone(names), places));
                }
                let places = self.last.iter().flat_map(|(_, places)| places);
                row.extend(
                    places.map(|own| own.map_or(Entry::Absent, |own| Entry::Number(values.values()[own]))),
                );
            }
            RunState::Failed(_) | RunState::Missing => row.resize(begin + metrics.len(), Entry::Absent),
        }
        for DerivedValues { name, values } in derived.iter() {
            let column = metrics.iter().position(|metric| metric == name);
            let value = values.get(place).filter(|value| !value.is_nan());
            if let (Some(column), Some(value)) = (column, value) {
                row[begin + column] = Entry::Number(*value);
            }
        }
        Some(())
    }
}

/// The settings of all cells as columns.
struct Settings {
    columns: Vec<Column>,
    /// For each cell an entry for each column.
    cells: Vec<Vec<Entry>>,
}

impl Settings {
    /// Collects the settings that apply to any cell, in the order of their table. An axis that has a setting's name and its
    /// values already is that column.
    fn of(study: &Study) -> Settings {
        let of_cells: Vec<Vec<(&'static Setting, String)>> =
            study.cells.iter().map(|cell| cell.settings().collect()).collect();
        let mut settings = Settings { columns: Vec::new(), cells: vec![Vec::new(); of_cells.len()] };
        for setting in keys::all() {
            let value = |cell: usize| {
                of_cells[cell].iter().find(|(own, _)| own.key == setting.key).map(|(_, text)| text.as_str())
            };
            let name = setting.key.replace('-', "_");
            let is_axis = study.axis(&name).is_some_and(|axis| {
                let label = |cell: usize| {
                    let point = study.cells[cell].coordinates[axis];
                    study.axes[axis].points[point].label.as_str()
                };
                (0..of_cells.len()).all(|cell| value(cell) == Some(label(cell)))
            });
            if is_axis || (0..of_cells.len()).all(|cell| value(cell).is_none()) {
                continue;
            }
            let number =
                |cell: usize| value(cell).and_then(|text| (setting.measure)(text)).map(|(number, _)| number);
            let numbers = (0..of_cells.len()).any(|cell| number(cell).is_some());
            if numbers {
                settings.columns.push(Column { name: name.clone(), kind: Kind::Text });
                settings.columns.push(Column { name: format!("{name}_value"), kind: Kind::Double });
            } else {
                settings.columns.push(Column { name, kind: Kind::Text });
            }
            for (cell, entries) in settings.cells.iter_mut().enumerate() {
                entries.push(value(cell).map_or(Entry::Absent, |text| Entry::Text(text.to_owned())));
                if numbers {
                    entries.push(number(cell).map_or(Entry::Absent, Entry::Number));
                }
            }
        }
        settings
    }
}

/// Writes the versions of what took part in a run: `cubic=1,cwnd-sim=7`.
fn versions(run: &StoredRun) -> Option<String> {
    let StoredState::Done { spec, .. } = &run.state else { return None };
    let versions = spec.identity.versions.iter().map(|(name, version)| format!("{name}={version}"));
    Some(versions.collect::<Vec<_>>().join(","))
}

/// The hash of a run's samples, if they are kept.
fn samples(run: &StoredRun) -> Option<String> {
    match &run.state {
        StoredState::Done { trace: Some(trace), .. } => Some(RunKey(trace.digest).to_string()),
        _ => None,
    }
}

/// A time as ISO 8601 has it, to the second.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years of the calendar that begins with March, in eras of 400 (H. Hinnant, "chrono-compatible low-level date
    // algorithms").
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// `date -u -d @SECONDS +%FT%TZ`
    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_795_180_661, "2026-11-20T13:17:41Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
