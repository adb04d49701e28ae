use super::*;
use crate::testing::{ack_rtt, assert_near, assert_observed, congestion, window};

/// A segment of these windows, bytes.
fn mss() -> f64 {
    f64::from(window(10.0, Arithmetic::Real).mss())
}

/// One with R of `segments` on a path of 50 ms, far from its last reduction, with as much in flight.
fn scream(segments: f64) -> Scream {
    let mut scream = Scream::new(ScreamParameters::default());
    scream.base.add(Nanos::ZERO, BASE_SPAN, Nanos::from_millis(50));
    scream.reference = segments * mss();
    scream.in_flight = [scream.reference; 2];
    scream
}

/// An ACK of one segment at 1,000 ms.
fn at(rtt_ms: u64) -> Ack {
    Ack { prior_in_flight: 20, ..ack_rtt(1000, rtt_ms) }
}

fn frame(interval_ms: u64, waited_ms: u64) -> Frame {
    Frame {
        now: Nanos::from_millis(1000),
        interval: Nanos::from_millis(interval_ms),
        most: 1e6,
        waited: Nanos::from_millis(waited_ms),
        srtt: Nanos::from_millis(50),
    }
}

#[test]
fn it_grows_by_a_segment_a_round_trip_and_by_a_share_long_after_congestion() {
    // R = 20: an ACK adds 1/20 of a segment, times 1 + 0.02 * 20 = 1.4 without congestion so far.
    let (mut scream, mut window) = (scream(20.0), window(10.0, Arithmetic::Real));
    scream.on_ack(&mut window, &at(50));
    assert_near(scream.reference / mss(), 20.0 + 0.05 * 1.4, 1e-9);
    assert_near(window.cwnd, 3.0 * scream.reference / mss(), 1e-9);
    // Half of the hundred round trips (of 50 ms) after congestion: 1 + 0.4/2.
    let mut scream = Scream { congested: Some(Nanos::ZERO), ..self::scream(20.0) };
    scream.on_ack(&mut window, &Ack { now: Nanos::from_millis(2500), ..at(50) });
    assert_near(scream.reference / mss(), 20.0 + 0.05 * 1.2, 1e-9);
}

#[test]
fn it_grows_slowly_on_short_paths_and_near_the_last_maximum() {
    // 10 ms are 0.4 of 25 ms. At the window of the last reduction: 0.25 of the increment, and 0.1 of 0.4.
    let mut window = window(10.0, Arithmetic::Real);
    let mut short = scream(20.0);
    short.on_ack(&mut window, &at(10));
    assert_near(short.reference / mss(), 20.0 + 0.05 * 0.4 * 1.4, 1e-9);
    let mut near = Scream { inflection: 20.0 * mss(), ..scream(20.0) };
    near.on_ack(&mut window, &at(50));
    assert_near(near.reference / mss(), 20.0 + 0.05 * 0.25 * 1.04, 1e-9);
}

#[test]
fn it_does_not_grow_beyond_what_is_in_flight_or_what_the_encoder_uses() {
    let mut window = window(10.0, Arithmetic::Real);
    let mut idle = Scream { in_flight: [0.0; 2], ..scream(20.0) };
    idle.on_ack(&mut window, &Ack { prior_in_flight: 10, ..at(50) });
    assert_near(idle.reference / mss(), 20.0, 0.0);
    let mut full = scream(20.0);
    full.on_frame(&window, &Frame { most: 1000.0, ..frame(40, 0) });
    full.on_ack(&mut window, &at(50));
    assert_near(full.reference / mss(), 20.0, 0.0);
}

#[test]
fn a_loss_takes_three_tenths_once_a_round_trip() {
    let (mut scream, mut window) = (scream(20.0), window(60.0, Arithmetic::Real));
    let mut lost = congestion(&window, CongestionKind::Loss, 1000);
    lost.srtt = Nanos::from_millis(50);
    scream.on_congestion(&mut window, &lost);
    assert_near(scream.reference / mss(), 14.0, 1e-9);
    assert_near(window.recovery_cwnd.unwrap(), 42.0, 1e-9);
    // The ACK of the same time reports the same loss; one 10 ms later is too early, and is answered at 25 ms.
    let ack = |ms: u64, lost: u32| Ack { now: Nanos::from_millis(ms), lost, acked: 0, ..at(50) };
    for (ms, count, left) in
        [(1000, 1, 14.0), (1010, 1, 14.0), (1024, 0, 14.0), (1025, 0, 9.8), (1060, 0, 9.8)]
    {
        scream.on_ack(&mut window, &ack(ms, count));
        assert_near(scream.reference / mss(), left, 1e-9);
    }
}

#[test]
fn a_queue_beyond_half_of_the_target_takes_a_part() {
    // 45 ms of 60: b = 0.5, on a path of 95 ms b/2 is divided by 3.8.
    let mut scream = Scream { queueing: 0.045, ..scream(20.0) };
    scream.reduce(Nanos::from_millis(1000), Nanos::from_millis(95));
    assert_near(scream.reference / mss(), 20.0 * (1.0 - 0.25 / 3.8), 1e-9);
    // The average rises by a quarter of the way and falls at once.
    let mut window = window(10.0, Arithmetic::Real);
    let mut scream = Scream { queueing: 0.010, ..self::scream(20.0) };
    scream.on_ack(&mut window, &at(70));
    assert_near(scream.queueing, 0.0125, 1e-12);
    scream.on_ack(&mut window, &Ack { now: Nanos::from_millis(1030), ..at(55) });
    assert_near(scream.queueing, 0.005, 1e-12);
}

#[test]
fn marks_take_half_of_their_share() {
    // L4S: all of 10 ms marked: a = 1/8; R falls by 1/16, divided by 2 for 50 ms.
    let (mut scream, mut window) = (scream(20.0), window(10.0, Arithmetic::Real));
    scream.is_l4s = true;
    scream.reduced = Nanos::from_millis(900);
    scream.on_ack(&mut window, &Ack { marked: 1, ..at(50) });
    assert_near(scream.alpha, 0.125, 1e-12);
    assert_near(scream.reference / mss(), 20.0 * (1.0 - 1.0 / 32.0), 1e-9);
    // Then none of them: a falls by 1/128.
    scream.on_ack(&mut window, &Ack { now: Nanos::from_millis(1010), ..at(50) });
    assert_near(scream.alpha, 0.125 * 127.0 / 128.0, 1e-12);
    // Classic: a fifth.
    let mut classic = self::scream(20.0);
    let mut marked = congestion(&window, CongestionKind::Ecn, 1000);
    marked.srtt = Nanos::from_millis(50);
    classic.on_congestion(&mut window, &marked);
    assert_near(classic.reference / mss(), 16.0, 1e-9);
}

#[test]
fn a_timeout_begins_again() {
    let (mut scream, mut window) = (scream(20.0), window(60.0, Arithmetic::Real));
    let mut timeout = congestion(&window, CongestionKind::Timeout, 1000);
    timeout.srtt = Nanos::from_millis(50);
    scream.on_congestion(&mut window, &timeout);
    assert_eq!((scream.reference, scream.inflection), (3000.0, 20.0 * mss()));
    assert_near(window.restart_cwnd, 1.0, 0.0);
}

#[test]
fn the_encoder_gets_a_part_of_the_window_a_round_trip() {
    // R/s/1.2, less 20 bytes a packet; a frame that has waited for 30 of 40 ms adds 0.5/16 to 1.2.
    let (mut scream, window) = (scream(20.0), window(10.0, Arithmetic::Real));
    let of_headers = mss() / (mss() + 20.0);
    let rate = scream.on_frame(&window, &frame(40, 10));
    assert_near(rate, 20.0 * mss() / 0.05 * of_headers / 1.2, 1e-6);
    let rate = scream.on_frame(&window, &frame(40, 30));
    assert_near(rate, 20.0 * mss() / 0.05 * of_headers / (1.2 + 0.5 / 16.0), 1e-6);
    // Pacing is half as fast again, and four times that at the encoder's greatest rate.
    assert_near(scream.rate.pacing(scream.reference, window.mss(), Nanos::from_millis(50)), 1.5 * rate, 1e-6);
    let most = Frame { most: 1000.0, ..frame(40, 30) };
    assert_near(scream.on_frame(&window, &most), 1000.0, 0.0);
    let pacing = scream.rate.pacing(scream.reference, window.mss(), Nanos::from_millis(50));
    assert_near(pacing, 1.5 * 6250.0 * 4.0, 1e-6);
}

#[test]
fn the_target_rises_where_the_queue_is_kept_full() {
    // A steady 180 ms, three times the least target, is the target, between 60 and 400 ms; losses make it half as long again.
    let mut steady = Competition::new(0.06, 0.4);
    for ms in (50..=10_000).step_by(50) {
        steady.add(Nanos::from_millis(ms), 0.18);
    }
    assert_near(steady.target(), 0.18, 1e-9);
    steady.end_round(true);
    steady.add(Nanos::from_millis(10_020), 0.4);
    assert_near(steady.target(), 0.18, 1e-9);
    steady.add(Nanos::from_millis(10_050), 0.18);
    assert_near(steady.target(), 0.27, 1e-9);
    let mut empty = Competition::new(0.06, 0.4);
    empty.add(Nanos::from_millis(50), 0.001);
    assert_near(empty.target(), 0.06, 0.0);
}

#[test]
fn observables() {
    let scream = Scream { queueing: 0.02, alpha: 0.25, ..scream(20.0) };
    let expected = [("reference_window", 20.0), ("queueing", 0.02), ("target", 0.06), ("alpha", 0.25)];
    assert_observed(&scream, &window(10.0, Arithmetic::Real), &expected);
}
