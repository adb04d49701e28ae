//! Merging sorted inputs.

/// (time, input) pairs, smallest first; the input's number breaks ties. A few are kept sorted, many in a 4-ary heap.
#[derive(Clone, Debug, Default)]
pub struct Merge {
    /// A heap, and sorted unless there are or were many.
    heap: Vec<Key>,
    many: bool,
}

/// So many are few.
const FEW: usize = 8;

/// A time and the input whose first packet has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// When.
    pub at: u64,
    /// Which input.
    pub input: u32,
}

impl Key {
    /// After everything.
    pub const NEVER: Key = Key { at: u64::MAX, input: u32::MAX };
}

impl Merge {
    /// Forget everything.
    #[inline]
    pub fn clear(&mut self) {
        self.heap.clear();
        self.many = false;
    }

    /// Whether there is no input.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Add an input.
    #[inline]
    pub fn push(&mut self, key: Key) {
        let mut i = self.heap.len();
        self.heap.push(key);
        // What is sorted is a heap, too.
        self.many |= i >= FEW;
        while i > 0 {
            let parent = if self.many { (i - 1) / 4 } else { i - 1 };
            if self.heap[parent] <= key {
                break;
            }
            self.heap[i] = self.heap[parent];
            i = parent;
        }
        self.heap[i] = key;
    }

    /// The first input and the runner-up: the first may be read until it comes after the runner-up.
    #[inline]
    pub fn first_two(&self) -> Option<(Key, Key)> {
        let first = *self.heap.first()?;
        if !self.many {
            return Some((first, self.heap.get(1).copied().unwrap_or(Key::NEVER)));
        }
        let rest = &self.heap[1..self.heap.len().min(5)];
        Some((first, rest.iter().copied().min().unwrap_or(Key::NEVER)))
    }

    /// The first input has come to another time.
    #[inline]
    pub fn replace_first(&mut self, key: Key) {
        if self.many {
            return self.sift_down(key);
        }
        let mut place = 0;
        while let Some(&next) = self.heap.get(place + 1)
            && next < key
        {
            self.heap[place] = next;
            place += 1;
        }
        self.heap[place] = key;
    }

    /// The first input has ended.
    #[inline]
    pub fn pop_first(&mut self) {
        if !self.many {
            self.heap.remove(0);
        } else if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(last);
        }
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
            merge.push(Key { at: times[0], input: i as u32 });
        }
        let mut merged = Vec::new();
        while let Some((first, second)) = merge.first_two() {
            let i = first.input as usize;
            while next[i] < 50 && (Key { at: inputs[i][next[i]], input: first.input }) < second {
                merged.push((inputs[i][next[i]], i));
                next[i] += 1;
            }
            if next[i] == 50 {
                merge.pop_first();
            } else {
                merge.replace_first(Key { at: inputs[i][next[i]], input: first.input });
            }
        }
        merged
    }
}
