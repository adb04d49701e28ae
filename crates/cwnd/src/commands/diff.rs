//! `cwnd diff`: what changed between two runs of a study, or the first difference between two qlog recordings.

mod recording;
mod show;

use crate::{failure::Failure, output};
use clap::Args;
use cwnd_report::measure::Measure;
use cwnd_scenario::{Time, nearest};
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
    cwnd diff before after --all --fail-on-change

  The first event at which two senders part:
    cwnd compare cubic --stack linux --duration '10 s' --recovery linux --qlog linux.sqlog
    cwnd compare cubic --stack linux --duration '10 s' --recovery rack --qlog rack.sqlog
    cwnd diff linux.sqlog rack.sqlog --time '1 ms' --relative '1 %' --plot diff.svg";

/// Tell what changed between two runs of a study, or the first event at which two qlog recordings differ.
///
/// Two files are compared as qlog recordings (JSON text sequences or one JSON text a line, versions 0.3 and 0.4). Events are matched by flow, kind and packet number, and in the order of their kind; the exit code is 0 for equal recordings, 1 for different ones, 2 for an error.
///
/// Two directories are compared as results of a study.
/// Cells are matched by their labels and runs paired by seed. A change is the mean of second - first with its 95 %
/// interval, in the metric's unit (of percentages: in percentage points) and relative to the first mean; p is that of the paired t-test, corrected by Holm for all comparisons that differ at all. What changed with
/// p below 0.05 comes first.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Flags {
    /// Directory of the first results, or the first qlog file.
    #[arg(value_name = "FIRST")]
    first: PathBuf,

    /// Directory of the second results, or the second qlog file.
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

    /// Leave with exit code 1 if anything differs, be it a bit, if a cell, a run or a value is on one side alone (a run that is
    /// missing or failed on the other side, too), or if nothing can be compared.
    #[arg(long)]
    fail_on_change: bool,

    /// Of qlog files: the difference between times of matched events that still counts as equal.
    #[arg(long, value_name = "TIME", default_value = "0 ms", conflicts_with_all = ["metric", "all", "json", "fail_on_change"])]
    time: Time,

    /// Of qlog files: the relative difference between numbers that still counts as equal, from 0 to 1 or in %.
    #[arg(long, value_name = "RATIO", default_value = "0", conflicts_with_all = ["metric", "all", "json", "fail_on_change"])]
    relative: String,

    /// Of qlog files: draw windows, bytes in flight and round-trip times of both over time, and write the figure as `.svg`, `.png` or `.pdf`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["metric", "all", "json", "fail_on_change"])]
    plot: Option<PathBuf>,
}

/// Do what the flags ask.
pub fn run(flags: &Flags) -> Result<(), Failure> {
    let paths = [flags.first.as_path(), flags.second.as_path()];
    match paths.map(Path::is_file) {
        [true, true] => {
            return recording::run(
                paths,
                flags.time.as_secs_f64() * 1e3,
                ratio(&flags.relative)?,
                flags.plot.as_deref(),
            );
        }
        [false, false] => {}
        [file, _] => {
            let (file, other) = if file { (paths[0], paths[1]) } else { (paths[1], paths[0]) };
            return Err(Failure::bad_input(format!(
                "{} is a file and {} is none; compare two qlog files, or two directories with results",
                file.display(),
                other.display()
            )));
        }
    }
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
        true => Err(Failure::broken(format!("--fail-on-change: {}", diff.changes().join("; ")))),
        false => Ok(()),
    }
}

/// Parses `--relative`.
fn ratio(text: &str) -> Result<f64, Failure> {
    let (number, factor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let value = number.trim().parse::<f64>().map(|number| number * factor);
    value.ok().filter(|value| (0.0..=1.0).contains(value)).ok_or_else(|| {
        Failure::bad_input(format!(
            "--relative: `{text}` is no ratio; write a number from 0 to 1, or a percentage such as `1 %`"
        ))
    })
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
