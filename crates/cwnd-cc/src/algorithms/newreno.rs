//! NewReno: the standard algorithm, and the reference for the others.
//!
//! RFC 5681 (M. Allman, V. Paxson, E. Blanton, 2009) for the window, RFC 6582 (T. Henderson, S. Floyd, A. Gurtov, Y. Nishida,
//! 2012) for the recovery, which the transport implements. With W the window in segments:
//!
//! ```text
//! slow start             W += 1 for each acknowledged segment
//! congestion avoidance   W += 1/W for each acknowledged segment           (RFC 5681 equation 3)
//! loss, mark, timeout    ssthresh = max(W/2, 2)                           (RFC 5681 equation 4)
//! ```
//!
//! | parameter | default | values | source |
//! |---|---|---|---|
//! | `reduce_from` | `cwnd` | `cwnd`, `flight-size` | Linux and ns-2; the RFC says FlightSize |
//!
//! Interpretations:
//! - RFC 5681 halves FlightSize, Linux and ns-2 halve cwnd. The papers plot cwnd and used ns-2, so `cwnd` is the default. A
//!   flow that always has data is not affected, because the window grows only while it is fully used.
//! - Growth counts acknowledged segments, not ACKs (RFC 3465); in Linux 2.6's arithmetic with at most one step per ACK, and
//!   slow start counts ACKs. In that arithmetic, the window during recovery is `ssthresh/2`, as in ns-2.35's module.

#[cfg(test)]
mod tests;

use crate::parts::reno::{self, ReduceFrom};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "newreno",
    title: "TCP NewReno",
    year: 1999,
    reference: "RFC 5681 (2009), RFC 6582 (2012, first RFC 2582 of 1999)",
    summary: "Adds one segment a round trip, halves at a loss: the standard TCP.",
    strengths: "Known everywhere and simple to reason about; fills a path whose buffer holds a BDP, and \
                shares it evenly.",
    weaknesses: "Needs a round trip for each regained segment, so a long fast path stays empty for minutes \
                 after a loss; favours short RTTs; random losses keep it small.",
    signals: &[Signal::Loss, Signal::Ecn],
    based_on: "Reno",
    implemented_in: "Linux (reno), Windows, FreeBSD, Solaris, ns-2, ns-3, most QUIC stacks",
    reconstruction: false,
    version: 2,
    parameters: NewRenoParameters::PARAMETERS,
    observables: &[],
    build: build::<NewReno>,
};

parameters! {
    /// Settings of [`NewReno`].
    pub struct NewRenoParameters {
        /// Window that is halved.
        reduce_from: word(ReduceFrom::Cwnd), "", "Linux, ns-2; RFC 5681 equation 4 has flight-size";
    }
}

/// NewReno.
#[derive(Clone, Debug)]
pub struct NewReno {
    parameters: NewRenoParameters,
}

impl Configurable for NewReno {
    type Parameters = NewRenoParameters;

    fn new(parameters: NewRenoParameters) -> Self {
        NewReno { parameters }
    }
}

impl CongestionControl for NewReno {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        reno::increase(window, ack);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        window.set_ssthresh_for_loss(self.parameters.reduce_from.segments(window, congestion) / 2.0);
        reno::hold_half_in_recovery(window);
    }
}
