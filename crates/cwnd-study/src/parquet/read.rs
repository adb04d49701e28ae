//! Reads back what [`super::Writer`] writes: flat columns without compression, plain or with a dictionary.
//!
//! It is no reader of Parquet at large. Whatever it does not expect is an error, never a panic: a file may be torn.

use super::thrift::read::{Fields, Reader};
use super::{DATA_PAGE, DICTIONARY_PAGE, Kind, MAGIC, OPTIONAL, PLAIN, RLE_DICTIONARY};

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

/// The columns of a file, in its order.
///
/// # Errors
/// If the file is not whole, or holds what our writer does not write.
pub(crate) fn read(file: &[u8]) -> Result<Vec<ReadColumn>, String> {
    columns(file).ok_or_else(|| "it is not a whole Parquet file of cwnd's own".to_owned())
}

/// No row group of ours is longer; a torn length must not ask for all the memory there is.
const MOST_ROWS: usize = 1 << 20;

struct Schema {
    name: String,
    kind: Kind,
    optional: bool,
}

fn columns(file: &[u8]) -> Option<Vec<ReadColumn>> {
    let body = file.strip_suffix(MAGIC)?;
    body.strip_prefix(MAGIC)?;
    let (rest, length) = body.split_last_chunk::<4>()?;
    let footer = rest.len().checked_sub(u32::from_le_bytes(*length) as usize)?;
    let metadata = Reader::new(&rest[footer..]).fields()?;

    let schema: Option<Vec<Schema>> = metadata.list(2)?.iter().skip(1).map(schema).collect();
    let schema = schema?;
    let mut columns: Vec<ReadColumn> = schema
        .iter()
        .map(|column| ReadColumn {
            name: column.name.clone(),
            values: match column.kind {
                Kind::Double => ColumnValues::Double(Vec::new()),
                Kind::Int => ColumnValues::Int(Vec::new()),
                Kind::Unsigned => ColumnValues::Unsigned(Vec::new()),
                Kind::Text => ColumnValues::Text(Vec::new()),
            },
        })
        .collect();
    for group in metadata.list(4)? {
        let chunks = group.list(1)?;
        if chunks.len() != schema.len() {
            return None;
        }
        for ((chunk, schema), column) in chunks.iter().zip(&schema).zip(&mut columns) {
            let metadata = chunk.fields(3)?;
            let begin = usize::try_from(metadata.int(11).or_else(|| metadata.int(9))?).ok()?;
            let end = begin.checked_add(usize::try_from(metadata.int(7)?).ok()?)?;
            let rows = usize::try_from(metadata.int(5)?).ok().filter(|rows| *rows <= MOST_ROWS)?;
            read_chunk(file.get(begin..end)?, rows, schema.optional, &mut column.values)?;
        }
    }
    Some(columns)
}

fn schema(element: &Fields) -> Option<Schema> {
    let converted = element.int(6);
    let kind = [Kind::Double, Kind::Int, Kind::Unsigned, Kind::Text]
        .into_iter()
        .find(|kind| element.int(1) == Some(kind.physical()) && converted == kind.converted())?;
    Some(Schema { name: element.text(4)?.to_owned(), kind, optional: element.int(3)? == OPTIONAL })
}

/// The pages of one column in one row group.
fn read_chunk(mut bytes: &[u8], rows: usize, optional: bool, values: &mut ColumnValues) -> Option<()> {
    let mut dictionary: Option<(&[u8], usize)> = None;
    while !bytes.is_empty() {
        let mut reader = Reader::new(bytes);
        let header = reader.fields()?;
        let size = usize::try_from(header.int(3)?).ok()?;
        let (page, rest) = reader.rest().split_at_checked(size)?;
        bytes = rest;
        match header.int(1)? {
            DICTIONARY_PAGE => {
                dictionary = Some((page, usize::try_from(header.fields(7)?.int(1)?).ok()?));
            }
            DATA_PAGE => {
                let data = header.fields(5)?;
                if usize::try_from(data.int(1)?).ok()? != rows {
                    return None;
                }
                let (present, page) = if optional { levels(page, rows)? } else { (vec![true; rows], page) };
                let encoding = data.int(2)?;
                match values {
                    ColumnValues::Double(values) => push_page(values, &present, page, encoding, dictionary)?,
                    ColumnValues::Int(values) => push_page(values, &present, page, encoding, dictionary)?,
                    ColumnValues::Unsigned(values) => {
                        push_page(values, &present, page, encoding, dictionary)?
                    }
                    ColumnValues::Text(values) => push_page(values, &present, page, encoding, dictionary)?,
                }
            }
            _ => return None,
        }
    }
    Some(())
}

/// Which rows have a value, and what follows.
fn levels(page: &[u8], rows: usize) -> Option<(Vec<bool>, &[u8])> {
    let (length, rest) = page.split_first_chunk::<4>()?;
    let (levels, data) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((runs(levels, 1, rows)?.into_iter().map(|level| level == 1).collect(), data))
}

/// So many numbers from the hybrid of run lengths and bit packing.
fn runs(bytes: &[u8], width: u8, count: usize) -> Option<Vec<u32>> {
    if width > 32 {
        return None;
    }
    let (width, mut reader) = (u32::from(width), Reader::new(bytes));
    let mut values = Vec::new();
    while values.len() < count {
        let header = reader.varint()?;
        let length = usize::try_from(header >> 1).ok()?;
        if header & 1 == 0 {
            let bytes = reader.bytes(width.div_ceil(8) as usize)?;
            let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            values.extend(std::iter::repeat_n(value, length.min(count - values.len())));
        } else {
            let packed = reader.bytes(length.checked_mul(width as usize)?)?;
            let (mut bits, mut held) = (0u64, 0);
            for byte in packed {
                bits |= u64::from(*byte) << held;
                held += 8;
                while held >= width && values.len() < count {
                    values.push((bits & ((1 << width) - 1)) as u32);
                    bits >>= width;
                    held -= width;
                }
            }
        }
    }
    Some(values)
}

/// Values in the encoding `PLAIN`.
struct Plain<'a>(&'a [u8]);

/// What a value in the encoding `PLAIN` is read as.
trait PlainValue: Sized + Clone {
    fn next(plain: &mut Plain<'_>) -> Option<Self>;
}

impl PlainValue for f64 {
    fn next(plain: &mut Plain<'_>) -> Option<f64> {
        plain.word().map(f64::from_le_bytes)
    }
}

impl PlainValue for i64 {
    fn next(plain: &mut Plain<'_>) -> Option<i64> {
        plain.word().map(i64::from_le_bytes)
    }
}

impl PlainValue for u64 {
    fn next(plain: &mut Plain<'_>) -> Option<u64> {
        plain.word().map(u64::from_le_bytes)
    }
}

impl PlainValue for String {
    fn next(plain: &mut Plain<'_>) -> Option<String> {
        let (length, rest) = plain.0.split_first_chunk::<4>()?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        plain.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

impl Plain<'_> {
    fn word(&mut self) -> Option<[u8; 8]> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*word)
    }
}

/// The values of one page, for the rows that have one.
fn push_page<T: PlainValue>(
    values: &mut Vec<Option<T>>,
    present: &[bool],
    page: &[u8],
    encoding: i64,
    dictionary: Option<(&[u8], usize)>,
) -> Option<()> {
    match (encoding, dictionary) {
        (PLAIN, None) => {
            let mut plain = Plain(page);
            fill(values, present, || T::next(&mut plain))
        }
        (RLE_DICTIONARY, Some((dictionary, entries))) => {
            let mut plain = Plain(dictionary);
            let known: Option<Vec<T>> = (0..entries).map(|_| T::next(&mut plain)).collect();
            let known = known?;
            let count = present.iter().filter(|present| **present).count();
            let (&width, page) = page.split_first()?;
            let mut places = runs(page, width, count)?.into_iter();
            fill(values, present, || known.get(places.next()? as usize).cloned())
        }
        _ => None,
    }
}

fn fill<T>(values: &mut Vec<Option<T>>, present: &[bool], mut next: impl FnMut() -> Option<T>) -> Option<()> {
    for present in present {
        values.push(if *present { Some(next()?) } else { None });
    }
    Some(())
}
