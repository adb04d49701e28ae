//! Shortcuts of the merging links, taken only where they are exact.
//!
//! **Echo.** A receiver that acknowledges every packet at once, has one inlet and no timer, sees its packets
//! in the order in which the link before hands them on, and nothing else ever happens at its host. So that
//! link may do the host's work when it hands a packet on: the host's own links are crossed and the ACK is
//! sent, without the packet ever lying in a ring. If anything is out of the ordinary it does, until the host
//! has been run over what lies there.
//!
//! **Transparent links.** Where all ACKs into a link answer full data packets that left one and the same transmitter,
//! after the same delay, they come at least one data packet's serialisation apart, less what the longest ACK takes
//! longer than the shortest to come there. If an ACK takes less than that on it, the link never holds two packets: each
//! comes out after a fixed time, whatever the others do, and there is nothing to merge. Where flows begin with a shorter
//! packet, that is so while none is under way (`opening.rs`).
//!
//! A change of any link while the simulation runs puts an end to both, since what they rest on may not hold
//! any more.

use crate::fault::{self, Fault};
use crate::graph::{Feeder, Graph, Runner, feeders};
use crate::host::{Endpoint, Host};
use crate::link::{Lane, Link, Packed};
use crate::merge::Turn;
use crate::net::Net;
use cwnd_link::SerialTime;
use cwnd_scenario::{Discipline, Effects, LinkId, LinkSpec, Scenario};
use cwnd_tcp::packet::BARE;
use std::collections::{BTreeMap, BTreeSet};

/// SACK blocks of an ACK at most.
const MOST_BLOCKS: u32 = 4;

/// A receiver's host as the link before it sees it, and what has happened there since [`Echo::begin`]. What every
/// packet changes comes first, then what every packet asks: a cache line each.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Echo {
    inlet_lane: Lane,
    output_lane: Lane,
    /// The latest timestamp.
    stamp: u64,
    /// The segment expected, modulo 2^32.
    expected: u32,
    /// Whether there is a host for which it can stand, and whether it does.
    possible: bool,
    active: bool,
    /// A packet that comes to the inlet then or later would be answered too late.
    until: u64,
    /// How long an ACK takes over the transparent link.
    through_time: u64,
    /// The third and fourth word of an ACK, but for the segment.
    ack_words: [u64; 2],
    /// The ring that ACKs go into.
    last_ring: u32,
    /// `expected` at the beginning.
    first_expected: u32,
    host: u32,
    /// The ring before the host's inlet, its link, and the ring behind that.
    inlet: (u32, u32, u32),
    /// Its output link, and the ring behind that.
    output: (u32, u32),
    /// A transparent link behind that, and the ring behind it.
    through: Option<(u32, u32)>,
    channel: u32,
    /// Wire bytes of a packet and of an ACK.
    sizes: (u32, u32),
}

/// A link that is transparent as long as all data packets are full ones.
#[derive(Clone, Debug)]
pub struct Transparent {
    /// The link.
    pub link: LinkId,
    /// The rings into the inlets of the hosts that feed it.
    rings: Vec<usize>,
}

/// Find the shortcuts: for each ring into a host's inlet, the echo that may stand for it; and links that are transparent
/// once they are opened.
pub fn find(
    scenario: &Scenario,
    graph: &Graph,
    net: &mut Net,
    hosts: &[Host],
) -> (Vec<Echo>, Vec<Transparent>) {
    let mut echoes = vec![Echo::default(); net.rings.len()];
    for (i, host) in hosts.iter().enumerate() {
        let (Some(solo), [Endpoint::Receiver(receiver)]) = (host.solo(), &host.endpoints[..]) else {
            continue;
        };
        let Some(inlet) = solo.inlet_link() else { continue };
        let from = net.line_of[solo.inlet_ring() as usize].expect("a line ends in an inlet") as usize;
        if net.links[from].online.as_ref().is_some_and(|online| online.reorders()) {
            continue;
        }
        let loses = [inlet.0, solo.output().0].iter().any(|&link| net.links[link as usize].loses());
        if receiver.acknowledges_at_once() && graph.runners[from] == Runner::Itself && !loses {
            echoes[solo.inlet_ring() as usize] = Echo {
                possible: true,
                host: i as u32,
                inlet: (solo.inlet_ring(), inlet.0, inlet.1),
                output: solo.output(),
                channel: host.channel(),
                sizes: (scenario.stack.full_packet(), scenario.stack.ack_size),
                ..Echo::default()
            };
        }
    }
    let by_output: BTreeMap<u32, usize> =
        possible(&echoes).map(|(ring, echo)| (echo.output.0, ring)).collect();
    echoes.iter_mut().filter(|echo| echo.possible).for_each(|echo| echo.measure(&net.links));
    // Opened links rest on nothing overtaking.
    let links = &scenario.network.links;
    if scenario.stack.first_packet.is_some() && !links.iter().all(|link| keeps_order(link, hosts)) {
        return (echoes, Vec::new());
    }
    let feeders = feeders(scenario);
    let found = graph.links.iter().filter_map(|&link| {
        let rings = is_transparent(scenario, graph, net, &echoes, &by_output, &feeders[link], link)?;
        Some(Transparent { link, rings })
    });
    let transparent = found.collect();
    (echoes, transparent)
}

/// These links are transparent from now on.
pub fn open(links: &[Transparent], echoes: &mut [Echo], net: &mut Net) {
    for Transparent { link, rings } in links {
        net.links[*link].transparent = true;
        for &ring in rings {
            let echo = &mut echoes[ring];
            echo.through = Some((*link as u32, net.links[*link].ring_of(echo.channel)));
            echo.measure(&net.links);
        }
    }
}

/// They are not any more.
pub fn close(links: &[Transparent], echoes: &mut [Echo], net: &mut Net) {
    for Transparent { link, rings } in links {
        net.links[*link].transparent = false;
        for &ring in rings {
            echoes[ring].through = None;
            echoes[ring].measure(&net.links);
        }
    }
}

fn possible(echoes: &[Echo]) -> impl Iterator<Item = (usize, &Echo)> {
    echoes.iter().enumerate().filter(|(_, echo)| echo.possible)
}

/// If a link is transparent, the inlet rings of the hosts that feed it. `by_output` finds a host's ring by its
/// output link.
fn is_transparent(
    scenario: &Scenario,
    graph: &Graph,
    net: &Net,
    echoes: &[Echo],
    by_output: &BTreeMap<u32, usize>,
    feeders: &BTreeSet<Feeder>,
    link: LinkId,
) -> Option<Vec<usize>> {
    let stack = &scenario.stack;
    let (data, ack) = (stack.full_packet(), stack.ack_size);
    let blocks = if stack.sack { stack.sack_block_base + MOST_BLOCKS * stack.sack_block_each } else { 0 };
    let longest = ack + blocks;
    let whole = |bytes: Option<u64>| bytes.is_none_or(|bytes| bytes % u64::from(stack.payload) == 0);
    let one_size = !stack.handshake && scenario.flows.iter().all(|flow| whole(flow.bytes));
    if !one_size || net.links[link].loses() || net.links[link].online.is_some() {
        return None;
    }
    let time = |link: usize, size| SerialTime::new(scenario.network.links[link].rate).of(size);
    let (mut rings, mut nexts) = (Vec::new(), BTreeSet::new());
    let mut origin = None;
    for feeder in feeders {
        let &Feeder::Link(output) = feeder else { return None };
        let Runner::Output(_) = graph.runners[output] else { return None };
        let &ring = by_output.get(&(output as u32))?;
        let echo = &echoes[ring];
        let from = net.line_of[ring]? as usize;
        let inlet = echo.inlet.1 as usize;
        if !keeps_distances(&scenario.network.links[from]) {
            return None;
        }
        // Between two data packets of one transmitter lies the serialisation of the second.
        let apart = time(from, data);
        let between = apart.saturating_sub(time(output, longest) - time(output, ack));
        let two_fit = [inlet, output, link].iter().all(|&link| net.links[link].idle_grace() == 1);
        let slowest = time(inlet, data).max(time(output, longest));
        if slowest > apart || apart == 0 || !two_fit || time(link, longest) >= between {
            return None;
        }
        let links = &scenario.network.links;
        let after = links[inlet].delay.0 + links[output].delay.0 + time(inlet, data) + time(output, ack);
        if origin.is_some_and(|known| known != (from, after)) {
            return None;
        }
        origin = Some((from, after));
        rings.push(ring);
        // ACKs of different hosts pass out of order of time, so they must not meet behind the link.
        let next = net.links[link].ring_of(echo.channel);
        if !nexts.insert(next) {
            return None;
        }
    }
    Some(rings)
}

/// Whether a flow's packets come out of a link once, and in the order in which they went in.
fn keeps_order(link: &LinkSpec, hosts: &[Host]) -> bool {
    let Effects { jitter, duplication, slot: _, policer: _, ack_thinning: _ } = &link.effects;
    // It sorts by ECN codepoints, which change on the way; packets without stay together.
    let uses_ecn = |end: &Endpoint| matches!(end, Endpoint::Sender(sender) if sender.uses_ecn());
    let several_queues = matches!(link.queue.discipline, Discipline::DualPi2(_))
        && hosts.iter().flat_map(|host| &host.endpoints).any(uses_ecn);
    jitter.is_none() && *duplication == 0.0 && !several_queues
}

/// Whether packets come out of a link as far apart as its transmitter, at its rate, lets them go.
fn keeps_distances(link: &LinkSpec) -> bool {
    let Effects { slot, jitter, duplication, policer: _, ack_thinning: _ } = link.effects;
    link.schedule.is_none() && slot.is_none() && jitter.is_none() && duplication == 0.0
}

/// An ACK that an echo sends.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The ring that it goes into.
    pub ring: u32,
    /// When it comes out there.
    pub at: u64,
    /// Its third and fourth word (see `packet.rs`).
    pub sequence: u64,
    /// See `sequence`.
    pub rest: u64,
}

impl Echo {
    /// Take down what never changes while there are shortcuts.
    fn measure(&mut self, links: &[Link]) {
        self.last_ring = self.through.map_or(self.output.1, |(_, ring)| ring);
        self.ack_words =
            [u64::from(self.channel) << 32, u64::from(self.sizes.1) << 32 | u64::from(BARE) << 48];
        self.through_time =
            self.through.map_or(0, |(link, _)| links[link as usize].least_latency(self.sizes.1));
    }

    /// Whether there is a host for which it can stand.
    #[inline(always)]
    pub fn is_possible(&self) -> bool {
        self.possible
    }

    /// Whether it stands for the host at the moment.
    #[inline(always)]
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Stand for the host from now on, if nothing is out of order there. What is on its way to it is handled
    /// first: all of it comes before anything that this link will hand on.
    #[inline(never)]
    pub fn begin(&mut self, net: &mut Net, hosts: &mut [Host], stop: u64) -> bool {
        let host = &mut hosts[self.host as usize];
        host.run(net, &[], stop);
        if let Some((link, ring)) = self.through {
            while net.rings[self.output.1 as usize].next_at() < stop {
                let [at, sent, sequence, rest] = net.rings[self.output.1 as usize].pop_words();
                net.turns[self.output.1 as usize] = Turn { at, place: 0 };
                let link = &mut net.links[link as usize];
                link.arrived += 1;
                link.bare += 1;
                let at = link.pass_transparent(at, (rest >> 32) as u32 & 0xFFFF, ring);
                net.rings[ring as usize].push_words(at, sent, sequence, rest);
                net.note_arrival(ring, at);
            }
        }
        let Endpoint::Receiver(receiver) = &host.endpoints[0] else { return false };
        let way = [Some(self.inlet.0), Some(self.inlet.2), self.through.map(|_| self.output.1)];
        let empty = way.into_iter().flatten().all(|ring| net.rings[ring as usize].is_empty());
        let Some(expected) = receiver.plain_next().filter(|_| empty) else { return false };
        let inlet = net.links[self.inlet.1 as usize].open_lane(self.sizes.0, 0);
        let output = net.links[self.output.0 as usize].open_lane(self.sizes.1, 0);
        let (Some(inlet), Some(output)) = (inlet, output) else { return false };
        (self.inlet_lane, self.output_lane) = (inlet, output);
        self.until = stop.saturating_sub(inlet.lead + output.lead);
        self.active = true;
        self.expected = expected;
        self.first_expected = expected;
        true
    }

    /// A full packet without flags comes to the host's inlet at `at`. If it is acknowledged and nothing else
    /// happens before the time to stop, the ACK.
    #[inline(always)]
    pub fn answer(&mut self, at: u64, sent: u64, segment: u32) -> Option<Answer> {
        let arrival = at + self.inlet_lane.lead;
        let expected = segment == self.expected || fault::is(Fault::EchoOutOfOrder);
        if !expected || at < self.inlet_lane.ready || arrival < self.output_lane.ready || at >= self.until {
            return None;
        }
        self.inlet_lane.pass(at);
        self.output_lane.pass(arrival);
        self.expected = self.expected.wrapping_add(1);
        self.stamp = sent;
        Some(Answer {
            ring: self.last_ring,
            at: arrival + self.output_lane.lead + self.through_time,
            sequence: self.ack_words[0] | u64::from(self.expected),
            rest: self.ack_words[1],
        })
    }

    /// The ring that its ACKs go into.
    #[inline(always)]
    pub fn answers(&self) -> u32 {
        self.last_ring
    }

    /// Stand for the host no longer: give it and its links what has happened.
    #[inline(never)]
    pub fn end(&mut self, links: &mut [Link], turns: &mut [Turn], hosts: &mut [Host]) {
        self.active = false;
        let packets = u64::from(self.expected.wrapping_sub(self.first_expected));
        if packets == 0 {
            return;
        }
        if let Endpoint::Receiver(receiver) = &mut hosts[self.host as usize].endpoints[0] {
            receiver.took_plain(packets, self.stamp);
        }
        let (data, ack) = self.sizes;
        let last = Packed::new(data, self.inlet.2);
        links[self.inlet.1 as usize].close_lane(self.inlet_lane, packets, last, false);
        let last = Packed::new(ack, self.output.1);
        links[self.output.0 as usize].close_lane(self.output_lane, packets, last, true);
        if let Some((link, ring)) = self.through {
            let link = &mut links[link as usize];
            let [last, before] = self.output_lane.last_out();
            if packets > 1 {
                link.pass_transparent(before, ack, ring);
            }
            link.pass_transparent(last, ack, ring);
            turns[self.output.1 as usize] = Turn { at: last, place: 0 };
            link.arrived += packets;
            link.bare += packets;
        }
    }
}
