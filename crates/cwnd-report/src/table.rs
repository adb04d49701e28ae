//! Plain aligned columns for a terminal.

use std::fmt;

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table; its `Display` is the aligned text, each line with its newline.
///
/// ```
/// use cwnd_report::table::{Align, Table};
/// let mut table = Table::new([("algorithm", Align::Left), ("throughput", Align::Right)]);
/// table.row(["cubic", "941 Mbit/s"]);
/// assert_eq!(table.to_string(), "algorithm  throughput\n─────────  ──────────\ncubic      941 Mbit/s\n");
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    align: Vec<Align>,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    footers: Vec<Vec<String>>,
    indent: usize,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Table {
        let (header, align) = columns.into_iter().map(|(name, align)| (name.into(), align)).unzip();
        Table { align, header, rows: Vec::new(), footers: Vec::new(), indent: 0 }
    }

    /// Puts a margin of so many spaces to the left of every line.
    pub fn indent(mut self, spaces: usize) -> Table {
        self.indent = spaces;
        self
    }

    /// Adds a row. Cells that are missing are empty.
    ///
    /// # Panics
    /// If there are more cells than columns.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let row = self.cells(cells);
        self.rows.push(row);
    }

    /// Adds a row under a second rule, for totals and means.
    ///
    /// # Panics
    /// If there are more cells than columns.
    pub fn footer<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let row = self.cells(cells);
        self.footers.push(row);
    }

    fn cells<S: Into<String>>(&self, cells: impl IntoIterator<Item = S>) -> Vec<String> {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert!(
            row.len() <= self.align.len(),
            "a row of {} cells in {} columns",
            row.len(),
            self.align.len()
        );
        row.resize(self.align.len(), String::new());
        row
    }

    fn write_row(&self, f: &mut fmt::Formatter<'_>, widths: &[usize], cells: &[String]) -> fmt::Result {
        let mut line = " ".repeat(self.indent);
        for (column, ((cell, &width), align)) in cells.iter().zip(widths).zip(&self.align).enumerate() {
            let gap = if column > 0 { "  " } else { "" };
            line += &match align {
                Align::Left => format!("{gap}{cell:<width$}"),
                Align::Right => format!("{gap}{cell:>width$}"),
            };
        }
        writeln!(f, "{}", line.trim_end())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all_rows = || [&self.header].into_iter().chain(&self.rows).chain(&self.footers);
        let width = |column: usize| all_rows().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.align.len()).map(width).collect();
        let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();

        self.write_row(f, &widths, &self.header)?;
        self.write_row(f, &widths, &rule)?;
        for row in &self.rows {
            self.write_row(f, &widths, row)?;
        }
        if !self.footers.is_empty() {
            self.write_row(f, &widths, &rule)?;
        }
        for row in &self.footers {
            self.write_row(f, &widths, row)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_plot::number::{si, thousands};

    #[test]
    fn columns_are_aligned() {
        let columns = [("algorithm", Align::Left), ("throughput", Align::Right), ("timeouts", Align::Right)];
        let mut table = Table::new(columns).indent(1);
        table.row(["agile-sd:lambda_max=4,beta2=0.9".into(), si(941e6, "bit/s"), thousands(1_234.0, 0)]);
        table.row(["cubic".into(), si(87.3e6, "bit/s")]);
        table.footer(["mean".into(), si(514e6, "bit/s"), "617".into()]);
        let expected = [
            " algorithm                         throughput  timeouts",
            " ───────────────────────────────  ───────────  ────────",
            " agile-sd:lambda_max=4,beta2=0.9   941 Mbit/s     1,234",
            " cubic                            87.3 Mbit/s",
            " ───────────────────────────────  ───────────  ────────",
            " mean                              514 Mbit/s       617",
            "",
        ];
        assert_eq!(table.to_string(), expected.join("\n"));
    }

    #[test]
    #[should_panic(expected = "a row of 2 cells in 1 columns")]
    fn too_many_cells_are_a_mistake() {
        Table::new([("one", Align::Left)]).row(["1", "2"]);
    }
}
