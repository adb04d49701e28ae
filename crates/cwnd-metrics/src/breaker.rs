//! An RFC 8084 circuit breaker as an observer: whether flows lose so much for so long that a network would cut them off.
//!
//! The breaker measures in intervals, each of five base round-trip times (RFC 8084 section 5: several round trips, so that
//! congestion control can respond first). An interval is bad if over a tenth of the packets sent in it are
//! retransmissions; three bad intervals in a row trip the breaker, which then begins again.

use super::view::{Flows, View};
use cwnd_scenario::{Time, Trace};

/// Base round-trip times in an interval.
const ROUND_TRIPS: u64 = 5;
/// Share of retransmissions over which an interval is bad (RFC 8084 section 4, and RFC 9743 section 7.2).
const THRESHOLD: f64 = 0.1;
/// Bad intervals in a row that trip the breaker (RFC 8084 section 3.1: it must not trip on one alone).
const IN_A_ROW: usize = 3;

/// Returns how often the breaker trips.
pub(super) fn breaker_trips(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let bad = bad_intervals(view, flows)?;
    let mut trips = 0;
    let mut in_a_row = 0;
    for bad in bad {
        in_a_row = if bad { in_a_row + 1 } else { 0 };
        if in_a_row == IN_A_ROW {
            (trips, in_a_row) = (trips + 1, 0);
        }
    }
    Some(f64::from(trips))
}

/// Returns the share of bad intervals.
pub(super) fn breaker_share(view: &View<'_>, flows: Flows<'_>) -> Option<f64> {
    let bad = bad_intervals(view, flows)?;
    let count = bad.iter().filter(|bad| **bad).count();
    (!bad.is_empty()).then(|| count as f64 / bad.len() as f64)
}

/// Returns for each whole interval of the counted time whether it is bad; none without samples that count packets.
fn bad_intervals(view: &View<'_>, flows: Flows<'_>) -> Option<Vec<bool>> {
    let trace = view.outcome.trace.as_ref()?;
    let first = trace.times.iter().position(|time| *time >= view.outcome.begin)?;
    let times = &trace.times[first..];
    let step = times.windows(2).next().map(|pair| pair[1].0 - pair[0].0).filter(|step| *step > 0)?;
    let rtt = flows.iter().map(|flow| view.scenario.base_rtt(*flow)).max().unwrap_or(Time::ZERO);
    let samples = (ROUND_TRIPS * rtt.0).div_ceil(step).max(1) as usize;
    let counts = packets(trace, flows, first)?;
    let ends = counts.iter().step_by(samples);
    let interval = |(before, after): (&(u64, u64), &(u64, u64))| {
        let (sent, again) = (after.0 - before.0, after.1 - before.1);
        again as f64 > THRESHOLD * sent as f64
    };
    Some(ends.clone().zip(ends.skip(1)).map(interval).collect())
}

/// Returns the packets that the flows have sent together, and the retransmissions among them, at each sample time from `first` on.
fn packets(trace: &Trace, flows: Flows<'_>, first: usize) -> Option<Vec<(u64, u64)>> {
    let mut counts = vec![(0, 0); trace.times.len().checked_sub(first)?];
    // A search among many flows for each sample would cost more than the simulation.
    let mut is_counted = vec![false; flows.iter().max().map_or(0, |flow| flow + 1)];
    flows.iter().for_each(|flow| is_counted[*flow] = true);
    let mut is_known = false;
    for sample in trace.samples.iter().filter(|sample| is_counted.get(sample.flow) == Some(&true)) {
        let (sent, again) = sample.sent?;
        is_known = true;
        if let Some(place) = sample.time_index.checked_sub(first) {
            counts[place].0 += sent;
            counts[place].1 += again;
        }
    }
    is_known.then_some(counts)
}
