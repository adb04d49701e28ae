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
use cwnd_tcp::packet::{CE, CWR, ECE, ECT, ECT1, PUSH, Packet, SACK, SYN as SYN_PACKET, SackBlocks};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Bytes of an IPv4 header without options.
const IPV4: usize = 20;
/// Bytes of a TCP header without options.
const TCP: usize = 20;
/// Bytes of a timestamps option, padded.
const TIMESTAMPS: u32 = 12;
/// The first port of senders, how many they have, and the first of receivers.
const PORTS: (u16, usize, u16) = (49_152, 16_384, 5001);
/// The greatest shift of a window (RFC 7323 section 2.3).
const MOST_SHIFT: u8 = 14;

/// TCP's flags.
const SYN: u8 = 0x02;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const ECN_ECHO: u8 = 0x40;
const WINDOW_REDUCED: u8 = 0x80;

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
        let link_layer = if ethernet { ETHERNET } else { 0 };
        let room = stack.data_overhead.saturating_sub((link_layer + IPV4 + TCP) as u32);
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
        let tcp = self.tcp(packet, blocks);
        let payload = self.payload_of(packet);
        let [from, to] = self.ends(packet);
        let ip_length = (IPV4 + tcp.len()) as u32 + payload;
        let mut bytes = Vec::with_capacity(ETHERNET + IPV4 + tcp.len());
        if self.ethernet {
            let mac = |node: NodeId| [[2, 0].as_slice(), &(node as u32).to_be_bytes()].concat();
            bytes.extend([mac(link[1]), mac(link[0]), vec![8, 0]].concat());
        }
        bytes.extend(ipv4(ip_length as u16, codepoint(packet), from, to));
        let begin = bytes.len();
        bytes.extend(&tcp);
        let pseudo = [&from[..], &to, &[0, 6], &((tcp.len() as u32 + payload) as u16).to_be_bytes()].concat();
        let sum = checksum(&[&pseudo, &tcp]);
        bytes[begin + 16..begin + 18].copy_from_slice(&sum.to_be_bytes());
        let needed = if self.ethernet { ETHERNET as u32 + ip_length } else { ip_length };
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
    fn tcp(&self, packet: &Packet, blocks: Option<&SackBlocks>) -> Vec<u8> {
        let flow = packet.flow();
        let sender = PORTS.0 + (flow % PORTS.1) as u16;
        let receiver = PORTS.2 + (flow / PORTS.1) as u16;
        let reverse = is_reverse(packet);
        let syn = packet.is(SYN_PACKET) || self.is_syn_segment(packet);
        let (from, to) = if reverse { (receiver, sender) } else { (sender, receiver) };
        let after_syn = u32::from(!syn);
        let (sequence, acknowledgement) = match (reverse, packet.is_data()) {
            // The receiver has taken a number for its SYN, and sends no data.
            (true, _) if syn => (0, 1),
            (true, _) => (1, self.edge(flow, packet.seq)),
            (false, true) if !syn => (self.edge(flow, packet.seq), 1),
            (false, _) => (after_syn, after_syn),
        };
        let options = self.options(packet, blocks, syn);
        let mut header = Vec::with_capacity(TCP + options.len());
        header.extend([from.to_be_bytes(), to.to_be_bytes()].concat());
        header.extend([sequence.to_be_bytes(), acknowledgement.to_be_bytes()].concat());
        header.push((((TCP + options.len()) / 4) << 4) as u8);
        header.push(self.flags(packet, syn));
        header.extend(self.window(reverse, syn).to_be_bytes());
        header.extend([0; 4]);
        header.extend(options);
        header
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

    fn flags(&self, packet: &Packet, syn: bool) -> u8 {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        let reverse = is_reverse(packet);
        // RFC 3168 section 6.1.1: a SYN asks for ECN with both flags, and the answer says ECE.
        let asks = packet.is(SYN_PACKET) && self.flows[packet.flow()].ecn;
        flag(syn, SYN)
            | flag(reverse || !syn, ACK)
            | flag(packet.is(PUSH), PSH)
            | flag(packet.is(ECE) || asks, ECN_ECHO)
            | flag(packet.is(CWR) || (asks && !reverse), WINDOW_REDUCED)
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
    fn options(&self, packet: &Packet, blocks: Option<&SackBlocks>, syn: bool) -> Vec<u8> {
        let mut options = Vec::new();
        if syn && self.handshake {
            // What a segment may carry if it had no options (RFC 6691).
            let most = self.payload + if self.timestamps { TIMESTAMPS } else { 0 };
            options.extend([2, 4]);
            options.extend((most.min(u32::from(u16::MAX)) as u16).to_be_bytes());
        }
        let permits = syn && self.handshake && self.sack;
        match (permits, self.timestamps && !self.is_syn_segment(packet)) {
            (true, true) => options.extend([4, 2]),
            (true, false) => options.extend([1, 1, 4, 2]),
            (false, true) => options.extend([1, 1]),
            (false, false) => {}
        }
        if self.timestamps && !self.is_syn_segment(packet) {
            // From 1 on, since 0 means none.
            let stamp = ((packet.sent / 1_000_000) as u32).wrapping_add(1);
            let echo = if is_reverse(packet) { stamp } else { 0 };
            options.extend([8, 10]);
            options.extend([stamp.to_be_bytes(), echo.to_be_bytes()].concat());
        }
        if syn && self.handshake {
            options.extend([1, 3, 3, self.shift]);
        }
        if let Some(blocks) = blocks.filter(|blocks| blocks.len > 0 && packet.is(SACK)) {
            options.extend([1, 1, 5, 2 + 8 * blocks.len as u8]);
            for (begin, end) in blocks.iter() {
                let edges = [begin, end].map(|segment| self.edge(packet.flow(), segment).to_be_bytes());
                options.extend(edges.concat());
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
fn codepoint(packet: &Packet) -> u8 {
    match packet.flags & (ECT | ECT1 | CE) {
        bits if bits & CE != 0 => 3,
        bits if bits & ECT == 0 => 0,
        bits if bits & ECT1 != 0 => 1,
        _ => 2,
    }
}

fn ipv4(length: u16, ecn: u8, from: [u8; 4], to: [u8; 4]) -> Vec<u8> {
    let mut header = vec![0x45, ecn];
    header.extend(length.to_be_bytes());
    // No identification, since it must not be fragmented (RFC 6864); 64 hops; TCP.
    header.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    header.extend([from, to].concat());
    let sum = checksum(&[&header]);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

/// The internet checksum (RFC 1071) of parts of an even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let sum: u32 = words.map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0))).sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    !(((folded & 0xFFFF) + (folded >> 16)) as u16)
}

#[cfg(test)]
mod tests;
