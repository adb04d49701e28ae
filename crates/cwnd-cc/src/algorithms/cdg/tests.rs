use super::*;
use crate::testing::{ack, ack_rtt, assert_near, lose, window, window_with};
use crate::{Arithmetic, State};

/// With a factor of 10,000 each gradient of 5 ms and more backs off: exp(-50) is no chance at all.
fn certain() -> Cdg {
    Cdg::new(CdgParameters { backoff_factor: 10_000.0, ..Default::default() })
}

/// A round trip with one sample of `rtt_us`, whose ACK begins the next one and acknowledges a segment.
fn round(cdg: &mut Cdg, window: &mut Window, rtt_us: u64, sent: u64) {
    let rtt = Some(Nanos::from_micros(rtt_us));
    cdg.on_ack(window, &Ack { rtt, cwnd_limited: false, cumulative: 0, ..ack(0) });
    cdg.on_ack(window, &Ack { round_start: true, cwnd_limited: false, sent, ..ack(0) });
}

#[test]
fn growth_is_newrenos() {
    let mut window = window(100.0, Arithmetic::Real);
    Cdg::new(CdgParameters::default()).on_ack(&mut window, &ack_rtt(0, 100));
    assert_near(window.cwnd, 100.01, 1e-12);
}

#[test]
fn gradients_are_summed_and_extrapolated() {
    // From 100 ms: +1 ms, then +2 ms. One of eight places: 1 * 8; two: 3 * 8/2 = 12 ms.
    let mut cdg = Cdg::new(CdgParameters { backoff_factor: 0.0, ..Default::default() });
    let mut window = window(100.0, Arithmetic::Real);
    for (rtt, expected) in [(100_000, 0.0), (101_000, 8_000.0), (103_000, 12_000.0)] {
        round(&mut cdg, &mut window, rtt, 0);
        assert_near(cdg.gradient, expected, 1e-9);
    }
    // Six more of +0.5 ms fill the places: 3 + 3 = 6 ms. The next one replaces the +1: 5.5 ms.
    for n in 1..=6 {
        round(&mut cdg, &mut window, 103_000 + 500 * n, 0);
    }
    assert_near(cdg.gradient, 6_000.0, 1e-9);
    round(&mut cdg, &mut window, 106_500, 0);
    assert_near(cdg.gradient, 5_500.0, 1e-9);
    assert_eq!(window.cwnd, 100.0);
}

#[test]
fn a_rising_delay_backs_off_once_a_round_trip() {
    // 100 * 724/1024, while 100 segments are out: nothing happens until the 101st is acknowledged.
    let mut cdg = certain();
    let mut window = window(100.0, Arithmetic::Real);
    round(&mut cdg, &mut window, 100_000, 0);
    round(&mut cdg, &mut window, 105_000, 100);
    assert_near(window.cwnd, 70.703, 1e-9);
    assert_near(cdg.shadow, 100.0, 1e-9);
    round(&mut cdg, &mut window, 110_000, 100);
    assert_near(window.cwnd, 70.703, 1e-9);
}

#[test]
fn the_probability_follows_the_exponential() {
    // 42 * 16.5 ms = 0.693: a half. Of 20,000 draws with one place, 10,000 back off, give or take four deviations of 71.
    let parameters = CdgParameters { window: 1.0, ineffective: 0.0, ..Default::default() };
    let mut cdg = Cdg::new(parameters);
    let mut count = 0;
    for _ in 0..20_000 {
        let mut window = window(100.0, Arithmetic::Real);
        cdg.take_gradient(Extremes { min: 16_504, max: 0 });
        count += u32::from(cdg.backs_off(&mut window, &ack(0)));
    }
    assert!((9_716..=10_284).contains(&count), "{count}");
}

#[test]
fn backoffs_without_an_effect_stop_after_five() {
    let mut cdg = certain();
    let mut cuts = 0;
    for _ in 0..10 {
        let mut window = window(100.0, Arithmetic::Real);
        cdg.take_gradient(Extremes { min: 5_000, max: 5_000 });
        cuts += u32::from(cdg.backs_off(&mut window, &ack(0)));
    }
    assert_eq!(cuts, 5);
    // A falling delay is an effect: the sum falls under -32 us.
    cdg.take_gradient(Extremes { min: -50_000, max: -50_000 });
    assert_eq!(cdg.backoffs, 0);
}

#[test]
fn a_loss_leaves_half_or_the_shadow() {
    // The window fell from 100 to 50 by backoffs: the shadow's half, 50, is more than 25.
    let mut cdg = Cdg::new(CdgParameters::default());
    let mut window = window(50.0, Arithmetic::Real);
    cdg.shadow = 100.0;
    lose(&mut cdg, &mut window, 0);
    assert_eq!((window.cwnd, cdg.shadow), (50.0, 50.0));
    lose(&mut cdg, &mut window, 0);
    assert_eq!(window.cwnd, 25.0);
    let mut plain = Cdg::new(CdgParameters { shadow: false, ..Default::default() });
    plain.shadow = 100.0;
    lose(&mut plain, &mut window, 0);
    assert_eq!(window.cwnd, 12.5);
}

#[test]
fn tolerance_ignores_losses_of_a_queue_that_is_not_full() {
    // Both extremes rise: the queue is filling. The least rises alone: it is full.
    for (gradient, left) in
        [(Extremes { min: 1000, max: 1000 }, 100.0), (Extremes { min: 1000, max: 0 }, 50.0)]
    {
        let mut cdg = Cdg::new(CdgParameters { tolerance: true, shadow: false, ..Default::default() });
        let mut window = window(100.0, Arithmetic::Real);
        cdg.take_gradient(gradient);
        lose(&mut cdg, &mut window, 0);
        assert_eq!(window.cwnd, left);
    }
}

#[test]
fn recovery_restarts_the_round_trip() {
    let mut cdg = certain();
    let mut window = window_with(100.0, 50.0, Arithmetic::Real);
    cdg.on_ack(&mut window, &Ack { state: State::Recovery, ..ack_rtt(0, 200) });
    cdg.on_recovery_exit(&mut window, Nanos::ZERO);
    assert_eq!((cdg.before, cdg.rtt), (Some(Extremes { min: 200_000, max: 200_000 }), None));
}
