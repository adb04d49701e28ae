//! The receiver with segments in any order, against a set of the segments that have arrived.

use crate::Bytes;
use cwnd_cc::EcnMode;
use cwnd_scenario::ReceiverBehaviour;
use cwnd_tcp::packet::{CE, Emit, PUSH, Packet, SackBlocks};
use cwnd_tcp::{NEVER, Receiver, ReceiverConfig, TimerWheel, accurate_ecn};
use std::collections::BTreeSet;

const MS: u64 = 1_000_000;
const EVENTS: usize = 600;

/// The most segments beyond the next one: what a window of 16 bits holds.
const REACH: u64 = 4_096;

#[derive(Default)]
struct Tape(Vec<(u32, SackBlocks)>);

impl Emit for Tape {
    fn emit(&mut self, _: u64, packet: Packet) -> bool {
        self.0.push((packet.seq, SackBlocks::default()));
        true
    }

    fn emit_sack(&mut self, _: u64, packet: Packet, blocks: &SackBlocks) -> bool {
        self.0.push((packet.seq, *blocks));
        true
    }
}

/// The segments that have arrived.
#[derive(Default)]
struct Arrived {
    next: u64,
    beyond: BTreeSet<u64>,
    first_time: u64,
    again: u64,
}

impl Arrived {
    fn add(&mut self, segment: u64) {
        if segment < self.next || !self.beyond.insert(segment) {
            self.again += 1;
            return;
        }
        self.first_time += 1;
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
    }

    fn holds(&self, segment: u64) -> bool {
        segment < self.next || self.beyond.contains(&segment)
    }
}

pub fn fuzz(data: &[u8]) {
    let mut bytes = Bytes(data);
    let flags = bytes.byte();
    let mut receiver = Receiver::new(ReceiverConfig {
        channel: 1,
        packet_size: 1500,
        ack_size: 52,
        sack_sizes: (4, 8),
        sack_blocks: u32::from(flags & 3),
        sack_memory: 1 + u32::from(bytes.byte() & 7),
        delayed_ack: (flags & 4 != 0).then_some(40 * MS),
        ecn: [EcnMode::Off, EcnMode::Classic, EcnMode::Exact, EcnMode::Off][usize::from(flags >> 3 & 3)],
        timer: TimerWheel::default(),
        paws: false,
        accurate_ecn: false,
        ecn_capability: accurate_ecn::Capability::default(),
        ecn_option: false,
        data_overhead: 52,
        linux: flags & 32 != 0,
        growing_window: if flags & 64 != 0 { 10 } else { 0 },
        behaviour: ReceiverBehaviour::Honest,
    });
    let (mut arrived, mut tape, mut now) = (Arrived::default(), Tape::default(), 0);
    for _ in 0..EVENTS {
        if bytes.is_empty() {
            break;
        }
        let kind = bytes.byte();
        now += u64::from(kind >> 4) * MS;
        if kind & 7 == 7 {
            if receiver.deadline != NEVER {
                now = now.max(receiver.deadline);
                receiver.on_timer(now, &mut tape);
            }
        } else {
            while receiver.deadline <= now {
                receiver.on_timer(now, &mut tape);
            }
            let segment = match kind & 3 {
                0 => arrived.next,
                1 => arrived.next.saturating_sub(u64::from(bytes.byte())),
                2 => arrived.next + u64::from(bytes.byte()),
                _ => arrived.next + u64::from(bytes.short()) % REACH,
            };
            let flags = if kind & 8 != 0 { CE } else { 0 } | if kind & 4 != 0 { PUSH } else { 0 };
            let is_new = !arrived.holds(segment);
            assert_eq!(receiver.is_new(segment as u32), is_new, "segment {segment}");
            let packet =
                Packet { at: now, sent: now, seq: segment as u32, size: 1500, flags, ..Packet::default() };
            receiver.on_packet(now, &packet, &mut tape);
            arrived.add(segment);
        }
        compare(&receiver, &arrived, &mut tape);
    }
}

fn compare(receiver: &Receiver, arrived: &Arrived, tape: &mut Tape) {
    assert_eq!(receiver.in_order(), arrived.next);
    assert_eq!(receiver.counts.received, arrived.first_time);
    assert_eq!(receiver.counts.duplicates, arrived.again);
    for (seq, blocks) in tape.0.drain(..) {
        assert!(u64::from(seq) <= arrived.next, "{seq} is acknowledged before it has arrived");
        for (begin, end) in blocks.iter() {
            assert!(begin < end, "the block {begin}:{end} is empty");
            let missing = (u64::from(begin)..u64::from(end)).find(|segment| !arrived.holds(*segment));
            assert_eq!(missing, None, "the block {begin}:{end} has what has not arrived");
        }
    }
}
