//! The ledger as a page: a summary of one screen, then a part for each section.
//!
//! The page needs nothing but itself, and no script. It can be printed: the summary is its first sheet.

use crate::criteria::Compare;
use crate::ledger::{CriterionEntry, Effect, Entry, Interval, Ledger, Measured, Verdict};
use crate::{pictures, spot};
use cwnd_report::measure::{Measure, Shown, decimals, half_text, number};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::BTreeMap;

const STYLE: &str = include_str!("../assets/evaluation.css");

/// What a page has alongside the ledger.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// For each section the figure of its worst cell over time, as SVG, with the criterion that it is of.
    pub figures: BTreeMap<String, Figure>,
    /// For each study the address of its own report.
    pub reports: BTreeMap<String, String>,
}

/// A figure of a worst cell.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The picture.
    pub svg: String,
    /// The command that records the cell again.
    pub command: String,
}

/// Writes the page.
pub fn html(ledger: &Ledger, extras: &Extras) -> String {
    let Ledger { candidate, reference, .. } = ledger;
    let title = format!("RFC 9743: {candidate} against {reference}");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content=(ledger.made_by);
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p { (counts(ledger)) " " (ledger.method) }
                }
                (summary(ledger))
                @for row in &ledger.rows { (section(ledger, row, extras)) }
                @if !ledger.spot_checks.is_empty() { (spot::section(&ledger.spot_checks)) }
                footer { p { "Made by " (ledger.made_by) ": " code { (ledger.command) } } }
            }
        }
    };
    page.into_string()
}

/// Returns the number of rows with each verdict, in words.
pub fn counts(ledger: &Ledger) -> String {
    let all = [Verdict::Better, Verdict::As, Verdict::Worse, Verdict::NotMeasured, Verdict::NotApplicable];
    let some =
        all.into_iter().map(|verdict| (verdict, ledger.count(verdict))).filter(|(_, count)| *count > 0);
    let parts: Vec<String> = some.map(|(verdict, count)| format!("{count} {}", verdict.word())).collect();
    format!("{} sections: {}.", ledger.rows.len(), parts.join(", "))
}

/// Returns the criterion that decides a row's verdict: of those with this verdict the first.
pub fn deciding<'a>(row: &'a Entry, candidate: &str) -> Option<&'a CriterionEntry> {
    let has =
        |entry: &&CriterionEntry| entry.effects.get(candidate).is_some_and(|e| e.verdict == row.verdict);
    row.criteria.iter().find(has).or(row.criteria.first())
}

fn summary(ledger: &Ledger) -> Markup {
    html! {
        table.summary {
            thead { tr {
                th { "section" } th { "" } th { "criterion" } th { "effect" }
                th.picture { "worse · better" } th.picture { "each cell" } th.picture { "worst cell" }
                th { "verdict" } th { "worst cell" }
            } }
            tbody { @for row in &ledger.rows { (summary_row(ledger, row)) } }
        }
        p.key {
            "Pictures: right is better, the line is " (ledger.reference) ", the band is the criterion's margin. Grey marks: "
            (ledger.others.join(", ")) ". Worst cell: " (ledger.candidate) " above, " (ledger.reference) " below."
        }
    }
}

fn summary_row(ledger: &Ledger, row: &Entry) -> Markup {
    let entry = deciding(row, &ledger.candidate);
    html! {
        tr {
            td { a href={ "#s" (row.section) } { (row.section) } }
            td.title { (row.title) @if row.level != "-" { " " small { (row.level) } } }
            @match entry {
                Some(entry) => {
                    td.criterion { (entry.title) }
                    td.number { (effect_text(entry, entry.effects.get(&ledger.candidate))) }
                    td.picture { (PreEscaped(pictures::effects(entry, &ledger.candidate))) }
                    td.picture { (PreEscaped(pictures::cells(entry))) }
                    td.picture { (PreEscaped(pictures::worst(entry))) }
                    td { (verdict(row.verdict)) }
                    td.cell { @if let Some(worst) = &entry.worst { (worst.cell) } }
                }
                None => {
                    td.reason colspan="5" { (row.reason.as_deref().unwrap_or_default()) }
                    td { (verdict(row.verdict)) }
                    td {}
                }
            }
        }
    }
}

fn verdict(verdict: Verdict) -> Markup {
    let class = match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::As => "as",
        Verdict::NotMeasured | Verdict::NotApplicable => "none",
    };
    html! { span.verdict.(class) { (verdict.word()) } }
}

fn section(ledger: &Ledger, row: &Entry, extras: &Extras) -> Markup {
    let figure = extras.figures.get(&row.section);
    let names = algorithms(ledger);
    html! {
        section id={ "s" (row.section) } {
            h2 { (row.section) " " (row.title) " " (verdict(row.verdict)) }
            @if let Some(reason) = &row.reason { p { (reason) } }
            @if let Some(note) = &row.note { p { (note) } }
            @if !row.criteria.is_empty() {
                table.criteria {
                    thead { tr {
                        th { "criterion" } th { "unit" }
                        @for name in &names { th.number { (name) } }
                        th.number { "effect" } th.number { "p (Holm)" } th { "verdict" } th { "worst cell" }
                    } }
                    tbody { @for entry in &row.criteria { (criterion(ledger, entry, &names)) } }
                }
            }
            @if let Some(Figure { svg, command }) = figure {
                figure {
                    (PreEscaped(svg))
                    figcaption { "The worst cell, over time. Record it again: " code { (command) } }
                }
            }
            (links(row, extras))
        }
    }
}

fn links(row: &Entry, extras: &Extras) -> Markup {
    let mut studies: Vec<&str> = Vec::new();
    for entry in &row.criteria {
        if !studies.contains(&entry.study.as_str()) {
            studies.push(&entry.study);
        }
    }
    let known: Vec<(&str, &String)> =
        studies.into_iter().filter_map(|study| Some((study, extras.reports.get(study)?))).collect();
    html! {
        @if !known.is_empty() {
            p.links { "All cells: " @for (study, address) in known { a href=(address) { (study) } " " } }
        }
    }
}

/// Returns the algorithms in the order of columns: the candidate, the reference, the others.
fn algorithms(ledger: &Ledger) -> Vec<&str> {
    let mut names = vec![ledger.candidate.as_str()];
    names.extend((ledger.reference != ledger.candidate).then_some(ledger.reference.as_str()));
    names.extend(ledger.others.iter().map(String::as_str));
    names
}

fn criterion(ledger: &Ledger, entry: &CriterionEntry, names: &[&str]) -> Markup {
    let measure = Measure::of(&entry.metric);
    let shown = Shown::of(&measure, entry.values.values().flatten().map(|value| value.mean));
    let value = |name: &str| entry.values.get(name).copied().flatten().map(|value| mean_text(value, &shown));
    let effect = entry.effects.get(&ledger.candidate);
    let (missing, all) = entry.missing;
    html! {
        tr {
            td {
                (entry.title) " " code { (entry.id) }
                @if missing > 0 { br; small { (missing) " of " (all) " pairs lack a value" } }
            }
            td { (shown.unit) }
            @for name in names { td.number { (value(name).unwrap_or_else(|| "–".to_owned())) } }
            td.number { (effect_text(entry, effect)) }
            td.number { (p_text(effect.and_then(|effect| effect.corrected_p))) }
            td { @if let Some(effect) = effect { (verdict(effect.verdict)) } }
            td { @if let Some(worst) = &entry.worst {
                (worst.cell) ": " (interval_text(entry, worst.interval))
            } }
        }
    }
}

fn mean_text(value: Measured, shown: &Shown) -> String {
    let (mean, half) = (value.mean * shown.factor, value.ci95.map(|half| half * shown.factor));
    let digits = decimals(mean, half).min(4);
    match half.filter(|half| half.is_finite()) {
        Some(half) => format!("{} ± {}", number(mean, digits), half_text(half, digits)),
        None => number(mean, digits),
    }
}

/// Writes an effect with its interval, in the criterion's unit.
pub fn effect_text(entry: &CriterionEntry, effect: Option<&Effect>) -> String {
    effect.and_then(|effect| effect.interval).map_or_else(|| "–".to_owned(), |one| interval_text(entry, one))
}

fn interval_text(entry: &CriterionEntry, interval: Interval) -> String {
    let Interval { mean, low, high } = interval;
    let ends = [Some(mean), low, high].into_iter().flatten();
    let shown = match entry.compare {
        Compare::Ratio => Shown { factor: 100.0, unit: "%".to_owned() },
        Compare::Difference => Shown::of(&Measure::of(&entry.metric), ends),
    };
    // A difference of shares is in percentage points.
    let is_points = entry.compare == Compare::Difference && shown.unit == "%";
    let shown = if is_points { Shown { unit: "pp".to_owned(), ..shown } } else { shown };
    let half = low.zip(high).map(|(low, high)| shown.factor * (high - low) / 2.0);
    let digits = decimals(mean * shown.factor, half).min(3);
    let signed = |value: f64| {
        let sign = if value > 0.0 { "+" } else { "" };
        format!("{sign}{}", number(value * shown.factor, digits))
    };
    let range = low.zip(high).filter(|(low, high)| low < high);
    let range =
        range.map_or_else(String::new, |(low, high)| format!(" ({} to {})", signed(low), signed(high)));
    let unit = if shown.unit.is_empty() { String::new() } else { format!(" {}", shown.unit) };
    format!("{}{unit}{range}", signed(mean))
}

fn p_text(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}
