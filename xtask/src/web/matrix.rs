//! The algorithm x path matrix for the page's catalogue: runs `studies/matrix.toml` and writes `web/src/matrix.json`.

use crate::command::{output, root};
use crate::json::build_cwnd;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

const STUDY: &str = "studies/matrix.toml";
const RESULTS: &str = "results/matrix";
const FILE: &str = "web/src/matrix.json";

/// A row of the catalogue's table: its key in the file, the company of the flows, and the metric.
const ROWS: [(&str, &str, &str); 4] = [
    ("alone", "alone", "utilisation"),
    ("jain", "four", "jain_index"),
    ("delay", "four", "queueing_delay_mean_s"),
    ("cubic", "with CUBIC", "cubic.utilisation"),
];

/// Settings that describe a path.
const SETTINGS: [&str; 8] = ["rate", "rtt", "buffer", "queue", "per", "loss", "ecn_threshold", "duration"];

/// Runs the study, or what is left of it, and writes the file.
///
/// The environment variable `CWND` names a program to run instead of one that is built from this checkout. The commit in the file is
/// the last one of this checkout that changed the simulator or the study.
pub fn write() -> Result<(), String> {
    let program = build_cwnd()?;
    let cwnd = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.current_dir(root()).args(arguments);
        command
    };
    super::show(&mut cwnd(&["run", STUDY, "--out", RESULTS]))?;
    let version = output(&mut cwnd(&["--version"]))?;
    let exported = output(&mut cwnd(&["export", RESULTS, "--format", "json"]))?;
    let exported: Value = serde_json::from_str(&exported).map_err(|error| format!("cwnd export: {error}"))?;
    let git = |arguments: &[&str]| output(Command::new("git").current_dir(root()).args(arguments));
    let made = json!({
        "command": format!("cwnd run {STUDY}"),
        "version": version.trim(),
        "commit": git(&["log", "-1", "--format=%h", "--", "crates", STUDY])?.trim(),
    });
    let text = file(made, exported["runs"].as_array().ok_or("cwnd export wrote no runs")?)?;
    let place = root().join(FILE);
    fs::write(&place, &text).map_err(|error| format!("{}: {error}", place.display()))?;
    println!("{FILE}: {} bytes", text.len());
    Ok(())
}

/// Returns the text of the file: `made` with the paths and their settings, and an algorithm a line with the mean of its repeats for each row and path.
/// A value that no run has is null.
fn file(made: Value, runs: &[Value]) -> Result<String, String> {
    let (mut paths, mut settings, mut algorithms) = (Vec::new(), Vec::new(), Vec::new());
    // Sum and count of each row, algorithm and path.
    let mut sums: BTreeMap<(&str, &str, &str), (f64, usize)> = BTreeMap::new();
    for run in runs {
        let text = |key: &str| run[key].as_str().ok_or_else(|| format!("a run has no {key}"));
        let (algorithm, company, path) = (text("algorithm")?, text("company")?, text("path")?);
        if text("state")? != "done" {
            return Err(format!("{algorithm}, {company}, {path}: the run is not done"));
        }
        if !paths.contains(&path) {
            paths.push(path);
            settings.push(path_settings(path, run));
        }
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
        for (row, _, metric) in ROWS.iter().filter(|(_, of, _)| *of == company) {
            if let Some(value) = run[metric].as_f64() {
                let (sum, count) = sums.entry((row, algorithm, path)).or_default();
                *sum += value;
                *count += 1;
            }
        }
    }
    let mean = |key| sums.get(&key).map(|(sum, count)| sum / *count as f64);
    let lines = algorithms.iter().map(|algorithm| {
        let rows = ROWS.iter().map(|(row, _, _)| {
            let values = paths.iter().map(|path| mean((*row, *algorithm, *path)).map(three_digits));
            ((*row).to_owned(), values.collect::<Vec<_>>().into())
        });
        format!("{}:{}", json!(algorithm), Value::from(rows.collect::<Map<_, _>>()))
    });
    let lines = lines.collect::<Vec<_>>().join(",\n");
    let settings = json!(settings);
    Ok(format!("{{\"made\":{made},\n\"paths\":{settings},\n\"algorithms\":{{\n{lines}\n}}}}\n"))
}

/// Returns the name of a path and those of its settings that have an effect.
fn path_settings(name: &str, run: &Value) -> Value {
    let said = SETTINGS.iter().filter_map(|key| Some((*key, run[*key].as_str()?)));
    let said = said.filter(|setting| *setting != ("per", "0"));
    let pairs = std::iter::once(("name", name)).chain(said);
    Value::Object(pairs.map(|(key, value)| (key.to_owned(), value.into())).collect())
}

/// Rounds to three significant digits.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(company: &str, repeat: usize, metric: &str, value: f64) -> Value {
        json!({ "algorithm": "vegas", "company": company, "path": "WAN", "repeat": repeat, "state": "done", "rtt": "40 ms", "per": "0", metric: value })
    }

    #[test]
    fn the_file_has_means_of_repeats_in_three_digits() {
        let runs = [
            run("alone", 0, "utilisation", 0.5),
            run("alone", 1, "utilisation", 0.612_345),
            run("four", 0, "queueing_delay_mean_s", 0.000_123_456),
            run("four", 0, "utilisation", 1.0),
        ];
        let text = file(json!({ "version": "cwnd 1" }), &runs).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        let rows = json!({ "alone": [0.556], "jain": [null], "delay": [0.000_123], "cubic": [null] });
        assert_eq!(read["algorithms"]["vegas"], rows, "{text}");
        assert_eq!(read["paths"], json!([{ "name": "WAN", "rtt": "40 ms" }]));
        assert_eq!(read["made"]["version"], "cwnd 1");
    }

    #[test]
    fn a_run_that_is_not_done_is_an_error() {
        let mut failed = run("alone", 0, "utilisation", 0.5);
        failed["state"] = "failed".into();
        assert!(file(json!({}), &[failed]).unwrap_err().contains("vegas, alone, WAN"));
    }
}
