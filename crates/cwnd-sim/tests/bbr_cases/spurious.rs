//! Spurious recoveries: cases 18 and 19.

use crate::report::Found;
use crate::run::{FORWARD, Path, Run};
use crate::startup::is_in;
use crate::watch::{Event, Inside, Seen};
use cwnd_cc::CongestionKind;
use cwnd_cc::algorithms::bbr::{self, Bbr, Mode};
use cwnd_cc::algorithms::bbr3::{self, Bbr3, Phase};
use cwnd_experiment::LineOptions;
use cwnd_scenario::{Effects, Jitter, JitterShape, Time};

/// With this probability a packet is late by this time.
fn late(probability: f64, ms: u64) -> Jitter {
    Jitter { shape: JitterShape::Sometimes(probability, Time::from_millis(ms)), reorders: true }
}

/// A path on which packets may overtake each other, and do not yet.
fn path() -> Path {
    let forward = LineOptions { jitter: Some(Some(late(0.0, 1))), ..LineOptions::default() };
    Path { forward, ..Path::new(50_000_000, 40_000) }
}

/// The last of what came before the first loss of an episode, and where it was found to be spurious.
fn episode<L>(log: &[Seen<L>]) -> (&Seen<L>, usize) {
    let undo = log.iter().position(|seen| matches!(seen.event, Event::Undo)).expect("found spurious");
    let first = log.iter().position(|seen| matches!(seen.event, Event::Lost(_) | Event::Congestion(_)));
    (&log[first.expect("an episode began") - 1], undo)
}

/// SaveStateUponLoss has saved what there was before.
fn is_saved(saved: &Seen<bbr3::Snapshot>, before: &Seen<bbr3::Snapshot>) -> bool {
    let (undo, before) = (saved.bbr.undo, before.bbr);
    undo.bw_shortterm == before.bw_shortterm
        && undo.inflight_shortterm == before.inflight_shortterm
        && undo.inflight_longterm == before.inflight_longterm
}

/// HandleSpuriousLossDetection: nothing is less than what was saved last, and the searches begin again.
#[track_caller]
fn check_restored(before: &Seen<bbr3::Snapshot>, saved: &Seen<bbr3::Snapshot>, after: &Seen<bbr3::Snapshot>) {
    let (saved, now) = (saved.bbr.undo, after.bbr);
    assert!(now.bw_shortterm >= saved.bw_shortterm && now.inflight_shortterm >= saved.inflight_shortterm);
    assert!(now.inflight_longterm >= saved.inflight_longterm && !now.is_loss_in_round);
    assert_eq!((now.full_bw_count, now.full_bw_now, now.undo.phase), (0, false, None));
    assert!(after.cwnd >= before.cwnd, "{} {}", after.cwnd, before.cwnd);
}

/// So many packets in a row come 30 ms late, of those that the link sends from now on.
fn hold_back<A: Inside>(run: &mut Run<A>, packets: f64) {
    let set = |run: &mut Run<A>, jitter| {
        let effects = Effects { jitter: Some(jitter), ..Effects::default() };
        run.simulation.set_effects(FORWARD, effects).expect("a line that reorders");
    };
    set(run, late(1.0, 30));
    run.go_on(packets / path().segments_per_second());
    set(run, late(0.0, 30));
}

/// What comes of packets in ProbeBW_UP that are overtaken.
fn overtaken_in_up(packets: f64) -> Vec<Seen<bbr3::Snapshot>> {
    let mut run = path().run::<Bbr3>();
    run.until(60.0, "ProbeBW_UP", is_in(Phase::Up));
    run.go_on(0.02);
    let mark = run.mark();
    hold_back(&mut run, packets);
    run.go_on(0.5);
    run.since(mark)
}

/// Case 18.
pub fn spurious_fast_recovery() -> Found {
    // Four packets of some 185 are more than 2 %; the fourth ends the probe.
    let log = overtaken_in_up(4.0);
    let (before, undo) = episode(&log);
    let lost = log.iter().filter(|seen| matches!(seen.event, Event::Lost(_))).count();
    let saved = &log[undo - 1];
    assert_eq!((before.bbr.phase, lost), (Phase::Up, 4));
    assert!(log.iter().any(|seen| matches!(seen.event, Event::Congestion(CongestionKind::Loss))));
    assert!(is_saved(saved, before) && saved.bbr.undo.phase == Some(Phase::Up));
    assert!(saved.bbr.phase != Phase::Up && saved.bbr.inflight_longterm.is_finite());
    check_restored(before, saved, &log[undo]);
    assert_eq!(log[undo].bbr.phase, Phase::Refill);
    let back = log[undo..].iter().find(|seen| seen.bbr.phase == Phase::Up).expect("it probes again");
    let waited = back.at - log[undo].at;
    // One more, and it is not so: StartProbeBW_DOWN has called ResetCongestionSignals, so that NoteLoss takes the fifth loss
    // for the first of its round, and saves what the fourth has left, with no state to return to.
    let log = overtaken_in_up(5.0);
    let (before, undo) = episode(&log);
    let saved = &log[undo - 1];
    let lost = log.iter().filter(|seen| matches!(seen.event, Event::Lost(_))).count();
    assert_eq!((before.bbr.phase, lost), (Phase::Up, 5));
    assert!(
        !is_saved(saved, before)
            && saved.bbr.undo.phase.is_none()
            && saved.bbr.undo.inflight_longterm.is_finite()
    );
    check_restored(before, saved, &log[undo]);
    assert!(
        matches!(log[undo].bbr.phase, Phase::Down | Phase::Cruise)
            && log[undo].bbr.inflight_longterm.is_finite()
    );
    let bbr3 = format!(
        "4 late packets: UP, DOWN, undone: REFILL, UP {:.0} ms later, bound away; 5: **no return**, bound {:.0} stays (below)",
        1e3 * waited,
        log[undo].bbr.inflight_longterm
    );

    let mut run = path().run::<Bbr>();
    run.go_on(3.0);
    let mark = run.mark();
    hold_back(&mut run, 5.0);
    run.go_on(0.5);
    let log = run.since(mark);
    let least = log.iter().map(|seen| seen.cwnd).fold(f64::INFINITY, f64::min);
    Found::both(bbr3, undone_in_version_1(&log, least))
}

/// Version 1 restores the window.
fn undone_in_version_1(log: &[Seen<bbr::Snapshot>], least: f64) -> String {
    let (before, undo) = episode(log);
    assert!(
        least < before.cwnd && log[undo].cwnd >= before.cwnd,
        "{least} {} {}",
        before.cwnd,
        log[undo].cwnd
    );
    assert!(log.iter().all(|seen| seen.bbr.mode == Mode::ProbeBw));
    format!("window {:.0}, {least:.0}, undone {:.0}", before.cwnd, log[undo].cwnd)
}

/// What comes of a half second in which no ACK comes: what was seen, and the least window there was.
fn held_up<A: Inside>(run: &mut Run<A>) -> (Vec<Seen<A::Look>>, f64) {
    run.go_on(0.02);
    let mark = run.mark();
    run.simulation.set_delay(FORWARD, Time::from_millis(520)).expect("a delay");
    run.go_on(0.1);
    run.simulation.set_delay(FORWARD, Time::from_millis(20)).expect("a delay");
    let mut least = f64::INFINITY;
    for _ in 0..90 {
        run.go_on(0.01);
        least = least.min(run.simulation.flow(0).cwnd);
    }
    let log = run.since(mark);
    assert!(log.iter().any(|seen| matches!(seen.event, Event::Congestion(CongestionKind::Timeout))));
    (log, least)
}

/// Case 19.
pub fn spurious_timeout() -> Found {
    let path = Path::new(50_000_000, 40_000);
    let mut run = path.run::<Bbr3>();
    run.until(60.0, "ProbeBW_CRUISE", is_in(Phase::Cruise));
    let (log, least) = held_up(&mut run);
    let (before, undo) = episode(&log);
    let saved = &log[undo - 1];
    assert!(is_saved(saved, before));
    assert_eq!(least, 1.0);
    check_restored(before, saved, &log[undo]);
    assert_eq!((before.bbr.phase, log[undo].bbr.phase), (Phase::Cruise, Phase::Cruise));
    let cruise = format!(
        "in CRUISE: window {:.0}, {least:.0}, undone {:.0}, still CRUISE",
        before.cwnd, log[undo].cwnd
    );
    // In ProbeBW_UP all that is outstanding is lost at once, so that more than one loss follows that which ends the probe.
    let mut run = path.run::<Bbr3>();
    run.until(60.0, "ProbeBW_UP", is_in(Phase::Up));
    let (log, least) = held_up(&mut run);
    let (before, undo) = episode(&log);
    let saved = &log[undo - 1];
    assert!(
        least == 1.0
            && before.bbr.phase == Phase::Up
            && !is_saved(saved, before)
            && saved.bbr.undo.phase.is_none()
    );
    check_restored(before, saved, &log[undo]);
    assert_eq!(log[undo].bbr.phase, Phase::Down);
    let bbr3 = format!("{cruise}; in UP: window restored, **no return** from DOWN (below)");

    let mut run = path.run::<Bbr>();
    run.go_on(3.0);
    let (log, least) = held_up(&mut run);
    Found::both(bbr3, undone_in_version_1(&log, least))
}
