use super::*;
use crate::Arithmetic;
use crate::testing::{ack_rtt, assert_near, congestion, lose, time_out, window, window_with};

fn cubic() -> Cubic {
    Cubic::new(CubicParameters::default())
}

/// A CUBIC that lost at 100 segments and whose congestion avoidance begins at 0 ms with the window at 70.
fn after_loss_at_100(arithmetic: Arithmetic) -> (Cubic, Window) {
    let mut cubic = cubic();
    let mut window = window(100.0, arithmetic);
    lose(&mut cubic, &mut window, 0);
    // The threshold goes out of the way: in Linux 2.6 a window that equals it is in slow start.
    window.set_ssthresh(2.0);
    cubic.begin_stage(window.cwnd, Nanos::ZERO);
    (cubic, window)
}

#[test]
fn k_is_the_cube_root_of_the_decrease() {
    // K = cbrt((100 - 70)/0.4) = cbrt(75) = 4.21716 s, and W_cubic(0) = 70, W_cubic(K) = 100.
    let (cubic, window) = after_loss_at_100(Arithmetic::Real);
    assert_eq!(window.cwnd, 70.0);
    assert_near(cubic.state.k, 4.217_163, 1e-6);
    assert_near(w_cubic(0.4, &cubic.state, 0.0), 70.0, 1e-9);
    assert_eq!(w_cubic(0.4, &cubic.state, cubic.state.k), 100.0);
}

#[test]
fn the_window_follows_the_curve_one_round_trip_ahead() {
    // At 1 s with RTT 100 ms: W_cubic(1.1) = 0.4 (1.1 - 4.21716)^3 + 100 = 100 - 0.4 * 30.289 = 87.8846.
    // W_cubic(1) = 86.68 is above W_est = 70 + 0.529/70, so W += (87.8846 - 70)/70 = 0.25549.
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(1000, 100));
    assert_near(window.cwnd, 70.255_494, 1e-6);
    // At 3 s: W_cubic(3.1) = 100 - 0.4 * 1.1172^3 = 99.4423.
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(3000, 100));
    assert_near(window.cwnd, 70.0 + (99.442_3 - 70.0) / 70.0, 1e-5);
}

#[test]
fn growth_is_at_most_half_of_the_acknowledged_segments() {
    // W_cubic(60.1) is over 60,000, so the target is 1.5 * 70 and W += 35/70.
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(60_000, 100));
    assert_eq!(window.cwnd, 70.5);
}

#[test]
fn a_target_under_the_window_does_not_shrink_it() {
    // At 0.5 s the target, W_cubic(0.6), is about 81; a window of 95 stays.
    let (mut cubic, _) = after_loss_at_100(Arithmetic::Real);
    let mut window = window(95.0, Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(500, 100));
    assert_eq!(window.cwnd, 95.0);
}

#[test]
fn the_reno_friendly_window_leads_on_short_paths() {
    // RTT 1 ms, loss at 10: K = cbrt(3/0.4) = 1.96 s, but Reno's pace from 7 by 0.529 a round trip reaches
    // 10 in about 5.7 of them, and then takes one each.
    let mut cubic = cubic();
    let mut window = window(10.0, Arithmetic::Real);
    lose(&mut cubic, &mut window, 0);
    assert_eq!(window.cwnd, 7.0);
    let mut round_trip = |cubic: &mut Cubic, ms: u64| {
        let from = window.cwnd;
        let acks = from as u32;
        for _ in 0..acks {
            cubic.on_ack(&mut window, &ack_rtt(ms, 1));
        }
        (window.cwnd - from) * from / f64::from(acks)
    };
    assert_near(round_trip(&mut cubic, 1), 0.529, 0.03);
    assert_near(round_trip(&mut cubic, 2), 0.529, 0.03);
    for ms in 3..10 {
        round_trip(&mut cubic, ms);
    }
    assert!(cubic.state.w_est > 10.0);
    assert_near(round_trip(&mut cubic, 10), 1.0, 0.06);
}

#[test]
fn fast_convergence_gives_up_more_after_an_earlier_loss() {
    // 100, then 80: W_max = 80 (1 + 0.7)/2 = 68; without it 80. ssthresh = 0.7 * 80 either way.
    for (fast_convergence, w_max) in [(true, 68.0), (false, 80.0)] {
        let mut cubic = Cubic::new(CubicParameters { fast_convergence, ..Default::default() });
        let mut window = window(100.0, Arithmetic::Real);
        lose(&mut cubic, &mut window, 0);
        assert_eq!(cubic.state.w_max, Some(100.0));
        window.set_cwnd(80.0);
        lose(&mut cubic, &mut window, 1000);
        assert_near(cubic.state.w_max.unwrap(), w_max, 1e-12);
        assert_near(window.ssthresh, 56.0, 1e-12);
    }
}

#[test]
fn the_flight_size_is_what_is_multiplied() {
    let mut window = window(100.0, Arithmetic::Real);
    let loss = Congestion { flight_size: 50, ..congestion(&window, CongestionKind::Loss, 0) };
    cubic().on_congestion(&mut window, &loss);
    assert_near(window.ssthresh, 35.0, 1e-12);
    let mut of_cwnd = Cubic::new(CubicParameters { reduce_from: ReduceFrom::Cwnd, ..Default::default() });
    of_cwnd.on_congestion(&mut window, &loss);
    assert_near(window.ssthresh, 70.0, 1e-12);
}

#[test]
fn the_stage_after_a_timeout_begins_at_its_own_origin() {
    let mut cubic = cubic();
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut cubic, &mut window, 0);
    assert_eq!(window.cwnd, 1.0);
    assert_near(window.ssthresh, 70.0, 1e-12);
    window.cwnd = 70.0;
    cubic.begin_stage(70.0, Nanos::ZERO);
    assert_eq!((cubic.state.k, cubic.state.origin), (0.0, 70.0));
    // At 2 s, RTT 100 ms: target 70 + 0.4 * 2.1^3 = 73.7044.
    cubic.on_ack(&mut window, &ack_rtt(2000, 100));
    assert_near(window.cwnd, 70.0 + 3.7044 / 70.0, 1e-9);
}

#[test]
fn a_second_timeout_in_a_row_changes_nothing() {
    let mut cubic = cubic();
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut cubic, &mut window, 0);
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 400) };
    cubic.on_congestion(&mut window, &again);
    assert_near(window.ssthresh, 70.0, 1e-12);
    assert_eq!(cubic.state.cwnd_prior, 100.0);
}

#[test]
fn time_without_use_of_the_window_does_not_count() {
    // ACKs at 1 s and, after two seconds that the application limits, at 3 s: t is 1 s for the latter, too.
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(1000, 100));
    cubic.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(2000, 100) });
    cubic.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(3000, 100) });
    assert_eq!(cubic.state.epoch, Some(Nanos::from_millis(2000)));
    // An idle pause of one second shifts it as well, and not twice.
    cubic.on_idle_restart(&mut window, Nanos::from_millis(4000), Nanos::from_millis(1000));
    cubic.on_ack(&mut window, &Ack { cwnd_limited: false, ..ack_rtt(4000, 100) });
    assert_eq!(cubic.state.epoch, Some(Nanos::from_millis(3000)));
}

#[test]
fn undo_restores_the_curve() {
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &ack_rtt(1000, 100));
    let before = cubic.state;
    lose(&mut cubic, &mut window, 1500);
    assert_ne!(cubic.state.w_max, before.w_max);
    cubic.on_undo(&mut window, Nanos::from_millis(1600));
    assert_eq!(cubic.state.w_max, before.w_max);
    assert_eq!(cubic.state.epoch, before.epoch);
    assert_eq!(cubic.state.k, before.k);
}

#[test]
fn integer_windows_follow_the_same_curve() {
    // As above, 17.8846 of 70 credits an ACK: 4 ACKs make 71.54, one step.
    for arithmetic in [Arithmetic::Linux, Arithmetic::Linux26] {
        let (mut cubic, mut window) = after_loss_at_100(arithmetic);
        for _ in 0..3 {
            cubic.on_ack(&mut window, &ack_rtt(1000, 100));
        }
        assert_eq!(window.cwnd, 70.0);
        cubic.on_ack(&mut window, &ack_rtt(1000, 100));
        assert_eq!(window.cwnd, 71.0);
    }
}

#[test]
fn slow_start_is_the_chosen_one() {
    // HyStart++ counts at most 8 segments an ACK, standard slow start all.
    for (slow_start, cwnd) in [(SlowStartKind::HyStartPlusPlus, 18.0), (SlowStartKind::Standard, 30.0)] {
        let mut cubic = Cubic::new(CubicParameters { slow_start, ..Default::default() });
        let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
        cubic.init(&mut window, &Init::default());
        cubic.on_ack(&mut window, &Ack { acked: 20, ..ack_rtt(100, 100) });
        assert_eq!(window.cwnd, cwnd);
    }
}

#[test]
fn the_reno_friendly_window_counts_every_segment() {
    // Two segments acknowledged by one ACK at 0 ms: W_est = 70 + 2 * 0.529412/70.
    let (mut cubic, mut window) = after_loss_at_100(Arithmetic::Real);
    cubic.on_ack(&mut window, &Ack { acked: 2, cumulative: 2, ..ack_rtt(0, 1) });
    assert_near(cubic.state.w_est, 70.0 + 2.0 * 0.529_411_765 / 70.0, 1e-9);
}

#[test]
fn a_stage_that_begins_over_the_last_maximum_has_its_own_origin() {
    // Section 4.2: K is 0 where cwnd is over W_max, and the curve begins at cwnd.
    let mut cubic = Cubic { state: State { w_max: Some(68.0), cwnd_prior: 80.0, ..START }, ..cubic() };
    cubic.begin_stage(75.0, Nanos::ZERO);
    assert_eq!((cubic.state.k, cubic.state.origin), (0.0, 75.0));
}

#[test]
fn the_pace_is_a_segment_a_round_trip_from_the_window_before_the_loss_on() {
    // Section 4.3: 3 * 0.3/1.7 = 0.529412 under cwnd_prior, 1 from there on. A flow that has never lost anything has
    // no such window, and goes at Reno's pace at once.
    for (w_max, cwnd_prior, alpha) in [
        (Some(100.0), 100.0, 1.0),
        (Some(100.0), 100.5, 0.529_411_765),
        (Some(100.0), 90.0, 1.0),
        (None, 0.0, 1.0),
    ] {
        let mut cubic = Cubic { state: State { w_max, cwnd_prior, ..START }, ..cubic() };
        cubic.begin_stage(100.0, Nanos::ZERO);
        assert_near(cubic.state.alpha, alpha, 1e-9);
    }
}
