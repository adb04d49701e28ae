//! All studies of some papers are run, and their reports written.

use super::Flags;
use super::library::{Book, short};
use super::pages::{self, Places};
use super::progress::Shared;
use super::verdicts;
use crate::commands::run::{self, Prepared};
use crate::engines;
use crate::failure::Failure;
use crate::output::{self, json};
use cwnd_report::figures::traces::Traces;
use cwnd_report::report::{PaperResults, PaperStudy};
use cwnd_report::table::{Align, Sacrifice, Table};
use cwnd_study::RunScale;
use std::path::Path;

/// Runs what is left of the papers, and reports the result of each.
pub fn run(books: &[Book], flags: &Flags) -> Result<(), Failure> {
    let scale: RunScale = flags.scale.into();
    let places = Places::new(&flags.out, scale);
    let threads = run::threads(flags.threads);
    let memory = flags.memory.budget();
    let mut studies = Vec::new();
    for book in books {
        for study in &book.studies {
            let directory = places.runs(&study.name);
            let study = study.at_scale(scale);
            let study = run::possible(study.clone()).unwrap_or(study);
            let (engines, command) = (engines::of_study(&study), command(&book.paper.name, scale));
            studies.push(Prepared::new(study, engines, Some(directory), command, memory)?);
        }
    }
    let failures = complete(&mut studies, threads, flags.quiet)?;

    let stored = verdicts::stored()?;
    let mut prepared = studies.iter();
    let mut papers = Vec::new();
    for book in books {
        let of_book = prepared.by_ref().take(book.studies.len());
        papers.push(paper(book, of_book, scale, &stored)?);
    }
    let mut written = Vec::new();
    let mut rows = Vec::new();
    for (of, book) in papers.iter().zip(books) {
        written.push(pages::paper(&places, of)?);
        let own = verdicts::rows(of);
        keep_verdicts(&places.paper(&of.paper.name), &own)?;
        if scale == RunScale::Paper {
            for wrong in verdicts::wrong_reasons(book, &own) {
                crate::terminal::tell!("{wrong}");
            }
        }
        rows.push(own);
    }
    if papers.len() > 1 {
        written.push(pages::index(&places, &papers, scale, &command("all", scale))?);
        keep_verdicts(&places.all(), &rows.concat())?;
    }

    let mut table =
        Table::new([("paper", Align::Left), ("studies", Align::Right), ("verdicts", Align::Left)]).indent(2);
    for ((of, rows), book) in papers.iter().zip(&rows).zip(books) {
        table.row([of.paper.name.clone(), of.studies.len().to_string(), verdicts::tally(rows)]);
        table.row([String::new(), "stored".to_owned(), verdicts::stored_line(book, &stored)]);
    }
    let reports: String = written.iter().map(|path| format!("  report in {}\n", path.display())).collect();
    let table = output::fitted(table, &[Sacrifice::Shorten("verdicts", 24)]);
    output::print(&format!("\n{table}\n{reports}\n"))?;
    run::failed(failures, true)
}

/// The command that makes the same results: where and how fast are left out.
fn command(paper: &str, scale: RunScale) -> String {
    format!("cwnd reproduce {paper} --scale {scale}")
}

/// Runs what is left of all studies, one after the other. How many runs failed.
pub fn complete(studies: &mut [Prepared], threads: usize, quiet: bool) -> Result<usize, Failure> {
    let mut shared = Shared::new(studies, threads, quiet);
    let mut failures = 0;
    for study in studies {
        shared.begin(study);
        let ran = study.run(threads, &mut shared);
        if ran.as_ref().map_or(true, |ran| ran.stopped) {
            shared.clear();
        }
        let ran = ran?;
        if ran.stopped {
            return Err(study.stopped(&ran));
        }
        for (cell, repeat, reason) in &ran.failures {
            let seed = study.study.seed.wrapping_add((*repeat).into());
            crate::terminal::tell!(
                "failed: {}: {} (seed {seed}): {reason}",
                study.study.name,
                study.study.cell_label(*cell)
            );
        }
        failures += ran.failures.len();
        shared.end(study);
    }
    shared.clear();
    Ok(failures)
}

/// What the studies of a paper gave.
fn paper<'a>(
    book: &Book,
    prepared: impl Iterator<Item = &'a Prepared>,
    scale: RunScale,
    stored: &[verdicts::Row],
) -> Result<PaperResults, Failure> {
    let mut studies = Vec::new();
    for prepared in prepared {
        let results = prepared.results()?;
        let traces = Traces::of(&results);
        studies.push(PaperStudy { name: short(&prepared.study).to_owned(), results, traces });
    }
    let command = command(&book.paper.name, scale);
    let stored = verdicts::current(book, stored);
    Ok(PaperResults { paper: book.paper.clone(), scale, command, studies, stored })
}

fn keep_verdicts(directory: &Path, rows: &[verdicts::Row]) -> Result<(), Failure> {
    pages::write(&directory.join("verdicts.csv"), &verdicts::csv(rows)?)?;
    pages::write(&directory.join("verdicts.json"), &json::pretty(&rows))
}
