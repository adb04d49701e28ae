//! Elastic-TCP: growth weighted by the window and by the free part of the path's queue.
//!
//! M. A. Alrshah, M. A. Al-Maqri, M. Othman, "Elastic-TCP: Flexible Congestion Control Algorithm to Adapt for
//! High-BDP Networks", IEEE Systems Journal 13(2), 2019 (arXiv 1904.13105). With W the window in segments:
//!
//! ```text
//! UR  = RTTcur / RTTmax                      utilisation ratio, in (0, 1]                 (equation 2)
//! WWF = sqrt(RTTmax / RTTcur * W)            window-correlated weighting function
//! slow start             W += 1 for each acknowledged segment
//! congestion avoidance   W += WWF / W for each acknowledged segment                       (algorithm 1)
//! loss                   "the multiplicative decrease"
//! ```
//!
//! With rho = 1/UR the window grows by sqrt(rho W) a round trip, so an epoch from beta Wmax to Wmax takes about `2 (sqrt(Wmax)
//! - sqrt(beta Wmax)) / sqrt(rho)` round trips. Delay affects only growth; it never shrinks the window.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `beta` | 0.5 | 0.1 to 0.95 | the paper names no other decrease than TCP's halving |
//! | `wwf` | `product` | `product`, `literal` | see below |
//! | `rttmax_reset_on_rto` | off | | the paper: RTTmax is of "this connection" |
//! | `sample_in_slow_start` | on | | public implementations |
//!
//! Interpretations:
//! - *The root is of the product.* In algorithm 1, the root's bar covers only the fraction. WWF would then be
//!   `sqrt(RTTmax/RTTcur) W`, and the window would always at least double each round trip. The paper's figures and every known
//!   implementation use the root of the product. The printed form is `wwf = literal`.
//! - *beta* is not given. 0.5 is the only decrease that the text and public code support. The epochs in the paper's figure 7
//!   are as short as with 0.8, so compare both.
//! - RTTmax and RTTbase survive losses and timeouts; public kernel modules forget RTTmax at a timeout (`rttmax_reset_on_rto`).
//!   No remaining formula uses RTTbase, so it is not stored.
//! - RTTcur is the latest valid sample. Algorithm 1 samples in congestion avoidance only, so that RTTmax does not contain the
//!   slow-start overshoot; `sample_in_slow_start = false` selects that.
//! - The paper does not mention timeouts. Here: `ssthresh = beta W` and the stack's restart window.

#[cfg(test)]
mod tests;

use crate::observable::known;
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, Nanos, Observable,
    Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "elastic",
    title: "Elastic-TCP",
    year: 2019,
    reference: "M. A. Alrshah, M. A. Al-Maqri, M. Othman, Elastic-TCP: Flexible Congestion Control \
                Algorithm to Adapt for High-BDP Networks, IEEE Systems Journal 13(2), 2019, arXiv:1904.13105",
    summary: "Grows by the root of the window times RTTmax/RTT a round trip: faster for larger windows and \
              emptier queues.",
    strengths: "Fills long fast paths with large buffers within seconds, and takes losses with little harm.",
    weaknesses: "Relies on the greatest RTT seen, so that a single spike makes it greedy; takes more than \
                 its share from Reno; no gain where RTT hardly varies.",
    signals: &[Signal::Loss, Signal::Delay],
    based_on: "NewReno",
    implemented_in: "third-party Linux modules; the authors' module is not public",
    reconstruction: false,
    version: 1,
    parameters: ElasticParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Elastic>,
};

words! {
    /// Interpretation of the weighting function.
    pub enum Wwf {
        /// The root of the product: `sqrt(RTTmax/RTTcur * cwnd)`.
        Product = "product",
        /// As printed in algorithm 1: `sqrt(RTTmax/RTTcur) * cwnd`.
        Literal = "literal",
    }
}

parameters! {
    /// Settings of [`Elastic`].
    pub struct ElasticParameters {
        /// The fraction of the window kept at a loss.
        beta: number(0.5, 0.1..=0.95), "1", "paper, around equation 1 (TCP's halving)";
        /// Interpretation of the weighting function.
        wwf: word(Wwf::Product), "", "every implementation found; literal is algorithm 1, line 16";
        /// Whether a retransmission timeout resets RTTmax.
        rttmax_reset_on_rto: switch(false), "", "paper, below equation 2; public kernel modules reset";
        /// Whether round-trip times are measured in slow start, too.
        sample_in_slow_start: switch(true), "", "public implementations; algorithm 1 measures later";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "wwf",
        "WWF",
        "segments",
        "Growth of the window in a round trip: sqrt(RTTmax/RTTcur W), algorithm 1.",
    ),
    Observable::new("utilisation", "UR", "1", "Utilisation ratio RTTcur/RTTmax, equation 2."),
    Observable::new("rtt_current", "RTTcur", "s", "The latest round-trip time."),
    Observable::new("rtt_max", "RTTmax", "s", "The greatest round-trip time of the connection."),
];

/// Elastic-TCP.
#[derive(Clone, Debug)]
pub struct Elastic {
    parameters: ElasticParameters,
    /// RTTcur, nanoseconds; 0 before the first sample.
    rtt_current: u64,
    /// RTTmax, nanoseconds.
    rtt_max: u64,
}

impl Configurable for Elastic {
    type Parameters = ElasticParameters;

    fn new(parameters: ElasticParameters) -> Self {
        Elastic { parameters, rtt_current: 0, rtt_max: 0 }
    }
}

impl CongestionControl for Elastic {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let slow_start = window.in_slow_start();
        if let Some(rtt) = ack.rtt
            && (self.parameters.sample_in_slow_start || !slow_start)
        {
            self.rtt_current = rtt.0.max(1);
            self.rtt_max = self.rtt_max.max(self.rtt_current);
        }
        if !ack.may_grow() {
            return;
        }
        let mut acked = ack.acked;
        if slow_start {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        let cwnd = window.cwnd;
        window.increase_weighted(acked, self.weight(cwnd), cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.kind == CongestionKind::Timeout && self.parameters.rttmax_reset_on_rto {
            self.rtt_current = 0;
            self.rtt_max = 0;
        }
        if !congestion.is_repeated_timeout() {
            window.set_ssthresh_for_loss(self.parameters.beta * window.cwnd);
        }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let [current, max] = [self.rtt_current, self.rtt_max].map(|rtt| known(Nanos(rtt).as_secs_f64()));
        let wwf = if max.is_nan() { max } else { self.weight(window.cwnd) };
        values.copy_from_slice(&[wwf, current / max, current, max]);
    }
}

impl Elastic {
    /// WWF, segments per round trip.
    #[inline]
    fn weight(&self, cwnd: f64) -> f64 {
        // Without a sample the ratio is 1. Both are exact in f64 (a round trip is under 2^53 ns, 104 days).
        let ratio = if self.rtt_current == 0 { 1.0 } else { self.rtt_max as f64 / self.rtt_current as f64 };
        match self.parameters.wwf {
            Wwf::Product => libm::sqrt(ratio * cwnd),
            Wwf::Literal => libm::sqrt(ratio) * cwnd,
        }
    }
}
