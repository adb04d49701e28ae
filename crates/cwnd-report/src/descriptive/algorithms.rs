//! The page of the documentation that is made from the registry.

use super::{AlgorithmInfo, Signal, all};
use alloc::{format, string::String, vec::Vec};

const HEAD: &str = "\
# Algorithms

`cwnd algorithms --markdown` prints this page from the registry that the program runs by; a test holds the two together.

Each algorithm is one file in `crates/cwnd-cc/src/algorithms/` with its equations, and with every reading where
its source leaves something open. Parameters are set behind the name: `cwnd compare agile-sd:lambda_max=4,beta2=0.9`.

";

/// `docs/algorithms.md`: every algorithm with what it reacts to, where it shines and fails, and its parameters.
pub fn markdown() -> String {
    let mut page = String::from(HEAD);
    page += "| name | title | year | reacts to |\n|---|---|---|---|\n";
    for algorithm in all() {
        let AlgorithmInfo { name, title, year, .. } = algorithm;
        page += &format!("| [`{name}`](#{name}) | {title} | {year} | {} |\n", signals(algorithm));
    }
    for algorithm in all() {
        page += &section(algorithm);
    }
    page
}

fn section(algorithm: &AlgorithmInfo) -> String {
    let AlgorithmInfo { name, title, summary, .. } = algorithm;
    let mut text = format!("\n## {name}\n\n**{title}** ({}). {summary}\n", algorithm.year);
    if algorithm.reconstruction {
        text += "\nThis is a reconstruction: the equations of the original are not public.\n";
    }
    text += &format!("\nShines: {}\n\nFails: {}\n\n", algorithm.strengths, algorithm.weaknesses);
    let facts = [
        ("Reacts to", signals(algorithm)),
        ("Based on", algorithm.based_on.into()),
        ("Also in", algorithm.implemented_in.into()),
        ("Reference", algorithm.reference.into()),
    ];
    for (label, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        text += &format!("- {label}: {fact}\n");
    }
    if !algorithm.parameters.is_empty() {
        text += "\n| parameter | default | values | what it is | source |\n|---|---|---|---|---|\n";
    }
    for parameter in algorithm.parameters {
        let unit = if matches!(parameter.unit, "" | "1") { "" } else { parameter.unit };
        let space = if unit.is_empty() { "" } else { " " };
        let default = parameter.kind.default_value();
        text += &format!(
            "| `{}` | {default}{space}{unit} | {} | {} | {} |\n",
            parameter.name, parameter.kind, parameter.about, parameter.source
        );
    }
    text
}

fn signals(algorithm: &AlgorithmInfo) -> String {
    algorithm.signals.iter().map(Signal::as_str).collect::<Vec<_>>().join(", ")
}
