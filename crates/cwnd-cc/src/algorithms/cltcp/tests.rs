use super::*;
use crate::Arithmetic;
use crate::testing::{ack, assert_near, assert_observed, congestion, lose, time_out, window, window_with};

fn cltcp(parameters: CltcpParameters) -> Cltcp {
    let mut cltcp = Cltcp::new(parameters);
    cltcp.init(&mut window(10.0, Arithmetic::Real), &Init { ecn: EcnMode::Exact, ..Init::default() });
    cltcp
}

/// The end of a window of 100 segments of which `marked` are marked, without growth.
fn window_of_data(cltcp: &mut Cltcp, window: &mut Window, marked: u32) {
    let ack = Ack { acked: 100, marked, cumulative: 0, round_start: true, ..ack(0) };
    cltcp.on_ack(window, &ack);
}

#[test]
fn n_comes_to_rest_at_alpha_to_the_minus_d() {
    // alpha 0.01, 0.25, 1 and 0.04 with d = 0.5: 10, 2, 1 and 5. At d = 1 alpha 0.25 gives 4.
    for (d, marked, flows) in [(0.5, 1, 10.0), (0.5, 25, 2.0), (0.5, 100, 1.0), (0.5, 4, 5.0), (1.0, 25, 4.0)]
    {
        let mut cltcp = cltcp(CltcpParameters { d, ..Default::default() });
        let mut window = window(100.0, Arithmetic::Real);
        for _ in 0..1000 {
            window_of_data(&mut cltcp, &mut window, marked);
        }
        assert_near(cltcp.marks.alpha, f64::from(marked) / 100.0, 1e-12);
        assert_near(cltcp.flows, flows, 1e-9);
    }
}

#[test]
fn one_step_of_n() {
    // N 4, alpha 0 before; a window with 16 of 100 marked: alpha = 0.01, N = 4 + 1 - 0.1 * 4 = 4.6.
    let mut cltcp = Cltcp { flows: 4.0, ..cltcp(Default::default()) };
    window_of_data(&mut cltcp, &mut window(100.0, Arithmetic::Real), 16);
    assert_near(cltcp.marks.alpha, 0.01, 1e-12);
    assert_near(cltcp.flows, 4.6, 1e-9);
}

#[test]
fn growth_is_that_of_n_flows() {
    // N/W an ACK.
    for (flows, cwnd, growth) in [(1.0, 10.0, 0.1), (4.0, 100.0, 0.04), (10.0, 1000.0, 0.01)] {
        let mut cltcp = Cltcp { flows, ..cltcp(Default::default()) };
        let mut window = window(cwnd, Arithmetic::Real);
        cltcp.on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, growth, 1e-12);
    }
}

#[test]
fn the_cut_at_a_loss() {
    // 1 - 2/(3N + 1): 1/2 at N = 1, 5/7 at 2, 29/31 at 10.
    for (flows, kept) in [(1.0, 0.5), (2.0, 5.0 / 7.0), (10.0, 29.0 / 31.0)] {
        let mut cltcp = Cltcp { flows, ..cltcp(Default::default()) };
        let mut window = window(100.0, Arithmetic::Real);
        lose(&mut cltcp, &mut window, 0);
        assert_near(window.cwnd, 100.0 * kept, 1e-9);
        assert_eq!(cltcp.flows, flows);
    }
}

#[test]
fn a_mark_cuts_only_where_it_is_told_to() {
    for (ecn_cut, left) in [(false, 100.0), (true, 50.0)] {
        let mut cltcp = cltcp(CltcpParameters { ecn_cut, ..Default::default() });
        let mut window = window(100.0, Arithmetic::Real);
        let mark = congestion(&window, CongestionKind::Ecn, 0);
        cltcp.on_congestion(&mut window, &mark);
        assert_eq!(window.ssthresh, left);
        let expected = Needs { ecn: Some(EcnMode::Exact), marks_only: !ecn_cut, ..Needs::default() };
        assert_eq!(cltcp.needs(), expected);
    }
}

#[test]
fn a_timeout_goes_back_to_one_flow() {
    // N = 10 at 62: 62 * 29/31 = 58.
    let mut cltcp = Cltcp { flows: 10.0, ..cltcp(Default::default()) };
    cltcp.marks.alpha = 0.3;
    let mut window = window(62.0, Arithmetic::Real);
    time_out(&mut cltcp, &mut window, 0);
    assert_near(window.ssthresh, 58.0, 1e-9);
    assert_eq!((window.cwnd, cltcp.flows, cltcp.marks.alpha), (1.0, 1.0, 0.3));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    cltcp.on_congestion(&mut window, &again);
    assert_near(window.ssthresh, 58.0, 1e-9);
}

#[test]
fn n_stands_still_in_slow_start_and_recovery() {
    let mut cltcp = cltcp(Default::default());
    let mut starting = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    window_of_data(&mut cltcp, &mut starting, 16);
    let recovering = Ack { acked: 100, marked: 0, state: State::Recovery, round_start: true, ..ack(0) };
    cltcp.on_ack(&mut window(100.0, Arithmetic::Real), &recovering);
    assert_eq!(cltcp.flows, 1.0);
    // alpha went on: 0.01, and 15/16 of that.
    assert_near(cltcp.marks.alpha, 0.009_375, 1e-12);
}

#[test]
fn n_may_be_renewed_in_recovery() {
    let mut cltcp =
        Cltcp { flows: 3.0, ..cltcp(CltcpParameters { n_in_recovery: true, ..Default::default() }) };
    let recovering = Ack { acked: 100, marked: 0, state: State::Recovery, round_start: true, ..ack(0) };
    // At its threshold, where a loss leaves it.
    let mut window = window_with(100.0, 100.0, Arithmetic::Real);
    cltcp.on_ack(&mut window, &recovering);
    assert_eq!((cltcp.flows, window.cwnd), (4.0, 100.0));
    // After a timeout it still waits.
    cltcp.on_ack(&mut window, &Ack { state: State::Loss, ..recovering });
    assert_eq!(cltcp.flows, 4.0);
}

#[test]
fn without_ecn_it_is_reno() {
    let mut cltcp = Cltcp::new(CltcpParameters::default());
    let mut window = window(100.0, Arithmetic::Real);
    cltcp.init(&mut window, &Init::default());
    for _ in 0..10 {
        window_of_data(&mut cltcp, &mut window, 0);
    }
    assert_eq!(cltcp.flows, 1.0);
    lose(&mut cltcp, &mut window, 0);
    assert_eq!(window.cwnd, 50.0);
}

#[test]
fn before_any_mark_n_grows_by_one_a_period_up_to_its_limit() {
    let mut cltcp = cltcp(CltcpParameters { n_max: 3.5, ..Default::default() });
    let mut window = window(100.0, Arithmetic::Real);
    for flows in [2.0, 3.0, 3.5, 3.5] {
        window_of_data(&mut cltcp, &mut window, 0);
        assert_eq!(cltcp.flows, flows);
    }
}

#[test]
fn a_period_of_n_may_be_set() {
    // Windows of data end every 200 ms; half a second holds two of them: N moves at 600 and 1,200 ms.
    let mut cltcp = cltcp(CltcpParameters { n_period: 0.5, ..Default::default() });
    let mut window = window(100.0, Arithmetic::Real);
    let mut seen = [0.0; 6];
    for (i, flows) in seen.iter_mut().enumerate() {
        let ms = 200 * (i as u64 + 1);
        cltcp.on_ack(&mut window, &Ack { cumulative: 0, round_start: true, ..ack(ms) });
        *flows = cltcp.flows;
    }
    assert_eq!(seen, [1.0, 1.0, 2.0, 2.0, 2.0, 3.0]);
}

#[test]
fn whole_windows_take_whole_steps() {
    // 3 for each of 100: the 34th ACK makes a step.
    let mut cltcp = Cltcp { flows: 3.0, ..cltcp(Default::default()) };
    let mut window = window(100.0, Arithmetic::Linux);
    assert_eq!(crate::testing::acks_for_a_segment(&mut cltcp, &mut window, &ack(0)), 34);
}

#[test]
fn it_shows_n_and_the_congestion_level() {
    // N 4; a window of data with 16 of 100 marked: alpha = 16/100/16 = 0.01, its root is 0.1, N = 4 + 1 - 0.1 * 4 = 4.6.
    let mut cltcp = Cltcp { flows: 4.0, ..cltcp(Default::default()) };
    let mut window = window(100.0, Arithmetic::Real);
    assert_observed(&cltcp, &window, &[("n", 4.0), ("alpha", 0.0), ("level", 0.0)]);
    window_of_data(&mut cltcp, &mut window, 16);
    assert_observed(&cltcp, &window, &[("n", 4.6), ("alpha", 0.01), ("level", 0.1)]);
}
