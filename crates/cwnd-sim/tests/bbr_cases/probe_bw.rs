//! ProbeBW: cases 5 to 9, 21 and 22.

use crate::report::{Found, list, off, percent};
use crate::run::{FORWARD, PACKET, Path, Run, segments};
use crate::startup::{is_in, paths, startup_never_ends};
use crate::watch::{Event, Inside, Seen};
use cwnd_cc::algorithms::bbr3::{self, Bbr3, Phase};
use cwnd_scenario::{Loss, Traffic};

type Look = Seen<bbr3::Snapshot>;

fn has_left(phase: Phase) -> impl Fn(&Look) -> bool {
    move |seen| seen.bbr.phase != phase
}

fn in_flight(seen: &Look) -> f64 {
    f64::from(seen.ack().expect("an ACK").in_flight)
}

/// Payload at this part of the link.
fn payload<A: Inside>(run: &mut Run<A>, path: &Path, part: f64) {
    run.limit_application((part * path.rate as f64 * 1448.0 / PACKET) as u64);
}

/// Case 5.
pub fn plateau_ends_up() -> Found {
    let mut rounds = Vec::new();
    for path in &paths()[..2] {
        let mut run = path.run::<Bbr3>();
        let up = run.until(60.0, "ProbeBW_UP", is_in(Phase::Up));
        assert_eq!((up.bbr.pacing_gain, up.bbr.cwnd_gain, up.bbr.full_bw_count), (1.25, 2.25, 0));
        let mark = run.mark();
        let down = run.until(30.0, "end of ProbeBW_UP", has_left(Phase::Up));
        assert_eq!(down.bbr.phase, Phase::Down);
        assert!(down.bbr.full_bw_now && down.bbr.full_bw_count == 3 && !down.bbr.prev_probe_too_high);
        let log = run.since(mark);
        let log: Vec<_> = log.iter().filter(|seen| seen.at < down.at).collect();
        assert!(log.iter().all(|seen| !seen.bbr.full_bw_now && !matches!(seen.event, Event::Lost(_))));
        let most = log.iter().filter_map(|seen| seen.rate()).map(|(rate, _)| rate).fold(0.0, f64::max);
        assert!(most < 1.25 * down.bbr.full_bw);
        rounds.push(down.bbr.round_count - up.bbr.round_count);
    }
    assert!(rounds.iter().all(|&rounds| rounds == 3), "{rounds:?}");
    Found::bbr3(format!("out after {} rounds without 25 % more, none lost", list(&rounds)))
}

/// Case 6.
pub fn loss_ends_up_though_the_application_limits() -> Found {
    let path = Path::new(100_000_000, 40_000);
    let mut run = path.run::<Bbr3>();
    run.until(60.0, "ProbeBW_UP", is_in(Phase::Up));
    payload(&mut run, &path, 0.7);
    run.go_on(6.0 * path.rtt());
    let mark = run.mark();
    run.simulation.set_loss(FORWARD, Loss::Bernoulli(0.08)).expect("a probability");
    let down = run.until(5.0, "end of ProbeBW_UP", has_left(Phase::Up));
    let log = run.since(mark);
    assert!(
        log.iter()
            .filter(|seen| seen.at < down.at)
            .filter_map(|seen| seen.rate())
            .all(|(_, limited)| limited)
    );
    let Event::Lost(lost) = down.event else { panic!("a loss ends it: {down:?}") };
    let rate = (lost.lost - lost.lost_at_send) as f64 / f64::from(lost.tx_in_flight);
    assert!(rate > 0.02 && lost.app_limited);
    assert_eq!((down.bbr.phase, down.bbr.undo.phase), (Phase::Down, Some(Phase::Up)));
    assert!(down.bbr.prev_probe_too_high);
    // HandleInflightTooHigh leaves the bound where it was if the application limited what was lost.
    assert_eq!(down.bbr.inflight_longterm, f64::INFINITY);
    Found::bbr3(format!("DOWN at {} lost; `inflight_longterm` stays as it was (not set)", percent(rate)))
}

/// Case 7.
pub fn up_and_startup_never_end_without_loss() -> Found {
    let (startup, v1) = startup_never_ends();
    let path = Path::new(20_000_000, 40_000);
    let mut run = path.run::<Bbr3>();
    let up = run.until(60.0, "ProbeBW_UP", is_in(Phase::Up));
    payload(&mut run, &path, 0.5);
    // Until min_rtt is to be measured again, 10 s after it was found.
    let mark = run.mark();
    run.go_on(9.9 - run.now());
    let log = run.since(mark);
    assert!(log.iter().all(|seen| seen.bbr.phase == Phase::Up));
    let last = log.last().expect("there are ACKs");
    let rounds = last.bbr.round_count - up.bbr.round_count;
    assert!(rounds > 100, "{rounds}");
    Found::both(format!("{startup}, UP for {rounds} (until ProbeRTT is due)"), v1)
}

/// Case 8.
pub fn down_ends_on_inflight() -> Found {
    // Without losses the bound is the bandwidth-delay product; with a queue of a twentieth of it, in which a probe loses,
    // what leaves headroom is less than that.
    let mut text = Vec::new();
    for buffer in [2.0, 0.05] {
        let path = Path { buffer, ..Path::new(100_000_000, 40_000) };
        let mut run = path.run::<Bbr3>();
        run.until(60.0, "ProbeBW_UP", is_in(Phase::Up));
        let down = run.until(30.0, "ProbeBW_DOWN", is_in(Phase::Down));
        let mark = run.mark();
        let out = run.until(30.0, "end of ProbeBW_DOWN", has_left(Phase::Down));
        assert_eq!(out.bbr.phase, Phase::Cruise);
        let most = |seen: &Look| seen.bbr.inflight_target.min(seen.bbr.inflight_with_headroom);
        assert!(in_flight(&out) <= most(&out));
        let log = run.since(mark);
        let before: Vec<_> = log.iter().filter(|seen| seen.at < out.at && seen.ack().is_some()).collect();
        assert!(before.len() > 10 && before.iter().all(|seen| seen.bbr.pacing_gain == 0.9));
        let early = before.iter().filter(|seen| in_flight(seen) <= most(seen)).count();
        assert_eq!(early, 0);
        assert_eq!(out.bbr.inflight_with_headroom < out.bbr.inflight_target, buffer < 1.0);
        text.push(format!("{:.0} ms", 1e3 * (out.at - down.at)));
    }
    Found::bbr3(format!(
        "CRUISE once below both: after {} without losses, {} with headroom",
        text[0], text[1]
    ))
}

/// Case 9.
pub fn down_ends_on_time() -> Found {
    let path = Path { buffer: 3.0, ..Path::new(50_000_000, 200_000) };
    let mut run = path.run::<Bbr3>();
    run.until(60.0, "ProbeBW_UP", is_in(Phase::Up));
    let down = run.until(30.0, "ProbeBW_DOWN", is_in(Phase::Down));
    run.set_rate(FORWARD, 45_000_000);
    let mark = run.mark();
    let out = run.until(30.0, "end of ProbeBW_DOWN", has_left(Phase::Down));
    assert_eq!(out.bbr.phase, Phase::Refill, "not Cruise");
    let waited = out.at - down.at;
    let wait = down.bbr.bw_probe_wait.as_secs_f64();
    assert!((2.0..3.0).contains(&wait) && waited > wait && waited < wait + 0.01, "{waited} {wait}");
    let log = run.since(mark);
    let kept = log
        .iter()
        .filter(|seen| seen.at < out.at && seen.ack().is_some())
        .all(|seen| in_flight(seen) > seen.bbr.inflight_target.min(seen.bbr.inflight_with_headroom));
    assert!(kept);
    Found::bbr3(format!("REFILL after {waited:.3} s, of `bw_probe_wait` {wait:.3} s"))
}

/// Case 21.
pub fn loss_in_up_lowers_the_long_term_bound() -> Found {
    let path = Path { buffer: 0.3, ..Path::new(100_000_000, 40_000) };
    let mut run = path.run::<Bbr3>();
    run.until(60.0, "bound", |seen| seen.bbr.inflight_longterm.is_finite());
    let up = run.until(60.0, "ProbeBW_UP", is_in(Phase::Up));
    let before = up.bbr.inflight_longterm;
    assert!(before.is_finite());
    run.simulation.set_loss(FORWARD, Loss::Bernoulli(0.5)).expect("a probability");
    let mark = run.mark();
    let down = run.until(30.0, "end of ProbeBW_UP", has_left(Phase::Up));
    let Event::Lost(lost) = down.event else { panic!("a loss ends it: {down:?}") };
    assert_eq!((down.bbr.phase, down.bbr.full_bw_now), (Phase::Down, false));
    assert_eq!((down.bbr.undo.phase, down.bbr.prev_probe_too_high), (Some(Phase::Up), true));
    assert!(run.since(mark).iter().filter(|seen| seen.at < down.at).all(|seen| seen.bbr.full_bw_count < 3));
    // What was in flight when 2 % were lost, but not under Beta of what it wants in flight.
    let least = 0.7 * down.bbr.target_inflight;
    let expected = f64::from(lost.tx_in_flight).max(least);
    let bound = down.bbr.inflight_longterm;
    assert!(bound >= least && bound <= expected && bound < before);
    Found::bbr3(format!(
        "`inflight_longterm` from {before:.0} to {bound:.0}, {:.2} of the target; DOWN at once",
        bound / down.bbr.target_inflight
    ))
}

/// Case 22.
pub fn a_pause_in_refill_lowers_nothing() -> Found {
    let path = Path::new(20_000_000, 40_000);
    let mut run = path.run::<Bbr3>();
    let refill = run.until(60.0, "ProbeBW_REFILL", is_in(Phase::Refill));
    let max_bw = refill.bbr.max_bw;
    let mark = run.mark();
    run.simulation.pause_flow(0);
    run.go_on(0.9 * path.rtt());
    payload(&mut run, &path, 0.1);
    run.go_on(0.3 * path.rtt());
    run.simulation.set_traffic(0, Traffic::Bulk).expect("bulk");
    let up = run.until(5.0, "ProbeBW_UP", is_in(Phase::Up));
    assert_eq!(up.bbr.round_count, refill.bbr.round_count + 1);
    run.until(5.0, "end of ProbeBW_UP", has_left(Phase::Up));
    let log = run.since(mark);
    let low = log
        .iter()
        .filter_map(|seen| seen.rate())
        .filter(|(rate, limited)| *limited && *rate < 0.9 * max_bw)
        .count();
    assert!(low > 0, "samples were limited and low");
    assert!(log.iter().all(|seen| off(seen.bbr.max_bw, max_bw).abs() < 0.01));
    // Later probes find more when there is more.
    run.set_rate(FORWARD, 30_000_000);
    let most = 60.0;
    let found = run.until(most, "the new rate", |seen| seen.bbr.max_bw > 0.98 * segments(30_000_000));
    Found::bbr3(format!(
        "{low} limited samples under `max_bw`, which stays; UP after {:.2} RTT; a rate x 1.5 found in {:.1} s",
        (up.at - refill.at) / path.rtt(),
        found.at - up.at
    ))
}
