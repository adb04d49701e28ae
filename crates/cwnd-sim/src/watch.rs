//! Observes packets that enter and leave links, and senders.
//!
//! An observed point is a stage of its own, a [`Tap`], in the rings before or behind a link. It takes no time and does not
//! change the outcome. Links and hosts do not depend on it, so a run without observed points costs no more. The fast path
//! skips links, so an observed run takes the general path.

use crate::link::{NOWHERE, NextRing};
use crate::merge::Merge;
use crate::net::Net;
pub use cwnd_cc::{Observable, State};
use cwnd_scenario::LinkId;
use cwnd_tcp::packet::{LOST, Packet, SACK, SackBlocks};
pub use cwnd_tcp::{RoundTrips, SenderEvent};
use std::collections::{HashMap, VecDeque};

/// A place where packets are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The link.
    pub link: LinkId,
    /// The end of the link.
    pub end: End,
}

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The arrival at its queue: before drops and marks by this queue.
    Enter,
    /// The end of its line: after drops, marks and losses of this link.
    Leave,
}

/// A packet that passed a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketEvent<'a> {
    /// The index of the point among the observed points.
    pub point: usize,
    /// The time, ns after the scenario's time zero. It is negative in a handshake before that.
    pub at: i64,
    /// The packet.
    pub packet: &'a Packet,
    /// Its SACK blocks, if it has any.
    pub blocks: Option<&'a SackBlocks>,
    /// Whether the link's queue drops it; only at [`End::Enter`]. Among equal packets the oldest is reported as dropped.
    pub dropped: bool,
}

/// Receives the events of an observed run.
pub trait PacketObserver {
    /// Is called for each packet that passes a point, in order of time. At the same time, packets that leave links come first,
    /// because a packet that enters a link may be a response to them; then the first point comes first.
    fn on_packet(&mut self, event: &PacketEvent<'_>) {
        let _ = event;
    }

    /// Is called for each event at a flow's sender, `at` ns after the scenario's time zero, in order of time, then of flow.
    /// These events are not ordered relative to packets.
    fn on_sender_event(&mut self, flow: usize, at: i64, event: &SenderEvent) {
        let _ = (flow, at, event);
    }
}

/// Ignores all events.
pub(crate) struct NoopObserver;

impl PacketObserver for NoopObserver {}

/// A stage that records the packets that pass it. There is one for each observed point.
#[derive(Debug)]
pub struct Tap {
    /// The end of its link at which it stands.
    pub end: End,
    /// Its input rings, in the order in which simultaneous arrivals are handled.
    pub inputs: Vec<u32>,
    /// The rings behind it.
    pub next: NextRing,
}

impl Tap {
    /// Creates a tap at this end of a link, without rings.
    pub fn new(end: End) -> Tap {
        Tap { end, inputs: Vec::new(), next: NextRing::One(NOWHERE) }
    }

    /// Passes on packets that arrive before `limit`. Returns their number.
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

/// The observed points, and the packets that have passed them and have not been reported yet.
#[derive(Debug)]
pub(crate) struct Watch {
    points: Vec<Point>,
    seen: Vec<VecDeque<Seen>>,
}

impl Watch {
    pub(crate) fn new(points: &[Point]) -> Watch {
        Watch { points: points.to_vec(), seen: points.iter().map(|_| VecDeque::new()).collect() }
    }

    /// Lets a tap handle everything before `limit`. Returns how many packets passed.
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

    /// Returns the observed point at the entrance of a link.
    fn entrance(&self, link: LinkId) -> Option<usize> {
        self.points.iter().position(|point| *point == Point { link, end: End::Enter })
    }

    /// Asks for the drops of a link that is about to run.
    pub(crate) fn before_link(&self, link: LinkId, net: &mut Net) {
        net.dropped = self.entrance(link).map(|_| Vec::new());
    }

    /// Marks the packets that a link dropped in the run that has ended.
    pub(crate) fn after_link(&mut self, link: LinkId, net: &mut Net) {
        let (Some(point), Some(dropped)) = (self.entrance(link), net.dropped.take()) else { return };
        for packet in dropped {
            let found = self.seen[point].iter_mut().find(|seen| !seen.dropped && same(&seen.packet, &packet));
            if let Some(seen) = found {
                seen.dropped = true;
            }
        }
    }

    /// Reports packets before the first one that may still be dropped. `handled` returns for each point a time before which its
    /// tap and its link have handled everything.
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

    /// Reports all packets.
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
        // Among equal packets the latest ones wait.
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

/// Returns the parts of a packet that identify it. A queue may change its flags.
fn identity(packet: &Packet) -> [u64; 3] {
    let [_, sent, sequence, rest] = Packet { flags: 0, ..*packet }.to_words();
    [sent, sequence, rest]
}

fn same(one: &Packet, other: &Packet) -> bool {
    identity(one) == identity(other)
}
