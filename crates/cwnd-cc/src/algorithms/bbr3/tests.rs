mod control;
mod machine;
mod model;

use super::*;
use crate::Arithmetic;
use crate::RateSample;
use crate::parts::round_max::RoundMax;
use crate::testing::{assert_near, congestion, time_out, window_with};

const MS: u64 = 1_000_000;

/// The window of a fresh connection, whose handshake took 100 ms, with SACK.
fn fresh() -> (Bbr3, Window) {
    let mut bbr = Bbr3::new(Bbr3Parameters::default());
    let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    let rtt = Some(Nanos::from_millis(100));
    bbr.init(&mut window, &Init { seed: 5, rtt, sack: true, ..Init::default() });
    (bbr, window)
}

/// An ACK of one segment at `ms` that ends a round, with a sample of the given number of segments in 100 ms.
fn ack(bbr: &Bbr3, ms: u64, per_round: u64) -> Ack {
    let rate = RateSample {
        delivered: per_round,
        prior_delivered: bbr.input.delivered,
        interval: Nanos(100 * MS),
        tx_in_flight: 100,
        ..RateSample::default()
    };
    Ack {
        now: Nanos(ms * MS),
        acked: 1,
        cumulative: 1,
        rtt: Some(Nanos(100 * MS)),
        in_flight: 500,
        prior_in_flight: 1,
        delivered: bbr.input.delivered + 100,
        rate: Some(rate),
        ..Ack::default()
    }
}

/// The same, within a round.
fn within(bbr: &Bbr3, ms: u64, per_round: u64) -> Ack {
    let mut ack = ack(bbr, ms, per_round);
    ack.rate.as_mut().unwrap().prior_delivered = 0;
    ack
}

fn lost(bbr: &Bbr3, tx_in_flight: u32, lost: u64) -> LostPacket {
    LostPacket {
        now: bbr.input.now,
        sent: Nanos::ZERO,
        tx_in_flight,
        delivered: bbr.input.delivered,
        lost_at_send: 0,
        lost,
        app_limited: false,
    }
}

/// It has found 1,000 segments a second over 100 ms: a BDP of 100, in Drain since 400 ms.
fn draining() -> (Bbr3, Window) {
    let (mut bbr, mut window) = fresh();
    for round in 0..4 {
        let ack = ack(&bbr, 100 * round, 100);
        bbr.on_ack(&mut window, &ack);
    }
    assert_eq!(bbr.phase, Phase::Drain);
    (bbr, window)
}

/// The same in ProbeBW_DOWN since 500 ms.
fn down() -> (Bbr3, Window) {
    let (mut bbr, mut window) = draining();
    window.set_cwnd(150.0);
    bbr.startup.drain_start_round = 0;
    let drained = ack(&bbr, 500, 100);
    bbr.on_ack(&mut window, &drained);
    assert_eq!(bbr.phase, Phase::Down);
    (bbr, window)
}

/// The same in ProbeBW_UP since 4,100 ms.
fn up() -> (Bbr3, Window) {
    let (mut bbr, mut window) = down();
    for ms in [4000, 4100] {
        let next = ack(&bbr, ms, 100);
        bbr.on_ack(&mut window, &next);
    }
    assert_eq!(bbr.phase, Phase::Up);
    (bbr, window)
}

fn gains(bbr: &Bbr3) -> (f64, f64) {
    (bbr.pacing_gain, bbr.cwnd_gain)
}

#[test]
fn the_first_pacing_rate() {
    // 2.77 * 10 segments of 1,448 bytes in 100 ms: 401,096 bytes a second.
    let (_, window) = fresh();
    assert_near(window.pacing_rate, 401_096.0, 1e-6);
    let mut bbr = Bbr3::new(Bbr3Parameters::default());
    let mut window = window_with(10.0, f64::INFINITY, Arithmetic::Real);
    bbr.init(&mut window, &Init::default());
    assert_near(window.pacing_rate, 40_109_600.0, 1e-6);
    let first = Ack { rate: None, ..ack(&bbr, 100, 1) };
    bbr.on_ack(&mut window, &first);
    assert_near(window.pacing_rate, 401_096.0, 1e-6);
}

#[test]
fn startup_ends_on_a_bandwidth_plateau() {
    // 10, 20, 40, 50: each is 25 % over the one before. 62, 62 and 62 are under 62.5.
    let (mut bbr, mut window) = fresh();
    assert_eq!(gains(&bbr), (2.77, 2.0));
    for (round, rate) in [10, 20, 40, 50, 62, 62].into_iter().enumerate() {
        let ack = ack(&bbr, 100 * round as u64, rate);
        bbr.on_ack(&mut window, &ack);
        assert_eq!(bbr.phase, Phase::Startup);
    }
    let third = ack(&bbr, 600, 62);
    bbr.on_ack(&mut window, &third);
    assert_eq!((bbr.phase, bbr.startup.full_bw_now, bbr.startup.full_bw), (Phase::Drain, true, 500.0));
    assert_eq!(gains(&bbr), (0.5, 2.0));
}

#[test]
fn limited_rounds_do_not_end_startup() {
    let (mut bbr, mut window) = fresh();
    for round in 0..20 {
        let mut limited = ack(&bbr, 100 * round, 50);
        limited.rate.as_mut().unwrap().app_limited = true;
        bbr.on_ack(&mut window, &limited);
    }
    assert_eq!((bbr.phase, bbr.startup.full_bw_count), (Phase::Startup, 0));
}

#[test]
fn startup_ends_on_losses_of_a_round_of_recovery() {
    // Six ACKs that find losses, and a round in which 11 of 500 were lost: 2.2 %. The model is then max(BDP,
    // delivered in the round) = max(100 * 0.1, 100) = 100. Five ACKs, or 10 of 500, are not enough.
    for (events, of_500, phase) in [(6, 11, Phase::Drain), (5, 11, Phase::Startup), (6, 10, Phase::Startup)] {
        let (mut bbr, mut window) = fresh();
        let first = ack(&bbr, 0, 100);
        bbr.on_ack(&mut window, &first);
        for event in 0..events {
            let state = State::Recovery;
            let finding = Ack { lost: 2, state, ..within(&bbr, 10 + event, 100) };
            bbr.on_ack(&mut window, &finding);
        }
        let mut last = Ack { state: State::Recovery, ..ack(&bbr, 100, 124) };
        let sample = last.rate.as_mut().unwrap();
        (sample.lost, sample.tx_in_flight) = (of_500, 500);
        bbr.on_ack(&mut window, &last);
        assert_eq!(bbr.phase, phase, "{events} {of_500}");
        if phase == Phase::Drain {
            assert_eq!((bbr.bounds.inflight_longterm, bbr.undo.phase), (124.0, Some(Phase::Startup)));
        }
    }
}

#[test]
fn drain_ends_on_inflight_or_after_three_rounds() {
    // The BDP is 100, over all budgets: 6 segments of quanta at these rates.
    let (mut bbr, mut window) = draining();
    let above = Ack { in_flight: 101, ..within(&bbr, 410, 100) };
    bbr.on_ack(&mut window, &above);
    assert_eq!(bbr.phase, Phase::Drain);
    let drained = Ack { in_flight: 100, ..within(&bbr, 420, 100) };
    bbr.on_ack(&mut window, &drained);
    // What ends Drain ends ProbeBW_DOWN as well, on the same ACK.
    assert_eq!((bbr.phase, gains(&bbr)), (Phase::Cruise, (1.0, 2.0)));
    // Never drained: the fourth round after it began is more than 3 later.
    let (mut bbr, mut window) = draining();
    for round in 0..4 {
        assert_eq!(bbr.phase, Phase::Drain);
        let above = ack(&bbr, 500 + 100 * round, 100);
        bbr.on_ack(&mut window, &above);
    }
    assert_eq!((bbr.phase, gains(&bbr)), (Phase::Down, (0.9, 2.0)));
}

#[test]
fn down_gives_way_to_cruise_at_the_bdp_and_headroom() {
    // inflight_longterm 100 leaves 15 as headroom: 85 may be in flight. Without it, the BDP of 100.
    for (longterm, in_flight) in [(100.0, 85), (f64::INFINITY, 100), (6.0, 5)] {
        for (more, phase) in [(1, Phase::Down), (0, Phase::Cruise)] {
            let (mut bbr, mut window) = down();
            bbr.bounds.inflight_longterm = longterm;
            let mut next = Ack { in_flight: in_flight + more, ..within(&bbr, 510, 100) };
            next.rate.as_mut().unwrap().tx_in_flight = 1;
            bbr.on_ack(&mut window, &next);
            assert_eq!(bbr.phase, phase, "{longterm} {in_flight} {more}");
        }
    }
    let (mut bbr, _) = down();
    bbr.bounds.inflight_longterm = 4.5;
    assert_eq!(bbr.inflight_with_headroom(), 4.0);
}

#[test]
fn it_probes_after_two_to_three_seconds_or_as_reno_would() {
    let (mut bbr, mut window) = down();
    let wait = bbr.probe_bw.wait.0;
    assert!((2_000 * MS..3_000 * MS).contains(&wait));
    for (at, phase) in [(500 * MS + wait, Phase::Down), (500 * MS + wait + 1, Phase::Refill)] {
        let next = Ack { now: Nanos(at), ..within(&bbr, 0, 100) };
        bbr.on_ack(&mut window, &next);
        assert_eq!(bbr.phase, phase);
    }
    assert_eq!(gains(&bbr), (1.0, 2.0));
    // A target of 100 waits 63 rounds, one of 20 (the window) 20.
    for (cwnd, rounds) in [(100.0, 63), (20.0, 20)] {
        let (bbr, mut window) = down();
        window.set_cwnd(cwnd);
        for (rounds_since_up, expected) in [(rounds - 1, false), (rounds, true)] {
            let mut bbr = bbr.clone();
            bbr.probe_bw.rounds_since_up = rounds_since_up;
            assert_eq!(bbr.is_time_to_probe(&window), expected);
        }
    }
}

#[test]
fn refill_forgets_the_short_term_and_lasts_a_round() {
    let (mut bbr, mut window) = down();
    (bbr.bounds.bw_shortterm, bbr.bounds.inflight_shortterm) = (500.0, 50.0);
    let late = ack(&bbr, 4000, 100);
    bbr.on_ack(&mut window, &late);
    assert_eq!(bbr.phase, Phase::Refill);
    assert_eq!((bbr.bounds.bw_shortterm, bbr.bounds.inflight_shortterm), (f64::INFINITY, f64::INFINITY));
    let same_round = within(&bbr, 4010, 100);
    bbr.on_ack(&mut window, &same_round);
    assert_eq!(bbr.phase, Phase::Refill);
    let round = ack(&bbr, 4100, 100);
    bbr.on_ack(&mut window, &round);
    assert_eq!((bbr.phase, bbr.probe_bw.is_probe_sample), (Phase::Up, true));
    assert_eq!(gains(&bbr), (1.25, 2.25));
}

#[test]
fn up_ends_on_a_plateau() {
    // The rate of the ACK that began it is the baseline; three rounds without 25 % more.
    let (mut bbr, mut window) = up();
    for (round, phase) in [Phase::Up, Phase::Up, Phase::Down].into_iter().enumerate() {
        let next = ack(&bbr, 4200 + 100 * round as u64, 120);
        bbr.on_ack(&mut window, &next);
        assert_eq!(bbr.phase, phase, "{round}");
    }
    assert!(!bbr.probe_bw.prev_too_high);
}

#[test]
fn how_much_was_in_flight_when_losses_crossed_the_threshold() {
    // The 3rd lost of 100 in flight: before it 99 and 2; (0.02 * 99 - 2)/0.98 = -0.0204: 98.9796.
    let (bbr, _) = fresh();
    assert_near(bbr.inflight_at_loss(3, 100), 98.979_592, 1e-6);
    // The 1st of 40: 39, 0: 0.78/0.98 = 0.795918 of it: 39.795918.
    assert_near(bbr.inflight_at_loss(1, 40), 39.795_918, 1e-6);
}

#[test]
fn up_ends_on_losses() {
    // 2 of 100 lost are not over 2 %, the third is; inflight_longterm = max(98.98, 0.7 * 100).
    let (mut bbr, mut window) = up();
    let second = lost(&bbr, 100, 2);
    bbr.on_packet_lost(&mut window, &second);
    assert_eq!(bbr.phase, Phase::Up);
    let third = lost(&bbr, 100, 3);
    bbr.on_packet_lost(&mut window, &third);
    assert_eq!((bbr.phase, bbr.undo.phase), (Phase::Down, Some(Phase::Up)));
    assert!(bbr.probe_bw.prev_too_high && !bbr.probe_bw.is_probe_sample);
    assert_near(bbr.bounds.inflight_longterm, 98.979_592, 1e-6);
    // Only once a probe: what is lost later changes nothing.
    let more = lost(&bbr, 50, 30);
    bbr.on_packet_lost(&mut window, &more);
    assert_near(bbr.bounds.inflight_longterm, 98.979_592, 1e-6);
    // Lost with 20 in flight, it does not fall under 0.7 of the target of 100.
    let (mut bbr, mut window) = up();
    let early = lost(&bbr, 20, 3);
    bbr.on_packet_lost(&mut window, &early);
    assert_near(bbr.bounds.inflight_longterm, 70.0, 1e-9);
    // Where the application limited it, the state changes and the bound does not.
    let (mut bbr, mut window) = up();
    let limited = LostPacket { app_limited: true, ..lost(&bbr, 100, 3) };
    bbr.on_packet_lost(&mut window, &limited);
    assert_eq!((bbr.phase, bbr.bounds.inflight_longterm), (Phase::Down, f64::INFINITY));
}

#[test]
fn caution_after_a_probe_that_went_too_high() {
    // The next probe ends where 120 are in flight; a round of its ACKs without loss allows another at once.
    let (mut bbr, mut window) = up();
    (bbr.probe_bw.prev_too_high, bbr.bounds.inflight_longterm) = (true, 120.0);
    let below = Ack { in_flight: 119, ..within(&bbr, 4110, 100) };
    bbr.on_ack(&mut window, &below);
    assert_eq!(bbr.phase, Phase::Up);
    let reached = Ack { in_flight: 120, ..within(&bbr, 4120, 100) };
    bbr.on_ack(&mut window, &reached);
    assert_eq!((bbr.phase, bbr.probe_bw.prev_precautionary), (Phase::Down, true));
    let round = Ack { in_flight: 120, ..ack(&bbr, 4220, 100) };
    bbr.on_ack(&mut window, &round);
    assert_eq!((bbr.phase, bbr.probe_bw.prev_precautionary), (Phase::Refill, false));
}

#[test]
fn the_long_term_bound_rises_by_1_2_4_a_round() {
    // Of a window of 100: 100 acknowledged segments a step in the first round, 50 in the second, 25 in the third.
    let (mut bbr, mut window) = up();
    bbr.probe_bw.up_rounds = 0;
    window.set_cwnd(100.0);
    bbr.bounds.inflight_longterm = 100.0;
    bbr.raise_inflight_longterm_slope(&window);
    bbr.input.cwnd_limited = [true, true];
    bbr.round.start = false;
    for bound in [101.0, 103.0, 107.0] {
        for _ in 0..100 {
            window.set_cwnd(bbr.bounds.inflight_longterm);
            bbr.adapt_long_term_model(&window, 1);
        }
        assert_eq!(bbr.bounds.inflight_longterm, bound);
        window.set_cwnd(100.0);
        bbr.raise_inflight_longterm_slope(&window);
    }
}

#[test]
fn a_round_with_losses_lowers_the_short_term_model() {
    // Cruising at 1,000 a second with a window of 150: a round with a loss that delivered 60 at 600 a second
    // leaves max(600, 700) and max(60, 105); the next, with 300 a second, 490 and 73.5.
    let (mut bbr, mut window) = down();
    window.set_cwnd(150.0);
    bbr.on_packet_lost(&mut window, &lost(&bbr.clone(), 100, 1));
    let first = within(&bbr, 520, 60);
    bbr.on_ack(&mut window, &first);
    assert_eq!(bbr.bounds.bw_shortterm, f64::INFINITY);
    bbr.loss_round.bw_latest = 0.0;
    bbr.loss_round.inflight_latest = 0.0;
    window.set_cwnd(150.0);
    let end = ack(&bbr, 620, 60);
    bbr.on_ack(&mut window, &end);
    assert_near(bbr.bounds.bw_shortterm, 700.0, 1e-9);
    assert_near(bbr.bounds.inflight_shortterm, 105.0, 1e-9);
    assert_near(bbr.model.bw, 700.0, 1e-9);
    assert_eq!(window.cwnd, 105.0);
    bbr.on_packet_lost(&mut window, &lost(&bbr.clone(), 100, 2));
    let first = within(&bbr, 630, 30);
    bbr.on_ack(&mut window, &first);
    bbr.loss_round.bw_latest = 0.0;
    bbr.loss_round.inflight_latest = 0.0;
    let end = ack(&bbr, 730, 30);
    bbr.on_ack(&mut window, &end);
    assert_near(bbr.bounds.bw_shortterm, 490.0, 1e-9);
    assert_near(bbr.bounds.inflight_shortterm, 73.5, 1e-9);
}

#[test]
fn pacing_is_a_hundredth_under_the_rate() {
    // In DOWN: 0.9 * 1,000 * 0.99 = 891 segments of 1,448 bytes a second.
    let (_, window) = down();
    assert_near(window.pacing_rate, 891.0 * 1448.0, 1e-6);
}

#[test]
fn the_window_grows_to_twice_the_bdp_and_the_aggregation() {
    // 2 * 100, and extra_acked: at 1,000 a second 50 are expected in 50 ms; 80 came: 30 are extra.
    let (mut bbr, mut window) = down();
    bbr.aggregation.extra_acked = RoundMax::default();
    bbr.aggregation.extra_acked.add(30.0);
    for (cwnd, expected) in [(100.0, 102.0), (150.0, 152.0), (229.0, 230.0), (500.0, 230.0)] {
        window.set_cwnd(cwnd);
        bbr.set_cwnd(&mut window, 2);
        assert_near(window.cwnd, expected, 1e-9);
    }
    (bbr.aggregation.delivered, bbr.aggregation.start) = (79.0, Nanos(450 * MS));
    bbr.aggregation.extra_acked = RoundMax::default();
    bbr.input.now = Nanos(500 * MS);
    bbr.update_ack_aggregation(&window, 1);
    assert_near(bbr.aggregation.extra_acked.get(), 30.0, 1e-9);
}

#[test]
fn volume_caps_by_state() {
    // inflight_longterm 120: all of it in DOWN, REFILL and UP, 102 in CRUISE and ProbeRTT, none before.
    let (mut bbr, _) = down();
    bbr.bounds.inflight_longterm = 120.0;
    for (phase, cap) in [
        (Phase::Startup, f64::INFINITY),
        (Phase::Drain, f64::INFINITY),
        (Phase::Down, 120.0),
        (Phase::Cruise, 102.0),
        (Phase::Refill, 120.0),
        (Phase::Up, 120.0),
        (Phase::ProbeRtt, 102.0),
    ] {
        bbr.phase = phase;
        assert_eq!(bbr.volume_cap(), cap, "{phase:?}");
    }
    bbr.bounds.inflight_shortterm = 2.0;
    assert_eq!(bbr.volume_cap(), 4.0);
}

#[test]
fn probe_rtt_holds_half_the_bdp_of_before() {
    let (mut bbr, mut window) = down();
    window.set_cwnd(150.0);
    // min_rtt is as old as the first ACK (at 0 ms); samples of 150 ms since.
    let later =
        |bbr: &Bbr3, ms, in_flight| Ack { rtt: Some(Nanos(150 * MS)), in_flight, ..ack(bbr, ms, 100) };
    bbr.min_rtt.stamp = Nanos(500 * MS);
    bbr.probe_bw.cycle_stamp = Nanos(10_400 * MS);
    let last = Ack { rate: None, ..later(&bbr, 10_500, 500) };
    bbr.on_ack(&mut window, &last);
    assert_ne!(bbr.phase, Phase::ProbeRtt);
    let saved = window.cwnd;
    let expired = later(&bbr, 10_501, 500);
    bbr.on_ack(&mut window, &expired);
    // 0.5 * 1,000 * 0.1 s = 50, although min_rtt is 150 ms from now on.
    assert_eq!((bbr.phase, window.cwnd, bbr.min_rtt.value), (Phase::ProbeRtt, 50.0, Nanos(150 * MS)));
    for (ms, in_flight, phase) in [
        (10_600, 51, Phase::ProbeRtt),
        (10_700, 50, Phase::ProbeRtt),
        (10_900, 50, Phase::ProbeRtt),
        (10_901, 50, Phase::Cruise),
    ] {
        let held = later(&bbr, ms, in_flight);
        bbr.on_ack(&mut window, &held);
        assert_eq!(bbr.phase, phase, "{ms}");
    }
    assert!(window.cwnd >= saved);
}

#[test]
fn recoveries_end_with_the_window_of_before() {
    let (mut bbr, mut window) = down();
    window.set_cwnd(150.0);
    let loss = congestion(&window, CongestionKind::Loss, 600);
    bbr.on_congestion(&mut window, &loss);
    assert_eq!(window.cwnd, 150.0);
    time_out(&mut bbr, &mut window, 700);
    assert_eq!(window.cwnd, 1.0);
    let first = Ack { state: State::Loss, ..within(&bbr, 800, 100) };
    bbr.on_ack(&mut window, &first);
    assert_eq!(window.cwnd, 4.0);
    bbr.on_recovery_exit(&mut window, Nanos(900 * MS));
    assert_eq!(window.cwnd, 150.0);
}

#[test]
fn a_spurious_recovery_returns_to_the_probe() {
    let (mut bbr, mut window) = up();
    window.set_cwnd(150.0);
    let third = lost(&bbr, 100, 3);
    bbr.on_packet_lost(&mut window, &third);
    let loss = congestion(&window, CongestionKind::Loss, 4150);
    bbr.on_congestion(&mut window, &loss);
    assert_eq!(bbr.phase, Phase::Down);
    window.set_cwnd(80.0);
    bbr.on_undo(&mut window, Nanos(4200 * MS));
    assert_eq!((bbr.phase, bbr.bounds.inflight_longterm, window.cwnd), (Phase::Refill, f64::INFINITY, 150.0));
}

#[test]
fn without_sack_any_loss_is_too_much() {
    let (mut bbr, mut window) = up();
    bbr.input.sack = false;
    let first = lost(&bbr, 1000, 1);
    bbr.on_packet_lost(&mut window, &first);
    assert_eq!(bbr.phase, Phase::Down);
}

#[test]
fn the_rate_is_that_of_two_cycles() {
    // A cycle's maximum is forgotten when the cycle after the next one has a sample.
    let (mut bbr, mut window) = down();
    for (advance, rate, expected) in [(false, 120, 1200.0), (true, 90, 1200.0), (true, 80, 900.0)] {
        if advance {
            bbr.probe_bw.ack_phase = AckPhase::ProbeStopping;
            bbr.phase = Phase::Cruise;
            let round = ack(&bbr, 600, 1);
            bbr.on_ack(&mut window, &round);
        }
        let next = within(&bbr, 610, rate);
        bbr.on_ack(&mut window, &next);
        assert_eq!(bbr.model.max_bw.get(), expected);
    }
}

#[test]
fn after_an_idle_time_it_paces_at_the_rate_where_it_probes_for_bandwidth() {
    // 1,000 segments of 1,448 bytes a second less a hundredth; in Drain the gain of a half stands.
    let (mut bbr, mut window) = down();
    bbr.on_idle_restart(&mut window, Nanos(900 * MS), Nanos(400 * MS));
    assert_near(window.pacing_rate, 990.0 * 1448.0, 1e-6);
    assert_eq!((bbr.idle_restart, bbr.aggregation.start), (true, Nanos(900 * MS)));
    let (mut bbr, mut window) = draining();
    bbr.on_idle_restart(&mut window, Nanos(900 * MS), Nanos(400 * MS));
    assert_near(window.pacing_rate, 495.0 * 1448.0, 1e-6);
}

#[test]
fn an_idle_time_may_end_probe_rtt() {
    for (ms, phase) in [(700, Phase::ProbeRtt), (701, Phase::Cruise)] {
        let (mut bbr, mut window) = down();
        (bbr.phase, bbr.probe_rtt.done) = (Phase::ProbeRtt, Some(Nanos(700 * MS)));
        bbr.on_idle_restart(&mut window, Nanos(ms * MS), Nanos(100 * MS));
        assert_eq!(bbr.phase, phase);
    }
}

#[test]
fn the_window_limits_when_no_further_segment_fits() {
    // 99 in flight leave room for one more of 100; of 99.5 they leave none.
    for (cwnd, prior_in_flight, limited) in [(100.0, 99, false), (100.0, 100, true), (99.5, 99, true)] {
        let (mut bbr, mut window) = down();
        window.set_cwnd(cwnd);
        bbr.input.cwnd_limited = [false, false];
        let next = Ack { prior_in_flight, ..within(&bbr, 510, 100) };
        bbr.take_sample(&window, &next);
        assert_eq!(bbr.is_cwnd_limited(), limited, "{prior_in_flight} of {cwnd}");
    }
    // In this round or in the one before.
    for (rounds, limited) in [([true, false], true), ([false, true], true), ([false, false], false)] {
        let (mut bbr, _) = down();
        bbr.input.cwnd_limited = rounds;
        assert_eq!(bbr.is_cwnd_limited(), limited);
    }
}
