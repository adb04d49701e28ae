//! Any network: nodes, links, and paths along which flows run.

use crate::line::{Direction, forward_flows};
use crate::{
    Access, Bottleneck, Buffer, BufferContext, Built, EcnThreshold, Endpoints, LineDelay, LineOptions, Place,
    Route,
};
use cwnd_scenario::notation::{nearest, quoted_hint};
use cwnd_scenario::{Counting, LinkId, LinkSpec, Network, NodeId, Problem, Rate, Time};

/// A drawn network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// The lines between them.
    pub links: Vec<GraphLink>,
    /// The line that is the bottleneck, by its index: metrics speak of it, and what it leaves out settings say.
    pub bottleneck: usize,
    /// Where flows run, from node to node by the shortest way between each two; flow i takes path i, and after the
    /// last it begins again.
    pub paths: Vec<Vec<NodeId>>,
}

/// A line of a [`Graph`]. What the bottleneck leaves out is as the settings say, what others leave out is as the access
/// links have it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphLink {
    /// Unique name; the way back is called `NAME-reverse`.
    pub name: String,
    /// One end.
    pub from: NodeId,
    /// The other.
    pub to: NodeId,
    /// It leads from `from` to `to` alone.
    pub one_way: bool,
    /// Rate of each direction.
    pub rate: Option<Rate>,
    /// Delay of each direction.
    pub delay: Option<Time>,
    /// What the queue before each direction holds; a bandwidth-delay product is that of this line: its rate, and the
    /// largest base round trip of the flows that cross it.
    pub buffer: Option<Buffer>,
    /// Over which queue length each direction marks.
    pub ecn_threshold: Option<EcnThreshold>,
    /// What else happens from `from` to `to`.
    pub forward: LineOptions,
    /// What else happens on the way back.
    pub reverse: LineOptions,
}

/// A graph with all that its links have.
pub(crate) struct Drawn<'a> {
    pub graph: &'a Graph,
    /// What the bottleneck leaves out.
    pub bottleneck: Bottleneck,
    /// What other links leave out.
    pub access: Access,
    pub flows: Vec<Endpoints>,
    pub counting: Counting,
    pub full_packet: u32,
}

/// One direction of a line.
#[derive(Clone, Copy)]
struct LineDirection {
    line: usize,
    back: bool,
    from: NodeId,
    to: NodeId,
    delay: Time,
}

impl Drawn<'_> {
    /// Make the network: for each line its link and, unless it is one-way, the link back.
    ///
    /// # Errors
    /// By place: settings, `flows[1].path`, `network.links[0].buffer`, `network.paths[0]`, `network.bottleneck`.
    pub fn build(&self) -> Result<Built, Vec<Problem>> {
        if let LineDelay::BaseRtt(_) = self.bottleneck.delay {
            let message = "the round trips of a graph are what its links add up to: say `delay`";
            return Err(vec![Problem { place: "rtt".to_owned(), message: message.to_owned() }]);
        }
        let lines: Vec<Bottleneck> = (0..self.graph.links.len()).map(|line| self.line(line)).collect();
        let ways = self.ways(&lines);
        let mut problems = Vec::new();
        let mut routes = Vec::with_capacity(self.flows.len());
        let mut own = 0;
        for (index, flow) in self.flows.iter().enumerate() {
            match self.route(index, flow, &mut own, &ways) {
                Ok(route) => routes.push(route),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            problems.dedup();
            return Err(problems);
        }
        self.check_bottleneck(&routes, &ways).map_err(|problem| vec![problem])?;
        let base_rtts: Vec<u64> = routes.iter().map(|route| round_trip(route, &ways)).collect();
        let context = BufferContext {
            rate: lines.get(self.graph.bottleneck).map_or(Rate::UNLIMITED, |line| line.rate),
            base_rtt: Time(base_rtts.iter().copied().max().unwrap_or(0)),
            full_packet: self.full_packet,
            flows: forward_flows(&self.flows),
        };
        let mut links = Vec::with_capacity(ways.len());
        let mut bdp_packets = None;
        let mut bottleneck = 0;
        for (index, way) in ways.iter().enumerate() {
            let context = self.context(way, &ways, &lines, &routes, &base_rtts, &context);
            if way.line == self.graph.bottleneck && !way.back {
                bdp_packets = context.bdp_packets();
                bottleneck = index;
            }
            match self.link(way, &lines[way.line], &context) {
                Ok(link) => links.push(link),
                Err(found) => problems.extend(found),
            }
        }
        if !problems.is_empty() {
            problems.dedup();
            return Err(problems);
        }
        Ok(Built {
            network: Network { nodes: self.graph.nodes.clone(), links, bottleneck },
            routes,
            base_rtt: context.base_rtt,
            bdp_packets,
        })
    }

    /// Checks that the data of some flow cross the bottleneck: metrics of it would be those of an idle link.
    fn check_bottleneck(&self, routes: &[Route], ways: &[LineDirection]) -> Result<(), Problem> {
        let is_crossed = |back: bool| {
            let its = |link: &LinkId| ways[*link].line == self.graph.bottleneck && ways[*link].back == back;
            routes.iter().any(|route| route.data.iter().any(its))
        };
        let Some(link) = self.graph.links.get(self.graph.bottleneck).filter(|_| !is_crossed(false)) else {
            return Ok(());
        };
        let GraphLink { name, from, to, .. } = link;
        let (from, to) = (&self.graph.nodes[*from], &self.graph.nodes[*to]);
        let message = match is_crossed(true) {
            true => format!(
                "data cross the link `{name}` only from `{to}` to `{from}`: write `from = \"{to}\"` and `to = \"{from}\"`"
            ),
            false => {
                format!("no flow's data cross the link `{name}`: name a link that the data of a flow cross")
            }
        };
        Err(Problem { place: "network.bottleneck".to_owned(), message })
    }

    /// A line with all that it has.
    fn line(&self, index: usize) -> Bottleneck {
        let link = &self.graph.links[index];
        let (rest, delay) = match (index == self.graph.bottleneck, self.bottleneck.delay) {
            (true, LineDelay::OneWay(delay)) => (self.bottleneck.clone(), delay),
            _ => {
                let queue = Some(self.access.queue);
                let rest = Bottleneck {
                    rate: self.access.rate,
                    delay: LineDelay::OneWay(self.access.delay),
                    buffer: self.access.buffer.clone(),
                    ecn_threshold: None,
                    forward: LineOptions { queue, ..LineOptions::default() },
                    reverse: LineOptions::default(),
                };
                (rest, self.access.delay)
            }
        };
        let forward = link.forward.or(&rest.forward);
        // A rate that is said comes before the mean of a trace, which stays unsaid: its range is then checked as a trace's.
        let of_settings = rest.forward.rate.filter(|_| link.forward.trace.is_none());
        let forward = LineOptions { rate: link.rate.or(link.forward.rate).or(of_settings), ..forward };
        Bottleneck {
            rate: forward.rate().unwrap_or(rest.rate),
            delay: LineDelay::OneWay(link.delay.unwrap_or(delay)),
            buffer: link.buffer.clone().unwrap_or(rest.buffer),
            ecn_threshold: link.ecn_threshold.or(rest.ecn_threshold),
            forward,
            reverse: link.reverse.or(&rest.reverse),
        }
    }

    /// Every direction, in the order of the links.
    fn ways(&self, lines: &[Bottleneck]) -> Vec<LineDirection> {
        let mut ways = Vec::with_capacity(2 * lines.len());
        for (index, (link, line)) in self.graph.links.iter().zip(lines).enumerate() {
            let LineDelay::OneWay(delay) = line.delay else { continue };
            ways.push(LineDirection { line: index, back: false, from: link.from, to: link.to, delay });
            if !link.one_way {
                ways.push(LineDirection { line: index, back: true, from: link.to, to: link.from, delay });
            }
        }
        ways
    }

    /// The way of a flow; `own` counts the flows that take the graph's paths.
    fn route(
        &self,
        index: usize,
        flow: &Endpoints,
        own: &mut usize,
        ways: &[LineDirection],
    ) -> Result<Route, Problem> {
        let wrong = |place: String, message: String| Problem { place, message };
        if flow.rtt.is_some() {
            let message = "the round trips of a graph are what its links add up to: leave it out";
            return Err(wrong(format!("flows[{index}].rtt"), message.to_owned()));
        }
        let (place, mut nodes) = match &flow.place {
            Place::Path(names) => {
                let place = format!("flows[{index}].path");
                let node = |name: &String| {
                    let found = self.graph.nodes.iter().position(|known| known == name);
                    found.ok_or_else(|| wrong(place.clone(), self.no_node(name)))
                };
                let nodes: Vec<NodeId> = names.iter().map(node).collect::<Result<_, _>>()?;
                (place, nodes)
            }
            _ if self.graph.paths.is_empty() => {
                let message =
                    "where does it run? Give the network `paths = [\"a -> b\"]`, or the flow a `path`";
                return Err(wrong("network.paths".to_owned(), message.to_owned()));
            }
            _ => {
                let path = *own % self.graph.paths.len();
                *own += 1;
                (format!("network.paths[{path}]"), self.graph.paths[path].clone())
            }
        };
        if flow.reverse {
            nodes.reverse();
        }
        let there = self.way(&nodes, ways).map_err(|message| wrong(place.clone(), message))?;
        nodes.reverse();
        let back = self.way(&nodes, ways).map_err(|message| wrong(place, message))?;
        Ok(Route { data: there, acks: back })
    }

    /// What to say of a node that is not there.
    fn no_node(&self, name: &str) -> String {
        let names = self.graph.nodes.iter().map(String::as_str);
        let hint = quoted_hint(nearest(name, names));
        format!("there is no node `{name}`{hint}: there are {}", self.graph.nodes.join(", "))
    }

    /// The shortest way from node to node.
    fn way(&self, nodes: &[NodeId], ways: &[LineDirection]) -> Result<Vec<LinkId>, String> {
        let name = |node: NodeId| self.graph.nodes[node].as_str();
        let mut links: Vec<LinkId> = Vec::new();
        for pair in nodes.windows(2) {
            if pair[0] == pair[1] {
                return Err(format!("it names `{}` twice in a row", name(pair[0])));
            }
            let next = shortest(pair[0], pair[1], self.graph.nodes.len(), ways);
            let Some(next) = next else {
                return Err(format!("no links lead from `{}` to `{}`", name(pair[0]), name(pair[1])));
            };
            if let Some(twice) = next.iter().find(|link| links.contains(link)) {
                let LineDirection { from, to, .. } = ways[*twice];
                return Err(format!("it crosses the link from `{}` to `{}` twice", name(from), name(to)));
            }
            links.extend(next);
        }
        if nodes.first() == nodes.last() {
            return Err(format!("it ends at `{}`, where it begins", name(nodes[0])));
        }
        Ok(links)
    }

    /// What buffers of a direction are measured by: its line's rate, and the flows that cross it.
    fn context(
        &self,
        way: &LineDirection,
        ways: &[LineDirection],
        lines: &[Bottleneck],
        routes: &[Route],
        base_rtts: &[u64],
        all: &BufferContext,
    ) -> BufferContext {
        let crosses = |links: &[LinkId]| links.iter().any(|link| ways[*link].line == way.line);
        let of_line = routes.iter().zip(base_rtts).zip(&self.flows);
        let of_line: Vec<(u64, bool)> = of_line
            .filter(|((route, _), _)| crosses(&route.data) || crosses(&route.acks))
            .map(|((_, base_rtt), flow)| (*base_rtt, flow.reverse))
            .collect();
        match of_line.iter().map(|(base_rtt, _)| *base_rtt).max() {
            None => BufferContext { rate: lines[way.line].rate, ..*all },
            Some(base_rtt) => BufferContext {
                rate: lines[way.line].rate,
                base_rtt: Time(base_rtt),
                flows: of_line.iter().filter(|(_, reverse)| !reverse).count() as u32,
                ..*all
            },
        }
    }

    fn link(
        &self,
        way: &LineDirection,
        line: &Bottleneck,
        context: &BufferContext,
    ) -> Result<LinkSpec, Vec<Problem>> {
        let drawn = &self.graph.links[way.line];
        let name = if way.back { format!("{}-reverse", drawn.name) } else { drawn.name.clone() };
        let direction = Direction { line, reverse: way.back, context, counting: self.counting };
        direction.link(name, way.from, way.to, way.delay).map_err(|problems| {
            let place = |problem: Problem| Problem {
                place: format!("network.links[{}].{}", way.line, problem.place),
                ..problem
            };
            problems.into_iter().map(place).collect()
        })
    }
}

fn round_trip(route: &Route, ways: &[LineDirection]) -> u64 {
    let links = route.data.iter().chain(&route.acks);
    links.fold(0u64, |sum, link| sum.saturating_add(ways[*link].delay.0))
}

/// The links from one node to another with the least delay together, of such the fewest, and of such those that are
/// found first in the order of nodes and links (Dijkstra's algorithm).
fn shortest(from: NodeId, to: NodeId, nodes: usize, ways: &[LineDirection]) -> Option<Vec<LinkId>> {
    let mut best: Vec<Option<(u64, u32)>> = vec![None; nodes];
    let mut by: Vec<Option<LinkId>> = vec![None; nodes];
    let mut done = vec![false; nodes];
    best[from] = Some((0, 0));
    loop {
        let open = (0..nodes).filter(|node| !done[*node]);
        let (length, node) = open.filter_map(|node| best[node].map(|length| (length, node))).min()?;
        if node == to {
            break;
        }
        done[node] = true;
        for (link, way) in ways.iter().enumerate().filter(|(_, way)| way.from == node) {
            let longer = (length.0.saturating_add(way.delay.0), length.1 + 1);
            if best[way.to].is_none_or(|known| longer < known) {
                best[way.to] = Some(longer);
                by[way.to] = Some(link);
            }
        }
    }
    let mut links = Vec::new();
    let mut node = to;
    while let Some(link) = by[node].filter(|_| node != from) {
        links.push(link);
        node = ways[link].from;
    }
    links.reverse();
    Some(links)
}

#[cfg(test)]
mod tests;
