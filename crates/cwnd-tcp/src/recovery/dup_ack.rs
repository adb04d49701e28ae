//! What the strategies share that count duplicate ACKs and SACKed segments: RFC 6675, RFC 6582 and ns-2's agent.
//!
//! Without SACK, NewReno (RFC 6582) is expressed in the terms of the scoreboard: every duplicate ACK reports that some segment
//! has left the network, so it counts as a SACK of an unnamed segment. The effect equals the RFC's inflation of the window.

use super::retransmissions::{Retransmission, Retransmissions};
use super::{SackRanges, without};
use crate::fault::{self, Fault};
use crate::packet::{ECE, Packet, SACK, SackBlocks};
use crate::{Connection, NEVER, expand};
use cwnd_cc::{CongestionKind, DupAck, EcnMode, Nanos, State};

/// Duplicate ACKs that mean a loss (RFC 5681's and RFC 6675's DupThresh).
const DUP_THRESH: u32 = 3;

/// What an ACK says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Feedback {
    /// Segments by which the cumulative acknowledgement has advanced.
    pub advanced: u32,
    /// Segments delivered, whether acknowledged, SACKed, or counted by a duplicate ACK.
    pub delivered: u32,
    /// Whether it is a duplicate ACK.
    pub duplicate: bool,
    /// Whether it covers a segment that was retransmitted.
    pub covers_retransmission: bool,
    pub prior_in_flight: u32,
}

/// The states of recovery, and how ACKs lead from one to the next. The strategies differ in the window of a recovery, and after a
/// timeout.
pub(super) trait RecoveryStates {
    /// Returns the state of loss detection.
    fn dup_ack(&mut self) -> &mut DupAckState;

    /// Returns whether the first retransmission of a recovery is sent whatever the window.
    fn forces_first_retransmission(&self, conn: &Connection) -> bool;

    /// Begins an episode and enters its state.
    fn begin_episode(&mut self, conn: &mut Connection, now: u64, kind: CongestionKind, state: State);

    /// Ends a recovery.
    fn leave_recovery(&mut self, conn: &mut Connection, now: u64);

    /// Handles an ACK after a timeout. `recovered`: everything sent before the timeout is acknowledged. Returns as
    /// [`RecoveryStates::change_state`].
    fn on_ack_in_loss(&mut self, conn: &mut Connection, now: u64, recovered: bool) -> bool;

    /// Moves between the states of recovery. Returns whether one segment must be sent in any case.
    fn change_state(&mut self, conn: &mut Connection, now: u64, advanced: u32, marked: bool) -> bool {
        let recovered = conn.una >= conn.episode.end;
        match conn.state {
            State::Open | State::Disorder | State::Cwr => {
                if self.dup_ack().has_loss(conn) {
                    return self.enter_recovery(conn, now);
                }
                if conn.state == State::Cwr {
                    // Until something is acknowledged that was sent after the reduction, and so with CWR, echoes may
                    // still be of marks that it has answered.
                    if conn.una <= conn.episode.end {
                        return false;
                    }
                    self.leave_recovery(conn, now);
                }
                conn.state = if conn.scoreboard.sacked > 0 { State::Disorder } else { State::Open };
                if marked && conn.next > conn.una && !conn.needs.marks_only {
                    // RFC 3168 section 6.1.2: at most once a window of data.
                    self.begin_episode(conn, now, CongestionKind::Ecn, State::Cwr);
                }
                false
            }
            State::Recovery if recovered => {
                self.leave_recovery(conn, now);
                // Losses after the recovery point are an episode of their own.
                conn.scoreboard.lost > 0 && self.enter_recovery(conn, now)
            }
            State::Recovery if !conn.config.sack && advanced > 0 => {
                // RFC 6582 section 3.2, step 3: a partial ACK names the next hole.
                lose_first(conn);
                true
            }
            State::Recovery => false,
            State::Loss => self.on_ack_in_loss(conn, now, recovered),
        }
    }

    /// Enters a recovery. Returns whether one segment must be sent in any case.
    fn enter_recovery(&mut self, conn: &mut Connection, now: u64) -> bool {
        if !conn.config.sack {
            lose_first(conn);
        }
        if conn.state == State::Cwr && conn.config.ecn != EcnMode::Exact {
            // The window has been reduced for this window of data already: a classic mark counts as a loss. An exact one
            // may have reduced it by little, and a loss is answered all the same (RFC 8257 section 3.5).
            conn.state = State::Recovery;
            conn.episode.end = conn.next;
            self.dup_ack().recovery_point = conn.next;
        } else {
            self.begin_episode(conn, now, CongestionKind::Loss, State::Recovery);
        }
        self.forces_first_retransmission(conn)
    }
}

/// The state of loss detection by counting.
#[derive(Debug, Default)]
pub(super) struct DupAckState {
    pub retransmissions: Retransmissions,
    /// What the last ACK with SACK blocks named.
    pub last_sack: SackRanges,
    /// RFC 6582's `recover`: the next new segment when the last recovery or timeout began; zero before the first.
    pub recovery_point: u64,
}

impl DupAckState {
    /// Takes what an ACK says into the scoreboard.
    #[inline]
    pub fn take_feedback(
        &mut self,
        conn: &mut Connection,
        now: u64,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
    ) -> Feedback {
        conn.integrate_cwnd(now);
        conn.scoreboard.cover(conn.una, conn.next);
        let prior_in_flight = conn.in_flight();
        let cumulative = expand(conn.una, packet.seq).min(conn.next);
        let advanced = cumulative.saturating_sub(conn.una) as u32;
        let retransmitted = conn.scoreboard.retransmitted;
        let mut delivered = if advanced > 0 { self.acknowledge(conn, now, cumulative) } else { 0 };
        let sacked = blocks.map_or(0, |blocks| self.take_blocks(conn, now, blocks));
        let covers_retransmission = conn.scoreboard.retransmitted < retransmitted;
        delivered += sacked;
        let duplicate = advanced == 0 && conn.next > conn.una && cumulative == conn.una;
        if duplicate {
            delivered += count_duplicate(conn, now, sacked);
        }
        conn.ack.now = Nanos(now);
        conn.ack.compat.header_predicted = advanced > 0 && packet.flags & (SACK | ECE) == 0;
        Feedback { advanced, delivered, duplicate, covers_retransmission, prior_in_flight }
    }

    /// Moves `una` to `to`. Returns how many segments this delivers that were not known to be delivered.
    fn acknowledge(&mut self, conn: &mut Connection, now: u64, to: u64) -> u32 {
        let advanced = (to - conn.una) as u32;
        record_deliveries(conn, now, conn.una, to);
        let known = if conn.config.sack {
            conn.scoreboard.acknowledge(conn.una, to)
        } else {
            // One segment filled the hole; each of the others had caused a duplicate ACK.
            let unnamed = conn.scoreboard.sacked.min(advanced - 1);
            conn.scoreboard.sacked -= unnamed;
            let none = conn.scoreboard.acknowledge(conn.una, to);
            debug_assert_eq!(none, 0);
            // The first segment that is still outstanding is missing, so no duplicate ACK stands for it.
            let outstanding = (conn.next - to) as u32;
            let missing = conn.scoreboard.lost.max(1);
            conn.scoreboard.sacked = conn.scoreboard.sacked.min(outstanding.saturating_sub(missing));
            unnamed
        };
        conn.una = to;
        conn.dup_acks = 0;
        conn.episode.limited_transmits = 0;
        conn.episode.timeouts = 0;
        self.retransmissions.acknowledge(to);
        advanced - known
    }

    /// Takes SACK blocks. Returns how many segments they name for the first time.
    fn take_blocks(&mut self, conn: &mut Connection, now: u64, blocks: &SackBlocks) -> u32 {
        let mut total = 0;
        let mut ranges = SackRanges::default();
        for (i, (from, to)) in blocks.iter().enumerate() {
            let (from, to) = (expand(conn.una, from), expand(conn.una, to));
            ranges[i] = (from, to);
            let (from, to) = without(from.max(conn.una), to.min(conn.next), &self.last_sack);
            if from >= to {
                continue;
            }
            record_deliveries(conn, now, from, to);
            total += conn.scoreboard.sack(from, to, |segment| self.retransmissions.sack(segment));
        }
        self.last_sack = ranges;
        total
    }

    /// Declares retransmissions lost for which `is_lost` holds (see [`Retransmissions::take_lost`]). Returns how many.
    pub fn detect_lost_retransmissions(
        &mut self,
        conn: &mut Connection,
        now: u64,
        is_lost: impl Fn(&Retransmission, u64) -> bool,
    ) -> u32 {
        let mut lost = Vec::new();
        self.retransmissions.take_lost(is_lost, |segment| lost.push(segment));
        let mut count = 0;
        for segment in lost {
            if segment >= conn.una && conn.scoreboard.lose_retransmission(segment) {
                conn.report_loss(now, segment);
                count += 1;
            }
        }
        count
    }

    /// Returns whether a loss is known that begins a recovery.
    pub fn has_loss(&self, conn: &Connection) -> bool {
        if conn.config.sack {
            return conn.scoreboard.lost > 0;
        }
        // RFC 6582 section 3.2, step 2: duplicates of what an earlier recovery or timeout has retransmitted begin no new
        // recovery.
        let beyond = conn.una > self.recovery_point || self.recovery_point == 0;
        conn.dup_acks >= DUP_THRESH && beyond
    }

    /// Processes a retransmission timeout, up to the retransmission itself (RFC 6298 section 5, RFC 5681 section 3.1).
    /// Every outstanding segment that is not SACKed is lost. `repeated`: the timeout is of data that a timeout has
    /// retransmitted, so that `ssthresh` stays and no new episode begins.
    pub fn on_timeout(&mut self, conn: &mut Connection, now: u64, timeouts: u32, repeated: bool) {
        conn.integrate_cwnd(now);
        conn.counts.timeouts += 1;
        conn.scoreboard.cover(conn.una, conn.next);
        let ssthresh = conn.window.ssthresh;
        conn.report_congestion(now, CongestionKind::Timeout, timeouts);
        if repeated {
            conn.window.ssthresh = ssthresh;
        }
        conn.counts.congestion_events += u64::from(!repeated);
        conn.state = State::Loss;
        conn.episode.end = conn.next;
        if !fault::is(Fault::TimeoutForgetsRecover) {
            self.recovery_point = conn.next;
        }
        conn.window.set_cwnd(conn.window.restart_cwnd.min(conn.window.cwnd));
        conn.dup_acks = 0;
        self.retransmissions.clear();
        if !conn.config.sack {
            conn.scoreboard.forget_unnamed();
        }
        let (una, next) = (conn.una, conn.next);
        let (scoreboard, mut reporter) = conn.scoreboard_and_reporter(now);
        scoreboard.mark_all_lost(una, next, |segment| reporter.report(segment));
        conn.rtt.estimator.back_off();
        conn.episode.timeouts += 1;
    }
}

/// Stops the retransmission timer that has expired. Returns whether anything is outstanding.
pub(super) fn take_timeout(conn: &mut Connection) -> bool {
    conn.timers.rto_at = NEVER;
    conn.next > conn.una
}

/// Records the delivery of the segments in `from..to` that are not SACKed.
fn record_deliveries(conn: &mut Connection, now: u64, from: u64, to: u64) {
    if let Some(records) = &mut conn.records {
        let delivered = (from..to).filter(|&segment| !conn.scoreboard.is_sacked(segment));
        delivered.for_each(|segment| records.on_delivered(now, segment));
    }
}

/// Counts a duplicate ACK. Without SACK it stands for one delivered segment; returns how many it stands for.
fn count_duplicate(conn: &mut Connection, now: u64, sacked: u32) -> u32 {
    conn.dup_acks += 1;
    let dup = DupAck { now: Nanos(now), sacked, count: conn.dup_acks };
    conn.algorithm.on_dup_ack(&mut conn.window, &dup);
    let unnamed = !conn.config.sack && conn.state != State::Loss;
    if unnamed && conn.scoreboard.sacked + conn.scoreboard.lost.max(1) < conn.outstanding() {
        conn.scoreboard.sacked += 1;
        return 1;
    }
    0
}

/// Declares the first outstanding segment lost, where no SACK names it.
pub(super) fn lose_first(conn: &mut Connection) {
    let (una, now) = (conn.una, conn.ack.now.0);
    let (scoreboard, mut reporter) = conn.scoreboard_and_reporter(now);
    let lost = scoreboard.mark_lost(una, una + 1, |segment| reporter.report(segment));
    conn.episode.newly_lost += lost;
}

/// Returns the round-trip time sample of an ACK: by the echoed timestamp, if it acknowledges new data; without timestamps by
/// the records (Karn's rule).
pub(super) fn round_trip(conn: &Connection, now: u64, packet: &Packet, advanced: u32) -> Option<u64> {
    if conn.config.timestamps {
        return (advanced > 0).then(|| now - packet.sent);
    }
    conn.records.as_ref().and_then(|records| records.round_trip(now))
}

/// Takes a round-trip time sample for smoothing and the timeout.
pub(super) fn take_sample(conn: &mut Connection, rtt: u64) {
    conn.rtt.estimator.sample_in_round(rtt, conn.una, conn.next);
    conn.rtt.on_sample(rtt);
}
