//! The retransmission timer: RFC 6298.

use crate::bench::{Bench, MS, sender_config};
use crate::fake::Fake;
use cwnd_tcp::packet::{BARE, Packet};
use cwnd_tcp::{NEVER, SenderConfig};

fn without_timestamps() -> SenderConfig {
    SenderConfig { timestamps: false, ..sender_config() }
}

#[test]
fn the_first_timeout_comes_before_any_sample() {
    // Section 2.1 and 5.1: with nothing measured the timer set at the first packet runs the initial RTO.
    let bench = Bench::started(sender_config(), Fake::fixed());
    assert_eq!(bench.sender.deadline(), 1000 * MS);
    assert_eq!(bench.sender.srtt(), None);
}

#[test]
fn srtt_and_variation_follow_section_2() {
    // Samples 100, 180, 100 ms, in ms:
    //   2.2  SRTT = 100, RTTVAR = 50                               RTO = 100 + 4*50   = 300
    //   2.3  RTTVAR = 3/4*50 + 1/4*|100 - 180| = 57.5
    //        SRTT   = 7/8*100 + 1/8*180        = 110               RTO = 110 + 4*57.5 = 340
    //   2.3  RTTVAR = 3/4*57.5 + 1/4*|110 - 100| = 45.625
    //        SRTT   = 7/8*110 + 1/8*100          = 108.75          RTO = 108.75 + 182.5 = 291.25
    // Each ACK of new data restarts the timer (5.3), so the deadline is its time and the RTO.
    // The floor is out of the way, at 1 ms.
    let config = SenderConfig { rto: (1000 * MS, MS, 120_000 * MS), ..sender_config() };
    let mut bench = Bench::started(config, Fake::fixed());
    let samples = [(100, 300_000, 100_000), (180, 340_000, 110_000), (100, 291_250, 108_750)];
    for (i, (sample, rto_us, srtt_us)) in samples.into_iter().enumerate() {
        let now = (200 + 10 * i as u64) * MS;
        bench.rtt = sample * MS;
        bench.ack(now, i as u32 + 1);
        assert_eq!(bench.sender.srtt(), Some(srtt_us * 1000));
        assert_eq!(bench.sender.deadline(), now + rto_us * 1000);
    }
    assert_eq!(bench.sender.rtt(), (3, 380 * MS, Some((100 * MS, 180 * MS))));
}

#[test]
fn the_floor_lies_under_the_variation() {
    // Equal samples of 12 ms: RTTVAR falls by a quarter each time (6, 4.5, ...), and 4*RTTVAR is under 200
    // ms from the first on. As Linux has it the floor stands for 4*RTTVAR: RTO = 12 + 200 ms.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    bench.rtt = 12 * MS;
    for i in 1..20 {
        let now = u64::from(i) * 20 * MS;
        bench.ack(now, i);
        assert_eq!(bench.sender.deadline(), now + 212 * MS);
    }
}

#[test]
fn new_acks_restart_the_timer_and_duplicates_do_not() {
    // 5.2: off when everything is acknowledged. 5.3: restarted by an ACK of new data. A duplicate
    // acknowledges nothing new.
    let config = SenderConfig { segments: 3, ..sender_config() };
    let mut bench = Bench::started(config, Fake::fixed());
    bench.ack(100 * MS, 1);
    assert_eq!(bench.sender.deadline(), 400 * MS);
    bench.sack(150 * MS, 1, &[(2, 3)]);
    assert_eq!(bench.sender.deadline(), 400 * MS);
    bench.ack(160 * MS, 3);
    assert_eq!(bench.sender.deadline(), NEVER);
}

#[test]
fn retransmissions_that_repair_do_not_restart_the_timer() {
    // 5.1: sending starts the timer only if it is not running. Fast retransmit at 110 ms leaves the
    // deadline that the ACK at 100 ms set, 100 + 300.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    bench.ack(100 * MS, 1);
    bench.sack(101 * MS, 1, &[(2, 3)]);
    bench.sack(102 * MS, 1, &[(2, 4)]);
    assert_eq!(bench.sack(110 * MS, 1, &[(2, 5)]), [1]);
    assert_eq!(bench.sender.deadline(), 400 * MS);
}

#[test]
fn each_timeout_doubles_and_new_data_ends_that() {
    // 5.5: RTO doubles at each timeout; 5.6: the timer starts again. From 1 s: at 1, 3, 7 and 15 s. 2.5: at
    // most the maximum, here 10 s: 15 + 10 = 25 s. An ACK of new data gives a sample of 100 ms by its
    // timestamp and with it RTO = 100 + 4*50 = 300 ms again.
    let config = SenderConfig { rto: (1000 * MS, 200 * MS, 10_000 * MS), ..sender_config() };
    let mut bench = Bench::started(config, Fake::fixed());
    for at in [1, 3, 7, 15, 25] {
        assert_eq!(bench.sender.deadline(), at * 1000 * MS);
        assert_eq!(bench.timer(), [0]);
    }
    assert_eq!(bench.sender.deadline(), 35_000 * MS);
    bench.ack(25_100 * MS, 1);
    assert_eq!(bench.sender.deadline(), 25_400 * MS);
}

#[test]
fn karn_without_timestamps_takes_a_sample_only_of_what_was_sent_once() {
    // Section 3: no sample from a retransmitted segment. The window of 10 is sent at 0; the ACK of segment
    // 0 at 80 ms is a sample. Segment 1 is retransmitted at the timeout, 80 + 80 + 4*40 -> floor 200: 80 +
    // 280 = 360 ms; its ACK at 400 ms is none.
    let mut bench = Bench::started(without_timestamps(), Fake::fixed());
    bench.ack(80 * MS, 1);
    assert_eq!(bench.sender.rtt(), (1, 80 * MS, Some((80 * MS, 80 * MS))));
    assert_eq!(bench.sender.deadline(), 360 * MS);
    assert_eq!(bench.timer(), [1]);
    bench.ack(400 * MS, 2);
    assert_eq!(bench.sender.rtt().0, 1);
    assert_eq!(bench.notes().acks.last().unwrap().rtt, None);
}

#[test]
fn karn_ignores_an_ack_that_covers_a_retransmission() {
    // Section 3, without SACK. Segments 0..10 are sent at 0, segment 0 is lost; 1..9 arrive at 50 ms and
    // wait behind the hole. The third duplicate at 100 ms retransmits 0, and one ACK at 200 ms covers it and
    // all of 1..9. That ACK was caused by a retransmission: it measures nothing. (Segments 1..9 were sent
    // once, but 200 ms is how long the repair took, not a round trip.)
    let config = SenderConfig { sack: false, limited_transmit: false, ..without_timestamps() };
    let mut bench = Bench::started(config, Fake::fixed());
    for _ in 0..3 {
        bench.ack(100 * MS, 0);
    }
    bench.ack(200 * MS, 10);
    assert_eq!(bench.sender.rtt().0, 0, "a sample was taken");
}

#[test]
fn karn_keeps_the_doubled_timeout_until_there_is_a_sample() {
    // The end of section 5 with section 3: what doubling did is undone by the next measurement, and without
    // timestamps there is none until data sent after the timeout is acknowledged. RTO = 1 s; timeout at 1 s
    // doubles it; the ACK of the retransmitted segment 0 at 1.1 s restarts the timer (5.3) with 2 s.
    let mut bench = Bench::started(without_timestamps(), Fake::fixed());
    assert_eq!(bench.timer(), [0]);
    bench.ack(1100 * MS, 1);
    assert_eq!(bench.sender.rtt().0, 0);
    assert_eq!(bench.sender.deadline(), 3100 * MS);
}

#[test]
fn a_timestamp_measures_a_retransmission() {
    // RFC 7323 section 4.1: with timestamps the echo tells which copy was answered. Segment 0 is sent at 0
    // and at 1000 ms; an ACK at 1070 ms that echoes 1000 is a sample of 70 ms.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    assert_eq!(bench.timer(), [0]);
    bench.hand(1070 * MS, Packet { sent: 1000 * MS, seq: 1, flags: BARE, ..Packet::default() }, &[]);
    assert_eq!(bench.sender.rtt(), (1, 70 * MS, Some((70 * MS, 70 * MS))));
}

#[test]
fn only_an_ack_of_new_data_is_a_sample() {
    // RFC 7323 section 4.1: a timestamp echo is a measurement only if the ACK acknowledges new data. A
    // duplicate with a SACK block does not.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    bench.sack(100 * MS, 0, &[(1, 2)]);
    assert_eq!(bench.sender.rtt().0, 0);
    bench.sack(101 * MS, 1, &[]);
    assert_eq!(bench.sender.rtt().0, 1);
}
