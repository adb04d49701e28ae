//! Which bytes of a stream have arrived.

use std::collections::BTreeMap;

/// The bytes in order from the beginning of a stream, and ranges beyond gaps.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    in_order: u64,
    /// All bytes.
    total: u64,
    /// Ranges beyond the first gap: begin and end.
    beyond: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Adds the bytes from `begin` to `end`, none of which has arrived before.
    pub fn insert(&mut self, begin: u64, end: u64) {
        self.total += end - begin;
        if begin > self.in_order {
            self.beyond.insert(begin, end);
            return;
        }
        self.in_order = self.in_order.max(end);
        while let Some(next) = self.beyond.first_entry().filter(|next| *next.key() <= self.in_order) {
            self.in_order = self.in_order.max(next.remove());
        }
    }

    /// Returns how many bytes are there.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns how many bytes are there in order.
    pub fn in_order(&self) -> u64 {
        self.in_order
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn a_gap_that_closes_adds_what_is_beyond_it() {
        let mut ranges = Ranges::default();
        for (begin, end, in_order) in [(0, 10, 10), (20, 30, 10), (40, 50, 10), (10, 20, 30), (30, 40, 50)] {
            ranges.insert(begin, end);
            assert_eq!(ranges.in_order(), in_order);
        }
        assert_eq!(ranges.total(), 50);
    }
}
