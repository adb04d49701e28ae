use super::*;
use crate::CongestionKind;
use crate::testing::{ack, assert_near, congestion, lose, time_out, window, window_with};

fn htcp() -> HTcp {
    HTcp::new(HTcpParameters::default())
}

const fn ms(ms: u64) -> Nanos {
    Nanos::from_millis(ms)
}

/// An H-TCP whose last event kept `beta`, at the origin of time.
fn kept(beta: f64) -> HTcp {
    let mut htcp = htcp();
    htcp.epoch.beta = beta;
    htcp
}

/// Segments a round trip, so long after the last event.
fn growth(mut htcp: HTcp, cwnd: f64, after_ms: u64, min_rtt: Nanos) -> f64 {
    let mut window = window(cwnd, Arithmetic::Real);
    htcp.on_ack(&mut window, &Ack { min_rtt, ..ack(after_ms) });
    (window.cwnd - cwnd) * cwnd
}

#[test]
fn growth_takes_a_quarter_of_the_square() {
    // beta 0.5, so alpha = f. 0.5 s and 1 s: 1. 2 s: 1 + 10 + 0.25 = 11.25. 3 s: 1 + 20 + 1 = 22.
    // 11 s: 1 + 100 + 25 = 126.
    for (cwnd, after_ms, alpha) in [
        (10.0, 500, 1.0),
        (100.0, 1000, 1.0),
        (100.0, 2000, 11.25),
        (1000.0, 3000, 22.0),
        (1e4, 11_000, 126.0),
    ] {
        assert_near(growth(htcp(), cwnd, after_ms, Nanos::MAX), alpha, 1e-7);
    }
}

#[test]
fn growth_is_less_where_less_was_given_up() {
    // 2 (1 - 0.8) = 0.4: 0.4 in the first second, 0.4 * 11.25 = 4.5 at 2 s.
    assert_near(growth(kept(0.8), 100.0, 500, Nanos::MAX), 0.4, 1e-9);
    assert_near(growth(kept(0.8), 100.0, 2000, Nanos::MAX), 4.5, 1e-9);
}

#[test]
fn rtt_scaling_multiplies_growth_by_tenths_of_a_second() {
    // 2 s, f = 11.25. 50 ms: 5.625. 100 ms: 11.25. 300 ms: twice at most, 22.5. 1 ms: a tenth, 1.125. In the first
    // second never under 1.
    for (rtt_ms, after_ms, alpha) in
        [(50, 2000, 5.625), (100, 2000, 11.25), (300, 2000, 22.5), (1, 2000, 1.125), (50, 500, 1.0)]
    {
        let scaled = HTcp::new(HTcpParameters { rtt_scaling: true, ..Default::default() });
        assert_near(growth(scaled, 100.0, after_ms, ms(rtt_ms)), alpha, 1e-9);
    }
}

/// What a loss leaves of 1000 segments, with RTTmin 100 ms.
fn left(htcp: &mut HTcp) -> f64 {
    let mut window = window(1000.0, Arithmetic::Real);
    let loss = Congestion { min_rtt: ms(100), ..congestion(&window, CongestionKind::Loss, 5000) };
    htcp.on_congestion(&mut window, &loss);
    window.ssthresh
}

/// An H-TCP before a loss.
fn measured(rtt_max_ms: u64, last_peak: f64, peak: f64) -> HTcp {
    let mut htcp = htcp();
    htcp.epoch.rtt_max = ms(rtt_max_ms);
    htcp.epoch.last_peak = last_peak;
    htcp.throughput.peak = peak;
    htcp
}

#[test]
fn a_steady_flow_gives_up_what_the_queue_held() {
    // 100/140 = 0.7143; 100/110 = 0.909, at most 0.8; 100/300, at least 0.5.
    for (rtt_max_ms, expected) in [(140, 714.2857), (110, 800.0), (300, 500.0)] {
        assert_near(left(&mut measured(rtt_max_ms, 1000.0, 1000.0)), expected, 1e-3);
    }
}

#[test]
fn an_unsteady_flow_gives_up_half() {
    // Within 20 % of the last peak is steady: 800 and 1200 are, 790 and 1210 are not; nor is the first event.
    for (last, peak, expected) in [
        (1000.0, 800.0, 800.0),
        (1000.0, 1200.0, 800.0),
        (1000.0, 790.0, 500.0),
        (1000.0, 1210.0, 500.0),
        (0.0, 1000.0, 500.0),
    ] {
        assert_eq!(left(&mut measured(110, last, peak)), expected);
    }
    let mut plain = measured(110, 1000.0, 1000.0);
    plain.parameters.adaptive_backoff = false;
    assert_eq!(left(&mut plain), 500.0);
}

#[test]
fn the_greatest_rtt_rises_by_20_ms_and_gives_way_by_a_twentieth() {
    // 100, then a sample of 150: 120, 140, 150. A sample in recovery does not count. At a loss:
    // 100 + 0.95 * 50 = 147.5.
    let mut htcp = htcp();
    let mut window = window(1000.0, Arithmetic::Real);
    let sample = |rtt_ms, state| Ack { rtt: Some(ms(rtt_ms)), min_rtt: ms(100), state, ..ack(0) };
    for (rtt_ms, state, expected_ms) in [
        (100, State::Open, 100),
        (150, State::Open, 120),
        (150, State::Recovery, 120),
        (150, State::Open, 140),
        (150, State::Disorder, 150),
        (110, State::Open, 150),
    ] {
        htcp.on_ack(&mut window, &sample(rtt_ms, state));
        assert_eq!(htcp.epoch.rtt_max, ms(expected_ms));
    }
    left(&mut htcp);
    assert_eq!(htcp.epoch.rtt_max, Nanos::from_micros(147_500));
}

#[test]
fn throughput_is_averaged_over_round_trips() {
    // Round trips of 100 ms with 100, 200, 300 segments: 1000, 2000, 3000 a second, each again. The fourth with
    // 700: (3 * 3000 + 7000)/4 = 4000. The fifth with 100: (3 * 4000 + 1000)/4 = 3250, and the peak stays.
    let mut throughput = Throughput::default();
    let mut now = 0;
    throughput.on_ack(&ack(now), true);
    for (acked, average, peak) in [
        (100, 1000.0, 1000.0),
        (200, 2000.0, 2000.0),
        (300, 3000.0, 3000.0),
        (700, 4000.0, 4000.0),
        (100, 3250.0, 4000.0),
    ] {
        throughput.on_ack(&Ack { acked: acked - 10, ..ack(now + 50) }, true);
        now += 100;
        throughput.on_ack(&Ack { acked: 10, round_start: true, ..ack(now) }, true);
        assert_near(throughput.average, average, 1e-6);
        assert_near(throughput.peak, peak, 1e-6);
    }
    // A recovery: what is delivered in it does not count, and the peak stays until there is a new sample.
    throughput.restart();
    throughput.on_ack(&Ack { acked: 1000, ..ack(now + 50) }, false);
    throughput.on_ack(&ack(now + 100), true);
    assert_near(throughput.peak, 4000.0, 1e-6);
    throughput.on_ack(&Ack { acked: 50, round_start: true, ..ack(now + 200) }, true);
    assert_near(throughput.peak, 500.0, 1e-6);
}

#[test]
fn time_counts_from_the_end_of_recovery() {
    // The event at 5 s, recovery over at 6 s: at 7 s f is still 1, at 8 s it is 11.25.
    let mut htcp = htcp();
    let mut window = window(200.0, Arithmetic::Real);
    lose(&mut htcp, &mut window, 5000);
    htcp.on_recovery_exit(&mut window, ms(6000));
    for (at_ms, alpha) in [(7000, 1.0), (8000, 11.25)] {
        assert_near(growth(htcp.clone(), 100.0, at_ms, Nanos::MAX), alpha, 1e-9);
    }
}

#[test]
fn a_timeout_is_answered_as_a_loss_and_can_be_undone() {
    let mut htcp = measured(125, 1000.0, 1000.0);
    let mut window = window_with(1000.0, 2.0, Arithmetic::Real);
    let timeout = Congestion { min_rtt: ms(100), ..congestion(&window, CongestionKind::Timeout, 5000) };
    htcp.on_congestion(&mut window, &timeout);
    assert_eq!((window.ssthresh, htcp.epoch.beta), (800.0, 0.8));
    htcp.on_congestion(&mut window, &Congestion { timeouts: 2, ..timeout });
    assert_eq!(window.ssthresh, 800.0);
    htcp.on_undo(&mut window, ms(5100));
    assert_eq!((htcp.epoch.beta, htcp.epoch.since, htcp.epoch.rtt_max), (0.5, Nanos::ZERO, ms(125)));
    time_out(&mut htcp, &mut window, 6000);
    assert_eq!(window.cwnd, 1.0);
}

#[test]
fn a_round_trip_of_no_time_has_no_throughput() {
    let mut throughput = Throughput::default();
    throughput.on_ack(&ack(100), true);
    throughput.on_ack(&Ack { round_start: true, ..ack(100) }, true);
    assert_eq!((throughput.rounds, throughput.peak), (0, 0.0));
}
