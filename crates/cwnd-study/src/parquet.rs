//! A small writer of Parquet files, flat columns without compression, and a reader of what it writes.
//!
//! The format is frozen and the part of it that a table of numbers needs is small, so this is a few hundred
//! lines instead of a library that takes longer to build than the rest of the workspace. Columns that repeat
//! few values are dictionary-encoded, which is most of what compression would gain. Tests read every kind of
//! column back with the Apache implementation.
//!
//! References: <https://parquet.apache.org/docs/file-format/> and `parquet.thrift` there.

mod encode;
mod read;
mod thrift;

use std::io::{self, Write};

pub(crate) use read::{ColumnValues, ReadColumn, read};
use thrift::Thrift;

/// A column: its name, the kind of its values, and whether values may be absent.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub name: String,
    pub kind: Kind,
    pub optional: bool,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 64-bit floating point.
    Double,
    /// Signed 64-bit integers.
    Int,
    /// Unsigned 64-bit integers.
    Unsigned,
    /// UTF-8 text.
    Text,
}

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Absent,
    Double(f64),
    Int(i64),
    Unsigned(u64),
    Text(&'a str),
}

impl Value<'_> {
    /// A number that may be absent.
    pub fn double(value: Option<f64>) -> Self {
        value.map_or(Value::Absent, Value::Double)
    }

    /// A count that may be absent.
    pub fn count(value: Option<u32>) -> Self {
        value.map_or(Value::Absent, |count| Value::Int(count.into()))
    }
}

/// Writes a file row by row, then [`Writer::finish`].
pub(crate) struct Writer<'a, W> {
    to: W,
    /// Bytes written so far.
    position: u64,
    columns: Vec<Column>,
    /// Values that wait for their row group to fill, column by column.
    waiting: Vec<Vec<Value<'a>>>,
    rows_in_group: usize,
    groups: Vec<Group>,
}

struct Group {
    rows: usize,
    chunks: Vec<Chunk>,
}

/// Where one column of one row group lies.
struct Chunk {
    dictionary: Option<u64>,
    data: u64,
    bytes: u64,
}

const MAGIC: &[u8; 4] = b"PAR1";

// `Encoding`, `PageType` and `FieldRepetitionType` of parquet.thrift.
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const RLE_DICTIONARY: i64 = 8;
const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
const REQUIRED: i64 = 0;
const OPTIONAL: i64 = 1;

impl<'a, W: Write> Writer<'a, W> {
    /// Rows that are held in memory and written together.
    const ROWS_IN_GROUP: usize = 1 << 16;

    /// Starts a file.
    pub fn new(to: W, columns: Vec<Column>) -> io::Result<Writer<'a, W>> {
        Writer::with_groups_of(Self::ROWS_IN_GROUP, to, columns)
    }

    fn with_groups_of(rows: usize, mut to: W, columns: Vec<Column>) -> io::Result<Writer<'a, W>> {
        to.write_all(MAGIC)?;
        let waiting = vec![Vec::new(); columns.len()];
        let position = MAGIC.len() as u64;
        Ok(Writer { to, position, columns, waiting, rows_in_group: rows, groups: Vec::new() })
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the values are not those of the columns: another number or kind, or an absent one where the column
    /// has none.
    pub fn row(&mut self, values: impl IntoIterator<Item = Value<'a>>) -> io::Result<()> {
        let mut found = 0;
        for (i, value) in values.into_iter().enumerate() {
            let column = &self.columns[i];
            assert!(column.takes(value), "{value:?} in {column:?}");
            self.waiting[i].push(value);
            found += 1;
        }
        assert_eq!(found, self.columns.len(), "a value for each column");
        match self.waiting[0].len() < self.rows_in_group {
            true => Ok(()),
            false => self.write_group(),
        }
    }

    /// Ends the file and gives back what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        if !self.waiting[0].is_empty() {
            self.write_group()?;
        }
        let footer = self.footer();
        self.to.write_all(&footer)?;
        self.to.write_all(&(footer.len() as u32).to_le_bytes())?;
        self.to.write_all(MAGIC)?;
        Ok(self.to)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut group = Group { rows: self.waiting[0].len(), chunks: Vec::new() };
        for i in 0..self.columns.len() {
            let encoded = encode::column(&self.waiting[i]);
            self.waiting[i].clear();
            let chunk = self.write_chunk(self.columns[i].optional, &encoded)?;
            group.chunks.push(chunk);
        }
        self.groups.push(group);
        Ok(())
    }

    fn write_chunk(&mut self, optional: bool, encoded: &encode::Encoded) -> io::Result<Chunk> {
        let start = self.position;
        let mut dictionary = None;
        if let Some(page) = &encoded.dictionary {
            dictionary = Some(start);
            self.write_page(DICTIONARY_PAGE, page.entries, PLAIN, &[&page.bytes])?;
        }
        let data = self.position;
        let encoding = if dictionary.is_some() { RLE_DICTIONARY } else { PLAIN };
        let levels = if optional { &encoded.levels[..] } else { &[] };
        self.write_page(DATA_PAGE, encoded.rows, encoding, &[levels, &encoded.data])?;
        Ok(Chunk { dictionary, data, bytes: self.position - start })
    }

    fn write_page(&mut self, kind: i64, values: usize, encoding: i64, parts: &[&[u8]]) -> io::Result<()> {
        let size = parts.iter().map(|part| part.len() as i64).sum();
        let mut header = Thrift::new();
        header.int(1, kind).int(2, size).int(3, size);
        match kind {
            DATA_PAGE => header.begin(5).int(1, values as i64).int(2, encoding).int(3, RLE).int(4, RLE).end(),
            _ => header.begin(7).int(1, values as i64).int(2, encoding).end(),
        };
        let header = header.finish();
        for part in [&[&header[..]], parts].concat() {
            self.to.write_all(part)?;
            self.position += part.len() as u64;
        }
        Ok(())
    }

    /// `FileMetaData`.
    fn footer(&self) -> Vec<u8> {
        let rows: usize = self.groups.iter().map(|group| group.rows).sum();
        let mut footer = Thrift::new();
        footer.int(1, 1);
        footer.list_of_structs(2, self.columns.len() + 1);
        footer.element().text(4, "schema").int(5, self.columns.len() as i64).end();
        for column in &self.columns {
            footer.element().int(1, column.kind.physical());
            footer.int(3, if column.optional { OPTIONAL } else { REQUIRED });
            footer.text(4, &column.name);
            if let Some(converted) = column.kind.converted() {
                footer.int(6, converted);
            }
            footer.end();
        }
        footer.long(3, rows as i64);
        footer.list_of_structs(4, self.groups.len());
        for group in &self.groups {
            self.group_metadata(&mut footer, group);
        }
        footer.text(6, concat!("cwnd version ", env!("CARGO_PKG_VERSION")));
        footer.finish()
    }

    /// `RowGroup`, with a `ColumnChunk` and its `ColumnMetaData` for each column.
    fn group_metadata(&self, footer: &mut Thrift, group: &Group) {
        footer.element().list_of_structs(1, group.chunks.len());
        for (column, chunk) in self.columns.iter().zip(&group.chunks) {
            footer.element().long(2, 0).begin(3);
            footer.int(1, column.kind.physical());
            match chunk.dictionary {
                Some(_) => footer.list_of_ints(2, &[PLAIN, RLE, RLE_DICTIONARY]),
                None => footer.list_of_ints(2, &[PLAIN, RLE]),
            };
            footer.list_of_texts(3, &[&column.name]);
            footer.int(4, 0);
            footer.long(5, group.rows as i64);
            footer.long(6, chunk.bytes as i64).long(7, chunk.bytes as i64);
            footer.long(9, chunk.data as i64);
            if let Some(at) = chunk.dictionary {
                footer.long(11, at as i64);
            }
            footer.end().end();
        }
        let bytes: u64 = group.chunks.iter().map(|chunk| chunk.bytes).sum();
        footer.long(2, bytes as i64).long(3, group.rows as i64).end();
    }
}

impl Column {
    fn takes(&self, value: Value<'_>) -> bool {
        match value {
            Value::Absent => self.optional,
            Value::Double(_) => self.kind == Kind::Double,
            Value::Int(_) => self.kind == Kind::Int,
            Value::Unsigned(_) => self.kind == Kind::Unsigned,
            Value::Text(_) => self.kind == Kind::Text,
        }
    }
}

impl Kind {
    /// `Type` of parquet.thrift.
    fn physical(self) -> i64 {
        match self {
            Kind::Double => 5,
            Kind::Int | Kind::Unsigned => 2,
            Kind::Text => 6,
        }
    }

    /// `ConvertedType` of parquet.thrift.
    fn converted(self) -> Option<i64> {
        match self {
            Kind::Text => Some(0),
            Kind::Unsigned => Some(14),
            Kind::Double | Kind::Int => None,
        }
    }
}

#[cfg(test)]
mod tests;
