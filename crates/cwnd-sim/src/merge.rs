//! Merging sorted inputs.

use crate::fault::{self, Fault};
use cwnd_scenario::Ties;

/// When an input was last served: a time, and its place among the inputs served at that time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    /// The time.
    pub at: u64,
    /// The number of inputs that were served before it at that time.
    pub place: u32,
}

/// The input that comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    /// The input.
    pub input: u32,
    /// When its first packet arrives.
    pub at: u64,
    /// Its packets that arrive before this may be read. After that another input may come first.
    pub until: u64,
}

/// Inputs in order of the arrival of their first packets. Of simultaneous ones the lowest number comes first. With
/// [`Ties::ByTurn`] it is the one that was served longest ago, and the lowest number of those not served yet.
#[derive(Clone, Debug)]
pub struct Merge {
    /// Whether turns decide between simultaneous packets.
    by_turn: bool,
    /// All inputs, before they are merged. If there are many, they are in order, and `next` is the first that has not had a turn.
    keys: Vec<Key>,
    next: usize,
    /// Of many: those that have had a turn and have not ended, in a heap.
    again: Vec<Key>,
    many: bool,
    /// If there are few: the sort keys of the inputs in order, in a ring of which `len` places are used.
    few: [u128; FEW],
    head: usize,
    len: usize,
    /// The input of each mark in a sort key.
    inputs: [u32; FEW],
    /// The latest turn.
    last: Turn,
}

/// Largest number of inputs that are stored as sort keys: a power of two.
const FEW: usize = 8;

/// Children of each key in the heap.
const ARITY: usize = 4;

/// The first packet of an input: its arrival, the input's last turn, and the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    at: u64,
    turn_at: u64,
    turn_place: u32,
    input: u32,
}

impl Key {
    #[inline(always)]
    fn new(at: u64, turn: Turn, input: u32) -> Key {
        Key { at, turn_at: turn.at, turn_place: turn.place, input }
    }

    fn turn(self) -> Turn {
        Turn { at: self.turn_at, place: self.turn_place }
    }
}

/// Returns the sort key of an input: its time, its turn's time (before 2^58 ns, which is 9 years), its place in that, and
/// its mark.
#[inline(always)]
fn number(at: u64, turn: Turn, mark: usize) -> u128 {
    const BITS: u32 = FEW.ilog2();
    u128::from(at) << 64 | u128::from((turn.at << BITS | u64::from(turn.place)) << BITS | mark as u64)
}

#[inline(always)]
fn mark_of(number: u128) -> usize {
    number as usize % FEW
}

impl Merge {
    /// Creates a merge without inputs.
    pub fn new(ties: Ties) -> Merge {
        Merge {
            by_turn: ties == Ties::ByTurn && !fault::is(Fault::TurnsForgotten),
            keys: Vec::new(),
            next: 0,
            again: Vec::new(),
            many: false,
            few: [0; FEW],
            head: 0,
            len: 0,
            inputs: [0; FEW],
            last: Turn::default(),
        }
    }

    /// Removes all inputs.
    #[inline]
    pub fn clear(&mut self) {
        self.keys.clear();
    }

    /// Adds an input whose first packet arrives at `at` and whose last turn was `turn`. Inputs are added in order.
    #[inline]
    pub fn push(&mut self, at: u64, turn: Turn, input: u32) {
        self.keys.push(Key::new(at, if self.by_turn { turn } else { Turn::default() }, input));
    }

    /// Returns the inputs, in the order of their first packets if there are many. Not one may have had a turn.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = u32> + Clone {
        self.keys.iter().map(|key| key.input)
    }

    /// Begins to merge the added inputs. Returns whether there are any.
    #[inline]
    pub fn begin(&mut self) -> bool {
        let count = self.keys.len();
        self.last = Turn::default();
        self.many = count > FEW;
        if self.many {
            self.keys.sort_unstable();
            self.next = 0;
            self.again.clear();
            return true;
        }
        (self.head, self.len) = (0, 0);
        for mark in 0..count {
            let key = self.keys[mark];
            self.inputs[mark] = key.input;
            self.len += 1;
            // Only the order of earlier turns matters, and their places may exceed the bits of a sort key.
            let place = self.keys.iter().filter(|other| other.turn() < key.turn()).count() as u32;
            self.insert(number(key.at, Turn { at: 0, place }, mark));
        }
        count > 0
    }

    /// Returns the input that comes first.
    #[inline(always)]
    pub fn first(&self) -> Option<First> {
        if self.many {
            return self.first_of_many();
        }
        if self.len == 0 {
            return None;
        }
        let first = self.few[self.head % FEW];
        let at = (first >> 64) as u64;
        let until = if self.len > 1 {
            let second = self.few[(self.head + 1) % FEW];
            let before = mark_of(first) < mark_of(second);
            self.until(at, (second >> 64) as u64, before)
        } else {
            u64::MAX
        };
        Some(First { input: self.inputs[mark_of(first)], at, until })
    }

    #[inline]
    fn first_of_many(&self) -> Option<First> {
        let (waiting, again) = (&self.keys[self.next..], &self.again[..]);
        let (&Key { at, input, .. }, second) = if self.first_waits() {
            (waiting.first()?, waiting.get(1).into_iter().chain(again.first()).min())
        } else {
            (again.first()?, waiting.first().into_iter().chain(again[1..].iter().take(ARITY)).min())
        };
        let until = second.map_or(u64::MAX, |second| self.until(at, second.at, input < second.input));
        Some(First { input, at, until })
    }

    /// Returns whether the input of many that comes first has not had a turn yet.
    #[inline]
    fn first_waits(&self) -> bool {
        match (self.keys.get(self.next), self.again.first()) {
            (Some(waiting), Some(again)) => waiting < again,
            (waiting, _) => waiting.is_some(),
        }
    }

    /// Returns the time before which an input may be read whose first packet arrives at `at`, the next input's at `second`.
    /// `before`: it has the lower number of the two.
    #[inline(always)]
    fn until(&self, at: u64, second: u64, before: bool) -> u64 {
        if self.by_turn { second.max(at + 1) } else { second + u64::from(before) }
    }

    /// Ends the turn of the first input with a packet that arrived at `had`. Its next packet arrives at `at`.
    #[inline(always)]
    pub fn go_on(&mut self, had: u64, at: u64) {
        let turn = if self.by_turn { self.turn(had) } else { Turn::default() };
        if self.many {
            return self.go_on_of_many(at, turn);
        }
        let mark = mark_of(self.few[self.head % FEW]);
        self.head += 1;
        self.insert(number(at, turn, mark));
    }

    /// Ends the turn of the first input with a packet that arrived at `had`, and removes the input. Returns the turn.
    #[inline]
    pub fn end(&mut self, had: u64) -> Turn {
        if !self.many {
            self.head += 1;
            self.len -= 1;
        } else if self.first_waits() {
            self.next += 1;
        } else if let Some(last) = self.again.pop()
            && !self.again.is_empty()
        {
            self.sift_down(last);
        }
        self.turn(had)
    }

    /// Returns the turn that ends with a packet that arrived at `had`.
    #[inline(always)]
    fn turn(&mut self, had: u64) -> Turn {
        let place = if had == self.last.at { self.last.place + 1 } else { 0 };
        self.last = Turn { at: had, place };
        self.last
    }

    /// Inserts a sort key; the last place in use is free.
    #[inline(always)]
    fn insert(&mut self, number: u128) {
        let mut place = self.head + self.len - 1;
        // Inputs that take turns go to the end, so begin there.
        while place > self.head
            && let before = self.few[(place - 1) % FEW]
            && number < before
        {
            self.few[place % FEW] = before;
            place -= 1;
        }
        self.few[place % FEW] = number;
    }

    /// Ends the turn of the first of many inputs, whose next packet arrives at `at`.
    #[inline(never)]
    fn go_on_of_many(&mut self, at: u64, turn: Turn) {
        if self.first_waits() {
            let input = self.keys[self.next].input;
            self.next += 1;
            self.sift_up(Key::new(at, turn, input));
        } else {
            let input = self.again[0].input;
            self.sift_down(Key::new(at, turn, input));
        }
    }

    /// Adds an input to the heap.
    fn sift_up(&mut self, key: Key) {
        let mut i = self.again.len();
        self.again.push(key);
        while i > 0 {
            let parent = (i - 1) / ARITY;
            if self.again[parent] <= key {
                break;
            }
            self.again[i] = self.again[parent];
            i = parent;
        }
        self.again[i] = key;
    }

    /// Replaces the first input of the heap.
    fn sift_down(&mut self, key: Key) {
        let heap = self.again.as_mut_slice();
        let mut i = 0;
        loop {
            let first_child = ARITY * i + 1;
            if first_child >= heap.len() {
                break;
            }
            let mut least = first_child;
            for child in first_child + 1..(first_child + ARITY).min(heap.len()) {
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

    const LENGTH: usize = 50;

    /// Few inputs and many, on both sides of the limit between them. Some inputs end early.
    #[test]
    fn merges_by_time_then_by_turn() {
        for count in [1, 2, 5, FEW, FEW + 1, 30] {
            let times = |i: usize| {
                (0..LENGTH - i % 3).map(move |j| ((i * 31 + j * 17 + (i * j) % 7) % 37) as u64 + 1)
            };
            let mut inputs: Vec<Vec<u64>> = (0..count).map(|i| times(i).collect()).collect();
            inputs.iter_mut().for_each(|times| times.sort_unstable());
            for ties in [Ties::ByNumber, Ties::ByTurn] {
                assert_eq!(merge(&inputs, ties), merge_slowly(&inputs, ties), "{count} inputs, {ties:?}");
            }
        }
    }

    fn merge(inputs: &[Vec<u64>], ties: Ties) -> Vec<(u64, u32)> {
        let mut next = vec![0; inputs.len()];
        let mut merge = Merge::new(ties);
        inputs.iter().zip(0..).for_each(|(times, i)| merge.push(times[0], Turn::default(), i));
        assert!(merge.begin());
        let mut merged = Vec::new();
        while let Some(first) = merge.first() {
            let (times, next) = (&inputs[first.input as usize], &mut next[first.input as usize]);
            assert_eq!(first.at, times[*next]);
            while *next < times.len() && times[*next] < first.until {
                merged.push((times[*next], first.input));
                *next += 1;
            }
            let had = times[*next - 1];
            match times.get(*next) {
                Some(&at) => merge.go_on(had, at),
                None => drop(merge.end(had)),
            }
        }
        merged
    }

    #[test]
    fn few_of_many_keep_the_order_of_their_turns() {
        let mut merge = Merge::new(Ties::ByTurn);
        let turns = [(4, 0), (3, 11), (3, 9), (0, 0)];
        turns.into_iter().zip(0..).for_each(|((at, place), i)| merge.push(5, Turn { at, place }, i));
        assert!(merge.begin());
        let order = turns.map(|_| {
            let first = merge.first().unwrap();
            assert_eq!((first.at, first.until), (5, if first.input == 0 { u64::MAX } else { 6 }));
            (first.input, merge.end(5).place)
        });
        assert_eq!(order, [(3, 0), (2, 1), (1, 2), (0, 3)]);
        assert_eq!(merge.first(), None);
    }

    /// Takes the earliest next packet. Of simultaneous ones: the lowest input, or the one served longest ago.
    fn merge_slowly(inputs: &[Vec<u64>], ties: Ties) -> Vec<(u64, u32)> {
        let mut next = vec![0; inputs.len()];
        // When each was served, as a number of packets; and before it was at the time at which it was last.
        let mut served: Vec<(u64, usize, usize)> = (0..inputs.len()).map(|i| (0, i, i)).collect();
        let mut merged = Vec::new();
        let order = |i: usize, at: u64, served: &[(u64, usize, usize)]| {
            let (last, latest, before) = served[i];
            match ties {
                Ties::ByNumber => (at, i),
                Ties::ByTurn => (at, if last == at { before } else { latest }),
            }
        };
        while let Some(i) = (0..inputs.len())
            .filter(|&i| next[i] < inputs[i].len())
            .min_by_key(|&i| order(i, inputs[i][next[i]], &served))
        {
            let at = inputs[i][next[i]];
            let (last, latest, _) = served[i];
            if last != at {
                served[i] = (at, inputs.len() + merged.len(), latest);
            }
            merged.push((at, i as u32));
            next[i] += 1;
        }
        merged
    }
}
