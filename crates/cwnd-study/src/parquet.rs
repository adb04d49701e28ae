//! Tables of numbers and text as Parquet files.
//!
//! A [`Writer`] takes rows and writes them in groups; [`read`] returns the columns of a file. Both convert between
//! cwnd's four kinds of values and the `parquet` crate's columns, of which the part without Arrow is enough (52 s of CPU
//! to compile, with Arrow 246 s).

mod read;

pub(crate) use read::{ColumnValues, ReadColumn, read};

use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as PhysicalType},
    column::writer::ColumnWriter,
    data_type::ByteArray,
    errors::ParquetError,
    file::{
        properties::{EnabledStatistics, WriterProperties},
        writer::SerializedFileWriter,
    },
    schema::types::Type,
};
use std::{
    io::{self, Write},
    sync::Arc,
};

/// A column: its name, the kind of its values, and whether values may be absent.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub name: String,
    pub kind: Kind,
    pub optional: bool,
}

/// The kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    /// Returns the value of a number that may be absent.
    pub fn double(value: Option<f64>) -> Self {
        value.map_or(Value::Absent, Value::Double)
    }

    /// Returns the value of a count that may be absent.
    pub fn count(value: Option<u32>) -> Self {
        value.map_or(Value::Absent, |count| Value::Int(count.into()))
    }
}

/// Writes a file row by row. [`Writer::finish`] writes what is needed to read it.
pub(crate) struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
    /// The values of the row group that is being filled, column by column.
    buffers: Vec<Buffer>,
    rows: usize,
    rows_in_group: usize,
}

impl<W: Write + Send> Writer<W> {
    /// Rows that are held in memory and written together.
    const ROWS_IN_GROUP: usize = 1 << 16;

    /// Starts a file.
    ///
    /// # Errors
    /// If nothing can be written.
    pub fn new(to: W, columns: Vec<Column>) -> io::Result<Writer<W>> {
        Writer::with_groups_of(Self::ROWS_IN_GROUP, to, columns)
    }

    fn with_groups_of(rows_in_group: usize, to: W, columns: Vec<Column>) -> io::Result<Writer<W>> {
        let fields = columns.iter().map(|column| Arc::new(column.schema())).collect();
        let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(io_error)?;
        let properties = WriterProperties::builder()
            .set_created_by(concat!("cwnd version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .build();
        let file = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties)).map_err(io_error)?;
        let buffers = columns.iter().map(|column| Buffer::new(column.kind)).collect();
        Ok(Writer { file, columns, buffers, rows: 0, rows_in_group })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If a full row group cannot be written.
    ///
    /// # Panics
    /// If the values do not fit the columns: another number or kind of values, or an absent value in a column that is not
    /// optional.
    pub fn row<'a>(&mut self, values: impl IntoIterator<Item = Value<'a>>) -> io::Result<()> {
        let mut found = 0;
        for (i, value) in values.into_iter().enumerate() {
            let column = &self.columns[i];
            let fits = self.buffers[i].push(value) && (column.optional || value != Value::Absent);
            assert!(fits, "{value:?} in {column:?}");
            found += 1;
        }
        assert_eq!(found, self.columns.len(), "a value for each column");
        self.rows += 1;
        match self.rows < self.rows_in_group {
            true => Ok(()),
            false => self.write_group().map_err(io_error),
        }
    }

    /// Ends the file and returns what it was written to.
    ///
    /// # Errors
    /// If the last row group or the file's metadata cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.write_group().map_err(io_error)?;
        }
        self.file.into_inner().map_err(io_error)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for (buffer, column) in self.buffers.iter_mut().zip(&self.columns) {
            let mut chunk = group.next_column()?.expect("a buffer for each column");
            let levels = column.optional.then_some(&buffer.levels[..]);
            match (chunk.untyped(), &buffer.values) {
                (ColumnWriter::DoubleColumnWriter(writer), Values::Double(values)) => {
                    writer.write_batch(values, levels, None)?
                }
                (ColumnWriter::Int64ColumnWriter(writer), Values::Int(values)) => {
                    writer.write_batch(values, levels, None)?
                }
                (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text(values)) => {
                    writer.write_batch(values, levels, None)?
                }
                _ => unreachable!("the schema and the buffers have the columns' kinds"),
            };
            chunk.close()?;
            *buffer = Buffer::new(column.kind);
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Column {
    fn schema(&self) -> Type {
        let (physical, logical) = self.kind.types();
        Type::primitive_type_builder(&self.name, physical)
            .with_logical_type(logical)
            .with_repetition(if self.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED })
            .build()
            .expect("the logical type fits the physical one")
    }
}

impl Kind {
    fn types(self) -> (PhysicalType, Option<LogicalType>) {
        match self {
            Kind::Double => (PhysicalType::DOUBLE, None),
            Kind::Int => (PhysicalType::INT64, None),
            Kind::Unsigned => (PhysicalType::INT64, Some(LogicalType::integer(64, false))),
            Kind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        }
    }
}

/// The values of one column in one row group.
struct Buffer {
    /// The values that are present. Unsigned integers are kept as signed ones of the same bits.
    values: Values,
    /// 1 for each row with a value, 0 for each without: Parquet's definition levels.
    levels: Vec<i16>,
}

enum Values {
    Double(Vec<f64>),
    Int(Vec<i64>),
    Text(Vec<ByteArray>),
}

impl Buffer {
    fn new(kind: Kind) -> Buffer {
        let values = match kind {
            Kind::Double => Values::Double(Vec::new()),
            Kind::Int | Kind::Unsigned => Values::Int(Vec::new()),
            Kind::Text => Values::Text(Vec::new()),
        };
        Buffer { values, levels: Vec::new() }
    }

    /// Adds a value; returns whether it is absent or of the buffer's kind.
    fn push(&mut self, value: Value<'_>) -> bool {
        match (&mut self.values, value) {
            (_, Value::Absent) => {}
            (Values::Double(values), Value::Double(value)) => values.push(value),
            (Values::Int(values), Value::Int(value)) => values.push(value),
            (Values::Int(values), Value::Unsigned(value)) => values.push(value as i64),
            (Values::Text(values), Value::Text(value)) => values.push(value.into()),
            _ => return false,
        }
        self.levels.push((value != Value::Absent).into());
        true
    }
}

/// Returns the I/O error behind an error of the library, whose kind callers report (a full disk, a closed pipe).
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests;
