//! Inline receivers: a link does the work of the receiving host behind it.
//!
//! A receiver that acknowledges every packet at once, has one inlet and no timer, sees its packets in the order in which the
//! link before it hands them on, and nothing else ever happens at its host. When that link hands a packet on, it can
//! therefore cross the host's own links and send the ACK, without putting the packet into a ring. Any exception (a gap, a
//! mark, a busy link) switches the host to its own stage until that has handled what lies there.
//!
//! Where a run halts for a sample, nobody looks at receivers. They may then be ahead of the time of the sample, if nothing waits at
//! their links at any time in between: the lengths of these queues are sampled, too.

use super::lane::Lane;
use super::single_endpoint::SingleEndpointPath;
use super::zero_queue;
use crate::fault::{self, Fault};
use crate::graph::{Graph, Runner};
use crate::host::{Endpoint, Host};
use crate::link::{ClosedForm, Link, PacketInRing};
use crate::merge::Turn;
use crate::net::Net;
use crate::ring::Words;
use crate::slots::Slots;
use crate::stage::{Burst, Exit, RunningNet};
use cwnd_scenario::Scenario;
use cwnd_tcp::packet::BARE;

/// A receiver's host as the link before it sees it, and what has happened there since [`InlineReceiver::begin`]. The fields
/// that every packet changes come first, then those that every packet reads: a cache line each.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct InlineReceiver {
    data_lane: Lane,
    ack_lane: Lane,
    /// The latest timestamp.
    stamp: u64,
    /// The segment expected, modulo 2^32.
    expected: u32,
    /// Whether there is a host that it can replace, and whether it does.
    possible: bool,
    active: bool,
    /// The ACK of a packet that comes to the inlet at this time or later would be too late.
    until: u64,
    /// Time of an ACK over the zero-queue link.
    through_time: u64,
    /// The third and fourth word of an ACK, but for the segment.
    ack_words: [u64; 2],
    /// The ring that ACKs go into.
    ack_ring: u32,
    /// `expected` at the beginning.
    first_expected: u32,
    host: u32,
    path: Option<SingleEndpointPath>,
    /// The ring before the host's inlet, its link, and the ring behind that.
    inlet: (u32, u32, u32),
    /// Its output link, and the ring behind that.
    output: (u32, u32),
    /// A zero-queue link behind that, and the ring behind it.
    through: Option<(u32, u32)>,
    channel: u32,
    /// Wire bytes of a data packet and of an ACK.
    sizes: (u32, u32),
    /// Wire bytes of the longest ACK.
    longest_ack: u32,
    /// Until this time the host cannot be ahead of a sample.
    halts_until: u64,
}

/// An ACK that an inline receiver sends.
#[derive(Clone, Copy, Debug)]
struct InlineAck {
    /// The ring that it goes into.
    ring: u32,
    /// When it comes out there.
    at: u64,
    /// Its third and fourth word (see `packet.rs`).
    sequence: u64,
    rest: u64,
}

/// Finds the inline receivers: one for each ring, most of them not [possible](InlineReceiver::is_possible); none if none is.
pub fn find(
    scenario: &Scenario,
    graph: &Graph,
    net: &Net,
    hosts: &[Host],
    paths: &[Option<SingleEndpointPath>],
) -> Vec<InlineReceiver> {
    let mut receivers = Vec::new();
    for (i, (host, path)) in hosts.iter().zip(paths).enumerate() {
        let (Some(path), [Endpoint::Receiver(receiver)]) = (path, &host.endpoints[..]) else { continue };
        let Some((link, after)) = path.inlet_link() else { continue };
        let ring = path.inlet_ring();
        let from = net.line_of[ring as usize].expect("a line ends in an inlet") as usize;
        // Jitter brings packets closer together than the host's links let them pass, so that an inline receiver would end all
        // the time.
        let jitter = scenario.network.links[from].effects.jitter.is_some();
        let varies = |link: u32| match &net.links[link as usize] {
            Link::ClosedForm(link) => link.has_random_line() || link.steps().is_some(),
            Link::Queued(_) => true,
        };
        let varies = varies(link) || varies(path.output().0);
        if jitter || varies || !receiver.acknowledges_at_once() || graph.runners[from] != Runner::Itself {
            continue;
        }
        let mut receiver = InlineReceiver {
            possible: true,
            host: i as u32,
            path: Some(*path),
            inlet: (ring, link, after),
            output: path.output(),
            channel: host.channel(),
            sizes: (scenario.stack.full_packet(), scenario.stack.ack_size),
            longest_ack: zero_queue::longest_ack(&scenario.stack),
            ..InlineReceiver::default()
        };
        receiver.set_through(None, net);
        receivers.resize(net.rings.len(), InlineReceiver::default());
        receivers[ring as usize] = receiver;
    }
    receivers
}

impl InlineReceiver {
    /// Sets the zero-queue link that ACKs cross, or that there is none.
    pub fn set_through(&mut self, link: Option<u32>, net: &Net) {
        self.through = link.map(|link| (link, net.links[link as usize].next().of(self.channel)));
        self.ack_ring = self.through.map_or(self.output.1, |(_, ring)| ring);
        self.ack_words =
            [u64::from(self.channel) << 32, u64::from(self.sizes.1) << 32 | u64::from(BARE) << 48];
        self.through_time = link.map_or(0, |link| net.links[link as usize].least_latency(self.sizes.1));
    }

    /// Returns whether there is a host that it can replace.
    #[inline(always)]
    pub fn is_possible(&self) -> bool {
        self.possible
    }

    /// Returns the host's inlet link.
    pub fn inlet_link(&self) -> u32 {
        self.inlet.1
    }

    /// Returns the host's output link.
    pub fn output_link(&self) -> u32 {
        self.output.0
    }

    /// Returns the channel of the ACKs.
    pub fn channel(&self) -> u32 {
        self.channel
    }

    /// Returns the time before which it may replace the host: `latest`, or `stop` if packets on their way to the host might wait at
    /// its links after that.
    #[inline]
    fn end_of_replacement(&mut self, net: &Net, stop: u64, latest: u64) -> u64 {
        let ahead = fault::is(Fault::AheadOfWaiting)
            || latest == stop
            || (self.halts_until <= stop && self.passes_all(net, stop));
        if ahead { latest } else { stop }
    }

    /// Returns whether no packet waits at the host's links at `stop`, nor any later one of those on their way to it. If not, sets
    /// until when.
    #[inline(never)]
    fn passes_all(&mut self, net: &Net, stop: u64) -> bool {
        let closed = |link: u32| match &net.links[link as usize] {
            Link::ClosedForm(link) => Some(link),
            Link::Queued(_) => None,
        };
        let (Some(inlet), Some(output)) = (closed(self.inlet.1), closed(self.output.0)) else { return false };
        self.halts_until = stop + 1;
        if inlet.waiting(stop) > 0 || output.waiting(stop) > 0 || inlet.not_before() > stop {
            return false;
        }
        let ack_time = output.serial_time(self.longest_ack);
        // A link that was idle stores no departures, among which later ones would look as if they waited.
        let mut inlet_free = inlet.free_at() + inlet.idle_margin();
        let mut output_free = output.free_at() + output.idle_margin();
        let mut acknowledge = |arrival: u64| {
            let passes = arrival >= output_free;
            output_free = arrival + ack_time + output.idle_margin();
            passes
        };
        for packet in net.rings[self.inlet.2 as usize].iter() {
            self.halts_until = packet.at + 1;
            if !acknowledge(packet.at) {
                return false;
            }
        }
        for packet in net.rings[self.inlet.0 as usize].iter() {
            let departure = packet.at.max(inlet_free) + inlet.serial_time(u32::from(packet.size));
            let arrival = departure + inlet.delay();
            self.halts_until = arrival + 1;
            if packet.at < inlet_free || !acknowledge(arrival) {
                return false;
            }
            inlet_free = departure + inlet.idle_margin();
        }
        self.halts_until = 0;
        true
    }

    /// Replaces the host from now on, if nothing exceptional is there. The host first handles the packets on their way to
    /// it: all of them precede what this link will hand on. Returns whether it replaces the host.
    #[inline(never)]
    fn begin(&mut self, net: &mut Net, hosts: &mut Slots<Host>, stop: u64) -> bool {
        let Some(path) = self.path else { return false };
        let host = &mut hosts[self.host as usize];
        path.run(host, net, stop);
        if let Some((link, ring)) = self.through {
            while net.rings[self.output.1 as usize].next_at() < stop {
                let [at, sent, sequence, rest] = net.rings[self.output.1 as usize].pop_words();
                net.turns[self.output.1 as usize] = Turn { at, place: 0 };
                let link = net.links[link as usize].closed_form();
                link.arrivals.packets += 1;
                link.arrivals.bare += 1;
                let at = zero_queue::pass(link, at, (rest >> 32) as u32 & 0xFFFF, ring);
                net.rings[ring as usize].push_words(at, sent, sequence, rest);
                net.note_arrival(ring, at);
            }
        }
        let Endpoint::Receiver(receiver) = &host.endpoints[0] else { return false };
        let way = [Some(self.inlet.0), Some(self.inlet.2), self.through.map(|_| self.output.1)];
        let empty = way.into_iter().flatten().all(|ring| net.rings[ring as usize].is_empty());
        let Some(expected) = receiver.plain_next().filter(|_| empty) else { return false };
        let data_lane = Lane::open(net.links[self.inlet.1 as usize].closed_form(), self.sizes.0, 0);
        let ack_lane = Lane::open(net.links[self.output.0 as usize].closed_form(), self.sizes.1, 0);
        let (Some(data_lane), Some(ack_lane)) = (data_lane, ack_lane) else { return false };
        (self.data_lane, self.ack_lane) = (data_lane, ack_lane);
        self.until = stop.saturating_sub(data_lane.lead + ack_lane.lead);
        self.active = true;
        self.expected = expected;
        self.first_expected = expected;
        true
    }

    /// Returns the ACK of a full packet without flags that comes to the host's inlet at `at`, if it is acknowledged and
    /// nothing else happens before the time to stop.
    #[inline(always)]
    fn acknowledge(&mut self, at: u64, sent: u64, segment: u32) -> Option<InlineAck> {
        let arrival = at + self.data_lane.lead;
        let expected = segment == self.expected || fault::is(Fault::InlineOutOfOrder);
        if !expected || at < self.data_lane.ready || arrival < self.ack_lane.ready || at >= self.until {
            return None;
        }
        self.data_lane.pass(at);
        self.ack_lane.pass(arrival);
        self.expected = self.expected.wrapping_add(1);
        self.stamp = sent;
        Some(InlineAck {
            ring: self.ack_ring,
            at: arrival + self.ack_lane.lead + self.through_time,
            sequence: self.ack_words[0] | u64::from(self.expected),
            rest: self.ack_words[1],
        })
    }

    /// Does the same for packets that come to the inlet at the times in `acks`, which become the ACKs. Returns how many of the first
    /// are acknowledged.
    #[inline(always)]
    fn acknowledge_all(&mut self, packets: &[Words], acks: &mut [Words]) -> usize {
        for (n, ([_, sent, sequence, _], place)) in packets.iter().zip(acks).enumerate() {
            let Some(ack) = self.acknowledge(place[0], *sent, *sequence as u32) else { return n };
            *place = [ack.at, *sent, ack.sequence, ack.rest];
        }
        packets.len()
    }

    /// Returns the host to its own stage: updates it and its links.
    #[inline(never)]
    fn end(&mut self, net: &mut Net, hosts: &mut Slots<Host>) {
        self.active = false;
        let packets = u64::from(self.expected.wrapping_sub(self.first_expected));
        if packets == 0 {
            return;
        }
        if let Endpoint::Receiver(receiver) = &mut hosts[self.host as usize].endpoints[0] {
            receiver.took_plain(packets, self.stamp);
        }
        let (data, ack) = self.sizes;
        let last = PacketInRing::new(data, self.inlet.2);
        self.data_lane.close(net.links[self.inlet.1 as usize].closed_form(), packets, last, false);
        let last = PacketInRing::new(ack, self.output.1);
        self.ack_lane.close(net.links[self.output.0 as usize].closed_form(), packets, last, true);
        if let Some((link, ring)) = self.through {
            let link = net.links[link as usize].closed_form();
            let [last, before] = self.ack_lane.last_out();
            if packets > 1 {
                zero_queue::pass(link, before, ack, ring);
            }
            zero_queue::pass(link, last, ack, ring);
            net.turns[self.output.1 as usize] = Turn { at: last, place: 0 };
            link.arrivals.packets += packets;
            link.arrivals.bare += packets;
        }
    }
}

/// The exit of a link with inline receivers behind it.
pub struct InlineExit<'a> {
    receivers: &'a mut [InlineReceiver],
    hosts: &'a mut Slots<Host>,
    /// The high half of the last word of a full data packet without flags.
    full: u64,
    /// Rings whose inline receivers have been active.
    active: Vec<u32>,
    /// Nothing that happens then or later may be done by inline receivers.
    receivers_stop: u64,
}

impl<'a> InlineExit<'a> {
    /// Creates the exit for a run of a link.
    pub fn new(
        receivers: &'a mut [InlineReceiver],
        hosts: &'a mut Slots<Host>,
        full_packet: u32,
        receivers_stop: u64,
    ) -> Self {
        InlineExit { receivers, hosts, full: u64::from(full_packet), active: Vec::new(), receivers_stop }
    }

    /// Ends the run: updates the hosts that were replaced.
    pub fn end(mut self, net: &mut Net) {
        for ring in std::mem::take(&mut self.active) {
            let receiver = &mut self.receivers[ring as usize];
            if receiver.active {
                receiver.end(net, self.hosts);
            }
            let acks = receiver.ack_ring;
            net.note_arrival(acks, net.rings[acks as usize].next_at());
        }
    }

    /// Passes on a packet to a host that an inline receiver does not replace now, or cannot any more.
    #[inline(never)]
    fn put_in_general(
        &mut self,
        running: &mut RunningNet<'_>,
        ring: u32,
        at: u64,
        sent: u64,
        sequence: u64,
        rest: u64,
    ) {
        let receiver = &mut self.receivers[ring as usize];
        if !receiver.active {
            // While packets wait before the host, only every eighth packet tries again.
            if running.rings[ring as usize].len().is_multiple_of(8) && at < self.receivers_stop {
                running.net.rings = std::mem::take(&mut running.rings);
                let end = receiver.end_of_replacement(running.net, running.stop, self.receivers_stop);
                if at < end && receiver.begin(running.net, self.hosts, end) {
                    self.active.push(ring);
                }
                running.rings = std::mem::take(&mut running.net.rings);
            }
            if receiver.active
                && rest >> 32 == self.full
                && let Some(ack) = receiver.acknowledge(at, sent, sequence as u32)
            {
                running.rings[ack.ring as usize].push_words(ack.at, sent, ack.sequence, ack.rest);
                return;
            }
        }
        if receiver.active {
            receiver.end(running.net, self.hosts);
        }
        running.put(ring, at, [sent, sequence, rest]);
    }
}

impl Exit for InlineExit<'_> {
    #[inline(always)]
    fn put(&mut self, running: &mut RunningNet<'_>, ring: u32, at: u64, [sent, sequence, rest]: [u64; 3]) {
        let receiver = &mut self.receivers[ring as usize];
        if receiver.active
            && rest >> 32 == self.full
            && let Some(ack) = receiver.acknowledge(at, sent, sequence as u32)
        {
            running.rings[ack.ring as usize].push_words(ack.at, sent, ack.sequence, ack.rest);
        } else if receiver.possible {
            self.put_in_general(running, ring, at, sent, sequence, rest);
        } else {
            running.put(ring, at, [sent, sequence, rest]);
        }
    }

    /// Lets full packets of one channel cross the link that an active inline receiver acknowledges.
    #[inline(always)]
    fn take_burst(
        &mut self,
        running: &mut RunningNet<'_>,
        link: &mut ClosedForm,
        input: u32,
        first: u64,
        until: u64,
    ) -> Option<Burst> {
        let (full, time) = link.full_packet();
        // A burst of one packet gains nothing.
        if until - first <= time {
            return None;
        }
        let channel = running.rings[input as usize].first_channel()?;
        let ring = link.next.of(channel);
        let receiver = &mut self.receivers[ring as usize];
        if !receiver.active {
            return None;
        }
        let both = [input as usize, receiver.ack_ring as usize];
        let [head, acks] = running.rings.get_disjoint_mut(both).expect("no link feeds itself");
        let packet = PacketInRing::new(full, ring);
        let (mut packets, mut came, mut many) = (0, 0, head.has_many_before(until));
        while let Some([at, sent, sequence, mut rest]) = head.first_words() {
            if at >= until || rest >> 32 != self.full || (sequence >> 32) as u32 != channel {
                break;
            }
            // After a packet about which the link has to decide, the rest of the burst goes one by one.
            if std::mem::take(&mut many) {
                let (slots, places) = (head.first_slots(), acks.free_places());
                let alike = slots.iter().zip(&mut *places).map_while(|([at, _, sequence, rest], place)| {
                    let alike = *at < until && (sequence >> 32) as u32 == channel && rest >> 32 == self.full;
                    alike.then_some((*at, &mut place[0]))
                });
                let crossed = link.cross_alike(time, packet, alike);
                if crossed > 0 {
                    packets += crossed as u64;
                    came = slots[crossed - 1][0];
                    let acknowledged = receiver.acknowledge_all(&slots[..crossed], &mut places[..crossed]);
                    let others = slots[..crossed].iter().zip(&*places).skip(acknowledged);
                    let others: Vec<Words> = others
                        .map(|([_, sent, sequence, rest], [out, ..])| [*out, *sent, *sequence, *rest])
                        .collect();
                    head.skip_all(crossed);
                    acks.extend(acknowledged);
                    if others.is_empty() {
                        many = head.has_many_before(until);
                        continue;
                    }
                    receiver.end(running.net, self.hosts);
                    for [out, sent, sequence, rest] in others {
                        running.put(ring, out, [sent, sequence, rest]);
                    }
                    break;
                }
            }
            head.skip();
            came = at;
            packets += 1;
            let Some((departure, _)) = link.enqueue(at, time, packet, 0) else {
                running.net.drop_packet([at, sent, sequence, rest]);
                continue;
            };
            let (out, lost) = link.cross(departure);
            rest |= u64::from(lost) << 48;
            if lost == 0
                && let Some(ack) = receiver.acknowledge(out, sent, sequence as u32)
            {
                acks.push_words(ack.at, sent, ack.sequence, ack.rest);
            } else {
                receiver.end(running.net, self.hosts);
                running.put(ring, out, [sent, sequence, rest]);
                break;
            }
        }
        (packets > 0).then_some(Burst { packets, bare: 0, last: came })
    }
}
