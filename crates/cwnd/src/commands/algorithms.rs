//! `cwnd algorithms`: what there is to compare.

use crate::{
    catalogue,
    failure::Failure,
    output::{self, json},
};
use clap::Args;
use cwnd_cc::{AlgorithmInfo, Observable, Parameter, ParameterKind, Signal};
use cwnd_report::table::{Align, Sacrifice, Table};
use cwnd_scenario::StackProfile;
use serde::Serialize;

/// List the algorithms, or tell all about one: its reference, signals and parameters.
#[derive(Args)]
pub struct Flags {
    /// The algorithm to tell about [default: list them all].
    pub name: Option<String>,

    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,

    /// Print the page of the documentation that describes all of them.
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub markdown: bool,
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let one = flags.name.as_deref().map(catalogue::find).transpose().map_err(Failure::bad_input)?;
    output::print(&match (one, flags.json) {
        (one, true) => {
            let described: Vec<Described> = match one {
                Some(algorithm) => vec![Described::new(algorithm)],
                None => cwnd_cc::all().iter().map(Described::new).collect(),
            };
            json::pretty(&Document { algorithms: described })
        }
        (Some(algorithm), false) => sheet(algorithm),
        (None, false) if flags.markdown => cwnd_report::descriptive::algorithms_page(),
        (None, false) => list(),
    })
}

/// What a sheet says of an algorithm whose equations are not public.
const RECONSTRUCTION: &str = "This is a reconstruction: its equations come from an abstract, summaries or other \
                              people's models, not from the paper itself. Its results are not those of the original.";

fn list() -> String {
    let columns = ["name", "year", "title", "reacts to"].map(|name| (name, Align::Left));
    let mut table = Table::new(columns).indent(2);
    for algorithm in cwnd_cc::all() {
        table.row([
            algorithm.name,
            &algorithm.year.to_string(),
            algorithm.title,
            &signals(algorithm).join(", "),
        ]);
    }
    let table = output::fitted(table, &[Sacrifice::Shorten("title", 24), Sacrifice::Drop("year")]);
    format!("\n{table}\n  `cwnd algorithms NAME` tells all about one.\n\n")
}

fn sheet(algorithm: &AlgorithmInfo) -> String {
    let mut text = format!("\n  {} ({}, {})\n\n", algorithm.title, algorithm.name, algorithm.year);
    text += &output::wrapped(algorithm.summary, 2);
    text.push('\n');
    if algorithm.reconstruction {
        text += &output::wrapped(RECONSTRUCTION, 2);
        text.push('\n');
    }
    for (label, value) in [
        ("shines", algorithm.strengths),
        ("fails", algorithm.weaknesses),
        ("reference", algorithm.reference),
        ("reacts to", &signals(algorithm).join(", ")),
        ("based on", algorithm.based_on),
        ("also in", algorithm.implemented_in),
    ] {
        if !value.is_empty() {
            text += &format!("  {label:<10}{}", output::wrapped(value, 12).trim_start());
        }
    }
    if algorithm.parameters.is_empty() {
        text += "\n  It has no parameters.\n";
    } else {
        text += "\n  parameters\n\n";
    }
    for parameter in algorithm.parameters {
        let unit = if matches!(parameter.unit, "" | "1") { "" } else { parameter.unit };
        let space = if unit.is_empty() { "" } else { " " };
        text += &format!("  {} = {}{space}{unit}\n", parameter.name, parameter.kind.default_value());
        text += &output::wrapped(parameter.about, 6);
        text += &output::wrapped(&format!("{}; {}", parameter.kind, parameter.source), 6);
        text.push('\n');
    }
    for profile in [StackProfile::Linux, StackProfile::Ns2] {
        let set = profile.parameters(algorithm.name).iter();
        let set: Vec<String> = set.map(|(name, value)| format!("{name}={value}")).collect();
        if !set.is_empty() {
            let stack = profile.name();
            text += &output::wrapped(
                &format!("--stack {stack} sets {}, unless they are given.", set.join(", ")),
                2,
            );
            text.push('\n');
        }
    }
    if algorithm.observables.is_empty() {
        return text + "\n";
    }
    text += "  state, in samples (`--trace`) and figures over time\n\n";
    for observable in algorithm.observables {
        text += &format!("  state.{}: {}{}\n", observable.name, observable.symbol, unit(observable));
        text += &output::wrapped(observable.about, 6);
        text.push('\n');
    }
    text
}

/// The unit of a value of state after its symbol, or the names of a mode.
fn unit(observable: &Observable) -> String {
    match observable.unit {
        "" => format!(" ({})", observable.modes.join(", ")),
        "1" => String::new(),
        unit => format!(" ({unit})"),
    }
}

fn signals(algorithm: &AlgorithmInfo) -> Vec<&'static str> {
    algorithm.signals.iter().map(Signal::as_str).collect()
}

#[derive(Serialize)]
struct Document {
    algorithms: Vec<Described>,
}

#[derive(Serialize)]
struct Described {
    name: &'static str,
    title: &'static str,
    year: u16,
    reference: &'static str,
    summary: &'static str,
    strengths: &'static str,
    weaknesses: &'static str,
    signals: Vec<&'static str>,
    based_on: &'static str,
    implemented_in: &'static str,
    reconstruction: bool,
    version: u32,
    parameters: Vec<DescribedParameter>,
    state: Vec<DescribedState>,
}

/// A value of an algorithm's state.
#[derive(Serialize)]
struct DescribedState {
    name: &'static str,
    symbol: &'static str,
    unit: &'static str,
    about: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    modes: &'static [&'static str],
}

#[derive(Serialize)]
struct DescribedParameter {
    name: &'static str,
    about: &'static str,
    unit: &'static str,
    #[serde(flatten)]
    range: Range,
    source: &'static str,
}

/// What values a parameter takes, and which it has.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Range {
    Number { default: f64, range: [f64; 2] },
    Switch { default: bool, range: [bool; 2] },
    Word { default: &'static str, range: &'static [&'static str] },
}

impl Described {
    fn new(algorithm: &AlgorithmInfo) -> Described {
        Described {
            name: algorithm.name,
            title: algorithm.title,
            year: algorithm.year,
            reference: algorithm.reference,
            summary: algorithm.summary,
            strengths: algorithm.strengths,
            weaknesses: algorithm.weaknesses,
            signals: signals(algorithm),
            based_on: algorithm.based_on,
            implemented_in: algorithm.implemented_in,
            reconstruction: algorithm.reconstruction,
            version: algorithm.version,
            parameters: algorithm.parameters.iter().map(DescribedParameter::new).collect(),
            state: algorithm.observables.iter().map(DescribedState::new).collect(),
        }
    }
}

impl DescribedState {
    fn new(observable: &Observable) -> DescribedState {
        let Observable { name, symbol, unit, about, modes } = *observable;
        DescribedState { name, symbol, unit, about, modes }
    }
}

impl DescribedParameter {
    fn new(parameter: &Parameter) -> DescribedParameter {
        let range = match parameter.kind {
            ParameterKind::Number { default, min, max } => Range::Number { default, range: [min, max] },
            ParameterKind::Switch { default } => Range::Switch { default, range: [false, true] },
            ParameterKind::Word { default, choices } => Range::Word { default, range: choices },
        };
        DescribedParameter {
            name: parameter.name,
            about: parameter.about,
            unit: parameter.unit,
            range,
            source: parameter.source,
        }
    }
}
