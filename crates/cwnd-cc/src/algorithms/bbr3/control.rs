//! Pacing rate and window: section "Updating Control Parameters" of the draft.

use super::{Bbr3, Phase};
use crate::{Nanos, Window};

/// Smallest window, large enough for delayed ACKs.
pub(super) const MIN_PIPE_CWND: f64 = 4.0;

/// Largest burst, bytes.
const GREATEST_QUANTUM: f64 = 65_536.0;

impl Bbr3 {
    /// InitPacingRate (section 5.6.2): the initial window each round-trip time, times the gain of Startup.
    pub(super) fn guess_pacing(&mut self, window: &mut Window, rtt: Option<Nanos>) {
        let known = rtt.filter(|rtt| rtt.0 > 0);
        self.control.pacing_is_guess = known.is_none();
        let rtt = known.unwrap_or(Nanos::from_millis(1)).as_secs_f64();
        let gain = self.parameters.startup_pacing_gain;
        window.pacing_rate = gain * self.control.initial_cwnd / rtt * f64::from(window.mss());
        self.set_budget(window);
    }

    /// SetSendQuantum (section 5.6.3), and from it the budget of QuantizationBudget without what ProbeBW_UP adds.
    fn set_budget(&mut self, window: &Window) {
        let quantum = (window.pacing_rate * 1e-3).min(GREATEST_QUANTUM) / f64::from(window.mss().max(1));
        self.control.budget = (3.0 * quantum.max(2.0)).max(MIN_PIPE_CWND);
    }

    /// SetPacingRateWithGain (section 5.6.2).
    pub(super) fn set_pacing(&mut self, window: &mut Window, gain: f64) {
        let rate = gain * self.model.bw * f64::from(window.mss()) * (1.0 - self.parameters.pacing_margin);
        let follows = self.startup.full_bw_reached || rate > window.pacing_rate;
        if rate > 0.0 && follows && rate != window.pacing_rate {
            window.pacing_rate = rate;
            self.set_budget(window);
        }
    }

    /// BDPMultiple (section 5.6.4.2) of bw.
    pub(super) fn bdp_multiple(&self, gain: f64) -> f64 {
        self.multiple(self.model.bw, gain)
    }

    /// BDPMultiple (section 5.6.4.2) of any bandwidth.
    fn multiple(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.seconds.map_or(self.control.initial_cwnd, |min_rtt| gain * bw * min_rtt)
    }

    /// QuantizationBudget (section 5.6.4.2): at least three quanta and four segments, and two more in ProbeBW_UP.
    fn with_budget(&self, in_flight: f64) -> f64 {
        let extra = if self.phase == Phase::Up { 2.0 } else { 0.0 };
        in_flight.max(self.control.budget) + extra
    }

    /// Inflight(gain) (section 5.6.4.2).
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.with_budget(self.bdp_multiple(gain))
    }

    /// Inflight(bw, 1) (section 5.6.4.2).
    pub(super) fn inflight_at(&self, bw: f64) -> f64 {
        self.with_budget(self.multiple(bw, 1.0))
    }

    /// TargetInflight (section 5.3.3.8.3): the BDP, unless congestion cut the window.
    pub(super) fn target_inflight(&self, window: &Window) -> f64 {
        self.bdp_multiple(1.0).min(window.cwnd)
    }

    /// InflightWithHeadroom (section 5.3.3.9).
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.bounds.inflight_longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        let headroom = (self.parameters.headroom * self.bounds.inflight_longterm).max(1.0);
        (self.bounds.inflight_longterm - headroom).max(MIN_PIPE_CWND)
    }

    /// SetCwnd (section 5.6.4.6), with UpdateMaxInflight (5.6.4.2) and BoundCwndForProbeRTT (5.6.4.5).
    pub(super) fn set_cwnd(&mut self, window: &mut Window, acked: u32) {
        let acked = f64::from(acked);
        let max_inflight =
            self.with_budget(self.bdp_multiple(self.cwnd_gain) + self.aggregation.extra_acked.get());
        let mut cwnd = window.cwnd;
        if self.startup.full_bw_reached {
            cwnd = (cwnd + acked).min(max_inflight);
        } else if cwnd < max_inflight || (self.input.delivered as f64) < self.control.initial_cwnd {
            cwnd += acked;
        }
        cwnd = cwnd.max(MIN_PIPE_CWND);
        if self.phase == Phase::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt.cwnd);
        }
        window.set_cwnd(cwnd.min(self.volume_cap()));
    }

    /// BoundCwndForModel (section 5.6.4.7).
    pub(super) fn volume_cap(&self) -> f64 {
        let cap = match self.phase {
            Phase::Down | Phase::Refill | Phase::Up => self.bounds.inflight_longterm,
            Phase::Cruise | Phase::ProbeRtt => self.inflight_with_headroom(),
            Phase::Startup | Phase::Drain => f64::INFINITY,
        };
        cap.min(self.bounds.inflight_shortterm).max(MIN_PIPE_CWND)
    }

    /// SaveCwnd (section 5.6.4.4).
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let unmodulated = !self.control.in_recovery && self.phase != Phase::ProbeRtt;
        self.control.prior_cwnd =
            if unmodulated { window.cwnd } else { self.control.prior_cwnd.max(window.cwnd) };
    }

    /// RestoreCwnd (section 5.6.4.4).
    pub(super) fn restore_cwnd(&mut self, window: &mut Window) {
        window.set_cwnd(window.cwnd.max(self.control.prior_cwnd));
    }
}
