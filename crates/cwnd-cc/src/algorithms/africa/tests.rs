use super::*;
use crate::testing::{ack, assert_near, congestion, lose, time_out, window, window_with};
use crate::{Arithmetic, Nanos};

fn africa() -> Africa {
    Africa::new(AfricaParameters::default())
}

/// An ACK with a smoothed RTT, in microseconds, on a path of 100 ms.
fn at(srtt_us: u64) -> Ack {
    Ack { srtt: Nanos::from_micros(srtt_us), min_rtt: Nanos::from_millis(100), ..ack(0) }
}

/// Growth, segments per round trip.
fn growth(cwnd: f64, srtt_us: u64) -> f64 {
    let mut window = window(cwnd, Arithmetic::Real);
    africa().on_ack(&mut window, &at(srtt_us));
    (window.cwnd - cwnd) * cwnd
}

#[test]
fn an_empty_path_lets_it_grow_as_highspeed_tcp() {
    // a(38) = 1, a(118) = 2.0058, a(1058) = 8.0108, a(10661) = 30.0053, as worked out at the response function.
    for (cwnd, a) in [(38.0, 1.0), (118.0, 2.0058), (1058.0, 8.0108), (10_661.0, 30.0053)] {
        assert_near(growth(cwnd, 100_000), a, 3e-4);
    }
}

#[test]
fn the_mode_turns_where_1_641_segments_are_queued() {
    // W = 1058: D = W (1 - 100/aRTT) = 1.641 at aRTT = 100/(1 - 1.641/1058) = 100.155 ms. At 100.154: 1.6268,
    // fast; at 100.156: 1.6479, slow. A window of 118 has fewer there: 0.18, and turns at 101.410 ms.
    assert_near(growth(1058.0, 100_154), 8.0108, 3e-4);
    assert_near(growth(1058.0, 100_156), 1.0, 1e-6);
    assert_near(growth(118.0, 100_156), 2.0058, 3e-4);
    assert_near(growth(118.0, 101_409), 2.0058, 3e-4);
    assert_near(growth(118.0, 101_411), 1.0, 1e-6);
}

#[test]
fn a_loss_costs_b_in_fast_mode_and_half_in_slow_mode() {
    // 1058 (1 - 0.32695) = 712.09; 529. The ACK has moved the window by a hundredth of a segment before.
    for (srtt_us, left) in [(100_000, 712.09), (150_000, 529.0)] {
        let mut africa = africa();
        let mut window = window(1058.0, Arithmetic::Real);
        africa.on_ack(&mut window, &at(srtt_us));
        lose(&mut africa, &mut window, 0);
        assert_near(window.cwnd, left, 0.02);
        // The mode of before does not outlive the loss.
        let again = window.cwnd;
        lose(&mut africa, &mut window, 0);
        assert_near(window.cwnd, again / 2.0, 1e-9);
    }
}

#[test]
fn slow_start_and_timeouts_halve() {
    let mut africa = africa();
    let mut window = window_with(400.0, f64::INFINITY, Arithmetic::Real);
    africa.on_ack(&mut window, &at(100_000));
    assert_eq!(window.cwnd, 401.0);
    lose(&mut africa, &mut window, 0);
    assert_eq!(window.cwnd, 200.5);
    africa.on_ack(&mut window, &at(100_000));
    let before = window.cwnd;
    time_out(&mut africa, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, before / 2.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 400) };
    africa.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, before / 2.0);
}

#[test]
fn without_a_sample_it_is_reno() {
    let mut window = window(1058.0, Arithmetic::Real);
    africa().on_ack(&mut window, &Ack { min_rtt: Nanos::MAX, ..ack(0) });
    assert_near((window.cwnd - 1058.0) * 1058.0, 1.0, 1e-6);
}
