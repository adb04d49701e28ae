//! The question: a network, flows, a stack, a duration and a seed.

mod algorithm;
mod arrivals;
mod receiver;
mod transport;

pub use algorithm::{AlgorithmSpec, registered_name};
pub use arrivals::Arrivals;
pub use receiver::ReceiverBehaviour;
pub use transport::Transport;

use crate::{LinkId, LinkSpec, Network, Purpose, Schedule, Shared, Stack, Stream, Time, Traffic};
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// The largest number of flows of a scenario: with more, the description alone would not fit in memory.
pub const MAX_FLOWS: u32 = 100_000;
/// The most samples of a run.
pub const MAX_SAMPLES: u64 = 10_000_000;

/// Everything that decides a result. Clones share what is large.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Nodes and links.
    pub network: Shared<Network>,
    /// The flows, in the order in which ties between them are broken; short ones come last.
    pub flows: Shared<Vec<FlowSpec>>,
    /// Of what the short flows among them were drawn, if there are any: another seed has others.
    pub arrivals: Option<Arrivals>,
    /// The stack that every flow runs on.
    pub stack: Stack,
    /// When the run ends; metrics count what happened before it.
    pub duration: Time,
    /// What happens before this time is not counted; the run's outcome is what came after it. Before the end.
    pub warm_up: Time,
    /// Seed of every random stream. [`Scenario::with_seed`] gives the scenario of another one. Zero is left out of the
    /// serialized form.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seed: u64,
    /// Each flow starts this much later at most, uniformly drawn; short flows do not, since their starts are random.
    pub start_jitter: Time,
    /// A packet leaves its sender up to this long after its trigger (or the packet before it), uniformly
    /// drawn; nothing is drawn when it is zero (ns-2's `overhead_`). With [`Recovery::Linux`](crate::Recovery) and `Rack`, all that may
    /// leave at a time leaves together after one draw, as bursts of a kernel do.
    pub send_overhead: Time,
    /// Which of simultaneous arrivals at a link comes first.
    pub ties: Ties,
    /// How often to record a sample of each flow and queue, if at all.
    pub sample: Option<Time>,
}

/// Which of simultaneous arrivals at a link comes first. What comes from one source (a host, or the link before) at one time
/// stays together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// By what they come from: hosts by node number, then links by number.
    #[default]
    ByNumber,
    /// What comes from the source that had its turn longest ago; of those that had none yet, by number. ns-2's order of events
    /// comes to this.
    ByTurn,
}

impl FromStr for Ties {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "by-number" => Ok(Ties::ByNumber),
            "by-turn" => Ok(Ties::ByTurn),
            _ => Err("there are `by-number` and `by-turn`".to_owned()),
        }
    }
}

impl Display for Ties {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Ties::ByNumber => "by-number",
            Ties::ByTurn => "by-turn",
        })
    }
}

impl Scenario {
    /// Returns whether it has names that decide nothing: those of groups and of delivery traces.
    pub fn has_labels(&self) -> bool {
        self.flows.iter().any(|flow| flow.group.is_some())
            || self.network.links.iter().any(LinkSpec::has_label)
    }

    /// Returns the scenario without these names ([`Scenario::has_labels`]).
    pub fn without_labels(&self) -> Scenario {
        let mut scenario = self.clone();
        scenario.take_labels();
        scenario
    }

    /// Removes these names, and returns those of the flows' groups, flow by flow.
    pub fn take_labels(&mut self) -> Vec<Option<String>> {
        // What has no names stays shared with clones.
        if self.network.links.iter().any(LinkSpec::has_label) {
            for link in &mut self.network.links {
                if let Some(Schedule::Trace(trace)) = &mut link.schedule {
                    trace.name.clear();
                }
            }
        }
        match self.flows.iter().any(|flow| flow.group.is_some()) {
            true => self.flows.iter_mut().map(|flow| flow.group.take()).collect(),
            false => vec![None; self.flows.len()],
        }
    }

    /// The same with another seed, and so with other short flows.
    pub fn with_seed(&self, seed: u64) -> Scenario {
        let mut scenario = self.clone();
        scenario.seed = seed;
        scenario.draw_short_flows();
        scenario
    }

    /// Draws the short flows again, from the seed.
    pub fn draw_short_flows(&mut self) {
        let Some(arrivals) = &self.arrivals else { return };
        self.flows.retain(|flow| !flow.short);
        let room = (MAX_FLOWS as usize).saturating_sub(self.flows.len());
        self.flows.extend(arrivals.draw(self.seed, self.duration, room));
    }

    /// Whether a flow has TCP.
    pub fn has_tcp(&self) -> bool {
        self.flows.iter().any(|flow| flow.transport.is_tcp())
    }

    /// Returns whether the scenario draws anything from the seed. The random choices of algorithms, such as BBR's phase, are
    /// not known here.
    pub fn is_random(&self) -> bool {
        let random_traffic = |flow: &FlowSpec| match &flow.traffic {
            Traffic::Bulk | Traffic::Live(_) | Traffic::Pulses { .. } | Traffic::Media { .. } => false,
            Traffic::OnOff { on, off } => !on.is_constant() || !off.is_constant(),
            Traffic::Responses { size, think } => !size.is_constant() || !think.is_constant(),
        };
        self.start_jitter > Time::ZERO
            || self.send_overhead > Time::ZERO
            || self.arrivals.is_some()
            || self.flows.iter().any(random_traffic)
            || self.network.links.iter().any(LinkSpec::is_random)
    }

    /// Returns the names of the stacks that its flows run on: `linux`, `noq`, or `noq and linux`.
    pub fn stack_names(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for flow in &self.flows {
            let name =
                if flow.transport.is_tcp() { self.stack.profile.name() } else { flow.transport.name() };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(" and ")
    }

    /// How many flows are not short.
    pub fn lasting_flows(&self) -> usize {
        self.flows.iter().filter(|flow| !flow.short).count()
    }

    /// When a flow starts, its jitter included. Short flows have none.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn start_of(&self, flow: usize) -> Time {
        let FlowSpec { start, short, .. } = self.flows[flow];
        if short {
            return start;
        }
        let mut stream = Stream::new(self.seed, Purpose::StartJitter, flow as u64);
        Time(start.0 + stream.below(self.start_jitter.0))
    }

    /// Returns the payload bytes of a flow's first `segments`. The first may be shorter than others
    /// ([`Stack::first_packet`]), and so may the last.
    ///
    /// # Panics
    /// If there is no such flow.
    pub fn payload_of(&self, flow: usize, segments: u64) -> u64 {
        if segments == 0 {
            return 0;
        }
        let Stack { payload, data_overhead, first_packet, .. } = self.stack;
        let payload = u64::from(payload);
        let bytes = (segments * payload).min(self.flows[flow].bytes.unwrap_or(u64::MAX));
        let full = bytes.min(payload);
        let first =
            first_packet.map_or(full, |first| full.min(u64::from(first.saturating_sub(data_overhead))));
        bytes - full + first
    }

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

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
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
    /// When its application has data to send.
    pub traffic: Traffic,
    /// How long after its start its last byte should have arrived, if it has a deadline; D2TCP uses it.
    pub deadline: Option<Time>,
    /// The name of the group that it belongs to, if it belongs to one: metrics of a group are those of its flows together.
    /// Nothing else depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// It is one of many short ones that come and go: what speaks of flows one by one leaves it out.
    pub short: bool,
    /// It runs against the direction of the others.
    pub reverse: bool,
    /// How its receiver acknowledges. An honest one is left out of the serialized form.
    #[serde(default, skip_serializing_if = "ReceiverBehaviour::is_honest")]
    pub receiver: ReceiverBehaviour,
    /// The implementation of its two endpoints. TCP is left out of the serialized form.
    #[serde(default, skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
}

fn is_zero(seed: &u64) -> bool {
    *seed == 0
}

/// Checks whether a name cannot be that of a [group](FlowSpec::group), because names of metrics use it for something else: a
/// flow by its number (`flow2`), or the short flows (`short`) and their classes by size (`short-small`).
pub fn is_reserved_group(name: &str) -> bool {
    let is_number = |digits: &str| {
        !digits.is_empty() && !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    name.strip_prefix("flow").is_some_and(is_number)
        || ["short", "short-small", "short-large", "short-to-10KB", "short-to-100KB", "short-to-1MB"]
            .contains(&name)
}
