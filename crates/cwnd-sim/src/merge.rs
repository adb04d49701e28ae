//! Merging sorted inputs.

use crate::fault::{self, Fault};

/// Keys of inputs, smallest first. A few are kept sorted in a ring, many in a 4-ary heap.
#[derive(Clone, Debug)]
pub struct Merge {
    /// While there are few: so many, sorted, the first of them at `head`, the others behind it and around.
    few: [Key; FEW],
    head: usize,
    len: usize,
    /// All of them, once there were more.
    heap: Vec<Key>,
    many: bool,
}

/// So many are few: a power of two.
const FEW: usize = 8;

/// When an input last had its turn: a time, and how many had theirs at the same time before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    /// When.
    pub at: u64,
    /// So many went before it then.
    pub place: u32,
}

impl Turn {
    /// The turn of an input after this one of another's, the last packet of which came at `at`.
    #[inline(always)]
    pub fn next(self, at: u64) -> Turn {
        Turn { at, place: if at == self.at { self.place + 1 } else { 0 } }
    }
}

/// The first packet of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// When.
    pub at: u64,
    /// When the input last had its turn. Of simultaneous ones that goes first for which it is longest ago.
    pub turn: Turn,
    /// Which input; the first goes first of those that have had none yet.
    pub input: u32,
}

impl Key {
    /// The next packet of an input comes at `at`, and it last had its turn then.
    #[inline(always)]
    pub fn new(at: u64, turn: Turn, input: u32) -> Key {
        let turn = if fault::is(Fault::QuietForgotten) { Turn::default() } else { turn };
        Key { at, turn, input }
    }

    /// After everything.
    pub const NEVER: Key =
        Key { at: u64::MAX, turn: Turn { at: u64::MAX, place: u32::MAX }, input: u32::MAX };
}

impl Default for Merge {
    fn default() -> Self {
        Merge { few: [Key::NEVER; FEW], head: 0, len: 0, heap: Vec::new(), many: false }
    }
}

impl Merge {
    /// Forget everything.
    #[inline]
    pub fn clear(&mut self) {
        self.heap.clear();
        self.len = 0;
        self.many = false;
    }

    /// Whether there is no input.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0 && self.heap.is_empty()
    }

    /// Add an input.
    #[inline]
    pub fn push(&mut self, key: Key) {
        if self.many {
            self.push_on_heap(key);
        } else if self.len == FEW {
            self.many = true;
            // What is sorted is a heap, too.
            self.heap.extend((0..FEW).map(|i| self.few[(self.head + i) % FEW]));
            self.len = 0;
            self.push_on_heap(key);
        } else {
            self.len += 1;
            self.insert(key);
        }
    }

    fn push_on_heap(&mut self, key: Key) {
        let mut i = self.heap.len();
        self.heap.push(key);
        while i > 0 {
            let parent = (i - 1) / 4;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[i] = self.heap[parent];
            i = parent;
        }
        self.heap[i] = key;
    }

    /// The first input and the runner-up: the first may be read until it comes after the runner-up.
    #[inline(always)]
    pub fn first_two(&self) -> Option<(Key, Key)> {
        if !self.many {
            if self.len == 0 {
                return None;
            }
            let second = if self.len > 1 { self.few[(self.head + 1) % FEW] } else { Key::NEVER };
            return Some((self.few[self.head % FEW], second));
        }
        let first = *self.heap.first()?;
        let rest = &self.heap[1..self.heap.len().min(5)];
        Some((first, rest.iter().copied().min().unwrap_or(Key::NEVER)))
    }

    /// The first input has come to another time.
    #[inline(always)]
    pub fn replace_first(&mut self, key: Key) {
        if self.many {
            return self.sift_down(key);
        }
        self.head += 1;
        self.insert(key);
    }

    /// The first input has ended.
    #[inline]
    pub fn pop_first(&mut self) {
        if !self.many {
            self.head += 1;
            self.len -= 1;
        } else if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(last);
        }
    }

    /// Put a key among the few, whose last place is free.
    #[inline(always)]
    fn insert(&mut self, key: Key) {
        let mut place = self.head + self.len - 1;
        // Inputs that take turns come round to the end, so begin there.
        while place > self.head
            && let before = self.few[(place - 1) % FEW]
            && key < before
        {
            self.few[place % FEW] = before;
            place -= 1;
        }
        self.few[place % FEW] = key;
    }

    #[inline(never)]
    fn sift_down(&mut self, key: Key) {
        let heap = self.heap.as_mut_slice();
        let mut i = 0;
        loop {
            let first_child = 4 * i + 1;
            if first_child >= heap.len() {
                break;
            }
            let mut least = first_child;
            for child in first_child + 1..(first_child + 4).min(heap.len()) {
                if heap[child] < heap[least] {
                    least = child;
                }
            }
            if key <= heap[least] {
                break;
            }
            heap[i] = heap[least];
            i = least;
        }
        heap[i] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few inputs and many, on both sides of the bound between them.
    #[test]
    fn merges_as_a_sort_does() {
        for count in [1, 2, FEW as u64, FEW as u64 + 1, 30] {
            let times = |i: u64| (0..50).map(move |j| (i * 31 + j * 17 + (i * j) % 7) % 97);
            let mut inputs: Vec<Vec<u64>> = (0..count).map(|i| times(i).collect()).collect();
            inputs.iter_mut().for_each(|times| times.sort_unstable());
            let mut sorted: Vec<(u64, usize)> =
                inputs.iter().enumerate().flat_map(|(i, v)| v.iter().map(move |&t| (t, i))).collect();
            sorted.sort_unstable();
            assert_eq!(merge(&inputs), sorted, "{count} inputs");
        }
    }

    fn merge(inputs: &[Vec<u64>]) -> Vec<(u64, usize)> {
        let mut next = vec![0usize; inputs.len()];
        let mut merge = Merge::default();
        for (i, times) in inputs.iter().enumerate() {
            merge.push(Key { at: times[0], turn: Turn::default(), input: i as u32 });
        }
        let mut merged = Vec::new();
        while let Some((first, second)) = merge.first_two() {
            let i = first.input as usize;
            while next[i] < 50
                && (Key { at: inputs[i][next[i]], turn: Turn::default(), input: first.input }) < second
            {
                merged.push((inputs[i][next[i]], i));
                next[i] += 1;
            }
            if next[i] == 50 {
                merge.pop_first();
            } else {
                merge.replace_first(Key {
                    at: inputs[i][next[i]],
                    turn: Turn::default(),
                    input: first.input,
                });
            }
        }
        merged
    }
}
