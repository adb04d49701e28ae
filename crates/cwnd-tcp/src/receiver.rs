//! The receiver: data in order, SACK blocks, delayed ACKs, ECN echo.

mod ack_policy;
mod plain_run;
mod sack_list;

use crate::accurate_ecn::{self, Capability, Counters, Grant};
use crate::fault::{self, Fault};
use crate::packet::{BARE, CE, CWR, ECE, ECN_OPTION, ESTABLISHED, Emit, PUSH, Packet, SACK, SYN};
use crate::{NEVER, SYN_OPTIONS, TimerWheel, expand};
use ack_policy::{AckPolicy, AckTime};
use cwnd_cc::EcnMode;
use cwnd_scenario::ReceiverBehaviour;
use sack_list::SackList;

#[doc(hidden)]
pub use plain_run::DelayedAckRun;

/// The settings of a receiver.
#[derive(Clone, Debug)]
pub struct ReceiverConfig {
    /// Channel of its ACKs.
    pub channel: u32,
    /// Wire bytes of a full data packet.
    pub packet_size: u32,
    /// Wire bytes of an ACK without SACK blocks.
    pub ack_size: u32,
    /// Wire bytes that SACK blocks add: once if there are any, and for each.
    pub sack_sizes: (u32, u32),
    /// The most SACK blocks in an ACK; zero without SACK.
    pub sack_blocks: u32,
    /// The number of ranges remembered for SACK blocks, at most eight. Segments of a forgotten range are held, but not
    /// reported until a segment joins them.
    pub sack_memory: u32,
    /// How long the ACK of the first of two packets may wait; `None` acknowledges every packet at once.
    pub delayed_ack: Option<u64>,
    /// How congestion marks are echoed.
    pub ecn: EcnMode,
    /// With `linux`: the granularity of the timer of delayed ACKs.
    pub timer: TimerWheel,
    /// Whether it drops data whose timestamp is older than the one to echo (RFC 7323 section 5, PAWS).
    pub paws: bool,
    /// Whether accurate feedback is in use from the beginning; with a handshake, whether a SYN may ask for it.
    pub accurate_ecn: bool,
    /// The ECN feedback that a SYN can get.
    pub ecn_capability: Capability,
    /// Whether accurate feedback has the option with counters of bytes.
    pub ecn_option: bool,
    /// Wire bytes of a data packet beyond its payload.
    pub data_overhead: u32,
    /// Whether it acknowledges as Linux does: with quick ACKs when the connection is new, and compressed SACKs.
    pub linux: bool,
    /// The number of packets during which the advertised window grows; with `linux` each of them is acknowledged at once.
    pub growing_window: u64,
    /// Whether it follows the RFCs, or reports less congestion than there was.
    pub behaviour: ReceiverBehaviour,
}

/// What a receiver counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounts {
    /// Data packets that arrived for the first time.
    pub received: u64,
    /// Their wire bytes.
    pub wire_bytes: u64,
    /// Data packets that arrived again, or too late for their timestamps.
    pub duplicates: u64,
    /// Data packets that carried a congestion mark.
    pub marked: u64,
}

/// The receiving endpoint of a flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    /// The next segment expected.
    next: u64,
    /// Segments held beyond it.
    held: u32,
    /// The held segments: bits in a window that starts at the word of `next`.
    bits: Box<[u64]>,
    blocks: SackList,
    /// The timestamp to echo (RFC 7323 section 4.3).
    echo: u64,
    /// In-order packets that no ACK covers yet.
    unacknowledged: u32,
    /// When the delayed ACK is sent.
    pub deadline: u64,
    /// Classic ECN: whether to echo until CWR. Exact ECN: the mark of the packets not yet acknowledged.
    echoing: bool,
    /// The counters of accurate feedback, if it is in use.
    accurate: Option<Box<Counters>>,
    /// Used with [`ReceiverConfig::linux`].
    ack_policy: AckPolicy,
    /// The duplicate that the next ACK reports (RFC 2883).
    duplicate: Option<(u64, u64)>,
    /// Counts so far.
    pub counts: ReceiverCounts,
    /// Packets of the handshake that have arrived.
    #[cfg(debug_assertions)]
    handshake_arrived: u64,
}

impl Receiver {
    /// Creates a receiver that expects segment 0.
    pub fn new(config: ReceiverConfig) -> Self {
        Receiver {
            next: 0,
            held: 0,
            bits: vec![0; 4].into_boxed_slice(),
            blocks: SackList::default(),
            echo: 0,
            unacknowledged: 0,
            deadline: NEVER,
            echoing: false,
            accurate: config.accurate_ecn.then(Box::default),
            ack_policy: AckPolicy::new(config.growing_window),
            duplicate: None,
            counts: ReceiverCounts::default(),
            #[cfg(debug_assertions)]
            handshake_arrived: 0,
            config,
        }
    }

    /// Returns how many packets of the handshake have arrived; none in builds that do not count them.
    #[doc(hidden)]
    pub fn handshake_arrived(&self) -> Option<u64> {
        #[cfg(debug_assertions)]
        return Some(self.handshake_arrived);
        #[cfg(not(debug_assertions))]
        None
    }

    /// Returns the number of segments received in order. A receiver that conceals losses passes on what has arrived; the last segment
    /// may be shorter than others, so that one less is certain.
    pub fn in_order(&self) -> u64 {
        match self.config.behaviour.conceals_losses() && self.counts.received < self.next {
            true => self.counts.received.saturating_sub(1),
            false => self.next,
        }
    }

    /// Returns whether a packet with this segment, modulo 2^32, would bring something new.
    pub fn is_new(&self, segment: u32) -> bool {
        let segment = expand(self.next, segment);
        segment >= self.next && !self.holds(segment)
    }

    /// Returns the wire bytes of a full data packet and a template of its ACK, if every full packet in order is now
    /// acknowledged at once, alone, and without SACK blocks or ECN echo.
    #[inline]
    pub fn plain_sizes(&self) -> Option<(u32, Packet)> {
        let plain = self.is_plain();
        let (channel, size) = (self.config.channel, self.config.ack_size as u16);
        plain.then(|| (self.config.packet_size, Packet { channel, size, flags: BARE, ..Packet::default() }))
    }

    /// Returns whether every packet is acknowledged on arrival, so that there is no timer. (Compressed SACKs wait.)
    pub fn acknowledges_at_once(&self) -> bool {
        self.config.delayed_ack.is_none() && !self.config.linux
    }

    /// Returns the segment expected next, modulo 2^32, if full packets in order are now acknowledged at once, alone, and
    /// without SACK blocks or ECN echo.
    pub fn plain_next(&self) -> Option<u32> {
        self.is_plain().then_some(self.next as u32)
    }

    fn is_plain(&self) -> bool {
        // A Linux receiver counts its quick ACKs, which decide whether it compresses the next SACKs.
        let at_once = self.acknowledges_at_once() && self.config.behaviour.is_honest();
        self.held == 0 && !self.echoes() && at_once
    }

    /// Returns the segment expected next, modulo 2^32.
    pub fn expected(&self) -> u32 {
        self.next as u32
    }

    /// Records that `packets` full packets in order were acknowledged, the last with the timestamp `echo`.
    #[inline]
    pub fn took_plain(&mut self, packets: u64, echo: u64) {
        if packets > 0 {
            self.next += packets;
            self.ack_policy.acknowledged_to = self.next;
            self.counts.received += packets;
            self.counts.wire_bytes += packets * u64::from(self.config.packet_size);
            self.echo = echo;
        }
    }

    /// Processes a packet of the flow.
    #[inline(always)]
    pub fn on_packet(&mut self, now: u64, packet: &Packet, out: &mut impl Emit) {
        let plain =
            packet.flags & (CE | CWR | SYN | ESTABLISHED) == 0 && !self.echoes() && packet.sent >= self.echo;
        if plain && packet.seq == self.next as u32 && self.is_plain() {
            self.counts.received += 1;
            self.counts.wire_bytes += u64::from(packet.size);
            self.next += 1;
            self.ack_policy.acknowledged_to = self.next;
            self.echo = packet.sent;
            let ack = Packet {
                at: now,
                sent: packet.sent,
                seq: self.next as u32,
                channel: self.config.channel,
                aux: 0,
                size: self.config.ack_size as u16,
                flags: BARE,
            };
            out.emit(now, ack);
            return;
        }
        self.on_packet_slow(now, packet, out);
    }

    #[cold]
    #[inline(never)]
    fn on_packet_slow(&mut self, now: u64, packet: &Packet, out: &mut impl Emit) {
        if packet.flags & (SYN | ESTABLISHED) != 0 {
            #[cfg(debug_assertions)]
            {
                self.handshake_arrived += 1;
            }
            if packet.is(SYN) {
                let size = self.config.ack_size as u16 + SYN_OPTIONS;
                let flags = BARE | SYN | self.agree_on_ecn(packet);
                let channel = self.config.channel;
                out.emit(now, Packet { at: now, sent: packet.sent, seq: 0, channel, aux: 0, size, flags });
                self.ack_policy.on_syn(now);
            } else {
                self.ack_policy.on_established(now);
            }
            return;
        }
        // Others need no copy of the packet.
        let misreported;
        let packet = match self.config.behaviour.is_honest() {
            true => packet,
            false => {
                misreported = self.misreport(*packet);
                &misreported
            }
        };
        if self.config.paws && is_older(packet.sent, self.echo) {
            return self.reject(now, packet, out);
        }
        // RFC 8257 section 3.2: when the mark changes, acknowledge the packets before with the old mark, and this packet
        // at once with the new mark.
        // RFC 9768 section 3.2.2.5.1: one ACK for all.
        let mark_changes = self.record_mark(packet);
        if self.accurate.is_none() {
            if mark_changes && self.unacknowledged > 0 {
                self.send_ack(now, out);
            }
            if self.config.ecn == EcnMode::Exact {
                self.echoing = packet.is(CE);
            }
        }
        let segment = expand(self.next, packet.seq);
        if segment == self.next {
            // The timestamp to echo is that of the first segment that no ACK covers.
            if self.unacknowledged == 0 || fault::is(Fault::EchoOfTheLast) {
                self.echo = if self.config.paws { self.echo.max(packet.sent) } else { packet.sent };
            }
            self.ack_policy.on_data_in_order(now);
            self.count(packet);
            let filled_a_hole = self.held > 0;
            self.advance();
            self.unacknowledged += 1;
            if self.config.linux {
                // The application reads the last segment of a burst at once, which sends the ACK.
                let at_once = mark_changes || packet.is(PUSH) || (filled_a_hole && self.held == 0);
                return self.acknowledge_as_linux(now, at_once, out);
            }
            match self.config.delayed_ack {
                Some(delay) if !filled_a_hole && !mark_changes && self.unacknowledged < 2 => {
                    self.deadline = now + delay;
                }
                _ => self.send_ack(now, out),
            }
            return;
        }
        let known = segment < self.next || self.holds(segment);
        if known {
            self.counts.duplicates += 1;
            if segment > self.next && !self.blocks.bring_forward(segment) {
                self.list(segment);
            }
            // RFC 7323 section 4.3: a newer timestamp of a segment that the last ACK covers is echoed instead.
            if segment < self.next && segment + u64::from(self.unacknowledged) <= self.next {
                self.echo = self.echo.max(packet.sent);
            }
        } else {
            self.count(packet);
            self.hold(segment);
        }
        if self.config.linux {
            if known && self.config.sack_blocks > 0 {
                self.record_duplicate(segment);
            }
            if segment < self.next {
                self.ack_policy.enter_quickack();
            }
            return self.acknowledge_as_linux(now, mark_changes || segment < self.next, out);
        }
        self.send_ack(now, out);
    }

    /// Returns a data packet as a receiver that misbehaves takes it: without its mark, or as if nothing before it was missing.
    fn misreport(&mut self, mut packet: Packet) -> Packet {
        if self.config.behaviour == ReceiverBehaviour::HideCe && packet.is(CE) {
            self.counts.marked += 1;
            packet.flags &= !CE;
        }
        if self.config.behaviour.conceals_losses() {
            self.next = self.next.max(expand(self.next, packet.seq));
        }
        packet
    }

    /// Drops a packet whose timestamp is too old, and acknowledges at once. Data that was received before is reported as a
    /// duplicate.
    #[cold]
    fn reject(&mut self, now: u64, packet: &Packet, out: &mut impl Emit) {
        self.counts.duplicates += 1;
        let segment = expand(self.next, packet.seq);
        if segment < self.next {
            self.ack_policy.enter_quickack();
            if self.config.sack_blocks > 0 {
                self.record_duplicate(segment);
            }
        }
        self.send_ack(now, out);
    }

    /// Acknowledges now or later, as Linux does; `at_once` forces the former.
    fn acknowledge_as_linux(&mut self, now: u64, at_once: bool, out: &mut impl Emit) {
        let waiting = self.next - self.ack_policy.acknowledged_to;
        let time = match self.config.delayed_ack {
            _ if at_once || waiting > 1 || self.ack_policy.is_quick() => AckTime::Now,
            None if self.held == 0 => AckTime::Now,
            // A timer that runs expires first.
            Some(_) if self.held == 0 && self.deadline != NEVER => return,
            Some(delay) if self.held == 0 => AckTime::At(self.config.timer.expiry(now, delay, false)),
            _ => self.ack_policy.compress(now, self.next),
        };
        match time {
            AckTime::Now => self.send_ack(now, out),
            AckTime::At(time) => self.deadline = self.deadline.min(time),
        }
    }

    /// Sends the delayed ACK, whose timer has expired.
    pub fn on_timer(&mut self, now: u64, out: &mut impl Emit) {
        self.send_ack(now, out);
    }

    /// Returns whether ACKs report marks now.
    #[inline(always)]
    fn echoes(&self) -> bool {
        self.echoing || self.accurate.is_some()
    }

    /// Decides what a SYN gets that asks for accurate feedback. Returns the ECN flags of the SYN/ACK.
    fn agree_on_ecn(&mut self, syn: &Packet) -> u16 {
        if !self.config.accurate_ecn {
            return 0;
        }
        let (grant, flags) = accurate_ecn::grant(self.config.ecn_capability, syn);
        self.accurate = (grant == Grant::Accurate).then(Box::default);
        match grant {
            Grant::Accurate => {}
            Grant::Classic => self.config.ecn = EcnMode::Classic,
            Grant::None => self.config.ecn = EcnMode::Off,
        }
        flags
    }

    /// Records the ECN flags of a packet. With exact ECN, returns whether its mark differs from the previous one; with accurate
    /// feedback, whether it is to be acknowledged at once.
    fn record_mark(&mut self, packet: &Packet) -> bool {
        let marked = packet.is(CE);
        self.counts.marked += u64::from(marked);
        if let Some(counters) = &mut self.accurate {
            let payload = u32::from(packet.size).saturating_sub(self.config.data_overhead);
            return counters.count(packet, payload);
        }
        if marked && !self.echoing {
            self.ack_policy.enter_quickack_briefly();
        }
        match self.config.ecn {
            EcnMode::Off => false,
            EcnMode::Classic => {
                // RFC 3168 section 6.1.3: CWR stops the echo, unless that packet is marked itself.
                self.echoing = marked || (self.echoing && !packet.is(CWR));
                false
            }
            EcnMode::Exact => marked != self.echoing,
        }
    }

    fn count(&mut self, packet: &Packet) {
        self.counts.received += 1;
        self.counts.wire_bytes += u64::from(packet.size);
        self.ack_policy.on_data();
    }

    fn send_ack(&mut self, now: u64, out: &mut impl Emit) {
        self.unacknowledged = 0;
        self.deadline = NEVER;
        self.ack_policy.on_ack(self.next);
        let mut blocks = match self.duplicate.take() {
            Some((from, to)) => {
                self.blocks.latest(self.config.sack_blocks - 1).after((from as u32, to as u32))
            }
            None => self.blocks.latest(self.config.sack_blocks),
        };
        let (base, each) = self.config.sack_sizes;
        let extra = if blocks.len > 0 { base + each * blocks.len } else { 0 };
        let mut ack = Packet {
            at: now,
            sent: self.echo,
            seq: (self.next + u64::from(self.config.behaviour.ahead())) as u32,
            channel: self.config.channel,
            aux: 0,
            size: (self.config.ack_size + extra) as u16,
            flags: BARE | if self.echoing { ECE } else { 0 },
        };
        if let Some(counters) = &mut self.accurate {
            ack.flags |= counters.report();
            if self.config.ecn_option && blocks.len == 0 {
                blocks.ecn = Some(counters.option());
                ack.flags |= ECN_OPTION;
                ack.size += accurate_ecn::OPTION_SIZE as u16;
            }
        }
        if blocks.len > 0 || blocks.ecn.is_some() {
            ack.flags |= SACK;
            out.emit_sack(now, ack, &blocks);
        } else {
            out.emit(now, ack);
        }
    }

    /// Records a segment that arrived again. The next ACK reports it and its neighbours; it has no room for another range.
    fn record_duplicate(&mut self, segment: u64) {
        match &mut self.duplicate {
            None => self.duplicate = Some((segment, segment + 1)),
            Some((_, to)) if *to == segment => *to += 1,
            Some((from, _)) if *from == segment + 1 => *from = segment,
            Some(_) => {}
        }
    }

    fn word(&self, segment: u64) -> usize {
        (segment >> 6) as usize & (self.bits.len() - 1)
    }

    fn holds(&self, segment: u64) -> bool {
        let in_window = ((segment >> 6) - (self.next >> 6)) < self.bits.len() as u64;
        in_window && self.bits[self.word(segment)] >> (segment & 63) & 1 == 1
    }

    /// Holds a segment that arrived out of order.
    fn hold(&mut self, segment: u64) {
        let words = ((segment >> 6) - (self.next >> 6)) as usize + 1;
        if words > self.bits.len() {
            let mut grown = vec![0; words.next_power_of_two()].into_boxed_slice();
            let first = self.next >> 6;
            for word in first..first + self.bits.len() as u64 {
                grown[word as usize & (grown.len() - 1)] = self.bits[word as usize & (self.bits.len() - 1)];
            }
            self.bits = grown;
        }
        let word = self.word(segment);
        self.bits[word] |= 1 << (segment & 63);
        self.held += 1;
        self.list(segment);
    }

    /// Moves the range of a held segment to the front of the SACK blocks.
    fn list(&mut self, segment: u64) {
        let (from, to) = self.blocks.add(segment, self.config.sack_memory);
        // Segments of forgotten ranges are still held: where the range touches one, the bits give its extent.
        let run = (self.first_held_before(from), self.first_missing_from(to));
        self.blocks.set_first(run);
    }

    /// Returns the first segment of the held run that ends before `from`, or `from` if the segment before it is missing. It reads
    /// 64 segments at once, because a run can be as long as the window.
    fn first_held_before(&self, mut from: u64) -> u64 {
        while from > self.next + 1 {
            let last = from - 1;
            let bit = last & 63;
            let run = u64::from((self.bits[self.word(last)] << (63 - bit)).leading_ones());
            from -= run.min(last - self.next);
            if run < bit + 1 {
                break;
            }
        }
        from
    }

    /// Returns the first segment from `to` on that is missing.
    fn first_missing_from(&self, mut to: u64) -> u64 {
        while (to >> 6) - (self.next >> 6) < self.bits.len() as u64 {
            let run = u64::from((self.bits[self.word(to)] >> (to & 63)).trailing_ones());
            to += run;
            if run == 0 || to & 63 != 0 {
                break;
            }
        }
        to
    }

    /// Advances over the expected segment, and over those held behind it.
    fn advance(&mut self) {
        self.next += 1;
        while self.held > 0 {
            let word = self.word(self.next);
            let shift = self.next & 63;
            let run = (self.bits[word] >> shift).trailing_ones().min(64 - shift as u32);
            if run == 0 {
                break;
            }
            let mask = if run == 64 { u64::MAX } else { ((1 << run) - 1) << shift };
            self.bits[word] &= !mask;
            self.next += u64::from(run);
            self.held -= run;
            if self.next & 63 != 0 {
                break;
            }
        }
        self.blocks.drop_below(self.next);
    }
}

/// The resolution of timestamps, ns.
const TIMESTAMP: u64 = 1_000_000;

/// Returns whether a timestamp is older than `latest` by more than one tick of Linux's clock of timestamps.
fn is_older(sent: u64, latest: u64) -> bool {
    sent < latest && sent / TIMESTAMP + 1 < latest / TIMESTAMP
}

#[cfg(test)]
mod tests;
