//! The summary for a terminal.

use crate::output;
use cwnd_evaluate::{
    Ledger,
    ledger::{Change, CriterionEntry, Effect, Entry},
    page::{counts, deciding, effect_text},
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
