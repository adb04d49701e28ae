//! When in-order data is acknowledged (RFC 5681 section 4.2), and with which timestamp (RFC 7323 section
//! 4.3). The timer runs 40 ms.

use crate::bench::{Far, MS, only, receiver_config};
use cwnd_tcp::{NEVER, ReceiverConfig};

fn delayed() -> Far {
    Far::new(ReceiverConfig { delayed_ack: Some(40 * MS), ..receiver_config() })
}

#[test]
fn without_delay_every_packet_is_acknowledged_at_once() {
    let mut far = Far::new(receiver_config());
    for i in 0..5 {
        let now = MS + u64::from(i);
        let ack = only(far.data(now, i));
        assert_eq!((ack.at, ack.next, ack.echo), (now, i + 1, now - 10));
    }
    assert!(far.receiver.acknowledges_at_once());
    assert_eq!(far.receiver.deadline, NEVER);
}

#[test]
fn every_second_packet_is_acknowledged() {
    // 4.2: an ACK for at least every second full-sized segment.
    let mut far = delayed();
    assert_eq!(far.data(MS, 0), []);
    assert_eq!(only(far.data(2 * MS, 1)).next, 2);
    assert_eq!(far.receiver.deadline, NEVER);
    assert_eq!(far.data(3 * MS, 2), []);
    assert_eq!(only(far.data(4 * MS, 3)).next, 4);
}

#[test]
fn the_first_of_two_waits_no_longer_than_the_timer() {
    let mut far = delayed();
    assert_eq!(far.data(MS, 0), []);
    assert_eq!(far.receiver.deadline, 41 * MS);
    let ack = only(far.timer());
    assert_eq!((ack.at, ack.next), (41 * MS, 1));
    assert_eq!(far.receiver.deadline, NEVER);
    // The next packet is a first one again.
    assert_eq!(far.data(50 * MS, 1), []);
    assert_eq!(far.receiver.deadline, 90 * MS);
}

#[test]
fn out_of_order_packets_are_acknowledged_at_once() {
    // 4.2: an immediate duplicate ACK when an out-of-order segment arrives. It covers 0 as well, whose timer
    // is no longer needed.
    let mut far = delayed();
    assert_eq!(far.data(MS, 0), []);
    let ack = only(far.data(2 * MS, 2));
    assert_eq!((ack.next, ack.blocks), (1, vec![(2, 3)]));
    assert_eq!(far.receiver.deadline, NEVER);
}

#[test]
fn filling_a_hole_is_acknowledged_at_once() {
    // 4.2: an immediate ACK when a segment fills in all or part of a gap. 0 arrives, 1, 2 and 4 are missing,
    // 3 and 5 held: 1 fills part of a gap, 2 all of it, 4 the other.
    let mut far = delayed();
    far.data(MS, 0);
    far.data(2 * MS, 3);
    far.data(3 * MS, 5);
    assert_eq!(only(far.data(4 * MS, 1)).next, 2);
    assert_eq!(only(far.data(5 * MS, 2)).next, 4);
    assert_eq!(only(far.data(6 * MS, 4)).next, 6);
    // Nothing is missing any more: the next one waits.
    assert_eq!(far.data(7 * MS, 6), []);
}

#[test]
fn a_copy_is_acknowledged_at_once() {
    // RFC 9293 section 3.10.7.4: what is not acceptable is answered.
    let mut far = delayed();
    far.data(MS, 0);
    far.data(2 * MS, 1);
    assert_eq!(only(far.data(3 * MS, 0)).next, 2);
}

#[test]
fn the_timestamp_of_the_first_unacknowledged_is_echoed() {
    // RFC 7323 section 4.3, rule 2 and case A: the earliest segment that no ACK has covered; its time stamp
    // is 10 ns before its arrival at the bench.
    let mut far = delayed();
    far.data(MS, 0);
    assert_eq!(only(far.data(2 * MS, 1)).echo, MS - 10);
    far.data(3 * MS, 2);
    assert_eq!(only(far.timer()).echo, 3 * MS - 10);
}

#[test]
fn a_segment_beyond_a_hole_does_not_change_the_echo() {
    // Case B: out-of-order segments leave TS.Recent alone; the echo is that of the last segment that moved
    // the left edge. Case C: a segment that fills the hole is echoed.
    let mut far = Far::new(receiver_config());
    far.data(MS, 0);
    assert_eq!(only(far.data(2 * MS, 2)).echo, MS - 10);
    assert_eq!(only(far.data(3 * MS, 3)).echo, MS - 10);
    assert_eq!(only(far.data(9 * MS, 1)).echo, 9 * MS - 10);
    // The same with delayed ACKs: the ACK that 2 forces covers 0, so 1 is the first not covered.
    let mut far = delayed();
    far.data(MS, 0);
    assert_eq!(only(far.data(2 * MS, 2)).echo, MS - 10);
    assert_eq!(only(far.data(9 * MS, 1)).echo, 9 * MS - 10);
}

#[test]
fn a_newer_copy_of_old_data_is_echoed() {
    // Section 4.3 rule 2: TS.Recent becomes SEG.TSval when SEG.TSval >= TS.Recent and SEG.SEQ <=
    // Last.ACK.sent. A retransmission of data that had arrived (its ACKs were lost) has an old SEG.SEQ and a
    // new TSval, so the ACK echoes the new one: else the sender would measure the time that the timeout took.
    let mut far = Far::new(receiver_config());
    far.data(MS, 0);
    far.data(2 * MS, 1);
    let ack = only(far.data(300 * MS, 0));
    assert_eq!((ack.next, ack.echo), (2, 300 * MS - 10));
}

#[test]
fn a_newer_copy_of_the_segment_that_waits_is_echoed() {
    // The same rule where SEG.SEQ = Last.ACK.sent: 0 waits for its ACK, so Last.ACK.sent is 0, and the copy's
    // timestamp is newer.
    let mut far = delayed();
    far.data(MS, 0);
    let ack = only(far.data(9 * MS, 0));
    assert_eq!((ack.next, ack.echo), (1, 9 * MS - 10));
}

#[test]
fn a_newer_copy_of_what_is_beyond_the_last_ack_is_not() {
    // 0, 3 and 1 arrive; 2 is missing. A copy of 3 has SEG.SEQ > Last.ACK.sent = 2: the echo stays that of 1.
    let mut far = Far::new(receiver_config());
    far.data(MS, 0);
    far.data(2 * MS, 3);
    far.data(3 * MS, 1);
    assert_eq!(only(far.data(9 * MS, 3)).echo, 3 * MS - 10);
}
