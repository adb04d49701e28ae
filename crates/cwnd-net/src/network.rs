//! The network: packets on the links of their routes.

mod changes;

use crate::agenda::{Agenda, Event};
use crate::link::{Found, Link, LinkCounts, Transmission};
use crate::slab::Slab;
use crate::{LinkId, NetworkError, NodeId, Route, RouteId, Settings};
use cwnd_link::{Arrival, Codepoint, LinkSpec};

/// More events than this are not looked at one by one: each packet on a line that reorders is one.
const LOOKED_AT: usize = 64;

/// A packet of any transport, as a network sees it.
pub trait Packet: Clone {
    /// Returns what queues need to know: wire bytes, flow, ECN field.
    fn arrival(&self) -> Arrival;

    /// Sets the congestion mark. It is not called for a packet that cannot carry one.
    fn mark(&mut self);

    /// Writes the ECN field. Only links that change it call this ([`EcnRemark`](cwnd_link::EcnRemark)); by default the field
    /// stays.
    fn set_ecn(&mut self, codepoint: Codepoint) {
        let _ = codepoint;
    }

    /// Returns whether it carries data, for [`LinkCounts::data_arrived`].
    fn is_data(&self) -> bool {
        true
    }
}

/// Is notified of packets. Each method does nothing by default.
pub trait Observer<P> {
    /// A queue accepted a packet, which found other packets there.
    fn queued(&mut self, now: u64, link: LinkId, packet: &P, found: Found) {
        let _ = (now, link, packet, found);
    }

    /// A packet left the transmitter. `counts` are those of the link, with this packet.
    fn sent(&mut self, now: u64, link: LinkId, packet: &mut P, counts: &LinkCounts) {
        let _ = (now, link, packet, counts);
    }

    /// The line made this copy of a packet.
    fn copied(&mut self, now: u64, link: LinkId, copy: &mut P) {
        let _ = (now, link, copy);
    }

    /// A policer or a queue dropped a packet.
    fn dropped(&mut self, now: u64, link: LinkId, packet: P) {
        let _ = (now, link, packet);
    }

    /// A packet that was lost on the line would have reached its end.
    fn lost(&mut self, now: u64, link: LinkId, packet: P) {
        let _ = (now, link, packet);
    }
}

impl<P> Observer<P> for () {}

/// A packet in the network.
#[derive(Clone, Debug)]
pub struct Carried<P> {
    /// The packet.
    pub packet: P,
    /// Its route.
    pub route: RouteId,
    /// The number of links of the route that it has come to.
    pub links: usize,
    /// Where it is.
    pub place: Place,
}

/// Where a packet is, at the last link that it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It was sent at this time, and has not come to its first link.
    Sent,
    /// In the queue.
    Queue,
    /// In transmission.
    Transmitter,
    /// On the line.
    Line {
        /// It is lost, which shows at the end of the line.
        lost: bool,
    },
}

/// A packet that has reached the end of its route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<P> {
    /// When, ns.
    pub at: u64,
    /// Its route.
    pub route: RouteId,
    /// The packet.
    pub packet: P,
}

/// What one event led to.
pub(crate) enum Step<P> {
    Inside,
    Delivered(Delivery<P>),
    TimerExpires { host: usize },
}

/// Links joined to a network. It is told when packets are sent, and returns them when they have reached the end of their
/// routes; between calls no time passes.
///
/// Times are nanoseconds of any clock, and never fall from call to call.
#[derive(Clone, Debug)]
pub struct Network<P, O = ()> {
    links: Vec<Link>,
    routes: Vec<Route>,
    packets: Slab<Carried<P>>,
    agenda: Agenda,
    /// For each link, the least time from the end of its line to the end of a route, ns.
    least_after: Vec<u64>,
    observer: O,
    /// Events handled so far.
    handled: u64,
    /// Packets that a queue has just dropped.
    dropped: Vec<u32>,
}

impl<P: Packet> Network<P> {
    /// Creates an idle network without an observer.
    ///
    /// # Errors
    /// See [`Network::with_observer`].
    pub fn new(links: &[LinkSpec], routes: Vec<Route>, settings: &Settings) -> Result<Self, NetworkError> {
        Network::with_observer(links, routes, settings, ())
    }
}

impl<P: Packet, O: Observer<P>> Network<P, O> {
    /// Creates an idle network.
    ///
    /// # Errors
    /// A route has no links, or they are not joined; or packets could pass some links round in a circle in no time.
    pub fn with_observer(
        links: &[LinkSpec],
        routes: Vec<Route>,
        settings: &Settings,
        observer: O,
    ) -> Result<Self, NetworkError> {
        for (i, Route { links: route, .. }) in routes.iter().enumerate() {
            let joined = |pair: &[LinkId]| links[pair[0]].to == links[pair[1]].from;
            let exist = route.iter().all(|&link| link < links.len());
            if route.is_empty() || !exist || !route.windows(2).all(joined) {
                return Err(NetworkError::Route(i));
            }
        }
        let specs = links;
        let links: Vec<Link> =
            specs.iter().enumerate().map(|(i, spec)| Link::new(spec, settings, i as u64)).collect();
        let instant = links.iter().map(Link::is_instant).collect();
        let agenda = Agenda::new(specs, &routes, instant, settings.ties_by_turn);
        Ok(Network {
            agenda: agenda.ok_or(NetworkError::InstantCircle)?,
            least_after: least_after(&links, &routes),
            links,
            routes,
            packets: Slab::new(),
            observer,
            handled: 0,
            dropped: Vec::new(),
        })
    }

    /// Sends a packet at `now`, after all that happens before. Returns false if the first link dropped it at once: that is
    /// possible where only hosts of one node feed the link and it was made to [decide at arrival](LinkSpec::is_plain). To every
    /// other link the packet comes by an event of its own at `now`.
    pub fn send(&mut self, now: u64, route: RouteId, packet: P) -> bool {
        let id = self.packets.insert(Carried { packet, route, links: 0, place: Place::Sent });
        let first = self.routes[route].links[0];
        if self.links[first].plain && self.agenda.has_one_feeding_node(first) {
            return self.arrive_at_link(now, first, id);
        }
        self.agenda.schedule_arrival(now, id, route, 0);
        true
    }

    /// Does what happens until `until`, inclusive, up to the next packet that reaches the end of its route. Returns that packet,
    /// or `None` if there is none.
    #[inline]
    pub fn next_delivery(&mut self, until: u64) -> Option<Delivery<P>> {
        while self.next_event().is_some_and(|at| at <= until) {
            if let Some(Step::Delivered(delivery)) = self.step() {
                return Some(delivery);
            }
        }
        None
    }

    /// Returns the time of the next event, if nothing is sent before.
    pub fn next_event(&self) -> Option<u64> {
        self.agenda.peek().map(|(at, _)| at)
    }

    /// Returns a time before which no packet reaches the end of its route, if nothing is sent before; `None` if none will. It may be later
    /// than the next event, since packets still have to cross the lines that are before them. With many events it is the next one's.
    pub fn no_delivery_before(&self) -> Option<u64> {
        let events = self.agenda.events();
        if events.len() > LOOKED_AT {
            return self.next_event();
        }
        let from_transmitter =
            |link: LinkId| self.links[link].line.least_delay().saturating_add(self.least_after[link]);
        let earliest = |(at, event): (u64, Event)| {
            let least = match event {
                Event::TransmissionEnds { link } | Event::TakeNext { link } => {
                    from_transmitter(link as usize)
                }
                Event::Arrival { packet } => {
                    let carried = self.packets.get(packet);
                    match self.link_of(carried) {
                        // Others may be on the line behind it that go no further.
                        Some(link) => self.least_after[link],
                        None => from_transmitter(self.routes[carried.route].links[0]),
                    }
                }
                Event::Timer { .. } => 0,
            };
            at.saturating_add(least)
        };
        events.map(earliest).min()
    }

    /// Returns the link whose transmission ends next, or whose line ends where the next packet arrives, if the next event is
    /// one of these.
    pub fn next_link(&self) -> Option<LinkId> {
        match self.agenda.peek()?.1 {
            Event::TransmissionEnds { link } => Some(link as usize),
            Event::Arrival { packet } => self.link_of(self.packets.get(packet)),
            Event::TakeNext { .. } | Event::Timer { .. } => None,
        }
    }

    /// Returns the number of events handled so far: transmissions that ended, arrivals and timers.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// Returns what a link has counted until `now`.
    pub fn counts(&mut self, link: LinkId, now: u64) -> &LinkCounts {
        self.links[link].integrate(now);
        &self.links[link].counts
    }

    /// Returns the number of links.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// Returns the routes.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Returns the number of packets that wait at a link, without the one in transmission.
    pub fn waiting(&self, link: LinkId) -> usize {
        self.links[link].queue.waiting()
    }

    /// Returns the packets in the network, each with the last link that it came to.
    pub fn packets(&self) -> impl Iterator<Item = (Option<LinkId>, &Carried<P>)> + '_ {
        self.packets.iter().map(|carried| (self.link_of(carried), carried))
    }

    /// Returns the observer.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// Returns the observer.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Returns the node of a host: where its routes begin and end.
    pub(crate) fn node_of(&self, host: usize) -> Result<NodeId, NetworkError> {
        let nodes = self.routes.iter().flat_map(|route| {
            let (first, last) = (route.links[0], route.links[route.links.len() - 1]);
            let (first, last) = (self.links[first].spec.from, self.links[last].spec.to);
            [(route.from, first), (route.to, last)]
        });
        let mut nodes = nodes.filter(|(is, _)| *is == host).map(|(_, node)| node);
        let node = nodes.next().ok_or(NetworkError::Host(host))?;
        if nodes.all(|other| other == node) { Ok(node) } else { Err(NetworkError::Host(host)) }
    }

    /// Takes into account that hosts respond to packets at once.
    pub(crate) fn add_hosts(&mut self) -> Result<(), NetworkError> {
        if self.agenda.add_hosts() { Ok(()) } else { Err(NetworkError::InstantCircle) }
    }

    pub(crate) fn set_timer(&mut self, at: u64, host: usize, node: NodeId) {
        self.agenda.schedule_timer(at, host, node);
    }

    /// Counts a timer that was due.
    pub(crate) fn count_timer(&mut self) {
        self.handled += 1;
    }

    /// Handles the next event.
    pub(crate) fn step(&mut self) -> Option<Step<P>> {
        let (at, number, event) = self.agenda.pop()?;
        match event {
            Event::TransmissionEnds { link } => self.transmission_ends(at, link as usize, number),
            Event::TakeNext { link } => {
                self.links[link as usize].set_leaving(None);
                self.take_next(at, link as usize, true);
            }
            Event::Arrival { packet } => {
                if let Some(delivery) = self.arrive(at, packet) {
                    return Some(Step::Delivered(delivery));
                }
            }
            Event::Timer { host } => return Some(Step::TimerExpires { host: host as usize }),
        }
        Some(Step::Inside)
    }

    /// A packet comes to the next link of its route, or to its end.
    fn arrive(&mut self, now: u64, id: u32) -> Option<Delivery<P>> {
        self.handled += 1;
        let Carried { route, links, place, .. } = *self.packets.get(id);
        if let Some(link) = self.link_of(self.packets.get(id)) {
            if self.links[link].take_from_agenda() {
                while let Some((at, next)) = self.links[link].next_on_line() {
                    self.schedule_arrival(at, next);
                }
            }
            if place == (Place::Line { lost: true }) {
                self.links[link].counts.lost += 1;
                let lost = self.packets.remove(id).packet;
                self.observer.lost(now, link, lost);
                return None;
            }
            self.links[link].counts.delivered += 1;
        }
        match self.routes[route].links.get(links) {
            Some(&link) => {
                self.arrive_at_link(now, link, id);
                None
            }
            None => Some(Delivery { at: now, route, packet: self.packets.remove(id).packet }),
        }
    }

    /// Returns false if the packet is dropped at once.
    fn arrive_at_link(&mut self, now: u64, number: LinkId, id: u32) -> bool {
        let carried = self.packets.get_mut(id);
        carried.links += 1;
        carried.place = Place::Queue;
        let link = &mut self.links[number];
        link.counts.data_arrived += u64::from(carried.packet.is_data());
        if let Some(remark) = link.spec.effects.ecn_remark {
            let codepoint = carried.packet.arrival().ecn;
            carried.packet.set_ecn(codepoint.remarked(remark));
        }
        let found = link.offer(now, id, carried.packet.arrival(), &mut self.dropped);
        let accepted = !self.dropped.contains(&id);
        if let Some(found) = found.filter(|_| accepted) {
            self.observer.queued(now, number, &carried.packet, found);
        }
        self.drop_packets(now, number);
        if found.is_some_and(|found| !found.transmitting) {
            self.take_next(now, number, false);
        }
        accepted
    }

    /// The transmitter is free, and takes packets until one takes time. `waited`: they waited behind another one.
    fn take_next(&mut self, now: u64, number: LinkId, mut waited: bool) {
        loop {
            let link = &mut self.links[number];
            link.integrate(now);
            let next = link.queue.dequeue(now, &mut self.dropped);
            let next = next.map(|next| (next, link.transmitter.finish(now, next.bytes, waited)));
            self.drop_packets(now, number);
            let Some((next, ends)) = next else { return };
            let link = &mut self.links[number];
            let carried = self.packets.get_mut(next.packet);
            if next.mark {
                link.counts.marked += 1;
                carried.packet.mark();
            }
            if ends > now {
                carried.place = Place::Transmitter;
                return self.transmit(number, next.packet, next.bytes, ends);
            }
            self.leave(now, number, next.packet, next.bytes);
            waited = true;
        }
    }

    fn transmit(&mut self, number: LinkId, packet: u32, bytes: u32, ends: u64) {
        // A packet that never leaves is in transmission all the same.
        let event = match ends {
            u64::MAX => 0,
            _ => self.agenda.schedule_transmission_end(ends, number),
        };
        self.links[number].transmit(Transmission { packet, bytes, ends, event });
    }

    fn transmission_ends(&mut self, now: u64, number: LinkId, event: u64) {
        let link = &mut self.links[number];
        let Some(Transmission { packet, bytes, .. }) = link.end_transmission(event) else { return };
        self.handled += 1;
        if link.takes_next_last() {
            link.set_leaving(Some(bytes));
            self.agenda.schedule_take_next(now, number);
            self.leave(now, number, packet, bytes);
        } else {
            self.leave(now, number, packet, bytes);
            self.take_next(now, number, true);
        }
    }

    /// A packet leaves the transmitter and is on the line.
    fn leave(&mut self, now: u64, number: LinkId, id: u32, bytes: u32) {
        let link = &mut self.links[number];
        link.counts.sent_bytes += u64::from(bytes);
        let crossing = link.line.cross(now);
        let carried = self.packets.get_mut(id);
        carried.place = Place::Line { lost: crossing.lost };
        self.observer.sent(now, number, &mut carried.packet, &link.counts);
        self.put_on_line(crossing.at, number, id);
        if crossing.twice {
            let mut copy = self.packets.get(id).clone();
            self.links[number].counts.copied += 1;
            self.observer.copied(now, number, &mut copy.packet);
            let copy = self.packets.insert(copy);
            self.put_on_line(crossing.at, number, copy);
        }
    }

    fn put_on_line(&mut self, at: u64, number: LinkId, id: u32) {
        if self.links[number].put_on_line(at, id) {
            self.schedule_arrival(at, id);
        }
    }

    fn schedule_arrival(&mut self, at: u64, id: u32) {
        let Carried { route, links, .. } = *self.packets.get(id);
        self.agenda.schedule_arrival(at, id, route, links);
    }

    fn drop_packets(&mut self, now: u64, number: LinkId) {
        for id in self.dropped.drain(..) {
            self.links[number].counts.dropped += 1;
            self.observer.dropped(now, number, self.packets.remove(id).packet);
        }
    }

    /// Returns the last link that a packet came to.
    fn link_of(&self, carried: &Carried<P>) -> Option<LinkId> {
        carried.links.checked_sub(1).map(|last| self.routes[carried.route].links[last])
    }
}

/// Returns for each link the least time from the end of its line to the end of a route, ns.
fn least_after(links: &[Link], routes: &[Route]) -> Vec<u64> {
    let mut least = vec![u64::MAX; links.len()];
    for Route { links: route, .. } in routes {
        let mut after = 0u64;
        for &link in route.iter().rev() {
            least[link] = least[link].min(after);
            after = after.saturating_add(links[link].line.least_delay());
        }
    }
    least
}
