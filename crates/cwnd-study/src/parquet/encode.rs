//! Values as the bytes of pages.

use std::collections::HashMap;

use super::Value;
use super::thrift::varint;

/// One column of one row group.
pub(super) struct Encoded {
    /// Rows, absent values included.
    pub rows: usize,
    /// Definition levels: which rows have a value.
    pub levels: Vec<u8>,
    /// The distinct values, if `data` refers to them.
    pub dictionary: Option<Dictionary>,
    /// The values themselves, or their places in the dictionary.
    pub data: Vec<u8>,
}

/// The distinct values of a column, in the order of their first appearance.
pub(super) struct Dictionary {
    pub entries: usize,
    pub bytes: Vec<u8>,
}

/// Encodes a column: with a dictionary where that is smaller, plain otherwise.
pub(super) fn column(values: &[Value<'_>]) -> Encoded {
    let mut places: HashMap<Key<'_>, u32> = HashMap::new();
    let mut indices = Vec::with_capacity(values.len());
    let mut dictionary = Vec::new();
    let mut data = Vec::new();
    for &value in values {
        let Some(key) = key(value) else { continue };
        let next = places.len() as u32;
        indices.push(*places.entry(key).or_insert_with(|| {
            plain(&mut dictionary, value);
            next
        }));
        plain(&mut data, value);
    }

    let entries = places.len();
    let width = (usize::BITS - entries.saturating_sub(1).leading_zeros()).max(1);
    let mut short = vec![width as u8];
    runs(&mut short, &indices, width);
    let dictionary =
        (dictionary.len() + short.len() < data.len()).then_some(Dictionary { entries, bytes: dictionary });
    if dictionary.is_some() {
        data = short;
    }

    let present: Vec<u32> = values.iter().map(|&value| (value != Value::Absent).into()).collect();
    let mut levels = vec![0; 4];
    runs(&mut levels, &present, 1);
    let length = levels.len() as u32 - 4;
    levels[..4].copy_from_slice(&length.to_le_bytes());
    Encoded { rows: values.len(), levels, dictionary, data }
}

/// What tells two values of a column apart: numbers by their bits, so that -0.0 is not 0.0.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Bits(u64),
    Text(&'a str),
}

fn key(value: Value<'_>) -> Option<Key<'_>> {
    match value {
        Value::Absent => None,
        Value::Double(v) => Some(Key::Bits(v.to_bits())),
        Value::Int(v) => Some(Key::Bits(v as u64)),
        Value::Unsigned(v) => Some(Key::Bits(v)),
        Value::Text(v) => Some(Key::Text(v)),
    }
}

/// The encoding `PLAIN`.
fn plain(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Absent => {}
        Value::Double(v) => out.extend_from_slice(&v.to_le_bytes()),
        Value::Int(v) => out.extend_from_slice(&v.to_le_bytes()),
        Value::Unsigned(v) => out.extend_from_slice(&v.to_le_bytes()),
        Value::Text(v) => {
            out.extend_from_slice(&(v.len() as u32).to_le_bytes());
            out.extend_from_slice(v.as_bytes());
        }
    }
}

/// The hybrid of run lengths and bit packing: a long enough run of one value is its length and the value,
/// anything else is packed, `width` bits a value, in groups of eight.
fn runs(out: &mut Vec<u8>, values: &[u32], width: u32) {
    let mut packed_from = 0;
    let mut at = 0;
    while at < values.len() {
        let run = values[at..].iter().take_while(|&&v| v == values[at]).count();
        // A packed stretch that another follows must fill its last group.
        let fill = (at - packed_from).next_multiple_of(8) - (at - packed_from);
        if run >= fill + 8 {
            pack(out, &values[packed_from..at + fill], width);
            varint(out, ((run - fill) as u64) << 1);
            let bytes = width.div_ceil(8) as usize;
            out.extend_from_slice(&values[at].to_le_bytes()[..bytes]);
            packed_from = at + run;
        }
        at += run;
    }
    pack(out, &values[packed_from..], width);
}

fn pack(out: &mut Vec<u8>, values: &[u32], width: u32) {
    if values.is_empty() {
        return;
    }
    let groups = values.len().div_ceil(8);
    varint(out, (groups as u64) << 1 | 1);
    let mut bits = 0u64;
    let mut held = 0;
    for i in 0..groups * 8 {
        bits |= u64::from(values.get(i).copied().unwrap_or(0)) << held;
        held += width;
        while held >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(values: &[u32], width: u32) -> Vec<u8> {
        let mut out = Vec::new();
        runs(&mut out, values, width);
        out
    }

    #[test]
    fn packed_as_in_the_specification() {
        // The numbers 0 to 7 in three bits each, the example of the format's own text.
        assert_eq!(encoded(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
    }

    #[test]
    fn runs_and_packed_stretches_alternate() {
        assert_eq!(encoded(&[5; 100], 3), [200, 1, 5]);
        // Three single values; of the run of twenty five fill their group.
        let values = [&[1, 0, 1][..], &[1; 20], &[0, 0]].concat();
        assert_eq!(encoded(&values, 1), [0b11, 0b1111_1101, 15 << 1, 1, 0b11, 0]);
        assert!(encoded(&[], 1).is_empty());
    }
}
