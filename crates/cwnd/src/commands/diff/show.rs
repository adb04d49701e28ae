//! A difference as text and as JSON.

use crate::{
    commands::run::number,
    output::{self, json},
};
use cwnd_report::{
    measure::{Measure, Shown},
    table::{Align, Sacrifice, Table},
};
use cwnd_study::diff::{Comparison, Diff};
use serde_json::{Map, Value, json};
use std::path::Path;

/// How many differences without significance are shown.
const SOME: usize = 20;

/// Returns the metric of a name, as people read it.
type MeasureOf<'a> = &'a dyn Fn(&str) -> Measure;

/// For a person.
pub fn text(diff: &Diff, [first, second]: [&Path; 2], all: bool, measure: MeasureOf<'_>) -> String {
    let table = |comparisons: &[&Comparison]| output::fitted(table(comparisons, measure), &SACRIFICES);
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
            text += &output::wrapped(&format!("Only in {}: {}", side.display(), some(cells)), 2);
        }
    }
    for note in &diff.notes {
        text += &output::wrapped(&format!("Note: {note}."), 2);
    }
    text + "\n"
}

/// What a table gives up on a narrow terminal.
const SACRIFICES: [Sacrifice; 7] = [
    Sacrifice::Drop("pairs"),
    Sacrifice::Shorten("cell", 28),
    Sacrifice::Shorten("metric", 20),
    Sacrifice::Drop("p"),
    Sacrifice::Drop("first"),
    Sacrifice::Shorten("cell", 12),
    Sacrifice::Drop("second"),
];

/// A row for each comparison, in a unit that suits its larger mean.
fn table(comparisons: &[&Comparison], measure: MeasureOf<'_>) -> Table {
    let mut table = Table::new([
        ("metric", Align::Left),
        ("cell", Align::Left),
        ("first", Align::Right),
        ("second", Align::Right),
        ("change", Align::Right),
        ("unit", Align::Left),
        ("relative", Align::Right),
        ("p", Align::Right),
        ("pairs", Align::Right),
    ])
    .indent(2);
    for comparison in comparisons {
        let (first, second) = comparison.means;
        let Shown { factor, unit } = Shown::of(&measure(&comparison.metric), [first, second]);
        let paired = &comparison.paired;
        let difference = signed(paired.mean_difference * factor);
        let change = match paired.ci95 {
            Some(half) => format!("{difference} ± {}", number(half * factor)),
            None => difference,
        };
        table.row([
            comparison.metric.clone(),
            comparison.cell_label(),
            number(first * factor),
            number(second * factor),
            change,
            unit,
            comparison.relative().map_or("–".to_owned(), |part| format!("{:+.2} %", 100.0 * part)),
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
                "unit": cwnd_metrics::find(&comparison.metric).map(|metric| metric.unit),
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
        "unpaired": diff.unpaired,
        "unpaired_values": diff.unpaired_values,
        "notes": diff.notes,
        "comparisons": comparisons,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_metrics::statistics::Paired;

    fn comparison(metric: &str, pairs: &[(f64, f64)]) -> Comparison {
        let paired = Paired::of(pairs).expect("pairs");
        let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
        Comparison {
            cell: vec![("variant".into(), "cubic".into())],
            metric: metric.into(),
            means: (mean(|pair| pair.0), mean(|pair| pair.1)),
            paired,
            identical: false,
            p_corrected: Some(0.01),
        }
    }

    #[test]
    fn every_row_has_the_unit_of_its_metric() {
        let comparisons = [
            comparison("throughput_bps", &[(94e6, 96e6), (94e6, 96e6)]),
            comparison("rtt_mean_s", &[(0.020, 0.015)]),
            comparison("loss_ratio", &[(0.004, 0.005)]),
            comparison("jain_index", &[(0.8, 1.0)]),
            comparison("retransmissions", &[(0.0, 3.0)]),
        ];
        let table = table(&comparisons.iter().collect::<Vec<_>>(), &Measure::of).to_string();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let rows: Vec<String> = table.lines().map(words).collect();
        assert_eq!(rows[0], "metric cell first second change unit relative p pairs");
        // 2 of 94 are 2.13 %; 5 of 20 ms are 25 %; 0.1 of 0.4 points are 25 %; a change from 0 has no ratio.
        assert_eq!(rows[2], "throughput_bps cubic 94 96 +2 ± 0 Mbit/s +2.13 % 0.0100 2");
        assert_eq!(rows[3], "rtt_mean_s cubic 20 15 -5 ms -25.00 % 0.0100 1");
        assert_eq!(rows[4], "loss_ratio cubic 0.4 0.5 +0.1 % +25.00 % 0.0100 1");
        assert_eq!(rows[5], "jain_index cubic 0.8 1 +0.2 +25.00 % 0.0100 1");
        assert_eq!(rows[6], "retransmissions cubic 0 3 +3 packets – 0.0100 1");
    }
}
