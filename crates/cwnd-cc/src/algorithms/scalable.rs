//! Scalable TCP: grows and shrinks by fractions of the window, so that the time between losses does not depend on the rate.
//!
//! T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM SIGCOMM Computer
//! Communication Review 33(2), 2003. With W the window in segments:
//!
//! ```text
//! slow start             W += 1 for each acknowledged segment
//! congestion avoidance   W += a for each acknowledged segment,  a = 0.01
//! loss, mark, timeout    W -= b W,                              b = 0.125
//! ```
//!
//! A window of any size grows by 1 % per round trip, and recovers after ln(1/0.875)/ln(1.01) = 13.4 round trips.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `ai_cnt` | 100 segments | 1 to 10,000 | 1/a; the paper's a = 0.01. Linux and ns-2.35 have 50 |
//! | `b` | 0.125 | 0.01 to 0.9 | paper |
//!
//! Interpretations:
//! - *Small windows*: Linux and ns-2.35 add one segment for every min(W, 1/a) acknowledged, so that windows below 1/a grow
//!   like Reno's; so does this file. (The paper switches to Reno below a legacy window of 16 segments, where it would also
//!   halve. Here, b applies at every size, as in Linux.)
//! - *Delayed ACKs*: Linux's 50 compensates for a receiver that acknowledges every second segment, because Linux counts ACKs.
//!   Growth counts segments here, so 100 is the paper's rate. `ai_cnt = 50` is the actual growth of Linux and ns-2.35, twice
//!   as fast.
//! - A timeout reduces by b, too (Linux, ns-2.35), and the window restarts from the stack's restart window.

#[cfg(test)]
mod tests;

use crate::parts::reno;
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "scalable",
    title: "Scalable TCP",
    year: 2003,
    reference: "T. Kelly, Scalable TCP: Improving Performance in Highspeed Wide Area Networks, ACM SIGCOMM \
                CCR 33(2), 2003",
    summary: "Grows by 1 % a round trip and gives up an eighth at a loss: recovers equally fast at any rate.",
    strengths: "Recovers from a loss within 13 round trips at any rate, so it fills the longest and fastest \
                paths, and random losses cost it little.",
    weaknesses: "Does not converge to fair shares: among its own kind the first flow keeps what it has, and \
                 competing Reno flows starve.",
    signals: &[Signal::Loss, Signal::Ecn],
    based_on: "NewReno",
    implemented_in: "Linux (scalable), ns-2.35, ns-3",
    reconstruction: false,
    version: 1,
    parameters: ScalableParameters::PARAMETERS,
    observables: &[],
    build: build::<Scalable>,
};

parameters! {
    /// Settings of [`Scalable`].
    pub struct ScalableParameters {
        /// Acknowledged segments for each segment of growth, in large windows.
        ai_cnt: number(100.0, 1.0..=10_000.0), "segments", "paper (a = 0.01); Linux and ns-2.35 have 50";
        /// Fraction of the window removed at a loss.
        b: number(0.125, 0.01..=0.9), "1", "paper";
    }
}

/// Scalable TCP.
#[derive(Clone, Debug)]
pub struct Scalable {
    parameters: ScalableParameters,
}

impl Configurable for Scalable {
    type Parameters = ScalableParameters;

    fn new(parameters: ScalableParameters) -> Self {
        Scalable { parameters }
    }
}

impl CongestionControl for Scalable {
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
        window.increase(acked, window.cwnd.min(self.parameters.ai_cnt));
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        reno::give_up(window, self.parameters.b);
        reno::hold_half_in_recovery(window);
    }
}
