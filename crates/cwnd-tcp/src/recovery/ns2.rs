//! Loss recovery of ns-2.35's TCP-Linux agent.
//!
//! It differs from the RFCs in these points. Losses are found by forward acknowledgement. The window is reduced at once,
//! and what is in flight above it falls by one segment for every two that leave (rate halving). At the end of a recovery
//! the window rises to `ssthresh` at most by a small burst, and the scoreboard is cleared. Every ACK restarts the
//! retransmission timer. The algorithm is notified of an ACK before the state changes.

use super::LossRecovery;
use super::dup_ack::{DupAckState, Feedback, RecoveryStates, round_trip, take_sample, take_timeout};
use super::send_times::SendTimes;
use crate::connection::{AckReport, FastPath};
use crate::fault::{self, Fault};
use crate::packet::{Emit, Packet, SackBlocks};
use crate::transmit::SendHooks;
use crate::{Connection, SenderConfig};
use cwnd_cc::{CongestionKind, Nanos, Needs, State};

/// Segments that may be sent beyond what is in flight when recovery ends.
const BURST: u32 = 3;

/// How far below the highest SACKed segment one is lost that is not SACKed (forward acknowledgement with a margin of
/// three). A retransmission is lost when one sent more than this number of retransmissions later has arrived.
const LOSS_DISTANCE: u64 = 4;

/// The state of ns-2's recovery.
#[derive(Debug)]
pub struct Ns2 {
    dup_ack: DupAckState,
    /// Rate halving: this many segments may be in flight though the window is smaller; zero outside recovery.
    inflight_hold: u32,
    /// Send times of the segments sent in a recovery, if `measures_covered_rtt`.
    send_times: SendTimes,
    /// Whether the algorithm is notified of round-trip times as the agent measures them.
    measures_covered_rtt: bool,
    detects_lost_retransmissions: bool,
}

impl Ns2 {
    pub(crate) fn new(config: &SenderConfig, needs: Needs) -> Ns2 {
        Ns2 {
            dup_ack: DupAckState::default(),
            inflight_hold: 0,
            send_times: SendTimes::default(),
            measures_covered_rtt: needs.compat.covered_rtt && config.sack && config.timestamps,
            detects_lost_retransmissions: config.detect_lost_retransmissions,
        }
    }
}

impl LossRecovery for Ns2 {
    fn on_ack(
        &mut self,
        conn: &mut Connection,
        now: u64,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    ) {
        let feedback = self.dup_ack.take_feedback(conn, now, packet, blocks);
        let Feedback { advanced, delivered, duplicate, prior_in_flight, .. } = feedback;
        conn.episode.newly_lost = self.detect_losses(conn, now);
        let marked = conn.count_marks(packet, blocks, delivered);
        let rtt = round_trip(conn, now, packet, advanced);
        let covered_rtt = if self.measures_covered_rtt {
            self.covered_rtt(conn, now, rtt, feedback.covers_retransmission)
        } else {
            rtt
        };
        if let Some(rtt) = rtt {
            take_sample(conn, rtt);
        } else {
            if conn.config.timestamps {
                // The agent takes the echo of every ACK for the timeout, also of one that acknowledges nothing new, and
                // ends the backoff.
                let estimator = &mut conn.rtt.estimator;
                estimator.estimate(now - packet.sent);
                estimator.set_timeout();
                estimator.backoff = 0;
            }
            conn.rtt.on_ack_without_sample(&conn.ack);
        }
        conn.ack.rtt = None;
        conn.restart_retransmission_timer(now);
        conn.counts.delivered += u64::from(delivered);

        let lost = conn.episode.newly_lost;
        if advanced + delivered + marked + lost > 0 {
            // The algorithm receives the event in the state before the ACK, so that the ACK that ends a recovery does not yet
            // let the window grow.
            let report = AckReport { delivered, advanced, lost, marked, rtt: covered_rtt, prior_in_flight };
            conn.report_ack(now, report);
            conn.ack.rtt = rtt.map(Nanos);
        }
        let force = self.change_state(conn, now, advanced, marked > 0);
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
        // Every timeout is reported as the first one, and is an episode of its own.
        self.inflight_hold = 0;
        self.dup_ack.on_timeout(conn, now, 1, false);
        self.send(conn, now, false, out);
        conn.timers.rto_at = now + conn.rtt.estimator.timeout();
    }

    fn transmit(&mut self, conn: &mut Connection, now: u64, out: &mut impl Emit) {
        self.send(conn, now, false, out);
    }
}

impl Ns2 {
    /// Returns the round-trip time that the agent tells its algorithm: none if the ACK covers a segment known to be
    /// retransmitted, else the time since the last segment that it covers was last sent. `echo` is what the echoed
    /// timestamp gives. The agent forgets at the end of a recovery what was retransmitted.
    fn covered_rtt(
        &mut self,
        conn: &mut Connection,
        now: u64,
        echo: Option<u64>,
        covers_retransmission: bool,
    ) -> Option<u64> {
        let last = conn.una.checked_sub(1).and_then(|last| self.send_times.of(last));
        self.send_times.forget_below(conn.una);
        if self.send_times.is_empty() && conn.fast_path == FastPath::Suspended {
            conn.fast_path = FastPath::Enabled;
        }
        echo.filter(|_| !covers_retransmission).map(|echo| last.map_or(echo, |sent| now - sent))
    }

    /// Finds losses by forward acknowledgement. A retransmission is lost when any segment sent later has arrived, or a
    /// retransmission sent a few later. Returns how many segments are newly lost.
    fn detect_losses(&mut self, conn: &mut Connection, now: u64) -> u32 {
        if !conn.config.sack {
            return 0;
        }
        let una = conn.una;
        let (scoreboard, mut reporter) = conn.scoreboard_and_reporter(now);
        let lost = scoreboard.mark_lost_by_distance(LOSS_DISTANCE, una, |segment| reporter.report(segment));
        let highest = conn.scoreboard.highest_sacked();
        lost + self.dup_ack.detect_lost_retransmissions(conn, now, |sent, latest| {
            highest >= sent.next || sent.number + LOSS_DISTANCE + 1 < latest
        })
    }

    fn send(&mut self, conn: &mut Connection, now: u64, force: bool, out: &mut impl Emit) {
        if conn.pacing.uses_timer() {
            conn.transmit_by_timer(self, now, force, out);
        } else if self.inflight_hold > 0 {
            self.send_above_window(conn, now, force, out);
        } else {
            conn.transmit(self, now, force, out);
        }
    }

    /// Sends during rate halving: the window has been reduced, but as long as more is in flight, one segment leaves for
    /// every two that are delivered.
    #[cold]
    #[inline(never)]
    fn send_above_window(&mut self, conn: &mut Connection, now: u64, mut force: bool, out: &mut impl Emit) {
        let window = conn.window.cwnd as u32;
        let mut in_flight = conn.in_flight();
        let mut limit = self.inflight_limit(window, in_flight);
        while force || in_flight < limit {
            if !conn.send_one(self, now, in_flight, out) {
                break;
            }
            force = false;
            in_flight += 1;
            limit = self.inflight_limit(window, in_flight);
        }
        conn.rounds.record_use(in_flight, window);
        conn.record_lack_of_data(in_flight, window);
    }
}

impl RecoveryStates for Ns2 {
    fn dup_ack(&mut self) -> &mut DupAckState {
        &mut self.dup_ack
    }

    /// Without SACK. With SACK rate halving lets it go anyway, since more was in flight before.
    fn forces_first_retransmission(&self, conn: &Connection) -> bool {
        !conn.config.sack
    }

    /// Begins an episode: the window is reduced at once, what is in flight falls gradually (`send_above_window`).
    fn begin_episode(&mut self, conn: &mut Connection, now: u64, kind: CongestionKind, state: State) {
        let before = conn.window.cwnd as u32;
        conn.begin_episode(now, kind, 0);
        if !conn.needs.owns_recovery {
            self.inflight_hold = if fault::is(Fault::NothingHeld) { 0 } else { before };
            conn.window.set_cwnd(conn.window.recovery_cwnd.unwrap_or(conn.window.ssthresh));
        }
        conn.state = state;
        if kind != CongestionKind::Ecn {
            self.dup_ack.recovery_point = conn.next;
        }
    }

    /// Ends a recovery. The agent forgets what was SACKed: what is missing beyond is lost again when the next SACKs come,
    /// and with it what was SACKed and is not in the three blocks of those.
    fn leave_recovery(&mut self, conn: &mut Connection, now: u64) {
        conn.state = State::Open;
        self.inflight_hold = 0;
        if conn.config.sack {
            conn.scoreboard.clear(conn.una, conn.next);
            self.dup_ack.last_sack = Default::default();
            self.dup_ack.retransmissions.clear();
        } else {
            conn.scoreboard.forget_unnamed();
        }
        if !conn.needs.owns_recovery && conn.window.cwnd < conn.window.ssthresh {
            let most = f64::from(conn.in_flight() + BURST);
            conn.window.set_cwnd(conn.window.ssthresh.min(most));
        }
        conn.algorithm.on_recovery_exit(&mut conn.window, Nanos(now));
    }

    fn on_ack_in_loss(&mut self, conn: &mut Connection, now: u64, recovered: bool) -> bool {
        if recovered {
            self.leave_recovery(conn, now);
            return false;
        }
        conn.config.sack && conn.episode.newly_lost > 0 && self.enter_recovery(conn, now)
    }
}

impl SendHooks for Ns2 {
    #[inline(always)]
    fn inflight_limit(&mut self, window: u32, in_flight: u32) -> u32 {
        self.inflight_hold = self.inflight_hold.min(in_flight + 1);
        window.max(self.inflight_hold)
    }

    #[inline(always)]
    fn on_sent(&mut self, conn: &mut Connection, now: u64, segment: u64, in_flight: u32, again: bool) {
        self.inflight_hold = self.inflight_hold.min(in_flight.max(1));
        if again && self.detects_lost_retransmissions {
            self.dup_ack.retransmissions.push(segment, conn.next);
        }
        if self.measures_covered_rtt && (again || conn.state != State::Open) {
            self.send_times.note(segment, now);
            if conn.fast_path == FastPath::Enabled {
                conn.fast_path = FastPath::Suspended;
            }
        }
    }
}
