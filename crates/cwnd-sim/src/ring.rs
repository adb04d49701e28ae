//! A growing ring of packets in order of time.

use crate::packet::Packet;

/// First in, first out; its capacity is a power of two and doubles when it is full.
#[derive(Clone, Debug)]
pub struct Ring {
    slots: Box<[[u64; 4]]>,
    /// Counts of packets ever taken and ever put; their difference is the length.
    head: usize,
    tail: usize,
}

const INITIAL: usize = 16;

impl Default for Ring {
    fn default() -> Self {
        Ring { slots: vec![[0; 4]; INITIAL].into_boxed_slice(), head: 0, tail: 0 }
    }
}

impl Ring {
    #[inline(always)]
    fn slot(&self, index: usize) -> &[u64; 4] {
        let mask = self.slots.len() - 1;
        // SAFETY: the length is a power of two and never zero, so `index & mask` is below it.
        unsafe { self.slots.get_unchecked(index & mask) }
    }

    /// Whether it holds nothing.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// How many packets it holds.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// When the first packet arrives; never (`u64::MAX`) if there is none.
    #[inline(always)]
    pub fn next_at(&self) -> u64 {
        if self.is_empty() { u64::MAX } else { self.slot(self.head)[0] }
    }

    /// Take the first packet. There must be one.
    #[inline(always)]
    pub fn pop(&mut self) -> Packet {
        Packet::from_words(self.pop_words())
    }

    /// Take the first packet as words. There must be one.
    #[inline(always)]
    pub fn pop_words(&mut self) -> [u64; 4] {
        debug_assert!(!self.is_empty());
        let words = *self.slot(self.head);
        self.head = self.head.wrapping_add(1);
        words
    }

    /// Put a packet last.
    #[inline(always)]
    pub fn push(&mut self, packet: Packet) {
        let [at, sent, sequence, rest] = packet.to_words();
        self.push_words(at, sent, sequence, rest);
    }

    /// Put a packet last, word by word.
    #[inline(always)]
    pub fn push_words(&mut self, at: u64, sent: u64, sequence: u64, rest: u64) {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        // SAFETY: as in `slot`.
        let slot = unsafe { self.slots.get_unchecked_mut(self.tail & mask) };
        slot[0] = at;
        slot[1] = sent;
        slot[2] = sequence;
        slot[3] = rest;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Take the first packet without looking at it. There must be one.
    #[inline(always)]
    pub fn skip(&mut self) {
        debug_assert!(!self.is_empty());
        self.head = self.head.wrapping_add(1);
    }

    /// The first packet, if there is one.
    #[inline(always)]
    pub fn first(&self) -> Option<Packet> {
        self.first_words().map(Packet::from_words)
    }

    /// The first packet as words, if there is one.
    #[inline(always)]
    pub fn first_words(&self) -> Option<[u64; 4]> {
        (!self.is_empty()).then(|| *self.slot(self.head))
    }

    /// Change the `n`-th packet counted from the last, which is the 0th.
    pub fn change_from_last(&mut self, n: usize, change: impl FnOnce(&mut Packet)) {
        assert!(n < self.len(), "a ring of {} has no {n}th packet from its end", self.len());
        let mask = self.slots.len() - 1;
        let slot = &mut self.slots[self.tail.wrapping_sub(1 + n) & mask];
        let mut packet = Packet::from_words(*slot);
        change(&mut packet);
        *slot = packet.to_words();
    }

    /// All packets, first to arrive first.
    pub fn iter(&self) -> impl Iterator<Item = Packet> {
        (0..self.len()).map(|i| Packet::from_words(*self.slot(self.head.wrapping_add(i))))
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let len = self.len();
        let mut slots = vec![[0; 4]; self.slots.len() * 2].into_boxed_slice();
        for (i, packet) in self.iter().enumerate() {
            slots[i] = packet.to_words();
        }
        self.slots = slots;
        self.head = 0;
        self.tail = len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(at: u64) -> Packet {
        Packet { at, ..Packet::default() }
    }

    #[test]
    fn keeps_order_through_growth_and_wrap() {
        let mut ring = Ring::default();
        let (mut next_in, mut next_out) = (0, 0);
        for round in 0..100u64 {
            for _ in 0..round {
                ring.push(at(next_in));
                next_in += 1;
            }
            for _ in 0..round / 2 {
                assert_eq!(ring.next_at(), next_out);
                assert_eq!(ring.pop().at, next_out);
                next_out += 1;
            }
        }
        assert_eq!(ring.iter().map(|p| p.at).collect::<Vec<_>>(), (next_out..next_in).collect::<Vec<_>>());
        ring.change_from_last(0, |packet| {
            assert_eq!(packet.at, next_in - 1);
            packet.size = 7;
        });
        assert_eq!(ring.iter().last().map(|packet| (packet.at, packet.size)), Some((next_in - 1, 7)));
        assert_eq!(ring.first().map(|packet| packet.at), Some(next_out));
    }
}
