//! Plays all scripts of folders and prints a table: `cargo run --release -p cwnd-drill --example suite -- FOLDER…`.
//!
//! A script is played with the rules of `--stack linux` first, and then with those of other versions of Linux until it passes.

use cwnd_drill::{FileError, Outcome, Settings, run_file};
use cwnd_scenario::LinuxVersion;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// The versions of Linux whose rules are tried, in this order; `None` is `--stack linux`.
const KERNELS: [Option<LinuxVersion>; 3] =
    [None, Some(LinuxVersion::RECORDED), Some(LinuxVersion::new(5, 10))];

fn main() -> ExitCode {
    let mut scripts = Vec::new();
    for folder in std::env::args().skip(1) {
        if let Err(error) = collect(Path::new(&folder), &mut scripts) {
            eprintln!("{folder}: {error}");
            return ExitCode::FAILURE;
        }
    }
    if scripts.is_empty() {
        eprintln!("there is no script *.pkt in the given folders");
        return ExitCode::FAILURE;
    }
    let width = scripts.iter().map(|path| name(path).len()).max().unwrap_or(0);
    println!("{:width$}  result       rules  first difference", "script");
    let begin = Instant::now();
    let (mut ran, mut passed) = (0, 0);
    for path in &scripts {
        let row = play(path);
        ran += usize::from(row.result != "unsupported");
        passed += usize::from(row.result == "passed");
        println!("{:width$}  {:11}  {:5}  {}", name(path), row.result, row.rules, row.difference);
    }
    let took = begin.elapsed().as_secs_f64();
    println!("\n{} scripts: {ran} ran, {passed} passed, in {took:.3} s", scripts.len());
    ExitCode::SUCCESS
}

/// A row of the table.
struct Row {
    result: &'static str,
    rules: String,
    difference: String,
}

fn play(path: &Path) -> Row {
    let mut first: Option<Outcome> = None;
    for kernel in KERNELS {
        let settings = Settings { kernel, ..Settings::default() };
        match run_file(path, settings) {
            Err(error) => {
                let difference = match error {
                    FileError::Unreadable(error) => error,
                    FileError::Script(error) => error.to_string(),
                };
                return Row {
                    result: "unsupported",
                    rules: String::new(),
                    difference: shortened(&difference),
                };
            }
            Ok(outcome) if outcome.passed() => {
                let rules = kernel.map_or("linux".to_owned(), |kernel| kernel.to_string());
                let difference = first.as_ref().map_or(String::new(), |first| {
                    format!("none; with the rules of --stack linux: {}", mechanism(first))
                });
                return Row { result: "passed", rules, difference };
            }
            Ok(outcome) => {
                first.get_or_insert(outcome);
            }
        }
    }
    let difference = first.as_ref().map_or(String::new(), mechanism);
    Row { result: "failed", rules: "none".to_owned(), difference }
}

fn mechanism(outcome: &Outcome) -> String {
    let difference = outcome.difference.as_ref();
    difference.map_or(String::new(), |difference| {
        format!("line {}: {}", difference.place.line, difference.mechanism)
    })
}

/// Returns the first 100 characters.
fn shortened(text: &str) -> String {
    let short: String = text.chars().take(100).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// Returns the folder and the name of a script.
fn name(path: &Path) -> String {
    let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

fn collect(path: &Path, scripts: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        scripts.push(path.to_owned());
        return Ok(());
    }
    let entries: Result<Vec<PathBuf>, std::io::Error> =
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect();
    let mut entries = entries?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            collect(&entry, scripts)?;
        } else if entry.extension().is_some_and(|extension| extension == "pkt") {
            scripts.push(entry);
        }
    }
    Ok(())
}
