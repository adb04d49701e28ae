//! A study's results as one HTML page, and a paper's: all of its studies.
//!
//! The page needs nothing but itself: no request of any kind, which its content security policy forbids as well; only
//! the script and the style whose hashes it names are let in. Everything is there without JavaScript; with it, tables
//! sort and copy, windows and queues can be zoomed, and the colours can be switched. It is made for reading on a
//! screen, on a phone and on paper. The same results give the same bytes.
//!
//! Study texts are not trusted: every text is escaped.

mod claim_list;
mod claim_unit;
mod claims;
mod completion;
mod digest;
mod engines;
mod facts;
mod figures;
mod items;
mod live;
mod overview;
mod page;
mod paper;
mod provenance;
mod question;
mod samples;
mod tables;
mod theme;

use self::claim_list::Claims;
use self::claims::Told;
use crate::engines::pairs;
use crate::figures::traces::Traces;
use crate::series::SeriesStyles;
use cwnd_study::{ClaimTest, Results, Study, claims::Verdict};
pub use paper::{PaperResults, PaperStudy, StoredVerdict, index, paper};

/// Returns what was measured of a claim with its interval, as the page writes it; none if nothing was measured.
pub fn measured(study: &Study, verdict: &Verdict) -> Option<String> {
    let ClaimTest::Measured { kind, expect } = &study.claims.get(verdict.claim)?.test else { return None };
    let measured = verdict.measured.as_ref()?;
    Some(claim_unit::ClaimUnit::new(study, kind, expect, Some(measured.mean)).summary(measured))
}

/// The page. Samples are read from the files that the results name; one that cannot be read is told in its figure.
pub fn html(results: &Results) -> String {
    html_with(results, &Traces::of(results))
}

/// The page, with samples that are already there.
pub fn html_with(results: &Results, traces: &Traces) -> String {
    build(results, traces, None)
}

/// The same page with a script that simulates the runs behind the points of its figures: a reader chooses a point and sees its windows,
/// rates, round-trip times and queue over time. `cargo xtask web` makes the script, which has the simulator in it.
///
/// # Errors
/// The script cannot stand in a page, or the study has runs that a page cannot do: those of another engine, and those that need
/// another file.
pub fn live(results: &Results, traces: &Traces, script: &str) -> Result<String, String> {
    live::check(results, script)?;
    Ok(build(results, traces, Some(script)))
}

fn build(results: &Results, traces: &Traces, live: Option<&str>) -> String {
    let study = &results.study;
    let looks = SeriesStyles::new(study);
    let mut page = page::Page::new(page::Head::of_study(results));
    page.live = live.map(|script| live::Live { script: script.to_owned(), study: live::study(study) });
    let claims = Claims::new([Told::of(results, &|_| None)].into_iter(), &claim_list::of_study(study));
    page.section("findings", "What was found", &overview::section(&claims));
    page.section("question", "What was asked", &question::section(study));
    if !study.figures.is_empty() {
        let (body, entries) = figures::section(results, &looks, traces, &claims, live.is_some());
        page.section_with("figures", "Figures", &body, &entries);
    }
    // A study that draws and tabulates nothing shows what it measured all the same.
    let shows_nothing = study.figures.is_empty() && study.tables.is_empty() && !study.cells.is_empty();
    let of_all = [tables::of_all(study)];
    let tables = if shows_nothing { &of_all[..] } else { &study.tables };
    if !tables.is_empty() {
        let (body, entries) = tables::section(results, tables, &claims);
        page.section_with("tables", "Tables", &body, &entries);
    }
    if let Some(table) = completion::section(results) {
        page.section("completion", "Completion times by size", &table);
    }
    if !claims.listed.is_empty() {
        page.section("claims", "What is claimed, and what came of it", &overview::list(&claims));
    }
    let pairs = pairs(study);
    if !pairs.is_empty() {
        page.section("engines", "Engines side by side", &engines::section(results, traces, &pairs));
    }
    if !study.notes.is_empty() {
        page.section("notes", "Notes", &crate::html::paragraphs(&study.notes.join("\n\n")));
    }
    page.section("scenario", "The scenario", &facts::section(results));
    page.section("provenance", "How it was made", &provenance::section(results));
    page.finish()
}
