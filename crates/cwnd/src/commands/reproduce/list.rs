//! What there is to be run again, what it costs, and what has been run.

use super::library::{Book, short};
use super::pages::Places;
use super::verdicts;
use crate::commands::check;
use crate::{engines, failure::Failure, output};
use cwnd_report::table::{Align, Sacrifice, Table};
use cwnd_study::{RunScale, Store, Study, runner};
use std::path::Path;

/// The scales that the list describes.
const SCALES: [RunScale; 2] = [RunScale::Quick, RunScale::Paper];

/// What the list gives up on a narrow terminal.
const SACRIFICES: [Sacrifice; 4] = [
    Sacrifice::Shorten("what of the paper", 24),
    Sacrifice::Drop("CPU"),
    Sacrifice::Drop("what of the paper"),
    Sacrifice::Drop("done"),
];

/// What a study costs at a scale, and what a store has of it.
struct Cost {
    runs: u64,
    cpu_s: f64,
    /// Different runs that the store has, and those that it has not. Cells that ask the same share a run.
    present: usize,
    missing: usize,
}

/// Prints the list.
pub fn print(library: &[Book], out: &Path) -> Result<(), Failure> {
    let mut text = String::from("\n");
    let mut sums = [0.0; SCALES.len()];
    let stored = verdicts::stored()?;
    for book in library {
        let paper = &book.paper;
        text += &output::wrapped(
            &format!("{} {}: {} ({}, {})", paper.key, paper.name, paper.title, paper.authors, paper.year),
            2,
        );
        let mut table = Table::new([
            ("study", Align::Left),
            ("what of the paper", Align::Left),
            ("quick: runs", Align::Right),
            ("CPU", Align::Right),
            ("done", Align::Right),
            ("paper: runs", Align::Right),
            ("CPU", Align::Right),
            ("done", Align::Right),
        ])
        .indent(4);
        for study in &book.studies {
            let mut row = vec![short(study).to_owned(), covers(study)];
            for (i, scale) in SCALES.into_iter().enumerate() {
                let cost = cost(&study.at_scale(scale), out)?;
                sums[i] += cost.cpu_s;
                row.extend([cost.runs.to_string(), check::duration(cost.cpu_s), done(&cost)]);
            }
            table.row(row);
        }
        text += &match book.studies.is_empty() {
            true => "\n    no studies yet\n\n".to_owned(),
            false => {
                let line = verdicts::stored_line(book, &stored);
                let table = output::fitted(table, &SACRIFICES);
                format!("\n{table}\n{}\n", output::wrapped(&format!("Stored verdicts {line}."), 4))
            }
        };
    }
    let [quick, whole] = sums.map(check::duration);
    text += &output::wrapped(
        &format!("All of them: about {quick} of CPU at the quick scale, {whole} at the paper's."),
        2,
    );
    text += "  `cwnd reproduce NAME` runs one, `cwnd reproduce all` all.\n\n";
    output::print(&text)
}

/// What of the paper a study covers, as its source says after the paper's name; or its title.
fn covers(study: &Study) -> String {
    const WIDEST: usize = 44;
    let source = study.source.as_deref().and_then(|source| source.rsplit_once("), ")).map(|(_, rest)| rest);
    let text = source.unwrap_or(&study.title);
    match text.chars().count() {
        0..=WIDEST => text.to_owned(),
        _ => text.chars().take(WIDEST - 1).chain(['…']).collect(),
    }
}

fn cost(study: &Study, out: &Path) -> Result<Cost, Failure> {
    let engines = engines::of_study(study);
    let cost = check::cost(&engines, study)?;
    let directory = Places::new(out, study.scale()).runs(&study.name);
    // What cannot be read has not been run as far as anybody can tell.
    let plan = Store::open(&directory).ok().and_then(|store| runner::plan(&engines, study, &store).ok());
    let (present, missing) = plan.map_or((0, 0), |plan| (plan.present, plan.missing()));
    Ok(Cost { runs: cost.runs, cpu_s: cost.cpu_s, present, missing })
}

/// How much of it has been run.
fn done(cost: &Cost) -> String {
    match (cost.present, cost.missing) {
        (0, _) => "–".to_owned(),
        (_, 0) => "all".to_owned(),
        (present, missing) => {
            format!("{:.0} %", (100.0 * present as f64 / (present + missing) as f64).min(99.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_cells_share_is_done_once() {
        // Nine cells, of which three ask the same: seven runs.
        let of = |present, missing| done(&Cost { runs: 9, cpu_s: 1.0, present, missing });
        assert_eq!([of(0, 7), of(3, 4), of(7, 0)], ["–", "43 %", "all"]);
        assert_eq!(of(999, 1), "99 %");
    }
}
