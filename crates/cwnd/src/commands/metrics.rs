//! `cwnd metrics`: what can be measured.

use crate::{failure::Failure, output};
use clap::Args;
use cwnd_metrics::{self as metrics, Better, Metric, Scope};
use cwnd_report::table::{Align, Sacrifice, Table};
use cwnd_scenario::nearest;

/// List the metrics, or tell all about one: its unit, formula, meaning and source.
#[derive(Args)]
pub struct Flags {
    /// The metric to tell about [default: list them all].
    pub name: Option<String>,

    /// Print the page of the documentation that describes all of them.
    #[arg(long, conflicts_with = "name")]
    pub markdown: bool,
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    output::print(&match &flags.name {
        Some(name) => sheet(find(name)?, output::text_width()),
        None if flags.markdown => metrics::markdown(),
        None => list(),
    })
}

/// By its own name, or by a name that says of what it is (`flow2.throughput_bps`).
fn find(name: &str) -> Result<&'static Metric, Failure> {
    let (_, own) = metrics::split(name);
    metrics::all().find(|metric| metric.name == own).ok_or_else(|| {
        let meant = nearest(own, metrics::all().map(|metric| metric.name));
        let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_else(|| ":".to_owned());
        Failure::bad_input(format!("there is no metric `{name}`{hint} `cwnd metrics` lists all"))
    })
}

fn list() -> String {
    let mut table = Table::new(["name", "unit", "better", "title"].map(|name| (name, Align::Left))).indent(2);
    for metric in metrics::all() {
        table.row([metric.name, metric.unit, better(metric), metric.title]);
    }
    let table = output::fitted(table, &[Sacrifice::Shorten("title", 24), Sacrifice::Drop("better")]);
    format!("\n{table}\n  `cwnd metrics NAME` tells all about one.\n\n")
}

fn better(metric: &Metric) -> &'static str {
    match metric.better {
        Better::More => "more",
        Better::Less => "less",
        Better::Neither => "",
    }
}

fn sheet(metric: &Metric, width: usize) -> String {
    const INDENT: usize = 12;
    let mut sheet = format!("\n  {} ({})\n\n", metric.title, metric.name);
    let mut line = |name: &str, text: &str| {
        if !text.is_empty() {
            let lines = output::wrapped_to(width, text, INDENT);
            sheet += &format!("  {name:<8}  {}", lines.trim_start());
        }
    };
    line("formula", metric.formula);
    line("unit", metric.unit);
    line("range", &metric.range.to_string());
    line("better", better(metric));
    line("meaning", metric.about);
    line("needs", if metric.needs_samples() { "samples over time" } else { "" });
    let of: Vec<String> = metric.scopes.iter().map(|scope| of(metric, *scope)).collect();
    line("written", &of.join(", "));
    line("source", metric.source);
    sheet + "\n"
}

fn of(metric: &Metric, scope: Scope) -> String {
    match scope {
        Scope::Run => metric.name.to_owned(),
        Scope::Flow => format!("flow2.{}", metric.name),
        Scope::Algorithm => format!("elastic.{}", metric.name),
        Scope::Short => format!("short.{}", metric.name),
        Scope::Queue => format!("bottleneck.{}", metric.name),
        Scope::Comparison => "of two results".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_tells_what_is_known() {
        let Ok(metric) = find("flow3.drop_ratio") else { panic!("it is there") };
        let expected = "
  Drop ratio (drop_ratio)

  formula   data packets dropped by queues / (in flight when the counting began + sent + copied by
            links)
  range     0 to 1
  better    less
  meaning   What Elastic-TCP's table IV calls loss ratio, in percent.
  written   drop_ratio, flow2.drop_ratio, elastic.drop_ratio, short.drop_ratio
  source    Elastic-TCP, table IV

";
        assert_eq!(sheet(metric, 100), expected);
    }
}
