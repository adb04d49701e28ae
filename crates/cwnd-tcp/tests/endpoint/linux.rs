//! The endpoint of today's Linux: RACK-TLP, F-RTO, undo, bursts, and when its receiver acknowledges.

use crate::bench::{Bench, Far, MS, only, receiver_config, sender_config, window};
use crate::fake::Fake;
use cwnd_cc::{Arithmetic, CompatNeeds, Nanos, Needs, State, WindowConfig};
use cwnd_scenario::{LinuxVersion, Recovery};
use cwnd_tcp::packet::{BARE, PUSH, Packet};
use cwnd_tcp::{GrowingWindow, ReceiverConfig, SenderConfig, TimerWheel};

/// A window of the given number of segments that does not grow, all sent at time 0.
fn started(segments: f64, timestamps: bool) -> Bench {
    let config = SenderConfig {
        window: window(segments),
        recovery: Recovery::Linux,
        validate_cwnd: true,
        timestamps,
        ..sender_config()
    };
    Bench::started(config, Fake::fixed())
}

#[test]
fn one_sack_waits_for_reordering() {
    // RFC 8985 section 6.2: 0 is missing, 1 is SACKed after 100 ms. The reordering window is a quarter of the least
    // round-trip time, 25 ms: 0 may still come until 125 ms, and the timer adds two ticks. Meanwhile the window lets one
    // new segment go.
    let mut bench = started(10.0, true);
    assert_eq!(bench.sack(100 * MS, 0, &[(1, 2)]), [10]);
    assert_eq!((bench.sender.state(), bench.sender.deadline()), (State::Disorder, 127 * MS));
    // Then 0 is lost: 9 in flight, ssthresh 5, ceil(5 x 1/10) = 1 goes, the lost one.
    assert_eq!(bench.timer(), [0]);
    assert_eq!((bench.sender.state(), bench.windows()), (State::Recovery, (10.0, 5.0)));
}

#[test]
fn three_sacks_do_not_wait_and_copies_are_lost_like_originals() {
    // 10 - 3 - 1 in flight, and ceil(5 x 3/10) = 2 may go: the lost one, and a new one.
    let mut bench = started(10.0, true);
    assert_eq!(bench.sack(100 * MS, 0, &[(1, 4)]), [0, 10]);
    // A round trip later 10 is SACKed, which was sent after the copy of 0: that is lost as well. Nothing is in flight,
    // and of ten delivered two were sent again: min(5 - 0, max(10 - 2, 7)) = 5 go.
    assert_eq!(bench.sack(200 * MS, 0, &[(1, 11)]), [0, 11, 12, 13, 14]);
    assert_eq!(bench.notes().congestions.len(), 1);
    // The second copy ends it.
    bench.ack(300 * MS, 11);
    assert_eq!((bench.sender.state(), bench.windows()), (State::Open, (5.0, 5.0)));
}

#[test]
fn a_probe_goes_after_two_round_trips() {
    // RFC 8985 section 7.2: SRTT 100 ms, so 200 ms and two ticks after the ACK; but not later than the timeout of
    // 100 + 200 ms counted from when the first outstanding segment left.
    let mut bench = started(10.0, true);
    assert_eq!(bench.ack(100 * MS, 2), [10, 11]);
    assert_eq!(bench.sender.deadline(), 300 * MS);
    // New data, beyond the window; the timeout begins then.
    assert_eq!(bench.timer(), [12]);
    assert_eq!(bench.sender.deadline(), 600 * MS);
    // Its ACK says that nothing was lost.
    bench.ack(402 * MS, 13);
    assert_eq!((bench.windows().0, bench.notes().congestions.len()), (10.0, 0));
}

#[test]
fn a_timeout_that_an_original_answers_is_undone() {
    let mut bench = started(10.0, true);
    bench.ack(100 * MS, 2);
    bench.timer();
    assert_eq!(bench.timer(), [2]);
    assert_eq!((bench.sender.state(), bench.windows()), (State::Loss, (1.0, 5.0)));
    // The echo is of 550 ms, the copy left at 600 ms (RFC 3522). Ten are outstanding and none is lost.
    assert_eq!(bench.ack(650 * MS, 3), []);
    assert_eq!((bench.sender.state(), bench.windows()), (State::Open, (10.0, f64::INFINITY)));
    assert_eq!((bench.sender.in_flight(), bench.notes().undone), (10, 1));
}

#[test]
fn without_timestamps_new_data_finds_out() {
    // RFC 5682 section 3.1 with SACK: the first ACK after the timeout advances, so a new segment goes (2.b); then one is
    // SACKed that was sent once only (3.b).
    let mut bench = started(10.0, false);
    bench.ack(100 * MS, 2);
    bench.timer();
    assert_eq!(bench.timer(), [2]);
    assert_eq!(bench.ack(702 * MS, 3), [13]);
    assert_eq!(bench.sender.state(), State::Loss);
    bench.sack(710 * MS, 3, &[(4, 5)]);
    assert_eq!((bench.windows().0, bench.notes().undone), (10.0, 1));
    // If the next ACK reports no duplicate, the loss was real, and the segments are sent again.
    let mut lost = started(10.0, false);
    lost.ack(100 * MS, 2);
    lost.timer();
    lost.timer();
    assert_eq!(lost.ack(702 * MS, 3), [13]);
    assert_eq!(lost.sack(802 * MS, 3, &[(13, 14)]), [3]);
}

#[test]
fn an_ack_with_the_same_window_is_predicted() {
    // After 1 to 5 segments of 1,448 B, the growing window is 17, 18, 19, 19 and 20 units of 4,096 B.
    let growing = GrowingWindow::new(46_341, 1448);
    let config = SenderConfig {
        recovery: Recovery::Linux,
        validate_cwnd: true,
        receive_window: 46_341,
        growing_window: Some(growing),
        ..sender_config()
    };
    let mut bench = Bench::started(config, Fake::fixed());
    (1..6).for_each(|seq| drop(bench.ack(100 * MS + u64::from(seq), seq)));
    let predicted: Vec<bool> = bench.notes().acks.iter().map(|ack| ack.compat.header_predicted).collect();
    assert_eq!(predicted, [false, false, false, true, false]);
}

#[test]
fn the_round_trip_of_a_copy_is_in_ticks() {
    // The copy of 0 leaves at 100 ms. Its ACK at 200.1 ms echoes 100.9 ms, and timestamps count milliseconds: 200 - 100. One at 2.9
    // ms echoes 2.1: at least one tick.
    let mut bench = started(10.0, true);
    assert_eq!(bench.sack(100 * MS, 0, &[(1, 4)]), [0, 10]);
    bench.hand(200_100_000, Packet { sent: 100_900_000, seq: 4, flags: BARE, ..Packet::default() }, &[]);
    assert_eq!(bench.notes().acks.last().unwrap().rtt, Some(Nanos::from_millis(100)));
    let mut bench = started(10.0, true);
    bench.sack(2 * MS, 0, &[(1, 4)]);
    bench.hand(2_900_000, Packet { sent: 2_100_000, seq: 4, flags: BARE, ..Packet::default() }, &[]);
    assert_eq!(bench.notes().acks.last().unwrap().rtt, Some(Nanos::from_millis(1)));
}

#[test]
fn an_algorithm_may_ask_for_single_segments() {
    // 100 kB a second is below 150 kB. Without the request, a burst has two segments at any rate.
    for (single_segments_below, sent) in [(150_000, vec![10]), (0, vec![10, 11])] {
        let compat = CompatNeeds { single_segments_below, ..CompatNeeds::default() };
        let needs = Needs { pacing: true, compat, ..Needs::default() };
        let fake = Fake { pacing_rate: Some(1e5), needs, ..Fake::default() };
        let config = SenderConfig { recovery: Recovery::Linux, validate_cwnd: true, ..sender_config() };
        let mut bench = Bench::started(config, fake);
        assert_eq!(bench.ack(100 * MS, 2), sent);
    }
}

#[test]
fn bursts_wait_for_more_of_the_window() {
    // Twice 20 segments in 10 ms are 3.9 in 1/1024 s: bursts of three. The last left long ago: one goes at once.
    let mut bench = started(20.0, true);
    bench.rtt = 10 * MS;
    assert_eq!(bench.ack(10 * MS, 1), [20]);
    // Then two ACKs leave room for two, which wait: the next ACK is due. The third makes it three.
    assert_eq!(bench.ack(10 * MS + 100_000, 2), []);
    assert_eq!(bench.ack(10 * MS + 200_000, 3), []);
    let ack =
        cwnd_tcp::packet::Packet { sent: 0, seq: 4, flags: cwnd_tcp::packet::BARE, ..Default::default() };
    bench.hand(10 * MS + 300_000, ack, &[]);
    let burst: Vec<(u32, u16)> =
        bench.packets().iter().map(|(_, packet)| (packet.seq, packet.flags)).collect();
    assert_eq!(burst, [(21, 0), (22, 0), (23, PUSH)]);
}

#[test]
fn short_paths_have_longer_bursts() {
    // 1.2 times 20 segments in 3 ms are 7,812 B in 1/1024 s. A least round-trip time of 3 ms has five steps of 0.512 ms:
    // 65,215 B / 2^5 = 2,037 B more, 9,849 B. So bursts of nine, not of seven.
    let config = SenderConfig {
        window: WindowConfig { initial_ssthresh: 2.0, ..window(20.0) },
        recovery: Recovery::Linux,
        validate_cwnd: true,
        ..sender_config()
    };
    let mut bench = Bench::started(config, Fake::fixed());
    bench.packets();
    let ack =
        cwnd_tcp::packet::Packet { sent: 0, seq: 20, flags: cwnd_tcp::packet::BARE, ..Default::default() };
    bench.hand(3 * MS, ack, &[]);
    let pushed = bench.packets().into_iter().filter(|(_, packet)| packet.is(PUSH));
    assert_eq!(pushed.map(|(_, packet)| packet.seq).collect::<Vec<_>>(), [28, 37, 39]);
}

#[test]
fn bursts_are_longer_below_half_of_the_threshold() {
    // As above, with a threshold of 41: half of it is 20.5, or 20 in Linux's whole segments. A window of 20 is below the first:
    // twice 20 segments in 3 ms are 13,020 B in 1/1024 s, with 2,037 B more fifteen segments, so that half of
    // the window, ten, limits a burst. It is not below the second.
    for (arithmetic, expected) in
        [(Arithmetic::Real, [29, 39].as_slice()), (Arithmetic::Linux, &[28, 37, 39])]
    {
        let config = SenderConfig {
            window: WindowConfig { initial_ssthresh: 41.0, arithmetic, ..window(20.0) },
            recovery: Recovery::Linux,
            validate_cwnd: true,
            ..sender_config()
        };
        let mut bench = Bench::started(config, Fake::fixed());
        bench.packets();
        bench.hand(3 * MS, Packet { seq: 20, flags: BARE, ..Packet::default() }, &[]);
        let pushed = bench.packets().into_iter().filter(|(_, packet)| packet.is(PUSH));
        assert_eq!(pushed.map(|(_, packet)| packet.seq).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn from_linux_6_10_on_a_burst_crosses_the_end_of_a_buffer() {
    // 1.2 times 60 segments in 3 ms are 23,437 B in 1/1024 s; with 2,037 B more bursts of 25. A buffer has 65 segments, of which the
    // first window leaves five.
    for (version, expected) in [("6.9", [64, 89, 114, 119].as_slice()), ("6.10", &[84, 109, 119])] {
        let linux_version: LinuxVersion = version.parse().unwrap();
        let window = WindowConfig { initial_ssthresh: 2.0, ..window(60.0) };
        let config = SenderConfig {
            window,
            recovery: Recovery::Linux,
            validate_cwnd: true,
            linux_version,
            ..sender_config()
        };
        let mut bench = Bench::started(config, Fake::fixed());
        bench.packets();
        bench.hand(3 * MS, Packet { seq: 60, flags: BARE, ..Packet::default() }, &[]);
        let pushed = bench.packets().into_iter().filter(|(_, packet)| packet.is(PUSH));
        assert_eq!(pushed.map(|(_, packet)| packet.seq).collect::<Vec<_>>(), expected, "{version}");
    }
}

/// A receiver as Linux's, whose window grows with two packets.
fn far() -> Far {
    Far::new(ReceiverConfig {
        delayed_ack: Some(40 * MS),
        linux: true,
        growing_window: 2,
        ..receiver_config()
    })
}

/// The same, when it delays ACKs and expects 20.
fn settled() -> Far {
    let mut far = far();
    (0..20).for_each(|segment| drop(far.data(MS, segment)));
    far
}

#[test]
fn it_acknowledges_at_once_while_its_window_grows_and_sixteen_times_more() {
    let mut far = far();
    for segment in 0..18 {
        assert_eq!(only(far.data(MS, segment)).next, segment + 1);
    }
    assert_eq!(far.data(MS, 18), []);
    assert_eq!(only(far.data(MS, 19)).next, 20);
}

#[test]
fn the_end_of_a_burst_is_acknowledged_at_once() {
    let mut far = settled();
    assert_eq!(far.data(MS, 20), []);
    assert_eq!(only(far.data(MS, 21)).next, 22);
    assert_eq!(only(far.flagged(MS, 22, PUSH)).next, 23);
}

#[test]
fn sacks_beyond_the_third_are_compressed() {
    let mut far = settled();
    for segment in 21..24 {
        assert_eq!(only(far.data(MS, segment)).blocks, [(21, segment + 1)]);
    }
    // A millisecond, and as much as the timer may be late.
    assert_eq!(far.data(2 * MS, 24), []);
    assert_eq!(far.receiver.deadline, 3 * MS + 100_000);
    assert_eq!(far.data(2 * MS + 10, 25), []);
    assert_eq!(only(far.timer()).blocks, [(21, 26)]);
    // The segment that was missing brings the ACK of all.
    assert_eq!(only(far.data(4 * MS, 20)).next, 26);
}

#[test]
fn an_overtaken_ack_counts_only_what_is_still_outstanding() {
    // 0 to 3 are acknowledged, and 10 to 13 leave. Then an ACK arrives that was sent before: 0 and 1 only, and SACKs of 3
    // and 4. Of these only 4 is outstanding: nine are in flight, so that one new segment leaves.
    let mut bench = started(10.0, true);
    assert_eq!(bench.ack(100 * MS, 4), [10, 11, 12, 13]);
    assert_eq!(bench.sack(103 * MS, 2, &[(3, 5)]), [14]);
    assert_eq!((bench.sender.state(), bench.sender.in_flight()), (State::Disorder, 10));
    // The overtaken ACK gives no round-trip sample, and the algorithm does not receive it (`old_ack` in Linux's `tcp_ack`).
    assert_eq!((bench.notes().acks.len(), bench.sender.rtt().0), (1, 1));
    // All is acknowledged: nothing is left of the SACKs, and the whole window may leave.
    assert_eq!(bench.ack(205 * MS, 15).len(), 10);
    assert_eq!((bench.sender.state(), bench.sender.in_flight()), (State::Open, 10));
}

#[test]
fn an_overtaken_ack_reveals_losses() {
    // 0 is acknowledged and 10 leaves; then an overtaken ACK SACKs 3 to 6. 1 and 2 are lost: three were sent after them
    // that arrived. Ten were outstanding, four are SACKed and two lost.
    let mut bench = started(10.0, true);
    assert_eq!(bench.ack(100 * MS, 1), [10]);
    let sent = bench.sack(101 * MS, 0, &[(3, 7)]);
    assert_eq!((sent[..2].to_vec(), bench.sender.state()), (vec![1, 2], State::Recovery));
    assert_eq!(bench.notes().congestions.len(), 1);
}

#[test]
fn the_advertised_window_grows_with_what_the_receiver_has() {
    // 65,535 B are 65 segments of 1,000 B, though the congestion window is 70. A buffer of 20 MB has a scale of 9.
    for sack in [true, false] {
        let config = SenderConfig {
            window: window(70.0),
            recovery: Recovery::Linux,
            receive_window: 10_000,
            growing_window: Some(GrowingWindow::new(10_000, 1000)),
            sack,
            ..sender_config()
        };
        let (mut bench, sent) = Bench::start(config, Fake::fixed());
        assert_eq!(sent.len(), 65);
        // One has arrived: 67,535 B, rounded up to 67,584: 1 + 67 segments. With SACK a burst of two leaves, and the third
        // waits, since the next ACK is due.
        let sent = bench.ack(100 * MS, 1);
        assert_eq!(sent, if sack { vec![65, 66] } else { vec![65, 66, 67] });
        if sack {
            // A SACKed one counts as well: 69,535 B, up to 69,632. 69 is the last of its buffer and does not wait.
            assert_eq!(bench.sack(101 * MS, 1, &[(2, 3)]), [67, 68, 69]);
        }
        // With 20 acknowledged the congestion window binds.
        assert_eq!(bench.ack(102 * MS, 20).last(), Some(&89));
    }
}

#[test]
fn sacks_let_the_window_grow_once_reordering_is_wide() {
    let grows = |bench: &Bench| bench.notes().acks.last().unwrap().compat.grows_on_sack;
    let mut bench = started(20.0, true);
    // 0 comes after 1: reordering over two segments. The next hole waits a quarter of the round-trip time, 25 ms.
    bench.sack(100 * MS, 0, &[(1, 2)]);
    bench.ack(101 * MS, 2);
    bench.sack(102 * MS, 2, &[(3, 7)]);
    assert!(!grows(&bench));
    // 2 comes after 6: reordering over 7 - 2 = 5 segments, more than three.
    bench.ack(103 * MS, 7);
    bench.sack(104 * MS, 7, &[(8, 9)]);
    assert!(grows(&bench) && bench.notes().acks.last().unwrap().may_grow());
    assert_eq!((bench.sender.state(), bench.notes().congestions.len()), (State::Disorder, 0));
}

#[test]
fn data_older_than_the_timestamp_to_echo_is_dropped() {
    let mut far = Far::new(ReceiverConfig { paws: true, linux: true, ..receiver_config() });
    far.late(20 * MS, 0, 0);
    // 1 is late, 2 arrives; a copy of 1, sent at 40 ms, fills the hole.
    far.late(21 * MS, MS, 2);
    assert_eq!(only(far.late(60 * MS, 40 * MS, 1)).next, 3);
    // 3 was sent at 38 ms: older by two ticks (RFC 7323 section 5.3, R1). It is dropped and acknowledged.
    let answer = only(far.late(61 * MS, 38 * MS, 3));
    assert_eq!((answer.next, answer.echo), (3, 40 * MS));
    assert_eq!((far.receiver.in_order(), far.receiver.counts.duplicates), (3, 1));
    // The original of 1 is dropped as well, and reported (RFC 2883).
    assert_eq!(only(far.late(62 * MS, MS, 1)).blocks, [(1, 2)]);
    // One tick less is accepted, and does not become the timestamp to echo.
    let answer = only(far.late(63 * MS, 39 * MS, 3));
    assert_eq!((answer.next, answer.echo), (4, 40 * MS));
}

#[test]
fn timers_expire_on_the_ticks_of_the_wheel() {
    let config =
        |timer| SenderConfig { recovery: Recovery::Linux, timer, window: window(10.0), ..sender_config() };
    let deadline = |hz: u32| {
        let mut bench = Bench::started(config(TimerWheel::new(hz)), Fake::fixed());
        bench.ack(100 * MS + 400_000, 2);
        // The time of the wheel is known when the earliest possible time has come.
        let mut expiry = || loop {
            let at = bench.sender.deadline();
            if !bench.timer().is_empty() {
                return at / MS;
            }
        };
        (expiry(), expiry())
    };
    // SRTT 100.4 ms. The probe is due two round trips and two ticks later, but not after the timeout of 100.4 + 200.8 ms, counted
    // from time 0 for the segment that left then: 200.8 ms, 201 ticks from 100 on. 301 is rounded up to 304. A new segment goes,
    // and the timeout begins again: 302 ticks, 606, rounded up to 608.
    assert_eq!(deadline(1000), (304, 608));
    // At 250 Hz 51 ticks (200.8 ms) from 25 on, 76 and one more: 308 ms. Then 76 ticks (301.2 ms) from 77 on: 153, up to 160.
    assert_eq!(deadline(250), (308, 640));
    assert_eq!(deadline(0), (301, 602));
}

#[test]
fn delayed_acks_wait_for_a_tick() {
    let config = ReceiverConfig {
        delayed_ack: Some(40 * MS),
        linux: true,
        timer: TimerWheel::new(1000),
        ..receiver_config()
    };
    let mut far = Far::new(config);
    (0..16).for_each(|segment| drop(far.data(MS, segment)));
    assert_eq!(far.data(MS + 10, 16), []);
    assert_eq!(far.receiver.deadline, 42 * MS);
}
