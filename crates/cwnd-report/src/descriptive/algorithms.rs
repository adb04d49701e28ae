//! `docs/algorithms.md`, written from the registry of algorithms.

use cwnd_cc::{AlgorithmInfo, Observable, Signal, all};
use cwnd_scenario::StackProfile;

const HEAD: &str = "\
# Algorithms

`cwnd algorithms --markdown` prints this page from the registry that the program runs by; a test holds the two together.

Each algorithm is one file in `crates/cwnd-cc/src/algorithms/` with its equations, and with every reading where
its source leaves something open. Parameters are set behind the name: `cwnd compare agile-sd:lambda_max=4,beta2=0.9`.

The values of its own state are columns of the samples (`cwnd compare elastic --trace samples.csv`), panels of figures over
time (`show = [\"cwnd\", \"state.wwf\"]` in a study), and fields of qlog (`cwnd:wwf`).

";

/// Returns the text of `docs/algorithms.md`: every algorithm with its signals, strengths, weaknesses and parameters.
pub fn page() -> String {
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
        text += "\nThis is a reconstruction: the equations come from an abstract, summaries or other people's models, not \
                 from the paper itself.\n";
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
    for profile in [StackProfile::Linux, StackProfile::Ns2] {
        let set = profile.parameters(algorithm.name).iter();
        let set: Vec<String> = set.map(|(name, value)| format!("`{name}={value}`")).collect();
        if !set.is_empty() {
            text +=
                &format!("\n`--stack {}` sets {}, unless they are given.\n", profile.name(), set.join(", "));
        }
    }
    if !algorithm.observables.is_empty() {
        text += "\n| state | symbol | unit | what it is |\n|---|---|---|---|\n";
    }
    for observable in algorithm.observables {
        let unit = if observable.unit == "1" { "" } else { observable.unit };
        let modes = match observable.modes {
            [] => String::new(),
            modes => format!(" One of {}.", modes.join(", ")),
        };
        let Observable { name, symbol, about, .. } = observable;
        text += &format!("| `state.{name}` | {symbol} | {unit} | {about}{modes} |\n");
    }
    text
}

fn signals(algorithm: &AlgorithmInfo) -> String {
    algorithm.signals.iter().map(Signal::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_is_up_to_date() {
        let committed = include_str!("../../../../docs/algorithms.md");
        assert!(committed == page(), "docs/algorithms.md differs from the registry; run `cargo xtask renew`");
        for algorithm in all() {
            assert!(committed.contains(&format!("\n## {}\n", algorithm.name)));
            for parameter in algorithm.parameters {
                assert!(committed.contains(&format!("| `{}` |", parameter.name)));
            }
            for observable in algorithm.observables {
                assert!(committed.contains(&format!("| `state.{}` |", observable.name)));
            }
        }
    }
}
