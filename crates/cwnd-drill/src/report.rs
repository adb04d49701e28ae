//! Reports of scripts, as text and as JSON.

use crate::{FileError, Outcome};
use serde_json::{Value, json};
use std::fmt::Write;

/// The result of one script.
pub type ScriptResult = Result<Outcome, FileError>;

/// Returns a report for people: a line for each script, and the first difference of those that failed. `notes`: also remarks and
/// what code blocks have printed.
pub fn text(name: &str, result: &ScriptResult, notes: bool) -> String {
    let mut text = String::new();
    match result {
        Err(FileError::Unreadable(error)) => {
            let _ = writeln!(text, "ERROR  {name}: {error}");
        }
        Err(FileError::Script(error)) => {
            let _ = writeln!(text, "ERROR  {name}:{error}");
        }
        Ok(outcome) => {
            let seconds = outcome.time as f64 / 1e9;
            let verdict = if outcome.passed() { "ok    " } else { "FAILED" };
            let _ = writeln!(text, "{verdict} {name} ({} events, {seconds:.3} s)", outcome.events);
            if let Some(difference) = &outcome.difference {
                let line = difference.text.lines().next().unwrap_or_default();
                let more = if difference.text.contains('\n') { " …" } else { "" };
                let _ = writeln!(text, "  {name}:{}: {line}{more}", difference.place);
                let _ = writeln!(text, "    expected:  {}", difference.expected);
                let _ = writeln!(text, "    actual:    {}", difference.actual);
                let _ = writeln!(text, "    mechanism: {}", difference.mechanism);
            }
            if notes {
                for note in &outcome.notes {
                    let _ = writeln!(text, "  {name}:{}: note: {}", note.place, note.message);
                }
                for line in &outcome.printed {
                    let _ = writeln!(text, "  printed: {line}");
                }
            }
        }
    }
    text
}

/// Returns a report for programs.
pub fn json(name: &str, result: &ScriptResult) -> Value {
    match result {
        Err(FileError::Unreadable(error)) => json!({ "script": name, "result": "error", "message": error }),
        Err(FileError::Script(error)) => json!({
            "script": name,
            "result": "error",
            "line": error.place.line,
            "column": error.place.column,
            "message": error.message,
        }),
        Ok(outcome) => {
            let notes: Vec<Value> = outcome
                .notes
                .iter()
                .map(|note| json!({ "line": note.place.line, "column": note.place.column, "message": note.message }))
                .collect();
            let mut report = json!({
                "script": name,
                "result": if outcome.passed() { "passed" } else { "failed" },
                "events": outcome.events,
                "virtual_time_ns": outcome.time,
                "notes": notes,
                "printed": outcome.printed,
            });
            if let Some(difference) = &outcome.difference {
                report["difference"] = json!({
                    "line": difference.place.line,
                    "column": difference.place.column,
                    "text": difference.text,
                    "expected": difference.expected,
                    "actual": difference.actual,
                    "mechanism": difference.mechanism.to_string(),
                });
            }
            report
        }
    }
}
