//! A test bench for one endpoint: the test chooses what arrives and when, and sees what is sent.

use crate::fake::{Fake, Notes};
use cwnd_cc::{Arithmetic, EcnMode, WindowConfig};
use cwnd_tcp::packet::{BARE, Emit, Packet, SACK, SackBlocks};
use cwnd_tcp::{NEVER, Receiver, ReceiverConfig, Sender, SenderConfig, TimerWheel};
use std::sync::{Arc, Mutex};

pub const MS: u64 = 1_000_000;
/// Wire bytes of a full data packet and of an ACK.
pub const FULL: u32 = 1050;
pub const BARE_ACK: u32 = 50;

/// Everything that an endpoint has emitted: time, packet and SACK blocks.
#[derive(Default)]
pub struct Tape(pub Vec<(u64, Packet, SackBlocks)>);

impl Emit for Tape {
    fn emit(&mut self, now: u64, packet: Packet) -> bool {
        self.0.push((now, packet, SackBlocks::default()));
        true
    }

    fn emit_sack(&mut self, now: u64, packet: Packet, blocks: &SackBlocks) -> bool {
        self.0.push((now, packet, *blocks));
        true
    }
}

/// Creates SACK blocks in the given order.
pub fn blocks(ranges: &[(u32, u32)]) -> SackBlocks {
    let mut blocks = SackBlocks { len: ranges.len() as u32, ..SackBlocks::default() };
    blocks.blocks[..ranges.len()].copy_from_slice(ranges);
    blocks
}

/// Returns the default settings with segments of 1,000 bytes.
pub fn sender_config() -> SenderConfig {
    SenderConfig {
        packet_size: FULL,
        first_packet_size: FULL,
        last_packet_size: FULL,
        ack_size: BARE_ACK,
        window: window(10.0),
        ..SenderConfig::default()
    }
}

/// Returns a window of `segments` segments of 1,000 bytes.
pub fn window(segments: f64) -> WindowConfig {
    WindowConfig {
        initial_cwnd: segments,
        initial_ssthresh: f64::INFINITY,
        clamp: f64::INFINITY,
        mss: 1000,
        arithmetic: Arithmetic::Real,
        slow_start_at_ssthresh: false,
    }
}

/// A sender under test. Its ACKs echo the timestamp of `rtt` ago.
pub struct Bench {
    pub sender: Sender,
    pub rtt: u64,
    tape: Tape,
    notes: Arc<Mutex<Notes>>,
}

impl Bench {
    /// Creates a sender that has not started.
    pub fn idle(config: SenderConfig, fake: Fake) -> Bench {
        let notes = fake.notes.clone();
        Bench { sender: Sender::new(config, Box::new(fake)), rtt: 100 * MS, tape: Tape::default(), notes }
    }

    /// Creates a sender that has started. Returns it and the segments that it sent.
    pub fn start(config: SenderConfig, fake: Fake) -> (Bench, Vec<u32>) {
        let mut bench = Bench::idle(config, fake);
        let sent = bench.timer();
        (bench, sent)
    }

    /// Creates a sender that has started, and checks that it sent its first window in order.
    pub fn started(config: SenderConfig, fake: Fake) -> Bench {
        let (bench, sent) = Bench::start(config, fake);
        assert_eq!(sent, (0..sent.len() as u32).collect::<Vec<_>>());
        bench
    }

    /// Returns what the algorithm was told so far.
    pub fn notes(&self) -> Notes {
        self.notes.lock().unwrap().clone()
    }

    /// Returns the window and the threshold, segments.
    pub fn windows(&self) -> (f64, f64) {
        (self.sender.window().cwnd, self.sender.window().ssthresh)
    }

    /// Returns what was emitted since the last call.
    pub fn packets(&mut self) -> Vec<(u64, Packet)> {
        self.tape.0.drain(..).map(|(at, packet, _)| (at, packet)).collect()
    }

    /// Returns the segments sent since the last call.
    pub fn segments(&mut self) -> Vec<u32> {
        self.packets()
            .into_iter()
            .filter(|(_, packet)| packet.is_data())
            .map(|(_, packet)| packet.seq)
            .collect()
    }

    /// Lets the next timer expire. Returns the segments sent.
    pub fn timer(&mut self) -> Vec<u32> {
        let now = self.sender.deadline();
        assert_ne!(now, NEVER, "no timer is set");
        self.sender.on_timer(now, &mut self.tape);
        self.segments()
    }

    /// Lets the timer expire at `now`. The packets that this causes stay on the tape.
    pub fn sender_timer(&mut self, now: u64) {
        self.sender.on_timer(now, &mut self.tape);
    }

    /// Lets all timers up to `until` expire. Returns the segments sent, with their times.
    pub fn run(&mut self, until: u64) -> Vec<(u64, u32)> {
        while self.sender.deadline() <= until {
            let now = self.sender.deadline();
            self.sender.on_timer(now, &mut self.tape);
        }
        self.packets().into_iter().map(|(at, packet)| (at, packet.seq)).collect()
    }

    /// Hands over a packet. The packets that this causes stay on the tape.
    pub fn hand(&mut self, now: u64, packet: Packet, sacked: &[(u32, u32)]) {
        let told = blocks(sacked);
        let flags = packet.flags | if sacked.is_empty() { 0 } else { SACK };
        let packet = Packet { at: now, channel: 1, size: BARE_ACK as u16, flags, ..packet };
        self.sender.on_packet(now, &packet, (!sacked.is_empty()).then_some(&told), &mut self.tape);
    }

    /// Hands over an ACK. Returns the segments sent.
    pub fn ack(&mut self, now: u64, seq: u32) -> Vec<u32> {
        self.sack(now, seq, &[])
    }

    /// Hands over an ACK with SACK blocks. Returns the segments sent.
    pub fn sack(&mut self, now: u64, seq: u32, sacked: &[(u32, u32)]) -> Vec<u32> {
        self.flagged(now, seq, sacked, 0)
    }

    /// Hands over an ACK with more flags. Returns the segments sent.
    pub fn flagged(&mut self, now: u64, seq: u32, sacked: &[(u32, u32)], flags: u16) -> Vec<u32> {
        let sent = now.saturating_sub(self.rtt);
        self.hand(now, Packet { sent, seq, flags: BARE | flags, ..Packet::default() }, sacked);
        self.segments()
    }
}

/// Returns the settings of a receiver that acknowledges each packet, with up to three SACK blocks that weigh 4 + 8 each.
pub fn receiver_config() -> ReceiverConfig {
    ReceiverConfig {
        channel: 1,
        packet_size: FULL,
        ack_size: BARE_ACK,
        sack_sizes: (4, 8),
        sack_blocks: 3,
        sack_memory: 8,
        delayed_ack: None,
        ecn: EcnMode::Off,
        timer: TimerWheel::default(),
        paws: false,
        accurate_ecn: false,
        ecn_capability: cwnd_tcp::accurate_ecn::Capability::default(),
        ecn_option: false,
        data_overhead: 66,
        linux: false,
        growing_window: 0,
        behaviour: cwnd_scenario::ReceiverBehaviour::Honest,
    }
}

/// An ACK as the test sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub at: u64,
    /// The segment expected next.
    pub next: u32,
    /// The timestamp echoed.
    pub echo: u64,
    pub flags: u16,
    pub size: u16,
    pub blocks: Vec<(u32, u32)>,
}

/// A receiver under test.
pub struct Far {
    pub receiver: Receiver,
    tape: Tape,
}

impl Far {
    pub fn new(config: ReceiverConfig) -> Far {
        Far { receiver: Receiver::new(config), tape: Tape::default() }
    }

    fn answers(&mut self) -> Vec<Answer> {
        let answer = |(at, packet, blocks): (u64, Packet, SackBlocks)| Answer {
            at,
            next: packet.seq,
            echo: packet.sent,
            flags: packet.flags & !(BARE | SACK),
            size: packet.size,
            blocks: blocks.iter().collect(),
        };
        self.tape.0.drain(..).map(answer).collect()
    }

    /// Hands over a segment sent 10 ns before. Returns the ACKs sent at once.
    pub fn data(&mut self, now: u64, seq: u32) -> Vec<Answer> {
        self.flagged(now, seq, 0)
    }

    /// Hands over a segment with flags.
    pub fn flagged(&mut self, now: u64, seq: u32, flags: u16) -> Vec<Answer> {
        self.hand(now, Packet { sent: now - 10, seq, flags, ..Packet::default() })
    }

    /// Hands over a segment that was sent at `sent`.
    pub fn late(&mut self, now: u64, sent: u64, seq: u32) -> Vec<Answer> {
        self.hand(now, Packet { sent, seq, ..Packet::default() })
    }

    fn hand(&mut self, now: u64, packet: Packet) -> Vec<Answer> {
        let packet = Packet { at: now, size: FULL as u16, ..packet };
        self.receiver.on_packet(now, &packet, &mut self.tape);
        self.answers()
    }

    /// Lets the timer expire, if it is set.
    pub fn timer_if_set(&mut self) -> Vec<Answer> {
        if self.receiver.deadline == NEVER { Vec::new() } else { self.timer() }
    }

    /// Lets the timer expire.
    pub fn timer(&mut self) -> Vec<Answer> {
        let now = self.receiver.deadline;
        assert_ne!(now, NEVER, "no timer is set");
        self.receiver.on_timer(now, &mut self.tape);
        self.answers()
    }
}

/// Returns the only ACK; panics if there is not exactly one.
pub fn only(mut answers: Vec<Answer>) -> Answer {
    assert_eq!(answers.len(), 1, "one ACK is due: {answers:?}");
    answers.remove(0)
}
