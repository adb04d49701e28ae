//! Packets of scripts as IPv4 and TCP headers, and back.

use super::flags;
use cwnd_drill::script::{EcnMark, Packet, TcpOption};
use std::net::SocketAddrV4;

const TCP: u8 = 6;

/// Returns the ports and the packet; `None` if it is not a whole TCP packet over IPv4.
pub(super) fn decode(bytes: &[u8]) -> Option<((u16, u16), Packet)> {
    let first = *bytes.first()?;
    let header = usize::from(first & 15) * 4;
    if first >> 4 != 4 || *bytes.get(9)? != TCP {
        return None;
    }
    let total = usize::from(u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]));
    let tcp = bytes.get(header..total.min(bytes.len()))?;
    let word = |at: usize| Some(u16::from_be_bytes([*tcp.get(at)?, *tcp.get(at + 1)?]));
    let long = |at: usize| Some(u32::from(word(at)?) << 16 | u32::from(word(at + 2)?));
    let offset = usize::from(*tcp.get(12)? >> 4) * 4;
    let flags = flags(*tcp.get(13)?);
    let packet = Packet {
        ecn: match bytes[1] & 3 {
            0 => EcnMark::NotEct,
            1 => EcnMark::Ect1,
            2 => EcnMark::Ect0,
            _ => EcnMark::Ce,
        },
        flags,
        seq: long(4)?,
        length: u32::try_from(tcp.len().checked_sub(offset)?).ok()?,
        ack: if flags.ack { Some(long(8)?) } else { None },
        window: Some(u32::from(word(14)?)),
        options: Some(decode_options(tcp.get(20..offset)?)),
    };
    Some(((word(0)?, word(2)?), packet))
}

fn decode_options(mut bytes: &[u8]) -> Vec<TcpOption> {
    let mut options = Vec::new();
    while let Some(&kind) = bytes.first() {
        if kind == 1 {
            options.push(TcpOption::Nop);
            bytes = &bytes[1..];
            continue;
        }
        if kind == 0 {
            break;
        }
        let length = usize::from(bytes.get(1).copied().unwrap_or(0));
        let Some(data) = bytes.get(2..length) else { break };
        let long = |at: usize| {
            data.get(at..at + 4).map_or(0, |four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
        };
        match (kind, data.len()) {
            (2, 2) => options.push(TcpOption::Mss(u32::from(u16::from_be_bytes([data[0], data[1]])))),
            (3, 1) => options.push(TcpOption::WindowScale(u32::from(data[0]))),
            (4, 0) => options.push(TcpOption::SackPermitted),
            (5, blocks) => {
                options
                    .push(TcpOption::Sack((0..blocks / 8).map(|i| (long(8 * i), long(8 * i + 4))).collect()));
            }
            (8, 8) => options.push(TcpOption::Timestamps { value: long(0), echo: long(4) }),
            _ => {}
        }
        bytes = &bytes[length..];
    }
    options
}

fn encode_options(options: &[TcpOption]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for option in options {
        match option {
            TcpOption::Nop => bytes.push(1),
            TcpOption::EndOfList => bytes.push(0),
            TcpOption::Mss(mss) => {
                bytes.extend([2, 4]);
                bytes.extend((*mss as u16).to_be_bytes());
            }
            TcpOption::WindowScale(shift) => bytes.extend([3, 3, *shift as u8]),
            TcpOption::SackPermitted => bytes.extend([4, 2]),
            TcpOption::Sack(blocks) => {
                bytes.extend([5, 2 + 8 * blocks.len() as u8]);
                for (from, to) in blocks {
                    bytes.extend(from.to_be_bytes());
                    bytes.extend(to.to_be_bytes());
                }
            }
            TcpOption::Timestamps { value, echo } => {
                bytes.extend([8, 10]);
                bytes.extend(value.to_be_bytes());
                bytes.extend(echo.to_be_bytes());
            }
        }
    }
    while bytes.len() % 4 != 0 {
        bytes.push(0);
    }
    bytes.truncate(40);
    bytes
}

/// Returns the bytes of a packet from `from` to `to`.
pub(super) fn encode(packet: &Packet, from: SocketAddrV4, to: SocketAddrV4) -> Vec<u8> {
    let options = encode_options(packet.options.as_deref().unwrap_or_default());
    let offset = 20 + options.len();
    let length = (packet.length as usize).min(65_000);
    let total = 20 + offset + length;
    let flags = packet.flags;
    let set = [flags.fin, flags.syn, flags.rst, flags.psh, flags.ack, flags.urg, flags.ece, flags.cwr];
    let flags = set.iter().enumerate().fold(0u8, |byte, (bit, set)| byte | u8::from(*set) << bit);
    let mark = match packet.ecn {
        EcnMark::Unstated | EcnMark::NotEct => 0,
        EcnMark::Ect1 => 1,
        EcnMark::Ect0 => 2,
        EcnMark::Ce => 3,
    };
    let mut bytes = vec![0x45, mark];
    bytes.extend((total as u16).to_be_bytes());
    bytes.extend([0, 0, 0, 0, 64, TCP, 0, 0]);
    bytes.extend(from.ip().octets());
    bytes.extend(to.ip().octets());
    let sum = checksum(&bytes, 0);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend(from.port().to_be_bytes());
    bytes.extend(to.port().to_be_bytes());
    bytes.extend(packet.seq.to_be_bytes());
    bytes.extend(packet.ack.unwrap_or(0).to_be_bytes());
    bytes.extend([((offset / 4) << 4) as u8, flags]);
    bytes.extend((packet.window.unwrap_or(0).min(65_535) as u16).to_be_bytes());
    bytes.extend([0, 0, 0, 0]);
    bytes.extend(options);
    bytes.resize(total, 0);
    // The pseudo-header: addresses, protocol and length.
    let words = bytes[12..20].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let pseudo = words.sum::<u32>() + u32::from(TCP) + (total - 20) as u32;
    let sum = checksum(&bytes[20..], pseudo);
    bytes[36..38].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// Returns the Internet checksum (RFC 1071).
fn checksum(bytes: &[u8], initial: u32) -> u16 {
    let pairs =
        bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
    let mut sum = u64::from(initial) + pairs.map(u64::from).sum::<u64>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_drill::script::Flags;
    use std::net::Ipv4Addr;

    #[test]
    fn packets_survive_the_wire() {
        let packet = Packet {
            ecn: EcnMark::Ect0,
            flags: Flags { ack: true, psh: true, ece: true, ..Flags::default() },
            seq: 7,
            length: 5,
            ack: Some(4_000_000_000),
            window: Some(300),
            options: Some(vec![
                TcpOption::Nop,
                TcpOption::Nop,
                TcpOption::Timestamps { value: 1, echo: 2 },
                TcpOption::Nop,
                TcpOption::Nop,
                TcpOption::Sack(vec![(10, 20), (30, 40)]),
            ]),
        };
        let address = |last| SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, last), 1000 + u16::from(last));
        let bytes = encode(&packet, address(1), address(2));
        assert_eq!(decode(&bytes), Some(((1001, 1002), packet)));
        // A header with its checksum sums to all ones.
        assert_eq!(checksum(&bytes[..20], 0), 0);
        assert_eq!(decode(&bytes[..30]), None);
    }
}
