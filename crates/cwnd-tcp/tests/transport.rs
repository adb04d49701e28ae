//! The same packets, the same events: `cwnd_cc::transport::Adapter` against the TCP endpoint.
//!
//! A TCP sender with RFC 6675 transmits over a random path. The adapter is given what happens to each of its packets: sent,
//! acknowledged, lost, marked. Both have an instance of the same algorithm, and the calls that the two instances receive are
//! compared. The sender's own window decides what is sent; the adapter's is only compared. There is no reordering, no reneging and
//! no retransmission timeout. The table in `cwnd_cc::transport` states what is compared here.

use cwnd_cc::parts::draws::Draws;
use cwnd_cc::transport::{AckEnd, Adapter, SentPacket, Settings};
use cwnd_cc::{
    Ack, AckCompat, AlgorithmInfo, Arithmetic, Congestion, CongestionControl, EcnMode, Init, LostPacket,
    Nanos, Needs, Parameters, State, Window, WindowConfig,
};
use cwnd_scenario::{Purpose, Stream};
use cwnd_tcp::packet::{BARE, ECE, Emit, Packet, SACK, SackBlocks};
use cwnd_tcp::{NEVER, Sender, SenderConfig};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

const MS: u64 = 1_000_000;
const MSS: u32 = 1_000;
/// No retransmission timer expires within a run.
const RTO: u64 = 10_000_000 * MS;

/// What an algorithm received.
#[derive(Clone, Debug, Default)]
struct Notes {
    acks: Vec<Ack>,
    congestions: Vec<Congestion>,
    lost: Vec<LostPacket>,
    exits: Vec<Nanos>,
    restarts: Vec<(Nanos, Nanos)>,
}

/// A registered algorithm that takes notes, and asks for rate samples and lost packets in any case.
struct Recorder {
    inner: Box<dyn CongestionControl>,
    notes: Arc<Mutex<Notes>>,
}

impl CongestionControl for Recorder {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.inner.init(window, init);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.notes.lock().unwrap().acks.push(*ack);
        self.inner.on_ack(window, ack);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.notes.lock().unwrap().congestions.push(*congestion);
        self.inner.on_congestion(window, congestion);
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        self.notes.lock().unwrap().exits.push(now);
        self.inner.on_recovery_exit(window, now);
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, idle: Nanos) {
        self.notes.lock().unwrap().restarts.push((now, idle));
        self.inner.on_idle_restart(window, now, idle);
    }

    fn on_packet_lost(&mut self, window: &mut Window, lost: &LostPacket) {
        self.notes.lock().unwrap().lost.push(*lost);
        if self.inner.needs().lost_packets {
            self.inner.on_packet_lost(window, lost);
        }
    }

    fn needs(&self) -> Needs {
        Needs { rate_samples: true, lost_packets: true, ..self.inner.needs() }
    }
}

fn recorder(info: &AlgorithmInfo) -> (Box<Recorder>, Arc<Mutex<Notes>>) {
    let notes = Arc::new(Mutex::new(Notes::default()));
    let inner = (info.build)(&Parameters::new()).unwrap();
    (Box::new(Recorder { inner, notes: Arc::clone(&notes) }), notes)
}

/// What the random path does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    /// It delivers everything; the application has pauses.
    Clean,
    /// It delivers and marks.
    Marking,
    /// It loses packets.
    Lossy,
}

/// Packets that the sender has emitted.
#[derive(Default)]
struct Tape(Vec<(u64, u32)>);

impl Emit for Tape {
    fn emit(&mut self, now: u64, packet: Packet) -> bool {
        if packet.is_data() {
            self.0.push((now, packet.seq));
        }
        true
    }

    fn emit_sack(&mut self, _: u64, _: Packet, _: &SackBlocks) -> bool {
        unreachable!("a sender emits data")
    }
}

/// A packet that arrives at the receiver.
struct Arrival {
    at: u64,
    segment: u64,
    marked: bool,
}

struct Run {
    path: Path,
    draws: Draws,
    sender: Sender,
    adapter: Adapter,
    tape: Tape,
    /// The newest transmission of each segment that is not known to have arrived.
    in_flight: BTreeMap<u64, SentPacket>,
    arrivals: VecDeque<Arrival>,
    /// The receiver: everything below `cumulative` and the segments of `above` have arrived.
    cumulative: u64,
    above: BTreeSet<u64>,
    /// Segments that have arrived since the last ACK.
    unacknowledged: u32,
    /// What the application has written.
    written: u64,
    next_write: u64,
    /// The path: fixed delay, time of a packet at the bottleneck, and when it is free.
    delay: u64,
    service: u64,
    free: u64,
    /// Window after each ACK: of the sender and of the adapter.
    windows: Vec<[(f64, f64, f64); 2]>,
    exchanged: usize,
    /// ACKs before losses first left nothing in flight.
    emptied: Option<usize>,
}

impl Run {
    fn new(info: &AlgorithmInfo, path: Path, seed: u64) -> (Run, [Arc<Mutex<Notes>>; 2]) {
        let mut draws = Draws::new(seed);
        let arithmetic = [Arithmetic::Real, Arithmetic::Linux][draws.below(2) as usize];
        let threshold = [f64::INFINITY, 20.0][draws.below(2) as usize];
        let window = WindowConfig {
            initial_cwnd: 10.0,
            initial_ssthresh: threshold,
            clamp: 200.0,
            mss: MSS,
            arithmetic,
            slow_start_at_ssthresh: false,
        };
        let ecn = if path == Path::Marking { EcnMode::Exact } else { EcnMode::Off };
        let writes = path == Path::Clean && draws.below(2) == 0;
        let config = SenderConfig {
            packet_size: MSS + 50,
            first_packet_size: MSS + 50,
            last_packet_size: MSS + 50,
            ack_size: 50,
            window,
            timestamps: false,
            validate_cwnd: true,
            ecn,
            rto: (RTO, RTO, RTO),
            algorithm_seed: seed,
            ..SenderConfig::default()
        };
        let (algorithm, of_sender) = recorder(info);
        let mut sender = Sender::new(config, algorithm);
        sender.enable_event_log();
        if writes {
            sender.set_traffic(0, None, Stream::new(1, Purpose::Traffic, 0));
        }
        let (algorithm, of_adapter) = recorder(info);
        let settings = Settings { window, minimum_window: 1.0, ecn, seed, ..Settings::default() };
        let delay = (5 + u64::from(draws.below(100))) * MS;
        let service = (20 + u64::from(draws.below(2_000))) * 1_000;
        let run = Run {
            path,
            draws,
            sender,
            adapter: Adapter::new(algorithm, Nanos::ZERO, &settings),
            tape: Tape::default(),
            in_flight: BTreeMap::new(),
            arrivals: VecDeque::new(),
            cumulative: 0,
            above: BTreeSet::new(),
            unacknowledged: 0,
            written: if writes { 0 } else { u64::MAX },
            next_write: if writes { 1 } else { NEVER },
            delay,
            service,
            free: 0,
            windows: Vec::new(),
            exchanged: 0,
            emptied: None,
        };
        (run, [of_sender, of_adapter])
    }

    /// Lets events happen until `acks` ACKs were exchanged, or until nothing happens any more.
    fn run(&mut self, acks: usize) {
        while self.exchanged < acks {
            let arrival = self.arrivals.front().map_or(NEVER, |arrival| arrival.at);
            let now = arrival.min(self.next_write).min(self.sender.deadline());
            if now >= RTO {
                break;
            }
            if self.sender.deadline() == now {
                self.sender.on_timer(now, &mut self.tape);
                self.after_event();
            } else if self.next_write == now {
                self.write(now);
            } else if let Some(arrival) = self.arrivals.pop_front() {
                self.receive(now, &arrival);
            }
        }
        let _ = self.adapter.window();
    }

    fn write(&mut self, now: u64) {
        let segments = u64::from(1 + self.draws.below(60));
        self.written += segments;
        self.sender.write(now, segments, &mut self.tape);
        self.after_event();
        self.next_write =
            now + u64::from(1 + self.draws.below(300)) * MS + u64::from(self.draws.below(1_000));
    }

    /// Handles what the sender has done: losses, new packets, and a lack of data.
    fn after_event(&mut self) {
        let events: Vec<_> = std::iter::from_fn(|| self.sender.take_event(NEVER)).collect();
        for (at, seq) in std::mem::take(&mut self.tape.0) {
            let segment = u64::from(seq);
            if self.path == Path::Lossy && self.adapter.bytes_in_flight() == 0 && self.exchanged > 0 {
                self.emptied.get_or_insert(self.exchanged);
            }
            let packet = self.adapter.on_packet_sent(Nanos(at), MSS);
            self.in_flight.insert(segment, packet);
            let is_lost = self.path == Path::Lossy && self.draws.below(60) == 0;
            let begins = self.free.max(at + self.delay / 2);
            // Cross traffic delays it now and then.
            let others = if self.draws.below(20) == 0 { u64::from(self.draws.below(8)) } else { 0 };
            self.free = begins + self.service * (1 + others);
            if !is_lost {
                let marked = self.path == Path::Marking && self.draws.below(25) == 0;
                self.arrivals.push_back(Arrival { at: self.free + self.delay / 2, segment, marked });
            }
        }
        if events.last().is_some_and(|event| event.app_limited) {
            self.adapter.on_app_limited();
        }
    }

    /// Delivers a packet to the receiver, whose ACK arrives at once.
    fn receive(&mut self, now: u64, arrival: &Arrival) {
        let in_order = arrival.segment == self.cumulative && self.above.is_empty();
        self.above.insert(arrival.segment);
        while self.above.remove(&self.cumulative) {
            self.cumulative += 1;
        }
        self.unacknowledged += 1;
        // A receiver mirrors marks exactly (RFC 8257 section 3.2): a change is acknowledged at once. Others are acknowledged late
        // at random, as long as another packet follows.
        let late = self.draws.below(2) == 0 && self.unacknowledged < 4 && !self.arrivals.is_empty();
        let next_is_alike = self.arrivals.front().is_some_and(|next| next.marked == arrival.marked);
        if in_order && late && next_is_alike {
            return;
        }
        // The endpoint ignores the mark of the last packet in flight, the adapter does not.
        self.acknowledge(now, arrival.marked && !self.arrivals.is_empty());
        self.unacknowledged = 0;
    }

    fn acknowledge(&mut self, now: u64, marked: bool) {
        let mut blocks = SackBlocks::default();
        let mut segments = self.above.iter().copied().rev().peekable();
        while let Some(last) = segments.next().filter(|_| blocks.len < 4) {
            let mut first = last;
            while segments.next_if_eq(&first.wrapping_sub(1)).is_some() {
                first -= 1;
            }
            blocks.blocks[blocks.len as usize] = (first as u32, last as u32 + 1);
            blocks.len += 1;
        }
        let flags = BARE | if marked { ECE } else { 0 } | if blocks.len > 0 { SACK } else { 0 };
        let packet =
            Packet { at: now, sent: 0, seq: self.cumulative as u32, channel: 1, aux: 0, size: 50, flags };
        let app_limited = self.sender.next_segment() >= self.written;
        self.sender.on_packet(now, &packet, (blocks.len > 0).then_some(&blocks), &mut self.tape);
        self.exchanged += 1;

        let is_covered = |segment: u64| {
            segment < self.cumulative
                || blocks.iter().any(|(from, to)| (u64::from(from)..u64::from(to)).contains(&segment))
        };
        let delivered: Vec<u64> =
            self.in_flight.keys().copied().filter(|&segment| is_covered(segment)).collect();
        for segment in &delivered {
            let packet = self.in_flight.remove(segment).unwrap();
            self.adapter.on_packet_acked(Nanos(now), &packet);
        }
        self.adapter.on_ack_end(Nanos(now), &AckEnd { in_flight: None, app_limited });
        let event = self.sender.take_event(NEVER).unwrap();
        for segment in &event.lost {
            let packet = self.in_flight.remove(segment).unwrap();
            self.adapter.on_packet_lost(Nanos(now), &packet);
        }
        self.adapter.on_losses(Nanos(now), false);
        if marked {
            self.adapter.on_marks(Nanos(now), Some(delivered.len() as u32));
        }
        let of = |window: &Window| (window.cwnd, window.ssthresh, window.pacing_rate);
        self.windows.push([of(self.sender.window()), of(self.adapter.segments())]);
        assert_eq!(
            self.sender.in_flight(),
            self.adapter.bytes_in_flight() as u32 / MSS + self.tape.0.len() as u32
        );
        let lacks_data = event.app_limited;
        self.after_event();
        if lacks_data {
            self.adapter.on_app_limited();
        }
    }
}

/// Every registered algorithm, on several paths each.
fn exchanges(path: Path, seeds: u64, acks: usize, compare: impl Fn(&str, &AlgorithmInfo, &Run, [Notes; 2])) {
    let mut seen = Notes::default();
    for (number, info) in cwnd_cc::all().iter().enumerate() {
        for seed in 0..seeds {
            let seed = 1_000 * number as u64 + seed;
            let (mut run, notes) = Run::new(info, path, seed);
            run.run(acks);
            let notes = notes.map(|notes| notes.lock().unwrap().clone());
            let Notes { acks, congestions, lost, exits, restarts } = notes[1].clone();
            seen.acks.extend(acks);
            seen.congestions.extend(congestions);
            seen.lost.extend(lost);
            seen.exits.extend(exits);
            seen.restarts.extend(restarts);
            compare(&format!("{} on {path:?}, seed {seed}", info.name), info, &run, notes);
        }
    }
    // What this kind of path must have shown.
    assert!(seen.acks.len() > 10_000, "{}", seen.acks.len());
    let count = |is: fn(&Ack) -> bool| seen.acks.iter().filter(|ack| is(ack)).count();
    assert!(count(|ack| ack.acked > 1) > 1_000 && count(|ack| ack.round_start) > 500);
    match path {
        Path::Clean => {
            assert!(seen.restarts.len() > 100 && count(|ack| ack.app_limited) > 500);
            assert!(count(|ack| ack.rate.is_some_and(|rate| rate.app_limited)) > 500);
            assert!(count(|ack| !ack.cwnd_limited) > 100);
        }
        Path::Marking => assert!(count(|ack| ack.marked > 0) > 500 && seen.exits.len() > 100),
        Path::Lossy => assert!(seen.lost.len() > 1_000 && count(|ack| ack.lost > 0) > 500),
    }
}

/// Compares the text of two values, so that the failing field can be seen.
#[track_caller]
fn assert_same(tcp: &impl std::fmt::Debug, adapter: &impl std::fmt::Debug, context: &str) {
    assert_eq!(format!("{tcp:#?}"), format!("{adapter:#?}"), "{context}");
}

/// An ACK with the fields that only TCP has at their defaults.
fn plain(ack: &Ack) -> Ack {
    Ack { compat: AckCompat::default(), ..*ack }
}

#[test]
fn without_losses_everything_agrees() {
    exchanges(Path::Clean, 6, 300, |context, _, run, [tcp, adapter]| {
        assert_eq!(tcp.acks.len(), adapter.acks.len(), "{context}");
        for (i, (tcp, adapter)) in tcp.acks.iter().zip(&adapter.acks).enumerate() {
            assert_same(&plain(tcp), adapter, &format!("{context}, ACK {i}"));
        }
        for (i, [tcp, adapter]) in run.windows.iter().enumerate() {
            assert_eq!(tcp, adapter, "{context}: windows after ACK {i}");
        }
        assert_eq!(tcp.restarts, adapter.restarts, "{context}");
        assert!(tcp.congestions.is_empty() && adapter.congestions.is_empty(), "{context}");
    });
}

#[test]
fn marks_are_reported_alike() {
    exchanges(Path::Marking, 6, 300, |context, info, run, [tcp, adapter]| {
        let marks_only = (info.build)(&Parameters::new()).unwrap().needs().marks_only;
        assert_eq!(tcp.acks.len(), adapter.acks.len(), "{context}");
        let mut reduced = false;
        for (i, (tcp, adapter)) in tcp.acks.iter().zip(&adapter.acks).enumerate() {
            let context = format!("{context}, ACK {i}");
            // The endpoint lowers its window over a round trip, so that it is in use for longer.
            reduced |= tcp.state != State::Open;
            let cwnd_limited = if reduced { adapter.cwnd_limited } else { tcp.cwnd_limited };
            assert_same(&Ack { cwnd_limited, ..plain(tcp) }, adapter, &context);
            if marks_only || !reduced {
                let [tcp, adapter] = run.windows[i];
                assert_eq!(tcp, adapter, "{context}: windows");
            }
        }
        assert_eq!(marks_only, tcp.congestions.is_empty(), "{context}");
        let begins = |notes: &Notes| -> Vec<_> {
            let begin = |c: &Congestion| {
                (c.now, c.kind, c.in_flight, c.flight_size, c.lost, c.rtt, c.srtt, c.min_rtt)
            };
            notes.congestions.iter().map(begin).collect()
        };
        assert_eq!(begins(&tcp), begins(&adapter), "{context}");
        assert_eq!(tcp.exits, adapter.exits, "{context}");
    });
}

#[test]
fn losses_are_reported_alike() {
    exchanges(Path::Lossy, 6, 300, |context, _, run, [tcp, adapter]| {
        assert_eq!(tcp.acks.len(), adapter.acks.len(), "{context}");
        // A packet that leaves while nothing is in flight begins a new interval of the rate (draft-ietf-ccwg-bbr section 4.1.2.2). In
        // the endpoint a retransmission does not.
        let compared = run.emptied.unwrap_or(usize::MAX);
        for (i, (tcp, adapter)) in tcp.acks.iter().zip(&adapter.acks).enumerate().take(compared) {
            let shared = |ack: &Ack| {
                let Ack {
                    now,
                    acked,
                    lost,
                    marked,
                    in_flight,
                    prior_in_flight,
                    app_limited,
                    delivered,
                    rate,
                    ..
                } = *ack;
                (now, acked, lost, marked, in_flight, prior_in_flight, app_limited, delivered, rate)
            };
            assert_same(&shared(tcp), &shared(adapter), &format!("{context}, ACK {i}"));
            assert_eq!(adapter.cumulative, adapter.acked);
            // QUIC packets are never ambiguous; TCP takes no sample from what was retransmitted. QUIC takes none from a packet that is
            // older than one acknowledged before: SACK blocks that did not fit into an ACK come late.
            let samples = tcp.rtt.zip(adapter.rtt);
            assert!(samples.is_none_or(|(tcp, adapter)| tcp == adapter), "{context}, ACK {i}");
        }
        assert_same(&tcp.lost, &adapter.lost, context);
        if let Some((tcp, adapter)) = tcp.congestions.first().zip(adapter.congestions.first()) {
            let begin = |c: &Congestion| (c.now, c.kind, c.in_flight, c.lost, c.rtt, c.srtt, c.min_rtt);
            assert_eq!(begin(tcp), begin(adapter), "{context}");
        }
        // Every episode of TCP is one of QUIC, too, or lies within one; QUIC may begin another while TCP still recovers.
        assert!(tcp.congestions.len() <= adapter.congestions.len(), "{context}");
    });
}
