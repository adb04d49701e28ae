//! What is made of the model: section "Updating Control Parameters" of the draft.

use super::{Bbr3, Phase};
use crate::{Nanos, Window};

/// The least window, so that ACKs of every second segment keep it going.
pub(super) const MIN_PIPE_CWND: f64 = 4.0;

/// Bytes that are sent together at most.
const GREATEST_QUANTUM: f64 = 65_536.0;

impl Bbr3 {
    /// InitPacingRate: the initial window each round-trip time, times the gain of Startup.
    pub(super) fn guess_pacing(&mut self, window: &mut Window, rtt: Option<Nanos>) {
        let known = rtt.filter(|rtt| rtt.0 > 0);
        self.guessed = known.is_none();
        let rtt = known.unwrap_or(Nanos::from_millis(1)).as_secs_f64();
        let gain = self.parameters.startup_pacing_gain;
        window.pacing_rate = gain * self.initial_cwnd / rtt * f64::from(window.mss());
        self.set_budget(window);
    }

    /// QuantizationBudget without what ProbeBW_UP adds.
    fn set_budget(&mut self, window: &Window) {
        let quantum = (window.pacing_rate * 1e-3).min(GREATEST_QUANTUM) / f64::from(window.mss().max(1));
        self.budget = (3.0 * quantum.max(2.0)).max(MIN_PIPE_CWND);
    }

    /// SetPacingRateWithGain.
    pub(super) fn set_pacing(&mut self, window: &mut Window, gain: f64) {
        let rate = gain * self.bw * f64::from(window.mss()) * (1.0 - self.parameters.pacing_margin);
        let follows = self.full_bw_reached || rate > window.pacing_rate;
        if rate > 0.0 && follows && rate != window.pacing_rate {
            window.pacing_rate = rate;
            self.set_budget(window);
        }
    }

    pub(super) fn bdp_multiple(&self, gain: f64) -> f64 {
        self.multiple(self.bw, gain)
    }

    fn multiple(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt_s.map_or(self.initial_cwnd, |min_rtt| gain * bw * min_rtt)
    }

    /// QuantizationBudget: at least three quanta and four segments, and two more where it probes.
    fn with_budget(&self, in_flight: f64) -> f64 {
        let extra = if self.phase == Phase::Up { 2.0 } else { 0.0 };
        in_flight.max(self.budget) + extra
    }

    /// Inflight(gain).
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.with_budget(self.bdp_multiple(gain))
    }

    /// Inflight(bw, 1).
    pub(super) fn inflight_at(&self, bw: f64) -> f64 {
        self.with_budget(self.multiple(bw, 1.0))
    }

    /// TargetInflight: the BDP, unless congestion cut the window.
    pub(super) fn target_inflight(&self, window: &Window) -> f64 {
        self.bdp_multiple(1.0).min(window.cwnd)
    }

    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        let headroom = (self.parameters.headroom * self.inflight_longterm).max(1.0);
        (self.inflight_longterm - headroom).max(MIN_PIPE_CWND)
    }

    pub(super) fn set_cwnd(&mut self, window: &mut Window, acked: u32) {
        let acked = f64::from(acked);
        let max_inflight = self.with_budget(self.bdp_multiple(self.cwnd_gain) + self.extra_acked.get());
        let mut cwnd = window.cwnd;
        if self.full_bw_reached {
            cwnd = (cwnd + acked).min(max_inflight);
        } else if cwnd < max_inflight || (self.delivered as f64) < self.initial_cwnd {
            cwnd += acked;
        }
        cwnd = cwnd.max(MIN_PIPE_CWND);
        if self.phase == Phase::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd);
        }
        window.set_cwnd(cwnd.min(self.volume_cap()));
    }

    /// BoundCwndForModel.
    pub(super) fn volume_cap(&self) -> f64 {
        let cap = match self.phase {
            Phase::Down | Phase::Refill | Phase::Up => self.inflight_longterm,
            Phase::Cruise | Phase::ProbeRtt => self.inflight_with_headroom(),
            Phase::Startup | Phase::Drain => f64::INFINITY,
        };
        cap.min(self.inflight_shortterm).max(MIN_PIPE_CWND)
    }

    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let unmodulated = !self.in_recovery && self.phase != Phase::ProbeRtt;
        self.prior_cwnd = if unmodulated { window.cwnd } else { self.prior_cwnd.max(window.cwnd) };
    }

    pub(super) fn restore_cwnd(&mut self, window: &mut Window) {
        window.set_cwnd(window.cwnd.max(self.prior_cwnd));
    }
}
