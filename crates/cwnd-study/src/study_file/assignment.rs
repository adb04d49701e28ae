//! Keys of an experiment with their values.

use super::diagnostic::{Sink, Span};
use super::reader::{At, Fields, did_you_mean, scalar};
use super::{
    CheckName, Named,
    keys::{self, AXIS},
};
use cwnd_experiment::{
    ExperimentSpec,
    settings::{self, Family, Setting, SettingKind},
};
use cwnd_scenario::AlgorithmSpec;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// A key of an experiment with its value.
#[derive(Clone)]
pub(super) struct Assignment {
    pub setting: &'static Setting,
    /// The value as text; a list of flows has several.
    pub values: Vec<At<String>>,
    /// Where it stands.
    pub span: Span,
}

impl Assignment {
    /// Put it into an experiment. It was tried when it was read.
    pub fn apply(&self, experiment: &mut ExperimentSpec) {
        for value in &self.values {
            // A value that was refused has been reported, and its study is not made.
            let _ = (self.setting.set)(experiment, &value.value);
        }
    }

    /// The value, as a label.
    pub fn label(&self) -> String {
        self.values.iter().map(|value| value.value.as_str()).collect::<Vec<_>>().join(" + ")
    }

    /// As a number with its unit, if it is a quantity.
    pub fn measure(&self) -> Option<(f64, &'static str)> {
        (self.setting.measure)(&self.values.first()?.value)
    }
}

/// The setting of a key, or an error.
pub(super) fn setting(key: &At<&str>, sink: &Sink<'_>) -> Option<&'static Setting> {
    let found = keys::find(key.value);
    if found.is_none() {
        let help = did_you_mean(key.value, keys::all().map(|setting| setting.key));
        sink.error_with(&key.span, format!("there is no setting `{}`", key.value), help);
    }
    found
}

/// A value of a setting, tried.
pub(super) fn assignment(
    setting: &'static Setting,
    value: &Spanned<DeValue<'_>>,
    sink: &Sink<'_>,
    check: CheckName<'_>,
) -> Option<Assignment> {
    let values = match (setting.kind, value.get_ref()) {
        (SettingKind::Algorithm, DeValue::Table(table)) => vec![algorithm(table, &value.span(), sink)?],
        (SettingKind::Flows, DeValue::Array(items)) if !items.is_empty() => {
            let texts: Option<Vec<_>> = items.iter().map(scalar).collect();
            texts.or_else(|| wrong(setting, value, sink))?
        }
        (SettingKind::Flows, _) => return wrong(setting, value, sink),
        (SettingKind::Steps, DeValue::Array(items)) if !items.is_empty() => {
            let texts: Option<Vec<_>> = items.iter().map(scalar).collect();
            vec![steps(setting, &texts.or_else(|| wrong(setting, value, sink))?, value.span(), sink)?]
        }
        (SettingKind::Switch, DeValue::Boolean(_)) => vec![scalar(value)?],
        (SettingKind::Word(words), DeValue::Boolean(_)) if words.contains(&"on") => vec![scalar(value)?],
        (_, DeValue::Boolean(_)) => return wrong(setting, value, sink),
        _ => vec![scalar(value).or_else(|| wrong(setting, value, sink))?],
    };
    let before = sink.count();
    for value in &values {
        try_value(setting, value, sink, check);
    }
    (sink.count() == before).then(|| Assignment { setting, values, span: value.span() })
}

/// A list of steps as one text. A step that does not follow from those before it is notified of at its place.
fn steps(setting: &Setting, steps: &[At<String>], span: Span, sink: &Sink<'_>) -> Option<At<String>> {
    let mut joined = String::new();
    for step in steps {
        joined += if joined.is_empty() { "" } else { "; " };
        joined += &step.value;
        if let Err(message) = (setting.set)(&mut ExperimentSpec::default(), &joined) {
            // The column is that of all steps together.
            let (column, rest) = message.split_once(": ").unwrap_or(("", &message));
            let message = if column.starts_with("column ") { rest } else { &message };
            let help = format!("write it as in `{} = {}`", setting.key, written(setting));
            sink.error_with(&step.span, format!("`{}`: {message}", setting.key), help);
            return None;
        }
    }
    Some(At { value: joined, span })
}

fn try_value(setting: &'static Setting, value: &At<String>, sink: &Sink<'_>, check: CheckName<'_>) {
    let mut scratch = ExperimentSpec::default();
    if let Err(message) = (setting.set)(&mut scratch, &value.value) {
        let help = format!("write it as in `{} = {}`", setting.key, written(setting));
        return sink.error_with(&value.span, format!("`{}`: {message}", setting.key), help);
    }
    for spec in scratch.algorithms() {
        if let Err(message) = check(Named::Algorithm(spec)) {
            sink.error(&value.span, message);
        }
    }
}

/// `{ name = "agile-sd", lambda_max = 4 }` as text.
fn algorithm(table: &DeTable<'_>, span: &Span, sink: &Sink<'_>) -> Option<At<String>> {
    let Some(name) = table.get("name").and_then(scalar) else {
        let help = "write `{ name = \"agile-sd\", lambda_max = 4 }`";
        sink.error_with(span, "an algorithm in braces needs a `name`", help);
        return None;
    };
    let mut spec = AlgorithmSpec { name: name.value, ..AlgorithmSpec::default() };
    for (key, value) in table.iter().filter(|(key, _)| key.get_ref() != "name") {
        let Some(text) = scalar(value) else {
            sink.error(&value.span(), format!("`{}` takes a number, a switch or a word", key.get_ref()));
            return None;
        };
        spec.parameters.insert(key.get_ref().to_string(), text.value);
    }
    Some(At { value: spec.to_string(), span: span.clone() })
}

fn wrong<T>(setting: &'static Setting, value: &Spanned<DeValue<'_>>, sink: &Sink<'_>) -> Option<T> {
    let wanted = match setting.kind {
        SettingKind::Quantity => "a number with a unit, in quotes",
        SettingKind::Number => "a number, or one with a unit in quotes",
        SettingKind::Count => "a whole number",
        SettingKind::Switch => "`true` or `false`",
        SettingKind::Word(_) => "a word in quotes",
        SettingKind::Algorithm => "an algorithm: its name in quotes, or a table with its name and parameters",
        SettingKind::Mix => "a mix in quotes",
        SettingKind::Flows => "a list of flows, each in quotes",
        SettingKind::Kind(Family::Loss) => "a probability, or a kind of loss in quotes",
        SettingKind::Kind(_) => "a name in quotes, perhaps with parameters",
        SettingKind::Steps => "steps in quotes, or a list of them",
        SettingKind::File => "the path of a file in quotes",
        SettingKind::Text(what) | SettingKind::Form { what, .. } => what,
    };
    let help = format!("write `{} = {}`, for example", setting.key, written(setting));
    sink.error_with(&value.span(), format!("`{}` takes {wanted}", setting.key), help);
    None
}

/// The example of a setting as a value of TOML.
pub(super) fn written(setting: &Setting) -> String {
    let number = setting.example.parse::<f64>().is_ok();
    match setting.kind {
        SettingKind::Switch => (setting.example == "on").to_string(),
        SettingKind::Flows => format!("[\"{}\"]", setting.example),
        SettingKind::Steps => format!("[\"{}\"]", setting.example.replace("; ", "\", \"")),
        SettingKind::Number | SettingKind::Count | SettingKind::Kind(Family::Loss) if number => {
            setting.example.to_owned()
        }
        _ => format!("\"{}\"", setting.example),
    }
}

/// All settings of a table: `[scenario]`, or a point of an axis (without its `label`).
pub(super) fn assignments(fields: &Fields<'_>, check: CheckName<'_>) -> Vec<Assignment> {
    let mut found: Vec<Assignment> = Vec::new();
    for (key, value) in fields.entries() {
        if key.value == "label" && fields.section.header == AXIS.header {
            continue;
        }
        // A table with keys of its own has already reported unknown keys.
        let own = !fields.section.keys.is_empty();
        match keys::find(key.value).filter(|setting| fields.section.settings.has(setting.key)) {
            Some(setting) => found.extend(assignment(setting, value, fields.sink, check)),
            None if !own => fields.unknown(&key),
            None => {}
        }
    }
    found
}

/// Checks for keys that cannot be combined: the later one is reported.
pub(super) fn conflicts(assignments: &[&Assignment], sink: &Sink<'_>) {
    for (a, b) in settings::CONFLICTS {
        let of = |key| assignments.iter().find(|assignment| assignment.setting.key == key);
        if let (Some(first), Some(second)) = (of(a), of(b)) {
            let later = if first.span.start > second.span.start { first } else { second };
            sink.error_with(&later.span, format!("`{a}` and `{b}` cannot both be said"), "say one of them");
        }
    }
}
