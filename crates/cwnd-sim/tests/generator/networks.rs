//! Networks: those of the builders, and general ones.

use super::{Dice, Habits};
use cwnd_experiment::{Access, Bottleneck, Built, Dumbbell, Endpoints, LineDelay, LineOptions, Path};
use cwnd_experiment::{Buffer, BufferTerm, EcnThreshold};
use cwnd_scenario::{Decimal, Discipline, LinkId, LinkSpec, Loss, Network, NodeId, QueueLimit, Rate, Time};

/// A network, and the routes of each flow's data and ACKs.
pub struct Shape {
    pub network: Network,
    pub routes: Vec<(Vec<LinkId>, Vec<LinkId>)>,
}

impl Shape {
    /// Let all links take no time at all, but for one or two on each flow's way.
    pub fn hurry(&mut self, dice: &mut Dice, habits: &Habits) {
        for link in &mut self.network.links {
            (link.rate, link.delay) = (Rate::UNLIMITED, Time::ZERO);
        }
        for (data, acks) in &self.routes {
            for route in if dice.one_in(2) { [data, acks] } else { [data, data] } {
                let link = &mut self.network.links[dice.pick(route)];
                match dice.below(3) {
                    0 => link.rate = habits.draw_rate(dice),
                    1 => link.delay = habits.draw_delay(dice),
                    _ => (link.rate, link.delay) = (habits.draw_rate(dice), habits.draw_delay(dice)),
                }
            }
        }
    }
}

/// Draws a network of any kind with the given number of flows.
pub fn draw(dice: &mut Dice, habits: &Habits, flows: usize) -> Shape {
    let mut shape = match dice.below(11) {
        0 => path(dice, habits, flows),
        1..=3 => dumbbell(dice, habits, flows),
        4 | 5 => trunk(dice, habits, flows),
        6 => office(dice, habits, flows),
        7 => parking_lot(dice, habits, flows),
        _ => web(dice, habits, flows),
    };
    if dice.one_in(3) {
        // Every link by itself, whatever the kind of network says.
        for link in &mut shape.network.links {
            *link = habits.draw_link(dice, link.name.clone(), link.from, link.to);
        }
    }
    shape
}

fn buffer(dice: &mut Dice, habits: &Habits) -> Buffer {
    match dice.below(5) {
        0 => Buffer::Packets(vec![BufferTerm::Bdp(Decimal::new(1, 0))]),
        1 => Buffer::Bytes(u64::from(habits.full_packet) * dice.between(1, 100)),
        2 => Buffer::Unlimited,
        _ => dice.pick(&[1u32, 2, 5, 20, 100]).into(),
    }
}

fn bottleneck(dice: &mut Dice, habits: &Habits) -> Bottleneck {
    let forward = LineOptions { loss: Some(habits.draw_loss(dice)), ..LineOptions::default() };
    Bottleneck {
        rate: habits.draw_rate(dice),
        delay: LineDelay::OneWay(habits.draw_delay(dice)),
        buffer: buffer(dice, habits),
        ecn_threshold: habits.marks.then(|| EcnThreshold::Packets(dice.below(30) as u32)),
        forward,
        reverse: LineOptions::default(),
    }
}

fn built(built: Built) -> Shape {
    let routes = built.routes.into_iter().map(|route| (route.data, route.acks)).collect();
    Shape { network: built.network, routes }
}

/// Two hosts and one line, built by [`Path`].
fn path(dice: &mut Dice, habits: &Habits, flows: usize) -> Shape {
    let two_way = dice.one_in(2);
    let flows = (0..flows)
        .map(|_| Endpoints { reverse: two_way && dice.one_in(2), ..Endpoints::default() })
        .collect();
    loop {
        let bottleneck = bottleneck(dice, habits);
        let path = Path {
            bottleneck,
            flows: Vec::clone(&flows),
            counting: habits.counting,
            full_packet: habits.full_packet,
        };
        // Some choices cannot be met together, such as a BDP without a rate.
        if let Ok(path) = path.build() {
            return built(path);
        }
    }
}

/// Two routers with hosts on either side, built by [`Dumbbell`].
fn dumbbell(dice: &mut Dice, habits: &Habits, flows: usize) -> Shape {
    let (two_way, own_rtts) = (dice.one_in(3), dice.one_in(2));
    loop {
        let bottleneck = bottleneck(dice, habits);
        let access = Access {
            rate: habits.draw_rate(dice),
            delay: Time(habits.draw_delay(dice).0 / dice.pick(&[1, 10, 100])),
            buffer: buffer(dice, habits),
            queue: Discipline::DropTail,
        };
        let mut end = || {
            let least = match bottleneck.delay {
                LineDelay::OneWay(delay) => 2 * delay.0,
                LineDelay::BaseRtt(rtt) => rtt.0,
            };
            let more = dice.pick(&[4 * access.delay.0, 40 * habits.packet_time(), 3]);
            let rtt = Time(least + dice.below(more + 1));
            Endpoints {
                rtt: (own_rtts && !dice.one_in(3)).then_some(rtt),
                reverse: two_way && dice.one_in(2),
                ..Endpoints::default()
            }
        };
        let flows = (0..flows).map(|_| end()).collect();
        let (counting, full_packet) = (habits.counting, habits.full_packet);
        if let Ok(dumbbell) = (Dumbbell { bottleneck, access, flows, counting, full_packet }).build() {
            return built(dumbbell);
        }
    }
}

/// Nodes, and the links between them in both directions.
#[derive(Default)]
struct Sketch {
    nodes: usize,
    links: Vec<LinkSpec>,
}

impl Sketch {
    fn node(&mut self) -> NodeId {
        self.nodes += 1;
        self.nodes - 1
    }

    fn one_way(&mut self, dice: &mut Dice, habits: &Habits, from: NodeId, to: NodeId) {
        self.links.push(habits.draw_link(dice, String::new(), from, to));
    }

    fn both_ways(&mut self, dice: &mut Dice, habits: &Habits, a: NodeId, b: NodeId) {
        self.one_way(dice, habits, a, b);
        self.one_way(dice, habits, b, a);
    }

    /// A way that crosses no node twice, drawn from all of them; none if there is none.
    fn way(&self, dice: &mut Dice, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let mut seen = vec![false; self.nodes];
        let mut way = Vec::new();
        seen[from] = true;
        self.search(dice, from, to, &mut seen, &mut way).then_some(way)
    }

    fn search(
        &self,
        dice: &mut Dice,
        at: NodeId,
        to: NodeId,
        seen: &mut [bool],
        way: &mut Vec<LinkId>,
    ) -> bool {
        if at == to {
            return true;
        }
        let mut choices: Vec<LinkId> =
            (0..self.links.len()).filter(|&link| self.links[link].from == at).collect();
        dice.shuffle(&mut choices);
        for link in choices {
            let next = self.links[link].to;
            if !std::mem::replace(&mut seen[next], true) {
                way.push(link);
                if self.search(dice, next, to, seen, way) {
                    return true;
                }
                way.pop();
            }
        }
        false
    }

    /// The network, with flows between these ends by any way.
    ///
    /// Nodes and links are numbered in any order, so that no kind of network has a habit in its ties.
    fn into_shape(mut self, dice: &mut Dice, ends: &[(NodeId, NodeId)]) -> Shape {
        let mut numbers: Vec<NodeId> = (0..self.nodes).collect();
        dice.shuffle(&mut numbers);
        dice.shuffle(&mut self.links);
        for (i, link) in self.links.iter_mut().enumerate() {
            (link.from, link.to) = (numbers[link.from], numbers[link.to]);
            link.name = format!("link-{i}");
        }
        let routes = ends
            .iter()
            .map(|&(from, to)| {
                let (from, to) = (numbers[from], numbers[to]);
                (self.route(dice, from, to), self.route(dice, to, from))
            })
            .collect();
        let bottleneck = dice.below(self.links.len() as u64) as usize;
        let nodes = (0..self.nodes).map(|node| format!("node-{node}")).collect();
        Shape { network: Network { nodes, links: self.links, bottleneck }, routes }
    }

    /// A route between two nodes that are joined; to the same node, by way of another.
    fn route(&self, dice: &mut Dice, from: NodeId, to: NodeId) -> Vec<LinkId> {
        if from != to {
            return self.way(dice, from, to).expect("all are joined");
        }
        loop {
            let via = other(dice, self.nodes, from);
            let there = self.way(dice, from, via).expect("all are joined");
            let back = self.way(dice, via, from).expect("all are joined");
            if !there.iter().any(|link| back.contains(link)) {
                return [there, back].concat();
            }
        }
    }
}

/// A dumbbell with several lines in a row: all data cross all of them, and all ACKs on the way back. The
/// links of all hosts are alike.
fn trunk(dice: &mut Dice, habits: &Habits, flows: usize) -> Shape {
    let mut sketch = Sketch::default();
    let routers: Vec<NodeId> = (0..dice.between(2, 4)).map(|_| sketch.node()).collect();
    for pair in routers.windows(2) {
        sketch.both_ways(dice, habits, pair[0], pair[1]);
    }
    let [near, far] = [routers[0], routers[routers.len() - 1]];
    let mut likes = [(); 4].map(|()| habits.draw_link(dice, String::new(), 0, 0));
    if !dice.one_in(4) {
        // Nothing queues or is lost but on the lines in the middle.
        for like in &mut likes {
            (like.rate, like.loss) = (Rate(habits.rate), Loss::None);
            like.queue.limit = QueueLimit::Packets(dice.pick(&[2, 20, 1000]));
            like.queue.ecn_threshold = None;
        }
    }
    let short = dice.pick(&[1, 10, 100]);
    likes.iter_mut().for_each(|like| like.delay.0 /= short);
    let (two_way, own_delays) = (dice.one_in(4), dice.one_in(3));
    let mut ends = Vec::new();
    for _ in 0..flows {
        let (left, right) = (sketch.node(), sketch.node());
        if own_delays {
            likes.iter_mut().for_each(|like| like.delay = Time(dice.below(20) * habits.packet_time()));
        }
        for (like, (from, to)) in likes.iter().zip([(left, near), (near, left), (right, far), (far, right)]) {
            sketch.links.push(LinkSpec { from, to, ..like.clone() });
        }
        ends.push(if two_way && dice.one_in(2) { (right, left) } else { (left, right) });
    }
    sketch.into_shape(dice, &ends)
}

/// A few hosts on either side of a line, each with several senders and receivers behind one interface.
fn office(dice: &mut Dice, habits: &Habits, flows: usize) -> Shape {
    let mut sketch = Sketch::default();
    let routers = [sketch.node(), sketch.node()];
    sketch.both_ways(dice, habits, routers[0], routers[1]);
    let mut hosts = [Vec::new(), Vec::new()];
    for (side, hosts) in hosts.iter_mut().enumerate() {
        for _ in 0..dice.between(1, 3) {
            let host = sketch.node();
            sketch.both_ways(dice, habits, host, routers[side]);
            hosts.push(host);
        }
    }
    let ends: Vec<(NodeId, NodeId)> = (0..flows)
        .map(|_| {
            let from = dice.below(2) as usize;
            (dice.pick(&hosts[from]), dice.pick(&hosts[1 - from]))
        })
        .collect();
    sketch.into_shape(dice, &ends)
}

/// A row of lines, with flows that cross all of them and flows that cross some.
fn parking_lot(dice: &mut Dice, habits: &Habits, flows: usize) -> Shape {
    let mut sketch = Sketch::default();
    let routers: Vec<NodeId> = (0..dice.between(3, 5)).map(|_| sketch.node()).collect();
    for pair in routers.windows(2) {
        sketch.both_ways(dice, habits, pair[0], pair[1]);
    }
    // The flows' hosts hang at routers, or are routers themselves.
    let own_hosts = !dice.one_in(4);
    let mut ends = Vec::new();
    for flow in 0..flows {
        let last = routers.len() - 1;
        let (enter, leave) = match flow {
            0 => (0, last),
            _ => {
                let enter = dice.below(last as u64) as usize;
                (enter, dice.between(enter as u64 + 1, last as u64) as usize)
            }
        };
        let mut end = |router: usize| {
            let router = routers[router];
            if !own_hosts {
                return router;
            }
            let host = sketch.node();
            sketch.both_ways(dice, habits, host, router);
            host
        };
        ends.push((end(enter), end(leave)));
    }
    sketch.into_shape(dice, &ends)
}

/// Any nodes and links at all; every node may be a host, and pass on what is meant for others.
fn web(dice: &mut Dice, habits: &Habits, flows: usize) -> Shape {
    let mut sketch = Sketch::default();
    sketch.node();
    for node in 1..dice.between(2, 6) as usize {
        sketch.node();
        let other = dice.below(node as u64) as usize;
        sketch.both_ways(dice, habits, node, other);
    }
    for _ in 0..dice.below(5) {
        let (a, b) = (dice.below(sketch.nodes as u64) as usize, dice.below(sketch.nodes as u64) as usize);
        if a != b && dice.one_in(2) {
            sketch.both_ways(dice, habits, a, b);
        } else if a != b {
            sketch.one_way(dice, habits, a, b);
        }
    }
    let ends: Vec<(NodeId, NodeId)> = (0..flows)
        .map(|_| {
            let from = dice.below(sketch.nodes as u64) as usize;
            // Once in a while to the same host.
            (from, if dice.one_in(16) { from } else { other(dice, sketch.nodes, from) })
        })
        .collect();
    sketch.into_shape(dice, &ends)
}

/// Another node.
fn other(dice: &mut Dice, nodes: usize, node: NodeId) -> NodeId {
    (node + dice.between(1, nodes as u64 - 1) as usize) % nodes
}
