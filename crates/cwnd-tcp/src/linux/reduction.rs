//! How the window falls in recovery: proportional rate reduction (draft-ietf-tcpm-prr-rfc6937bis).

use crate::fault::{self, Fault};
use crate::sender::Sender;
use cwnd_cc::{CongestionKind, EcnMode, Nanos};

/// Its account of a recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reduction {
    /// Segments delivered since it began.
    delivered: u64,
    /// Segments sent since.
    pub out: u64,
    /// The window when it began (RecoverFS is taken for it).
    pub prior_cwnd: f64,
}

impl Sender {
    /// A reduction of the window begins.
    pub(super) fn begin_reduction(&mut self, now: u64, kind: CongestionKind) {
        let congestion = self.congestion(now, kind);
        let prior_cwnd = self.window.cwnd;
        self.window.recovery_cwnd = None;
        self.algorithm.on_congestion(&mut self.window, &congestion);
        self.counts.congestion_events += 1;
        self.recover = self.next;
        let linux = self.linux();
        linux.reduction = Reduction { prior_cwnd, ..Reduction::default() };
        linux.timer.forget_probe();
        // RFC 3168 section 6.1.2: whatever the reduction answers.
        self.send_cwr = self.config.ecn == EcnMode::Classic;
    }

    /// Section 6.2: the window for what this ACK delivered.
    pub(super) fn reduce_linux_window(&mut self, delivered: u32, advanced: bool, lost: u32) {
        let in_flight = self.in_flight();
        let target = self.window.recovery_cwnd.unwrap_or(self.window.ssthresh);
        let reduction = &mut self.linux().reduction;
        if delivered == 0 || reduction.prior_cwnd == 0.0 {
            return;
        }
        reduction.delivered += u64::from(delivered);
        let room = target - f64::from(in_flight);
        let count = if room < 0.0 {
            let before = reduction.prior_cwnd;
            let before = if fault::is(Fault::ShareOfMore) { before + 1.0 } else { before };
            let share = libm::ceil(target * reduction.delivered as f64 / before);
            share - reduction.out as f64
        } else {
            // Slow start back to the target, one more for an ACK that advances and tells of no loss.
            let bound = (reduction.delivered as f64 - reduction.out as f64).max(f64::from(delivered));
            let extra = if advanced && lost == 0 { 1.0 } else { 0.0 };
            room.min(bound + extra)
        };
        // The first retransmission goes in any case.
        let least = if reduction.out == 0 { 1.0 } else { 0.0 };
        let cwnd = f64::from(in_flight) + count.max(least);
        self.window.set_cwnd(cwnd);
    }

    /// The reduction is over: the window is `ssthresh`.
    pub(super) fn end_reduction(&mut self, now: u64) {
        if !self.needs.owns_recovery && self.window.ssthresh.is_finite() {
            self.window.set_cwnd(self.window.ssthresh);
        }
        self.algorithm.on_recovery_exit(&mut self.window, Nanos(now));
    }
}
