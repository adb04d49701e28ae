//! All that lies between endpoints: the heap of events, the links, and the packets on their way.

mod changes;

use cwnd_link::{Fifo, Line, LossModel, Policer, Purpose, Queue, SerialTime, Stream, Transmitter, Verdict};
use cwnd_scenario::{Counting, LinkId, NodeId, Scenario, Ties};
use cwnd_sim::link::queued::{self, arrival};
use cwnd_sim::setup;
use cwnd_tcp::packet::{CE, ECT, ESTABLISHED, Emit, Packet, SYN, SackBlocks};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// A packet's number: they are counted as they are sent.
pub type PacketId = u64;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A packet has left the transmitter of a link, unless that transmission was timed again meanwhile.
    TransmissionEnds { link: LinkId, transmission: u64 },
    /// A packet comes to the next link of its route, or to the host at its end.
    Arrives { packet: PacketId },
    /// The transmitter of a link that is not plain takes the next packet, after all that arrives at that time.
    Asks { link: LinkId },
    /// A timer of an endpoint may be due.
    Timer { endpoint: usize },
}

/// Where an event stands among those of the same time: a smaller rank comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Transmissions that end: 0. Hosts and links: from 1 on, each after those from which something comes
    /// to it in no time.
    place: usize,
    /// Arrivals: 0, timers: 1, transmitters that ask: 2.
    timer: u8,
    /// Arrivals: what they come from. Timers: the endpoint.
    source: Source,
}

/// What an arrival comes from, in the order in which simultaneous ones are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// A host. (Or, where ranks speak of timers, an endpoint.)
    Host(usize),
    /// A link.
    Link(LinkId),
}

/// A packet on its way.
#[derive(Clone, Debug)]
pub struct Traveller {
    pub packet: Packet,
    pub blocks: Option<SackBlocks>,
    /// How many links of its route it has come to.
    leg: usize,
    /// The last of them, in whose queue, transmitter or line it is.
    pub on: Option<LinkId>,
    /// It was lost on the line, at whose end it vanishes.
    pub lost: bool,
}

/// A link.
pub struct Link {
    /// What it does beyond dropping what does not fit into a queue before a constant rate.
    kept: Option<Kept>,
    queue: Fifo<PacketId>,
    counting: Counting,
    serial: SerialTime,
    delay: u64,
    loss: LossModel,
    /// The packet in transmission, and when it will have left.
    transmitting: Option<(PacketId, u64)>,
    /// Which transmission that is; it gets a new number when it is timed again.
    transmission: u64,
    /// When the last transmission that took time ended, and the packet's wire bytes.
    ended: Option<(u64, u32)>,
    /// When the last packet that left comes out of the line.
    last_out: u64,
    /// Up to when `waited` is counted.
    waited_to: u64,
    pub counts: LinkCounts,
}

/// The machines of a link that is not plain; its other fields but the counts are not in use then.
struct Kept {
    queue: Queue<PacketId>,
    transmitter: Transmitter,
    line: Line,
    policer: Option<Policer>,
    /// Wire bytes of the packet that has just left, until the transmitter takes the next one.
    leaving: Option<u32>,
}

/// What a link counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounts {
    pub arrived: u64,
    pub data_arrived: u64,
    pub dropped: u64,
    pub marked: u64,
    pub lost: u64,
    pub copied: u64,
    pub delivered: u64,
    /// Packets that waited, added up over time: packets x ns.
    pub waited: u128,
    pub max_waiting: u64,
}

/// Packets that never arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fate {
    pub dropped: u64,
    pub lost: u64,
    pub copied: u64,
}

/// See above.
pub struct Wires {
    events: BinaryHeap<Reverse<(u64, Rank, u64, Event)>>,
    /// Numbers the events, so that what is the same otherwise is first in, first out.
    scheduled: u64,
    pub links: Vec<Link>,
    pub travellers: BTreeMap<PacketId, Traveller>,
    sent: PacketId,
    /// For each channel its links, and the host at whose end it is.
    routes: Vec<(Vec<LinkId>, NodeId)>,
    /// For each endpoint, its host.
    hosts: Vec<NodeId>,
    /// What feeds each link.
    feeders: Vec<BTreeSet<Source>>,
    nodes: usize,
    smallest_packet: u32,
    /// For each node, then each link: its place among simultaneous events.
    places: Vec<usize>,
    ties: Ties,
    /// For each link and what feeds it, its latest turn and the one before that: when something came from there, and from
    /// how many others something had come at that time before.
    turns: BTreeMap<(LinkId, Source), [(u64, u32); 2]>,
    /// For each link, the latest turn there.
    last_turn: BTreeMap<LinkId, (u64, u32)>,
    /// For each channel, what became of its packets, and of those of the handshake.
    pub fates: Vec<[Fate; 2]>,
}

impl Wires {
    /// The wires of a scenario; none if something could go round in no time.
    pub fn new(scenario: &Scenario) -> Option<Wires> {
        let specs = &scenario.network.links;
        let links = specs.iter().enumerate().map(|(number, spec)| {
            let stream = Stream::new(scenario.seed, Purpose::Loss, number as u64);
            let (full, number) = (scenario.stack.full_packet(), number as u64);
            let kept = || Kept {
                queue: queued::queue(spec, full, scenario.seed, number),
                transmitter: Transmitter::new(spec.rate, spec.schedule.as_ref(), setup::origin(scenario)),
                line: Line::new(spec, setup::origin(scenario), scenario.seed, number),
                policer: spec.effects.policer.as_ref().map(Policer::new),
                leaving: None,
            };
            Link {
                kept: (!spec.is_plain()).then(kept),
                queue: Fifo::new(&spec.queue),
                counting: spec.queue.counting,
                serial: SerialTime::new(spec.rate),
                delay: spec.delay.0,
                loss: LossModel::new(&spec.loss, stream),
                transmitting: None,
                transmission: 0,
                ended: None,
                last_out: 0,
                // What waits before time zero does not count.
                waited_to: setup::origin(scenario),
                counts: LinkCounts::default(),
            }
        });
        let routes: Vec<(Vec<LinkId>, NodeId)> = scenario
            .flows
            .iter()
            .flat_map(|flow| [&flow.route, &flow.ack_route])
            .map(|route| (route.clone(), specs[route[route.len() - 1]].to))
            .collect();
        let mut feeders = vec![BTreeSet::new(); specs.len()];
        for (route, _) in &routes {
            feeders[route[0]].insert(Source::Host(specs[route[0]].from));
            for pair in route.windows(2) {
                feeders[pair[1]].insert(Source::Link(pair[0]));
            }
        }
        let mut wires = Wires {
            events: BinaryHeap::new(),
            scheduled: 0,
            links: links.collect(),
            travellers: BTreeMap::new(),
            sent: 0,
            hosts: routes.iter().map(|(route, _)| specs[route[0]].from).collect(),
            fates: vec![Default::default(); routes.len()],
            routes,
            feeders,
            nodes: scenario.network.nodes.len(),
            smallest_packet: setup::smallest_packet(scenario),
            places: Vec::new(),
            ties: scenario.ties,
            turns: BTreeMap::new(),
            last_turn: BTreeMap::new(),
        };
        wires.places = wires.find_places()?;
        Some(wires)
    }

    /// Order hosts and links so that each comes after all from which something comes to it in no time. Among
    /// those that may come next, the first. None if there is no such order.
    fn find_places(&self) -> Option<Vec<usize>> {
        let link = |link: LinkId| self.nodes + link;
        let mut before = vec![BTreeSet::new(); self.nodes + self.links.len()];
        for (route, end) in &self.routes {
            for (i, &this) in route.iter().enumerate() {
                if self.links[this].least_latency(self.smallest_packet) == 0 {
                    let next = route.get(i + 1).map_or(*end, |&next| link(next));
                    before[next].insert(link(this));
                }
            }
        }
        for (this, feeders) in self.feeders.iter().enumerate() {
            before[link(this)].extend(feeders.iter().filter_map(|feeder| match feeder {
                Source::Host(host) => Some(*host),
                Source::Link(_) => None,
            }));
        }
        let mut places = vec![0; before.len()];
        for place in 1..=before.len() {
            let ready =
                (0..before.len()).find(|&i| places[i] == 0 && before[i].iter().all(|&j| places[j] > 0))?;
            places[ready] = place;
        }
        Some(places)
    }

    pub fn schedule(&mut self, at: u64, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at, self.rank(event), self.scheduled, event)));
    }

    pub fn next_at(&self) -> Option<u64> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// The link whose transmission ends next, or whose packet next comes out, if either is the next event.
    pub fn next_link(&self) -> Option<LinkId> {
        let Reverse((.., event)) = self.events.peek()?;
        match event {
            Event::TransmissionEnds { link, .. } => Some(*link),
            Event::Arrives { packet } => self.travellers[packet].on,
            Event::Timer { .. } | Event::Asks { .. } => None,
        }
    }

    /// The next event. Where turns decide: of simultaneous arrivals at a link, the one from where it is longest ago that
    /// something came.
    pub fn pop(&mut self) -> Option<Event> {
        let Reverse((at, rank, scheduled, event)) = self.events.pop()?;
        let Some((link, _)) = self.way_into_link(event).filter(|_| self.ties == Ties::ByTurn) else {
            return Some(event);
        };
        let mut together = vec![(rank, scheduled, event)];
        while let Some(Reverse((next, rank, ..))) = self.events.peek()
            && (*next, rank.place, rank.timer) == (at, together[0].0.place, together[0].0.timer)
        {
            let Some(Reverse((_, rank, scheduled, event))) = self.events.pop() else { break };
            together.push((rank, scheduled, event));
        }
        let before = |source: Source| match self.turns.get(&(link, source)) {
            Some(&[latest, before]) if latest.0 == at => before,
            Some(&[latest, _]) => latest,
            None => (0, 0),
        };
        together.sort_by_key(|&(rank, scheduled, _)| (before(rank.source), rank, scheduled));
        let (first, _, event) = together.remove(0);
        let [latest, _] = *self.turns.entry((link, first.source)).or_default();
        if latest.0 < at {
            let last = self.last_turn.entry(link).or_default();
            *last = (at, if last.0 == at { last.1 + 1 } else { 0 });
            self.turns.insert((link, first.source), [*last, latest]);
        }
        self.events.extend(
            together.into_iter().map(|(rank, scheduled, event)| Reverse((at, rank, scheduled, event))),
        );
        Some(event)
    }

    /// The link that a packet comes to, and what it comes from, if it comes to one.
    fn way_into_link(&self, event: Event) -> Option<(LinkId, Source)> {
        let Event::Arrives { packet } = event else { return None };
        let Traveller { packet, leg, on, .. } = self.travellers[&packet];
        let (route, _) = &self.routes[packet.channel as usize];
        let source = on.map_or(Source::Host(self.hosts[packet.channel as usize]), Source::Link);
        route.get(leg).map(|&link| (link, source))
    }

    fn rank(&self, event: Event) -> Rank {
        match event {
            Event::TransmissionEnds { link, .. } => Rank { place: 0, timer: 0, source: Source::Link(link) },
            Event::Arrives { packet } => {
                let Traveller { packet, leg, on, .. } = self.travellers[&packet];
                let (route, end) = &self.routes[packet.channel as usize];
                let place = route.get(leg).map_or(*end, |link| self.nodes + link);
                let source = on.map_or(Source::Host(self.hosts[packet.channel as usize]), Source::Link);
                Rank { place: self.places[place], timer: 0, source }
            }
            Event::Asks { link } => {
                Rank { place: self.places[self.nodes + link], timer: 2, source: Source::Link(link) }
            }
            Event::Timer { endpoint } => {
                let place = self.places[self.hosts[endpoint]];
                Rank { place, timer: 1, source: Source::Host(endpoint) }
            }
        }
    }

    /// A packet comes to the next link of its route, or to the host at its end: then it is handed out. One
    /// that was lost vanishes.
    pub fn arrives(&mut self, now: u64, id: PacketId) -> Option<Traveller> {
        let Traveller { packet, leg, on, lost, .. } = self.travellers[&id];
        if let Some(link) = on {
            let counts = &mut self.links[link].counts;
            if lost {
                counts.lost += 1;
                self.travellers.remove(&id);
                self.fate(&packet).lost += 1;
                return None;
            }
            counts.delivered += 1;
        }
        match self.routes[packet.channel as usize].0.get(leg) {
            Some(&link) => {
                self.arrives_at_link(now, link, id);
                None
            }
            None => self.travellers.remove(&id),
        }
    }

    /// A packet arrives at a link. False if it is dropped.
    fn arrives_at_link(&mut self, now: u64, number: LinkId, id: PacketId) -> bool {
        if self.links[number].kept.is_some() {
            self.arrives_at_kept(now, number, id);
            return true;
        }
        let traveller = self.travellers.get_mut(&id).expect("it is on its way");
        let packet = &mut traveller.packet;
        let link = &mut self.links[number];
        link.count_waiting(now);
        link.counts.arrived += 1;
        link.counts.data_arrived += u64::from(packet.is_data());
        // A packet that leaves at this very moment still counts where packets in transmission do, unless
        // transmission takes no time.
        let counts = link.counting == Counting::WithTransmission && link.serial != SerialTime::default();
        let leaving = link.ended.filter(|&(at, _)| counts && at == now).map(|(_, bytes)| bytes);
        let found = link.queue.waiting() + usize::from(link.queue.is_transmitting());
        let found = (found + usize::from(leaving.is_some())) as u64;
        match link.queue.enqueue_as_leaves(id, u32::from(packet.size), leaving) {
            Verdict::Dropped => {
                link.counts.dropped += 1;
                let packet = *packet;
                self.travellers.remove(&id);
                self.fate(&packet).dropped += 1;
                return false;
            }
            Verdict::Accepted { mark } => {
                if mark && packet.is(ECT) {
                    packet.flags |= CE;
                    link.counts.marked += 1;
                }
            }
        }
        traveller.on = Some(number);
        traveller.leg += 1;
        // Whoever finds somebody waits, if only for a moment.
        link.counts.max_waiting = link.counts.max_waiting.max(found);
        if !link.queue.is_transmitting() {
            self.transmit_next(now, number, false);
        }
        true
    }

    /// The same where the link is not plain.
    fn arrives_at_kept(&mut self, now: u64, number: LinkId, id: PacketId) {
        let packet = self.travellers[&id].packet;
        let link = &mut self.links[number];
        link.count_waiting(now);
        link.counts.arrived += 1;
        link.counts.data_arrived += u64::from(packet.is_data());
        let kept = link.kept.as_mut().expect("it is not plain");
        if kept.policer.as_mut().is_some_and(|policer| !policer.admits(now, u32::from(packet.size))) {
            return self.drop_all(number, vec![id]);
        }
        let transmitting = link.transmitting.map(|(id, _)| u32::from(self.travellers[&id].packet.size));
        let transmitting = transmitting.or(kept.leaving);
        let before = kept.queue.waiting();
        let mut dropped = Vec::new();
        kept.queue.enqueue(now, id, arrival(&packet), transmitting, &mut dropped);
        if kept.queue.waiting() > before {
            let found = before + usize::from(transmitting.is_some());
            link.counts.max_waiting = link.counts.max_waiting.max(found as u64);
        }
        if !dropped.contains(&id) {
            let traveller = self.travellers.get_mut(&id).expect("it is on its way");
            traveller.on = Some(number);
            traveller.leg += 1;
        }
        let idle = transmitting.is_none();
        self.drop_all(number, dropped);
        if idle {
            self.transmit_next(now, number, false);
        }
    }

    /// A link drops packets that have come to it.
    fn drop_all(&mut self, number: LinkId, dropped: Vec<PacketId>) {
        for id in dropped {
            self.links[number].counts.dropped += 1;
            let traveller = self.travellers.remove(&id).expect("it was on its way");
            self.fate(&traveller.packet).dropped += 1;
        }
    }

    /// The transmitter is free: it takes the packets that wait, until one takes time. `waited`: they waited behind
    /// another one.
    fn transmit_next(&mut self, now: u64, number: LinkId, mut waited: bool) {
        loop {
            let link = &mut self.links[number];
            link.count_waiting(now);
            let (id, ends) = match &mut link.kept {
                Some(kept) => {
                    let mut dropped = Vec::new();
                    let next = kept.queue.dequeue(now, &mut dropped);
                    let next = next.map(|next| (next, kept.transmitter.finish(now, next.bytes, waited)));
                    self.drop_all(number, dropped);
                    let Some((next, ends)) = next else { return };
                    if next.mark {
                        self.links[number].counts.marked += 1;
                        self.travellers.get_mut(&next.packet).expect("it is on its way").packet.flags |= CE;
                    }
                    (next.packet, ends.min(u64::MAX - 1))
                }
                None => {
                    let Some((id, bytes)) = link.queue.dequeue() else { return };
                    (id, now + link.serial.of(bytes))
                }
            };
            let link = &mut self.links[number];
            if ends > now {
                link.transmission += 1;
                link.transmitting = Some((id, ends));
                let event = Event::TransmissionEnds { link: number, transmission: link.transmission };
                return self.schedule(ends, event);
            }
            self.leave(now, number, id);
            waited = true;
        }
    }

    /// The transmission of a packet ends. False if that was timed again meanwhile.
    pub fn transmission_ends(&mut self, now: u64, number: LinkId, transmission: u64) -> bool {
        let link = &mut self.links[number];
        if link.transmission != transmission {
            return false;
        }
        let (id, _) = link.transmitting.take().expect("a packet is in transmission");
        let bytes = u32::from(self.travellers[&id].packet.size);
        link.ended = Some((now, bytes));
        let asks = link.counting == Counting::WithTransmission;
        if let Some(kept) = link.kept.as_mut().filter(|_| asks) {
            kept.leaving = Some(bytes);
            self.leave(now, number, id);
            self.schedule(now, Event::Asks { link: number });
            return true;
        }
        self.leave(now, number, id);
        self.transmit_next(now, number, true);
        true
    }

    /// The transmitter takes the next packet.
    pub fn asks(&mut self, now: u64, number: LinkId) {
        self.links[number].kept.as_mut().expect("it is not plain").leaving = None;
        self.transmit_next(now, number, true);
    }

    /// A packet has left the transmitter, and is on the line.
    fn leave(&mut self, now: u64, number: LinkId, id: PacketId) {
        let link = &mut self.links[number];
        let traveller = self.travellers.get_mut(&id).expect("it is on its way");
        if let Some(kept) = &mut link.kept {
            let way = kept.line.cross(now);
            traveller.lost = way.lost;
            self.schedule(way.at, Event::Arrives { packet: id });
            if way.twice {
                self.copy(way.at, number, id);
            }
            return;
        }
        traveller.lost = link.loss.next_is_lost();
        link.last_out = link.last_out.max(now + link.delay);
        let at = link.last_out;
        self.schedule(at, Event::Arrives { packet: id });
    }

    /// A second packet comes out of a line.
    fn copy(&mut self, at: u64, number: LinkId, id: PacketId) {
        let copy = self.travellers[&id].clone();
        self.links[number].counts.copied += 1;
        self.fate(&copy.packet).copied += 1;
        self.travellers.insert(self.sent, copy);
        self.schedule(at, Event::Arrives { packet: self.sent });
        self.sent += 1;
    }

    fn fate(&mut self, packet: &Packet) -> &mut Fate {
        let handshake = packet.flags & (SYN | ESTABLISHED) != 0;
        &mut self.fates[packet.channel as usize][usize::from(handshake)]
    }

    fn send(&mut self, now: u64, packet: Packet, blocks: Option<SackBlocks>) -> bool {
        let id = self.sent;
        self.sent += 1;
        self.travellers.insert(id, Traveller { packet, blocks, leg: 0, on: None, lost: false });
        let first = self.routes[packet.channel as usize].0[0];
        if self.feeders[first].len() == 1 && self.links[first].kept.is_none() {
            return self.arrives_at_link(now, first, id);
        }
        self.schedule(now, Event::Arrives { packet: id });
        true
    }
}

impl Link {
    /// Packets that wait, without the one in transmission.
    pub fn waiting(&self) -> usize {
        self.kept.as_ref().map_or(self.queue.waiting(), |kept| kept.queue.waiting())
    }

    fn least_latency(&self, size: u32) -> u64 {
        match &self.kept {
            Some(kept) => kept.transmitter.least_time(size).saturating_add(kept.line.least_delay()),
            None => self.serial.of(size) + self.delay,
        }
    }

    /// Count up to now how long how many have waited. Must come before their number changes.
    pub fn count_waiting(&mut self, now: u64) {
        self.counts.waited += self.waiting() as u128 * u128::from(now.saturating_sub(self.waited_to));
        self.waited_to = self.waited_to.max(now);
    }
}

impl Emit for Wires {
    fn emit(&mut self, now: u64, packet: Packet) -> bool {
        self.send(now, packet, None)
    }

    fn emit_sack(&mut self, now: u64, packet: Packet, blocks: &SackBlocks) -> bool {
        self.send(now, packet, Some(*blocks))
    }
}
