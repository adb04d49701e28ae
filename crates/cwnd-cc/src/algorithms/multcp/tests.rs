use super::*;
use crate::testing::{ack, acks_for_a_segment, assert_near, congestion, lose, time_out, window, window_with};
use crate::{Arithmetic, CongestionKind};

fn multcp(n: f64, decrease: Decrease) -> MulTcp {
    MulTcp::new(MulTcpParameters { n, decrease })
}

#[test]
fn growth_is_n_segments_a_round_trip() {
    // N/W: 4/10, 4/100, 10/1000.
    for (n, cwnd, growth) in [(4.0, 10.0, 0.4), (4.0, 100.0, 0.04), (10.0, 1000.0, 0.01)] {
        let mut window = window(cwnd, Arithmetic::Real);
        multcp(n, Decrease::Classic).on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, growth, 1e-12);
    }
}

#[test]
fn a_loss_costs_one_flows_half() {
    // N = 4: 1000 * 3.5/4 = 875; 1000 (1 - 2/13) = 846.15. N = 1 is Reno: 500 both ways.
    for (n, decrease, left) in [
        (4.0, Decrease::Classic, 875.0),
        (4.0, Decrease::Nabeshima, 846.153_846),
        (1.0, Decrease::Classic, 500.0),
        (1.0, Decrease::Nabeshima, 500.0),
    ] {
        let mut window = window(1000.0, Arithmetic::Real);
        lose(&mut multcp(n, decrease), &mut window, 0);
        assert_near(window.cwnd, left, 1e-6);
    }
}

#[test]
fn slow_start_triples_up_to_its_limit_and_then_doubles() {
    // N = 4: ln 4/(ln 3 - ln 2) = 1.38629/0.405465 = 3.41902, 3^3.41902 = e^3.75617 = 42.78. Two segments an
    // ACK from 10 up to 44, 17 ACKs; then one.
    let multcp4 = multcp(4.0, Decrease::Classic);
    assert_near(multcp4.tripling, 42.78, 0.01);
    for arithmetic in [Arithmetic::Real, Arithmetic::Linux, Arithmetic::Linux26] {
        let mut multcp = multcp4.clone();
        let mut window = window_with(10.0, 1000.0, arithmetic);
        for _ in 0..17 {
            multcp.on_ack(&mut window, &ack(0));
        }
        assert_eq!(window.cwnd, 44.0);
        multcp.on_ack(&mut window, &ack(0));
        assert_eq!(window.cwnd, 45.0);
    }
    // One ACK for twenty segments: seventeen by two, three by one.
    let mut window = window_with(10.0, 1000.0, Arithmetic::Real);
    multcp4.clone().on_ack(&mut window, &Ack { acked: 20, ..ack(0) });
    assert_eq!(window.cwnd, 47.0);
    // A single flow never triples.
    let mut single = window_with(1.0, 1000.0, Arithmetic::Real);
    multcp(1.0, Decrease::Classic).on_ack(&mut single, &ack(0));
    assert_eq!(single.cwnd, 2.0);
}

#[test]
fn a_loss_in_slow_start_halves() {
    let mut window = window_with(400.0, f64::INFINITY, Arithmetic::Real);
    lose(&mut multcp(4.0, Decrease::Classic), &mut window, 0);
    assert_eq!(window.cwnd, 200.0);
}

#[test]
fn a_timeout_costs_as_much_as_a_loss() {
    let mut window = window(1000.0, Arithmetic::Real);
    let mut multcp = multcp(4.0, Decrease::Classic);
    time_out(&mut multcp, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 875.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 400) };
    multcp.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 875.0);
}

#[test]
fn integers_take_n_steps_a_window() {
    // 100/4 = 25 ACKs.
    let steps = acks_for_a_segment(
        &mut multcp(4.0, Decrease::Classic),
        &mut window(100.0, Arithmetic::Linux),
        &ack(0),
    );
    assert_eq!(steps, 25);
}
