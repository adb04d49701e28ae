//! The summary for a terminal.

use crate::output;
use cwnd_evaluate::{
    Ledger,
    ledger::{Change, CriterionEntry, Effect, Entry},
    page::{counts, deciding, effect_text},
    spot,
};
use cwnd_report::table::{Align, Sacrifice, Table};
use std::path::Path;

/// Returns the summary: a line for each section, and what has changed since an older ledger.
pub fn of(ledger: &Ledger, changes: Option<&[Change]>, page: &Path, file: &Path) -> String {
    let mut table = Table::new([
        ("section", Align::Left),
        ("", Align::Left),
        ("verdict", Align::Left),
        ("criterion", Align::Left),
        ("effect", Align::Right),
        ("worst cell", Align::Left),
    ])
    .indent(2);
    for row in &ledger.rows {
        table.row(line(ledger, row));
    }
    let table = output::fitted(
        table,
        &[Sacrifice::Drop("worst cell"), Sacrifice::Shorten("criterion", 20), Sacrifice::Drop("criterion")],
    );
    let mut text = format!("\n{} against {}\n\n{table}\n", ledger.candidate, ledger.reference);
    text += &format!("  {}\n  {}\n", counts(ledger), ledger.method);
    if !ledger.spot_checks.is_empty() {
        text += &checked(ledger);
    }
    if let Some(changes) = changes {
        text += &changed(ledger, changes);
    }
    text + &format!("\n  page in {}\n  ledger in {}\n\n", page.display(), file.display())
}

fn line(ledger: &Ledger, row: &Entry) -> [String; 6] {
    let entry = deciding(row, &ledger.candidate);
    let of = |text: &dyn Fn(&CriterionEntry) -> String| entry.map(text).unwrap_or_default();
    [
        row.section.clone(),
        row.title.clone(),
        row.verdict.word().to_owned(),
        of(&|entry| entry.title.clone()),
        of(&|entry| effect_text(entry, entry.effects.get(&ledger.candidate))),
        of(&|entry| entry.worst.as_ref().map(|worst| worst.cell.clone()).unwrap_or_default()),
    ]
}

/// The spot checks: a line for each value, then the cells that the kernel engine cannot express.
fn checked(ledger: &Ledger) -> String {
    let mut table = Table::new([
        ("study", Align::Left),
        ("cell", Align::Left),
        ("algorithm", Align::Left),
        ("metric", Align::Left),
        ("simulator", Align::Right),
        ("kernel", Align::Right),
    ])
    .indent(2);
    for check in ledger.spot_checks.iter().filter(|check| check.not_possible.is_empty()) {
        let mark = if check.warnings.is_empty() { "" } else { " (!)" };
        for value in &check.values {
            let shown = spot::Shown::of(value);
            table.row([
                check.study.clone(),
                check.cell.clone(),
                check.algorithm.clone(),
                format!("{}{}", value.metric, shown.unit),
                shown.sim,
                shown.kernel + mark,
            ]);
        }
    }
    let table = output::fitted(table, &[Sacrifice::Shorten("cell", 16), Sacrifice::Shorten("study", 8)]);
    let mut text = format!("\n  Spot checks over this host's kernel; (!): not valid\n\n{table}\n");
    for (reason, cells) in spot::not_possible(&ledger.spot_checks) {
        text += &format!("  {cells} not possible there: {reason}\n");
    }
    text
}

fn changed(ledger: &Ledger, changes: &[Change]) -> String {
    if changes.is_empty() {
        return "\n  Nothing has changed since the older ledger.\n".to_owned();
    }
    let mut table = Table::new([
        ("criterion", Align::Left),
        ("before", Align::Left),
        ("now", Align::Left),
        ("", Align::Left),
    ])
    .indent(2);
    for change in changes {
        let entry = ledger.rows.iter().flat_map(|row| &row.criteria).find(|entry| entry.id == change.id);
        let told = |effect: &Option<Effect>| match (effect, entry) {
            (None, _) => "–".to_owned(),
            (Some(effect), Some(entry)) => {
                format!("{}, {}", effect.verdict.word(), effect_text(entry, Some(effect)))
            }
            (Some(effect), None) => effect.verdict.word().to_owned(),
        };
        let mark = if change.is_regression() { "worse than before" } else { "" };
        table.row([change.id.clone(), told(&change.before), told(&change.now), mark.to_owned()]);
    }
    format!("\n  Since the older ledger:\n\n{table}")
}
