//! The random settings of an exchange.

use crate::algorithm::Reactions;
use cwnd_cc::{Arithmetic, EcnMode, FlowHints, Needs, WindowConfig};
use cwnd_scenario::{LinuxVersion, Purpose, ReceiverBehaviour, Recovery, Stream, mix};
use cwnd_tcp::accurate_ecn::Capability;
use cwnd_tcp::{NEVER, ReceiverConfig, SenderConfig, TimerWheel};

pub const MS: u64 = 1_000_000;

/// Random numbers.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(mix(seed ^ 0x5eed))
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// What may make an exchange more than an undisturbed transfer. A failing exchange is repeated without each of these, to find those
/// that matter.
pub const FEATURES: [&str; 22] = [
    "loss",
    "bursts of loss",
    "reordering",
    "duplication",
    "lost ACKs",
    "reordered ACKs",
    "duplicated ACKs",
    "old ACKs",
    "ECN",
    "pauses",
    "receive window",
    "delayed ACKs",
    "no SACK",
    "no timestamps",
    "handshake",
    "end",
    "stop",
    "timer wheel",
    "window validation",
    "integer windows",
    "unusual algorithm",
    "event log",
];

/// A set of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features(pub u32);

impl Features {
    pub const ALL: Features = Features((1 << FEATURES.len()) - 1);

    pub fn has(self, name: &str) -> bool {
        let at = FEATURES.iter().position(|&feature| feature == name);
        self.0 >> at.unwrap_or_else(|| panic!("{name} is no feature")) & 1 == 1
    }

    pub fn without(self, at: usize) -> Features {
        Features(self.0 & !(1 << at))
    }

    pub fn names(self) -> Vec<&'static str> {
        FEATURES.into_iter().filter(|name| self.has(name)).collect()
    }
}

/// The path: percentages and times.
#[derive(Clone, Debug)]
pub struct Path {
    pub delay: u64,
    /// Time that each packet takes on the link.
    pub spacing: u64,
    pub loss: u64,
    /// Percent of losses that take the packets after them, too.
    pub burst: u64,
    pub late: u64,
    pub copies: u64,
    pub lost_acks: u64,
    pub late_acks: u64,
    pub ack_copies: u64,
    pub old_acks: u64,
    pub marks: u64,
}

/// Everything that is fixed when an exchange begins.
#[derive(Clone, Debug)]
pub struct Settings {
    pub sender: SenderConfig,
    pub receiver: ReceiverConfig,
    pub reactions: Reactions,
    pub path: Path,
    /// Whether the application writes now and then, and how often the receive window changes, percent of the events.
    pub pauses: bool,
    pub window_changes: u64,
    pub event_log: bool,
    /// How many events happen.
    pub events: usize,
}

pub fn draw(dice: &mut Dice, recovery: Recovery, features: Features) -> Settings {
    // Each number is drawn, whether its feature counts or not, so that the others stay the same without it.
    let mut percent = |feature: &str, chance: u64, most: u64| {
        let (on, percent) = (dice.chance(chance), 1 + dice.below(most));
        if on && features.has(feature) { percent } else { 0 }
    };
    // What RACK decides by the echoed timestamp of an overtaken ACK shows in few exchanges.
    let (reordering, reordered_acks) = if recovery == Recovery::Rack { (70, 60) } else { (40, 30) };
    let mut path = Path {
        loss: percent("loss", 70, 25),
        burst: percent("bursts of loss", 30, 80),
        late: percent("reordering", reordering, 25),
        copies: percent("duplication", 25, 15),
        lost_acks: percent("lost ACKs", 40, 30),
        late_acks: percent("reordered ACKs", reordered_acks, 30),
        ack_copies: percent("duplicated ACKs", 20, 15),
        old_acks: percent("old ACKs", 20, 10),
        marks: percent("ECN", 50, 20),
        delay: 0,
        spacing: 0,
    };
    let window_changes = percent("receive window", 20, 8);
    let mut flag = |feature: &str, chance: u64| dice.chance(chance) && features.has(feature);
    let (pauses, delayed, no_sack) = (flag("pauses", 30), flag("delayed ACKs", 50), flag("no SACK", 25));
    let (no_timestamps, handshake, end) = (flag("no timestamps", 30), flag("handshake", 40), flag("end", 40));
    let (stops, wheel, validates) = (flag("stop", 5), flag("timer wheel", 50), flag("window validation", 25));
    let (integers, unusual, ecn) =
        (flag("integer windows", 40), flag("unusual algorithm", 40), flag("ECN", 40));
    let event_log = flag("event log", 30);
    path.delay = dice.one(&[50_000, 2 * MS, 10 * MS, 25 * MS, 60 * MS]) + dice.below(MS);
    path.spacing = dice.one(&[1_000, 12_000, 120_000, MS, 4 * MS]);
    let arithmetic = match integers {
        true => dice.one(&[Arithmetic::Linux, Arithmetic::Linux26]),
        false => Arithmetic::Real,
    };
    let window = WindowConfig {
        initial_cwnd: if dice.chance(2) { 300.0 } else { 1.0 + dice.below(24) as f64 },
        initial_ssthresh: dice.one(&[f64::INFINITY, f64::INFINITY, 2.0, 8.0, 20.0]),
        clamp: dice.one(&[f64::INFINITY, 60.0, 30.0]),
        mss: 1000,
        arithmetic,
        slow_start_at_ssthresh: dice.chance(30),
    };
    let ecn = if ecn { dice.one(&[EcnMode::Classic, EcnMode::Exact]) } else { EcnMode::Off };
    let is_linux = recovery.is_by_time();
    let timer =
        if wheel && is_linux { TimerWheel::new(dice.one(&[1000, 250])) } else { TimerWheel::default() };
    let segments = 5 + dice.below(150);
    let rto = dice.one(&[
        (1000 * MS, 200 * MS, 120_000 * MS),
        (3000 * MS, 200 * MS, 60_000 * MS),
        (300 * MS, 20 * MS, 1000 * MS),
    ]);
    let sender = SenderConfig {
        channel: 6,
        packet_size: 1050,
        first_packet_size: dice.one(&[1050, 40]),
        last_packet_size: dice.one(&[1050, 333]),
        segments: if end { segments } else { u64::MAX },
        ack_size: 50,
        receive_window: dice.one(&[100_000, 100_000, 40, 12]),
        growing_window: None,
        validate_cwnd: validates,
        window,
        recovery,
        sack: !no_sack,
        timestamps: !no_timestamps,
        limited_transmit: dice.chance(70),
        detect_lost_retransmissions: dice.chance(70),
        ecn,
        accurate_ecn: false,
        l4s: dice.chance(50),
        handshake,
        rto,
        timer,
        linux_version: dice.one(&[LinuxVersion::RECORDED, LinuxVersion::RECORDED, LinuxVersion::new(6, 12)]),
        start: dice.below(5 * MS),
        stop: if stops { 100 * MS + dice.below(400 * MS) } else { NEVER },
        send_overhead: 0,
        overhead_stream: Stream::new(1, Purpose::SendOverhead, 0),
        algorithm_seed: 1,
        hints: FlowHints::default(),
        application: None,
        restart_after_idle: dice.chance(50),
    };
    let receiver = ReceiverConfig {
        channel: 7,
        packet_size: 1050,
        ack_size: 50,
        sack_sizes: dice.one(&[(4, 8), (0, 8)]),
        sack_blocks: if no_sack { 0 } else { dice.one(&[3, 4, 1]) },
        sack_memory: dice.one(&[3, 4, 8]),
        delayed_ack: delayed.then_some(40 * MS),
        ecn,
        timer,
        paws: is_linux && !no_timestamps,
        accurate_ecn: false,
        ecn_capability: Capability::default(),
        ecn_option: false,
        data_overhead: 50,
        linux: is_linux && dice.chance(75),
        growing_window: dice.one(&[0, 0, 5]),
        behaviour: ReceiverBehaviour::Honest,
    };
    let owner = unusual && dice.chance(25);
    let needs = Needs {
        owns_recovery: owner,
        marks_only: unusual && dice.chance(30),
        ecn: (unusual && dice.chance(30)).then_some(EcnMode::Exact),
        ..Needs::default()
    };
    let reactions = Reactions {
        factor: if unusual { dice.one(&[0.3, 0.7, 0.875]) } else { 0.5 },
        held: (unusual && dice.chance(40)).then(|| dice.one(&[0.25, 0.9])),
        restart: if unusual { dice.one(&[1.0, 2.0, 4.0]) } else { 1.0 },
        needs,
    };
    let events = if dice.chance(5) { 1200 } else { 40 + dice.below(160) as usize };
    Settings { sender, receiver, reactions, path, pauses, window_changes, event_log, events }
}
