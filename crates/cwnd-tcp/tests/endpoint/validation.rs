//! The window grows only while it is used (RFC 7661 section 4.4 asks for it; Linux's rule: in slow start it
//! may be up to twice what was used, in congestion avoidance it must have been full).

use crate::bench::{Bench, MS, sender_config, window};
use crate::fake::Fake;
use cwnd_cc::{Nanos, WindowConfig};
use cwnd_tcp::SenderConfig;

fn config(ssthresh: f64, segments: u64, validate_cwnd: bool) -> SenderConfig {
    let window = WindowConfig { initial_ssthresh: ssthresh, ..window(10.0) };
    SenderConfig { window, segments, validate_cwnd, ..sender_config() }
}

/// The window after each ACK of a transfer that fits into it.
fn windows(config: SenderConfig) -> Vec<f64> {
    let segments = config.segments as u32;
    let mut bench = Bench::started(config, Fake::reno());
    let grown = |k| {
        bench.ack((100 + u64::from(k)) * MS, k);
        bench.windows().0
    };
    (1..=segments).map(grown).collect()
}

#[test]
fn slow_start_goes_to_twice_what_is_used() {
    // Six of ten in flight: 10 < 2*6, 11 < 12, then 12 is not.
    assert_eq!(windows(config(f64::INFINITY, 6, true)), [11.0, 12.0, 12.0, 12.0, 12.0, 12.0]);
    // Five of ten: never.
    assert_eq!(windows(config(f64::INFINITY, 5, true)), [10.0; 5]);
}

#[test]
fn congestion_avoidance_needs_a_full_window() {
    assert_eq!(windows(config(5.0, 9, true)), [10.0; 9]);
}

#[test]
fn a_full_window_grows() {
    // Ten of ten: each ACK adds 1/cwnd.
    let mut expected = Vec::new();
    let mut cwnd: f64 = 10.0;
    for _ in 0..3 {
        cwnd += 1.0 / cwnd;
        expected.push(cwnd);
    }
    let mut bench = Bench::started(config(5.0, u64::MAX, true), Fake::reno());
    for (k, expected) in (1..).zip(expected) {
        bench.ack((100 + u64::from(k)) * MS, k);
        assert_eq!(bench.windows().0, expected);
    }
}

#[test]
fn the_receive_window_keeps_it_from_growing() {
    // Ten would be allowed and the receiver takes four.
    let config = SenderConfig { receive_window: 4, ..config(5.0, u64::MAX, true) };
    let mut bench = Bench::started(config, Fake::reno());
    for k in 1..=40 {
        bench.ack((100 + 10 * u64::from(k)) * MS, k);
    }
    assert_eq!(bench.windows().0, 10.0);
}

#[test]
fn without_validation_it_grows_all_the_same() {
    assert_eq!(windows(config(f64::INFINITY, 5, false)), [11.0, 12.0, 13.0, 14.0, 15.0]);
}

#[test]
fn rounds_begin_when_what_was_sent_by_then_is_acknowledged() {
    // A round is a window of data: it begins with the first ACK of a segment that was sent after the last
    // round began. The first with ACK 1 (when 0..9 are outstanding: next = 10); the second with the ACK that
    // covers segment 10, number 11.
    let mut bench = Bench::started(sender_config(), Fake::fixed());
    for k in 1..=25 {
        bench.ack((100 + u64::from(k)) * MS, k);
    }
    let notes = bench.notes();
    let starts: Vec<(u64, Nanos)> =
        notes.acks.iter().filter(|ack| ack.round_start).map(|ack| (ack.round, ack.now)).collect();
    assert_eq!(starts, [(1, Nanos(101 * MS)), (2, Nanos(111 * MS)), (3, Nanos(121 * MS))]);
}
