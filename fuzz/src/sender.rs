//! The sender with ACKs that no honest receiver would send: its scoreboard and its recovery.
//!
//! ACKs and SACK blocks are of segments that were sent. Blocks overlap, repeat, cover what is acknowledged, and are withdrawn.
//! The sender checks the scoreboard after each event.

use crate::Bytes;
use cwnd_cc::{Arithmetic, EcnMode, WindowConfig, algorithms};
use cwnd_scenario::Recovery;
use cwnd_tcp::packet::{BARE, ECE, Emit, Packet, SACK, SackBlocks};
use cwnd_tcp::{NEVER, Sender, SenderConfig};

const MS: u64 = 1_000_000;

/// Events of an input.
const EVENTS: usize = 400;

/// What was emitted.
struct Tape {
    first: u64,
    packets: u64,
    highest: u64,
}

impl Emit for Tape {
    fn emit(&mut self, _: u64, packet: Packet) -> bool {
        // Sequence numbers of an input stay below 2^32.
        let segment = u64::from(packet.seq);
        assert!(segment >= self.first, "{segment} is acknowledged and sent again");
        self.highest = self.highest.max(segment + 1);
        self.packets += 1;
        true
    }

    fn emit_sack(&mut self, _: u64, _: Packet, _: &SackBlocks) -> bool {
        panic!("a sender sends no ACK");
    }
}

fn config(bytes: &mut Bytes<'_>) -> SenderConfig {
    let flags = bytes.byte();
    let recovery = [Recovery::Prr, Recovery::Ns2, Recovery::Rack, Recovery::Linux][usize::from(flags & 3)];
    SenderConfig {
        last_packet_size: 700,
        segments: if flags & 4 == 0 { u64::MAX } else { 1 + u64::from(bytes.byte()) },
        window: WindowConfig {
            initial_cwnd: f64::from(1 + bytes.byte() % 64),
            arithmetic: [Arithmetic::Real, Arithmetic::Linux][usize::from(flags & 1)],
            ..WindowConfig::default()
        },
        receive_window: 1 + u64::from(bytes.byte()),
        recovery,
        sack: flags & 8 == 0,
        timestamps: flags & 16 == 0,
        validate_cwnd: flags & 32 != 0,
        ecn: if flags & 64 == 0 { EcnMode::Off } else { EcnMode::Classic },
        restart_after_idle: flags & 128 != 0,
        ..SenderConfig::default()
    }
}

pub fn fuzz(data: &[u8]) {
    let mut bytes = Bytes(data);
    let config = config(&mut bytes);
    let sack = config.sack;
    let name = ["newreno", "cubic", "bbr3", "copa", "prague"][usize::from(bytes.byte() % 5)];
    let info = algorithms::find(name).expect("it is registered");
    let algorithm = info.build_from_text([]).expect("it has defaults");
    let mut sender = Sender::new(config, algorithm);
    let mut tape = Tape { first: 0, packets: 0, highest: 0 };
    let mut now = 0;
    for _ in 0..EVENTS {
        if bytes.is_empty() {
            break;
        }
        let kind = bytes.byte();
        if kind & 1 == 0 {
            let deadline = sender.deadline();
            if deadline != NEVER {
                now = now.max(deadline);
                sender.on_timer(now, &mut tape);
            }
        } else {
            now += u64::from(bytes.short()) * 10_000;
            sender.run_timers(now, &mut tape);
            acknowledge(&mut sender, now, kind, sack, &mut bytes, &mut tape);
        }
        let (una, next) = (sender.acknowledged(), sender.next_segment());
        assert!(una >= tape.first, "acknowledged data is outstanding again");
        assert!(una <= next, "{una} is acknowledged, and {next} is next");
        assert_eq!(next, tape.highest.max(una), "a segment was never sent");
        assert!(sender.window().cwnd >= 1.0, "the window is {}", sender.window().cwnd);
        tape.first = una;
    }
}

fn acknowledge(sender: &mut Sender, now: u64, kind: u8, sack: bool, bytes: &mut Bytes<'_>, tape: &mut Tape) {
    let (una, next) = (sender.acknowledged(), sender.next_segment());
    // One in four advances; others repeat the last ACK, or an older one.
    let seq = match kind & 6 {
        0 => una + u64::from(bytes.byte()) % (next - una + 1),
        2 => una.saturating_sub(u64::from(bytes.byte() & 7)),
        _ => una,
    };
    let mut blocks = SackBlocks::default();
    if sack {
        for _ in 0..(kind >> 3) & 3 {
            let base = una.saturating_sub(4);
            let begin = base + u64::from(bytes.byte()) % (next - base + 1);
            let end = (begin + 1 + u64::from(bytes.byte() & 31)).min(next);
            if begin < end {
                blocks.blocks[blocks.len as usize] = (begin as u32, end as u32);
                blocks.len += 1;
            }
        }
    }
    let echo = now.saturating_sub(u64::from(bytes.byte()) * MS);
    let flags = BARE | if blocks.len > 0 { SACK } else { 0 } | if kind & 64 != 0 { ECE } else { 0 };
    let packet = Packet { at: now, sent: echo, seq: seq as u32, channel: 1, size: 52, flags, aux: 0 };
    sender.on_packet(now, &packet, (blocks.len > 0).then_some(&blocks), tape);
}
