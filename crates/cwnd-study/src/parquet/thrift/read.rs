//! Reads the compact protocol: any struct of integers, texts, lists of these and structs.

use super::{BINARY, INT, LIST, LONG, STRUCT};

/// A value that is none where the bytes end too early, or say what they cannot.
pub(in crate::parquet) struct Reader<'a>(&'a [u8]);

/// The fields of a struct.
#[derive(Debug)]
pub(in crate::parquet) struct Fields(Vec<(i16, Field)>);

#[derive(Debug)]
enum Field {
    Int(i64),
    Text(String),
    Structs(Vec<Fields>),
    /// A list of anything else, which nothing asks for.
    Others,
    Struct(Fields),
}

/// Structs lie within structs, but never so deep.
const DEEPEST: u32 = 16;

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// What has not been read.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }

    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.bytes(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A struct, up to its end.
    pub fn fields(&mut self) -> Option<Fields> {
        self.struct_within(DEEPEST)
    }

    fn struct_within(&mut self, depth: u32) -> Option<Fields> {
        let depth = depth.checked_sub(1)?;
        let (mut fields, mut last) = (Vec::new(), 0i16);
        loop {
            let header = self.bytes(1)?[0];
            if header == 0 {
                return Some(Fields(fields));
            }
            last = last.checked_add(i16::from(header >> 4)).filter(|_| header >> 4 != 0)?;
            let field = match header & 0x0f {
                INT | LONG => Field::Int(self.zigzag()?),
                BINARY => Field::Text(self.text()?),
                LIST => self.list(depth)?,
                STRUCT => Field::Struct(self.struct_within(depth)?),
                _ => return None,
            };
            fields.push((last, field));
        }
    }

    fn list(&mut self, depth: u32) -> Option<Field> {
        let header = self.bytes(1)?[0];
        let length = match header >> 4 {
            15 => usize::try_from(self.varint()?).ok()?,
            short => usize::from(short),
        };
        match header & 0x0f {
            STRUCT => {
                let structs: Option<Vec<Fields>> = (0..length).map(|_| self.struct_within(depth)).collect();
                structs.map(Field::Structs)
            }
            INT => (0..length).try_for_each(|_| self.zigzag().map(drop)).map(|()| Field::Others),
            BINARY => (0..length).try_for_each(|_| self.text().map(drop)).map(|()| Field::Others),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.varint()?).ok()?;
        String::from_utf8(self.bytes(length)?.to_vec()).ok()
    }

    fn zigzag(&mut self) -> Option<i64> {
        let coded = self.varint()?;
        Some((coded >> 1) as i64 ^ -((coded & 1) as i64))
    }
}

impl Fields {
    pub fn int(&self, id: i16) -> Option<i64> {
        match self.get(id)? {
            Field::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub fn text(&self, id: i16) -> Option<&str> {
        match self.get(id)? {
            Field::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self, id: i16) -> Option<&[Fields]> {
        match self.get(id)? {
            Field::Structs(structs) => Some(structs),
            _ => None,
        }
    }

    pub fn fields(&self, id: i16) -> Option<&Fields> {
        match self.get(id)? {
            Field::Struct(fields) => Some(fields),
            _ => None,
        }
    }

    fn get(&self, id: i16) -> Option<&Field> {
        self.0.iter().find(|(own, _)| *own == id).map(|(_, field)| field)
    }
}
