use super::*;
use crate::CongestionKind;
use crate::testing::{
    ack, ack_rtt, acks_for_a_segment, assert_near, congestion, lose, round_trips_until, time_out, window,
    window_with,
};

/// A Hybla that does not touch the initial window.
fn hybla() -> Hybla {
    Hybla::new(HyblaParameters { scale_start: false, ..Default::default() })
}

#[test]
fn congestion_avoidance_adds_rho_squared_a_round_trip() {
    // 100 ms: rho 4, 16/W. 25 ms and 10 ms: Reno. 200 ms: 64/W.
    for (rtt_ms, cwnd, growth) in
        [(100, 100.0, 0.16), (100, 1000.0, 0.016), (25, 100.0, 0.01), (10, 100.0, 0.01), (200, 1000.0, 0.064)]
    {
        let mut window = window(cwnd, Arithmetic::Real);
        hybla().on_ack(&mut window, &ack_rtt(0, rtt_ms));
        assert_near(window.cwnd - cwnd, growth, 1e-12);
    }
}

#[test]
fn slow_start_adds_two_to_the_rho_less_one() {
    // 25 ms: 1. 50 ms: 3. 60 ms: rho 2.4, 2^2.4 - 1 = 4.278. 100 ms: 15. 150 ms and more: 63.
    for (rtt_ms, growth) in
        [(10, 1.0), (25, 1.0), (50, 3.0), (60, 4.278_032), (100, 15.0), (150, 63.0), (600, 63.0)]
    {
        let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
        hybla().on_ack(&mut window, &ack_rtt(0, rtt_ms));
        assert_near(window.cwnd - 10.0, growth, 1e-6);
    }
}

#[test]
fn the_rate_grows_as_on_the_reference_path() {
    // A second of congestion avoidance, with rates of W/RTT: Reno at 25 ms adds 40 segments, 1600 a second more.
    // At 100 ms there are 10 round trips of 16, 160 segments, and those over 0.1 s are 1600 a second too.
    let mut window = window(1000.0, Arithmetic::Real);
    let mut hybla = hybla();
    round_trips_until(&mut hybla, &mut window, &ack_rtt(0, 100), |_, round_trips| round_trips >= 10.0);
    assert_near((window.cwnd - 1000.0) / 0.1, 1600.0, 2.0);
}

#[test]
fn slow_start_stops_at_the_threshold_and_hands_over() {
    // 100 ms: 100 to 130 takes two of five segments (15 each); the other three add 16/130 each.
    let mut window = window_with(100.0, 130.0, Arithmetic::Real);
    hybla().on_ack(&mut window, &Ack { acked: 5, ..ack_rtt(0, 100) });
    assert_near(window.cwnd, 130.0 + 48.0 / 130.0, 1e-9);
    // A step that is larger than the room fills it and leaves nothing.
    for arithmetic in [Arithmetic::Linux, Arithmetic::Linux26] {
        let mut window = window_with(125.0, 130.0, arithmetic);
        hybla().on_ack(&mut window, &ack_rtt(0, 100));
        assert_eq!(window.cwnd, 130.0);
    }
}

#[test]
fn integers_keep_the_fraction_of_a_step() {
    // 60 ms: 4.278 an ACK from 10: 14, 18, 22, 27.
    let mut other = hybla();
    let mut start = window_with(10.0, 1000.0, Arithmetic::Linux26);
    for expected in [14.0, 18.0, 22.0, 27.0] {
        other.on_ack(&mut start, &ack_rtt(0, 60));
        assert_eq!(start.cwnd, expected);
    }
    // Congestion avoidance at 100 ms: 16 for each of 160, ten ACKs.
    let acks = acks_for_a_segment(&mut hybla(), &mut window(160.0, Arithmetic::Linux26), &ack_rtt(0, 100));
    assert_eq!(acks, 10);
}

#[test]
fn todays_linux_reckons_in_eighths_and_128ths() {
    // 40 ms: rho8 = 320/25 = 12. Slow start: 128 2^(4/8) = 181.02, so 2 x 181 - 128 = 234 = 1 and 106 parts an ACK,
    // whatever it acknowledges: from 1 (which is 12/8) to 2, 2 + 1 + (212 - 128 = 84), ...
    let mut hybla = Hybla::new(HyblaParameters::default());
    let mut window = window_with(10.0, 6.0, Arithmetic::Linux);
    hybla.init(&mut window, &Init { rtt: Some(Nanos::from_millis(40)), ..Init::default() });
    assert_eq!(window.cwnd, 1.0);
    let two = Ack { acked: 2, cumulative: 2, ..ack_rtt(0, 40) };
    for expected in [2.0, 4.0, 6.0, 6.0] {
        hybla.on_ack(&mut window, &two);
        assert_eq!(window.cwnd, expected);
    }
    // Congestion avoidance: 2 x 144/W parts an ACK. At 100 segments two, so that 64 ACKs are a segment.
    let acks = |cwnd: f64| {
        let mut window = crate::testing::window(cwnd, Arithmetic::Linux);
        acks_for_a_segment(&mut super::tests::hybla(), &mut window, &ack_rtt(0, 40))
    };
    assert_eq!(acks(100.0), 64);
    // From 289 on none: a segment for 289 ACKs.
    assert_eq!((acks(288.0), acks(289.0)), (128, 289));
}

#[test]
fn the_start_is_multiplied_once_the_rtt_is_known() {
    // 100 ms: 10 segments become 40, ssthresh 50 becomes 200; then the first ACK adds 15.
    let scaled = || Hybla::new(HyblaParameters::default());
    let mut window = window_with(10.0, 50.0, Arithmetic::Real);
    let mut hybla = scaled();
    let rtt = Some(Nanos::from_millis(100));
    hybla.init(&mut window, &Init { rtt, ..Init::default() });
    assert_eq!((window.cwnd, window.ssthresh), (40.0, 200.0));
    hybla.on_ack(&mut window, &ack_rtt(0, 100));
    assert_eq!((window.cwnd, window.ssthresh), (55.0, 200.0));
    // Without a handshake the first ACK does both, and a loss before it ends the matter.
    let mut late = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    let mut hybla = scaled();
    hybla.init(&mut late, &Init::default());
    hybla.on_ack(&mut late, &ack_rtt(0, 100));
    assert_eq!(late.cwnd, 55.0);
    let mut never = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    let mut hybla = scaled();
    lose(&mut hybla, &mut never, 0);
    hybla.on_ack(&mut never, &ack_rtt(0, 100));
    assert_near(never.cwnd, 5.0 + 16.0 / 5.0, 1e-12);
}

#[test]
fn packets_are_spaced_over_the_smoothed_rtt() {
    // After the ACK W = 115, 115 * 1448 B twice in 100 ms: 3,330,400 B/s. At a threshold of 115: 1.2 times.
    for (ssthresh, windows) in [(1000.0, 2.0), (115.0, 1.2)] {
        let mut window = window_with(100.0, ssthresh, Arithmetic::Real);
        let mut hybla = hybla();
        assert!(hybla.needs().pacing);
        hybla.on_ack(&mut window, &ack_rtt(0, 100));
        assert_near(window.pacing_rate, windows * 1_665_200.0, 1e-3);
    }
    let mut plain = Hybla::new(HyblaParameters { pacing: false, ..Default::default() });
    let mut window = window(100.0, Arithmetic::Real);
    plain.on_ack(&mut window, &ack_rtt(0, 100));
    assert!(window.pacing_rate.is_infinite() && !plain.needs().pacing);
}

#[test]
fn a_queue_does_not_speed_it_up_and_a_shorter_path_slows_it_down() {
    let mut hybla = hybla();
    let mut window = window(1000.0, Arithmetic::Real);
    for (rtt_ms, min_ms, growth) in [(100, 100, 0.016), (200, 100, 0.016), (50, 50, 0.004)] {
        window.set_cwnd(1000.0);
        let min_rtt = Nanos::from_millis(min_ms);
        hybla.on_ack(&mut window, &Ack { min_rtt, ..ack_rtt(0, rtt_ms) });
        assert_near(window.cwnd - 1000.0, growth, 1e-12);
    }
}

#[test]
fn losses_and_timeouts_halve_and_the_way_back_from_a_timeout_is_renos() {
    let mut hybla = hybla();
    let mut window = window(1000.0, Arithmetic::Real);
    lose(&mut hybla, &mut window, 0);
    assert_eq!(window.cwnd, 500.0);
    time_out(&mut hybla, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 250.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 400) };
    hybla.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 250.0);
    hybla.on_ack(&mut window, &Ack { state: State::Loss, ..ack_rtt(0, 100) });
    assert_eq!(window.cwnd, 2.0);
    hybla.on_ack(&mut window, &ack_rtt(0, 100));
    assert_eq!(window.cwnd, 17.0);
}

#[test]
fn the_first_window_is_scaled_once_the_rtt_is_known() {
    // An ACK without a sample doubles as Reno's slow start does; with 100 ms the 11 segments become 44, and the ACK
    // adds 15.
    let mut hybla = Hybla::new(HyblaParameters::default());
    let mut window = window_with(10.0, 1000.0, Arithmetic::Real);
    hybla.on_ack(&mut window, &Ack { min_rtt: Nanos::MAX, ..ack(0) });
    assert_eq!((window.cwnd, window.ssthresh), (11.0, 1000.0));
    hybla.on_ack(&mut window, &ack_rtt(100, 100));
    assert_eq!((window.cwnd, window.ssthresh), (59.0, 4000.0));
    hybla.on_ack(&mut window, &ack_rtt(200, 100));
    assert_eq!((window.cwnd, window.ssthresh), (74.0, 4000.0));
}
