//! A sheet in each format.

use super::sheet::{Entry, Sheet};
use crate::parquet::{Column, Value, Writer};
use crate::trace_file::field;
use serde_json::Value as Json;
use std::io::{self, Write};

pub(super) fn csv(sheet: &Sheet, to: &mut impl Write) -> io::Result<()> {
    let header: Vec<_> = sheet.columns.iter().map(|column| field(&column.name)).collect();
    writeln!(to, "{}", header.join(","))?;
    for row in &sheet.rows {
        for (i, entry) in row.iter().enumerate() {
            if i > 0 {
                write!(to, ",")?;
            }
            match entry {
                Entry::Absent => Ok(()),
                Entry::Text(text) => write!(to, "{}", field(text)),
                Entry::Count(count) => write!(to, "{count}"),
                Entry::Number(number) => write!(to, "{number}"),
            }?;
        }
        writeln!(to)?;
    }
    to.flush()
}

pub(super) fn parquet(sheet: &Sheet, to: &mut (impl Write + Send)) -> io::Result<()> {
    let columns = sheet.columns.iter();
    let columns =
        columns.map(|column| Column { name: column.name.clone(), kind: column.kind, optional: true });
    let mut writer = Writer::new(to, columns.collect())?;
    for row in &sheet.rows {
        writer.row(row.iter().map(|entry| match entry {
            Entry::Absent => Value::Absent,
            Entry::Text(text) => Value::Text(text),
            Entry::Count(count) => Value::Unsigned(*count),
            Entry::Number(number) => Value::Double(*number),
        }))?;
    }
    writer.finish()?.flush()
}

/// Written by hand, one row a line, so that a comparison line by line shows which rows differ.
pub(super) fn json(sheet: &Sheet, (study, rows): (&str, &str), to: &mut impl Write) -> io::Result<()> {
    write!(to, "{{\"study\": {},\n{}: [", Json::from(study), Json::from(rows))?;
    for (i, row) in sheet.rows.iter().enumerate() {
        write!(to, "{}\n{{", if i > 0 { "," } else { "" })?;
        let mut first = true;
        for (column, entry) in sheet.columns.iter().zip(row) {
            // JSON has no numbers beyond the finite ones; they become null.
            let value = match entry {
                Entry::Absent => continue,
                Entry::Text(text) => Json::from(text.as_str()),
                Entry::Count(count) => Json::from(*count),
                Entry::Number(number) => Json::from(*number),
            };
            let comma = if first { "" } else { ", " };
            first = false;
            write!(to, "{comma}{}: {value}", Json::from(column.name.as_str()))?;
        }
        write!(to, "}}")?;
    }
    writeln!(to, "\n]}}")?;
    to.flush()
}
