//! A pcap or pcapng file: the TCP connection that carries most data.
//!
//! Captured packets may be segments that the network card cuts or merges (TSO, GRO), so bytes are counted, not packets.

mod flow;
mod packets;

use super::{Finding, Import, UPPER_BOUND, buffer, decimals, wire_share};
use flow::Flow;
use packets::{Endpoint, Packet};
use std::collections::BTreeMap;

/// Returns whether a file begins as a capture does: pcap of both byte orders and precisions, or pcapng.
pub fn is_capture(bytes: &[u8]) -> bool {
    const MAGIC: [[u8; 4]; 5] = [
        [0xA1, 0xB2, 0xC3, 0xD4],
        [0xD4, 0xC3, 0xB2, 0xA1],
        [0xA1, 0xB2, 0x3C, 0x4D],
        [0x4D, 0x3C, 0xB2, 0xA1],
        [0x0A, 0x0D, 0x0D, 0x0A],
    ];
    bytes.get(..4).is_some_and(|first| MAGIC.iter().any(|magic| first == magic))
}

pub fn parse(bytes: &[u8]) -> Result<Import, String> {
    let packets::Packets { tcp: packets, damaged } = packets::read(bytes)?;
    let mut connections: BTreeMap<(Endpoint, Endpoint), Vec<&Packet>> = BTreeMap::new();
    for packet in &packets {
        let (a, b) = (packet.from.min(packet.to), packet.from.max(packet.to));
        connections.entry((a, b)).or_default().push(packet);
    }
    let all = connections.len();
    let most = connections.into_values().map(|packets| once(&packets)).max_by_key(|packets| data(packets));
    let most = most.filter(|packets| data(packets) > 0);
    let most = most.ok_or_else(|| format!("none of its {} TCP packets carries data", packets.len()))?;
    let mut import = import(&Flow::of(&most), all);
    if damaged {
        import.source += &format!("; the file is damaged or cut off after {} TCP packets", packets.len());
    }
    Ok(import)
}

/// Returns the packets of a connection once, those of each direction from the interface that has most of them: a capture of
/// several interfaces has a packet more than once, or each direction on another one.
fn once<'a>(packets: &[&'a Packet]) -> Vec<&'a Packet> {
    let mut counts: BTreeMap<(Endpoint, u32), usize> = BTreeMap::new();
    for packet in packets {
        *counts.entry((packet.from, packet.interface)).or_default() += 1;
    }
    let is_most = |packet: &&&Packet| {
        let count = counts[&(packet.from, packet.interface)];
        let mut others = counts.iter().filter(|((from, _), _)| *from == packet.from);
        // Of equal ones the first.
        others.all(|((_, other), others)| *others < count || *others == count && *other >= packet.interface)
    };
    packets.iter().filter(is_most).copied().collect()
}

fn data(packets: &[&Packet]) -> u64 {
    packets.iter().map(|packet| u64::from(packet.payload)).sum()
}

/// A capture next to the receiver sees an ACK soon after its data: in less than this share of the handshake's round trip.
const AT_RECEIVER: f64 = 0.5;

fn import(flow: &Flow, connections: usize) -> Import {
    let share = wire_share(f64::from(flow.largest.clamp(1, 1448)));
    let rate = match flow.greatest_rate() {
        Some((rate, window)) => Finding::found(
            rate * share,
            format!(
                "most data acknowledged in {} s, x {share:.3} for headers; a lower bound, but some 5 % too much where an \
                 ACK ends a recovery",
                decimals(window)
            ),
        ),
        None => {
            Finding::missing("the capture has no ACKs of the data, or is too short: less than 10 ms of data")
        }
    };
    let least = flow.rtts.iter().copied().reduce(f64::min);
    let at_receiver =
        matches!((flow.handshake, least), (Some(handshake), Some(least)) if least < AT_RECEIVER * handshake);
    let rtt = match (flow.handshake, least) {
        (Some(handshake), _) if at_receiver => Finding::found(
            handshake,
            "handshake, from the SYN to the last ACK; captured at or near the receiver",
        ),
        (Some(handshake), Some(least)) => Finding::found(
            handshake.min(least),
            format!(
                "less of the handshake ({} ms) and the least from data to its ACK",
                decimals(handshake * 1e3)
            ),
        ),
        (Some(handshake), None) => Finding::found(handshake, "handshake, from the SYN to the last ACK"),
        (None, Some(least)) => Finding::found(
            least,
            "least from data to its ACK; the handshake is missing, so it holds only if the sender's host captured it",
        ),
        (None, None) => Finding::missing("the capture has neither the handshake nor ACKs of the data"),
    };
    let longest = flow.rtts.iter().copied().reduce(f64::max);
    let buffer = match (longest, rtt.value(), rate.value()) {
        _ if at_receiver => Finding::missing(
            "captured at or near the receiver, where no queue shows: capture on the sending host",
        ),
        (Some(longest), Some(base), Some(rate)) => {
            buffer(longest, base, rate, "longest from data to its ACK")
        }
        _ => Finding::missing("it takes the ACKs of the data"),
    };
    let again = format!("{} of {} bytes of data again or out of order", flow.resent, flow.sent);
    let loss = match flow.congested_rtt().filter(|_| !at_receiver) {
        Some(threshold) => Finding::found(
            flow.resent_below(threshold) as f64 / flow.sent.max(1) as f64,
            format!(
                "{again}, of which those count whose last RTT before was below {} ms, half way to the longest: above, the \
                 queue is taken to have been full",
                decimals(threshold * 1e3)
            ),
        ),
        None => {
            Finding::found(flow.resent as f64 / flow.sent.max(1) as f64, format!("{again}; {UPPER_BOUND}"))
        }
    };
    let others = match connections {
        1 => String::new(),
        many => format!(", which carries most data of {many} in it"),
    };
    Import {
        source: format!("capture of {} -> {}, {} s{others}", flow.from, flow.to, decimals(flow.seconds)),
        rate,
        rtt,
        loss,
        buffer,
        trace: None,
    }
}
