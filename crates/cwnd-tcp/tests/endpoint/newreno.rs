//! Recovery without SACK: RFC 5681 section 3.2, RFC 6582, RFC 3042.
//!
//! The algorithm here sets its window to `ssthresh` at once and the transport leaves it alone. RFC 5681
//! inflates the window by one for each duplicate ACK; the endpoint counts each as one segment that has left
//! the network. Both allow the same: with k duplicates, window W after the reduction and F outstanding, a
//! new segment may go while F < W + k.

use crate::bench::{Bench, MS, sender_config};
use crate::fake::Fake;
use cwnd_cc::{CongestionKind, State};
use cwnd_tcp::SenderConfig;

fn config() -> SenderConfig {
    SenderConfig { sack: false, ..sender_config() }
}

#[test]
fn the_first_two_duplicates_send_one_new_segment_each() {
    // RFC 3042 section 2: on each of the first two duplicates one new segment, the window unchanged. RFC
    // 5681 section 3.2 step 2: on the third the lost one.
    let mut bench = Bench::started(config(), Fake::at_once(5.0));
    assert_eq!(bench.ack(100 * MS, 0), [10]);
    assert_eq!(bench.ack(101 * MS, 0), [11]);
    assert_eq!(bench.windows().0, 10.0);
    assert_eq!(bench.sender.state(), State::Disorder);
    assert_eq!(bench.ack(102 * MS, 0), [0]);
    assert_eq!(bench.sender.state(), State::Recovery);
    assert_eq!(bench.windows(), (5.0, 5.0));
}

#[test]
fn without_limited_transmit_they_send_nothing() {
    let config = SenderConfig { limited_transmit: false, ..config() };
    let mut bench = Bench::started(config, Fake::at_once(5.0));
    assert_eq!(bench.ack(100 * MS, 0), []);
    assert_eq!(bench.ack(101 * MS, 0), []);
    assert_eq!(bench.ack(102 * MS, 0), [0]);
}

#[test]
fn limited_transmit_stays_in_the_receive_window() {
    // RFC 3042 section 2, first condition: the receiver's window allows it. Ten segments fill it here.
    let config = SenderConfig { receive_window: 10, ..config() };
    let mut bench = Bench::started(config, Fake::at_once(5.0));
    assert_eq!(bench.ack(100 * MS, 0), []);
    assert_eq!(bench.ack(101 * MS, 0), []);
    assert_eq!(bench.ack(102 * MS, 0), [0]);
}

#[test]
fn the_inflated_window_lets_new_segments_go() {
    // 10 outstanding, segment 0 lost, ssthresh 5. Step 3: after the third duplicate the window is 5 + 3; it
    // grows by one for each further one (step 4). 12 are outstanding (two by limited transmit), so the k-th
    // duplicate lets one go when 5 + k > 12: the 8th (13 > 12) and, with one more outstanding each, each
    // one after: 12, 13, 14, 15 for k = 8..11. There are 9 duplicates of the first window and two of the
    // limited transmit.
    let mut bench = Bench::started(config(), Fake::at_once(5.0));
    let mut sent = Vec::new();
    for k in 1..=11 {
        sent.push(bench.ack((100 + k) * MS, 0));
    }
    let expected: [&[u32]; 11] = [&[10], &[11], &[0], &[], &[], &[], &[], &[12], &[13], &[14], &[15]];
    assert_eq!(sent, expected);
    // The full ACK comes with all of 0..12 acknowledged (section 3.2 step 3 of RFC 6582): 12..16 are
    // outstanding, the window is ssthresh = 5, so one more goes.
    assert_eq!(bench.ack(200 * MS, 12), [16]);
    assert_eq!(bench.sender.state(), State::Open);
    assert_eq!(bench.windows(), (5.0, 5.0));
    assert_eq!(bench.notes().exits.len(), 1);
}

#[test]
fn without_limited_transmit_inflation_starts_from_ten() {
    // The same with 10 outstanding: 5 + k > 10 from k = 6 on: 10, 11, 12, 13 for k = 6..9.
    let config = SenderConfig { limited_transmit: false, ..config() };
    let mut bench = Bench::started(config, Fake::at_once(5.0));
    let sent: Vec<_> = (1..=9).map(|k| bench.ack((100 + k) * MS, 0)).collect();
    let expected: [&[u32]; 9] = [&[], &[], &[0], &[], &[], &[10], &[11], &[12], &[13]];
    assert_eq!(sent, expected);
}

#[test]
fn a_partial_ack_retransmits_the_next_hole_at_once() {
    // Segments 0 and 4 of ten are lost, ssthresh 5: 1, 2, 3, 5, ..., 9 give 8 duplicates, 10 and 11 (limited
    // transmit) two more. recover = 11, the highest sent when the third came.
    // k = 8..10 let 12, 13, 14 go (5 + k > F = 12, 13, 14).
    // RFC 6582 section 3.2 step 3, the partial ACK of 4 (a = 4 segments): segment 4 is retransmitted at once;
    // the window 5 + 10 = 15 is deflated by 4 and one is added back: 12. F = 15 - 4 = 11, and 11 < 12 lets
    // one new segment go as well: 15.
    // Three more duplicates from 12, 13, 14 let one go each. The ACK of 12 is full (recover = 11 covered).
    let mut bench = Bench::started(config(), Fake::at_once(5.0));
    let sent: Vec<u32> = (1..=10).flat_map(|k| bench.ack((100 + k) * MS, 0)).collect();
    assert_eq!(sent, [10, 11, 0, 12, 13, 14]);
    assert_eq!(bench.ack(200 * MS, 4), [4, 15]);
    assert_eq!(bench.sender.state(), State::Recovery);
    for (k, next) in [(1, 16), (2, 17), (3, 18)] {
        assert_eq!(bench.ack((200 + k) * MS, 4), [next]);
    }
    bench.ack(300 * MS, 15);
    assert_eq!(bench.sender.state(), State::Open);
    // One reduction for both losses.
    assert_eq!(bench.notes().episodes(CongestionKind::Loss), 1);
    assert_eq!(bench.sender.counts.retransmissions, 2);
}

#[test]
fn a_partial_ack_keeps_recovery_up_to_recover() {
    // recover is the highest segment sent when recovery began: 11 here. An ACK of 11 segments (0..=10) does
    // not cover it; an ACK of 12 does.
    for (ack, state) in [(11, State::Recovery), (12, State::Open)] {
        let mut bench = Bench::started(config(), Fake::at_once(5.0));
        (1..=3).for_each(|k| drop(bench.ack((100 + k) * MS, 0)));
        bench.ack(200 * MS, ack);
        assert_eq!(bench.sender.state(), state, "ACK {ack}");
    }
}

#[test]
fn the_flight_size_told_leaves_out_limited_transmit() {
    // RFC 5681 section 3.2 step 2: when RFC 3042 is in use, what limited transmit sent must not be counted
    // when half the FlightSize is taken. Ten were outstanding before it.
    for sack in [false, true] {
        let config = SenderConfig { sack, ..sender_config() };
        let mut bench = Bench::started(config, Fake::fixed());
        for k in 1..=3 {
            let block = (1, 1 + k);
            let named: &[(u32, u32)] = if sack { &[block] } else { &[] };
            bench.sack((100 + u64::from(k)) * MS, 0, named);
        }
        let notes = bench.notes();
        assert_eq!(notes.congestions.len(), 1);
        assert_eq!(notes.congestions[0].flight_size, 10, "sack {sack}");
    }
}

#[test]
fn what_a_new_acknowledgment_sends_is_no_limited_transmit() {
    // RFC 3042 is about duplicates. Here one ACK acknowledges 0..3 and SACKs 5: it lets 10..13 go, as an ACK
    // of new data does. Then 6 and 7 are SACKed, 3 and 4 are lost: FlightSize is 3..14, eleven segments.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    assert_eq!(bench.sack(100 * MS, 3, &[(5, 6)]), [10, 11, 12, 13]);
    assert_eq!(bench.sender.state(), State::Disorder);
    bench.sack(101 * MS, 3, &[(5, 8)]);
    assert_eq!(bench.notes().congestions[0].flight_size, 11);
}

#[test]
fn the_loss_is_told_with_the_ack_that_found_it() {
    // Ack::lost counts what an ACK caused to be declared lost, with SACK or without.
    for sack in [false, true] {
        let config = SenderConfig { sack, ..sender_config() };
        let mut bench = Bench::started(config, Fake::sampled());
        for k in 1..=3 {
            let block = (1, 1 + k);
            let named: &[(u32, u32)] = if sack { &[block] } else { &[] };
            bench.sack((100 + u64::from(k)) * MS, 0, named);
        }
        let notes = bench.notes();
        let told: Vec<u32> = notes.acks.iter().map(|ack| ack.lost).collect();
        assert_eq!((told, notes.losses.len()), (vec![0, 0, 1], 1), "sack {sack}");
    }
}

#[test]
fn duplicates_below_recover_start_nothing_after_a_timeout() {
    // RFC 6582 section 3.2 step 4: a timeout records the highest segment sent, 9, in recover. Step 2 enters
    // fast retransmit only when the acknowledgment covers more than that. While 1..9 are retransmitted in
    // slow start their needless copies cause duplicates: none of them may start a recovery.
    let mut bench = Bench::started(config(), Fake::reno());
    assert_eq!(bench.timer(), [0]);
    assert_eq!(bench.ack(1100 * MS, 1), [1, 2]);
    for k in 1..=5 {
        assert_eq!(bench.ack((1100 + k) * MS, 1), [], "duplicate {k}");
    }
    assert_eq!(bench.sender.state(), State::Loss);
    assert_eq!(bench.notes().congestions.len(), 1);
}

#[test]
fn duplicates_at_recover_start_nothing_after_a_timeout() {
    // As above, for the acknowledgment that covers all up to recover = 9 and not more: acknowledgment number
    // 10, whose last covered segment 9 is not beyond recover (section 3.2 step 2; the note to step 4 says
    // ack_number - 1 > recover). Everything that the timeout retransmitted had arrived, so its copies come
    // back as duplicates of 10: the very case the variable is for.
    let mut bench = Bench::started(config(), Fake::reno());
    assert_eq!(bench.timer(), [0]);
    bench.ack(1100 * MS, 10);
    for k in 1..=3 {
        bench.ack((1100 + k) * MS, 10);
    }
    assert_eq!(bench.notes().episodes(CongestionKind::Loss), 0);
    assert_eq!(bench.sender.counts.retransmissions, 1);
}

#[test]
fn duplicates_beyond_recover_are_a_new_episode() {
    // The same once the acknowledgment is 11: segment 10 is covered, which is more than recover = 9.
    let mut bench = Bench::started(config(), Fake::reno());
    bench.timer();
    bench.ack(1100 * MS, 10);
    bench.ack(1200 * MS, 11);
    bench.ack(1300 * MS, 11);
    bench.ack(1301 * MS, 11);
    assert!(bench.ack(1302 * MS, 11).contains(&11));
    assert_eq!(bench.notes().episodes(CongestionKind::Loss), 1);
}
