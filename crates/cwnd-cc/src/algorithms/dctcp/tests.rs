use super::*;
use crate::Arithmetic;
use crate::testing::{ack, assert_near, congestion, lose, time_out, window};

fn dctcp() -> Dctcp {
    Dctcp::new(DctcpParameters::default())
}

/// The ACKs of a window of ten segments, the given number of them with an echo.
fn window_of_data(algorithm: &mut dyn CongestionControl, window: &mut Window, marked: u32) {
    for i in 0..10 {
        let ack = Ack { marked: u32::from(i < marked), round_start: i == 9, cumulative: 0, ..ack(0) };
        algorithm.on_ack(window, &ack);
    }
}

fn mark(algorithm: &mut dyn CongestionControl, window: &mut Window) {
    let congestion = congestion(window, CongestionKind::Ecn, 0);
    algorithm.on_congestion(window, &congestion);
}

#[test]
fn growth_is_newrenos() {
    for (cwnd, growth) in [(10.0, 0.1), (100.0, 0.01), (1000.0, 0.001)] {
        let mut window = window(cwnd, Arithmetic::Real);
        dctcp().on_ack(&mut window, &ack(0));
        assert_near(window.cwnd - cwnd, growth, 1e-12);
    }
}

#[test]
fn alpha_follows_the_marked_share() {
    // From 1: a window without marks 15/16; with 4 of 10: 15/16 * 15/16 + 0.4/16 = 0.903906.
    let mut dctcp = dctcp();
    let mut window = window(100.0, Arithmetic::Real);
    window_of_data(&mut dctcp, &mut window, 0);
    assert_near(dctcp.marks.alpha, 0.9375, 1e-12);
    window_of_data(&mut dctcp, &mut window, 4);
    assert_near(dctcp.marks.alpha, 0.903_906_25, 1e-12);
    // With a tenth marked for ever, alpha is a tenth.
    for _ in 0..400 {
        window_of_data(&mut dctcp, &mut window, 1);
    }
    assert_near(dctcp.marks.alpha, 0.1, 1e-9);
}

#[test]
fn a_mark_cuts_by_half_of_alpha() {
    // alpha 0.1: 100 (1 - 0.05) = 95. The first mark of all finds alpha at 1 and halves.
    let mut first = dctcp();
    let mut halved = window(100.0, Arithmetic::Real);
    mark(&mut first, &mut halved);
    assert_eq!(halved.ssthresh, 50.0);
    let mut tenth = Dctcp::new(DctcpParameters { initial_alpha: 0.1, ..Default::default() });
    let mut window = window(100.0, Arithmetic::Real);
    mark(&mut tenth, &mut window);
    assert_near(window.ssthresh, 95.0, 1e-12);
}

#[test]
fn whole_windows_round_the_cut_down() {
    // With alpha 0.1, 4.95 of 99, 2.0 of 40 and 0.95 of 19: 4, 2 and none are removed. With alpha 0.012, 0.228 of 38: none.
    for (cwnd, alpha, left) in [(99.0, 0.1, 95.0), (40.0, 0.1, 38.0), (19.0, 0.1, 19.0), (38.0, 0.012, 38.0)]
    {
        let mut dctcp = Dctcp::new(DctcpParameters { initial_alpha: alpha, ..Default::default() });
        let mut window = window(cwnd, Arithmetic::Linux);
        mark(&mut dctcp, &mut window);
        assert_eq!(window.ssthresh, left);
    }
    // A loss leaves half, rounded down.
    let mut window = window(99.0, Arithmetic::Linux);
    lose(&mut dctcp(), &mut window, 0);
    assert_eq!(window.ssthresh, 49.0);
}

#[test]
fn losses_halve_whatever_alpha_is() {
    let mut dctcp = Dctcp::new(DctcpParameters { initial_alpha: 0.0, ..Default::default() });
    let mut window = window(100.0, Arithmetic::Real);
    lose(&mut dctcp, &mut window, 0);
    assert_eq!(window.cwnd, 50.0);
    time_out(&mut dctcp, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh, dctcp.marks.alpha), (1.0, 25.0, 0.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    dctcp.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 25.0);
}

#[test]
fn it_asks_for_the_exact_echo() {
    assert_eq!(dctcp().needs().ecn, Some(EcnMode::Exact));
}
