//! What the stages of a simulation share: links, rings of packets, counts.

use crate::link::Link;
use crate::merge::Turn;
use crate::ring::Ring;
use cwnd_tcp::packet::{BARE, ESTABLISHED, Emit, LOST, Packet, SACK, SYN, SackBlocks, SackSlab};

/// Everything that is not an endpoint.
#[derive(Clone, Debug, Default)]
pub struct Net {
    /// Links, by their number in the scenario.
    pub links: Vec<Link>,
    /// Rings: each is read by one stage, and written by one.
    pub rings: Vec<Ring>,
    /// For each ring into a merging link, when it last had its turn.
    pub turns: Vec<Turn>,
    /// For each ring, the link whose line ends in it, if there is one.
    pub line_of: Vec<Option<u32>>,
    /// The SACK blocks of the ACKs on their way.
    pub sacks: SackSlab,
    /// For each channel, where its packets go from the host that sends them.
    pub egress: Vec<Egress>,
    /// For each channel, what became of its packets.
    pub fates: Vec<Fate>,
    /// For each host, a time before which nothing happens there, kept together so that idle hosts need not be
    /// visited. One more at the end, for rings that lead to no host.
    pub wake: Vec<u64>,
    /// For each ring, the host (an index into `wake`) that it leads to.
    pub owner: Vec<u32>,
    /// What is dropped, if that is asked for.
    pub graves: Option<Vec<Packet>>,
    /// Links whose losses at their end are yet to be counted, one entry a loss.
    pub late_losses: Vec<u32>,
}

/// Where a host's packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Egress {
    /// Onto a link that no one else feeds: the host's own.
    Link(u32),
    /// Into a ring, for a link that others feed too.
    Ring(u32),
}

/// Counts of the packets of a channel that never arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Data packets (in an ACK channel: ACKs) that queues dropped.
    pub dropped: u64,
    /// And those that lines lost.
    pub lost: u64,
    /// Copies that links made of them.
    pub copies: u64,
    /// Packets of the handshake that were dropped or lost.
    pub handshake: u64,
}

impl Net {
    /// A packet arrives at a link at `now`. False if it is dropped.
    #[inline(always)]
    pub fn cross(&mut self, link: u32, now: u64, mut packet: Packet) -> bool {
        let link = &mut self.links[link as usize];
        link.arrived += 1;
        link.bare += u64::from(packet.flags & BARE);
        match link.offer(now, u32::from(packet.size), packet.channel, packet.flags) {
            Some(way) => {
                packet.at = way.at;
                packet.flags |= way.added;
                self.rings[way.ring as usize].push(packet);
                self.note_arrival(way.ring, way.at);
                true
            }
            None => {
                bury(&packet, false, &mut self.sacks, &mut self.fates);
                false
            }
        }
    }

    /// A packet was put into a ring: its host has something to do at `at` at the latest.
    #[inline(always)]
    pub fn note_arrival(&mut self, ring: u32, at: u64) {
        let wake = &mut self.wake[self.owner[ring as usize] as usize];
        if at < *wake {
            *wake = at;
        }
    }

    /// A packet that was lost on its line has come to the end of it.
    #[cold]
    #[inline(never)]
    pub fn end_of_line(&mut self, ring: u32, packet: &Packet) {
        let link = self.line_of[ring as usize].expect("only a line loses packets");
        self.links[link as usize].lost += 1;
        bury(packet, true, &mut self.sacks, &mut self.fates);
    }

    /// A packet, given as words, is dropped.
    #[cold]
    #[inline(never)]
    pub fn bury_words(&mut self, words: [u64; 4]) {
        let packet = Packet::from_words(words);
        if let Some(graves) = &mut self.graves {
            graves.push(packet);
        }
        bury(&packet, false, &mut self.sacks, &mut self.fates);
    }

    /// A packet, given as words, leaves a link for the ring of its channel.
    #[inline(always)]
    pub fn hand_on(&mut self, link: u32, at: u64, [sent, sequence, rest]: [u64; 3]) {
        let out = self.links[link as usize].ring_of((sequence >> 32) as u32);
        self.put(out, at, [sent, sequence, rest]);
    }

    /// A packet, given as words, comes into a ring.
    #[inline(always)]
    pub fn put(&mut self, ring: u32, at: u64, [sent, sequence, rest]: [u64; 3]) {
        self.rings[ring as usize].push_words(at, sent, sequence, rest);
        self.note_arrival(ring, at);
    }

    /// A copy of a packet, given as words.
    #[cold]
    pub fn copy_words(&mut self, [sent, sequence, mut rest]: [u64; 3]) -> [u64; 3] {
        let packet = Packet::from_words([0, sent, sequence, rest]);
        if packet.is(SACK) {
            rest = rest >> 32 << 32 | u64::from(self.sacks.copy(packet.aux));
        }
        if packet.flags & (SYN | ESTABLISHED) == 0 {
            self.fates[packet.channel as usize].copies += 1;
        }
        [sent, sequence, rest]
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

    /// Do away with the lost packets at a ring's head that come to its end before `limit`.
    pub fn skip_lost(&mut self, ring: u32, limit: u64) {
        while let Some(packet) = self.rings[ring as usize].first()
            && packet.is(LOST)
            && packet.at < limit
        {
            self.rings[ring as usize].pop();
            self.end_of_line(ring, &packet);
        }
    }

    /// Count the losses that stages could not count while they had other links in hand.
    pub fn count_late_losses(&mut self) {
        for line in self.late_losses.drain(..) {
            self.links[line as usize].lost += 1;
        }
    }
}

/// A packet is gone: dropped by a queue, or lost on a line.
#[cold]
#[inline(never)]
pub fn bury(packet: &Packet, lost: bool, sacks: &mut SackSlab, fates: &mut [Fate]) {
    if packet.is(SACK) {
        sacks.take(packet.aux);
    }
    let fate = &mut fates[packet.channel as usize];
    if packet.flags & (SYN | ESTABLISHED) != 0 {
        fate.handshake += 1;
    } else if lost {
        fate.lost += 1;
    } else {
        fate.dropped += 1;
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
