//! pcapng files (draft-ietf-opsawg-pcapng): a section header, an interface description for each interface, and an enhanced
//! packet block for each packet. Times are nanoseconds.

use std::io::{self, Write};

/// What the link layer of a capture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// `LINKTYPE_ETHERNET`.
    Ethernet = 1,
    /// `LINKTYPE_RAW`: packets begin with the header of IPv4 or IPv6.
    Ip = 101,
    /// `LINKTYPE_IPV4`: packets begin with the IPv4 header.
    Ipv4 = 228,
}

/// Where packets were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// What it is, in a line.
    pub description: String,
    /// Its rate, bit/s, if it has one.
    pub speed: Option<u64>,
}

/// Bytes of a packet that are captured at most.
pub const SNAP_LENGTH: u32 = 128;

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;

/// A block under construction: its type and all between the two lengths.
struct Block {
    kind: u32,
    body: Vec<u8>,
}

impl Block {
    fn new(kind: u32) -> Block {
        Block { kind, body: Vec::with_capacity(192) }
    }

    fn u16(mut self, value: u16) -> Block {
        self.body.extend(value.to_le_bytes());
        self
    }

    fn u32(mut self, value: u32) -> Block {
        self.body.extend(value.to_le_bytes());
        self
    }

    /// Bytes, padded to whole words.
    fn bytes(mut self, bytes: &[u8]) -> Block {
        self.body.extend(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
        self
    }

    fn option(self, code: u16, value: &[u8]) -> Block {
        // Only texts could be too long.
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.u16(code).u16(value.len() as u16).bytes(value)
    }

    fn end_of_options(self) -> Block {
        self.u32(0)
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let length = (self.body.len() as u32 + 12).to_le_bytes();
        out.write_all(&self.kind.to_le_bytes())?;
        out.write_all(&length)?;
        out.write_all(&self.body)?;
        out.write_all(&length)
    }
}

/// Write what comes before the packets. `application` is what made the file.
///
/// # Errors
/// If it cannot be written.
pub fn write_header(
    out: &mut impl Write,
    link_type: LinkType,
    application: &str,
    interfaces: &[Interface],
) -> io::Result<()> {
    // Byte order, version 1.0, and a section length that is not given.
    let section = Block::new(SECTION).u32(0x1A2B_3C4D).u16(1).u16(0).u32(u32::MAX).u32(u32::MAX);
    section.option(4, application.as_bytes()).end_of_options().write(out)?;
    for Interface { name, description, speed } in interfaces {
        let block = Block::new(INTERFACE).u16(link_type as u16).u16(0).u32(SNAP_LENGTH);
        let block = block.option(2, name.as_bytes()).option(3, description.as_bytes());
        let block = match speed {
            Some(speed) => block.option(8, &speed.to_le_bytes()),
            None => block,
        };
        // Times in 10^-9 s.
        block.option(9, &[9]).end_of_options().write(out)?;
    }
    Ok(())
}

/// Write a packet that passed an interface at `time` (ns since 1970): its first bytes, how many it had, and what is to be
/// said of it.
///
/// # Errors
/// If it cannot be written.
pub fn write_packet(
    out: &mut impl Write,
    interface: u32,
    time: u64,
    bytes: &[u8],
    length: u32,
    comment: Option<&str>,
) -> io::Result<()> {
    let block = Block::new(PACKET).u32(interface).u32((time >> 32) as u32).u32(time as u32);
    let block = block.u32(bytes.len() as u32).u32(length).bytes(bytes);
    match comment {
        Some(comment) => block.option(1, comment.as_bytes()).end_of_options().write(out),
        None => block.write(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_these_bytes() {
        let mut file = Vec::new();
        write_packet(&mut file, 1, 0x0102_0304_0506_0708, &[0xAA; 5], 1500, None).unwrap();
        // Type 6, 40 bytes: 12 of frame, 20 of fields, 5 captured and 3 of padding.
        let expected = [
            [6, 0, 0, 0],
            [40, 0, 0, 0],
            [1, 0, 0, 0],
            [4, 3, 2, 1],
            [8, 7, 6, 5],
            [5, 0, 0, 0],
            [0xDC, 5, 0, 0],
            [0xAA; 4],
            [0xAA, 0, 0, 0],
            [40, 0, 0, 0],
        ];
        assert_eq!(file, expected.concat());
        file.clear();
        write_packet(&mut file, 0, 0, &[], 0, Some("gone")).unwrap();
        // The comment: code 1, 4 bytes; then the end of options.
        let end = [*b"\x01\0\x04\0", *b"gone", [0; 4], [44, 0, 0, 0]].concat();
        assert_eq!(file[28..], end);
    }

    #[test]
    fn the_header_is_these_bytes() {
        let mut file = Vec::new();
        let line = Interface { name: "eth0".into(), description: "d".into(), speed: Some(10) };
        write_header(&mut file, LinkType::Ethernet, "cwnd", &[line]).unwrap();
        let section: [[u8; 4]; 10] = [
            [0x0A, 0x0D, 0x0D, 0x0A],
            [40, 0, 0, 0],
            [0x4D, 0x3C, 0x2B, 0x1A],
            [1, 0, 0, 0],
            [0xFF; 4],
            [0xFF; 4],
            [4, 0, 4, 0],
            *b"cwnd",
            [0; 4],
            [40, 0, 0, 0],
        ];
        let interface: [[u8; 4]; 15] = [
            [1, 0, 0, 0],
            [60, 0, 0, 0],
            [1, 0, 0, 0],
            [128, 0, 0, 0],
            [2, 0, 4, 0],
            *b"eth0",
            [3, 0, 1, 0],
            *b"d\0\0\0",
            [8, 0, 8, 0],
            [10, 0, 0, 0],
            [0; 4],
            [9, 0, 1, 0],
            [9, 0, 0, 0],
            [0; 4],
            [60, 0, 0, 0],
        ];
        assert_eq!(file, [section.concat(), interface.concat()].concat());
    }
}
