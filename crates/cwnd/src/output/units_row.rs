//! Tables whose columns have a unit, in a line of its own under their names.

use cwnd_report::table::{Align, Table};

/// A column: its name, its unit (or nothing) and where its text stands.
pub type Column<'a> = (&'a str, &'a str, Align);

/// The text of a table with names, units and rows, each line with its newline.
pub fn table(columns: &[Column<'_>], rows: &[Vec<String>], indent: usize) -> String {
    let mut table = Table::new(columns.iter().map(|(name, _, align)| (*name, *align))).indent(indent);
    table.row(columns.iter().map(|(_, unit, _)| *unit));
    for row in rows {
        table.row(row.iter().map(String::as_str));
    }
    // The units are laid out as a row, so that they stand as their columns do, and then lifted above the rule.
    let text = table.to_string();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(1, 2);
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stand_over_the_rule() {
        let columns = [("algorithm", "", Align::Left), ("throughput", "Mbit/s", Align::Right)];
        let rows = [vec!["cubic".to_owned(), "941.2".to_owned()]];
        let expected = "  \
  algorithm  throughput
                 Mbit/s
  ─────────  ──────────
  cubic           941.2
";
        assert_eq!(table(&columns, &rows, 2), expected);
    }
}
