//! What a sweep of short runs costs: runs a second, the store, memory, and exports.

use super::measure::{self, Usage};
use crate::command::root;
use crate::table::{cells, table};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The sizes of the sweeps.
const RUNS: [u32; 2] = [10_000, 100_000];
/// Threads that run them.
const THREADS: u32 = 2;
/// Runs a second, at least.
const BAR_RUNS: f64 = 2_000.0;
/// Bytes of the store for each run, at most.
const BAR_STORE: f64 = 1_024.0;
/// Bytes of memory for each further run, at most.
pub const BAR_MEMORY: f64 = 1_536.0;
/// Microseconds by the clock for each row of an export, at most: 10^6 rows in 30 s.
const BAR_EXPORT_US: f64 = 30.0;

/// Returns a study of runs of 10 Mbit/s and 5 s, each of which takes less than a millisecond.
pub fn study(runs: u32) -> String {
    format!(
        "title = \"Short runs\"\nquestion = \"What does a sweep of short runs cost?\"\n[scenario]\nalgorithm = \"cubic\"\n\
         rate = \"10 Mbit/s\"\nrtt = \"40 ms\"\nduration = \"5 s\"\n[run]\nrepeats = {runs}\n"
    )
}

/// Runs the sweeps, and returns the tables.
///
/// # Errors
/// A sweep or an export fails, or the disk is full.
pub fn costs(cwnd: &Path) -> Result<String, String> {
    let directory = root().join("target/sweeps");
    let result = measured(cwnd, &directory);
    // What was measured counts, whether or not it can be removed.
    drop(fs::remove_dir_all(&directory));
    result
}

fn measured(cwnd: &Path, directory: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    if directory.exists() {
        fs::remove_dir_all(directory).map_err(failed)?;
    }
    fs::create_dir_all(directory).map_err(failed)?;
    let (mut sweeps, mut exports, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    for runs in RUNS {
        eprintln!("{runs} short runs");
        let (file, out) = (directory.join(format!("{runs}.toml")), directory.join(runs.to_string()));
        fs::write(&file, study(runs)).map_err(failed)?;
        let mut run = Command::new(cwnd);
        run.arg("run").arg(&file).arg("--out").arg(&out).args(["--threads", &THREADS.to_string(), "--quiet"]);
        let usage = measure::usage(&mut run)?;
        let bytes = fs::metadata(out.join("results.sqlite")).map_err(failed)?.len() as f64 / f64::from(runs);
        peaks.push(usage.peak_mib);
        sweeps.push(vec![
            grouped(runs),
            with_bar(f64::from(runs) / usage.wall_s, BAR_RUNS, f64::lt, "under"),
            format!("{:.3}", 1e3 * usage.cpu_s / f64::from(runs)),
            with_bar(bytes, BAR_STORE, f64::gt, "over"),
            format!("{:.0}", usage.peak_mib),
        ]);
        for (name, output) in readers(&out) {
            eprintln!("{runs} runs: {name}");
            let mut command = Command::new(cwnd);
            let usage = measure::usage(command.args(output))?;
            exports.push(export_row(runs, name, &usage));
        }
    }
    let growth = (peaks[1] - peaks[0]) * f64::from(1 << 20) / f64::from(RUNS[1] - RUNS[0]);
    let head = [
        cells(&["runs", "runs a second", "CPU time a run", "store a run", "peak memory"]),
        cells(&["", "", "ms", "bytes", "MiB"]),
    ];
    let mut text = format!(
        "Runs of one CUBIC flow over 10 Mbit/s for 5 s, by `cwnd run --threads {THREADS}`, with the report\n\n"
    );
    text += &table(&[], &head, &sweeps);
    text += &format!(
        "\n  At least {BAR_RUNS:.0} runs a second; at most {BAR_STORE:.0} bytes a run in the store. Memory for each further run: {} \
         bytes, at most {BAR_MEMORY:.0}.\n\n",
        with_bar(growth, BAR_MEMORY, f64::gt, "over")
    );
    let head = [
        cells(&["runs", "", "time by the clock", "", "CPU time", "peak memory"]),
        cells(&["", "", "s", "us a row", "s", "MiB"]),
    ];
    text += &table(&[1], &head, &exports);
    text += &format!("\n  At most {BAR_EXPORT_US:.0} us a row.\n");
    Ok(text)
}

/// The commands that read all runs, with their names.
fn readers(out: &Path) -> Vec<(&'static str, Vec<PathBuf>)> {
    let export = |extension: &str| {
        let file = out.join(format!("rows.{extension}"));
        vec!["export".into(), out.to_owned(), "--out".into(), file]
    };
    vec![
        ("export to CSV", export("csv")),
        ("export to JSON", export("json")),
        ("export to Parquet", export("parquet")),
        ("report", vec!["report".into(), out.to_owned()]),
    ]
}

fn export_row(runs: u32, name: &str, usage: &Usage) -> Vec<String> {
    let each_us = 1e6 * usage.wall_s / f64::from(runs);
    vec![
        grouped(runs),
        name.to_owned(),
        format!("{:.2}", usage.wall_s),
        with_bar(each_us, BAR_EXPORT_US, f64::gt, "over"),
        format!("{:.2}", usage.cpu_s),
        format!("{:.0}", usage.peak_mib),
    ]
}

/// A value, and whether it passes its bar.
fn with_bar(value: f64, bar: f64, is_past: fn(&f64, &f64) -> bool, word: &str) -> String {
    format!("{value:.0}{}", if is_past(&value, &bar) { format!(" ({word})") } else { String::new() })
}

/// A number of thousands: `100,000`.
fn grouped(number: u32) -> String {
    format!("{},{:03}", number / 1_000, number % 1_000)
}

#[cfg(test)]
mod tests {
    use super::{grouped, with_bar};

    #[test]
    fn values_past_their_bars_are_named() {
        assert_eq!(with_bar(1_999.0, 2_000.0, f64::lt, "under"), "1999 (under)");
        assert_eq!(with_bar(2_000.0, 2_000.0, f64::lt, "under"), "2000");
        assert_eq!(with_bar(900.0, 1_024.0, f64::gt, "over"), "900");
        assert_eq!(grouped(100_000), "100,000");
    }
}
