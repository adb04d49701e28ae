use super::*;
use crate::CongestionKind;
use crate::testing::{ack, assert_near, congestion, lose, time_out, window, window_with};

fn prague() -> Prague {
    Prague::new(PragueParameters::default())
}

/// A flow to which the reference round-trip time applies from the first round trip.
fn independent() -> Prague {
    Prague::new(PragueParameters { transition: 0.0, ..Default::default() })
}

/// An ACK of one segment at `ms` on a path of `rtt_ms`, which has sent `sent` segments so far.
fn at(ms: u64, rtt_ms: u64, sent: u64) -> Ack {
    Ack { srtt: Nanos::from_millis(rtt_ms), sent, in_flight: 10, ..ack(ms) }
}

fn marked(ack: Ack) -> Ack {
    Ack { marked: ack.acked, ..ack }
}

/// An ACK that changes no window, and ends a round trip with `marked` of `acked` segments marked.
fn round(ms: u64, acked: u32, marked: u32) -> Ack {
    Ack { acked, marked, cumulative: 0, round_start: true, state: State::Recovery, ..at(ms, 100, 0) }
}

#[test]
fn growth_is_a_segment_a_round_trip() {
    // Section 2.4.3 with M = 1: W += 1/W for each unmarked segment.
    for (cwnd, growth) in [(10.0, 0.1), (100.0, 0.01), (1000.0, 0.001)] {
        let mut window = window(cwnd, Arithmetic::Real);
        prague().on_ack(&mut window, &at(0, 50, 0));
        assert_near(window.cwnd - cwnd, growth, 1e-12);
    }
}

#[test]
fn only_unmarked_segments_grow_the_window() {
    // Four segments, three of them marked, soon after a reduction: W = 50, and 50 + 1/50.
    let mut prague = prague();
    let mut window = window(100.0, Arithmetic::Real);
    prague.on_ack(&mut window, &marked(at(0, 50, 200)));
    assert_eq!(window.cwnd, 50.0);
    prague.on_ack(&mut window, &Ack { acked: 4, marked: 3, ..at(1, 50, 201) });
    assert_near(window.cwnd, 50.02, 1e-12);
    // All marked: no growth.
    prague.on_ack(&mut window, &marked(at(2, 50, 201)));
    assert_near(window.cwnd, 50.02, 1e-12);
}

#[test]
fn alpha_begins_at_the_first_mark() {
    // Unmarked round trips before it do not count. From 1, a tenth marked: 1 + (0.1 - 1)/16 = 0.94375.
    let mut prague = prague();
    let mut window = window(100.0, Arithmetic::Real);
    for n in 0..50 {
        prague.on_ack(&mut window, &round(100 * n, 10, 0));
    }
    assert_eq!(prague.alpha, None);
    prague.on_ack(&mut window, &marked(at(5000, 100, 100)));
    assert_eq!((prague.alpha, window.cwnd), (Some(1.0), 50.0));
    prague.update_alpha(Nanos::from_millis(5050));
    let before = prague.alpha.unwrap();
    prague.on_ack(&mut window, &round(5100, 10, 1));
    assert_near(prague.alpha.unwrap(), before + (0.1 - before) / 16.0, 1e-12);
}

#[test]
fn alpha_keeps_what_ten_bits_would_lose() {
    // Two marks in each round trip of 10,000 segments: alpha is 0.0002, a fifth of 1/1024.
    let mut prague = prague();
    let mut window = window(1e4, Arithmetic::Real);
    prague.alpha = Some(1.0);
    for n in 0..400 {
        prague.on_ack(&mut window, &round(100 * n, 10_000, 2));
    }
    assert_near(prague.alpha.unwrap(), 2e-4, 1e-9);
}

#[test]
fn a_mark_takes_half_of_alpha() {
    // alpha = 0.1: 100 (1 - 0.05) = 95.
    let mut prague = prague();
    prague.alpha = Some(0.1);
    let mut window = window(100.0, Arithmetic::Real);
    prague.on_ack(&mut window, &marked(at(0, 50, 100)));
    assert_near(window.cwnd, 95.0, 1e-12);
    assert_near(window.ssthresh, 95.0, 1e-12);
}

#[test]
fn marks_reduce_once_a_round_trip() {
    // 100 segments are sent at the first mark. The reduction lasts until the 101st is acknowledged.
    let mut prague = prague();
    prague.alpha = Some(0.5);
    let mut window = window(100.0, Arithmetic::Real);
    for _ in 0..101 {
        prague.on_ack(&mut window, &marked(at(0, 50, 100)));
    }
    assert_eq!(prague.acknowledged, 101);
    assert_near(window.cwnd, 100.0 * 0.75 * 0.75, 1e-12);
}

#[test]
fn a_reference_round_trip_passes_between_reductions() {
    // On a path of 5 ms: a mark every 5 ms reduces at 0, 25 and 50 ms.
    let mut prague = independent();
    prague.alpha = Some(0.5);
    let mut window = window(256.0, Arithmetic::Real);
    let mut cuts = 0;
    for n in 0..11u64 {
        let before = window.cwnd;
        let ack = Ack { now: Nanos::from_millis(1000 + 5 * n), ..marked(at(0, 5, n)) };
        prague.on_ack(&mut window, &ack);
        cuts += u32::from(window.cwnd < before);
    }
    assert_eq!(cuts, 3);
    assert_near(window.cwnd, 256.0 * 0.75 * 0.75 * 0.75, 1e-9);
}

#[test]
fn a_short_round_trip_grows_by_a_25th() {
    // 5 ms: M = 5, so a round trip adds 1/25 of a segment; 25 ms and more add one.
    for (rtt, increase) in [(5, 0.04), (20, 0.64), (25, 1.0), (100, 1.0)] {
        let mut prague = independent();
        let mut window = window(100.0, Arithmetic::Real);
        prague.on_ack(&mut window, &Ack { round_start: true, ..at(0, rtt, 0) });
        assert_near(window.cwnd - 100.0, increase / 100.0, 1e-12);
    }
}

#[test]
fn the_reference_applies_after_the_transition() {
    let mut prague = prague();
    let mut window = window_with(100.0, 2.0, Arithmetic::Real);
    for n in 1..=500 {
        assert_eq!(prague.increase, 1.0, "round trip {n}");
        prague.on_ack(&mut window, &Ack { round_start: true, cumulative: 0, ..at(5 * n, 5, 0) });
    }
    assert_near(prague.increase, 0.04, 1e-12);
    // Round trips of slow start do not count.
    let mut young = independent();
    young.parameters.transition = 1.0;
    let mut window = window_with(10.0, 1000.0, Arithmetic::Real);
    young.on_ack(&mut window, &Ack { round_start: true, ..at(5, 5, 0) });
    assert_eq!(young.rounds, 0);
}

#[test]
fn alpha_waits_for_the_reference_round_trip() {
    // Round trips of 5 ms, all of whose segments are marked: alpha moves at 25 and 50 ms only.
    let mut prague = independent();
    prague.alpha = Some(0.0);
    let mut window = window(100.0, Arithmetic::Real);
    for n in 1..=10 {
        prague.on_ack(&mut window, &Ack { srtt: Nanos::from_millis(5), ..round(5 * n, 10, 10) });
    }
    // 1/16, then 1/16 + (1 - 1/16)/16 = 31/256.
    assert_near(prague.alpha.unwrap(), 31.0 / 256.0, 1e-12);
}

#[test]
fn integers_round_the_fraction_up() {
    // W = 10 and 1/10 for each ACK: 10.1 is 11. A fraction taken off 10.1: 10.1 (1 - 0.05) = 9.595, published as 10.
    let mut prague = prague();
    prague.alpha = Some(0.1);
    let mut window = window(10.0, Arithmetic::Linux);
    prague.on_ack(&mut window, &at(0, 50, 10));
    assert_eq!(window.cwnd, 11.0);
    prague.on_ack(&mut window, &marked(at(1, 50, 10)));
    assert_near(prague.cwnd, 9.595, 1e-12);
    assert_eq!((window.cwnd, window.ssthresh), (10.0, 9.0));
    // ssthresh is under the window where equality counts as slow start.
    let mut window = window_with(16.0, 1000.0, Arithmetic::Linux26);
    let mut prague = self::prague();
    prague.on_ack(&mut window, &marked(at(0, 50, 10)));
    assert_eq!((window.cwnd, window.ssthresh, window.in_slow_start()), (8.0, 7.0, false));
}

#[test]
fn the_first_mark_ends_slow_start() {
    let mut prague = prague();
    let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    prague.on_ack(&mut window, &at(0, 50, 20));
    assert_eq!(window.cwnd, 11.0);
    prague.on_ack(&mut window, &marked(at(1, 50, 20)));
    assert_eq!((window.cwnd, window.ssthresh), (5.5, 5.5));
}

#[test]
fn losses_halve_and_marks_in_recovery_do_not_reduce() {
    let mut prague = prague();
    prague.alpha = Some(0.0);
    let mut window = window(100.0, Arithmetic::Real);
    lose(&mut prague, &mut window, 0);
    assert_eq!(window.cwnd, 50.0);
    prague.alpha = Some(1.0);
    prague.on_ack(&mut window, &Ack { state: State::Recovery, ..marked(at(1, 50, 10)) });
    assert_eq!(window.cwnd, 50.0);
    time_out(&mut prague, &mut window, 2);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 25.0));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 3) };
    prague.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 25.0);
}

#[test]
fn without_accurate_feedback_it_is_reno() {
    // Classic echoes are an episode of the transport: they halve. The reference round-trip time is off.
    let mut prague = independent();
    let mut window = window(100.0, Arithmetic::Real);
    prague.init(&mut window, &Init { ecn: EcnMode::Classic, ..Init::default() });
    prague.on_ack(&mut window, &Ack { round_start: true, ..marked(at(0, 5, 0)) });
    assert_near(window.cwnd, 100.01, 1e-12);
    let echo = congestion(&window, CongestionKind::Ecn, 1);
    prague.on_congestion(&mut window, &echo);
    assert_near(window.ssthresh, 50.005, 1e-12);
}

#[test]
fn pacing_doubles_in_slow_start_only() {
    // 100 segments of 1,448 bytes in 50 ms are 2,896,000 bytes a second.
    for (ssthresh, gain, expected) in
        [(f64::INFINITY, 1.0, 2.0), (150.0, 1.0, 1.0), (2.0, 1.0, 1.0), (2.0, 1.2, 1.2)]
    {
        let mut prague = Prague::new(PragueParameters { pacing_gain: gain, ..Default::default() });
        let mut window = window_with(100.0, ssthresh, Arithmetic::Real);
        prague.on_ack(&mut window, &Ack { cwnd_limited: false, ..at(0, 50, 0) });
        assert_near(window.pacing_rate, expected * 2_896_000.0, 1e-3);
    }
    // More in flight than the window, after a reduction: the rate follows what is in flight.
    let mut window = window(100.0, Arithmetic::Real);
    prague().on_ack(&mut window, &Ack { cwnd_limited: false, in_flight: 200, ..at(0, 50, 0) });
    assert_near(window.pacing_rate, 5_792_000.0, 1e-3);
}

#[test]
fn a_window_that_the_transport_changes_is_taken_over() {
    let mut prague = prague();
    let mut window = window(10.0, Arithmetic::Linux);
    prague.on_ack(&mut window, &at(0, 50, 10));
    window.set_cwnd(40.0);
    prague.on_ack(&mut window, &at(1, 50, 10));
    assert_near(prague.cwnd, 40.025, 1e-12);
}

#[test]
fn it_asks_for_exact_marks_and_pacing() {
    let needs = Needs { ecn: Some(EcnMode::Exact), pacing: true, marks_only: true, ..Needs::default() };
    assert_eq!(prague().needs(), needs);
}
