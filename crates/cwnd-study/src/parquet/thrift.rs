//! The part of Thrift's compact protocol that Parquet's metadata needs.
//!
//! Reference: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>

pub(super) mod read;

const INT: u8 = 5;
const LONG: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// One struct, being written; nested structs are opened and closed within it.
pub(super) struct Thrift {
    out: Vec<u8>,
    /// The last field written in each struct that is open, the innermost last.
    last: Vec<i16>,
}

impl Thrift {
    pub fn new() -> Thrift {
        Thrift { out: Vec::new(), last: vec![0] }
    }

    /// Closes the outermost struct.
    pub fn finish(mut self) -> Vec<u8> {
        debug_assert_eq!(self.last.len(), 1, "all inner structs are closed");
        self.out.push(0);
        self.out
    }

    /// A field of type `i32` (enumerations too).
    pub fn int(&mut self, id: i16, value: i64) -> &mut Thrift {
        self.field(id, INT).zigzag(value)
    }

    /// A field of type `i64`.
    pub fn long(&mut self, id: i16, value: i64) -> &mut Thrift {
        self.field(id, LONG).zigzag(value)
    }

    /// A field of type `string`.
    pub fn text(&mut self, id: i16, text: &str) -> &mut Thrift {
        self.field(id, BINARY).string(text)
    }

    /// A field of type `list<i32>`.
    pub fn list_of_ints(&mut self, id: i16, values: &[i64]) -> &mut Thrift {
        self.field(id, LIST).list(INT, values.len());
        values.iter().fold(self, |out, &value| out.zigzag(value))
    }

    /// A field of type `list<string>`.
    pub fn list_of_texts(&mut self, id: i16, texts: &[&str]) -> &mut Thrift {
        self.field(id, LIST).list(BINARY, texts.len());
        texts.iter().fold(self, |out, text| out.string(text))
    }

    /// A field that is a list of so many structs; each follows with [`Thrift::element`] and [`Thrift::end`].
    pub fn list_of_structs(&mut self, id: i16, length: usize) -> &mut Thrift {
        self.field(id, LIST).list(STRUCT, length)
    }

    /// Opens a struct that is an element of a list.
    pub fn element(&mut self) -> &mut Thrift {
        self.last.push(0);
        self
    }

    /// Opens a field that is a struct.
    pub fn begin(&mut self, id: i16) -> &mut Thrift {
        self.field(id, STRUCT).element()
    }

    /// Closes the innermost struct.
    pub fn end(&mut self) -> &mut Thrift {
        self.out.push(0);
        self.last.pop();
        self
    }

    /// The header of a field. Identifiers rise by 1 to 15, so the short form suffices.
    fn field(&mut self, id: i16, kind: u8) -> &mut Thrift {
        let last = self.last.last_mut().expect("a struct is open");
        let delta = id - *last;
        debug_assert!((1..=15).contains(&delta), "field {id} after {last}");
        *last = id;
        self.out.push((delta as u8) << 4 | kind);
        self
    }

    fn list(&mut self, kind: u8, length: usize) -> &mut Thrift {
        if length < 15 {
            self.out.push((length as u8) << 4 | kind);
        } else {
            self.out.push(0xf0 | kind);
            varint(&mut self.out, length as u64);
        }
        self
    }

    fn string(&mut self, text: &str) -> &mut Thrift {
        varint(&mut self.out, text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
        self
    }

    fn zigzag(&mut self, value: i64) -> &mut Thrift {
        varint(&mut self.out, (value << 1 ^ value >> 63) as u64);
        self
    }
}

/// Seven bits a byte, the least first (ULEB128).
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
