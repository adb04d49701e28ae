//! Taking a reduction back that was made for nothing (RFC 3522 by timestamps, RFC 5682).

use crate::packet::Packet;
use crate::tcp::sender::Sender;
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
    /// F-RTO is under way (RFC 5682 section 3.1).
    pub frto: bool,
}

/// Timestamps count milliseconds.
const TICK: u64 = 1_000_000;

impl Sender {
    /// From now on a reduction can be taken back.
    pub(super) fn remember_for_undo(&mut self, cwnd: f64, ssthresh: f64) {
        let undo = &mut self.linux().undo;
        undo.possible = true;
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
