//! `[[figures]]` and `[[tables]]`.

use super::keys::{FIGURE, FIGURES, PER, SHOWN, TABLE};
use super::printed;
use super::reader::{At, Fields};
use super::scope::{Scope, file_name};
use super::stated;
use super::{CheckName, Named};
use crate::STATE;
use crate::{FLOW_PANELS, Figure, FigureKind, Per, Scale, Selection, Table};
use std::collections::BTreeSet;

/// Reads the figures. `tables` are the study's, none if any of them is wrong.
pub(super) fn figures(
    file: &Fields<'_>,
    scope: &Scope<'_>,
    tables: Option<&[Table]>,
    check: CheckName<'_>,
) -> Vec<Figure> {
    let mut names = Vec::new();
    let read = |fields: Fields<'_>| {
        let figure = figure(&fields, scope, tables, &names, check);
        names.extend(fields.text("name").map(|name| name.value));
        figure
    };
    file.tables("figures", &FIGURE).into_iter().filter_map(read).collect()
}

/// Which of the keys that depend on the kind go with it.
const PARTS: [(&str, &[&str], &[&str]); 9] = [
    ("line", &["x", "y"], &["series", "panels", "where", "printed", "lines"]),
    ("bars", &["x", "y"], &["series", "panels", "where", "printed", "lines"]),
    ("cdf", &["x"], &["series", "per", "scale", "panels", "where"]),
    ("scatter", &["x", "y"], &["series", "per", "panels", "where"]),
    ("box", &["x", "y"], &["series", "per", "panels", "where"]),
    ("heat-map", &["x", "y", "value"], &["panels", "where"]),
    ("deviation", &["table"], &[]),
    ("trace", &["show"], &["series", "panels", "where", "lines"]),
    ("model", &["model"], &[]),
];

/// The keys that depend on the kind.
const OF_KINDS: [&str; 13] = [
    "x", "y", "series", "per", "scale", "value", "show", "model", "table", "panels", "where", "printed",
    "lines",
];

fn figure(
    fields: &Fields<'_>,
    scope: &Scope<'_>,
    tables: Option<&[Table]>,
    taken: &[String],
    check: CheckName<'_>,
) -> Option<Figure> {
    let sink = fields.sink;
    let name = file_name(fields, taken);
    let title = fields.text("title");
    let caption = fields.text("caption");
    let kind = fields.word("kind", FIGURES)?.value;
    let before = sink.count();
    let (_, needed, allowed) = PARTS.iter().find(|(name, ..)| *name == kind)?;
    for key in OF_KINDS {
        let known = needed.contains(&key) || allowed.contains(&key);
        if fields.get(key).is_some() && !known {
            sink.error(&fields.span_of(key), format!("a figure of the kind `{kind}` has no `{key}`"));
        }
    }
    for key in needed.iter().filter(|key| fields.get(key).is_none()) {
        let message = format!("a figure of the kind `{kind}` needs `{key}`");
        sink.error(&fields.span_of("kind"), message);
    }
    let whole = |kind: FigureKind| -> Option<Figure> {
        Some(Figure {
            name: name.clone()?,
            title: title.as_ref()?.value.clone(),
            caption: caption.as_ref().map(|caption| caption.value.clone()),
            kind,
            panels: Vec::new(),
            select: Selection::default(),
            printed: None,
            lines: Vec::new(),
        })
    };
    match kind {
        "model" => return whole(FigureKind::Model { model: model(fields, check)? }),
        "deviation" => {
            return whole(FigureKind::Deviation { table: stated::table(fields, "table", tables)? });
        }
        _ => {}
    }
    let panels = match fields.get("panels") {
        Some(_) if kind == "trace" && is_of_flows(fields, scope) => vec![FLOW_PANELS.to_owned()],
        Some(_) => scope.axes(fields, "panels")?,
        None => Vec::new(),
    };
    if panels.len() > 2 {
        sink.error(&fields.span_of("panels"), "panels have rows and columns: at most two axes");
    }
    let select = scope.select(fields);
    // All parts are read before the first that is wrong ends it, so that all that are wrong are told.
    let (series, value) = (scope.axis(fields, "series"), scope.metric(fields, "value"));
    let per = per(fields, kind);
    let quantity = |key: &str| match per? {
        Per::Run => scope.metric(fields, key),
        Per::Flow => scope.flow_metric(fields, key),
        Per::Sample => fields.word(key, SHOWN).map(|word| word.value.to_owned()),
    };
    let x = match kind {
        "cdf" | "scatter" => quantity("x"),
        _ => scope.axis(fields, "x"),
    };
    let y = if kind == "heat-map" { scope.axis(fields, "y") } else { quantity("y") };
    let show = shown(fields);
    let scale = fields.word("scale", &["linear", "log"]);
    let scale = if scale.is_some_and(|word| word.value == "log") { Scale::Log } else { Scale::Linear };
    if sink.count() > before {
        return None;
    }
    let kind = match kind {
        "line" => FigureKind::Line { x: x?, y: y?, series },
        "bars" => FigureKind::Bars { x: x?, y: y?, series },
        "cdf" => FigureKind::Cdf { x: x?, per: per?, series, scale },
        "scatter" => FigureKind::Scatter { x: x?, y: y?, per: per?, series },
        "box" => FigureKind::Box { x: x?, y: y?, per: per?, series },
        "heat-map" => FigureKind::HeatMap { x: x?, y: y?, value: value? },
        _ => FigureKind::Trace { show: show?, series },
    };
    let select = select?;
    let mut laid_out = Vec::new();
    match &kind {
        FigureKind::Line { x, series, .. }
        | FigureKind::Bars { x, series, .. }
        | FigureKind::Box { x, series, .. } => {
            laid_out.push(("x", x));
            laid_out.extend(series.iter().map(|axis| ("series", axis)));
        }
        FigureKind::HeatMap { x, y, .. } => laid_out.extend([("x", x), ("y", y)]),
        FigureKind::Trace { series, .. }
        | FigureKind::Cdf { series, .. }
        | FigureKind::Scatter { series, .. } => laid_out.extend(series.iter().map(|axis| ("series", axis))),
        FigureKind::Model { .. } | FigureKind::Deviation { .. } => {}
    }
    laid_out.extend(panels.iter().map(|axis| ("panels", axis)));
    let ways = match &kind {
        FigureKind::HeatMap { .. } => "`x`, `y` or `panels`",
        FigureKind::Trace { .. } | FigureKind::Cdf { .. } | FigureKind::Scatter { .. } => {
            "`series` or `panels`"
        }
        _ => "`x`, `series` or `panels`",
    };
    let axes: Vec<&String> = laid_out.iter().map(|(_, axis)| *axis).collect();
    let fits = scope.distinct(fields, &laid_out) && scope.closed(fields, &select, &axes, ways);
    if !fits || !recorded(fields, scope, &kind, &select) || !has_states(fields, scope, &kind, &select, check)
    {
        return None;
    }
    let mut figure = Figure { panels, select, ..whole(kind)? };
    figure.printed = stated::printed(fields, scope, &figure, tables);
    figure.lines = stated::lines(fields, scope, &figure);
    (sink.count() == before).then_some(figure)
}

/// What has one value each; none if the word is wrong, or does not go with the kind.
fn per(fields: &Fields<'_>, kind: &str) -> Option<Per> {
    if fields.get("per").is_none() {
        return Some(Per::Run);
    }
    let word = fields.word("per", PER)?;
    let per = Per::ALL.iter().find(|(name, _)| *name == word.value).map(|(_, per)| *per)?;
    if kind == "scatter" && per == Per::Sample {
        let help = "a point of it is a `run` or a `flow`";
        fields.sink.error_with(&word.span, "a `scatter` is not drawn of samples", help);
        return None;
    }
    Some(per)
}

/// Whether the panels are those of flows. An axis of that name comes first.
fn is_of_flows(fields: &Fields<'_>, scope: &Scope<'_>) -> bool {
    let names = fields.texts("panels").unwrap_or_default();
    let is_axis = scope.study.axis(FLOW_PANELS).is_some();
    matches!(names.as_slice(), [only] if only.value == FLOW_PANELS) && !is_axis
}

/// The model that a figure draws, of which there must be one.
fn model(fields: &Fields<'_>, check: CheckName<'_>) -> Option<String> {
    let name = fields.text("model")?;
    if let Err(message) = check(Named::Model(&name.value)) {
        fields.sink.error(&name.span, message);
        return None;
    }
    Some(name.value)
}

fn shown(fields: &Fields<'_>) -> Option<Vec<String>> {
    let texts = fields.texts("show")?;
    let word = |text: &At<String>| match text.value.starts_with(STATE) {
        true => Some(text.clone()),
        false => {
            let word = fields.one_of("show", text, SHOWN)?;
            Some(At { value: word.value.to_owned(), span: word.span })
        }
    };
    let words = texts.iter().map(word).collect::<Option<Vec<_>>>()?;
    for (i, word) in words.iter().enumerate() {
        if words[..i].iter().any(|earlier| earlier.value == word.value) {
            fields.sink.error(&word.span, format!("`{}` is shown twice", word.value));
            return None;
        }
    }
    if words.is_empty() {
        fields.sink.error(&fields.span_of("show"), "`show` names nothing");
        return None;
    }
    Some(words.into_iter().map(|word| word.value).collect())
}

/// Whether everything that a figure of samples draws is recorded.
fn recorded(fields: &Fields<'_>, scope: &Scope<'_>, kind: &FigureKind, select: &Selection) -> bool {
    if !kind.is_sampled() || !scope.cells {
        return true;
    }
    let study = scope.study;
    let Some(plan) = &study.trace else {
        let help = "add `[trace]`; on its own it records the first repeat of every cell";
        fields.sink.error_with(&fields.span_of("kind"), "nothing is recorded over time", help);
        return false;
    };
    let missing = study.select(select).find(|cell| !plan.select.contains(study, *cell));
    if let Some(cell) = missing {
        let message = format!("the cell `{}` is not recorded", study.cell_label(cell));
        let help = "narrow the figure's `where`, or widen that of [trace]";
        fields.sink.error_with(&fields.span_of("kind"), message, help);
    }
    missing.is_none()
}

/// Whether some algorithm of the cells has each value of state that a trace figure shows.
fn has_states(
    fields: &Fields<'_>,
    scope: &Scope<'_>,
    kind: &FigureKind,
    select: &Selection,
    check: CheckName<'_>,
) -> bool {
    let (FigureKind::Trace { .. }, true) = (kind, scope.cells) else { return true };
    let cells = scope.study.select(select).map(|cell| &scope.study.cells[cell].scenario);
    let of: BTreeSet<&str> =
        cells.flat_map(|scenario| &scenario.flows).map(|flow| flow.algorithm.name.as_str()).collect();
    let of: Vec<&str> = of.into_iter().collect();
    let before = fields.sink.count();
    for text in fields.texts("show").into_iter().flatten() {
        let Some(name) = text.value.strip_prefix(STATE) else { continue };
        if let Err(message) = check(Named::State { name, of: &of }) {
            fields.sink.error(&text.span, message);
        }
    }
    fields.sink.count() == before
}

pub(super) fn tables(file: &Fields<'_>, scope: &Scope<'_>) -> Vec<Table> {
    let mut names = Vec::new();
    let read = |fields: Fields<'_>| {
        let table = table(&fields, scope, &names);
        names.extend(fields.text("name").map(|name| name.value));
        table
    };
    file.tables("tables", &TABLE).into_iter().filter_map(read).collect()
}

fn table(fields: &Fields<'_>, scope: &Scope<'_>, taken: &[String]) -> Option<Table> {
    let name = file_name(fields, taken);
    let title = fields.text("title");
    let metrics = scope.metrics(fields, "metrics");
    let rows = scope.axes(fields, "rows")?;
    let columns = match fields.get("columns") {
        Some(_) => Some(scope.axis(fields, "columns")?),
        None => None,
    };
    let select = scope.select(fields)?;
    let laid_out: Vec<(&str, &String)> =
        rows.iter().map(|axis| ("rows", axis)).chain(columns.iter().map(|axis| ("columns", axis))).collect();
    let axes: Vec<&String> = laid_out.iter().map(|(_, axis)| *axis).collect();
    let fits =
        scope.distinct(fields, &laid_out) && scope.closed(fields, &select, &axes, "`rows` or `columns`");
    if !fits {
        return None;
    }
    let metrics = metrics?;
    let places = printed::Places { scope, axes: &axes, metrics: &metrics, select: &select };
    let (printed, scale) = (printed::printed(fields, &places), printed::factors(fields, &metrics));
    let deviations = match fields.get("deviations") {
        None => false,
        Some(_) => fields.switch("deviations")?,
    };
    let (name, title) = (name?, title?.value);
    Some(Table { name, title, printed: printed?, scale: scale?, metrics, select, rows, columns, deviations })
}
