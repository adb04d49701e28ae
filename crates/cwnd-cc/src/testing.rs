//! Helpers of the unit tests: windows, ACKs and congestion episodes with simple values.

use crate::{
    Ack, Arithmetic, Congestion, CongestionControl, CongestionKind, Nanos, Observation, ParameterSet, Window,
    WindowConfig,
};
use alloc::vec;
use alloc::vec::Vec;

/// A window in congestion avoidance, `ssthresh` being 2.
pub fn window(cwnd: f64, arithmetic: Arithmetic) -> Window {
    window_with(cwnd, 2.0, arithmetic)
}

/// A window with its threshold; as in Linux 2.6, `cwnd == ssthresh` is slow start in its arithmetic.
pub fn window_with(cwnd: f64, ssthresh: f64, arithmetic: Arithmetic) -> Window {
    Window::new(&WindowConfig {
        initial_cwnd: cwnd,
        initial_ssthresh: ssthresh,
        clamp: 1e6,
        arithmetic,
        slow_start_at_ssthresh: arithmetic == Arithmetic::Linux26,
        ..WindowConfig::default()
    })
}

/// An ACK of one segment that may grow the window, `ms` milliseconds after the origin.
pub fn ack(ms: u64) -> Ack {
    Ack { now: Nanos::from_millis(ms), acked: 1, cumulative: 1, cwnd_limited: true, ..Ack::default() }
}

/// An ACK with a round-trip time sample.
pub fn ack_rtt(ms: u64, rtt_ms: u64) -> Ack {
    let rtt = Nanos::from_millis(rtt_ms);
    Ack { rtt: Some(rtt), srtt: rtt, min_rtt: rtt, ..ack(ms) }
}

/// A congestion episode at `ms`, with a full window in flight.
pub fn congestion(window: &Window, kind: CongestionKind, ms: u64) -> Congestion {
    Congestion {
        now: Nanos::from_millis(ms),
        kind,
        in_flight: window.cwnd as u32,
        flight_size: window.cwnd as u32,
        lost: 1,
        rtt: Nanos::ZERO,
        srtt: Nanos::ZERO,
        min_rtt: Nanos::MAX,
        timeouts: u32::from(kind == CongestionKind::Timeout),
        in_slow_start: window.in_slow_start(),
    }
}

/// Loses a segment and recovers at once, like a transport with `cwnd := ssthresh`.
pub fn lose(algorithm: &mut dyn CongestionControl, window: &mut Window, ms: u64) {
    window.recovery_cwnd = None;
    algorithm.on_congestion(window, &congestion(window, CongestionKind::Loss, ms));
    window.cwnd = window.ssthresh;
    algorithm.on_recovery_exit(window, Nanos::from_millis(ms));
}

/// Causes a timeout.
pub fn time_out(algorithm: &mut dyn CongestionControl, window: &mut Window, ms: u64) {
    window.recovery_cwnd = None;
    algorithm.on_congestion(window, &congestion(window, CongestionKind::Timeout, ms));
    window.cwnd = window.restart_cwnd;
}

/// Returns the number of equal ACKs until the window has grown by a segment. The window must grow.
#[track_caller]
pub fn acks_for_a_segment(algorithm: &mut dyn CongestionControl, window: &mut Window, ack: &Ack) -> u32 {
    let from = window.cwnd;
    let mut acks = 0;
    while window.cwnd < from + 1.0 {
        algorithm.on_ack(window, ack);
        acks += 1;
        assert!(acks < 100_000, "the window does not grow: {} and still {}", from, window.cwnd);
    }
    acks
}

/// Runs round trips, each with as many equal ACKs as the window has segments, until `done` returns true for the window and the
/// count. It must return true at some time.
#[track_caller]
pub fn round_trips_until(
    algorithm: &mut dyn CongestionControl,
    window: &mut Window,
    ack: &Ack,
    done: impl Fn(&Window, f64) -> bool,
) -> f64 {
    let mut round_trips = 0.0;
    for _ in 0..2_000_000 {
        if done(window, round_trips) {
            return round_trips;
        }
        round_trips += 1.0 / window.cwnd;
        algorithm.on_ack(window, ack);
    }
    panic!("the window is {} after {round_trips} round trips", window.cwnd);
}

/// Checks that two numbers agree to the digits of a calculation by hand.
#[track_caller]
pub fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
}

/// A round trip of three samples of `rtt_ms` on a path of `base_ms`, and the ACK that begins the next one: it may change the
/// window, but acknowledges no segment that would increase it.
pub fn round_trip(algorithm: &mut dyn CongestionControl, window: &mut Window, base_ms: u64, rtt_ms: u64) {
    let silent = |ack: Ack| Ack { acked: 0, cumulative: 0, min_rtt: Nanos::from_millis(base_ms), ..ack };
    algorithm.on_ack(window, &silent(ack_rtt(0, base_ms)));
    algorithm.on_ack(window, &Ack { round_start: true, ..silent(ack_rtt(0, rtt_ms)) });
    for _ in 0..2 {
        algorithm.on_ack(window, &silent(ack_rtt(0, rtt_ms)));
    }
    algorithm.on_ack(window, &Ack { cumulative: 1, round_start: true, ..silent(ack(0)) });
}

/// Checks a parameter struct: its defaults are those of its table, by name and by serde alike.
pub fn check_parameters<P: ParameterSet + serde::Serialize + serde::de::DeserializeOwned>() {
    let defaults = P::default();
    assert!(defaults.check().is_ok());
    let values = defaults.values();
    assert_eq!(values.len(), P::PARAMETERS.len());
    for parameter in P::PARAMETERS {
        assert_eq!(values[parameter.name], parameter.kind.default_value(), "{}", parameter.name);
    }

    let json = serde_json::to_value(&defaults).unwrap();
    let again: P = serde_json::from_value(json).unwrap();
    assert_eq!(again.values(), values);
    let partial: P = serde_json::from_str("{}").unwrap();
    assert_eq!(partial.values(), values);
    assert!(serde_json::from_str::<P>("{\"no_such\": 1}").is_err());
}

/// Observes an algorithm `ms` milliseconds after the origin, with a smoothed and a smallest round-trip time of 100 ms. Checks
/// that it writes as many values as it names, and none that is infinite.
#[track_caller]
pub fn observe(algorithm: &dyn CongestionControl, window: &Window, ms: u64) -> Vec<f64> {
    let rtt = Nanos::from_millis(100);
    let mut values = vec![f64::INFINITY; algorithm.observables().len()];
    algorithm.observe(
        window,
        &Observation { now: Nanos::from_millis(ms), srtt: rtt, min_rtt: rtt },
        &mut values,
    );
    for (observable, value) in algorithm.observables().iter().zip(&values) {
        assert!(!value.is_infinite(), "{} is {value}", observable.name);
    }
    values
}

/// Checks what an algorithm shows now against values by hand; NaN is expected where a value is not known.
#[track_caller]
pub fn assert_observed(algorithm: &dyn CongestionControl, window: &Window, expected: &[(&str, f64)]) {
    let values = observe(algorithm, window, 1000);
    for (name, expected) in expected {
        let place = algorithm.observables().iter().position(|observable| observable.name == *name);
        let value = values[place.expect("the algorithm names it")];
        let near = (value - expected).abs() <= 1e-6 * expected.abs().max(1e-3);
        assert!(near || (value.is_nan() && expected.is_nan()), "{name}: {value} is not {expected}");
    }
}
