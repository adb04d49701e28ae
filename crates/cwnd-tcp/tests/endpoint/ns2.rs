//! Recovery as in ns-2.35's TCP-Linux: forward acknowledgement, rate halving next to a window that is reduced at once, and a
//! scoreboard that is forgotten at the end.

use crate::bench::{Bench, FULL, MS, sender_config, window};
use crate::fake::Fake;
use cwnd_cc::{CompatNeeds, Nanos, Needs, State};
use cwnd_scenario::Recovery;
use cwnd_tcp::SenderConfig;

fn config(segments: f64) -> SenderConfig {
    SenderConfig { window: window(segments), recovery: Recovery::Ns2, ..sender_config() }
}

/// Segment 0 is lost, everything else arrives: the SACKs of 1, 2, ..., `last` one by one. Returns the segments that each
/// makes go, and what is in flight after.
fn one_loss(bench: &mut Bench, last: u32) -> Vec<(Vec<u32>, u32)> {
    let sack = |to: u32| {
        let sent = bench.sack((100 + u64::from(to)) * MS, 0, &[(1, to)]);
        (sent, bench.sender.in_flight())
    };
    (2..=last + 1).map(sack).collect()
}

#[test]
fn one_segment_goes_for_every_second_ack() {
    // Window 20, ssthresh 10. SACKs of 1, 2, 3 send 20, 21, 22. At that of 4 segment 0 lies four below it: lost. In flight
    // 23 - 4 - 1 = 18; held min(20, 18 + 1) = 19: the lost segment goes, and 19 - 1 = 18 are held.
    //  ACK  in flight  held  sends
    //    5     18       18   -
    //    6     17       18   one -> 18, held 17
    //    7     17       17   -
    //    8     16       17   one -> 17, held 16
    //    and so on; at 20 it is one -> 11, held 10
    //   21     10       10   -
    //   22      9       10   one -> 10, held 9, and from now on the window of 10 lets one go for one
    let mut bench = Bench::started(config(20.0), Fake::fixed());
    let table = one_loss(&mut bench, 22);
    let counts: Vec<usize> = table.iter().map(|(sent, _)| sent.len()).collect();
    assert_eq!(counts, [1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    let pipes: Vec<u32> = table.iter().map(|(_, pipe)| *pipe).collect();
    assert_eq!(
        pipes,
        [20, 20, 20, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10]
    );
    assert_eq!((&table[2].0[..], &table[3].0[..]), (&[22][..], &[0][..]));
    // The window itself was reduced at once. At the end nothing caps it, since it is not below ssthresh: of 23..32 nine
    // were sent, so that one goes.
    assert_eq!(bench.windows(), (10.0, 10.0));
    assert_eq!(bench.ack(300 * MS, 23), [32]);
    assert_eq!((bench.windows(), bench.sender.state()), ((10.0, 10.0), State::Open));
}

#[test]
fn halving_goes_down_to_the_window_to_hold() {
    // The window to hold is 14, under ssthresh 16. As above up to ACK 14 (in flight 14, held 13); from 15 on the window of 14
    // lets one go for one.
    let fake = Fake { ssthresh: Some(16.0), recovery_cwnd: Some(14.0), ..Fake::fixed() };
    let mut bench = Bench::started(config(20.0), fake);
    let table = one_loss(&mut bench, 22);
    let counts: Vec<usize> = table[9..16].iter().map(|(sent, _)| sent.len()).collect();
    assert_eq!(counts, [1, 0, 1, 0, 1, 1, 1]);
    assert_eq!(bench.windows(), (14.0, 16.0));
    // On ACKs 6, 8, 10, 12, 14 and on 15 to 22 one went: 23 to 35, and min(ssthresh 16, 13 + 3).
    assert_eq!(bench.ack(300 * MS, 23), [36, 37, 38]);
    assert_eq!(bench.windows(), (16.0, 16.0));
}

#[test]
fn a_window_below_ssthresh_ends_with_a_small_burst() {
    // Ten outstanding, 0 lost, ssthresh 5, and a receive window of 10 that keeps new segments back: nothing is in flight when
    // the copy is acknowledged. A window held at 2 becomes min(5, 0 + 3); one that was at 5 stays.
    for (recovery_cwnd, expected) in [(Some(2.0), 3.0), (None, 5.0)] {
        let config = SenderConfig { receive_window: 10, ..config(10.0) };
        let fake = Fake { recovery_cwnd, ..Fake::fixed() };
        let mut bench = Bench::started(config, fake);
        let sent: Vec<u32> = one_loss(&mut bench, 9).into_iter().flat_map(|(sent, _)| sent).collect();
        assert_eq!(sent, [0]);
        assert_eq!(bench.ack(200 * MS, 10).len(), expected as usize);
        assert_eq!(bench.windows(), (expected, 5.0));
    }
}

#[test]
fn forward_acknowledgement_finds_all_losses_of_a_hole_at_once() {
    // Window 20, 0..15 lost. The SACK of 15 alone: 0 to 11 lie four or more below. In flight 20 - 1 - 12 = 7, ssthresh 10:
    // three go. Each further SACK finds one more lost, up to 14 (15 is SACKed), and lets two go; that of 19 lets one.
    let mut bench = Bench::started(config(20.0), Fake::fixed());
    let sent: Vec<Vec<u32>> =
        (16..=20).map(|to| bench.sack((100 + u64::from(to)) * MS, 0, &[(15, to)])).collect();
    let expected: [&[u32]; 5] = [&[0, 1, 2], &[3, 4], &[5, 6], &[7, 8], &[9]];
    assert_eq!(sent, expected);
    // Retransmissions themselves: the copies of 1 to 5 arrive, each lets one go. That of 5 was sent five after that of 0, of
    // which nothing is known: it is lost, which is seen at the next SACK, as 5 lies above it; so with the next 0 goes again.
    let sent: Vec<Vec<u32>> =
        (2..=7).map(|to| bench.sack((200 + u64::from(to)) * MS, 0, &[(1, to), (15, 20)])).collect();
    let expected: [&[u32]; 6] = [&[10], &[11], &[12], &[13], &[14], &[0, 20]];
    assert_eq!(sent, expected);
}

#[test]
fn one_later_segment_tells_that_a_copy_is_lost() {
    // As in the first test, up to ACK 22: in flight 10. The copy of 0 went before 23; when 23 is SACKed and 0 is not, it is
    // lost: in flight 8, and the window of 10 lets 0 and one more go.
    let mut bench = Bench::started(config(20.0), Fake::fixed());
    one_loss(&mut bench, 22);
    assert_eq!(bench.sack(200 * MS, 0, &[(1, 24)]), [0, 32]);
}

#[test]
fn the_scoreboard_is_forgotten_at_the_end() {
    // Window 10, 0 lost; 10, 11, 12 leave on SACKs 1 to 3, 0 on 4, and 13 to 16 on 6, 8, 10 and 12. Then 13 is lost as well, and
    // 14, 15, 16 are SACKed before the copy of 0 is acknowledged, with all up to 12. From then on all four count as in flight,
    // so that the window of 5 lets one go.
    let mut bench = Bench::started(config(10.0), Fake::fixed());
    let sent: Vec<u32> = one_loss(&mut bench, 12).into_iter().flat_map(|(sent, _)| sent).collect();
    assert_eq!(sent, [10, 11, 12, 0, 13, 14, 15, 16]);
    assert_eq!(bench.ack(200 * MS, 13), [17]);
    assert_eq!((bench.sender.in_flight(), bench.sender.state()), (5, State::Open));
    // The SACK of 17 alone: 13 lies four below, 14 to 16 do not. A new episode.
    assert_eq!(bench.sack(210 * MS, 13, &[(17, 18)]), [13]);
    assert_eq!(bench.sender.counts.congestion_events, 2);
    // Now 14 to 16 are told again, and count again.
    bench.sack(211 * MS, 13, &[(14, 18)]);
    assert_eq!(bench.sender.in_flight(), 2);
}

#[test]
fn the_algorithm_hears_of_an_ack_in_the_state_that_it_found() {
    let mut bench = Bench::started(config(10.0), Fake::fixed());
    one_loss(&mut bench, 12);
    bench.ack(200 * MS, 13);
    bench.ack(201 * MS, 14);
    let states: Vec<State> = bench.notes().acks.iter().rev().take(2).map(|ack| ack.state).collect();
    assert_eq!(states, [State::Open, State::Recovery]);
}

#[test]
fn round_trips_are_of_when_the_last_covered_segment_was_last_sent() {
    // Window 20. 0 is lost, its first copy as well, which the SACK of 23 tells: 0 and 32 go, and 10 are in flight. 24 is lost,
    // too: the SACK of 28, four above, tells so, and with 8 in flight 24 and a new one go.
    let module = Fake {
        needs: Needs {
            compat: CompatNeeds { covered_rtt: true, ..CompatNeeds::default() },
            ..Needs::default()
        },
        ..Fake::fixed()
    };
    let mut bench = Bench::started(config(20.0), module);
    one_loss(&mut bench, 22);
    assert_eq!(bench.sack(200 * MS, 0, &[(1, 24)]), [0, 32]);
    let mut beyond = |to: u32| bench.sack((175 + u64::from(to)) * MS, 0, &[(25, to), (1, 24)]);
    assert_eq!([26, 27, 28, 29, 30].map(&mut beyond), [vec![33], vec![34], vec![35], vec![24, 36], vec![37]]);
    // The second copy of 0 is acknowledged with all up to 23: no sample, for 0 was sent twice. What lay beyond is forgotten.
    bench.sack(300 * MS, 24, &[(25, 30)]);
    let told = |bench: &Bench| bench.notes().acks.last().unwrap().rtt;
    assert_eq!((bench.sender.state(), told(&bench)), (State::Open, None));
    // The copy of 24 fills the hole up to 29. It echoes 100 ms, and 29 went with the SACK of 18, at 119 ms; 30 with that of 20.
    bench.ack(310 * MS, 30);
    assert_eq!(told(&bench), Some(Nanos(191 * MS)));
    bench.ack(320 * MS, 31);
    assert_eq!(told(&bench), Some(Nanos(199 * MS)));
    // Where there was no recovery the echo is all that is asked for.
    let sent_last = bench.ack(330 * MS, 38);
    assert!(!sent_last.is_empty());
    bench.rtt = 77 * MS;
    bench.ack(420 * MS, sent_last[0] + 1);
    assert_eq!(told(&bench), Some(Nanos(77 * MS)));
    // An algorithm that is none of ns-2's modules hears what is echoed, always.
    let mut bench = Bench::started(config(20.0), Fake::fixed());
    one_loss(&mut bench, 22);
    bench.ack(200 * MS, 23);
    assert_eq!(told(&bench), Some(Nanos(100 * MS)));
}

#[test]
fn every_ack_starts_the_timer_anew() {
    // An ACK that tells nothing: RFC 6298 leaves the timer (400 ms) alone, ns-2 does not: its RTO is 100 + 3/4 200 now.
    for (recovery, moves) in [(Recovery::Ns2, true), (Recovery::Prr, false)] {
        let mut bench = Bench::started(SenderConfig { recovery, ..config(10.0) }, Fake::fixed());
        bench.ack(100 * MS, 1);
        let before = bench.sender.deadline();
        bench.ack(170 * MS, 1);
        let expected = if moves { 420 * MS } else { 400 * MS };
        assert_eq!((before, bench.sender.deadline()), (400 * MS, expected), "{recovery:?}");
    }
}

#[test]
fn what_a_duplicate_echoes_counts_for_the_timeout() {
    // The echo of a duplicate is of a segment that came before: 300 ms ago. SRTT is 7/8 100 + 1/8 300 = 125 ms in ns-2, while
    // the algorithm is notified of no sample, nor is there one in the extremes.
    let mut bench = Bench::started(config(10.0), Fake::fixed());
    bench.ack(100 * MS, 1);
    bench.rtt = 300 * MS;
    bench.sack(400 * MS, 1, &[(2, 3)]);
    assert_eq!(bench.sender.srtt(), Some(125 * MS));
    assert_eq!(bench.notes().acks.last().map(|ack| ack.rtt), Some(None));
    assert_eq!(bench.sender.rtt().2, Some((100 * MS, 100 * MS)));
}

#[test]
fn a_timeouts_slow_start_jumps_to_ssthresh_when_all_is_repaired() {
    // Ten time out: window 1, ssthresh 5. When all ten are acknowledged, nothing is in flight: min(5, 0 + 3).
    let mut bench = Bench::started(config(10.0), Fake::fixed());
    assert_eq!(bench.timer(), [0]);
    assert_eq!(bench.windows(), (1.0, 5.0));
    assert_eq!(bench.ack(1200 * MS, 10), [10, 11, 12]);
    assert_eq!((bench.windows(), bench.sender.state()), ((3.0, 5.0), State::Open));
}

#[test]
fn the_first_segment_weighs_little_and_when_it_goes_again_too() {
    // Three segments go, the first with 40 bytes; when the timer of 1 s runs out it is the first that goes again. A
    // transfer of a single segment has that first one only.
    let sizes = |bench: &mut Bench, at| {
        bench.sender_timer(at);
        bench.packets().iter().map(|(_, packet)| (packet.seq, packet.size)).collect::<Vec<_>>()
    };
    let short = SenderConfig { first_packet_size: 40, ..config(3.0) };
    let mut bench = Bench::idle(short.clone(), Fake::fixed());
    assert_eq!(sizes(&mut bench, 0), [(0, 40), (1, FULL as u16), (2, FULL as u16)]);
    assert_eq!(sizes(&mut bench, 1000 * MS), [(0, 40)]);
    let mut single = Bench::idle(SenderConfig { segments: 1, ..short }, Fake::fixed());
    assert_eq!(sizes(&mut single, 0), [(0, 40)]);
}

#[test]
fn any_ack_ends_the_doubling_of_a_timeout() {
    // 100 + 200 ms after the ACK of segment 0 the timer runs out, and then it is twice that. A SACK that acknowledges
    // nothing in order ends the doubling in ns-2; in whole milliseconds its echo makes SRTT 100 and RTTVAR 3/4 50: 250 ms,
    // from then on. RFC 6298 waits for a sample, and leaves the timer alone.
    for (recovery, deadline) in [(Recovery::Ns2, 800), (Recovery::Prr, 1000)] {
        let mut bench = Bench::started(SenderConfig { recovery, ..config(10.0) }, Fake::fixed());
        bench.ack(100 * MS, 1);
        assert_eq!(bench.sender.deadline(), 400 * MS, "{recovery:?}");
        bench.timer();
        assert_eq!(bench.sender.deadline(), 1000 * MS, "{recovery:?}");
        bench.sack(550 * MS, 1, &[(2, 3)]);
        assert_eq!(bench.sender.deadline(), deadline * MS, "{recovery:?}");
    }
}

#[test]
fn a_queue_that_empties_hardly_moves_the_timeout() {
    // Samples of 400 ms make a timeout of 400 + 800; then one of 100. ns-2: 8 SRTT = 3200 - 300, 4 RTTVAR = 800 + (300 - 200) / 8
    // = 812, so 362 + 812. RFC 6298: SRTT 362.5, RTTVAR = 3/4 200 + 1/4 300 = 225, so 362.5 + 900.
    for (recovery, wait_us) in [(Recovery::Ns2, 1_174_000), (Recovery::Prr, 1_262_500)] {
        let mut bench = Bench::started(SenderConfig { recovery, ..config(10.0) }, Fake::fixed());
        bench.rtt = 400 * MS;
        bench.ack(400 * MS, 1);
        assert_eq!(bench.sender.deadline(), 1600 * MS);
        bench.rtt = 100 * MS;
        bench.ack(500 * MS, 2);
        assert_eq!(bench.sender.deadline(), 500 * MS + wait_us * 1000, "{recovery:?}");
    }
}
