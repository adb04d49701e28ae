//! BIC: searches for the window of the last loss by halves, then beyond it.
//!
//! L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks", IEEE
//! INFOCOM 2004, in the form that Linux runs. With W the window in segments, growth for a round trip:
//!
//! ```text
//! W <= low_window                    1, Reno
//! W < Wmax, d = (Wmax - W)/B         S_max if d > S_max, S_min if d <= 1, else d    binary search
//! W < Wmax + B                       S_min                                          max probing:
//! W < Wmax + S_max (B - 1)           (W - Wmax)/(B - 1)                             the way back, mirrored
//! otherwise                          S_max
//! before the first loss              at least 5 % of W
//! loss      Wmax = W (1 + beta)/2 if W < Wmax (fast convergence), else W;  W = beta W
//! loss      at W <= low_window: W = W/2
//! timeout   likewise, then Wmax is forgotten
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `beta` | 819/1024 | 0.1 to 0.95 | Linux, ns-2.35; the paper keeps 0.875 |
//! | `s_max` | 16 segments | 1 to 1,000 | Linux, ns-2.35; 32 in the paper |
//! | `s_min` | 0.2 segments | 0.001 to 1 | Linux, ns-2.35 (4/20); 0.01 in the paper |
//! | `divisor` | 4 | 2 to 16 | Linux, ns-2.35; the paper's midpoint is 2 |
//! | `low_window` | 14 segments | 1 to 1,000 | paper |
//! | `fast_convergence` | on | | paper |
//!
//! The paper's constants are `bic:beta=0.875,s_max=32,s_min=0.01,divisor=2`.
//!
//! Readings:
//! - *Constants*: the paper's and the kernel's differ in everything but the low window. The kernel's are the
//!   default, because they are what ran, in networks and in ns-2.35.
//! - *Max probing* in the paper grows by S_min and then doubles its step; the kernel mirrors the search, as the
//!   table above does.
//! - *Integers*: d is rounded down before it is compared, so that the last eight segments under Wmax, not
//!   four, are gone by S_min; growth is one segment for a whole number of ACKs (in today's Linux, of segments). That
//!   number is divided by the segments that an ACK acknowledges, an average whose fixed point starts at 2 and
//!   does not come under 31/16: with an ACK for each segment the module grows almost twice as fast.
//! - The kernel recomputes only every 1/32 s while the window stays the same. Nothing that it computes from
//!   changes then but that average. In the arithmetic of Linux 2.6 (and of ns-2) it is so here, too, since growth
//!   right after a recovery depends on it; today's recomputes always.
//! - Before the first loss there is no Wmax to search for, and growth is that above a Wmax of 0.

#[cfg(test)]
mod tests;

use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, CongestionKind, Nanos,
    ParameterSet, Signal, State, Window, build,
};

/// What the registry says of it.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "bic",
    title: "BIC TCP",
    year: 2004,
    reference: "L. Xu, K. Harfoush, I. Rhee, Binary Increase Congestion Control (BIC) for Fast \
                Long-Distance Networks, IEEE INFOCOM 2004",
    summary: "Closes half of the gap to the last loss's window each round trip, within bounds, then probes \
              beyond it.",
    strengths: "Back at the last loss's window fast and then careful around it: high use of fast long paths, \
                and few losses at once.",
    weaknesses: "Up to 16 segments a round trip whatever its length: aggressive on short and slow paths, \
                 unfair to long RTTs and to Reno.",
    signals: &[Signal::Loss, Signal::Ecn],
    based_on: "NewReno",
    implemented_in: "Linux (its default from 2.6.8 to 2.6.18), ns-2.35, ns-3",
    reconstruction: false,
    version: 5,
    parameters: BicParameters::PARAMETERS,
    build: build::<Bic>,
};

parameters! {
    /// Settings of [`Bic`].
    pub struct BicParameters {
        /// The fraction of the window kept at a loss.
        beta: number(819.0 / 1024.0, 0.1..=0.95), "1", "Linux, ns-2.35; 0.875 in the paper";
        /// The greatest growth in a round trip.
        s_max: number(16.0, 1.0..=1000.0), "segments", "Linux, ns-2.35; 32 in the paper";
        /// The growth in a round trip at the last loss's window.
        s_min: number(0.2, 0.001..=1.0), "segments", "Linux, ns-2.35; 0.01 in the paper";
        /// The gap to the last loss's window is divided by this.
        divisor: number(4.0, 2.0..=16.0), "1", "Linux, ns-2.35; 2 in the paper";
        /// Windows up to here are Reno's.
        low_window: number(14.0, 1.0..=1000.0), "segments", "paper";
        /// Give up more of the window when losses come earlier than the last time.
        fast_convergence: switch(true), "", "paper";
    }
}

/// Growth before the first loss: at least a segment for so many acknowledged ones.
const FIRST_CNT: f64 = 20.0;
/// While the window stays the same, Linux 2.6 computes a count again only after more than this many milliseconds (HZ/32).
const HOLD_MS: u64 = 31;
/// Segments an ACK acknowledges, in sixteenths, at first.
const FIRST_ACK_RATIO: u32 = 2 * 16;

/// BIC.
#[derive(Clone, Debug)]
pub struct Bic {
    parameters: BicParameters,
    /// 1/B and 1/(B - 1).
    per_gap: (f64, f64),
    /// Wmax; 0 before the first loss and after a timeout.
    w_max: f64,
    w_max_before: f64,
    /// Segments an ACK acknowledges, in sixteenths; of the integer arithmetics.
    ack_ratio: u32,
    /// Of Linux 2.6's arithmetic: for which window and when (in milliseconds) a count was computed, and the count.
    held: (f64, u64, f64),
    /// The state after the ACK before.
    state: State,
}

impl Configurable for Bic {
    type Parameters = BicParameters;

    fn new(parameters: BicParameters) -> Self {
        let per_gap = (1.0 / parameters.divisor, 1.0 / (parameters.divisor - 1.0));
        Bic {
            parameters,
            per_gap,
            w_max: 0.0,
            w_max_before: 0.0,
            ack_ratio: FIRST_ACK_RATIO,
            held: (0.0, 0, 0.0),
            state: State::Open,
        }
    }
}

impl CongestionControl for Bic {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // Linux counts an ACK in the state that it finds: the one that ends a recovery acknowledges hundreds.
        let before = core::mem::replace(&mut self.state, ack.state);
        let state = if window.arithmetic() == Arithmetic::Linux { before } else { ack.state };
        if ack.cumulative > 0 && state == State::Open {
            // ratio = 15/16 ratio + acknowledged, both in sixteenths, rounded as the module does.
            self.ack_ratio = (self.ack_ratio - self.ack_ratio / 16).saturating_add(ack.cumulative);
        }
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
        match window.arithmetic() {
            Arithmetic::Real => window.increase_weighted(acked, self.growth(cwnd), cwnd),
            Arithmetic::Linux => window.increase(acked, self.acked_count(cwnd)),
            Arithmetic::Linux26 => {
                let (held_cwnd, since, _) = self.held;
                let now = ack.now.0 / 1_000_000;
                if cwnd != held_cwnd || now - since > HOLD_MS {
                    self.held = (cwnd, now, self.acked_count(cwnd));
                }
                window.increase(acked, self.held.2);
            }
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        let cwnd = window.cwnd;
        let BicParameters { beta, low_window, fast_convergence, .. } = self.parameters;
        self.w_max_before = self.w_max;
        let earlier = cwnd < self.w_max && fast_convergence;
        self.w_max = if earlier { window.whole(cwnd * (1.0 + beta) / 2.0) } else { cwnd };
        if congestion.kind == CongestionKind::Timeout {
            self.w_max = 0.0;
            // Its modules begin again, and with that to learn how many segments an ACK acknowledges.
            self.ack_ratio = FIRST_ACK_RATIO;
        }
        window.set_ssthresh_for_loss(cwnd * if cwnd <= low_window { 0.5 } else { beta });
    }

    fn on_undo(&mut self, _window: &mut Window, _now: Nanos) {
        self.w_max = self.w_max_before;
    }
}

impl Bic {
    /// In real numbers: segments a round trip.
    #[inline]
    fn growth(&self, cwnd: f64) -> f64 {
        let BicParameters { s_max, s_min, divisor, low_window, .. } = self.parameters;
        if cwnd <= low_window {
            return 1.0;
        }
        let gap = self.w_max - cwnd;
        if gap > 0.0 {
            let distance = gap * self.per_gap.0;
            return if distance > s_max {
                s_max
            } else if distance <= 1.0 {
                s_min
            } else {
                distance
            };
        }
        let growth = if -gap < divisor {
            s_min
        } else if -gap < s_max * (divisor - 1.0) {
            -gap * self.per_gap.1
        } else {
            s_max
        };
        if self.w_max == 0.0 { growth.max(cwnd * (1.0 / FIRST_CNT)) } else { growth }
    }

    /// In integers: the count by which the window grows, divided by the segments an ACK acknowledges where it is not
    /// Reno's.
    #[inline]
    fn acked_count(&self, cwnd: f64) -> f64 {
        if cwnd <= self.parameters.low_window {
            return cwnd;
        }
        f64::from(self.count(cwnd).saturating_mul(16) / self.ack_ratio)
    }

    /// In integers: acknowledged segments for each of growth. One division of whole numbers, as the module's, so that
    /// a count that comes out even is not one less.
    #[inline]
    fn count(&self, cwnd: f64) -> u32 {
        let BicParameters { s_max, s_min, divisor, .. } = self.parameters;
        let gap = self.w_max - cwnd;
        if gap > 0.0 {
            let distance = libm::floor(gap / divisor);
            let each = if distance > s_max {
                s_max
            } else if distance <= 1.0 {
                s_min
            } else {
                distance
            };
            return (cwnd / each) as u32;
        }
        let cnt = if -gap < divisor {
            cwnd / s_min
        } else if -gap < s_max * (divisor - 1.0) {
            cwnd * (divisor - 1.0) / -gap
        } else {
            cwnd / s_max
        };
        (if self.w_max == 0.0 { cnt.min(FIRST_CNT) } else { cnt }) as u32
    }
}
