//! Rates that change or are small, links that aggregate, and a policer: cases 13 to 17.

use crate::report::{Found, off, percent};
use crate::run::{BACK, FORWARD, Path, Run, segments};
use crate::startup::{is_in, is_in_mode};
use crate::watch::{Event, Inside, Seen, check_extra_acked};
use cwnd_cc::State;
use cwnd_cc::algorithms::bbr::{Bbr, Mode};
use cwnd_cc::algorithms::bbr3::{Bbr3, Phase};
use cwnd_experiment::LineOptions;
use cwnd_scenario::{Effects, Policer, Rate, Time};

/// How much comes out of the link in the next seconds, as a fraction of a rate.
fn used<A: Inside>(run: &mut Run<A>, rate: u64, seconds: f64) -> f64 {
    let delivered = |run: &Run<A>| run.simulation.outcome().links[FORWARD].delivered;
    let before = delivered(run);
    run.go_on(seconds);
    (delivered(run) - before) as f64 / segments(rate) / seconds
}

/// Case 13.
pub fn cruise_with_aggregation() -> Found {
    // Slots of a nanosecond do nothing, until they become longer.
    let reverse = LineOptions { slot: Some(Some(Time(1))), ..LineOptions::default() };
    let path = Path { reverse, buffer: 4.0, ..Path::new(50_000_000, 40_000) };
    // Longer than the round trip: two bandwidth-delay products alone would not last from one burst to the next.
    let slot = 0.06;
    let mut run = path.run::<Bbr3>();
    run.until(60.0, "ProbeBW_CRUISE", is_in(Phase::Cruise));
    run.go_on(1.0);
    let effects = |slot| Effects { slot: Some(slot), ..Effects::default() };
    run.simulation.set_effects(BACK, effects(Time::from_millis(60))).expect("a link with slots");
    // The first burst of ACKs comes late, and what was not known yet is not in the window: half a second later it is.
    run.go_on(0.5);
    let mark = run.mark();
    let share = used(&mut run, path.rate, 0.6);
    let log = run.since(mark);
    let last = *log.last().expect("ACKs");
    assert_eq!(last.bbr.phase, Phase::Cruise);
    let burst = slot * path.segments_per_second();
    let extra = last.bbr.extra_acked / burst;
    assert!((0.8..1.6).contains(&extra), "{extra}");
    let window = last.cwnd / (2.0 * last.bbr.bdp + last.bbr.extra_acked);
    assert!((0.95..1.05).contains(&window), "{window}");
    assert!(share > 0.97, "{share}");
    // The greatest sample of ten rounds, at each ACK; without the slots, too, when it falls.
    run.simulation.set_effects(BACK, effects(Time(1))).expect("a link with slots");
    run.go_on(4.0);
    let log = run.since(0);
    let compared = check_extra_acked(&log, 10);
    let fell = log.last().expect("ACKs").bbr.extra_acked;
    assert!(compared > 10_000 && fell < 0.7 * last.bbr.extra_acked);
    Found::bbr3(format!(
        "`extra_acked` {extra:.2} of a slot's segments, the greatest of 10 rounds at all of {compared} ACKs; window 2 BDP + that; {:.1} % of the link",
        100.0 * share,
    ))
}

/// Case 14.
pub fn less_than_a_packet() -> Found {
    let path = Path::new(64_000, 10_000);
    assert!(path.bdp() < 0.1);
    let mut run = path.run::<Bbr3>();
    run.until(60.0, "ProbeBW", |seen| seen.bbr.phase.is_probe_bw());
    let mark = run.mark();
    let share = used(&mut run, path.rate, 60.0);
    let log = run.since(mark);
    let least = log.iter().map(|seen| seen.cwnd).fold(f64::INFINITY, f64::min);
    let last = log.last().expect("ACKs");
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    for seen in log.iter().filter(|seen| seen.bbr.phase == Phase::Cruise) {
        low = low.min(seen.pacing / path.segments_per_second());
        high = high.max(seen.pacing / path.segments_per_second());
    }
    let in_probe_bw = log
        .iter()
        .filter(|seen| seen.bbr.phase.is_probe_bw())
        .map(|seen| seen.cwnd)
        .fold(f64::INFINITY, f64::min);
    // Four in ProbeRTT; else three quanta of two segments (BBR.offload_budget), which is more than MinPipeCwnd.
    assert_eq!((least, in_probe_bw), (4.0, 6.0));
    assert!(low > 0.96 && high < 1.0, "{low} {high}");
    assert!(share > 0.97);
    let in_rtt = log.iter().filter(|seen| seen.bbr.phase == Phase::ProbeRtt).count();
    let bbr3 = format!(
        "window {least:.0} at least ({in_rtt} ACKs in ProbeRTT), {in_probe_bw:.0} in ProbeBW, at the end {:.0}; paced at {low:.3} to {high:.3} of the link in CRUISE, {:.1} % used",
        last.cwnd,
        100.0 * share
    );
    let mut run = path.run::<Bbr>();
    run.until(60.0, "ProbeBW", is_in_mode(Mode::ProbeBw));
    let mark = run.mark();
    let share = used(&mut run, path.rate, 60.0);
    let quiet = |seen: &&Seen<_>| seen.ack().is_some_and(|ack| ack.state == State::Open);
    let least = run.since(mark).iter().filter(quiet).map(|seen| seen.cwnd).fold(f64::INFINITY, f64::min);
    assert!(least == 4.0 && share > 0.95, "{least} {share}");
    Found::both(bbr3, format!("window {least:.0} at least, {:.1} % used", 100.0 * share))
}

/// Case 15.
pub fn ten_times_the_rate() -> Found {
    // A queue of a third of the product, so that a probe sets inflight_longterm; then it holds ten times as much, too.
    let path = Path { buffer: 0.3, ..Path::new(10_000_000, 40_000) };
    let mut run = path.run::<Bbr3>();
    run.until(60.0, "bound", |seen| seen.bbr.inflight_longterm.is_finite());
    run.until(60.0, "ProbeBW_CRUISE", is_in(Phase::Cruise));
    run.set_rate(FORWARD, 100_000_000);
    let mark = run.mark();
    let refill = run.until(60.0, "ProbeBW_REFILL", is_in(Phase::Refill));
    let found = run.until(60.0, "the new rate", |seen| seen.bbr.max_bw > 0.98 * segments(100_000_000));
    let rounds = found.bbr.round_count - refill.bbr.round_count;
    assert!(rounds < 25, "{rounds}");
    // Each round in which the window is what bounds it makes inflight_longterm rise twice as fast.
    let log = run.since(mark);
    let up: Vec<_> = log.iter().filter(|seen| seen.at <= found.at && seen.bbr.phase == Phase::Up).collect();
    let mut bounds = vec![up[0].bbr.inflight_longterm];
    for pair in up.windows(2) {
        let [before, after] = [pair[0], pair[1]];
        let times = after.bbr.bw_probe_up_rounds;
        if times == before.bbr.bw_probe_up_rounds {
            assert!(after.bbr.probe_up_acked_per_inc == before.bbr.probe_up_acked_per_inc);
            continue;
        }
        assert_eq!(times, before.bbr.bw_probe_up_rounds + 1);
        let slope = (before.cwnd / f64::from(1u32 << (times - 1))).max(1.0);
        assert!((after.bbr.probe_up_acked_per_inc / slope - 1.0).abs() < 1e-9);
        bounds.push(after.bbr.inflight_longterm);
    }
    let steps: Vec<f64> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.len() >= 5 && steps[1..5].windows(2).all(|pair| pair[1] >= 1.3 * pair[0]), "{steps:?}");
    let steps: Vec<String> = steps.iter().map(|step| format!("{step:.0}")).collect();
    let bbr3 =
        format!("98 % after {rounds} rounds from REFILL; `inflight_longterm` rises by {}", steps.join(", "));
    let mut run = path.run::<Bbr>();
    run.until(60.0, "ProbeBW", is_in_mode(Mode::ProbeBw));
    run.go_on(1.0);
    run.set_rate(FORWARD, 100_000_000);
    let changed = run.now();
    let found = run.until(60.0, "the new rate", |seen| seen.bbr.bandwidth > 0.98 * segments(100_000_000));
    let v1 = (found.at - changed) / path.rtt();
    assert!(v1 < 120.0, "{v1}");
    Found::both(bbr3, format!("98 % after {v1:.0} RTT"))
}

/// Case 16.
pub fn a_tenth_of_the_rate() -> Found {
    // A queue of a fifth of the product is two products of what comes: a round trip is long then, but not too long.
    let path = Path { buffer: 0.2, ..Path::new(100_000_000, 40_000) };
    let new = segments(10_000_000);
    let mut run = path.run::<Bbr3>();
    run.until(60.0, "ProbeBW_CRUISE", is_in(Phase::Cruise));
    run.go_on(1.0);
    let old = path.segments_per_second();
    run.set_rate(FORWARD, 10_000_000);
    let changed = run.now();
    let mark = run.mark();
    let found = run.until(20.0, "the new rate", |seen| off(seen.bbr.max_bw, new).abs() < 0.02);
    let log = run.since(mark);
    let log: Vec<_> = log.iter().filter(|seen| seen.at <= found.at).collect();
    // Each round with losses leaves at least Beta of bw_shortterm, and no more than that or what was delivered of late.
    let mut steps = Vec::new();
    for pair in log.windows(2) {
        let (before, after) = (pair[0].bbr.bw_shortterm.min(pair[1].bbr.max_bw), pair[1].bbr.bw_shortterm);
        if after < pair[0].bbr.bw_shortterm {
            assert!(after >= 0.7 * before - 1e-9);
            steps.push((pair[1].at, after));
        }
    }
    let low = steps.iter().find(|(_, rate)| *rate < 0.25 * old).expect("it falls to a quarter and lower");
    assert!(steps[0].1 < old && low.0 - changed < 1.6, "{steps:?} after {changed}");
    // max_bw forgets after two cycles: the filter continues in the round after each end of ProbeBW_UP.
    let downs =
        log.windows(2).filter(|pair| pair[0].bbr.phase == Phase::Up && pair[1].bbr.phase == Phase::Down);
    let cycles = downs.count();
    assert_eq!(cycles, 2);
    let settled = used(&mut run, 10_000_000, 10.0);
    assert!(settled > 0.93, "{settled}");
    let bbr3 = format!(
        "`bw_shortterm` under a quarter {:.1} s after the cut, in steps of Beta; `max_bw` within {} after {cycles} cycles ({:.1} s)",
        low.0 - changed,
        percent(off(found.bbr.max_bw, new)),
        found.at - changed,
    );
    let mut run = path.run::<Bbr>();
    run.until(60.0, "ProbeBW", is_in_mode(Mode::ProbeBw));
    run.go_on(1.0);
    run.set_rate(FORWARD, 10_000_000);
    let changed = run.now();
    let found = run.until(20.0, "the new rate", |seen| off(seen.bbr.bandwidth, new).abs() < 0.02);
    Found::both(
        bbr3,
        format!("BtlBw within 2 % after {:.1} s (10 rounds, made long by the queue)", found.at - changed),
    )
}

/// Case 17.
pub fn a_policer() -> Found {
    let tokens = 20_000_000;
    // Full at first: Startup finds the link's rate, and the bucket is empty in ProbeBW.
    let policer = Policer { rate: Rate(tokens), burst: 8_000_000 };
    let forward = LineOptions { policer: Some(Some(policer)), ..LineOptions::default() };
    let path = Path { forward, ..Path::new(100_000_000, 40_000) };
    let mut run = path.run::<Bbr3>();
    let lost = run.until(10.0, "loss", |seen| matches!(seen.event, Event::Lost(_)));
    assert!(
        lost.bbr.phase.is_probe_bw() && off(lost.bbr.max_bw, path.segments_per_second()).abs() < 0.02,
        "{lost:?}"
    );
    let adapted = run.until(10.0, "short-term model", |seen| seen.bbr.bw_shortterm < 2.0 * segments(tokens));
    assert!(adapted.bbr.inflight_shortterm < 0.8 * lost.cwnd, "{}", adapted.bbr.inflight_shortterm);
    run.go_on(20.0);
    let (share, loss) = policed(&mut run, tokens);
    let last = run.since(0).last().copied().expect("ACKs");
    assert!(share > 0.9 && loss < 0.01, "{share} {loss}");
    assert!(last.bbr.max_bw < 1.5 * segments(tokens));
    let bbr3 = format!(
        "`bw_shortterm` under twice the tokens {:.1} s after the first drop; from 20 s on {:.1} % of the tokens used, {:.2} % lost",
        adapted.at - lost.at,
        100.0 * share,
        100.0 * loss
    );
    let mut run = path.run::<Bbr>();
    run.go_on(22.0);
    let (share, loss) = policed(&mut run, tokens);
    Found::both(bbr3, format!("{:.1} % of the tokens used, {:.0} % lost", 100.0 * share, 100.0 * loss))
}

/// How much of the tokens is used in the next 20 s, and which part of what is sent is lost.
fn policed<A: Inside>(run: &mut Run<A>, tokens: u64) -> (f64, f64) {
    let count = |run: &Run<A>| {
        let flow = &run.simulation.outcome().flows[0];
        (flow.packets_sent, flow.packets_dropped)
    };
    let before = count(run);
    let share = used(run, tokens, 20.0);
    let after = count(run);
    (share, (after.1 - before.1) as f64 / (after.0 - before.0) as f64)
}
