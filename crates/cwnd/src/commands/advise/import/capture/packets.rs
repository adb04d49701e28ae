//! The TCP packets of a pcap or pcapng file.

use etherparse::{LaxNetSlice, LaxSlicedPacket};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};
use std::{fmt, net::IpAddr};

/// A TCP packet.
pub struct Packet {
    /// Seconds since the first packet of the file.
    pub time: f64,
    /// The interface that it was captured on, if the file tells.
    pub interface: u32,
    /// Its source.
    pub from: Endpoint,
    /// Its destination.
    pub to: Endpoint,
    pub seq: u32,
    pub ack: Option<u32>,
    pub syn: bool,
    /// Bytes of data, by the lengths in its headers: the capture may have cut it.
    pub payload: u32,
}

/// An address and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint(IpAddr, u16);

#[cfg(test)]
impl Endpoint {
    /// Creates one.
    pub fn new(address: IpAddr, port: u16) -> Endpoint {
        Endpoint(address, port)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => write!(f, "{address}:{}", self.1),
            IpAddr::V6(address) => write!(f, "[{address}]:{}", self.1),
        }
    }
}

/// An interface of a pcapng file.
struct Interface {
    link: Linktype,
    /// Ticks of its clock in a second.
    ticks: u64,
}

/// Bytes that the reader holds at first; it grows with larger blocks.
const CAPACITY: usize = 1 << 18;

/// The packets of a file.
pub struct Packets {
    /// Those over TCP.
    pub tcp: Vec<Packet>,
    /// Whether the file is damaged, or its last packet is cut off, after the last of these.
    pub damaged: bool,
}

/// Reads all TCP packets of a file, up to where it may be damaged.
///
/// # Errors
/// If the file is damaged before any packet, or has no TCP packets.
pub fn read(bytes: &[u8]) -> Result<Packets, String> {
    let damaged = |error: PcapError<&[u8]>| format!("the capture is damaged: {error}");
    let mut reader = create_reader(CAPACITY, bytes).map_err(damaged)?;
    let (mut interfaces, mut packets, mut origin) = (Vec::<Interface>::new(), Vec::new(), None);
    let (mut nanoseconds, mut whole) = (false, false);
    loop {
        let consumed = match reader.next() {
            Ok((consumed, block)) => {
                // Ticks are counted from the first packet on: since 1970 they have more digits than a double.
                let mut keep = |ticks: i128, of: u64, interface: u32, link: Linktype, data: &[u8]| {
                    let origin = *origin.get_or_insert((ticks, of));
                    let time = ticks as f64 / of as f64 - origin.0 as f64 / origin.1 as f64;
                    let time = if of == origin.1 { (ticks - origin.0) as f64 / of as f64 } else { time };
                    packets.extend(packet(time, interface, link, data));
                };
                match block {
                    PcapBlockOwned::LegacyHeader(header) => {
                        nanoseconds = header.is_nanosecond_precision();
                        interfaces.push(Interface { link: header.network, ticks: 1 });
                    }
                    PcapBlockOwned::Legacy(block) => {
                        let of: u64 = if nanoseconds { 1_000_000_000 } else { 1_000_000 };
                        let ticks = i128::from(block.ts_sec) * i128::from(of) + i128::from(block.ts_usec);
                        if let Some(interface) = interfaces.first() {
                            keep(ticks, of, 0, interface.link, block.data);
                        }
                    }
                    PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
                    PcapBlockOwned::NG(Block::InterfaceDescription(block)) => interfaces.push(Interface {
                        link: block.linktype,
                        ticks: block.ts_resolution().unwrap_or(1_000_000).max(1),
                    }),
                    PcapBlockOwned::NG(Block::EnhancedPacket(block)) => {
                        let ticks = i128::from(block.ts_high) << 32 | i128::from(block.ts_low);
                        if let Some(interface) = interfaces.get(block.if_id as usize) {
                            keep(ticks, interface.ticks, block.if_id, interface.link, block.data);
                        }
                    }
                    PcapBlockOwned::NG(_) => {}
                }
                consumed
            }
            Err(PcapError::Eof) => {
                whole = true;
                break;
            }
            Err(PcapError::UnexpectedEof) => break,
            Err(PcapError::Incomplete(_)) => {
                if reader.reader_exhausted() {
                    break;
                }
                reader.refill().map_err(|error| format!("the capture is damaged: {error}"))?;
                continue;
            }
            Err(PcapError::BufferTooSmall) => {
                if !reader.grow(reader.data().len().max(CAPACITY) * 2) {
                    break;
                }
                continue;
            }
            Err(_) if !packets.is_empty() => break,
            Err(error) => return Err(format!("the capture is damaged: {error}")),
        };
        reader.consume(consumed);
    }
    match packets.is_empty() {
        true => Err("the capture has no TCP packets".to_owned()),
        false => Ok(Packets { tcp: packets, damaged: !whole }),
    }
}

/// Bytes of the header of Linux's `any` interface, versions 1 and 2.
const COOKED: usize = 16;
const COOKED_2: usize = 20;
const LINUX_SLL2: Linktype = Linktype(276);

/// Parses a packet of a link type; none if it is not TCP, or its first 20 bytes of TCP were not captured.
fn packet(time: f64, interface: u32, link: Linktype, data: &[u8]) -> Option<Packet> {
    let mut interface = interface;
    let sliced = match link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(data).ok()?,
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 => LaxSlicedPacket::from_ip(data).ok()?,
        Linktype::NULL | Linktype::LOOP => LaxSlicedPacket::from_ip(data.get(4..)?).ok()?,
        Linktype::LINUX_SLL => LaxSlicedPacket::from_ip(data.get(COOKED..)?).ok()?,
        LINUX_SLL2 => {
            interface = u32::from_be_bytes(data.get(4..8)?.try_into().ok()?);
            LaxSlicedPacket::from_ip(data.get(COOKED_2..)?).ok()?
        }
        _ => return None,
    };
    let (from, to, ip, length) = match sliced.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let length = usize::from(header.total_len()).checked_sub(header.slice().len())?;
            (IpAddr::V4(header.source_addr()), IpAddr::V4(header.destination_addr()), ip.payload(), length)
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let length = usize::from(header.payload_length()).checked_sub(ip.extensions().slice().len())?;
            (IpAddr::V6(header.source_addr()), IpAddr::V6(header.destination_addr()), ip.payload(), length)
        }
        _ => return None,
    };
    const TCP: u8 = 6;
    const SYN: u8 = 0x02;
    const ACK: u8 = 0x10;
    if ip.ip_number.0 != TCP || ip.fragmented {
        return None;
    }
    // Options may be cut off, so the fixed header is read by itself.
    let tcp = ip.payload.get(..20)?;
    let half = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    let word = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
    let header = usize::from(tcp[12] >> 4) * 4;
    Some(Packet {
        time,
        interface,
        from: Endpoint(from, half(0)),
        to: Endpoint(to, half(2)),
        seq: word(4),
        ack: (tcp[13] & ACK != 0).then(|| word(8)),
        syn: tcp[13] & SYN != 0,
        payload: u32::try_from(length.checked_sub(header)?).ok()?,
    })
}
