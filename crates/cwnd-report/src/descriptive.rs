//! Tables that describe algorithms instead of telling of runs: what a paper prints beside what the registry knows.
//!
//! A paper's report names them: `elastic-table-1`, `elastic-table-2`, `comparison-table-1`. What the papers print is
//! written down here; what is ours comes from the registry and from the sources, and cannot be typed in.

mod algorithms;
mod code_lines;
mod variants;

pub use algorithms::page as algorithms_page;

use crate::html::inline;
use crate::table::{Align, Table};
use maud::{Markup, html};
use std::fmt;

/// A table of words and numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct DescriptiveTable {
    /// By which a report calls it.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Paper and table.
    pub source: &'static str,
    /// What stands above each column, and whether it holds numbers.
    pub columns: Vec<Column>,
    /// The rows, each with a cell a column.
    pub rows: Vec<Vec<String>>,
    /// How it was made, and where the paper and the registry differ, a sentence each.
    pub notes: Vec<String>,
}

/// The head of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What stands above it.
    pub heading: &'static str,
    /// Whether it holds numbers.
    pub is_number: bool,
}

impl Column {
    const fn words(heading: &'static str) -> Column {
        Column { heading, is_number: false }
    }

    const fn numbers(heading: &'static str) -> Column {
        Column { heading, is_number: true }
    }

    fn class(&self) -> Option<&'static str> {
        self.is_number.then_some("number")
    }
}

/// Makes one of the tables.
type Maker = fn() -> DescriptiveTable;

/// Every table with its maker, in the order of the papers.
const MAKERS: [(&str, Maker); 3] = [
    ("elastic-table-1", variants::elastic),
    ("elastic-table-2", code_lines::elastic),
    ("comparison-table-1", variants::comparison),
];

/// The names of all tables, in the order of the papers.
pub fn names() -> impl Iterator<Item = &'static str> {
    MAKERS.iter().map(|(name, _)| *name)
}

/// The table of this name.
pub fn find(name: &str) -> Option<DescriptiveTable> {
    MAKERS.iter().find(|(known, _)| *known == name).map(|(_, make)| make())
}

impl DescriptiveTable {
    /// The table as a part of a page, in the style of the reports' tables. `id` is its place in the page and `label`
    /// its number there, such as `Table 1`.
    pub fn to_html(&self, id: &str, label: &str) -> Markup {
        html! {
            figure.table.wide[self.columns.len() > 6] id=(id) {
                figcaption {
                    p {
                        b { (label) "." } " "
                        span.title { (inline(self.title)) "." } " " (inline(self.source)) "."
                        @for note in &self.notes { " " (inline(note)) }
                    }
                }
                div.scroll tabindex="0" role="group" aria-label=(label) {
                    table {
                        thead { tr { @for column in &self.columns {
                            th scope="col" class=[column.class()] { (inline(column.heading)) }
                        } } }
                        tbody { @for row in &self.rows { tr {
                            @if let Some(first) = row.first() { th scope="row" { (inline(first)) } }
                            @for (text, column) in row.iter().zip(&self.columns).skip(1) {
                                td class=[column.class()] { (inline(text)) }
                            }
                        } } }
                    }
                }
            }
        }
    }
}

/// The table as aligned text under its title, with its notes below.
impl fmt::Display for DescriptiveTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |text: &str| text.replace('`', "");
        let align = |column: &Column| if column.is_number { Align::Right } else { Align::Left };
        let mut table = Table::new(self.columns.iter().map(|c| (plain(c.heading), align(c)))).indent(2);
        for row in &self.rows {
            table.row(row.iter().map(|cell| plain(cell)));
        }
        writeln!(f, "{} ({})\n\n{table}", self.title, self.source)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "  {}", plain(note)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_whole() {
        for name in names() {
            let table = find(name).unwrap();
            assert_eq!(table.name, name);
            assert!(!table.rows.is_empty() && !table.notes.is_empty(), "{name}");
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{name}");
            let html = table.to_html("table-7", "Table 7").into_string();
            assert_eq!(html.matches("<tr>").count(), table.rows.len() + 1, "{name}");
            assert!(html.contains("<b>Table 7.</b>") && html.contains("id=\"table-7\""));
            let text = table.to_string();
            assert!(text.starts_with(table.title) && !text.contains('`'), "{text}");
            assert!(text.lines().count() >= table.rows.len() + 5);
        }
        assert!(find("elastic-table-3").is_none());
    }
}
