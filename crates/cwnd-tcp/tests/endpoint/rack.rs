//! RACK-TLP and proportional rate reduction as RFC 8985 and RFC 9937 have them, alongside what Linux makes of them.

use crate::bench::{Bench, MS, sender_config, window};
use crate::fake::Fake;
use cwnd_cc::State;
use cwnd_scenario::Recovery;
use cwnd_tcp::SenderConfig;

const BOTH: [Recovery; 2] = [Recovery::Rack, Recovery::Linux];

/// A window of the given number of segments that does not grow, all sent at time 0.
fn config(recovery: Recovery, segments: f64) -> SenderConfig {
    SenderConfig { window: window(segments), recovery, validate_cwnd: true, ..sender_config() }
}

#[test]
fn the_reordering_timer_expires_with_the_window() {
    // RFC 8985 section 6.2, step 5: 100 ms + 25 ms. Linux adds two ticks.
    let deadlines = BOTH.map(|recovery| {
        let mut bench = Bench::started(config(recovery, 10.0), Fake::fixed());
        bench.sack(100 * MS, 0, &[(1, 2)]);
        bench.sender.deadline()
    });
    assert_eq!(deadlines, [125 * MS, 127 * MS]);
}

#[test]
fn a_probe_goes_after_two_round_trips() {
    // RFC 8985 section 7.2: 50 ms + 2 x 50 ms. Linux adds two ticks. With one segment in flight both add 200 ms for a delayed ACK, and
    // the timeout comes first.
    let deadlines = BOTH.map(|recovery| {
        let mut bench = Bench::started(config(recovery, 10.0), Fake::fixed());
        bench.rtt = 50 * MS;
        bench.ack(50 * MS, 2);
        bench.sender.deadline()
    });
    assert_eq!(deadlines, [150 * MS, 152 * MS]);
}

#[test]
fn the_reduction_is_a_share_of_what_was_in_flight() {
    // The peer's window lets 12 of 20 segments go. 0 is lost, 5 are SACKed, 6 are in flight; ssthresh is 4. RecoverFS is 12 - 5 + 5:
    // ceil(5 x 4/12) = 2 may go. Linux divides by the window of 20: 1.
    let windows = BOTH.map(|recovery| {
        let config = SenderConfig { receive_window: 12, ..config(recovery, 20.0) };
        let mut bench = Bench::started(config, Fake { ssthresh: Some(4.0), ..Fake::default() });
        assert_eq!(bench.sack(100 * MS, 0, &[(1, 6)]), [0]);
        bench.windows()
    });
    assert_eq!(windows, [(8.0, 4.0), (7.0, 4.0)]);
}

#[test]
fn what_was_sacked_before_the_recovery_does_not_count_as_in_flight() {
    // 5 and 6 are SACKed one by one, and no new segment goes, for the peer's window is full. With 7 the three make 0 to 4 lost: 12 - 3
    // - 5 = 4 are in flight, ssthresh is 3. RecoverFS is 12 - 3 + 1 = 10: ceil(1 x 3/10) = 1 goes, and at the next SACK, with 4 in
    // flight again, ceil(2 x 3/10) - 1 = 0. The one after it is the fourth: ceil(4 x 3/10) - 1 = 1.
    let config = SenderConfig { receive_window: 12, ..config(Recovery::Rack, 20.0) };
    let mut bench = Bench::started(config, Fake { ssthresh: Some(3.0), ..Fake::default() });
    bench.sack(100 * MS, 0, &[(5, 6)]);
    bench.sack(101 * MS, 0, &[(5, 7)]);
    assert_eq!((bench.sack(102 * MS, 0, &[(5, 8)]), bench.windows().0), (vec![0], 5.0));
    assert_eq!((bench.sack(103 * MS, 0, &[(5, 9)]), bench.windows().0), (vec![], 4.0));
}

#[test]
fn a_duplicate_enlarges_the_reordering_window_before_reordering_was_seen() {
    // 0 is retransmitted at 125 ms (127 in Linux), and the answer echoes the retransmission. Then a DSACK shows that it was needless.
    let waits = BOTH.map(|recovery| {
        let mut bench = Bench::started(config(recovery, 10.0), Fake::fixed());
        bench.sack(100 * MS, 0, &[(1, 2)]);
        assert_eq!(bench.timer(), [0]);
        bench.ack(228 * MS, 2);
        assert_eq!(bench.sack(229 * MS, 11, &[(0, 1)])[0], 11);
        assert_eq!((bench.sender.state(), bench.sender.tcp_info().reordering_events), (State::Open, 0));
        // 11 and 12 left together: 11 may still come as long as the window lasts.
        bench.sack(329 * MS, 11, &[(12, 13)]);
        assert_eq!(bench.sender.state(), State::Disorder);
        (bench.sender.deadline() - 329 * MS) / MS
    });
    // RFC 8985 section 6.2, step 4: 2 x 100/4 ms. Linux waits for reordering before it counts: 100/4 ms, and two ticks.
    assert_eq!(waits, [50, 27]);
}

/// A receiver that withdraws its SACKs (RFC 2018 section 8), with segments that count as recent when the timeout finds out.
///
/// 0 to 9 leave at 0, and 10 to 13 at 100 ms. At 200 ms 5 and 7 to 9 are missing, and the window is small: 5 and 7 are retransmitted,
/// and at 300 ms 8. The ACK of 5 does not cover 6, which was SACKed: the receiver has dropped it. Right before the timeout the original of 9 arrives,
/// so that the round trip of the last delivery is that long, and 10 to 13 may still be on their way.
fn after_withdrawn_sacks(recovery: Recovery) -> (Bench, u64) {
    let mut bench = Bench::started(config(recovery, 10.0), Fake { ssthresh: Some(1.0), ..Fake::default() });
    assert_eq!(bench.ack(100 * MS, 5), [10, 11, 12, 13]);
    assert_eq!(bench.sack(200 * MS, 5, &[(10, 14), (6, 7)]), [5, 7]);
    assert_eq!(bench.sack(300 * MS, 6, &[(10, 14)]), [8]);
    let timeout = bench.sender.deadline();
    bench.rtt = timeout - MS;
    assert_eq!(bench.sack(timeout - MS, 6, &[(9, 14)]), [] as [u32; 0]);
    assert_eq!(bench.sender.tcp_info().sacked, 6);
    assert_eq!(bench.timer(), [6]);
    assert_eq!(bench.sender.tcp_info().sacked, 0);
    (bench, timeout)
}

#[test]
fn linux_loses_everything_when_sacks_are_withdrawn() {
    // tcp_timeout_mark_lost: recent segments stay in flight only if no SACK was withdrawn. 6 to 13 are lost, and 6 was retransmitted.
    let (bench, _) = after_withdrawn_sacks(Recovery::Linux);
    assert_eq!(bench.sender.tcp_info().lost, 8);
}

#[test]
fn rack_examines_segments_whose_sacks_were_withdrawn() {
    // RFC 8985 section 6.3 leaves 10 to 13 in flight. The ACK of the retransmission of 6, after 100 ms, makes all of
    // 7 to 13 overdue. Two of them are retransmitted, for the window is 2.
    let (mut bench, timeout) = after_withdrawn_sacks(Recovery::Rack);
    bench.rtt = 100 * MS;
    bench.ack(timeout + 100 * MS, 7);
    assert_eq!((bench.sender.tcp_info().lost, bench.sender.in_flight()), (7, 2));
}
