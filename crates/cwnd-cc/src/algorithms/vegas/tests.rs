use super::*;
use crate::testing::{ack, ack_rtt, congestion, lose, round_trip, time_out, window, window_with};
use crate::{Arithmetic, CongestionKind};

fn vegas() -> Vegas {
    Vegas::new(VegasParameters::default())
}

fn with_the_papers_slow_start() -> Vegas {
    Vegas::new(VegasParameters { slow_start: VegasSlowStart::Paper, ..Default::default() })
}

#[test]
fn the_window_moves_by_one_towards_two_to_four_queued_segments() {
    // W (1 - 100/RTT). At 10: 111 ms is 0.99. At 100: 102 ms is 1.96, 103 ms 2.91, 104 ms 3.85, 105 ms 4.76.
    // At 1000: 100 ms is 0, 101 ms is 9.9.
    for (cwnd, rtt, left) in [
        (10.0, 111, 11.0),
        (100.0, 102, 101.0),
        (100.0, 103, 100.0),
        (100.0, 104, 100.0),
        (100.0, 105, 99.0),
        (1000.0, 100, 1001.0),
        (1000.0, 101, 999.0),
    ] {
        let mut window = window(cwnd, Arithmetic::Real);
        round_trip(&mut vegas(), &mut window, 100, rtt);
        assert_eq!(window.cwnd, left, "{cwnd} {rtt}");
    }
}

#[test]
fn nothing_moves_within_a_round_trip() {
    let mut window = window(100.0, Arithmetic::Real);
    let mut vegas = vegas();
    for ms in 0..50 {
        vegas.on_ack(&mut window, &ack_rtt(ms, 100));
    }
    assert_eq!(window.cwnd, 100.0);
}

#[test]
fn two_samples_are_too_few_to_judge() {
    // 50 of 100 would be queued; a delayed ACK may say so of an empty path.
    let mut window = window(100.0, Arithmetic::Real);
    let mut vegas = vegas();
    let sample = |rtt| Ack { acked: 0, cumulative: 0, ..ack_rtt(0, rtt) };
    vegas.on_ack(&mut window, &sample(100));
    vegas.on_ack(&mut window, &Ack { round_start: true, ..sample(200) });
    vegas.on_ack(&mut window, &sample(200));
    vegas.on_ack(&mut window, &Ack { acked: 0, round_start: true, ..ack(0) });
    assert_eq!(window.cwnd, 101.0);
}

#[test]
fn the_papers_slow_start_doubles_in_every_other_round_trip() {
    let mut vegas = with_the_papers_slow_start();
    let mut window = window_with(4.0, f64::INFINITY, Arithmetic::Real);
    let mut windows = [0.0; 5];
    for left in &mut windows {
        // A whole window of ACKs; the first begins the round trip.
        for n in 0..window.cwnd as u32 {
            vegas.on_ack(&mut window, &Ack { round_start: n == 0, ..ack_rtt(0, 100) });
        }
        *left = window.cwnd;
    }
    // The first ACK of all begins a round trip that is held, being the second.
    assert_eq!(windows, [4.0, 8.0, 8.0, 16.0, 16.0]);
}

#[test]
fn one_queued_segment_ends_the_papers_slow_start_and_an_eighth_is_given_up() {
    // 64 (1 - 100/101) = 0.63 continues, 64 (1 - 100/102) = 1.25 ends: 64 - 8 = 56.
    for (rtt, left) in [(101, 64.0), (102, 56.0)] {
        let mut vegas = Vegas { doubling: false, ..with_the_papers_slow_start() };
        let mut window = window_with(64.0, f64::INFINITY, Arithmetic::Real);
        round_trip(&mut vegas, &mut window, 100, rtt);
        assert_eq!((window.cwnd, window.in_slow_start()), (left, left == 64.0));
    }
    // After a round trip that doubled the window nothing is compared.
    let mut window = window_with(64.0, f64::INFINITY, Arithmetic::Real);
    round_trip(&mut with_the_papers_slow_start(), &mut window, 100, 200);
    assert!(window.in_slow_start());
}

#[test]
fn slow_start_is_left_with_what_the_path_delivered() {
    // 64 * 100/128 + 1 = 51, and congestion avoidance from there on, whatever counts as slow start.
    let mut window = window_with(64.0, f64::INFINITY, Arithmetic::Real);
    round_trip(&mut vegas(), &mut window, 100, 128);
    assert_eq!((window.cwnd, window.in_slow_start()), (51.0, false));
    // It doubles in every round trip.
    let mut vegas = vegas();
    let mut window = window_with(4.0, f64::INFINITY, Arithmetic::Real);
    for n in 0..8 {
        vegas.on_ack(&mut window, &Ack { round_start: n % 4 == 0, ..ack_rtt(0, 100) });
    }
    assert_eq!(window.cwnd, 12.0);
}

#[test]
fn a_window_that_shrinks_stays_out_of_slow_start() {
    // ssthresh 50 after a loss; delay takes the window under it.
    for (arithmetic, mut vegas) in
        [(Arithmetic::Real, vegas()), (Arithmetic::Linux26, with_the_papers_slow_start())]
    {
        let mut window = window_with(50.0, 50.0, arithmetic);
        window.set_ssthresh(49.0);
        for _ in 0..10 {
            round_trip(&mut vegas, &mut window, 100, 200);
        }
        assert_eq!((window.cwnd, window.in_slow_start()), (40.0, false));
    }
    // Two segments stay.
    let mut window = window(2.0, Arithmetic::Real);
    let parameters = VegasParameters { alpha: 0.1, beta: 0.5, ..Default::default() };
    round_trip(&mut Vegas::new(parameters), &mut window, 100, 400);
    assert_eq!(window.cwnd, 2.0);
}

#[test]
fn a_loss_halves_or_takes_a_quarter() {
    for (kept, left) in [(0.5, 50.0), (0.75, 75.0)] {
        let mut window = window(100.0, Arithmetic::Real);
        lose(&mut Vegas::new(VegasParameters { kept, ..Default::default() }), &mut window, 0);
        assert_eq!((window.cwnd, window.ssthresh), (left, left));
    }
}

#[test]
fn a_timeout_halves_the_threshold_once() {
    let mut vegas = vegas();
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut vegas, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 50.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    vegas.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 50.0);
}

#[test]
fn samples_of_before_a_recovery_are_forgotten() {
    let mut vegas = vegas();
    let mut window = window(100.0, Arithmetic::Real);
    for _ in 0..5 {
        vegas.on_ack(&mut window, &Ack { acked: 0, cumulative: 0, ..ack_rtt(0, 300) });
    }
    lose(&mut vegas, &mut window, 0);
    round_trip(&mut vegas, &mut window, 100, 100);
    assert_eq!(window.cwnd, 51.0);
}

#[test]
fn exactly_two_or_four_queued_segments_are_within_bounds() {
    // A quarter of the window is queued: 7 have 1.75, 8 just 2, 16 just 4, 17 have 4.25.
    for (cwnd, left) in [(7.0, 8.0), (8.0, 8.0), (16.0, 16.0), (17.0, 16.0)] {
        let mut vegas = vegas();
        let mut window = window(cwnd, Arithmetic::Real);
        round_trip(&mut vegas, &mut window, 75, 100);
        assert_eq!(window.cwnd, left);
    }
}
