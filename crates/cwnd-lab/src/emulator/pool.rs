//! Where packets are kept while they are under way.

use super::packet::Tcp;
use cwnd_link::Codepoint;

/// A packet: its place in a [`Pool`].
pub type Slot = u32;

/// What is known of a packet beside its bytes, so that these need not be looked at again.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// Bytes of the packet.
    pub length: u32,
    /// Its flow, and the direction in which it goes; see [`super::Way`].
    pub way: u32,
    /// How many links of its way it has behind it.
    pub hop: u32,
    /// It carries data of a flow.
    pub data: bool,
    /// Its ECN field.
    pub ecn: Codepoint,
    /// What TCP says, if it is TCP.
    pub tcp: Option<Tcp>,
    /// The data's place in the flow, in bytes from its beginning.
    pub offset: u64,
    /// Where it stands among what the bottleneck sent, if it came through there.
    pub sent: Option<Sent>,
}

impl Default for Meta {
    fn default() -> Meta {
        let ecn = Codepoint::NotEct;
        Meta { length: 0, way: 0, hop: 0, data: false, ecn, tcp: None, offset: 0, sent: None }
    }
}

/// A packet's place among what a link sends.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it left, ns.
    pub at: u64,
    /// Wire bytes that the link had sent by then.
    pub bytes: u64,
    /// How often the link had been idle by then.
    pub rests: u32,
}

/// How many packets are allocated at a time.
const CHUNK: usize = 1024;

/// Creates a pool of packets of at most this size, bytes.
pub struct Pool {
    stride: usize,
    chunks: Vec<Box<[u8]>>,
    metas: Vec<Meta>,
    free: Vec<Slot>,
}

impl Pool {
    /// For packets of at most `stride` bytes. So many can be under way before more memory is asked for, which would hold
    /// everything up.
    pub fn new(stride: usize, packets: usize) -> Pool {
        let mut pool = Pool { stride, chunks: Vec::new(), metas: Vec::new(), free: Vec::new() };
        (0..packets.div_ceil(CHUNK)).for_each(|_| pool.grow());
        pool
    }

    fn grow(&mut self) {
        /// Memory is there only once something has been written to it, a page at a time.
        const PAGE: usize = 4096;
        let mut chunk = vec![0; CHUNK * self.stride].into_boxed_slice();
        chunk.iter_mut().step_by(PAGE).for_each(|byte| *std::hint::black_box(byte) = 1);
        self.chunks.push(chunk);
        let first = self.metas.len();
        self.metas.resize(first + CHUNK, Meta::default());
        self.free.extend((first..first + CHUNK).rev().map(|slot| slot as Slot));
    }

    /// A place for a packet; its bytes are those of whatever was there.
    pub fn take(&mut self) -> Slot {
        if self.free.is_empty() {
            self.grow();
        }
        self.free.pop().expect("there is one now")
    }

    /// A packet has left.
    pub fn give_back(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// How many packets are under way.
    #[cfg(test)]
    pub fn used(&self) -> usize {
        self.metas.len() - self.free.len()
    }

    /// A copy of a packet.
    pub fn copy(&mut self, slot: Slot) -> Slot {
        let meta = *self.meta(slot);
        let bytes = self.bytes(slot).to_vec();
        let copy = self.take();
        *self.meta_mut(copy) = meta;
        self.room(copy)[..bytes.len()].copy_from_slice(&bytes);
        copy
    }

    /// All of the place for a packet.
    pub fn room(&mut self, slot: Slot) -> &mut [u8] {
        let at = slot as usize % CHUNK * self.stride;
        &mut self.chunks[slot as usize / CHUNK][at..at + self.stride]
    }

    /// A packet's bytes.
    pub fn bytes(&self, slot: Slot) -> &[u8] {
        let at = slot as usize % CHUNK * self.stride;
        &self.chunks[slot as usize / CHUNK][at..at + self.metas[slot as usize].length as usize]
    }

    /// What is known of it.
    pub fn meta(&self, slot: Slot) -> &Meta {
        &self.metas[slot as usize]
    }

    /// See [`Pool::meta`].
    pub fn meta_mut(&mut self, slot: Slot) -> &mut Meta {
        &mut self.metas[slot as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_their_own_and_used_again() {
        let mut pool = Pool::new(100, 0);
        let slots: Vec<Slot> = (0..3000).map(|_| pool.take()).collect();
        for &slot in &slots {
            pool.room(slot)[..4].copy_from_slice(&slot.to_le_bytes());
            pool.meta_mut(slot).length = 4;
        }
        assert!(slots.iter().all(|&slot| pool.bytes(slot) == slot.to_le_bytes()));
        assert_eq!(pool.used(), 3000);
        let copy = pool.copy(slots[7]);
        assert_eq!(pool.bytes(copy), slots[7].to_le_bytes());
        slots.iter().for_each(|&slot| pool.give_back(slot));
        assert_eq!(pool.used(), 1);
        let capacity = pool.chunks.len();
        (0..3000).for_each(|_| assert!(pool.take() < 4096));
        assert_eq!(pool.chunks.len(), capacity);
    }
}
