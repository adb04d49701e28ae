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

/// What stands between two columns.
const GAP: &str = "  ";

/// What a table gives up where it is too wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sacrifice {
    /// The columns with this heading.
    Drop(&'static str),
    /// The ends of the texts under this heading, down to this number of characters.
    Shorten(&'static str, usize),
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
    /// Stand in a line of their own under the header, if there are any.
    units: Option<Vec<String>>,
    rows: Vec<Vec<String>>,
    footers: Vec<Vec<String>>,
    indent: usize,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Table {
        let (header, align) = columns.into_iter().map(|(name, align)| (name.into(), align)).unzip();
        Table { align, header, units: None, rows: Vec::new(), footers: Vec::new(), indent: 0 }
    }

    /// Puts the units of the columns between their headings and the rule.
    ///
    /// # Panics
    /// If there are more units than columns.
    pub fn units<S: Into<String>>(mut self, units: impl IntoIterator<Item = S>) -> Table {
        self.units = Some(self.cells(units));
        self
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

    /// Returns how many characters its longest line has, with the margin.
    pub fn width(&self) -> usize {
        let columns = self.align.len();
        let gaps = GAP.len() * columns.saturating_sub(1);
        self.indent + gaps + (0..columns).map(|column| self.width_of(column)).sum::<usize>()
    }

    /// Makes the table at most `width` characters wide, as far as the sacrifices allow. They are made in their order, and
    /// none after it fits. A column is shortened no more than it must be. Returns the headings of the columns that were
    /// dropped.
    pub fn fit(&mut self, width: usize, sacrifices: &[Sacrifice]) -> Vec<String> {
        let mut dropped = Vec::new();
        for sacrifice in sacrifices {
            let excess = self.width().saturating_sub(width);
            if excess == 0 {
                break;
            }
            let named = |name: &str| self.header.iter().rposition(|heading| heading == name);
            match *sacrifice {
                Sacrifice::Drop(name) => {
                    dropped.extend(named(name).map(|_| name.to_owned()));
                    while let Some(column) = self.header.iter().position(|heading| heading == name) {
                        self.remove(column);
                    }
                }
                Sacrifice::Shorten(name, least) => {
                    if let Some(column) = named(name) {
                        self.shorten(column, self.width_of(column).saturating_sub(excess).max(least));
                    }
                }
            }
        }
        dropped
    }

    fn remove(&mut self, column: usize) {
        self.align.remove(column);
        self.lines_mut().for_each(|line| drop(line.remove(column)));
    }

    fn shorten(&mut self, column: usize, width: usize) {
        for line in self.lines_mut().filter(|line| line[column].chars().count() > width) {
            line[column] = line[column].chars().take(width.saturating_sub(1)).chain(['…']).collect();
        }
    }

    fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        [&self.header].into_iter().chain(&self.units).chain(&self.rows).chain(&self.footers)
    }

    fn lines_mut(&mut self) -> impl Iterator<Item = &mut Vec<String>> {
        [&mut self.header].into_iter().chain(&mut self.units).chain(&mut self.rows).chain(&mut self.footers)
    }

    fn width_of(&self, column: usize) -> usize {
        self.lines().map(|line| line[column].chars().count()).max().unwrap_or(0)
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
            let gap = if column > 0 { GAP } else { "" };
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
        let widths: Vec<usize> = (0..self.align.len()).map(|column| self.width_of(column)).collect();
        let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();

        self.write_row(f, &widths, &self.header)?;
        if let Some(units) = &self.units {
            self.write_row(f, &widths, units)?;
        }
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
    fn units_stand_over_the_rule() {
        let columns = [("algorithm", Align::Left), ("throughput", Align::Right)];
        let mut table = Table::new(columns).units(["", "Mbit/s"]).indent(2);
        table.row(["cubic", "941.2"]);
        let expected = "  \
  algorithm  throughput
                 Mbit/s
  ─────────  ──────────
  cubic           941.2
";
        assert_eq!(table.to_string(), expected);
        assert_eq!(table.width(), 23);
    }

    #[test]
    fn a_table_fits_a_width_by_sacrifices_in_order() {
        let columns =
            [("name", Align::Left), ("loss", Align::Right), ("p", Align::Right), ("loss", Align::Right)];
        let mut whole = Table::new(columns).units(["", "%", "", "%"]).indent(1);
        whole.row(["a long name", "1", "0.04", "3"]);
        let sacrifices = [Sacrifice::Drop("p"), Sacrifice::Shorten("name", 6), Sacrifice::Drop("loss")];
        // 1 for the margin, 11 + 4 + 4 + 4 for the columns, 3 x 2 between them.
        assert_eq!(whole.width(), 30);
        let at = |width: usize| {
            let mut table = whole.clone();
            let dropped = table.fit(width, &sacrifices);
            assert!(table.to_string().lines().all(|line| line.chars().count() <= table.width()));
            (dropped.join(" "), table.width(), table.rows[0].join("|"))
        };
        assert_eq!(at(30), (String::new(), 30, "a long name|1|0.04|3".into()));
        assert_eq!(at(29), ("p".into(), 24, "a long name|1|3".into()));
        assert_eq!(at(20), ("p".into(), 20, "a long…|1|3".into()));
        assert_eq!(at(19), ("p".into(), 19, "a lon…|1|3".into()));
        assert_eq!(at(18), ("p loss".into(), 7, "a lon…".into()));
        assert_eq!(at(0), ("p loss".into(), 7, "a lon…".into()), "no more can be given up");
    }

    #[test]
    #[should_panic(expected = "a row of 2 cells in 1 columns")]
    fn too_many_cells_are_a_mistake() {
        Table::new([("one", Align::Left)]).row(["1", "2"]);
    }
}
