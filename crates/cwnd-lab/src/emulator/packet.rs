//! What the emulator reads in a packet, and the one thing that it writes there: the congestion mark.

use cwnd_link::Codepoint;
use etherparse::{IpEcn, IpNumber, Ipv4HeaderSlice, Ipv6ExtensionsSlice, Ipv6HeaderSlice, TcpSlice};
use std::net::IpAddr;

// Flags in the 14th byte of a TCP header (RFC 9293, section 3.1; RFC 3168, section 6.1).
pub const FIN: u8 = 0x01;
pub const PSH: u8 = 0x08;
pub const ACK: u8 = 0x10;
pub const CWR: u8 = 0x80;

/// What the network needs to know of an IPv4 (RFC 791) or IPv6 packet (RFC 8200).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Where it is from.
    pub source: IpAddr,
    /// Where it goes.
    pub destination: IpAddr,
    /// Its ECN field.
    pub ecn: Codepoint,
    /// What TCP says, if it is TCP and no fragment.
    pub tcp: Option<Tcp>,
}

/// What the accounts need of a TCP header (RFC 9293).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Number of its first byte.
    pub sequence: u32,
    /// Next byte that is expected, if `ack` is set.
    pub acknowledgement: u32,
    /// Bytes of data.
    pub payload: u32,
    /// It begins a connection.
    pub syn: bool,
    /// It acknowledges.
    pub ack: bool,
    /// It acknowledges and does nothing else, so that a later one of its flow can stand for it: no data, no SACK blocks, no
    /// echo of a mark, neither beginning nor end.
    pub plain_ack: bool,
}

/// Reads an IP packet; nothing if it is none, or shorter than it says.
pub fn read(packet: &[u8]) -> Option<Header> {
    match packet.first()? >> 4 {
        4 => read_ipv4(packet),
        6 => read_ipv6(packet),
        _ => None,
    }
}

fn read_ipv4(packet: &[u8]) -> Option<Header> {
    let (ip, segment) = ipv4_segment(packet)?;
    let (source, destination) = (ip.source_addr().into(), ip.destination_addr().into());
    Some(Header { source, destination, ecn: codepoint(ip.ecn()), tcp: segment.and_then(read_tcp) })
}

fn read_ipv6(packet: &[u8]) -> Option<Header> {
    let (ip, segment) = ipv6_segment(packet)?;
    let (source, destination) = (ip.source_addr().into(), ip.destination_addr().into());
    Some(Header { source, destination, ecn: codepoint(ip.ecn()), tcp: segment.and_then(read_tcp) })
}

/// Returns the header of a packet of IPv4, and the segment of TCP in it, if it is one.
fn ipv4_segment(packet: &[u8]) -> Option<(Ipv4HeaderSlice<'_>, Option<&[u8]>)> {
    let ip = Ipv4HeaderSlice::from_slice(packet).ok()?;
    let segment = packet.get(ip.slice().len()..usize::from(ip.total_len()))?;
    // Only the first fragment would have a TCP header, and not all of its data.
    let is_tcp = ip.protocol() == IpNumber::TCP && !ip.is_fragmenting_payload();
    Some((ip, is_tcp.then_some(segment)))
}

/// The same of IPv6.
fn ipv6_segment(packet: &[u8]) -> Option<(Ipv6HeaderSlice<'_>, Option<&[u8]>)> {
    let ip = Ipv6HeaderSlice::from_slice(packet).ok()?;
    let begin = ip.slice().len();
    let behind = packet.get(begin..begin + usize::from(ip.payload_length()))?;
    let (extensions, next, segment) = Ipv6ExtensionsSlice::from_slice(ip.next_header(), behind).ok()?;
    let is_tcp = next == IpNumber::TCP && !extensions.is_fragmenting_payload();
    Some((ip, is_tcp.then_some(segment)))
}

fn codepoint(ecn: IpEcn) -> Codepoint {
    match ecn {
        IpEcn::NotEct => Codepoint::NotEct,
        IpEcn::Ect1 => Codepoint::Ect1,
        IpEcn::Ect0 => Codepoint::Ect0,
        IpEcn::CongestionExperienced => Codepoint::Ce,
    }
}

fn read_tcp(segment: &[u8]) -> Option<Tcp> {
    let tcp = TcpSlice::from_slice(segment).ok()?;
    let payload = tcp.payload().len() as u32;
    let otherwise = tcp.fin() || tcp.syn() || tcp.rst() || tcp.urg() || tcp.ece() || tcp.cwr();
    Some(Tcp {
        sequence: tcp.sequence_number(),
        acknowledgement: tcp.acknowledgment_number(),
        payload,
        syn: tcp.syn(),
        ack: tcp.ack(),
        plain_ack: tcp.ack() && payload == 0 && !otherwise && blocks_of(tcp.options()) == NO_BLOCKS,
    })
}

/// The edges of SACK blocks (RFC 2018): the first byte, and the byte behind the last. There are at most four.
pub type SackBlocks = [Option<[u32; 2]>; 4];

/// What a packet without a SACK option has.
pub const NO_BLOCKS: SackBlocks = [None; 4];

/// Returns the SACK blocks of a packet of TCP over IP.
pub fn sack_blocks(packet: &[u8]) -> SackBlocks {
    let segment = match packet.first().map(|first| first >> 4) {
        Some(4) => ipv4_segment(packet).and_then(|(_, segment)| segment),
        Some(6) => ipv6_segment(packet).and_then(|(_, segment)| segment),
        _ => None,
    };
    let tcp = segment.and_then(|segment| TcpSlice::from_slice(segment).ok());
    tcp.map_or(NO_BLOCKS, |tcp| blocks_of(tcp.options()))
}

/// Reads the SACK option among these. The library's own iterator ends at an option that it does not know.
fn blocks_of(mut options: &[u8]) -> SackBlocks {
    const END: u8 = 0;
    const PADDING: u8 = 1;
    const SACK: u8 = 5;
    loop {
        match options {
            [] | [END, ..] | [_] => return NO_BLOCKS,
            [PADDING, rest @ ..] => options = rest,
            [kind, length, ..] => {
                let length = usize::from(*length).max(2);
                if *kind == SACK {
                    let (edges, _) = options[2..options.len().min(length)].as_chunks::<8>();
                    let mut blocks = NO_BLOCKS;
                    for (block, [a, b, c, d, e, f, g, h]) in blocks.iter_mut().zip(edges) {
                        *block = Some([
                            u32::from_be_bytes([*a, *b, *c, *d]),
                            u32::from_be_bytes([*e, *f, *g, *h]),
                        ]);
                    }
                    return blocks;
                }
                match options.get(length..) {
                    Some(rest) => options = rest,
                    None => return NO_BLOCKS,
                }
            }
        }
    }
}

/// Puts the mark "congestion experienced" (RFC 3168) on an IP packet.
pub fn mark(packet: &mut [u8]) {
    set_ecn(packet, Codepoint::Ce);
}

/// Writes the ECN field of an IP packet: the last two bits of the type of service or of the traffic class. Updates the checksum
/// of an IPv4 header (RFC 1624, equation 3); that of IPv6 has none.
pub fn set_ecn(packet: &mut [u8], codepoint: Codepoint) {
    if packet[0] >> 4 == 6 {
        // The traffic class begins in the middle of the first byte.
        packet[1] = packet[1] & !0x30 | codepoint.bits() << 4;
        return;
    }
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let before = word(packet, 0);
    packet[1] = packet[1] & !3 | codepoint.bits();
    let after = word(packet, 0);
    let checksum = word(packet, 10);
    let mut sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    packet[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{receiver, receiver_ipv6, sender, sender_ipv6};

    const TCP: u8 = IpNumber::TCP.0;
    const SYN: u8 = 0x02;
    const RST: u8 = 0x04;
    const URG: u8 = 0x20;
    const ECE: u8 = 0x40;

    /// An IPv4 packet with a right checksum.
    fn ipv4(tos: u8, protocol: u8, rest: &[u8]) -> Vec<u8> {
        let total = (20 + rest.len()) as u16;
        let mut packet =
            vec![0x45, tos, 0, 0, 0, 7, 0x40, 0, 64, protocol, 0, 0, 198, 18, 0, 1, 198, 19, 0, 1];
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend(rest);
        packet
    }

    fn checksum(packet: &[u8]) -> u16 {
        Ipv4HeaderSlice::from_slice(packet).expect("a header").to_header().calc_header_checksum()
    }

    fn tcp(flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
        let mut segment = vec![0, 80, 0x13, 0x89, 0, 0, 1, 0, 0, 0, 2, 0, 0, flags, 0, 9, 0, 0, 0, 0];
        segment[12] = (((20 + options.len()) / 4) << 4) as u8;
        segment.extend(options);
        segment.resize(segment.len() + payload, 0xAA);
        segment
    }

    #[test]
    fn reads_what_a_data_packet_is() {
        let header = read(&ipv4(2, TCP, &tcp(ACK, &[], 100))).unwrap();
        assert_eq!((header.source, header.destination), (sender(0).into(), receiver(0).into()));
        assert_eq!(header.ecn, Codepoint::Ect0);
        let tcp = header.tcp.unwrap();
        assert_eq!((tcp.sequence, tcp.acknowledgement, tcp.payload), (256, 512, 100));
        assert!(tcp.ack && !tcp.syn && !tcp.plain_ack);
    }

    #[test]
    fn an_ack_with_anything_else_is_not_plain() {
        let plain = |flags, options: &[u8], payload| {
            read(&ipv4(0, TCP, &tcp(flags, options, payload))).unwrap().tcp.unwrap().plain_ack
        };
        let timestamps = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        assert!(plain(ACK, &[], 0));
        assert!(plain(ACK, &timestamps, 0));
        for flag in [FIN, SYN, RST, URG, ECE, CWR] {
            assert!(!plain(ACK | flag, &[], 0));
        }
        assert!(!plain(ACK, &[], 1));
        let sack = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        assert!(!plain(ACK, &sack, 0));
        assert!(!plain(ACK, &[timestamps, sack].concat(), 0));
        let blocks = |packet: &[u8]| sack_blocks(packet).into_iter().flatten().collect::<Vec<_>>();
        assert_eq!(blocks(&ipv4(0, TCP, &tcp(ACK, &sack, 0))), [[1, 2]]);
        let more = [1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0, 0, 9, 0, 0, 1, 0];
        assert_eq!(blocks(&ipv4(0, TCP, &tcp(ACK, &more, 0))), [[1, 2], [0xFF00_0009, 256]]);
        assert_eq!(blocks(&ipv6(0, TCP, &tcp(ACK, &[timestamps, sack].concat(), 0))), [[1, 2]]);
        assert!(blocks(&ipv4(0, TCP, &tcp(ACK, &timestamps, 0))).is_empty() && blocks(&[]).is_empty());
        // Options that end early, or say that they are longer than there is room.
        assert!(plain(ACK, &[0, 5, 10, 0], 0));
        assert!(plain(ACK, &[8, 44, 0, 0], 0));
    }

    #[test]
    fn what_is_no_ip_packet_is_refused() {
        let packet = ipv4(0, TCP, &tcp(ACK, &[], 10));
        assert!(read(&packet).is_some());
        assert_eq!(read(&packet[..packet.len() - 1]), None);
        assert_eq!(read(&[]), None);
        for version in [0, 5, 15] {
            assert_eq!(read(&[&[version << 4][..], &packet[1..]].concat()), None, "version {version}");
        }
    }

    #[test]
    fn fragments_and_others_have_no_tcp() {
        let mut packet = ipv4(0, TCP, &tcp(ACK, &[], 10));
        packet[6] = 0x20;
        assert_eq!(read(&packet).unwrap().tcp, None);
        assert_eq!(read(&ipv4(0, 17, &[0; 8])).unwrap().tcp, None);
    }

    /// An IPv6 packet.
    fn ipv6(class: u8, next: u8, rest: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60 | class >> 4, class << 4 | 0xA, 0xBC, 0xDE];
        packet.extend((rest.len() as u16).to_be_bytes());
        packet.extend([next, 64]);
        packet.extend(sender_ipv6(0).octets());
        packet.extend(receiver_ipv6(0).octets());
        packet.extend(rest);
        packet
    }

    #[test]
    fn ipv6_is_read_as_ipv4_is() {
        let segment = tcp(ACK, &[], 100);
        let header = read(&ipv6(2, TCP, &segment)).unwrap();
        assert_eq!((header.source, header.destination), (sender_ipv6(0).into(), receiver_ipv6(0).into()));
        assert_eq!((header.ecn, header.tcp), (Codepoint::Ect0, read(&ipv4(2, TCP, &segment)).unwrap().tcp));
        // Behind options for hops (RFC 8200, section 4.3), which are padding; and a fragment (section 4.5).
        let options = [&[TCP, 0, 1, 4, 0, 0, 0, 0][..], &segment].concat();
        assert_eq!(read(&ipv6(2, 0, &options)).unwrap().tcp, header.tcp);
        let fragment = [&[TCP, 0, 0, 1, 0, 0, 0, 7][..], &segment].concat();
        assert_eq!(read(&ipv6(2, 44, &fragment)).unwrap().tcp, None);
        assert_eq!(read(&ipv6(2, TCP, &segment)[..100]), None);
        for class in [0, 1, 2, 3, 0xB9, 0xFE] {
            for codepoint in [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce] {
                let mut packet = ipv6(class, TCP, &segment);
                set_ecn(&mut packet, codepoint);
                assert_eq!(packet, ipv6(class & !3 | codepoint.bits(), TCP, &segment), "the rest stays");
                assert_eq!(read(&packet).unwrap().ecn, codepoint);
            }
        }
    }

    #[test]
    fn the_ecn_field_can_be_changed() {
        for tos in [0, 1, 2, 3, 0xB9, 0xFE] {
            for codepoint in [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce] {
                let mut packet = ipv4(tos, TCP, &tcp(ACK, &[], 10));
                set_ecn(&mut packet, codepoint);
                assert_eq!((read(&packet).unwrap().ecn, packet[1] >> 2), (codepoint, tos >> 2));
                assert_eq!(u16::from_be_bytes([packet[10], packet[11]]), checksum(&packet), "{tos:#x}");
            }
        }
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for tos in [1, 2, 3, 0xB9, 0xFE] {
            let mut packet = ipv4(tos, TCP, &tcp(ACK, &[], 10));
            mark(&mut packet);
            assert_eq!(read(&packet).unwrap().ecn, Codepoint::Ce);
            assert_eq!(u16::from_be_bytes([packet[10], packet[11]]), checksum(&packet), "{tos:#x}");
        }
    }
}
