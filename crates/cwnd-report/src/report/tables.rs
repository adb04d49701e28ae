//! The tables of a study: means with intervals, the best of each column marked.

use super::page::Entry;
use crate::estimate::Estimate;
use crate::figures::points::{Chosen, Tally};
use crate::html::{escape, inline};
use crate::made_by;
use crate::measure::{Measure, Shown, capital, decimals, half_text, number, small};
use crate::validity_warnings::{self, MARK};
use cwnd_metrics::Better;
use cwnd_study::claims;
use cwnd_study::{ClaimKind, FigureKind, Results, Study, Table};
use std::collections::BTreeMap;

/// The section's body and its entries in the contents.
pub fn section(results: &Results) -> (String, Vec<Entry>) {
    let tables = results.study.tables.iter().enumerate();
    let one = |(i, table): (usize, &Table)| {
        let label = format!("Table {}", i + 1);
        (html(results, table, &label, i + 1), entry(table, i + 1))
    };
    tables.map(one).unzip()
}

/// How printed numbers are to be read.
const PRINTED: &str =
    "Printed: what the paper prints, with a ✓ where it lies inside our interval or ours within 5 % of it.";

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
}

/// A value of a table.
#[derive(Clone, Copy)]
enum Value {
    /// The study has no such combination.
    Nothing,
    /// Its runs are missing, failed, or could not measure it.
    Missing,
    Mean(Estimate),
    /// The same, of runs some of which are not to be believed.
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
pub fn html(results: &Results, table: &Table, label: &str, index: usize) -> String {
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
    let mut body = String::new();
    let mut above: Option<&Row> = None;
    for (r, row) in rows.iter().enumerate() {
        // A label that the row above has as well is set back, as long as all labels before it are equal too.
        let mut is_again = true;
        let mut cells = String::new();
        for (axis, point) in row {
            is_again = is_again && above.is_some_and(|above| above.contains(&(*axis, *point)));
            let point = &study.axes[*axis].points[*point];
            let class = if is_again { " class=\"again\"" } else { "" };
            let value = point.value.map(|v| format!(" data-v=\"{v}\"")).unwrap_or_default();
            cells += &format!("<th scope=\"row\"{class}{value}>{}</th>", escape(&point.label));
        }
        for (c, column) in columns.iter().enumerate() {
            cells += &cell(column, r, best[c][r]);
            cells += &printed_cell(column, r);
        }
        let class = if r > 0 && above.is_some_and(|above| row.len() > 1 && above[0] != row[0]) {
            " class=\"part\""
        } else {
            ""
        };
        body += &format!("<tr{class}>{cells}</tr>\n");
        above = Some(row);
    }
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
    }
    notes.extend(formulas(&columns));
    let notes: String = notes.iter().map(|note| format!(" {}", escape(note))).collect();
    let stop = if table.title.ends_with(['.', '!', '?']) { "" } else { "." };
    // Longer than a page of paper, or wider.
    let long = if rows.len() > 40 { " long" } else { "" };
    let wide = if columns.len() > 6 { " wide" } else { "" };
    let label = escape(label);
    format!(
        "<figure class=\"table{long}{wide}\" id=\"table-{index}\">\n<figcaption><p><b>{label}.</b> \
         <span class=\"title\">{}{stop}</span>{notes}</p></figcaption>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{label}\">\n<table>\n<thead>\n{heads}</thead>\n<tbody>\n{body}</tbody>\n</table></div>\n\
         <p class=\"made\">{}</p>\n</figure>\n",
        inline(&table.title),
        escape(&made_by::line(results)),
    )
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
            columns.push(Column { group, metric: metric.clone(), measure, shown, values, printed });
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
fn heads(results: &Results, row_axes: &[usize], group_axis: Option<usize>, columns: &[Column]) -> String {
    let axes = &results.study.axes;
    let groups: Vec<Option<(usize, usize)>> = columns.iter().map(|column| column.group).collect();
    let metrics = groups.iter().take_while(|group| **group == groups[0]).count();
    let width = |columns: &[Column]| columns.len() + columns.iter().filter(|c| c.printed.is_some()).count();
    let is_double = group_axis.is_some() && metrics > 0;
    let span = if is_double { " rowspan=\"2\"" } else { "" };
    let row_head = |axis: &usize| {
        let unit = axes[*axis].unit.as_deref().filter(|unit| !unit.is_empty());
        format!("<th scope=\"col\" data-sort{span}>{}{}</th>", escape(&axes[*axis].title), unit_of(unit))
    };
    let row_heads: String = row_axes.iter().map(row_head).collect();
    let metric_head = |column: &Column| {
        let unit = Some(column.shown.unit.as_str()).filter(|unit| !unit.is_empty());
        let printed = match column.printed {
            Some(_) => "<th scope=\"col\" class=\"number printed\" data-sort>printed</th>",
            None => "",
        };
        format!(
            "<th scope=\"col\" class=\"number\" data-sort>{}{}</th>{printed}",
            escape(&column.measure.heading()),
            unit_of(unit)
        )
    };
    let metric_heads: String = columns.iter().map(metric_head).collect();
    if !is_double {
        return format!("<tr>{row_heads}{metric_heads}</tr>\n");
    }
    let group_head = |columns: &[Column]| {
        let label = columns[0].group.map_or("", |(axis, point)| axes[axis].points[point].label.as_str());
        let span = width(columns);
        format!("<th scope=\"colgroup\" class=\"group\" colspan=\"{span}\">{}</th>", escape(label))
    };
    let group_heads: String = columns.chunks(metrics).map(group_head).collect();
    format!("<tr>{row_heads}{group_heads}</tr>\n<tr>{metric_heads}</tr>\n")
}

fn unit_of(unit: Option<&str>) -> String {
    unit.map(|unit| format!(" <span class=\"unit\">{}</span>", escape(unit))).unwrap_or_default()
}

fn cell(column: &Column, row: usize, is_best: bool) -> String {
    let estimate = match column.values[row] {
        Value::Nothing => return "<td class=\"number nothing\"></td>".into(),
        Value::Missing => return "<td class=\"number missing\" title=\"missing\">\u{2013}</td>".into(),
        Value::Mean(estimate) | Value::Doubted(estimate) => estimate,
    };
    let mark = match column.values[row] {
        Value::Doubted(_) => format!(" <span class=\"doubt\" title=\"not to be believed\">{MARK}</span>"),
        _ => String::new(),
    };
    let Estimate { mean, half, .. } = estimate.times(column.shown.factor);
    let digits = decimals(mean, half);
    let best = if is_best { " best" } else { "" };
    // Room as wide as the widest of the column, so that the signs stand below each other.
    let spread = match half {
        Some(half) => {
            format!("<span class=\"half w{}\"> ± {}</span>", widest_half(column), half_text(half, digits))
        }
        None => match widest_half(column) {
            0 => String::new(),
            width => format!("<span class=\"half w{width}\"></span>"),
        },
    };
    format!(
        "<td class=\"number{best}\" data-v=\"{}\"><span class=\"mean\">{}</span>{spread}{mark}</td>",
        estimate.mean,
        number(mean, digits)
    )
}

/// What the publication prints, marked where ours agrees with it.
fn printed_cell(column: &Column, row: usize) -> String {
    let Some(printed) = &column.printed else { return String::new() };
    let Some(value) = printed[row] else { return "<td class=\"number printed\"></td>".into() };
    let agrees = column.values[row].mean().is_some_and(|ours| {
        let ours = ours.times(column.shown.factor);
        claims::agrees_with_printed(ours.mean, ours.half, value)
    });
    let (class, sign) = if agrees { (" agrees", " \u{2713}") } else { ("", "") };
    format!(
        "<td class=\"number printed{class}\" data-v=\"{value}\">{}{sign}</td>",
        escape(&value.to_string())
    )
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
/// first claim that compares. None if the table does not have it.
fn compared(study: &Study, row_axes: &[usize], group_axis: Option<usize>) -> Option<usize> {
    let series = study.figures.iter().filter_map(|figure| match &figure.kind {
        FigureKind::Line { series, .. }
        | FigureKind::Bars { series, .. }
        | FigureKind::Trace { series, .. } => series.as_deref(),
        FigureKind::HeatMap { .. } | FigureKind::Model { .. } => None,
    });
    let claims = study.claims.iter().filter_map(|claim| match claim.kind()? {
        ClaimKind::Gain { axis, .. } | ClaimKind::Wins { axis, .. } => Some(axis.as_str()),
        ClaimKind::Mean { .. } | ClaimKind::Extreme { .. } => None,
    });
    let axis = series.chain(claims).find_map(|name| study.axis(name))?;
    (row_axes.contains(&axis) || group_axis == Some(axis)).then_some(axis)
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

/// Whether any run of some cells is not to be believed.
fn is_doubted(results: &Results, cells: &[usize]) -> bool {
    cells.iter().any(|cell| validity_warnings::of_cell(results, *cell) > 0)
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
