//! The model of the path: section "Updating Network Path Model Parameters" of the draft.

use super::{AckPhase, Bbr3, Phase, Undo};
use crate::{LostPacket, Nanos, Window};

impl Bbr3 {
    /// UpdateLatestDeliverySignals (section 5.5.10.3).
    pub(super) fn update_latest_delivery_signals(&mut self, sampled: bool) {
        self.loss_round.start = false;
        self.loss_round.bw_latest = self.loss_round.bw_latest.max(self.input.rate);
        self.loss_round.inflight_latest =
            self.loss_round.inflight_latest.max(self.input.sample.delivered as f64);
        if sampled && self.input.sample.prior_delivered >= self.loss_round.delivered {
            self.loss_round.delivered = self.input.delivered;
            self.loss_round.start = true;
        }
    }

    /// AdvanceLatestDeliverySignals (section 5.5.10.3).
    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.loss_round.start {
            self.loss_round.bw_latest = self.input.rate;
            self.loss_round.inflight_latest = self.input.sample.delivered as f64;
        }
    }

    /// ResetCongestionSignals (section 5.5.10.3).
    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_round.has_loss = false;
        self.loss_round.bw_latest = 0.0;
        self.loss_round.inflight_latest = 0.0;
    }

    /// UpdateMaxBw (section 5.5.5) and UpdateCongestionSignals (section 5.5.10.3).
    pub(super) fn update_congestion_signals(&mut self, window: &Window, sampled: bool) {
        self.update_round(sampled);
        if self.input.rate > 0.0
            && (self.input.rate >= self.model.max_bw.get() || !self.input.sample.app_limited)
        {
            self.model.max_bw.add(self.input.rate);
        }
        if !self.loss_round.start {
            return;
        }
        if !self.phase.is_probing() && self.loss_round.has_loss {
            self.adapt_lower_bounds(window);
        }
        self.loss_round.has_loss = false;
    }

    /// UpdateRound (section 5.5.1).
    fn update_round(&mut self, sampled: bool) {
        self.round.start = sampled && self.input.sample.prior_delivered >= self.round.next_delivered;
        if self.round.start {
            self.start_round();
            self.round.count += 1;
            self.probe_bw.rounds_since_up += 1;
            self.aggregation.extra_acked.advance();
            self.input.cwnd_limited = [false, self.input.cwnd_limited[0]];
        }
    }

    /// StartRound (section 5.5.1).
    pub(super) fn start_round(&mut self) {
        self.round.next_delivered = self.input.delivered;
    }

    /// AdaptLowerBoundsFromCongestion: InitLowerBounds and LossLowerBounds (section 5.5.10.3).
    fn adapt_lower_bounds(&mut self, window: &Window) {
        if self.bounds.bw_shortterm == f64::INFINITY {
            self.bounds.bw_shortterm = self.model.max_bw.get();
        }
        if self.bounds.inflight_shortterm == f64::INFINITY {
            self.bounds.inflight_shortterm = window.cwnd;
        }
        let beta = self.parameters.beta;
        self.bounds.bw_shortterm = self.loss_round.bw_latest.max(beta * self.bounds.bw_shortterm);
        self.bounds.inflight_shortterm =
            self.loss_round.inflight_latest.max(beta * self.bounds.inflight_shortterm);
    }

    /// ResetShortTermModel (section 5.5.10.3).
    pub(super) fn reset_short_term_model(&mut self) {
        self.bounds.bw_shortterm = f64::INFINITY;
        self.bounds.inflight_shortterm = f64::INFINITY;
    }

    /// UpdateACKAggregation (section 5.5.9).
    pub(super) fn update_ack_aggregation(&mut self, window: &Window, acked: u32) {
        let mut expected = self.model.bw * self.input.now.since(self.aggregation.start).as_secs_f64();
        if self.aggregation.delivered <= expected {
            self.aggregation.delivered = 0.0;
            self.aggregation.start = self.input.now;
            expected = 0.0;
        }
        self.aggregation.delivered += f64::from(acked);
        let extra = (self.aggregation.delivered - expected).min(window.cwnd);
        if self.startup.full_bw_reached {
            self.aggregation.extra_acked.add(extra);
        } else {
            self.aggregation.extra_acked.add_alone(extra);
        }
    }

    /// CheckFullBWReached (section 5.3.1.2).
    pub(super) fn check_full_bw_reached(&mut self, sampled: bool) {
        if self.startup.full_bw_now || !self.round.start || self.input.sample.app_limited || !sampled {
            return;
        }
        if self.input.rate >= self.startup.full_bw * 1.25 {
            self.reset_full_bw();
            self.startup.full_bw = self.input.rate;
            return;
        }
        self.startup.full_bw_count += 1;
        self.startup.full_bw_now = self.startup.full_bw_count >= 3;
        self.startup.full_bw_reached |= self.startup.full_bw_now;
    }

    /// ResetFullBW (section 5.3.1.2).
    pub(super) fn reset_full_bw(&mut self) {
        self.startup.full_bw = 0.0;
        self.startup.full_bw_count = 0;
        self.startup.full_bw_now = false;
    }

    /// UpdateMinRTT (sections 5.5.7.2 and 5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, rtt: Option<Nanos>) {
        self.min_rtt.expired = self.input.now.since(self.min_rtt.stamp) > self.min_rtt.filter_len;
        if self.min_rtt.expired && self.phase != Phase::ProbeRtt {
            // This comes before a sample that includes queueing can replace min_rtt.
            self.probe_rtt.cwnd =
                self.bdp_multiple(self.parameters.probe_rtt_cwnd_gain).max(super::control::MIN_PIPE_CWND);
        }
        if let Some(rtt) = rtt
            && (rtt < self.min_rtt.value || self.min_rtt.expired)
        {
            self.set_min_rtt(rtt);
            self.min_rtt.stamp = self.input.now;
        }
    }

    /// Sets min_rtt, and the same in seconds.
    pub(super) fn set_min_rtt(&mut self, rtt: Nanos) {
        self.min_rtt.value = rtt;
        self.min_rtt.seconds = Some(rtt.as_secs_f64());
    }

    /// IsInflightTooHigh (section 5.5.10.2), for the sample or for a lost segment.
    fn is_inflight_too_high(&self, lost: u64, tx_in_flight: u32) -> bool {
        lost as f64 > f64::from(tx_in_flight) * self.parameters.loss_thresh || (lost > 0 && !self.input.sack)
    }

    /// IsInflightTooHigh for the sample of this ACK (section 5.5.10.2).
    pub(super) fn is_sample_too_high(&self) -> bool {
        self.is_inflight_too_high(self.input.sample.lost, self.input.sample.tx_in_flight)
    }

    /// HandleLostPacket, with NoteLoss (section 5.5.10.2).
    pub(super) fn handle_lost_packet(&mut self, window: &Window, packet: &LostPacket) {
        if !self.loss_round.has_loss {
            self.loss_round.is_due = true;
            self.save_state_upon_loss(window);
        }
        self.loss_round.has_loss = true;
        if !self.probe_bw.is_probe_sample {
            return;
        }
        let lost = packet.lost.saturating_sub(packet.lost_at_send);
        if self.is_inflight_too_high(lost, packet.tx_in_flight) {
            let in_flight = self.inflight_at_loss(lost, packet.tx_in_flight);
            self.handle_inflight_too_high(window, in_flight, packet.app_limited);
        }
    }

    /// InflightAtLoss (section 5.5.10.2): returns how much was in flight when losses crossed the threshold.
    pub(super) fn inflight_at_loss(&self, lost: u64, tx_in_flight: u32) -> f64 {
        let threshold = self.parameters.loss_thresh;
        let in_flight_before = f64::from(tx_in_flight) - 1.0;
        let lost_before = lost as f64 - 1.0;
        let prefix = (threshold * in_flight_before - lost_before) / (1.0 - threshold);
        in_flight_before + prefix
    }

    /// HandleInflightTooHigh (section 5.5.10.2).
    fn handle_inflight_too_high(&mut self, window: &Window, in_flight: f64, app_limited: bool) {
        self.probe_bw.prev_too_high = true;
        self.probe_bw.is_probe_sample = false;
        if !app_limited {
            self.bounds.inflight_longterm =
                in_flight.max(self.target_inflight(window) * self.parameters.beta);
        }
        if self.phase == Phase::Up {
            self.undo.phase = Some(Phase::Up);
            self.start_down();
        }
    }

    /// SaveStateUponLoss (section 5.5.11.1).
    pub(super) fn save_state_upon_loss(&mut self, window: &Window) {
        self.save_cwnd(window);
        self.undo = Undo {
            phase: None,
            bw_shortterm: self.bounds.bw_shortterm,
            inflight_shortterm: self.bounds.inflight_shortterm,
            inflight_longterm: self.bounds.inflight_longterm,
        };
    }

    /// HandleSpuriousLossDetection (section 5.5.11.2).
    pub(super) fn handle_spurious_recovery(&mut self, window: &mut Window) {
        self.restore_cwnd(window);
        self.loss_round.has_loss = false;
        self.reset_full_bw();
        self.bounds.bw_shortterm = self.bounds.bw_shortterm.max(self.undo.bw_shortterm);
        self.bounds.inflight_shortterm = self.bounds.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(self.undo.inflight_longterm);
        match self.undo.phase {
            Some(Phase::Startup) if self.phase != Phase::Startup => {
                self.startup.full_bw_reached = false;
                if self.phase != Phase::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(Phase::Up) if !matches!(self.phase, Phase::Up | Phase::ProbeRtt) => self.start_refill(),
            _ => {}
        }
        self.undo.phase = None;
    }

    /// AdaptLongTermModel (section 5.3.3.9). Returns whether it chose the next state.
    pub(super) fn adapt_long_term_model(&mut self, window: &Window, acked: u32) -> bool {
        if self.probe_bw.ack_phase == AckPhase::ProbeStarting && self.round.start {
            self.probe_bw.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.probe_bw.ack_phase == AckPhase::ProbeStopping && self.round.start {
            self.probe_bw.is_probe_sample = false;
            self.probe_bw.ack_phase = AckPhase::Init;
            if self.phase.is_probe_bw() {
                if !self.input.sample.app_limited {
                    self.model.max_bw.advance();
                }
                if self.probe_bw.prev_precautionary && !self.probe_bw.prev_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if !self.is_sample_too_high() && self.bounds.inflight_longterm < f64::INFINITY {
            self.bounds.inflight_longterm =
                self.bounds.inflight_longterm.max(self.input.sample.tx_in_flight.into());
            if self.phase == Phase::Up {
                self.probe_inflight_longterm_upward(window, acked);
            }
        }
        false
    }

    /// ProbeInflightLongtermUpward (section 5.3.3.9).
    fn probe_inflight_longterm_upward(&mut self, window: &Window, acked: u32) {
        if !self.is_cwnd_limited() || window.cwnd < self.bounds.inflight_longterm {
            return;
        }
        self.probe_bw.up_acked += f64::from(acked);
        if self.probe_bw.up_acked >= self.probe_bw.up_acked_per_inc {
            let delta = libm::floor(self.probe_bw.up_acked / self.probe_bw.up_acked_per_inc);
            self.probe_bw.up_acked -= delta * self.probe_bw.up_acked_per_inc;
            self.bounds.inflight_longterm += delta;
        }
        if self.round.start {
            self.raise_inflight_longterm_slope(window);
        }
    }

    /// RaiseInflightLongtermSlope (section 5.3.3.9).
    pub(super) fn raise_inflight_longterm_slope(&mut self, window: &Window) {
        let growth = f64::from(1u32 << self.probe_bw.up_rounds);
        self.probe_bw.up_rounds = (self.probe_bw.up_rounds + 1).min(30);
        self.probe_bw.up_acked_per_inc = (window.cwnd / growth).max(1.0);
    }
}
