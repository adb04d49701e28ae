//! What the stages of a simulation share: links, rings of packets, counts.

use crate::link::Link;
use crate::packet::{Emit, LOST, Packet, SACK, SackBlocks, SackSlab};
use crate::ring::Ring;

/// Everything that is not an endpoint.
#[derive(Clone, Debug, Default)]
pub struct Net {
    /// Links, by their number in the scenario.
    pub links: Vec<Link>,
    /// Rings: each is read by one stage, and written by one.
    pub rings: Vec<Ring>,
    /// For each ring, the link whose line ends in it, if there is one.
    pub line_of: Vec<Option<u32>>,
    /// The SACK blocks of the ACKs on their way.
    pub sacks: SackSlab,
    /// For each channel, where its packets go from the host that sends them.
    pub egress: Vec<Egress>,
    /// For each channel, what became of its packets.
    pub fates: Vec<Fate>,
}

/// Where a host's packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Egress {
    /// Onto a link that no one else feeds: the host's own.
    Link(u32),
    /// Into a ring, for a link that others feed too.
    Ring(u32),
}

/// Counts of the packets of a channel that never arrived. The handshake's packets count with the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Data packets (in an ACK channel: ACKs) dropped by queues.
    pub dropped: u64,
    /// And lost on lines.
    pub lost: u64,
    /// Packets of the handshake that were dropped or lost.
    pub handshake: u64,
}

impl Net {
    /// A packet arrives at a link at `now`. False if it is dropped.
    #[inline(always)]
    pub fn cross(&mut self, link: u32, now: u64, mut packet: Packet) -> bool {
        match self.links[link as usize].offer(now, &mut packet) {
            Some(ring) => {
                self.rings[ring as usize].push(packet);
                true
            }
            None => {
                self.bury(&packet, false);
                false
            }
        }
    }

    /// A packet that was lost on its line has come to the end of it.
    #[cold]
    #[inline(never)]
    pub fn end_of_line(&mut self, ring: u32, packet: &Packet) {
        let link = self.line_of[ring as usize].expect("only a line loses packets");
        self.links[link as usize].counts.lost += 1;
        self.bury(packet, true);
    }

    #[cold]
    fn bury(&mut self, packet: &Packet, lost: bool) {
        if packet.is(SACK) {
            self.sacks.take(packet.aux);
        }
        let fate = &mut self.fates[packet.channel as usize];
        if packet.is_data() || packet.channel & 1 == 1 && !packet.is(crate::packet::SYN) {
            *if lost { &mut fate.lost } else { &mut fate.dropped } += 1;
        } else {
            fate.handshake += 1;
        }
    }

    /// Take the next packet of a ring that really arrives, if it does so before `limit`.
    #[inline(always)]
    pub fn next_arrival(&mut self, ring: u32, limit: u64) -> Option<Packet> {
        loop {
            let queue = &mut self.rings[ring as usize];
            if queue.next_at() >= limit {
                return None;
            }
            let packet = queue.pop();
            if packet.flags & LOST == 0 {
                return Some(packet);
            }
            self.end_of_line(ring, &packet);
        }
    }
}

impl Emit for Net {
    #[inline(always)]
    fn emit(&mut self, now: u64, packet: Packet) -> bool {
        match self.egress[packet.channel as usize] {
            Egress::Link(link) => self.cross(link, now, packet),
            Egress::Ring(ring) => {
                self.rings[ring as usize].push(packet);
                true
            }
        }
    }

    fn emit_sack(&mut self, now: u64, mut packet: Packet, blocks: &SackBlocks) -> bool {
        packet.aux = self.sacks.keep(blocks);
        self.emit(now, packet)
    }
}
