//! Judges a canary against the rest, and returns to the former state where it is worse.

use super::{Canary, Counts, Groups, LoadError};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// When a canary is worse than the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Its retransmission rate may be this many times that of the rest, plus `retransmission_margin`.
    pub retransmissions: f64,
    /// A share of the segments.
    pub retransmission_margin: f64,
    /// Its mean round-trip time may be this many times that of the rest.
    pub rtt: f64,
    /// Connections that each group must have had before it is judged.
    pub least_sockets: u64,
    /// Segments that each group must have sent before it is judged.
    pub least_segments: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            retransmissions: 2.0,
            retransmission_margin: 0.001,
            rtt: 1.5,
            least_sockets: 20,
            least_segments: 10_000,
        }
    }
}

/// What the counts say of a canary.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// A group is too small to judge; which, and by what.
    TooFew(String),
    /// It is worse than a bound; by how much.
    Worse(String),
    /// It is within the bounds.
    Within,
}

/// Judges a canary.
pub fn judge(groups: &Groups, bounds: &Bounds) -> Verdict {
    for (name, group) in [("canary", &groups.canary), ("rest", &groups.rest)] {
        if group.sockets < bounds.least_sockets || group.segments < bounds.least_segments {
            return Verdict::TooFew(format!(
                "the {name} has {} connections and {} segments, of at least {} and {}",
                group.sockets, group.segments, bounds.least_sockets, bounds.least_segments
            ));
        }
    }
    // `scale` units are 1.
    let worse = |what: &str, unit: &str, scale: f64, value: fn(&Counts) -> f64, factor: f64, margin: f64| {
        let [canary, rest] = [&groups.canary, &groups.rest].map(value);
        let most = rest * factor + margin;
        (canary > most).then(|| {
            format!(
                "its {what} is {:.3} {unit}, and that of the rest {:.3} {unit}: at most {:.3} {unit} would be within the bound",
                scale * canary,
                scale * rest,
                scale * most
            )
        })
    };
    let (share, margin) = ("share of retransmitted segments", bounds.retransmission_margin);
    worse(share, "%", 100.0, Counts::retransmission_rate, bounds.retransmissions, margin)
        .or_else(|| worse("mean round-trip time", "ms", 1e3, Counts::mean_rtt_s, bounds.rtt, 0.0))
        .map_or(Verdict::Within, Verdict::Worse)
}

/// How a canary ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// It was within the bounds to the end. Open canaries keep the congestion control.
    Kept,
    /// It was worse. Open canaries return at their next round trip.
    Worse(String),
    /// A group was too small to be judged to the end. Open canaries return.
    TooFew(String),
    /// The user stopped it. Open canaries return.
    Stopped,
}

/// How long open canaries have to return.
const RETURN: Duration = Duration::from_secs(2);
/// Between two looks at whether the user has stopped it.
const TICK: Duration = Duration::from_millis(50);

/// Watches a canary for a time. Judges it at each interval, and ends it when it is worse or `stop` is set. The caller drops the canary
/// then.
///
/// # Errors
/// The kernel does not show the counts.
pub fn watch(
    canary: &Canary,
    bounds: &Bounds,
    until: Duration,
    every: Duration,
    stop: &AtomicBool,
    mut report: impl FnMut(&Groups, &Verdict),
) -> Result<Ending, LoadError> {
    let begin = Instant::now();
    let mut next = every;
    let ending = loop {
        thread::sleep(TICK);
        if stop.load(Ordering::Relaxed) {
            break Ending::Stopped;
        }
        if begin.elapsed() < next.min(until) {
            continue;
        }
        next += every;
        let groups = canary.counts()?;
        let verdict = judge(&groups, bounds);
        report(&groups, &verdict);
        match verdict {
            Verdict::Worse(why) => break Ending::Worse(why),
            Verdict::TooFew(why) if begin.elapsed() >= until => break Ending::TooFew(why),
            Verdict::Within if begin.elapsed() >= until => break Ending::Kept,
            _ => {}
        }
    };
    if ending != Ending::Kept {
        canary.give_back()?;
        thread::sleep(RETURN);
    }
    Ok(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(segments: u64, retransmissions: u64, rtt_us: u64) -> Counts {
        Counts { sockets: 100, segments, retransmissions, rtts: 10, rtt_sum_us: 10 * rtt_us, returned: 0 }
    }

    fn verdict(canary: Counts) -> Verdict {
        judge(&Groups { canary, rest: counts(100_000, 1_000, 20_000) }, &Bounds::default())
    }

    /// The rest retransmits 1 % at 20 ms: the bounds are 2.1 % and 30 ms.
    #[test]
    fn a_canary_is_worse_beyond_a_bound() {
        assert_eq!(verdict(counts(10_000, 209, 29_900)), Verdict::Within);
        let Verdict::Worse(why) = verdict(counts(10_000, 211, 20_000)) else { panic!("2.11 % is worse") };
        assert!(why.contains("2.110 %") && why.contains("at most 2.100 %"), "{why}");
        let Verdict::Worse(why) = verdict(counts(10_000, 0, 30_100)) else { panic!("30.1 ms is worse") };
        assert!(why.contains("30.100 ms") && why.contains("at most 30.000 ms"), "{why}");
    }

    #[test]
    fn a_small_group_is_not_judged() {
        assert!(matches!(verdict(counts(9_999, 9_999, 1)), Verdict::TooFew(_)));
        let few = Counts { sockets: 19, ..counts(10_000, 10_000, 1) };
        let Verdict::TooFew(why) = verdict(few) else { panic!("19 connections are too few") };
        assert!(why.starts_with("the canary has 19 connections"), "{why}");
    }

    /// A rest without any retransmission leaves the margin.
    #[test]
    fn a_single_retransmission_is_not_worse() {
        let rest = counts(100_000, 0, 20_000);
        let of = |canary| judge(&Groups { canary, rest }, &Bounds::default());
        assert_eq!(of(counts(10_000, 10, 20_000)), Verdict::Within);
        assert!(matches!(of(counts(10_000, 11, 20_000)), Verdict::Worse(_)));
    }
}
