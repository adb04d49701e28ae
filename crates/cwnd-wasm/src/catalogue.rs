//! The algorithms and their parameters, for the page.

use crate::json::Json;
use cwnd_cc::{ParameterKind, ParameterValue};

/// Returns all algorithms as JSON: name, title, year, summary, reference, parameters and observables.
pub fn catalogue() -> String {
    let mut json = Json::default();
    json.list(cwnd_cc::all(), |json, algorithm| {
        json.object(|json| {
            json.text("name", algorithm.name);
            json.text("title", algorithm.title);
            json.number("year", algorithm.year.into());
            json.text("summary", algorithm.summary);
            json.text("strengths", algorithm.strengths);
            json.text("weaknesses", algorithm.weaknesses);
            json.text("reference", algorithm.reference);
            json.member_list("signals", algorithm.signals, |json, signal| json.item(signal.as_str()));
            json.member_list("parameters", algorithm.parameters, |json, parameter| {
                json.object(|json| {
                    json.text("name", parameter.name);
                    json.text("about", parameter.about);
                    json.text("unit", parameter.unit);
                    json.text("default", &default_of(&parameter.kind));
                    json.text("valid", &parameter.kind.to_string());
                });
            });
            json.member_list("observables", algorithm.observables, |json, observable| {
                json.object(|json| {
                    json.text("name", observable.name);
                    json.text("symbol", observable.symbol);
                    json.text("unit", observable.unit);
                    json.text("about", observable.about);
                    json.member_list("modes", observable.modes, |json, mode| json.item(mode));
                });
            });
        });
    });
    json.into_text()
}

fn default_of(kind: &ParameterKind) -> String {
    match kind.default_value() {
        ParameterValue::Number(number) => number.to_string(),
        other => other.to_string(),
    }
}
