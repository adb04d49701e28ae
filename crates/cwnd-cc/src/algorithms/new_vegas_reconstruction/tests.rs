use super::*;
use crate::Arithmetic;
use crate::testing::{ack, ack_rtt, assert_near, lose, round_trip, time_out, window, window_with};

fn new_vegas() -> NewVegas {
    NewVegas::new(NewVegasParameters::default())
}

/// A window of ACKs within a round trip.
fn acks(new_vegas: &mut NewVegas, window: &mut Window, segments: u32) {
    new_vegas.on_ack(window, &Ack { acked: segments, ..ack(0) });
}

#[test]
fn after_slow_start_the_steps_halve() {
    // 64 leaves slow start with 56, for 1.25 queued: the first step is 14, then 7, 3.5, 1.75, no more.
    let mut new_vegas = new_vegas();
    let mut window = window_with(64.0, f64::INFINITY, Arithmetic::Real);
    round_trip(&mut new_vegas, &mut window, 100, 100);
    round_trip(&mut new_vegas, &mut window, 100, 102);
    assert_eq!((window.cwnd, new_vegas.step), (56.0, Some(14.0)));
    for (step, grown) in [(14.0, 70.0), (7.0, 77.0), (3.5, 80.5), (1.75, 82.25)] {
        assert_eq!(new_vegas.step, Some(step));
        // An ACK is worth S/W; a window of them S.
        let cwnd = window.cwnd;
        acks(&mut new_vegas, &mut window, 1);
        assert_near(window.cwnd - cwnd, step / cwnd, 1e-9);
        window.set_cwnd(grown);
        round_trip(&mut new_vegas, &mut window, 100, 100);
    }
    // The next would be 0.875: Vegas's one segment.
    assert_eq!((new_vegas.step, window.cwnd), (None, 83.25));
}

#[test]
fn a_queue_of_alpha_ends_the_convergence() {
    // 100 (1 - 100/103) = 2.9 queued: over alpha, under beta, so the window rests.
    let mut new_vegas = NewVegas { step: Some(20.0), ..new_vegas() };
    let mut window = window(100.0, Arithmetic::Real);
    round_trip(&mut new_vegas, &mut window, 100, 103);
    acks(&mut new_vegas, &mut window, 1);
    assert_eq!((new_vegas.step, window.cwnd), (None, 100.0));
}

#[test]
fn then_it_is_vegas() {
    // As Vegas at 10, 100 and 1000: 0.99, 4.76 and 0 queued.
    for (cwnd, rtt, left) in [(10.0, 111, 11.0), (100.0, 105, 99.0), (1000.0, 100, 1001.0)] {
        let mut window = window(cwnd, Arithmetic::Real);
        round_trip(&mut new_vegas(), &mut window, 100, rtt);
        assert_eq!(window.cwnd, left);
    }
}

#[test]
fn slow_start_is_paced_at_twice_the_windows_rate() {
    // 2 * 10 segments of 1,448 bytes in 100 ms; afterwards not at all.
    let mut new_vegas = new_vegas();
    let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    new_vegas.on_ack(&mut window, &Ack { acked: 0, ..ack_rtt(0, 100) });
    assert_near(window.pacing_rate, 289_600.0, 1e-6);
    round_trip(&mut new_vegas, &mut window, 100, 200);
    round_trip(&mut new_vegas, &mut window, 100, 200);
    assert!(!window.in_slow_start() && window.pacing_rate.is_infinite());
    assert!(new_vegas.needs().pacing);
}

#[test]
fn a_loss_halves_and_ends_the_convergence() {
    let mut new_vegas = NewVegas { step: Some(20.0), ..new_vegas() };
    let mut window = window(100.0, Arithmetic::Real);
    lose(&mut new_vegas, &mut window, 0);
    assert_eq!((window.cwnd, new_vegas.step), (50.0, None));
}

#[test]
fn a_timeout_leads_to_slow_start_and_the_threshold_to_a_new_convergence() {
    let mut new_vegas = new_vegas();
    let mut window = window(8.0, Arithmetic::Real);
    window.pacing_rate = 1.0;
    time_out(&mut new_vegas, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 4.0));
    assert!(window.pacing_rate.is_infinite());
    acks(&mut new_vegas, &mut window, 3);
    assert_eq!((window.cwnd, new_vegas.step), (4.0, Some(1.0)));
}
