//! The line that all flows of a network share.

mod options;
mod schedule_choice;

pub use options::{LineOptions, TraceFile};
pub use schedule_choice::{RateChange, ScheduleChoice, StepChoice};

use crate::{Buffer, BufferContext, EcnThreshold, Place};
use cwnd_scenario::{Counting, LinkId, LinkSpec, Network, NodeId, Problem, Rate, Time, UnitError};
pub(crate) use options::Direction;

/// The line that all flows share: two links, `bottleneck` from left to right and `bottleneck-reverse`.
///
/// Both have the rate, delay, buffer, queue and ECN threshold, unless the reverse direction has its own; the rest each
/// direction has for itself alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// Rate of each direction.
    pub rate: Rate,
    /// Its delay, said directly or through the base round-trip time.
    pub delay: LineDelay,
    /// What the queue before each direction holds.
    pub buffer: Buffer,
    /// Over which queue length packets are marked, if at all.
    pub ecn_threshold: Option<EcnThreshold>,
    /// What else happens on `bottleneck`.
    pub forward: LineOptions,
    /// What else happens on `bottleneck-reverse`.
    pub reverse: LineOptions,
}

/// How a line's delay is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineDelay {
    /// The propagation delay, one way.
    OneWay(Time),
    /// The base round-trip time of the whole path; the line takes what the other links leave.
    BaseRtt(Time),
}

/// Where a flow's ends lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoints {
    /// A base round-trip time of its own.
    pub rtt: Option<Time>,
    /// Its sender is at the right, so that its data cross `bottleneck-reverse`.
    pub reverse: bool,
    /// Where it runs, if not where the topology puts it by itself.
    pub place: Place,
}

/// What a builder made.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// Nodes and links.
    pub network: Network,
    /// One for each flow.
    pub routes: Vec<Route>,
    /// The largest base round-trip time: propagation alone, data and ACK.
    pub base_rtt: Time,
    /// The bandwidth-delay product in full packets: bottleneck rate x `base_rtt` / wire size, rounded to the
    /// nearest, at least 1; none if the bottleneck has no rate.
    pub bdp_packets: Option<u64>,
}

/// The links that a flow's packets take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// From the sender to the receiver.
    pub data: Vec<LinkId>,
    /// From the receiver to the sender.
    pub acks: Vec<LinkId>,
}

impl Bottleneck {
    /// Both links between two nodes, `name` and `name-reverse`, with their delays. Problems are called by the fields of
    /// this type.
    pub(crate) fn links(
        &self,
        name: &str,
        (left, right): (NodeId, NodeId),
        delays: (Time, Time),
        context: &BufferContext,
        counting: Counting,
    ) -> Result<[LinkSpec; 2], Vec<Problem>> {
        let direction = |reverse| Direction { line: self, reverse, context, counting };
        let forward = direction(false).link(name.to_owned(), left, right, delays.0);
        let reverse = direction(true).link(format!("{name}-reverse"), right, left, delays.1);
        match (forward, reverse) {
            (Ok(forward), Ok(reverse)) => Ok([forward, reverse]),
            (forward, reverse) => {
                let mut problems = forward.err().unwrap_or_default();
                for problem in reverse.err().into_iter().flatten() {
                    if !problems.contains(&problem) {
                        problems.push(problem);
                    }
                }
                Err(problems)
            }
        }
    }
}

/// Two halves; an odd nanosecond goes to the first.
pub(crate) fn halves(time: Time) -> (Time, Time) {
    (Time(time.0.div_ceil(2)), Time(time.0 / 2))
}

/// Note what went wrong at `place`.
pub(crate) fn problem<T>(
    place: &str,
    result: Result<T, UnitError>,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    result.map_err(|error| problems.push(Problem { place: place.to_owned(), message: error.message })).ok()
}

/// How many of the flows are not reverse.
pub(crate) fn forward_flows(flows: &[Endpoints]) -> u32 {
    u32::try_from(flows.iter().filter(|flow| !flow.reverse).count()).unwrap_or(u32::MAX)
}
