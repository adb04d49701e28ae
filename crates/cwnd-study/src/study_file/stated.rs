//! What a publication states of a figure: `printed`, `lines` and `table` of `[[figures]]`.

use super::keys::LINE;
use super::reader::{At, Fields, did_you_mean, number, scalar};
use super::scope::Scope;
use crate::{Figure, FigureKind, StatedAt, StatedLine, Table};
use cwnd_scenario::{Rate, Time};
use toml::Spanned;
use toml::de::DeValue;

/// The table that a key names, which prints something. None also where the tables are wrong themselves.
pub(super) fn table(fields: &Fields<'_>, key: &str, tables: Option<&[Table]>) -> Option<String> {
    let name = fields.text(key)?;
    let tables = tables?;
    let Some(table) = tables.iter().find(|table| table.name == name.value) else {
        let help = match tables.is_empty() {
            true => "the study has no tables".to_owned(),
            false => did_you_mean(&name.value, tables.iter().map(|table| table.name.as_str())),
        };
        fields.sink.error_with(&name.span, format!("there is no table `{}`", name.value), help);
        return None;
    };
    if table.printed.is_empty() {
        let help = "a table has the publication's numbers under `printed`";
        fields.sink.error_with(&name.span, format!("the table `{}` prints nothing", name.value), help);
        return None;
    }
    Some(name.value)
}

/// The table whose numbers a figure draws: at least one of them is of the figure's metric and of the same cells as one of
/// its points.
pub(super) fn printed(
    fields: &Fields<'_>,
    scope: &Scope<'_>,
    figure: &Figure,
    tables: Option<&[Table]>,
) -> Option<String> {
    fields.get("printed")?;
    let name = table(fields, "printed", tables)?;
    let table = tables?.iter().find(|table| table.name == name)?;
    let metric = figure.metric_upwards()?;
    let span = fields.span_of("printed");
    if !table.printed.iter().any(|printed| printed.metric == metric) {
        let mut metrics: Vec<&str> = table.printed.iter().map(|printed| printed.metric.as_str()).collect();
        metrics.sort_unstable();
        metrics.dedup();
        let help = format!("it prints {}", metrics.join(", "));
        fields.sink.error_with(&span, format!("the table `{name}` prints no `{metric}`"), help);
        return None;
    }
    if scope.cells && scope.study.printed_in(figure, table).is_empty() {
        let message = format!("no number of the table `{name}` is of the cells of a point of this figure");
        let help = "the table's `rows`, `columns` and `where` must choose the same cells as the figure's `x`, `series`, \
                    `panels` and `where`";
        fields.sink.error_with(&span, message, help);
        return None;
    }
    Some(name)
}

/// The lines of a figure.
pub(super) fn lines(fields: &Fields<'_>, scope: &Scope<'_>, figure: &Figure) -> Vec<StatedLine> {
    fields.tables("lines", &LINE).iter().filter_map(|fields| line(fields, scope, figure)).collect()
}

fn line(fields: &Fields<'_>, scope: &Scope<'_>, figure: &Figure) -> Option<StatedLine> {
    let sink = fields.sink;
    let before = sink.count();
    let label = fields.text("label");
    let of = of_what(fields, figure);
    let at = match (fields.get("x"), fields.get("y")) {
        (Some(x), None) => x_place(fields, scope, figure, x).map(StatedAt::X),
        (None, Some(y)) => y_place(fields, scope, figure, of.as_deref(), y).map(StatedAt::Y),
        _ => {
            let help = "`x` for a line that stands, `y` for one that lies";
            sink.error_with(&fields.span, "a line is at an `x` or at a `y`", help);
            None
        }
    };
    let series = series(fields, scope, figure);
    let select = scope.selection(fields, "where");
    for axis in select.iter().flat_map(|select| select.0.keys()) {
        if !figure.panels.contains(axis) {
            let help = match figure.panels.is_empty() {
                true => "the figure has one panel".to_owned(),
                false => format!("its panels are of {}", figure.panels.join(" and ")),
            };
            let message = format!("`{axis}` is no axis of the figure's panels");
            sink.error_with(&fields.span_of("where"), message, help);
        }
    }
    let (at, label, select) = (at?, label?.value, select?);
    (sink.count() == before).then_some(StatedLine { at, label, series, of, select })
}

/// What of a trace a line is of.
fn of_what(fields: &Fields<'_>, figure: &Figure) -> Option<String> {
    let name = fields.text("of")?;
    let shown: &[String] = if let FigureKind::Trace { show, .. } = &figure.kind { show } else { &[] };
    if shown.contains(&name.value) && fields.get("y").is_some() {
        return Some(name.value);
    }
    let message = match shown.is_empty() {
        true => "only a `trace` shows several things: leave `of` out".to_owned(),
        false if fields.get("y").is_none() => "`of` goes with `y`: an `x` is of all that is shown".to_owned(),
        false => format!("the figure does not show `{}`", name.value),
    };
    fields.sink.error(&name.span, message);
    None
}

fn series(fields: &Fields<'_>, scope: &Scope<'_>, figure: &Figure) -> Option<String> {
    fields.get("series")?;
    let text = fields.one_text("series")?;
    match figure.kind.series() {
        Some(axis) => scope.label(fields, axis, &text),
        None => {
            fields.sink.error(&text.span, "the figure has no `series`");
            None
        }
    }
}

type Value<'a> = &'a Spanned<DeValue<'a>>;

/// A place on the horizontal axis: a time, a label of the axis, or a number in its unit.
fn x_place(fields: &Fields<'_>, scope: &Scope<'_>, figure: &Figure, value: Value<'_>) -> Option<f64> {
    let x = match &figure.kind {
        FigureKind::Trace { .. } => return with_unit(fields, "x", value, "s"),
        FigureKind::Line { x, .. } => x,
        _ => {
            let help = "its groups have names and no places between them";
            fields.sink.error_with(&value.span(), "bars have no line at an `x`", help);
            return None;
        }
    };
    let axis = &scope.study.axes[scope.study.axis(x).filter(|_| scope.axes)?];
    let text = scalar(value)?;
    let labelled = axis.points.iter().find(|point| point.label == text.value).map(|point| point.value);
    let is_quantity = axis.points.iter().all(|point| point.value.is_some());
    match (is_quantity, labelled, number(value)) {
        (true, Some(place), _) => place,
        (true, None, Some(number)) => Some(number.value),
        (true, None, None) => {
            let unit = axis.unit.as_deref().filter(|unit| !unit.is_empty()).unwrap_or("its unit");
            let help = format!("a label of it, or a number in {unit}");
            fields.sink.error_with(
                &text.span,
                format!("`{}` is no place on the axis `{x}`", text.value),
                help,
            );
            None
        }
        (false, ..) => {
            fields.sink.error(&text.span, format!("the axis `{x}` is no quantity, and has no lines"));
            None
        }
    }
}

/// A value of what is drawn upwards.
fn y_place(
    fields: &Fields<'_>,
    scope: &Scope<'_>,
    figure: &Figure,
    of: Option<&str>,
    value: Value<'_>,
) -> Option<f64> {
    let unit = match &figure.kind {
        FigureKind::Trace { show, .. } => match of.or(show.first().map(String::as_str)) {
            Some("rtt") => "s",
            Some("throughput") => "bit/s",
            Some("jain") => "",
            _ => "packets",
        },
        _ => {
            let metric = figure.metric_upwards()?;
            let derived = scope.study.derived(metric);
            let is_part = derived.is_some_and(|derived| derived.formula != crate::Formula::Difference);
            let metric = derived.map_or(metric, |derived| &derived.metric);
            cwnd_metrics::find(metric).filter(|_| !is_part).map_or("", |metric| metric.unit)
        }
    };
    with_unit(fields, "y", value, unit)
}

/// A number in a unit, or a text with a unit of the same kind.
fn with_unit(fields: &Fields<'_>, key: &str, value: Value<'_>, unit: &str) -> Option<f64> {
    if let Some(At { value, .. }) = number(value) {
        return Some(value);
    }
    let text = scalar(value)?;
    let parsed = match unit {
        "s" => text.value.parse::<Time>().ok().map(Time::as_secs_f64),
        "bit/s" => text.value.parse::<Rate>().ok().map(|rate| rate.0 as f64),
        "" => percent(&text.value),
        _ => None,
    };
    if parsed.is_none() {
        let help = match unit {
            "s" => "a time such as `\"17 s\"`, or a number of seconds",
            "bit/s" => "a rate such as `\"900 Mbit/s\"`, or a number of bit/s",
            "" => "a number, or a share such as `\"90 %\"`",
            _ => "a number in the metric's own unit",
        };
        let what = if unit.is_empty() { "a number".to_owned() } else { format!("in {unit}") };
        fields.sink.error_with(&text.span, format!("`{key}` is {what}, and `{}` is not", text.value), help);
    }
    parsed
}

fn percent(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%')?.trim().parse::<f64>().ok()?;
    Some(number / 100.0).filter(|share| share.is_finite())
}
