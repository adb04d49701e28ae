//! `cargo xtask papers`: runs a sample of every paper's studies, and compares each verdict and measured value with those
//! recorded in `studies/sample.tsv`. A change is a change of behaviour and needs an explanation.

use crate::command::{output, root};
use crate::json;
use crate::options::Options;
use crate::table::{cells, table};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Its options, for the list.
pub const OPTIONS: &str = "[--record] | --paper-scale [--out DIR]";

const RECORD: &str = "--record";
/// Runs everything at the paper's scale instead, and stores the verdicts.
const PAPER_SCALE: &str = "--paper-scale";
/// Where runs at the paper's scale are kept.
const OUT: &str = "--out";
/// Where the verdicts at the paper's scale are stored.
const STORED: &str = "studies/verdicts.csv";
/// Where the verdicts are recorded: paper, study, number of the claim, verdict, measured value, and the claim.
const RECORDED: &str = "studies/sample.tsv";
/// What stands above them.
const HEAD: &str = "paper\tstudy\tclaim\tverdict\tmeasured\ttext";

/// A verdict of the sample.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    /// Paper, study and number.
    claim: [String; 3],
    verdict: String,
    /// The measured value to six digits; empty if nothing was measured.
    measured: String,
    text: String,
}

/// Run the sample, and compare or record. Whether every verdict is as recorded.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let options = Options::new(arguments, &[OUT], &[RECORD, PAPER_SCALE])?;
    let cwnd = json::build_cwnd()?;
    if options.has(PAPER_SCALE) {
        return at_paper_scale(&cwnd, Path::new(options.text(OUT).unwrap_or("results/reproduce")));
    }
    let out = cwnd.parent().unwrap_or(Path::new(".")).join("papers-sample");
    // Runs that another version has stored would be found and not done.
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    let mut command = Command::new(cwnd);
    command.args(["reproduce", "all", "--scale", "sample", "--quiet", "--out"]).arg(&out).current_dir(root());
    print!("{}", output(&mut command)?);
    let verdicts = out.join("sample/verdicts.json");
    let text = fs::read_to_string(&verdicts).map_err(|error| format!("{}: {error}", verdicts.display()))?;
    let rows = measured(&text).map_err(|why| format!("{}: {why}", verdicts.display()))?;
    let path = root().join(RECORDED);
    if options.has(RECORD) {
        fs::write(&path, written(&rows)).map_err(|error| format!("{RECORDED}: {error}"))?;
        println!("  {} verdicts recorded in {RECORDED}", rows.len());
        return Ok(true);
    }
    let recorded = fs::read_to_string(&path).map_err(|error| format!("{RECORDED}: {error}"))?;
    let changes = changes(&read(&recorded), &rows);
    if changes.is_empty() {
        println!("  all {} verdicts are as recorded in {RECORDED}", rows.len());
        return Ok(true);
    }
    let head = cells(&["paper", "study", "claim", "recorded", "now", "text"]);
    print!("{}", table(&[0, 1, 3, 4, 5], &[head], &changes));
    println!("\n  If this is meant, record it and say why: cargo xtask papers {RECORD}");
    Ok(false)
}

/// Runs what is left of all papers at their own scale, and stores the verdicts.
fn at_paper_scale(cwnd: &Path, out: &Path) -> Result<bool, String> {
    let mut command = Command::new(cwnd);
    command.args(["reproduce", "all", "--scale", "paper", "--out"]).arg(out).current_dir(root());
    print!("{}", output(&mut command)?);
    let verdicts = root().join(out).join("paper/verdicts.csv");
    fs::copy(&verdicts, root().join(STORED)).map_err(|error| format!("{}: {error}", verdicts.display()))?;
    println!("  the verdicts are stored in {STORED}");
    Ok(true)
}

/// The verdicts of a sample, but for claims that it does not carry.
fn measured(document: &str) -> Result<Vec<Row>, String> {
    let document: Value = serde_json::from_str(document).map_err(|error| error.to_string())?;
    let rows = document.as_array().ok_or("it is no list")?;
    let text = |row: &Value, key: &str| match &row[key] {
        Value::String(text) => Ok(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(format!("a verdict has no `{key}`")),
    };
    let row = |row: &Value| {
        let claim = [text(row, "paper")?, text(row, "study")?, text(row, "claim")?];
        let measured = row["measured"].as_f64().map(six_digits).unwrap_or_default();
        Ok(Row { claim, verdict: text(row, "verdict")?, measured, text: text(row, "text")? })
    };
    let rows: Result<Vec<Row>, String> = rows.iter().map(row).collect();
    Ok(rows?.into_iter().filter(|row| row.verdict != "not measured").collect())
}

impl Row {
    /// Returns the verdict and the measured value.
    fn found(&self) -> String {
        format!("{} {}", self.verdict, self.measured).trim_end().to_owned()
    }
}

/// Writes a value to six significant digits.
fn six_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}

fn written(rows: &[Row]) -> String {
    let line =
        |row: &Row| format!("{}\t{}\t{}\t{}\n", row.claim.join("\t"), row.verdict, row.measured, row.text);
    format!("{HEAD}\n{}", rows.iter().map(line).collect::<String>())
}

fn read(text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let parts: Vec<&str> = line.splitn(6, '\t').collect();
        let [paper, study, claim, verdict, measured, text] = parts[..] else { return None };
        let claim = [paper, study, claim].map(str::to_owned);
        Some(Row { claim, verdict: verdict.to_owned(), measured: measured.to_owned(), text: text.to_owned() })
    };
    text.lines().skip(1).filter_map(row).collect()
}

/// What is not as recorded, a line each: changed, new or gone. A claim is known by its text, since others may have been
/// put before it.
fn changes(recorded: &[Row], now: &[Row]) -> Vec<Vec<String>> {
    let same = |a: &Row, b: &Row| a.claim[..2] == b.claim[..2] && a.text == b.text;
    let line = |row: &Row, before: &str, after: &str| {
        let [paper, study, claim] = row.claim.each_ref().map(String::as_str);
        cells(&[paper, study, claim, before, after, &row.text])
    };
    let mut changes = Vec::new();
    for row in now {
        match recorded.iter().find(|known| same(known, row)) {
            Some(known) if (&known.verdict, &known.measured) == (&row.verdict, &row.measured) => {}
            Some(known) => changes.push(line(row, &known.found(), &row.found())),
            None => changes.push(line(row, "-", &row.found())),
        }
    }
    let gone = recorded.iter().filter(|known| !now.iter().any(|row| same(known, row)));
    changes.extend(gone.map(|row| line(row, &row.found(), "-")));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(claim: usize, verdict: &str, text: &str) -> Row {
        let claim = ["p".to_owned(), "s".to_owned(), claim.to_string()];
        Row { claim, verdict: verdict.to_owned(), measured: String::new(), text: text.to_owned() }
    }

    #[test]
    fn what_is_written_is_read() {
        let value = Row { measured: six_digits(0.123_456_789), ..row(2, "too few repeats", "b c") };
        assert_eq!(value.measured, "0.123457");
        let rows = [row(1, "reproduced", "a"), value];
        assert_eq!(read(&written(&rows)), rows);
    }

    #[test]
    fn what_a_sample_does_not_carry_is_left_out() {
        let document = r#"[{"paper": "p", "study": "s", "claim": 1, "verdict": "not measured", "text": "a"},
                           {"paper": "p", "study": "s", "claim": 2, "verdict": "reproduced", "text": "b\n c"}]"#;
        assert_eq!(measured(document).unwrap(), [row(2, "reproduced", "b c")]);
        assert!(measured("[{}]").is_err());
    }

    #[test]
    fn changed_new_and_lost_verdicts_are_told() {
        let recorded = [row(1, "reproduced", "a"), row(2, "reproduced", "b"), row(3, "reproduced", "c")];
        // A claim that has moved is the same.
        let now = [row(1, "reproduced", "new"), row(2, "reproduced", "a"), row(3, "not reproduced", "b")];
        let expected = [
            cells(&["p", "s", "1", "-", "reproduced", "new"]),
            cells(&["p", "s", "3", "reproduced", "not reproduced", "b"]),
            cells(&["p", "s", "3", "reproduced", "-", "c"]),
        ];
        assert_eq!(changes(&recorded, &now), expected);
        assert!(changes(&recorded, &recorded).is_empty());
        let moved = Row { measured: "2".to_owned(), ..row(1, "reproduced", "a") };
        assert_eq!(
            changes(&recorded[..1], &[moved]),
            [cells(&["p", "s", "1", "reproduced", "reproduced 2", "a"])]
        );
    }
}
