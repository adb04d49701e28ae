//! The state machine: section "State Machine Operation" of the draft.

use super::{AckPhase, Bbr3, Phase};
use crate::{Ack, Nanos, Window};

const DRAIN_PACING_GAIN: f64 = 0.5;
const DOWN_PACING_GAIN: f64 = 0.9;
const UP_PACING_GAIN: f64 = 1.25;
/// Addition to the default cwnd gain in ProbeBW_UP.
const UP_CWND_GAIN: f64 = 0.25;

/// Rounds after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;
/// Lost ranges of a round that make its loss rate count in Startup.
const STARTUP_FULL_LOSS_COUNT: u32 = 6;
/// Rounds after which it probes again, as Reno would with a window of this number of segments.
const RENO_ROUNDS: f64 = 63.0;

impl Bbr3 {
    /// Sets the state and its gains (section 5.6.1).
    fn enter(&mut self, phase: Phase, pacing_gain: f64) {
        self.phase = phase;
        self.pacing_gain = pacing_gain;
        self.cwnd_gain = self.parameters.cwnd_gain;
    }

    /// EnterStartup (section 5.3.1.1).
    pub(super) fn enter_startup(&mut self) {
        self.enter(Phase::Startup, self.parameters.startup_pacing_gain);
    }

    /// CheckStartupDone (section 5.3.1.1) and EnterDrain (section 5.3.2).
    pub(super) fn check_startup_done(&mut self, window: &mut Window, ack: &Ack) {
        self.check_startup_high_loss(ack);
        if self.phase == Phase::Startup && self.startup.full_bw_reached {
            self.enter(Phase::Drain, DRAIN_PACING_GAIN);
            self.startup.drain_start_round = self.round.count;
            // BBR does not read ssthresh; it shows others that slow start is over.
            window.set_ssthresh(window.cwnd);
        }
    }

    /// CheckStartupHighLoss (section 5.3.1.3): leaves Startup if a round of fast recovery lost too much, in too many
    /// places.
    fn check_startup_high_loss(&mut self, ack: &Ack) {
        if self.phase == Phase::Startup && !self.startup.full_bw_reached && Self::in_fast_recovery(ack) {
            let enough = self.loss_round.events >= STARTUP_FULL_LOSS_COUNT;
            let lossy = self.loss_round.start && enough && self.is_sample_too_high();
            if lossy || (!self.input.sack && ack.lost > 0) {
                self.undo.phase = Some(Phase::Startup);
                self.startup.full_bw_now = true;
                self.startup.full_bw_reached = true;
                self.bounds.inflight_longterm = self.bdp_multiple(1.0).max(self.loss_round.inflight_latest);
            }
        }
        if self.loss_round.start {
            self.loss_round.events = 0;
        }
    }

    /// CheckDrainDone (section 5.3.2).
    pub(super) fn check_drain_done(&mut self, ack: &Ack) {
        let drained = || f64::from(ack.in_flight) <= self.inflight(1.0);
        let late = self.round.count > self.startup.drain_start_round + DRAIN_ROUNDS;
        if self.phase == Phase::Drain && (late || drained()) {
            self.start_down();
        }
    }

    /// StartProbeBW_DOWN (section 5.3.3.9) and PickProbeWait (section 5.3.3.8.3).
    pub(super) fn start_down(&mut self) {
        self.reset_congestion_signals();
        self.probe_bw.up_acked_per_inc = f64::INFINITY;
        self.probe_bw.rounds_since_up = self.draws.below(2).into();
        self.probe_bw.wait = Nanos(2_000_000_000 + (self.draws.share() * 1e9) as u64);
        self.probe_bw.cycle_stamp = self.input.now;
        self.probe_bw.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.enter(Phase::Down, DOWN_PACING_GAIN);
    }

    /// StartProbeBW_CRUISE (section 5.3.3.9).
    fn start_cruise(&mut self) {
        self.enter(Phase::Cruise, 1.0);
    }

    /// StartProbeBW_REFILL (section 5.3.3.9).
    pub(super) fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.probe_bw.up_rounds = 0;
        self.probe_bw.up_acked = 0.0;
        self.probe_bw.prev_precautionary = false;
        self.probe_bw.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.enter(Phase::Refill, 1.0);
    }

    /// StartProbeBW_UP (section 5.3.3.9).
    fn start_up(&mut self, window: &Window) {
        self.probe_bw.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw();
        self.startup.full_bw = self.input.rate;
        self.enter(Phase::Up, UP_PACING_GAIN);
        self.cwnd_gain += UP_CWND_GAIN;
        self.raise_inflight_longterm_slope(window);
    }

    /// UpdateProbeBWCyclePhase (section 5.3.3.9).
    pub(super) fn update_probe_bw(&mut self, window: &Window, ack: &Ack) {
        if !self.startup.full_bw_reached || self.adapt_long_term_model(window, ack.acked) {
            return;
        }
        match self.phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(window) => self.start_refill(),
            Phase::Down if self.is_time_to_cruise(ack.in_flight) => self.start_cruise(),
            Phase::Refill if self.round.start => {
                self.probe_bw.is_probe_sample = true;
                self.start_up(window);
            }
            Phase::Up => self.end_up_in_time(window, ack.in_flight),
            _ => {}
        }
    }

    /// IsTimeToProbeBW, with IsRenoCoexistenceProbeTime (section 5.3.3.8.3).
    pub(super) fn is_time_to_probe(&self, window: &Window) -> bool {
        let rounds = self.target_inflight(window).min(RENO_ROUNDS);
        self.input.now > self.probe_bw.cycle_stamp + self.probe_bw.wait
            || self.probe_bw.rounds_since_up as f64 >= rounds
    }

    /// IsTimeToCruise (section 5.3.3.9).
    fn is_time_to_cruise(&self, in_flight: u32) -> bool {
        let in_flight = f64::from(in_flight);
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight_at(self.model.max_bw.get())
    }

    /// Leaves ProbeBW_UP if IsTimeToGoDown (UpdateProbeBWCyclePhase, section 5.3.3.9).
    fn end_up_in_time(&mut self, window: &Window, in_flight: u32) {
        if self.is_time_to_go_down(window, in_flight) {
            self.probe_bw.prev_too_high = false;
            self.start_down();
        }
    }

    /// IsTimeToGoDown (section 5.3.3.9).
    fn is_time_to_go_down(&mut self, window: &Window, in_flight: u32) -> bool {
        if self.probe_bw.prev_too_high && f64::from(in_flight) >= self.bounds.inflight_longterm {
            self.probe_bw.prev_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && window.cwnd >= self.bounds.inflight_longterm {
            // inflight_longterm limits the rate, so it is no measurement of the path.
            self.reset_full_bw();
            self.startup.full_bw = self.input.rate;
            return false;
        }
        self.startup.full_bw_now
    }

    /// CheckProbeRTT and EnterProbeRTT (section 5.3.4.3).
    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, ack: &Ack) {
        if self.phase != Phase::ProbeRtt && self.min_rtt.expired && !self.idle_restart {
            self.save_cwnd(window);
            self.phase = Phase::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = self.parameters.probe_rtt_cwnd_gain;
            self.probe_rtt.done = None;
            self.probe_bw.ack_phase = AckPhase::ProbeStopping;
            self.probe_rtt.throttled.0 = self.input.delivered;
            self.start_round();
        }
        if self.phase == Phase::ProbeRtt {
            self.handle_probe_rtt(window, ack.in_flight);
        }
        if self.input.sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// HandleProbeRTT (section 5.3.4.3).
    fn handle_probe_rtt(&mut self, window: &mut Window, in_flight: u32) {
        self.probe_rtt.throttled.1 = self.input.delivered + u64::from(in_flight.max(1));
        if self.probe_rtt.done.is_some() {
            self.probe_rtt.round_done |= self.round.start;
            if self.probe_rtt.round_done {
                self.check_probe_rtt_done(window);
            }
        } else if f64::from(in_flight) <= self.probe_rtt.cwnd {
            self.probe_rtt.done =
                Some(self.input.now + Nanos((self.parameters.probe_rtt_duration * 1e9) as u64));
            self.probe_rtt.round_done = false;
            self.start_round();
        }
    }

    /// CheckProbeRTTDone (section 5.3.4.3) and ExitProbeRTT (section 5.3.4.4).
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window) {
        if self.probe_rtt.done.is_none_or(|done| self.input.now <= done) {
            return;
        }
        self.min_rtt.stamp = self.input.now;
        self.restore_cwnd(window);
        self.reset_short_term_model();
        if self.startup.full_bw_reached {
            self.start_down();
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }
}
