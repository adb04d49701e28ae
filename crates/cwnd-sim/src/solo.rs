//! The fast way of the common host: one endpoint, one inlet, and an output link of its own.
//!
//! It does what [`crate::host::Host`] does in general, in the same order; everything that a packet touches
//! is held by reference over a whole run instead of being looked up for each packet.

use crate::host::Inlet;
use crate::link::{IdleRun, Link};
use crate::net::{Egress, Fate, Net, bury};
use crate::packet::{BARE, Emit, LOST, Packet, SACK, SackBlocks, SackSlab};
use crate::ring::Ring;
use crate::tcp::{Receiver, Sender};

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
    /// Begin a run of packets of `size` bytes that find nobody in their way. None if somebody is there.
    #[inline(always)]
    fn idle_run(&mut self, size: u32) -> Option<(&mut Ring, IdleRun<'_>, u32)> {
        match &mut self.link {
            Some((link, settled, id)) if settled.is_empty() => {
                let run = IdleRun::begin(Some(link), size)?;
                Some((self.raw, run, *id as u32))
            }
            Some(_) => None,
            None => Some((self.raw, IdleRun::begin(None, size)?, 0)),
        }
    }

    /// Take the next packet that arrives at the endpoint before `limit`. All that comes to the link before
    /// then has crossed it when there is none.
    #[inline(always)]
    fn next(
        &mut self,
        port: &mut Port<'_>,
        limit: u64,
        end_of_line: &mut impl FnMut(usize, &Packet, &mut Port<'_>),
    ) -> Option<Packet> {
        let Some((link, settled, after)) = &mut self.link else {
            while self.raw.next_at() < limit {
                let packet = self.raw.pop();
                if packet.flags & LOST == 0 {
                    return Some(packet);
                }
                end_of_line(self.raw_id, &packet, port);
            }
            return None;
        };
        loop {
            if settled.next_at() < limit {
                let packet = settled.pop();
                if packet.flags & LOST == 0 {
                    return Some(packet);
                }
                end_of_line(*after, &packet, port);
                continue;
            }
            let at = self.raw.next_at();
            if at >= limit {
                return None;
            }
            let mut packet = self.raw.pop();
            if packet.flags & LOST != 0 {
                end_of_line(self.raw_id, &packet, port);
                continue;
            }
            link.arrived += 1;
            link.bare += u64::from(packet.flags & BARE);
            let Some(way) = link.offer(at, u32::from(packet.size), packet.channel, packet.flags) else {
                bury(&packet, false, port.sacks, port.fates);
                continue;
            };
            packet.at = way.at;
            packet.flags |= way.added;
            if packet.at < limit && packet.flags & LOST == 0 && settled.is_empty() {
                return Some(packet);
            } else {
                settled.push(packet);
            }
        }
    }
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
        let Some(size) = self.plain_ack_size() else { return };
        let Some((raw, mut run, ring)) = way_in.idle_run(size) else { return };
        let ordinary = u64::from(size) | u64::from(BARE) << 16;
        while let Some([at, sent, sequence, rest]) = raw.first_words() {
            if at >= limit || rest >> 32 != ordinary {
                break;
            }
            let Some(arrival) = run.ask(at) else { break };
            let in_time = arrival < limit && arrival <= self.deadline();
            if !in_time || !self.take_plain_ack(arrival, sent, sequence as u32, port) {
                break;
            }
            run.pass(at);
            raw.skip();
        }
        run.end(ring, true);
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
        let Some((raw, mut run, ring)) = way_in.idle_run(size) else { return };
        let Some(mut output) = IdleRun::begin(Some(port.output), u32::from(ack.size)) else { return };
        let mut packets = 0;
        let mut echo = 0;
        let mut next = self.expected();
        while let Some([at, sent, sequence, rest]) = raw.first_words() {
            let ordinary = rest >> 32 == u64::from(size) && sequence as u32 == next;
            if at >= limit || !ordinary {
                break;
            }
            let Some(arrival) = run.ask(at) else { break };
            let Some(out) = output.ask(arrival) else { break };
            if arrival >= limit {
                break;
            }
            next = next.wrapping_add(1);
            packets += 1;
            echo = sent;
            run.pass(at);
            output.pass(arrival);
            raw.skip();
            port.out.push(Packet { at: out, sent: echo, seq: next, ..ack });
        }
        run.end(ring, false);
        output.end(port.out_id, true);
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
        let mut end_of_line = |ring: usize, packet: &Packet, port: &mut Port<'_>| {
            bury(packet, true, port.sacks, port.fates);
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
            let packet = way_in.next(&mut port, limit, &mut end_of_line);
            let arrival = packet.as_ref().map_or(limit, |packet| packet.at);
            // Packets go before timers.
            while peer.deadline() < arrival {
                peer.on_timer(peer.deadline(), &mut port);
            }
            match packet {
                Some(packet) => peer.on_packet(arrival, &packet, &mut port),
                None => return,
            }
        }
    }
}
