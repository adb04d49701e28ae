//! Watching packets as they enter and leave links, and senders.
//!
//! A watched point is a stage of its own ([`Tap`]): it stands in the rings before or behind a link, takes no time, and
//! changes nothing. So the links and hosts know nothing of it, and cost what they cost without. Shortcuts, which pass
//! links by, are not taken while anything is watched; they are exact, so that the outcome is the same.

use crate::link::{NOWHERE, NextRing};
use crate::merge::Merge;
use crate::net::Net;
pub use cwnd_cc::State;
use cwnd_scenario::LinkId;
use cwnd_tcp::packet::{LOST, Packet, SACK, SackBlocks};
pub use cwnd_tcp::{RoundTrips, SenderEvent};
use std::collections::{HashMap, VecDeque};

/// Where packets are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The link.
    pub link: LinkId,
    /// Which end of it.
    pub end: End,
}

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where packets come to its queue: those are there that the queue will drop, and marks of this queue are not.
    Enter,
    /// Where packets come out of its line: marks of its queue are there, and what was dropped or lost is not.
    Leave,
}

/// A packet that passed a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketEvent<'a> {
    /// The point's number among those that are watched.
    pub point: usize,
    /// When, ns after the scenario's time zero. Handshakes may come before that.
    pub at: i64,
    /// The packet.
    pub packet: &'a Packet,
    /// Its SACK blocks, if it has any.
    pub blocks: Option<&'a SackBlocks>,
    /// The link's queue dropped it after all. (At [`End::Enter`] alone; of equal packets the oldest counts as the one.)
    pub dropped: bool,
}

/// Who is told.
pub trait PacketObserver {
    /// A packet has passed. They are told of in order of time. At one time those come first that leave links, since what
    /// enters one may answer them; and then those of the first point.
    fn on_packet(&mut self, event: &PacketEvent<'_>) {
        let _ = event;
    }

    /// Something has happened to a flow's sender, `at` ns after the scenario's time zero. They are told of in order of time,
    /// and at one time by flow. (They are not in order with the packets.)
    fn on_sender_event(&mut self, flow: usize, at: i64, event: &SenderEvent) {
        let _ = (flow, at, event);
    }
}

/// Nobody is told.
pub(crate) struct NoopObserver;

impl PacketObserver for NoopObserver {}

/// A stage that notes what passes. There is one for each point.
#[derive(Debug)]
pub struct Tap {
    /// The end of its link at which it stands.
    pub end: End,
    /// Its input rings, in the order in which simultaneous arrivals are handled.
    pub inputs: Vec<u32>,
    /// Where packets go from here.
    pub next: NextRing,
}

impl Tap {
    /// Creates a tap at this end of a link, without rings.
    pub fn new(end: End) -> Tap {
        Tap { end, inputs: Vec::new(), next: NextRing::One(NOWHERE) }
    }

    /// Let what arrives before `limit` pass. Answers how many packets did.
    fn run(&self, net: &mut Net, merge: &mut Merge, limit: u64, seen: &mut VecDeque<Seen>) -> u64 {
        merge.clear();
        for (input, &ring) in self.inputs.iter().enumerate() {
            let at = net.rings[ring as usize].next_at();
            if at < limit {
                merge.push(at, net.turns[ring as usize], input as u32);
            }
        }
        if !merge.begin() {
            return 0;
        }
        let mut packets = 0;
        while let Some(first) = merge.first() {
            let ring = self.inputs[first.input as usize];
            let until = first.until.min(limit);
            let mut came = first.at;
            let next = loop {
                let at = net.rings[ring as usize].next_at();
                if at >= until {
                    break at;
                }
                came = at;
                packets += 1;
                self.pass(net, ring, seen);
            };
            if next < limit {
                merge.go_on(came, next);
            } else {
                net.turns[ring as usize] = merge.end(came);
            }
        }
        packets
    }

    /// Passes on the first packet of a ring. A lost packet does not reach a link's queue and is not observed. But it has
    /// its turn at the next link, like all others, so a tap behind a line passes it on.
    fn pass(&self, net: &mut Net, ring: u32, seen: &mut VecDeque<Seen>) {
        let packet = net.rings[ring as usize].pop();
        let next = self.next.of(packet.channel);
        if packet.is(LOST) {
            if self.end == End::Enter {
                return net.end_of_line(ring, &packet);
            }
        } else {
            let blocks = packet.is(SACK).then(|| net.sacks.look(packet.aux));
            seen.push_back(Seen { packet, blocks, dropped: false });
        }
        net.rings[next as usize].push(packet);
        net.note_arrival(next, packet.at);
    }
}

/// A packet that has passed a point.
#[derive(Debug)]
struct Seen {
    packet: Packet,
    blocks: Option<SackBlocks>,
    dropped: bool,
}

/// What is watched, and what has been seen and not told of yet.
#[derive(Debug)]
pub(crate) struct Watch {
    points: Vec<Point>,
    seen: Vec<VecDeque<Seen>>,
}

impl Watch {
    pub(crate) fn new(points: &[Point]) -> Watch {
        Watch { points: points.to_vec(), seen: points.iter().map(|_| VecDeque::new()).collect() }
    }

    /// Let a tap do what it can before `limit`. Answers how many packets passed.
    pub(crate) fn run_tap(
        &mut self,
        point: usize,
        tap: &Tap,
        net: &mut Net,
        merge: &mut Merge,
        limit: u64,
    ) -> u64 {
        tap.run(net, merge, limit, &mut self.seen[point])
    }

    /// The point at which a link's packets enter it.
    fn entrance(&self, link: LinkId) -> Option<usize> {
        self.points.iter().position(|point| *point == Point { link, end: End::Enter })
    }

    /// A link is about to run: what it drops is asked for.
    pub(crate) fn before_link(&self, link: LinkId, net: &mut Net) {
        net.dropped = self.entrance(link).map(|_| Vec::new());
    }

    /// It has run.
    pub(crate) fn after_link(&mut self, link: LinkId, net: &mut Net) {
        let (Some(point), Some(dropped)) = (self.entrance(link), net.dropped.take()) else { return };
        for packet in dropped {
            let found = self.seen[point].iter_mut().find(|seen| !seen.dropped && same(&seen.packet, &packet));
            if let Some(seen) = found {
                seen.dropped = true;
            }
        }
    }

    /// Tell of all that was seen before `handled` (for each point a time before which everything has been handled at its
    /// tap and its link) and of whose fate nothing is open any more.
    pub(crate) fn report(
        &mut self,
        handled: impl Fn(usize, &Point) -> u64,
        net: &Net,
        origin: u64,
        to: &mut dyn PacketObserver,
    ) {
        let points = self.points.iter().enumerate();
        let until = points.map(|(i, point)| {
            let handled = handled(i, point);
            handled.min(self.open_from(i, handled, net))
        });
        let until = until.min().unwrap_or(0);
        self.report_until(until, origin, to);
    }

    /// Tell of everything that was seen.
    pub(crate) fn report_rest(&mut self, origin: u64, to: &mut dyn PacketObserver) {
        self.report_until(u64::MAX, origin, to);
    }

    fn report_until(&mut self, until: u64, origin: u64, to: &mut dyn PacketObserver) {
        loop {
            let firsts = self.seen.iter().enumerate();
            let enters = |point: usize| self.points[point].end == End::Enter;
            let firsts =
                firsts.filter_map(|(point, seen)| Some((seen.front()?.packet.at, enters(point), point)));
            let Some((at, _, point)) = firsts.min().filter(|(at, ..)| *at < until) else { return };
            if let Some(Seen { packet, blocks, dropped }) = self.seen[point].pop_front() {
                let at = at as i64 - origin as i64;
                to.on_packet(&PacketEvent { point, at, packet: &packet, blocks: blocks.as_ref(), dropped });
            }
        }
    }

    /// Returns when the first packet passed a point that its link may still drop: one that waits in a queue. The link has
    /// handled what arrived before `handled`; later packets may be equal to those in its queue.
    fn open_from(&self, point: usize, handled: u64, net: &Net) -> u64 {
        let Point { link, end } = self.points[point];
        let (Some(queued), End::Enter) = (net.links[link].queued(), end) else { return u64::MAX };
        let mut waiting = HashMap::new();
        for packet in queued.packets() {
            *waiting.entry(identity(&packet)).or_insert(0u32) += 1;
        }
        // The latest of equal ones are those that wait.
        let mut first = u64::MAX;
        let arrived = self.seen[point].iter().rev().skip_while(|seen| seen.packet.at >= handled);
        for Seen { packet, dropped, .. } in arrived {
            if let Some(count) = waiting.get_mut(&identity(packet)).filter(|count| **count > 0 && !dropped) {
                *count -= 1;
                first = packet.at;
            }
        }
        first
    }
}

/// What tells a packet from others, whatever the queue has added to it.
fn identity(packet: &Packet) -> [u64; 3] {
    let [_, sent, sequence, rest] = Packet { flags: 0, ..*packet }.to_words();
    [sent, sequence, rest]
}

fn same(one: &Packet, other: &Packet) -> bool {
    identity(one) == identity(other)
}
