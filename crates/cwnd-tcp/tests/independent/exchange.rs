//! An exchange: both pairs of endpoints on one random path.

use crate::algorithm::{Log, Recorder, Told};
use crate::settings::{Dice, Features, MS, Path, Settings};
use crate::{receiver, sender, settings};
use cwnd_scenario::{Purpose, Recovery, Stream};
use cwnd_tcp::packet::{BARE, CE, ECT, Emit, Packet, SackBlocks};
use cwnd_tcp::{NEVER, Receiver, Sender};
use std::collections::BTreeMap;

/// What an endpoint emits: time, packet, and SACK blocks.
type Sent = Vec<(u64, Packet, Option<SackBlocks>)>;

#[derive(Default)]
struct Tape(Sent);

impl Emit for Tape {
    fn emit(&mut self, now: u64, packet: Packet) -> bool {
        self.0.push((now, packet, None));
        true
    }

    fn emit_sack(&mut self, now: u64, packet: Packet, blocks: &SackBlocks) -> bool {
        self.0.push((now, packet, Some(*blocks)));
        true
    }
}

/// What is on its way.
#[derive(Clone, Debug)]
enum Arrival {
    Data(Packet),
    Ack(Packet, Option<SackBlocks>),
}

/// What the exchanges of a test have met: how many there were of each.
#[derive(Clone, Debug, Default)]
pub struct Coverage(pub BTreeMap<&'static str, u64>);

impl Coverage {
    pub fn add(&mut self, name: &'static str, count: u64) {
        *self.0.entry(name).or_default() += count;
    }
}

/// What is compared of the senders after each event.
const VIEW: [&str; 28] = [
    "una",
    "next",
    "in flight",
    "state",
    "cwnd",
    "ssthresh",
    "SACKed",
    "lost",
    "retransmitted",
    "srtt",
    "variation",
    "least RTT",
    "timeout",
    "timeouts",
    "backoff",
    "samples",
    "sum of samples",
    "greatest RTT",
    "sent",
    "retransmissions",
    "ACKs",
    "all timeouts",
    "congestion events",
    "delivered",
    "duplicates",
    "completed",
    "stopped",
    "reordering",
];

type View = [u64; VIEW.len()];

struct Exchange {
    settings: Settings,
    dice: Dice,
    now: u64,
    sender: Sender,
    receiver: Receiver,
    peers: (Tape, Tape),
    reference: sender::Sender,
    other: receiver::Receiver,
    told: (Log, Log),
    /// By time and number.
    arrivals: BTreeMap<(u64, u64), Arrival>,
    count: u64,
    link_free: u64,
    in_burst: bool,
    /// ACKs that have arrived, to be repeated.
    old: Vec<(Packet, Option<SackBlocks>)>,
    events: usize,
}

/// Runs an exchange of at most `most` events. Returns the first disagreement, with the number of the event.
pub fn run(
    seed: u64,
    recovery: Recovery,
    features: Features,
    most: usize,
    coverage: &mut Coverage,
) -> Result<(), (usize, String)> {
    let mut dice = Dice::new(seed);
    let settings = settings::draw(&mut dice, recovery, features);
    let mut exchange = Exchange::new(settings, dice);
    let result = exchange.run(most);
    exchange.cover(coverage);
    result.map_err(|text| (exchange.events, format!("event {} at {}: {text}", exchange.events, exchange.now)))
}

impl Exchange {
    fn new(settings: Settings, dice: Dice) -> Exchange {
        let told: (Log, Log) = Default::default();
        let algorithm = |log: &Log| Box::new(Recorder { reactions: settings.reactions, log: log.clone() });
        let mut sender = Sender::new(settings.sender.clone(), algorithm(&told.0));
        let mut reference = sender::Sender::new(settings.sender.clone(), algorithm(&told.1));
        if settings.event_log {
            sender.enable_event_log();
        }
        if settings.pauses {
            sender.set_traffic(0, None, Stream::new(1, Purpose::Traffic, 0));
            reference.write_only();
        }
        Exchange {
            sender,
            receiver: Receiver::new(settings.receiver.clone()),
            peers: Default::default(),
            reference,
            other: receiver::Receiver::new(settings.receiver.clone()),
            told,
            arrivals: BTreeMap::new(),
            count: 0,
            link_free: 0,
            in_burst: false,
            old: Vec::new(),
            events: 0,
            now: 0,
            settings,
            dice,
        }
    }

    fn run(&mut self, most: usize) -> Result<(), String> {
        self.compare()?;
        while self.events < self.settings.events.min(most) {
            self.events += 1;
            let arrival = self.arrivals.keys().next().map_or(NEVER, |&(at, _)| at);
            let timer = self.sender.deadline();
            let ack = self.receiver.deadline;
            let next = arrival.min(timer).min(ack);
            if self.settings.pauses
                && self.dice.chance(15)
                && self.reference.phase == sender::Phase::Established
            {
                self.write(next);
            } else if next == NEVER {
                break;
            } else if arrival == next {
                self.now = next;
                let ((_, _), arrival) = self.arrivals.pop_first().expect("something arrives");
                self.arrive(arrival);
            } else if timer == next {
                self.now = next;
                self.sender.on_timer(next, &mut self.peers.0);
                if self.reference.deadline() <= next {
                    self.reference.on_timer(next);
                }
            } else {
                self.now = next;
                self.receiver.on_timer(next, &mut self.peers.1);
                self.other.on_timer(next);
            }
            self.compare()?;
            self.disturb()?;
        }
        Ok(())
    }

    fn write(&mut self, next: u64) {
        // After some time in which nothing happens.
        let wait = self.dice.one(&[0, MS, 50 * MS, 2000 * MS]);
        self.now = (self.now + wait).min(next);
        let segments = 1 + self.dice.below(20);
        self.sender.write(self.now, segments, &mut self.peers.0);
        self.reference.write(self.now, segments);
    }

    fn arrive(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Data(packet) => {
                self.receiver.on_packet(self.now, &packet, &mut self.peers.1);
                self.other.on_packet(self.now, &packet);
            }
            Arrival::Ack(packet, blocks) => {
                self.sender.on_packet(self.now, &packet, blocks.as_ref(), &mut self.peers.0);
                self.reference.on_packet(self.now, &packet, blocks.as_ref());
                self.old.push((packet, blocks));
            }
        }
    }

    /// Sometimes an old ACK arrives again, or the receive window changes.
    fn disturb(&mut self) -> Result<(), String> {
        let repeats = self.dice.below(100) < self.settings.path.old_acks;
        let changes = self.dice.below(100) < self.settings.window_changes;
        if changes && self.reference.phase == sender::Phase::Established {
            let segments = self.dice.one(&[0, 1, 5, 20, 100]);
            self.sender.set_receive_window(self.now, segments);
            self.reference.set_receive_window(self.now, segments);
            self.compare()?;
        }
        if (repeats || changes) && !self.old.is_empty() {
            let at = self.dice.below(self.old.len() as u64) as usize;
            let at = if changes { self.old.len() - 1 } else { at };
            let (packet, blocks) = self.old[at];
            self.arrive(Arrival::Ack(packet, blocks));
            self.compare()?;
        }
        Ok(())
    }

    /// Puts on the path what was sent. Both must have sent the same.
    fn compare(&mut self) -> Result<(), String> {
        let data = std::mem::take(&mut self.peers.0.0);
        let expected: Sent = self.reference.sent.drain(..).map(|(at, packet)| (at, packet, None)).collect();
        same("packets of the sender", &data, &expected)?;
        let acks = std::mem::take(&mut self.peers.1.0);
        let expected = std::mem::take(&mut self.other.sent);
        same("packets of the receiver", &acks, &expected)?;
        {
            let (mut told, mut expected) = (self.told.0.lock().unwrap(), self.told.1.lock().unwrap());
            let same: Result<(), String> = same::<Told>("events of the algorithm", &told, &expected);
            same?;
            told.clear();
            expected.clear();
        }
        self.compare_losses()?;
        let (view, expected) = (view(&self.sender), self.reference.view());
        if view != expected {
            let different = (0..VIEW.len()).filter(|&i| view[i] != expected[i]);
            let different: Vec<String> =
                different.map(|i| format!("{}: {} for {}", VIEW[i], view[i], expected[i])).collect();
            return Err(different.join(", "));
        }
        let (deadline, expected) = (self.sender.deadline(), self.reference.deadline());
        // On the timer wheel the time of an expiry is computed when the wait is over.
        let waits = self.settings.sender.timer != Default::default() && deadline < expected;
        if deadline != expected && !waits {
            return Err(format!("the sender's timer expires at {deadline} for {expected}"));
        }
        let receivers = (self.receiver.deadline, self.receiver.counts, self.receiver.expected());
        let expected = (self.other.deadline, self.other.counts, self.other.expected());
        if receivers != expected {
            return Err(format!(
                "the receiver's timer, counts and next segment: {receivers:?} for {expected:?}"
            ));
        }
        // Probes of a closed window are for the receiver's host.
        let is_probe = |packet: &Packet| packet.flags == BARE;
        for (_, packet, _) in data.into_iter().filter(|(_, packet, _)| !is_probe(packet)) {
            self.pass_on(Arrival::Data(packet));
        }
        for (_, packet, blocks) in acks {
            self.pass_on(Arrival::Ack(packet, blocks));
        }
        Ok(())
    }

    fn compare_losses(&mut self) -> Result<(), String> {
        let expected = std::mem::take(&mut self.reference.losses);
        if !self.settings.event_log {
            return Ok(());
        }
        let mut lost = Vec::new();
        while let Some(event) = self.sender.take_event(NEVER) {
            lost.extend(event.lost);
        }
        same("lost segments", &lost, &expected)
    }

    fn pass_on(&mut self, arrival: Arrival) {
        let Path {
            delay, spacing, loss, burst, late, copies, lost_acks, late_acks, ack_copies, marks, ..
        } = self.settings.path;
        let is_ack = matches!(arrival, Arrival::Ack(..));
        let (loss, late, copies) =
            if is_ack { (lost_acks, late_acks, ack_copies) } else { (loss, late, copies) };
        let lost = self.dice.chance(loss);
        self.in_burst = !is_ack && (lost || self.in_burst) && self.dice.chance(burst);
        let mut at = self.now + delay;
        if !is_ack {
            self.link_free = self.link_free.max(self.now) + spacing;
            at = self.link_free + delay;
        }
        if self.dice.chance(late) {
            at += self.dice.below(3 * delay);
        }
        let copy_at = at + self.dice.below(2 * delay);
        let copied = self.dice.chance(copies);
        let mut arrival = arrival;
        let marked = self.dice.chance(marks);
        if let Arrival::Data(packet) = &mut arrival
            && packet.is(ECT)
            && marked
        {
            packet.flags |= CE;
        }
        if lost || (self.in_burst && !is_ack) {
            return;
        }
        if copied {
            self.put(copy_at, arrival.clone());
        }
        self.put(at, arrival);
    }

    fn put(&mut self, at: u64, mut arrival: Arrival) {
        match &mut arrival {
            Arrival::Data(packet) | Arrival::Ack(packet, _) => packet.at = at,
        }
        self.count += 1;
        self.arrivals.insert((at, self.count), arrival);
    }

    fn cover(&self, coverage: &mut Coverage) {
        let counts = &self.reference.counts;
        coverage.add("events", self.events as u64);
        coverage.add("packets sent", counts.sent);
        coverage.add("retransmissions", counts.retransmissions);
        coverage.add("timeouts", counts.timeouts);
        coverage.add("congestion events", counts.congestion_events);
        coverage.add("completed transfers", u64::from(self.reference.completed.is_some()));
        coverage.add("duplicates at the receiver", self.other.counts.duplicates);
        coverage.add("marks at the receiver", self.other.counts.marked);
        if self.settings.sender.recovery.is_by_time() {
            coverage.add("probes", self.reference.timed.probes);
            coverage.add("reductions undone", self.reference.timed.undone);
            coverage.add("ACKs that reveal reordering", u64::from(self.reference.reordering().1));
        }
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &[T], expected: &[T]) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    let at = got.iter().zip(expected).take_while(|(got, expected)| got == expected).count();
    Err(format!(
        "{what}: {} for {}, from number {at} on\n    {:?}\nfor {:?}",
        got.len(),
        expected.len(),
        &got[at..],
        &expected[at..]
    ))
}

fn view(sender: &Sender) -> View {
    let (info, counts) = (sender.tcp_info(), sender.counts);
    let (samples, sum, extremes) = sender.rtt();
    [
        sender.acknowledged(),
        sender.next_segment(),
        u64::from(sender.in_flight()),
        sender.state() as u64,
        info.cwnd.to_bits(),
        info.ssthresh.to_bits(),
        u64::from(info.sacked),
        u64::from(info.lost),
        u64::from(info.retransmitted),
        info.srtt,
        info.rtt_variation,
        info.min_rtt.unwrap_or(0),
        info.timeout,
        u64::from(info.timeouts),
        u64::from(info.backoff),
        samples,
        sum,
        extremes.map_or(0, |(_, greatest)| greatest),
        counts.sent,
        counts.retransmissions,
        counts.acks,
        counts.timeouts,
        counts.congestion_events,
        counts.delivered,
        counts.duplicates,
        sender.completed.unwrap_or(0),
        sender.stopped.unwrap_or(0),
        u64::from(info.reordering) << 32 | u64::from(info.reordering_events),
    ]
}

impl sender::Sender {
    fn view(&self) -> View {
        let reordering = self.reordering();
        [
            self.una,
            self.next(),
            u64::from(self.pipe()),
            self.state as u64,
            self.window.cwnd.to_bits(),
            self.window.ssthresh.to_bits(),
            u64::from(self.sacked()),
            u64::from(self.count(|segment| segment.lost)),
            u64::from(self.count(|segment| segment.lost && segment.repaired)),
            self.rtt.srtt(),
            self.rtt.variation(),
            self.rtt.least.unwrap_or(0),
            self.rtt.timeout(),
            u64::from(self.timeouts),
            u64::from(self.rtt.backoff),
            self.rtt.samples,
            self.rtt.sum,
            self.rtt.greatest_rtt,
            self.counts.sent,
            self.counts.retransmissions,
            self.counts.acks,
            self.counts.timeouts,
            self.counts.congestion_events,
            self.counts.delivered,
            self.counts.duplicates,
            self.completed.unwrap_or(0),
            self.stopped.unwrap_or(0),
            u64::from(reordering.0) << 32 | u64::from(reordering.1),
        ]
    }
}
