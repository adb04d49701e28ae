//! From the path that a search found to the simplest one that shows the same.

use crate::{
    arena::{Arena, Pair},
    path::{Component, Path},
    space::{Base, rounded},
};

/// The part of the effect that a simpler path must keep.
pub const KEPT: f64 = 0.8;

/// Returns a simpler path that keeps [`KEPT`] of the effect, and its values. It removes components one by one, puts the
/// round-trip time and the buffer back to those of [`Base`], takes one burst of a train or half of them, halves bursts of losses, and
/// rounds each number to as few digits as it can, until nothing more can be done.
pub fn shrink(arena: &Arena<'_>, path: &Path, pair: Pair) -> (Path, Pair) {
    let mut shrunk = Shrunk { arena, least: KEPT * pair.effect, path: path.clone(), pair };
    while shrunk.remove() {}
    shrunk.put_back();
    shrunk.shorten_trains();
    shrunk.halve_bursts();
    shrunk.round();
    while shrunk.remove() {}
    (shrunk.path, shrunk.pair)
}

struct Shrunk<'a> {
    arena: &'a Arena<'a>,
    /// The least effect.
    least: f64,
    path: Path,
    pair: Pair,
}

impl Shrunk<'_> {
    /// Replaces the path by a simpler one if that keeps the effect. Returns whether it does.
    fn try_path(&mut self, path: Path) -> bool {
        if path == self.path {
            return false;
        }
        match self.arena.confirm(&path) {
            Some(pair) if pair.effect >= self.least => {
                (self.path, self.pair) = (path, pair);
                true
            }
            _ => false,
        }
    }

    /// Removes every component that does not matter, the last first. Returns whether there was one.
    fn remove(&mut self) -> bool {
        let mut any = false;
        for index in (0..self.path.components.len()).rev() {
            let mut path = self.path.clone();
            path.components.remove(index);
            any |= self.try_path(path);
        }
        any
    }

    fn put_back(&mut self) {
        let path = Path { rtt: Base::RTT, ..self.path.clone() };
        self.try_path(path);
        let path = Path { buffer: Base::BUFFER, ..self.path.clone() };
        self.try_path(path);
    }

    /// Puts one of its bursts in the place of a train, or else takes bursts from its ends.
    fn shorten_trains(&mut self) {
        for index in 0..self.path.components.len() {
            let Component::Train { first, count, period, times } = self.path.components[index] else {
                continue;
            };
            let mut with = |component| {
                let mut path = self.path.clone();
                path.components[index] = component;
                self.try_path(path)
            };
            if (0..times).any(|time| with(Component::Burst { first: first + time * period, count })) {
                continue;
            }
            let (mut first, mut times) = (first, times);
            let mut step = times / 2;
            while step > 0 {
                if with(Component::Train { first, count, period, times: times - step }) {
                    times -= step;
                } else if with(Component::Train {
                    first: first + step * period,
                    count,
                    period,
                    times: times - step,
                }) {
                    (first, times) = (first + step * period, times - step);
                } else {
                    step /= 2;
                }
                step = step.min(times / 2);
            }
        }
    }

    fn halve_bursts(&mut self) {
        for index in 0..self.path.components.len() {
            loop {
                let mut path = self.path.clone();
                match &mut path.components[index] {
                    Component::Burst { count, .. } | Component::Train { count, .. } if *count > 1 => {
                        *count /= 2;
                    }
                    _ => break,
                }
                if !self.try_path(path) {
                    break;
                }
            }
        }
    }

    fn round(&mut self) {
        for index in 0..self.path.numbers().len() {
            for digits in 1..4 {
                let mut path = self.path.clone();
                let number = path.numbers().swap_remove(index);
                *number = rounded(*number as f64, digits);
                if path == self.path || self.try_path(path) {
                    break;
                }
            }
        }
    }
}
