//! Round trips, and whether the window was in use during them.

use cwnd_cc::{Ack, Window};

/// Counts round trips. A round trip ends when the segment is acknowledged that was next to be sent at its begin.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    end: u64,
    pub number: u64,
    /// Whether window use is tracked at all; if not, the window always counts as in use.
    validates: bool,
    /// Whether the window was full during this round trip, and during the one before.
    limited: bool,
    limited_before: bool,
    /// Most segments in flight during this round trip, and during the one before.
    peak: u32,
    peak_before: u32,
}

impl Rounds {
    pub fn new(validates: bool) -> Rounds {
        Rounds {
            end: 0,
            number: 0,
            validates,
            limited: !validates,
            limited_before: false,
            peak: 0,
            peak_before: 0,
        }
    }

    /// Sets `ack.round_start`, and `ack.cwnd_limited` if window use is tracked, for an ACK that has moved `una`.
    #[inline(always)]
    pub fn on_ack(&mut self, una: u64, next: u64, window: &Window, ack: &mut Ack) {
        ack.round_start = una > self.end;
        if ack.round_start {
            self.begin(next);
            ack.round = self.number;
        }
        if self.validates {
            let peak = self.peak.max(self.peak_before);
            ack.cwnd_limited = self.limited
                || self.limited_before
                || (window.in_slow_start() && window.cwnd < f64::from(2 * peak));
        }
    }

    #[inline]
    fn begin(&mut self, next: u64) {
        self.number += 1;
        self.end = next;
        self.limited_before = self.limited;
        self.limited = !self.validates;
        self.peak_before = self.peak;
        self.peak = 0;
    }

    /// Records how much of the window is in use after packets were sent.
    #[inline(always)]
    pub fn record_use(&mut self, in_flight: u32, window: u32) {
        if self.validates {
            self.limited |= in_flight >= window;
            self.peak = self.peak.max(in_flight);
        }
    }

    /// Returns whether window use is tracked.
    #[inline(always)]
    pub fn validates(&self) -> bool {
        self.validates
    }
}
