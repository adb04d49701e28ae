//! What the network carries: TCP segments and UDP datagrams.

use bytes::Bytes;
use cwnd_net::{Arrival, Codepoint};
use cwnd_sim::link::queued::{arrival, codepoint_flags};
use cwnd_tcp::packet::{CE, ESTABLISHED, Packet as Tcp, SYN, SackBlocks};

/// A packet of a flow.
#[derive(Clone, Debug)]
pub enum Packet {
    /// A TCP segment, and its SACK blocks.
    Segment(Tcp, Option<SackBlocks>),
    /// A UDP datagram.
    Datagram(Datagram),
}

/// A UDP datagram with one or more QUIC packets.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// Twice the flow's number, plus one from the receiver to the sender.
    pub channel: u32,
    /// Bytes on the wire: the payload, UDP, IP and link headers.
    pub wire: u32,
    /// The ECN field.
    pub ecn: Codepoint,
    /// Whether a link made it as a copy of another.
    pub is_copy: bool,
    /// The payload of UDP.
    pub payload: Bytes,
}

/// What a packet is, for the counts of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of a handshake.
    Handshake,
    /// From the sender after the handshake.
    Data,
    /// From the receiver after the handshake.
    Ack,
}

impl Packet {
    /// Returns what it is. A datagram whose first QUIC packet has a long header belongs to the handshake (RFC 9000 section 17.2).
    pub fn kind(&self) -> Kind {
        match self {
            Packet::Segment(packet, _) if packet.flags & (SYN | ESTABLISHED) != 0 => Kind::Handshake,
            Packet::Segment(packet, _) if packet.is_data() => Kind::Data,
            Packet::Segment(..) => Kind::Ack,
            Packet::Datagram(datagram) => datagram.kind(),
        }
    }

    /// Returns the channel that it is on.
    pub fn channel(&self) -> usize {
        match self {
            Packet::Segment(packet, _) => packet.channel as usize,
            Packet::Datagram(datagram) => datagram.channel as usize,
        }
    }
}

impl Datagram {
    /// Returns what it is; see [`Packet::kind`].
    pub fn kind(&self) -> Kind {
        const LONG_HEADER: u8 = 0x80;
        match self.payload.first() {
            Some(first) if first & LONG_HEADER != 0 => Kind::Handshake,
            _ if self.channel.is_multiple_of(2) => Kind::Data,
            _ => Kind::Ack,
        }
    }
}

impl cwnd_net::Packet for Packet {
    fn arrival(&self) -> Arrival {
        match self {
            Packet::Segment(packet, _) => arrival(packet),
            Packet::Datagram(Datagram { channel, wire, ecn, .. }) => {
                Arrival { bytes: *wire, flow: *channel, ecn: *ecn, plain_ack: false }
            }
        }
    }

    fn mark(&mut self) {
        match self {
            Packet::Segment(packet, _) => packet.flags |= CE,
            Packet::Datagram(datagram) => datagram.ecn = Codepoint::Ce,
        }
    }

    fn set_ecn(&mut self, codepoint: Codepoint) {
        match self {
            Packet::Segment(packet, _) => {
                let field = codepoint_flags(Codepoint::Ce) | codepoint_flags(Codepoint::Ect1);
                packet.flags = packet.flags & !field | codepoint_flags(codepoint);
            }
            Packet::Datagram(datagram) => datagram.ecn = codepoint,
        }
    }

    fn is_data(&self) -> bool {
        match self {
            Packet::Segment(packet, _) => packet.is_data(),
            Packet::Datagram(datagram) => datagram.kind() == Kind::Data,
        }
    }
}
