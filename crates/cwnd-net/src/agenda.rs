//! The events of a network, in the order in which they happen. The crate's documentation describes the order.

use crate::{LinkId, NodeId, Route};
use cwnd_link::LinkSpec;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A packet has left the transmitter of a link, unless its transmission was timed again.
    TransmissionEnds { link: u32 },
    /// A packet comes to the next link of its route, or to the host at its end.
    Arrival { packet: u32 },
    /// The transmitter of a link takes the next packet, after everything that arrives at that time.
    TakeNext { link: u32 },
    /// A timer of a host may expire.
    Timer { host: u32 },
}

/// The position of an event among those of the same time: a lower rank comes first. In one word, because a heap compares much.
///
/// - The place of the node or link where it happens (see [`Places`]); zero for a transmission that ends.
/// - Its kind.
/// - Of an arrival, the node or link that it comes from. Of a timer, the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Arrival = 0,
    Timer = 1,
    TakeNext = 2,
}

impl Rank {
    fn new(place: u32, kind: Kind, source: u32) -> Rank {
        Rank(u64::from(place) << 34 | (kind as u64) << 32 | u64::from(source))
    }

    fn place(self) -> u32 {
        (self.0 >> 34) as u32
    }

    fn is_arrival(self) -> bool {
        self.0 >> 32 & 3 == Kind::Arrival as u64
    }

    fn source(self) -> u32 {
        self.0 as u32
    }

    fn at_place(self, place: u32) -> Rank {
        Rank(self.0 & ((1 << 34) - 1) | u64::from(place) << 34)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: u64,
    rank: Rank,
    /// Events of one rank happen in the order in which they were scheduled.
    number: u64,
    event: Event,
}

#[derive(Clone, Debug)]
pub struct Agenda {
    events: BinaryHeap<Reverse<Entry>>,
    scheduled: u64,
    graph: Graph,
    places: Places,
    turns: Option<Turns>,
}

/// The nodes, then the links, by number: what events happen at, and what packets come from.
#[derive(Clone, Debug)]
struct Graph {
    nodes: u32,
    routes: Vec<Route>,
    /// What feeds each link.
    feeders: Vec<BTreeSet<u32>>,
    /// For each route, the nodes at its beginning and at its end.
    ends: Vec<(u32, u32)>,
    /// Whether packets pass a link in no time.
    instant: Vec<bool>,
    /// Whether hosts may respond at the time of an arrival.
    hosts: bool,
}

impl Agenda {
    /// Creates an empty agenda. Returns `None` if packets could pass some links round in a circle in no time.
    pub fn new(links: &[LinkSpec], routes: &[Route], instant: Vec<bool>, by_turn: bool) -> Option<Agenda> {
        let nodes = links.iter().map(|link| link.from.max(link.to) + 1).max().unwrap_or(0);
        let mut feeders = vec![BTreeSet::new(); links.len()];
        for Route { links: route, .. } in routes {
            feeders[route[0]].insert(links[route[0]].from as u32);
            for pair in route.windows(2) {
                feeders[pair[1]].insert((nodes + pair[0]) as u32);
            }
        }
        let ends = |Route { links: route, .. }: &Route| {
            (links[route[0]].from as u32, links[route[route.len() - 1]].to as u32)
        };
        let ends = routes.iter().map(ends).collect();
        let graph =
            Graph { nodes: nodes as u32, routes: routes.to_vec(), feeders, ends, instant, hosts: false };
        let places = graph.places()?;
        let turns = by_turn.then(Turns::default);
        Some(Agenda { events: BinaryHeap::new(), scheduled: 0, graph, places, turns })
    }

    /// Takes into account that hosts respond to packets at once. Returns false if packets could then go round in no time.
    pub fn add_hosts(&mut self) -> bool {
        self.graph.hosts = true;
        self.find_places()
    }

    /// Notes whether packets pass a link in no time. Returns false, and changes nothing, if packets could then go round in no
    /// time.
    pub fn set_instant(&mut self, link: LinkId, instant: bool) -> bool {
        let before = std::mem::replace(&mut self.graph.instant[link], instant);
        if before == instant {
            return true;
        }
        let found = self.find_places();
        if !found {
            self.graph.instant[link] = before;
        }
        found
    }

    /// Returns whether a link is fed by nothing but the hosts of one node.
    pub fn has_one_feeding_node(&self, link: LinkId) -> bool {
        let feeders = &self.graph.feeders[link];
        feeders.len() == 1 && feeders.first().is_some_and(|&feeder| feeder < self.graph.nodes)
    }

    /// Returns the next event and its time.
    #[inline]
    pub fn peek(&self) -> Option<(u64, Event)> {
        self.events.peek().map(|Reverse(entry)| (entry.at, entry.event))
    }

    /// Returns all events and their times, in no order.
    pub fn events(&self) -> impl ExactSizeIterator<Item = (u64, Event)> + '_ {
        self.events.iter().map(|Reverse(entry)| (entry.at, entry.event))
    }

    /// Returns the number of the event.
    pub fn schedule_transmission_end(&mut self, at: u64, link: LinkId) -> u64 {
        let link = link as u32;
        let rank = Rank::new(0, Kind::Arrival, self.graph.nodes + link);
        self.schedule(at, rank, Event::TransmissionEnds { link });
        self.scheduled
    }

    /// Schedules the arrival of a packet that has passed `passed` links of its route.
    pub fn schedule_arrival(&mut self, at: u64, packet: u32, route: usize, passed: usize) {
        let Graph { nodes, routes, ends, .. } = &self.graph;
        let links = &routes[route].links;
        let to = links.get(passed).map_or(ends[route].1, |&link| nodes + link as u32);
        let source = passed.checked_sub(1).map_or(ends[route].0, |last| nodes + links[last] as u32);
        let rank = Rank::new(self.places.of(to), Kind::Arrival, source);
        self.schedule(at, rank, Event::Arrival { packet });
    }

    pub fn schedule_take_next(&mut self, at: u64, link: LinkId) {
        let place = self.places.of(self.graph.nodes + link as u32);
        let rank = Rank::new(place, Kind::TakeNext, 0);
        self.schedule(at, rank, Event::TakeNext { link: link as u32 });
    }

    pub fn schedule_timer(&mut self, at: u64, host: usize, node: NodeId) {
        let host = host as u32;
        let rank = Rank::new(self.places.of(node as u32), Kind::Timer, host);
        self.schedule(at, rank, Event::Timer { host });
    }

    fn schedule(&mut self, at: u64, rank: Rank, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse(Entry { at, rank, number: self.scheduled, event }));
    }

    /// Takes the next event: its time, its number and itself.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, u64, Event)> {
        let Reverse(entry) = self.events.pop()?;
        if self.turns.is_some() && entry.rank.is_arrival() && self.places.is_link(entry.rank.place()) {
            return Some(self.pop_by_turn(entry));
        }
        Some((entry.at, entry.number, entry.event))
    }

    /// Of the arrivals at a link at the time of `first`, takes the one whose source had its turn longest ago.
    #[inline(never)]
    fn pop_by_turn(&mut self, first: Entry) -> (u64, u64, Event) {
        let is_alike = |entry: &Entry| {
            entry.at == first.at && entry.rank.is_arrival() && entry.rank.place() == first.rank.place()
        };
        let mut together = vec![first];
        while let Some(Reverse(next)) = self.events.peek().filter(|Reverse(next)| is_alike(next)) {
            together.push(*next);
            self.events.pop();
        }
        let turns = self.turns.as_mut().expect("turns decide");
        let link = self.places.order[first.rank.place() as usize - 1];
        together.sort_by_key(|entry| (turns.before(link, entry.rank.source(), entry.at), *entry));
        let next = together.remove(0);
        turns.take(link, next.rank.source(), next.at);
        self.events.extend(together.into_iter().map(Reverse));
        (next.at, next.number, next.event)
    }

    /// Finds the places again, and ranks all events again. Returns false, and changes nothing, if there is no order.
    fn find_places(&mut self) -> bool {
        let Some(places) = self.graph.places() else { return false };
        let old = std::mem::replace(&mut self.places, places);
        let again = |Reverse(mut entry): Reverse<Entry>| {
            if let Some(place) = entry.rank.place().checked_sub(1) {
                entry.rank = entry.rank.at_place(self.places.of(old.order[place as usize]));
            }
            Reverse(entry)
        };
        self.events = std::mem::take(&mut self.events).into_iter().map(again).collect();
        true
    }
}

/// An order of nodes and links, each after everything from which a packet can come to it in no time. Places count from 1.
#[derive(Clone, Debug)]
struct Places {
    order: Vec<u32>,
    places: Vec<u32>,
    nodes: u32,
}

impl Places {
    fn of(&self, vertex: u32) -> u32 {
        self.places[vertex as usize]
    }

    fn is_link(&self, place: u32) -> bool {
        place > 0 && self.order[place as usize - 1] >= self.nodes
    }
}

impl Graph {
    /// Returns the order. Of those that may come next, the one with the least number does. `None` if there is no order.
    fn places(&self) -> Option<Places> {
        let vertices = self.nodes as usize + self.instant.len();
        let mut after = vec![BTreeSet::new(); vertices];
        for (link, feeders) in self.feeders.iter().enumerate() {
            for &feeder in feeders {
                let passes = feeder.checked_sub(self.nodes).is_none_or(|from| self.instant[from as usize]);
                if passes {
                    after[feeder as usize].insert(self.nodes + link as u32);
                }
            }
        }
        if self.hosts {
            for (route, &(_, end)) in self.routes.iter().zip(&self.ends) {
                let last = route.links[route.links.len() - 1];
                if self.instant[last] {
                    after[self.nodes as usize + last].insert(end);
                }
            }
        }
        let mut awaited = vec![0; vertices];
        after.iter().flatten().for_each(|&vertex| awaited[vertex as usize] += 1);
        let mut ready: BTreeSet<u32> =
            (0..vertices as u32).filter(|&vertex| awaited[vertex as usize] == 0).collect();
        let mut order = Vec::with_capacity(vertices);
        let mut places = vec![0; vertices];
        while let Some(vertex) = ready.pop_first() {
            order.push(vertex);
            places[vertex as usize] = order.len() as u32;
            for &next in &after[vertex as usize] {
                awaited[next as usize] -= 1;
                if awaited[next as usize] == 0 {
                    ready.insert(next);
                }
            }
        }
        (order.len() == vertices).then_some(Places { order, places, nodes: self.nodes })
    }
}

/// When something came to a link from a source: the time, and from how many other sources something had come at that time
/// before.
type Turn = (u64, u32);

/// The turns of the sources of each link.
#[derive(Clone, Debug, Default)]
struct Turns {
    /// For each link and source, the latest turn and the one before that.
    latest: BTreeMap<(u32, u32), [Turn; 2]>,
    /// For each link, its latest turn.
    of_link: BTreeMap<u32, Turn>,
}

impl Turns {
    /// Returns the latest turn of a source before the time `at`.
    fn before(&self, link: u32, source: u32, at: u64) -> Turn {
        match self.latest.get(&(link, source)) {
            Some(&[latest, before]) if latest.0 == at => before,
            Some(&[latest, _]) => latest,
            None => (0, 0),
        }
    }

    fn take(&mut self, link: u32, source: u32, at: u64) {
        let [latest, _] = *self.latest.entry((link, source)).or_default();
        if latest.0 < at {
            let last = self.of_link.entry(link).or_default();
            *last = (at, if last.0 == at { last.1 + 1 } else { 0 });
            self.latest.insert((link, source), [*last, latest]);
        }
    }
}
