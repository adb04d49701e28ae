//! The expiry of the timer: the retransmission timeout (RFC 6298), the tail loss probe (RFC 8985 section 7), and the end of
//! the reordering window.

use super::episode::current_ssthresh;
use super::output::Wait;
use super::{Linux, Repair, SackRanges};
use crate::fault::{self, Fault};
use crate::packet::Emit;
use crate::recovery::DUP_THRESH;
use crate::{Connection, NEVER};
use cwnd_cc::{CongestionKind, State};

impl Linux {
    pub(super) fn on_timer(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        conn.timers.rto_at = NEVER;
        if conn.una == conn.next {
            if self.timer.wait == Wait::Window {
                self.probe_window(conn, now, out);
            }
            return;
        }
        conn.integrate_cwnd(now);
        conn.scoreboard.cover(conn.una, conn.next);
        self.timer.expiring = true;
        match self.timer.wait {
            Wait::Timeout | Wait::Window => self.on_timeout(conn, now, out),
            Wait::Probe => self.send_probe(conn, now, out),
            Wait::Reordering => self.on_reordering_timer(conn, now, out),
        }
        self.timer.expiring = false;
    }

    fn on_reordering_timer(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        let (in_flight, lost) = (conn.in_flight(), self.rack.lost);
        let wait = self.detect_by_rack(conn, now);
        if in_flight != conn.in_flight() {
            if conn.state != State::Recovery {
                self.enter_recovery(conn, now, false, 0);
                if !conn.needs.owns_recovery {
                    let lost = (self.rack.lost - lost) as u32;
                    self.reduce_window(conn, 1, false, false, lost);
                }
            }
            self.send(conn, now, Repair::Lost, out);
        }
        if let Some(wait) = wait {
            self.wait_for_reordering(conn, now, wait);
        } else if self.timer.wait != Wait::Timeout {
            self.set_timeout_timer(conn, now);
        }
    }

    /// Sends a probe: one new segment, or the last one again (RFC 8985 section 7.3).
    fn send_probe(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        if self.timer.probe.is_none() {
            let is_new = conn.next < conn.send_end();
            if is_new {
                self.send_new(conn, now, conn.in_flight(), out);
            } else {
                self.send_again(conn, now, conn.next - 1, out);
            }
            self.pace_at_once(conn, now);
            self.timer.probe = Some((conn.next, !is_new));
            self.timer.wait = Wait::Timeout;
        }
        self.set_timeout_timer(conn, now);
    }

    /// The retransmission timeout (RFC 6298 section 5, RFC 5681 section 3.1).
    fn on_timeout(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        conn.counts.timeouts += 1;
        let fresh = !matches!(conn.state, State::Recovery | State::Loss);
        let repeated = conn.episode.timeouts > 0;
        if matches!(conn.state, State::Open | State::Disorder) && conn.scoreboard.sacked >= DUP_THRESH {
            self.rack.reset_degree();
        }
        self.lose_after_timeout(conn, now);
        // Linux reduces the threshold once an episode.
        let reduces = matches!(conn.state, State::Open | State::Disorder)
            || conn.una >= conn.episode.end
            || (conn.state == State::Loss && !repeated);
        let (cwnd, restored) = (conn.window.cwnd, current_ssthresh(conn));
        let ssthresh = conn.window.ssthresh;
        conn.report_congestion(now, CongestionKind::Timeout, conn.episode.timeouts + 1);
        if reduces {
            conn.counts.congestion_events += 1;
            self.prr.recover_fs = cwnd;
            self.undo.remember(conn.una, conn.scoreboard.retransmitted, cwnd, restored);
        } else {
            conn.window.ssthresh = ssthresh;
        }
        conn.window.reset_counter();
        let restart = f64::from(conn.in_flight()) + conn.window.restart_cwnd;
        conn.window.set_cwnd(restart.min(conn.window.cwnd.max(1.0)).max(1.0));
        conn.state = State::Loss;
        conn.episode.end = conn.next;
        conn.dup_acks = 0;
        self.undo.frto = fresh || repeated;
        if fault::is(Fault::TimeoutForgetsRetransmissions) {
            self.rack.retransmissions.clear();
        }
        self.timer.probe = None;
        conn.episode.timeouts += 1;
        conn.rtt.estimator.back_off();
        self.timer.wait = Wait::Timeout;
        // The first outstanding segment is retransmitted in any case.
        self.retransmit(conn, now, conn.in_flight(), out);
        self.pace_at_once(conn, now);
        self.arm(conn, now, conn.rtt.estimator.timeout());
    }

    /// Declares the first outstanding segment lost, and all others that were not sent within the last round-trip time,
    /// retransmissions as well (RFC 8985 section 6.3). The RFC adds the reordering window to that time, Linux does not. If the
    /// receiver has withdrawn SACKs, Linux declares everything lost, and RACK examines everything again.
    fn lose_after_timeout(&mut self, conn: &mut Connection, now: u64) {
        let withdrawn = conn.scoreboard.is_sacked(conn.una);
        if withdrawn {
            // RFC 2018 section 8: the receiver has given up what it had SACKed.
            conn.scoreboard.clear(conn.una, conn.next);
            self.last_sack = SackRanges::default();
            self.rack.rescan();
        }
        let spares_recent = self.options.follows_rfcs || !withdrawn;
        let adds_window = self.options.follows_rfcs && !fault::is(Fault::NoWindowAtTimeout);
        let window = if adds_window { self.reordering_window(conn) } else { 0 };
        for segment in conn.una..conn.next {
            if conn.scoreboard.is_sacked(segment) {
                continue;
            }
            let recent = self.rack.remaining(now, self.send_log.of(segment).at, window) > 0;
            if spares_recent && recent && segment != conn.una {
                continue;
            }
            if !self.lose_retransmission(conn, now, segment) {
                self.lose(conn, now, segment);
            }
        }
    }
}
