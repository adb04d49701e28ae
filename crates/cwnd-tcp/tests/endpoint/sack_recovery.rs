//! Recovery with SACK: RFC 6675, the window at `ssthresh` at once.

use crate::bench::{Bench, MS, sender_config};
use crate::fake::Fake;
use cwnd_cc::{CongestionKind, State};
use cwnd_tcp::SenderConfig;

#[test]
fn a_segment_is_lost_when_three_above_it_are_sacked() {
    // Section 4, IsLost: more than (DupThresh - 1) = 2 segments SACKed above. Ten outstanding, 0 missing.
    // Section 5 step 3: before that, new segments go while pipe < cwnd; each SACK takes one off pipe.
    let mut bench = Bench::started(sender_config(), Fake::at_once(5.0));
    assert_eq!(bench.sack(100 * MS, 0, &[(1, 2)]), [10]);
    assert_eq!(bench.sender.state(), State::Disorder);
    assert_eq!(bench.sack(101 * MS, 0, &[(1, 3)]), [11]);
    assert_eq!(bench.sack(102 * MS, 0, &[(1, 4)]), [0]);
    assert_eq!(bench.sender.state(), State::Recovery);
    // pipe: 12 outstanding, 3 SACKed, 1 lost, 1 retransmitted.
    assert_eq!(bench.sender.in_flight(), 9);
}

#[test]
fn one_ack_that_names_three_is_enough() {
    // Section 5 step 2: IsLost(HighACK + 1) starts recovery even with fewer than three duplicates (here the
    // ACKs before were lost).
    let mut bench = Bench::started(sender_config(), Fake::at_once(5.0));
    assert_eq!(bench.sack(100 * MS, 0, &[(1, 4)]), [0]);
    assert_eq!(bench.sender.state(), State::Recovery);
}

#[test]
fn three_above_need_not_touch() {
    // Section 4, IsLost: three discontiguous sequences count as well. 1, 3, 5 are SACKed: 0 is lost, 2 has
    // only two above it (3, 5), 4 one. With 7 SACKed 2 is lost too.
    let mut bench = Bench::started(sender_config(), Fake::at_once(2.0));
    bench.sack(100 * MS, 0, &[(1, 2)]);
    bench.sack(101 * MS, 0, &[(3, 4), (1, 2)]);
    assert_eq!(bench.sack(102 * MS, 0, &[(5, 6), (3, 4), (1, 2)]), [0]);
    assert_eq!(bench.notes().acks.last().unwrap().lost, 1);
    bench.sack(103 * MS, 0, &[(7, 8), (5, 6), (3, 4)]);
    assert_eq!(bench.notes().acks.last().unwrap().lost, 1);
    assert_eq!(bench.notes().episodes(CongestionKind::Loss), 1);
}

#[test]
fn duplicates_that_name_nothing_new_are_no_sign_of_loss() {
    // Section 2: a duplicate acknowledgment is one that names octets not SACKed before. RFC 3042 section 2:
    // with SACK nothing new is sent on one that does not.
    let mut bench = Bench::started(sender_config(), Fake::at_once(5.0));
    assert_eq!(bench.sack(100 * MS, 0, &[(1, 2)]), [10]);
    for k in 1..=5 {
        assert_eq!(bench.sack((100 + k) * MS, 0, &[(1, 2)]), []);
    }
    assert_eq!(bench.sender.state(), State::Disorder);
    assert_eq!(bench.sender.in_flight(), 10);
}

#[test]
fn the_first_retransmission_goes_even_if_the_pipe_is_full() {
    // Section 5 step 4.3: the first segment presumed lost goes whatever pipe says. Window 20, ssthresh 5; at
    // entry 22 - 3 - 1 = 18 > 5. Then pipe is 19, and 14 further SACKs bring it to 5 without a segment; the
    // next one lets the first new segment go.
    let config = SenderConfig { window: crate::bench::window(20.0), ..sender_config() };
    let mut bench = Bench::started(config, Fake::at_once(5.0));
    bench.sack(100 * MS, 0, &[(1, 2)]);
    bench.sack(101 * MS, 0, &[(1, 3)]);
    assert_eq!(bench.sack(102 * MS, 0, &[(1, 4)]), [0]);
    assert_eq!(bench.sender.in_flight(), 19);
    for k in 1..=14 {
        assert_eq!(bench.sack((102 + k) * MS, 0, &[(1, 4 + k as u32)]), []);
        assert_eq!(bench.sender.in_flight(), 19 - k as u32);
    }
    assert_eq!(bench.sack(117 * MS, 0, &[(1, 19)]), [22]);
}

#[test]
fn lost_segments_go_before_new_ones() {
    // Section 4, NextSeg: rule 1, the lowest lost segment not yet retransmitted, comes before rule 2, new
    // data. 0, 2, 4 of 20 are lost, the window stays wide (ssthresh 19), so everything may go at once.
    let config = SenderConfig { window: crate::bench::window(20.0), ..sender_config() };
    let mut bench = Bench::started(config, Fake::at_once(19.0));
    // pipe = 20 - 5 SACKed - 3 lost = 12: 7 may go: the three lost, then four new.
    let sent = bench.sack(100 * MS, 0, &[(5, 8), (3, 4), (1, 2)]);
    assert_eq!(sent, [0, 2, 4, 20, 21, 22, 23]);
    assert_eq!(bench.sender.in_flight(), 19);
}

#[test]
fn the_pipe_after_each_ack() {
    // Section 4, SetPipe: outstanding, less SACKed, less lost, and one for each retransmission. Fixed window
    // 10 and ssthresh 4; segments 0 and 1 are lost.
    //   SACK 2: 10 - 1 = 9, sends 10 -> 10          SACK 3: 10 - 1 = 9, sends 11 -> 10
    //   SACK 4: 10 - 1 - 2 lost = 7, retransmits 0 -> 8
    //   SACK 5: 7   SACK 6: 6   SACK 7: 5   SACK 8: 4   SACK 9: 3, sends 1 (lost) -> 4
    //   ACK 1 (the retransmission of 0): 0 leaves, its copy with it: 3, sends 12 -> 4
    //   ACK 10 (the retransmission of 1): 10, 11, 12 are left: 3 <= 10 unSACKed -> sends 13 -> 4
    let mut bench = Bench::started(sender_config(), Fake::at_once(4.0));
    let mut table = Vec::new();
    for to in 3..=10 {
        let sent = bench.sack((100 + u64::from(to)) * MS, 0, &[(2, to)]);
        table.push((sent, bench.sender.in_flight()));
    }
    let sent = bench.sack(200 * MS, 1, &[(2, 10)]);
    table.push((sent, bench.sender.in_flight()));
    let sent = bench.ack(201 * MS, 10);
    table.push((sent, bench.sender.in_flight()));
    let expected: [(&[u32], u32); 10] = [
        (&[10], 10),
        (&[11], 10),
        (&[0], 8),
        (&[], 7),
        (&[], 6),
        (&[], 5),
        (&[], 4),
        (&[1], 4),
        (&[12], 4),
        (&[13], 4),
    ];
    let seen: Vec<(&[u32], u32)> = table.iter().map(|(sent, pipe)| (&sent[..], *pipe)).collect();
    assert_eq!(seen, expected);
}

#[test]
fn recovery_ends_at_the_recovery_point() {
    // Section 5: RecoveryPoint is the highest segment sent when recovery began, 11 here (two new ones went
    // with the first two duplicates); an ACK that covers it ends recovery, one that does not does not.
    for (ack, state) in [(11, State::Recovery), (12, State::Open)] {
        let mut bench = Bench::started(sender_config(), Fake::at_once(5.0));
        (1..=3).for_each(|k| drop(bench.sack((100 + u64::from(k)) * MS, 0, &[(1, 1 + k)])));
        bench.ack(200 * MS, ack);
        assert_eq!(bench.sender.state(), state);
    }
}

#[test]
fn losses_beyond_the_recovery_point_are_a_new_episode() {
    // Section 5: one reduction for all losses up to RecoveryPoint (0, 3 here: one episode); 12 is sent after
    // it, in recovery, so its loss is another. Window 10, ssthresh 8.
    let mut bench = Bench::started(sender_config(), Fake::at_once(8.0));
    bench.sack(100 * MS, 0, &[(1, 3)]);
    bench.sack(101 * MS, 0, &[(4, 5), (1, 3)]);
    assert_eq!(bench.sender.state(), State::Recovery);
    let mut sent = bench.sack(102 * MS, 0, &[(4, 10), (1, 3)]);
    assert_eq!(bench.notes().episodes(CongestionKind::Loss), 1);
    // All of the first window arrives by ACK 13; 13 is lost, and 14, 15, 16 are SACKed.
    sent.extend(bench.ack(200 * MS, 13));
    assert_eq!(bench.sender.state(), State::Open);
    assert!(sent.contains(&16));
    let sent = bench.sack(201 * MS, 13, &[(14, 17)]);
    assert_eq!(sent[0], 13);
    assert_eq!(bench.notes().episodes(CongestionKind::Loss), 2);
}

#[test]
fn the_ack_that_ends_an_episode_may_begin_the_next() {
    // The same where the loss beyond the recovery point is known before recovery ends. Ten outstanding, 0
    // lost; with ssthresh 8 SACKs of 1..4 let 10, 11 (before) and, in recovery, further ones go. 12 is lost,
    // 13, 14, 15 are SACKed while 0 is still missing; the ACK of 12 ends the first episode and is the first
    // of the second.
    let mut bench = Bench::started(sender_config(), Fake::at_once(8.0));
    let mut sent = Vec::new();
    for to in 2..=10 {
        sent.extend(bench.sack((100 + u64::from(to)) * MS, 0, &[(1, to)]));
    }
    assert_eq!(sent, [10, 11, 0, 12, 13, 14, 15, 16]);
    bench.sack(150 * MS, 0, &[(1, 12)]);
    bench.sack(151 * MS, 0, &[(13, 16), (1, 12)]);
    assert_eq!(bench.notes().episodes(CongestionKind::Loss), 1);
    bench.sack(200 * MS, 12, &[(13, 16)]);
    assert_eq!(bench.sender.state(), State::Recovery);
    assert_eq!(bench.notes().episodes(CongestionKind::Loss), 2);
    assert_eq!(bench.notes().exits.len(), 1);
}

/// Segment 0 of ten is lost and so is its retransmission, which goes when 12 is the next new segment. What
/// is SACKed then: 1..12 and, one by one, the new segments from 12 on. Returns what each of those makes go.
fn lose_a_retransmission(detect_lost_retransmissions: bool) -> (Bench, Vec<Vec<u32>>) {
    let config = SenderConfig { detect_lost_retransmissions, ..sender_config() };
    let mut bench = Bench::started(config, Fake::at_once(5.0));
    let sent: Vec<u32> =
        (2..=12).flat_map(|to| bench.sack((100 + u64::from(to)) * MS, 0, &[(1, to)])).collect();
    assert_eq!(sent[..4], [10, 11, 0, 12]);
    let after = (13..=15).map(|to| bench.sack((200 + u64::from(to)) * MS, 0, &[(1, to)])).collect();
    (bench, after)
}

#[test]
fn a_lost_retransmission_is_found_by_three_later_segments() {
    // 12, 13, 14 were sent after the retransmission. SACKs of two of them say nothing yet; of the third that
    // the copy is lost (IsLost's three, asked of what was sent later). It goes again, before new data, and
    // the window is not reduced again.
    let (bench, after) = lose_a_retransmission(true);
    assert!(!after[0].contains(&0) && !after[1].contains(&0), "{after:?}");
    assert_eq!(after[2][0], 0);
    assert_eq!(bench.sender.counts.retransmissions, 2);
    assert_eq!(bench.notes().episodes(CongestionKind::Loss), 1);
}

#[test]
fn or_else_only_by_the_timeout() {
    let (mut bench, after) = lose_a_retransmission(false);
    assert!(after.iter().all(|sent| !sent.contains(&0)), "{after:?}");
    (16..30).for_each(|to| assert!(!bench.sack((200 + u64::from(to)) * MS, 0, &[(1, to)]).contains(&0)));
    // The window is one segment after the timeout, and the copy is its first.
    assert_eq!(bench.timer(), [0]);
    assert_eq!(bench.sender.counts.timeouts, 1);
}

#[test]
fn a_sack_of_a_retransmitted_segment_takes_it_off_the_pipe() {
    // 0 and 1 are lost and retransmitted; 1's copy arrives, 0's is lost. SACKed, 1 is neither lost nor
    // retransmitted: outstanding 10, SACKed 1..6, which is six, one lost, one retransmitted: 10 - 6 - 1 + 1.
    // Before, with five SACKed and two lost and retransmitted: 10 - 5 - 2 + 2.
    let config = SenderConfig { receive_window: 10, ..sender_config() };
    let mut bench = Bench::started(config, Fake::at_once(9.0));
    assert_eq!(bench.sack(100 * MS, 0, &[(2, 7)]), [0, 1]);
    assert_eq!(bench.sender.in_flight(), 5);
    bench.sack(200 * MS, 0, &[(1, 7)]);
    assert_eq!(bench.sender.in_flight(), 4);
    assert_eq!(bench.notes().acks.last().unwrap().acked, 1);
}

#[test]
fn duplicates_are_counted_and_told() {
    // DupAck: how many in a row, and what each named for the first time. A new acknowledgment begins again.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    bench.sack(100 * MS, 0, &[(1, 3)]);
    bench.sack(101 * MS, 0, &[(1, 3)]);
    bench.ack(102 * MS, 3);
    bench.sack(103 * MS, 3, &[(4, 5)]);
    let told: Vec<(u32, u32)> = bench.notes().dups.iter().map(|dup| (dup.count, dup.sacked)).collect();
    assert_eq!(told, [(1, 2), (2, 0), (1, 1)]);
}

#[test]
fn what_was_sacked_is_not_delivered_twice() {
    // Ack::acked counts each segment once, by SACK or by the cumulative acknowledgment.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    bench.sack(100 * MS, 0, &[(1, 3)]);
    bench.sack(101 * MS, 0, &[(5, 6), (1, 3)]);
    bench.sack(102 * MS, 4, &[(5, 6)]);
    bench.ack(103 * MS, 7);
    let notes = bench.notes();
    let told: Vec<(u32, u32)> = notes.acks.iter().map(|ack| (ack.acked, ack.cumulative)).collect();
    assert_eq!(told, [(2, 0), (1, 0), (2, 4), (2, 3)]);
    assert_eq!(notes.acks.last().unwrap().delivered, 7);
}

#[test]
fn an_old_ack_tells_the_algorithm_nothing() {
    // CongestionControl::on_ack is for ACKs that tell something new; one that was overtaken does not, and
    // moves nothing.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    assert_eq!(bench.ack(100 * MS, 5), [10, 11, 12, 13, 14]);
    let before = bench.notes().acks.len();
    assert_eq!(bench.ack(101 * MS, 3), []);
    assert_eq!(bench.sender.acknowledged(), 5);
    assert_eq!((bench.notes().acks.len(), bench.notes().dups.len()), (before, 0));
}
