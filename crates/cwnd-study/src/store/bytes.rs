//! Numbers as few bytes.

/// Writes numbers.
#[derive(Default)]
pub(super) struct Out(pub Vec<u8>);

impl Out {
    pub fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    /// Seven bits a byte, the least first (ULEB128).
    pub fn count(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A count that is probably near another: how far it is from that, whichever way.
    pub fn near(&mut self, value: u64, expected: u64) {
        let distance = value.wrapping_sub(expected) as i64;
        self.count((distance << 1 ^ distance >> 63) as u64);
    }

    /// All bits of a number: how many bytes follow, and these, the sign first, without the zeros at the end.
    pub fn number(&mut self, value: f64) {
        let bytes = value.to_bits().to_be_bytes();
        let length = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        self.byte(length as u8);
        self.0.extend_from_slice(&bytes[..length]);
    }

    pub fn text(&mut self, text: &str) {
        self.count(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }
}

/// Writes a fixed number of fields, most of which are nothing: a bit tells which are not, and only these follow.
#[derive(Default)]
pub(super) struct RecordOut {
    /// A bit a field, the first the least.
    present: u64,
    fields: u32,
    values: Out,
}

impl RecordOut {
    pub fn count(&mut self, value: u64) {
        self.field(value != 0, |values| values.count(value));
    }

    /// A count that is probably near another.
    pub fn near(&mut self, value: u64, expected: u64) {
        self.field(value != expected, |values| values.near(value, expected));
    }

    pub fn number(&mut self, value: f64) {
        self.field(value.to_bits() != 0, |values| values.number(value));
    }

    pub fn text(&mut self, text: &str) {
        self.field(!text.is_empty(), |values| values.text(text));
    }

    fn field(&mut self, present: bool, write: impl FnOnce(&mut Out)) {
        assert!(self.fields < 64, "a record has at most 64 fields");
        if present {
            self.present |= 1 << self.fields;
            write(&mut self.values);
        }
        self.fields += 1;
    }

    pub fn finish(self, out: &mut Out) {
        out.count(self.present);
        out.0.extend_from_slice(&self.values.0);
    }
}

/// Reads what [`RecordOut`] wrote.
pub(super) struct RecordIn<'a, 'b> {
    present: u64,
    from: &'b mut In<'a>,
}

impl<'a, 'b> RecordIn<'a, 'b> {
    pub fn new(from: &'b mut In<'a>) -> Option<RecordIn<'a, 'b>> {
        Some(RecordIn { present: from.count()?, from })
    }

    pub fn count(&mut self) -> Option<u64> {
        if self.next() { self.from.count() } else { Some(0) }
    }

    pub fn near(&mut self, expected: u64) -> Option<u64> {
        if self.next() { self.from.near(expected) } else { Some(expected) }
    }

    pub fn number(&mut self) -> Option<f64> {
        if self.next() { self.from.number() } else { Some(0.0) }
    }

    pub fn text(&mut self) -> Option<String> {
        if self.next() { self.from.text() } else { Some(String::new()) }
    }

    fn next(&mut self) -> bool {
        let present = self.present & 1 == 1;
        self.present >>= 1;
        present
    }
}

/// Reads what [`Out`] wrote; none where that cannot have been written.
pub(super) struct In<'a>(pub &'a [u8]);

impl<'a> In<'a> {
    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub fn count(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub fn near(&mut self, expected: u64) -> Option<u64> {
        let coded = self.count()?;
        Some(expected.wrapping_add(coded >> 1 ^ (coded & 1).wrapping_neg()))
    }

    pub fn number(&mut self) -> Option<f64> {
        let length = usize::from(self.byte()?);
        let mut bytes = [0; 8];
        bytes.get_mut(..length)?.copy_from_slice(self.bytes(length)?);
        Some(f64::from_bits(u64::from_be_bytes(bytes)))
    }

    pub fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.count()?).ok()?;
        String::from_utf8(self.bytes(length)?.to_vec()).ok()
    }

    /// Whether all has been read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
