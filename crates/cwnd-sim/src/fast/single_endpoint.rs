//! The path of the most common host: one endpoint, one inlet, and an output link of its own.
//!
//! It does what [`Host::run`](crate::host::Host::run) does, in the same order. Everything that a packet touches is held by
//! reference over a whole run instead of being looked up for each packet.

use super::lane::Lane;
use crate::host::{Endpoint, Host, Inlet};
use crate::link::{ClosedForm, PacketInRing};
use crate::net::{Egress, Net, PacketCounts};
use crate::ring::Ring;
use crate::sacks::Sacks;
use cwnd_tcp::packet::{Emit, LOST, Packet, SACK, SackBlocks};
use cwnd_tcp::prefetch::prefetch;
use cwnd_tcp::{Receiver, Sender};

/// Which links and rings are the host's.
#[derive(Clone, Copy, Debug)]
pub struct SingleEndpointPath {
    /// The output link, and the ring behind it.
    output: (u32, u32),
    /// The inlet's ring.
    ring: u32,
    /// The inlet's own link, and the ring behind it.
    link: Option<(u32, u32)>,
    /// Whether runs of plain packets are handled together (see [`super::plain_runs`]).
    plain_runs: bool,
}

/// An endpoint as its host sees it.
pub trait HostEndpoint {
    /// Handles a packet.
    fn on_packet(&mut self, now: u64, packet: &Packet, output: &mut OutputPort<'_>);
    /// Handles the timers that expire before `until`.
    fn run_timers(&mut self, until: u64, output: &mut OutputPort<'_>);
    /// Handles as many plain packets as arrive before `limit` and any timer.
    fn run_plain(&mut self, inlet: &mut InletPort<'_>, output: &mut OutputPort<'_>, limit: u64);
}

impl SingleEndpointPath {
    /// Returns the path of a host, if it qualifies.
    pub fn new(host: &Host, net: &Net, plain_runs: bool) -> Option<SingleEndpointPath> {
        let ([_], &[Inlet { ring, link }]) = (&host.endpoints[..], &host.inlets[..]) else { return None };
        let Egress::Link(output) = net.egress[host.channel() as usize] else { return None };
        let behind = net.links[output as usize].next().only()?;
        Some(SingleEndpointPath { output: (output, behind), ring, link, plain_runs })
    }

    /// Returns the output link, and the ring behind it.
    pub fn output(self) -> (u32, u32) {
        self.output
    }

    /// Returns the ring that the previous stage fills.
    pub fn inlet_ring(self) -> u32 {
        self.ring
    }

    /// Returns the inlet's own link, and the ring behind it.
    pub fn inlet_link(self) -> Option<(u32, u32)> {
        self.link
    }

    /// Asks for memory that [`SingleEndpointPath::run`] uses (see [`SharedRunner`](crate::stage::SharedRunner)).
    pub fn prefetch(&self, host: &Host, net: &Net, depth: usize) {
        let rings = [Some(self.output.1), Some(self.ring), self.link.map(|(_, after)| after)];
        let rings = rings.into_iter().flatten().map(|ring| &net.rings[ring as usize]);
        match (depth, &host.endpoints[0]) {
            (1, endpoint) => {
                let links = [Some(self.output.0), self.link.map(|(link, _)| link)];
                links.into_iter().flatten().for_each(|link| prefetch(&net.links[link as usize]));
                rings.for_each(prefetch);
                prefetch(&net.owner[self.output.1 as usize]);
                match endpoint {
                    Endpoint::Sender(sender) => sender.prefetch(),
                    Endpoint::Receiver(receiver) => prefetch(&**receiver),
                }
            }
            (_, endpoint) => {
                rings.for_each(Ring::prefetch_ends);
                net.prefetch_wake(self.output.1);
                if let Endpoint::Sender(sender) = endpoint {
                    sender.prefetch_parts();
                }
            }
        }
    }

    /// Lets the host handle everything before `limit`.
    pub fn run(self, host: &mut Host, net: &mut Net, limit: u64) {
        match &mut host.endpoints[..] {
            [Endpoint::Sender(sender)] => self.run_endpoint(&mut **sender, net, limit),
            [Endpoint::Receiver(receiver)] => self.run_endpoint(&mut **receiver, net, limit),
            _ => unreachable!("the host has one endpoint"),
        }
        net.note_arrival(self.output.1, net.rings[self.output.1 as usize].next_at());
    }

    fn run_endpoint(self, endpoint: &mut impl HostEndpoint, net: &mut Net, limit: u64) {
        let distinct = "a host's links and rings are different ones";
        let Net { links, lost, rings, sacks, packet_counts, line_of, .. } = net;
        let mut end_of_line = |ring: u32, words, output: &mut OutputPort<'_>| {
            PacketCounts::discard(output.counts, output.sacks, &Packet::from_words(words), true);
            lost[line_of[ring as usize].expect("only a line loses packets") as usize] += 1;
        };
        let (output_link, behind) = (self.output.0 as usize, self.output.1 as usize);
        let ring = self.ring as usize;
        let (mut output, mut inlet);
        if let Some((link, after)) = self.link {
            let (link, after) = (link as usize, after as usize);
            let [output_link, link] = links.get_disjoint_mut([output_link, link]).expect(distinct);
            let [behind, raw, settled] = rings.get_disjoint_mut([behind, ring, after]).expect(distinct);
            let link = InletLink { link: link.closed_form(), after: settled, after_id: after as u32 };
            output = OutputPort::new(output_link.closed_form(), behind, self.output.1, sacks, packet_counts);
            inlet = InletPort { raw, raw_id: self.ring, link: Some(link) };
        } else {
            let [behind, raw] = rings.get_disjoint_mut([behind, ring]).expect(distinct);
            let output_link = links[output_link].closed_form();
            output = OutputPort::new(output_link, behind, self.output.1, sacks, packet_counts);
            inlet = InletPort { raw, raw_id: self.ring, link: None };
        }
        loop {
            if self.plain_runs {
                endpoint.run_plain(&mut inlet, &mut output, limit);
            }
            if !inlet.hand_over(endpoint, &mut output, limit, &mut end_of_line) {
                break;
            }
        }
        endpoint.run_timers(limit, &mut output);
    }
}

/// Where packets come to the host: the inlet's ring, its own link and the ring behind that.
pub struct InletPort<'a> {
    /// The inlet's ring.
    pub raw: &'a mut Ring,
    raw_id: u32,
    link: Option<InletLink<'a>>,
}

/// A link at the inlet that the host runs.
struct InletLink<'a> {
    link: &'a mut ClosedForm,
    /// The ring behind it.
    after: &'a mut Ring,
    after_id: u32,
}

impl InletPort<'_> {
    /// Returns the lane of packets of `size` bytes that find the inlet's link idle and no packet behind it.
    #[inline(always)]
    pub fn open_lane(&self, size: u32) -> Option<Lane> {
        match &self.link {
            Some(InletLink { link, after, .. }) if after.is_empty() => {
                Lane::open(link, size, self.raw.next_at())
            }
            Some(_) => None,
            None => Some(Lane::default()),
        }
    }

    /// Updates the link after `packets` packets of `size` bytes have passed the lane.
    #[inline(always)]
    pub fn close_lane(&mut self, lane: Lane, packets: u64, size: u32, bare: bool) {
        if let Some(InletLink { link, after_id, .. }) = &mut self.link {
            lane.close(link, packets, PacketInRing::new(size, *after_id), bare);
        }
    }

    /// Hands the next packet that arrives before `limit` to the endpoint. Returns false if there is none; then everything
    /// that comes to the link before `limit` has crossed it.
    #[inline(always)]
    fn hand_over(
        &mut self,
        endpoint: &mut impl HostEndpoint,
        output: &mut OutputPort<'_>,
        limit: u64,
        end_of_line: &mut impl FnMut(u32, [u64; 4], &mut OutputPort<'_>),
    ) -> bool {
        loop {
            let (last, last_id) = match &mut self.link {
                Some(InletLink { after, after_id, .. }) => (&mut **after, *after_id),
                None => (&mut *self.raw, self.raw_id),
            };
            if last.next_at() < limit {
                let [at, sent, sequence, rest] = last.pop_words();
                if (rest >> 48) as u16 & LOST == 0 {
                    arrive(endpoint, at, sent, sequence, rest, output);
                    return true;
                }
                end_of_line(last_id, [at, sent, sequence, rest], output);
                continue;
            }
            let Some(InletLink { link, after, .. }) = &mut self.link else { return false };
            if self.raw.next_at() >= limit {
                return false;
            }
            let [at, sent, sequence, rest] = self.raw.pop_words();
            let (size, channel, flags) =
                ((rest >> 32) as u32 & 0xFFFF, (sequence >> 32) as u32, (rest >> 48) as u16);
            if flags & LOST != 0 {
                end_of_line(self.raw_id, [at, sent, sequence, rest], output);
                continue;
            }
            let Some(verdict) = link.accept(at, size, channel, flags) else {
                output.drop_packet([at, sent, sequence, rest]);
                continue;
            };
            let rest = rest | u64::from(verdict.added) << 48;
            // A packet that would only pass through the ring stays in registers.
            if verdict.at < limit && verdict.added & LOST == 0 && after.is_empty() {
                arrive(endpoint, verdict.at, sent, sequence, rest, output);
                return true;
            }
            after.push_words(verdict.at, sent, sequence, rest);
        }
    }
}

/// Hands a packet to an endpoint. Timers that expire before it come first; at the same time the packet does.
#[inline(never)]
fn arrive<E: HostEndpoint>(
    endpoint: &mut E,
    at: u64,
    sent: u64,
    sequence: u64,
    rest: u64,
    output: &mut OutputPort<'_>,
) {
    endpoint.run_timers(at, output);
    endpoint.on_packet(at, &Packet::from_words([at, sent, sequence, rest]), output);
}

/// Where packets leave the host.
pub struct OutputPort<'a> {
    /// The output link.
    pub link: &'a mut ClosedForm,
    /// The ring behind it.
    pub behind: &'a mut Ring,
    /// The number of that ring.
    pub behind_id: u32,
    sacks: &'a mut Sacks,
    counts: &'a mut [PacketCounts],
}

impl<'a> OutputPort<'a> {
    fn new(
        link: &'a mut ClosedForm,
        behind: &'a mut Ring,
        behind_id: u32,
        sacks: &'a mut Sacks,
        counts: &'a mut [PacketCounts],
    ) -> Self {
        OutputPort { link, behind, behind_id, sacks, counts }
    }

    /// Counts a packet that the output queue drops. It comes as words, so that others need not be written to memory.
    #[cold]
    #[inline(never)]
    pub fn drop_packet(&mut self, words: [u64; 4]) {
        PacketCounts::discard(self.counts, self.sacks, &Packet::from_words(words), false);
    }
}

/// Returns the word of a segment's number and its channel for the segment `segments` behind it.
#[inline(always)]
fn after(word: u64, segments: u32) -> u64 {
    (word & !0xFFFF_FFFF) | u64::from((word as u32).wrapping_add(segments))
}

impl Emit for OutputPort<'_> {
    #[inline(always)]
    fn emit(&mut self, now: u64, packet: Packet) -> bool {
        let [_, sent, sequence, rest] = packet.to_words();
        match self.link.accept(now, u32::from(packet.size), packet.channel, packet.flags) {
            Some(verdict) => {
                self.behind.push_words(verdict.at, sent, sequence, rest | u64::from(verdict.added) << 48);
                true
            }
            None => {
                self.drop_packet([now, sent, sequence, rest]);
                false
            }
        }
    }

    #[inline(always)]
    fn emit_run(&mut self, now: u64, packet: Packet, count: u64, last: u16) {
        let [_, sent, mut sequence, rest] = packet.to_words();
        let size = u32::from(packet.size);
        let (time, entry) = (self.link.serial_time(size), PacketInRing::new(size, self.behind_id));
        self.link.arrivals.packets += count;
        let (mut left, last) = (count as usize, u64::from(last) << 48);
        while left > 0 {
            // Fewer packets take longer to begin together than to go one by one.
            if left > 2 {
                let places = self.behind.free_places();
                let packets = places.iter_mut().take(left).enumerate().map(|(i, place)| {
                    *place = [0, sent, after(sequence, i as u32), rest];
                    (now, &mut place[0])
                });
                let crossed = self.link.cross_alike(time, entry, packets);
                if crossed == left {
                    places[crossed - 1][3] |= last;
                }
                if crossed > 0 {
                    self.behind.extend(crossed);
                    sequence = after(sequence, crossed as u32);
                    left -= crossed;
                    continue;
                }
            }
            let rest = if left == 1 { rest | last } else { rest };
            match self.link.enqueue(now, time, entry, packet.flags) {
                Some((departure, added)) => {
                    let (at, lost) = self.link.cross(departure);
                    self.behind.push_words(at, sent, sequence, rest | u64::from(added | lost) << 48);
                }
                None => self.drop_packet([now, sent, sequence, rest]),
            }
            sequence = after(sequence, 1);
            left -= 1;
        }
    }

    fn emit_sack(&mut self, now: u64, mut packet: Packet, blocks: &SackBlocks) -> bool {
        packet.aux = self.sacks.keep(blocks);
        self.emit(now, packet)
    }
}

impl HostEndpoint for Sender {
    #[inline(always)]
    fn on_packet(&mut self, now: u64, packet: &Packet, output: &mut OutputPort<'_>) {
        if packet.flags & SACK != 0 {
            let blocks = output.sacks.take(packet.aux);
            self.on_packet(now, packet, Some(&blocks), output);
        } else {
            self.on_packet(now, packet, None, output);
        }
    }

    #[inline(always)]
    fn run_timers(&mut self, until: u64, output: &mut OutputPort<'_>) {
        self.run_timers(until, output);
    }

    #[inline(always)]
    fn run_plain(&mut self, inlet: &mut InletPort<'_>, output: &mut OutputPort<'_>, limit: u64) {
        super::plain_runs::of_sender(self, inlet, output, limit);
    }
}

impl HostEndpoint for Receiver {
    #[inline(always)]
    fn on_packet(&mut self, now: u64, packet: &Packet, output: &mut OutputPort<'_>) {
        self.on_packet(now, packet, output);
    }

    #[inline(always)]
    fn run_timers(&mut self, until: u64, output: &mut OutputPort<'_>) {
        while self.deadline < until {
            self.on_timer(self.deadline, output);
        }
    }

    #[inline(always)]
    fn run_plain(&mut self, inlet: &mut InletPort<'_>, output: &mut OutputPort<'_>, limit: u64) {
        super::plain_runs::of_receiver(self, inlet, output, limit);
    }
}
