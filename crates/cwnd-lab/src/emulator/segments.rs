//! Segmentation offload: TCP hands a device up to 64 KiB in one packet, which a network card would cut to segments and whose checksum
//! it would complete. Here the packets are cut, and segments that follow each other are joined for the other end, as the card there
//! would do.
//!
//! The packet is described by `struct virtio_net_hdr` (Virtual I/O Device Version 1.3, section 5.1.6).

use super::packet::{ACK, CWR, FIN, PSH};
use super::pool::Frame;
use std::borrow::Cow;
use std::ops::Range;

/// The longest packet of IP with a length in its header.
pub const LONGEST: usize = 65_535;

/// Bytes of the description that stands before each packet.
pub const DESCRIPTION: usize = 10;

/// `VIRTIO_NET_HDR_F_NEEDS_CSUM`.
const NEEDS_CHECKSUM: u8 = 1;
/// `VIRTIO_NET_HDR_GSO_TCPV4` and `VIRTIO_NET_HDR_GSO_TCPV6`.
const TCP_OVER_IPV4: u8 = 1;
const TCP_OVER_IPV6: u8 = 4;

/// Where the headers of TCP and UDP have their checksums.
const TCP_CHECKSUM: u16 = 16;
const UDP_CHECKSUM: u16 = 6;

/// A checksum of which the field has only the sum over the pseudo-header (RFC 9293, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialChecksum {
    /// Where the bytes begin that it covers: at the header of TCP or UDP.
    pub start: u16,
    /// Where the field is, from there.
    pub offset: u16,
}

/// What a device says of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The checksum that is to be completed, if one is.
    pub checksum: Option<PartialChecksum>,
    /// Bytes of data in each segment, if the packet is to be cut.
    pub segment: Option<u16>,
}

impl Description {
    /// Reads the description before a packet.
    pub fn read(bytes: [u8; DESCRIPTION]) -> Description {
        let [flags, kind, _, _, rest @ ..] = bytes;
        let word = |at: usize| u16::from_ne_bytes([rest[at], rest[at + 1]]);
        let checksum = PartialChecksum { start: word(2), offset: word(4) };
        Description {
            checksum: (flags & NEEDS_CHECKSUM != 0).then_some(checksum),
            segment: (kind != 0).then_some(word(0)),
        }
    }

    /// Returns the bytes for a packet whose headers have `headers` bytes.
    pub fn bytes(self, is_ipv6: bool, headers: usize) -> [u8; DESCRIPTION] {
        let mut bytes = [0; DESCRIPTION];
        if let Some(checksum) = self.checksum {
            bytes[0] = NEEDS_CHECKSUM;
            bytes[6..8].copy_from_slice(&checksum.start.to_ne_bytes());
            bytes[8..10].copy_from_slice(&checksum.offset.to_ne_bytes());
        }
        if let Some(segment) = self.segment {
            bytes[1] = if is_ipv6 { TCP_OVER_IPV6 } else { TCP_OVER_IPV4 };
            bytes[2..4].copy_from_slice(&(headers as u16).to_ne_bytes());
            bytes[4..6].copy_from_slice(&segment.to_ne_bytes());
        }
        bytes
    }
}

/// The segments of a packet of TCP.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// Where TCP's header begins, and where the data does.
    tcp: usize,
    data: usize,
    /// Where the packet ends.
    end: usize,
    /// Bytes of data in each segment but the last.
    size: usize,
    /// The number of the next.
    next: usize,
}

impl Segments {
    /// Returns the segments of `packet`, which is to be cut as `description` says. Nothing if it is not TCP over IP, or too short for
    /// its headers.
    pub fn new(packet: &[u8], description: &Description) -> Option<Segments> {
        let tcp = usize::from(description.checksum?.start);
        let size = usize::from(description.segment?);
        let words = usize::from(packet.get(tcp + 12)? >> 4);
        let data = tcp + 4 * words;
        let is_whole = matches!(packet[0] >> 4, 4 | 6) && tcp >= 20 && words >= 5 && data < packet.len();
        (is_whole && size > 0).then_some(Segments { tcp, data, end: packet.len(), size, next: 0 })
    }

    /// Writes the next segment of `packet` to `room`. Returns its length; nothing after the last.
    ///
    /// A segment that has no room is counted as if it had been written, with the length 0.
    #[inline]
    pub fn next(&mut self, packet: &[u8], room: &mut [u8]) -> Option<usize> {
        let begin = self.data + self.next * self.size;
        if begin >= self.end {
            return None;
        }
        let data: Range<usize> = begin..(begin + self.size).min(self.end);
        let length = self.data + data.len();
        let number = self.next;
        self.next += 1;
        let Some(room) = room.get_mut(..length) else { return Some(0) };
        room[..self.data].copy_from_slice(&packet[..self.data]);
        room[self.data..].copy_from_slice(&packet[data.clone()]);
        // Each segment has an identification of its own (RFC 6864 does not ask for it, but hosts do so).
        if room[0] >> 4 == 4 {
            let identification = word(room, 4).wrapping_add(number as u16);
            room[4..6].copy_from_slice(&identification.to_be_bytes());
        }
        set_length(room, self.tcp, self.end, length);
        let sequence = read_u32(room, self.tcp + 4).wrapping_add((number * self.size) as u32);
        room[self.tcp + 4..self.tcp + 8].copy_from_slice(&sequence.to_be_bytes());
        let flags = &mut room[self.tcp + 13];
        if data.end < self.end {
            *flags &= !(FIN | PSH);
        }
        if number > 0 {
            *flags &= !CWR;
        }
        Some(length)
    }
}

/// Returns a packet as a wire would carry it, with a whole checksum.
pub fn on_the_wire(frame: &Frame) -> Cow<'_, [u8]> {
    let mut packet = Cow::Borrowed(frame.bytes());
    if let Some(checksum) = frame.meta.checksum {
        complete(packet.to_mut(), checksum);
    }
    packet
}

/// Completes the checksum of a packet.
fn complete(packet: &mut [u8], checksum: PartialChecksum) {
    let start = usize::from(checksum.start);
    let field = start + usize::from(checksum.offset);
    if field + 2 > packet.len() {
        return;
    }
    let sum = !sum(&packet[start..], 0);
    // In UDP zero says that there is none (RFC 768).
    let sum = if sum == 0 && checksum.offset == UDP_CHECKSUM { 0xFFFF } else { sum };
    packet[field..field + 2].copy_from_slice(&sum.to_be_bytes());
}

/// Returns whether a packet can be the first of several that are joined: data of TCP without anything else.
pub fn can_begin(frame: &Frame) -> bool {
    let Some(tcp) = frame.meta.tcp else { return false };
    let Some(PartialChecksum { start, offset: TCP_CHECKSUM }) = frame.meta.checksum else { return false };
    tcp.payload > 0 && frame.bytes()[usize::from(start) + 13] & !PSH == ACK
}

/// Returns whether `next` can be joined to packets of which `first` is the first and `last` the last, with `data` bytes of data: it
/// continues their data, with the same headers but for what counts packets, and after a whole segment that does not ask to be passed
/// on.
pub fn can_join(first: &Frame, last: &Frame, data: usize, next: &Frame) -> bool {
    let (Some(a), Some(z), Some(b)) = (first.meta.tcp, last.meta.tcp, next.meta.tcp) else { return false };
    let Some(PartialChecksum { start, .. }) = first.meta.checksum else { return false };
    let tcp = usize::from(start);
    let headers = first.meta.length as usize - a.payload as usize;
    let follows = first.meta.checksum == next.meta.checksum
        && b.sequence == a.sequence.wrapping_add(data as u32)
        && z.payload == a.payload
        && (1..=a.payload).contains(&b.payload)
        && next.meta.length as usize - b.payload as usize == headers
        && headers + data + b.payload as usize <= LONGEST;
    if !follows {
        return false;
    }
    let (one, other) = (first.bytes(), next.bytes());
    let same = |range: Range<usize>| one[range.clone()] == other[range];
    let same_ip = match one[0] >> 4 {
        4 => same(0..2) && same(6..10) && same(12..tcp),
        _ => same(0..4) && same(6..tcp),
    };
    let flags = |packet: &[u8]| packet[tcp + 13];
    same_ip
        && same(tcp..tcp + 4)
        && same(tcp + 8..tcp + 13)
        && flags(other) & !PSH == ACK
        && flags(last.bytes()) & PSH == 0
        && same(tcp + 14..tcp + 16)
        && same(tcp + 18..headers)
}

/// Makes the headers of the first of several packets those of all, which have `data` bytes of data. Returns the description of the
/// packet, and the length of its headers.
pub fn join(first: &mut Frame, last_flags: u8, data: usize) -> (Description, usize) {
    let payload = first.meta.tcp.map_or(0, |tcp| tcp.payload as usize);
    let length = first.meta.length as usize;
    let headers = length - payload;
    let description = Description { checksum: first.meta.checksum, segment: Some(payload as u16) };
    let tcp = usize::from(first.meta.checksum.map_or(0, |checksum| checksum.start));
    let packet = first.bytes_mut();
    set_length(packet, tcp, length, headers + data);
    packet[tcp + 13] |= last_flags & PSH;
    (description, headers)
}

/// Writes the length of a packet of TCP that has a partial checksum and had the length `before`.
fn set_length(packet: &mut [u8], tcp: usize, before: usize, length: usize) {
    if packet[0] >> 4 == 4 {
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[10..12].fill(0);
        let checksum = !sum(&packet[..tcp], 0);
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    } else {
        const FIXED: usize = 40;
        packet[4..6].copy_from_slice(&((length - FIXED) as u16).to_be_bytes());
    }
    // The pseudo-header has the length of TCP's part.
    let field = tcp + usize::from(TCP_CHECKSUM);
    let changed = u32::from(!((before - tcp) as u16)) + u32::from((length - tcp) as u16);
    let partial = fold(u32::from(word(packet, field)) + changed);
    packet[field..field + 2].copy_from_slice(&partial.to_be_bytes());
}

/// Returns the sum of 16-bit words in one's complement (RFC 1071).
fn sum(bytes: &[u8], initial: u32) -> u16 {
    let (words, rest) = bytes.as_chunks::<2>();
    let sum = words.iter().fold(initial, |sum, word| sum + u32::from(u16::from_be_bytes(*word)));
    fold(sum + rest.first().map_or(0, |last| u32::from(*last) << 8))
}

fn fold(mut sum: u32) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

fn word(packet: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

fn read_u32(packet: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]])
}

#[cfg(test)]
mod tests;
