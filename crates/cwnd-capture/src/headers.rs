//! The headers of a simulated packet, as they would stand on a wire.
//!
//! The simulator's packets say what decides their way: flow, segment, size, flags, SACK blocks, a timestamp. The rest follows
//! from the scenario, so that the same packet has the same headers wherever it is captured (but for the Ethernet addresses,
//! which are those of the link's ends):
//!
//! - With the `linux` profile, whose sizes count Ethernet's 14 bytes, frames are Ethernet; with `ns2` they are IPv4. A frame's
//!   length is the packet's size in the scenario, unless its headers need more: ns-2's ACKs have 8 bytes for a SACK block,
//!   where the option takes 4 more, and a SYN without timestamps has too few by 4.
//! - Node n (from 0) has the address 10.x.y.z with n + 1 in the last 24 bits. Flow i sends from port 49152 + i, to 5001; after
//!   16,384 flows to 5002, and so on.
//! - Sequence numbers count bytes from 0. A SYN takes one, so that data begins at 1; ns-2's short first segment is such a SYN.
//! - The window is the scenario's receive window, scaled where a handshake says how; else the field is never scaled, and
//!   65,535 means at least that.
//! - A timestamps option is there if packets have room for it (ns-2's have 10 bytes for its 12). It counts milliseconds. An
//!   ACK tells no time of its own, so that its TSval is the value that it echoes, and data echoes 0.
//! - Payload is all zeros, which makes TCP's checksums right; a capture ends with the headers.

use cwnd_scenario::{NodeId, Scenario, StackProfile};
use cwnd_tcp::packet::{ACCURATE, ACE_SHIFT, CE, CWR, ECE, ECT, ECT1, PUSH, Packet, SACK, SYN, SackBlocks};
use etherparse::{
    EtherType, Ethernet2Header, IpEcn, IpNumber, Ipv4Header, TcpHeader,
    TcpOptionElement::{
        self, MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted,
        Timestamp, WindowScale,
    },
};

/// Bytes of a timestamps option, padded.
const TIMESTAMPS: u32 = 12;
/// The first port of senders, how many they have, and the first of receivers.
const PORTS: (u16, usize, u16) = (49_152, 16_384, 5001);
/// The greatest shift of a window (RFC 7323 section 2.3).
const MOST_SHIFT: u8 = 14;

/// The payload of the longest packet.
static ZEROS: [u8; u16::MAX as usize] = [0; u16::MAX as usize];

/// What is the same for all packets of a scenario.
#[derive(Clone, Debug)]
pub struct Headers {
    ethernet: bool,
    timestamps: bool,
    handshake: bool,
    /// The first segment is a SYN.
    syn_segment: bool,
    sack: bool,
    payload: u32,
    data_overhead: u32,
    window: u32,
    shift: u8,
    flows: Vec<Flow>,
}

#[derive(Clone, Debug)]
struct Flow {
    /// Sender's and receiver's nodes.
    nodes: [NodeId; 2],
    /// Segments and bytes, if it ends.
    end: Option<(u64, u64)>,
    ecn: bool,
}

/// The headers of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its headers.
    pub bytes: Vec<u8>,
    /// Its length with all that comes behind them.
    pub length: u32,
}

impl Headers {
    /// Those of a scenario; `ecn` tells whether a flow has negotiated ECN.
    pub fn new(scenario: &Scenario, ecn: impl Fn(usize) -> bool) -> Headers {
        let stack = &scenario.stack;
        let ethernet = stack.profile == StackProfile::Linux;
        let link_layer = if ethernet { Ethernet2Header::LEN } else { 0 };
        let room = stack
            .data_overhead
            .saturating_sub((link_layer + Ipv4Header::MIN_LEN + TcpHeader::MIN_LEN) as u32);
        let window = stack.receive_window.saturating_mul(stack.payload);
        let shift =
            (0..MOST_SHIFT).find(|shift| window >> shift <= u32::from(u16::MAX)).unwrap_or(MOST_SHIFT);
        let links = &scenario.network.links;
        let flows = scenario.flows.iter().enumerate().map(|(i, flow)| {
            let end = flow.bytes.map(|bytes| (bytes.div_ceil(u64::from(stack.payload)).max(1), bytes));
            Flow { nodes: [links[flow.route[0]].from, links[flow.ack_route[0]].from], end, ecn: ecn(i) }
        });
        Headers {
            ethernet,
            timestamps: stack.timestamps && room >= TIMESTAMPS,
            handshake: stack.handshake,
            syn_segment: !stack.handshake && stack.first_packet.is_some(),
            sack: stack.sack,
            payload: stack.payload,
            data_overhead: stack.data_overhead,
            window,
            shift: if stack.handshake { shift } else { 0 },
            flows: flows.collect(),
        }
    }

    /// Whether frames begin with an Ethernet header.
    pub fn are_ethernet(&self) -> bool {
        self.ethernet
    }

    /// The headers of a packet between two nodes.
    pub fn of(&self, packet: &Packet, blocks: Option<&SackBlocks>, link: [NodeId; 2]) -> Frame {
        let mut tcp = self.tcp(packet, blocks);
        let payload = self.payload_of(packet);
        let [from, to] = self.ends(packet);
        let ip_length = (Ipv4Header::MIN_LEN + tcp.header_len()) as u32 + payload;
        let mut ip = Ipv4Header {
            total_len: ip_length as u16,
            ecn: codepoint(packet),
            // No identification, since it must not be fragmented (RFC 6864).
            dont_fragment: true,
            time_to_live: 64,
            protocol: IpNumber::TCP,
            source: from,
            destination: to,
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        let zeros = &ZEROS[..payload as usize];
        tcp.checksum = tcp.calc_checksum_ipv4_raw(from, to, zeros).expect("a packet is no longer than 64 KB");
        let mut bytes = Vec::with_capacity(Ethernet2Header::LEN + Ipv4Header::MIN_LEN + tcp.header_len());
        if self.ethernet {
            let address = |node: NodeId| {
                let [a, b, c, d] = (node as u32).to_be_bytes();
                [2, 0, a, b, c, d]
            };
            let [source, destination] = link.map(address);
            bytes.extend(Ethernet2Header { source, destination, ether_type: EtherType::IPV4 }.to_bytes());
        }
        bytes.extend(ip.to_bytes());
        bytes.extend(tcp.to_bytes());
        let needed = if self.ethernet { Ethernet2Header::LEN as u32 + ip_length } else { ip_length };
        Frame { bytes, length: needed.max(u32::from(packet.size)) }
    }

    /// Addresses of sender and receiver of a packet.
    fn ends(&self, packet: &Packet) -> [[u8; 4]; 2] {
        let [sender, receiver] = self.flows[packet.flow()].nodes;
        let address = |node: NodeId| (10 << 24 | (node as u32 + 1) & 0xFF_FFFF).to_be_bytes();
        let ends = [address(sender), address(receiver)];
        if is_reverse(packet) { [ends[1], ends[0]] } else { ends }
    }

    /// Its TCP header, the checksum still zero.
    fn tcp(&self, packet: &Packet, blocks: Option<&SackBlocks>) -> TcpHeader {
        let flow = packet.flow();
        let sender = PORTS.0 + (flow % PORTS.1) as u16;
        let receiver = PORTS.2 + (flow / PORTS.1) as u16;
        let reverse = is_reverse(packet);
        let syn = packet.is(SYN) || self.is_syn_segment(packet);
        let (from, to) = if reverse { (receiver, sender) } else { (sender, receiver) };
        let after_syn = u32::from(!syn);
        let (sequence, acknowledgement) = match (reverse, packet.is_data()) {
            // The receiver has taken a number for its SYN, and sends no data.
            (true, _) if syn => (0, 1),
            (true, _) => (1, self.edge(flow, packet.seq)),
            (false, true) if !syn => (self.edge(flow, packet.seq), 1),
            (false, _) => (after_syn, after_syn),
        };
        // RFC 3168 section 6.1.1: a SYN asks for ECN with both flags, and the answer says ECE.
        let asks = packet.is(SYN) && self.flows[flow].ecn && !packet.is(ACCURATE);
        let mut header = TcpHeader::new(from, to, sequence, self.window(reverse, syn));
        header.acknowledgment_number = acknowledgement;
        header.syn = syn;
        header.ack = reverse || !syn;
        header.psh = packet.is(PUSH);
        header.ece = packet.is(ECE) || asks;
        header.cwr = packet.is(CWR) || (asks && !reverse);
        if packet.is(ACCURATE) {
            self.set_accurate_flags(packet, reverse, &mut header);
        }
        header.set_options(&self.options(packet, blocks, syn)).expect("the options of a packet have room");
        header
    }

    /// Sets the flags of accurate ECN feedback (RFC 9768 sections 3.1.1 and 3.2.2): the third flag (AE) has the place of the
    /// former nonce sum. The option is not written.
    fn set_accurate_flags(&self, packet: &Packet, reverse: bool, header: &mut TcpHeader) {
        if packet.is(SYN) {
            header.ns = !reverse;
            return;
        }
        let ace = packet.flags >> ACE_SHIFT;
        (header.ns, header.cwr, header.ece) = (ace & 4 != 0, ace & 2 != 0, ace & 1 != 0);
    }

    /// The sequence number at which a segment begins.
    fn edge(&self, flow: usize, segment: u32) -> u32 {
        let at = |segment: u32| segment.wrapping_mul(self.payload).wrapping_add(1);
        let missing = match self.flows[flow].end {
            // The last segment of a transfer may be short.
            Some((segments, bytes)) if segment == segments as u32 => {
                (segments * u64::from(self.payload) - bytes) as u32
            }
            _ => 0,
        };
        match (self.syn_segment, segment) {
            (false, _) => at(segment).wrapping_sub(missing),
            (true, 0) => 0,
            // A transfer of the SYN alone ends with it.
            (true, 1) => 1,
            (true, _) => at(segment - 1).wrapping_sub(missing),
        }
    }

    fn is_syn_segment(&self, packet: &Packet) -> bool {
        self.syn_segment && packet.is_data() && packet.seq == 0
    }

    /// Bytes of data that a packet carries.
    fn payload_of(&self, packet: &Packet) -> u32 {
        if !packet.is_data() || self.is_syn_segment(packet) {
            return 0;
        }
        u32::from(packet.size).saturating_sub(self.data_overhead)
    }

    /// The window field. What a SYN says is not scaled.
    fn window(&self, reverse: bool, syn: bool) -> u16 {
        let most = u32::from(u16::MAX);
        match (reverse, syn) {
            (true, false) => (self.window >> self.shift).min(most) as u16,
            (_, true) => self.window.min(most) as u16,
            // Nothing comes to the sender but ACKs.
            (false, false) => (most >> self.shift) as u16,
        }
    }

    /// TCP's options, padded to whole words.
    fn options(&self, packet: &Packet, blocks: Option<&SackBlocks>, syn: bool) -> Vec<TcpOptionElement> {
        let mut options = Vec::new();
        if syn && self.handshake {
            // What a segment may carry if it had no options (RFC 6691).
            let most = self.payload + if self.timestamps { TIMESTAMPS } else { 0 };
            options.push(MaximumSegmentSize(most.min(u32::from(u16::MAX)) as u16));
        }
        let permits = syn && self.handshake && self.sack;
        let stamped = self.timestamps && !self.is_syn_segment(packet);
        if permits != stamped {
            options.extend([Noop, Noop]);
        }
        if permits {
            options.push(SelectiveAcknowledgementPermitted);
        }
        if stamped {
            // From 1 on, since 0 means none.
            let stamp = ((packet.sent / 1_000_000) as u32).wrapping_add(1);
            options.push(Timestamp(stamp, if is_reverse(packet) { stamp } else { 0 }));
        }
        if syn && self.handshake {
            options.extend([Noop, WindowScale(self.shift)]);
        }
        if let Some(blocks) = blocks.filter(|_| packet.is(SACK)) {
            let edge = |segment| self.edge(packet.flow(), segment);
            let mut blocks = blocks.iter().map(|(begin, end)| (edge(begin), edge(end)));
            if let Some(first) = blocks.next() {
                options.extend([
                    Noop,
                    Noop,
                    SelectiveAcknowledgement(first, [(); 3].map(|()| blocks.next())),
                ]);
            }
        }
        options
    }
}

/// Whether it goes from the receiver to the sender.
fn is_reverse(packet: &Packet) -> bool {
    packet.channel % 2 == 1
}

/// The ECN bits of the IP header.
fn codepoint(packet: &Packet) -> IpEcn {
    match packet.flags & (ECT | ECT1 | CE) {
        bits if bits & CE != 0 => IpEcn::CongestionExperienced,
        bits if bits & ECT == 0 => IpEcn::NotEct,
        bits if bits & ECT1 != 0 => IpEcn::Ect1,
        _ => IpEcn::Ect0,
    }
}

#[cfg(test)]
mod tests;
