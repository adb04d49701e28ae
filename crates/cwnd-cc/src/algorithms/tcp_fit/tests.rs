use super::*;
use crate::Arithmetic;
use crate::testing::{ack, ack_rtt, acks_for_a_segment, assert_near, congestion, lose, time_out, window};

fn fit() -> TcpFit {
    TcpFit { base_rtt: Nanos::from_millis(100), ..TcpFit::new(TcpFitParameters::default()) }
}

/// `periods` of half a second with one sample of `rtt_ms` each, on a path of 100 ms.
fn run(fit: &mut TcpFit, periods: u64, rtt_ms: u64) {
    let mut aside = window(10.0, Arithmetic::Real);
    let begun = fit.begun.map_or(0, |begun| begun.0 / 1_000_000);
    for n in 0..=periods {
        fit.on_ack(&mut aside, &ack_rtt(begun + 500 * n, rtt_ms));
    }
}

#[test]
fn growth_is_that_of_n_renos() {
    for (cwnd, flows, grown) in [(10.0, 1.0, 0.1), (100.0, 5.0, 0.05), (1000.0, 12.5, 0.0125)] {
        let mut window = window(cwnd, Arithmetic::Real);
        TcpFit { flows, ..fit() }.on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, grown, 1e-12);
    }
    // 10 segments at N = 4: a step takes 2.5 ACKs.
    let mut whole = window(10.0, Arithmetic::Linux);
    assert_eq!(acks_for_a_segment(&mut TcpFit { flows: 4.0, ..fit() }, &mut whole, &ack(0)), 3);
}

#[test]
fn a_loss_costs_one_of_n_renos_its_half() {
    // 1 - 2/(3N + 1): N = 1 a half, N = 3 four fifths, N = 13 19/20.
    for (flows, left) in [(1.0, 50.0), (3.0, 80.0), (13.0, 95.0)] {
        let mut window = window(100.0, Arithmetic::Real);
        lose(&mut TcpFit { flows, ..fit() }, &mut window, 0);
        assert_near(window.cwnd, left, 1e-12);
    }
}

#[test]
fn n_grows_by_one_a_period_without_a_queue() {
    let mut fit = fit();
    run(&mut fit, 3, 100);
    assert_eq!(fit.flows, 4.0);
}

#[test]
fn n_settles_where_the_queue_is_its_inverse() {
    // 125 ms on 100: a fifth. From 10: 10 + 1 - 10/5 = 9, then 9 + 1 - 9/5 = 8.2; in the end a/0.2 = 5.
    let mut fit = TcpFit { flows: 10.0, ..fit() };
    run(&mut fit, 1, 125);
    assert_near(fit.flows, 9.0, 1e-12);
    run(&mut fit, 1, 125);
    assert_near(fit.flows, 8.2, 1e-12);
    run(&mut fit, 100, 125);
    assert_near(fit.flows, 5.0, 1e-6);
    // a = 0.125 leaves 0.625, which is no flow at all: 1.
    let parameters = TcpFitParameters { a: 0.125, ..Default::default() };
    let mut small = TcpFit { flows: 4.0, parameters, ..TcpFit::new(Default::default()) };
    small.base_rtt = Nanos::from_millis(100);
    run(&mut small, 100, 125);
    assert_eq!(small.flows, 1.0);
}

#[test]
fn the_mean_of_the_period_counts() {
    // 100, 100 and 175 ms: 125 ms. N = 5 + 1 - 5/5 = 5.
    let mut fit = TcpFit { flows: 5.0, ..fit() };
    let mut aside = window(10.0, Arithmetic::Real);
    for (ms, rtt) in [(0, 100), (250, 100), (500, 175)] {
        fit.on_ack(&mut aside, &ack_rtt(ms, rtt));
    }
    assert_near(fit.flows, 5.0, 1e-12);
}

#[test]
fn a_round_trip_longer_than_the_period_is_waited_for() {
    let mut fit = TcpFit { base_rtt: Nanos::MAX, ..fit() };
    let mut aside = window(10.0, Arithmetic::Real);
    for (ms, flows) in [(0, 1.0), (500, 1.0), (799, 1.0), (800, 2.0)] {
        fit.on_ack(&mut aside, &ack_rtt(ms, 800));
        assert_eq!(fit.flows, flows);
    }
}

#[test]
fn a_window_that_is_not_used_tells_nothing() {
    let mut fit = fit();
    let mut aside = window(10.0, Arithmetic::Real);
    for ms in 0..20 {
        fit.on_ack(&mut aside, &Ack { cwnd_limited: false, ..ack_rtt(500 * ms, 100) });
    }
    assert_eq!(fit.flows, 1.0);
}

#[test]
fn a_timeout_begins_anew_with_one() {
    let mut fit = TcpFit { flows: 3.0, ..fit() };
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut fit, &mut window, 0);
    assert_near(window.ssthresh, 80.0, 1e-12);
    assert_eq!((window.cwnd, fit.flows), (1.0, 1.0));
    let held = window.ssthresh;
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    fit.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, held);
}

#[test]
fn a_round_trip_of_no_time_has_no_queue() {
    let mut fit = TcpFit { base_rtt: Nanos::ZERO, flows: 4.0, ..fit() };
    run(&mut fit, 1, 0);
    assert_eq!(fit.flows, 5.0);
}
