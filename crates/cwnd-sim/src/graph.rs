//! Builds the stages of a scenario: which stage runs each link, the rings between stages, and what each stage waits for.

mod lists;

use crate::host::{Host, Inlet};
use crate::link::{NOWHERE, NextRing};
use crate::net::{Egress, Net, Owner};
use crate::ring::Ring;
use crate::short_list::ShortList;
use crate::watch::{End, Point, Tap};
use cwnd_scenario::{LinkId, NodeId, Scenario};
use lists::Lists;
use std::collections::BTreeMap;

/// Inputs of a link, in the order in which simultaneous arrivals are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feeder {
    /// The endpoints of a host.
    Host(NodeId),
    /// Another link.
    Link(LinkId),
}

/// Who runs a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// No stage: no flow crosses the link.
    NoOne,
    /// The host whose output link it is; nothing else feeds it.
    Output(NodeId),
    /// The host at which it ends: one link feeds it, and all its packets end there.
    Inlet(NodeId),
    /// The link itself: a stage that merges its inputs.
    Itself,
}

/// Returns the route of each channel of a scenario.
fn channels(scenario: &Scenario) -> Vec<&[LinkId]> {
    scenario.flows.iter().flat_map(|flow| [&flow.route[..], &flow.ack_route[..]]).collect()
}

/// Returns the feeders of each link, in order.
fn feeders(scenario: &Scenario) -> Lists<Feeder> {
    let links = &scenario.network.links;
    let mut entries = Vec::with_capacity(6 * scenario.flows.len());
    for route in channels(scenario) {
        entries.push((route[0], Feeder::Host(links[route[0]].from)));
        entries.extend(route.windows(2).map(|pair| (pair[1], Feeder::Link(pair[0]))));
    }
    let mut feeders = Lists::new(links.len(), &entries);
    feeders.sort_and_dedup();
    feeders
}

/// A scenario's stages, by the numbers of their hosts and links.
#[derive(Debug)]
pub struct Graph {
    /// The stage that runs each link.
    pub runners: Vec<Runner>,
    /// The feeders of each link, in the order in which simultaneous arrivals are handled.
    pub feeders: Lists<Feeder>,
    /// The nodes at which flows end, in order. Each is a stage.
    pub hosts: Vec<NodeId>,
    /// The stage of each node at which flows end; [`NO_STAGE`] of any other.
    stage_of_node: Vec<u32>,
    /// The links that are stages, in order.
    pub links: Vec<LinkId>,
    /// The inlets of each host of `hosts`.
    pub inlets: Vec<ShortList<Inlet>>,
    /// The input rings of each link of `links`, in the order of their feeders.
    pub inputs: Vec<Vec<u32>>,
    /// A tap for each observed point.
    pub taps: Vec<Tap>,
    /// The stages that each stage waits for: hosts, then links, then taps.
    pub waits: Lists<Wait>,
    /// The same in one piece of memory, through which every round reads.
    pub packed_waits: PackedWaits,
}

/// The stages that each stage waits for, and the latencies. Hosts that wait for the same links with the same latencies advance
/// together: they are a group, whose frontier is that of its first host.
#[derive(Clone, Debug, Default)]
pub struct PackedWaits {
    waits: Vec<(u32, u64)>,
    /// Where those of each stage end.
    ends: Vec<u32>,
    /// For each host in a group of several the group's first host, for any other stage [`ALONE`].
    group: Vec<u32>,
    /// The stages that have a frontier of their own, in order.
    leaders: Vec<u32>,
    /// Those of them that lead a group of several hosts.
    groups: Vec<u32>,
    /// Whether every host is in one of these groups.
    all_grouped: bool,
}

/// The group of a stage that is in none.
const ALONE: u32 = u32::MAX;

/// The stage of a node at which no flow ends.
const NO_STAGE: u32 = u32::MAX;

impl PackedWaits {
    fn new(waits: &Lists<Wait>, hosts: usize) -> PackedWaits {
        let stages = waits.len();
        let mut packed = PackedWaits { group: vec![ALONE; stages], ..PackedWaits::default() };
        let all: Vec<(u32, u64)> =
            waits.items().iter().map(|wait| (wait.stage as u32, wait.latency)).collect();
        let mut first_with: BTreeMap<&[(u32, u64)], usize> = BTreeMap::new();
        for host in 0..hosts {
            let waits = &all[waits.range(host)];
            if waits.iter().all(|&(stage, _)| stage as usize >= hosts) {
                let first = *first_with.entry(waits).or_insert(host);
                if first != host {
                    (packed.group[first], packed.group[host]) = (first as u32, first as u32);
                }
            }
        }
        let own = |stage: &usize| packed.leader(*stage) == *stage;
        let leaders: Vec<u32> = (0..stages).filter(own).map(|stage| stage as u32).collect();
        packed.groups =
            leaders.iter().copied().filter(|&stage| packed.group[stage as usize] == stage).collect();
        packed.leaders = leaders;
        packed.all_grouped = packed.group[..hosts].iter().all(|&leader| leader != ALONE);
        let mut least: Vec<(u32, u64)> = Vec::new();
        for stage in 0..stages {
            // Of the hosts of a group the nearest counts.
            let waits = all[waits.range(stage)].iter();
            least.clear();
            least.extend(waits.map(|&(stage, latency)| (packed.leader(stage as usize) as u32, latency)));
            least.sort_unstable();
            least.dedup_by_key(|&mut (leader, _)| leader);
            packed.waits.extend(&least);
            packed.ends.push(packed.waits.len() as u32);
        }
        packed
    }

    /// Returns the stage whose frontier a stage has.
    #[inline(always)]
    pub fn leader(&self, stage: usize) -> usize {
        self.group_of(stage).unwrap_or(stage)
    }

    /// Returns the leader of the group of several hosts that a stage is in.
    #[inline(always)]
    pub fn group_of(&self, stage: usize) -> Option<usize> {
        let leader = self.group[stage];
        (leader != ALONE).then_some(leader as usize)
    }

    /// Returns the stages that have a frontier of their own, in order.
    pub fn leaders(&self) -> &[u32] {
        &self.leaders
    }

    /// Returns whether every host is in a group.
    pub fn all_grouped(&self) -> bool {
        self.all_grouped
    }

    /// Returns the leaders of several hosts.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Returns the stages that a stage waits for, and the latencies.
    #[inline]
    pub fn of(&self, stage: usize) -> &[(u32, u64)] {
        let begin = if stage == 0 { 0 } else { self.ends[stage - 1] };
        &self.waits[begin as usize..self.ends[stage] as usize]
    }

    /// Returns the number of stages.
    pub fn stages(&self) -> usize {
        self.ends.len()
    }
}

/// Another stage that a stage waits for.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The other stage.
    pub stage: usize,
    /// The links between: the last that the other stage runs, and the first that this stage runs.
    via: [Option<LinkId>; 2],
    /// Shortest time from an event at the other stage to its effect here, ns.
    pub latency: u64,
}

impl Graph {
    /// Returns the stage of a host, which is also its index into `hosts`.
    pub fn host_stage(&self, node: NodeId) -> usize {
        let stage = self.stage_of_node[node];
        assert!(stage != NO_STAGE, "no flow ends at node {node}");
        stage as usize
    }

    /// Returns for each of `rings` rings what it leads to: a host, as an index into `hosts`, a tap (the number of hosts), or,
    /// from there on, each input of a link. A host with one inlet is woken by one stage only, and so is each input of a link.
    pub fn owners(&self, rings: usize, hosts: &[Host]) -> Vec<Owner> {
        let mut owners = vec![Owner { wake: hosts.len() as u32, shares: true }; rings];
        for (i, host) in hosts.iter().enumerate() {
            let owner = Owner { wake: i as u32, shares: host.inlets.len() > 1 };
            for inlet in host.inlets.iter() {
                owners[inlet.ring as usize] = owner;
                if let Some((_, after)) = inlet.link {
                    owners[after as usize] = owner;
                }
            }
        }
        for (i, &ring) in self.inputs.iter().flatten().enumerate() {
            owners[ring as usize] = Owner { wake: (hosts.len() + 1 + i) as u32, shares: false };
        }
        owners
    }

    /// Computes the latencies from the current state of the links.
    pub fn refresh(&mut self, net: &Net, smallest_packet: u32) {
        for wait in self.waits.items_mut() {
            let links = wait.via.iter().flatten();
            wait.latency = links.map(|&link| net.links[link].least_latency(smallest_packet)).sum();
        }
        self.packed_waits = PackedWaits::new(&self.waits, self.hosts.len());
    }

    /// Returns the tap at an end of a link, if that end is observed.
    fn tap(&self, points: &[Point], link: LinkId, end: End) -> Option<usize> {
        points.iter().position(|point| *point == Point { link, end })
    }

    /// Returns the stage of a tap.
    pub fn tap_stage(&self, tap: usize) -> usize {
        self.hosts.len() + self.links.len() + tap
    }

    /// Returns the stage that emits the packets of a link, and the link if its latency comes after that stage's frontier.
    fn source(&self, link: LinkId, points: &[Point]) -> (usize, Option<LinkId>) {
        match self.tap(points, link, End::Leave) {
            Some(tap) => (self.tap_stage(tap), None),
            None => (self.stage_of(link), Some(link)),
        }
    }

    /// Returns the stage that runs a link.
    pub fn stage_of(&self, link: LinkId) -> usize {
        match self.runners[link] {
            Runner::Output(node) | Runner::Inlet(node) => self.host_stage(node),
            Runner::Itself => {
                self.hosts.len() + self.links.binary_search(&link).expect("it is a stage of its own")
            }
            Runner::NoOne => unreachable!("no packet comes to link {link}"),
        }
    }
}

/// Builds the stages, and adds rings and routes to `net`, whose links exist already. `points` are observed.
pub fn build(scenario: &Scenario, net: &mut Net, smallest_packet: u32, points: &[Point]) -> Graph {
    let network = &scenario.network;
    let channels = channels(scenario);
    let feeders = feeders(scenario);
    // Whether a flow ends at each node, is handed to its host by each link, and continues from each link.
    let mut ends_at = vec![false; network.nodes.len()];
    let (mut is_last, mut goes_on) = (vec![false; network.links.len()], vec![false; network.links.len()]);
    for route in &channels {
        let (last, before) = route.split_last().expect("a route has a link");
        ends_at[network.links[route[0]].from] = true;
        ends_at[network.links[*last].to] = true;
        is_last[*last] = true;
        before.iter().for_each(|&link| goes_on[link] = true);
    }
    let runners: Vec<Runner> = (0..network.links.len())
        .map(|link| match feeders.of(link) {
            [] => Runner::NoOne,
            // A link that keeps its queue and an observed link are stages of their own.
            _ if net.links[link].queued().is_some() => Runner::Itself,
            _ if points.iter().any(|point| point.link == link) => Runner::Itself,
            [Feeder::Host(node)] => Runner::Output(*node),
            [_] if !goes_on[link] => Runner::Inlet(network.links[link].to),
            _ => Runner::Itself,
        })
        .collect();
    let links = (0..runners.len()).filter(|&link| runners[link] == Runner::Itself).collect::<Vec<_>>();
    let hosts: Vec<NodeId> = (0..ends_at.len()).filter(|&node| ends_at[node]).collect();
    let mut stage_of_node = vec![NO_STAGE; ends_at.len()];
    hosts.iter().zip(0..).for_each(|(&node, stage)| stage_of_node[node] = stage);
    let mut graph = Graph {
        inlets: vec![ShortList::None; hosts.len()],
        inputs: Vec::new(),
        taps: points.iter().map(|point| Tap::new(point.end)).collect(),
        waits: Lists::default(),
        packed_waits: PackedWaits::default(),
        runners,
        feeders,
        hosts,
        stage_of_node,
        links,
    };

    // One ring from each feeder into a link, and one from each last link into its host.
    let (mut first_ring, mut ring_after) =
        (vec![NOWHERE; network.links.len()], vec![NOWHERE; network.links.len()]);
    let new_ring = |net: &mut Net, line: Option<LinkId>| {
        net.rings.push(Ring::default());
        net.line_of.push(line.map(|link| link as u32));
        (net.rings.len() - 1) as u32
    };
    let mut waits = Vec::with_capacity(2 * graph.hosts.len());
    let wait = |stage, via| Wait { stage, via, latency: 0 };
    for link in 0..network.links.len() {
        match graph.runners[link] {
            Runner::NoOne => {}
            Runner::Output(_) => {}
            Runner::Inlet(node) => {
                let &[Feeder::Link(from)] = graph.feeders.of(link) else {
                    unreachable!("an inlet is fed by a link")
                };
                let ring = new_ring(net, Some(from));
                let after = new_ring(net, Some(link));
                (first_ring[link], ring_after[link]) = (ring, after);
                let host = graph.host_stage(node);
                graph.inlets[host].push(Inlet { ring, link: Some((link as u32, after)) });
                let (stage, via) = graph.source(from, points);
                waits.push((host, wait(stage, [via, Some(link)])));
            }
            Runner::Itself => {
                let mut inputs = Vec::new();
                let own = graph.stage_of(link);
                let entrance = graph.tap(points, link, End::Enter);
                let stage = entrance.map_or(own, |tap| graph.tap_stage(tap));
                first_ring[link] = net.rings.len() as u32;
                for &feeder in graph.feeders.of(link) {
                    let (line, wait) = match feeder {
                        Feeder::Host(node) => (None, wait(graph.host_stage(node), [None; 2])),
                        Feeder::Link(from) => {
                            let (stage, via) = graph.source(from, points);
                            (Some(from), wait(stage, [via, None]))
                        }
                    };
                    inputs.push(new_ring(net, line));
                    waits.push((stage, wait));
                }
                if let Some(tap) = entrance {
                    let between = new_ring(net, None);
                    graph.taps[tap] = Tap { inputs, next: NextRing::One(between), end: End::Enter };
                    inputs = vec![between];
                    waits.push((own, wait(stage, [None; 2])));
                }
                graph.inputs.push(inputs);
                if let Some(tap) = graph.tap(points, link, End::Leave) {
                    let ring = new_ring(net, Some(link));
                    graph.taps[tap].inputs.push(ring);
                    waits.push((graph.tap_stage(tap), wait(own, [Some(link), None])));
                }
            }
        }
        // Where a link that is not an inlet's ends in a host, the host has an inlet without a link.
        if is_last[link] && !matches!(graph.runners[link], Runner::Inlet(_)) {
            let ring = new_ring(net, Some(link));
            ring_after[link] = ring;
            let host = graph.host_stage(network.links[link].to);
            graph.inlets[host].push(Inlet { ring, link: None });
            let (stage, via) = graph.source(link, points);
            waits.push((host, wait(stage, [via, None])));
        }
    }
    graph.waits = Lists::new(graph.hosts.len() + graph.links.len() + points.len(), &waits);

    // The rings into a link lie one behind the other, in the order of their feeders.
    let ring_into = |feeder: Feeder, link: LinkId| {
        let place = graph.feeders.of(link).binary_search(&feeder).expect("a link knows its feeders");
        first_ring[link] + place as u32
    };
    let mut hops = Vec::with_capacity(6 * scenario.flows.len());
    for (channel, route) in channels.iter().enumerate() {
        let first = route[0];
        net.egress.push(match graph.runners[first] {
            Runner::Output(_) => Egress::Link(first as u32),
            _ => Egress::Ring(ring_into(Feeder::Host(network.links[first].from), first)),
        });
        for (i, &link) in route.iter().enumerate() {
            let ring = route.get(i + 1).map_or(ring_after[link], |&next| ring_into(Feeder::Link(link), next));
            hops.push((link, (channel, ring)));
        }
    }
    let next = Lists::new(network.links.len(), &hops);
    for link in 0..network.links.len() {
        let ways = next.of(link);
        let first = ways.first().map_or(NOWHERE, |&(_, ring)| ring);
        let next = if ways.iter().all(|&(_, ring)| ring == first) {
            NextRing::One(first)
        } else {
            let mut rings = vec![NOWHERE; channels.len()];
            ways.iter().for_each(|&(channel, ring)| rings[channel] = ring);
            NextRing::ByChannel(rings.into())
        };
        match graph.tap(points, link, End::Leave).map(|tap| &mut graph.taps[tap]) {
            Some(tap) if first != NOWHERE => {
                net.links[link].set_next(NextRing::One(tap.inputs[0]));
                tap.next = next;
            }
            _ => net.links[link].set_next(next),
        }
    }
    graph.refresh(net, smallest_packet);
    graph
}

/// Returns a cycle of stages whose least latencies add up to zero, as stage numbers, if there is one. Such stages would wait
/// for each other forever.
pub fn instant_cycle(waits: &Lists<Wait>) -> Option<Vec<usize>> {
    // A depth-first search over the waits with zero latency.
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        OnPath,
        Done,
    }
    let mut mark = vec![Mark::New; waits.len()];
    for start in 0..waits.len() {
        if mark[start] != Mark::New {
            continue;
        }
        mark[start] = Mark::OnPath;
        let mut path = vec![(start, 0)];
        while let Some((stage, i)) = path.last_mut() {
            let Some(wait) = waits.of(*stage).get(*i) else {
                mark[*stage] = Mark::Done;
                path.pop();
                continue;
            };
            *i += 1;
            if wait.latency > 0 || mark[wait.stage] == Mark::Done {
                continue;
            }
            if mark[wait.stage] == Mark::OnPath {
                let from = path.iter().position(|&(stage, _)| stage == wait.stage).unwrap_or(0);
                return Some(path[from..].iter().map(|&(stage, _)| stage).collect());
            }
            mark[wait.stage] = Mark::OnPath;
            path.push((wait.stage, 0));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(list: &[&[(usize, u64)]]) -> Lists<Wait> {
        let wait = |&(stage, latency): &(usize, u64)| Wait { stage, via: [None; 2], latency };
        let lists = list.iter().enumerate();
        let entries: Vec<_> =
            lists.flat_map(|(i, waits)| waits.iter().map(move |of| (i, wait(of)))).collect();
        Lists::new(list.len(), &entries)
    }

    #[test]
    fn hosts_with_equal_waits_have_one_frontier() {
        // Five hosts; stages 5 and 6 are links. Host 3 waits for a host, and host 4 longer than 0 and 2.
        let waits = waits(&[
            &[(5, 10)],
            &[(6, 10)],
            &[(5, 10)],
            &[(5, 10), (0, 1)],
            &[(5, 20)],
            &[(0, 7), (1, 5), (2, 3), (4, 4)],
            &[(3, 1)],
        ]);
        let packed = PackedWaits::new(&waits, 5);
        assert_eq!((0..7).map(|stage| packed.leader(stage)).collect::<Vec<_>>(), [0, 1, 0, 3, 4, 5, 6]);
        assert_eq!(packed.leaders(), [0, 1, 3, 4, 5, 6]);
        assert_eq!(packed.groups(), [0]);
        assert_eq!(packed.of(5), [(0, 3), (1, 5), (4, 4)]);
        assert_eq!(packed.of(2), packed.of(0));
    }

    #[test]
    fn finds_a_cycle_without_latency() {
        assert_eq!(instant_cycle(&waits(&[&[(1, 0)], &[(2, 0)], &[(0, 5)]])), None);
        assert_eq!(instant_cycle(&waits(&[&[(1, 0)], &[(2, 0)], &[(1, 0), (0, 5)]])), Some(vec![1, 2]));
        assert_eq!(instant_cycle(&waits(&[&[(0, 0)]])), Some(vec![0]));
    }
}
