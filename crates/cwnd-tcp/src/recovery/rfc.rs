//! Loss recovery by the RFCs: with SACK RFC 6675, without it RFC 6582 (NewReno). The window falls by proportional rate
//! reduction (RFC 6937).

use super::LossRecovery;
use super::dup_ack::{DupAckState, Feedback, RecoveryStates, round_trip, take_sample, take_timeout};
use crate::connection::AckReport;
use crate::fault::{self, Fault};
use crate::packet::{Emit, Packet, SackBlocks};
use crate::transmit::SendHooks;
use crate::{Connection, SenderConfig};
use cwnd_cc::{CongestionKind, Nanos, State};

/// The state of recovery by the RFCs.
#[derive(Debug)]
pub struct Rfc {
    dup_ack: DupAckState,
    prr: Prr,
    detects_lost_retransmissions: bool,
}

/// Proportional rate reduction (RFC 6937).
#[derive(Clone, Copy, Debug, Default)]
struct Prr {
    /// Segments delivered since recovery began.
    delivered: u64,
    /// Segments sent since recovery began.
    out: u64,
    /// Segments outstanding when it began (RecoverFS).
    flight: u64,
}

impl Rfc {
    pub(crate) fn new(config: &SenderConfig) -> Rfc {
        Rfc {
            dup_ack: DupAckState::default(),
            prr: Prr::default(),
            detects_lost_retransmissions: config.detect_lost_retransmissions,
        }
    }
}

impl LossRecovery for Rfc {
    fn on_ack(
        &mut self,
        conn: &mut Connection,
        now: u64,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    ) {
        let feedback = self.dup_ack.take_feedback(conn, now, packet, blocks);
        conn.follow_peer_window();
        let Feedback { advanced, delivered, duplicate, prior_in_flight, .. } = feedback;
        conn.episode.newly_lost = self.detect_losses(conn, now);
        let marked = conn.count_marks(packet, blocks, delivered);
        let rtt = round_trip(conn, now, packet, advanced);
        match rtt {
            Some(rtt) => take_sample(conn, rtt),
            None => conn.rtt.on_ack_without_sample(&conn.ack),
        }
        conn.ack.rtt = None;
        if advanced > 0 {
            conn.restart_retransmission_timer(now);
        }
        conn.counts.delivered += u64::from(delivered);

        let is_news = advanced + delivered + marked + conn.episode.newly_lost > 0;
        let force = self.change_state(conn, now, advanced, marked > 0);
        if is_news {
            let lost = conn.episode.newly_lost;
            conn.report_ack(now, AckReport { delivered, advanced, lost, marked, rtt, prior_in_flight });
        }
        if !conn.needs.owns_recovery && matches!(conn.state, State::Recovery | State::Cwr) {
            self.reduce_window(conn, delivered, force);
        }
        let on_duplicate = duplicate && conn.state == State::Disorder;
        if !on_duplicate || conn.config.limited_transmit {
            let before = conn.next;
            self.send(conn, now, force, out);
            if on_duplicate {
                conn.episode.limited_transmits += (conn.next - before) as u32;
            }
        }
    }

    fn on_retransmission_timer(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        if !take_timeout(conn) {
            return;
        }
        let repeated = conn.state == State::Loss && conn.episode.timeouts > 0;
        self.dup_ack.on_timeout(conn, now, conn.episode.timeouts + 1, repeated);
        self.send(conn, now, false, out);
        conn.timers.rto_at = now + conn.rtt.estimator.timeout();
    }

    fn transmit(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        self.send(conn, now, false, out);
    }
}

impl Rfc {
    /// Applies RFC 6675's IsLost, and finds retransmissions that are lost: three segments sent later have arrived. Returns
    /// how many segments are newly lost.
    fn detect_losses(&mut self, conn: &mut Connection, now: u64) -> u32 {
        if !conn.config.sack {
            return 0;
        }
        let una = conn.una;
        let (scoreboard, mut reporter) = conn.scoreboard_and_reporter(now);
        let lost = scoreboard.mark_lost_by_sacks(una, |segment| reporter.report(segment));
        let third = conn.scoreboard.third_highest_sacked();
        lost + self.dup_ack.detect_lost_retransmissions(conn, now, |sent, _| third >= sent.next)
    }

    /// Spreads the reduction over the ACKs of one round trip (RFC 6937 section 3).
    fn reduce_window(&mut self, conn: &mut Connection, delivered: u32, force: bool) {
        let prr = &mut self.prr;
        prr.delivered += u64::from(delivered);
        let target = conn.window.recovery_cwnd.unwrap_or(conn.window.ssthresh);
        let pipe = conn.in_flight();
        let allowed = if f64::from(pipe) > target {
            let share = prr.delivered as f64 * target / prr.flight.max(1) as f64;
            libm::ceil(share) - prr.out as f64
        } else {
            // Slow start reduction bound: never faster than slow start back to the target.
            let limit = (prr.delivered as f64 - prr.out as f64).max(f64::from(delivered)) + 1.0;
            (target - f64::from(pipe)).min(limit)
        };
        let allowed = libm::floor(allowed).max(if force { 1.0 } else { 0.0 });
        conn.window.set_cwnd(f64::from(pipe) + allowed);
    }

    fn send(&mut self, conn: &mut Connection, now: u64, force: bool, out: &mut impl Emit) {
        if conn.pacing.uses_timer() {
            conn.transmit_by_timer(self, now, force, out);
        } else {
            conn.transmit(self, now, force, out);
        }
    }
}

impl RecoveryStates for Rfc {
    fn dup_ack(&mut self) -> &mut DupAckState {
        &mut self.dup_ack
    }

    /// In any case.
    fn forces_first_retransmission(&self, _: &Connection) -> bool {
        true
    }

    fn begin_episode(&mut self, conn: &mut Connection, now: u64, kind: CongestionKind, state: State) {
        conn.begin_episode(now, kind, 0);
        conn.state = state;
        if kind != CongestionKind::Ecn {
            self.dup_ack.recovery_point = conn.next;
        }
        self.prr = Prr { flight: conn.next - conn.una, ..Prr::default() };
    }

    fn leave_recovery(&mut self, conn: &mut Connection, now: u64) {
        conn.state = State::Open;
        if !conn.config.sack {
            conn.scoreboard.forget_unnamed();
        }
        if !conn.needs.owns_recovery {
            conn.window.set_cwnd(conn.window.ssthresh);
        }
        conn.algorithm.on_recovery_exit(&mut conn.window, Nanos(now));
    }

    fn on_ack_in_loss(&mut self, conn: &mut Connection, now: u64, recovered: bool) -> bool {
        if !recovered {
            return false;
        }
        conn.state = State::Open;
        conn.algorithm.on_recovery_exit(&mut conn.window, Nanos(now));
        conn.scoreboard.lost > 0 && self.enter_recovery(conn, now)
    }
}

impl SendHooks for Rfc {
    #[inline(always)]
    fn inflight_limit(&mut self, window: u32, _in_flight: u32) -> u32 {
        window
    }

    #[inline(always)]
    fn on_sent(&mut self, conn: &mut Connection, _now: u64, segment: u64, _in_flight: u32, again: bool) {
        if again || (conn.state != State::Open && !fault::is(Fault::NewDataNotCounted)) {
            self.prr.out += 1;
        }
        if again && self.detects_lost_retransmissions {
            self.dup_ack.retransmissions.push(segment, conn.next);
        }
    }
}
