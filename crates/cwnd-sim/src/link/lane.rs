//! Lanes: packets of one size that each find a link idle.

use super::{Link, Packed};

/// The way of packets of one size that each find a link idle: what they do to the link's state is kept here, and
/// put into it at the end ([`Link::close_lane`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane {
    /// A packet that comes at this time or later finds the link idle.
    pub ready: u64,
    /// The same before the packet that passed last.
    before: u64,
    /// From a packet's arrival until the lane is ready for the next.
    step: u64,
    /// From a packet's arrival until it comes out.
    pub lead: u64,
}

impl Lane {
    /// Nothing finds this one idle.
    pub const SHUT: Lane = Lane { ready: u64::MAX, before: 0, step: 0, lead: 0 };

    /// A packet that comes at `now` passes.
    #[inline(always)]
    pub fn pass(&mut self, now: u64) {
        self.before = self.ready;
        self.ready = now + self.step;
    }

    /// When the last packet that passed came out, and the one before it.
    pub fn last_out(&self) -> [u64; 2] {
        [self.ready, self.before].map(|ready| ready.wrapping_sub(self.step).wrapping_add(self.lead))
    }
}

impl Link {
    /// A lane for packets of `size` bytes, the first of which comes at `first` or later. None if the link loses
    /// packets, or its delay has just become shorter.
    #[inline(always)]
    pub fn open_lane(&self, size: u32, first: u64) -> Option<Lane> {
        let time = self.serial_time(size);
        let lead = time + self.delay;
        if self.loss.is_some() || self.not_before > first.saturating_add(lead) {
            return None;
        }
        let slack = self.slack;
        Some(Lane { ready: self.free_at + slack, before: self.previous + slack, step: time + slack, lead })
    }

    /// So many packets of `size` bytes have gone over the lane; the last went into this ring.
    #[inline(always)]
    pub fn close_lane(&mut self, lane: Lane, packets: u64, last: Packed, bare: bool) {
        if packets > 0 {
            let slack = self.slack;
            self.free_at = lane.ready - slack;
            self.previous = lane.before - slack;
            self.first = last;
            self.forget();
            self.arrived += packets;
            self.bare += if bare { packets } else { 0 };
        }
    }
}
