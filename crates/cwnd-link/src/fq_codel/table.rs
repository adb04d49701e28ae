//! A hash table from the numbers of queues to their indices.

/// An open-addressing table with linear probing. Entries are never removed.
///
/// A number is itself the value of a hash function, so that its low bits serve as the place where the search begins.
#[derive(Clone, Debug)]
pub(super) struct QueueTable {
    /// A number in the upper half of each entry and an index in the lower one, or [`EMPTY`]. Their count is a power of
    /// two, and at least three quarters of them are empty, so that most searches end where they begin.
    entries: Vec<u64>,
    len: usize,
}

/// No entry: numbers stay below `u32::MAX`.
const EMPTY: u64 = u64::MAX;
const INITIAL: usize = 16;

impl Default for QueueTable {
    fn default() -> QueueTable {
        QueueTable { entries: vec![EMPTY; INITIAL], len: 0 }
    }
}

impl QueueTable {
    /// Returns the index that was inserted for a number.
    #[inline(always)]
    pub fn find(&self, number: u32) -> Option<u32> {
        let mut place = number as usize;
        loop {
            let entry = self.entries[place & (self.entries.len() - 1)];
            if (entry >> 32) as u32 == number {
                return Some(entry as u32);
            }
            if entry == EMPTY {
                return None;
            }
            place += 1;
        }
    }

    /// Adds a number, below `u32::MAX`, that is not in the table.
    pub fn insert(&mut self, number: u32, index: u32) {
        if 4 * (self.len + 1) > self.entries.len() {
            let entries = vec![EMPTY; 2 * self.entries.len()];
            let old = std::mem::replace(&mut self.entries, entries);
            old.into_iter().filter(|&entry| entry != EMPTY).for_each(|entry| self.put(entry));
        }
        self.len += 1;
        self.put(u64::from(number) << 32 | u64::from(index));
    }

    fn put(&mut self, entry: u64) {
        let mask = self.entries.len() - 1;
        let mut place = (entry >> 32) as usize & mask;
        while self.entries[place] != EMPTY {
            place = (place + 1) & mask;
        }
        self.entries[place] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_inserted_and_nothing_else() {
        // Multiples of 64 collide in every table of up to 64 places.
        let numbers = || (0..300u32).map(|n| n * 64).chain([u32::MAX - 1, 1, 65_535]);
        let mut table = QueueTable::default();
        for (index, number) in numbers().enumerate() {
            assert_eq!(table.find(number), None, "{number}");
            table.insert(number, index as u32);
            assert!(4 * table.len <= table.entries.len());
        }
        for (index, number) in numbers().enumerate() {
            assert_eq!(table.find(number), Some(index as u32), "{number}");
        }
        assert_eq!((table.find(2), table.find(300 * 64)), (None, None));
    }
}
