//! Nodes, links, and what is between: queues, lines, and how they vary.

mod delivery_times;
mod discipline;
mod effects;
mod loss;
mod mahimahi;
mod schedule;

pub use delivery_times::DeliveryTimes;
pub use discipline::{CoDel, Discipline, DualPi2, FqCoDel, Pie, Red};
pub use effects::{EcnRemark, Effects, Jitter, JitterShape, Policer};
pub use loss::{GilbertElliott, Loss};
pub use mahimahi::TraceError;
pub use schedule::{DeliveryTrace, Schedule, Step, Steps};

use crate::{Rate, Time};
use serde::{Deserialize, Serialize};

/// Index of a node in [`Network::nodes`].
pub type NodeId = usize;
/// Index of a link in [`Network::links`].
pub type LinkId = usize;

/// Nodes joined by one-way links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Network {
    /// Names of the nodes. A node on which a flow ends or begins is a host.
    pub nodes: Vec<String>,
    /// The links. A cable that carries both ways is two of them.
    pub links: Vec<LinkSpec>,
    /// The link whose rate and queue the metrics speak of.
    pub bottleneck: LinkId,
}

/// Networks of more links than this have the queues at the bottleneck sampled alone.
const SAMPLED_LINKS: usize = 200;

impl Network {
    /// The links whose queues are sampled over time: all of a small network's; of a large one the bottleneck and the link the
    /// other way, if there is one.
    pub fn sampled_links(&self) -> Vec<LinkId> {
        if self.links.len() <= SAMPLED_LINKS {
            return (0..self.links.len()).collect();
        }
        let bottleneck = &self.links[self.bottleneck];
        let ends = (bottleneck.to, bottleneck.from);
        let reverse = self.links.iter().position(|link| (link.from, link.to) == ends);
        [Some(self.bottleneck), reverse].into_iter().flatten().collect()
    }
}

/// A one-way link: a queue, a transmitter, and a line that delays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LinkSpec {
    /// Unique name.
    pub name: String,
    /// Where packets enter.
    pub from: NodeId,
    /// Where they come out.
    pub to: NodeId,
    /// Rate of the transmitter, counted on wire bytes.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Time,
    /// The queue before the transmitter.
    pub queue: QueueSpec,
    /// What is lost on the line, after the queue.
    pub loss: Loss,
    /// How rate and delay vary over time, if they do.
    pub schedule: Option<Schedule>,
    /// What else happens to packets here.
    pub effects: Effects,
}

impl LinkSpec {
    /// Whether all that happens to a packet here is decided when it arrives: a drop-tail queue before a constant rate, and
    /// losses.
    pub fn is_plain(&self) -> bool {
        self.queue.discipline == Discipline::DropTail
            && self.schedule.is_none()
            && self.effects == Effects::default()
    }

    /// Returns whether it has a name that decides nothing: that of its delivery trace.
    pub(crate) fn has_label(&self) -> bool {
        matches!(&self.schedule, Some(Schedule::Trace(trace)) if !trace.name.is_empty())
    }

    /// Returns whether the link decides about packets at random.
    pub fn is_random(&self) -> bool {
        let queue = match self.queue.discipline {
            Discipline::DropTail | Discipline::CoDel(_) => false,
            Discipline::Red(_) | Discipline::FqCoDel(_) | Discipline::Pie(_) | Discipline::DualPi2(_) => true,
        };
        let loss = matches!(self.loss, Loss::Bernoulli(_) | Loss::GilbertElliott(_));
        queue || loss || self.effects.jitter.is_some() || self.effects.duplication > 0.0
    }

    /// Returns the mean rate that the link offers between two times, bit/s; none if it is unlimited, or zero.
    pub fn mean_rate(&self, begin: Time, end: Time) -> Option<f64> {
        match &self.schedule {
            Some(schedule) => schedule.mean_rate(self.rate, begin, end),
            None => Some(self.rate.0 as f64).filter(|_| self.rate != Rate::UNLIMITED && self.rate.0 > 0),
        }
    }

    /// Returns how long a link with a schedule takes from a time on to transmit `bits`, seconds; none if it never has, or has no
    /// schedule.
    pub fn scheduled_transmission_s(&self, from: Time, bits: u64) -> Option<f64> {
        self.schedule.as_ref()?.transmission_s(self.rate, from, bits)
    }

    /// Returns whether its propagation delay changes over time.
    pub fn delay_varies(&self) -> bool {
        matches!(&self.schedule, Some(Schedule::Steps(steps)) if steps.steps.iter().any(|step| step.delay != self.delay))
    }

    /// Returns the highest rate that it ever has. At an opportunity of a trace packets take no time.
    pub fn fastest_rate(&self) -> Rate {
        match &self.schedule {
            Some(Schedule::Steps(steps)) => {
                steps.steps.iter().fold(self.rate, |most, step| Rate(most.0.max(step.rate.0)))
            }
            Some(Schedule::Trace(_)) => Rate::UNLIMITED,
            None => self.rate,
        }
    }

    /// Returns the least propagation delay that it ever has.
    pub fn least_delay(&self) -> Time {
        match &self.schedule {
            Some(Schedule::Steps(steps)) => {
                steps.steps.iter().fold(self.delay, |least, step| least.min(step.delay))
            }
            Some(Schedule::Trace(_)) | None => self.delay,
        }
    }

    /// A link whose queue drops what does not fit, that loses nothing and never changes.
    pub fn new(name: impl Into<String>, from: NodeId, to: NodeId, rate: Rate, delay: Time) -> LinkSpec {
        LinkSpec {
            name: name.into(),
            from,
            to,
            rate,
            delay,
            queue: QueueSpec::drop_tail(QueueLimit::Unlimited, Counting::WaitingOnly),
            loss: Loss::None,
            schedule: None,
            effects: Effects::default(),
        }
    }
}

/// A queue before a transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct QueueSpec {
    /// How much it holds at most, whatever the discipline.
    pub limit: QueueLimit,
    /// Whether the packet in transmission counts towards the limit and the threshold.
    pub counting: Counting,
    /// Mark an arriving ECN-capable packet when it finds more than this many packets; drop-tail alone.
    pub ecn_threshold: Option<u32>,
    /// What it does beyond dropping what does not fit.
    pub discipline: Discipline,
}

impl QueueSpec {
    /// First in, first out; drops what does not fit, and marks nothing.
    pub fn drop_tail(limit: QueueLimit, counting: Counting) -> QueueSpec {
        QueueSpec { limit, counting, ecn_threshold: None, discipline: Discipline::DropTail }
    }
}

impl QueueSpec {
    /// Whether it may mark packets.
    pub fn marks(&self) -> bool {
        match self.discipline {
            Discipline::DropTail => self.ecn_threshold.is_some(),
            discipline => discipline.marks(),
        }
    }
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueLimit {
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
    /// Any number.
    Unlimited,
}

/// What a queue's limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// Waiting packets and the one in transmission, as ns-2's drop-tail (limit 5 passes 5 of a burst). A
    /// packet that leaves at the very moment of an arrival still counts, as in ns-2.
    WithTransmission,
    /// Waiting packets alone, as a pfifo under a shaper.
    WaitingOnly,
}
