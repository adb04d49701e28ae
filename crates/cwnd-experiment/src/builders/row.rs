//! Routers in a row with lines between them, and hosts that hang on them: dumbbells and parking lots.

use crate::line::{forward_flows, problem};
use crate::{Access, Bottleneck, BufferContext, Built, Endpoints, LineDelay, Route};
use cwnd_scenario::{Counting, LinkSpec, Network, NodeId, Problem, QueueLimit, QueueSpec, Time};
use std::ops::Range;

/// Routers in a row. Every flow has two hosts and four links of its own: `access-1`, `access-1-reverse`, `exit-1` and
/// `exit-1-reverse`, numbered from 1.
pub(super) struct Row<'a> {
    /// Names of the routers, at least two.
    pub routers: Vec<String>,
    /// Names of the lines between them.
    pub lines: Vec<String>,
    /// What each of the lines is.
    pub line: &'a Bottleneck,
    /// The lines of the hosts.
    pub access: &'a Access,
    /// The flows, and which lines each crosses.
    pub flows: Vec<(&'a Endpoints, Range<usize>)>,
    pub counting: Counting,
    pub full_packet: u32,
}

/// Links of a flow, in the network's order.
const OWN_LINKS: usize = 4;

impl Row<'_> {
    /// Make the network; its bottleneck is the first line.
    pub fn build(self) -> Result<Built, Vec<Problem>> {
        let lines = self.line_delays().map_err(|problem| vec![problem])?;
        let own = self.own_delays(&lines)?;
        let base_rtt = |((_, crossed), own): (&(&Endpoints, Range<usize>), &[Time; OWN_LINKS])| {
            own.iter().fold(round_trip(&lines[crossed.clone()]), |sum, delay| sum.saturating_add(delay.0))
        };
        let base_rtts = self.flows.iter().zip(&own).map(base_rtt);
        let endpoints: Vec<Endpoints> = self.flows.iter().map(|(flow, _)| (*flow).clone()).collect();
        let context = BufferContext {
            rate: self.line.rate,
            base_rtt: Time(base_rtts.max().unwrap_or(round_trip(&lines))),
            full_packet: self.full_packet,
            flows: forward_flows(&endpoints),
        };
        let mut problems = Vec::new();
        let limit = problem("access_buffer", self.access.buffer.resolve(&context), &mut problems);
        let mut links = Vec::with_capacity(2 * self.lines.len() + OWN_LINKS * self.flows.len());
        for (index, (name, delays)) in self.lines.iter().zip(&lines).enumerate() {
            match self.line.links(name, (index, index + 1), *delays, &context, self.counting) {
                Ok(both) => links.extend(both),
                Err(found) => {
                    problems.extend(found);
                    break;
                }
            }
        }
        let Some(limit) = limit.filter(|_| problems.is_empty()) else { return Err(problems) };
        let shared = links.len();
        let mut nodes = self.routers.clone();
        let mut routes = Vec::with_capacity(self.flows.len());
        for (index, ((flow, crossed), delays)) in self.flows.iter().zip(&own).enumerate() {
            nodes.push(format!("sender-{}", index + 1));
            nodes.push(format!("receiver-{}", index + 1));
            let ends = if flow.reverse { (crossed.end, crossed.start) } else { (crossed.start, crossed.end) };
            links.extend(self.own_links(index + 1, ends, nodes.len() - 2, *delays, limit));
            routes.push(route(shared + OWN_LINKS * index, crossed.clone(), flow.reverse));
        }
        Ok(Built {
            network: Network { nodes, links, bottleneck: 0 },
            routes,
            base_rtt: context.base_rtt,
            bdp_packets: context.bdp_packets(),
        })
    }

    /// Delays of each line, forth and back.
    fn line_delays(&self) -> Result<Vec<(Time, Time)>, Problem> {
        let rtt = match self.line.delay {
            LineDelay::OneWay(delay) => return Ok(vec![(delay, delay); self.lines.len()]),
            LineDelay::BaseRtt(rtt) => rtt,
        };
        let access = self.access.delay.0.saturating_mul(OWN_LINKS as u64);
        let left = rtt.0.checked_sub(access).ok_or_else(|| Problem {
            place: "rtt".to_owned(),
            message: format!(
                "a base round trip of {rtt} is shorter than the access links alone, 4 x {} = {}: make it longer, or \
                 the access delay shorter",
                self.access.delay,
                Time(access)
            ),
        })?;
        // Odd nanoseconds go to the first ones.
        let parts = 2 * self.lines.len() as u64;
        let part = |index: u64| Time(left / parts + u64::from(index < left % parts));
        Ok((0..parts / 2).map(|line| (part(2 * line), part(2 * line + 1))).collect())
    }

    /// Delays of every flow's own links, in their order.
    fn own_delays(&self, lines: &[(Time, Time)]) -> Result<Vec<[Time; OWN_LINKS]>, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut delays = Vec::with_capacity(self.flows.len());
        for (index, (flow, crossed)) in self.flows.iter().enumerate() {
            let line = round_trip(&lines[crossed.clone()]);
            match flow.rtt.map(|rtt| (rtt, rtt.0.checked_sub(line))) {
                None => delays.push([self.access.delay; OWN_LINKS]),
                Some((_, Some(left))) => delays.push(quarters(left)),
                Some((rtt, None)) => problems.push(Problem {
                    place: format!("flows[{index}].rtt"),
                    message: format!(
                        "a base round trip of {rtt} is shorter than the bottleneck's own, {}: make it longer, or the \
                         bottleneck's delay shorter",
                        Time(line)
                    ),
                }),
            }
        }
        if problems.is_empty() { Ok(delays) } else { Err(problems) }
    }

    /// The flow's own links; its sender is node `sender` and its receiver the next.
    fn own_links(
        &self,
        number: usize,
        (near, far): (NodeId, NodeId),
        sender: NodeId,
        delays: [Time; OWN_LINKS],
        limit: QueueLimit,
    ) -> [LinkSpec; OWN_LINKS] {
        let receiver = sender + 1;
        let link =
            |name: String, from, to, delay| self.access.link(name, (from, to), delay, limit, self.counting);
        [
            link(format!("access-{number}"), sender, near, delays[0]),
            link(format!("access-{number}-reverse"), near, sender, delays[1]),
            link(format!("exit-{number}"), far, receiver, delays[2]),
            link(format!("exit-{number}-reverse"), receiver, far, delays[3]),
        ]
    }
}

impl Access {
    /// One of them, with its delay and a queue of this limit.
    pub(super) fn link(
        &self,
        name: String,
        (from, to): (NodeId, NodeId),
        delay: Time,
        limit: QueueLimit,
        counting: Counting,
    ) -> LinkSpec {
        let queue = QueueSpec { discipline: self.queue, ..QueueSpec::drop_tail(limit, counting) };
        LinkSpec { queue, ..LinkSpec::new(name, from, to, self.rate, delay) }
    }
}

fn round_trip(lines: &[(Time, Time)]) -> u64 {
    lines.iter().fold(0u64, |sum, (forth, back)| sum.saturating_add(forth.0).saturating_add(back.0))
}

/// Four quarters; odd nanoseconds go to the first of `access`, `exit` and `access-reverse`.
fn quarters(total: u64) -> [Time; OWN_LINKS] {
    let (quarter, rest) = (total / 4, total % 4);
    [
        Time(quarter + u64::from(rest > 0)),
        Time(quarter + u64::from(rest > 2)),
        Time(quarter + u64::from(rest > 1)),
        Time(quarter),
    ]
}

/// The route of a flow whose own links begin at `first`; line i is link 2 i forth and 2 i + 1 back.
fn route(first: usize, crossed: Range<usize>, reverse: bool) -> Route {
    let forth = crossed.clone().map(|line| 2 * line);
    let back = crossed.rev().map(|line| 2 * line + 1);
    let (there, here): (Vec<usize>, Vec<usize>) = match reverse {
        true => (back.collect(), forth.collect()),
        false => (forth.collect(), back.collect()),
    };
    let around = |from: usize, between: Vec<usize>, to: usize| [&[from], &between[..], &[to]].concat();
    Route { data: around(first, there, first + 2), acks: around(first + 3, here, first + 1) }
}
