//! Every metric, once: what it is called, what it means, and how it is computed.

mod counted;
mod emulated;
mod ends;
mod others;
mod sampled;

use super::view::View;
use cwnd_scenario::{Emulation, Rate, Scenario};
use std::fmt;

/// A metric.
pub struct Metric {
    /// By which studies, exports and JSON call it.
    pub name: &'static str,
    /// With which figures and tables are headed.
    pub title: &'static str,
    /// Unit, such as `bit/s`; empty for a ratio or a plain count.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// Of what it can be measured.
    pub scopes: &'static [Scope],
    /// The values that it can have.
    pub range: Range,
    /// How it is computed, in words.
    pub formula: &'static str,
    /// What it means, and when it is not there; may be empty.
    pub about: &'static str,
    /// Where the definition is from; may be empty.
    pub source: &'static str,
    /// The function that computes it.
    pub measure: Measure,
}

impl Metric {
    /// Reports whether a value of a run is in the range, but for rounding.
    ///
    /// Transmission times are whole nanoseconds: each packet may take half of one less than at its link's rate.
    pub fn allows(&self, scenario: &Scenario, value: f64) -> bool {
        /// What may be added to a ratio of sums of floating-point numbers.
        const ROUNDING: f64 = 1e-9;
        let mut tolerance = ROUNDING;
        if self.name.contains("utilisation") || self.name.contains("slowdown") {
            let rates = scenario.network.links.iter().map(|link| link.fastest_rate());
            let fastest =
                rates.filter(|rate| *rate != Rate::UNLIMITED).max().map_or(0.0, |rate| rate.0 as f64);
            let stack = &scenario.stack;
            let first = stack.first_packet.unwrap_or(u32::MAX);
            let smallest = first.min(stack.data_overhead + 1).min(stack.ack_size);
            tolerance += 0.5e-9 * fastest / (f64::from(smallest) * 8.0);
        }
        (self.range.least - tolerance..=self.range.most + tolerance).contains(&value)
    }
}

/// The values that a metric can have, both ends included. An infinite end means that there is no bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least one.
    pub least: f64,
    /// The greatest one.
    pub most: f64,
}

impl Range {
    const SHARE: Range = Range { least: 0.0, most: 1.0 };
    const FROM_ZERO: Range = Range { least: 0.0, most: f64::INFINITY };
    const FROM_ONE: Range = Range { least: 1.0, most: f64::INFINITY };
    const FROM_MINUS_ONE: Range = Range { least: -1.0, most: f64::INFINITY };
    const UP_TO_ONE: Range = Range { least: f64::NEG_INFINITY, most: 1.0 };
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least.is_finite(), self.most.is_finite()) {
            (true, true) => write!(f, "{} to {}", self.least, self.most),
            (true, false) => write!(f, "{} or more", self.least),
            (false, true) => write!(f, "{} or less", self.most),
            (false, false) => f.write_str("any number"),
        }
    }
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    More,
    /// Less is better.
    Less,
    /// Neither is.
    Neither,
}

/// Of what a metric is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Of all forward flows: `throughput_bps`.
    Run,
    /// Of one flow: `flow2.throughput_bps`.
    Flow,
    /// Of the forward flows of an algorithm, where several share, or of a named group: `elastic.throughput_bps`.
    Algorithm,
    /// Of the short flows (`short.slowdown_p99`), of those of less than 100 KB (`short-small.slowdown_p99`), and of those of
    /// more than 1 MB (`short-large.slowdown_p99`).
    Short,
    /// Of a link and its queue: `bottleneck.mean_packets`.
    Queue,
    /// Of two results; no run has it by itself.
    Comparison,
}

/// A function of a run and some of its flows.
pub type OfFlows = fn(&View<'_>, &[usize]) -> Option<f64>;

/// How a metric is computed. What cannot be measured is none.
#[derive(Clone, Copy)]
pub enum Measure {
    /// From the counts of flows.
    Counted(OfFlows),
    /// From samples of flows and queues over time: the run must be sampled.
    Sampled(OfFlows),
    /// From samples that must be closer than a round trip, or what they look for is missed.
    CloselySampled(OfFlows),
    /// From what an emulated network says of itself: of a simulated one there is nothing.
    Emulated(fn(&Emulation) -> Option<f64>),
    /// From the counts of a link (an index) or of the flows that cross it.
    Queue(fn(&View<'_>, usize) -> Option<f64>),
    /// From samples of a link's queue over time: the run must be sampled.
    SampledQueue(fn(&View<'_>, usize) -> Option<f64>),
    /// From two values.
    Comparison(fn(f64, f64) -> Option<f64>),
}

const EVERY: &[Scope] = &[Scope::Run, Scope::Flow, Scope::Algorithm, Scope::Short];
const EACH: &[Scope] = &[Scope::Run, Scope::Flow, Scope::Algorithm];
const SHARED: &[Scope] = &[Scope::Run, Scope::Algorithm];
const RUN: &[Scope] = &[Scope::Run];
const PART: &[Scope] = &[Scope::Flow, Scope::Algorithm];

impl Metric {
    /// Whether a run must be sampled for it.
    pub fn needs_samples(&self) -> bool {
        matches!(self.measure, Measure::Sampled(_) | Measure::SampledQueue(_)) || self.needs_close_samples()
    }

    /// Whether these samples must be closer than a round trip.
    pub fn needs_close_samples(&self) -> bool {
        matches!(self.measure, Measure::CloselySampled(_))
    }

    /// Whether it describes an emulated network instead of the flows over it.
    pub fn is_of_emulation(&self) -> bool {
        matches!(self.measure, Measure::Emulated(_))
    }

    /// Returns its value over some flows, given as indices; none if it is not a metric of flows, or cannot be measured.
    pub fn of_flows(&self, view: &View<'_>, flows: &[usize]) -> Option<f64> {
        let value = match self.measure {
            Measure::Counted(measure) => measure(view, flows),
            Measure::Sampled(measure) | Measure::CloselySampled(measure) => {
                view.samples.as_ref().and_then(|_| measure(view, flows))
            }
            Measure::Emulated(measure) => view.outcome.emulation.as_ref().and_then(measure),
            Measure::Queue(_) | Measure::SampledQueue(_) | Measure::Comparison(_) => None,
        };
        value.filter(|value| value.is_finite())
    }

    /// Returns its value at a link, given as an index; none if it is not a metric of links, or cannot be measured.
    pub fn of_link(&self, view: &View<'_>, link: usize) -> Option<f64> {
        let (Measure::Queue(measure) | Measure::SampledQueue(measure)) = self.measure else { return None };
        measure(view, link).filter(|value| value.is_finite())
    }

    /// Whether it can be measured of that.
    pub fn is_of(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

/// All metrics, in the order in which they are best read.
pub fn all() -> impl Iterator<Item = &'static Metric> {
    [counted::COUNTED, ends::ENDS, sampled::SAMPLED, others::QUEUES, emulated::EMULATED, others::COMPARISONS]
        .into_iter()
        .flatten()
}
