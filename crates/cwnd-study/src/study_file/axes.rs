//! `[[axes]]`: what differs between cells.

use super::CheckName;
use super::assignment::{Assignment, assignment, assignments, conflicts, setting};
use super::diagnostic::{Sink, Span};
use super::keys::{AXIS, Section, Settings};
use super::reader::{At, Fields, counted};
use crate::{Axis, Point, Scale};
use toml::{
    Spanned,
    de::{DeArray, DeValue},
};

/// An axis with what each of its points sets.
pub(super) struct Drawn {
    pub axis: Axis,
    /// For each point.
    pub sets: Vec<Vec<Assignment>>,
    pub span: Span,
}

/// A point of a list axis takes settings, and a label.
static POINT: Section = Section { header: AXIS.header, about: "", keys: &[], settings: Settings::OfCells };

/// All axes, if all are right.
pub(super) fn axes(file: &Fields<'_>, check: CheckName<'_>) -> Option<Vec<Drawn>> {
    let before = file.sink.count();
    let tables = file.tables("axes", &AXIS);
    let mut drawn: Vec<Drawn> = tables.iter().filter_map(|table| axis(table, check)).collect();
    for i in (1..drawn.len()).rev() {
        let (earlier, later) = drawn.split_at(i);
        let later = &later[0];
        if earlier.iter().any(|axis| axis.axis.name == later.axis.name) {
            file.sink.error(&later.span, format!("there is an axis `{}` already", later.axis.name));
        }
        for set in later.sets.iter().flatten() {
            let key = set.setting.key;
            let twice = earlier.iter().find(|axis| axis.sets.iter().flatten().any(|s| s.setting.key == key));
            if let Some(axis) = twice {
                file.sink
                    .error(&set.span, format!("`{key}` is set by the axis `{}` already", axis.axis.name));
                break;
            }
        }
    }
    if file
        .get("axes")
        .is_some_and(|axes| matches!(axes.get_ref(), DeValue::Array(items) if items.is_empty()))
    {
        file.sink.error(&file.span_of("axes"), format!("{} is empty: leave it out", "axes"));
    }
    (file.sink.count() == before).then(|| std::mem::take(&mut drawn))
}

fn axis(fields: &Fields<'_>, check: CheckName<'_>) -> Option<Drawn> {
    let sink = fields.sink;
    let name = fields.text("name");
    let forms = ["values", "points", "zip"].map(|form| fields.get(form).is_some());
    if forms.iter().filter(|form| **form).count() != 1 {
        let help = "`key` (or `keys`) with `values`, or `points`, or `zip`";
        sink.error_with(&fields.span, "an axis takes one of `values`, `points` and `zip`", help);
        return None;
    }
    if !forms[0] {
        for key in ["key", "keys"].into_iter().filter(|key| fields.get(key).is_some()) {
            sink.error(
                &fields.span_of(key),
                format!("`{key}` goes with `values`: the points say by themselves what they set"),
            );
        }
    }
    let points = match forms {
        [true, ..] => by_values(fields, check),
        [_, true, _] => by_points(fields, check),
        _ => by_zip(fields, check),
    }?;
    let labels = labels(fields, &points)?;
    for (i, label) in labels.iter().enumerate() {
        if labels[..i].iter().any(|earlier| earlier.value == label.value) {
            let help = "give the points `labels` that tell them apart";
            sink.error_with(
                &label.span,
                format!("two points of the axis are called `{}`", label.value),
                help,
            );
            return None;
        }
    }
    let (values, unit) = quantity(fields, &points, &labels)?;
    let first = points[0].sets.first().map(|set| set.setting);
    let name = name?.value;
    let title = fields.text("title").map(|title| title.value);
    let from_key = first.filter(|_| forms[0]).map(|setting| setting.title.to_owned());
    let point = |(label, value): (At<String>, Option<f64>)| Point { label: label.value, value };
    Some(Drawn {
        axis: Axis {
            title: title.or(from_key).unwrap_or_else(|| capitalised(&name)),
            name,
            unit,
            scale: scale(fields, values.as_deref())?,
            points: labels.into_iter().zip(spread(values, points.len())).map(point).collect(),
        },
        sets: points.into_iter().map(|point| point.sets).collect(),
        span: fields.span_of("name"),
    })
}

/// A point while its axis is read.
struct PointSettings {
    sets: Vec<Assignment>,
    label: Option<At<String>>,
    span: Span,
}

/// `key` or `keys` with `values`.
fn by_values(fields: &Fields<'_>, check: CheckName<'_>) -> Option<Vec<PointSettings>> {
    let sink = fields.sink;
    let keys = match (fields.get("key"), fields.get("keys")) {
        (Some(_), Some(_)) => {
            sink.error(&fields.span_of("keys"), "an axis has either `key` or `keys`");
            return None;
        }
        (Some(_), None) => vec![fields.text("key")?],
        (None, Some(_)) => fields.texts("keys")?,
        (None, None) => {
            sink.error_with(&fields.span_of("values"), "values of what?", "name it: `key = \"buffer\"`");
            return None;
        }
    };
    if keys.is_empty() {
        sink.error(&fields.span_of("keys"), "`keys` is empty");
        return None;
    }
    let mut settings = Vec::new();
    for key in &keys {
        let setting = setting(&At { value: &key.value, span: key.span.clone() }, sink)?;
        if settings.iter().any(|known: &&cwnd_experiment::settings::Setting| known.key == setting.key) {
            sink.error(&key.span, format!("`{}` is named twice", setting.key));
            return None;
        }
        settings.push(setting);
    }
    let values = list(fields, "values")?;
    let before = sink.count();
    let points = values.iter().map(|value| PointSettings {
        sets: settings.iter().filter_map(|setting| assignment(setting, value, sink, check)).collect(),
        label: None,
        span: value.span(),
    });
    let points = points.collect();
    (sink.count() == before).then_some(points)
}

/// `points`: tables of settings.
fn by_points(fields: &Fields<'_>, check: CheckName<'_>) -> Option<Vec<PointSettings>> {
    let before = fields.sink.count();
    list(fields, "points")?;
    let mut points = Vec::new();
    for point in fields.tables("points", &POINT) {
        let sets = assignments(&point, check);
        conflicts(&sets.iter().collect::<Vec<_>>(), fields.sink);
        points.push(PointSettings { sets, label: point.text("label"), span: point.span.clone() });
    }
    (fields.sink.count() == before).then_some(points)
}

/// `zip`: lists of settings, side by side.
fn by_zip(fields: &Fields<'_>, check: CheckName<'_>) -> Option<Vec<PointSettings>> {
    let sink = fields.sink;
    let before = sink.count();
    let value = fields.get("zip")?;
    let DeValue::Table(table) = value.get_ref() else {
        return fields.wrong_kind("zip", value, "a table of keys with lists: `{ rate = [..], rtt = [..] }`");
    };
    let zip = Fields { table, span: value.span(), section: &POINT, sink };
    let mut points: Vec<PointSettings> = Vec::new();
    let mut first: Option<&str> = None;
    for (key, _) in zip.entries() {
        let (Some(setting), Some(values)) = (setting(&key, sink), list(&zip, key.value)) else { continue };
        match first {
            None => {
                first = Some(key.value);
                let draft = |value: &Spanned<DeValue<'_>>| PointSettings {
                    sets: Vec::new(),
                    label: None,
                    span: value.span(),
                };
                points.extend(values.iter().map(draft));
            }
            Some(other) if values.len() != points.len() => {
                let values = counted(values.len(), "value");
                let message = format!("`{}` has {values}, and `{other}` has {}", key.value, points.len());
                sink.error_with(&key.span, message, "lists that go in step are equally long");
                continue;
            }
            Some(_) => {}
        }
        for (point, value) in points.iter_mut().zip(values) {
            point.sets.extend(assignment(setting, value, sink, check));
        }
    }
    if first.is_none() && sink.count() == before {
        sink.error(&value.span(), "`zip` names no keys");
    }
    (sink.count() == before).then_some(points)
}

/// A list that is not empty.
fn list<'a>(fields: &Fields<'a>, key: &str) -> Option<&'a DeArray<'a>> {
    let value = fields.get(key)?;
    match value.get_ref() {
        DeValue::Array(items) if items.is_empty() => {
            fields.sink.error(&value.span(), format!("`{key}` is empty: an axis has at least one point"));
            None
        }
        DeValue::Array(items) => Some(items),
        _ => fields.wrong_kind(key, value, "a list"),
    }
}

/// What the points are called: as `labels` says, or by what they set.
fn labels(fields: &Fields<'_>, points: &[PointSettings]) -> Option<Vec<At<String>>> {
    if fields.get("labels").is_none() {
        let own = |point: &PointSettings| {
            let sets: Vec<String> = point.sets.iter().map(Assignment::label).collect();
            // Several keys with the same value are called once.
            let same = sets.windows(2).all(|pair| pair[0] == pair[1]);
            let text = if same { sets.first().cloned().unwrap_or_default() } else { sets.join(", ") };
            point.label.clone().unwrap_or(At { value: text, span: point.span.clone() })
        };
        let labels: Vec<At<String>> = points.iter().map(own).collect();
        if let Some(nameless) = labels.iter().find(|label| label.value.is_empty()) {
            fields.sink.error(&nameless.span, "a point that sets nothing needs a `label`");
            return None;
        }
        return Some(labels);
    }
    let labels = fields.texts("labels")?;
    if fields.get("points").is_some() {
        fields.sink.error(&fields.span_of("labels"), "each of the `points` has a `label` of its own");
        return None;
    }
    if labels.len() != points.len() {
        let message = format!("{} for {}", counted(labels.len(), "label"), counted(points.len(), "point"));
        fields.sink.error(&fields.span_of("labels"), message);
        return None;
    }
    Some(labels)
}

/// The points' values and their unit, if the axis is a quantity: by what its first key measures, or, where a unit or a
/// scale is asked for, by labels that are numbers.
fn quantity(
    fields: &Fields<'_>,
    points: &[PointSettings],
    labels: &[At<String>],
) -> Option<(Option<Vec<f64>>, Option<String>)> {
    let wanted = ["unit", "scale"].into_iter().find(|key| fields.get(key).is_some());
    let unit = fields.text("unit").map(|unit| unit.value);
    let single = fields.get("values").is_some();
    let measured: Option<Vec<(f64, &str)>> =
        points.iter().map(|point| point.sets.first()?.measure()).collect();
    if let Some(measured) = measured.filter(|m| single && m.iter().all(|(_, unit)| *unit == m[0].1)) {
        let own = Some(measured[0].1.to_owned()).filter(|unit| !unit.is_empty());
        return Some((Some(measured.iter().map(|(value, _)| *value).collect()), unit.or(own)));
    }
    let Some(wanted) = wanted else { return Some((None, None)) };
    let numbers: Option<Vec<f64>> = labels
        .iter()
        .map(|label| label.value.parse().ok().filter(|number: &f64| number.is_finite()))
        .collect();
    if numbers.is_none() && fields.text("scale").is_none_or(|scale| scale.value != "linear") {
        let help = "its values must be quantities of one unit, or its `labels` numbers";
        fields.sink.error_with(
            &fields.span_of(wanted),
            format!("the axis has no values for a `{wanted}`"),
            help,
        );
        return None;
    }
    Some((numbers, unit))
}

fn scale(fields: &Fields<'_>, values: Option<&[f64]>) -> Option<Scale> {
    if fields.get("scale").is_none() {
        return Some(Scale::Linear);
    }
    let word = fields.word("scale", &["linear", "log"])?;
    if word.value == "linear" {
        return Some(Scale::Linear);
    }
    if values.is_some_and(|values| values.iter().any(|value| *value < 0.0)) {
        fields.sink.error(&word.span, "a value below 0 has no logarithm");
        return None;
    }
    Some(Scale::Log)
}

fn spread(values: Option<Vec<f64>>, count: usize) -> Vec<Option<f64>> {
    values.map_or(vec![None; count], |values| values.into_iter().map(Some).collect())
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Whether an axis leaves no cell with the value that `[scenario]` gives to a key.
pub(super) fn shadowed(axes: &[Drawn], base: &[Assignment], sink: &Sink<'_>) {
    for set in base {
        let key = set.setting.key;
        let all = |axis: &&Drawn| axis.sets.iter().all(|sets| sets.iter().any(|s| s.setting.key == key));
        if let Some(axis) = axes.iter().find(all) {
            let message =
                format!("`{key}` has no effect: every point of the axis `{}` sets it", axis.axis.name);
            sink.error(&set.span, message);
        }
    }
}
