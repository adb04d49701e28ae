use super::*;
use crate::testing::{
    ack_rtt, acks_for_a_segment, assert_near, congestion, lose, time_out, window, window_with,
};

/// A flow on a path of `base_ms` that has left slow start, with no slowdown in sight.
fn flow(base_ms: u64) -> LedbatPp {
    let mut ledbat = LedbatPp::new(LedbatPpParameters::default());
    ledbat.measure(Nanos::ZERO, Nanos::from_millis(base_ms));
    ledbat.plan = Plan::SlowAt(Nanos::MAX);
    ledbat
}

/// The step of one ACK at a round-trip time, of which the filter is full.
fn step(ledbat: &mut LedbatPp, cwnd: f64, rtt_ms: u64) -> f64 {
    let mut window = window(cwnd, Arithmetic::Real);
    ledbat.current = [Nanos::from_millis(rtt_ms); CURRENT];
    ledbat.on_ack(&mut window, &ack_rtt(1000, rtt_ms));
    window.cwnd - cwnd
}

#[test]
fn the_gain_follows_the_base_delay() {
    // 2 * 60/base: 1.2 at 100 ms, so 1/2; 2.4 at 50: 1/3; 12 at 10: 1/12; 120 at 1 ms: 1/16; 0.6 at 200: 1.
    for (base, divisor) in [(100, 2.0), (50, 3.0), (10, 12.0), (1, 16.0), (200, 1.0), (120, 1.0)] {
        assert_near(flow(base).gain, 1.0 / divisor, 1e-12);
    }
}

#[test]
fn it_grows_by_the_gain_a_round_trip() {
    // GAIN/W an ACK, up to a queue of 60 ms: at 100 ms 0.5/W.
    for (cwnd, rtt) in [(10.0, 100), (100.0, 120), (1000.0, 160)] {
        assert_near(step(&mut flow(100), cwnd, rtt), 0.5 / cwnd, 1e-9);
    }
}

#[test]
fn it_gives_way_in_proportion_to_the_queue_beyond_the_target() {
    // 75 ms queued are 1.25 targets: 0.5 - 100 * 0.25 = -24.5 a round trip, -0.245 an ACK of 100. At 120 ms it
    // would be -99.5, and half the window is the most: -50 a round trip.
    assert_near(step(&mut flow(100), 100.0, 175), -0.245, 1e-9);
    assert_near(step(&mut flow(100), 100.0, 220), -0.5, 1e-9);
    assert_eq!(step(&mut flow(100), 2.0, 220), 0.0);
}

#[test]
fn one_low_sample_of_four_is_enough() {
    let mut ledbat = flow(100);
    for rtt in [220, 110, 220, 220, 220] {
        ledbat.measure(Nanos::ZERO, Nanos::from_millis(rtt));
    }
    assert_near(ledbat.queueing(), 10.0 / 60.0, 1e-9);
    ledbat.measure(Nanos::ZERO, Nanos::from_millis(220));
    assert_near(ledbat.queueing(), 2.0, 1e-9);
}

#[test]
fn slow_start_grows_by_the_gain_a_segment_and_ends_at_three_quarters() {
    // At 145 ms the queue is 45 of 60 ms, at 146 ms it is more.
    let mut ledbat = LedbatPp { plan: Plan::Start, ..flow(100) };
    let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    ledbat.current = [Nanos::from_millis(145); CURRENT];
    ledbat.on_ack(&mut window, &Ack { acked: 4, ..ack_rtt(1000, 145) });
    assert_eq!((window.cwnd, ledbat.plan), (12.0, Plan::Start));
    ledbat.current = [Nanos::from_millis(146); CURRENT];
    ledbat.on_ack(&mut window, &ack_rtt(1000, 146));
    assert_eq!((window.cwnd, window.ssthresh), (12.0, 12.0));
    // Two round trips later, at 1,292 ms, it slows down.
    assert_eq!(ledbat.plan, Plan::SlowAt(Nanos::from_millis(1292)));
}

#[test]
fn a_slowdown_holds_two_segments_for_two_round_trips_and_goes_back() {
    let mut ledbat = LedbatPp { plan: Plan::SlowAt(Nanos::from_millis(1000)), ..flow(100) };
    let mut window = window(12.0, Arithmetic::Real);
    for (ms, cwnd) in [(1000, 2.0), (1100, 2.0), (1199, 2.0), (1200, 2.5), (1300, 3.0)] {
        ledbat.on_ack(&mut window, &ack_rtt(ms, 100));
        assert_eq!((window.cwnd, window.ssthresh), (cwnd, 12.0), "{ms}");
    }
    // 18 more segments are worth 9: 12. That it is over is seen at the ACK of 1,500 ms: it took 500 ms, the next
    // begins 4,500 ms later.
    ledbat.on_ack(&mut window, &Ack { acked: 18, ..ack_rtt(1400, 100) });
    assert_eq!(window.cwnd, 12.0);
    ledbat.on_ack(&mut window, &ack_rtt(1500, 100));
    assert_eq!(ledbat.plan, Plan::SlowAt(Nanos::from_millis(6000)));
}

#[test]
fn slowdowns_can_be_left_out() {
    let mut ledbat = LedbatPp { plan: Plan::SlowAt(Nanos::ZERO), ..flow(100) };
    ledbat.parameters.slowdowns = false;
    assert_near(step(&mut ledbat, 100.0, 100), 0.005, 1e-12);
}

#[test]
fn losses_halve_and_end_a_slowdown() {
    let mut ledbat = LedbatPp { plan: Plan::Refill(Nanos::from_millis(1000)), ..flow(100) };
    let mut window = window(100.0, Arithmetic::Real);
    lose(&mut ledbat, &mut window, 1400);
    assert_eq!(window.cwnd, 50.0);
    // 400 ms so far: the next in 3,600.
    assert_eq!(ledbat.plan, Plan::SlowAt(Nanos::from_millis(5000)));
    time_out(&mut ledbat, &mut window, 1500);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 25.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 1600) };
    ledbat.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 25.0);
}

#[test]
fn whole_windows() {
    // 0.5 of 100 an ACK makes a segment after 200. Falling by 0.245, the fifth ACK takes one.
    let mut ledbat = flow(100);
    let mut growing = window(100.0, Arithmetic::Linux);
    assert_eq!(acks_for_a_segment(&mut ledbat, &mut growing, &ack_rtt(1000, 100)), 200);
    let mut falling = window(100.0, Arithmetic::Linux);
    ledbat.current = [Nanos::from_millis(175); CURRENT];
    for i in 1..=5 {
        ledbat.on_ack(&mut falling, &ack_rtt(1000, 175));
        assert_eq!(falling.cwnd, if i < 5 { 100.0 } else { 99.0 });
    }
}
