//! Lanes: packets of one size that each find a link idle.

use crate::link::{ClosedForm, PacketInRing};

/// The way of packets of one size over a link in closed form that each of them finds idle. The lane holds the changes of the
/// link's state until it is [closed](Lane::close).
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane {
    /// A packet that arrives at this time or later finds the link idle.
    pub ready: u64,
    /// The same before the last packet.
    before: u64,
    /// From a packet's arrival until the lane is ready for the next.
    step: u64,
    /// From a packet's arrival to the end of the line.
    pub lead: u64,
}

impl Lane {
    /// Opens a lane for packets of `size` bytes, the first of which arrives at `first` or later. Returns `None` if the
    /// line draws for each packet, or its delay has just become shorter.
    #[inline(always)]
    pub fn open(link: &ClosedForm, size: u32, first: u64) -> Option<Lane> {
        let time = link.serial_time(size);
        let lead = time + link.delay();
        if link.has_random_line() || link.not_before() > first.saturating_add(lead) {
            return None;
        }
        let margin = link.idle_margin();
        let [before, ready] = link.last_departures().map(|departure| departure + margin);
        Some(Lane { ready, before, step: time + margin, lead })
    }

    /// Lets a packet pass that arrives at `now`.
    #[inline(always)]
    pub fn pass(&mut self, now: u64) {
        self.before = self.ready;
        self.ready = now + self.step;
    }

    /// Returns when the last packet reached the end of the line, and the one before it.
    pub fn last_out(&self) -> [u64; 2] {
        [self.ready, self.before].map(|ready| ready.wrapping_sub(self.step).wrapping_add(self.lead))
    }

    /// Updates the link after `packets` packets, the last of which is `last`. `bare`: they carried no data.
    #[inline(always)]
    pub fn close(self, link: &mut ClosedForm, packets: u64, last: PacketInRing, bare: bool) {
        if packets > 0 {
            let margin = link.idle_margin();
            link.set_last_departures([self.before - margin, self.ready - margin], last);
            link.arrivals.packets += packets;
            link.arrivals.bare += if bare { packets } else { 0 };
        }
    }
}
