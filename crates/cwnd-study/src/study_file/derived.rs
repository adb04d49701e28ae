//! `[[derived]]`.

use super::keys::{DERIVED, FORMULAS};
use super::reader::{At, Fields};
use super::scope::Scope;
use crate::{Derived, Formula};
use cwnd_metrics as metrics;

pub(super) fn derived(file: &Fields<'_>, scope: &Scope<'_>) -> Vec<Derived> {
    let mut names: Vec<String> = Vec::new();
    let read = |fields: Fields<'_>| {
        let name = name(&fields, &names);
        names.extend(name.clone());
        one(&fields, scope, name)
    };
    file.tables("derived", &DERIVED).into_iter().filter_map(read).collect()
}

fn one(fields: &Fields<'_>, scope: &Scope<'_>, name: Option<String>) -> Option<Derived> {
    let title = fields.text("title");
    let metric = scope.metric(fields, "metric");
    let formula = fields.word("formula", FORMULAS).and_then(|word| {
        Formula::ALL.into_iter().find(|(known, _)| *known == word.value).map(|(_, formula)| formula)
    });
    let axis = scope.axis(fields, "axis")?;
    let reference = fields.one_text("reference").and_then(|text| scope.label(fields, &axis, &text))?;
    Some(Derived { name: name?, title: title?.value, metric: metric?, axis, reference, formula: formula? })
}

/// A name that is no metric's and none of those taken.
fn name(fields: &Fields<'_>, taken: &[String]) -> Option<String> {
    let At { value: name, span } = fields.text("name")?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.chars().all(allowed) || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let help = "such as `stolen_rate`";
        fields.sink.error_with(
            &span,
            "a metric's name has letters, digits and `_`, and begins with a letter",
            help,
        );
        return None;
    }
    if metrics::all().any(|metric| metric.name == name) {
        let message = format!("`{name}` is a metric already: choose another name");
        fields.sink.error_with(&span, message, "`cwnd metrics` lists all");
        return None;
    }
    if taken.contains(&name) {
        fields.sink.error(&span, format!("`{name}` is taken already"));
        return None;
    }
    Some(name)
}
