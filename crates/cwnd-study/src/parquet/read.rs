//! Reads tables back from Parquet files.

use super::{Column, Kind};
use parquet::{
    basic::Repetition,
    column::reader::get_typed_column_reader,
    data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{
        metadata::RowGroupMetaData,
        reader::{FileReader, RowGroupReader},
        serialized_reader::SerializedFileReader,
    },
    schema::types::ColumnDescriptor,
};

/// A column with all its values.
#[derive(Debug, PartialEq)]
pub(crate) struct ReadColumn {
    pub name: String,
    pub values: ColumnValues,
}

/// The values of a column, by kind; none where they are absent.
#[derive(Debug, PartialEq)]
pub(crate) enum ColumnValues {
    Double(Vec<Option<f64>>),
    Int(Vec<Option<i64>>),
    Unsigned(Vec<Option<u64>>),
    Text(Vec<Option<String>>),
}

/// Returns the columns of a file, in its order.
///
/// # Errors
/// If the file is torn, or has a column of a kind that [`super::Writer`] does not write.
pub(crate) fn read(file: Vec<u8>) -> Result<Vec<ReadColumn>, String> {
    columns(file).map_err(|error| format!("it is not a whole Parquet file of cwnd's own ({error})"))
}

/// [`super::Writer`] writes no longer row group. A damaged length must not allocate all memory.
const MAX_ROWS_IN_GROUP: usize = 1 << 20;

fn columns(file: Vec<u8>) -> Result<Vec<ReadColumn>, ParquetError> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(file))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let kinds: Vec<Column> = schema.columns().iter().map(|column| kind(column)).collect::<Result<_, _>>()?;
    let mut columns: Vec<ReadColumn> = kinds.iter().map(ReadColumn::new).collect();
    for i in 0..reader.num_row_groups() {
        let group = reader.get_row_group(i)?;
        let rows = rows(group.metadata())?;
        for (place, (column, kind)) in columns.iter_mut().zip(&kinds).enumerate() {
            let group = group.as_ref();
            match &mut column.values {
                ColumnValues::Double(values) => {
                    values.extend(chunk::<DoubleType>(group, place, kind, rows)?);
                }
                ColumnValues::Int(values) => values.extend(chunk::<Int64Type>(group, place, kind, rows)?),
                ColumnValues::Unsigned(values) => {
                    let chunk = chunk::<Int64Type>(group, place, kind, rows)?;
                    values.extend(chunk.into_iter().map(|value| value.map(|value| value as u64)));
                }
                ColumnValues::Text(values) => {
                    for value in chunk::<ByteArrayType>(group, place, kind, rows)? {
                        values.push(value.map(text).transpose()?);
                    }
                }
            }
        }
    }
    Ok(columns)
}

impl ReadColumn {
    fn new(column: &Column) -> ReadColumn {
        let values = match column.kind {
            Kind::Double => ColumnValues::Double(Vec::new()),
            Kind::Int => ColumnValues::Int(Vec::new()),
            Kind::Unsigned => ColumnValues::Unsigned(Vec::new()),
            Kind::Text => ColumnValues::Text(Vec::new()),
        };
        ReadColumn { name: column.name.clone(), values }
    }
}

fn kind(column: &ColumnDescriptor) -> Result<Column, ParquetError> {
    let repetition = column.self_type().get_basic_info().repetition();
    let types = (column.physical_type(), column.logical_type_ref().cloned());
    let kind =
        [Kind::Double, Kind::Int, Kind::Unsigned, Kind::Text].into_iter().find(|kind| kind.types() == types);
    match (kind, repetition) {
        (Some(kind), Repetition::REQUIRED | Repetition::OPTIONAL) if column.path().parts().len() == 1 => {
            let optional = repetition == Repetition::OPTIONAL;
            Ok(Column { name: column.name().to_owned(), kind, optional })
        }
        _ => Err(ParquetError::General(format!("column `{}` has another kind", column.path()))),
    }
}

fn rows(group: &RowGroupMetaData) -> Result<usize, ParquetError> {
    let rows = usize::try_from(group.num_rows())?;
    if rows > MAX_ROWS_IN_GROUP {
        return Err(ParquetError::General(format!("a row group has {rows} rows")));
    }
    Ok(rows)
}

/// Reads one column of one row group.
fn chunk<T: DataType>(
    group: &dyn RowGroupReader,
    place: usize,
    column: &Column,
    rows: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(place)?);
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    let mut found = 0;
    while found < rows {
        let levels = column.optional.then_some(&mut levels);
        let (records, _, _) = reader.read_records(rows - found, levels, None, &mut present)?;
        if records == 0 {
            return Err(ParquetError::General(format!("column `{}` is too short", column.name)));
        }
        found += records;
    }
    if !column.optional {
        return Ok(present.into_iter().map(Some).collect());
    }
    let mut present = present.into_iter();
    Ok(levels.iter().map(|level| if *level == 1 { present.next() } else { None }).collect())
}

fn text(bytes: ByteArray) -> Result<String, ParquetError> {
    Ok(bytes.as_utf8()?.to_owned())
}
