//! A growing ring of packets in order of time.

use cwnd_tcp::packet::Packet;
use cwnd_tcp::prefetch::prefetch_line;

/// A first-in, first-out ring. Its capacity is a power of two and doubles when it is full. An empty one begins again at its first place,
/// so that a ring that seldom holds many packets uses the same memory again and again. A ring that never holds a packet has no memory.
#[derive(Clone, Debug, Default)]
pub struct Ring {
    /// A place for each packet. One is always free, so that a full ring differs from an empty one. Without memory there is but this
    /// place.
    places: Box<[Words]>,
    /// One less than the number of places, zero without memory.
    mask: u32,
    /// The packets by which the first packet and the place behind the last lie beyond the first place.
    head: u32,
    tail: u32,
}

/// The words of a packet.
pub type Words = [u64; 4];
/// Packets for which there is memory from the first packet on.
const INITIAL: usize = 4;

impl Ring {
    #[inline(always)]
    fn slot(&self, place: u32) -> &Words {
        debug_assert!((place as usize) < self.places.len() && self.places.len().is_power_of_two());
        // SAFETY: `place` was taken modulo the number of places.
        unsafe { self.places.get_unchecked(place as usize) }
    }

    /// Returns the place `packets` behind another.
    #[inline(always)]
    fn after(&self, place: u32, packets: u32) -> u32 {
        place.wrapping_add(packets) & self.mask
    }

    /// Asks for the memory of the first packet and of the place behind the last.
    #[inline(always)]
    pub fn prefetch_ends(&self) {
        let slots = self.places.as_ptr();
        prefetch_line(slots.wrapping_add(self.head as usize));
        prefetch_line(slots.wrapping_add(if self.is_empty() { 0 } else { self.tail as usize }));
    }

    /// Returns whether the ring is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Returns the number of packets.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.after(self.tail, self.head.wrapping_neg()) as usize
    }

    /// Returns when the first packet arrives, or `u64::MAX` if there is none.
    #[inline(always)]
    pub fn next_at(&self) -> u64 {
        if self.is_empty() { u64::MAX } else { self.slot(self.head)[0] }
    }

    /// Removes and returns the first packet. There must be one.
    #[inline(always)]
    pub fn pop(&mut self) -> Packet {
        Packet::from_words(self.pop_words())
    }

    /// Removes the first packet and returns its words. There must be one.
    #[inline(always)]
    pub fn pop_words(&mut self) -> Words {
        debug_assert!(!self.is_empty());
        let words = *self.slot(self.head);
        self.skip();
        words
    }

    /// Appends a packet.
    #[inline(always)]
    pub fn push(&mut self, packet: Packet) {
        let [at, sent, sequence, rest] = packet.to_words();
        self.push_words(at, sent, sequence, rest);
    }

    /// Appends a packet given as words.
    #[inline(always)]
    pub fn push_words(&mut self, at: u64, sent: u64, sequence: u64, rest: u64) {
        debug_assert!(self.is_empty() || self.slot(self.after(self.tail, 1u32.wrapping_neg()))[0] <= at);
        if self.is_empty() {
            (self.head, self.tail) = (0, 0);
        }
        let next = self.after(self.tail, 1);
        if next == self.head {
            return self.push_growing([at, sent, sequence, rest]);
        }
        // SAFETY: as in `slot`.
        *unsafe { self.places.get_unchecked_mut(self.tail as usize) } = [at, sent, sequence, rest];
        self.tail = next;
    }

    /// Returns whether at least three packets arrive before `until`. For fewer a loop over [`Ring::first_slots`] takes longer to begin
    /// than to go one by one.
    #[inline(always)]
    pub fn has_many_before(&self, until: u64) -> bool {
        self.len() > 2 && self.slot(self.after(self.head, 2))[0] < until
    }

    /// Returns the first packets and the ones behind them, as far as they lie together in memory.
    #[inline(always)]
    pub fn first_slots(&self) -> &[Words] {
        let end = if self.head <= self.tail { self.tail as usize } else { self.places.len() };
        &self.places[self.head as usize..end]
    }

    /// Removes the first `packets` packets. There must be as many.
    #[inline(always)]
    pub fn skip_all(&mut self, packets: usize) {
        debug_assert!(packets <= self.len());
        self.head = self.after(self.head, packets as u32);
    }

    /// Returns free places behind the last packet, as far as they lie together in memory. There may be none. [`Ring::extend`] makes the
    /// first of them packets.
    #[inline(always)]
    pub fn free_places(&mut self) -> &mut [Words] {
        if self.is_empty() {
            (self.head, self.tail) = (0, 0);
        }
        let (head, places) = (self.head as usize, self.places.len());
        let end =
            if self.tail < self.head { head - 1 } else { places - usize::from(head == 0 && places > 0) };
        &mut self.places[self.tail as usize..end]
    }

    /// Appends the packets in the first `packets` of the free places.
    #[inline(always)]
    pub fn extend(&mut self, packets: usize) {
        self.tail = self.after(self.tail, packets as u32);
        debug_assert!((0..packets).all(|n| {
            let [at, before] = [n, n + 1].map(|n| self.nth_from_end(n).map(|packet| packet.at));
            before <= at
        }));
    }

    /// Removes the first packet. There must be one.
    #[inline(always)]
    pub fn skip(&mut self) {
        debug_assert!(!self.is_empty());
        self.head = self.after(self.head, 1);
    }

    /// Returns the first packet, if there is one.
    #[inline(always)]
    pub fn first(&self) -> Option<Packet> {
        self.first_words().map(Packet::from_words)
    }

    /// Returns the words of the first packet, if there is one.
    #[inline(always)]
    pub fn first_words(&self) -> Option<Words> {
        (!self.is_empty()).then(|| *self.slot(self.head))
    }

    /// Returns the channel of the first packet, if there is one.
    #[inline(always)]
    pub fn first_channel(&self) -> Option<u32> {
        (!self.is_empty()).then(|| (self.slot(self.head)[2] >> 32) as u32)
    }

    /// Changes the `n`-th packet from the end; the last one is number 0.
    pub fn change_from_last(&mut self, n: usize, change: impl FnOnce(&mut Packet)) {
        let last = self.nth_from_end(n);
        let mut packet =
            last.unwrap_or_else(|| panic!("a ring of {} has no {n}th packet from its end", self.len()));
        let place = self.after(self.tail, (1 + n as u32).wrapping_neg());
        change(&mut packet);
        self.places[place as usize] = packet.to_words();
    }

    /// Returns the packet that comes `n` places before the last, if there is one.
    pub fn nth_from_end(&self, n: usize) -> Option<Packet> {
        let place = self.after(self.tail, (1 + n as u32).wrapping_neg());
        (n < self.len()).then(|| Packet::from_words(*self.slot(place)))
    }

    /// Returns all packets in order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = Packet> {
        (0..self.len() as u32).map(|i| Packet::from_words(*self.slot(self.after(self.head, i))))
    }

    #[cold]
    #[inline(never)]
    fn push_growing(&mut self, [at, sent, sequence, rest]: Words) {
        let size = (self.places.len() * 2).max(INITIAL);
        let mut places = Vec::with_capacity(size);
        places.extend(self.iter().map(Packet::to_words));
        (self.head, self.tail) = (0, places.len() as u32);
        places.resize(size, Words::default());
        self.places = places.into_boxed_slice();
        self.mask = self.places.len() as u32 - 1;
        self.push_words(at, sent, sequence, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_link::{Purpose, Stream};
    use std::collections::VecDeque;

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

    /// Slices of slots and free places, with other calls between them, against a queue of the standard library.
    #[test]
    fn slices_hold_what_lies_together() {
        let mut stream = Stream::new(1, Purpose::Queue, 0);
        let mut below = |most: usize| (stream.next_u64() % most as u64) as usize;
        let (mut ring, mut model) = (Ring::default(), VecDeque::new());
        let (mut wrapped, mut none_free) = (0, 0);
        for n in 0..20_000 {
            match below(4) {
                0 => {
                    ring.push(at(n));
                    model.push_back(n);
                }
                1 => {
                    let places = ring.free_places();
                    none_free += u32::from(places.is_empty());
                    let taken = below(places.len().min(8) + 1);
                    places[..taken].fill(at(n).to_words());
                    ring.extend(taken);
                    model.extend(std::iter::repeat_n(n, taken));
                }
                2 => {
                    let slots = ring.first_slots();
                    assert!(slots.iter().map(|words| &words[0]).eq(model.iter().take(slots.len())));
                    assert_eq!(slots.is_empty(), model.is_empty());
                    wrapped += u32::from(slots.len() < model.len());
                    let taken = below(slots.len() + 1);
                    ring.skip_all(taken);
                    model.drain(..taken);
                }
                _ => {
                    let until = n - below(9).min(n as usize) as u64;
                    assert_eq!(ring.has_many_before(until), model.get(2).is_some_and(|third| *third < until));
                }
            }
            assert!(ring.iter().map(|packet| packet.at).eq(model.iter().copied()), "step {n}");
        }
        assert!(wrapped > 100 && none_free > 0, "{wrapped}, {none_free}");
    }
}
