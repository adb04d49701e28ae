//! Shared state of the stages of a simulation: links, rings of packets, counts.

use crate::link::Link;
use crate::merge::Turn;
use crate::ring::Ring;
use crate::sacks::Sacks;
use crate::slots::Slots;
use cwnd_tcp::packet::{ESTABLISHED, Emit, LOST, Packet, SACK, SYN, SackBlocks};
use cwnd_tcp::prefetch::prefetch;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Everything that is not an endpoint.
#[derive(Debug, Default)]
pub struct Net {
    /// Links, by their number in the scenario.
    pub links: Slots<Link>,
    /// For each link, the packets that its line lost, counted when they would have reached its end.
    pub lost: Vec<u64>,
    /// Rings: each is read by one stage, and written by one.
    pub rings: Slots<Ring>,
    /// For each ring into a merging link, when it last had its turn.
    pub turns: Slots<Turn>,
    /// For each ring, the link whose line ends in it, if there is one.
    pub line_of: Vec<Option<u32>>,
    /// The SACK blocks of the ACKs under way.
    pub sacks: Sacks,
    /// For each channel, where its packets go from the host that sends them.
    pub egress: Vec<Egress>,
    /// For each channel, what became of its packets.
    pub packet_counts: Vec<PacketCounts>,
    /// For each host, a time before which nothing happens there, stored together so that idle hosts need not be
    /// visited. Then one for rings that lead to a tap, which stays 0, and for each ring into a link a time before which nothing
    /// arrives. Several links, each on its thread, may lead to one host.
    pub wake: Arc<[AtomicU64]>,
    /// For each ring, what it leads to.
    pub owner: Vec<Owner>,
    /// Packets that queues dropped, if a caller wants them.
    pub dropped: Option<Vec<Packet>>,
}

/// What a ring leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The index into [`Net::wake`].
    pub wake: u32,
    /// Whether other rings, which several threads may fill at once, have the same wake-up time.
    pub shares: bool,
}

/// Where a host's packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Egress {
    /// Onto a link that only this host feeds: its own.
    Link(u32),
    /// Into a ring, for a link that others feed too.
    Ring(u32),
}

/// Counts of the packets of a channel that never arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Data packets (in an ACK channel: ACKs) that queues dropped.
    pub dropped: u64,
    /// Data packets or ACKs that lines lost.
    pub lost: u64,
    /// Copies that links made of them.
    pub copies: u64,
    /// Packets of the handshake that were dropped or lost.
    pub handshake: u64,
}

impl AddAssign for PacketCounts {
    fn add_assign(&mut self, PacketCounts { dropped, lost, copies, handshake }: PacketCounts) {
        self.dropped += dropped;
        self.lost += lost;
        self.copies += copies;
        self.handshake += handshake;
    }
}

impl PacketCounts {
    /// Counts a packet that was lost on a line, or else dropped by a queue, and frees its SACK blocks.
    #[cold]
    #[inline(never)]
    pub fn discard(counts: &mut [PacketCounts], sacks: &mut Sacks, packet: &Packet, lost: bool) {
        if packet.is(SACK) {
            sacks.take(packet.aux);
        }
        let counts = &mut counts[packet.channel as usize];
        if packet.flags & (SYN | ESTABLISHED) != 0 {
            counts.handshake += 1;
        } else if lost {
            counts.lost += 1;
        } else {
            counts.dropped += 1;
        }
    }
}

impl Net {
    /// Lets a packet that arrives at `now` cross a link in closed form. Returns false if it is dropped.
    #[inline(always)]
    pub fn cross(&mut self, link: u32, now: u64, mut packet: Packet) -> bool {
        let link = self.links[link as usize].closed_form();
        match link.accept(now, u32::from(packet.size), packet.channel, packet.flags) {
            Some(verdict) => {
                packet.at = verdict.at;
                packet.flags |= verdict.added;
                self.rings[verdict.ring as usize].push(packet);
                self.note_arrival(verdict.ring, verdict.at);
                true
            }
            None => {
                PacketCounts::discard(&mut self.packet_counts, &mut self.sacks, &packet, false);
                false
            }
        }
    }

    /// Notes that a packet was put into a ring: what is behind it has something to do at `at` at the latest.
    #[inline(always)]
    pub fn note_arrival(&mut self, ring: u32, at: u64) {
        let owner = self.owner[ring as usize];
        let wake = &self.wake[owner.wake as usize];
        if at >= wake.load(Ordering::Relaxed) {
            return;
        }
        if owner.shares {
            wake.fetch_min(at, Ordering::Relaxed);
        } else {
            // There is no other writer now, and this does not wait for earlier reads as an exchange does.
            wake.store(at, Ordering::Relaxed);
        }
    }

    /// Asks for the memory of the wake-up time of what is behind a ring.
    #[inline(always)]
    pub fn prefetch_wake(&self, ring: u32) {
        prefetch(&self.wake[self.owner[ring as usize].wake as usize]);
    }

    /// Returns a time before which nothing arrives in a ring into a link.
    #[inline(always)]
    pub fn input_wakes(&self, ring: u32) -> u64 {
        self.wake[self.owner[ring as usize].wake as usize].load(Ordering::Relaxed)
    }

    /// Sets the time of [`Net::input_wakes`], when the link has taken everything before it.
    #[inline(always)]
    pub fn set_input_wakes(&self, ring: u32, at: u64) {
        self.wake[self.owner[ring as usize].wake as usize].store(at, Ordering::Relaxed);
    }

    /// Counts a packet that was lost on its line and would now reach the end of it.
    #[cold]
    #[inline(never)]
    pub fn end_of_line(&mut self, ring: u32, packet: &Packet) {
        let link = self.line_of[ring as usize].expect("only a line loses packets");
        self.lost[link as usize] += 1;
        PacketCounts::discard(&mut self.packet_counts, &mut self.sacks, packet, true);
    }

    /// Counts a packet, given as words, that a queue drops.
    #[cold]
    #[inline(never)]
    pub fn drop_packet(&mut self, words: [u64; 4]) {
        let packet = Packet::from_words(words);
        if let Some(dropped) = &mut self.dropped {
            dropped.push(packet);
        }
        PacketCounts::discard(&mut self.packet_counts, &mut self.sacks, &packet, false);
    }

    /// Puts a packet, given as words, into the ring of its channel behind a link.
    #[inline(always)]
    pub fn hand_on(&mut self, link: u32, at: u64, [sent, sequence, rest]: [u64; 3]) {
        let ring = self.links[link as usize].next().of((sequence >> 32) as u32);
        self.rings[ring as usize].push_words(at, sent, sequence, rest);
        self.note_arrival(ring, at);
    }

    /// Returns a copy of a packet, given as words.
    #[cold]
    pub fn copy_packet(&mut self, [sent, sequence, mut rest]: [u64; 3]) -> [u64; 3] {
        let packet = Packet::from_words([0, sent, sequence, rest]);
        if packet.is(SACK) {
            rest = rest >> 32 << 32 | u64::from(self.sacks.copy(packet.aux));
        }
        if packet.flags & (SYN | ESTABLISHED) == 0 {
            self.packet_counts[packet.channel as usize].copies += 1;
        }
        [sent, sequence, rest]
    }

    /// Takes the next packet of a ring that was not lost, if it arrives before `limit`.
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

    /// Removes the lost packets at a ring's head that reach its end before `limit`.
    pub fn skip_lost(&mut self, ring: u32, limit: u64) {
        while let Some(packet) = self.rings[ring as usize].first()
            && packet.is(LOST)
            && packet.at < limit
        {
            self.rings[ring as usize].pop();
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
                self.note_arrival(ring, packet.at);
                true
            }
        }
    }

    fn emit_sack(&mut self, now: u64, mut packet: Packet, blocks: &SackBlocks) -> bool {
        packet.aux = self.sacks.keep(blocks);
        self.emit(now, packet)
    }
}
