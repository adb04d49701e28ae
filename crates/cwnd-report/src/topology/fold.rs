//! What of a network is drawn: boxes for nodes, wires for links, courses for flows.

use cwnd_scenario::{LinkId, LinkSpec, NodeId, Scenario};
use std::collections::{BTreeMap, BTreeSet};

/// A network with equal hosts put together.
pub struct Folded {
    /// Nodes, or several equal hosts.
    pub boxes: Vec<NodeBox>,
    /// Links between boxes, with the links back.
    pub wires: Vec<Wire>,
    /// The ways that flows take.
    pub courses: Vec<Course>,
    /// The wire of the bottleneck.
    pub bottleneck: Option<usize>,
}

/// One node, or several equal ones.
pub struct NodeBox {
    /// What is written in it.
    pub label: String,
    /// Whether it is connected to one other node only.
    pub host: bool,
    /// Whether forward flows begin here.
    pub sends: bool,
}

/// Links between two boxes.
pub struct Wire {
    /// The boxes that they join.
    pub ends: (usize, usize),
    /// Links from the first to the second.
    pub forth: Vec<LinkId>,
    /// Links back.
    pub back: Vec<LinkId>,
}

/// The way of some flows of one algorithm.
#[derive(Clone, PartialEq)]
pub struct Course {
    /// Their algorithm.
    pub algorithm: String,
    /// How many they are.
    pub flows: usize,
    /// Whether they run against the others.
    pub reverse: bool,
    /// Whether they come and go.
    pub short: bool,
    /// The boxes that data passes, and the wires between them.
    pub data: Direction,
    /// The same of ACKs.
    pub acks: Direction,
}

/// Boxes one after the other, and the wires between them: one less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Direction {
    pub boxes: Vec<usize>,
    pub wires: Vec<usize>,
}

impl Course {
    /// Whether ACKs come back the way of the data.
    pub fn returns(&self) -> bool {
        self.acks.boxes.iter().rev().eq(&self.data.boxes) && self.acks.wires.iter().rev().eq(&self.data.wires)
    }
}

/// With more boxes than this, hosts are put together even if their links or algorithms differ.
const MANY: usize = 30;
/// So many equal hosts are put together.
const LEAST: usize = 3;

/// Put equal hosts together.
pub fn fold(scenario: &Scenario) -> Folded {
    let exact = groups(scenario, true);
    let count = exact.iter().max().map_or(0, |last| last + 1);
    let of_node = if count > MANY { groups(scenario, false) } else { exact };
    let boxes = boxes(scenario, &of_node);
    let wires = wires(scenario, &of_node);
    let bottleneck = wires.iter().position(|wire| {
        let bottleneck = scenario.network.bottleneck;
        wire.forth.contains(&bottleneck) || wire.back.contains(&bottleneck)
    });
    Folded { courses: courses(scenario, &of_node, &wires), boxes, wires, bottleneck }
}

/// For each node the number of its box.
fn groups(scenario: &Scenario, exact: bool) -> Vec<usize> {
    let network = &scenario.network;
    let mut alike: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
    let roles = roles(scenario);
    for (node, role) in roles.iter().enumerate() {
        let mut neighbours = BTreeSet::new();
        let mut links = Vec::new();
        for link in network.links.iter().filter(|link| link.from == node || link.to == node) {
            let out = link.from == node;
            neighbours.insert(if out { link.to } else { link.from });
            links.push(if exact { format!("{out} {}", traits(link)) } else { out.to_string() });
        }
        if neighbours.len() == 1 && !role.is_empty() {
            let role: BTreeSet<String> = role
                .iter()
                .map(|(what, algorithm)| format!("{what} {}", if exact { algorithm } else { "" }))
                .collect();
            alike.entry(format!("{neighbours:?} {links:?} {role:?}")).or_default().push(node);
        }
    }
    let mut of_node = vec![usize::MAX; network.nodes.len()];
    let mut next = 0;
    let folded: BTreeMap<NodeId, &Vec<NodeId>> =
        alike.values().filter(|nodes| nodes.len() >= LEAST).map(|nodes| (nodes[0], nodes)).collect();
    let inner: BTreeSet<NodeId> = folded.values().flat_map(|nodes| nodes[1..].iter().copied()).collect();
    for node in 0..network.nodes.len() {
        if inner.contains(&node) {
            continue;
        }
        match folded.get(&node) {
            Some(nodes) => nodes.iter().for_each(|node| of_node[*node] = next),
            None => of_node[node] = next,
        }
        next += 1;
    }
    of_node
}

/// For each node what flows do there: begin or end, forward or in reverse, and of which algorithm.
fn roles(scenario: &Scenario) -> Vec<BTreeSet<(&'static str, String)>> {
    let links = &scenario.network.links;
    let mut roles = vec![BTreeSet::new(); scenario.network.nodes.len()];
    for flow in &scenario.flows {
        let (Some(first), Some(last)) = (flow.route.first(), flow.route.last()) else { continue };
        let [begins, ends] = if flow.reverse { ["begins back", "ends back"] } else { ["begins", "ends"] };
        roles[links[*first].from].insert((begins, flow.algorithm.to_string()));
        roles[links[*last].to].insert((ends, flow.algorithm.to_string()));
    }
    roles
}

/// What a link does, whatever its name and ends.
fn traits(link: &LinkSpec) -> String {
    let link = LinkSpec { name: String::new(), from: 0, to: 0, ..link.clone() };
    serde_json::to_string(&link).expect("it has no maps and is written as it is")
}

fn boxes(scenario: &Scenario, of_node: &[usize]) -> Vec<NodeBox> {
    let network = &scenario.network;
    let count = of_node.iter().max().map_or(0, |last| last + 1);
    let mut names: Vec<Vec<&str>> = vec![Vec::new(); count];
    let mut neighbours = vec![BTreeSet::new(); count];
    for (node, name) in network.nodes.iter().enumerate() {
        names[of_node[node]].push(name);
    }
    for link in &network.links {
        neighbours[of_node[link.from]].insert(link.to);
        neighbours[of_node[link.to]].insert(link.from);
    }
    let mut sends = vec![false; count];
    for flow in scenario.flows.iter().filter(|flow| !flow.reverse) {
        if let Some(first) = flow.route.first() {
            sends[of_node[network.links[*first].from]] = true;
        }
    }
    let all = names.iter().zip(&neighbours).zip(sends);
    all.map(|((names, neighbours), sends)| NodeBox {
        label: together(names),
        host: neighbours.len() == 1,
        sends,
    })
    .collect()
}

/// `sender-1 … 20`.
fn together(names: &[&str]) -> String {
    let [first, .., last] = names else {
        return names.first().map_or(String::new(), |name| (*name).to_owned());
    };
    let parts = |name: &str| {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (stem, number) = name.split_at(name.len() - digits);
        Some((stem.to_owned(), number.parse::<usize>().ok()?))
    };
    let range = parts(first).zip(parts(last));
    match range.filter(|((a, from), (b, to))| a == b && to - from + 1 == names.len()) {
        Some(((stem, from), (_, to))) => format!("{stem}{from} … {to}"),
        None => format!("{} hosts: {first} …", names.len()),
    }
}

fn wires(scenario: &Scenario, of_node: &[usize]) -> Vec<Wire> {
    let links = &scenario.network.links;
    // Which link leads back, of those that are not another's way back yet.
    let mut back_of: Vec<Option<LinkId>> = vec![None; links.len()];
    let mut taken = vec![false; links.len()];
    for (index, link) in links.iter().enumerate() {
        if taken[index] {
            continue;
        }
        taken[index] = true;
        let back = links
            .iter()
            .enumerate()
            .position(|(other, spec)| !taken[other] && spec.from == link.to && spec.to == link.from);
        if let Some(back) = back {
            taken[back] = true;
            back_of[index] = Some(back);
            back_of[back] = Some(usize::MAX);
        }
    }
    let mut wires: Vec<Wire> = Vec::new();
    let mut of_single: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let members = |index: usize| of_node.iter().filter(|group| **group == index).count();
    for (index, link) in links.iter().enumerate().filter(|(index, _)| back_of[*index] != Some(usize::MAX)) {
        let ends = (of_node[link.from], of_node[link.to]);
        let back = back_of[index].into_iter();
        // Links of hosts that are drawn as one are one wire.
        let folded = members(ends.0) > 1 || members(ends.1) > 1;
        let known = of_single.get(&ends).copied().filter(|_| folded);
        match known {
            Some(wire) => {
                wires[wire].forth.push(index);
                wires[wire].back.extend(back);
            }
            None => {
                of_single.insert(ends, wires.len());
                wires.push(Wire { ends, forth: vec![index], back: back.collect() });
            }
        }
    }
    wires
}

fn courses(scenario: &Scenario, of_node: &[usize], wires: &[Wire]) -> Vec<Course> {
    let links = &scenario.network.links;
    let mut of_link = vec![0; links.len()];
    for (index, wire) in wires.iter().enumerate() {
        wire.forth.iter().chain(&wire.back).for_each(|link| of_link[*link] = index);
    }
    let along = |route: &[LinkId]| {
        let first = route.first().map(|link| of_node[links[*link].from]);
        Direction {
            boxes: first.into_iter().chain(route.iter().map(|link| of_node[links[*link].to])).collect(),
            wires: route.iter().map(|link| of_link[*link]).collect(),
        }
    };
    let mut courses: Vec<Course> = Vec::new();
    for flow in &scenario.flows {
        let (data, acks) = (along(&flow.route), along(&flow.ack_route));
        let algorithm = flow.algorithm.to_string();
        let course = Course { algorithm, flows: 1, reverse: flow.reverse, short: flow.short, data, acks };
        let alike = |known: &&mut Course| Course { flows: 1, ..(**known).clone() } == course;
        match courses.iter_mut().find(alike) {
            Some(known) => known.flows += 1,
            None => courses.push(course),
        }
    }
    courses
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_scenario::{DeliveryTrace, Rate, Schedule, Time};

    #[test]
    fn links_of_other_traces_are_other_links() {
        let link = |name: &str, times: [u32; 2]| {
            let trace = DeliveryTrace { name: "a.trace".to_owned(), times_ms: times.into() };
            let link = LinkSpec::new(name, 1, 2, Rate(1), Time(1));
            traits(&LinkSpec { schedule: Some(Schedule::Trace(trace)), ..link })
        };
        assert_eq!(link("x", [2, 5]), link("y", [2, 5]));
        assert_ne!(link("x", [2, 5]), link("x", [3, 5]));
    }
}
