//! Selections: for each axis named, a label or a list of them.

use super::reader::{At, Fields, did_you_mean};
use crate::{Axis, Selection};
use std::collections::BTreeMap;

/// The axes and labels that can be named.
pub(super) struct Labels<'a>(Vec<&'a Axis>);

impl<'a> Labels<'a> {
    pub fn of(axes: impl Iterator<Item = &'a Axis>) -> Labels<'a> {
        Labels(axes.collect())
    }

    /// The axis of a name, or an error.
    pub fn axis(&self, name: &At<String>, fields: &Fields<'_>) -> Option<&'a Axis> {
        let axis = self.0.iter().find(|axis| axis.name == name.value);
        if axis.is_none() {
            let help = match self.0.is_empty() {
                true => "the study has no axes".to_owned(),
                false => did_you_mean(&name.value, self.0.iter().map(|axis| axis.name.as_str())),
            };
            fields.sink.error_with(&name.span, format!("there is no axis `{}`", name.value), help);
        }
        axis.copied()
    }

    /// A label of an axis as the axis has it, or an error. A number may be written in another way than the label.
    pub fn label(&self, axis: &Axis, text: &At<String>, fields: &Fields<'_>) -> Option<String> {
        let number = text.value.replace('_', "").parse::<f64>().ok();
        let exact = axis.points.iter().find(|point| point.label == text.value);
        let equal = axis.points.iter().find(|point| number.is_some() && point.value == number);
        if let Some(point) = exact.or(equal) {
            return Some(point.label.clone());
        }
        let help = did_you_mean(&text.value, axis.points.iter().map(|point| point.label.as_str()));
        let message = format!("the axis `{}` has no label `{}`", axis.name, text.value);
        fields.sink.error_with(&text.span, message, help);
        None
    }
}

/// A selection under a key; everything if the key is not there.
pub(super) fn selection(fields: &Fields<'_>, key: &str, labels: &Labels<'_>) -> Option<Selection> {
    let Some(value) = fields.get(key) else { return Some(Selection::default()) };
    match value.get_ref() {
        toml::de::DeValue::Table(inner) => {
            let inner = Fields { table: inner, span: value.span(), ..fields.clone() };
            table(&inner, labels)
        }
        _ => fields.wrong_kind(key, value, "a table: `{ buffer = [5, 10] }`"),
    }
}

/// A selection that is a table itself.
pub(super) fn table(fields: &Fields<'_>, labels: &Labels<'_>) -> Option<Selection> {
    let before = fields.sink.count();
    let mut selection = BTreeMap::new();
    for (key, value) in fields.entries() {
        let name = At { value: key.value.to_owned(), span: key.span.clone() };
        let Some(axis) = labels.axis(&name, fields) else { continue };
        let Some(texts) = fields.texts(key.value) else { continue };
        if texts.is_empty() {
            fields.sink.error(&value.span(), format!("`{}` names no label", key.value));
        }
        let known = texts.iter().filter_map(|text| labels.label(axis, text, fields)).collect();
        selection.insert(axis.name.clone(), known);
    }
    (fields.sink.count() == before).then_some(Selection(selection))
}

/// The same, with the labels of each axis in the axis's order.
pub(super) fn in_order(selection: Selection, axes: &[Axis]) -> Selection {
    let place = |axis: &str, label: &str| {
        let axis = axes.iter().find(|known| known.name == axis);
        axis.and_then(|axis| axis.points.iter().position(|point| point.label == label))
    };
    let sorted = |(axis, mut labels): (String, Vec<String>)| {
        labels.sort_by_key(|label| place(&axis, label));
        labels.dedup();
        (axis, labels)
    };
    Selection(selection.0.into_iter().map(sorted).collect())
}
