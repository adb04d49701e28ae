//! Judges a canary against the rest, and returns to the former state where it is worse.

use super::{
    Canary, Groups, LoadError,
    chance::{Measure, chance},
};
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
    /// The significance level: the greatest probability with which a canary whose true values are at a bound is found to be worse at any
    /// judgement, and that with which it is found to be within the bounds at the last.
    pub significance: f64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            retransmissions: 2.0,
            retransmission_margin: 0.001,
            rtt: 1.5,
            least_sockets: 20,
            least_segments: 10_000,
            significance: 0.05,
        }
    }
}

/// What the counts say of a canary.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// A group is too small to judge; which, and by what.
    TooFew(String),
    /// It is worse than a bound by more than chance; by how much.
    Worse(String),
    /// The difference from a bound is not larger than chance: there are not yet enough connections to tell.
    Undecided(String),
    /// It is within the bounds by more than chance.
    Within,
}

/// A bound, and the words for what it bounds.
struct Bound {
    measure: Measure,
    what: &'static str,
    unit: &'static str,
    /// How many units are 1.
    scale: f64,
    factor: f64,
    margin: f64,
}

/// How many bounds there are.
const BOUNDS: usize = 2;

impl Bounds {
    fn all(&self) -> [Bound; BOUNDS] {
        [
            Bound {
                measure: Measure::Retransmissions,
                what: "share of retransmitted segments",
                unit: "%",
                scale: 100.0,
                factor: self.retransmissions,
                margin: self.retransmission_margin,
            },
            Bound {
                measure: Measure::RoundTripTime,
                what: "mean round-trip time",
                unit: "ms",
                scale: 1e-3,
                factor: self.rtt,
                margin: 0.0,
            },
        ]
    }
}

/// Judges a canary at one of `judgements` times.
///
/// The chance of each difference is that of [`chance`]. A canary is worse if the chance that its excess over a bound is none is at most
/// the significance level divided by the number of bounds and judgements (Bonferroni's inequality: the level holds for all of them
/// together, however they depend on each other). It is within the bounds if that of its distance from each bound is at most the level.
pub fn judge(groups: &Groups, bounds: &Bounds, judgements: u32) -> Verdict {
    for (name, group) in [("canary", groups.canary.total()), ("rest", groups.rest.total())] {
        if group.sockets < bounds.least_sockets || group.segments < bounds.least_segments {
            return Verdict::TooFew(format!(
                "the {name} has {} connections and {} segments, of at least {} and {}",
                group.sockets, group.segments, bounds.least_sockets, bounds.least_segments
            ));
        }
    }
    let level = bounds.significance / (f64::from(judgements.max(1)) * BOUNDS as f64);
    let mut verdict = Verdict::Within;
    for bound in bounds.all() {
        let Bound { measure, what, unit, scale, factor, margin } = bound;
        let [Some(canary), Some(rest)] = [&groups.canary, &groups.rest].map(|group| measure.of(group)) else {
            return Verdict::Undecided(format!("its {what} has too few connections to know its variation"));
        };
        let chance = chance(&canary, &rest, factor, margin);
        let most = rest.value * factor + margin;
        let compared = format!(
            "its {what} is {:.3} {unit}, and that of the rest {:.3} {unit}: at most {:.3} {unit} would be within the bound",
            scale * canary.value,
            scale * rest.value,
            scale * most
        );
        if chance <= level {
            return Verdict::Worse(compared);
        }
        // The distance from the bound is significant at the other end of the distribution.
        let other = 1.0 - chance;
        if other > bounds.significance && verdict == Verdict::Within {
            verdict = Verdict::Undecided(format!(
                "{compared}; connections vary so much that a difference of this size has a probability of {:.0} % without any: \
                 there are not yet enough to tell",
                100.0 * chance.min(other)
            ));
        }
    }
    verdict
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
    /// Chance could explain the difference from a bound to the end. Open canaries return.
    Undecided(String),
    /// This congestion control was unloaded, so that nothing is left to compare. Open canaries return.
    Unloaded(String),
    /// The user stopped it. Open canaries return.
    Stopped,
}

/// How long open canaries have to return.
const RETURN: Duration = Duration::from_secs(2);
/// Between two looks at whether the user has stopped it.
const TICK: Duration = Duration::from_millis(50);

/// Watches a canary for a time. Judges it at each interval, and ends it when it is worse, a congestion control is unloaded or `stop` is set. The caller drops the canary
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
    let judgements = until.as_nanos().div_ceil(every.as_nanos().max(1));
    let judgements = u32::try_from(judgements).unwrap_or(u32::MAX);
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
        if let Some(name) = canary.gone() {
            break Ending::Unloaded(name.to_owned());
        }
        let groups = canary.counts()?;
        let verdict = judge(&groups, bounds, judgements);
        report(&groups, &verdict);
        match verdict {
            Verdict::Worse(why) => break Ending::Worse(why),
            Verdict::TooFew(why) if begin.elapsed() >= until => break Ending::TooFew(why),
            Verdict::Undecided(why) if begin.elapsed() >= until => break Ending::Undecided(why),
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
mod tests;
