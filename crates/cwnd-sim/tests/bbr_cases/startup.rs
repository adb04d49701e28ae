//! Startup and Drain: cases 1, 2, 3, 4, 7 (its half of Startup), 12 and 20.

use crate::report::{Found, list, off, percent};
use crate::run::{FORWARD, PACKET, Path, Run, segments};
use crate::watch::{Event, Seen, check_extra_acked};
use cwnd_cc::algorithms::bbr::{self, Bbr, Mode};
use cwnd_cc::algorithms::bbr3::{self, Bbr3, Phase};
use cwnd_experiment::LineOptions;
use cwnd_scenario::{Loss, Rate, Time, Traffic};

/// From a local network to a satellite, and from a modem on.
pub fn paths() -> [Path; 3] {
    [Path::new(10_000_000_000, 2_000), Path::new(20_000_000, 40_000), Path::new(1_000_000, 300_000)]
}

pub fn is_in(phase: Phase) -> impl Fn(&Seen<bbr3::Snapshot>) -> bool {
    move |seen| seen.bbr.phase == phase
}

pub fn is_in_mode(mode: Mode) -> impl Fn(&Seen<bbr::Snapshot>) -> bool {
    move |seen| seen.bbr.mode == mode
}

/// Drain began and ended with this very ACK: CheckDrainDone comes right after CheckStartupDone, and no more than
/// Inflight(1.0) is in flight. So it is where the application limits, and where three send quanta are more than two
/// bandwidth-delay products (on a fast and short path).
fn has_drained(seen: &Seen<bbr3::Snapshot>) -> bool {
    let in_flight = seen.ack().map_or(f64::INFINITY, |ack| f64::from(ack.in_flight));
    let began = seen.bbr.drain_start_round == seen.bbr.round_count;
    began && seen.bbr.phase.is_probe_bw() && in_flight <= seen.bbr.inflight_target
}

/// Case 1.
pub fn plateau_ends_startup() -> Found {
    let mut worst: f64 = 0.0;
    let mut rounds = Vec::new();
    for path in paths().into_iter().chain([Path::new(1_000_000_000, 800), Path::new(256_000, 1_000_000)]) {
        let mut run = path.run::<Bbr3>();
        let left = run.until(60.0, "end of Startup", |seen| seen.bbr.phase != Phase::Startup);
        assert!(left.bbr.phase == Phase::Drain || has_drained(&left), "{left:?}");
        assert!(left.bbr.full_bw_now && left.bbr.full_bw_reached && left.bbr.full_bw_count == 3);
        worst = worst.max(off(left.bbr.max_bw, path.segments_per_second()).abs());
        assert!(worst < 0.02, "{} for {}", left.bbr.max_bw, path.segments_per_second());
        let log = run.since(0);
        let log: Vec<_> = log.iter().filter(|seen| seen.at < left.at).collect();
        assert!(log.iter().all(|seen| !seen.bbr.full_bw_reached && seen.bbr.full_bw_count < 3));
        // Linux marks the first flight: nothing waited to be sent when the application wrote first.
        let later = log.iter().filter(|seen| seen.bbr.round_count > 1);
        assert!(later.filter_map(|seen| seen.rate()).all(|(_, limited)| !limited));
        // What the count counts: rounds after the one that set the baseline, in which the rate grew by less than 25 %.
        let baseline = left.bbr.full_bw;
        let plateau: Vec<f64> = (log.iter().copied().chain([&left]))
            .filter(|seen| seen.bbr.round_start && seen.bbr.full_bw == baseline && seen.bbr.full_bw_count > 0)
            .filter_map(|seen| Some(seen.rate()?.0))
            .collect();
        assert_eq!(plateau.len(), 3, "{plateau:?}");
        assert!(plateau.iter().all(|&rate| rate < 1.25 * baseline));
        // Until then each round brought 25 % more.
        let grew: Vec<f64> = log
            .iter()
            .filter(|seen| seen.bbr.round_start && seen.bbr.full_bw_count == 0)
            .map(|seen| seen.bbr.full_bw)
            .collect();
        assert!(grew.windows(2).all(|pair| pair[1] >= 1.25 * pair[0]), "{grew:?}");
        rounds.push(left.bbr.round_count);
    }
    let bbr3 = format!(
        "`max_bw` within {} of the link on {} paths; Drain in round {}",
        percent(worst),
        rounds.len(),
        list(&rounds)
    );
    let mut worst: f64 = 0.0;
    for path in paths() {
        let mut run = path.run::<Bbr>();
        let left = run.until(60.0, "end of Startup", |seen| seen.bbr.mode != Mode::Startup);
        assert!(left.bbr.filled_pipe && left.bbr.full_rounds == 3 && left.bbr.mode == Mode::Drain);
        worst = worst.max(off(left.bbr.bandwidth, path.segments_per_second()).abs());
    }
    assert!(worst < 0.02, "{worst}");
    Found::both(bbr3, format!("BtlBw within {}", percent(worst)))
}

/// A path of which an application uses the half.
fn half_used() -> Path {
    let payload = 1448.0 / PACKET;
    let traffic = Traffic::Live(Rate((50_000_000.0 * payload) as u64));
    Path { traffic, ..Path::new(100_000_000, 40_000) }
}

/// Case 2.
pub fn loss_ends_startup_though_the_application_limits() -> Found {
    let mut run = half_used().run::<Bbr3>();
    run.go_on(1.0);
    run.simulation.set_loss(FORWARD, Loss::Bernoulli(0.1)).expect("a probability");
    let mark = run.mark();
    let left = run.until(5.0, "end of Startup", |seen| seen.bbr.phase != Phase::Startup);
    let log = run.since(mark);
    let log: Vec<_> = log.iter().filter(|seen| seen.at <= left.at).collect();
    let samples: Vec<_> = log.iter().filter_map(|seen| seen.rate()).collect();
    assert!(samples.len() > 50 && samples.iter().all(|(_, limited)| *limited));
    assert_eq!(left.bbr.full_bw_count, 0, "no plateau was looked for");
    assert!(left.bbr.full_bw_now && left.bbr.full_bw_reached && has_drained(&left));
    assert_eq!(left.bbr.undo.phase, Some(Phase::Startup));
    let sample = left.ack().and_then(|ack| ack.rate).expect("an ACK with a sample");
    let rate = sample.lost as f64 / f64::from(sample.tx_in_flight);
    assert!(rate > 0.02);
    // One full round trip of fast recovery, and 6 places of loss in it.
    let began = log.iter().find(|seen| matches!(seen.event, Event::Congestion(_))).expect("a recovery began");
    assert!(left.bbr.round_count > began.bbr.round_count);
    let finds = log.iter().filter(|seen| seen.ack().is_some_and(|ack| ack.lost > 0)).count();
    assert!(finds >= 6, "{finds}");
    // max(bdp, inflight_latest): at least the product of what was known before.
    assert!(left.bbr.inflight_longterm.is_finite() && left.bbr.inflight_longterm >= left.bbr.bdp);
    let rounds = left.bbr.round_count - began.bbr.round_count;
    Found::bbr3(format!(
        "Drain {rounds} round(s) after the first loss, at {} lost; `full_bw_count` 0",
        percent(rate)
    ))
}

/// Case 3.
pub fn drain_ends_on_inflight() -> Found {
    let mut rounds = Vec::new();
    for path in paths() {
        let mut run = path.run::<Bbr3>();
        let drain = run.until(60.0, "Drain", is_in(Phase::Drain));
        assert_eq!((drain.bbr.pacing_gain, drain.bbr.cwnd_gain), (0.5, 2.0));
        let above = drain.ack().expect("an ACK").in_flight;
        assert!(f64::from(above) > drain.bbr.inflight_target);
        let mark = run.mark();
        let left = run.until(30.0, "end of Drain", |seen| seen.bbr.phase != Phase::Drain);
        assert!(left.bbr.phase.is_probe_bw());
        assert!(f64::from(left.ack().expect("an ACK").in_flight) <= left.bbr.inflight_target);
        for seen in run.since(mark - 1).iter().filter(|seen| seen.at < left.at) {
            assert!(seen.ack().is_none_or(|ack| f64::from(ack.in_flight) > seen.bbr.inflight_target));
            assert!((seen.pacing / (0.5 * 0.99 * seen.bbr.bw) - 1.0).abs() < 1e-9);
        }
        rounds.push(left.bbr.round_count - drain.bbr.drain_start_round);
    }
    let bbr3 = format!("`inflight` at most Inflight(1.0) after {} rounds, gain 0.5", list(&rounds));
    let mut run = paths()[1].run::<Bbr>();
    let drain = run.until(60.0, "Drain", is_in_mode(Mode::Drain));
    assert!((drain.bbr.pacing_gain - std::f64::consts::LN_2 / 2.0).abs() < 1e-12);
    let left = run.until(30.0, "end of Drain", |seen| seen.bbr.mode != Mode::Drain);
    assert_eq!(left.bbr.mode, Mode::ProbeBw);
    assert!(f64::from(left.ack().expect("an ACK").in_flight) <= left.bbr.inflight_target);
    Found::both(bbr3, format!("the same, gain ln 2/2, in {:.0} ms", 1e3 * (left.at - drain.at)))
}

/// The ACKs before a time that began a round in which no plateau was seen.
fn rounds(log: &[Seen<bbr3::Snapshot>], end: f64) -> impl Iterator<Item = &Seen<bbr3::Snapshot>> {
    log.iter().filter(move |seen| seen.bbr.round_start && seen.bbr.full_bw_count == 0 && seen.at < end)
}

/// Where Drain ends when the link loses this part of its rate as it begins.
fn drained_with(left: f64) -> (Seen<bbr3::Snapshot>, Seen<bbr3::Snapshot>, Run<Bbr3>) {
    let path = Path { buffer: 4.0, ..Path::new(20_000_000, 40_000) };
    let mut run = path.run::<Bbr3>();
    let drain = run.until(60.0, "Drain", is_in(Phase::Drain));
    run.set_rate(FORWARD, (20e6 * left) as u64);
    let out = run.until(30.0, "end of Drain", |seen| seen.bbr.phase != Phase::Drain);
    (drain, out, run)
}

/// Case 4.
pub fn drain_ends_on_time() -> Found {
    // A tenth less: Drain sends at half the rate, and the queue still goes in less than three rounds, which the queue makes
    // longer. It ends on inflight.
    let (drain, out, _) = drained_with(0.9);
    let tenth = out.bbr.round_count - drain.bbr.drain_start_round;
    assert!(f64::from(out.ack().expect("an ACK").in_flight) <= out.bbr.inflight_target && tenth <= 3);
    // A link that has less than Drain sends: in flight stays as much as it was.
    let (drain, out, run) = drained_with(0.4);
    let rounds = out.bbr.round_count - drain.bbr.drain_start_round;
    assert_eq!(rounds, 4, "round_count > drain_start_round + 3");
    assert!(out.bbr.phase.is_probe_bw());
    let log = run.since(0);
    let in_drain: Vec<_> = log.iter().filter(|seen| seen.at >= drain.at && seen.at <= out.at).collect();
    assert!(
        in_drain
            .iter()
            .filter_map(|seen| seen.ack())
            .all(|ack| f64::from(ack.in_flight) > out.bbr.inflight_target)
    );
    Found::bbr3(format!(
        "rate x 0.9: drained after {tenth} round(s); rate x 0.4: never drained, out in round 4"
    ))
}

/// The half of case 7 that is about Startup.
pub fn startup_never_ends() -> (String, String) {
    let mut run = half_used().run::<Bbr3>();
    run.go_on(9.0);
    let log = run.since(0);
    assert!(log.iter().all(|seen| seen.bbr.phase == Phase::Startup && !seen.bbr.full_bw_reached));
    let rounds = log.last().expect("there are ACKs").bbr.round_count;
    let mut run = half_used().run::<Bbr>();
    run.go_on(9.0);
    assert!(run.since(0).iter().all(|seen| seen.bbr.mode == Mode::Startup && !seen.bbr.filled_pipe));
    (format!("Startup for {rounds} rounds"), "Startup for 9 s".to_owned())
}

/// Case 12: ACKs come in bursts of 20 ms.
pub fn startup_with_aggregation() -> Found {
    let slot = 0.02;
    let reverse = LineOptions { slot: Some(Some(Time::from_millis(20))), ..LineOptions::default() };
    let path = Path { reverse, buffer: 4.0, ..Path::new(50_000_000, 40_000) };
    let mut run = path.run::<Bbr3>();
    let left = run.until(20.0, "end of Startup", |seen| seen.bbr.phase != Phase::Startup);
    let log = run.since(0);
    let max_bw = left.bbr.max_bw;
    // A slot's worth of segments is acknowledged at once.
    let extra = log
        .iter()
        .filter(|seen| seen.at < left.at)
        .rev()
        .take(100)
        .map(|seen| seen.bbr.extra_acked)
        .fold(0.0, f64::max);
    let burst = slot * path.segments_per_second();
    assert!((0.5..2.0).contains(&(extra / burst)), "{extra} for {burst}");
    assert!(left.cwnd > 2.0 * path.bdp(), "{}", left.cwnd);
    // Packets that leave between the ACKs of one burst count the rest of it as delivered since: a sample spans whole slots
    // and may count one more. Not more than that, and not less than the link at the end.
    let samples: Vec<_> = log.iter().filter_map(|seen| seen.ack()?.rate).collect();
    for sample in &samples {
        let slots = sample.interval.as_secs_f64() + slot;
        assert!(sample.delivered as f64 <= path.segments_per_second() * slots + 2.0, "{sample:?}");
    }
    check_extra_acked(&log, 10);
    let over = off(max_bw, path.segments_per_second());
    assert!((-0.02..0.34).contains(&over), "{over}");
    // The rate doubles from round to round, but for one in which it is not measured yet.
    let rates: Vec<f64> = rounds(&log, left.at).map(|seen| seen.bbr.max_bw).collect();
    let quick = rates.windows(3).filter(|three| three[2] >= 2.0 * three[0]).count();
    assert!(quick + 4 >= rates.len(), "{rates:?}");
    let mut run = path.run::<Bbr>();
    let v1 = run.until(20.0, "end of Startup", |seen| seen.bbr.mode != Mode::Startup);
    Found::both(
        format!(
            "`max_bw` {} over the link, `extra_acked` {:.2} of a slot's segments, window {:.2} BDP",
            percent(over),
            extra / burst,
            left.cwnd / path.bdp(),
        ),
        format!("BtlBw {} over the link", percent(off(v1.bbr.bandwidth, path.segments_per_second()))),
    )
}

/// Case 20.
pub fn probe_rtt_in_startup() -> Found {
    // An application that uses a tenth keeps it in Startup; the round-trip time is always the same, so that no sample is
    // less than the first and min_rtt expires.
    let traffic = Traffic::Live(Rate(2_000_000));
    let path = Path { traffic, ..Path::new(20_000_000, 40_000) };
    let mut run = path.run::<Bbr3>();
    let entered = run.until(15.0, "ProbeRTT", is_in(Phase::ProbeRtt));
    assert!(!entered.bbr.full_bw_reached && entered.at > 10.0);
    run.simulation.set_traffic(0, Traffic::Bulk).expect("bulk");
    let left = run.until(5.0, "end of ProbeRTT", |seen| seen.bbr.phase != Phase::ProbeRtt);
    assert_eq!((left.bbr.phase, left.bbr.pacing_gain, left.bbr.cwnd_gain), (Phase::Startup, 2.77, 2.0));
    let lasted = left.at - entered.at;
    assert!(lasted >= 0.2);
    // It continues to look for the bandwidth, and finds it.
    let full = run.until(20.0, "end of Startup", is_in(Phase::Drain));
    let found = off(full.bbr.max_bw, segments(20_000_000));
    assert!(found.abs() < 0.02);
    let bbr3 =
        format!("back in Startup after {:.0} ms, then `max_bw` within {}", 1e3 * lasted, percent(found));
    // Version 1 refreshes RTprop by equal samples: its path becomes a little longer.
    let mut run = path.run::<Bbr>();
    run.go_on(1.0);
    run.simulation.set_delay(FORWARD, Time::from_millis(25)).expect("a delay");
    let entered = run.until(15.0, "ProbeRTT", is_in_mode(Mode::ProbeRtt));
    run.simulation.set_traffic(0, Traffic::Bulk).expect("bulk");
    let left = run.until(5.0, "end of ProbeRTT", |seen| seen.bbr.mode != Mode::ProbeRtt);
    assert_eq!(left.bbr.mode, Mode::Startup);
    run.until(20.0, "end of Startup", is_in_mode(Mode::Drain));
    Found::both(bbr3, format!("back in Startup after {:.0} ms", 1e3 * (left.at - entered.at)))
}
