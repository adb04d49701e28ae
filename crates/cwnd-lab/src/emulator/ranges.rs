//! Sets of bytes.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of bytes, as ranges that do not touch each other: ends by beginnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds `bytes`, and tells `is_new` each part of them that was not there.
    pub fn add(&mut self, bytes: Range<u64>, mut is_new: impl FnMut(Range<u64>)) {
        let Range { mut start, mut end } = bytes.clone();
        // What is not known to be there begins here.
        let mut at = start;
        if let Some((&from, &to)) = self.0.range(..=start).next_back()
            && to >= start
        {
            if to >= end {
                return;
            }
            (start, at) = (from, to);
        }
        while let Some((&from, &to)) = self.0.range(start + 1..=end).next() {
            self.0.remove(&from);
            is_new(at..from);
            at = to;
            end = end.max(to);
        }
        if at < bytes.end {
            is_new(at..bytes.end);
        }
        self.0.insert(start, end);
    }

    /// Returns whether all of `bytes` are there.
    pub fn has(&self, bytes: Range<u64>) -> bool {
        self.0.range(..=bytes.start).next_back().is_some_and(|(_, to)| *to >= bytes.end)
    }

    /// Returns how many bytes there are without a gap from 0 on.
    pub fn without_gap(&self) -> u64 {
        self.0.first_key_value().filter(|(from, _)| **from == 0).map_or(0, |(_, to)| *to)
    }

    /// Removes the ranges that end by `to`.
    pub fn forget(&mut self, to: u64) {
        while let Some(first) = self.0.first_entry().filter(|first| *first.get() <= to) {
            first.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_link::{Purpose, Stream};

    #[test]
    fn what_is_new_is_told() {
        // Against a set of single bytes.
        let mut random = Stream::new(7, Purpose::Algorithm, 0);
        for _ in 0..300 {
            let mut ranges = Ranges::default();
            let mut expected = [false; 64];
            for _ in 0..20 {
                let from = random.below(60);
                let bytes = from..from + 1 + random.below(64 - from);
                let all = bytes.clone().all(|byte| expected[byte as usize]);
                assert_eq!(ranges.has(bytes.clone()), all);
                let mut told = [false; 64];
                ranges.add(bytes.clone(), |part| {
                    assert!(!part.is_empty());
                    part.for_each(|byte| told[byte as usize] = true);
                });
                for byte in 0..64 {
                    let is_new = bytes.contains(&(byte as u64)) && !expected[byte];
                    assert_eq!(told[byte], is_new, "{byte}");
                    expected[byte] |= is_new;
                }
                let first = expected.iter().take_while(|is_there| **is_there).count() as u64;
                assert_eq!(ranges.without_gap(), first);
            }
            let to = random.below(64);
            let known = ranges.clone();
            ranges.forget(to);
            assert!(ranges.0.iter().eq(known.0.iter().filter(|(_, end)| **end > to)));
        }
    }
}
