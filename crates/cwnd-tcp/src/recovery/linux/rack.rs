//! The state of RACK (RFC 8985): a segment is lost when one that was sent sufficiently later is delivered.

use super::send_log::SendRecord;
use crate::NEVER;
use crate::fault::{self, Fault};
use crate::recovery::DUP_THRESH;
use std::collections::VecDeque;

/// After this number of recoveries without a duplicate, the reordering window is the least again (RFC 8985's
/// RACK.reo_wnd_persist).
const PERSISTENCE: u32 = 16;

/// The greatest degree of reordering (Linux's `tcp_max_reordering`).
const MAX_DEGREE: u64 = 300;

/// The greatest multiple of the least reordering window.
const MAX_STEPS: u64 = 255;

/// The variables of RFC 8985 section 5.2.
#[derive(Clone, Debug)]
pub struct Rack {
    /// The delivered segment that was sent last: its send time and number.
    pub latest_sent: (u64, u64),
    /// The round-trip time of the segment delivered last.
    rtt: u64,
    /// Whether something was delivered since the last search for losses.
    pub advanced: bool,
    /// How many ACKs revealed reordering.
    pub reordering_events: u32,
    /// Over how many segments (`reordering` in Linux), at least [`DUP_THRESH`].
    degree: u64,
    /// The reordering window in quarters of the least round-trip time (RACK.reo_wnd_mult), and for how many more
    /// recoveries it stays.
    steps: u64,
    persists: u32,
    /// Until this segment is acknowledged, no duplicate enlarges the window (RACK.dsack_round).
    round: Option<u64>,
    /// Every segment below is delivered or lost.
    pub scanned: u64,
    /// Retransmissions in the order in which they were sent: time and segment.
    pub retransmissions: VecDeque<(u64, u64)>,
    /// Segments ever declared lost.
    pub lost: u64,
    /// The timestamp that the ACK echoes. Linux does not look at it: then it is [`NEVER`].
    pub echoed: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            latest_sent: (0, 0),
            rtt: 0,
            advanced: false,
            reordering_events: 0,
            degree: u64::from(DUP_THRESH),
            steps: 1,
            persists: 0,
            round: None,
            scanned: 0,
            retransmissions: VecDeque::new(),
            lost: 0,
            echoed: NEVER,
        }
    }
}

impl Rack {
    /// Takes in a delivered segment (section 6.2, step 2). A retransmission whose round trip is shorter than any, or whose ACK
    /// echoes an earlier timestamp, was needless: the original was delivered.
    pub fn advance(&mut self, now: u64, segment: u64, sent: SendRecord, least_rtt: u64) {
        let rtt = now - sent.at;
        if sent.retransmitted && (rtt < least_rtt || self.echoed < sent.at) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        self.latest_sent = self.latest_sent.max((sent.at, segment));
    }

    /// Records that `lowest` was delivered after segments that were sent later, of which `end` follows the last (section 6.2,
    /// step 3).
    pub fn on_reordering(&mut self, lowest: u64, end: u64) {
        if lowest + 1 < end {
            self.reordering_events = self.reordering_events.saturating_add(1);
            self.degree = self.degree.max((end - lowest).min(MAX_DEGREE));
        }
    }

    /// Returns over how many segments reordering was seen.
    pub fn degree(&self) -> u32 {
        self.degree as u32
    }

    /// Forgets the degree of reordering when a timeout shows that what looked like it was loss.
    pub fn reset_degree(&mut self) {
        self.degree = u64::from(DUP_THRESH);
    }

    /// Returns whether segments come so much out of order that SACKs let the window grow like ACKs (`tcp_may_raise_cwnd` in
    /// Linux).
    pub fn grows_on_sack(&self) -> bool {
        self.degree > u64::from(DUP_THRESH)
    }

    /// Records that a retransmitted segment arrived twice, so that the window was too short (section 6.2, step 4). `una`
    /// and `next` are the first outstanding and the next new segment.
    pub fn on_duplicate(&mut self, una: u64, next: u64) {
        if self.round.is_some_and(|round| una >= round) {
            self.round = None;
        }
        if self.round.is_none() {
            self.round = Some(next);
            self.steps = (self.steps + 1).min(MAX_STEPS);
            self.persists = PERSISTENCE;
        }
    }

    /// Records the end of a recovery that was not undone.
    pub fn end_recovery(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.steps = 1;
        }
    }

    /// Keeps the window for longer, after duplicates have undone a reduction.
    pub fn keep_window(&mut self) {
        self.persists = (self.persists + 1).min(PERSISTENCE);
    }

    /// Makes the next search for losses examine every outstanding segment.
    pub fn rescan(&mut self) {
        self.advanced = true;
        self.scanned = 0;
    }

    /// Returns the reordering window, ns (section 6.2, step 4).
    pub fn window(&self, in_recovery: bool, sacked: u32, least_rtt: u64, srtt: u64) -> u64 {
        if self.reordering_events == 0 && (in_recovery || sacked >= DUP_THRESH) {
            return 0;
        }
        let window = least_rtt / 4 * self.steps;
        let window = if fault::is(Fault::LongReorderingWindow) { window + window / 4 } else { window };
        window.min(srtt)
    }

    /// Returns how much longer a segment sent at `sent` may take before it counts as lost; zero if it is lost.
    pub fn remaining(&self, now: u64, sent: u64, window: u64) -> u64 {
        (sent + self.rtt + window).saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_of_before_the_retransmission_shows_that_it_was_needless() {
        // RFC 8985 section 6.2, step 2: sent again at 100, answered at 150. An RTT of 50 is not shorter than the least, 40, but the ACK
        // echoes 99.
        let sent = SendRecord { at: 100, retransmitted: true };
        let mut rack = Rack { echoed: 99, ..Rack::default() };
        rack.advance(150, 7, sent, 40);
        assert!(!rack.advanced && rack.latest_sent == (0, 0));
        rack.echoed = 100;
        rack.advance(150, 7, sent, 40);
        assert!(rack.advanced && rack.latest_sent == (100, 7));
    }
}
