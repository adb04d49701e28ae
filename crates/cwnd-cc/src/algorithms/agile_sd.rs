//! Agile-SD: the window grows faster the further it is below the window of the last loss.
//!
//! M. A. Alrshah, M. Othman, B. Ali, Z. Mohd Hanapi, "Agile-SD: A Linux-based TCP congestion control
//! algorithm for supporting high-speed and short-distance networks", Journal of Network and Computer
//! Applications 55, 2015. With W the window in segments:
//!
//! ```text
//! lambda      = max(lambda_max * gap_current / gap_total, lambda_min)                     (equation 1)
//! gap_total   = max(W_loss - W_degraded, 1)                                               (equation 2)
//! gap_current = max(W_loss - W, 1)                                                        (equation 3)
//! slow start             W += 1 for each acknowledged segment
//! congestion avoidance   W += lambda / W for each acknowledged segment                    (algorithm 1)
//! loss                   W_loss = W;  W = beta1 W in slow start, beta2 W otherwise;
//!                        ssthresh = W - 1;  W_degraded = W
//! timeout                W = its initial value                                            (figure 3)
//! ```
//!
//! An epoch of G = gap_total segments takes (G/lambda_max) ln(lambda_max) round trips down to a gap of
//! G/lambda_max, and G/lambda_max more at lambda = 1: 0.70 G with lambda_max = 3, where NewReno takes G.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `lambda_max` | 3 | 1 to 100 | algorithm 1; 1 grows exactly as NewReno (section 3.1) |
//! | `lambda_min` | 1 | 0.1 to 1 | algorithm 1; the paper wants 1 always |
//! | `beta1` | 0.90 | 0.1 to 0.99 | algorithm 1, fraction kept at a loss in slow start |
//! | `beta2` | 0.95 | 0.1 to 0.99 | algorithm 1, fraction kept at a loss in congestion avoidance |
//! | `ssthresh_margin` | 1 segment | 0 to 1 | algorithm 1, line 19 |
//! | `restart_cwnd` | 2 segments | 1 to 10 | figure 3: the initial value, 2 in algorithm 1 |
//!
//! The authors' kernel module differs from their paper: it keeps 0.90 in both states, sets `ssthresh = W`,
//! and leaves the window after a timeout to the stack. That is
//! `agile-sd:beta2=0.9,ssthresh_margin=0,restart_cwnd=1`.
//!
//! Interpretations:
//! - *Before the first loss* equations 1 to 3 give a gap of 1 in 1, and therefore always lambda_max. The module gives 1. This
//!   file uses lambda_min, because a window without a known limit is no reason for fast growth.
//! - *Above W_loss* equation 3 keeps a gap of 1, which is lambda_max again when gap_total is 1 (windows
//!   under 20); the text says growth is linear there. The gap is 0 here, as in the module.
//! - *Below W_degraded* (after a timeout) equation 1 does not bound lambda. It is limited to lambda_max, as in the module and
//!   in the text's "reduces it from lambda_max".
//! - lambda is used in congestion avoidance only, as section 3.3 says. Algorithm 1 does not say so.
//! - *Small windows*: 0.95 of less than 20 segments rounds to no reduction. The window is reduced by at least one segment, and
//!   at least two remain.
//! - *Timeout*: W_loss and W_degraded as at a loss, slow start up to ssthresh.
//! - The window held in recovery and after it is W_degraded, although ssthresh is one less: the text lowers
//!   ssthresh only so that `W <= ssthresh` does not count as slow start.
//! - Section 3.3's example (W_loss 12, W_degraded 9, lambda_max 4) takes lambda as 4, 3, 2, 1 and finds
//!   41.66 ms; equation 1 itself gives 4, 2.67, 1.33 and 1 (or 1.33, with equation 3's gap of 1 at W_loss).
//!   Both are tested.

#[cfg(test)]
mod tests;

use crate::observable::known;
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, Nanos, Observable,
    Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "agile-sd",
    title: "Agile-SD",
    year: 2015,
    reference: "M. A. Alrshah, M. Othman, B. Ali, Z. Mohd Hanapi, Agile-SD: A Linux-based TCP congestion \
                control algorithm for supporting high-speed and short-distance networks, JNCA 55, 2015",
    summary: "Gives up little at a loss and wins it back at up to three times NewReno's pace, slower near \
              the last loss.",
    strengths: "Keeps short fast paths with small buffers busy: little is given up at a loss and soon won \
                back.",
    weaknesses: "Gives up so little that flows of other algorithms, and newcomers, get less than their \
                 share; no faster than Reno once above the last loss.",
    signals: &[Signal::Loss],
    based_on: "NewReno",
    implemented_in: "the authors' Linux module (tcp_agilesd), also for ns-2.35",
    reconstruction: false,
    version: 1,
    parameters: AgileSdParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<AgileSd>,
};

parameters! {
    /// Settings of [`AgileSd`].
    pub struct AgileSdParameters {
        /// Largest agility factor, right after a loss.
        lambda_max: number(3.0, 1.0..=100.0), "1", "paper, algorithm 1";
        /// Smallest agility factor, near the last loss and above it.
        lambda_min: number(1.0, 0.1..=1.0), "1", "paper, algorithm 1";
        /// The fraction of the window kept at a loss in slow start.
        beta1: number(0.90, 0.1..=0.99), "1", "paper, algorithm 1";
        /// The fraction of the window kept at a loss in congestion avoidance.
        beta2: number(0.95, 0.1..=0.99), "1", "paper, algorithm 1; the authors' module has 0.90";
        /// Difference between the reduced window and ssthresh.
        ssthresh_margin: number(1.0, 0.0..=1.0), "segments", "paper, algorithm 1; the module has 0";
        /// The window after a timeout.
        restart_cwnd: number(2.0, 1.0..=10.0), "segments", "paper, figure 3; the module leaves 1";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "lambda",
        "lambda",
        "1",
        "Agility factor max(lambda_max gap_current/gap_total, lambda_min), equation 1.",
    ),
    Observable::new("gap_current", "gap_current", "segments", "W_loss - W, at least 0, equation 3."),
    Observable::new("gap_total", "gap_total", "segments", "W_loss - W_degraded, at least 1, equation 2."),
    Observable::new("w_loss", "W_loss", "segments", "The window at the last loss, algorithm 1."),
    Observable::new("w_degraded", "W_degraded", "segments", "The window after the last loss, algorithm 1."),
];

/// Agile-SD.
#[derive(Clone, Debug)]
pub struct AgileSd {
    parameters: AgileSdParameters,
    /// W_loss; 0 before the first loss, so that every gap is 0.
    cwnd_loss: f64,
    /// W_degraded.
    cwnd_degraded: f64,
    /// lambda_max / gap_total, stored to save a division for each ACK.
    slope: f64,
}

impl Configurable for AgileSd {
    type Parameters = AgileSdParameters;

    fn new(parameters: AgileSdParameters) -> Self {
        let slope = parameters.lambda_max;
        AgileSd { parameters, cwnd_loss: 0.0, cwnd_degraded: 0.0, slope }
    }
}

impl CongestionControl for AgileSd {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.may_grow() {
            return;
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        let cwnd = window.cwnd;
        window.increase_weighted(acked, self.lambda(cwnd), cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.kind == CongestionKind::Timeout {
            window.restart_cwnd = self.parameters.restart_cwnd;
            if congestion.is_repeated_timeout() {
                return;
            }
        }
        let cwnd = window.cwnd;
        let beta = if congestion.in_slow_start { self.parameters.beta1 } else { self.parameters.beta2 };
        self.cwnd_loss = cwnd;
        self.cwnd_degraded = window.whole(cwnd * beta).min(cwnd - 1.0).max(2.0);
        self.slope = self.parameters.lambda_max / (self.cwnd_loss - self.cwnd_degraded).max(1.0);
        window.set_ssthresh_for_loss(self.cwnd_degraded - self.parameters.ssthresh_margin);
        window.recovery_cwnd = Some(self.cwnd_degraded);
    }

    fn on_recovery_exit(&mut self, window: &mut Window, _now: Nanos) {
        // The stack may have lowered the window further, to the segments in flight.
        if window.cwnd == window.ssthresh {
            window.set_cwnd(window.cwnd.max(self.cwnd_degraded));
        }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let (loss, degraded) = (known(self.cwnd_loss), known(self.cwnd_degraded));
        // `max` would turn NaN into a number.
        let gap = |from: f64, least: f64| if loss.is_nan() { loss } else { (loss - from).max(least) };
        values.copy_from_slice(&[
            self.lambda(window.cwnd),
            gap(window.cwnd, 0.0),
            gap(degraded, 1.0),
            loss,
            degraded,
        ]);
    }
}

impl AgileSd {
    /// Returns the agility factor of a window.
    #[inline]
    fn lambda(&self, cwnd: f64) -> f64 {
        // Above W_loss the product is negative, and lambda is the smallest.
        let lambda = (self.cwnd_loss - cwnd) * self.slope;
        let AgileSdParameters { lambda_min, lambda_max, .. } = self.parameters;
        if lambda < lambda_min {
            lambda_min
        } else if lambda > lambda_max {
            lambda_max
        } else {
            lambda
        }
    }
}
