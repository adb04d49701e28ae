//! Rows in each format, one after the other.

use super::Format;
use super::sheet::{Column, Entry};
use crate::parquet::{self, Value};
use crate::trace_file::field;
use serde_json::Value as Json;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A row as it is written. It is made without the file, so that several threads can make rows.
pub(super) enum Piece {
    /// Of a text format.
    Text(Vec<u8>),
    /// Of Parquet.
    Row(Vec<Entry>),
}

/// Makes the pieces of rows.
pub(super) struct PieceMaker {
    format: Format,
    /// The names of the columns as they stand in a JSON object, with what follows them.
    keys: Vec<String>,
}

impl PieceMaker {
    pub fn new(format: Format, columns: &[Column]) -> PieceMaker {
        let key = |column: &Column| format!("{}: ", Json::from(column.name.as_str()));
        PieceMaker { format, keys: columns.iter().map(key).collect() }
    }

    /// Makes the piece of a row.
    pub fn piece(&self, row: Vec<Entry>) -> Piece {
        match self.format {
            Format::Csv => Piece::Text(csv(&row).into_bytes()),
            Format::Json => Piece::Text(json(&self.keys, &row)),
            Format::Parquet => Piece::Row(row),
        }
    }
}

/// Writes pieces of one format.
pub(super) struct PieceWriter<W: Write + Send> {
    to: Target<W>,
    /// How many are written.
    pub rows: usize,
}

enum Target<W: Write + Send> {
    Csv(W),
    Json(W),
    Parquet(Box<parquet::Writer<W>>),
}

impl<W: Write + Send> PieceWriter<W> {
    /// Begins a file. JSON has the name of the study, and calls its rows by the second text of `names`.
    pub fn new(
        format: Format,
        columns: &[Column],
        names: (&str, &str),
        mut to: W,
    ) -> io::Result<PieceWriter<W>> {
        let to = match format {
            Format::Csv => {
                let header: Vec<_> = columns.iter().map(|column| field(&column.name)).collect();
                writeln!(to, "{}", header.join(","))?;
                Target::Csv(to)
            }
            Format::Json => {
                let (study, rows) = names;
                write!(to, "{{\"study\": {},\n{}: [", Json::from(study), Json::from(rows))?;
                Target::Json(to)
            }
            Format::Parquet => {
                let of = |column: &Column| parquet::Column {
                    name: column.name.clone(),
                    kind: column.kind,
                    optional: true,
                };
                Target::Parquet(Box::new(parquet::Writer::new(to, columns.iter().map(of).collect())?))
            }
        };
        Ok(PieceWriter { to, rows: 0 })
    }

    /// Adds a piece.
    pub fn write(&mut self, piece: &Piece) -> io::Result<()> {
        let comma = if self.rows > 0 { "," } else { "" };
        self.rows += 1;
        match (&mut self.to, piece) {
            (Target::Csv(to), Piece::Text(text)) => to.write_all(text),
            (Target::Json(to), Piece::Text(text)) => {
                writeln!(to, "{comma}")?;
                to.write_all(text)
            }
            (Target::Parquet(to), Piece::Row(row)) => to.row(row.iter().map(|entry| match entry {
                Entry::Absent => Value::Absent,
                Entry::Text(text) => Value::Text(text),
                Entry::Count(count) => Value::Unsigned(*count),
                Entry::Number(number) => Value::Double(*number),
            })),
            _ => unreachable!("the pieces are of the writer's format"),
        }
    }

    /// Ends the file.
    pub fn finish(self) -> io::Result<()> {
        match self.to {
            Target::Csv(mut to) => to.flush(),
            Target::Json(mut to) => {
                writeln!(to, "\n]}}")?;
                to.flush()
            }
            Target::Parquet(to) => to.finish()?.flush(),
        }
    }
}

fn csv(row: &[Entry]) -> String {
    let mut line = String::with_capacity(16 * row.len());
    for (i, entry) in row.iter().enumerate() {
        if i > 0 {
            line.push(',');
        }
        match entry {
            Entry::Absent => {}
            Entry::Text(text) => line.push_str(&field(text)),
            Entry::Count(count) => write!(line, "{count}").expect("a text takes whatever is written"),
            Entry::Number(number) => add_number(*number, &mut line),
        }
    }
    line.push('\n');
    line
}

/// Writes a number as `Display` does. Whole numbers, which most metrics are, have a shorter way.
fn add_number(number: f64, to: &mut String) {
    /// All whole numbers below it are exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_whole =
        number.trunc() == number && number.abs() < EXACT && !(number == 0.0 && number.is_sign_negative());
    let written = if is_whole { write!(to, "{}", number as i64) } else { write!(to, "{number}") };
    written.expect("a text takes whatever is written");
}

/// Written by hand, one row a line, so that a comparison line by line shows which rows differ.
fn json(keys: &[String], row: &[Entry]) -> Vec<u8> {
    let mut text = Vec::with_capacity(64 * row.len());
    text.push(b'{');
    for (key, entry) in keys.iter().zip(row) {
        if *entry == Entry::Absent {
            continue;
        }
        if text.len() > 1 {
            text.extend(b", ");
        }
        text.extend(key.as_bytes());
        let written = match entry {
            Entry::Absent => Ok(()),
            Entry::Text(value) => serde_json::to_writer(&mut text, value),
            Entry::Count(value) => serde_json::to_writer(&mut text, value),
            // JSON has no numbers beyond the finite ones; they become null.
            Entry::Number(value) => serde_json::to_writer(&mut text, value),
        };
        written.expect("memory takes whatever is written");
    }
    text.push(b'}');
    text
}

#[cfg(test)]
mod tests {
    use super::add_number;

    #[test]
    fn whole_numbers_are_written_as_others_are() {
        let powers = (0..64).map(|power| 2f64.powi(power));
        let numbers = powers.flat_map(|power| [power, power - 1.0, power + 1.0, power + 0.5, -power]);
        for number in numbers.chain([0.0, -0.0, 1e-7, 1e22, f64::MAX, f64::NAN, f64::INFINITY]) {
            let mut text = String::new();
            add_number(number, &mut text);
            assert_eq!(text, number.to_string());
        }
    }
}
