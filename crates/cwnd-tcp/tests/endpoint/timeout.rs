//! The retransmission timer runs out: RFC 5681 section 3.1, RFC 6675 section 5.1.

use crate::bench::{Bench, MS, sender_config};
use crate::fake::Fake;
use cwnd_cc::{CongestionKind, Nanos, State};
use cwnd_scenario::Recovery;
use cwnd_tcp::SenderConfig;

#[test]
fn everything_outstanding_goes_again_in_order_by_slow_start() {
    // RFC 5681 section 3.1: after a timeout the window is one segment and slow start follows up to ssthresh.
    // Ten outstanding, all lost; window 10, so ssthresh 5.
    //   timeout: 0   ACK 1: window 2: 1, 2   ACK 2: 3: 3, 4   ACK 3: 4: 5, 6   ACK 4: 5: 7, 8
    //   ACK 5: ssthresh is reached: 5 and 1/5 -> one goes: 9   ACK 6: 10, the first new one
    let mut bench = Bench::started(sender_config(), Fake::reno());
    assert_eq!(bench.timer(), [0]);
    assert_eq!(bench.windows(), (1.0, 5.0));
    let sent: Vec<Vec<u32>> = (1..=6).map(|k| bench.ack((1100 + u64::from(k)) * MS, k)).collect();
    let expected: [&[u32]; 6] = [&[1, 2], &[3, 4], &[5, 6], &[7, 8], &[9], &[10]];
    assert_eq!(sent, expected);
    assert_eq!(bench.sender.state(), State::Loss);
    // The state ends when all that was outstanding at the timeout is acknowledged.
    bench.ack(1200 * MS, 10);
    assert_eq!(bench.sender.state(), State::Open);
    assert_eq!((bench.sender.counts.timeouts, bench.sender.counts.congestion_events), (1, 1));
}

#[test]
fn what_was_sacked_is_not_sent_again() {
    // RFC 6675 section 5.1: SACK information survives the timeout; SACKed segments are not retransmitted. 1
    // and 3 are SACKed; 0, 2, 4..11 go again (10 and 11 went for the SACKs).
    let mut bench = Bench::started(sender_config(), Fake::reno());
    bench.sack(100 * MS, 0, &[(1, 2)]);
    bench.sack(101 * MS, 0, &[(3, 4), (1, 2)]);
    let mut sent = bench.timer();
    for (k, ack) in [2, 4, 5, 6, 7].into_iter().enumerate() {
        sent.extend(bench.sack((1100 + k as u64) * MS, ack, if ack < 4 { &[(3, 4)] } else { &[] }));
    }
    assert_eq!(sent[..10], [0, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn the_algorithm_chooses_the_window_after_it() {
    let fake = Fake { restart_cwnd: Some(3.0), ..Fake::fixed() };
    let mut bench = Bench::started(sender_config(), fake);
    assert_eq!(bench.timer(), [0, 1, 2]);
    assert_eq!(bench.windows().0, 3.0);
}

#[test]
fn the_threshold_is_held_for_a_repeated_timeout() {
    // RFC 5681 section 3.1, below equation 4: when a segment already retransmitted by the timer times out
    // again, ssthresh is held. 10 -> 5, and no further.
    let mut bench = Bench::started(sender_config(), Fake::reno());
    for timeouts in 1..=3 {
        assert_eq!(bench.timer(), [0]);
        assert_eq!(bench.windows(), (1.0, 5.0));
        assert_eq!(bench.sender.counts.timeouts, timeouts);
    }
    assert_eq!(bench.sender.counts.congestion_events, 1);
    // A timeout of other data is another episode: 0..10 are acknowledged, 10 and 11 go and time out.
    bench.ack(8000 * MS, 10);
    let window = bench.windows().0;
    bench.timer();
    assert_eq!(bench.windows(), (1.0, (window / 2.0).max(2.0)));
    assert_eq!(bench.sender.counts.congestion_events, 2);
    // The algorithm is notified of each, and how many in a row it is.
    let told: Vec<u32> = bench.notes().congestions.iter().map(|told| told.timeouts).collect();
    assert_eq!(told, [1, 2, 3, 1]);
}

#[test]
fn ns_2_answers_every_timeout_anew() {
    // Congestion::timeouts: a stack that answers each timeout of a row again, as ns-2.35 does, says 1 every
    // time. Window 10: ssthresh 5; then of a window of one, the least: 2.
    let config = SenderConfig { recovery: Recovery::Ns2, ..sender_config() };
    let mut bench = Bench::started(config, Fake::reno());
    let windows: Vec<(f64, f64)> = (0..3)
        .map(|_| {
            assert_eq!(bench.timer(), [0]);
            bench.windows()
        })
        .collect();
    assert_eq!(windows, [(1.0, 5.0), (1.0, 2.0), (1.0, 2.0)]);
    let told: Vec<u32> = bench.notes().congestions.iter().map(|congestion| congestion.timeouts).collect();
    assert_eq!(told, [1, 1, 1]);
}

#[test]
fn a_timeout_is_told_with_what_was_outstanding() {
    // Ten outstanding, the ACK of 0 at 100 ms sends one more: FlightSize 10 again (1..11). SACKs of 3 and 4
    // send 11, 12: FlightSize 12, of which 10 are in flight. (RFC 5681 leaves out what limited transmit sent
    // in section 3.2, of fast retransmit, and not in 3.1, of the timer.) RTO 300 ms after the ACK.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    bench.ack(100 * MS, 1);
    bench.sack(110 * MS, 1, &[(3, 5)]);
    bench.timer();
    let notes = bench.notes();
    let told = notes.congestions[0];
    assert_eq!((told.kind, told.now, told.timeouts), (CongestionKind::Timeout, Nanos(400 * MS), 1));
    assert_eq!((told.flight_size, told.in_flight), (12, 10));
    assert_eq!((told.rtt, told.srtt, told.min_rtt), (Nanos(100 * MS), Nanos(100 * MS), Nanos(100 * MS)));
    assert!(told.in_slow_start);
    assert!(!told.is_repeated_timeout());
}

#[test]
fn a_loss_is_told_with_what_was_outstanding() {
    // Ten outstanding, 0 and 1 lost, one ACK names 2..7: FlightSize 10, of which 5 SACKed and 2 lost: 3 in
    // flight (2 lost found by this event).
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    bench.sack(100 * MS, 0, &[(2, 7)]);
    let notes = bench.notes();
    let told = notes.congestions[0];
    assert_eq!((told.kind, told.timeouts, told.lost), (CongestionKind::Loss, 0, 2));
    assert_eq!((told.flight_size, told.in_flight), (10, 3));
}

#[test]
fn a_timeout_during_recovery_is_an_episode_of_its_own() {
    // RFC 5681 section 3.1: the timeout sets ssthresh by equation 4 again, since the segment was
    // retransmitted by fast retransmit, not by the timer. RFC 6675 section 5.1: it ends recovery.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    bench.sack(100 * MS, 0, &[(1, 4)]);
    assert_eq!(bench.sender.state(), State::Recovery);
    assert_eq!(bench.timer()[0], 0);
    assert_eq!(bench.sender.state(), State::Loss);
    let notes = bench.notes();
    let kinds: Vec<CongestionKind> = notes.congestions.iter().map(|told| told.kind).collect();
    assert_eq!(kinds, [CongestionKind::Loss, CongestionKind::Timeout]);
}

#[test]
fn nothing_happens_when_nothing_is_outstanding() {
    let config = SenderConfig { segments: 2, ..sender_config() };
    let mut bench = Bench::started(config, Fake::fixed());
    bench.ack(100 * MS, 2);
    assert!(bench.run(100_000 * MS).is_empty());
    assert_eq!(bench.sender.counts.timeouts, 0);
}

#[test]
fn a_loss_found_after_the_timeouts_data_is_a_new_episode() {
    // 0..10 time out. In slow start after it new segments go; 12 is lost, 13, 14, 15 are SACKed after all up
    // to 12 is acknowledged: fast retransmit, a second episode.
    let mut bench = Bench::started(sender_config(), Fake::reno());
    bench.timer();
    assert_eq!(bench.ack(1100 * MS, 10), [10, 11, 12, 13, 14]);
    bench.ack(1200 * MS, 12);
    let sent = bench.sack(1201 * MS, 12, &[(13, 16)]);
    assert_eq!(sent[0], 12);
    let notes = bench.notes();
    assert_eq!((notes.episodes(CongestionKind::Timeout), notes.episodes(CongestionKind::Loss)), (1, 1));
}
