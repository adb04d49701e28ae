//! What a publication prints in a table: `printed` and `scale` of `[[tables]]`.

use super::keys::TABLE;
use super::reader::{At, Fields, did_you_mean, number};
use super::scope::Scope;
use crate::{Printed, Selection};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// Where numbers may stand.
pub(super) struct Places<'a> {
    pub scope: &'a Scope<'a>,
    /// The axes that make rows and columns.
    pub axes: &'a [&'a String],
    /// The table's metrics.
    pub metrics: &'a [String],
    /// The table's cells.
    pub select: &'a Selection,
}

/// What ours are multiplied by, by metric.
pub(super) fn factors(fields: &Fields<'_>, metrics: &[String]) -> Option<BTreeMap<String, f64>> {
    let sink = fields.sink;
    let Some(value) = fields.get("scale") else { return Some(BTreeMap::new()) };
    let DeValue::Table(table) = value.get_ref() else {
        return fields.wrong_kind("scale", value, "a table: `{ throughput_bps = 1e-6 }`");
    };
    let before = sink.count();
    if fields.get("printed").is_none() {
        let help = "figures and tables choose their units by themselves";
        sink.error_with(&value.span(), "`scale` is for what is `printed`, and nothing is", help);
    }
    let mut factors = BTreeMap::new();
    for (key, value) in entries(table, fields) {
        if !metrics.iter().any(|metric| metric == key.value) {
            no_metric(fields, &key, metrics);
        } else if let Some(number) = number(value).filter(|number| number.value > 0.0) {
            factors.insert(key.value.to_owned(), number.value);
        } else {
            sink.error(&value.span(), format!("`{}` is multiplied by a number over 0", key.value));
        }
    }
    (sink.count() == before).then_some(factors)
}

/// What is printed, place by place.
pub(super) fn printed(fields: &Fields<'_>, places: &Places<'_>) -> Option<Vec<Printed>> {
    const WANTED: &str =
        "a list of tables: `[{ variant = \"cubic\", buffer = 100, throughput_bps = 513.72 }]`";
    let sink = fields.sink;
    let Some(value) = fields.get("printed") else { return Some(Vec::new()) };
    let DeValue::Array(items) = value.get_ref() else { return fields.wrong_kind("printed", value, WANTED) };
    let before = sink.count();
    let mut printed: Vec<Printed> = Vec::new();
    for item in items {
        let DeValue::Table(table) = item.get_ref() else {
            fields.wrong_kind::<()>("printed", item, WANTED);
            continue;
        };
        let row = Fields { table, span: item.span(), ..fields.clone() };
        let Some(numbers) = row_of(&row, places) else { continue };
        for number in numbers {
            if printed.iter().any(|known| known.at == number.at && known.metric == number.metric) {
                let message = format!("`{}` is printed twice at the same place", number.metric);
                sink.error(&row.span, message);
            }
            printed.push(number);
        }
    }
    (sink.count() == before).then_some(printed)
}

/// The numbers of one place.
fn row_of(row: &Fields<'_>, places: &Places<'_>) -> Option<Vec<Printed>> {
    let sink = row.sink;
    let before = sink.count();
    let (mut at, mut numbers) = (BTreeMap::new(), Vec::new());
    for (key, value) in entries(row.table, row) {
        if places.axes.iter().any(|axis| *axis == key.value) {
            let label = row.one_text(key.value).and_then(|text| places.scope.label(row, key.value, &text));
            at.extend(label.map(|label| (key.value.to_owned(), label)));
        } else if places.metrics.iter().any(|metric| metric == key.value) {
            match number(value) {
                Some(number) => numbers.push((key.value.to_owned(), number.value)),
                None => sink.error(&value.span(), format!("`{}` is a number as it is printed", key.value)),
            }
        } else {
            let axes = places.axes.iter().map(|axis| axis.as_str());
            let names: Vec<&str> = axes.chain(places.metrics.iter().map(String::as_str)).collect();
            let message =
                format!("`{}` is no axis of rows or columns and no metric of {}", key.value, TABLE.header);
            sink.error_with(&key.span, message, did_you_mean(key.value, names.into_iter()));
        }
    }
    if sink.count() > before {
        return None;
    }
    if let Some(missing) = places.axes.iter().find(|axis| !at.contains_key(**axis)) {
        let message = format!("it does not say where it stands: it needs a label of `{missing}`");
        sink.error(&row.span, message);
        return None;
    }
    if numbers.is_empty() {
        let help = format!("such as `{} = 1.5`", places.metrics.first().map_or("", String::as_str));
        sink.error_with(&row.span, "it prints no number", help);
        return None;
    }
    let place = Selection(at.iter().map(|(axis, label)| (axis.clone(), vec![label.clone()])).collect());
    let study = places.scope.study;
    let mut cells = study.select(&place).filter(|cell| places.select.contains(study, *cell));
    if places.scope.cells && cells.next().is_none() {
        sink.error(&row.span, "the table has no cell there");
        return None;
    }
    let printed = |(metric, value): (String, f64)| Printed { at: at.clone(), metric, value };
    Some(numbers.into_iter().map(printed).collect())
}

fn no_metric(fields: &Fields<'_>, key: &At<&str>, metrics: &[String]) {
    let help = did_you_mean(key.value, metrics.iter().map(String::as_str));
    fields.sink.error_with(&key.span, format!("the table has no metric `{}`", key.value), help);
}

type Entry<'a> = (At<&'a str>, &'a toml::Spanned<DeValue<'a>>);

fn entries<'a>(table: &'a DeTable<'a>, fields: &Fields<'a>) -> Vec<Entry<'a>> {
    Fields { table, ..fields.clone() }.entries()
}
