//! Tables and texts as wide as the terminal.

use crate::terminal;
use cwnd_report::table::{Sacrifice, Table};

/// The widest line of a text, characters: longer ones are hard to read.
const WIDEST: usize = 100;
/// The narrowest line that words are put into.
const NARROWEST: usize = 40;

/// Returns a table that fits the terminal, and a line that names the columns that it had to drop for that. Where standard
/// output is no terminal, the table is whole.
pub fn fitted(table: Table, sacrifices: &[Sacrifice]) -> String {
    fitted_to(terminal::columns(), table, sacrifices)
}

/// Returns a table that fits this number of columns, as [`fitted`]; the whole table if there is no limit.
pub fn fitted_to(columns: Option<usize>, mut table: Table, sacrifices: &[Sacrifice]) -> String {
    let Some(columns) = columns else { return table.to_string() };
    let whole = table.width();
    let dropped = table.fit(columns, sacrifices);
    match dropped.as_slice() {
        [] => table.to_string(),
        dropped => {
            let note = format!(
                "left out at {columns} columns: {}; COLUMNS={whole} or a wider terminal shows all",
                dropped.join(", ")
            );
            format!("{table}{}", wrapped_to(columns.clamp(NARROWEST, WIDEST), &note, 2))
        }
    }
}

/// Returns the longest line that words are put into: that of the terminal, but not too long to be read.
pub fn text_width() -> usize {
    terminal::columns().map_or(WIDEST, |columns| columns.clamp(NARROWEST, WIDEST))
}

/// Returns words in lines that fit the terminal, each line indented.
pub fn wrapped(text: &str, indent: usize) -> String {
    wrapped_to(text_width(), text, indent)
}

/// Returns words in lines of at most `width` characters with their indentation.
pub fn wrapped_to(width: usize, text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && indent + line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_report::table::Align;

    #[test]
    fn dropped_columns_are_named_with_the_width_that_shows_them() {
        let mut table = Table::new(["name", "loss", "timeouts"].map(|name| (name, Align::Left))).indent(2);
        table.row(["cubic", "1", "0"]);
        let whole = table.to_string();
        let sacrifices = [Sacrifice::Drop("timeouts"), Sacrifice::Drop("loss")];
        assert_eq!(fitted_to(None, table.clone(), &sacrifices), whole);
        assert_eq!(fitted_to(Some(23), table.clone(), &sacrifices), whole);
        let expected = "  name   loss\n  ─────  ────\n  cubic  1\n  left out at 22 columns: timeouts;\n  \
                        COLUMNS=23 or a wider terminal shows\n  all\n";
        assert_eq!(fitted_to(Some(22), table, &sacrifices), expected);
    }

    #[test]
    fn words_are_put_into_lines() {
        assert_eq!(wrapped_to(10, "a bc  def\nghij", 2), "  a bc def\n  ghij\n");
        assert_eq!(wrapped_to(4, "longer words", 2), "  longer\n  words\n");
        assert_eq!(wrapped_to(4, "", 2), "  \n");
    }
}
