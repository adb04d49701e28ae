//! Zero-queue links: links for ACKs that never hold two packets.
//!
//! Where all ACKs into a link acknowledge full data packets that left one and the same transmitter, after the same delay,
//! they arrive at least one serialisation time of a data packet apart, less the time that the longest ACK takes longer to
//! come there than the shortest. If an ACK takes less than that on the link, the link never holds two packets: each comes
//! out after a fixed time, whatever the others do, and nothing has to be merged. Where flows begin with a shorter packet,
//! this holds while none of those is under way ([`super::first_packet_guard`]).

use super::inline_receiver::InlineReceiver;
use crate::graph::{Feeder, Graph, Runner};
use crate::host::{Endpoint, Host};
use crate::link::{ClosedForm, Link, PacketInRing};
use crate::merge::Turn;
use crate::net::Net;
use crate::stage::LinkRun;
use cwnd_link::SerialTime;
use cwnd_scenario::{AccurateEcn, Discipline, Ecn, Effects, LinkId, LinkSpec, Scenario, Stack};
use cwnd_tcp::accurate_ecn::OPTION_SIZE;
use cwnd_tcp::packet::{BARE, LOST, Packet};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// SACK blocks of an ACK at most.
const MOST_BLOCKS: u32 = 4;

/// A link that has no queue as long as all data packets are full ones.
#[derive(Clone, Debug)]
struct ZeroQueueLink {
    link: LinkId,
    /// The rings into the inlets of the hosts that feed it.
    rings: Vec<usize>,
}

/// The zero-queue links of a scenario.
#[derive(Debug, Default)]
pub struct ZeroQueueLinks {
    links: Vec<ZeroQueueLink>,
    /// Whether it is treated as such now.
    open: AtomicBool,
}

impl ZeroQueueLinks {
    /// Finds the links of which it is proven. They are closed.
    pub fn find(
        scenario: &Scenario,
        graph: &Graph,
        net: &Net,
        hosts: &[Host],
        receivers: &[InlineReceiver],
    ) -> ZeroQueueLinks {
        // The first-packet guard relies on packets that do not overtake each other.
        let specs = &scenario.network.links;
        if scenario.stack.first_packet.is_some() && !specs.iter().all(|link| keeps_order(link, hosts)) {
            return ZeroQueueLinks::default();
        }
        let mut by_output = vec![None; specs.len()];
        for (ring, receiver) in receivers.iter().enumerate().filter(|(_, receiver)| receiver.is_possible()) {
            by_output[receiver.output_link() as usize] = Some(ring);
        }
        let search = Search { scenario, graph, net, receivers, by_output };
        let found = graph.links.iter().filter_map(|&link| {
            let rings = search.feeding_rings(link, graph.feeders.of(link))?;
            Some(ZeroQueueLink { link, rings })
        });
        ZeroQueueLinks { links: found.collect(), open: false.into() }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Returns whether a link is treated as a zero-queue link now.
    #[inline]
    pub fn contains(&self, link: u32) -> bool {
        self.open.load(Ordering::Relaxed) && self.links.iter().any(|known| known.link == link as usize)
    }

    /// Returns when the last of their transmitters is free.
    pub fn free_at(&self, net: &mut Net) -> u64 {
        self.links.iter().map(|known| net.links[known.link].closed_form().free_at()).max().unwrap_or(0)
    }

    /// Treats them as zero-queue links from now on, or not any more.
    pub fn set_open(&self, open: bool, receivers: &mut [InlineReceiver], net: &Net) {
        self.open.store(open, Ordering::Relaxed);
        for ZeroQueueLink { link, rings } in &self.links {
            for &ring in rings {
                receivers[ring].set_through(open.then_some(*link as u32), net);
            }
        }
    }
}

/// Lets a packet pass a zero-queue link; later packets may have passed it already. Returns when it reaches the end of the
/// line.
#[inline(always)]
pub fn pass(link: &mut ClosedForm, now: u64, size: u32, ring: u32) -> u64 {
    let departure = now + link.serial_time(size);
    let [previous, last] = link.last_departures();
    if departure > last {
        link.set_last_departures([last, departure], PacketInRing::new(size, ring));
    } else if departure > previous {
        link.set_departure_before_last(departure);
    }
    link.end_of_line(departure)
}

/// Returns the wire bytes of the longest ACK: one with SACK blocks, or with the option of accurate ECN instead.
pub fn longest_ack(stack: &Stack) -> u32 {
    let blocks = if stack.sack { stack.sack_block_base + MOST_BLOCKS * stack.sack_block_each } else { 0 };
    let option = match stack.ecn {
        Ecn::Accurate(AccurateEcn { option: true, .. }) => OPTION_SIZE,
        _ => 0,
    };
    stack.ack_size + blocks.max(option)
}

/// Lets everything that arrives before the limit pass a zero-queue link. Returns how many packets came.
///
/// Its inputs lead to different rings, so that they need not be merged.
pub fn run(net: &mut Net, run: &LinkRun<'_>) -> u64 {
    let mut state = std::mem::replace(&mut net.links[run.link as usize], Link::placeholder());
    let link = state.closed_form();
    let mut packets = 0;
    for &input in run.inputs {
        if net.input_wakes(input) >= run.limit {
            continue;
        }
        while net.rings[input as usize].next_at() < run.limit {
            let [at, sent, sequence, rest] = net.rings[input as usize].pop_words();
            net.turns[input as usize] = Turn { at, place: 0 };
            let flags = (rest >> 48) as u16;
            if flags & LOST != 0 {
                net.end_of_line(input, &Packet::from_words([at, sent, sequence, rest]));
                continue;
            }
            packets += 1;
            link.arrivals.packets += 1;
            link.arrivals.bare += u64::from(flags & BARE);
            let ring = link.next.of((sequence >> 32) as u32);
            let at = pass(link, at, (rest >> 32) as u32 & 0xFFFF, ring);
            net.rings[ring as usize].push_words(at, sent, sequence, rest);
            net.note_arrival(ring, at);
        }
        net.set_input_wakes(input, net.rings[input as usize].next_at());
    }
    net.links[run.link as usize] = state;
    packets
}

/// Values of the proof.
struct Search<'a> {
    scenario: &'a Scenario,
    graph: &'a Graph,
    net: &'a Net,
    receivers: &'a [InlineReceiver],
    /// For each link that is the output of a host with an inline receiver, the ring into the host's inlet.
    by_output: Vec<Option<usize>>,
}

impl Search<'_> {
    /// Returns the inlet rings of the hosts that feed a link, if it never holds two packets.
    fn feeding_rings(&self, link: LinkId, feeders: &[Feeder]) -> Option<Vec<usize>> {
        let stack = &self.scenario.stack;
        let (data, ack) = (stack.full_packet(), stack.ack_size);
        let longest = longest_ack(stack);
        let whole = |bytes: Option<u64>| bytes.is_none_or(|bytes| bytes % u64::from(stack.payload) == 0);
        let one_size = !stack.handshake && self.scenario.flows.iter().all(|flow| whole(flow.bytes));
        let admits_two = |link: LinkId| match &self.net.links[link] {
            Link::ClosedForm(state) => state.admits_two() && state.steps().is_none(),
            Link::Queued(_) => false,
        };
        let Link::ClosedForm(state) = &self.net.links[link] else { return None };
        if !one_size || state.has_random_line() {
            return None;
        }
        let links = &self.scenario.network.links;
        let time = |link: usize, size| SerialTime::new(links[link].rate).of(size);
        let (mut rings, mut nexts) = (Vec::new(), BTreeSet::new());
        let mut origin = None;
        for feeder in feeders {
            let &Feeder::Link(output) = feeder else { return None };
            let Runner::Output(_) = self.graph.runners[output] else { return None };
            let ring = self.by_output[output]?;
            let receiver = &self.receivers[ring];
            let from = self.net.line_of[ring]? as usize;
            let inlet = receiver.inlet_link() as usize;
            if !keeps_distances(&links[from]) {
                return None;
            }
            // Between two data packets of one transmitter lies the serialisation of the second.
            let apart = time(from, data);
            let between = apart.saturating_sub(time(output, longest) - time(output, ack));
            let slowest = time(inlet, data).max(time(output, longest));
            let two_fit = [inlet, output, link].into_iter().all(admits_two);
            if slowest > apart || apart == 0 || !two_fit || time(link, longest) >= between {
                return None;
            }
            let after = links[inlet].delay.0 + links[output].delay.0 + time(inlet, data) + time(output, ack);
            if origin.is_some_and(|known| known != (from, after)) {
                return None;
            }
            origin = Some((from, after));
            rings.push(ring);
            // ACKs of different hosts pass out of order of time, so they must not meet behind the link.
            if !nexts.insert(self.net.links[link].next().of(receiver.channel())) {
                return None;
            }
        }
        Some(rings)
    }
}

/// Returns whether a flow's packets come out of a link once, and in the order in which they went in.
fn keeps_order(link: &LinkSpec, hosts: &[Host]) -> bool {
    let Effects { jitter, duplication, slot: _, policer: _, ack_thinning: _, ecn_remark: _ } = &link.effects;
    // DualPI2 sorts by ECN codepoints, which change under way. Packets without them stay together.
    let uses_ecn = |end: &Endpoint| matches!(end, Endpoint::Sender(sender) if sender.uses_ecn());
    let several_queues = matches!(link.queue.discipline, Discipline::DualPi2(_))
        && hosts.iter().flat_map(|host| host.endpoints.iter()).any(uses_ecn);
    jitter.is_none() && *duplication == 0.0 && !several_queues
}

/// Returns whether packets come out of a link as far apart as its transmitter, at its rate, lets them go.
fn keeps_distances(link: &LinkSpec) -> bool {
    let Effects { slot, jitter, duplication, policer: _, ack_thinning: _, ecn_remark: _ } = link.effects;
    link.schedule.is_none() && slot.is_none() && jitter.is_none() && duplication == 0.0
}
