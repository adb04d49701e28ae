//! The steps from state to state, at their bounds.

use super::*;

#[test]
fn a_round_of_losses_leaves_startup_only_where_all_of_it_holds() {
    // Six events, a round in which 11 of 500 were lost, fast recovery. The bound is the BDP or what arrived.
    let startup = || {
        let (mut bbr, window) = fresh();
        bbr.set_min_rtt(Nanos(100 * MS));
        (bbr.model.bw, bbr.loss_round.inflight_latest, bbr.loss_round.events, bbr.loss_round.start) =
            (1000.0, 124.0, 6, true);
        (bbr.input.sample.lost, bbr.input.sample.tx_in_flight) = (11, 500);
        (bbr, window)
    };
    let recovering = Ack { state: State::Recovery, lost: 1, ..Ack::default() };
    let (mut bbr, mut window) = startup();
    bbr.check_startup_done(&mut window, &recovering);
    assert_eq!((bbr.phase, bbr.bounds.inflight_longterm, bbr.loss_round.events), (Phase::Drain, 124.0, 0));
    assert_eq!((bbr.undo.phase, window.ssthresh), (Some(Phase::Startup), 10.0));
    for unfit in 0..4 {
        let (mut bbr, mut window) = startup();
        let mut ack = recovering;
        match unfit {
            0 => bbr.loss_round.events = 5,
            1 => bbr.loss_round.start = false,
            2 => bbr.input.sample.lost = 10,
            _ => ack.state = State::Open,
        }
        bbr.check_startup_done(&mut window, &ack);
        assert_eq!((bbr.phase, bbr.startup.full_bw_reached), (Phase::Startup, false), "{unfit}");
        // The events are counted by rounds.
        assert_eq!(bbr.loss_round.events, if unfit == 1 { 6 } else { 0 });
    }
    // Without SACK the first loss is enough, and none is not.
    for (lost, phase) in [(1, Phase::Drain), (0, Phase::Startup)] {
        let (mut bbr, mut window) = startup();
        (bbr.input.sack, bbr.loss_round.start) = (false, false);
        bbr.check_startup_done(&mut window, &Ack { lost, ..recovering });
        assert_eq!(bbr.phase, phase);
    }
}

#[test]
fn drain_ends_three_rounds_after_the_one_it_began_in() {
    for (round_count, phase) in [(13, Phase::Drain), (14, Phase::Down)] {
        let (mut bbr, _) = draining();
        (bbr.startup.drain_start_round, bbr.round.count) = (10, round_count);
        bbr.check_drain_done(&Ack { in_flight: 500, ..Ack::default() });
        assert_eq!(bbr.phase, phase);
    }
    // Only Drain ends so.
    let (mut bbr, _) = fresh();
    bbr.check_drain_done(&Ack::default());
    assert_eq!(bbr.phase, Phase::Startup);
}

#[test]
fn it_cruises_where_headroom_and_bdp_are_free() {
    // The headroom of 100 leaves 85; the BDP is 100.
    for (longterm, in_flight, free) in
        [(100.0, 85, true), (100.0, 86, false), (200.0, 100, true), (200.0, 101, false)]
    {
        let (mut bbr, _) = down();
        bbr.bounds.inflight_longterm = longterm;
        let mut next = Ack { in_flight, ..within(&bbr, 510, 100) };
        next.rate.as_mut().unwrap().tx_in_flight = 1;
        bbr.on_ack(&mut window_with(150.0, 2.0, Arithmetic::Real), &next);
        assert_eq!(bbr.phase == Phase::Cruise, free, "{longterm} {in_flight}");
    }
}

#[test]
fn a_bound_that_limits_the_rate_does_not_end_the_probe() {
    // The window is used and at the bound: what does not grow then is no plateau. Otherwise it is.
    for (cwnd, limited, ends) in [(120.0, true, false), (119.0, true, true), (120.0, false, true)] {
        let (mut bbr, mut window) = up();
        window.set_cwnd(cwnd);
        (bbr.bounds.inflight_longterm, bbr.input.cwnd_limited, bbr.startup.full_bw_now) =
            (120.0, [limited, false], true);
        bbr.input.sample.lost = 0;
        (bbr.input.rate, bbr.round.start, bbr.input.sample.tx_in_flight) = (900.0, false, 1);
        let ack = Ack { acked: 0, ..Ack::default() };
        bbr.update_probe_bw(&window, &ack);
        assert_eq!(bbr.phase, if ends { Phase::Down } else { Phase::Up }, "{cwnd} {limited}");
        if !ends {
            assert_eq!(
                (bbr.startup.full_bw, bbr.startup.full_bw_now, bbr.startup.full_bw_count),
                (900.0, false, 0)
            );
        }
    }
}

#[test]
fn nothing_is_probed_before_the_pipe_is_full() {
    let (mut bbr, window) = fresh();
    bbr.phase = Phase::Cruise;
    bbr.probe_bw.rounds_since_up = 100;
    bbr.update_probe_bw(&window, &Ack::default());
    assert_eq!(bbr.phase, Phase::Cruise);
    bbr.startup.full_bw_reached = true;
    bbr.update_probe_bw(&window, &Ack::default());
    assert_eq!(bbr.phase, Phase::Refill);
}

#[test]
fn probe_rtt_begins_when_the_least_rtt_is_old() {
    for (expired, idle_restart, begins) in [(true, false, true), (false, false, false), (true, true, false)] {
        let (mut bbr, mut window) = down();
        window.set_cwnd(150.0);
        (bbr.min_rtt.expired, bbr.idle_restart, bbr.input.delivered) = (expired, idle_restart, 900);
        bbr.input.sample.delivered = 0;
        bbr.check_probe_rtt(&mut window, &Ack { in_flight: 70, ..Ack::default() });
        assert_eq!(bbr.phase == Phase::ProbeRtt, begins);
        if begins {
            assert_eq!((bbr.control.prior_cwnd, gains(&bbr)), (150.0, (1.0, 0.5)));
            // What is sent now is sent while 900 to 969 are delivered; nothing in flight counts as one.
            assert_eq!(bbr.probe_rtt.throttled, (900, 970));
            bbr.check_probe_rtt(&mut window, &Ack::default());
            assert_eq!(bbr.probe_rtt.throttled, (900, 901));
        }
        // It has not delivered anything since it was idle.
        assert_eq!(bbr.idle_restart, idle_restart);
        bbr.input.sample.delivered = 1;
        bbr.check_probe_rtt(&mut window, &Ack::default());
        assert!(!bbr.idle_restart);
    }
}

#[test]
fn probe_rtt_ends_after_its_time_and_a_round() {
    // 200 ms from when no more than 50 are in flight, at 600 ms.
    for (round, ms, ends) in [(true, 800, false), (true, 801, true), (false, 900, false)] {
        let (mut bbr, mut window) = down();
        (bbr.phase, bbr.probe_rtt.cwnd, bbr.control.prior_cwnd) = (Phase::ProbeRtt, 50.0, 150.0);
        window.set_cwnd(50.0);
        let look = |bbr: &mut Bbr3, window: &mut Window, ms: u64, in_flight, round_start| {
            (bbr.input.now, bbr.round.start) = (Nanos(ms * MS), round_start);
            bbr.check_probe_rtt(window, &Ack { in_flight, ..Ack::default() });
        };
        look(&mut bbr, &mut window, 590, 51, true);
        assert_eq!(bbr.probe_rtt.done, None);
        look(&mut bbr, &mut window, 600, 50, true);
        assert_eq!(bbr.probe_rtt.done, Some(Nanos(800 * MS)));
        (bbr.bounds.bw_shortterm, bbr.bounds.inflight_shortterm) = (500.0, 50.0);
        look(&mut bbr, &mut window, 700, 50, round);
        look(&mut bbr, &mut window, ms, 50, false);
        assert_eq!(bbr.phase, if ends { Phase::Cruise } else { Phase::ProbeRtt }, "{round} {ms}");
        if ends {
            assert_eq!((window.cwnd, bbr.min_rtt.stamp), (150.0, Nanos(801 * MS)));
            assert_eq!(
                (bbr.bounds.bw_shortterm, bbr.bounds.inflight_shortterm),
                (f64::INFINITY, f64::INFINITY)
            );
        }
    }
    // Where the pipe was not yet full it starts again.
    let (mut bbr, mut window) = fresh();
    (bbr.phase, bbr.probe_rtt.done, bbr.input.now) = (Phase::ProbeRtt, Some(Nanos(5)), Nanos(6));
    bbr.check_probe_rtt_done(&mut window);
    assert_eq!((bbr.phase, gains(&bbr)), (Phase::Startup, (2.77, 2.0)));
}
