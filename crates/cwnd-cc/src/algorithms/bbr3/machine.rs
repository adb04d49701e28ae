//! The state machine: section "State Machine Operation" of the draft.

use super::{AckPhase, Bbr3, Phase};
use crate::{Ack, Nanos, Window};

const DRAIN_PACING_GAIN: f64 = 0.5;
const DOWN_PACING_GAIN: f64 = 0.9;
const UP_PACING_GAIN: f64 = 1.25;
/// What the window holds in ProbeBW_UP beyond the default gain.
const UP_CWND_GAIN: f64 = 0.25;

/// Rounds after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;
/// Lost ranges of a round that make its loss rate count in Startup.
const STARTUP_FULL_LOSS_COUNT: u32 = 6;
/// Rounds after which it probes again, as Reno would with a window of as many segments.
const RENO_ROUNDS: f64 = 63.0;

impl Bbr3 {
    fn enter(&mut self, phase: Phase, pacing_gain: f64) {
        self.phase = phase;
        self.pacing_gain = pacing_gain;
        self.cwnd_gain = self.parameters.cwnd_gain;
    }

    pub(super) fn enter_startup(&mut self) {
        self.enter(Phase::Startup, self.parameters.startup_pacing_gain);
    }

    pub(super) fn check_startup_done(&mut self, window: &mut Window, ack: &Ack) {
        self.check_startup_high_loss(ack);
        if self.phase == Phase::Startup && self.full_bw_reached {
            self.enter(Phase::Drain, DRAIN_PACING_GAIN);
            self.drain_start_round = self.round_count;
            // Nothing here reads it, but slow start is over.
            window.set_ssthresh(window.cwnd);
        }
    }

    /// Leaves Startup where a round of fast recovery lost too much, in too many places.
    fn check_startup_high_loss(&mut self, ack: &Ack) {
        if self.phase == Phase::Startup && !self.full_bw_reached && Self::in_fast_recovery(ack) {
            let enough = self.loss_events >= STARTUP_FULL_LOSS_COUNT;
            let lossy = self.loss_round_start && enough && self.is_sample_too_high();
            if lossy || (!self.sack && ack.lost > 0) {
                self.undo.phase = Some(Phase::Startup);
                self.full_bw_now = true;
                self.full_bw_reached = true;
                self.inflight_longterm = self.bdp_multiple(1.0).max(self.inflight_latest);
            }
        }
        if self.loss_round_start {
            self.loss_events = 0;
        }
    }

    pub(super) fn check_drain_done(&mut self, ack: &Ack) {
        let drained = || f64::from(ack.in_flight) <= self.inflight(1.0);
        let late = self.round_count > self.drain_start_round + DRAIN_ROUNDS;
        if self.phase == Phase::Drain && (late || drained()) {
            self.start_down();
        }
    }

    pub(super) fn start_down(&mut self) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        // PickProbeWait.
        self.rounds_since_probe_up = self.draws.below(2).into();
        self.bw_probe_wait = Nanos(2_000_000_000 + (self.draws.share() * 1e9) as u64);
        self.cycle_stamp = self.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.enter(Phase::Down, DOWN_PACING_GAIN);
    }

    fn start_cruise(&mut self) {
        self.enter(Phase::Cruise, 1.0);
    }

    pub(super) fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.enter(Phase::Refill, 1.0);
    }

    fn start_up(&mut self, window: &Window) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw();
        self.full_bw = self.rate;
        self.enter(Phase::Up, UP_PACING_GAIN);
        self.cwnd_gain += UP_CWND_GAIN;
        self.raise_inflight_longterm_slope(window);
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_probe_bw(&mut self, window: &Window, ack: &Ack) {
        if !self.full_bw_reached || self.adapt_long_term_model(window, ack.acked) {
            return;
        }
        match self.phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(window) => self.start_refill(),
            Phase::Down if self.is_time_to_cruise(ack.in_flight) => self.start_cruise(),
            Phase::Refill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_up(window);
            }
            Phase::Up => self.end_up_in_time(window, ack.in_flight),
            _ => {}
        }
    }

    pub(super) fn is_time_to_probe(&self, window: &Window) -> bool {
        let rounds = self.target_inflight(window).min(RENO_ROUNDS);
        self.now > self.cycle_stamp + self.bw_probe_wait || self.rounds_since_probe_up as f64 >= rounds
    }

    fn is_time_to_cruise(&self, in_flight: u32) -> bool {
        let in_flight = f64::from(in_flight);
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight_at(self.max_bw.get())
    }

    fn end_up_in_time(&mut self, window: &Window, in_flight: u32) {
        if self.is_time_to_go_down(window, in_flight) {
            self.prev_probe_too_high = false;
            self.start_down();
        }
    }

    fn is_time_to_go_down(&mut self, window: &Window, in_flight: u32) -> bool {
        if self.prev_probe_too_high && f64::from(in_flight) >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && window.cwnd >= self.inflight_longterm {
            // The rate is what inflight_longterm allows, and says nothing of the path.
            self.reset_full_bw();
            self.full_bw = self.rate;
            return false;
        }
        self.full_bw_now
    }

    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, ack: &Ack) {
        if self.phase != Phase::ProbeRtt && self.min_rtt_expired && !self.idle_restart {
            self.save_cwnd(window);
            self.phase = Phase::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = self.parameters.probe_rtt_cwnd_gain;
            self.probe_rtt_done = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.throttled.0 = self.delivered;
            self.start_round();
        }
        if self.phase == Phase::ProbeRtt {
            self.handle_probe_rtt(window, ack.in_flight);
        }
        if self.sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, window: &mut Window, in_flight: u32) {
        self.throttled.1 = self.delivered + u64::from(in_flight.max(1));
        if self.probe_rtt_done.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(window);
            }
        } else if f64::from(in_flight) <= self.probe_rtt_cwnd {
            self.probe_rtt_done = Some(self.now + Nanos((self.parameters.probe_rtt_duration * 1e9) as u64));
            self.probe_rtt_round_done = false;
            self.start_round();
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window) {
        if self.probe_rtt_done.is_none_or(|done| self.now <= done) {
            return;
        }
        self.min_rtt_stamp = self.now;
        self.restore_cwnd(window);
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_down();
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }
}
