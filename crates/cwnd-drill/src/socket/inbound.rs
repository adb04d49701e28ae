//! Packets that arrive on an established connection, and the receiver of the data that they carry.

use super::{Collector, Phase, Socket, engine_time};
use crate::cursor::{Place, ScriptError};
use crate::endpoint::Trigger;
use crate::script::{EcnMark, Packet, TcpOption};
use cwnd_cc::EcnMode;
use cwnd_tcp::accurate_ecn::Capability;
use cwnd_tcp::packet::{self, BARE, CE, ECE, SACK, SackBlocks};
use cwnd_tcp::{NEVER, Receiver, ReceiverConfig, TimerWheel};

/// How long Linux delays the ACK of the first of two packets, ns.
const DELAYED_ACK: u64 = 40_000_000;

/// The incoming stream: a receiver of `cwnd-tcp`, which counts segments of one size.
#[derive(Default)]
pub(super) struct Inbound {
    receiver: Option<Receiver>,
    /// The sequence number of the first byte.
    first: u32,
    /// The payload of a segment: that of the first packet with data; zero before.
    unit: u32,
    /// Whether the peer's FIN was received.
    finished: bool,
    /// Whether congestion marks are echoed.
    echo: bool,
    read: u64,
    handshake: Option<(u64, u64)>,
    ecn: EcnMode,
}

impl Inbound {
    pub fn begin(&mut self, first: u32) {
        self.first = first;
    }

    pub fn establish(&mut self, began: u64, now: u64, ecn: EcnMode) {
        self.handshake = Some((began, now));
        self.ecn = ecn;
    }

    pub fn deadline(&self) -> u64 {
        self.receiver.as_ref().map_or(NEVER, |receiver| receiver.deadline)
    }

    pub fn on_timer(&mut self, now: u64, out: &mut Collector) {
        if let Some(receiver) = &mut self.receiver {
            receiver.on_timer(now, out);
        }
    }

    /// Returns the sequence number where a segment begins.
    pub fn sequence(&self, segment: u64) -> u32 {
        let offset = (segment as u32).wrapping_mul(self.unit).wrapping_add(u32::from(self.finished));
        self.first.wrapping_add(offset)
    }

    /// Returns the sequence number expected next.
    pub fn next(&self) -> u32 {
        self.sequence(self.segments())
    }

    fn segments(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::in_order)
    }

    /// Returns whether ACKs carry ECE.
    pub fn echoes(&self) -> bool {
        self.echo
    }

    /// Returns the bytes that the application can read.
    pub fn readable(&self) -> u64 {
        self.segments() * u64::from(self.unit) - self.read
    }

    /// Reads up to `most` bytes. Returns how many there were.
    pub fn take(&mut self, most: u64) -> u64 {
        let taken = self.readable().min(most);
        self.read += taken;
        taken
    }

    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Creates the receiver when the first data arrives.
    fn create(&mut self, unit: u32) -> Receiver {
        self.unit = unit;
        let mut receiver = Receiver::new(ReceiverConfig {
            channel: 1,
            packet_size: unit,
            ack_size: 40,
            sack_sizes: (4, 8),
            sack_blocks: 4,
            sack_memory: 8,
            delayed_ack: Some(DELAYED_ACK),
            ecn: self.ecn,
            linux: true,
            growing_window: 0,
            behaviour: cwnd_scenario::ReceiverBehaviour::Honest,
            timer: TimerWheel::new(super::HZ),
            // The timestamps of a script need not follow its times.
            paws: false,
            accurate_ecn: false,
            ecn_capability: Capability::default(),
            ecn_option: false,
            data_overhead: 0,
        });
        if let Some((began, now)) = self.handshake {
            let bare = packet::Packet { sent: began, ..Default::default() };
            let mut unseen = Collector::default();
            receiver.on_packet(began, &packet::Packet { flags: BARE | packet::SYN, ..bare }, &mut unseen);
            receiver.on_packet(
                now,
                &packet::Packet { flags: BARE | packet::ESTABLISHED, ..bare },
                &mut unseen,
            );
        }
        receiver
    }

    /// Passes the data of a packet to the receiver.
    fn receive(
        &mut self,
        now: u64,
        packet: &Packet,
        place: Place,
        out: &mut Collector,
    ) -> Result<(), ScriptError> {
        let mut receiver = match self.receiver.take() {
            Some(receiver) => receiver,
            None => self.create(packet.length),
        };
        let unit = self.unit;
        let offset = packet.seq.wrapping_sub(self.first);
        let fits = offset.is_multiple_of(unit) && packet.length.is_multiple_of(unit);
        let marked = if packet.ecn == EcnMark::Ce { CE } else { 0 };
        let cwr = if packet.flags.cwr { packet::CWR } else { 0 };
        let segments = if fits { (packet.length / unit).min(65_536) } else { 0 };
        for segment in 0..segments {
            let push = segment + 1 == segments && packet.flags.psh;
            let flags = marked | cwr | if push { packet::PUSH } else { 0 };
            let seq = offset / unit + segment;
            let data = packet::Packet { at: now, sent: now, seq, flags, ..Default::default() };
            // A segment far outside of any window would only cost memory.
            if u64::from(seq) < receiver.in_order() + 65_536 {
                receiver.on_packet(now, &data, out);
            }
        }
        self.receiver = Some(receiver);
        if self.ecn == EcnMode::Classic {
            self.echo = (self.echo && !packet.flags.cwr) || marked != 0;
        }
        match fits {
            true => Ok(()),
            false => Err(ScriptError::new(
                place,
                format!(
                    "packets with data that arrive must have the size of the first one, {unit} bytes, or a multiple of it"
                ),
            )),
        }
    }
}

impl Socket {
    /// Processes a packet on the established connection.
    pub(super) fn process(&mut self, packet: &Packet, place: Place) -> Result<(), ScriptError> {
        let before = self.sent.len();
        if packet.flags.ack {
            self.process_ack(packet);
        }
        if self.phase != Phase::Established {
            return Ok(());
        }
        let mut out = Collector::default();
        if packet.length > 0 {
            self.inbound.receive(engine_time(self.clock), packet, place, &mut out)?;
        }
        let ends_here = packet.seq.wrapping_add(packet.length) == self.inbound.next();
        if packet.flags.fin && !self.inbound.finished && ends_here {
            self.inbound.finished = true;
            let ack = self.ack_packet();
            self.push(ack, Trigger::Arrival, false);
        } else if self.sent.iter().skip(before).all(|sent| sent.retransmission) {
            // New data that has just left carries the acknowledgement.
            self.take_acks(out, Trigger::Arrival);
        }
        Ok(())
    }

    fn process_ack(&mut self, packet: &Packet) {
        let bytes = u64::from(packet.window.unwrap_or(0)) << self.peer.window_scale;
        let echo = packet.options.iter().flatten().find_map(|option| match option {
            TcpOption::Timestamps { echo, .. } => Some(*echo),
            _ => None,
        });
        let echoed = echo.and_then(|echo| self.departures.get(&echo).copied()).unwrap_or(self.clock);
        let end = self.stream.end();
        // The SYN and the FIN take a sequence number each.
        let offset = |seq: u32| u64::from(seq.saturating_sub(1)).min(end);
        let acknowledged = self.stream.segments_below(offset(packet.ack.unwrap_or(0)));
        let sent = self.sender.as_ref().map_or(0, |sender| sender.next_segment());
        // What was never sent cannot have arrived: Linux ignores a block of it (`tcp_is_sackblock_valid`).
        let was_sent = |to: u32| {
            let to = u64::from(to.saturating_sub(1));
            to <= end + 1 && self.stream.segments_below(to.min(end)) <= sent
        };
        let mut blocks = SackBlocks::default();
        for option in packet.options.iter().flatten() {
            let TcpOption::Sack(named) = option else { continue };
            for &(from, to) in named.iter().filter(|(_, to)| was_sent(*to)) {
                let from = self.stream.first_from(offset(from));
                let to = self.stream.segments_below(offset(to));
                if from < to && (blocks.len as usize) < blocks.blocks.len() {
                    blocks.blocks[blocks.len as usize] = (from as u32, to as u32);
                    blocks.len += 1;
                }
            }
        }
        self.set_window(bytes);
        let echoes_mark = packet.flags.ece && self.peer.ecn;
        let has_blocks = blocks.len > 0 && self.peer.sack;
        let Some(sender) = &mut self.sender else { return };
        if acknowledged > sender.next_segment() {
            // RFC 9293 section 3.10.7.4: an ACK of something not sent is dropped.
            return;
        }
        let flags = BARE | if has_blocks { SACK } else { 0 } | if echoes_mark { ECE } else { 0 };
        let (sent, seq) = (engine_time(echoed), acknowledged as u32);
        let ack = packet::Packet { sent, seq, channel: 1, flags, ..Default::default() };
        let mut out = Collector { blocked: self.settings.queue_blocked, ..Collector::default() };
        sender.on_packet(engine_time(self.clock), &ack, has_blocks.then_some(&blocks), &mut out);
        self.take(out, Trigger::Arrival);
        self.give(Trigger::Arrival);
    }
}
