//! `docs/verdicts.md`: the verdicts at the papers' own scale, as they are stored in the program.

use super::library::{Book, short};
use super::verdicts::Row;
use cwnd_study::claims::Judgement;
use std::fmt::Write;

const HEAD: &str = "\
# Verdicts at the papers' own scale

This page lists what came of the papers' claims when their studies were run with the papers' own grids and repeats.
`cwnd reproduce --markdown > docs/verdicts.md` writes it from `studies/verdicts.csv`, which has every claim with its interval.
[claims.md](claims.md) has the rules. `cargo xtask papers --paper-scale` runs the studies and stores the verdicts.

The runs take hours and are those of the commit next to them. The simulator and the metrics have newer versions since; `cwnd reproduce` counts the
claims that are measured from these. A version changes with any outcome that it changes, so that most verdicts stay. `cargo xtask papers` runs
a sample of every study, and fails if a verdict is not the recorded one.

";

/// The verdicts that have a column.
const COLUMNS: [Judgement; 5] = [
    Judgement::Reproduced,
    Judgement::LargerThanStated,
    Judgement::DirectionOnly,
    Judgement::NotReproduced,
    Judgement::NotTestable,
];

/// Writes the page.
pub fn page(library: &[Book], stored: &[Row]) -> String {
    let mut page = HEAD.to_owned();
    page += &tallies("Claims of the papers", library, stored, true);
    let missing = library.iter().filter(|book| stored.iter().all(|row| row.paper != book.paper.name));
    let missing: Vec<&str> = missing.map(|book| book.paper.key.as_str()).collect();
    if !missing.is_empty() {
        let _ = writeln!(page, "No verdicts are stored of {}.\n", missing.join(", "));
    }
    page += &tallies("Claims of our own: models, and other readings of the papers", library, stored, false);
    for book in library {
        let is_open = |row: &&Row| row.paper == book.paper.name && row.of_paper && row.verdict.differs();
        let open: Vec<&Row> = stored.iter().filter(is_open).collect();
        if open.is_empty() {
            continue;
        }
        let _ = writeln!(page, "## {} {}: what differs\n", book.paper.key, book.paper.title);
        page += "| study | the paper | stated | cwnd | verdict | why |\n|---|---|---|---|---|---|\n";
        for row in open {
            let (claim, measured) = (with_source(book, row), measured(row));
            let stated = row.stated.as_deref().unwrap_or_default();
            let cells = [row.study.as_str(), &claim, stated, &measured, row.verdict.name(), &row.why];
            let _ = writeln!(page, "| {} |", cells.map(cell).join(" | "));
        }
        page.push('\n');
    }
    page.trim_end().to_owned() + "\n"
}

/// The number of verdicts of each kind, a row for each paper.
fn tallies(title: &str, library: &[Book], stored: &[Row], of_paper: bool) -> String {
    let mut table = format!("## {title}\n\n| paper | claims |");
    for column in COLUMNS {
        let _ = write!(table, " {} |", column.name());
    }
    table += " unexplained | commit |\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n";
    for book in library {
        let rows = || stored.iter().filter(|row| row.paper == book.paper.name && row.of_paper == of_paper);
        if rows().next().is_none() {
            continue;
        }
        let _ = write!(table, "| {} {} | {} |", book.paper.key, book.paper.name, rows().count());
        for column in COLUMNS {
            let _ = write!(table, " {} |", rows().filter(|row| row.verdict == column).count());
        }
        let commit = rows().find_map(|row| row.commit.as_deref()).unwrap_or("-");
        let _ = writeln!(table, " {} | {commit} |", rows().filter(|row| row.unexplained).count());
    }
    table + "\n"
}

/// The claim with its place in the paper.
fn with_source(book: &Book, row: &Row) -> String {
    let study = book.studies.iter().find(|study| short(study) == row.study);
    let claim = study.and_then(|study| study.claims.iter().find(|claim| claim.text == row.text));
    match claim.and_then(|claim| claim.source.as_deref()) {
        Some(source) => format!("{} ({source})", row.text),
        None => row.text.clone(),
    }
}

/// The measured value with its interval, in the unit of the row.
fn measured(row: &Row) -> String {
    let Some(mean) = row.measured else { return String::new() };
    match (row.low, row.high) {
        (Some(low), Some(high)) => format!("{} ({} to {})", digits(mean), digits(low), digits(high)),
        _ => digits(mean),
    }
}

/// Writes a value with four significant digits.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// A text within a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::reproduce::{library, verdicts};

    #[test]
    fn the_page_is_current() {
        let (Ok(library), Ok(stored)) = (library::load(), verdicts::stored()) else {
            panic!("a file is wrong: `cwnd reproduce` says which")
        };
        let is_current = page(&library, &stored) == include_str!("../../../../../docs/verdicts.md");
        assert!(is_current, "docs/verdicts.md is stale; run `cargo xtask renew`");
    }

    #[test]
    fn values_are_short() {
        assert_eq!([0.12345, 1234.5, -0.5, 0.0].map(digits), ["0.1235", "1234", "-0.5", "0"]);
        assert_eq!(cell(" a\n b | c"), "a b \\| c");
    }
}
