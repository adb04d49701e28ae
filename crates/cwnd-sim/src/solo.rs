//! The fast way of the common host: one endpoint, one inlet, and an output link of its own.
//!
//! It does what [`crate::host::Host`] does in general, in the same order; everything that a packet touches
//! is held by reference over a whole run instead of being looked up for each packet.

use crate::host::Inlet;
use crate::link::{Lane, Link, Packed};
use crate::net::{Egress, Fate, Net, bury};
use crate::ring::Ring;
use cwnd_tcp::packet::{BARE, Emit, LOST, Packet, SACK, SackBlocks, SackSlab};
use cwnd_tcp::{PlainRun, Receiver, SendMode, Sender};

/// Which links and rings are the host's.
#[derive(Clone, Copy, Debug)]
pub struct Solo {
    /// The output link, and the ring behind it.
    output: (u32, u32),
    /// The inlet's ring.
    ring: u32,
    /// The inlet's own link, and the ring behind it.
    link: Option<(u32, u32)>,
}

/// An endpoint as its host sees it.
pub trait Peer {
    /// When its next timer runs out.
    fn deadline(&self) -> u64;
    /// A packet arrives.
    fn on_packet(&mut self, now: u64, packet: &Packet, port: &mut Port<'_>);
    /// The timer runs out.
    fn on_timer(&mut self, now: u64, port: &mut Port<'_>);
    /// Handle as many packets of the ordinary kind as come before `limit` and any timer.
    fn run_plain(&mut self, way_in: &mut WayIn<'_>, port: &mut Port<'_>, limit: u64);
}

/// The host's way out of the network: the inlet's ring, its own link and the ring behind that.
pub struct WayIn<'a> {
    raw: &'a mut Ring,
    raw_id: usize,
    link: Option<(&'a mut Link, &'a mut Ring, usize)>,
}

impl<'a> WayIn<'a> {
    /// The lane of packets of `size` bytes that find nobody in their way. None if somebody is there.
    #[inline(always)]
    fn open_lane(&self, size: u32) -> Option<Lane> {
        match &self.link {
            Some((link, settled, _)) if settled.is_empty() => link.open_lane(size, self.raw.next_at()),
            Some(_) => None,
            None => Some(Lane::default()),
        }
    }

    /// So many packets of `size` bytes have gone over the lane.
    #[inline(always)]
    fn close_lane(&mut self, lane: Lane, packets: u64, size: u32, bare: bool) {
        if let Some((link, _, ring)) = &mut self.link {
            link.close_lane(lane, packets, Packed::new(size, *ring as u32), bare);
        }
    }

    /// Hand the next packet that arrives before `limit` to `peer`. False if there is none; then all that comes to the
    /// link before `limit` has crossed it.
    #[inline(always)]
    fn hand_over(
        &mut self,
        peer: &mut impl Peer,
        port: &mut Port<'_>,
        limit: u64,
        end_of_line: &mut impl FnMut(usize, [u64; 4], &mut Port<'_>),
    ) -> bool {
        loop {
            let (last, last_id) = match &mut self.link {
                Some((_, settled, id)) => (&mut **settled, *id),
                None => (&mut *self.raw, self.raw_id),
            };
            if last.next_at() < limit {
                let [at, sent, sequence, rest] = last.pop_words();
                if (rest >> 48) as u16 & LOST == 0 {
                    arrive(peer, at, sent, sequence, rest, port);
                    return true;
                }
                end_of_line(last_id, [at, sent, sequence, rest], port);
                continue;
            }
            let Some((link, settled, _)) = &mut self.link else { return false };
            if self.raw.next_at() >= limit {
                return false;
            }
            let [at, sent, sequence, rest] = self.raw.pop_words();
            let (size, channel, flags) =
                ((rest >> 32) as u32 & 0xFFFF, (sequence >> 32) as u32, (rest >> 48) as u16);
            if flags & LOST != 0 {
                end_of_line(self.raw_id, [at, sent, sequence, rest], port);
                continue;
            }
            link.arrived += 1;
            link.bare += u64::from(flags & BARE);
            let Some(way) = link.offer(at, size, channel, flags) else {
                port.drop_words([at, sent, sequence, rest]);
                continue;
            };
            let rest = rest | u64::from(way.added) << 48;
            // What would only go through the ring stays in registers.
            if way.at < limit && way.added & LOST == 0 && settled.is_empty() {
                arrive(peer, way.at, sent, sequence, rest, port);
                return true;
            }
            settled.push_words(way.at, sent, sequence, rest);
        }
    }
}

/// A packet arrives at an endpoint. Timers that run out before go first; at the same time the packet does.
#[inline(never)]
fn arrive<P: Peer>(peer: &mut P, at: u64, sent: u64, sequence: u64, rest: u64, port: &mut Port<'_>) {
    while peer.deadline() < at {
        peer.on_timer(peer.deadline(), port);
    }
    peer.on_packet(at, &Packet::from_words([at, sent, sequence, rest]), port);
}

/// The host's way into the network.
pub struct Port<'a> {
    output: &'a mut Link,
    out: &'a mut Ring,
    out_id: u32,
    sacks: &'a mut SackSlab,
    fates: &'a mut [Fate],
}

impl Port<'_> {
    /// The output queue drops a packet, given as words so that the others need not be put into memory.
    #[cold]
    #[inline(never)]
    fn drop_words(&mut self, words: [u64; 4]) {
        bury(&Packet::from_words(words), false, self.sacks, self.fates);
    }
}

impl Emit for Port<'_> {
    #[inline(always)]
    fn emit(&mut self, now: u64, packet: Packet) -> bool {
        self.output.arrived += 1;
        self.output.bare += u64::from(packet.flags & BARE);
        let [_, sent, sequence, rest] = packet.to_words();
        match self.output.offer(now, u32::from(packet.size), packet.channel, packet.flags) {
            Some(way) => {
                self.out.push_words(way.at, sent, sequence, rest | u64::from(way.added) << 48);
                true
            }
            None => {
                self.drop_words([now, sent, sequence, rest]);
                false
            }
        }
    }

    fn emit_sack(&mut self, now: u64, mut packet: Packet, blocks: &SackBlocks) -> bool {
        packet.aux = self.sacks.keep(blocks);
        self.emit(now, packet)
    }
}

impl Peer for Sender {
    #[inline(always)]
    fn deadline(&self) -> u64 {
        self.deadline()
    }

    #[inline(always)]
    fn on_packet(&mut self, now: u64, packet: &Packet, port: &mut Port<'_>) {
        if packet.flags & SACK != 0 {
            let blocks = port.sacks.take(packet.aux);
            self.on_packet(now, packet, Some(&blocks), port);
        } else {
            self.on_packet(now, packet, None, port);
        }
    }

    #[inline(never)]
    fn on_timer(&mut self, now: u64, port: &mut Port<'_>) {
        self.on_timer(now, port);
    }

    #[inline(always)]
    fn run_plain(&mut self, way_in: &mut WayIn<'_>, port: &mut Port<'_>, limit: u64) {
        let Some(run) = self.plain_run() else { return };
        let Some(lane) = way_in.open_lane(run.ack_size) else { return };
        let loses = port.output.loses();
        let mut acks = PlainAcks::new(way_in.raw, lane, &run);
        match self.run_mode() {
            Some(SendMode::Immediate) if !loses => run_plain_acks(self, &mut acks, port, limit, &run),
            Some(SendMode::Delayed) if !loses => run_plain_releasing(self, &mut acks, port, limit, &run),
            _ => run_plain_at_leisure(self, &mut acks, port, limit),
        }
        let (lane, taken) = (acks.inlet, acks.taken);
        way_in.close_lane(lane, taken, run.ack_size, true);
    }
}

/// The plain ACKs at the head of an inlet.
struct PlainAcks<'a> {
    raw: &'a mut Ring,
    inlet: Lane,
    /// Size and flags of a plain ACK, as its words have them.
    ordinary: u64,
    /// How many have been taken.
    taken: u64,
}

/// One of them.
struct PlainAck {
    /// When it comes to the inlet, and to the sender.
    at: u64,
    arrival: u64,
    /// The timestamp that it echoes.
    sent: u64,
    /// How many segments it acknowledges for the first time.
    acked: u32,
}

impl<'a> PlainAcks<'a> {
    #[inline(always)]
    fn new(raw: &'a mut Ring, inlet: Lane, run: &PlainRun) -> PlainAcks<'a> {
        PlainAcks { raw, inlet, ordinary: u64::from(run.ack_size) | u64::from(BARE) << 16, taken: 0 }
    }

    /// The next packet, if it is a plain ACK that finds the inlet's link idle.
    #[inline(always)]
    fn next(&self, sender: &Sender) -> Option<PlainAck> {
        let [at, sent, sequence, rest] = self.raw.first_words()?;
        let acked = sender.newly_acked(sequence as u32);
        let plain = rest >> 32 == self.ordinary && acked.wrapping_sub(1) < i32::MAX as u32;
        (plain && at >= self.inlet.ready).then(|| PlainAck { at, arrival: at + self.inlet.lead, sent, acked })
    }

    #[inline(always)]
    fn take(&mut self, ack: &PlainAck) {
        self.raw.skip();
        self.inlet.pass(ack.at);
        self.taken += 1;
    }
}

/// Plain ACKs, each of which lets packets go at once.
#[inline(never)]
fn run_plain_acks(
    sender: &mut Sender,
    acks: &mut PlainAcks<'_>,
    port: &mut Port<'_>,
    limit: u64,
    run: &PlainRun,
) {
    // Packets go before timers.
    let limit = limit.min(run.other_at.saturating_add(1));
    let mut output = FullPackets::new(port, run);
    let (mut now, mut until) = (0, limit.min(run.rto_at.saturating_add(1)));
    while let Some(ack) = acks.next(sender) {
        if ack.arrival >= until {
            break;
        }
        if acks.taken == 0 {
            sender.begin_plain();
        }
        acks.take(&ack);
        now = ack.arrival;
        until = limit.min(now + run.least_timeout);
        let end = sender.take_plain(now, ack.sent, ack.acked);
        if sender.ends_before(end) {
            sender.send_plain(now, end, port);
        } else {
            while let Some(segment) = sender.next_before(end) {
                output.send(port, now, segment);
            }
            sender.note_plain_use();
        }
    }
    port.output.arrived += output.packets;
    sender.counts.sent += output.packets;
    if acks.taken > 0 {
        sender.end_plain(now, acks.taken);
    }
}

/// Plain ACKs of a sender whose packets take some time to leave.
#[inline(never)]
fn run_plain_releasing(
    sender: &mut Sender,
    acks: &mut PlainAcks<'_>,
    port: &mut Port<'_>,
    limit: u64,
    run: &PlainRun,
) {
    let turn = sender.start_stop_or_turn();
    let limit = limit.min(turn.saturating_add(1));
    let mut output = FullPackets::new(port, run);
    let mut release = sender.release_at();
    let mut end = sender.plain_end();
    if sender.ends_before(end) {
        return run_plain_at_leisure(sender, acks, port, limit);
    }
    // The retransmission timer runs from `since`, if that is known; it goes before the release.
    let mut until = limit.min(run.rto_at);
    let mut since = None;
    let mut last_data = false;
    while let Some(ack) = acks.next(sender) {
        let arrival = ack.arrival;
        // Packets go before timers, and the release after the other timers.
        while release < arrival && release < until.min(turn) {
            let now = release;
            if sender.is_quiet() {
                since = Some(now);
                until = limit.min(now + run.least_timeout);
            }
            release = sender.release(now, release, end, |segment| output.send(port, now, segment));
        }
        if arrival >= until || release < arrival {
            break;
        }
        if acks.taken == 0 {
            sender.begin_plain();
        }
        acks.take(&ack);
        let now = arrival;
        since = Some(now);
        until = limit.min(now + run.least_timeout);
        end = sender.take_plain(now, ack.sent, ack.acked);
        if sender.ends_before(end) {
            last_data = true;
            break;
        }
        release = sender.release(now, release, end, |segment| output.send(port, now, segment));
    }
    port.output.arrived += output.packets;
    sender.counts.sent += output.packets;
    sender.end_plain_releasing(since, acks.taken, release);
    if let (true, Some(now)) = (last_data, since) {
        sender.send_last(now, port);
    }
}

/// Plain ACKs of a sender whose packets leave by a timer or are noted, or over a link that loses some.
#[inline(never)]
fn run_plain_at_leisure(sender: &mut Sender, acks: &mut PlainAcks<'_>, port: &mut Port<'_>, limit: u64) {
    while let Some(ack) = acks.next(sender) {
        if ack.arrival >= limit || ack.arrival > sender.deadline() {
            break;
        }
        acks.take(&ack);
        sender.on_plain_ack(ack.arrival, ack.sent, ack.acked, port);
    }
}

/// Full data packets that leave a host over its output link.
struct FullPackets {
    /// How many there were.
    packets: u64,
    /// How long the transmitter takes for one.
    time: u64,
    what: Packed,
    /// The third and fourth word of a packet, but for the segment.
    words: [u64; 2],
}

impl FullPackets {
    #[inline(always)]
    fn new(port: &Port<'_>, run: &PlainRun) -> FullPackets {
        FullPackets {
            packets: 0,
            time: port.output.serial_time(run.packet_size),
            what: Packed::new(run.packet_size, port.out_id),
            words: [u64::from(run.channel) << 32, u64::from(run.packet_size) << 32],
        }
    }

    #[inline(always)]
    fn send(&mut self, port: &mut Port<'_>, now: u64, segment: u64) {
        self.packets += 1;
        let sequence = self.words[0] | segment & 0xFFFF_FFFF;
        match port.output.offer_packed(now, self.time, self.what, 0) {
            Some((departure, _)) => {
                port.out.push_words(port.output.out_at(departure), now, sequence, self.words[1]);
            }
            None => port.drop_words([now, now, sequence, self.words[1]]),
        }
    }
}

impl Peer for Receiver {
    #[inline(always)]
    fn deadline(&self) -> u64 {
        self.deadline
    }

    #[inline(always)]
    fn on_packet(&mut self, now: u64, packet: &Packet, port: &mut Port<'_>) {
        self.on_packet(now, packet, port);
    }

    #[inline(never)]
    fn on_timer(&mut self, now: u64, port: &mut Port<'_>) {
        self.on_timer(now, port);
    }

    #[inline(always)]
    fn run_plain(&mut self, way_in: &mut WayIn<'_>, port: &mut Port<'_>, limit: u64) {
        let Some((size, ack)) = self.plain_sizes() else { return };
        let Some(mut inlet) = way_in.open_lane(size) else { return };
        let first = way_in.raw.next_at().saturating_add(inlet.lead);
        let Some(mut output) = port.output.open_lane(u32::from(ack.size), first) else { return };
        let mut packets = 0;
        let mut echo = 0;
        let mut next = self.expected();
        while let Some([at, sent, sequence, rest]) = way_in.raw.first_words() {
            let arrival = at + inlet.lead;
            let ordinary = rest >> 32 == u64::from(size) && sequence as u32 == next;
            if !ordinary || arrival >= limit || at < inlet.ready || arrival < output.ready {
                break;
            }
            next = next.wrapping_add(1);
            packets += 1;
            echo = sent;
            inlet.pass(at);
            output.pass(arrival);
            way_in.raw.skip();
            port.out.push(Packet { at: arrival + output.lead, sent: echo, seq: next, ..ack });
        }
        way_in.close_lane(inlet, packets, size, false);
        port.output.close_lane(output, packets, Packed::new(u32::from(ack.size), port.out_id), true);
        self.took_plain(packets, echo);
    }
}

impl Solo {
    /// Whether the host that sends on `channel` and has this inlet can go the fast way.
    pub fn new(inlet: &Inlet, channel: u32, net: &Net) -> Option<Solo> {
        let Egress::Link(output) = net.egress[channel as usize] else { return None };
        let out = net.links[output as usize].only_ring()?;
        Some(Solo { output: (output, out), ring: inlet.ring, link: inlet.link })
    }

    /// The output link, and the ring behind it.
    pub fn output(self) -> (u32, u32) {
        self.output
    }

    /// The ring that the stage before fills.
    pub fn inlet_ring(self) -> u32 {
        self.ring
    }

    /// The inlet's own link, and the ring behind it.
    pub fn inlet_link(self) -> Option<(u32, u32)> {
        self.link
    }

    /// Handle everything before `limit`.
    pub fn run(self, peer: &mut impl Peer, net: &mut Net, limit: u64) {
        self.serve(peer, net, limit);
        net.note_arrival(self.output.1, net.rings[self.output.1 as usize].next_at());
    }

    fn serve(self, peer: &mut impl Peer, net: &mut Net, limit: u64) {
        let distinct = "a host's links and rings are different ones";
        let Net { links, rings, sacks, fates, late_losses, line_of, .. } = net;
        let (output, out) = (self.output.0 as usize, self.output.1 as usize);
        let ring = self.ring as usize;
        let mut end_of_line = |ring: usize, words, port: &mut Port<'_>| {
            bury(&Packet::from_words(words), true, port.sacks, port.fates);
            late_losses.extend(line_of[ring]);
        };
        let mut port;
        let mut way_in;
        if let Some((link, after)) = self.link {
            let (link, after) = (link as usize, after as usize);
            let [output, link] = links.get_disjoint_mut([output, link]).expect(distinct);
            let [out, raw, settled] = rings.get_disjoint_mut([out, ring, after]).expect(distinct);
            port = Port { output, out, out_id: self.output.1, sacks, fates };
            way_in = WayIn { raw, raw_id: ring, link: Some((link, settled, after)) };
        } else {
            let [out, raw] = rings.get_disjoint_mut([out, ring]).expect(distinct);
            port = Port { output: &mut links[output], out, out_id: self.output.1, sacks, fates };
            way_in = WayIn { raw, raw_id: ring, link: None };
        }
        loop {
            peer.run_plain(&mut way_in, &mut port, limit);
            if !way_in.hand_over(peer, &mut port, limit, &mut end_of_line) {
                break;
            }
        }
        while peer.deadline() < limit {
            peer.on_timer(peer.deadline(), &mut port);
        }
    }
}
