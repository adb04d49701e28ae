//! TCP-Illinois: losses determine when the window is reduced; delay determines growth and the size of the reduction.
//!
//! S. Liu, T. Basar, R. Srikant, "TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for
//! High-Speed Networks", VALUETOOLS 2006 (Performance Evaluation 65, 2008). With W the window in segments, da
//! the mean queueing delay of a round trip (RTT - baseRTT) and dm the greatest one (maxRTT - baseRTT):
//!
//! ```text
//! d1 = 0.01 dm   d2 = 0.1 dm   d3 = 0.8 dm
//! alpha = alpha_max              da <= d1
//! alpha = k1/(k2 + da)           otherwise: alpha_max at d1, alpha_min at dm
//!       = (dm - d1) alpha_max / ((dm - d1) + (da - d1)(alpha_max - alpha_min)/alpha_min)
//! beta  = beta_min               da <= d2
//! beta  = linear between         d2 < da < d3
//! beta  = beta_max               da >= d3
//! alpha = 1, beta = 1/2          W < w_thresh
//! congestion avoidance   W += alpha/W for each acknowledged segment
//! loss, mark, timeout    W -= beta W;  after a timeout alpha = 1, beta = 1/2
//! ```
//!
//! alpha and beta are updated once per round trip. After da was above d1, alpha returns to alpha_max after theta = 5
//! consecutive round trips below d1.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `alpha_max` | 10 segments | 1 to 100 | paper, Linux |
//! | `alpha_min` | 0.3 segments | 0.01 to 1 | paper, Linux |
//! | `beta_min` | 0.125 | 0.01 to 0.5 | paper, Linux, the fraction given up |
//! | `beta_max` | 0.5 | 0.5 to 0.9 | paper, Linux |
//! | `eta1` | 0.01 | 0 to 0.1 | paper, Linux: d1 of dm |
//! | `eta2` | 0.1 | 0.1 to 0.5 | paper, Linux: d2 of dm |
//! | `eta3` | 0.8 | 0.5 to 1 | paper, Linux: d3 of dm |
//! | `theta` | 5 round trips | 1 to 100 | paper, Linux |
//! | `keep_beta` | off | | Linux 2.6.22 by mistake, and so ns-2.35 |
//! | `w_thresh` | 15 segments | 1 to 1,000 | Linux, ns-2.35; 10 in the paper |
//!
//! Interpretations:
//! - The kernel's module was written from the paper and the authors' ns-2 code; its constants are used here. A survey's 0 <=
//!   alpha <= 1 is wrong: alpha is between 0.3 and 10.
//! - *Consecutive*: a round trip above d1 restarts the count of theta. The kernel's count continues, which shortens the wait
//!   of a flow that oscillates around d1.
//! - baseRTT and maxRTT belong to the connection and never age. The kernel limits samples to 3.3 s, so that its integers do
//!   not overflow; there is no overflow here.
//! - While dm is 0, every delay is below d1: alpha = alpha_max and beta = beta_min.

mod linux;
#[cfg(test)]
mod tests;

use crate::parts::reno;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, CompatNeeds, Configurable, Congestion, CongestionControl, CongestionKind,
    Needs, Observable, Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "illinois",
    title: "TCP-Illinois",
    year: 2006,
    reference: "S. Liu, T. Basar, R. Srikant, TCP-Illinois: A Loss- and Delay-Based Congestion Control \
                Algorithm for High-Speed Networks, VALUETOOLS 2006, Performance Evaluation 65, 2008",
    summary: "Reno whose increase goes from 10 segments to 0.3 and whose decrease from an eighth to a half \
              as the queue fills.",
    strengths: "Fast while the path is empty and slow near its limit: a concave window that stays high, with \
                few losses, fair among its own kind.",
    weaknesses: "Believes the greatest delay ever seen: an outlier, noise or reverse traffic makes it as slow \
                 as Reno or as fast as ten; long fast paths still take long at 10 segments a round trip.",
    signals: &[Signal::Loss, Signal::Delay, Signal::Ecn],
    based_on: "NewReno",
    implemented_in: "Linux (illinois), ns-2.35, ns-3",
    reconstruction: false,
    version: 5,
    parameters: IllinoisParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Illinois>,
};

parameters! {
    /// Settings of [`Illinois`].
    pub struct IllinoisParameters {
        /// Increase per round trip without a queue.
        alpha_max: number(10.0, 1.0..=100.0), "segments", "paper, Linux";
        /// Increase per round trip at the largest delay.
        alpha_min: number(0.3, 0.01..=1.0), "segments", "paper, Linux";
        /// Fraction of the window removed at a loss at small delay.
        beta_min: number(0.125, 0.01..=0.5), "1", "paper, Linux";
        /// Fraction of the window removed at a loss at large delay.
        beta_max: number(0.5, 0.5..=0.9), "1", "paper, Linux";
        /// Fraction of the largest queueing delay up to which the increase is the largest.
        eta1: number(0.01, 0.0..=0.1), "1", "paper, Linux";
        /// Fraction of the largest queueing delay up to which the decrease is the smallest.
        eta2: number(0.1, 0.1..=0.5), "1", "paper, Linux";
        /// Fraction of the largest queueing delay from which the decrease is the largest.
        eta3: number(0.8, 0.5..=1.0), "1", "paper, Linux";
        /// Round trips at small delay before the increase is the largest again.
        theta: number(5.0, 1.0..=100.0), "round trips", "paper, Linux";
        /// Whether a loss keeps the fraction beta of the window instead of removing it.
        keep_beta: switch(false), "", "the module of Linux 2.6.22, by mistake, and so in ns-2.35";
        /// Smallest window without Reno's rules.
        w_thresh: number(15.0, 1.0..=1000.0), "segments", "Linux, ns-2.35; 10 in the paper";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "alpha",
        "alpha",
        "segments",
        "Growth in a round trip: alpha_max up to d1, k1/(k2 + da) above it.",
    ),
    Observable::new(
        "beta",
        "beta",
        "1",
        "Share of the window that a loss takes off, from beta_min to beta_max.",
    ),
    Observable::new("delay", "da", "s", "Average queueing delay of the last round trip."),
    Observable::new(
        "delay_max",
        "dm",
        "s",
        "Greatest queueing delay of the connection, at the end of that round trip.",
    ),
];

/// TCP-Illinois.
#[derive(Clone, Debug)]
pub struct Illinois {
    parameters: IllinoisParameters,
    alpha: f64,
    beta: f64,
    /// maxRTT, nanoseconds.
    rtt_max: f64,
    /// Sum of this round trip's samples, nanoseconds, and their number.
    rtt_sum: f64,
    samples: u32,
    /// da and dm of the last round trip with samples, nanoseconds.
    delays: Option<[f64; 2]>,
    /// Whether the delay has been above d1 since alpha was last alpha_max.
    above: bool,
    /// Round trips below d1 since then.
    low_rounds: u32,
    /// State of the integer arithmetics.
    linux: linux::IllinoisLinux,
}

impl Configurable for Illinois {
    type Parameters = IllinoisParameters;

    fn new(parameters: IllinoisParameters) -> Self {
        let alpha = parameters.alpha_max;
        let linux = linux::IllinoisLinux::new(&parameters);
        Illinois {
            linux,
            parameters,
            alpha,
            beta: 0.5,
            rtt_max: 0.0,
            rtt_sum: 0.0,
            samples: 0,
            delays: None,
            above: false,
            low_rounds: 0,
        }
    }
}

impl CongestionControl for Illinois {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if window.arithmetic() != Arithmetic::Real {
            return self.linux.on_ack(window, ack, &self.parameters);
        }
        if ack.round_start {
            self.end_round(window.cwnd, ack.min_rtt.0 as f64);
        }
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.0 as f64;
            self.rtt_sum += rtt;
            self.samples = self.samples.saturating_add(1);
            if rtt > self.rtt_max {
                self.rtt_max = rtt;
            }
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
        window.increase_weighted(acked, self.alpha, window.cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        if window.arithmetic() != Arithmetic::Real {
            window.set_ssthresh_for_loss(self.linux.reduced(window.cwnd, self.parameters.keep_beta));
            reno::hold_half_in_recovery(window);
            if congestion.kind == CongestionKind::Timeout {
                self.linux.forget();
            }
            return;
        }
        if self.parameters.keep_beta {
            window.set_ssthresh_for_loss(window.cwnd * self.beta);
        } else {
            reno::give_up(window, self.beta);
        }
        if congestion.kind == CongestionKind::Timeout {
            self.alpha = 1.0;
            self.beta = 0.5;
            self.above = false;
            self.low_rounds = 0;
            self.forget_samples();
        }
    }

    fn needs(&self) -> Needs {
        Needs { compat: CompatNeeds { covered_rtt: true, ..CompatNeeds::default() }, ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        if window.arithmetic() != Arithmetic::Real {
            return values.copy_from_slice(&self.linux.observe());
        }
        let [delay, greatest] = self.delays.map_or([f64::NAN; 2], |delays| delays.map(|delay| delay * 1e-9));
        values.copy_from_slice(&[self.alpha, self.beta, delay, greatest]);
    }
}

impl Illinois {
    /// Updates alpha and beta.
    fn end_round(&mut self, cwnd: f64, rtt_base: f64) {
        let delays = (self.samples > 0)
            .then(|| [self.rtt_sum / f64::from(self.samples) - rtt_base, self.rtt_max - rtt_base]);
        self.delays = delays.or(self.delays);
        if cwnd < self.parameters.w_thresh {
            self.alpha = 1.0;
            self.beta = 0.5;
        } else if let Some([delay, greatest]) = delays {
            self.alpha = self.alpha_at(delay, greatest);
            self.beta = self.beta_at(delay, greatest);
        }
        self.forget_samples();
    }

    fn forget_samples(&mut self) {
        self.rtt_sum = 0.0;
        self.samples = 0;
    }

    fn alpha_at(&mut self, delay: f64, greatest: f64) -> f64 {
        let IllinoisParameters { alpha_max, alpha_min, eta1, theta, .. } = self.parameters;
        let d1 = eta1 * greatest;
        if delay <= d1 {
            if self.above {
                self.low_rounds += 1;
                if f64::from(self.low_rounds) < theta {
                    return self.alpha;
                }
                self.above = false;
            }
            return alpha_max;
        }
        self.above = true;
        self.low_rounds = 0;
        let (delay, greatest) = (delay - d1, greatest - d1);
        greatest * alpha_max / (greatest + delay * (alpha_max - alpha_min) / alpha_min)
    }

    fn beta_at(&self, delay: f64, greatest: f64) -> f64 {
        let IllinoisParameters { beta_min, beta_max, eta2, eta3, .. } = self.parameters;
        let (d2, d3) = (eta2 * greatest, eta3 * greatest);
        if delay <= d2 {
            beta_min
        } else if delay >= d3 {
            beta_max
        } else {
            beta_min + (beta_max - beta_min) * (delay - d2) / (d3 - d2)
        }
    }
}
