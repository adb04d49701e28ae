//! From the options that a person gives to a scenario.

mod cross_flows;
mod defaults;
mod flows;
mod or_bottleneck;
mod receive_window;
mod stack_choice;
mod topology;

pub use cross_flows::CrossFlows;
pub use defaults::Defaults;
pub use or_bottleneck::OrBottleneck;
pub use receive_window::greatest_bdp;
pub use stack_choice::{EcnChoice, StackChoice};
pub use topology::{LateSteps, SatelliteChoice, Topology};

use crate::{
    Buffer, BufferTerm, Built, EcnThreshold, Endpoints, FlowGroup, LineDelay, LineOptions, Mix, Place,
    ShortFlowSizes, ShortFlows, Side,
};
use cwnd_scenario::{
    AlgorithmSpec, Arrivals, ByteSize, Decimal, DeliveryTrace, Discipline, FlowSpec, MAX_FLOWS, Probability,
    Problem, Rate, Scenario, SizeTable, Stack, StackProfile, Ties, Time, Traffic, is_reserved_group,
};
use std::collections::BTreeSet;

/// An experiment as a person describes it, by flags or in a study: every option but the seed. The flows that last are
/// given in one of three ways: `algorithm`, `mix` or `flow`. [`ExperimentSpec::resolve`] makes the scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentSpec {
    /// The algorithm that the name `candidate` stands for wherever an algorithm is named; none.
    pub candidate: Option<AlgorithmSpec>,
    /// Flows of one algorithm.
    pub algorithm: Option<AlgorithmSpec>,
    /// The number of flows of `algorithm`; 1.
    pub flows: Option<u32>,
    /// As many flows of this algorithm share the bottleneck with those of `algorithm`.
    pub beside: Option<AlgorithmSpec>,
    /// Flows of several algorithms.
    pub mix: Option<Mix>,
    /// Flows one by one.
    pub flow: Vec<FlowGroup>,
    /// The number of endless flows of the same algorithm in the other direction; 0.
    pub reverse_flows: u32,
    /// The shape; a dumbbell.
    pub topology: Topology,
    /// Rate of the bottleneck; 1 Gbit/s, or the mean of its trace. What `forward.rate` says comes before it.
    pub rate: Rate,
    /// Delay of the bottleneck; 100 ms one way.
    pub delay: LineDelay,
    /// Base round-trip times of the flows one after the other, from the first again after the last; the topology's. Reverse
    /// and cross flows are not counted.
    pub rtts: Vec<Time>,
    /// What the bottleneck's queue holds; 1 BDP.
    pub buffer: Buffer,
    /// Packet error rate of the bottleneck, forward; 0. It cannot be combined with a loss of `forward`.
    pub per: Probability,
    /// Over which queue length the bottleneck marks packets; it does not.
    pub ecn_threshold: Option<EcnThreshold>,
    /// What else happens on the bottleneck, forward.
    pub forward: LineOptions,
    /// What else happens on the bottleneck, in reverse.
    pub reverse: LineOptions,
    /// Rate of the access links; ten times the bottleneck's, at least twice the greatest of its steps or of its trace over any 100 ms;
    /// of an incast the bottleneck's, 1 Gbit/s with a satellite. A path has no access links, and takes none of the four.
    pub access_rate: Option<OrBottleneck<Rate>>,
    /// Delay of the access links, one way; 1 ms, 10 ms with a satellite.
    pub access_delay: Option<Time>,
    /// What the queues of the access links hold; as much as the bottleneck's, and at least 1,000 packets.
    pub access_buffer: Option<OrBottleneck<Buffer>>,
    /// What queues those are; drop-tail.
    pub access_queue: Option<Discipline>,
    /// How many hops a parking lot has; 3.
    pub hops: Option<u32>,
    /// The satellite's link.
    pub satellite: SatelliteChoice,
    /// Flows in addition to those of the experiment: on each hop of a parking lot, on the wires of a satellite network, else on the
    /// bottleneck; none.
    pub cross_flows: Option<CrossFlows>,
    /// The stack; linux.
    pub stack: StackChoice,
    /// When the run ends; 100 s.
    pub duration: Time,
    /// What happens before this is not counted; 0 s.
    pub warm_up: Time,
    /// Each flow starts up to this much later; up to one base round-trip time, the largest of the flows'.
    pub start_jitter: Option<Time>,
    /// What may be sent leaves its sender up to this much later; up to one serialisation time of a full packet at the
    /// bottleneck, which keeps flows from locking in phase.
    pub send_overhead: Option<Time>,
    /// Which of simultaneous arrivals at a link comes first; by number.
    pub ties: Ties,
    /// Flow i starts i - 1 times this after the first; 0 s. Reverse and cross flows are not counted, and start at 0.
    pub stagger: Time,
    /// Flow i of n stops n - i times this before the end; flows do not stop. Reverse and cross flows are not counted.
    pub stop_stagger: Option<Time>,
    /// Each flow, reverse and cross ones excepted, sends so much and then ends; endless.
    pub bytes: Option<ByteSize>,
    /// When each flow's application, reverse ones excepted, has data to send; always.
    pub traffic: Traffic,
    /// How long after its start each flow, reverse ones excepted, should be complete; it does not matter.
    pub deadline: Option<Time>,
    /// Short flows that start and end during the run, in addition to the others, all of them between two hosts that are theirs (on a path: its two
    /// ends); none. In a buffer that counts packets a flow they count as one.
    pub short_flows: Option<ShortFlows>,
    /// How often to sample flows and queues; never.
    pub sample: Option<Time>,
    /// The rules of what is not said.
    pub defaults: Defaults,
}

impl Default for ExperimentSpec {
    fn default() -> ExperimentSpec {
        ExperimentSpec {
            candidate: None,
            algorithm: None,
            flows: None,
            beside: None,
            mix: None,
            flow: Vec::new(),
            reverse_flows: 0,
            topology: Topology::Dumbbell,
            rate: Rate(1_000_000_000),
            delay: LineDelay::OneWay(Time::from_millis(100)),
            rtts: Vec::new(),
            buffer: Buffer::Packets(vec![BufferTerm::Bdp(Decimal::new(1, 0))]),
            per: Probability::ZERO,
            ecn_threshold: None,
            forward: LineOptions::default(),
            reverse: LineOptions::default(),
            access_rate: None,
            access_delay: None,
            access_buffer: None,
            access_queue: None,
            hops: None,
            satellite: SatelliteChoice::default(),
            cross_flows: None,
            stack: StackChoice::default(),
            duration: Time::from_secs(100),
            warm_up: Time::ZERO,
            start_jitter: None,
            send_overhead: None,
            ties: Ties::default(),
            stagger: Time::ZERO,
            stop_stagger: None,
            bytes: None,
            traffic: Traffic::Bulk,
            deadline: None,
            short_flows: None,
            sample: None,
            defaults: Defaults::Current,
        }
    }
}

impl ExperimentSpec {
    /// The scenario of these flows, and of the short ones that this seed draws. A flow's own start, stop, bytes, traffic and
    /// deadline come before the setup's rules.
    ///
    /// # Errors
    /// Everything that cannot be met, by its place: a field's name, or `flows[1].rtt` for the second group.
    pub fn scenario(&self, groups: &[FlowGroup], seed: u64) -> Result<Scenario, Vec<Problem>> {
        let own = groups.len();
        let groups = &self.with_cross_flows(groups).map_err(|problem| vec![problem])?;
        check_counts(groups, self.short_flows.is_some())?;
        let mut problems = self.problems();
        self.check_places(groups, &mut problems);
        let owners: Vec<usize> = groups
            .iter()
            .enumerate()
            .flat_map(|(g, group)| std::iter::repeat_n(g, group.count as usize))
            .collect();
        let mut rtts = self.rtts.iter().cycle();
        let ends = owners.iter().map(|owner| {
            let group = &groups[*owner];
            let in_turn = if group.reverse || *owner >= own { None } else { rtts.next().copied() };
            Endpoints { rtt: group.rtt.or(in_turn), reverse: group.reverse, place: group.place.clone() }
        });
        // The short flows' two hosts come last.
        let ends = ends.chain(self.short_flows.iter().map(|_| Endpoints::default())).collect();
        let times = self.times(groups, own, &owners, &mut problems);
        let stack = keep(self.stack.stack(self.marks()), &mut problems);
        let built = stack.as_ref().and_then(|stack| {
            let built = self.network(ends, stack.full_packet());
            keep(built.map_err(|found| by_group(found, &owners, groups)), &mut problems)
        });
        let arrivals = self.arrivals(stack.as_ref(), built.as_ref(), &mut problems);
        let (Some(mut stack), Some(built), true) = (stack, built, problems.is_empty()) else {
            problems.dedup();
            return Err(problems);
        };
        if self.stack.profile == StackProfile::Linux && self.stack.receive_window.is_none() {
            stack.receive_window = receive_window::of_linux(&built, &stack);
        }
        let start_jitter = self.start_jitter.unwrap_or(built.base_rtt);
        let send_overhead =
            self.send_overhead.unwrap_or(serialisation(self.bottleneck_rate(), stack.full_packet()));
        let flow = |((owner, (start, stop)), route): ((&usize, _), super::Route)| {
            let group = &groups[*owner];
            let usual = !group.reverse && *owner < own;
            FlowSpec {
                algorithm: group.algorithm.resolved(stack.profile),
                route: route.data,
                ack_route: route.acks,
                start,
                stop,
                bytes: group.bytes.or(self.bytes.filter(|_| usual)).map(|size| size.0),
                traffic: group.traffic.unwrap_or(if usual { self.traffic } else { Traffic::Bulk }),
                deadline: group.deadline.or(self.deadline.filter(|_| usual)),
                group: self.name(group, *owner < own).map(str::to_owned),
                short: false,
                reverse: group.reverse,
                receiver: group.receiver,
                transport: group.transport.unwrap_or(self.stack.transport),
            }
        };
        self.check_names(groups, own)?;
        let mut scenario = Scenario {
            flows: owners.iter().zip(times).zip(built.routes).map(flow).collect(),
            arrivals,
            network: built.network.into(),
            stack,
            duration: self.duration,
            warm_up: self.warm_up,
            seed,
            start_jitter,
            send_overhead,
            ties: self.ties,
            sample: self.sample,
        };
        scenario.draw_short_flows();
        if scenario.flows.is_empty() {
            let message = format!(
                "none arrives before the end, at {}: take a longer run or more of them",
                self.duration
            );
            return Err(vec![Problem { place: "short_flows".to_owned(), message }]);
        }
        if !scenario.has_tcp() {
            let problems = self.stack.problems_without_tcp();
            if !problems.is_empty() {
                return Err(problems);
            }
        }
        Ok(scenario)
    }

    /// The name of a group of flows: its own, or which side of an experiment with cross flows it is.
    fn name<'a>(&self, group: &'a FlowGroup, own: bool) -> Option<&'a str> {
        let usual = self.cross_flows.is_some().then_some(if own { OWN } else { CROSS });
        group.name.as_deref().or(usual)
    }

    /// A name that metrics give to something else would be ambiguous.
    fn check_names(&self, groups: &[FlowGroup], own: usize) -> Result<(), Vec<Problem>> {
        let named = |(index, group): (usize, &FlowGroup)| {
            let name = self.name(group, index < own)?;
            let taken =
                is_reserved_group(name) || groups.iter().any(|other| other.algorithm.to_string() == name);
            let message = format!("metrics call something else `{name}`: take another name");
            taken.then(|| Problem { place: format!("flows[{index}].group"), message })
        };
        let problems: Vec<Problem> = groups.iter().enumerate().filter_map(named).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Of what the short flows are drawn, once the network is there.
    fn arrivals(
        &self,
        stack: Option<&Stack>,
        built: Option<&Built>,
        problems: &mut Vec<Problem>,
    ) -> Option<Arrivals> {
        let (short, built) = (self.short_flows.as_ref()?, built?);
        let route = built.routes.last()?.clone();
        let bottleneck = built.network.links[built.network.bottleneck].rate;
        let arrivals = short.arrivals((route.data, route.acks), bottleneck, stack?);
        let arrivals = arrivals.and_then(|mut arrivals| {
            arrivals.flow.transport = self.stack.transport;
            let (start, end) =
                (arrivals.flow.start, arrivals.until.unwrap_or(self.duration).min(self.duration));
            match arrivals.problem(self.duration) {
                Some(problem) => Err(problem),
                None if start >= end => {
                    Err(format!("they would begin at {start} and end at {end}: that is no time at all"))
                }
                None if arrivals.flow.deadline == Some(Time::ZERO) => Err(NO_DEADLINE.to_owned()),
                None => Ok(arrivals),
            }
        });
        let place = "short_flows";
        arrivals.map_err(|message| problems.push(Problem { place: place.to_owned(), message })).ok()
    }

    /// Returns these flows and the cross flows.
    ///
    /// # Errors
    /// It is open of which algorithm cross flows are, or the topology has no place for them.
    pub fn with_cross_flows(&self, groups: &[FlowGroup]) -> Result<Vec<FlowGroup>, Problem> {
        let mut all = groups.to_vec();
        let Some(cross) = &self.cross_flows else { return Ok(all) };
        let at = |places: &mut dyn Iterator<Item = Place>| -> Result<Vec<FlowGroup>, Problem> {
            let cross = cross.groups(groups)?;
            let place = |place: Place| {
                let placed = |group: &FlowGroup| FlowGroup { place: place.clone(), ..group.clone() };
                cross.iter().map(placed).collect::<Vec<_>>()
            };
            Ok(places.flat_map(place).collect())
        };
        all.extend(match self.topology {
            Topology::ParkingLot => at(&mut (1..=self.hops()).map(Place::Hop))?,
            Topology::Satellite => at(&mut std::iter::once(Place::Side(Side::Wired)))?,
            Topology::Dumbbell | Topology::Path | Topology::Incast => at(&mut std::iter::once(Place::Usual))?,
            Topology::Graph(_) => {
                let message = "a graph has no place for them: say them as flows with a path";
                return Err(Problem { place: "cross_flows".to_owned(), message: message.to_owned() });
            }
        });
        Ok(all)
    }

    /// Read the files of delivery traces that the bottleneck is said to follow, with a function that gives what is in
    /// one.
    ///
    /// # Errors
    /// A file that cannot be read, by the place that names it.
    pub fn read_traces(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<DeliveryTrace, String>,
    ) -> Result<(), Problem> {
        for (options, place) in [(&mut self.forward, "rate_trace"), (&mut self.reverse, "reverse_rate_trace")]
        {
            if let Some(file) = options.trace.as_mut().filter(|file| file.trace.is_none()) {
                let found = read(&file.path);
                file.trace = Some(found.map_err(|message| Problem { place: place.to_owned(), message })?);
            }
        }
        Ok(())
    }

    /// Reads the file of the short flows' sizes, if they are said to be of one, with a function that gives what is in it.
    ///
    /// # Errors
    /// If it cannot be read, by the place that names it.
    pub fn read_sizes(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<SizeTable, String>,
    ) -> Result<(), Problem> {
        let size = self.short_flows.as_mut().map(|flows| &mut flows.size);
        if let Some(ShortFlowSizes::File { path, table: table @ None }) = size {
            let found = read(path);
            let place = "short_flows".to_owned();
            *table = Some(found.map_err(|message| Problem { place, message })?);
        }
        Ok(())
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut check = |fails: bool, place: &str, message: &str| {
            if fails {
                problems.push(Problem { place: place.to_owned(), message: message.to_owned() });
            }
        };
        let path = self.topology == Topology::Path;
        let none = "a path has no access links: leave it out, or take a dumbbell";
        check(path && self.access_rate.is_some(), "access_rate", none);
        check(path && self.access_delay.is_some(), "access_delay", none);
        check(path && self.access_buffer.is_some(), "access_buffer", none);
        check(path && self.access_queue.is_some(), "access_queue", none);
        let row = self.topology == Topology::ParkingLot;
        check(
            !row && self.hops.is_some(),
            "hops",
            "only a parking lot has hops: `topology = \"parking-lot\"`",
        );
        if self.topology != Topology::Satellite {
            for place in self.satellite.said() {
                check(true, place, "there is no satellite here: `topology = \"satellite\"`");
            }
        }
        let twice = self.forward.loss.is_some() && self.per != Probability::ZERO;
        check(twice, "per", "it is a loss too: say one of them");
        let thinned = [&self.forward, &self.reverse].map(|options| options.ack_thinning);
        let too_few = "ACKs are thinned to one of at least 2";
        check(thinned.iter().flatten().any(|acks| *acks < 2), "ack_thinning", too_few);
        let slots = "it must last: write `2 ms`, for example, or `none`";
        check(self.forward.slot == Some(Some(Time::ZERO)), "slot", slots);
        check(self.reverse.slot == Some(Some(Time::ZERO)), "reverse_slot", slots);
        check(self.duration == Time::ZERO, "duration", "a run must last: write `100 s`, for example");
        if self.warm_up >= self.duration && self.duration > Time::ZERO {
            let message = format!(
                "it takes {}, and the run ends at {}: nothing would count",
                self.warm_up, self.duration
            );
            check(true, "warm_up", &message);
        }
        let sample = "samples need a time between them: write `100 ms`, for example";
        check(self.sample == Some(Time::ZERO), "sample", sample);
        check(self.bytes == Some(ByteSize(0)), "bytes", "a transfer has at least 1 byte");
        check(self.deadline == Some(Time::ZERO), "deadline", NO_DEADLINE);
        if let Some(problem) = self.traffic.problem() {
            check(true, "traffic", &problem);
        }
        problems
    }

    /// Start and stop of every flow; of the groups the first ones are the experiment's own, and cross flows follow.
    fn times(
        &self,
        groups: &[FlowGroup],
        own: usize,
        owners: &[usize],
        problems: &mut Vec<Problem>,
    ) -> Vec<(Time, Option<Time>)> {
        let staggered = |owner: usize| owner < own && !groups[owner].reverse;
        let forward = owners.iter().filter(|owner| staggered(**owner)).count() as u64;
        let mut number = 0;
        let mut times = Vec::with_capacity(owners.len());
        for owner in owners {
            let group = &groups[*owner];
            let (mut start, mut stop) = (Some(Time::ZERO), None);
            if staggered(*owner) {
                start = self.stagger.0.checked_mul(number).map(Time);
                number += 1;
                let early = self.stop_stagger.map(|gap| gap.0.checked_mul(forward - number));
                stop = early.map(|gap| Time(self.duration.0.saturating_sub(gap.unwrap_or(u64::MAX))));
            }
            let place = |own: bool, key: &str, rule: &str| match own {
                true => format!("flows[{owner}].{key}"),
                false => rule.to_owned(),
            };
            let start_place = place(group.start.is_some(), "start", "stagger");
            let stop_place = place(group.stop.is_some(), "stop", "stop_stagger");
            let start =
                group.start.or(start).filter(|start| *start < self.duration || self.duration == Time::ZERO);
            let stop = group.stop.or(stop);
            let Some(start) = start else {
                let message =
                    format!("a flow would start at the end of the run, {}, or after it", self.duration);
                problems.push(Problem { place: start_place, message });
                continue;
            };
            if let Some(jitter) = self.start_jitter.filter(|jitter| {
                self.duration > Time::ZERO && start.0.saturating_add(jitter.0) > self.duration.0
            }) {
                let latest = Time(start.0.saturating_add(jitter.0));
                let message = format!(
                    "a flow that starts at {start} may start up to {jitter} later, at {latest}, and the run ends at \
                     {}: make it shorter",
                    self.duration
                );
                problems.push(Problem { place: "start_jitter".to_owned(), message });
            }
            if let Some(stop) = stop.filter(|stop| *stop <= start) {
                let message = format!("a flow would stop at {stop}, which is not after its start at {start}");
                problems.push(Problem { place: stop_place, message });
            }
            // A flow that stops at the end of the run or later does not stop in it.
            times.push((start, stop.filter(|stop| *stop < self.duration)));
        }
        problems.dedup_by(|a, b| a.place == b.place);
        times
    }
}

/// What the experiment's own flows are called where there are cross flows, and what those are called.
const OWN: &str = "own";
pub(super) const CROSS: &str = "cross";

const NO_DEADLINE: &str = "a flow needs some time: write `50 ms`, for example";

/// `short`: there are short flows as well, so that no others are required.
fn check_counts(groups: &[FlowGroup], short: bool) -> Result<(), Vec<Problem>> {
    let flows: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
    let forward: u64 = groups.iter().filter(|g| !g.reverse).map(|g| u64::from(g.count)).sum();
    let mut problems = Vec::new();
    let mut problem = |place: String, message: String| problems.push(Problem { place, message });
    if flows > u64::from(MAX_FLOWS) {
        problem("flows".to_owned(), format!("{flows} flows are too many: {MAX_FLOWS} are the most"));
    } else if forward == 0 && !short {
        problem("flows".to_owned(), "there must be at least 1 flow that is not reverse".to_owned());
    }
    for (g, group) in groups.iter().enumerate() {
        if group.bytes == Some(ByteSize(0)) {
            problem(format!("flows[{g}].bytes"), "a transfer has at least 1 byte".to_owned());
        }
        if group.deadline == Some(Time::ZERO) {
            problem(format!("flows[{g}].deadline"), NO_DEADLINE.to_owned());
        }
        if let Some(wrong) = group.traffic.and_then(|traffic| traffic.problem()) {
            problem(format!("flows[{g}].traffic"), wrong);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn keep<T>(result: Result<T, Vec<Problem>>, problems: &mut Vec<Problem>) -> Option<T> {
    result.map_err(|found| problems.extend(found)).ok()
}

/// A builder names flows; who wrote groups reads their numbers. A round trip that a group does not say is one of `rtts`.
fn by_group(problems: Vec<Problem>, owners: &[usize], groups: &[FlowGroup]) -> Vec<Problem> {
    let mut named: Vec<Problem> = problems
        .into_iter()
        .map(|problem| {
            let flow = problem.place.strip_prefix("flows[").and_then(|rest| rest.split_once(']'));
            let owner = flow.and_then(|(index, key)| Some((owners.get(index.parse::<usize>().ok()?)?, key)));
            match owner {
                Some((owner, ".rtt")) if groups[*owner].rtt.is_none() => {
                    Problem { place: "rtts".to_owned(), ..problem }
                }
                Some((owner, key)) => Problem { place: format!("flows[{owner}]{key}"), ..problem },
                None => problem,
            }
        })
        .collect();
    // Flows that take the same of several round trips do not stand side by side.
    let mut known = BTreeSet::new();
    named.retain(|problem| known.insert((problem.place.clone(), problem.message.clone())));
    named
}

/// How long a packet takes to leave, rounded up to a nanosecond.
fn serialisation(rate: Rate, bytes: u32) -> Time {
    if rate == Rate::UNLIMITED {
        return Time::ZERO;
    }
    Time((u64::from(bytes) * 8 * 1_000_000_000).div_ceil(rate.0.max(1)))
}

#[cfg(test)]
mod tests;
