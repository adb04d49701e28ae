//! The steps of the model, one by one.

use super::*;

fn infinite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[test]
fn a_round_of_losses_ends_with_what_was_sent_after_it_began() {
    // It began when 500 were delivered: a sample of a segment sent at 500 or later ends it.
    for (sampled, prior_delivered, ends) in
        [(true, 499, false), (true, 500, true), (true, 501, true), (false, 501, false)]
    {
        let (mut bbr, _) = down();
        (bbr.loss_round.delivered, bbr.input.delivered) = (500, 800);
        bbr.input.sample.prior_delivered = prior_delivered;
        bbr.update_latest_delivery_signals(sampled);
        assert_eq!((bbr.loss_round.start, bbr.loss_round.delivered), (ends, if ends { 800 } else { 500 }));
    }
}

#[test]
fn the_latest_signals_are_the_greatest_of_a_round_of_losses() {
    let (mut bbr, _) = down();
    (bbr.loss_round.bw_latest, bbr.loss_round.inflight_latest) = (700.0, 70.0);
    for (rate, delivered, latest) in [(600.0, 60, (700.0, 70.0)), (800.0, 90, (800.0, 90.0))] {
        (bbr.input.rate, bbr.input.sample.delivered) = (rate, delivered);
        bbr.update_latest_delivery_signals(false);
        bbr.advance_latest_delivery_signals();
        assert_eq!((bbr.loss_round.bw_latest, bbr.loss_round.inflight_latest), latest);
    }
    // The next one begins with the sample that ended this one.
    (bbr.input.rate, bbr.input.sample.delivered, bbr.loss_round.start) = (600.0, 60, true);
    bbr.advance_latest_delivery_signals();
    assert_eq!((bbr.loss_round.bw_latest, bbr.loss_round.inflight_latest), (600.0, 60.0));
}

#[test]
fn limited_samples_count_only_where_they_are_as_great() {
    for (app_limited, rate, counts) in [
        (false, 50.0, true),
        (true, 50.0, false),
        (true, 1000.0, true),
        (true, 1001.0, true),
        (false, 0.0, false),
    ] {
        let (mut bbr, window) = down();
        // Another cycle is under way, so that what is taken can be told from what was there.
        bbr.model.max_bw.advance();
        bbr.model.max_bw.advance();
        (bbr.input.rate, bbr.input.sample.app_limited) = (rate, app_limited);
        bbr.update_congestion_signals(&window, false);
        assert_eq!(bbr.model.max_bw.get(), if counts { rate } else { 1000.0 }, "{app_limited} {rate}");
    }
}

#[test]
fn a_round_begins_with_what_was_sent_in_it() {
    for (sampled, prior_delivered, begins) in [(true, 499, false), (true, 500, true), (false, 500, false)] {
        let (mut bbr, window) = down();
        (bbr.round.next_delivered, bbr.input.delivered) = (500, 800);
        (bbr.round.count, bbr.probe_bw.rounds_since_up) = (7, 3);
        bbr.input.cwnd_limited = [true, false];
        bbr.input.sample.prior_delivered = prior_delivered;
        bbr.update_congestion_signals(&window, sampled);
        let counts = (bbr.round.count, bbr.probe_bw.rounds_since_up, bbr.round.next_delivered);
        assert_eq!((bbr.round.start, counts), (begins, if begins { (8, 4, 800) } else { (7, 3, 500) }));
        assert_eq!(bbr.input.cwnd_limited, if begins { [false, true] } else { [true, false] });
    }
}

#[test]
fn the_short_term_bounds_follow_losses_outside_of_probes() {
    // A window of 100 at 1,000 a second: 70 and 700 after a round with a loss.
    for (phase, lossy, ends, lowered) in [
        (Phase::Down, true, true, true),
        (Phase::Cruise, true, true, true),
        (Phase::Drain, true, true, true),
        (Phase::Cruise, false, true, false),
        (Phase::Cruise, true, false, false),
        (Phase::Startup, true, true, false),
        (Phase::Refill, true, true, false),
        (Phase::Up, true, true, false),
    ] {
        let (mut bbr, mut window) = down();
        window.set_cwnd(100.0);
        bbr.phase = phase;
        (bbr.loss_round.has_loss, bbr.loss_round.start) = (lossy, ends);
        (bbr.loss_round.bw_latest, bbr.loss_round.inflight_latest) = (300.0, 30.0);
        bbr.update_congestion_signals(&window, false);
        let bounds = (infinite(bbr.bounds.bw_shortterm), infinite(bbr.bounds.inflight_shortterm));
        assert_eq!(bounds, if lowered { (Some(700.0), Some(70.0)) } else { (None, None) }, "{phase:?}");
        assert_eq!(bbr.loss_round.has_loss, lossy && !ends);
    }
}

#[test]
fn the_short_term_bounds_fall_no_lower_than_what_arrives() {
    let (mut bbr, window) = down();
    (bbr.bounds.bw_shortterm, bbr.bounds.inflight_shortterm) = (800.0, 80.0);
    (bbr.loss_round.has_loss, bbr.loss_round.start) = (true, true);
    (bbr.loss_round.bw_latest, bbr.loss_round.inflight_latest) = (650.0, 65.0);
    bbr.update_congestion_signals(&window, false);
    // 0.7 * 800 = 560 and 56 are less.
    assert_eq!((bbr.bounds.bw_shortterm, bbr.bounds.inflight_shortterm), (650.0, 65.0));
}

#[test]
fn aggregation_is_what_came_beyond_the_rate() {
    // At 1,000 a second 50 are expected in 50 ms. 50 before this ACK are as expected: the count begins again, with
    // the ACK's own. 51 are not: 51 + 3 - 50 = 4, and no more than a window of 2.
    for (before, cwnd, extra, start) in
        [(50.0, 100.0, 3.0, 500), (51.0, 100.0, 4.0, 450), (51.0, 2.0, 2.0, 450)]
    {
        let (mut bbr, mut window) = down();
        window.set_cwnd(cwnd);
        bbr.aggregation.extra_acked = RoundMax::default();
        bbr.input.now = Nanos(500 * MS);
        (bbr.aggregation.delivered, bbr.aggregation.start) = (before, Nanos(450 * MS));
        bbr.update_ack_aggregation(&window, 3);
        assert_near(bbr.aggregation.extra_acked.get(), extra, 1e-9);
        assert_eq!(bbr.aggregation.start, Nanos(start * MS));
    }
    // Before the pipe is full only the latest round counts.
    for (full_bw_reached, extra) in [(true, 9.0), (false, 4.0)] {
        let (mut bbr, mut window) = down();
        window.set_cwnd(100.0);
        bbr.startup.full_bw_reached = full_bw_reached;
        bbr.aggregation.extra_acked = RoundMax::default();
        bbr.aggregation.extra_acked.add(9.0);
        bbr.aggregation.extra_acked.advance();
        bbr.input.now = Nanos(500 * MS);
        (bbr.aggregation.delivered, bbr.aggregation.start) = (51.0, Nanos(450 * MS));
        bbr.update_ack_aggregation(&window, 3);
        assert_near(bbr.aggregation.extra_acked.get(), extra, 1e-9);
    }
}

#[test]
fn three_rounds_without_a_quarter_more_fill_the_pipe() {
    // 1,250 a second are a quarter more than 1,000: the count begins again.
    let rate = |rate: f64| {
        let (mut bbr, _) = down();
        (
            bbr.startup.full_bw,
            bbr.startup.full_bw_count,
            bbr.startup.full_bw_now,
            bbr.startup.full_bw_reached,
        ) = (1000.0, 2, false, false);
        (bbr.round.start, bbr.input.sample.app_limited, bbr.input.rate) = (true, false, rate);
        bbr
    };
    for (at, count, full_bw, full) in
        [(1250.0, 0, 1250.0, false), (1249.0, 3, 1000.0, true), (1300.0, 0, 1300.0, false)]
    {
        let mut bbr = rate(at);
        bbr.check_full_bw_reached(true);
        assert_eq!((bbr.startup.full_bw_count, bbr.startup.full_bw), (count, full_bw));
        assert_eq!((bbr.startup.full_bw_now, bbr.startup.full_bw_reached), (full, full));
    }
    // The second such round does not, nor what is no round, is limited, has no sample or is known already.
    for unfit in 0..5 {
        let mut bbr = rate(1000.0);
        match unfit {
            0 => bbr.startup.full_bw_count = 1,
            1 => bbr.round.start = false,
            2 => bbr.input.sample.app_limited = true,
            3 => bbr.startup.full_bw_now = true,
            _ => {}
        }
        bbr.check_full_bw_reached(unfit != 4);
        assert_eq!((bbr.startup.full_bw_count, bbr.startup.full_bw_reached), (2, false), "{unfit}");
    }
}

#[test]
fn the_least_rtt_is_kept_for_ten_seconds() {
    // min_rtt of 100 ms was met at 500 ms. A sample as short does not renew it; a shorter one does, and after ten
    // seconds any.
    for (ms, rtt_ms, least_ms, stamp_ms) in [
        (10_500, 100, 100, 500),
        (10_500, 99, 99, 10_500),
        (10_500, 150, 100, 500),
        (10_501, 150, 150, 10_501),
    ] {
        let (mut bbr, _) = down();
        bbr.min_rtt.stamp = Nanos(500 * MS);
        bbr.input.now = Nanos(ms * MS);
        bbr.update_min_rtt(Some(Nanos(rtt_ms * MS)));
        assert_eq!((bbr.min_rtt.value, bbr.min_rtt.stamp), (Nanos(least_ms * MS), Nanos(stamp_ms * MS)));
        assert_eq!(bbr.min_rtt.expired, ms == 10_501);
        // What ProbeRTT holds is of before: half of 1,000 * 0.1 s.
        assert_eq!(bbr.probe_rtt.cwnd, if ms == 10_501 { 50.0 } else { 10.0 });
    }
}

#[test]
fn a_fiftieth_lost_is_the_limit() {
    for (lost, tx_in_flight, sack, too_high) in [
        (2, 100, true, false),
        (3, 100, true, true),
        (1, 49, true, true),
        (1, 1000, true, false),
        (1, 1000, false, true),
        (0, 1000, false, false),
    ] {
        let (mut bbr, _) = down();
        bbr.input.sack = sack;
        (bbr.input.sample.lost, bbr.input.sample.tx_in_flight) = (lost, tx_in_flight);
        assert_eq!(bbr.is_sample_too_high(), too_high, "{lost} of {tx_in_flight}");
    }
}

#[test]
fn losses_count_from_when_the_segment_was_sent() {
    // Of 100 in flight 3 were lost, but 1 of them before the segment was sent: 2 are not over 2 %.
    for (lost_at_send, phase) in [(0, Phase::Down), (1, Phase::Up)] {
        let (mut bbr, mut window) = up();
        let loss = LostPacket { lost_at_send, ..lost(&bbr, 100, 3) };
        bbr.on_packet_lost(&mut window, &loss);
        assert_eq!(bbr.phase, phase);
        assert!(bbr.loss_round.is_due);
    }
    // Where its samples are none of a probe nothing follows but the round of losses.
    let (mut bbr, mut window) = up();
    bbr.probe_bw.is_probe_sample = false;
    let loss = lost(&bbr, 100, 30);
    bbr.on_packet_lost(&mut window, &loss);
    assert_eq!((bbr.phase, bbr.bounds.inflight_longterm), (Phase::Up, f64::INFINITY));
}

#[test]
fn the_state_is_saved_once_in_a_round_of_losses() {
    let (mut bbr, mut window) = down();
    window.set_cwnd(150.0);
    for (longterm, saved) in [(120.0, 120.0), (90.0, 120.0)] {
        bbr.bounds.inflight_longterm = longterm;
        let loss = lost(&bbr, 1000, 1);
        bbr.on_packet_lost(&mut window, &loss);
        assert_eq!((bbr.undo.inflight_longterm, bbr.control.prior_cwnd), (saved, 150.0));
    }
}

#[test]
fn a_spurious_recovery_returns_where_the_loss_led_away_from() {
    for (before, now, then) in [
        (Some(Phase::Startup), Phase::Drain, Phase::Startup),
        (Some(Phase::Startup), Phase::ProbeRtt, Phase::ProbeRtt),
        (Some(Phase::Up), Phase::Down, Phase::Refill),
        (Some(Phase::Up), Phase::Up, Phase::Up),
        (Some(Phase::Up), Phase::ProbeRtt, Phase::ProbeRtt),
        (None, Phase::Down, Phase::Down),
    ] {
        let (mut bbr, mut window) = down();
        bbr.phase = now;
        bbr.undo =
            Undo { phase: before, bw_shortterm: 900.0, inflight_shortterm: 90.0, inflight_longterm: 120.0 };
        (bbr.bounds.bw_shortterm, bbr.bounds.inflight_shortterm, bbr.bounds.inflight_longterm) =
            (700.0, 95.0, 80.0);
        bbr.handle_spurious_recovery(&mut window);
        assert_eq!((bbr.phase, bbr.undo.phase), (then, None), "{before:?} {now:?}");
        assert_eq!(bbr.startup.full_bw_reached, before != Some(Phase::Startup));
        assert_eq!(bbr.bounds.inflight_longterm, 120.0);
        // A probe begins without short-term bounds.
        let bounds = (infinite(bbr.bounds.bw_shortterm), infinite(bbr.bounds.inflight_shortterm));
        assert_eq!(bounds, if then == Phase::Refill { (None, None) } else { (Some(900.0), Some(95.0)) });
    }
}

#[test]
fn the_acks_of_a_probe_are_told_by_rounds() {
    for (before, round_start, after) in [
        (AckPhase::ProbeStarting, true, AckPhase::ProbeFeedback),
        (AckPhase::ProbeStarting, false, AckPhase::ProbeStarting),
        (AckPhase::ProbeStopping, true, AckPhase::Init),
        (AckPhase::ProbeStopping, false, AckPhase::ProbeStopping),
        (AckPhase::Refilling, true, AckPhase::Refilling),
    ] {
        let (mut bbr, window) = down();
        (bbr.probe_bw.ack_phase, bbr.round.start, bbr.probe_bw.is_probe_sample) = (before, round_start, true);
        assert!(!bbr.adapt_long_term_model(&window, 1));
        assert_eq!((bbr.probe_bw.ack_phase, bbr.probe_bw.is_probe_sample), (after, after != AckPhase::Init));
    }
}

#[test]
fn a_cycle_of_the_rate_ends_with_the_probe_unless_it_was_limited() {
    for (phase, app_limited, forgets) in
        [(Phase::Down, false, true), (Phase::Down, true, false), (Phase::ProbeRtt, false, false)]
    {
        let (mut bbr, window) = down();
        // 1,000 of the cycle before this one.
        bbr.model.max_bw = RoundMax::default();
        bbr.model.max_bw.add(1000.0);
        bbr.model.max_bw.advance();
        (bbr.phase, bbr.probe_bw.ack_phase, bbr.round.start) = (phase, AckPhase::ProbeStopping, true);
        bbr.input.sample.app_limited = app_limited;
        bbr.adapt_long_term_model(&window, 1);
        bbr.model.max_bw.add(10.0);
        assert_eq!(bbr.model.max_bw.get(), if forgets { 10.0 } else { 1000.0 });
    }
}

#[test]
fn another_probe_follows_a_cautious_one_without_losses() {
    for (cautious, too_high, refills) in
        [(true, false, true), (true, true, false), (false, false, false), (false, true, false)]
    {
        let (mut bbr, window) = down();
        (bbr.probe_bw.ack_phase, bbr.round.start) = (AckPhase::ProbeStopping, true);
        (bbr.probe_bw.prev_precautionary, bbr.probe_bw.prev_too_high) = (cautious, too_high);
        assert_eq!(bbr.adapt_long_term_model(&window, 1), refills);
        assert_eq!(bbr.phase == Phase::Refill, refills);
    }
}

#[test]
fn the_long_term_bound_rises_to_what_was_in_flight_without_losses() {
    for (longterm, lost, in_flight, raised) in [
        (100.0, 0, 120, 120.0),
        (100.0, 0, 90, 100.0),
        (100.0, 3, 120, 100.0),
        (f64::INFINITY, 0, 120, f64::INFINITY),
    ] {
        let (mut bbr, window) = down();
        bbr.bounds.inflight_longterm = longterm;
        (bbr.input.sample.lost, bbr.input.sample.tx_in_flight) = (lost, in_flight);
        bbr.adapt_long_term_model(&window, 1);
        assert_eq!(bbr.bounds.inflight_longterm, raised);
    }
}

#[test]
fn it_probes_upward_where_the_bound_is_used() {
    // Ten acknowledged segments a step, 25 acknowledged: two steps, and five are kept.
    for (phase, cwnd, limited, bound, kept) in [
        (Phase::Up, 120.0, true, 122.0, 5.0),
        (Phase::Up, 119.0, true, 120.0, 0.0),
        (Phase::Up, 120.0, false, 120.0, 0.0),
        (Phase::Down, 120.0, true, 120.0, 0.0),
    ] {
        let (mut bbr, mut window) = up();
        window.set_cwnd(cwnd);
        (bbr.phase, bbr.input.cwnd_limited, bbr.round.start) = (phase, [limited, false], false);
        (bbr.bounds.inflight_longterm, bbr.probe_bw.up_acked_per_inc, bbr.probe_bw.up_acked) =
            (120.0, 10.0, 0.0);
        bbr.input.sample.tx_in_flight = 1;
        bbr.adapt_long_term_model(&window, 25);
        assert_eq!((bbr.bounds.inflight_longterm, bbr.probe_bw.up_acked), (bound, kept), "{phase:?} {cwnd}");
    }
    // Ten are just a step, and each round doubles the slope.
    for (round_start, rounds) in [(false, 3), (true, 4)] {
        let (mut bbr, mut window) = up();
        window.set_cwnd(120.0);
        (bbr.input.cwnd_limited, bbr.round.start, bbr.probe_bw.up_rounds) = ([true, false], round_start, 3);
        (bbr.bounds.inflight_longterm, bbr.probe_bw.up_acked_per_inc, bbr.probe_bw.up_acked) =
            (120.0, 10.0, 0.0);
        (bbr.probe_bw.ack_phase, bbr.input.sample.tx_in_flight) = (AckPhase::ProbeFeedback, 1);
        bbr.adapt_long_term_model(&window, 10);
        assert_eq!((bbr.bounds.inflight_longterm, bbr.probe_bw.up_rounds), (121.0, rounds));
    }
}

#[test]
fn the_slope_ends_at_a_segment_for_each_acknowledged_one() {
    // 2^3 of a window of 100: 12.5. From 2^7 on, 1.
    let (mut bbr, mut window) = up();
    window.set_cwnd(100.0);
    for (rounds, per_step, next) in [(0, 100.0, 1), (3, 12.5, 4), (7, 1.0, 8), (29, 1.0, 30), (30, 1.0, 30)] {
        bbr.probe_bw.up_rounds = rounds;
        bbr.raise_inflight_longterm_slope(&window);
        assert_eq!((bbr.probe_bw.up_acked_per_inc, bbr.probe_bw.up_rounds), (per_step, next));
    }
}
