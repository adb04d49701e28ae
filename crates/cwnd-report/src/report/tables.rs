//! The tables of a study: means with intervals, the best of each column marked.

use super::claim_list::Claims;
use super::overview;
use super::page::Entry;
use crate::estimate::Estimate;
use crate::figures::frame::condensed;
use crate::figures::points::{Chosen, Tally};
use crate::html::{inline, stop};
use crate::made_by;
use crate::measure::{Measure, Shown, capital, decimals, half_text, number, small};
use crate::spread;
use crate::validity_warnings::MARK;
use cwnd_metrics::Better;
use cwnd_study::claims;
use cwnd_study::{ClaimKind, Results, Selection, Study, Table};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// The section's body and its entries in the contents.
pub fn section(results: &Results, tables: &[Table], claims: &Claims<'_>) -> (Markup, Vec<Entry>) {
    let tables = tables.iter().enumerate();
    let numbered = |(i, table): (usize, &Table)| {
        let label = format!("Table {}", i + 1);
        let of_table = overview::of_figure(&claims.of(&format!("table-{}", i + 1)));
        (html! { (one(results, table, &label, i + 1)) (of_table) }, entry(table, i + 1))
    };
    let (tables, entries): (Vec<Markup>, Vec<Entry>) = tables.map(numbered).unzip();
    (html! { @for table in tables { (table) } }, entries)
}

/// Returns the table of what a study shows first, a row for each combination.
pub fn of_all(study: &Study) -> Table {
    Table {
        name: "all".to_owned(),
        title: "Means of all combinations".to_owned(),
        rows: study.axes.iter().map(|axis| axis.name.clone()).collect(),
        columns: None,
        metrics: study.metrics.clone(),
        select: Selection::default(),
        printed: Vec::new(),
        scale: BTreeMap::new(),
        deviations: false,
    }
}

/// How printed numbers are to be read.
const PRINTED: &str = "Printed: the paper's number, with a ✓ if it lies inside our interval or our mean is within 5 % of it, else a ✗; behind it ours less the paper's, in percent of the paper's.";

fn entry(table: &Table, number: usize) -> Entry {
    Entry { id: format!("table-{number}"), number: format!("Table {number}"), title: table.title.clone() }
}

/// A column of values.
struct Column {
    /// The point of the column axis, if the table has one.
    group: Option<(usize, usize)>,
    metric: String,
    measure: Measure,
    shown: Shown,
    /// One for each row.
    values: Vec<Value>,
    /// What the publication prints beside them, in the unit shown; none if it prints nothing in the column.
    printed: Option<Vec<Option<f64>>>,
    /// Whether standard deviation and standard error stand below each mean.
    deviations: bool,
}

/// A value of a table.
#[derive(Clone, Copy)]
enum Value {
    /// The study has no such combination.
    Nothing,
    /// Its runs are missing, failed, or could not measure it.
    Missing,
    Mean(Estimate),
    /// The same, of runs some of which are not valid.
    Doubted(Estimate),
}

impl Value {
    fn mean(&self) -> Option<&Estimate> {
        match self {
            Value::Nothing | Value::Missing => None,
            Value::Mean(estimate) | Value::Doubted(estimate) => Some(estimate),
        }
    }
}

/// A table under a label, with a number that no other of the page has.
pub fn one(results: &Results, table: &Table, label: &str, index: usize) -> Markup {
    let study = &results.study;
    let chosen = Chosen::new(results, &table.select);
    let row_axes: Vec<usize> = table.rows.iter().filter_map(|name| study.axis(name)).collect();
    let group_axis = table.columns.as_deref().and_then(|name| study.axis(name));
    let rows = rows(&chosen, &row_axes);
    let mut tally = Tally::default();
    let columns = columns(&chosen, table, &rows, group_axis, &mut tally);

    let heads = heads(results, &row_axes, group_axis, &columns);
    let compared = compared(study, &row_axes, group_axis);
    let best = best(&columns, &rows, compared);
    let mut used = row_axes.clone();
    used.extend(group_axis);
    let mut notes = tally.notes(&chosen, &used, "(–)");
    if best.iter().flatten().any(|best| *best) {
        notes.push(match compared {
            Some(axis) => format!("Bold: the best mean by {}.", small(&study.axes[axis].title)),
            None => "Bold: the best mean of its column.".into(),
        });
    }
    if columns.iter().any(|column| column.printed.is_some()) {
        notes.push(PRINTED.to_owned());
        notes.push(met(&columns, rows.len()));
    }
    if table.deviations {
        notes.push("SD: standard deviation over the repeats; SE: standard error of the mean.".into());
    }
    notes.extend(formulas(&columns));
    // Longer than a page of paper, or wider.
    let (long, wide) = (rows.len() > 40, columns.len() > 6);
    html! {
        figure.table.long[long].wide[wide] id={ "table-" (index) } {
            figcaption { p {
                b { (label) "." } " " span.title { (inline(&table.title)) (stop(&table.title)) }
                @for note in &notes { " " (note) }
            } }
            div.scroll tabindex="0" role="group" aria-label=(label) {
                table {
                    thead { (heads) }
                    tbody {
                        @for (r, row) in rows.iter().enumerate() {
                            @let above = r.checked_sub(1).map(|above| &rows[above]);
                            tr class=[above.is_some_and(|above| row.len() > 1 && above[0] != row[0]).then_some("part")] {
                                (labels(study, row, above))
                                @for (column, best) in columns.iter().zip(&best) {
                                    (cell(column, r, best[r]))
                                    (printed_cell(column, r))
                                }
                            }
                        }
                    }
                }
            }
            p.made { (made_by::line(results)) }
        }
    }
}

/// The labels of a row. One that the row above has as well is set back, as long as all labels before it are equal too.
fn labels(study: &Study, row: &Row, above: Option<&Row>) -> Markup {
    let equal =
        above.map_or(0, |above| row.iter().zip(above).take_while(|(own, above)| own == above).count());
    html! {
        @for (i, (axis, point)) in row.iter().enumerate() {
            @let point = &study.axes[*axis].points[*point];
            th scope="row" class=[(i < equal).then_some("again")] data-v=[point.value] { (point.label) }
        }
    }
}

/// The points that a row stands for, by axis.
type Row = Vec<(usize, usize)>;

/// Every combination of points on the row axes that any cell has, the last axis varying fastest.
fn rows(chosen: &Chosen<'_>, axes: &[usize]) -> Vec<Row> {
    let mut rows: Vec<Row> = vec![Vec::new()];
    for axis in axes {
        let points = chosen.points(*axis);
        let longer =
            |row: Row| points.iter().map(move |p| row.iter().copied().chain([(*axis, *p)]).collect::<Row>());
        rows = rows.into_iter().flat_map(longer).collect();
    }
    rows.retain(|row| !chosen.at(row).is_empty());
    rows
}

fn columns(
    chosen: &Chosen<'_>,
    table: &Table,
    rows: &[Row],
    group_axis: Option<usize>,
    tally: &mut Tally,
) -> Vec<Column> {
    let groups: Vec<Option<(usize, usize)>> = match group_axis {
        Some(axis) => chosen.points(axis).into_iter().map(|point| Some((axis, point))).collect(),
        None => vec![None],
    };
    let mut columns = Vec::new();
    for group in groups {
        for metric in &table.metrics {
            let value = |row: &Row| {
                let at: Row = row.iter().copied().chain(group).collect();
                let cells = chosen.at(&at);
                match tally.estimate(chosen.results, &cells, metric) {
                    _ if cells.is_empty() => Value::Nothing,
                    None => Value::Missing,
                    Some(estimate) if is_doubted(chosen.results, &cells) => Value::Doubted(estimate),
                    Some(estimate) => Value::Mean(estimate),
                }
            };
            let values: Vec<Value> = rows.iter().map(value).collect();
            let measure = Measure::of_study(&chosen.results.study, metric);
            let shown = measure.shown(0.0);
            let printed = printed(&chosen.results.study, table, rows, group, metric);
            let (metric, deviations) = (metric.clone(), table.deviations);
            columns.push(Column { group, metric, measure, shown, values, printed, deviations });
        }
    }
    // A metric has one unit in the whole table.
    for metric in &table.metrics {
        let same = || columns.iter().filter(|column| column.metric == *metric);
        let means = same().flat_map(|column| &column.values);
        let means = means.filter_map(|value| Some(value.mean()?.mean));
        let measure = Measure::of_study(&chosen.results.study, metric);
        let is_printed = same().any(|column| column.printed.is_some());
        let as_printed = is_printed.then(|| measure.multiplied(table.scale_of(metric))).flatten();
        let factor = |unit: String| Shown { factor: table.scale_of(metric), unit };
        let shown = match is_printed {
            true => as_printed.unwrap_or_else(|| factor(String::new())),
            false => Shown::of(&measure, means),
        };
        columns.iter_mut().filter(|c| c.metric == *metric).for_each(|column| column.shown = shown.clone());
    }
    columns
}

/// What the publication prints in a column, row by row.
fn printed(
    study: &Study,
    table: &Table,
    rows: &[Row],
    group: Option<(usize, usize)>,
    metric: &str,
) -> Option<Vec<Option<f64>>> {
    let label = |(axis, point): &(usize, usize)| {
        let axis = &study.axes[*axis];
        (axis.name.as_str(), axis.points[*point].label.as_str())
    };
    let at = |row: &Row| {
        let place: Vec<(usize, usize)> = row.iter().copied().chain(group).collect();
        let is_here = |axis: &str, wanted: &str| place.iter().any(|p| label(p) == (axis, wanted));
        let of_place = table.printed.iter().filter(|printed| printed.metric == metric);
        let mut of_place = of_place.filter(|printed| printed.at.iter().all(|(a, l)| is_here(a, l)));
        of_place.next().map(|printed| printed.value)
    };
    let values: Vec<Option<f64>> = rows.iter().map(at).collect();
    values.iter().any(Option::is_some).then_some(values)
}

/// One row of headings, or two where columns are grouped and have several metrics each.
fn heads(results: &Results, row_axes: &[usize], group_axis: Option<usize>, columns: &[Column]) -> Markup {
    let axes = &results.study.axes;
    let metrics = columns.iter().take_while(|column| column.group == columns[0].group).count();
    let width = |columns: &[Column]| columns.len() + columns.iter().filter(|c| c.printed.is_some()).count();
    let is_double = group_axis.is_some() && metrics > 0;
    let row_heads = html! {
        @for axis in row_axes.iter().map(|axis| &axes[*axis]) {
            th scope="col" data-sort rowspan=[is_double.then_some(2)] {
                (axis.title) (unit(axis.unit.as_deref().unwrap_or_default()))
            }
        }
    };
    let metric_heads = html! {
        @for column in columns {
            th.number scope="col" data-sort { (column.measure.heading()) (unit(&column.shown.unit)) }
            @if column.printed.is_some() { th.number.printed scope="col" data-sort { "printed" } }
        }
    };
    html! {
        @if is_double {
            tr {
                (row_heads)
                @for columns in columns.chunks(metrics) {
                    @let label = columns[0].group.map_or(String::new(), |(axis, point)| condensed(&axes[axis], &axes[axis].points[point]));
                    th.group scope="colgroup" colspan=(width(columns)) { (label) }
                }
            }
            tr { (metric_heads) }
        } @else {
            tr { (row_heads) (metric_heads) }
        }
    }
}

/// A unit behind a heading; nothing if it is empty.
pub fn unit(unit: &str) -> Markup {
    html! { @if !unit.is_empty() { " " span.unit { (unit) } } }
}

/// The mark of a value that rests on runs that are not valid.
pub fn doubt() -> Markup {
    html! { " " span.doubt title="not valid" { (MARK) } }
}

/// A cell without a value.
pub fn missing() -> Markup {
    html! { td.number.missing title="missing" { "\u{2013}" } }
}

fn cell(column: &Column, row: usize, is_best: bool) -> Markup {
    let (estimate, is_doubted) = match column.values[row] {
        Value::Nothing => return html! { td.number.nothing {} },
        Value::Missing => return missing(),
        Value::Mean(estimate) => (estimate, false),
        Value::Doubted(estimate) => (estimate, true),
    };
    let scaled = estimate.times(column.shown.factor);
    let Estimate { mean, half, deviation, .. } = scaled;
    let digits = decimals(mean, half);
    let spread = deviation.zip(scaled.error()).filter(|_| column.deviations);
    // Room as wide as the widest of the column, so that the signs stand below each other.
    let width = widest_half(column);
    html! {
        td.number.best[is_best] data-v=(estimate.mean) {
            span.mean { (number(mean, digits)) }
            @if width > 0 {
                span class={ "half w" (width) } { @if let Some(half) = half { " ± " (half_text(half, digits)) } }
            }
            @if is_doubted { (doubt()) }
            @if let Some((deviation, error)) = spread {
                br;
                small { "SD " (half_text(deviation, digits)) ", SE " (half_text(error, digits)) }
            }
        }
    }
}

/// Returns whether a printed number agrees with ours; none if nothing is printed, or the repeats are too few to tell.
fn agrees(column: &Column, row: usize) -> Option<bool> {
    let printed = column.printed.as_ref()?[row]?;
    let ours = column.values[row].mean()?.times(column.shown.factor);
    claims::agrees_with_printed(ours.mean, ours.half, ours.count, printed)
}

/// Counts the printed numbers of a table that agree with ours, and those that ours are within a factor of two of, which tells
/// agreement in kind where runs are chaotic.
fn met(columns: &[Column], rows: usize) -> String {
    let judged = || columns.iter().flat_map(|column| (0..rows).filter_map(|row| agrees(column, row)));
    let printed = columns.iter().filter_map(|column| column.printed.as_ref()).flatten().flatten().count();
    let (met, judged) = (judged().filter(|agrees| *agrees).count(), judged().count());
    let open = if judged < printed {
        format!("; {} are not judged: too few repeats", printed - judged)
    } else {
        String::new()
    };
    let ratios = columns.iter().flat_map(|column| (0..rows).filter_map(|row| ratio(column, row)));
    let ratios: Vec<f64> = ratios.collect();
    let near = ratios.iter().filter(|ratio| (0.5..=2.0).contains(*ratio)).count();
    format!("Met: {met} of {judged}{open}. Within a factor of two: {near} of {}.", ratios.len())
}

/// Ours over what is printed; none where nothing is printed, or 0.
fn ratio(column: &Column, row: usize) -> Option<f64> {
    let printed = column.printed.as_ref()?[row]?;
    let ours = column.values[row].mean()?.mean * column.shown.factor;
    Some(ours / printed).filter(|ratio| ratio.is_finite())
}

/// What the publication prints, marked where ours agrees with it.
fn printed_cell(column: &Column, row: usize) -> Markup {
    let Some(printed) = &column.printed else { return Markup::default() };
    let Some(value) = printed[row] else { return html! { td.number.printed {} } };
    let agrees = agrees(column, row);
    let (is_met, is_missed) = (agrees == Some(true), agrees == Some(false));
    html! {
        td.number.printed.agrees[is_met].differs[is_missed] data-v=(value) {
            (value) @if is_met { " \u{2713}" } @if is_missed { " \u{2717}" }
            @if let Some(deviation) = deviation(column, row) { " " span.deviation { (deviation) } }
        }
    }
}

/// Ours less what is printed, in percent of what is printed; none of what is printed as 0.
fn deviation(column: &Column, row: usize) -> Option<String> {
    let printed = column.printed.as_ref()?[row]?;
    let ours = column.values[row].mean()?.times(column.shown.factor).mean;
    let percent = Some(100.0 * (ours / printed - 1.0)).filter(|percent| percent.is_finite())?;
    let digits = if percent.abs() < 9.95 { 1 } else { 0 };
    let sign = if percent > 0.0 { "+" } else { "" };
    Some(format!("{sign}{} %", number(percent, digits)))
}

/// How many characters the widest interval of a column has, at most 12.
fn widest_half(column: &Column) -> usize {
    let width = |value: &Value| {
        let Some(estimate) = value.mean() else { return 0 };
        let Estimate { mean, half, .. } = estimate.times(column.shown.factor);
        half.map_or(0, |half| half_text(half, decimals(mean, Some(half))).chars().count())
    };
    column.values.iter().map(width).max().unwrap_or(0).min(12)
}

/// The axis whose points the study lays side by side: that of the series of its first figure that has any, or of its
/// first claim that compares, or else that of the algorithms. None if the table does not have it.
fn compared(study: &Study, row_axes: &[usize], group_axis: Option<usize>) -> Option<usize> {
    let series = study.figures.iter().filter_map(|figure| figure.kind.series());
    let claims = study.claims.iter().filter_map(|claim| match claim.kind()? {
        ClaimKind::Gain { axis, .. } | ClaimKind::Wins { axis, .. } => Some(axis.as_str()),
        ClaimKind::Mean { .. } | ClaimKind::Extreme { .. } => None,
    });
    let named = series.chain(claims).find_map(|name| study.axis(name));
    let axis = named.or_else(|| (0..study.axes.len()).find(|axis| changes_algorithms(study, *axis)))?;
    (row_axes.contains(&axis) || group_axis == Some(axis)).then_some(axis)
}

/// Whether combinations that differ in this axis alone have other algorithms.
fn changes_algorithms(study: &Study, axis: usize) -> bool {
    let mut algorithms = BTreeMap::new();
    study.cells.iter().any(|cell| {
        let mut rest = cell.coordinates.clone();
        rest.remove(axis);
        let mut own: Vec<_> = cell.scenario.flows.iter().map(|flow| &flow.algorithm).collect();
        // Another number of flows has the same ones.
        own.dedup();
        *algorithms.entry(rest).or_insert_with(|| own.clone()) != own
    })
}

/// Which values, by column and row, are the best of those that they are compared with: of those that differ in the
/// compared axis alone, or else of their column. None where all are equal, or no way is better.
fn best(columns: &[Column], rows: &[Row], compared: Option<usize>) -> Vec<Vec<bool>> {
    let others = |column: &Column, row: &Row| -> (String, Row) {
        let at = row.iter().copied().chain(column.group);
        let rest: Row = match compared {
            Some(axis) => at.filter(|(own, _)| *own != axis).collect(),
            None => column.group.into_iter().collect(),
        };
        (column.metric.clone(), rest)
    };
    let mut ends: BTreeMap<(String, Row), (f64, f64)> = BTreeMap::new();
    for (column, row, mean) in means(columns, rows) {
        let (least, most) = ends.entry(others(column, row)).or_insert((mean, mean));
        (*least, *most) = (least.min(mean), most.max(mean));
    }
    let is_best = |column: &Column, row: &Row, value: &Value| {
        let (Some(estimate), Some((least, most))) = (value.mean(), ends.get(&others(column, row))) else {
            return false;
        };
        least < most
            && match column.measure.better {
                Better::More => estimate.mean == *most,
                Better::Less => estimate.mean == *least,
                Better::Neither => false,
            }
    };
    let of_column =
        |column: &Column| rows.iter().zip(&column.values).map(|(r, v)| is_best(column, r, v)).collect();
    columns.iter().map(of_column).collect()
}

/// Every mean with its column and its row.
fn means<'a>(columns: &'a [Column], rows: &'a [Row]) -> impl Iterator<Item = (&'a Column, &'a Row, f64)> {
    let of_column = |column: &'a Column| {
        let values = rows.iter().zip(&column.values);
        values.filter_map(move |(row, value)| Some((column, row, value.mean()?.mean)))
    };
    columns.iter().flat_map(of_column)
}

/// Whether the mean of any of some cells is not valid.
fn is_doubted(results: &Results, cells: &[usize]) -> bool {
    cells.iter().any(|cell| !spread::is_mean_valid(results, *cell))
}

/// What each metric is, once.
fn formulas(columns: &[Column]) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut notes = Vec::new();
    for column in columns {
        if !seen.contains(&column.metric.as_str()) {
            seen.push(&column.metric);
            notes.extend(column.measure.formula.as_ref().map(|f| {
                let stop = if f.ends_with('.') { "" } else { "." };
                format!("{}: {f}{stop}", capital(&column.measure.title))
            }));
        }
    }
    notes
}
