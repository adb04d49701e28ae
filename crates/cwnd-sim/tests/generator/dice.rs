//! Random choices.

use cwnd_link::{Purpose, Stream};

/// A source of random choices.
pub struct Dice(Stream);

impl Dice {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(Stream::new(seed, Purpose::Algorithm, u64::MAX))
    }

    /// Below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is nothing below zero");
        self.0.below(bound)
    }

    /// From `least` to `most`, both included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// From `least` to `most`, every order of magnitude as likely as another.
    pub fn logarithmic(&mut self, least: u64, most: u64) -> u64 {
        let (from, to) = (libm::log(least.max(1) as f64), libm::log(most.max(1) as f64));
        (libm::exp(from + (to - from) * self.unit()) as u64).clamp(least, most)
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0.uniform()
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Put them in any order.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}
