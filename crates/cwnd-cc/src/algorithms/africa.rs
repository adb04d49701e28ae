//! TCP-Africa: HighSpeed TCP while the queue is empty, Reno otherwise.
//!
//! R. King, R. Baraniuk, R. Riedi, "TCP-Africa: An Adaptive and Fair Rapid Increase Rule for Scalable TCP",
//! IEEE INFOCOM 2005. With W the window in segments, aRTT the smoothed round-trip time and minRTT the least:
//!
//! ```text
//! D = W (aRTT - minRTT)/aRTT                         segments queued
//! congestion avoidance, for each acknowledged segment:
//!   D < alpha    W += a(W)/W                         fast mode, HighSpeed TCP's increase
//!   otherwise    W += 1/W                            slow mode, Reno's
//! loss           W -= b(W) W                         fast mode
//!                W -= W/2                            slow mode
//! ```
//!
//! a(W) and b(W) are RFC 3649's ([`crate::parts::highspeed_response`]), D is Vegas's Diff
//! ([`crate::parts::backlog`]).
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `alpha` | 1.641 segments | 0.1 to 1,000 | the paper, as others quote it; not checked against its text |
//!
//! Interpretations:
//! - aRTT is the transport's smoothed RTT (RFC 6298, a new sample weighs 1/8), as in the public code that keeps
//!   Africa's delay estimate.
//! - *The mode at a loss* is that of the last ACK in congestion avoidance. At a full drop-tail queue that is
//!   slow mode, so Africa mostly halves; random losses on an empty path cost b(W).
//! - A loss in slow start and a timeout halve the window, because the fast mode belongs to congestion avoidance.
//! - A survey says that slow mode "increases by one after every ACK"; it means one segment per round trip.
//! - The mode is slow before the first RTT sample.

#[cfg(test)]
mod tests;

use crate::parts::{backlog::queued_segments, highspeed_response::HighSpeedResponse, reno};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, Observable, Observation,
    ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "africa",
    title: "TCP-Africa",
    year: 2005,
    reference: "R. King, R. Baraniuk, R. Riedi, TCP-Africa: An Adaptive and Fair Rapid Increase Rule for \
                Scalable TCP, IEEE INFOCOM 2005",
    summary: "HighSpeed TCP while fewer than two segments are queued, Reno from there on.",
    strengths: "Fills a fast long path as quickly as HighSpeed TCP, and then takes no more from \
                others than Reno does.",
    weaknesses: "Halves at a full queue, so that small buffers run empty; a standing queue of others or a \
                 delay that varies keeps it Reno; relies on knowing the least RTT.",
    signals: &[Signal::Loss, Signal::Delay, Signal::Ecn],
    based_on: "HighSpeed TCP, Vegas, NewReno",
    implemented_in: "the authors' ns-2 module, not public",
    reconstruction: false,
    version: 2,
    parameters: AfricaParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Africa>,
};

parameters! {
    /// Settings of [`Africa`].
    pub struct AfricaParameters {
        /// Queued segments from which the window grows like Reno's.
        alpha: number(1.641, 0.1..=1000.0), "segments", "paper, as others quote it";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::mode(
        "mode",
        "mode",
        "Whose increase it has: slow is Reno's, fast is HighSpeed TCP's.",
        &["slow", "fast"],
    ),
    Observable::new("queue", "D", "segments", "Segments queued: W (aRTT - minRTT)/aRTT."),
];

/// TCP-Africa.
#[derive(Clone, Debug)]
pub struct Africa {
    parameters: AfricaParameters,
    response: HighSpeedResponse,
    /// The mode of the last ACK in congestion avoidance.
    fast: bool,
}

impl Configurable for Africa {
    type Parameters = AfricaParameters;

    fn new(parameters: AfricaParameters) -> Self {
        Africa { parameters, response: HighSpeedResponse::default(), fast: false }
    }
}

impl CongestionControl for Africa {
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
        let known = ack.srtt.0 > 0;
        self.fast = known && queued_segments(window.cwnd, ack.min_rtt, ack.srtt) < self.parameters.alpha;
        if self.fast {
            window.increase_weighted(acked, self.response.increase(window), window.cwnd);
        } else {
            window.increase(acked, window.cwnd);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        let fast = self.fast && !congestion.in_slow_start && congestion.kind != CongestionKind::Timeout;
        reno::give_up(window, if fast { self.response.decrease(window) } else { 0.5 });
        self.fast = false;
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, at: &Observation, values: &mut [f64]) {
        let queue = if at.srtt.0 > 0 { queued_segments(window.cwnd, at.min_rtt, at.srtt) } else { f64::NAN };
        values.copy_from_slice(&[f64::from(u8::from(self.fast)), queue]);
    }
}
