//! The ranges that SACK blocks report.

use crate::fault::{self, Fault};
use crate::packet::SackBlocks;

/// Ranges held out of order, the most recently changed first (RFC 2018 section 4). The segments of a range that falls off
/// the end are still held; the range returns when a segment joins it.
#[derive(Clone, Debug, Default)]
pub(super) struct SackList {
    len: usize,
    ranges: [(u64, u64); 8],
}

impl SackList {
    /// Adds a segment, and keeps at most this number of ranges. Returns the range that it is in now.
    pub fn add(&mut self, segment: u64, most: u32) -> (u64, u64) {
        let mut joined = (segment, segment + 1);
        let mut kept = [(0, 0); 8];
        let mut len = 1;
        for &range in &self.ranges[..self.len] {
            if range.1 == joined.0 {
                joined.0 = range.0;
            } else if range.0 == joined.1 {
                joined.1 = range.1;
            } else if len < kept.len().min(most as usize) {
                kept[len] = range;
                len += 1;
            }
        }
        kept[0] = joined;
        self.ranges = kept;
        self.len = len;
        joined
    }

    /// Replaces the most recently changed range.
    #[inline]
    pub fn set_first(&mut self, range: (u64, u64)) {
        self.ranges[0] = range;
    }

    /// Moves the range of a segment that arrived again to the front. Returns false if no range holds it.
    pub fn bring_forward(&mut self, segment: u64) -> bool {
        let holds = |range: &(u64, u64)| (range.0..range.1).contains(&segment);
        let listed = self.ranges[..self.len].iter().position(holds);
        if let Some(i) = listed.filter(|_| !fault::is(Fault::RangesStayInPlace)) {
            self.ranges[..=i].rotate_right(1);
        }
        listed.is_some()
    }

    /// Removes ranges that end at this segment or before.
    pub fn drop_below(&mut self, next: u64) {
        let mut len = 0;
        for i in 0..self.len {
            if self.ranges[i].1 > next {
                self.ranges[len] = self.ranges[i];
                len += 1;
            }
        }
        self.len = len;
    }

    /// Returns at most this number of ranges as SACK blocks.
    pub fn latest(&self, most: u32) -> SackBlocks {
        let mut blocks = SackBlocks { len: (self.len as u32).min(most), ..SackBlocks::default() };
        for i in 0..blocks.len as usize {
            blocks.blocks[i] = (self.ranges[i].0 as u32, self.ranges[i].1 as u32);
        }
        blocks
    }
}
