//! `cargo xtask evaluate`: evaluates every algorithm by RFC 9743, and writes `docs/evaluation.md`.

use crate::command::{output, root};
use crate::json;
use crate::options::Options;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Its options, for the list.
pub const OPTIONS: &str = "[--cwnd PROGRAM] [--out target/evaluate]";

/// What is evaluated without being asked for: the reference itself has no differences.
const REFERENCE: &str = "cubic";
const PAGE: &str = "docs/evaluation.md";

/// An algorithm with the letter of each section.
struct Line {
    name: String,
    letters: Vec<String>,
    counts: [usize; 3],
}

/// Evaluates them, and writes the page.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &["--cwnd", "--out"], &[])?;
    let program = options.text("--cwnd").map_or_else(json::build_cwnd, |path| Ok(PathBuf::from(path)))?;
    let out = options.text("--out").map_or_else(|| root().join("target/evaluate"), PathBuf::from);
    let mut sections = Vec::new();
    let mut lines = Vec::new();
    for name in algorithms(&program)? {
        println!("{name}");
        let ledger = ledger(&program, &out, &name)?;
        let rows = rows(&ledger)?;
        sections = rows.iter().filter_map(|row| row["section"].as_str().map(str::to_owned)).collect();
        lines.push(line(name, rows));
    }
    let page = page(&sections, &lines);
    std::fs::write(root().join(PAGE), page).map_err(|error| format!("{PAGE}: {error}"))?;
    println!("{PAGE} was written");
    Ok(true)
}

/// Returns the names of all algorithms but the reference.
fn algorithms(program: &Path) -> Result<Vec<String>, String> {
    let text = output(Command::new(program).args(["algorithms", "--json"]))?;
    let list: Value = serde_json::from_str(&text).map_err(|error| format!("cwnd algorithms: {error}"))?;
    let names = list["algorithms"].as_array().ok_or("cwnd algorithms prints no list")?.iter();
    let names = names.filter_map(|one| one["name"].as_str()).filter(|name| *name != REFERENCE);
    Ok(names.map(str::to_owned).collect())
}

fn ledger(program: &Path, out: &Path, name: &str) -> Result<Value, String> {
    let mut evaluate = Command::new(program);
    evaluate.current_dir(root()).args(["evaluate", name, "--quick", "--quiet", "--json"]);
    evaluate.args(["--against", REFERENCE, "--out"]).arg(out.join(name));
    serde_json::from_str(&output(&mut evaluate)?).map_err(|error| format!("{name}: {error}"))
}

fn rows(ledger: &Value) -> Result<&Vec<Value>, String> {
    ledger["rows"].as_array().ok_or_else(|| "a ledger has no rows".to_owned())
}

fn line(name: String, rows: &[Value]) -> Line {
    let mut counts = [0; 3];
    let letter = |row: &Value| match row["verdict"].as_str() {
        Some("better") => (Some(0), "**+**"),
        Some("as") => (Some(1), "="),
        Some("worse") => (Some(2), "−"),
        _ => (None, ""),
    };
    let letters = rows.iter().map(|row| {
        let (place, letter) = letter(row);
        if let Some(place) = place {
            counts[place] += 1;
        }
        letter.to_owned()
    });
    let letters = letters.collect();
    Line { name, letters, counts }
}

fn page(sections: &[String], lines: &[Line]) -> String {
    let measured: Vec<usize> = (0..sections.len())
        .filter(|section| lines.iter().any(|line| !line.letters[*section].is_empty()))
        .collect();
    let mut text = format!(
        "# All algorithms by RFC 9743\n\n\
         `cargo xtask evaluate` writes this page. It runs `cwnd evaluate ALGORITHM --quick --against {REFERENCE}` for each algorithm of \
         the library:\na part of the cells and five seeds. **+** is better than CUBIC (RFC 9438), = as CUBIC, − worse. A section is worse if one \
         of its\ncriteria is, else better if one is. [How to evaluate an algorithm](how-to/evaluate.md) describes the verdicts.\n\n\
         A row is no rank. Algorithms for data centres (`dctcp`, `d2tcp`), for background traffic (`ledbat-pp`) and for media \
         (`scream`) are\nworse here in what they are not made for.\n\n| algorithm | + | = | − |"
    );
    for section in &measured {
        text += &format!(" {} |", sections[*section]);
    }
    text += "\n|---|---:|---:|---:|";
    text += &":-:|".repeat(measured.len());
    text.push('\n');
    for line in lines {
        let [better, same, worse] = line.counts;
        text += &format!("| `{}` | {better} | {same} | {worse} |", line.name);
        for section in &measured {
            text += &format!(" {} |", line.letters[*section]);
        }
        text.push('\n');
    }
    text
}
