//! The question: a network, flows, a stack, a duration and a seed.

use crate::{Rate, Stack, Time};
use std::collections::BTreeMap;

/// Index of a node in [`Network::nodes`].
pub type NodeId = usize;
/// Index of a link in [`Network::links`].
pub type LinkId = usize;

/// Everything that decides a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Nodes and links.
    pub network: Network,
    /// The flows, in the order in which ties between them are broken.
    pub flows: Vec<FlowSpec>,
    /// The stack that every flow runs on.
    pub stack: Stack,
    /// When the run ends; metrics count what happened before it.
    pub duration: Time,
    /// What happens before this time is not counted; the run's outcome is what came after it. Before the end.
    pub warm_up: Time,
    /// Seed of every random stream.
    pub seed: u64,
    /// Each flow starts this much later at most, uniformly drawn.
    pub start_jitter: Time,
    /// A packet leaves its sender up to this long after its trigger (or the packet before it), uniformly
    /// drawn; nothing is drawn when it is zero (ns-2's `overhead_`).
    pub send_overhead: Time,
    /// How often to record a sample of each flow and queue, if at all.
    pub sample: Option<Time>,
}

impl Scenario {
    /// The base round-trip time of a flow: the propagation delays of its data's route and its ACKs' route,
    /// without queueing and transmission.
    ///
    /// # Panics
    /// If there is no such flow, or its routes name links that are not there.
    pub fn base_rtt(&self, flow: usize) -> Time {
        let flow = &self.flows[flow];
        let links = flow.route.iter().chain(&flow.ack_route);
        links.fold(Time::ZERO, |sum, link| Time(sum.0.saturating_add(self.network.links[*link].delay.0)))
    }
}

/// Nodes joined by one-way links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Names of the nodes. A node on which a flow ends or begins is a host.
    pub nodes: Vec<String>,
    /// The links. A cable that carries both ways is two of them.
    pub links: Vec<LinkSpec>,
    /// The link whose rate and queue the metrics speak of.
    pub bottleneck: LinkId,
}

/// A one-way link: a queue, a transmitter, and a line that delays.
#[derive(Clone, Debug, PartialEq)]
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
}

/// A first-in first-out queue that drops what does not fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSpec {
    /// How much it holds.
    pub limit: QueueLimit,
    /// Whether the packet in transmission counts towards the limit and the threshold.
    pub counting: Counting,
    /// Mark an arriving ECN-capable packet when it finds more than this many packets.
    pub ecn_threshold: Option<u32>,
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
    /// Any number.
    Unlimited,
}

/// What a queue's limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Waiting packets and the one in transmission, as ns-2's drop-tail (limit 5 passes 5 of a burst). A
    /// packet that leaves at the very moment of an arrival still counts, as in ns-2.
    WithTransmission,
    /// Waiting packets alone, as a pfifo under a shaper.
    WaitingOnly,
}

/// What is lost on a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Nothing.
    None,
    /// Each packet independently with this probability.
    Bernoulli(f64),
}

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// Its algorithm and parameters.
    pub algorithm: AlgorithmSpec,
    /// Links that its data takes, from the sender's host to the receiver's.
    pub route: Vec<LinkId>,
    /// Links that its ACKs take back.
    pub ack_route: Vec<LinkId>,
    /// When it starts (before jitter).
    pub start: Time,
    /// From when on it sends no new data, if ever; what is outstanding is still recovered.
    pub stop: Option<Time>,
    /// How many bytes it sends, if not endlessly.
    pub bytes: Option<u64>,
    /// It runs against the direction of the others.
    pub reverse: bool,
}

/// An algorithm by its registered name, with parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlgorithmSpec {
    /// Registered name.
    pub name: String,
    /// Parameters that differ from their defaults: numbers, switches and words as text.
    pub parameters: BTreeMap<String, String>,
}

impl std::fmt::Display for AlgorithmSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        for (i, (name, value)) in self.parameters.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}
