//! Delivery-rate samples and lost packets as an algorithm is notified of them: draft-ietf-ccwg-bbr section
//! 4.1.1 (first draft-cheng-iccrg-delivery-rate-estimation). P is the latest sent of the segments that an
//! ACK delivers.

use crate::bench::{Bench, MS, sender_config, window};
use crate::fake::Fake;
use cwnd_cc::{EcnMode, Nanos, Needs, RateSample};
use cwnd_tcp::SenderConfig;
use cwnd_tcp::packet::ECE;

fn last_sample(bench: &Bench) -> RateSample {
    bench.notes().acks.last().unwrap().rate.expect("a sample")
}

#[test]
fn a_clocked_flow_gives_its_rate() {
    // Ten segments at 0; ACKs at 100, 110, ..., 190 ms. The k-th of the first window: P = segment k - 1, sent
    // at 0 when nothing was delivered: delivered k, send interval 0, ACK interval = now.
    let mut bench = Bench::started(sender_config(), Fake::sampled());
    for k in 1..=10u64 {
        let now = (90 + 10 * k) * MS;
        bench.ack(now, k as u32);
        let sample = last_sample(&bench);
        assert_eq!((sample.delivered, sample.prior_delivered), (k, 0));
        assert_eq!((sample.interval, sample.rtt), (Nanos(now), Nanos(now)));
        assert_eq!((sample.tx_in_flight, sample.lost, sample.app_limited), (k as u32, 0, false));
    }
    // Segment 10 went at 100 ms, with 1 delivered at 100 ms and the latest delivered one (0) sent at 0; its
    // ACK comes at 200 ms: 11 - 1 = 10 in max(100 - 0, 200 - 100) = 100 ms: 100 segments a second.
    bench.ack(200 * MS, 11);
    let sample = last_sample(&bench);
    assert_eq!((sample.delivered, sample.interval, sample.tx_in_flight), (10, Nanos(100 * MS), 10));
    assert_eq!(sample.segments_per_second(), 100.0);
}

#[test]
fn the_ack_interval_counts_when_acks_are_spread() {
    // Window 4, all sent at 0; ACKs at 10, 15, 20, 25 ms. The last: 4 delivered; sent in 0 ms, acknowledged
    // over 25.
    let config = SenderConfig { window: window(4.0), ..sender_config() };
    let mut bench = Bench::started(config, Fake::sampled());
    bench.rtt = 10 * MS;
    for k in 1..=4u32 {
        bench.ack(u64::from(5 + 5 * k) * MS, k);
    }
    let sample = last_sample(&bench);
    assert_eq!((sample.delivered, sample.interval), (4, Nanos(25 * MS)));
    // The send interval counts when ACKs are compressed: 4..7 went at 10, 15, 20, 25 ms, all four are
    // acknowledged at 40 ms. P = 7, sent at 25 with 4 delivered, the last at 25 ms, sent at 0:
    // 8 - 4 = 4 in max(25 - 0, 40 - 25) = 25 ms, not 15.
    bench.ack(40 * MS, 8);
    let sample = last_sample(&bench);
    assert_eq!((sample.delivered, sample.interval), (4, Nanos(25 * MS)));
}

#[test]
fn a_sack_delivers_and_gives_a_sample() {
    // SACKs of 1 and then 2 at 100 and 110 ms: 1 and 2 delivered over 100 and 110 ms. The ACK of 3 at 120 ms
    // delivers only 0, the third.
    let mut bench = Bench::started(sender_config(), Fake::sampled());
    bench.sack(100 * MS, 0, &[(1, 2)]);
    assert_eq!(last_sample(&bench).delivered, 1);
    bench.sack(110 * MS, 0, &[(1, 3)]);
    assert_eq!((last_sample(&bench).delivered, last_sample(&bench).interval), (2, Nanos(110 * MS)));
    bench.ack(120 * MS, 3);
    assert_eq!((last_sample(&bench).delivered, last_sample(&bench).tx_in_flight), (3, 1));
}

#[test]
fn a_duplicate_that_delivers_nothing_gives_none() {
    let mut bench = Bench::started(sender_config(), Fake::sampled());
    bench.sack(100 * MS, 0, &[(1, 2)]);
    bench.sack(101 * MS, 0, &[(1, 2)]);
    assert!(bench.notes().acks.iter().skip(1).all(|ack| ack.rate.is_none()));
}

#[test]
fn of_segments_sent_together_the_highest_is_the_newest() {
    // IsNewestPacket: the later send time, and between equal ones the higher sequence number. One ACK SACKs
    // 8 and 5, both sent at 0, as the ninth and the sixth in flight: P = 8.
    let mut bench = Bench::started(sender_config(), Fake::sampled());
    bench.sack(100 * MS, 0, &[(8, 9), (5, 6)]);
    assert_eq!(last_sample(&bench).tx_in_flight, 9);
}

#[test]
fn samples_are_limited_by_the_application_at_its_end() {
    // Five segments and no more; window 10. After the last of them there is nothing to send: C.app_limited =
    // delivered + in flight = 5. Segment 0 is lost; its copy goes when three are delivered, and that is
    // limited still (5 > 3).
    let config = SenderConfig { segments: 5, ..sender_config() };
    let mut bench = Bench::started(config, Fake::sampled());
    bench.sack(100 * MS, 0, &[(1, 4)]);
    bench.sack(101 * MS, 0, &[(1, 5)]);
    bench.ack(200 * MS, 5);
    assert!(last_sample(&bench).app_limited);
}

#[test]
fn a_lost_packet_is_told_with_its_send_state() {
    // ACKs 1..10 at 100..109 ms let 10..19 go one by one. 10 went at 100 ms with one delivered and, itself
    // included, ten in flight. The SACK of 11, 12, 13 at 200 ms finds it lost, the first of all.
    let mut bench = Bench::started(sender_config(), Fake::sampled());
    (1..=10).for_each(|k| drop(bench.ack((99 + u64::from(k)) * MS, k)));
    bench.sack(200 * MS, 10, &[(11, 14)]);
    let notes = bench.notes();
    assert_eq!(notes.losses.len(), 1);
    let lost = notes.losses[0];
    assert_eq!((lost.now, lost.sent), (Nanos(200 * MS), Nanos(100 * MS)));
    assert_eq!((lost.tx_in_flight, lost.delivered), (10, 1));
    assert_eq!((lost.lost_at_send, lost.lost, lost.app_limited), (0, 1, false));
}

#[test]
fn a_timeout_tells_every_segment_lost() {
    let mut bench = Bench::started(sender_config(), Fake::sampled());
    bench.timer();
    let notes = bench.notes();
    let told: Vec<(u32, u64)> = notes.losses.iter().map(|lost| (lost.tx_in_flight, lost.lost)).collect();
    assert_eq!(told, (1..=10).map(|i| (i, u64::from(i))).collect::<Vec<_>>());
}

#[test]
fn a_lost_retransmission_is_told_like_any_loss() {
    // CongestionControl::on_packet_lost: a segment was declared lost; the copy of 0, sent at 104 ms, is one
    // when 12, 13, 14, sent after it, have arrived. Lost twice, told twice.
    let needs = Needs { rate_samples: true, lost_packets: true, owns_recovery: true, ..Needs::default() };
    let mut bench = Bench::started(sender_config(), Fake { needs, ..Fake::at_once(5.0) });
    (2..=12).for_each(|to| drop(bench.sack((100 + u64::from(to)) * MS, 0, &[(1, to)])));
    (13..=15).for_each(|to| drop(bench.sack((200 + u64::from(to)) * MS, 0, &[(1, to)])));
    assert_eq!(bench.sender.counts.retransmissions, 2);
    let notes = bench.notes();
    let sent: Vec<Nanos> = notes.losses.iter().map(|lost| lost.sent).collect();
    assert_eq!(sent, [Nanos(0), Nanos(104 * MS)]);
    // The ACKs that found them say so.
    assert_eq!(notes.acks.iter().map(|ack| ack.lost).sum::<u32>(), 2);
    assert_eq!(notes.acks.last().unwrap().lost, 1);
}

#[test]
fn a_second_timeout_tells_the_lost_copy() {
    // The first timeout, at 1 s, loses all ten; segment 0 goes again and is lost at the second, at 3 s.
    let mut bench = Bench::started(sender_config(), Fake::sampled());
    bench.timer();
    bench.timer();
    let notes = bench.notes();
    assert_eq!(notes.losses.len(), 11);
    assert_eq!(notes.losses[10].sent, Nanos(1000 * MS));
}

#[test]
fn a_sample_counts_the_losses_since_its_segment_was_sent() {
    // 0 and 1 are found lost at 100 ms by the SACK of 2..5; P = 4, sent at 0: both since.
    let mut bench = Bench::started(sender_config(), Fake::sampled());
    bench.sack(100 * MS, 0, &[(2, 5)]);
    assert_eq!(last_sample(&bench).lost, 2);
    // The copy of 0, sent at 100 ms after both: none since.
    bench.sack(200 * MS, 1, &[(2, 5)]);
    assert_eq!(last_sample(&bench).lost, 0);
}

#[test]
fn a_sample_counts_the_marks_since_its_segment_was_sent() {
    // ACKs 1, 2 (marked), 3 at 100 ms; 10 went before the mark, 12 after it.
    let config = SenderConfig { ecn: EcnMode::Exact, ..sender_config() };
    let mut bench = Bench::started(config, Fake { ssthresh: Some(10.0), ..Fake::sampled() });
    bench.ack(100 * MS, 1);
    bench.flagged(101 * MS, 2, &[], ECE);
    assert_eq!(last_sample(&bench).marked, 1);
    (3..=10).for_each(|k| drop(bench.ack((100 + u64::from(k)) * MS, k)));
    assert_eq!(last_sample(&bench).marked, 1);
    bench.ack(200 * MS, 11);
    assert_eq!((last_sample(&bench).marked, last_sample(&bench).rtt), (1, Nanos(100 * MS)));
    bench.ack(203 * MS, 13);
    assert_eq!(last_sample(&bench).marked, 0);
}

#[test]
fn an_interval_shorter_than_the_least_round_trip_is_no_sample() {
    // GenerateRateSample: an interval under the least round trip is not reliable, for it comes from a copy
    // sent needlessly. 0..9 go at 0; the ACK of 0 at 100 ms makes the least round trip 100 ms. The ACKs of
    // 1..10 are late: the timer at 400 ms sends 1 again, and one ms later the late ACK of 1..9 comes: nine
    // segments in 1 ms would be 9,000 a second, on a path that gave 10 in 100 ms.
    let config = SenderConfig { receive_window: 10, ..sender_config() };
    let mut bench = Bench::started(config, Fake::sampled());
    bench.ack(100 * MS, 1);
    assert_eq!(bench.timer(), [1]);
    bench.rtt = 401 * MS;
    bench.ack(401 * MS, 10);
    let notes = bench.notes();
    let fastest = notes.acks.iter().filter_map(|ack| ack.rate).map(|rate| rate.segments_per_second());
    assert!(fastest.fold(0.0, f64::max) <= 100.0, "{:?}", notes.acks.last().unwrap().rate);
}
