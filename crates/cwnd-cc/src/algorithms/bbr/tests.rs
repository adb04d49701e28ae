mod linux;

use super::*;
use crate::testing::{assert_near, congestion, time_out, window_with};
use crate::{Arithmetic, RateSample, State};

const MS: u64 = 1_000_000;

/// A BBR with the window of a fresh connection, whose handshake took 100 ms.
fn fresh() -> (Bbr, Window) {
    let mut bbr = Bbr::new(BbrParameters::default());
    let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    bbr.init(&mut window, &Init { seed: 5, rtt: Some(Nanos::from_millis(100)), ..Init::default() });
    (bbr, window)
}

/// An ACK of one segment at `ms` with a sample of the given number of segments in 100 ms; each is a round of its own.
fn ack(bbr: &Bbr, ms: u64, per_round: u64) -> Ack {
    let rate = RateSample {
        delivered: per_round,
        prior_delivered: bbr.round_end,
        interval: Nanos(100 * MS),
        ..RateSample::default()
    };
    Ack {
        now: Nanos(ms * MS),
        acked: 1,
        cumulative: 1,
        rtt: Some(Nanos(100 * MS)),
        in_flight: 50,
        prior_in_flight: 51,
        delivered: bbr.delivered + 100,
        rate: Some(rate),
        ..Ack::default()
    }
}

/// A BBR that has found 1,000 segments a second over 100 ms: in ProbeBW.
fn probing() -> (Bbr, Window) {
    let (mut bbr, mut window) = fresh();
    for round in 0..5 {
        let ack = ack(&bbr, 100 * round, 100);
        bbr.on_ack(&mut window, &ack);
    }
    assert_eq!(bbr.mode, Mode::ProbeBw);
    (bbr, window)
}

#[test]
fn the_first_pacing_rate() {
    // 2.885 * 10 segments of 1,448 bytes in 100 ms: 417,801 bytes a second.
    let (_, window) = fresh();
    assert_near(window.pacing_rate, 2.885_390 * 10.0 * 1448.0 / 0.1, 0.1);
    // Not knowing the round-trip time, of 1 ms; the first sample puts that right.
    let mut bbr = Bbr::new(BbrParameters::default());
    let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    bbr.init(&mut window, &Init::default());
    assert_near(window.pacing_rate, 2.885_390 * 10.0 * 1448.0 / 0.001, 20.0);
    let first = Ack { rate: None, ..ack(&bbr, 100, 1) };
    bbr.on_ack(&mut window, &first);
    assert_near(window.pacing_rate, 2.885_390 * 10.0 * 1448.0 / 0.1, 0.1);
}

#[test]
fn startup_ends_after_three_rounds_without_growth() {
    // 10, 20, 40, 60: each is 25 % over the one before. 70 is not over 75, nor 74, nor 74.9.
    let (mut bbr, mut window) = fresh();
    for (round, rate) in [10, 20, 40, 60, 70, 74].into_iter().enumerate() {
        let ack = Ack { in_flight: 500, ..ack(&bbr, 100 * round as u64, rate) };
        bbr.on_ack(&mut window, &ack);
        assert_eq!(bbr.mode, Mode::Startup, "round {round}");
    }
    let third = Ack { in_flight: 500, ..ack(&bbr, 600, 74) };
    bbr.on_ack(&mut window, &third);
    assert_eq!((bbr.mode, bbr.full_bandwidth), (Mode::Drain, 600.0));
    assert_near(bbr.pacing_gain, 0.346_574, 1e-6);
}

#[test]
fn growth_in_startup_and_after_it() {
    // In Startup a segment for each acknowledged one, while under 2.885 BDP + 3 quanta. Afterwards up to
    // twice the BDP and 3 quanta: 2 * 1000 * 0.1 + 3 * 2 = 206 (1.448 MB/s is 11.6 Mbit/s: 2 segments).
    let (mut bbr, mut window) = fresh();
    let first = ack(&bbr, 0, 10);
    bbr.on_ack(&mut window, &Ack { acked: 2, ..first });
    assert_eq!(window.cwnd, 12.0);
    let (mut bbr, mut window) = probing();
    for cwnd in [100.0, 150.0, 205.5, 300.0] {
        bbr.pacing_gain = 1.0;
        window.set_cwnd(cwnd);
        let next = Ack { acked: 2, ..ack(&bbr, 500, 100) };
        bbr.set_pacing(&mut window, 1.0);
        bbr.set_cwnd(&mut window, &next);
        assert_near(window.cwnd, (cwnd + 2.0).min(206.0), 1e-9);
    }
}

#[test]
fn drain_ends_when_the_queue_is_gone() {
    // BDP 100; pacing at 0.3466 * 1.448 MB/s = 4 Mbit/s: quanta of 2, so 106 may be in flight.
    for (in_flight, mode) in [(107, Mode::Drain), (106, Mode::ProbeBw)] {
        let (mut bbr, mut window) = fresh();
        for round in 0..5 {
            let ack = Ack { in_flight: 300, ..ack(&bbr, 100 * round, 100) };
            bbr.on_ack(&mut window, &ack);
        }
        assert_eq!(bbr.mode, Mode::Drain);
        let next = Ack { in_flight, ..ack(&bbr, 500, 100) };
        bbr.on_ack(&mut window, &next);
        assert_eq!(bbr.mode, mode, "{in_flight} in flight");
    }
}

#[test]
fn the_gain_cycle() {
    // 5/4 stands for an RTprop and until 125 + 3 quanta of 2 were in flight; 3/4 until it is over.
    let (mut bbr, mut window) = probing();
    bbr.cycle = 7;
    bbr.advance_cycle(Nanos(500 * MS));
    assert_eq!(bbr.pacing_gain, 1.25);
    let early = Ack { prior_in_flight: 200, ..ack(&bbr, 590, 100) };
    bbr.on_ack(&mut window, &early);
    let idle = Ack { prior_in_flight: 130, ..ack(&bbr, 650, 100) };
    bbr.on_ack(&mut window, &idle);
    assert_eq!(bbr.cycle, 0);
    let full = Ack { prior_in_flight: 131, ..ack(&bbr, 660, 100) };
    bbr.on_ack(&mut window, &full);
    assert_eq!(bbr.pacing_gain, 0.75);
    let drained = Ack { prior_in_flight: 106, ..ack(&bbr, 670, 100) };
    bbr.on_ack(&mut window, &drained);
    assert_eq!((bbr.cycle, bbr.pacing_gain), (2, 1.0));
}

#[test]
fn it_enters_the_cycle_anywhere_but_where_it_drains() {
    let (mut bbr, _) = fresh();
    let mut entered = [0; 8];
    for _ in 0..1000 {
        bbr.enter_probe_bw(Nanos::ZERO);
        entered[bbr.cycle] += 1;
    }
    assert_eq!(entered[1], 0);
    assert!(entered.iter().enumerate().all(|(phase, &count)| phase == 1 || count > 90), "{entered:?}");
}

#[test]
fn limited_samples_count_only_where_they_are_greater() {
    let (mut bbr, mut window) = probing();
    for (rate, expected) in [(50, 1000.0), (150, 1500.0)] {
        let mut limited = ack(&bbr, 500, rate);
        limited.rate.as_mut().unwrap().app_limited = true;
        bbr.on_ack(&mut window, &limited);
        assert_eq!(bbr.bandwidth.get(), expected);
    }
}

#[test]
fn probe_rtt_holds_four_segments_for_200_ms_and_a_round() {
    let (mut bbr, mut window) = probing();
    let before = window.cwnd;
    // RTprop was last met at 400 ms; longer round-trip times from then on.
    let later = |bbr: &Bbr, ms, in_flight| Ack { rtt: Some(Nanos(150 * MS)), in_flight, ..ack(bbr, ms, 100) };
    let last = later(&bbr, 10_400, 50);
    bbr.on_ack(&mut window, &last);
    assert_eq!(bbr.mode, Mode::ProbeBw);
    let saved = window.cwnd;
    assert!(saved > before);
    let expired = later(&bbr, 10_401, 50);
    bbr.on_ack(&mut window, &expired);
    assert_eq!((bbr.mode, window.cwnd, bbr.rtprop), (Mode::ProbeRtt, 4.0, Nanos(150 * MS)));
    // The 200 ms run from when 4 are in flight.
    for (ms, in_flight, mode) in
        [(10_500, 4, Mode::ProbeRtt), (10_700, 4, Mode::ProbeRtt), (10_701, 4, Mode::ProbeBw)]
    {
        let held = later(&bbr, ms, in_flight);
        bbr.on_ack(&mut window, &held);
        assert_eq!(bbr.mode, mode, "{ms}");
    }
    assert!(window.cwnd >= saved);
}

#[test]
fn samples_of_segments_sent_in_probe_rtt_do_not_count() {
    // 40 segments a second, of segments sent in ProbeRTT, for more rounds than BtlBw remembers: it stays at
    // 1,000. The first sample of a segment sent afterwards is all there is in ten rounds.
    let (mut bbr, mut window) = probing();
    let slow = |bbr: &Bbr, ms| Ack { rtt: None, in_flight: 4, ..ack(bbr, ms, 4) };
    let expired = Ack { rtt: None, ..ack(&bbr, 11_000, 100) };
    bbr.on_ack(&mut window, &expired);
    assert_eq!(bbr.mode, Mode::ProbeRtt);
    for round in 0..12 {
        let mut held = slow(&bbr, 11_001 + round);
        held.rate.as_mut().unwrap().prior_delivered = bbr.throttled.1 - 1;
        bbr.round_end = 0;
        bbr.on_ack(&mut window, &held);
        assert!(bbr.round_start);
    }
    assert_eq!(bbr.bandwidth.get(), 1000.0);
    let mut after = slow(&bbr, 11_100);
    after.rate.as_mut().unwrap().prior_delivered = bbr.throttled.1;
    bbr.round_end = 0;
    bbr.on_ack(&mut window, &after);
    assert_eq!(bbr.bandwidth.get(), 40.0);
}

#[test]
fn recovery_conserves_packets_for_a_round_and_restores_the_window() {
    let (mut bbr, mut window) = probing();
    window.set_cwnd(150.0);
    let loss = congestion(&window, CongestionKind::Loss, 600);
    bbr.on_congestion(&mut window, &loss);
    assert_eq!((window.cwnd, window.ssthresh), (150.0, 150.0));
    // Its ACK: 140 in flight, 2 delivered, 3 lost: 140 + 2 - 3 = 139, but no less than 142.
    let state = State::Recovery;
    let mut first = Ack { acked: 2, lost: 3, in_flight: 140, state, ..ack(&bbr, 600, 100) };
    first.rate.as_mut().unwrap().prior_delivered = 0;
    bbr.on_ack(&mut window, &first);
    assert_eq!(window.cwnd, 142.0);
    // Within the round two delivered let two go; a round later it grows towards the target.
    let next = Ack { in_flight: 140, lost: 0, ..first };
    bbr.on_ack(&mut window, &next);
    assert_eq!(window.cwnd, 142.0);
    let round = Ack { acked: 2, in_flight: 140, state, ..ack(&bbr, 700, 100) };
    bbr.on_ack(&mut window, &round);
    assert_eq!(window.cwnd, 144.0);
    bbr.on_recovery_exit(&mut window, Nanos(800 * MS));
    assert_eq!(window.cwnd, 150.0);
}

#[test]
fn a_timeout_leaves_one_segment_and_restores_the_window() {
    let (mut bbr, mut window) = probing();
    window.set_cwnd(150.0);
    time_out(&mut bbr, &mut window, 600);
    assert_eq!(window.cwnd, 1.0);
    let first = Ack { state: State::Loss, in_flight: 0, ..ack(&bbr, 900, 100) };
    bbr.on_ack(&mut window, &first);
    assert_eq!(window.cwnd, 4.0);
    // Again, from 4 segments: what was there before the first is remembered.
    time_out(&mut bbr, &mut window, 1000);
    bbr.on_recovery_exit(&mut window, Nanos(1100 * MS));
    assert_eq!(window.cwnd, 150.0);
}

#[test]
fn marks_do_nothing() {
    let (mut bbr, mut window) = probing();
    window.set_cwnd(150.0);
    let mark = congestion(&window, CongestionKind::Ecn, 600);
    bbr.on_congestion(&mut window, &mark);
    bbr.on_recovery_exit(&mut window, Nanos(700 * MS));
    assert_eq!((window.cwnd, bbr.in_recovery), (150.0, false));
    assert!(bbr.needs().marks_only);
}

#[test]
fn after_an_idle_time_it_paces_at_the_rate_and_does_not_probe_the_rtt() {
    let (mut bbr, mut window) = probing();
    bbr.on_idle_restart(&mut window, Nanos(20_000 * MS), Nanos(19_000 * MS));
    assert_near(window.pacing_rate, 1_448_000.0, 1e-6);
    let first = ack(&bbr, 20_100, 100);
    bbr.on_ack(&mut window, &first);
    assert_eq!(bbr.mode, Mode::ProbeBw);
}

#[test]
fn a_handshake_of_no_time_tells_nothing() {
    let mut bbr = Bbr::new(BbrParameters::default());
    let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    bbr.init(&mut window, &Init { rtt: Some(Nanos::ZERO), ..Init::default() });
    assert_near(window.pacing_rate, 2.885_390 * 10.0 * 1448.0 / 0.001, 20.0);
    assert!(bbr.guessed);
}

#[test]
fn what_is_sent_in_probe_rtt_is_known_by_what_was_delivered() {
    // From 700 delivered on to as many more as are in flight, and one at least.
    let (mut bbr, mut window) = probing();
    for (in_flight, until) in [(70, 770), (0, 701)] {
        let held = Ack { in_flight, delivered: 700, ..ack(&bbr, 500, 100) };
        bbr.mode = Mode::ProbeBw;
        bbr.step_probe_rtt(&mut window, &held, true);
        assert_eq!((bbr.mode, bbr.throttled), (Mode::ProbeRtt, (700, until)));
    }
}

#[test]
fn the_first_ack_of_a_recovery_lets_a_segment_go() {
    // 140 in flight and nothing delivered: 141, so that the first hole can be filled.
    let (mut bbr, mut window) = probing();
    window.set_cwnd(150.0);
    let loss = congestion(&window, CongestionKind::Loss, 600);
    bbr.on_congestion(&mut window, &loss);
    bbr.round_start = false;
    bbr.set_cwnd(&mut window, &Ack { acked: 0, lost: 0, in_flight: 140, ..Ack::default() });
    assert_eq!(window.cwnd, 141.0);
}

#[test]
fn later_losses_of_a_recovery_lower_the_window() {
    // After its first round: 150 - 5 + 2. Four segments are the least, one while packets are conserved.
    for (cwnd, lost, conserving, left) in
        [(150.0, 5, false, 147.0), (150.0, 149, false, 4.0), (150.0, 500, true, 3.0)]
    {
        let (mut bbr, mut window) = probing();
        window.set_cwnd(cwnd);
        (bbr.in_recovery, bbr.conserving, bbr.round_start) = (true, conserving, false);
        bbr.set_cwnd(&mut window, &Ack { acked: 2, lost, in_flight: 1, ..Ack::default() });
        assert_eq!(window.cwnd, left);
    }
}

#[test]
fn segments_are_sent_one_two_or_for_a_millisecond_together() {
    // Under 1.2 Mbit/s one, under 24 Mbit/s two; then what a millisecond takes, 64 KiB at most: 5 MB/s are 5,000
    // bytes.
    for (rate, segments) in [
        (149_999.0, 1.0),
        (150_000.0, 2.0),
        (2_999_999.0, 2.0),
        (3_000_000.0, 3000.0 / 1448.0),
        (5_000_000.0, 5000.0 / 1448.0),
        (1e9, 65_536.0 / 1448.0),
    ] {
        let (bbr, mut window) = probing();
        window.pacing_rate = rate;
        assert_near(bbr.inflight(&window, 1.0), 100.0 + 3.0 * segments, 1e-9);
    }
}

#[test]
fn only_whole_rounds_that_nothing_limits_end_startup() {
    // The same rate over and over: as samples within a round, and as rounds that the application limits.
    for (app_limited, within_a_round) in [(true, false), (false, true)] {
        let (mut bbr, mut window) = fresh();
        let first = ack(&bbr, 0, 50);
        bbr.on_ack(&mut window, &first);
        for n in 1..20 {
            let mut next = ack(&bbr, 100 * n, 50);
            let sample = next.rate.as_mut().unwrap();
            sample.app_limited = app_limited;
            if within_a_round {
                sample.prior_delivered = 0;
            }
            bbr.on_ack(&mut window, &next);
        }
        assert_eq!((bbr.mode, bbr.full_rounds), (Mode::Startup, 0));
    }
}

#[test]
fn until_the_pipe_is_full_the_pacing_rate_only_rises() {
    // The first rate is 2.88539 * 100 segments a second. 2 * 100 are under it, 2 * 200 over.
    let (mut bbr, mut window) = fresh();
    let first = 2.885_390 * 10.0 * 1448.0 / 0.1;
    for (bandwidth, rate) in [(100.0, first), (200.0, 579_200.0), (150.0, 579_200.0)] {
        bbr.bandwidth = Bandwidth::Draft(RoundMax::default());
        bbr.bandwidth.add(bandwidth);
        bbr.set_pacing(&mut window, 2.0);
        assert_near(window.pacing_rate, rate, 0.1);
    }
    // Then it follows, but for a rate of nothing.
    bbr.filled_pipe = true;
    for (bandwidth, rate) in [(100.0, 289_600.0), (0.0, 289_600.0)] {
        bbr.bandwidth = Bandwidth::Draft(RoundMax::default());
        bbr.bandwidth.add(bandwidth);
        bbr.set_pacing(&mut window, 2.0);
        assert_near(window.pacing_rate, rate, 1e-6);
    }
    // Linux's margin of a hundredth.
    bbr.parameters.pacing_margin = 0.01;
    bbr.bandwidth.add(1000.0);
    bbr.set_pacing(&mut window, 1.0);
    assert_near(window.pacing_rate, 990.0 * 1448.0, 1e-6);
}

#[test]
fn what_is_saved_is_the_window_before_anything_lowered_it() {
    for (in_recovery, mode, saved) in
        [(false, Mode::ProbeBw, 100.0), (true, Mode::ProbeBw, 150.0), (false, Mode::ProbeRtt, 150.0)]
    {
        let (mut bbr, mut window) = probing();
        window.set_cwnd(100.0);
        (bbr.prior_cwnd, bbr.in_recovery, bbr.mode) = (150.0, in_recovery, mode);
        bbr.save_cwnd(&window);
        assert_eq!(bbr.prior_cwnd, saved);
        window.set_cwnd(120.0);
        bbr.restore_cwnd(&mut window);
        assert_eq!(window.cwnd, f64::max(saved, 120.0));
    }
}
