//! The model of the path: section "Updating Network Path Model Parameters" of the draft.

use super::{AckPhase, Bbr3, Phase, Undo};
use crate::{LostPacket, Nanos, Window};

impl Bbr3 {
    pub(super) fn update_latest_delivery_signals(&mut self, sampled: bool) {
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(self.rate);
        self.inflight_latest = self.inflight_latest.max(self.sample.delivered as f64);
        if sampled && self.sample.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = self.delivered;
            self.loss_round_start = true;
        }
    }

    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.loss_round_start {
            self.bw_latest = self.rate;
            self.inflight_latest = self.sample.delivered as f64;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    pub(super) fn update_congestion_signals(&mut self, window: &Window, sampled: bool) {
        self.update_round(sampled);
        if self.rate > 0.0 && (self.rate >= self.max_bw.get() || !self.sample.app_limited) {
            self.max_bw.add(self.rate);
        }
        if !self.loss_round_start {
            return;
        }
        if !self.phase.is_probing() && self.is_loss_in_round {
            self.adapt_lower_bounds(window);
        }
        self.is_loss_in_round = false;
    }

    fn update_round(&mut self, sampled: bool) {
        self.round_start = sampled && self.sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.extra_acked.advance();
            self.cwnd_limited = [false, self.cwnd_limited[0]];
        }
    }

    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    /// InitLowerBounds and LossLowerBounds.
    fn adapt_lower_bounds(&mut self, window: &Window) {
        if self.bw_shortterm == f64::INFINITY {
            self.bw_shortterm = self.max_bw.get();
        }
        if self.inflight_shortterm == f64::INFINITY {
            self.inflight_shortterm = window.cwnd;
        }
        let beta = self.parameters.beta;
        self.bw_shortterm = self.bw_latest.max(beta * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(beta * self.inflight_shortterm);
    }

    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    pub(super) fn update_ack_aggregation(&mut self, window: &Window, acked: u32) {
        let mut expected = self.bw * self.now.since(self.extra_acked_start).as_secs_f64();
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_start = self.now;
            expected = 0.0;
        }
        self.extra_acked_delivered += f64::from(acked);
        let extra = (self.extra_acked_delivered - expected).min(window.cwnd);
        if self.full_bw_reached {
            self.extra_acked.add(extra);
        } else {
            self.extra_acked.add_alone(extra);
        }
    }

    pub(super) fn check_full_bw_reached(&mut self, sampled: bool) {
        if self.full_bw_now || !self.round_start || self.sample.app_limited || !sampled {
            return;
        }
        if self.rate >= self.full_bw * 1.25 {
            self.reset_full_bw();
            self.full_bw = self.rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        self.full_bw_reached |= self.full_bw_now;
    }

    pub(super) fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    pub(super) fn update_min_rtt(&mut self, rtt: Option<Nanos>) {
        self.min_rtt_expired = self.now.since(self.min_rtt_stamp) > self.min_rtt_filter_len;
        if self.min_rtt_expired && self.phase != Phase::ProbeRtt {
            // Before a sample that the queue may have inflated replaces min_rtt.
            self.probe_rtt_cwnd =
                self.bdp_multiple(self.parameters.probe_rtt_cwnd_gain).max(super::control::MIN_PIPE_CWND);
        }
        if let Some(rtt) = rtt
            && (rtt < self.min_rtt || self.min_rtt_expired)
        {
            self.set_min_rtt(rtt);
            self.min_rtt_stamp = self.now;
        }
    }

    pub(super) fn set_min_rtt(&mut self, rtt: Nanos) {
        self.min_rtt = rtt;
        self.min_rtt_s = Some(rtt.as_secs_f64());
    }

    /// IsInflightTooHigh, of the sample or of a lost segment.
    fn is_inflight_too_high(&self, lost: u64, tx_in_flight: u32) -> bool {
        lost as f64 > f64::from(tx_in_flight) * self.parameters.loss_thresh || (lost > 0 && !self.sack)
    }

    pub(super) fn is_sample_too_high(&self) -> bool {
        self.is_inflight_too_high(self.sample.lost, self.sample.tx_in_flight)
    }

    pub(super) fn handle_lost_packet(&mut self, window: &Window, packet: &LostPacket) {
        if !self.is_loss_in_round {
            self.loss_round_due = true;
            self.save_state_upon_loss(window);
        }
        self.is_loss_in_round = true;
        if !self.is_bw_probe_sample {
            return;
        }
        let lost = packet.lost.saturating_sub(packet.lost_at_send);
        if self.is_inflight_too_high(lost, packet.tx_in_flight) {
            let in_flight = self.inflight_at_loss(lost, packet.tx_in_flight);
            self.handle_inflight_too_high(window, in_flight, packet.app_limited);
        }
    }

    /// How much was in flight when losses crossed the threshold: what was in flight before this segment, and as
    /// much of it as made them cross.
    pub(super) fn inflight_at_loss(&self, lost: u64, tx_in_flight: u32) -> f64 {
        let threshold = self.parameters.loss_thresh;
        let in_flight_before = f64::from(tx_in_flight) - 1.0;
        let lost_before = lost as f64 - 1.0;
        let prefix = (threshold * in_flight_before - lost_before) / (1.0 - threshold);
        in_flight_before + prefix
    }

    fn handle_inflight_too_high(&mut self, window: &Window, in_flight: f64, app_limited: bool) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !app_limited {
            self.inflight_longterm = in_flight.max(self.target_inflight(window) * self.parameters.beta);
        }
        if self.phase == Phase::Up {
            self.undo.phase = Some(Phase::Up);
            self.start_down();
        }
    }

    pub(super) fn save_state_upon_loss(&mut self, window: &Window) {
        self.save_cwnd(window);
        self.undo = Undo {
            phase: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    pub(super) fn handle_spurious_recovery(&mut self, window: &mut Window) {
        self.restore_cwnd(window);
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.phase {
            Some(Phase::Startup) if self.phase != Phase::Startup => {
                self.full_bw_reached = false;
                if self.phase != Phase::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(Phase::Up) if !matches!(self.phase, Phase::Up | Phase::ProbeRtt) => self.start_refill(),
            _ => {}
        }
        self.undo.phase = None;
    }

    /// AdaptLongTermModel. True if it decided the next state.
    pub(super) fn adapt_long_term_model(&mut self, window: &Window, acked: u32) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.phase.is_probe_bw() {
                if !self.sample.app_limited {
                    self.max_bw.advance();
                }
                if self.prev_probe_precautionary && !self.prev_probe_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if !self.is_sample_too_high() && self.inflight_longterm < f64::INFINITY {
            self.inflight_longterm = self.inflight_longterm.max(self.sample.tx_in_flight.into());
            if self.phase == Phase::Up {
                self.probe_inflight_longterm_upward(window, acked);
            }
        }
        false
    }

    fn probe_inflight_longterm_upward(&mut self, window: &Window, acked: u32) {
        if !self.is_cwnd_limited() || window.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += f64::from(acked);
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = libm::floor(self.bw_probe_up_acked / self.probe_up_acked_per_inc);
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta;
        }
        if self.round_start {
            self.raise_inflight_longterm_slope(window);
        }
    }

    pub(super) fn raise_inflight_longterm_slope(&mut self, window: &Window) {
        let growth = f64::from(1u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (window.cwnd / growth).max(1.0);
    }
}
