//! The SACK blocks of the ACKs under way, which a packet names by a number.

use cwnd_tcp::packet::{SackBlocks, SackSlab};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bits of a number that are the index in a slab. The others are the number of the slab.
const INDEX_BITS: u32 = 26;
const INDEX: u32 = (1 << INDEX_BITS) - 1;
/// The most threads of a simulation.
pub const MOST_THREADS: usize = (u32::MAX >> INDEX_BITS) as usize;

/// Slab 0, which is that of a simulation on one thread, and a slab for each of several threads.
#[derive(Clone, Debug)]
pub struct Slabs(Arc<[Mutex<SackSlab>]>);

impl Default for Slabs {
    fn default() -> Self {
        Slabs((0..=MOST_THREADS).map(|_| Mutex::default()).collect())
    }
}

impl Slabs {
    fn lock(&self, slab: usize) -> MutexGuard<'_, SackSlab> {
        self.0[slab].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// SACK blocks, as one thread sees them.
///
/// A thread stores blocks in its own slab and takes them from any. No outcome depends on the numbers.
#[derive(Debug, Default)]
pub struct Sacks {
    /// Slab 0, while there is one thread.
    own: SackSlab,
    /// All slabs, once there are several threads.
    slabs: Option<Slabs>,
    /// The slab of this thread.
    slab: usize,
    /// Whether several threads run now.
    several: bool,
}

impl Sacks {
    /// Creates what thread `thread` sees, counted from 0.
    pub fn of_thread(slabs: &Slabs, thread: usize) -> Sacks {
        assert!(thread < MOST_THREADS, "a simulation runs on {MOST_THREADS} threads at most");
        Sacks { own: SackSlab::default(), slabs: Some(slabs.clone()), slab: thread + 1, several: true }
    }

    /// Gives slab 0 to all threads, or takes it back.
    pub fn exchange(&mut self, slabs: &Slabs) {
        std::mem::swap(&mut self.own, &mut slabs.lock(0));
        self.several = !self.several;
        self.slabs.get_or_insert_with(|| slabs.clone());
    }

    /// Stores blocks. Returns their number, for the packet's `aux`.
    pub fn keep(&mut self, blocks: &SackBlocks) -> u32 {
        let index = match &self.slabs {
            Some(slabs) if self.several => slabs.lock(self.slab).keep(blocks),
            _ => self.own.keep(blocks),
        };
        assert!(index <= INDEX, "there are more than {INDEX} ACKs with SACK blocks");
        index | (self.slab as u32) << INDEX_BITS
    }

    /// Removes the blocks of an ACK that has arrived or was dropped.
    pub fn take(&mut self, number: u32) -> SackBlocks {
        self.with(number, SackSlab::take)
    }

    /// Returns the blocks of an ACK that stays in the network.
    pub fn look(&mut self, number: u32) -> SackBlocks {
        self.with(number, |slab, index| slab.look(index))
    }

    /// Stores the same blocks again, for a copy of the ACK.
    pub fn copy(&mut self, number: u32) -> u32 {
        let blocks = self.look(number);
        self.keep(&blocks)
    }

    #[inline(always)]
    fn with(&mut self, number: u32, act: impl FnOnce(&mut SackSlab, u32) -> SackBlocks) -> SackBlocks {
        let (slab, index) = ((number >> INDEX_BITS) as usize, number & INDEX);
        match &self.slabs {
            Some(slabs) if slab > 0 || self.several => act(&mut slabs.lock(slab), index),
            _ => act(&mut self.own, index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(n: u32) -> SackBlocks {
        SackBlocks { len: 1, blocks: [(n, n + 1), (0, 0), (0, 0), (0, 0)], ecn: None }
    }

    #[test]
    fn a_thread_takes_what_another_has_stored() {
        let slabs = Slabs::default();
        let mut main = Sacks::default();
        let before = main.keep(&blocks(1));
        main.exchange(&slabs);
        let [mut first, mut last] = [0, MOST_THREADS - 1].map(|thread| Sacks::of_thread(&slabs, thread));
        let (a, b, c) = (first.keep(&blocks(2)), last.keep(&blocks(3)), main.keep(&blocks(4)));
        assert_eq!((last.take(before), last.take(a), first.look(b)), (blocks(1), blocks(2), blocks(3)));
        assert_eq!((main.take(b), first.take(c)), (blocks(3), blocks(4)));
        let b = last.keep(&blocks(3));
        // What is still under way stays where it is.
        main.exchange(&slabs);
        let copy = main.copy(b);
        assert_eq!((main.take(b), main.take(copy)), (blocks(3), blocks(3)));
        assert!(main.keep(&blocks(4)) <= INDEX);
    }
}
