//! Waiting packets, first in, first out, with the state that disciplines keep for each.

use crate::Codepoint;

/// A waiting packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedPacket<P> {
    pub packet: P,
    /// Arrival time.
    pub arrived: u64,
    pub bytes: u32,
    pub ecn: Codepoint,
    /// Whether it carries a mark when it leaves.
    pub mark: bool,
}

/// Packets in order of arrival, and the sum of their bytes.
#[derive(Clone, Debug)]
pub(crate) struct Backlog<P> {
    /// A ring. Its number of places is a power of two, or zero, so that a mask gives the place.
    places: Vec<QueuedPacket<P>>,
    /// Counters of the oldest packet and of the next arrival, modulo the number of places.
    first: u32,
    end: u32,
    bytes: u64,
}

/// Initial number of places.
const INITIAL: usize = 8;

impl<P: Copy> Backlog<P> {
    pub fn new() -> Backlog<P> {
        Backlog { places: Vec::new(), first: 0, end: 0, bytes: 0 }
    }

    #[inline(always)]
    pub fn push(&mut self, held: QueuedPacket<P>) {
        if self.len() == self.places.len() {
            self.grow(held);
        }
        self.bytes += u64::from(held.bytes);
        let place = self.place(self.end);
        self.places[place] = held;
        self.end = self.end.wrapping_add(1);
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<QueuedPacket<P>> {
        // Field by field: so the compiler knows what values they can have.
        let &QueuedPacket { packet, arrived, bytes, ecn, mark } = self.head()?;
        self.first = self.first.wrapping_add(1);
        self.bytes -= u64::from(bytes);
        Some(QueuedPacket { packet, arrived, bytes, ecn, mark })
    }

    /// Returns the packet that has waited longest.
    #[inline(always)]
    pub fn head(&self) -> Option<&QueuedPacket<P>> {
        if self.first == self.end {
            return None;
        }
        self.places.get(self.place(self.first))
    }

    pub fn iter(&self) -> impl Iterator<Item = &P> {
        (0..self.len()).map(|n| &self.places[self.place(self.first.wrapping_add(n as u32))].packet)
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.end.wrapping_sub(self.first) as usize
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline(always)]
    fn place(&self, number: u32) -> usize {
        number as usize & self.places.len().wrapping_sub(1)
    }

    /// Doubles the number of places. The packets are in the first of them; the content of the others does not matter.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, any: QueuedPacket<P>) {
        let first = self.place(self.first);
        self.places.rotate_left(first);
        (self.first, self.end) = (0, self.places.len() as u32);
        let places = (2 * self.places.len()).max(INITIAL);
        self.places.resize(places, any);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_through_growth_and_wrap() {
        let mut backlog = Backlog::new();
        let (mut came, mut left) = (0u32, 0u32);
        for round in 0..60 {
            for _ in 0..round {
                let held = QueuedPacket {
                    packet: came,
                    arrived: 0,
                    bytes: came,
                    ecn: Codepoint::NotEct,
                    mark: false,
                };
                backlog.push(held);
                came += 1;
            }
            assert!(backlog.iter().copied().eq(left..came), "{round}");
            for _ in 0..round * 2 / 3 {
                assert_eq!(backlog.head().map(|held| held.packet), Some(left));
                assert_eq!(backlog.pop().map(|held| held.packet), Some(left));
                left += 1;
            }
            assert_eq!(backlog.len(), (came - left) as usize);
            assert_eq!(backlog.bytes(), (left..came).map(u64::from).sum());
        }
        while backlog.pop().is_some() {}
        assert_eq!((backlog.len(), backlog.bytes(), backlog.iter().count()), (0, 0, 0));
        assert!(backlog.head().is_none());
    }
}
