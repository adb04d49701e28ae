//! Loss episodes: the states of recovery and what an ACK moves between them, losses found by RACK, the reduction of the
//! window, and its undoing.

use super::{Delivery, Linux, Repair};
use crate::Connection;
use crate::fault::{self, Fault};
use crate::packet::Packet;
use cwnd_cc::{CongestionKind, EcnMode, Nanos, State};

/// Proportional rate reduction (RFC 9937).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    /// Segments delivered since the reduction began.
    delivered: u64,
    /// Segments sent since.
    pub out: u64,
    /// RecoverFS: what is delivered while the window falls from one to the other. In Linux the window when it began.
    pub recover_fs: f64,
}

/// The result of a change of state.
pub(super) struct Change {
    pub repair: Repair,
    /// Whether the timer now waits for reordering.
    pub waits_for_reordering: bool,
}

impl Linux {
    /// Processes an ACK that reports anything unusual, or arrives outside [`State::Open`].
    pub(super) fn change_state(
        &mut self,
        conn: &mut Connection,
        now: u64,
        packet: &Packet,
        delivery: &Delivery,
        marked: bool,
    ) -> Change {
        let waits;
        let nothing = |waits| Change { repair: Repair::Nothing, waits_for_reordering: waits };
        if conn.state == State::Open {
            self.undo.first_retransmission = None;
        } else if conn.una >= conn.episode.end {
            match conn.state {
                // Echoes may still be of marks that the reduction has answered, until more is acknowledged.
                State::Cwr if conn.una > conn.episode.end => {
                    conn.state = State::Open;
                    self.end_reduction(conn, now);
                }
                State::Recovery => self.end_recovery(conn, now, packet),
                _ => {}
            }
        }
        match conn.state {
            State::Recovery => {
                if delivery.advanced > 0 && self.answers_original(conn, packet) {
                    // A late original filled a hole, not a retransmission.
                    let hole = conn.una - u64::from(delivery.advanced);
                    self.rack.on_reordering(hole, self.delivered_end(conn));
                    if conn.scoreboard.retransmitted > 0 {
                        return nothing(false);
                    }
                    self.undo_reduction(conn, now, true);
                    set_open_or_disorder(conn);
                }
                if self.undo.were_retransmissions_needless() {
                    self.undo_needless(conn, now);
                    set_open_or_disorder(conn);
                }
                waits = self.detect_losses(conn, now);
                if conn.state == State::Recovery {
                    return Change { repair: Repair::Lost, waits_for_reordering: waits };
                }
                if conn.scoreboard.lost == 0 {
                    return nothing(waits);
                }
            }
            State::Loss => {
                let repair = self.continue_after_timeout(conn, now, packet, delivery);
                let retransmitted = conn.scoreboard.retransmitted;
                waits = self.detect_losses(conn, now);
                // The loss of a retransmission is an episode of its own.
                if conn.state != State::Open && conn.scoreboard.retransmitted >= retransmitted {
                    return Change { repair, waits_for_reordering: waits };
                }
                if conn.scoreboard.lost == 0 {
                    self.try_to_open(conn, now, marked);
                    return Change { repair, waits_for_reordering: waits };
                }
            }
            _ => {
                // Duplicates may be reported after the end of the episode.
                if conn.state != State::Cwr && self.undo.were_retransmissions_needless() {
                    self.undo_needless(conn, now);
                }
                waits = self.detect_losses(conn, now);
                if conn.scoreboard.lost == 0 {
                    self.try_to_open(conn, now, marked);
                    return nothing(waits);
                }
            }
        }
        self.enter_recovery(conn, now, marked, delivery.sacked + delivery.advanced);
        Change { repair: Repair::Lost, waits_for_reordering: waits }
    }

    /// Sets the state while no loss is known.
    fn try_to_open(&mut self, conn: &mut Connection, now: u64, marked: bool) {
        if marked && conn.next > conn.una && !conn.needs.marks_only && conn.state != State::Cwr {
            // RFC 3168 section 6.1.2: at most once a window of data.
            self.undo.possible = false;
            self.begin_reduction(conn, now, CongestionKind::Ecn);
            conn.state = State::Cwr;
        }
        if conn.state != State::Cwr {
            set_open_or_disorder(conn);
        }
    }

    /// Begins a recovery, or turns the reduction that an ECN echo began into one. The ACK at hand delivers `newly` segments.
    pub(super) fn enter_recovery(&mut self, conn: &mut Connection, now: u64, marked: bool, newly: u32) {
        let reducing = conn.state == State::Cwr;
        // An exact mark may have reduced the window by little, and a loss is answered all the same (RFC 8257 section 3.5).
        if !reducing || conn.config.ecn == EcnMode::Exact {
            let ssthresh = if marked { 0.0 } else { current_ssthresh(conn) };
            let cwnd = if marked { 0.0 } else { conn.window.cwnd };
            self.begin_reduction(conn, now, CongestionKind::Loss);
            if self.options.follows_rfcs {
                // RFC 9937 section 6.1: what is neither acknowledged nor SACKed, and what this ACK delivers.
                let flight = conn.next - conn.una - u64::from(conn.scoreboard.sacked) + u64::from(newly);
                self.prr.recover_fs = flight.max(1) as f64;
            }
            self.undo.remember(conn.una, conn.scoreboard.retransmitted, cwnd, ssthresh);
        }
        conn.state = State::Recovery;
    }

    /// Ends a recovery, since all that was outstanding at its begin is acknowledged.
    fn end_recovery(&mut self, conn: &mut Connection, now: u64, packet: &Packet) {
        if self.may_undo(conn, packet) {
            self.undo_reduction(conn, now, false);
            conn.state = State::Open;
            return;
        }
        conn.state = State::Open;
        self.rack.end_recovery();
        self.end_reduction(conn, now);
    }

    /// Continues after a timeout: finds out whether it was spurious (RFC 5682 section 3.1, with SACK), or retransmits.
    fn continue_after_timeout(
        &mut self,
        conn: &mut Connection,
        now: u64,
        packet: &Packet,
        delivery: &Delivery,
    ) -> Repair {
        let recovered = conn.una >= conn.episode.end;
        if delivery.advanced > 0 && self.may_undo(conn, packet) {
            self.undo_timeout(conn, now);
            return Repair::Nothing;
        }
        if self.undo.frto {
            // Step 3.b: something was delivered that was never retransmitted.
            if delivery.has_original {
                self.undo_timeout(conn, now);
                return Repair::Nothing;
            }
            if conn.next > conn.episode.end {
                // Step 3.a: the loss was real.
                self.undo.frto &= delivery.sacked == 0 && delivery.advanced > 0;
            } else if delivery.advanced > 0 && !recovered {
                // Step 2.b: send new data to find out.
                conn.episode.end = conn.next;
                if conn.next < conn.send_end() {
                    return Repair::NewFirst;
                }
                self.undo.frto = false;
            }
        }
        if recovered {
            conn.state = State::Open;
            self.rack.end_recovery();
            conn.algorithm.on_recovery_exit(&mut conn.window, Nanos(now));
            return Repair::Nothing;
        }
        Repair::Lost
    }

    /// Declares losses after an ACK (RFC 8985 section 6.2, step 5). Returns whether the timer now waits for reordering.
    fn detect_losses(&mut self, conn: &mut Connection, now: u64) -> bool {
        if !std::mem::take(&mut self.rack.advanced) {
            return false;
        }
        let wait = self.detect_by_rack(conn, now);
        if let Some(wait) = wait {
            self.wait_for_reordering(conn, now, wait);
        }
        wait.is_some()
    }

    /// Declares lost what is. Returns how long the latest sent of the segments that may be lost has still to wait.
    pub(super) fn detect_by_rack(&mut self, conn: &mut Connection, now: u64) -> Option<u64> {
        let window = self.reordering_window(conn);
        let wait = self.scan_originals(conn, now, window);
        let wait = wait.max(self.scan_retransmissions(conn, now, window));
        (wait > 0).then_some(wait)
    }

    /// Returns the reordering window, ns (RFC 8985 section 6.2, step 4).
    pub(super) fn reordering_window(&self, conn: &Connection) -> u64 {
        let estimator = &conn.rtt.estimator;
        let least_rtt = if estimator.is_known() { estimator.min } else { 0 };
        let in_recovery = matches!(conn.state, State::Recovery | State::Loss);
        self.rack.window(in_recovery, conn.scoreboard.sacked, least_rtt, estimator.srtt())
    }

    /// Examines segments that are not declared lost: those that were never retransmitted, a probe's, and those whose loss was
    /// withdrawn. Returns the longest wait; zero if nothing waits.
    fn scan_originals(&mut self, conn: &mut Connection, now: u64, window: u64) -> u64 {
        let mut wait = 0;
        let mut segment = self.rack.scanned.max(conn.una);
        self.rack.scanned = segment;
        let mut done = true;
        while segment < conn.next {
            let sent = self.send_log.of(segment);
            let is_later = (sent.at, segment) >= self.rack.latest_sent;
            if is_later && !sent.retransmitted {
                break;
            }
            let passes_over = sent.retransmitted && fault::is(Fault::ProbesPassedOver);
            let open = !conn.scoreboard.is_sacked(segment) && !conn.scoreboard.is_lost(segment);
            if open && !passes_over {
                let remaining = self.rack.remaining(now, sent.at, window);
                if is_later {
                    // It left again after what was delivered last.
                    done = false;
                } else if remaining == 0 {
                    self.lose(conn, now, segment);
                } else {
                    wait = wait.max(remaining);
                    done = false;
                }
            }
            segment += 1;
            if done {
                self.rack.scanned = segment;
            }
        }
        wait
    }

    /// Examines retransmissions. Returns the longest wait; zero if nothing waits.
    fn scan_retransmissions(&mut self, conn: &mut Connection, now: u64, window: u64) -> u64 {
        let mut wait = 0;
        let mut kept = 0;
        while let Some(&(sent, segment)) = self.rack.retransmissions.get(kept) {
            let outstanding = segment >= conn.una
                && conn.scoreboard.is_retransmitted(segment)
                && self.send_log.of(segment).at == sent;
            if !outstanding {
                self.rack.retransmissions.remove(kept);
                continue;
            }
            if (sent, segment) >= self.rack.latest_sent {
                break;
            }
            let remaining = self.rack.remaining(now, sent, window);
            if remaining > 0 {
                wait = wait.max(remaining);
                kept += 1;
                continue;
            }
            self.rack.retransmissions.remove(kept);
            self.lose_retransmission(conn, now, segment);
        }
        wait
    }

    /// Declares a segment lost that was not retransmitted.
    pub(super) fn lose(&mut self, conn: &mut Connection, now: u64, segment: u64) {
        let newly = conn.scoreboard.mark_lost(segment, segment + 1, |_| ());
        self.rack.lost += u64::from(newly);
        if newly > 0 {
            conn.report_loss(now, segment);
        }
    }

    /// Declares the retransmission of a segment lost. Returns false if none is in flight.
    pub(super) fn lose_retransmission(&mut self, conn: &mut Connection, now: u64, segment: u64) -> bool {
        let lost = conn.scoreboard.lose_retransmission(segment);
        if lost {
            self.rack.lost += 1;
            conn.report_loss(now, segment);
        }
        lost
    }

    /// Begins a reduction of the window.
    pub(super) fn begin_reduction(&mut self, conn: &mut Connection, now: u64, kind: CongestionKind) {
        self.prr = Prr { recover_fs: conn.window.cwnd, ..Prr::default() };
        // The reduction answers whatever a probe would find.
        self.timer.probe = None;
        conn.begin_episode(now, kind, 0);
    }

    /// Sets the window by what an ACK delivers (RFC 9937 section 6.2). `repaired`: it acknowledges a retransmission.
    pub(super) fn reduce_window(
        &mut self,
        conn: &mut Connection,
        delivered: u32,
        advanced: bool,
        repaired: bool,
        lost: u32,
    ) {
        let in_flight = conn.in_flight();
        let target = conn.window.recovery_cwnd.unwrap_or(conn.window.ssthresh);
        let prr = &mut self.prr;
        if delivered == 0 || prr.recover_fs == 0.0 {
            return;
        }
        prr.delivered += u64::from(delivered);
        let room = target - f64::from(in_flight);
        let count = if room < 0.0 {
            let before = prr.recover_fs;
            let before = if fault::is(Fault::PrrShareTooSmall) { before + 1.0 } else { before };
            let share = libm::ceil(target * prr.delivered as f64 / before);
            share - prr.out as f64
        } else if self.options.cautious_reduction && !repaired {
            room.min(f64::from(delivered))
        } else {
            // Slow start back to the target, one segment more for an ACK that advances and reports no loss.
            let bound = (prr.delivered as f64 - prr.out as f64).max(f64::from(delivered));
            let extra = if advanced && lost == 0 { 1.0 } else { 0.0 };
            room.min(bound + extra)
        };
        // The first retransmission is sent in any case.
        let least = if prr.out == 0 { 1.0 } else { 0.0 };
        conn.window.set_cwnd(f64::from(in_flight) + count.max(least));
    }

    /// Ends a reduction: the window is `ssthresh`.
    pub(super) fn end_reduction(&mut self, conn: &mut Connection, now: u64) {
        if !conn.needs.owns_recovery && conn.window.ssthresh.is_finite() {
            conn.window.set_cwnd(conn.window.ssthresh);
        }
        conn.algorithm.on_recovery_exit(&mut conn.window, Nanos(now));
    }

    fn answers_original(&self, conn: &Connection, packet: &Packet) -> bool {
        conn.config.timestamps && self.undo.answers_original(packet.sent)
    }

    /// Returns whether everything that the episode retransmitted arrived twice, or an ACK answers an original.
    fn may_undo(&self, conn: &Connection, packet: &Packet) -> bool {
        self.undo.were_retransmissions_needless() || self.answers_original(conn, packet)
    }

    fn undo_needless(&mut self, conn: &mut Connection, now: u64) {
        self.rack.keep_window();
        self.undo_reduction(conn, now, false);
    }

    fn undo_timeout(&mut self, conn: &mut Connection, now: u64) {
        self.undo_reduction(conn, now, !fault::is(Fault::UndoKeepsLosses));
        conn.episode.timeouts = 0;
        conn.state = State::Open;
    }

    /// Undoes the reduction; with `losses` also the declarations of loss.
    fn undo_reduction(&mut self, conn: &mut Connection, now: u64, losses: bool) {
        if losses {
            conn.scoreboard.unmark_lost(conn.una, conn.next);
        }
        if !conn.needs.owns_recovery {
            conn.window.set_cwnd(conn.window.cwnd.max(self.undo.prior_cwnd));
            conn.window.ssthresh = conn.window.ssthresh.max(self.undo.prior_ssthresh);
        }
        conn.algorithm.on_undo(&mut conn.window, Nanos(now));
        conn.episode.send_cwr = false;
        self.undo.possible = false;
        self.undo.first_retransmission = None;
        self.rack.rescan();
    }
}

fn set_open_or_disorder(conn: &mut Connection) {
    let scoreboard = &conn.scoreboard;
    let unusual = scoreboard.sacked + scoreboard.lost + scoreboard.retransmitted > 0;
    conn.state = if unusual { State::Disorder } else { State::Open };
}

/// Returns the threshold that an undo restores: outside a reduction at least three quarters of the window.
pub(super) fn current_ssthresh(conn: &Connection) -> f64 {
    let window = &conn.window;
    if matches!(conn.state, State::Cwr | State::Recovery) {
        return window.ssthresh;
    }
    window.ssthresh.max(window.whole(window.cwnd / 2.0) + window.whole(window.cwnd / 4.0))
}
