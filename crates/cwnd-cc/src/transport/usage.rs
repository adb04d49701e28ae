//! Round trips, and whether the window was in use during them.

use crate::Window;

/// Counts round trips by the order of packets, and follows whether the window limited the flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// The round trip ends when this packet or a later one is acknowledged.
    end: u64,
    /// Round trips begun so far.
    pub round: u64,
    /// Whether the window was full during this round trip, and during the one before.
    limited: bool,
    limited_before: bool,
    /// Most segments in flight during this round trip, and during the one before.
    peak: u32,
    peak_before: u32,
}

impl Usage {
    /// Records that `packet` is the newest acknowledged one, where `next` is the next one to send. Returns whether a round trip begins.
    pub fn on_acked(&mut self, packet: u64, next: u64) -> bool {
        let begins = packet >= self.end;
        if begins {
            self.round += 1;
            self.end = next;
            self.limited_before = core::mem::take(&mut self.limited);
            self.peak_before = core::mem::take(&mut self.peak);
        }
        begins
    }

    /// Records how many segments are in flight, and whether no full packet more fits into the window.
    pub fn record(&mut self, in_flight: u32, is_full: bool) {
        self.limited |= is_full;
        self.peak = self.peak.max(in_flight);
    }

    /// Returns whether the window limited the flow in this round trip or the one before. In slow start half of it must have been used
    /// (RFC 9002 section 7.8 leaves the rule open; this is Linux's).
    pub fn is_limited(&self, window: &Window) -> bool {
        let most = 2.0 * f64::from(self.peak.max(self.peak_before));
        self.limited || self.limited_before || (window.in_slow_start() && window.cwnd < most)
    }
}
