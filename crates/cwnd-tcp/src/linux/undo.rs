//! Taking a reduction back that was made for nothing (RFC 3522 by timestamps, RFC 5682, RFC 3708 by duplicates that
//! the receiver tells of).

use crate::packet::Packet;
use crate::sender::Sender;
use cwnd_cc::{Nanos, State};

/// What there was before the reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// It can be taken back.
    possible: bool,
    prior_cwnd: f64,
    prior_ssthresh: f64,
    /// When the first retransmission of the episode was sent, ns.
    pub first_copy: Option<u64>,
    /// The first outstanding segment when the episode began.
    begun_at: u64,
    /// Its retransmissions of which it is not known that they were needless; none before there is one.
    copies: Option<u32>,
    /// F-RTO is under way (RFC 5682 section 3.1).
    pub frto: bool,
}

impl Undo {
    /// A segment is retransmitted.
    pub fn on_copy(&mut self, now: u64) {
        self.first_copy.get_or_insert(now);
        self.copies = Some(self.copies.unwrap_or(0) + 1);
    }

    /// So many segments below `to`, which were sent again, have come twice.
    pub fn on_duplicates(&mut self, to: u64, segments: u32) {
        if self.possible && to > self.begun_at {
            self.copies = self.copies.map(|copies| copies.saturating_sub(segments));
        }
    }
}

/// Timestamps count milliseconds.
const TICK: u64 = 1_000_000;

impl Sender {
    /// From now on a reduction can be taken back.
    pub(super) fn remember_for_undo(&mut self, cwnd: f64, ssthresh: f64) {
        let (una, copies) = (self.una, self.board.retransmitted);
        let undo = &mut self.linux().undo;
        undo.possible = true;
        undo.begun_at = una;
        undo.copies = Some(copies).filter(|&copies| copies > 0);
        undo.prior_cwnd = cwnd;
        undo.prior_ssthresh = ssthresh;
    }

    /// There is nothing to take back.
    pub(super) fn forget_undo(&mut self) {
        self.linux().undo.possible = false;
    }

    /// The threshold to come back to: in the middle of a reduction three quarters of the window, if that is more.
    pub(super) fn current_ssthresh(&self) -> f64 {
        if matches!(self.state, State::Cwr | State::Recovery) {
            return self.window.ssthresh;
        }
        let cwnd = self.window.cwnd;
        self.window.ssthresh.max(self.window.whole(cwnd / 2.0) + self.window.whole(cwnd / 4.0))
    }

    /// Whether an ACK echoes a timestamp of before the first retransmission, so that it answers an original.
    pub(super) fn answers_original(&mut self, packet: &Packet) -> bool {
        let timestamps = self.config.timestamps;
        let undo = &self.linux().undo;
        timestamps && undo.possible && undo.first_copy.is_some_and(|first| packet.sent / TICK < first / TICK)
    }

    /// Whether all that the episode retransmitted came twice, or an ACK answers an original.
    pub(super) fn may_undo(&mut self, packet: &Packet) -> bool {
        self.were_copies_needless() || self.answers_original(packet)
    }

    /// Whether the receiver has told that all that the episode retransmitted came twice.
    pub(super) fn were_copies_needless(&mut self) -> bool {
        let undo = &self.linux().undo;
        undo.possible && undo.copies == Some(0)
    }

    /// Take the reduction back; `found` also what was declared lost.
    pub(super) fn undo_reduction(&mut self, now: u64, found: bool) {
        if found {
            self.board.unmark_lost(self.una, self.next);
        }
        let Undo { prior_cwnd, prior_ssthresh, .. } = self.linux().undo;
        if !self.needs.owns_recovery {
            self.window.set_cwnd(self.window.cwnd.max(prior_cwnd));
            self.window.ssthresh = self.window.ssthresh.max(prior_ssthresh);
        }
        self.algorithm.on_undo(&mut self.window, Nanos(now));
        self.send_cwr = false;
        let linux = self.linux();
        linux.undo.possible = false;
        linux.undo.first_copy = None;
        linux.rack.examine_again();
    }
}
