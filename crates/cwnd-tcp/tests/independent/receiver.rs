//! A receiver written from the RFCs: a list of what has arrived, and a list of the ranges in the order of the last arrival in each.

use cwnd_cc::EcnMode;
use cwnd_tcp::packet::{BARE, CE, CWR, ECE, ESTABLISHED, PUSH, Packet, SACK, SYN, SackBlocks};
use cwnd_tcp::{NEVER, ReceiverConfig, ReceiverCounts, SYN_OPTIONS};
use std::collections::BTreeSet;

use crate::clock;

/// The resolution of timestamps, ns.
const TIMESTAMP: u64 = 1_000_000;

/// How a Linux receiver times its ACKs (docs/reference/stacks.md, "ACKs").
#[derive(Debug, Default)]
struct LinuxAcks {
    /// ACKs that are still sent at once.
    quick: u32,
    /// Packets that still widen the advertised window.
    widening: u64,
    /// Whether and when data came in order last.
    last_data: Option<u64>,
    syn_at: u64,
    handshake_rtt: u64,
    /// For the hole at this segment: SACKs sent at once, held back, and when those held back are sent.
    hole: u64,
    sent: u32,
    held_back: u32,
    due: Option<u64>,
}

/// The receiver.
#[derive(Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    next: u64,
    /// Segments beyond `next` that have arrived.
    arrived: BTreeSet<u64>,
    /// Ranges of them, the one with the latest arrival first (RFC 2018 section 4).
    ranges: Vec<(u64, u64)>,
    /// TS.Recent and Last.ACK.sent of RFC 7323 section 4.3.
    recent: u64,
    last_ack: u64,
    /// Packets in order since the last ACK.
    waiting: u32,
    pub deadline: u64,
    echo_ce: bool,
    duplicate: Option<(u64, u64)>,
    linux: LinuxAcks,
    pub counts: ReceiverCounts,
    /// What it has sent: time, packet, and SACK blocks.
    pub sent: Vec<(u64, Packet, Option<SackBlocks>)>,
}

impl Receiver {
    pub fn new(config: ReceiverConfig) -> Receiver {
        let linux = LinuxAcks { widening: config.growing_window, ..LinuxAcks::default() };
        Receiver {
            config,
            next: 0,
            arrived: BTreeSet::new(),
            ranges: Vec::new(),
            recent: 0,
            last_ack: 0,
            waiting: 0,
            deadline: NEVER,
            echo_ce: false,
            duplicate: None,
            linux,
            counts: ReceiverCounts::default(),
            sent: Vec::new(),
        }
    }

    pub fn on_packet(&mut self, now: u64, packet: &Packet) {
        if packet.is(SYN) {
            self.linux.syn_at = now;
            let syn_ack = Packet {
                at: now,
                sent: packet.sent,
                channel: self.config.channel,
                size: self.config.ack_size as u16 + SYN_OPTIONS,
                flags: BARE | SYN,
                ..Packet::default()
            };
            self.sent.push((now, syn_ack, None));
        } else if packet.is(ESTABLISHED) {
            self.linux.handshake_rtt = now - self.linux.syn_at;
        } else {
            self.on_data(now, packet);
        }
    }

    fn on_data(&mut self, now: u64, packet: &Packet) {
        let segment = u64::from(packet.seq);
        if self.config.paws && self.is_outdated(packet.sent) {
            self.counts.duplicates += 1;
            if segment < self.next {
                self.linux.quick = 16;
                self.report_duplicate(segment);
            }
            return self.acknowledge(now);
        }
        let mark_changed = self.see_mark(now, packet);
        if segment <= self.last_ack && segment == self.next && !self.config.paws {
            // An ns-2 sink echoes the packet that it acknowledges.
            self.recent = packet.sent;
        } else if segment <= self.last_ack && segment <= self.next {
            // RFC 7323 section 4.3, rule 2.
            self.recent = self.recent.max(packet.sent);
        }
        let in_order = segment == self.next;
        let known = segment < self.next || self.arrived.contains(&segment);
        if known {
            self.counts.duplicates += 1;
        } else {
            self.counts.received += 1;
            self.counts.wire_bytes += u64::from(packet.size);
        }
        let had_hole = !self.arrived.is_empty();
        if in_order {
            self.see_pause(now);
        }
        if !known && self.linux.widening > 0 {
            self.linux.widening -= 1;
            self.linux.quick |= 1;
        }
        if in_order {
            self.next += 1;
            while self.arrived.remove(&self.next) {
                self.next += 1;
            }
            self.ranges.retain(|&(from, _)| from >= self.next);
            self.waiting += 1;
        } else if segment > self.next {
            self.arrived.insert(segment);
            self.put_range_first(segment);
        }
        if self.config.linux {
            if known {
                self.report_duplicate(segment);
            }
            let old = segment < self.next && !in_order;
            if old {
                self.linux.quick = 16;
            }
            let filled = in_order && had_hole && self.arrived.is_empty();
            let pushed = in_order && packet.is(PUSH);
            return self.acknowledge_as_linux(now, mark_changed || old || filled || pushed);
        }
        // RFC 5681 section 4.2: at once while a hole is open, and for every second segment.
        match self.config.delayed_ack {
            Some(delay) if in_order && !had_hole && !mark_changed && self.waiting < 2 => {
                self.deadline = now + delay;
            }
            _ => self.acknowledge(now),
        }
    }

    /// RFC 7323 section 5.3, with a tick's tolerance as in Linux.
    fn is_outdated(&self, timestamp: u64) -> bool {
        timestamp < self.recent && self.recent / TIMESTAMP > timestamp / TIMESTAMP + 1
    }

    /// Records a congestion mark. Returns whether the echo changes with exact ECN.
    fn see_mark(&mut self, now: u64, packet: &Packet) -> bool {
        let marked = packet.is(CE);
        self.counts.marked += u64::from(marked);
        if marked && !self.echo_ce {
            self.linux.quick = self.linux.quick.max(2);
        }
        match self.config.ecn {
            EcnMode::Off => false,
            EcnMode::Classic => {
                // RFC 3168 section 6.1.3.
                if packet.is(CWR) {
                    self.echo_ce = false;
                }
                self.echo_ce |= marked;
                false
            }
            EcnMode::Exact => {
                // RFC 8257 section 3.2.
                let changed = marked != self.echo_ce;
                if changed && self.waiting > 0 {
                    self.acknowledge(now);
                }
                self.echo_ce = marked;
                changed
            }
        }
    }

    /// Data after a pause longer than a timeout begins quick ACKs again.
    fn see_pause(&mut self, now: u64) {
        let rtt = self.linux.handshake_rtt;
        let limit = rtt + (2 * rtt).max(200_000_000);
        if self.linux.last_data.is_none_or(|last| now > last + limit) {
            self.linux.quick = 16;
        }
        self.linux.last_data = Some(now);
    }

    fn put_range_first(&mut self, segment: u64) {
        let (mut from, mut to) = (segment, segment + 1);
        while self.arrived.contains(&(from - 1)) {
            from -= 1;
        }
        while self.arrived.contains(&to) {
            to += 1;
        }
        self.ranges.retain(|&(start, _)| start < from || start >= to);
        self.ranges.insert(0, (from, to));
        self.ranges.truncate(self.config.sack_memory as usize);
    }

    /// RFC 2883 section 4: the next ACK's first block.
    fn report_duplicate(&mut self, segment: u64) {
        if self.config.sack_blocks == 0 {
            return;
        }
        self.duplicate = Some(match self.duplicate {
            None => (segment, segment + 1),
            Some((from, to)) if to == segment => (from, to + 1),
            Some((from, to)) if from == segment + 1 => (segment, to),
            Some(reported) => reported,
        });
    }

    fn acknowledge_as_linux(&mut self, now: u64, at_once: bool) {
        let two = self.next >= self.last_ack + 2;
        if at_once || two || self.linux.quick > 0 {
            return self.acknowledge(now);
        }
        if self.arrived.is_empty() {
            match self.config.delayed_ack {
                None => self.acknowledge(now),
                Some(delay) if self.deadline == NEVER => {
                    self.deadline = clock::expiry(self.config.timer, now, delay, false);
                }
                Some(_) => {}
            }
            return;
        }
        // SACK compression: three at once for a hole, then one a millisecond or twentieth of the round trip, which may be 100 us late;
        // no more than 44 are held back.
        if self.linux.held_back == 44 {
            return self.acknowledge(now);
        }
        if self.linux.hole != self.next {
            (self.linux.hole, self.linux.sent) = (self.next, 0);
        }
        if self.linux.sent < 3 {
            self.linux.sent += 1;
            return self.acknowledge(now);
        }
        self.linux.held_back += 1;
        let wait = match self.linux.handshake_rtt {
            0 => 1_000_000,
            rtt => (rtt / 20).min(1_000_000),
        };
        let due = *self.linux.due.get_or_insert(now + wait + 100_000);
        self.deadline = self.deadline.min(due);
    }

    pub fn on_timer(&mut self, now: u64) {
        self.acknowledge(now);
    }

    /// The segment expected next.
    pub fn expected(&self) -> u32 {
        self.next as u32
    }

    fn acknowledge(&mut self, now: u64) {
        let mut listed: Vec<(u64, u64)> = self.duplicate.take().into_iter().collect();
        listed.extend(&self.ranges);
        listed.truncate(self.config.sack_blocks as usize);
        let mut size = self.config.ack_size;
        let mut flags = BARE | if self.echo_ce { ECE } else { 0 };
        let blocks = (!listed.is_empty()).then(|| {
            size += self.config.sack_sizes.0 + self.config.sack_sizes.1 * listed.len() as u32;
            flags |= SACK;
            let mut blocks = SackBlocks { len: listed.len() as u32, ..SackBlocks::default() };
            for (place, &(from, to)) in blocks.blocks.iter_mut().zip(&listed) {
                *place = (from as u32, to as u32);
            }
            blocks
        });
        let ack = Packet {
            at: now,
            sent: self.recent,
            seq: self.next as u32,
            channel: self.config.channel,
            aux: 0,
            size: size as u16,
            flags,
        };
        self.sent.push((now, ack, blocks));
        self.last_ack = self.next;
        self.waiting = 0;
        self.deadline = NEVER;
        self.linux.quick = self.linux.quick.saturating_sub(1);
        (self.linux.held_back, self.linux.due) = (0, None);
    }
}
