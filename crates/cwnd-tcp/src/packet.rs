//! What travels.

/// A packet on its way, data or ACK. Rings hold hundreds of thousands of these, so it is kept at 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// When it arrives at the next stage, nanoseconds.
    pub at: u64,
    /// Data: when it was sent (its timestamp). ACK: the timestamp that it echoes.
    pub sent: u64,
    /// Data: segment number. ACK: the next segment expected. Both modulo 2^32.
    pub seq: u32,
    /// Twice the flow's number, and one more for ACKs.
    pub channel: u32,
    /// With [`SACK`]: where its blocks are kept.
    pub aux: u32,
    /// Bytes on the wire.
    pub size: u16,
    /// The flags below.
    pub flags: u16,
}

/// It carries no data: an ACK, or a packet of the handshake.
pub const BARE: u16 = 1 << 0;
/// It was lost on the line: it keeps its place in the queue and on the line, and vanishes at its end.
pub const LOST: u16 = 1 << 1;
/// An ACK with selective acknowledgements.
pub const SACK: u16 = 1 << 2;
/// ECN-capable transport.
pub const ECT: u16 = 1 << 3;
/// Congestion experienced.
pub const CE: u16 = 1 << 4;
/// ECN echo, on ACKs.
pub const ECE: u16 = 1 << 5;
/// Congestion window reduced, on data.
pub const CWR: u16 = 1 << 6;
/// SYN, from the sender or (with the ACK) from the receiver.
pub const SYN: u16 = 1 << 7;
/// The last ACK of the handshake.
pub const ESTABLISHED: u16 = 1 << 8;
/// With [`ECT`]: the codepoint is ECT(1), not ECT(0) (RFC 9331).
pub const ECT1: u16 = 1 << 9;

/// The last segment of a burst (TCP's PSH).
pub const PUSH: u16 = 1 << 10;

impl Packet {
    /// Whether all of `flags` are set.
    #[inline(always)]
    pub fn is(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }

    /// Whether it carries data.
    #[inline(always)]
    pub fn is_data(&self) -> bool {
        self.flags & BARE == 0
    }

    /// As four words, the form in which rings hold it: whole words go through registers, where fields of
    /// different sizes would stall on their way through memory.
    #[inline(always)]
    pub fn to_words(self) -> [u64; 4] {
        let sequence = u64::from(self.seq) | u64::from(self.channel) << 32;
        let rest = u64::from(self.aux) | u64::from(self.size) << 32 | u64::from(self.flags) << 48;
        [self.at, self.sent, sequence, rest]
    }

    /// From four words.
    #[inline(always)]
    pub fn from_words([at, sent, sequence, rest]: [u64; 4]) -> Packet {
        Packet {
            at,
            sent,
            seq: sequence as u32,
            channel: (sequence >> 32) as u32,
            aux: rest as u32,
            size: (rest >> 32) as u16,
            flags: (rest >> 48) as u16,
        }
    }

    /// The flow's number.
    #[inline(always)]
    pub fn flow(&self) -> usize {
        (self.channel >> 1) as usize
    }
}

/// Selective acknowledgement blocks, the most recent first: half-open ranges of segment numbers modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    /// How many of `blocks` count.
    pub len: u32,
    /// Up to four (three with timestamps).
    pub blocks: [(u32, u32); 4],
}

impl SackBlocks {
    /// These, and before them a block that tells what came again (RFC 2883). There is room for one.
    pub fn after(mut self, block: (u32, u32)) -> SackBlocks {
        self.blocks.rotate_right(1);
        self.blocks[0] = block;
        self.len += 1;
        self
    }

    /// Those that count.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.blocks[..self.len as usize].iter().copied()
    }
}

/// Where an endpoint puts the packets that it sends.
pub trait Emit {
    /// Hand a packet to the host's output queue at `now`. Returns false if the queue dropped it at once.
    fn emit(&mut self, now: u64, packet: Packet) -> bool;

    /// Hand an ACK with SACK blocks to the host's output queue.
    fn emit_sack(&mut self, now: u64, packet: Packet, blocks: &SackBlocks) -> bool;
}

/// The SACK blocks of all ACKs on their way, so that the packets themselves stay small.
#[derive(Clone, Debug, Default)]
pub struct SackSlab {
    entries: Vec<SackBlocks>,
    free: Vec<u32>,
}

impl SackSlab {
    /// Keep blocks; the answer goes into the packet's `aux`.
    pub fn keep(&mut self, blocks: &SackBlocks) -> u32 {
        if let Some(id) = self.free.pop() {
            self.entries[id as usize] = *blocks;
            return id;
        }
        self.entries.push(*blocks);
        (self.entries.len() - 1) as u32
    }

    /// Give blocks back: the ACK has arrived, or is gone.
    pub fn take(&mut self, id: u32) -> SackBlocks {
        self.free.push(id);
        self.entries[id as usize]
    }

    /// The blocks of an ACK that goes on.
    pub fn look(&self, id: u32) -> SackBlocks {
        self.entries[id as usize]
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Keep the same blocks once more, for a copy of the ACK.
    pub fn copy(&mut self, id: u32) -> u32 {
        let blocks = self.entries[id as usize];
        self.keep(&blocks)
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_everything() {
        let packet =
            Packet { at: 1, sent: u64::MAX, seq: 3, channel: u32::MAX, aux: 5, size: u16::MAX, flags: 7 };
        assert_eq!(Packet::from_words(packet.to_words()), packet);
        let other = Packet {
            at: u64::MAX,
            sent: 2,
            seq: u32::MAX,
            channel: 4,
            aux: u32::MAX,
            size: 6,
            flags: u16::MAX,
        };
        assert_eq!(Packet::from_words(other.to_words()), other);
    }

    #[test]
    fn the_slab_reuses_what_is_given_back() {
        let mut slab = SackSlab::default();
        let blocks = |n| SackBlocks { len: 1, blocks: [(n, n + 1), (0, 0), (0, 0), (0, 0)] };
        let (a, b) = (slab.keep(&blocks(1)), slab.keep(&blocks(2)));
        assert_eq!(slab.take(a), blocks(1));
        assert_eq!(slab.keep(&blocks(3)), a);
        assert_eq!((slab.take(b), slab.take(a)), (blocks(2), blocks(3)));
        assert!(slab.is_empty());
    }
}
