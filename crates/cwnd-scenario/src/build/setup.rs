//! From the options that a person gives to a scenario.

use super::{
    Access, Bottleneck, Built, Dumbbell, Endpoints, LineDelay, MAX_FLOWS, Path, StackChoice,
    stack_choice::USUAL_WINDOW,
};
use crate::{
    Arrivals, Buffer, BufferTerm, ByteSize, Counting, Decimal, EcnThreshold, FlowGroup, FlowSpec,
    Probability, Problem, QueueLimit, Rate, Scenario, ShortFlows, Stack, StackProfile, Time, Traffic,
};

/// The shape of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// [`Dumbbell`].
    Dumbbell,
    /// [`Path`].
    Path,
}

/// All options of an experiment but its flows and its seed. The defaults are those of [`Setup::default`].
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The shape; a dumbbell.
    pub topology: Topology,
    /// Rate of the bottleneck; 1 Gbit/s.
    pub rate: Rate,
    /// Delay of the bottleneck; 100 ms one way.
    pub delay: LineDelay,
    /// What the bottleneck's queue holds; 1 BDP.
    pub buffer: Buffer,
    /// Packet error rate of the bottleneck, forward; 0.
    pub per: Probability,
    /// Over which queue length the bottleneck marks packets; it does not.
    pub ecn_threshold: Option<EcnThreshold>,
    /// Rate of the access links; the bottleneck's. A path has none, and takes none of the three.
    pub access_rate: Option<Rate>,
    /// Delay of the access links, one way; 1 ms.
    pub access_delay: Option<Time>,
    /// What the queues of the access links hold; as much as the bottleneck's.
    pub access_buffer: Option<Buffer>,
    /// The stack; ns2.
    pub stack: StackChoice,
    /// When the run ends; 100 s.
    pub duration: Time,
    /// What happens before this is not counted; 0 s.
    pub warm_up: Time,
    /// Each flow starts up to this much later; up to one base round-trip time, the largest of the flows'.
    pub start_jitter: Option<Time>,
    /// Each packet leaves its sender up to this much later; up to one serialisation time of a full packet at the
    /// bottleneck, which keeps flows from locking in phase.
    pub send_overhead: Option<Time>,
    /// Flow i starts i - 1 times this after the first; 0 s. Reverse flows are not counted, and start at 0.
    pub stagger: Time,
    /// Flow i of n stops n - i times this before the end; flows do not stop. Reverse flows are not counted.
    pub stop_stagger: Option<Time>,
    /// Each flow, reverse ones excepted, sends so much and then ends; endless.
    pub bytes: Option<ByteSize>,
    /// When each flow's application, reverse ones excepted, has data to send; always.
    pub traffic: Traffic,
    /// How long after its start each flow, reverse ones excepted, should be complete; it does not matter.
    pub deadline: Option<Time>,
    /// Short flows that come and go beside the others, all of them between two hosts that are theirs (on a path: its two
    /// ends); none. In a buffer that counts packets a flow they count as one.
    pub short_flows: Option<ShortFlows>,
    /// How often to sample flows and queues; never.
    pub sample: Option<Time>,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            topology: Topology::Dumbbell,
            rate: Rate(1_000_000_000),
            delay: LineDelay::OneWay(Time::from_millis(100)),
            buffer: Buffer::Packets(vec![BufferTerm::Bdp(Decimal::new(1, 0))]),
            per: Probability::ZERO,
            ecn_threshold: None,
            access_rate: None,
            access_delay: None,
            access_buffer: None,
            stack: StackChoice::default(),
            duration: Time::from_secs(100),
            warm_up: Time::ZERO,
            start_jitter: None,
            send_overhead: None,
            stagger: Time::ZERO,
            stop_stagger: None,
            bytes: None,
            traffic: Traffic::Bulk,
            deadline: None,
            short_flows: None,
            sample: None,
        }
    }
}

impl Setup {
    /// The scenario of these flows, and of the short ones that this seed draws. A flow's own start, stop, bytes, traffic and
    /// deadline come before the setup's rules.
    ///
    /// # Errors
    /// Everything that cannot be met, by its place: a field's name, or `flows[1].rtt` for the second group.
    pub fn scenario(&self, groups: &[FlowGroup], seed: u64) -> Result<Scenario, Vec<Problem>> {
        check_counts(groups, self.short_flows.is_some())?;
        let mut problems = self.problems();
        let owners: Vec<usize> = groups
            .iter()
            .enumerate()
            .flat_map(|(g, group)| std::iter::repeat_n(g, group.count as usize))
            .collect();
        let ends = owners.iter().map(|g| Endpoints { rtt: groups[*g].rtt, reverse: groups[*g].reverse });
        // The short flows' two hosts come last.
        let ends = ends.chain(self.short_flows.iter().map(|_| Endpoints::default())).collect();
        let times = self.times(groups, &owners, &mut problems);
        let stack = keep(self.stack.stack(self.ecn_threshold.is_some()), &mut problems);
        let built = stack.as_ref().and_then(|stack| {
            let built = self.network(ends, stack.full_packet());
            keep(built.map_err(|found| by_group(found, &owners)), &mut problems)
        });
        let arrivals = self.arrivals(stack.as_ref(), built.as_ref(), &mut problems);
        let (Some(mut stack), Some(built), true) = (stack, built, problems.is_empty()) else {
            problems.dedup();
            return Err(problems);
        };
        if self.stack.profile == StackProfile::Linux && self.stack.receive_window.is_none() {
            stack.receive_window = linux_window(&built, &stack);
        }
        let start_jitter = self.start_jitter.unwrap_or(built.base_rtt);
        let send_overhead = self.send_overhead.unwrap_or(serialisation(self.rate, stack.full_packet()));
        let flow = |((owner, (start, stop)), route): ((&usize, _), super::Route)| {
            let group = &groups[*owner];
            FlowSpec {
                algorithm: group.algorithm.clone(),
                route: route.data,
                ack_route: route.acks,
                start,
                stop,
                bytes: group.bytes.or(self.bytes.filter(|_| !group.reverse)).map(|size| size.0),
                traffic: group.traffic.unwrap_or(if group.reverse { Traffic::Bulk } else { self.traffic }),
                deadline: group.deadline.or(self.deadline.filter(|_| !group.reverse)),
                short: false,
                reverse: group.reverse,
            }
        };
        let mut scenario = Scenario {
            flows: owners.iter().zip(times).zip(built.routes).map(flow).collect(),
            arrivals,
            network: built.network,
            stack,
            duration: self.duration,
            warm_up: self.warm_up,
            seed,
            start_jitter,
            send_overhead,
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
        Ok(scenario)
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
        let arrivals = short.arrivals((route.data, route.acks), self.rate, stack?);
        let arrivals = arrivals.and_then(|arrivals| {
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

    /// Start and stop of every flow.
    fn times(
        &self,
        groups: &[FlowGroup],
        owners: &[usize],
        problems: &mut Vec<Problem>,
    ) -> Vec<(Time, Option<Time>)> {
        let forward = owners.iter().filter(|g| !groups[**g].reverse).count() as u64;
        let mut number = 0;
        let mut times = Vec::with_capacity(owners.len());
        for owner in owners {
            let group = &groups[*owner];
            let (mut start, mut stop) = (Some(Time::ZERO), None);
            if !group.reverse {
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

    fn network(&self, flows: Vec<Endpoints>, full_packet: u32) -> Result<Built, Vec<Problem>> {
        let bottleneck = Bottleneck {
            rate: self.rate,
            delay: self.delay,
            buffer: self.buffer.clone(),
            per: self.per,
            ecn_threshold: self.ecn_threshold,
        };
        let counting = match self.stack.profile {
            StackProfile::Ns2 => Counting::WithTransmission,
            StackProfile::Linux => Counting::WaitingOnly,
        };
        match self.topology {
            Topology::Path => Path { bottleneck, flows, counting, full_packet }.build(),
            Topology::Dumbbell => {
                let access = Access {
                    rate: self.access_rate.unwrap_or(self.rate),
                    delay: self.access_delay.unwrap_or(Time::from_millis(1)),
                    buffer: self.access_buffer.clone().unwrap_or_else(|| self.buffer.clone()),
                };
                Dumbbell { bottleneck, access, flows, counting, full_packet }.build()
            }
        }
    }
}

const NO_DEADLINE: &str = "a flow needs some time: write `50 ms`, for example";

/// `short`: there are short flows beside them, and so there need be no others.
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

/// A builder names flows; who wrote groups reads their numbers.
fn by_group(problems: Vec<Problem>, owners: &[usize]) -> Vec<Problem> {
    let mut named: Vec<Problem> = problems
        .into_iter()
        .map(|problem| {
            let flow = problem.place.strip_prefix("flows[").and_then(|rest| rest.split_once(']'));
            let owner = flow.and_then(|(index, key)| Some((owners.get(index.parse::<usize>().ok()?)?, key)));
            match owner {
                Some((owner, key)) => Problem { place: format!("flows[{owner}]{key}"), ..problem },
                None => problem,
            }
        })
        .collect();
    named.dedup();
    named
}

/// Four times what the network holds, in packets; queues without a limit count nothing.
fn linux_window(built: &Built, stack: &Stack) -> u32 {
    let Some(bdp) = built.bdp_packets else { return USUAL_WINDOW };
    let held = |link: usize| match built.network.links[link].queue.limit {
        QueueLimit::Packets(packets) => u64::from(packets),
        QueueLimit::Bytes(bytes) => bytes.div_ceil(u64::from(stack.full_packet())),
        QueueLimit::Unlimited => 0,
    };
    // The queues on a forward flow's way that hold anything for long: its own, and the bottleneck's.
    let route = &built.routes[0].data;
    let own = if route[0] == built.network.bottleneck { 0 } else { held(route[0]) };
    let window = bdp.saturating_add(held(built.network.bottleneck)).saturating_add(own).saturating_mul(4);
    u32::try_from(window).unwrap_or(u32::MAX)
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
