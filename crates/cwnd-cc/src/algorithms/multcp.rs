//! MulTCP: one flow that behaves like N Reno flows together.
//!
//! J. Crowcroft, P. Oechslin, "Differentiated End-to-End Internet Services using a Weighted Proportional Fair
//! Sharing TCP", ACM SIGCOMM Computer Communication Review 28(3), 1998. With W the window in segments:
//!
//! ```text
//! slow start             W += 2 for each acknowledged segment while W < 3^(log N/(log 3 - log 2)), then 1
//! congestion avoidance   W += N/W for each acknowledged segment
//! loss                   W = W (N - 1/2)/N                 one of N flows halves its share
//! loss                   W = W (1 - 2/(3N + 1))            decrease = nabeshima
//! loss in slow start     W = W/2
//! ```
//!
//! | parameter | default | values | source |
//! |---|---|---|---|
//! | `n` | 4 flows | 1 to 1,000 | the user's choice; the paper finds up to 10 well behaved |
//! | `decrease` | `classic` | `classic`, `nabeshima` | paper; Nabeshima, as TCP-FIT and CLTCP take it |
//!
//! Interpretations:
//! - *Slow start*: N flows that start with one segment each have N 2^r segments after r round trips; one window that triples
//!   has 3^r. The two are equal at r = log N/(log 3 - log 2); from there on, the flow doubles.
//! - *Nabeshima's decrease* makes the mean rate N times Reno's: with an increase of a = N and a reduction of b, the square of
//!   the mean window is proportional to a (2 - b)/(2 b), which is 3/2 N^2 for b = 2/(3N + 1). With the classic decrease it is
//!   proportional to N (4N - 1)/2, a third more for large N, because N flows have N times the loss events of one flow.
//! - *Loss in slow start*: the paper's decrease would keep most of a window that has just doubled. Here the window is halved,
//!   as in a public implementation, and also at a timeout in slow start. A later timeout reduces the window like a loss.

#[cfg(test)]
mod tests;

use crate::parts::reno;
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "multcp",
    title: "MulTCP",
    year: 1998,
    reference: "J. Crowcroft, P. Oechslin, Differentiated End-to-End Internet Services using a Weighted \
                Proportional Fair Sharing TCP, ACM SIGCOMM CCR 28(3), 1998",
    summary: "Behaves as N Reno flows together: adds N segments a round trip, gives up 1/(2N) at a loss.",
    strengths: "Gives one transfer the share of N, fixed beforehand and without new signals.",
    weaknesses: "N must be chosen by hand; it is unfair by intent, loses like one flow where N would lose \
                 separately, and many of it overload a path.",
    signals: &[Signal::Loss, Signal::Ecn],
    based_on: "Reno",
    implemented_in: "ns-2 and ns-3 (third-party modules)",
    reconstruction: false,
    version: 1,
    parameters: MulTcpParameters::PARAMETERS,
    observables: &[],
    build: build::<MulTcp>,
};

words! {
    /// Reduction at a loss.
    pub enum Decrease {
        /// `W (N - 1/2)/N`.
        Classic = "classic",
        /// `W (1 - 2/(3N + 1))`.
        Nabeshima = "nabeshima",
    }
}

parameters! {
    /// Settings of [`MulTcp`].
    pub struct MulTcpParameters {
        /// Number of Reno flows to imitate.
        n: number(4.0, 1.0..=1000.0), "flows", "the user's choice (no default in the paper)";
        /// Reduction at a loss.
        decrease: word(Decrease::Classic), "", "paper; nabeshima is what TCP-FIT and CLTCP build on";
    }
}

/// MulTCP.
#[derive(Clone, Debug)]
pub struct MulTcp {
    parameters: MulTcpParameters,
    /// Window up to which slow start triples.
    tripling: f64,
    /// Fraction of the window removed at a loss.
    given_up: f64,
}

impl Configurable for MulTcp {
    type Parameters = MulTcpParameters;

    fn new(parameters: MulTcpParameters) -> Self {
        let n = parameters.n;
        // 3^(log N/(log 3 - log 2)), as a power of N.
        let tripling = libm::pow(n, libm::log(3.0) / (libm::log(3.0) - libm::log(2.0)));
        let given_up = match parameters.decrease {
            Decrease::Classic => 0.5 / n,
            Decrease::Nabeshima => 2.0 / (3.0 * n + 1.0),
        };
        MulTcp { parameters, tripling, given_up }
    }
}

impl CongestionControl for MulTcp {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !ack.may_grow() {
            return;
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = self.slow_start(window, acked);
            if acked == 0 {
                return;
            }
        }
        window.increase_weighted(acked, self.parameters.n, window.cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        reno::give_up(window, if congestion.in_slow_start { 0.5 } else { self.given_up });
    }
}

impl MulTcp {
    fn slow_start(&self, window: &mut Window, acked: u32) -> u32 {
        // The second segment of growth, for the acknowledged segments up to the limit in steps of two.
        let to_limit = libm::ceil((self.tripling - window.cwnd) / 2.0);
        if to_limit > 0.0 {
            window.slow_start(acked.min(to_limit as u32));
            if !window.in_slow_start() {
                return acked;
            }
        }
        window.slow_start(acked)
    }
}
