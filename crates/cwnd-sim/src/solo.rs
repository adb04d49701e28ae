//! The fast way of the common host: one endpoint, one inlet, and an output link of its own.
//!
//! It does what [`crate::host::Host`] does in general, in the same order; everything that a packet touches
//! is held by reference over a whole run instead of being looked up for each packet.

use crate::host::Inlet;
use crate::link::Link;
use crate::net::{Egress, Fate, Net, bury};
use crate::packet::{Emit, LOST, Packet, SACK, SackBlocks, SackSlab};
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
}

/// The host's way into the network.
pub struct Port<'a> {
    output: &'a mut Link,
    out: &'a mut Ring,
    sacks: &'a mut SackSlab,
    fates: &'a mut [Fate],
}

impl Emit for Port<'_> {
    #[inline(always)]
    fn emit(&mut self, now: u64, mut packet: Packet) -> bool {
        if self.output.offer(now, &mut packet).is_none() {
            bury(&packet, false, self.sacks, self.fates);
            return false;
        }
        self.out.push(packet);
        true
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
}

impl Solo {
    /// Whether the host that sends on `channel` and has this inlet can go the fast way.
    pub fn new(inlet: &Inlet, channel: u32, net: &Net) -> Option<Solo> {
        let Egress::Link(output) = net.egress[channel as usize] else { return None };
        let out = net.links[output as usize].only_ring()?;
        Some(Solo { output: (output, out), ring: inlet.ring, link: inlet.link })
    }

    /// Handle everything before `limit`.
    pub fn run(self, peer: &mut impl Peer, net: &mut Net, limit: u64) {
        let distinct = "a host's links and rings are different ones";
        let Net { links, rings, sacks, fates, late_losses, line_of, .. } = net;
        let (output, out) = (self.output.0 as usize, self.output.1 as usize);
        let ring = self.ring as usize;
        let mut end_of_line = |ring: usize, packet: &Packet, port: &mut Port<'_>| {
            bury(packet, true, port.sacks, port.fates);
            late_losses.extend(line_of[ring]);
        };
        if let Some((link, after)) = self.link {
            let (link, after) = (link as usize, after as usize);
            let [output, link] = links.get_disjoint_mut([output, link]).expect(distinct);
            let [out, raw, settled] = rings.get_disjoint_mut([out, ring, after]).expect(distinct);
            let mut port = Port { output, out, sacks, fates };
            serve(peer, &mut port, limit, |port| {
                loop {
                    if settled.next_at() < limit {
                        let packet = settled.pop();
                        if packet.flags & LOST == 0 {
                            return Some(packet);
                        }
                        end_of_line(after, &packet, port);
                        continue;
                    }
                    let at = raw.next_at();
                    if at >= limit {
                        return None;
                    }
                    let mut packet = raw.pop();
                    if packet.flags & LOST != 0 {
                        end_of_line(ring, &packet, port);
                    } else if link.offer(at, &mut packet).is_none() {
                        bury(&packet, false, port.sacks, port.fates);
                    } else if packet.at < limit && packet.flags & LOST == 0 && settled.is_empty() {
                        return Some(packet);
                    } else {
                        settled.push(packet);
                    }
                }
            });
        } else {
            let [out, raw] = rings.get_disjoint_mut([out, ring]).expect(distinct);
            let mut port = Port { output: &mut links[output], out, sacks, fates };
            serve(peer, &mut port, limit, |port| {
                while raw.next_at() < limit {
                    let packet = raw.pop();
                    if packet.flags & LOST == 0 {
                        return Some(packet);
                    }
                    end_of_line(ring, &packet, port);
                }
                None
            });
        }
    }
}

/// Serve a peer's packets and timers before `limit`; `next` takes the next packet that arrives before it.
#[inline(always)]
fn serve(
    peer: &mut impl Peer,
    port: &mut Port<'_>,
    limit: u64,
    mut next: impl FnMut(&mut Port<'_>) -> Option<Packet>,
) {
    loop {
        let packet = next(port);
        let arrival = packet.as_ref().map_or(limit, |packet| packet.at);
        // Packets go before timers.
        while peer.deadline() < arrival {
            peer.on_timer(peer.deadline(), port);
        }
        match packet {
            Some(packet) => peer.on_packet(arrival, &packet, port),
            None => return,
        }
    }
}
