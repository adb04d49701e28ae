//! How the window falls during recovery: proportional rate reduction (RFC 6937).

use crate::bench::{Bench, MS, sender_config, window};
use crate::fake::Fake;
use cwnd_cc::{EcnMode, State};
use cwnd_scenario::Recovery;
use cwnd_tcp::SenderConfig;
use cwnd_tcp::packet::ECE;

fn config(segments: f64, recovery: Recovery) -> SenderConfig {
    SenderConfig { window: window(segments), recovery, ..sender_config() }
}

/// Window `segments`, segment 0 lost, everything else arrives: the SACKs of 1, 2, ..., `last` one by one.
/// Returns the segments that each makes go, and what is in flight after.
fn one_loss(bench: &mut Bench, last: u32) -> Vec<(Vec<u32>, u32)> {
    let mut table = Vec::new();
    for to in 2..=last + 1 {
        let sent = bench.sack((100 + u64::from(to)) * MS, 0, &[(1, to)]);
        table.push((sent, bench.sender.in_flight()));
    }
    table
}

fn seen(table: &[(Vec<u32>, u32)]) -> Vec<(&[u32], u32)> {
    table.iter().map(|(sent, pipe)| (&sent[..], *pipe)).collect()
}

#[test]
fn prr_spreads_one_reduction_over_a_round_trip() {
    // Section 3, window 20, ssthresh 10, segment 0 lost; the ACKs of section 4's first example. The first two
    // SACKs send 20 and 21 (limited transmit), so RecoverFS = 22 at the third. From there, with d =
    // prr_delivered (the ACK that begins recovery counts) and o = prr_out, while pipe > 10:
    //     sndcnt = ceil(d * 10 / 22) - o
    //  ACK  d  10d/22  ceil  o  sndcnt  pipe before -> after
    //    3  1   0.45     1   0    1      18 -> 19  (the lost segment)
    //    4  2   0.91     1   1    0      18
    //    5  3   1.36     2   1    1      17 -> 18
    //    6  4   1.82     2   2    0      17
    //    7  5   2.27     3   2    1      16 -> 17
    //    8  6   2.73     3   3    0      16
    //    9  7   3.18     4   3    1      15 -> 16
    //   10  8   3.64     4   4    0      15
    //   11  9   4.09     5   4    1      14 -> 15
    //   12 10   4.55     5   5    0      14
    //   13 11   5.00     5   5    0      13
    //   14 12   5.45     6   5    1      12 -> 13
    //   15 13   5.91     6   6    0      12
    //   16 14   6.36     7   6    1      11 -> 12
    //   17 15   6.82     7   7    0      11
    //   18 16  pipe 10 is not above ssthresh: min(10 - 10, ...) = 0
    //   19 17  pipe 9: limit = max(17 - 7, 1) + 1 = 11; min(10 - 9, 11) = 1      9 -> 10
    //   20, 21 the same (the two of limited transmit arrive)                     9 -> 10
    let mut bench = Bench::started(config(20.0, Recovery::Prr), Fake::fixed());
    let table = one_loss(&mut bench, 21);
    let expected: [(&[u32], u32); 21] = [
        (&[20], 20),
        (&[21], 20),
        (&[0], 19),
        (&[], 18),
        (&[22], 18),
        (&[], 17),
        (&[23], 17),
        (&[], 16),
        (&[24], 16),
        (&[], 15),
        (&[25], 15),
        (&[], 14),
        (&[], 13),
        (&[26], 13),
        (&[], 12),
        (&[27], 12),
        (&[], 11),
        (&[], 10),
        (&[28], 10),
        (&[29], 10),
        (&[30], 10),
    ];
    assert_eq!(seen(&table), expected);
    // The copy of 0 is acknowledged: 22..31 are left, nine segments; cwnd = ssthresh = 10 lets one go.
    assert_eq!(bench.ack(300 * MS, 22), [31]);
    assert_eq!(bench.sender.state(), State::Open);
    assert_eq!(bench.windows(), (10.0, 10.0));
}

#[test]
fn prr_slow_starts_back_after_heavy_loss() {
    // Section 3, the slow-start reduction bound: window 20, ssthresh 10, segments 0..15 lost (section 4's
    // second example). SACKs of 15, 16 send 20, 21. At the third (17): RecoverFS = 22, everything below 15
    // is lost: pipe = 22 - 3 - 15 = 4, below ssthresh:
    //     limit = max(prr_delivered - prr_out, DeliveredData) + 1, sndcnt = min(ssthresh - pipe, limit)
    //  ACK  delivered  out  limit              sndcnt       pipe before -> after
    //   17      1       0   max(1, 1) + 1 = 2  min(6, 2) = 2   4 -> 6   sends 0, 1
    //   18      2       2   max(0, 1) + 1 = 2  min(5, 2) = 2   5 -> 7   sends 2, 3
    //   19      3       4   max(-1, 1) + 1 = 2 min(4, 2) = 2   6 -> 8   sends 4, 5
    //   20      4       6   2                  min(3, 2) = 2   7 -> 9   sends 6, 7
    //   21      5       8   2                  min(2, 2) = 2   8 -> 10  sends 8, 9
    //  ACK 1    6      10   2                  min(1, 2) = 1   9 -> 10  sends 10
    //  ACK 2    7      11   2                  1               9 -> 10  sends 11
    let mut bench = Bench::started(config(20.0, Recovery::Prr), Fake::fixed());
    let mut table = Vec::new();
    for to in 16..=22 {
        let sent = bench.sack((100 + u64::from(to)) * MS, 0, &[(15, to)]);
        table.push((sent, bench.sender.in_flight()));
    }
    for to in 1..=2 {
        let sent = bench.sack((200 + u64::from(to)) * MS, to, &[(15, 22)]);
        table.push((sent, bench.sender.in_flight()));
    }
    let expected: [(&[u32], u32); 9] = [
        (&[20], 20),
        (&[21], 20),
        (&[0, 1], 6),
        (&[2, 3], 7),
        (&[4, 5], 8),
        (&[6, 7], 9),
        (&[8, 9], 10),
        (&[10], 10),
        (&[11], 10),
    ];
    assert_eq!(seen(&table), expected);
}

#[test]
fn prr_reduces_to_what_the_algorithm_wants_to_hold() {
    // Window::recovery_cwnd stands for ssthresh during recovery: 4 of 20, RecoverFS 22.
    //   ACK 3: ceil(4/22) = 1 - 0 -> 0 goes; ceil(4d/22) passes 1 at d = 6 (24/22 = 1.09 -> 2): ACK 8 sends
    //   one; it passes 2 at d = 12 (48/22 = 2.18 -> 3): ACK 14; 3 at d = 17 (68/22 = 3.09 -> 4): ACK 19.
    // At the end of recovery the window is ssthresh = 10.
    let fake = Fake { ssthresh: Some(10.0), recovery_cwnd: Some(4.0), ..Fake::fixed() };
    let mut bench = Bench::started(config(20.0, Recovery::Prr), fake);
    let table = one_loss(&mut bench, 19);
    let acks: Vec<usize> = (3..=19).filter(|&ack| !table[ack - 1].0.is_empty()).collect();
    assert_eq!(acks, [3, 8, 14, 19]);
    bench.ack(300 * MS, 22);
    assert_eq!(bench.windows(), (10.0, 10.0));
}

#[test]
fn prr_counts_what_a_partial_ack_delivers_without_sack() {
    // Section 3: without SACK, DeliveredData is one for a duplicate, and for a partial ACK what it advances
    // by less the duplicates before it. Window 20, ssthresh 10, no limited transmit, 0 and 10 lost:
    // twelve duplicates; RecoverFS = 20 and sndcnt = ceil(d/2) - o: at ACK 3 (d = 1) segment 0, then at every second
    // one (ACKs 5, 7, ...).
    let config = SenderConfig { sack: false, limited_transmit: false, ..config(20.0, Recovery::Prr) };
    let mut bench = Bench::started(config, Fake::fixed());
    let sent: Vec<Vec<u32>> = (1..=12).map(|k| bench.ack((100 + k) * MS, 0)).collect();
    let expected: [&[u32]; 12] = [&[], &[], &[0], &[], &[20], &[], &[21], &[], &[22], &[], &[23], &[]];
    assert_eq!(sent, expected);
    // The partial ACK of 10 advances by 10 and nine of those were duplicates: one is delivered.
    bench.ack(200 * MS, 10);
    assert_eq!(bench.notes().acks.last().unwrap().acked, 1);
}

#[test]
fn an_echo_reduces_proportionally_too() {
    // RFC 6937 section 3 needs no loss: an ECN echo halves 20 over 20 ACKs. RecoverFS = 20 - 1 = 19 at the
    // first (the ACK moved una before), and one new segment goes for every second ACK:
    //   d = 1: ceil(10/19) = 1; 2: ceil(20/19) = 2, not 1: so ACK 2 sends as well; d = 3: 30/19 -> 2: none;
    //   d = 4: 40/19 = 2.1 -> 3; 5: 2.6 -> 3; 6: 3.2 -> 4; 7: 3.7 -> 4; 8: 4.2 -> 5; 9: 4.7 -> 5; 10: 5.3 -> 6
    let config = SenderConfig { ecn: EcnMode::Exact, ..config(20.0, Recovery::Prr) };
    let mut bench = Bench::started(config, Fake::fixed());
    let counts: Vec<usize> =
        (1..=10).map(|k| bench.flagged((100 + u64::from(k)) * MS, k, &[], ECE).len()).collect();
    assert_eq!(bench.sender.state(), State::Cwr);
    assert_eq!(counts, [1, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
}
