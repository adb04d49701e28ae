//! Descriptions of the kinds of queues, losses and jitter, for documents, schemas and help.

use super::families::{JITTERS, LOSSES, QUEUES};
use super::kind::{Kind, Parameter};
use serde::Serialize;

/// A kind of queue, loss or jitter, or something else that is chosen by a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindInfo {
    /// The name in the notation.
    pub name: &'static str,
    /// The full name.
    pub title: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The RFC or paper; empty if there is none.
    pub source: &'static str,
    /// The notation with the required parameters.
    pub form: String,
    /// Its parameters.
    pub parameters: Vec<ParameterInfo>,
}

/// A parameter of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParameterInfo {
    /// Name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Unit, if its values carry none themselves.
    pub unit: &'static str,
    /// The default, as it is written; none if it must be said.
    pub default: Option<String>,
    /// What values it takes.
    pub takes: String,
    /// Where the default is from.
    pub source: &'static str,
}

/// Returns all kinds of queues.
pub fn queues() -> Vec<KindInfo> {
    QUEUES.iter().map(info).collect()
}

/// Returns all kinds of losses.
pub fn losses() -> Vec<KindInfo> {
    LOSSES.iter().map(info).collect()
}

/// Returns all kinds of jitter.
pub fn jitters() -> Vec<KindInfo> {
    JITTERS.iter().map(info).collect()
}

fn info<S>(kind: &Kind<S>) -> KindInfo {
    let default = (kind.new)();
    let parameter = |parameter: &Parameter<S>| ParameterInfo {
        name: parameter.name,
        about: parameter.about,
        unit: parameter.unit,
        default: (!parameter.required).then(|| (parameter.get)(&default).to_string()),
        takes: parameter.takes.to_string(),
        source: parameter.source,
    };
    KindInfo {
        name: kind.name,
        title: kind.title,
        about: kind.about,
        source: kind.source,
        form: kind.form(),
        parameters: kind.parameters.iter().map(parameter).collect(),
    }
}
