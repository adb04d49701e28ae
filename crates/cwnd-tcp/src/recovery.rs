//! Loss recovery: duplicate ACKs, SACK blocks, ECN echoes and timeouts.
//!
//! With SACK, RFC 6675: a segment is lost when three above it are SACKed, and what is in flight is
//! counted as its `pipe`; or, as ns-2.35's TCP-Linux, forward acknowledgement. Without, RFC 6582 (NewReno), told in the same terms: every duplicate ACK says
//! that one segment has left the network, not which, so it counts like a SACK without a name; that is the
//! window inflation of the RFC seen from the other side.

use super::sender::Sender;
use super::{NEVER, expand};
use crate::packet::{ECE, Emit, Packet, SACK, SackBlocks};
use cwnd_cc::{Congestion, CongestionKind, DupAck, EcnMode, Nanos, State};
use cwnd_scenario::Recovery;

/// Duplicate ACKs, or SACKed segments above, that mean a loss (RFC 5681, RFC 6675).
const DUP_THRESH: u32 = 3;

/// ns-2.35's TCP-Linux: segments that may be sent beyond what is in flight when recovery ends.
const NS2_BURST: u32 = 3;

/// ns-2.35's TCP-Linux: so far below the highest SACKed segment one that is not SACKed is lost (forward acknowledgement
/// with a margin of three); and so many retransmissions later than one the acknowledged must be for that to be lost.
const NS2_DISTANCE: u64 = 4;

/// What is left of `from..to` when its ends are cut off where a known range covers them.
pub(super) fn without(mut from: u64, mut to: u64, known: &[(u64, u64); 4]) -> (u64, u64) {
    for &(start, end) in known {
        if start <= from {
            from = from.max(end);
        } else if to <= end {
            to = to.min(start);
        }
    }
    (from, to)
}

/// Proportional rate reduction (RFC 6937).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    /// Segments delivered since recovery began.
    delivered: u64,
    /// Segments sent since.
    pub out: u64,
    /// Segments outstanding when it began (RecoverFS).
    flight: u64,
}

impl Sender {
    /// An ACK that is not plain.
    pub(super) fn on_ack_in_detail(
        &mut self,
        now: u64,
        packet: &Packet,
        blocks: Option<&SackBlocks>,
        out: &mut impl Emit,
    ) {
        self.integrate_cwnd(now);
        self.board.cover(self.una, self.next);
        let prior_in_flight = self.in_flight();
        let cumulative = expand(self.una, packet.seq).min(self.next);
        let advanced = cumulative.saturating_sub(self.una) as u32;
        let mut delivered = 0;
        let mut rtt = None;
        let copies = self.board.retransmitted;
        if advanced > 0 {
            delivered += self.acknowledge(now, cumulative);
            if self.config.timestamps {
                rtt = Some(now - packet.sent);
            }
        }
        let sacked = blocks.map_or(0, |blocks| self.take_blocks(now, blocks));
        let covers_copy = self.board.retransmitted < copies;
        delivered += sacked;
        let duplicate = advanced == 0 && self.next > self.una && cumulative == self.una;
        if duplicate {
            delivered += self.count_duplicate(now, sacked);
        }
        self.ack.now = Nanos(now);
        self.ack.predicted = advanced > 0 && packet.flags & (SACK | ECE) == 0;
        self.newly_lost = self.detect_losses(now);
        let marked = self.note_marks(packet, delivered);

        if !self.config.timestamps {
            rtt = self.records.as_ref().and_then(|records| records.round_trip(now));
        }
        let ns2 = self.config.recovery == Recovery::Ns2;
        let told_rtt = if self.measures_as_ns2() { self.ns2_sample(now, rtt, covers_copy) } else { rtt };
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt);
            // RFC 6298 section 5: the doubled timeout stands until there is a sample.
            self.rtt.backoff = 0;
            self.latest_rtt = rtt;
        } else {
            if ns2 && self.config.timestamps {
                // It takes the echo of every ACK, also of one that acknowledges nothing new, and ends the doubling.
                self.rtt.estimate(now - packet.sent);
                self.rtt.set_timeout();
                self.rtt.backoff = 0;
            }
            self.silent_acks += 1;
            self.latest_rtt = self.ack.rtt.map_or(self.latest_rtt, |latest| latest.0);
        }
        self.ack.rtt = None;
        // ns-2 starts the timer anew on every ACK.
        if advanced > 0 || ns2 {
            self.rto_at = if self.una == self.next { NEVER } else { now + self.rtt.timeout() };
        }
        self.counts.delivered += u64::from(delivered);

        let tells = advanced + delivered + marked + self.newly_lost > 0;
        let force = if ns2 {
            // The algorithm hears of an ACK in the state that it found, so that the one that ends a recovery does
            // not yet let the window grow.
            if tells {
                let lost = self.newly_lost;
                self.tell_algorithm(now, delivered, advanced, lost, marked, told_rtt, prior_in_flight);
                self.ack.rtt = rtt.map(Nanos);
            }
            self.change_state(now, advanced, marked > 0)
        } else {
            let force = self.change_state(now, advanced, marked > 0);
            if tells {
                self.tell_algorithm(now, delivered, advanced, self.newly_lost, marked, rtt, prior_in_flight);
            }
            force
        };
        if !ns2 && !self.needs.owns_recovery && matches!(self.state, State::Recovery | State::Cwr) {
            self.reduce_proportionally(delivered, force);
        }
        let hold_new_data = duplicate && self.state == State::Disorder && !self.config.limited_transmit;
        if !hold_new_data {
            let before = self.next;
            self.transmit(now, force, out);
            if duplicate && self.state == State::Disorder {
                self.limited_transmits += (self.next - before) as u32;
            }
        }
    }

    /// Whether the algorithm hears of round-trip times as ns-2.35's TCP-Linux tells its modules.
    pub(super) fn measures_as_ns2(&self) -> bool {
        let config = &self.config;
        self.needs.covered_rtt && config.recovery == Recovery::Ns2 && config.sack && config.timestamps
    }

    /// What ns-2.35 tells of an ACK whose echo says `echo`: nothing, where it covers a copy of a segment that is known to
    /// have been sent twice, and else the time since the last segment that it covers was last sent. A recovery forgets at
    /// its end which were sent twice.
    fn ns2_sample(&mut self, now: u64, echo: Option<u64>, covers_copy: bool) -> Option<u64> {
        let last = self.una.checked_sub(1).and_then(|last| self.send_times.of(last));
        self.send_times.forget_below(self.una);
        self.plain = self.simple && self.send_times.is_empty();
        echo.filter(|_| !covers_copy).map(|echo| last.map_or(echo, |sent| now - sent))
    }

    /// `una` moves to `to`. Returns how many segments this delivers that were not known to be.
    fn acknowledge(&mut self, now: u64, to: u64) -> u32 {
        let advanced = (to - self.una) as u32;
        if let Some(records) = &mut self.records {
            (self.una..to).filter(|&s| !self.board.is_sacked(s)).for_each(|s| records.on_delivered(now, s));
        }
        let known = if self.config.sack {
            self.board.acknowledge(self.una, to)
        } else {
            // One segment filled the hole; the others had each caused a duplicate ACK.
            let unnamed = self.board.sacked.min(advanced - 1);
            self.board.sacked -= unnamed;
            let none = self.board.acknowledge(self.una, to);
            debug_assert_eq!(none, 0);
            // The first segment that is still outstanding is missing, so that no duplicate ACK stands for it.
            let outstanding = (self.next - to) as u32;
            let missing = self.board.lost.max(1);
            self.board.sacked = self.board.sacked.min(outstanding.saturating_sub(missing));
            unnamed
        };
        self.una = to;
        self.dup_acks = 0;
        self.limited_transmits = 0;
        self.timeouts_in_row = 0;
        self.copies.acknowledge(to);
        advanced - known
    }

    /// SACK blocks. Returns how many segments they name for the first time.
    ///
    /// Every ACK of an episode repeats nearly all that the one before it said, so what that one said is
    /// taken off first: else an episode costs the square of its length.
    fn take_blocks(&mut self, now: u64, blocks: &SackBlocks) -> u32 {
        let mut total = 0;
        let mut said = [(0, 0); 4];
        for (i, (from, to)) in blocks.iter().enumerate() {
            let (from, to) = (expand(self.una, from), expand(self.una, to));
            said[i] = (from, to);
            let (from, to) = without(from.max(self.una), to.min(self.next), &self.said);
            if from >= to {
                continue;
            }
            if let Some(records) = &mut self.records {
                (from..to).filter(|&s| !self.board.is_sacked(s)).for_each(|s| records.on_delivered(now, s));
            }
            let Sender { board, copies, .. } = self;
            total += board.sack(from, to, |segment| copies.sack(segment));
        }
        self.said = said;
        total
    }

    /// A duplicate ACK. Without SACK it stands for one delivered segment.
    fn count_duplicate(&mut self, now: u64, sacked: u32) -> u32 {
        self.dup_acks += 1;
        let dup = DupAck { now: Nanos(now), sacked, count: self.dup_acks };
        self.algorithm.on_dup_ack(&mut self.window, &dup);
        let outstanding = (self.next - self.una) as u32;
        let unnamed = !self.config.sack && self.state != State::Loss;
        if unnamed && self.board.sacked + self.board.lost.max(1) < outstanding {
            self.board.sacked += 1;
            return 1;
        }
        0
    }

    /// RFC 6675's IsLost, and retransmissions that are lost themselves. Returns how many are newly lost.
    fn detect_losses(&mut self, now: u64) -> u32 {
        if !self.config.sack {
            return 0;
        }
        let ns2 = self.config.recovery == Recovery::Ns2;
        let Sender { board, records, algorithm, window, needs, .. } = self;
        let tell = |segment| {
            if let Some(records) = records {
                let packet = records.on_lost(now, segment);
                if needs.lost_packets {
                    algorithm.on_packet_lost(window, &packet);
                }
            }
        };
        let lost = if ns2 {
            board.mark_lost_by_distance(NS2_DISTANCE, self.una, tell)
        } else {
            board.mark_lost_by_sacks(self.una, tell)
        };
        let (una, highest, third) =
            (self.una, self.board.highest_sacked(), self.board.third_highest_sacked());
        let mut again = Vec::new();
        // A retransmission is lost when three segments that were sent after it have arrived, and it has not. In ns-2 one is
        // enough, or a retransmission that was sent a few later.
        self.copies.take_lost(
            |copy, latest| match ns2 {
                true => highest >= copy.next || copy.number + NS2_DISTANCE + 1 < latest,
                false => third >= copy.next,
            },
            |segment| again.push(segment),
        );
        let mut copies = 0;
        for segment in again {
            if segment >= una && self.board.lose_retransmission(segment) {
                self.tell_lost(now, segment);
                copies += 1;
            }
        }
        lost + copies
    }

    /// How many of the delivered segments carry an echoed mark.
    pub(super) fn note_marks(&mut self, packet: &Packet, delivered: u32) -> u32 {
        if self.config.ecn == EcnMode::Off || !packet.is(ECE) {
            return 0;
        }
        // An ACK that echoes a mark but delivers nothing new (a pure duplicate) still signals it.
        let marked = delivered.max(1);
        if let Some(records) = &mut self.records {
            records.on_marked(delivered);
        }
        marked
    }

    /// Move between the states of recovery. Returns whether one segment must be sent in any case.
    fn change_state(&mut self, now: u64, advanced: u32, marked: bool) -> bool {
        match self.state {
            State::Open | State::Disorder | State::Cwr => {
                if self.has_loss() {
                    return self.enter_recovery(now);
                }
                if self.state == State::Cwr {
                    // Until something sent after the reduction, and so with CWR, is acknowledged, echoes
                    // may still be of marks that it has answered.
                    if self.una <= self.recover {
                        return false;
                    }
                    self.leave(now, State::Open);
                }
                self.state = if self.board.sacked > 0 { State::Disorder } else { State::Open };
                if marked && self.next > self.una && !self.needs.marks_only {
                    // RFC 3168 section 6.1.2: at most once a window of data.
                    self.begin(now, CongestionKind::Ecn, State::Cwr);
                }
                false
            }
            State::Recovery if self.una >= self.recover => {
                self.leave(now, State::Open);
                // Losses after the recovery point are an episode of their own.
                if self.board.lost > 0 {
                    return self.enter_recovery(now);
                }
                false
            }
            State::Recovery if !self.config.sack && advanced > 0 => {
                // RFC 6582 section 3.2, step 3: a partial ACK names the next hole.
                self.lose_first();
                true
            }
            State::Recovery => false,
            State::Loss if self.config.recovery == Recovery::Ns2 => {
                if self.una >= self.recover {
                    self.leave(now, State::Open);
                } else if self.config.sack && self.newly_lost > 0 {
                    return self.enter_recovery(now);
                }
                false
            }
            State::Loss => {
                if self.una >= self.recover {
                    self.state = State::Open;
                    self.algorithm.on_recovery_exit(&mut self.window, Nanos(now));
                    if self.board.lost > 0 {
                        return self.enter_recovery(now);
                    }
                }
                false
            }
        }
    }

    /// A retransmission is lost.
    pub(super) fn tell_lost(&mut self, now: u64, segment: u64) {
        if let Some(records) = &mut self.records {
            let packet = records.on_lost(now, segment);
            if self.needs.lost_packets {
                self.algorithm.on_packet_lost(&mut self.window, &packet);
            }
        }
    }

    /// Without SACK: the first outstanding segment is lost.
    fn lose_first(&mut self) {
        let Sender { board, records, algorithm, window, needs, una, ack, .. } = self;
        let now = ack.now.0;
        self.newly_lost += board.mark_lost(*una, *una + 1, |segment| {
            if let Some(records) = records {
                let packet = records.on_lost(now, segment);
                if needs.lost_packets {
                    algorithm.on_packet_lost(window, &packet);
                }
            }
        });
    }

    fn has_loss(&self) -> bool {
        if self.config.sack {
            return self.board.lost > 0;
        }
        // RFC 6582 section 3.2, step 2: duplicates of what an earlier recovery or timeout has retransmitted
        // begin no new one.
        let beyond = self.una > self.guard || self.guard == 0;
        self.dup_acks >= DUP_THRESH && beyond
    }

    fn enter_recovery(&mut self, now: u64) -> bool {
        if !self.config.sack {
            self.lose_first();
        }
        if self.state == State::Cwr && self.config.ecn != EcnMode::Exact {
            // The window has been reduced for this window of data already: a classic mark counts as a loss. An
            // exact one may have reduced it by little, and a loss is answered all the same (RFC 8257 section 3.5).
            self.state = State::Recovery;
            self.recover = self.next;
            self.guard = self.next;
        } else {
            self.begin(now, CongestionKind::Loss, State::Recovery);
        }
        // ns-2 sends the first lost segment since more was in flight before.
        !(self.config.sack && self.config.recovery == Recovery::Ns2)
    }

    /// A congestion episode begins.
    fn begin(&mut self, now: u64, kind: CongestionKind, state: State) {
        let congestion = self.congestion(now, kind);
        let before = self.window.cwnd as u32;
        self.window.recovery_cwnd = None;
        self.algorithm.on_congestion(&mut self.window, &congestion);
        if self.config.recovery == Recovery::Ns2 && !self.needs.owns_recovery {
            // The window is reduced at once; what is in flight above it falls gradually (`transmit_holding`).
            self.hold = before;
            self.window.set_cwnd(self.window.recovery_cwnd.unwrap_or(self.window.ssthresh));
        }
        self.counts.congestion_events += 1;
        self.state = state;
        self.recover = self.next;
        if kind != CongestionKind::Ecn {
            self.guard = self.next;
        }
        self.prr = Prr { flight: self.next - self.una, ..Prr::default() };
        // RFC 3168 section 6.1.2: whatever the reduction answers.
        self.send_cwr = self.config.ecn == EcnMode::Classic;
    }

    pub(super) fn congestion(&self, now: u64, kind: CongestionKind) -> Congestion {
        Congestion {
            now: Nanos(now),
            kind,
            in_flight: self.in_flight(),
            // RFC 5681 section 3.2: at a fast retransmit, what limited transmit sent does not count.
            flight_size: (self.next - self.una) as u32
                - if kind == CongestionKind::Loss { self.limited_transmits } else { 0 },
            lost: self.board.lost,
            rtt: self.ack.rtt.unwrap_or(Nanos(self.latest_rtt)),
            srtt: Nanos(self.rtt.srtt()),
            min_rtt: Nanos(self.rtt.min),
            timeouts: match (kind, self.config.recovery) {
                (CongestionKind::Timeout, Recovery::Ns2) => 1,
                (CongestionKind::Timeout, Recovery::Prr | Recovery::Linux) => self.timeouts_in_row + 1,
                _ => 0,
            },
            in_slow_start: self.window.in_slow_start(),
        }
    }

    /// Recovery is over.
    fn leave(&mut self, now: u64, state: State) {
        self.state = state;
        if !self.config.sack {
            self.board.forget_unnamed();
        }
        self.hold = 0;
        if self.config.recovery == Recovery::Ns2 {
            self.forget_scoreboard();
        }
        if !self.needs.owns_recovery {
            match self.config.recovery {
                Recovery::Prr | Recovery::Linux => self.window.set_cwnd(self.window.ssthresh),
                Recovery::Ns2 if self.window.cwnd < self.window.ssthresh => {
                    let most = f64::from(self.in_flight() + NS2_BURST);
                    self.window.set_cwnd(self.window.ssthresh.min(most));
                }
                Recovery::Ns2 => {}
            }
        }
        self.algorithm.on_recovery_exit(&mut self.window, Nanos(now));
    }

    /// ns-2.35's TCP-Linux forgets what was SACKed when a recovery ends. What is missing beyond is lost again
    /// when the next SACKs come, and with it what was SACKed and is not in the three blocks of those.
    fn forget_scoreboard(&mut self) {
        if self.config.sack {
            self.board.clear(self.una, self.next);
            self.said = [(0, 0); 4];
            self.copies.clear();
        }
    }

    /// RFC 6937 section 3: spread the reduction over the ACKs of one round trip.
    fn reduce_proportionally(&mut self, delivered: u32, force: bool) {
        let prr = &mut self.prr;
        prr.delivered += u64::from(delivered);
        let target = self.window.recovery_cwnd.unwrap_or(self.window.ssthresh);
        let pipe = self.in_flight();
        let prr = &self.prr;
        let allowed = if f64::from(pipe) > target {
            let share = prr.delivered as f64 * target / prr.flight.max(1) as f64;
            libm::ceil(share) - prr.out as f64
        } else {
            // Slow start reduction bound: never faster than slow start back to the target.
            let limit = (prr.delivered as f64 - prr.out as f64).max(f64::from(delivered)) + 1.0;
            (target - f64::from(pipe)).min(limit)
        };
        let allowed = libm::floor(allowed).max(if force { 1.0 } else { 0.0 });
        self.window.set_cwnd(f64::from(pipe) + allowed);
    }

    /// The retransmission timer runs out (RFC 6298 section 5, RFC 5681 section 3.1).
    pub(super) fn on_timeout(&mut self, now: u64, out: &mut impl Emit) {
        self.rto_at = NEVER;
        if self.next == self.una {
            return;
        }
        self.integrate_cwnd(now);
        self.counts.timeouts += 1;
        self.board.cover(self.una, self.next);
        // A timeout of a segment that a timeout retransmitted holds ssthresh constant, but in ns-2.
        let again = self.state == State::Loss && self.timeouts_in_row > 0;
        let again = again && self.config.recovery != Recovery::Ns2;
        self.begin_timeout(now, again);
        self.recover = self.next;
        self.guard = self.next;
        self.window.set_cwnd(self.window.restart_cwnd.min(self.window.cwnd));
        self.hold = 0;
        self.dup_acks = 0;
        self.copies.clear();
        if !self.config.sack {
            self.board.forget_unnamed();
        }
        let Sender { board, records, algorithm, window, needs, .. } = self;
        board.mark_all_lost(self.una, self.next, |segment| {
            if let Some(records) = records {
                let packet = records.on_lost(now, segment);
                if needs.lost_packets {
                    algorithm.on_packet_lost(window, &packet);
                }
            }
        });
        self.rtt.back_off();
        self.timeouts_in_row += 1;
        self.transmit(now, false, out);
        self.rto_at = now + self.rtt.timeout();
    }

    /// `again`: of data that a timeout has retransmitted; the algorithm is told so, and it is no new episode.
    fn begin_timeout(&mut self, now: u64, again: bool) {
        let congestion = self.congestion(now, CongestionKind::Timeout);
        let held = self.window.ssthresh;
        self.window.recovery_cwnd = None;
        self.algorithm.on_congestion(&mut self.window, &congestion);
        if again {
            self.window.ssthresh = held;
        }
        self.counts.congestion_events += u64::from(!again);
        self.state = State::Loss;
        self.send_cwr = self.config.ecn == EcnMode::Classic;
    }
}
