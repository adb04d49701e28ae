use super::*;
use crate::Arithmetic;
use crate::testing::{ack, ack_rtt, assert_near, congestion, lose, time_out, window, window_with};

/// A flow of Wmax = 100 on a path of 100 ms, with losses at 200 ms: 1 Gbit/s are 86,326 segments of 1,448 bytes
/// a second.
fn measured(rtt_ms: u64) -> AReno {
    let mut areno = AReno::new(ARenoParameters::default());
    let mut aside = window(10.0, Arithmetic::Real);
    let sample = Ack { cumulative: 0, ..ack_rtt(0, 100) };
    areno.on_ack(&mut aside, &sample);
    let acked = (1e9 / (8.0 * 1448.0) * 0.2) as u32;
    areno.on_ack(&mut aside, &Ack { now: Nanos::from_millis(200), acked, ..sample });
    areno.congested_rtt = Some(200e6);
    areno.on_ack(&mut aside, &Ack { acked: 0, cumulative: 0, ..ack_rtt(200, rtt_ms) });
    areno.update_growth(&aside);
    areno
}

#[test]
fn the_probing_growth_depends_on_the_congestion_level() {
    // al = 10, Wmax = 100: be = 20 - 220 e^-10 = 19.9900, ga = 1 - 20 + 120 e^-10 = -18.99455.
    // c = 0: 100 + ga = 81.0054. c = 0.1: 36.7879 + 1.9990 + ga = 19.7924. c = 0.5: 0.6738 + 9.9950 + ga =
    // -8.3257. c = 1: e^-10 (100 - 220 + 120) + 20 + 1 - 20 = 1, also beyond.
    for (rtt, growth) in [(100, 81.0054), (110, 19.7924), (150, -8.3257), (200, 1.0), (300, 1.0)] {
        assert_near(measured(rtt).growth, growth, 2e-3);
    }
}

#[test]
fn the_mean_growth_is_renos() {
    // The integral of Winc over c from 0 to 1, by the trapezoid rule.
    let steps = 1000;
    let mut sum = 0.0;
    for n in 0..=steps {
        let mut areno = measured(100);
        areno.rtt = Nanos(100_000_000 + 100_000_000 * n / steps);
        areno.update_growth(&window(10.0, Arithmetic::Real));
        sum += areno.growth * if n == 0 || n == steps { 0.5 } else { 1.0 };
    }
    assert_near(sum / steps as f64, 1.0, 1e-3);
}

#[test]
fn both_windows_grow() {
    // Wbase by 1/W, Wprobe by 81.0054/W.
    for cwnd in [10.0, 100.0, 1000.0] {
        let mut areno = measured(100);
        let mut window = window(cwnd, Arithmetic::Real);
        areno.on_ack(&mut window, &ack(200));
        assert_near((window.cwnd - cwnd) * cwnd, 82.0054, 2e-3);
        assert_near(areno.probe * cwnd, 81.0054, 2e-3);
    }
}

#[test]
fn the_probing_window_retreats_to_nothing_and_no_further() {
    // -8.3257/100 an ACK: 0.1 of Wprobe lasts for two ACKs; the rest is Wbase's and grows.
    let mut areno = AReno { probe: 0.1, ..measured(150) };
    let mut window = window(100.0, Arithmetic::Real);
    areno.on_ack(&mut window, &ack(200));
    assert_near(areno.probe, 0.1 - 0.083_257, 1e-5);
    assert_near(window.cwnd, 100.01 - 0.083_257, 1e-5);
    areno.on_ack(&mut window, &ack(200));
    assert_eq!(areno.probe, 0.0);
    assert_near(window.cwnd, 100.02 - 0.1, 1e-5);
}

#[test]
fn whole_windows_take_whole_steps_of_both() {
    // 81 a round trip at 100: an ACK is worth 0.81, so the second makes a step of Wprobe.
    let mut areno = measured(100);
    let mut window = window(100.0, Arithmetic::Linux);
    areno.on_ack(&mut window, &ack(200));
    assert_eq!(window.cwnd, 100.0);
    areno.on_ack(&mut window, &ack(200));
    assert_eq!(window.cwnd, 101.0);
}

#[test]
fn before_the_first_loss_it_is_reno() {
    let mut areno = AReno { congested_rtt: None, ..measured(100) };
    areno.update_growth(&window(10.0, Arithmetic::Real));
    let mut window = window(100.0, Arithmetic::Real);
    areno.on_ack(&mut window, &ack(200));
    assert_near(window.cwnd, 100.01, 1e-12);
    lose(&mut areno, &mut window, 200);
    assert_near(window.cwnd, 50.005, 1e-9);
    assert_eq!(areno.congested_rtt, Some(100e6));
}

#[test]
fn a_loss_costs_what_the_congestion_level_says() {
    // W/(1 + c): c = 0 all stays, c = 0.25 leaves 80, c = 1 half. RTTcong = 0.85 * 200 + 0.15 RTT.
    for (rtt, left, congested) in [(100, 100.0, 185.0), (125, 80.0, 188.75), (200, 50.0, 200.0)] {
        let mut areno = AReno { probe: 30.0, ..measured(rtt) };
        let mut window = window(100.0, Arithmetic::Real);
        lose(&mut areno, &mut window, 200);
        assert_near(window.cwnd, left, 1e-9);
        assert_eq!(areno.probe, 0.0);
        assert_near(areno.congested_rtt.unwrap() / 1e6, congested, 1e-9);
    }
}

#[test]
fn losses_without_a_queue_leave_a_level_of_nothing_or_all() {
    for (rtt, level) in [(100, 0.0), (101, 1.0)] {
        let areno = AReno { congested_rtt: Some(100e6), ..measured(rtt) };
        assert_eq!(areno.congestion_level(), Some(level));
    }
}

#[test]
fn a_timeout_halves_and_clears_the_probing_window() {
    let mut areno = AReno { probe: 30.0, ..measured(125) };
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut areno, &mut window, 200);
    assert_eq!((window.cwnd, window.ssthresh, areno.probe), (1.0, 50.0, 0.0));
    assert_eq!(areno.congested_rtt, Some(200e6));
    let again = Congestion { timeouts: 2, ..congestion(&window, CongestionKind::Timeout, 0) };
    areno.on_congestion(&mut window, &again);
    assert_eq!(window.ssthresh, 50.0);
}

#[test]
fn slow_start_is_standard() {
    let mut window = window_with(4.0, 100.0, Arithmetic::Real);
    measured(100).on_ack(&mut window, &ack(200));
    assert_eq!(window.cwnd, 5.0);
}

#[test]
fn the_constant_is_the_exponential() {
    assert_eq!(EXP_MINUS_ALPHA, libm::exp(-ALPHA));
}
