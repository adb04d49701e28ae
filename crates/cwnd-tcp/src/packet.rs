//! Packets, and the SACK blocks of ACKs.

/// A packet, data or ACK. An engine may hold hundreds of thousands of these, so its size is 32 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// When it arrives at the next stage, nanoseconds.
    pub at: u64,
    /// Data: when it was sent (its timestamp). ACK: the echoed timestamp.
    pub sent: u64,
    /// Data: segment number. ACK: the next segment expected. Both modulo 2^32.
    pub seq: u32,
    /// Twice the flow's number, and one more for ACKs.
    pub channel: u32,
    /// With [`SACK`]: the index of its blocks in the [`SackSlab`].
    pub aux: u32,
    /// Bytes on the wire.
    pub size: u16,
    /// Any of the flags below.
    pub flags: u16,
}

/// It carries no data: an ACK, or a packet of the handshake.
pub const BARE: u16 = 1 << 0;
/// It is lost on the line: it keeps its place in the queue and on the line, and vanishes at the end.
pub const LOST: u16 = 1 << 1;
/// An ACK with selective acknowledgements, or with the option of accurate ECN feedback.
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
/// On ACKs: the three bits from [`ACE_SHIFT`] on are the ACE field (RFC 9768). On the SYN: its third flag (AE), which asks for
/// accurate feedback; on the SYN/ACK: it is granted.
pub const ACCURATE: u16 = 1 << 11;
/// The first bit of the ACE field.
pub const ACE_SHIFT: u16 = 12;
/// With [`SACK`]: there are no blocks, only the option of accurate ECN feedback.
pub const ECN_OPTION: u16 = 1 << 15;

impl Packet {
    /// Returns whether all of `flags` are set.
    #[inline(always)]
    pub fn is(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }

    /// Returns whether it carries data.
    #[inline(always)]
    pub fn is_data(&self) -> bool {
        self.flags & BARE == 0
    }

    /// Returns the packet as four words. Engines store this form: whole words pass through registers, where fields of
    /// different sizes would cause store-forwarding stalls.
    #[inline(always)]
    pub fn to_words(self) -> [u64; 4] {
        let sequence = u64::from(self.seq) | u64::from(self.channel) << 32;
        let rest = u64::from(self.aux) | u64::from(self.size) << 32 | u64::from(self.flags) << 48;
        [self.at, self.sent, sequence, rest]
    }

    /// Creates a packet from four words.
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

    /// Returns the flow's number.
    #[inline(always)]
    pub fn flow(&self) -> usize {
        (self.channel >> 1) as usize
    }
}

/// The option of accurate ECN feedback (RFC 9768 section 3.2.3): the last 24 bits of the bytes that arrived as ECT(0), CE and ECT(1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnOption {
    /// Bytes that arrived as ECT(0) (EE0B).
    pub ect0: u32,
    /// Bytes that arrived as CE (ECEB).
    pub ce: u32,
    /// Bytes that arrived as ECT(1) (EE1B).
    pub ect1: u32,
}

/// Selective acknowledgement blocks, the most recent first: half-open ranges of segment numbers modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    /// How many of `blocks` are used.
    pub len: u32,
    /// Up to four (three with timestamps).
    pub blocks: [(u32, u32); 4],
    /// The option of accurate ECN feedback, where an ACK without blocks carries one.
    pub ecn: Option<EcnOption>,
}

impl SackBlocks {
    /// Puts a block that reports a duplicate before these (RFC 2883). There must be room for one.
    pub fn after(mut self, block: (u32, u32)) -> SackBlocks {
        self.blocks.rotate_right(1);
        self.blocks[0] = block;
        self.len += 1;
        self
    }

    /// Returns the blocks that are used.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.blocks[..self.len as usize].iter().copied()
    }
}

/// The output of an endpoint.
pub trait Emit {
    /// Hands a packet to the host's output queue at `now`. Returns false if the queue dropped it at once.
    fn emit(&mut self, now: u64, packet: Packet) -> bool;

    /// Hands `count` data packets to the host's output queue at `now`: `packet`, and others like it with the segments after it. The
    /// last also has the flags `last`, which links ignore.
    #[inline]
    fn emit_run(&mut self, now: u64, packet: Packet, count: u64, last: u16) {
        for i in 0..count {
            let flags = packet.flags | if i + 1 == count { last } else { 0 };
            self.emit(now, Packet { seq: packet.seq.wrapping_add(i as u32), flags, ..packet });
        }
    }

    /// Hands an ACK with SACK blocks to the host's output queue.
    fn emit_sack(&mut self, now: u64, packet: Packet, blocks: &SackBlocks) -> bool;

    /// Returns whether the host's output queue takes packets. While it does not, Linux leaves lost segments marked as lost instead of
    /// counting a retransmission that never left.
    fn accepts(&self) -> bool {
        true
    }
}

/// The SACK blocks of all ACKs in the network, so that the packets themselves stay small.
#[derive(Clone, Debug, Default)]
pub struct SackSlab {
    entries: Vec<SackBlocks>,
    free: Vec<u32>,
}

impl SackSlab {
    /// Stores blocks. Returns their index, for the packet's `aux`.
    pub fn keep(&mut self, blocks: &SackBlocks) -> u32 {
        if let Some(id) = self.free.pop() {
            self.entries[id as usize] = *blocks;
            return id;
        }
        self.entries.push(*blocks);
        (self.entries.len() - 1) as u32
    }

    /// Removes the blocks of an ACK that has arrived or was dropped.
    pub fn take(&mut self, id: u32) -> SackBlocks {
        self.free.push(id);
        self.entries[id as usize]
    }

    /// Returns the blocks of an ACK that stays in the network.
    pub fn look(&self, id: u32) -> SackBlocks {
        self.entries[id as usize]
    }

    /// Returns the number of stored entries.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Stores the same blocks again, for a copy of the ACK.
    pub fn copy(&mut self, id: u32) -> u32 {
        let blocks = self.entries[id as usize];
        self.keep(&blocks)
    }

    /// Returns whether nothing is stored.
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
        let blocks = |n| SackBlocks { len: 1, blocks: [(n, n + 1), (0, 0), (0, 0), (0, 0)], ecn: None };
        let (a, b) = (slab.keep(&blocks(1)), slab.keep(&blocks(2)));
        assert_eq!(slab.take(a), blocks(1));
        assert_eq!(slab.keep(&blocks(3)), a);
        assert_eq!((slab.take(b), slab.take(a)), (blocks(2), blocks(3)));
        assert!(slab.is_empty());
    }
}
