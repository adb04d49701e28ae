//! The JSON Schema of study files, for editors that complete and check while one writes. What it cannot say (that an
//! axis which is named is there, that units are right) the parser says.

use super::assignment::written;
use super::keys::{self, AXIS, CLAIM, FILE, Key, Kind, LINE, Section, Settings};
use crate::engines::ENGINE;
use cwnd_experiment::{
    kinds::{self},
    settings::{CONFLICTS, Family, Setting, SettingKind},
};
use cwnd_metrics::{self as metrics, Scope};
use serde_json::{Map, Value, json};

/// The schema (draft 2020-12), with the names of the algorithms that there are.
pub fn schema(algorithms: &[&str]) -> Value {
    let mut schema = section(&FILE);
    let settings = keys::all().map(|setting| (setting.key.to_owned(), value(setting, algorithms)));
    let names: Vec<&str> = metrics::all().filter(|m| !m.is_of(Scope::Comparison)).map(|m| m.name).collect();
    let of_run: Vec<&str> = metrics::all().filter(|m| m.is_of(Scope::Run)).map(|m| m.name).collect();
    let more = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A study of cwnd",
        "$defs": {
            "setting": Value::Object(settings.collect()),
            "label": { "type": ["string", "number", "boolean"] },
            "labels": {
                "anyOf": [{ "$ref": "#/$defs/label" }, { "type": "array", "items": { "$ref": "#/$defs/label" }, "minItems": 1 }],
            },
            "run-metric": {
                "anyOf": [
                    { "enum": of_run },
                    { "type": "string", "pattern": format!("^.+\\.({})$", names.join("|")) },
                ],
            },
            "metric": {
                "anyOf": [{ "$ref": "#/$defs/run-metric" }, { "type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]*$" }],
            },
        },
        // Names of derived metrics are known only where there are some.
        "if": { "not": { "required": ["derived"] } },
        "then": of_runs_alone(&FILE),
    });
    merge(&mut schema, more);
    schema
}

/// For a file that derives no metrics: every metric is a run's.
fn of_runs_alone(section: &Section) -> Value {
    let metric = json!({ "$ref": "#/$defs/run-metric" });
    let mut properties = Map::new();
    for key in section.keys {
        let strict = match key.kind {
            Kind::Metric => metric.clone(),
            Kind::Metrics => several(metric.clone()),
            Kind::Table(inner) => of_runs_alone(inner),
            Kind::Tables(inner) => json!({ "items": of_runs_alone(inner) }),
            _ => continue,
        };
        properties.insert(key.name.to_owned(), strict);
    }
    json!({ "properties": properties })
}

fn section(section: &Section) -> Value {
    let mut properties = Map::new();
    for key in section.keys {
        properties.insert(key.name.to_owned(), described(key));
    }
    properties.extend(settings(section.settings));
    let required: Vec<&str> = section.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut schema = json!({
        "type": "object",
        "description": section.about,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    if section.settings != Settings::None {
        merge(&mut schema, conflicts());
    }
    if section.header == AXIS.header {
        merge(&mut schema, axis());
    }
    if section.header == LINE.header {
        merge(&mut schema, json!({ "oneOf": [{ "required": ["x"] }, { "required": ["y"] }] }));
    }
    if section.header == CLAIM.header {
        merge(&mut schema, claim());
    }
    // A table whose keys are not listed has the names of axes for keys.
    if section.keys.is_empty() && section.settings == Settings::None {
        merge(
            &mut schema,
            json!({ "additionalProperties": { "$ref": "#/$defs/labels" }, "minProperties": 1 }),
        );
    }
    schema
}

/// Settings by key, as references.
fn settings(settings: Settings) -> Map<String, Value> {
    let reference = |key: &str| json!({ "$ref": format!("#/$defs/setting/{key}") });
    settings.keys().map(|key| (key.to_owned(), reference(key))).collect()
}

/// What cannot stand side by side.
fn conflicts() -> Value {
    let pairs: Vec<Value> = CONFLICTS.iter().map(|(a, b)| json!({ "not": { "required": [a, b] } })).collect();
    json!({ "allOf": pairs })
}

/// The forms of an axis, and for each key what its values are.
fn axis() -> Value {
    let by_key = |setting: &Setting| {
        let values = json!({ "items": { "$ref": format!("#/$defs/setting/{}", setting.key) } });
        json!({
            "if": { "properties": { "key": { "const": setting.key } }, "required": ["key"] },
            "then": { "properties": { "values": values } },
        })
    };
    json!({
        "oneOf": [
            { "required": ["key", "values"], "not": { "required": ["keys"] } },
            { "required": ["keys", "values"], "not": { "required": ["key"] } },
            { "required": ["points"], "not": { "anyOf": [{ "required": ["key"] }, { "required": ["keys"] }, { "required": ["labels"] }] } },
            { "required": ["zip"], "not": { "anyOf": [{ "required": ["key"] }, { "required": ["keys"] }] } },
        ],
        "allOf": keys::all().map(by_key).collect::<Vec<_>>(),
    })
}

/// A claim says why it cannot be checked, or how it is and what it is held against.
fn claim() -> Value {
    let held = ["expect", "gain", "printed"];
    let against = held.iter().map(|key| {
        let others = held.iter().filter(|other| *other != key);
        let others: Vec<Value> = others.map(|other| json!({ "required": [other] })).collect();
        json!({ "required": ["measure", "metric", key], "not": { "anyOf": others } })
    });
    let tested = ["measure", "metric", "expect", "gain", "printed"].map(|key| json!({ "required": [key] }));
    let untestable = json!({ "required": ["not-testable"], "not": { "anyOf": tested } });
    json!({ "oneOf": against.chain([untestable]).collect::<Vec<_>>() })
}

fn described(key: &Key) -> Value {
    let mut schema = of_kind(key.kind);
    merge(&mut schema, json!({ "description": key.about }));
    schema
}

fn of_kind(kind: Kind) -> Value {
    let keys: Vec<&str> = keys::all().map(|setting| setting.key).collect();
    let metric = json!({ "$ref": "#/$defs/metric" });
    match kind {
        Kind::Text => json!({ "type": "string", "pattern": "\\S" }),
        Kind::Label => json!({ "$ref": "#/$defs/label" }),
        Kind::Texts => json!({ "anyOf": [
            { "$ref": "#/$defs/label" },
            { "type": "array", "items": { "$ref": "#/$defs/label" } },
        ] }),
        Kind::Count { positive } => json!({ "type": "integer", "minimum": u8::from(positive) }),
        Kind::Switch => json!({ "enum": [true, false, "on", "off", "true", "false"] }),
        Kind::Time => json!({ "type": "string", "examples": ["100 ms", "1 s"] }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Engine => value(&ENGINE, &[]),
        Kind::Shown(words) => several(json!({ "anyOf": [
            { "enum": words },
            { "type": "string", "pattern": "^state\\.[a-z0-9_]+$", "examples": ["state.lambda"] },
        ] })),
        Kind::Number => json!({ "type": "number" }),
        Kind::Quantity => json!({ "type": ["number", "string"] }),
        Kind::RunMetric => json!({ "$ref": "#/$defs/run-metric" }),
        Kind::Metric => metric,
        Kind::Metrics => several(metric),
        Kind::Axis => json!({ "type": "string" }),
        Kind::Axes => several(json!({ "type": "string" })),
        Kind::Selection => json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/labels" } }),
        Kind::SettingKey => json!({ "enum": keys }),
        Kind::SettingKeys => several(json!({ "enum": keys })),
        Kind::Values => json!({ "type": "array", "minItems": 1 }),
        Kind::Points => {
            let mut properties = settings(Settings::OfCells);
            properties.insert(
                "label".to_owned(),
                json!({ "type": "string", "description": "What the point is called." }),
            );
            let mut point =
                json!({ "type": "object", "properties": properties, "additionalProperties": false });
            merge(&mut point, conflicts());
            json!({ "type": "array", "items": point, "minItems": 1 })
        }
        Kind::Zip => {
            let list = |(key, value): (String, Value)| {
                (key, json!({ "type": "array", "items": value, "minItems": 1 }))
            };
            let properties: Map<String, Value> = settings(Settings::OfCells).into_iter().map(list).collect();
            json!({ "type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1 })
        }
        Kind::Range => json!({
            "type": "string",
            "pattern": "^\\s*(>=|<=|>|<)?\\s*[-+0-9._eE]+(\\s+to\\s+[-+0-9._eE]+)?\\s*$",
            "examples": [">= 0.95", "> 0.5", "<= 3", "0.4 to 0.7"],
        }),
        Kind::Printed => json!({
            "type": "array",
            "items": { "type": "object", "additionalProperties": { "$ref": "#/$defs/label" }, "minProperties": 1 },
        }),
        Kind::Factors => json!({
            "type": "object",
            "additionalProperties": { "type": "number", "exclusiveMinimum": 0 },
        }),
        Kind::Table(inner) => section(inner),
        Kind::Tables(inner) => json!({ "type": "array", "items": section(inner), "minItems": 1 }),
    }
}

/// What a setting takes.
fn value(setting: &Setting, algorithms: &[&str]) -> Value {
    let mut schema = match setting.kind {
        SettingKind::Quantity => json!({ "type": ["string", "number"] }),
        SettingKind::Number => json!({ "type": ["number", "string"] }),
        SettingKind::Count => {
            json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string", "pattern": "^[0-9_]+$" }] })
        }
        SettingKind::Switch => json!({ "enum": [true, false, "on", "off", "true", "false"] }),
        SettingKind::Word(words) => {
            let switches = words.contains(&"on").then_some([json!(true), json!(false)]).into_iter().flatten();
            json!({ "enum": words.iter().map(|word| json!(word)).chain(switches).collect::<Vec<_>>() })
        }
        SettingKind::Algorithm => json!({ "anyOf": [
            { "type": "string", "pattern": format!("^\\s*({})\\s*(:.*)?$", algorithms.join("|")), "examples": algorithms },
            {
                "type": "object",
                "properties": { "name": { "enum": algorithms } },
                "required": ["name"],
                "additionalProperties": { "$ref": "#/$defs/label" },
            },
        ] }),
        SettingKind::Mix => json!({ "type": "string" }),
        SettingKind::Flows => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        SettingKind::Kind(family) => of_family(family),
        SettingKind::Steps => several(json!({ "type": "string" })),
        SettingKind::File => json!({ "type": "string" }),
        SettingKind::Text(_) => json!({ "type": ["string", "number"] }),
        SettingKind::Form { pattern, .. } => json!({ "type": "string", "pattern": pattern }),
    };
    let about = format!(
        "{} Left out: {}. Written: `{} = {}`.",
        setting.about,
        setting.default,
        setting.key,
        written(setting)
    );
    merge(&mut schema, json!({ "description": about }));
    schema
}

/// One of these, or a list of them.
fn several(one: Value) -> Value {
    json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
}

/// A kind of queue, loss or jitter, perhaps with parameters; a loss may be a probability.
fn of_family(family: Family) -> Value {
    let kinds = kinds::all();
    let kinds: Vec<_> = kinds.iter().filter(|kind| kind.family == family).collect();
    let names: Vec<&str> = kinds.iter().map(|kind| kind.info.name).collect();
    let forms: Vec<&str> = kinds.iter().map(|kind| kind.info.form.as_str()).collect();
    let name = json!({ "type": "string", "pattern": format!("^\\s*({})\\s*(:.*)?$", names.join("|")), "examples": forms });
    match family {
        Family::Loss => json!({ "anyOf": [
            { "type": "number", "minimum": 0, "maximum": 1 },
            { "type": "string", "pattern": "^\\s*[+0-9.][-+0-9._eE]*\\s*%?\\s*$" },
            name,
        ] }),
        Family::Jitter => json!({ "anyOf": [{ "const": "none" }, name] }),
        Family::Queue | Family::Topology => name,
    }
}

/// Adds the fields of one object to another.
fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}
