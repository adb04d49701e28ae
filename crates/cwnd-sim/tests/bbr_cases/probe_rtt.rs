//! ProbeRTT out of ProbeBW: cases 10 and 11.

use crate::report::Found;
use crate::run::{FORWARD, Path};
use crate::startup::{is_in, is_in_mode};
use crate::watch::Event;
use cwnd_cc::algorithms::bbr::{Bbr, Mode};
use cwnd_cc::algorithms::bbr3::{Bbr3, Phase};
use cwnd_scenario::Traffic;

/// Case 10.
pub fn probe_rtt_by_what_was_known_before() -> Found {
    let path = Path::new(20_000_000, 40_000);
    let mut run = path.run::<Bbr3>();
    // From 8 s on the link has a tenth less than max_bw remembers: a queue stands.
    run.go_on(8.0);
    run.set_rate(FORWARD, 18_000_000);
    let mark = run.mark();
    let entered = run.until(10.0, "ProbeRTT", is_in(Phase::ProbeRtt));
    let log = run.since(mark);
    let before = log.iter().rfind(|seen| seen.at < entered.at).expect("ACKs before");
    assert!(before.bbr.phase.is_probe_bw());
    let (old, new) = (before.bbr.min_rtt.expect("known"), entered.bbr.min_rtt.expect("known"));
    assert!(new.0 as f64 > 1.2 * old.0 as f64, "the sample that comes then is of a queue: {old:?} {new:?}");
    let held = entered.bbr.probe_rtt_cwnd;
    assert!((held - (0.5 * before.bbr.bw * old.as_secs_f64()).max(4.0)).abs() < 1e-9, "{held}");
    assert_eq!((entered.bbr.pacing_gain, entered.bbr.cwnd_gain), (1.0, 0.5));
    let mark = run.mark();
    let left = run.until(5.0, "end of ProbeRTT", |seen| seen.bbr.phase != Phase::ProbeRtt);
    let log = run.since(mark);
    let inside: Vec<_> = log.iter().filter(|seen| seen.at < left.at && seen.ack().is_some()).collect();
    assert!(inside.iter().all(|seen| seen.bbr.probe_rtt_cwnd == held && seen.cwnd <= held));
    let low = inside.iter().find(|seen| f64::from(seen.ack().map_or(0, |ack| ack.in_flight)) <= held);
    let low = low.expect("it comes down to it");
    assert!(left.at - low.at >= 0.2 && left.bbr.round_count > low.bbr.round_count);
    assert!(left.bbr.phase.is_probe_bw() && left.bbr.full_bw_reached);
    assert!(left.cwnd >= before.cwnd.min(2.0 * left.bbr.bdp));
    let measured = left.bbr.min_rtt.expect("known").as_secs_f64();
    assert!(measured < 1.05 * path.rtt(), "the queue is gone: {measured}");
    let delivered = run.simulation.flow(0).delivered_bytes;
    run.go_on(1.0);
    let resumed = (run.simulation.flow(0).delivered_bytes - delivered) as f64 * 8.0 / 18e6 * 1514.0 / 1448.0;
    assert!(resumed > 0.9, "{resumed}");
    let bbr3 = format!(
        "window {held:.0} by {:.1} ms (the sample then: {:.1} ms); {} after {:.0} ms, at {:.0} % of the link in the next second",
        old.as_secs_f64() * 1e3,
        new.as_secs_f64() * 1e3,
        left.bbr.phase.name(),
        1e3 * (left.at - entered.at),
        100.0 * resumed
    );

    // Version 1: a queue of nobody else's is needed, too, and it holds 4 segments.
    let mut run = path.run::<Bbr>();
    run.go_on(2.0);
    run.simulation.set_delay(FORWARD, cwnd_scenario::Time::from_millis(25)).expect("a delay");
    run.until(15.0, "ProbeRTT", is_in_mode(Mode::ProbeRtt));
    let mark = run.mark();
    let left = run.until(5.0, "end of ProbeRTT", |seen| seen.bbr.mode != Mode::ProbeRtt);
    let log = run.since(mark);
    let inside = log.iter().filter(|seen| seen.at < left.at);
    assert!(inside.clone().all(|seen| seen.cwnd == 4.0) && inside.count() > 3);
    assert_eq!(left.bbr.mode, Mode::ProbeBw);
    Found::both(bbr3, "window 4, back in ProbeBW".to_owned())
}

/// Case 11.
pub fn idleness_stands_for_probe_rtt() -> Found {
    let path = Path::new(20_000_000, 40_000);
    let mut run = path.run::<Bbr3>();
    run.go_on(5.0);
    run.simulation.pause_flow(0);
    run.go_on(10.5);
    assert_eq!(run.simulation.flow(0).in_flight, 0);
    let mark = run.mark();
    run.simulation.set_traffic(0, Traffic::Bulk).expect("bulk");
    run.go_on(5.0);
    let log = run.since(mark);
    let restart = log.iter().position(|seen| matches!(seen.event, Event::IdleRestart)).expect("told of");
    assert!(log[restart].bbr.idle_restart && log[restart].bbr.phase.is_probe_bw());
    // Paced at exactly bw, less the margin.
    assert!((log[restart].pacing / (0.99 * log[restart].bbr.bw) - 1.0).abs() < 1e-9);
    let first = &log[restart + 1];
    assert!(first.bbr.min_rtt_expired && !first.bbr.idle_restart && first.ack().is_some());
    assert!(log.iter().all(|seen| seen.bbr.phase != Phase::ProbeRtt));
    let bbr3 = "`idle_restart`, expired `min_rtt` taken anew, no ProbeRTT in the next 5 s".to_owned();
    let mut run = path.run::<Bbr>();
    run.go_on(5.0);
    run.simulation.pause_flow(0);
    run.go_on(10.5);
    let mark = run.mark();
    run.simulation.set_traffic(0, Traffic::Bulk).expect("bulk");
    run.go_on(5.0);
    let log = run.since(mark);
    assert!(log.iter().any(|seen| seen.bbr.idle_restart));
    assert!(log.iter().all(|seen| seen.bbr.mode == Mode::ProbeBw));
    Found::both(bbr3, "the same".to_owned())
}
