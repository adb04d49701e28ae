use super::*;
use crate::testing::{
    ack, ack_rtt, assert_near, congestion, lose, round_trip, time_out, window, window_with,
};
use crate::{Arithmetic, CongestionKind};

/// A flow that measured 100 ms at least, and `rtt_ms` for long.
fn measured(parameters: FastParameters, rtt_ms: f64) -> Fast {
    Fast { rtt: Some(rtt_ms * 1e6), base_rtt: Nanos::from_millis(100), ..Fast::new(parameters) }
}

/// The ACK that begins a round trip; it acknowledges nothing that would make the window grow.
fn begin_round(fast: &mut Fast, window: &mut Window) {
    fast.on_ack(window, &Ack { acked: 0, round_start: true, ..ack(0) });
}

/// Two round trips, so that an update comes, and a window of ACKs, over which it is spread.
fn update(fast: &mut Fast, window: &mut Window) {
    begin_round(fast, window);
    begin_round(fast, window);
    for _ in 0..window.cwnd as u32 {
        fast.on_ack(window, &ack(0));
    }
}

#[test]
fn the_equation_moves_half_way_to_alpha_segments_queued() {
    // (W + 100/RTT W + 100)/2. At 125 ms, 1000: (1000 + 800 + 100)/2 = 950; 500: (500 + 400 + 100)/2 = 500,
    // its rest; 100: (100 + 80 + 100)/2 = 140; 10: (10 + 8 + 100)/2 = 59, but no more than 20.
    for (cwnd, left) in [(1000.0, 950.0), (500.0, 500.0), (100.0, 140.0), (10.0, 20.0)] {
        let mut fast = measured(FastParameters::default(), 125.0);
        let mut window = window(cwnd, Arithmetic::Real);
        fast.last_window = cwnd;
        update(&mut fast, &mut window);
        assert_near(window.cwnd, left, 1e-9);
    }
}

#[test]
fn gain_and_alpha_are_parameters() {
    // g = 1: 100/125 * 1000 + 50 = 850.
    let parameters = FastParameters { gain: 1.0, alpha: 50.0, ..Default::default() };
    let mut fast = measured(parameters, 125.0);
    let mut window = window(1000.0, Arithmetic::Real);
    fast.last_window = 1000.0;
    update(&mut fast, &mut window);
    assert_near(window.cwnd, 850.0, 1e-9);
    assert!(!window.in_slow_start());
}

#[test]
fn an_increase_is_spread_over_the_round_trip_and_the_next_one_rests() {
    // 100 -> 140: 0.4 for each of 100 acknowledged segments.
    let mut fast = measured(FastParameters::default(), 125.0);
    let mut window = window(100.0, Arithmetic::Real);
    fast.last_window = 100.0;
    begin_round(&mut fast, &mut window);
    begin_round(&mut fast, &mut window);
    assert_eq!(window.cwnd, 100.0);
    fast.on_ack(&mut window, &ack(0));
    assert_near(window.cwnd, 100.4, 1e-9);
    for _ in 0..200 {
        fast.on_ack(&mut window, &ack(0));
    }
    assert_near(window.cwnd, 140.0, 1e-9);
    begin_round(&mut fast, &mut window);
    for _ in 0..200 {
        fast.on_ack(&mut window, &ack(0));
    }
    assert_near(window.cwnd, 140.0, 1e-9);
    // Then (140 + 112 + 100)/2 = 176.
    begin_round(&mut fast, &mut window);
    for _ in 0..200 {
        fast.on_ack(&mut window, &ack(0));
    }
    assert_near(window.cwnd, 176.0, 1e-9);
}

#[test]
fn whole_windows_take_whole_steps() {
    // (101 + 80.8 + 100)/2 = 140.9: 140.
    let mut fast = measured(FastParameters::default(), 125.0);
    let mut window = window(101.0, Arithmetic::Linux);
    fast.last_window = 101.0;
    update(&mut fast, &mut window);
    assert_eq!(window.cwnd, 140.0);
}

#[test]
fn w_old_is_the_window_of_a_round_trip_ago() {
    // Updates in every round trip: (200 + 0.8 * 100 + 100)/2 = 190.
    let parameters = FastParameters { update_every: 1.0, ..Default::default() };
    let mut fast = measured(parameters, 125.0);
    let mut window = window(200.0, Arithmetic::Real);
    fast.last_window = 100.0;
    begin_round(&mut fast, &mut window);
    assert_near(window.cwnd, 190.0, 1e-9);
}

#[test]
fn without_a_queue_it_doubles() {
    // 0.7 ms are under the threshold, 0.8 over it; then it leaves slow start and rests.
    for (rtt, grown) in [(100.7, 11.0), (100.8, 10.0)] {
        for ssthresh in [f64::INFINITY, 2.0] {
            let mut fast = measured(FastParameters::default(), rtt);
            let mut window = window_with(10.0, ssthresh, Arithmetic::Real);
            fast.on_ack(&mut window, &ack(0));
            assert_eq!(window.cwnd, grown);
            assert_eq!(window.in_slow_start(), grown == 11.0 && ssthresh > 2.0);
        }
    }
}

#[test]
fn rtt_is_smoothed_over_a_third_of_the_window() {
    // min(3/W, 1/4): 300 segments 1/100, so 10 ms more are 0.1; 6 segments 1/4, 2.5.
    for (cwnd, rtt) in [(300.0, 100.1), (6.0, 102.5)] {
        let mut fast = measured(FastParameters::default(), 100.0);
        fast.measure(Nanos::from_millis(110), cwnd);
        assert_near(fast.rtt.unwrap() / 1e6, rtt, 1e-9);
    }
    let mut fast = Fast::new(FastParameters::default());
    fast.on_ack(&mut window(10.0, Arithmetic::Real), &Ack { cumulative: 0, ..ack_rtt(0, 110) });
    assert_eq!((fast.rtt, fast.base_rtt), (Some(110e6), Nanos::from_millis(110)));
}

#[test]
fn a_loss_halves_and_forgets_what_was_under_way() {
    let mut fast = measured(FastParameters::default(), 125.0);
    let mut window = window(100.0, Arithmetic::Real);
    fast.last_window = 100.0;
    begin_round(&mut fast, &mut window);
    begin_round(&mut fast, &mut window);
    assert!(fast.rise.is_some());
    lose(&mut fast, &mut window, 0);
    fast.on_ack(&mut window, &ack(0));
    assert_eq!((window.cwnd, window.ssthresh, fast.rise, fast.last_window), (50.0, 50.0, None, 50.0));
}

#[test]
fn slow_start_leads_back_to_half_after_a_timeout() {
    let mut fast = measured(FastParameters::default(), 125.0);
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut fast, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 50.0));
    fast.on_ack(&mut window, &ack(0));
    assert_eq!(window.cwnd, 2.0);
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    fast.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 50.0);
}

#[test]
fn samples_of_no_time_are_harmless() {
    let mut fast = Fast::new(FastParameters::default());
    let mut window = window(100.0, Arithmetic::Real);
    for _ in 0..5 {
        round_trip(&mut fast, &mut window, 0, 0);
    }
    assert!(window.cwnd.is_finite());
    assert_eq!(fast.equation(100.0, 100.0), 150.0);
}
