//! Packets that wait, first in, first out, with what a discipline must know of each.

use crate::Codepoint;
use std::collections::VecDeque;

/// A packet that waits.
#[derive(Clone, Debug)]
pub(crate) struct Held<P> {
    pub packet: P,
    /// When it came.
    pub arrived: u64,
    pub bytes: u32,
    pub ecn: Codepoint,
    /// It is to carry a mark when it leaves.
    pub mark: bool,
}

/// Packets in order of arrival, and the sum of their bytes.
#[derive(Clone, Debug)]
pub(crate) struct Backlog<P> {
    packets: VecDeque<Held<P>>,
    bytes: u64,
}

impl<P> Backlog<P> {
    pub fn new() -> Backlog<P> {
        Backlog { packets: VecDeque::new(), bytes: 0 }
    }

    #[inline]
    pub fn push(&mut self, held: Held<P>) {
        self.bytes += u64::from(held.bytes);
        self.packets.push_back(held);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Held<P>> {
        let held = self.packets.pop_front()?;
        self.bytes -= u64::from(held.bytes);
        Some(held)
    }

    /// The one that has waited longest.
    #[inline]
    pub fn head(&self) -> Option<&Held<P>> {
        self.packets.front()
    }

    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.packets.iter().map(|held| &held.packet)
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
