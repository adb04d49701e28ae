//! Results as one JSON document.

use crate::measured::{Measured, Timing};
use crate::terminal::{acts_on_terminals, is_plain};
use cwnd_experiment::settings::{Setting, SettingKind};
use cwnd_metrics::RunMetrics;
use cwnd_report::spread::Spread;
use cwnd_scenario::{Emulation, Identity, Implementation};
use cwnd_study::{Cell, Study};
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
struct Document<'a> {
    /// The version that made it.
    version: &'static str,
    /// The command that makes it again.
    command: Vec<String>,
    runs: Vec<Run<'a>>,
    /// How much repeats over an emulated network differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spreads: Vec<SpreadOut<'a>>,
}

/// The spread of the throughput of all flows over the repeats of one algorithm.
#[derive(Serialize)]
struct SpreadOut<'a> {
    algorithm: &'a str,
    repeats: usize,
    throughput_min_bps: f64,
    throughput_max_bps: f64,
    /// The standard deviation as a share of the mean.
    deviation: f64,
    /// Whether the mean is valid.
    valid: bool,
}

#[derive(Serialize)]
struct Run<'a> {
    algorithm: &'a str,
    seed: u64,
    /// Every setting that applies, by the key of studies with `_` for `-`.
    settings: &'a Map<String, Value>,
    /// The engine, and the versions of what took part.
    identity: &'a Identity,
    #[serde(flatten)]
    metrics: &'a RunMetrics,
    #[serde(skip_serializing_if = "Option::is_none")]
    emulation: Option<EmulationOut<'a>>,
    timing: Timing,
}

/// How well an emulated network kept its times.
#[derive(Serialize)]
struct EmulationOut<'a> {
    host: &'a str,
    late_p50_s: f64,
    late_p99_s: f64,
    late_max_s: f64,
    rate_error: Option<f64>,
    cpu_steal: f64,
    valid: bool,
    validity_warnings: &'a [String],
    implementations: Vec<ImplementationOut<'a>>,
}

/// What ran an algorithm.
#[derive(Serialize)]
struct ImplementationOut<'a> {
    algorithm: &'a str,
    by: &'a str,
}

impl<'a> EmulationOut<'a> {
    fn new(emulation: &'a Emulation) -> EmulationOut<'a> {
        EmulationOut {
            host: &emulation.host,
            late_p50_s: emulation.late_p50.as_secs_f64(),
            late_p99_s: emulation.late_p99.as_secs_f64(),
            late_max_s: emulation.late_max.as_secs_f64(),
            rate_error: emulation.rate_error,
            cpu_steal: emulation.steal,
            valid: emulation.is_valid(),
            validity_warnings: &emulation.validity_warnings,
            implementations: (emulation.implementations.iter())
                .map(|Implementation { algorithm, by }| ImplementationOut { algorithm, by })
                .collect(),
        }
    }
}

/// Returns the document of all runs that were done, cell by cell and repeat by repeat, with a newline.
pub fn document(study: &Study, names: &[String], runs: &[Vec<Measured>]) -> String {
    let settings: Vec<Map<String, Value>> = study.cells.iter().map(settings).collect();
    let spread = |(name, runs): (&'_ String, &Vec<Measured>)| {
        let emulated = runs.iter().filter(|run| run.emulation.is_some());
        let spread = Spread::of(&emulated.map(|run| run.metrics.throughput_bps).collect::<Vec<f64>>())?;
        Some((name.clone(), spread))
    };
    let spreads: Vec<(String, Spread)> = names.iter().zip(runs).filter_map(spread).collect();
    let spreads = spreads.iter().map(|(name, spread)| SpreadOut {
        algorithm: name,
        repeats: spread.repeats,
        throughput_min_bps: spread.least,
        throughput_max_bps: spread.greatest,
        deviation: spread.deviation,
        valid: !spread.is_too_wide(),
    });
    let flows: usize = runs.iter().flatten().map(|run| run.metrics.flows.len()).sum();
    let runs = names.iter().zip(&settings).zip(runs).flat_map(|((name, settings), repeats)| {
        repeats.iter().map(move |run| Run {
            algorithm: name,
            seed: run.seed,
            settings,
            identity: &run.identity,
            metrics: &run.metrics,
            emulation: run.emulation.as_deref().map(EmulationOut::new),
            timing: run.timing,
        })
    });
    let command = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let command = std::iter::once("cwnd".to_owned()).chain(command).collect();
    pretty_with_capacity(
        2048 * (flows + 1),
        &Document {
            version: env!("CARGO_PKG_VERSION"),
            command,
            runs: runs.collect(),
            spreads: spreads.collect(),
        },
    )
}

/// Returns the settings of a cell, as a study would write their values.
fn settings(cell: &Cell) -> Map<String, Value> {
    let value = |(setting, text): (&Setting, String)| {
        let value = match setting.kind {
            SettingKind::Count => text.parse::<u64>().map_or(Value::String(text), Value::from),
            SettingKind::Switch => Value::from(text == "on"),
            _ => Value::String(text),
        };
        (setting.key.replace('-', "_"), value)
    };
    cell.settings().map(value).collect()
}

/// A value as JSON that a person can read, with a newline.
pub fn pretty(value: &impl Serialize) -> String {
    pretty_with_capacity(0, value)
}

/// Returns the same as [`pretty`], with memory reserved for `bytes` bytes. Without it, a document of many flows is copied each time its memory grows.
fn pretty_with_capacity(bytes: usize, value: &impl Serialize) -> String {
    let mut text = Vec::with_capacity(bytes);
    // What is serialised here are plain structs with text keys, for which JSON cannot fail.
    serde_json::to_writer_pretty(&mut text, value).expect("plain data become JSON");
    let text = String::from_utf8(text).expect("JSON is UTF-8");
    // JSON has escapes of its own, so that the document stays the same where it is printed.
    let escaped = |c: char| match acts_on_terminals(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    if !is_plain(&text) {
        return text.chars().map(escaped).chain(["\n".to_owned()]).collect();
    }
    text + "\n"
}
