use super::*;
use crate::testing::{
    ack, ack_rtt, acks_for_a_segment, assert_near, congestion, lose, round_trip, time_out, window,
    window_with,
};
use crate::{Arithmetic, CongestionKind};

fn yeah() -> Yeah {
    Yeah::new(YeahParameters::default())
}

#[test]
fn fast_mode_grows_by_a_hundredth_and_slow_mode_as_reno() {
    // 1/min(W, 100): 0.1, 0.01, 0.01; slow: 0.1, 0.01, 0.001.
    for (cwnd, fast, slow) in [(10.0, 0.1, 0.1), (100.0, 0.01, 0.01), (1000.0, 0.01, 0.001)] {
        for (slow_rounds, growth) in [(0, fast), (1, slow)] {
            let mut window = window(cwnd, Arithmetic::Real);
            Yeah { slow_rounds, ..yeah() }.on_ack(&mut window, &ack(0));
            assert_near(window.cwnd - cwnd, growth, 1e-12);
        }
    }
    assert_eq!(acks_for_a_segment(&mut yeah(), &mut window(1000.0, Arithmetic::Linux), &ack(0)), 100);
    assert_eq!(acks_for_a_segment(&mut yeah(), &mut window(1000.0, Arithmetic::Linux26), &ack(0)), 101);
    // Reno's growth takes its step with the ACK that completes the window.
    let mut slow = Yeah { slow_rounds: 1, ..yeah() };
    assert_eq!(acks_for_a_segment(&mut slow, &mut window(1000.0, Arithmetic::Linux26), &ack(0)), 1000);
}

#[test]
fn linux_26_gives_up_whole_segments() {
    // Of 1000 segments 200 ms over 100 queue 1000 * 100,000/200,001 us = 499.99; the sample that ends the round trip
    // counts in it.
    for (arithmetic, queue, left) in [(Arithmetic::Linux26, 499.0, 501.0), (Arithmetic::Real, 500.0, 500.0)] {
        let mut yeah = Yeah { slow_rounds: 1, ..yeah() };
        let mut window = window(1000.0, arithmetic);
        let sample = |rtt| Ack { acked: 0, cumulative: 0, ..ack_rtt(0, rtt) };
        // The first ACK ends a round trip by itself, the last the next.
        yeah.on_ack(&mut window, &ack_rtt(0, 100));
        yeah.on_ack(&mut window, &Ack { round_start: true, ..sample(200) });
        (0..3).for_each(|_| yeah.on_ack(&mut window, &sample(200)));
        yeah.on_ack(&mut window, &Ack { round_start: true, ..ack_rtt(0, 200) });
        // (In real numbers the two ACKs' growth of a thousandth counts, too.)
        assert_near(yeah.queue, queue, 0.0011);
        assert_near(window.cwnd, left, 0.0011);
    }
}

#[test]
fn delay_or_queue_makes_it_slow() {
    // 100 segments: 112 ms are 12 ms of delay, under 12.5; 113 ms are over, with only 11.5 segments queued.
    // 1000 segments: 108 ms queue 74, 109 ms 82.6.
    for (cwnd, rtt, slow) in
        [(100.0, 112, false), (100.0, 113, true), (1000.0, 108, false), (1000.0, 109, true)]
    {
        let mut yeah = yeah();
        let mut window = window(cwnd, Arithmetic::Real);
        round_trip(&mut yeah, &mut window, 100, rtt);
        assert_eq!(yeah.slow_rounds > 0, slow, "{cwnd} {rtt}");
        round_trip(&mut yeah, &mut window, 100, 100);
        assert_eq!(yeah.slow_rounds, 0);
    }
}

#[test]
fn a_queue_over_alpha_is_taken_back() {
    // 1000 (1 - 100/125) = 200 segments: 800 are left, ssthresh too. W_reno was 2 and begins at 400.
    let mut yeah = yeah();
    let mut window = window(1000.0, Arithmetic::Real);
    round_trip(&mut yeah, &mut window, 100, 125);
    assert_near(window.cwnd, 800.0, 1e-9);
    assert_near(window.ssthresh, 800.0, 1e-9);
    assert_near(yeah.reno_window, 400.0, 1e-9);
    // 800 (1 - 100/400) = 600, but no more than half: 400, which is W_reno's bound too; W_reno is then 401.
    round_trip(&mut yeah, &mut window, 100, 400);
    assert_near(window.cwnd, 400.0, 1e-9);
    assert_near(yeah.reno_window, 401.0, 1e-9);
    // At or under W_reno it does not decongest: a Reno flow would hold as much.
    round_trip(&mut yeah, &mut window, 100, 400);
    assert_near(window.cwnd, 400.0, 1e-9);
    assert_near(yeah.reno_window, 402.0, 1e-9);
}

#[test]
fn slow_start_ends_by_decongestion() {
    let mut window = window_with(1000.0, f64::INFINITY, Arithmetic::Real);
    round_trip(&mut yeah(), &mut window, 100, 125);
    assert_near(window.cwnd, 800.0, 1e-9);
    assert!(!window.in_slow_start());
}

#[test]
fn fifty_fast_round_trips_forget_renos_window() {
    let mut yeah = Yeah { reno_window: 300.0, ..yeah() };
    let mut window = window(1000.0, Arithmetic::Real);
    for _ in 0..50 {
        round_trip(&mut yeah, &mut window, 100, 100);
    }
    assert_eq!((yeah.reno_window, yeah.fast_rounds), (300.0, 50));
    round_trip(&mut yeah, &mut window, 100, 100);
    assert_eq!((yeah.reno_window, yeah.fast_rounds), (2.0, 0));
}

#[test]
fn a_loss_gives_up_the_queue_between_an_eighth_and_a_half() {
    // Of 1000: nothing queued, 125; 200 queued, 200; 700 queued, 500. After 16 slow round trips 500.
    for (queue, slow_rounds, left) in
        [(0.0, 0, 875.0), (200.0, 15, 800.0), (700.0, 0, 500.0), (200.0, 16, 500.0)]
    {
        let mut yeah = Yeah { queue, slow_rounds, fast_rounds: 7, reno_window: 99.0, ..yeah() };
        let mut window = window(1000.0, Arithmetic::Real);
        lose(&mut yeah, &mut window, 0);
        assert_eq!((window.cwnd, yeah.reno_window, yeah.fast_rounds), (left, 49.5, 0));
    }
}

#[test]
fn a_timeout_sets_the_threshold_as_a_loss_does() {
    let mut yeah = yeah();
    let mut window = window(1000.0, Arithmetic::Real);
    time_out(&mut yeah, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 875.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    yeah.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 875.0);
}

#[test]
fn two_samples_decide_nothing() {
    let mut yeah = yeah();
    let mut window = window(1000.0, Arithmetic::Real);
    let sample = |rtt| Ack { acked: 0, cumulative: 0, ..ack_rtt(0, rtt) };
    yeah.on_ack(&mut window, &sample(100));
    yeah.on_ack(&mut window, &Ack { round_start: true, ..sample(200) });
    yeah.on_ack(&mut window, &sample(200));
    yeah.on_ack(&mut window, &Ack { acked: 0, round_start: true, ..ack(0) });
    assert_eq!((window.cwnd, yeah.queue), (1000.0, 0.0));
}

#[test]
fn samples_of_a_recovery_are_forgotten() {
    let mut yeah = yeah();
    let mut window = window(1000.0, Arithmetic::Real);
    let within = Ack { cumulative: 0, acked: 0, ..ack_rtt(0, 100) };
    yeah.on_ack(&mut window, &within);
    yeah.on_ack(&mut window, &Ack { rtt: None, round_start: true, ..within });
    for _ in 0..3 {
        yeah.on_ack(&mut window, &Ack { rtt: Some(Nanos::from_millis(400)), ..within });
    }
    yeah.on_recovery_exit(&mut window, Nanos::ZERO);
    yeah.on_ack(&mut window, &Ack { round_start: true, ..ack(1) });
    assert_eq!((yeah.slow_rounds, yeah.queue), (0, 0.0));
}
