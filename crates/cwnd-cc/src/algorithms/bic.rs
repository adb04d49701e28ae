//! BIC: a binary search for the window of the last loss, then growth beyond it.
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
//! Interpretations:
//! - *Constants*: the paper's and the kernel's constants differ in all but the low window. The kernel's are the default,
//!   because networks and ns-2.35 used them.
//! - *Max probing* in the paper grows by S_min and then doubles its step; the kernel mirrors the search, as the
//!   table above does.
//! - *Integers*: d is rounded down before it is compared, so that the last eight segments under Wmax, not four, grow by S_min;
//!   growth is one segment for a whole number of ACKs (in today's Linux, of segments). That number is divided by the segments
//!   that an ACK acknowledges, an average whose fixed point starts at 2 and does not fall below 31/16: with an ACK for each
//!   segment the module grows almost twice as fast.
//! - The kernel recomputes the count only every 1/32 s while the window stays the same. Only that average can change in this
//!   time. The integer arithmetics do the same here, because growth right after a recovery depends on it.
//! - *Today's Linux* averages in the state before an ACK, also over ACKs that only SACK, and keeps Wmax when an event is undone.
//! - Before the first loss there is no Wmax. The window then grows as above a Wmax of 0.

#[cfg(test)]
mod tests;

use crate::observable::known;
use crate::parts::prior_state::PriorState;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, CongestionKind, Nanos,
    Observable, Observation, ParameterSet, Signal, State, Window, build,
};

/// The entry of the registry.
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
    version: 6,
    parameters: BicParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Bic>,
};

parameters! {
    /// Settings of [`Bic`].
    pub struct BicParameters {
        /// The fraction of the window kept at a loss.
        beta: number(819.0 / 1024.0, 0.1..=0.95), "1", "Linux, ns-2.35; 0.875 in the paper";
        /// Largest growth in a round trip.
        s_max: number(16.0, 1.0..=1000.0), "segments", "Linux, ns-2.35; 32 in the paper";
        /// Growth in a round trip at the window of the last loss.
        s_min: number(0.2, 0.001..=1.0), "segments", "Linux, ns-2.35; 0.01 in the paper";
        /// Divisor of the gap to the window of the last loss.
        divisor: number(4.0, 2.0..=16.0), "1", "Linux, ns-2.35; 2 in the paper";
        /// Largest window with Reno's rules.
        low_window: number(14.0, 1.0..=1000.0), "segments", "paper";
        /// Whether the window is reduced further when a loss comes earlier than the last one (fast convergence).
        fast_convergence: switch(true), "", "paper";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("w_max", "Wmax", "segments", "The window of the last loss, reduced by fast convergence."),
    Observable::new(
        "increment",
        "S",
        "segments",
        "Growth of the window in a round trip, from S_min to S_max; Reno's below low_window.",
    ),
    Observable::new(
        "target",
        "W + S",
        "segments",
        "The window that binary search or max probing reaches after a round trip.",
    ),
];

/// Acknowledged segments for each segment of growth before the first loss, at most.
const FIRST_CNT: f64 = 20.0;
/// While the window stays the same, Linux computes a count again only after more than this number of milliseconds (HZ/32).
const HOLD_MS: u64 = 31;
/// [`Bic::held`] before the first count.
const NOTHING_HELD: (f64, u64, f64) = (0.0, 0, 0.0);
/// Initial value of the segments that an ACK acknowledges, in sixteenths.
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
    /// Segments that an ACK acknowledges, in sixteenths; used by the integer arithmetics.
    ack_ratio: u32,
    /// In the integer arithmetics: the window and the time (in milliseconds) of the last computed count, and the count.
    held: (f64, u64, f64),
    /// The state before an ACK.
    prior_state: PriorState,
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
            held: NOTHING_HELD,
            prior_state: PriorState::default(),
        }
    }
}

impl CongestionControl for Bic {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // Linux counts an ACK in the state before it: the ACK that ends a recovery acknowledges hundreds of segments.
        let before = self.prior_state.on_ack(ack);
        let is_today = window.arithmetic() == Arithmetic::Linux;
        let state = if is_today { before } else { ack.state };
        if (ack.cumulative > 0 || is_today) && state == State::Open {
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
            Arithmetic::Linux | Arithmetic::Linux26 => {
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
            return self.prior_state.on_congestion(congestion);
        }
        self.prior_state.on_congestion(congestion);
        let cwnd = window.cwnd;
        let BicParameters { beta, low_window, fast_convergence, .. } = self.parameters;
        self.w_max_before = self.w_max;
        let earlier = cwnd < self.w_max && fast_convergence;
        self.w_max = if earlier { window.whole(cwnd * (1.0 + beta) / 2.0) } else { cwnd };
        if congestion.kind == CongestionKind::Timeout {
            self.w_max = 0.0;
            // The kernel's module is initialised again, including the average of segments per ACK.
            self.ack_ratio = FIRST_ACK_RATIO;
            if window.arithmetic() == Arithmetic::Linux {
                self.held = NOTHING_HELD;
            }
        }
        window.set_ssthresh_for_loss(cwnd * if cwnd <= low_window { 0.5 } else { beta });
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        self.prior_state.on_undo(now);
        // Today's module keeps the reduced one.
        if window.arithmetic() != Arithmetic::Linux {
            self.w_max = self.w_max_before;
        }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let increment = self.growth(window.cwnd);
        values.copy_from_slice(&[known(self.w_max), increment, window.cwnd + increment]);
    }
}

impl Bic {
    /// Returns the growth in real numbers: segments per round trip.
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

    /// Returns the count of the integer arithmetics, divided by the segments per ACK unless growth is Reno's.
    #[inline]
    fn acked_count(&self, cwnd: f64) -> f64 {
        if cwnd <= self.parameters.low_window {
            return cwnd;
        }
        f64::from(self.count(cwnd).saturating_mul(16) / self.ack_ratio)
    }

    /// Returns the acknowledged segments for each segment of growth in integers. It divides whole numbers once, as the module
    /// does, so that an exact count is not one too small.
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
