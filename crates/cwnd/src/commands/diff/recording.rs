//! `cwnd diff` of two qlog recordings: the first event at which they part.

mod align;
mod figure;
mod metrics;
mod read;

use crate::commands::report::note_missing_characters;
use crate::{failure::Failure, output};
use align::{Difference, Tolerance, first_difference, not_compared};
use cwnd_report::figure_file;
use cwnd_study::output_file::OutputFileError;
use read::{Event, Recording};
use serde_json::Value;
use std::path::Path;

/// How many events before the first difference are shown of each side.
const CONTEXT: usize = 3;

/// Compares two files. `time` is in milliseconds, `relative` a ratio. Writes both over time into the file `plot`.
///
/// # Errors
/// A file is no qlog in a streaming form, or the figure cannot be written: exit code 2. The recordings differ: exit code 1.
pub fn run(paths: [&Path; 2], time: f64, relative: f64, plot: Option<&Path>) -> Result<(), Failure> {
    let bad = |error: OutputFileError| Failure::bad_input(format!("--plot: {error}"));
    if let Some(plot) = plot {
        figure_file::check_writable(plot).map_err(bad)?;
    }
    let [first, second] = paths.map(read::read);
    let recordings = [first.map_err(Failure::bad_input)?, second.map_err(Failure::bad_input)?];
    let tolerance = Tolerance { time_ms: time, relative };
    let difference = first_difference([&recordings[0], &recordings[1]], tolerance);
    if let Some(plot) = plot {
        let svg = figure::figure(&recordings, paths, difference.as_ref());
        note_missing_characters(&figure_file::write_figure(&svg, plot).map_err(bad)?);
    }
    output::print(&text(&recordings, paths, difference.as_ref()))?;
    match difference {
        None => Ok(()),
        Some(_) => Err(Failure::differs("the recordings differ")),
    }
}

/// The report for a person.
fn text(recordings: &[Recording; 2], paths: [&Path; 2], difference: Option<&Difference>) -> String {
    let mut text = format!("\n  {} → {}\n\n", paths[0].display(), paths[1].display());
    match difference {
        None => text += "  No difference within the tolerances.\n",
        Some(difference) => {
            text += &format!("  First difference: {}\n", difference.text);
            for (side, recording) in recordings.iter().enumerate() {
                text += &format!("\n  {}\n", paths[side].display());
                let end = difference.places[side];
                let shown = if difference.events[side] { end + 1 } else { end };
                for (i, event) in
                    recording.events[..shown].iter().enumerate().skip(end.saturating_sub(CONTEXT))
                {
                    let mark = if i == end { ">" } else { " " };
                    text += &format!("  {mark} {}\n", line(event));
                }
            }
        }
    }
    let others = not_compared(recordings.each_ref());
    if !others.is_empty() {
        let others: Vec<String> = others.into_iter().collect();
        text +=
            &format!("\n  Not compared, since one implementation alone writes it: {}\n", others.join(", "));
    }
    text += "\n  quantity              first        second\n";
    let counts = recordings.each_ref().map(summary);
    for ((name, first), (_, second)) in counts[0].iter().zip(&counts[1]) {
        text += &format!("  {name:<18} {:>8}  {:>12}\n", shown(*first), shown(*second));
    }
    text + "\n"
}

/// Returns an event on one line: when, where in the file, the kind, the fields.
fn line(event: &Event) -> String {
    let fields = event.data.as_object().into_iter().flatten();
    let fields: Vec<String> = fields.map(|(name, value)| format!("{name}={value}")).collect();
    let text =
        format!("{:>12.6} ms  line {:<6} {}  {}", event.time, event.line, event.kind, fields.join(" "));
    text.chars().take(150).collect()
}

/// Returns the counts of a recording; none where it has no such events.
fn summary(recording: &Recording) -> [(&'static str, Option<f64>); 5] {
    let count = |kind: &str| recording.events.iter().filter(|event| event.kind == kind).count() as f64;
    let values = |name: &'static str| {
        let events = recording.events.iter();
        events
            .filter(|event| event.kind == "metrics_updated")
            .filter_map(move |event| event.data[name].as_f64())
    };
    let states = || recording.events.iter().filter(|event| event.kind == "congestion_state_updated");
    let recoveries = states().filter(|event| event.data["new"].as_str() == Some("recovery")).count() as f64;
    let (sent, lost) = (count("packet_sent"), count("packet_lost"));
    [
        ("packets sent", Some(sent).filter(|count| *count > 0.0)),
        ("packets lost", Some(lost).filter(|_| sent + lost > 0.0)),
        ("congestion events", states().next().map(|_| recoveries)),
        ("final cwnd, B", values("congestion_window").next_back()),
        ("max in flight, B", values("bytes_in_flight").reduce(f64::max)),
    ]
}

fn shown(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| Value::from(value.round() as i64).to_string())
}

#[cfg(test)]
mod tests;
