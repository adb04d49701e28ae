//! The adapter against vectors by hand. Segments have 1,000 bytes, a round trip takes 50 ms.

use super::{AckEnd, Adapter, SentPacket, SentPackets, Settings};
use crate::{
    Ack, Congestion, CongestionControl, CongestionKind, EcnMode, Init, LostPacket, Nanos, Needs, Parameters,
    State, Window, WindowConfig,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use std::sync::{Arc, Mutex};

const MSS: u32 = 1_000;
const SEGMENT: u64 = 1_000;

fn ms(ms: u64) -> Nanos {
    Nanos::from_millis(ms)
}

fn settings() -> Settings {
    Settings { window: WindowConfig { mss: MSS, ..WindowConfig::default() }, ..Settings::default() }
}

fn adapter(name: &str) -> Adapter {
    let algorithm = (crate::find(name).unwrap().build)(&Parameters::new()).unwrap();
    Adapter::new(algorithm, Nanos::ZERO, &settings())
}

/// What an algorithm received.
#[derive(Default)]
struct Notes {
    acks: Vec<Ack>,
    congestions: Vec<Congestion>,
    lost: Vec<LostPacket>,
    exits: Vec<Nanos>,
    undone: Vec<Nanos>,
    restarts: Vec<(Nanos, Nanos)>,
}

/// Halves its window, and takes notes.
struct Recorder(Needs, Arc<Mutex<Notes>>);

impl CongestionControl for Recorder {
    fn on_ack(&mut self, _: &mut Window, ack: &Ack) {
        self.1.lock().unwrap().acks.push(*ack);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.1.lock().unwrap().congestions.push(*congestion);
        window.set_ssthresh_for_loss(window.cwnd / 2.0);
    }

    fn on_recovery_exit(&mut self, _: &mut Window, now: Nanos) {
        self.1.lock().unwrap().exits.push(now);
    }

    fn on_undo(&mut self, _: &mut Window, now: Nanos) {
        self.1.lock().unwrap().undone.push(now);
    }

    fn on_idle_restart(&mut self, _: &mut Window, now: Nanos, idle: Nanos) {
        self.1.lock().unwrap().restarts.push((now, idle));
    }

    fn on_packet_lost(&mut self, _: &mut Window, lost: &LostPacket) {
        self.1.lock().unwrap().lost.push(*lost);
    }

    fn needs(&self) -> Needs {
        self.0
    }
}

fn recorded(needs: Needs, settings: &Settings) -> (Adapter, Arc<Mutex<Notes>>) {
    let notes = Arc::new(Mutex::new(Notes::default()));
    (Adapter::new(Box::new(Recorder(needs, Arc::clone(&notes))), Nanos::ZERO, settings), notes)
}

fn send(adapter: &mut Adapter, now: Nanos, packets: usize) -> Vec<SentPacket> {
    (0..packets).map(|_| adapter.on_packet_sent(now, MSS)).collect()
}

fn acknowledge(adapter: &mut Adapter, now: Nanos, packets: &[SentPacket]) {
    packets.iter().for_each(|packet| adapter.on_packet_acked(now, packet));
    adapter.on_ack_end(now, &AckEnd::default());
}

fn lose(adapter: &mut Adapter, now: Nanos, packets: &[SentPacket]) {
    packets.iter().for_each(|packet| adapter.on_packet_lost(now, packet));
    adapter.on_losses(now, false);
}

/// Sends a window at `now`, which is acknowledged 50 ms later.
fn round(adapter: &mut Adapter, now: Nanos) -> Nanos {
    let window = adapter.window() / SEGMENT;
    let packets = send(adapter, now, window as usize);
    let end = now + ms(50);
    acknowledge(adapter, end, &packets);
    end
}

/// Slow start doubles the window each round: 10, 20, 40.
#[test]
fn a_window_that_is_used_doubles_in_slow_start() {
    let mut adapter = adapter("newreno");
    let end = round(&mut adapter, ms(1));
    assert_eq!(adapter.window(), 20 * SEGMENT);
    round(&mut adapter, end);
    assert_eq!(adapter.window(), 40 * SEGMENT);
    assert_eq!((adapter.srtt(), adapter.min_rtt()), (ms(50), Some(ms(50))));
}

/// Of one flight, losses begin one episode. RFC 9002's NewReno halves the window of 20: to 10. An ACK of a packet that was sent
/// afterwards ends it, even at the same nanosecond.
#[test]
fn losses_of_one_flight_begin_one_episode() {
    let mut adapter = adapter("newreno");
    let now = round(&mut adapter, ms(1));
    let flight = send(&mut adapter, now, 20);
    let later = now + ms(60);
    lose(&mut adapter, later, &flight[..1]);
    assert_eq!((adapter.window(), adapter.state()), (10 * SEGMENT, State::Recovery));
    let after = send(&mut adapter, later, 1);
    lose(&mut adapter, later + ms(1), &flight[1..3]);
    assert_eq!(adapter.window(), 10 * SEGMENT);
    acknowledge(&mut adapter, later + ms(2), &flight[3..]);
    assert_eq!(adapter.state(), State::Recovery);
    acknowledge(&mut adapter, later + ms(50), &after);
    assert_eq!(adapter.state(), State::Open);
    assert_eq!(adapter.bytes_in_flight(), 0);
}

#[test]
fn persistent_congestion_is_a_timeout() {
    for name in ["cubic", "bbr3"] {
        let mut adapter = adapter(name);
        let now = round(&mut adapter, ms(1));
        let flight = send(&mut adapter, now, 20);
        let later = now + ms(3_000);
        flight.iter().for_each(|packet| adapter.on_packet_lost(later, packet));
        adapter.on_losses(later, true);
        assert_eq!((adapter.window(), adapter.state()), (2 * SEGMENT, State::Loss), "{name}");
    }
}

/// Three losses and two marks of the same frame, before and after its end: the ACK is reported once, with both.
#[test]
fn an_ack_is_reported_with_its_losses_and_marks() {
    for late in [false, true] {
        let (mut adapter, notes) = recorded(Needs { lost_packets: true, ..Needs::default() }, &settings());
        let flight = send(&mut adapter, ms(1), 10);
        let now = ms(51);
        flight[5..].iter().for_each(|packet| adapter.on_packet_acked(now, packet));
        if late {
            adapter.on_ack_end(now, &AckEnd { in_flight: Some(5 * SEGMENT), app_limited: false });
        }
        lose(&mut adapter, now, &flight[..3]);
        adapter.on_marks(now, Some(2));
        if !late {
            adapter.on_ack_end(now, &AckEnd::default());
        }
        assert_eq!(adapter.window(), 5 * SEGMENT);
        let notes = notes.lock().unwrap();
        let [ack] = notes.acks[..] else { panic!("one ACK is reported") };
        assert_eq!((ack.acked, ack.lost, ack.marked, ack.state), (5, 3, 2, State::Recovery));
        assert_eq!((ack.prior_in_flight, ack.in_flight, ack.rtt), (10, 2, Some(ms(50))));
        let rate = ack.rate.unwrap();
        assert_eq!((rate.delivered, rate.lost, rate.marked, rate.interval), (5, 3, 2, ms(50)));
        let [congestion] = notes.congestions[..] else { panic!("one episode begins") };
        assert_eq!((congestion.kind, congestion.lost), (CongestionKind::Loss, 3));
        assert_eq!((congestion.in_flight, congestion.flight_size), (2, 5));
        let lost: Vec<(u64, u32)> = notes.lost.iter().map(|lost| (lost.lost, lost.tx_in_flight)).collect();
        assert_eq!(lost, [(1, 1), (2, 2), (3, 3)]);
    }
}

/// Marks without a count are as many as the packets of their frame. They begin one episode in a window, or none.
#[test]
fn marks_begin_episodes_unless_the_algorithm_takes_them_alone() {
    for marks_only in [false, true] {
        let (mut adapter, notes) = recorded(Needs { marks_only, ..Needs::default() }, &settings());
        let flight = send(&mut adapter, ms(1), 10);
        acknowledge(&mut adapter, ms(51), &flight[..4]);
        adapter.on_marks(ms(51), None);
        let expected = if marks_only { (10, State::Open) } else { (5, State::Cwr) };
        assert_eq!((adapter.window() / SEGMENT, adapter.state()), expected);
        acknowledge(&mut adapter, ms(52), &flight[4..]);
        adapter.on_marks(ms(52), Some(1));
        assert_eq!(adapter.window() / SEGMENT, expected.0);
        let notes = notes.lock().unwrap();
        assert_eq!(notes.acks.iter().map(|ack| ack.marked).collect::<Vec<_>>(), [4, 1]);
        assert_eq!(notes.congestions.len(), usize::from(!marks_only));
    }
}

/// An algorithm that needs exact feedback takes marks as episodes where feedback is classic.
#[test]
fn classic_marks_are_not_taken_alone() {
    let needs = Needs { ecn: Some(EcnMode::Exact), marks_only: true, ..Needs::default() };
    let (mut adapter, notes) = recorded(needs, &Settings { ecn: EcnMode::Classic, ..settings() });
    let flight = send(&mut adapter, ms(1), 1);
    acknowledge(&mut adapter, ms(51), &flight);
    adapter.on_marks(ms(51), Some(1));
    assert_eq!(notes.lock().unwrap().congestions.len(), 1);
}

#[test]
fn a_spurious_loss_is_undone_once() {
    let (mut adapter, notes) = recorded(Needs::default(), &settings());
    let flight = send(&mut adapter, ms(1), 10);
    acknowledge(&mut adapter, ms(51), &flight[3..]);
    lose(&mut adapter, ms(51), &flight[..3]);
    assert_eq!((adapter.window(), adapter.ssthresh()), (5 * SEGMENT, Some(5 * SEGMENT)));
    adapter.on_spurious_losses(ms(55));
    adapter.on_spurious_losses(ms(56));
    assert_eq!((adapter.window(), adapter.ssthresh()), (10 * SEGMENT, None));
    assert_eq!((adapter.state(), notes.lock().unwrap().undone.len()), (State::Open, 1));
}

#[test]
fn a_mark_is_never_undone() {
    let (mut adapter, notes) = recorded(Needs::default(), &settings());
    let flight = send(&mut adapter, ms(1), 10);
    acknowledge(&mut adapter, ms(51), &flight);
    adapter.on_marks(ms(51), Some(1));
    adapter.on_spurious_losses(ms(55));
    assert_eq!(adapter.window(), 5 * SEGMENT);
    assert!(notes.lock().unwrap().undone.is_empty());
}

/// Where an algorithm sets a window that is no number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Init,
    Ack,
    PacketLost,
    Congestion,
    Undo,
    RecoveryExit,
    IdleRestart,
}

struct Broken(Call);

impl Broken {
    fn call(&self, call: Call, window: &mut Window) {
        if call == self.0 {
            window.cwnd = f64::NAN;
        }
    }
}

impl CongestionControl for Broken {
    fn init(&mut self, window: &mut Window, _: &Init) {
        self.call(Call::Init, window);
    }

    fn on_ack(&mut self, window: &mut Window, _: &Ack) {
        self.call(Call::Ack, window);
    }

    fn on_congestion(&mut self, window: &mut Window, _: &Congestion) {
        window.set_ssthresh_for_loss(window.cwnd / 2.0);
        self.call(Call::Congestion, window);
    }

    fn on_recovery_exit(&mut self, window: &mut Window, _: Nanos) {
        self.call(Call::RecoveryExit, window);
    }

    fn on_undo(&mut self, window: &mut Window, _: Nanos) {
        self.call(Call::Undo, window);
    }

    fn on_idle_restart(&mut self, window: &mut Window, _: Nanos, _: Nanos) {
        self.call(Call::IdleRestart, window);
    }

    fn on_packet_lost(&mut self, window: &mut Window, _: &LostPacket) {
        self.call(Call::PacketLost, window);
    }

    fn needs(&self) -> Needs {
        Needs { lost_packets: true, ..Needs::default() }
    }
}

/// Losses at 51 ms, undone at 55 ms; losses at 110 ms, whose recovery ends at 170 ms; idle from then on.
#[test]
fn the_first_value_that_no_window_may_have_is_kept_with_its_time() {
    let expected = [
        (Call::Init, 0),
        (Call::Ack, 51),
        (Call::PacketLost, 51),
        (Call::Congestion, 51),
        (Call::Undo, 55),
        (Call::RecoveryExit, 170),
        (Call::IdleRestart, 300),
    ];
    for (call, at) in expected {
        let mut adapter = Adapter::new(Box::new(Broken(call)), Nanos::ZERO, &settings());
        let flight = send(&mut adapter, ms(1), 10);
        lose(&mut adapter, ms(51), &flight[..3]);
        acknowledge(&mut adapter, ms(51), &flight[3..]);
        adapter.on_spurious_losses(ms(55));
        let flight = send(&mut adapter, ms(60), 4);
        lose(&mut adapter, ms(110), &flight[..1]);
        acknowledge(&mut adapter, ms(110), &flight[1..]);
        let flight = send(&mut adapter, ms(120), 2);
        flight.iter().for_each(|packet| adapter.on_packet_acked(ms(170), packet));
        adapter.on_ack_end(ms(170), &AckEnd { in_flight: None, app_limited: true });
        send(&mut adapter, ms(300), 1);
        let (time, illegal) = adapter.illegal_value().unwrap_or_else(|| panic!("{call:?} was not seen"));
        assert_eq!((time, illegal.field), (ms(at), "cwnd"), "{call:?}");
    }
    let thresholds: [(Change, &str); 3] = [
        (|window| window.ssthresh = f64::NAN, "ssthresh"),
        (|window| window.recovery_cwnd = Some(f64::NAN), "recovery_cwnd"),
        (|window| window.restart_cwnd = f64::NAN, "restart_cwnd"),
    ];
    for (set, field) in thresholds {
        let mut adapter = Adapter::new(Box::new(Threshold(set)), Nanos::ZERO, &settings());
        let flight = send(&mut adapter, ms(1), 10);
        assert!(adapter.illegal_value().is_none());
        lose(&mut adapter, ms(51), &flight[..3]);
        assert_eq!(adapter.illegal_value().map(|(at, illegal)| (at, illegal.field)), Some((ms(51), field)));
    }
}

type Change = fn(&mut Window);

/// Changes thresholds at a loss.
struct Threshold(Change);

impl CongestionControl for Threshold {
    fn on_ack(&mut self, _: &mut Window, _: &Ack) {}

    fn on_congestion(&mut self, window: &mut Window, _: &Congestion) {
        (self.0)(window);
    }
}

/// Idle from 51 to 200 ms. Without a lack of data an empty flight is not idle.
#[test]
fn an_idle_flow_restarts() {
    for app_limited in [true, false] {
        let (mut adapter, notes) = recorded(Needs::default(), &settings());
        let flight = send(&mut adapter, ms(1), 3);
        flight.iter().for_each(|packet| adapter.on_packet_acked(ms(51), packet));
        adapter.on_ack_end(ms(51), &AckEnd { in_flight: None, app_limited });
        send(&mut adapter, ms(200), 2);
        let restarts = &notes.lock().unwrap().restarts;
        let expected = [(ms(200), ms(149))];
        assert_eq!(restarts[..], expected[..usize::from(app_limited)]);
    }
}

/// Three packets of a window of ten: the application limits. Samples of packets that are sent then are limited until more than
/// what was in flight is delivered.
#[test]
fn samples_are_limited_by_the_application() {
    let (mut adapter, notes) = recorded(Needs::default(), &settings());
    let first = send(&mut adapter, ms(1), 3);
    adapter.on_app_limited();
    let second = send(&mut adapter, ms(10), 2);
    acknowledge(&mut adapter, ms(51), &first);
    acknowledge(&mut adapter, ms(60), &second);
    let third = send(&mut adapter, ms(60), 1);
    acknowledge(&mut adapter, ms(110), &third);
    let limited: Vec<bool> =
        notes.lock().unwrap().acks.iter().map(|ack| ack.rate.unwrap().app_limited).collect();
    assert_eq!(limited, [false, true]);
    let _ = adapter.window();
    assert!(!notes.lock().unwrap().acks[2].rate.unwrap().app_limited);
}

/// An older packet than one already acknowledged gives no sample of the round-trip time (RFC 9002 section 5.1), and a round trip
/// ends with a packet that was sent after its beginning.
#[test]
fn packets_out_of_order_time_nothing() {
    let (mut adapter, notes) = recorded(Needs::default(), &settings());
    let flight = send(&mut adapter, ms(1), 4);
    acknowledge(&mut adapter, ms(51), &flight[1..2]);
    let more = send(&mut adapter, ms(51), 1);
    acknowledge(&mut adapter, ms(70), &flight[..1]);
    acknowledge(&mut adapter, ms(101), &more);
    let _ = adapter.window();
    let notes = notes.lock().unwrap();
    let seen: Vec<_> = notes.acks.iter().map(|ack| (ack.rtt, ack.round_start, ack.round)).collect();
    assert_eq!(seen, [(Some(ms(50)), true, 1), (None, false, 1), (Some(ms(50)), true, 2)]);
}

/// A window of 10 of 1,000 bytes, then of 1,500: it is recalculated, and five small packets of 300 bytes are one segment.
#[test]
fn the_size_of_a_segment_is_only_a_unit() {
    let (mut adapter, notes) = recorded(Needs::default(), &settings());
    assert_eq!(adapter.window(), 10_000);
    adapter.set_mss(1_500);
    assert_eq!(adapter.window(), 15_000);
    let small: Vec<SentPacket> = (0..5).map(|_| adapter.on_packet_sent(ms(1), 300)).collect();
    acknowledge(&mut adapter, ms(51), &small);
    assert_eq!(adapter.window(), 15_000);
    let ack = notes.lock().unwrap().acks[0];
    assert_eq!((ack.acked, ack.prior_in_flight, ack.cwnd_limited), (1, 1, false));
}

/// A window of ten segments is in use with packets that are a little short, if no full one fits any more.
#[test]
fn short_packets_can_fill_a_window() {
    let (mut adapter, notes) = recorded(Needs::default(), &settings());
    let flight: Vec<SentPacket> = (0..10).map(|_| adapter.on_packet_sent(ms(1), 950)).collect();
    acknowledge(&mut adapter, ms(51), &flight);
    let _ = adapter.window();
    assert!(notes.lock().unwrap().acks[0].cwnd_limited);
}

/// A request and its acknowledgement, then ten seconds of ACKs alone, of which the adapter is not told that they are: the next request
/// ends an idle time of ten seconds, its sample has an interval of a round trip, and nothing else was in flight.
#[test]
fn acks_alone_are_no_flight() {
    let (mut adapter, notes) = recorded(Needs::default(), &settings());
    let app_limited = AckEnd { app_limited: true, ..AckEnd::default() };
    for at in [1, 10_051] {
        let request = send(&mut adapter, ms(at), 1);
        for later in 1..20 {
            adapter.on_uncertain_packet_sent(ms(at + later), 40);
        }
        adapter.on_packet_acked(ms(at + 50), &request[0]);
        adapter.on_ack_end(ms(at + 50), &app_limited);
        let _ = adapter.window();
    }
    // One that turns out to have data ends an idle time, too.
    let small = adapter.on_uncertain_packet_sent(ms(20_101), MSS);
    adapter.on_packet_acked(ms(20_151), &small);
    adapter.on_ack_end(ms(20_151), &app_limited);
    let _ = adapter.window();
    let notes = notes.lock().unwrap();
    assert_eq!(notes.restarts, [(ms(10_051), ms(10_000)), (ms(20_101), ms(10_000))]);
    for ack in &notes.acks {
        let rate = ack.rate.unwrap();
        assert_eq!((rate.interval, rate.delivered, ack.cwnd_limited), (ms(50), 1, false));
    }
    assert_eq!(notes.acks.iter().map(|ack| ack.sent).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn several_packets_can_be_reported_at_once() {
    let mut one_by_one = adapter("cubic");
    let mut together = adapter("cubic");
    let flight = send(&mut one_by_one, ms(1), 10);
    acknowledge(&mut one_by_one, ms(51), &flight);
    let flight = send(&mut together, ms(1), 10);
    together.on_bytes_acked(ms(51), &flight[9], 10 * SEGMENT);
    together.on_ack_end(ms(51), &AckEnd::default());
    assert_eq!(one_by_one.window(), together.window());
    assert_eq!(one_by_one.bytes_in_flight(), together.bytes_in_flight());
}

#[test]
fn packets_are_found_by_time_and_number() {
    let mut adapter = adapter("newreno");
    let mut packets = SentPackets::default();
    for (number, at) in [(0, 1), (0, 2), (1, 2), (2, 2), (3, 5)] {
        let packet = adapter.on_packet_sent(ms(at), MSS);
        packets.insert(number, packet);
    }
    let taken = |packet: Option<SentPacket>| packet.map(|packet| packet.order);
    assert_eq!(taken(packets.take_sent_at(ms(2), Some(2))), Some(3));
    assert_eq!(taken(packets.take_sent_at(ms(2), None)), Some(1));
    assert_eq!(taken(packets.take_sent_at(ms(3), None)), None);
    assert_eq!(taken(packets.take_number(0)), Some(0));
    assert_eq!(taken(packets.take_number(0)), None);
    assert_eq!(taken(packets.take_oldest(ms(4))), Some(2));
    assert_eq!(taken(packets.take_oldest(ms(4))), None);
    packets.forget_before(ms(5));
    assert_eq!(packets.len(), 1);
    packets.forget_before(ms(6));
    assert!(packets.is_empty());
}
