//! RACK (RFC 8985): a segment is lost when one that was sent later enough is delivered.

use super::sent::When;
use crate::fault::{self, Fault};
use crate::sender::Sender;
use cwnd_cc::State;
use std::collections::VecDeque;

/// Segments SACKed that mean a loss where no reordering was seen, at first (RFC 8985's RACK.dup_thresh).
const DUP_THRESH: u32 = 3;

/// So many recoveries without a duplicate, and the reordering window is the least again (RFC 8985's
/// RACK.reo_wnd_persist).
const PERSISTENCE: u32 = 16;

/// The most by which the reordering window is multiplied.
const MOST_STEPS: u64 = 255;

/// RFC 8985 section 5.2, the state.
#[derive(Clone, Debug)]
pub struct Rack {
    /// When the latest sent of the delivered segments was sent, and which it was.
    sent: (u64, u64),
    /// The round-trip time of the segment delivered last.
    rtt: u64,
    /// Something was delivered since losses were looked for last.
    advanced: bool,
    /// Reordering has been seen. (Linux also counts of how many segments, which then matters no more.)
    reordering_seen: bool,
    /// The reordering window is so many quarters of the least round-trip time (RACK.reo_wnd_mult), for so many recoveries
    /// to come.
    steps: u64,
    persists: u32,
    /// Until this segment is acknowledged, no duplicate makes it longer (RACK.dsack_round).
    round: Option<u64>,
    /// All segments below that were never retransmitted are delivered or lost.
    scanned: u64,
    /// Retransmissions in the order in which they were sent, with their times.
    pub copies: VecDeque<(u64, u64)>,
    /// How many segments were ever declared lost.
    pub lost: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            sent: (0, 0),
            rtt: 0,
            advanced: false,
            reordering_seen: false,
            steps: 1,
            persists: 0,
            round: None,
            scanned: 0,
            copies: VecDeque::new(),
            lost: 0,
        }
    }
}

impl Rack {
    /// Section 6.2, step 2. A retransmission whose round trip is shorter than any was needless: it is the original
    /// that was delivered.
    pub fn advance(&mut self, now: u64, segment: u64, sent: When, least_rtt: u64) {
        let rtt = now - sent.at;
        if sent.again && rtt < least_rtt {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        self.sent = self.sent.max((sent.at, segment));
    }

    /// `lowest` came after `highest` did, which was sent later.
    pub fn on_reordering(&mut self, lowest: u64, highest: u64) {
        self.reordering_seen |= lowest < highest;
    }

    /// Section 6.2, step 4: what was sent again came twice, so that the window was too short. `una` and `next` are the
    /// first outstanding and the next new segment. Linux counts no duplicates before reordering is seen.
    pub fn on_duplicate(&mut self, una: u64, next: u64) {
        if self.round.is_some_and(|round| una >= round) {
            self.round = None;
        }
        if self.round.is_none() && self.reordering_seen {
            self.round = Some(next);
            self.steps = (self.steps + 1).min(MOST_STEPS);
            self.persists = PERSISTENCE;
        }
    }

    /// A recovery is over that was not undone.
    pub fn end_recovery(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.steps = 1;
        }
    }

    /// A reduction was undone by duplicates.
    pub fn keep_window(&mut self) {
        self.persists = (self.persists + 1).min(PERSISTENCE);
    }

    /// Look for losses anew.
    pub fn examine_again(&mut self) {
        self.advanced = true;
        self.scanned = 0;
    }

    /// All that waits for nothing but the timer is lost: how much longer a segment sent then may take.
    pub fn remaining(&self, now: u64, sent: u64, window: u64) -> u64 {
        (sent + self.rtt + window).saturating_sub(now)
    }
}

impl Sender {
    /// Section 6.2, step 3.
    pub(super) fn note_reordering(&mut self, told: &super::Delivery, highest: u64) {
        if let Some(lowest) = told.reordered {
            self.linux().rack.on_reordering(lowest, highest);
        }
    }

    /// Section 6.2, step 4: how much reordering is tolerated, ns.
    fn reordering_window(&mut self) -> u64 {
        let in_recovery = matches!(self.state, State::Recovery | State::Loss);
        let sacked = self.board.sacked;
        let rack = &self.linux().rack;
        if !rack.reordering_seen && (in_recovery || sacked >= DUP_THRESH) {
            return 0;
        }
        let least = if self.rtt.is_known() { self.rtt.min } else { 0 };
        let window = least / 4 * self.linux().rack.steps;
        let window = if fault::is(Fault::LongReorderingWindow) { window + window / 4 } else { window };
        window.min(self.rtt.srtt())
    }

    /// Section 6.2, step 5, after an ACK. Whether the timer waits for reordering now.
    pub(super) fn detect_linux_losses(&mut self, now: u64) -> bool {
        if !std::mem::take(&mut self.linux().rack.advanced) {
            return false;
        }
        let wait = self.detect_by_rack(now);
        if let Some(wait) = wait {
            self.wait_for_reordering(now, wait);
        }
        wait.is_some()
    }

    /// Declare lost what is. How long the latest sent of those has still to wait that may be lost.
    pub(super) fn detect_by_rack(&mut self, now: u64) -> Option<u64> {
        let window = self.reordering_window();
        let mut wait = 0;
        self.linux().rack.scanned = self.linux().rack.scanned.max(self.una);
        let mut segment = self.linux().rack.scanned;
        let mut done = true;
        while segment < self.next {
            let linux = self.linux();
            let sent = linux.sent.of(segment);
            if !sent.again && (sent.at, segment) >= linux.rack.sent {
                break;
            }
            let remaining = linux.rack.remaining(now, sent.at, window);
            if !sent.again && !self.board.is_sacked(segment) && !self.board.is_lost(segment) {
                if remaining == 0 {
                    self.lose(now, segment);
                } else {
                    wait = wait.max(remaining);
                    done = false;
                }
            }
            segment += 1;
            if done {
                self.linux().rack.scanned = segment;
            }
        }
        let mut kept = 0;
        while let Some(&(sent, segment)) = self.linux().rack.copies.get(kept) {
            let outstanding = segment >= self.una
                && self.board.is_retransmitted(segment)
                && self.linux().sent.of(segment).at == sent;
            if !outstanding {
                self.linux().rack.copies.remove(kept);
                continue;
            }
            let linux = self.linux();
            if (sent, segment) >= linux.rack.sent {
                break;
            }
            let remaining = linux.rack.remaining(now, sent, window);
            if remaining > 0 {
                wait = wait.max(remaining);
                kept += 1;
                continue;
            }
            linux.rack.copies.remove(kept);
            linux.rack.lost += 1;
            self.board.lose_retransmission(segment);
            self.tell_lost(now, segment);
        }
        (wait > 0).then_some(wait)
    }

    /// A segment that was not retransmitted is lost.
    pub(super) fn lose(&mut self, now: u64, segment: u64) {
        let newly = self.board.mark_lost(segment, segment + 1, |_| ());
        self.linux().rack.lost += u64::from(newly);
        if newly > 0 {
            self.tell_lost(now, segment);
        }
    }

    /// After a timeout the first outstanding segment is lost, and all others that were not sent within the last
    /// round-trip time; retransmissions too (RFC 8985 section 6.3).
    pub(super) fn lose_after_timeout(&mut self, now: u64) {
        if self.board.is_sacked(self.una) {
            // RFC 2018 section 8: the receiver has given up what it had SACKed.
            self.board.clear(self.una, self.next);
            self.said = [(0, 0); 4];
        }
        for segment in self.una..self.next {
            if self.board.is_sacked(segment) {
                continue;
            }
            let linux = self.linux();
            let recent = linux.rack.remaining(now, linux.sent.of(segment).at, 0) > 0;
            if recent && segment != self.una {
                continue;
            }
            if self.board.lose_retransmission(segment) {
                self.linux().rack.lost += 1;
                self.tell_lost(now, segment);
            } else {
                self.lose(now, segment);
            }
        }
    }
}
