//! Pacing rate and window, as they follow from the model.

use super::*;

#[test]
fn a_handshake_of_no_time_tells_nothing() {
    // As if it had not been measured: of 1 ms, until there is a sample.
    let mut bbr = Bbr3::new(Bbr3Parameters::default());
    let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    bbr.init(&mut window, &Init { rtt: Some(Nanos::ZERO), ..Init::default() });
    assert_near(window.pacing_rate, 40_109_600.0, 1e-6);
    assert!(bbr.control.pacing_is_guess);
}

#[test]
fn until_the_pipe_is_full_the_pacing_rate_only_rises() {
    // 2.77 * 10 a second * 0.99 are under the first rate, and 2.77 * 1,000 * 0.99 = 2742.3 segments over it.
    let (mut bbr, mut window) = fresh();
    for (bw, rate) in
        [(10.0, 401_096.0), (1000.0, 2742.3 * 1448.0), (999.0, 2742.3 * 1448.0), (0.0, 2742.3 * 1448.0)]
    {
        bbr.model.bw = bw;
        bbr.set_pacing(&mut window, 2.77);
        assert_near(window.pacing_rate, rate, 1e-6);
    }
    // Then it follows, but for a rate of nothing.
    bbr.startup.full_bw_reached = true;
    for (bw, rate) in [(10.0, 9.9 * 1448.0), (0.0, 9.9 * 1448.0)] {
        bbr.model.bw = bw;
        bbr.set_pacing(&mut window, 1.0);
        assert_near(window.pacing_rate, rate, 1e-6);
    }
}

#[test]
fn the_budget_is_three_quanta_of_a_millisecond() {
    // A quantum is what a millisecond takes, from 2 segments to 64 KiB: 0.5 segments are 2; 5 stay; 200 are 45.26.
    for (segments_per_ms, budget) in [(0.5, 6.0), (5.0, 15.0), (200.0, 3.0 * 65_536.0 / 1448.0)] {
        let (mut bbr, mut window) = down();
        bbr.model.bw = segments_per_ms * 1000.0 / 0.99;
        bbr.set_pacing(&mut window, 1.0);
        assert_near(bbr.control.budget, budget, 1e-9);
    }
}

#[test]
fn what_may_be_in_flight_is_the_bdp_and_at_least_the_budget() {
    // BDP 100; two segments more while it probes.
    for (phase, gain, in_flight) in [
        (Phase::Down, 1.0, 100.0),
        (Phase::Down, 1.25, 125.0),
        (Phase::Down, 0.01, 6.0),
        (Phase::Up, 1.0, 102.0),
        (Phase::Up, 0.01, 8.0),
    ] {
        let (mut bbr, _) = down();
        (bbr.phase, bbr.control.budget) = (phase, 6.0);
        assert_near(bbr.inflight(gain), in_flight, 1e-9);
    }
    let (mut bbr, _) = down();
    (bbr.model.bw, bbr.control.budget) = (1.0, 6.0);
    assert_near(bbr.inflight_at(500.0), 50.0, 1e-9);
    // Without a round-trip time it is the first window.
    bbr.min_rtt.seconds = None;
    assert_eq!(bbr.inflight_at(500.0), 10.0);
}

#[test]
fn the_target_is_the_bdp_or_the_window() {
    for (cwnd, target) in [(150.0, 100.0), (60.0, 60.0)] {
        let (bbr, mut window) = down();
        window.set_cwnd(cwnd);
        assert_near(bbr.target_inflight(&window), target, 1e-9);
    }
}

#[test]
fn headroom_is_a_share_and_a_segment_at_least() {
    for (longterm, left) in [(100.0, 85.0), (20.0, 17.0), (6.0, 5.0), (4.5, 4.0)] {
        let (mut bbr, _) = down();
        bbr.bounds.inflight_longterm = longterm;
        assert_near(bbr.inflight_with_headroom(), left, 1e-9);
    }
}

#[test]
fn startup_grows_by_what_is_acknowledged_under_twice_the_bdp() {
    // 1,000 a second and 100 ms: up to 200, from 200 on no more; but while less than the first window is delivered the model
    // has no effect.
    for (cwnd, delivered, grown) in [
        (150.0, 1000, 153.0),
        (199.0, 1000, 202.0),
        (200.0, 1000, 200.0),
        (200.0, 9, 203.0),
        (200.0, 10, 200.0),
        (1.0, 1000, 4.0),
    ] {
        let (mut bbr, mut window) = fresh();
        (bbr.model.bw, bbr.input.delivered, bbr.control.budget) = (1000.0, delivered, 6.0);
        window.set_cwnd(cwnd);
        bbr.set_cwnd(&mut window, 3);
        assert_near(window.cwnd, grown, 1e-9);
    }
}

#[test]
fn what_is_saved_is_the_window_before_anything_lowered_it() {
    for (in_recovery, phase, saved) in
        [(false, Phase::Cruise, 100.0), (true, Phase::Cruise, 150.0), (false, Phase::ProbeRtt, 150.0)]
    {
        let (mut bbr, mut window) = down();
        window.set_cwnd(100.0);
        (bbr.control.prior_cwnd, bbr.control.in_recovery, bbr.phase) = (150.0, in_recovery, phase);
        bbr.save_cwnd(&window);
        assert_eq!(bbr.control.prior_cwnd, saved);
        window.set_cwnd(120.0);
        bbr.restore_cwnd(&mut window);
        assert_eq!(window.cwnd, f64::max(saved, 120.0));
    }
}
