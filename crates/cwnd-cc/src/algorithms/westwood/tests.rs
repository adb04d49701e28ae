use super::*;
use crate::testing::{ack, ack_rtt, assert_near, congestion, time_out, window, window_with};
use crate::{AckCompat, Arithmetic};

const BASE: Nanos = Nanos::from_millis(100);

/// A flow whose bandwidth was measured as `rate` segments in 100 ms.
fn measured(rate: u32) -> Westwood {
    let mut westwood = Westwood::new(WestwoodParameters::default());
    let mut aside = window(10.0, Arithmetic::Real);
    westwood.on_ack(&mut aside, &ack_rtt(0, 100));
    westwood.on_ack(&mut aside, &Ack { acked: 2 * rate, ..ack_rtt(200, 100) });
    westwood
}

fn lose(westwood: &mut Westwood, window: &mut Window) {
    window.recovery_cwnd = None;
    let loss = Congestion { min_rtt: BASE, ..congestion(window, CongestionKind::Loss, 0) };
    westwood.on_congestion(window, &loss);
    window.cwnd = window.ssthresh;
    westwood.on_recovery_exit(window, Nanos::ZERO);
}

#[test]
fn growth_is_renos() {
    for (cwnd, grown) in [(10.0, 10.1), (100.0, 100.01), (1000.0, 1000.001)] {
        let mut window = window(cwnd, Arithmetic::Real);
        measured(50).on_ack(&mut window, &ack(0));
        assert_near(window.cwnd, grown, 1e-12);
    }
}

#[test]
fn a_loss_leaves_what_the_bandwidth_needs() {
    // 600 segments a second over 100 ms are 60; two stay at least.
    for (rate, left) in [(60, 60.0), (95, 95.0), (1, 2.0)] {
        let mut window = window(100.0, Arithmetic::Real);
        lose(&mut measured(rate), &mut window);
        assert_near(window.cwnd, left, 1e-9);
        assert_near(window.ssthresh, left, 1e-9);
    }
}

#[test]
fn a_window_under_the_estimate_is_kept_and_slow_start_goes_on() {
    // 20 segments where 60 would fit: nothing is given up, and slow start continues to 60.
    let mut westwood = measured(60);
    let mut window = window_with(20.0, 60.0, Arithmetic::Real);
    lose(&mut westwood, &mut window);
    assert_eq!(window.recovery_cwnd, Some(20.0));
    assert_eq!(window.cwnd, 20.0);
    assert_near(window.ssthresh, 60.0, 1e-9);
    westwood.on_ack(&mut window, &ack(0));
    assert_eq!(window.cwnd, 21.0);
}

#[test]
fn a_window_that_the_transport_lowered_further_stays_so() {
    let mut westwood = measured(60);
    let mut window = window(100.0, Arithmetic::Real);
    let loss = Congestion { min_rtt: BASE, ..congestion(&window, CongestionKind::Loss, 0) };
    westwood.on_congestion(&mut window, &loss);
    window.cwnd = 7.0;
    westwood.on_recovery_exit(&mut window, Nanos::ZERO);
    assert_eq!(window.cwnd, 7.0);
}

#[test]
fn a_timeout_keeps_the_estimate_as_the_threshold() {
    let mut westwood = measured(60);
    let mut window = window(100.0, Arithmetic::Real);
    let timeout = Congestion { min_rtt: BASE, ..congestion(&window, CongestionKind::Timeout, 0) };
    westwood.on_congestion(&mut window, &timeout);
    assert_near(window.ssthresh, 60.0, 1e-9);
    assert_eq!((window.recovery_cwnd, window.restart_cwnd), (None, 1.0));
    window.ssthresh = 33.0;
    westwood.on_congestion(&mut window, &Congestion { timeouts: 2, ..timeout });
    assert_eq!(window.ssthresh, 33.0);
}

#[test]
fn without_an_estimate_it_halves() {
    let mut window = window(100.0, Arithmetic::Real);
    time_out(&mut Westwood::new(WestwoodParameters::default()), &mut window, 0);
    assert_eq!((window.cwnd, window.ssthresh), (1.0, 50.0));
}

#[test]
fn linux_halves_and_sets_the_window_at_the_end() {
    // 150 segments in 60 ms are 2,500 a second: 100 in 40 ms. In whole numbers 150 x 1448 B / 60 ms = 3620 B/ms, and 3620 x
    // 40 / 1448 = 100. From 200 it halves and goes down to that, from 40 up.
    for cwnd in [200.0, 40.0] {
        let mut westwood = Westwood::new(WestwoodParameters { set_at: SetAt::RecoveryEnd });
        let mut window = window(cwnd, Arithmetic::Real);
        westwood.init(&mut window, &Init::default());
        for (ms, cumulative) in [(1, 150), (60, 1)] {
            let ack = Ack {
                cumulative,
                compat: AckCompat { header_predicted: true, ..AckCompat::default() },
                cwnd_limited: false,
                ..ack_rtt(ms, 40)
            };
            westwood.on_ack(&mut window, &ack);
        }
        let loss = Congestion { min_rtt: BASE, ..congestion(&window, CongestionKind::Loss, 0) };
        westwood.on_congestion(&mut window, &loss);
        assert_eq!(window.ssthresh, cwnd / 2.0);
        westwood.on_recovery_exit(&mut window, Nanos::from_millis(61));
        assert_eq!((window.cwnd, window.ssthresh), (100.0, 100.0));
        // The end of the recovery from a timeout changes nothing.
        westwood
            .on_congestion(&mut window, &Congestion { kind: CongestionKind::Timeout, timeouts: 1, ..loss });
        window.cwnd = 5.0;
        westwood.on_recovery_exit(&mut window, Nanos::ZERO);
        assert_eq!(window.cwnd, 5.0);
    }
}
