//! The one timer: retransmission timeout (RFC 6298), tail loss probe (RFC 8985 section 7), reordering.

use super::{Delivery, Repair};
use crate::NEVER;
use crate::packet::Emit;
use crate::sender::Sender;
use cwnd_cc::{CongestionKind, EcnMode, State};

/// What the timer is set for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wait {
    #[default]
    Timeout,
    Probe,
    Reordering,
}

/// What there is beside its time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timer {
    wait: Wait,
    /// A probe is out: the next new segment when it was sent, and whether it was a retransmission.
    probe: Option<(u64, bool)>,
}

impl Timer {
    /// The segment that a probe retransmitted, if one is out.
    pub fn probed(&self) -> Option<u64> {
        self.probe.filter(|&(_, again)| again).map(|(end, _)| end - 1)
    }

    /// Whether a probe is out.
    pub fn has_probe(&self) -> bool {
        self.probe.is_some()
    }

    /// A reduction answers for whatever a probe would have found.
    pub fn forget_probe(&mut self) {
        self.probe = None;
    }
}

/// The least by which a probe waits longer than two round-trip times, and the reordering timer than reordering is
/// tolerated: two ticks, ns.
const LEAST_WAIT: u64 = 2_000_000;

/// What one segment alone may wait beyond that, for the receiver's delayed ACK (RFC 8985 section 7.2), ns.
const DELAYED_ACK: u64 = 200_000_000;

impl Sender {
    /// What the ACK said makes the timer start anew.
    pub(super) fn set_linux_timer(&mut self, now: u64) {
        if !self.set_probe_timer(now, true) {
            self.set_timeout_timer(now);
        }
    }

    /// New data has left.
    pub(crate) fn on_new_data(&mut self, now: u64, had_nothing_out: bool) {
        if had_nothing_out || self.linux().timer.wait == Wait::Probe {
            self.set_timeout_timer(now);
        }
        self.set_probe_timer(now, false);
    }

    /// A retransmission of the first outstanding segment has left: its timeout begins then.
    pub(super) fn on_head_retransmitted(&mut self, now: u64) {
        if self.linux().timer.wait != Wait::Reordering {
            self.linux().timer.wait = Wait::Timeout;
            self.rto_at = now + self.rtt.timeout();
        }
    }

    /// When the first outstanding segment's timeout comes, counted from when it was sent.
    fn head_timeout(&mut self) -> u64 {
        let una = self.una;
        self.linux().sent.of(una).at + self.rtt.timeout()
    }

    fn set_timeout_timer(&mut self, now: u64) {
        if self.is_all_acknowledged() {
            return self.stop_linux_timer();
        }
        let at = match self.linux().timer.wait {
            Wait::Timeout => now + self.rtt.timeout(),
            Wait::Probe | Wait::Reordering => self.head_timeout().max(now + 1),
        };
        self.linux().timer.wait = Wait::Timeout;
        self.rto_at = at;
    }

    /// RFC 8985 section 7.2: two round-trip times, but not later than the timeout. False if there is none to be sent.
    fn set_probe_timer(&mut self, now: u64, advancing: bool) -> bool {
        if self.is_all_acknowledged() || !matches!(self.state, State::Open | State::Cwr) {
            return false;
        }
        let mut wait = if self.rtt.is_known() { 2 * self.rtt.srtt() } else { self.rtt.timeout() };
        if self.rtt.is_known() {
            wait += if self.next - self.una == 1 { DELAYED_ACK } else { LEAST_WAIT };
        }
        let timeout = if advancing { now + self.rtt.timeout() } else { self.head_timeout() };
        let mut at = now + wait;
        if timeout > now {
            at = at.min(timeout);
        }
        self.linux().timer.wait = Wait::Probe;
        self.rto_at = at;
        true
    }

    /// What may be lost is not yet: look again then.
    pub(super) fn wait_for_reordering(&mut self, now: u64, wait: u64) {
        self.linux().timer.wait = Wait::Reordering;
        self.rto_at = now + wait + LEAST_WAIT;
    }

    /// The timer runs out.
    pub(crate) fn on_linux_timer(&mut self, now: u64, out: &mut impl Emit) {
        self.rto_at = NEVER;
        if self.is_all_acknowledged() {
            return;
        }
        self.integrate_cwnd(now);
        self.board.cover(self.una, self.next);
        match self.linux().timer.wait {
            Wait::Timeout => self.on_linux_timeout(now, out),
            Wait::Probe => self.send_probe(now, out),
            Wait::Reordering => self.on_reordering_timer(now, out),
        }
    }

    fn on_reordering_timer(&mut self, now: u64, out: &mut impl Emit) {
        let (in_flight, lost) = (self.in_flight(), self.linux().rack.lost);
        let wait = self.detect_by_rack(now);
        if in_flight != self.in_flight() {
            if self.state != State::Recovery {
                self.enter_linux_recovery(now, false);
                if !self.needs.owns_recovery {
                    let lost = (self.linux().rack.lost - lost) as u32;
                    self.reduce_linux_window(1, false, lost);
                }
            }
            self.transmit_linux(now, Repair::Lost, out);
        }
        if let Some(wait) = wait {
            self.wait_for_reordering(now, wait);
        } else if self.linux().timer.wait != Wait::Timeout {
            self.set_timeout_timer(now);
        }
    }

    /// RFC 8985 section 7.3: one new segment, or the last one again.
    fn send_probe(&mut self, now: u64, out: &mut impl Emit) {
        if self.linux().timer.probe.is_none() {
            let before = self.next;
            let is_new = before < self.data_end.min(self.una + self.config.receive_window);
            if is_new {
                self.send_new(now, self.in_flight(), out);
            } else {
                self.send_again(now, self.next - 1, out);
            }
            let next = self.next;
            self.linux().timer.probe = Some((next, !is_new));
            self.linux().timer.wait = Wait::Timeout;
        }
        self.set_timeout_timer(now);
    }

    /// RFC 8985 section 7.4: whether a probe has repaired a loss, which is then answered.
    pub(super) fn take_probe_answer(&mut self, now: u64, cumulative: u64, told: &Delivery) {
        let Some((end, again)) = self.linux().timer.probe else { return };
        if cumulative < end {
            return;
        }
        if !again || told.duplicate_of_probe || (told.advanced == 0 && told.sacked == 0) {
            // New data has arrived, or both the original and its copy.
            self.linux().timer.probe = None;
        } else if cumulative > end {
            self.forget_undo();
            self.begin_reduction(now, CongestionKind::Loss);
            self.end_reduction(now);
            self.state = State::Open;
        }
    }

    /// RFC 6298 section 5, RFC 5681 section 3.1.
    fn on_linux_timeout(&mut self, now: u64, out: &mut impl Emit) {
        self.counts.timeouts += 1;
        let fresh = !matches!(self.state, State::Recovery | State::Loss);
        let repeated = self.timeouts_in_row > 0;
        self.lose_after_timeout(now);
        // What an episode has answered is not answered again.
        let answer = matches!(self.state, State::Open | State::Disorder)
            || self.una >= self.recover
            || (self.state == State::Loss && !repeated);
        let (cwnd, ssthresh, threshold) = (self.window.cwnd, self.current_ssthresh(), self.window.ssthresh);
        let congestion = self.congestion(now, CongestionKind::Timeout);
        self.window.recovery_cwnd = None;
        self.algorithm.on_congestion(&mut self.window, &congestion);
        if answer {
            self.counts.congestion_events += 1;
            self.linux().reduction.prior_cwnd = cwnd;
            self.remember_for_undo(cwnd, ssthresh);
        } else {
            self.window.ssthresh = threshold;
        }
        self.window.reset_counter();
        let restart = f64::from(self.in_flight()) + self.window.restart_cwnd;
        self.window.set_cwnd(restart.min(self.window.cwnd.max(1.0)).max(1.0));
        self.state = State::Loss;
        self.recover = self.next;
        self.send_cwr = self.config.ecn == EcnMode::Classic;
        self.dup_acks = 0;
        self.linux().undo.frto = fresh || repeated;
        self.linux().rack.copies.clear();
        self.linux().timer.probe = None;
        self.timeouts_in_row += 1;
        self.rtt.back_off();
        self.linux().timer.wait = Wait::Timeout;
        self.send_first_lost(now, out);
        self.rto_at = now + self.rtt.timeout();
    }
}
