//! Linux's rules.

use super::*;

/// A BBR with Linux's rules; its handshake took 100 ms.
fn linux() -> (Bbr, Window) {
    let parameters = BbrParameters { rules: Rules::Linux, pacing_margin: 0.01, ..BbrParameters::default() };
    let mut bbr = Bbr::new(parameters);
    let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Linux);
    bbr.init(&mut window, &Init { seed: 5, rtt: Some(Nanos::from_millis(100)), ..Init::default() });
    (bbr, window)
}

/// The same, which has found 1,000 segments a second over 100 ms: in ProbeBW, but not in the phase that probes.
fn linux_probing() -> (Bbr, Window) {
    let (mut bbr, mut window) = linux();
    for round in 0..5 {
        let ack = ack(&bbr, 100 * round, 100);
        bbr.on_ack(&mut window, &ack);
    }
    assert_eq!(bbr.mode, Mode::ProbeBw);
    bbr.cycle = 3;
    bbr.pacing_gain = 1.0;
    (bbr, window)
}

#[test]
fn linux_rounds_rates_and_gains_down() {
    // 10 segments in 100,000 us: 10 2^24 / 100,000 = 1677.72, rounded down. Gains in 1/256: 738.7 up, 88.7 down. The rate is
    // 1677 1448 739/256 0.99e6 / 2^24 bytes a second.
    let (bbr, window) = linux();
    assert_eq!((bbr.pacing_gain, bbr.drain_gain), (739.0 / 256.0, 88.0 / 256.0));
    let product = 1677u64 * 1448 * 739 / 256;
    assert_eq!(window.pacing_rate, ((product * 990_000) >> 24) as f64);
    // A sample of 100 in 100.0009 ms: of 100,000 us.
    let sample = RateSample { delivered: 100, interval: Nanos(100_000_900), ..RateSample::default() };
    let rate = super::super::linux::rate_of(&sample).unwrap();
    assert_near(rate, 16_777.0 * 1e6 / 16_777_216.0, 1e-9);
    assert_eq!(super::super::linux::rate_of(&RateSample { interval: Nanos(900), ..sample }), None);
}

#[test]
fn in_linux_an_equal_round_trip_does_not_renew_rtprop() {
    // RTprop is of the handshake at 0 s. ACKs with the same 100 ms do not renew it: it expires after 10 s, in whole
    // milliseconds. With the draft's rules it is renewed by each.
    for (rules, mode) in [(Rules::Linux, Mode::ProbeRtt), (Rules::Draft, Mode::ProbeBw)] {
        let (mut bbr, mut window) = if rules == Rules::Linux { linux_probing() } else { probing() };
        let before = ack(&bbr, 10_000, 100);
        bbr.on_ack(&mut window, &Ack { now: Nanos(10_000_900_000), ..before });
        assert_eq!(bbr.mode, Mode::ProbeBw);
        let after = ack(&bbr, 10_001, 100);
        bbr.on_ack(&mut window, &after);
        assert_eq!(bbr.mode, mode);
        // A shorter one renews it in both.
        let shorter = Ack { rtt: Some(Nanos(99 * MS)), ..ack(&bbr, 10_002, 100) };
        bbr.on_ack(&mut window, &shorter);
        assert_eq!((bbr.rtprop, bbr.rtprop_stamp), (Nanos(99 * MS), Nanos(10_002 * MS)));
    }
}

#[test]
fn in_linux_the_window_is_even_and_allows_for_aggregation() {
    // BtlBw is 16,777 units, 999.987 a second: 99.9987 segments in 100 ms, 2 gains of which are 199.997, rounded up: 200. Bursts
    // of 2 at 1.43 MB/s: 206. The last ACK of one segment has an excess of 1: 201 + 6, and the next even number.
    let (mut bbr, mut window) = linux_probing();
    window.set_cwnd(205.0);
    let next = Ack { acked: 9, ..ack(&bbr, 450, 100) };
    bbr.set_linux_cwnd(&mut window, &next);
    assert_eq!((bbr.aggregation.extra_acked(), window.cwnd), (1, 208.0));
    // In the phase that probes two more; without an excess 206.
    bbr.cycle = 0;
    window.set_cwnd(205.0);
    bbr.set_linux_cwnd(&mut window, &next);
    assert_eq!(window.cwnd, 210.0);
    (bbr.cycle, bbr.aggregation) = (3, Aggregation::default());
    bbr.set_linux_cwnd(&mut window, &next);
    assert_eq!(window.cwnd, 206.0);
}

#[test]
fn in_linux_the_draining_phase_counts_what_is_in_the_network_at_the_next_departure() {
    // 999.987 a second deliver 4 segments, rounded down, until the next departure in 5 ms: of 110 before the ACK 106 are left,
    // as many as a BDP of 100 and three bursts of 2. With 4 ms 107 are left.
    for (until, cycle) in [(4, 1), (5, 2)] {
        let (mut bbr, mut window) = linux_probing();
        (bbr.cycle, bbr.pacing_gain, bbr.cycle_stamp) = (1, 0.75, Nanos(499 * MS));
        let mut next = Ack { prior_in_flight: 110, ..ack(&bbr, 500, 100) };
        next.compat.until_departure = Nanos::from_millis(until);
        bbr.on_ack(&mut window, &next);
        assert_eq!(bbr.cycle, cycle, "{until} ms");
    }
}

#[test]
fn in_linux_a_recovery_begins_and_ends_with_the_ack_that_finds_it() {
    let (mut bbr, mut window) = linux_probing();
    window.set_cwnd(150.0);
    let loss = congestion(&window, CongestionKind::Loss, 600);
    bbr.on_congestion(&mut window, &loss);
    assert_eq!((window.cwnd, bbr.prior_cwnd), (150.0, 150.0));
    // 140 in flight and 2 delivered are conserved, whatever the window was.
    let mut first = Ack { acked: 2, lost: 3, in_flight: 140, state: State::Recovery, ..ack(&bbr, 600, 100) };
    first.rate.as_mut().unwrap().prior_delivered = 0;
    bbr.on_ack(&mut window, &first);
    assert_eq!((window.cwnd, bbr.round_end), (142.0, first.delivered));
    // An ACK that delivers nothing changes nothing.
    bbr.on_ack(&mut window, &Ack { acked: 0, lost: 5, rate: None, ..first });
    assert_eq!(window.cwnd, 142.0);
    // The end of the recovery restores the 150; the ACK adds its two.
    bbr.on_recovery_exit(&mut window, Nanos(800 * MS));
    assert_eq!(window.cwnd, 142.0);
    bbr.on_ack(&mut window, &Ack { lost: 0, state: State::Open, ..first });
    assert_eq!(window.cwnd, 152.0);
}

#[test]
fn in_linux_a_timeout_and_an_undo_begin_the_search_for_a_plateau_again() {
    let (mut bbr, mut window) = linux_probing();
    (bbr.full_bandwidth, bbr.full_rounds) = (900.0, 2);
    time_out(&mut bbr, &mut window, 600);
    assert_eq!((bbr.full_bandwidth, bbr.full_rounds, bbr.state), (0.0, 2, State::Loss));
    bbr.on_undo(&mut window, Nanos(700 * MS));
    assert_eq!(bbr.full_rounds, 0);
}

#[test]
fn in_linux_a_policed_flow_is_paced_at_the_long_term_rate() {
    // 800 delivered of 1,000 a second, the rest lost, in two intervals of four rounds.
    let (mut bbr, mut window) = linux_probing();
    for round in 0..9u32 {
        let next = Ack { acked: 80, lost: 20, ..ack(&bbr, 500 + 100 * u64::from(round), 100) };
        bbr.lost += 25;
        bbr.on_ack(&mut window, &next);
    }
    let rate = bbr.policer.rate().unwrap();
    assert_near(rate, 1000.0, 1e-6);
    assert_eq!(bbr.pacing_gain, 1.0);
}

#[test]
fn linux_sends_single_segments_below_1_2_mbit_s() {
    // 1.2 Mbit/s are 150,000 bytes a second. Three bursts on top of a BDP of 100: 103 and 106 segments; the first is made even.
    let (bbr, mut window) = linux_probing();
    for (rate, inflight) in [(149_999.0, 104.0), (150_000.0, 106.0), (4_448_256.0, 110.0), (1e9, 236.0)] {
        window.pacing_rate = rate;
        assert_eq!(bbr.inflight(&window, 1.0), inflight, "{rate}");
    }
}
