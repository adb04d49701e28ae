//! Today's Linux finds out that it was wrong: duplicates that the receiver reports (RFC 2883), probes (RFC 8985 section
//! 7), timeouts (RFC 6298, RFC 5682).

use crate::bench::{Bench, Far, MS, only, receiver_config, sender_config, window};
use crate::fake::Fake;
use cwnd_cc::{CongestionKind, State};
use cwnd_scenario::Recovery;
use cwnd_tcp::{ReceiverConfig, SenderConfig};

fn config(segments: f64, timestamps: bool) -> SenderConfig {
    SenderConfig {
        window: window(segments),
        recovery: Recovery::Linux,
        validate_cwnd: true,
        timestamps,
        ..sender_config()
    }
}

/// A window of ten segments that does not grow, all sent at time 0; without timestamps only duplicates and new data tell.
fn without_timestamps() -> Bench {
    Bench::started(config(10.0, false), Fake::fixed())
}

fn far() -> Far {
    Far::new(ReceiverConfig { linux: true, ..receiver_config() })
}

#[test]
fn what_comes_again_is_told_of_first() {
    let mut far = far();
    (0..4).for_each(|segment| drop(far.data(MS, segment)));
    // RFC 2883 section 4.1.1: a segment below what is acknowledged. It is notified of once.
    assert_eq!(only(far.data(2 * MS, 1)).blocks, [(1, 2)]);
    assert_eq!(only(far.data(2 * MS, 6)).blocks, [(6, 7)]);
    // Section 4.2.1: one that is held; the second block is that which it lies in.
    assert_eq!(only(far.data(2 * MS, 6)).blocks, [(6, 7), (6, 7)]);
    // With two blocks there is room for all, with three not for the oldest.
    far.data(2 * MS, 8);
    assert_eq!(only(far.data(2 * MS, 2)).blocks, [(2, 3), (8, 9), (6, 7)]);
    far.data(2 * MS, 10);
    assert_eq!(only(far.data(2 * MS, 3)).blocks, [(3, 4), (10, 11), (8, 9)]);
}

#[test]
fn other_receivers_tell_of_no_duplicates() {
    let mut far = Far::new(receiver_config());
    (0..4).for_each(|segment| drop(far.data(MS, segment)));
    assert_eq!(only(far.data(2 * MS, 1)).blocks, []);
}

#[test]
fn a_recovery_whose_copies_were_all_needless_is_undone() {
    // 0 is late, not lost: 1 to 3 are SACKed, 0 goes again, and all is acknowledged before a copy can have come.
    let mut bench = without_timestamps();
    assert_eq!(bench.sack(100 * MS, 0, &[(1, 4)]), [0, 10]);
    bench.ack(105 * MS, 11);
    assert_eq!((bench.sender.state(), bench.windows()), (State::Open, (5.0, 5.0)));
    // A round trip later the receiver has it twice (RFC 3708): 10, and no threshold, as before.
    bench.sack(205 * MS, 11, &[(0, 1)]);
    assert_eq!((bench.sender.state(), bench.windows()), (State::Open, (10.0, f64::INFINITY)));
    assert_eq!(bench.notes().undone, 1);
}

#[test]
fn one_copy_that_was_needed_keeps_the_reduction() {
    // 0 and 2 are missing, 1 and 3 to 6 are SACKed. Three are in flight and five may be: the two go.
    let mut bench = without_timestamps();
    assert_eq!(bench.sack(100 * MS, 0, &[(3, 7), (1, 2)]), [0, 2]);
    bench.ack(205 * MS, 10);
    bench.sack(206 * MS, 10, &[(2, 3)]);
    assert_eq!((bench.windows(), bench.notes().undone), ((5.0, 5.0), 0));
}

#[test]
fn what_the_network_copied_says_nothing() {
    // Nothing was sent again, so the duplicate is none of the sender's. Then 3 to 5 are SACKed and 2 goes again, and the
    // duplicate of 2 is the second of one copy.
    let mut bench = without_timestamps();
    bench.ack(100 * MS, 2);
    bench.sack(101 * MS, 2, &[(0, 1)]);
    assert_eq!(bench.sender.counts.duplicates, 1);
    assert_eq!(bench.sack(102 * MS, 2, &[(3, 6)])[0], 2);
    bench.ack(104 * MS, 12);
    bench.sack(105 * MS, 12, &[(2, 3)]);
    assert_eq!((bench.sender.counts.duplicates, bench.notes().undone), (2, 0));
}

#[test]
fn duplicates_make_the_reordering_window_longer() {
    // Reordering is seen: 0 comes after 1, before the 25 ms are over.
    let mut bench = without_timestamps();
    bench.sack(100 * MS, 0, &[(1, 2)]);
    bench.ack(105 * MS, 2);
    // 2 is missing for 25 ms (and two ticks), goes again, and comes all the same, and then its copy.
    bench.sack(110 * MS, 2, &[(3, 4)]);
    assert_eq!(bench.sender.deadline(), 137 * MS);
    assert_eq!(bench.timer()[0], 2);
    bench.ack(140 * MS, 4);
    bench.sack(240 * MS, 4, &[(2, 3)]);
    assert_eq!((bench.windows().0, bench.notes().undone), (10.0, 1));
    // RFC 8985 section 6.2, step 4: twice a quarter of the least round-trip time of 100 ms.
    bench.sack(250 * MS, 4, &[(5, 6)]);
    assert_eq!(bench.sender.deadline(), (250 + 50 + 2) * MS);
}

#[test]
fn a_hole_that_is_filled_late_is_reordering() {
    // Three SACKs are enough where none was seen: 0 goes again. Then the original is answered (the echo is of 5 ms), four
    // are acknowledged, and the reduction is undone.
    let mut bench = Bench::started(config(10.0, true), Fake::fixed());
    assert_eq!(bench.sack(100 * MS, 0, &[(1, 4)]), [0, 10]);
    bench.ack(105 * MS, 4);
    assert_eq!((bench.windows(), bench.notes().undone), ((10.0, f64::INFINITY), 1));
    // The next three do not hurry: 25 ms and two ticks.
    bench.sack(110 * MS, 4, &[(5, 8)]);
    assert_eq!((bench.sender.state(), bench.sender.deadline()), (State::Disorder, 137 * MS));
}

/// One segment may be outstanding, so that a probe can only send it again: after the ACK of the first, the second goes.
fn one_at_a_time() -> Bench {
    let mut bench = Bench::started(SenderConfig { receive_window: 1, ..config(10.0, true) }, Fake::fixed());
    assert_eq!(bench.ack(100 * MS, 1), [1]);
    bench
}

#[test]
fn a_probe_for_one_segment_waits_for_its_delayed_ack() {
    // RFC 8985 section 7.2: two round-trip times and 200 ms, 500 ms; but no later than the timeout, 100 + 200 ms after
    // the ACK. The timeout then begins again.
    let mut bench = one_at_a_time();
    assert_eq!(bench.sender.deadline(), 400 * MS);
    assert_eq!(bench.timer(), [1]);
    assert_eq!((bench.sender.counts.timeouts, bench.sender.deadline()), (0, 700 * MS));
    // There is one probe at a time: what follows is the timeout.
    assert_eq!(bench.timer(), [1]);
    assert_eq!((bench.sender.counts.timeouts, bench.sender.state()), (1, State::Loss));
}

#[test]
fn a_loss_that_a_probe_repaired_is_answered() {
    // Section 7.4.2: the probe's ACK says that one of the two came; the next ACK, that no duplicate did.
    let mut bench = one_at_a_time();
    bench.timer();
    assert_eq!(bench.ack(500 * MS, 2), [2]);
    assert_eq!(bench.notes().congestions.len(), 0);
    bench.ack(600 * MS, 3);
    assert_eq!(bench.notes().episodes(CongestionKind::Loss), 1);
    assert_eq!((bench.sender.state(), bench.windows()), (State::Open, (5.0, 5.0)));
}

#[test]
fn a_probe_whose_original_came_too_reduces_nothing() {
    for duplicate in [&[(1, 2)][..], &[]] {
        let mut bench = one_at_a_time();
        bench.timer();
        assert_eq!(bench.ack(450 * MS, 2), [2]);
        // By its block (RFC 2883), or as a duplicate ACK.
        bench.sack(500 * MS, 2, duplicate);
        bench.ack(600 * MS, 3);
        assert_eq!((bench.notes().congestions.len(), bench.windows().0), (0, 10.0), "{duplicate:?}");
    }
}

#[test]
fn each_timeout_doubles_until_there_is_a_sample() {
    // RFC 6298 section 5: before any sample a probe goes after the second that the timeout takes; the timeout follows
    // it, then 2 s, then 4 s. The threshold is that of the first.
    let mut bench = Bench::started(config(10.0, true), Fake::fixed());
    for (at, segment) in [(1000, 10), (2000, 0), (4000, 0), (8000, 0)] {
        assert_eq!(bench.sender.deadline(), at * MS);
        assert_eq!(bench.timer(), [segment]);
    }
    assert_eq!((bench.windows(), bench.sender.counts.congestion_events), ((1.0, 5.0), 1));
    assert_eq!(bench.sender.deadline(), 16_000 * MS);
    // The copy's ACK echoes its time: 100 ms, and 200 ms at least beyond.
    bench.ack(8100 * MS, 1);
    assert_eq!(bench.sender.state(), State::Loss);
    assert_eq!(bench.sender.deadline(), (8100 + 300) * MS);
}

#[test]
fn an_ack_of_what_was_sent_once_undoes_a_timeout() {
    // RFC 5682 section 3.1, step 3.b: the first ACK already acknowledges 3 to 12, of which no copy was sent.
    let mut bench = without_timestamps();
    bench.ack(100 * MS, 2);
    bench.timer();
    assert_eq!(bench.timer(), [2]);
    bench.ack(702 * MS, 13);
    assert_eq!((bench.sender.state(), bench.windows().0, bench.notes().undone), (State::Open, 10.0, 1));
}

#[test]
fn a_duplicate_after_a_timeout_sends_no_new_data() {
    // Step 2.a: a duplicate ACK first. The copy is in flight, and the window is one.
    let mut bench = without_timestamps();
    bench.ack(100 * MS, 2);
    bench.timer();
    assert_eq!(bench.timer(), [2]);
    assert_eq!(bench.ack(650 * MS, 2), []);
    assert_eq!(bench.sender.state(), State::Loss);
    // What advances then still asks with new data (2.b).
    assert_eq!(bench.ack(702 * MS, 3), [13]);
}

#[test]
fn new_data_stays_first_while_it_waits_for_the_release_timer() {
    // RFC 5682 section 3.1, step 2.b: the ACK after a timeout lets new data go, to find out whether the timeout was
    // spurious. The send overhead delays that data; 1, which is lost as well, must not take its place.
    let config = SenderConfig { send_overhead: 5 * MS, ..config(10.0, false) };
    let mut bench = Bench::idle(config, Fake::fixed());
    assert_eq!(bench.run(50 * MS).len(), 10);
    let mut now = 0;
    while bench.sender.counts.timeouts == 0 {
        now = bench.sender.deadline();
        bench.sender_timer(now);
    }
    assert_eq!(bench.segments().last(), Some(&0));
    let next = bench.sender.next_segment() as u32;
    assert_eq!(bench.ack(now + 100 * MS, 1), []);
    let sent: Vec<u32> = bench.run(now + 105 * MS).into_iter().map(|(_, segment)| segment).collect();
    assert_eq!(sent, [next]);
}
