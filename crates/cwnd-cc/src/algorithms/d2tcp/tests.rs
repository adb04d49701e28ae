use super::*;
use crate::Arithmetic;
use crate::testing::{ack, assert_near, congestion, lose, time_out, window};

/// A flow with 7,500 segments to send within a second, of whose marks `alpha` is known.
fn flow(alpha: f64) -> D2tcp {
    let mut d2tcp = D2tcp::new(D2tcpParameters { initial_alpha: alpha, ..Default::default() });
    let hints = FlowHints { bytes: Some(7500 * 1448), deadline: Some(Nanos::from_millis(1000)) };
    d2tcp.init(&mut window(10.0, Arithmetic::Real), &Init { hints, ..Init::default() });
    d2tcp
}

fn cut(d2tcp: &mut D2tcp, cwnd: f64, ms: u64) -> f64 {
    let mut window = window(cwnd, Arithmetic::Real);
    let mark = Congestion { srtt: Nanos::from_millis(10), ..congestion(&window, CongestionKind::Ecn, ms) };
    d2tcp.on_congestion(&mut window, &mark);
    window.ssthresh
}

#[test]
fn growth_is_newrenos() {
    for (cwnd, growth) in [(10.0, 0.1), (100.0, 0.01), (1000.0, 0.001)] {
        let mut window = window(cwnd, Arithmetic::Real);
        flow(0.25).on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, growth, 1e-12);
    }
}

#[test]
fn urgency_is_needed_over_remaining_time() {
    // W = 100 sends 75 a round trip of 10 ms: 7,500 take 100 round trips, one second. At time zero that is
    // just what is left: d = 1. At 500 ms half of it: 2. W = 150 needs 66.67 of 100 round trips: 0.667. At
    // W = 400 it is 25 of 100, and 0.5 is the least.
    let d2tcp = flow(0.25);
    let srtt = Nanos::from_millis(10);
    for (cwnd, ms, urgency) in [
        (100.0, 0, 1.0),
        (100.0, 200, 1.25),
        (100.0, 500, 2.0),
        (100.0, 900, 2.0),
        (150.0, 0, 2.0 / 3.0),
        (400.0, 0, 0.5),
        (100.0, 1000, 2.0),
        (100.0, 5000, 2.0),
    ] {
        let window = window(cwnd, Arithmetic::Real);
        assert_near(d2tcp.urgency(&window, Nanos::from_millis(ms), srtt), urgency, 1e-9);
    }
}

#[test]
fn a_length_or_a_deadline_alone_is_no_urgency() {
    let (bytes, deadline) = (Some(7500 * 1448), Some(Nanos::from_millis(1000)));
    for hints in
        [FlowHints { bytes, deadline: None }, FlowHints { bytes: None, deadline }, FlowHints::default()]
    {
        let d2tcp = D2tcp { hints, ..flow(0.25) };
        let window = window(100.0, Arithmetic::Real);
        assert_eq!(d2tcp.urgency(&window, Nanos::from_millis(900), Nanos::from_millis(10)), 1.0);
    }
}

#[test]
fn a_flow_that_has_sent_all_is_not_urgent_before_its_deadline() {
    let mut d2tcp = flow(0.25);
    let mut window = window(100.0, Arithmetic::Real);
    // Retransmissions can make more of it than the flow is long.
    for delivered in [7500, 9000] {
        d2tcp.on_ack(&mut window, &Ack { delivered, cumulative: 0, ..ack(900) });
        assert_eq!(d2tcp.urgency(&window, Nanos::from_millis(900), Nanos::from_millis(10)), 0.5);
    }
}

#[test]
fn urgency_ends_at_its_settings() {
    // Needed over remaining round trips: 25 of 100 at W = 400, 10 of 100 at 1,000, 100 of 20 at 800 ms, 100 of 5.
    let parameters = D2tcpParameters { least_urgency: 0.2, greatest_urgency: 10.0, ..Default::default() };
    let d2tcp = D2tcp { parameters, ..flow(0.25) };
    for (cwnd, ms, urgency) in [(400.0, 0, 0.25), (1000.0, 0, 0.2), (100.0, 800, 5.0), (100.0, 950, 10.0)] {
        let window = window(cwnd, Arithmetic::Real);
        let d = d2tcp.urgency(&window, Nanos::from_millis(ms), Nanos::from_millis(10));
        assert_near(d, urgency, 1e-9);
    }
}

#[test]
fn alpha_follows_the_marks() {
    // Two of the four segments of a window of data: 15/16 0.25 + 1/16 1/2 = 0.265625.
    let mut d2tcp = flow(0.25);
    let mut window = window(100.0, Arithmetic::Real);
    for i in 0..4 {
        let echo = Ack { marked: u32::from(i < 2), round_start: i == 3, cumulative: 0, ..ack(0) };
        d2tcp.on_ack(&mut window, &echo);
    }
    assert_near(d2tcp.marks.alpha, 0.265_625, 1e-12);
}

#[test]
fn what_is_delivered_no_longer_counts() {
    // 3,750 of 7,500 delivered at 500 ms: as urgent as at the beginning.
    let mut d2tcp = flow(0.25);
    let mut window = window(100.0, Arithmetic::Real);
    d2tcp.on_ack(&mut window, &Ack { delivered: 3750, cumulative: 0, ..ack(500) });
    assert_near(d2tcp.urgency(&window, Nanos::from_millis(500), Nanos::from_millis(10)), 1.0, 1e-9);
}

#[test]
fn the_cut_is_half_of_alpha_to_the_d() {
    // alpha 0.25: d = 1 cuts by 0.125: 87.5. d = 2: 0.0625/2: 96.875. d = 0.5, at W = 400: 0.5/2: 300.
    assert_near(cut(&mut flow(0.25), 100.0, 0), 87.5, 1e-9);
    assert_near(cut(&mut flow(0.25), 100.0, 500), 96.875, 1e-9);
    assert_near(cut(&mut flow(0.25), 400.0, 0), 300.0, 1e-9);
}

#[test]
fn alpha_is_dctcps() {
    let mut d2tcp = flow(0.25);
    cut(&mut d2tcp, 100.0, 500);
    assert_eq!(d2tcp.marks.alpha, 0.25);
}

#[test]
fn without_a_deadline_it_is_dctcp() {
    let mut d2tcp = D2tcp::new(D2tcpParameters { initial_alpha: 0.25, ..Default::default() });
    assert_near(cut(&mut d2tcp, 100.0, 500), 87.5, 1e-9);
}

#[test]
fn losses_halve() {
    let mut d2tcp = flow(0.25);
    let mut window = window(100.0, Arithmetic::Real);
    lose(&mut d2tcp, &mut window, 0);
    assert_eq!(window.cwnd, 50.0);
    time_out(&mut d2tcp, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 25.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    d2tcp.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 25.0);
}
