//! `cwnd diff`: what changed between two runs of a study.

mod show;

use crate::{failure::Failure, output};
use clap::Args;
use cwnd_report::measure::Measure;
use cwnd_scenario::nearest;
use cwnd_study::{
    Results, RunState,
    diff::{Metrics, diff},
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

const EXAMPLES: &str = "\
Examples:
  What a change to an algorithm does, before and after it:
    cwnd run studies/agile-sd/throughput.toml --out before
    (change it, and count up its version)
    cwnd run studies/agile-sd/throughput.toml --out after
    cwnd diff before after

  Fail if anything changed at all:
    cwnd diff before after --all --fail-on-change";

/// Tell what changed between two runs of a study, and whether it is more than chance.
///
/// Cells are matched by their labels and runs paired by seed. A change is the mean of second - first with its 95 %
/// interval, in the metric's unit (of percentages: in percentage points) and relative to the first mean; p is that of the paired t-test, corrected by Holm for all comparisons that differ at all. What changed with
/// p below 0.05 comes first.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Directory of the first results.
    #[arg(value_name = "FIRST")]
    first: PathBuf,

    /// Directory of the second results.
    #[arg(value_name = "SECOND")]
    second: PathBuf,

    /// Compare this metric; may be given again [default: those that the studies name].
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    metric: Vec<String>,

    /// Compare every metric, and show every difference.
    #[arg(long)]
    all: bool,

    /// Print one JSON document with every comparison.
    #[arg(long)]
    json: bool,

    /// Leave with exit code 1 if anything differs, be it a bit.
    #[arg(long)]
    fail_on_change: bool,
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let load = |directory: &Path| Results::load(directory).map_err(|error| Failure::store(&error));
    let (first, second) = (load(&flags.first)?, load(&flags.second)?);
    check_metrics(&flags.metric, &[&first, &second])?;
    let metrics = match (flags.all, flags.metric.as_slice()) {
        (true, _) => Metrics::All,
        (false, []) => Metrics::Named,
        (false, only) => Metrics::Only(only),
    };
    let diff = diff(&first, &second, metrics);
    let names = [flags.first.as_path(), flags.second.as_path()];
    output::print(&match flags.json {
        true => show::json(&diff, names),
        false => show::text(&diff, names, flags.all, &|name| measure(name, &second, &first)),
    })?;
    match flags.fail_on_change && diff.is_change() {
        true => Err(Failure::broken("the results differ")),
        false => Ok(()),
    }
}

/// Returns a metric as people read it, which either study may have derived.
fn measure(name: &str, second: &Results, first: &Results) -> Measure {
    match second.study.derived(name) {
        Some(_) => Measure::of_study(&second.study, name),
        None => Measure::of_study(&first.study, name),
    }
}

/// Whether any run has these metrics.
fn check_metrics(asked: &[String], results: &[&Results]) -> Result<(), Failure> {
    let runs = results.iter().flat_map(|results| &results.runs);
    let known: BTreeSet<&str> = runs
        .filter_map(|run| if let RunState::Done(metrics) = &run.state { Some(metrics) } else { None })
        .flat_map(|metrics| metrics.keys().map(String::as_str))
        .collect();
    match asked.iter().find(|name| !known.contains(name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let meant = nearest(name, known.iter().copied());
            let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            Err(Failure::bad_input(format!("--metric: no run has a metric `{name}`{hint}")))
        }
    }
}
