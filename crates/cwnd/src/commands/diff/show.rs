//! A difference as text and as JSON.

use crate::{commands::run::number, output::json};
use cwnd_report::table::{Align, Table};
use cwnd_study::diff::{Comparison, Diff};
use serde_json::{Map, Value, json};
use std::path::Path;

/// How many differences without significance are shown.
const SOME: usize = 20;

/// For a person.
pub fn text(diff: &Diff, [first, second]: [&Path; 2], all: bool) -> String {
    let mut text = format!("\n  {} → {}\n\n", first.display(), second.display());
    let (sure, rest): (Vec<&Comparison>, Vec<&Comparison>) =
        diff.comparisons.iter().filter(|comparison| !comparison.identical).partition(|c| c.is_significant());
    let identical = diff.comparisons.len() - sure.len() - rest.len();
    if !sure.is_empty() {
        text += &format!("  Changed with significance ({})\n\n{}\n", sure.len(), table(&sure));
    }
    if !rest.is_empty() {
        let shown = if all { rest.len() } else { rest.len().min(SOME) };
        text += &format!("  Differs without significance ({})\n\n{}", rest.len(), table(&rest[..shown]));
        if shown < rest.len() {
            text += &format!("  … and {} more; --all shows them\n", rest.len() - shown);
        }
        text.push('\n');
    }
    text += &match (diff.comparisons.len(), identical) {
        (0, _) => "  Nothing to compare.\n".to_owned(),
        (total, same) if total == same => format!("  Identical to the bit: all {total} comparisons.\n"),
        (total, same) => format!("  Identical to the bit: {same} of {total} comparisons.\n"),
    };
    for (side, cells) in [(first, &diff.only_first), (second, &diff.only_second)] {
        if !cells.is_empty() {
            text += &format!("  Only in {}: {}\n", side.display(), some(cells));
        }
    }
    for note in &diff.notes {
        text += &format!("  Note: {note}.\n");
    }
    text + "\n"
}

fn table(comparisons: &[&Comparison]) -> Table {
    let mut table = Table::new([
        ("metric", Align::Left),
        ("cell", Align::Left),
        ("first", Align::Right),
        ("second", Align::Right),
        ("change", Align::Right),
        ("%", Align::Right),
        ("p", Align::Right),
        ("pairs", Align::Right),
    ])
    .indent(2);
    for comparison in comparisons {
        let paired = &comparison.paired;
        let change = match paired.ci95 {
            Some(half) => format!("{} ± {}", signed(paired.mean_difference), number(half)),
            None => signed(paired.mean_difference),
        };
        table.row([
            comparison.metric.clone(),
            comparison.cell_label(),
            number(comparison.means.0),
            number(comparison.means.1),
            change,
            comparison.relative().map_or("–".to_owned(), |part| format!("{:+.2}", 100.0 * part)),
            comparison.p_corrected.map_or("–".to_owned(), probability),
            paired.count.to_string(),
        ]);
    }
    table
}

fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", number(value)) } else { number(value) }
}

fn probability(p: f64) -> String {
    if p < 1e-4 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

fn some(cells: &[String]) -> String {
    const MOST: usize = 5;
    let shown: Vec<String> = cells.iter().take(MOST).map(|cell| format!("`{cell}`")).collect();
    match cells.len() {
        0..=MOST => shown.join(", "),
        all => format!("{} and {} more cells", shown.join(", "), all - MOST),
    }
}

/// For a program.
pub fn json(diff: &Diff, [first, second]: [&Path; 2]) -> String {
    let comparisons: Vec<Value> = diff
        .comparisons
        .iter()
        .map(|comparison| {
            let labels =
                comparison.cell.iter().map(|(axis, label)| (axis.clone(), Value::from(label.as_str())));
            json!({
                "metric": comparison.metric,
                "cell": Map::from_iter(labels),
                "pairs": comparison.paired.count,
                "first_mean": comparison.means.0,
                "second_mean": comparison.means.1,
                "difference": comparison.paired.mean_difference,
                "ci95": comparison.paired.ci95,
                "relative": comparison.relative(),
                "t": comparison.paired.t,
                "p": comparison.paired.p,
                "p_corrected": comparison.p_corrected,
                "significant": comparison.is_significant(),
                "identical": comparison.identical,
            })
        })
        .collect();
    json::pretty(&json!({
        "first": first.display().to_string(),
        "second": second.display().to_string(),
        "changed": diff.is_change(),
        "only_first": diff.only_first,
        "only_second": diff.only_second,
        "notes": diff.notes,
        "comparisons": comparisons,
    }))
}
