use super::*;
use crate::testing::{ack_rtt, assert_near, congestion, time_out, window, window_with};

/// A Copa out of slow start on a path of 100 ms.
fn copa() -> Copa {
    let mut copa = Copa { slow_start: false, ..Copa::new(CopaParameters::default()) };
    copa.min.add(Nanos::ZERO, Nanos::from_millis(1000), Nanos::from_millis(100));
    copa
}

/// An ACK at 1,000 ms, within no round's beginning, with that round-trip time.
fn at(rtt_ms: u64) -> Ack {
    ack_rtt(1000, rtt_ms)
}

#[test]
fn up_or_down_around_the_target() {
    // delta 0.5 and dq 20 ms: 100 segments a second, at RTTstanding 120 ms a window of 12. At 12 it goes up
    // by 1/(0.5 * 12) = 0.1667, at 13 down by 0.1538. Without a queue it goes up at any window.
    for (cwnd, rtt, step) in [(12.0, 120, 1.0 / 6.0), (13.0, 120, -2.0 / 13.0), (1000.0, 100, 0.002)] {
        let mut window = window(cwnd, Arithmetic::Real);
        copa().on_ack(&mut window, &at(rtt));
        assert_near(window.cwnd - cwnd, step, 1e-12);
    }
}

#[test]
fn velocity_speeds_both_ways_up_to_what_is_acknowledged() {
    for (velocity, cwnd, rtt, step) in
        [(4.0, 100.0, 100, 0.08), (4.0, 100.0, 120, -0.08), (1e6, 100.0, 120, -1.0), (1e6, 100.0, 100, 1.0)]
    {
        let mut window = window(cwnd, Arithmetic::Real);
        Copa { velocity, ..copa() }.on_ack(&mut window, &at(rtt));
        assert_near(window.cwnd - cwnd, step, 1e-12);
    }
}

#[test]
fn velocity_doubles_after_three_round_trips_the_same_way() {
    // The window at the end of each round trip, and v from there on.
    let mut copa = Copa { round_cwnd: 10.0, ..copa() };
    for (cwnd, velocity) in [
        (11.0, 1.0),
        (12.0, 1.0),
        (14.0, 2.0),
        (18.0, 4.0),
        (17.0, 1.0),
        (16.0, 1.0),
        (15.0, 2.0),
        (15.0, 1.0),
        (14.0, 1.0),
    ] {
        copa.end_round(&window(cwnd, Arithmetic::Real));
        assert_eq!(copa.velocity, velocity, "{cwnd}");
    }
}

#[test]
fn slow_start_ends_over_the_target() {
    // dq 20 ms lets 12 segments be: 11 becomes 12, at 12.5 slow start is over.
    let mut copa = Copa { slow_start: true, ..copa() };
    let mut starting = window(11.0, Arithmetic::Real);
    copa.on_ack(&mut starting, &at(120));
    assert_eq!((starting.cwnd, copa.slow_start), (12.0, true));
    let mut over = window(12.5, Arithmetic::Real);
    copa.on_ack(&mut over, &at(120));
    assert!(!copa.slow_start && over.cwnd < 12.5);
}

#[test]
fn it_paces_at_twice_the_rate() {
    // 2 * 12.1667 segments of 1,448 bytes in 120 ms.
    let mut window = window(12.0, Arithmetic::Real);
    copa().on_ack(&mut window, &at(120));
    assert_near(window.pacing_rate, 2.0 * (12.0 + 1.0 / 6.0) * 1448.0 / 0.12, 1e-6);
}

#[test]
fn the_standing_round_trip_is_the_least_of_half_an_srtt() {
    // srtt 160 ms: 90 ms within the last 80 count, a sample 70 ms ago does, one of 100 ms ago does not.
    let mut copa = copa();
    let srtt = Nanos::from_millis(160);
    for (at, rtt, standing) in [(1000, 140, 140), (1070, 160, 140), (1100, 170, 160), (1200, 175, 175)] {
        copa.measure(Nanos::from_millis(at), Nanos::from_millis(rtt), srtt);
        assert_eq!(copa.standing.get(), Nanos::from_millis(standing), "{at}");
    }
}

#[test]
fn five_round_trips_with_a_queue_change_the_mode() {
    // RTTmin 100, RTTmax 200: nearly empty is dq under 10 ms. At 150 ms it is not: from the fifth round trip
    // on 1/delta rises from 2; a loss halves 5 to 2.5; one round trip at 105 ms ends it.
    let mut copa = copa();
    let window = window(10.0, Arithmetic::Real);
    let round = |copa: &mut Copa, ms: u64, rtt: u64| {
        copa.measure(Nanos::from_millis(ms), Nanos::from_millis(200), Nanos::from_millis(160));
        copa.measure(Nanos::from_millis(ms + 90), Nanos::from_millis(rtt), Nanos::from_millis(160));
        copa.end_round(&window);
        copa.segments
    };
    let mut ms = 1000;
    for segments in [2.0, 2.0, 2.0, 2.0, 3.0, 4.0, 5.0] {
        assert_eq!(round(&mut copa, ms, 150), segments);
        ms += 200;
    }
    let mut lossy = crate::testing::window(10.0, Arithmetic::Real);
    let loss = congestion(&lossy, CongestionKind::Loss, 0);
    copa.on_congestion(&mut lossy, &loss);
    assert_eq!(lossy.ssthresh, 10.0);
    assert_eq!(round(&mut copa, ms, 150), 2.5);
    assert_eq!(round(&mut copa, ms + 200, 105), 2.0);
    assert_eq!(copa.full_rounds, 0);
}

#[test]
fn without_mode_switching_delta_stands() {
    let mut copa = copa();
    copa.parameters.mode_switching = false;
    for ms in 0..20 {
        copa.measure(Nanos::from_millis(1000 + 200 * ms), Nanos::from_millis(150), Nanos::from_millis(150));
        copa.end_round(&window(10.0, Arithmetic::Real));
    }
    assert_eq!(copa.segments, 2.0);
}

#[test]
fn a_timeout_starts_again() {
    let mut copa = Copa { velocity: 8.0, ..copa() };
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut copa, &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh, copa.velocity, copa.slow_start), (1.0, 50.0, 1.0, true));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    copa.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 50.0);
}

#[test]
fn whole_windows_fall_by_whole_segments() {
    // 2/13 an ACK: 6.5 of them make a segment, so the seventh takes it. At 2 it stays, even with a delta of 1.
    let mut copa = copa();
    let mut falling = window_with(13.0, 2.0, Arithmetic::Linux);
    for i in 1..=7 {
        copa.on_ack(&mut falling, &at(120));
        assert_eq!(falling.cwnd, if i < 7 { 13.0 } else { 12.0 });
    }
    let mut copa = Copa { segments: 1.0, ..self::copa() };
    let mut least = window_with(2.0, 2.0, Arithmetic::Linux);
    for _ in 0..100 {
        copa.on_ack(&mut least, &at(100_000));
    }
    assert_eq!(least.cwnd, 2.0);
}

#[test]
fn the_least_round_trip_is_that_of_ten_seconds() {
    // 100 ms was met at 0 s; 150 ms since.
    let mut copa = copa();
    for (ms, least) in [(1000, 100), (5000, 100), (9999, 100), (10_000, 150)] {
        copa.measure(Nanos::from_millis(ms), Nanos::from_millis(150), Nanos::from_millis(150));
        assert_eq!(copa.min.get(), Nanos::from_millis(least), "{ms}");
    }
}
