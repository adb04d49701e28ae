//! `cwnd networks`: what networks are made of.

use crate::{
    failure::Failure,
    output::{self, json},
};
use clap::Args;
use cwnd_experiment::kinds::{self, NetworkKind};
use cwnd_report::table::{Align, Sacrifice, Table};
use cwnd_scenario::{kinds::ParameterInfo, nearest};
use serde::Serialize;

/// List queues, losses, jitters and topologies, or describe one: its parameters and their sources.
#[derive(Args)]
pub struct Flags {
    /// The queue, loss, jitter or topology to describe [default: list all].
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
    let one = flags.name.as_deref().map(find).transpose()?;
    output::print(&match (one, flags.json) {
        (Some(kind), true) => json::pretty(&Document { kinds: vec![kind] }),
        (None, true) => json::pretty(&Document { kinds: kinds::all() }),
        (Some(kind), false) => sheet(&kind),
        (None, false) if flags.markdown => kinds::markdown(),
        (None, false) => list(),
    })
}

#[derive(Serialize)]
struct Document {
    kinds: Vec<NetworkKind>,
}

fn find(name: &str) -> Result<NetworkKind, Failure> {
    kinds::find(name).ok_or_else(|| {
        let all = kinds::all();
        let meant = nearest(name, all.iter().map(|kind| kind.info.name));
        let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_else(|| ":".to_owned());
        let message =
            format!("there is no queue, loss, jitter or topology `{name}`{hint} `cwnd networks` lists all");
        Failure::bad_input(message)
    })
}

fn list() -> String {
    let mut table = Table::new(["what", "name", "title"].map(|name| (name, Align::Left))).indent(2);
    for kind in kinds::all() {
        table.row([&kind.family.title().to_lowercase(), kind.info.name, kind.info.title]);
    }
    let table = output::fitted(table, &[Sacrifice::Shorten("title", 16)]);
    format!("\n{table}\n  `cwnd networks NAME` describes one.\n\n")
}

fn sheet(NetworkKind { family, info: kind }: &NetworkKind) -> String {
    let mut text = format!("\n  {} ({})\n\n", kind.title, kind.name);
    text += &output::wrapped(kind.about, 2);
    text.push('\n');
    let settings = family.settings().join(", ");
    for (label, value) in
        [("selected by", settings.as_str()), ("written", &kind.form), ("source", kind.source)]
    {
        if !value.is_empty() {
            text += &format!("  {label:<13}{}", output::wrapped(value, 15).trim_start());
        }
    }
    if kind.parameters.is_empty() {
        return text + "\n  It has no parameters.\n\n";
    }
    text += "\n  parameters\n\n";
    for parameter in &kind.parameters {
        text += &described(parameter);
    }
    text
}

fn described(parameter: &ParameterInfo) -> String {
    let unit = if parameter.unit.is_empty() { String::new() } else { format!(" {}", parameter.unit) };
    let value =
        parameter.default.as_ref().map_or(" (required)".to_owned(), |text| format!(" = {text}{unit}"));
    let source = if parameter.source.is_empty() { "" } else { "; " };
    let mut text = format!("  {}{value}\n", parameter.name);
    text += &output::wrapped(parameter.about, 6);
    text += &output::wrapped(&format!("{}{source}{}", parameter.takes, parameter.source), 6);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_tells_what_is_known() {
        let Ok(kind) = find("gilbert-elliott") else { panic!("it is there") };
        let sheet = sheet(&kind);
        for part in [
            "  Losses in bursts (gilbert-elliott)\n",
            "  selected by  loss, reverse-loss\n",
            "  written      gilbert-elliott:to_bad=TO_BAD,to_good=TO_GOOD\n",
            "  to_bad (required)\n      Probability that a good line is bad at the next packet.\n",
            "  loss_bad = 1\n",
        ] {
            assert!(sheet.contains(part), "{part} in {sheet}");
        }
        for kind in kinds::all() {
            let sheet = super::sheet(&kind);
            assert!(sheet.lines().all(|line| line.chars().count() <= 100), "{sheet}");
        }
    }
}
