//! The network between the two ends, in its own time: it is told what enters and asked what has come out by a time.
//!
//! Queues, transmitters, lines and policers are those of `cwnd-link`; here they are joined to a graph. Nothing here knows of
//! clocks or devices, so that it can be tested without either.

use super::packet;
use super::pool::{Pool, Sent, Slot};
use cwnd_link::{Arrival, Codepoint, Line, Policer, Purpose, Queue, Stream, Transmitter};
use cwnd_scenario::{LinkSpec, Network};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The number of a flow and a direction: twice the flow's, and one more for what goes from its receiver to its sender.
pub type Way = u32;

/// What becomes of packets, for whoever counts.
pub trait Observer {
    /// A queue or a policer has dropped it. It is gone.
    fn dropped(&mut self, pool: &Pool, slot: Slot);
    /// It was lost on a line. It is gone.
    fn lost(&mut self, pool: &Pool, slot: Slot);
    /// A line has doubled it.
    fn copied(&mut self, pool: &Pool, slot: Slot);
    /// It comes out of the last link of its way at `at`, and belongs to the observer.
    fn out(&mut self, pool: &mut Pool, at: u64, slot: Slot);
}

/// What a link has counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkCounts {
    /// Packets that came.
    pub arrived: u64,
    /// Of these, those with data of a flow.
    pub data_arrived: u64,
    /// Dropped by policer and queue.
    pub dropped: u64,
    /// Lost on the line.
    pub lost: u64,
    /// Marked by the queue.
    pub marked: u64,
    /// Copies that the line made.
    pub copied: u64,
    /// Packets that came out.
    pub delivered: u64,
    /// Waiting packets integrated over time, packets x ns.
    pub waiting_integral: u128,
    /// Most packets that waited.
    pub max_waiting: u64,
    /// Wire bytes that left the transmitter.
    pub sent_bytes: u64,
}

/// The network.
pub struct Net {
    links: Vec<Link>,
    ways: Vec<Vec<u32>>,
    agenda: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// The number of the next entry of the agenda: what happens at one time happens in the order in which it was written.
    order: u64,
    /// Wire bytes of a packet beyond its own.
    overhead: u32,
    bottleneck: usize,
    dropped: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The packet in transmission leaves a link.
    Leaves(u32),
    /// The first packet on a link's line comes out.
    Out(u32),
    /// A packet comes out of a line on which packets overtake each other.
    Alone(u32, Slot),
}

struct Link {
    queue: Queue<Slot>,
    policer: Option<Policer>,
    transmitter: Transmitter,
    line: Line,
    sending: Option<(Slot, u32)>,
    /// In the order in which they come out; not used where packets overtake each other.
    on_line: VecDeque<(u64, Slot)>,
    counts: LinkCounts,
    /// Until when the waiting packets have been integrated.
    integrated: u64,
    /// How often it has been idle.
    rests: u32,
}

impl Net {
    /// An idle network. `ways` has the links of each [`Way`]; the scenario's time zero is `origin` on the clock of all that
    /// follows; a packet has `overhead` wire bytes beyond those that it brings, and a full one `full_packet` in all.
    pub fn new(
        network: &Network,
        ways: Vec<Vec<u32>>,
        full_packet: u32,
        overhead: u32,
        origin: u64,
        seed: u64,
    ) -> Net {
        let links = network.links.iter().enumerate();
        Net {
            links: links.map(|(i, spec)| Link::new(spec, full_packet, origin, seed, i as u64)).collect(),
            ways,
            agenda: BinaryHeap::new(),
            order: 0,
            overhead,
            bottleneck: network.bottleneck,
            dropped: Vec::new(),
        }
    }

    /// A packet enters its way at `now`, when all that comes before has happened.
    pub fn enter(&mut self, pool: &mut Pool, now: u64, slot: Slot, observer: &mut impl Observer) {
        pool.meta_mut(slot).hop = 0;
        self.go_on(pool, now, slot, observer);
    }

    /// Let happen what happens by `now`.
    #[inline]
    pub fn advance(&mut self, pool: &mut Pool, now: u64, observer: &mut impl Observer) {
        while let Some(Reverse((at, ..))) = self.agenda.peek()
            && *at <= now
            && let Some(Reverse((at, _, event))) = self.agenda.pop()
        {
            match event {
                Event::Leaves(link) => self.leaves(pool, at, link, observer),
                Event::Out(link) => {
                    let on_line = &mut self.links[link as usize].on_line;
                    let (_, slot) = on_line.pop_front().expect("its coming out is on the agenda");
                    if let Some(&(next, _)) = on_line.front() {
                        self.plan(next, Event::Out(link));
                    }
                    self.comes_out(pool, at, link, slot, observer);
                }
                Event::Alone(link, slot) => self.comes_out(pool, at, link, slot, observer),
            }
        }
    }

    /// When something happens next, if nothing enters.
    pub fn next_event(&self) -> Option<u64> {
        self.agenda.peek().map(|Reverse((at, ..))| *at)
    }

    /// What a link has counted until `now`.
    pub fn counts(&mut self, link: usize, now: u64) -> LinkCounts {
        self.links[link].integrate(now);
        self.links[link].counts.clone()
    }

    /// How many links there are.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// Packets that wait at a link, without the one in transmission.
    pub fn waiting(&self, link: usize) -> usize {
        self.links[link].queue.waiting()
    }

    /// The packets in the network.
    pub fn packets(&self) -> impl Iterator<Item = (usize, Slot)> + '_ {
        self.waiting_packets().chain(self.packets_in_transmission()).chain(self.packets_on_lines())
    }

    fn waiting_packets(&self) -> impl Iterator<Item = (usize, Slot)> + '_ {
        let links = self.links.iter().enumerate();
        links.flat_map(|(i, link)| link.queue.iter().map(move |slot| (i, *slot)))
    }

    fn packets_in_transmission(&self) -> impl Iterator<Item = (usize, Slot)> + '_ {
        let links = self.links.iter().enumerate();
        links.flat_map(|(i, link)| link.sending.iter().map(move |(slot, _)| (i, *slot)))
    }

    fn packets_on_lines(&self) -> impl Iterator<Item = (usize, Slot)> + '_ {
        let overtaking = self.agenda.iter().filter_map(|Reverse((_, _, event))| match event {
            Event::Alone(link, slot) => Some((*link as usize, *slot)),
            Event::Leaves(_) | Event::Out(_) => None,
        });
        let links = self.links.iter().enumerate();
        let others = links.flat_map(|(i, link)| link.on_line.iter().map(move |(_, slot)| (i, *slot)));
        others.chain(overtaking)
    }

    /// Returns how many links each flow's data crosses.
    pub fn links_of_data(&self) -> impl Iterator<Item = usize> + '_ {
        self.ways.iter().step_by(2).map(Vec::len)
    }

    /// Returns the packets in the network, each with the number of links on its way that have sent it. With `begun`, a link that
    /// is sending it counts too.
    pub fn progress(&self, pool: &Pool, begun: bool) -> Vec<(Slot, usize)> {
        // `hop` is that of the next link.
        let crossed = |slot: Slot, has_left: bool| {
            (slot, (pool.meta(slot).hop as usize).saturating_sub(usize::from(!has_left)))
        };
        let waiting = self.waiting_packets().map(|(_, slot)| crossed(slot, false));
        let in_transmission = self.packets_in_transmission().map(|(_, slot)| crossed(slot, begun));
        let on_lines = self.packets_on_lines().map(|(_, slot)| crossed(slot, true));
        waiting.chain(in_transmission).chain(on_lines).collect()
    }

    /// On to the next link of its way, or out.
    fn go_on(&mut self, pool: &mut Pool, now: u64, slot: Slot, observer: &mut impl Observer) {
        let meta = pool.meta_mut(slot);
        match self.ways[meta.way as usize].get(meta.hop as usize) {
            Some(&link) => {
                meta.hop += 1;
                self.arrive(pool, now, link, slot, observer);
            }
            None => observer.out(pool, now, slot),
        }
    }

    fn arrive(&mut self, pool: &mut Pool, now: u64, link: u32, slot: Slot, observer: &mut impl Observer) {
        let meta = *pool.meta(slot);
        let state = &mut self.links[link as usize];
        let about = Arrival {
            bytes: meta.length + self.overhead,
            flow: meta.way,
            ecn: meta.ecn,
            plain_ack: meta.tcp.is_some_and(|tcp| tcp.plain_ack),
        };
        state.counts.arrived += 1;
        state.counts.data_arrived += u64::from(meta.data);
        state.integrate(now);
        if let Some(policer) = &mut state.policer
            && !policer.admits(now, about.bytes)
        {
            self.dropped.push(slot);
            return self.drop_packet(pool, link, observer);
        }
        let transmitting = state.sending.map(|(_, bytes)| bytes);
        let before = state.queue.waiting();
        state.queue.enqueue(now, slot, about, transmitting, &mut self.dropped);
        if state.queue.waiting() > before {
            let found = (before + usize::from(transmitting.is_some())) as u64;
            state.counts.max_waiting = state.counts.max_waiting.max(found);
        }
        if transmitting.is_none() {
            state.rests += 1;
            self.send(pool, now, link, false);
        }
        self.drop_packet(pool, link, observer);
    }

    /// The transmitter is free, and takes the next packet; it `waited` if it was there while the one before it was sent.
    fn send(&mut self, pool: &mut Pool, now: u64, link: u32, waited: bool) {
        let state = &mut self.links[link as usize];
        state.integrate(now);
        state.sending = None;
        let Some(next) = state.queue.dequeue(now, &mut self.dropped) else { return };
        if next.mark {
            state.counts.marked += 1;
            let meta = pool.meta_mut(next.packet);
            meta.ecn = Codepoint::Ce;
            let length = meta.length as usize;
            packet::mark(&mut pool.room(next.packet)[..length]);
        }
        state.sending = Some((next.packet, next.bytes));
        let leaves = state.transmitter.finish(now, next.bytes, waited);
        // One that never leaves is in transmission all the same.
        if leaves != u64::MAX {
            self.plan(leaves, Event::Leaves(link));
        }
    }

    fn leaves(&mut self, pool: &mut Pool, now: u64, link: u32, observer: &mut impl Observer) {
        let state = &mut self.links[link as usize];
        let (slot, bytes) = state.sending.expect("its leaving is on the agenda");
        state.counts.sent_bytes += u64::from(bytes);
        if link as usize == self.bottleneck {
            pool.meta_mut(slot).sent =
                Some(Sent { at: now, bytes: state.counts.sent_bytes, rests: state.rests });
        }
        let crossing = state.line.cross(now);
        if crossing.lost {
            state.counts.lost += 1;
            observer.lost(pool, slot);
            pool.give_back(slot);
        } else {
            self.put_on_line(crossing.at, link, slot);
            if crossing.twice {
                self.links[link as usize].counts.copied += 1;
                observer.copied(pool, slot);
                let copy = pool.copy(slot);
                self.put_on_line(crossing.at, link, copy);
            }
        }
        self.send(pool, now, link, true);
        self.drop_packet(pool, link, observer);
    }

    fn put_on_line(&mut self, at: u64, link: u32, slot: Slot) {
        let state = &mut self.links[link as usize];
        if state.line.reorders() {
            return self.plan(at, Event::Alone(link, slot));
        }
        state.on_line.push_back((at, slot));
        if state.on_line.len() == 1 {
            self.plan(at, Event::Out(link));
        }
    }

    fn comes_out(&mut self, pool: &mut Pool, at: u64, link: u32, slot: Slot, observer: &mut impl Observer) {
        self.links[link as usize].counts.delivered += 1;
        self.go_on(pool, at, slot, observer);
    }

    fn drop_packet(&mut self, pool: &mut Pool, link: u32, observer: &mut impl Observer) {
        for slot in self.dropped.drain(..) {
            self.links[link as usize].counts.dropped += 1;
            observer.dropped(pool, slot);
            pool.give_back(slot);
        }
    }

    fn plan(&mut self, at: u64, event: Event) {
        self.agenda.push(Reverse((at, self.order, event)));
        self.order += 1;
    }
}

impl Link {
    fn new(spec: &LinkSpec, full_packet: u32, origin: u64, seed: u64, index: u64) -> Link {
        let stream = Stream::new(seed, Purpose::Queue, index);
        let thinning = spec.effects.ack_thinning;
        Link {
            queue: Queue::new(&spec.queue, thinning, spec.rate, full_packet, stream),
            policer: spec.effects.policer.as_ref().map(Policer::new),
            transmitter: Transmitter::new(spec.rate, spec.schedule.as_ref(), origin),
            line: Line::new(spec, origin, seed, index),
            sending: None,
            on_line: VecDeque::new(),
            counts: LinkCounts::default(),
            integrated: 0,
            rests: 0,
        }
    }

    /// Before the number of waiting packets changes.
    fn integrate(&mut self, now: u64) {
        let waiting = self.queue.waiting() as u128;
        self.counts.waiting_integral += waiting * u128::from(now.saturating_sub(self.integrated));
        self.integrated = self.integrated.max(now);
    }
}

#[cfg(test)]
mod tests;
