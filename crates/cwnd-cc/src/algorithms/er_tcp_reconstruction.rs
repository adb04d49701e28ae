//! ER-TCP, a *reconstruction*: the window returns exponentially to that of the last loss.
//!
//! M. Park et al., IEICE Transactions on Communications E95-B(5), 2012, p. 1679 (doi 10.1587/transcom.E95.B.1679). **The
//! paper's equations are not public.** Its abstract says: on paths with long delay and high loss, an exponential recovery
//! function controls cwnd in congestion avoidance, to fill the bandwidth again quickly. The decrease follows an estimate of
//! the available bandwidth from timestamps, so that a loss on the wireless link does not halve the window.
//!
//! This file implements that with its own equations. With W the window in segments, BWE the bandwidth in segments a second
//! (Westwood+'s filter, [`crate::parts::bandwidth`]) and W_last the window at the last loss:
//!
//! ```text
//! slow start             W += 1 for each acknowledged segment
//! congestion avoidance   W += max((W_last - W)/tau, 1)/W for each acknowledged segment
//! loss, timeout          W_last = W;  W = BWE RTTmin, not over W and not under W/2
//! ```
//!
//! The gap to W_last shrinks to 1/e in tau round trips. After that, and above W_last, growth is Reno's.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `tau` | 4 round trips | 1 to 100 | reconstruction |
//!
//! Interpretations:
//! - *The estimate*: the paper's estimate uses one-way timestamps. This file uses Westwood+'s, from the rate of ACKs, instead.
//! - *tau* is free. With 4 it is faster than all other algorithms on short paths, as one of the papers with ER-TCP found at 50
//!   ms, and still fast at satellite delays.
//! - Its results must not be compared with the paper's.

#[cfg(test)]
mod tests;

use crate::observable::{bits_per_second, known};
use crate::parts::bandwidth::BandwidthFilter;
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, Observable, Observation, ParameterSet,
    Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "er-tcp-reconstruction",
    title: "ER-TCP (reconstruction)",
    year: 2012,
    reference: "after M. Park et al., IEICE Transactions on Communications E95-B(5), 2012, p. 1679, whose \
                equations are not public",
    summary: "A reconstruction from the abstract: gives up what exceeds its measured bandwidth, and returns \
              to the last window exponentially.",
    strengths: "Long paths with random losses: hardly anything is given up, and that is back in a few round \
                trips.",
    weaknesses: "Not the published algorithm, so no result of the paper can be held against it; on short paths \
                 it leaves little to others.",
    signals: &[Signal::Loss, Signal::Rate],
    based_on: "Westwood+, Hybla",
    implemented_in: "nowhere in public",
    reconstruction: true,
    version: 1,
    parameters: ErTcpParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<ErTcp>,
};

parameters! {
    /// Settings of [`ErTcp`].
    pub struct ErTcpParameters {
        /// Round trips in which the gap to the last loss's window shrinks to 1/e.
        tau: number(4.0, 1.0..=100.0), "round trips", "reconstruction";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("bandwidth", "BWE", "bit/s", "Westwood+'s bandwidth estimate, payload."),
    Observable::new("w_last", "W_last", "segments", "The window at the last loss."),
];

/// ER-TCP, a reconstruction.
#[derive(Clone, Debug)]
pub struct ErTcp {
    /// 1/tau.
    rate: f64,
    bandwidth: BandwidthFilter,
    /// W_last; 0 before the first loss.
    last_window: f64,
}

impl Configurable for ErTcp {
    type Parameters = ErTcpParameters;

    fn new(parameters: ErTcpParameters) -> Self {
        ErTcp { rate: 1.0 / parameters.tau, bandwidth: BandwidthFilter::default(), last_window: 0.0 }
    }
}

impl CongestionControl for ErTcp {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.bandwidth.on_ack(ack);
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
        let step = (self.last_window - cwnd) * self.rate;
        window.increase_weighted(acked, if step > 1.0 { step } else { 1.0 }, cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        let cwnd = window.cwnd;
        self.last_window = cwnd;
        let needed = self.bandwidth.pipe(congestion.min_rtt).unwrap_or(0.0);
        window.set_ssthresh_for_loss(needed.clamp(cwnd / 2.0, cwnd));
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let bandwidth = bits_per_second(self.bandwidth.segments_per_second(), window);
        values.copy_from_slice(&[bandwidth, known(self.last_window)]);
    }
}
