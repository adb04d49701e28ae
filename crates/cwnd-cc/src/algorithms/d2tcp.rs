//! D2TCP: DCTCP with smaller reductions the closer a flow is to its deadline.
//!
//! B. Vamanan, J. Hasan, T. N. Vijaykumar, "Deadline-Aware Datacenter TCP (D2TCP)", SIGCOMM 2012. With W the
//! window in segments, alpha DCTCP's share of marks, B the segments that the flow still has to send and D
//! the round trips left until its deadline:
//!
//! ```text
//! Tc   = B/(3/4 W)            round trips that it takes at the rate of a deadline-agnostic sawtooth
//! d    = Tc/D                 within 0.5 to 2; 1 without a deadline
//! p    = alpha^d
//! mark    ssthresh = W (1 - p/2)      once a window of data
//! loss    ssthresh = W/2
//! growth  as NewReno's
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `g` | 1/16 | 0.001 to 1 | as DCTCP |
//! | `initial_alpha` | 1 | 0 to 1 | as DCTCP |
//! | `least_urgency` | 0.5 | 0.1 to 1 | paper |
//! | `greatest_urgency` | 2 | 1 to 10 | paper |
//!
//! Length and deadline come with [`Init::hints`]; a flow without both is a DCTCP flow.
//!
//! Interpretations:
//! - alpha is DCTCP's; p determines only the reduction. One public port overwrites alpha by alpha^d, which feeds d back into
//!   itself.
//! - d is computed at the mark from the current window and smoothed round-trip time.
//! - A missed deadline leaves no round trips, and therefore the largest urgency. The available sources do not say what the
//!   paper does with such flows.
//! - d is above 1 when the flow is urgent. alpha is at most 1, so p is then smaller than alpha.

#[cfg(test)]
mod tests;

use crate::parts::{marks::MarkShare, reno};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, EcnMode, FlowHints,
    Init, Nanos, Needs, Observable, Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "d2tcp",
    title: "Deadline-Aware Datacenter TCP (D2TCP)",
    year: 2012,
    reference: "B. Vamanan, J. Hasan, T. N. Vijaykumar, Deadline-Aware Datacenter TCP (D2TCP), SIGCOMM 2012",
    summary: "DCTCP whose cut at a mark is smaller for flows near their deadline and larger for those far \
              from it.",
    strengths: "Meets more deadlines than DCTCP in a data centre where urgent and patient flows share a \
                queue that marks.",
    weaknesses: "Needs applications that tell lengths and deadlines, and is DCTCP for all others; fails with \
                 it where nothing marks.",
    signals: &[Signal::Ecn, Signal::Loss],
    based_on: "DCTCP",
    implemented_in: "third-party ns-3 ports",
    reconstruction: false,
    version: 3,
    parameters: D2tcpParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<D2tcp>,
};

parameters! {
    /// Settings of [`D2tcp`].
    pub struct D2tcpParameters {
        /// Weight of the newest window of data in alpha.
        g: number(0.0625, 0.001..=1.0), "1", "RFC 8257 section 4.2";
        /// Initial value of alpha.
        initial_alpha: number(1.0, 0.0..=1.0), "1", "RFC 8257";
        /// Smallest d, of flows far from their deadline.
        least_urgency: number(0.5, 0.1..=1.0), "1", "paper";
        /// Largest d, of flows near their deadline.
        greatest_urgency: number(2.0, 1.0..=10.0), "1", "paper";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("alpha", "alpha", "1", "Moving average of the marked share of segments, as in DCTCP."),
    Observable::new("urgency", "d", "1", "Deadline imminence factor Tc/D; 1 without a deadline."),
    Observable::new("penalty", "p", "1", "alpha^d: a mark takes p/2 of the window."),
];

/// D2TCP.
#[derive(Clone, Debug)]
pub struct D2tcp {
    parameters: D2tcpParameters,
    marks: MarkShare,
    hints: FlowHints,
    delivered: u64,
}

impl Configurable for D2tcp {
    type Parameters = D2tcpParameters;

    fn new(parameters: D2tcpParameters) -> Self {
        let marks = MarkShare::new(parameters.initial_alpha, parameters.g);
        D2tcp { parameters, marks, hints: FlowHints::default(), delivered: 0 }
    }
}

impl CongestionControl for D2tcp {
    fn init(&mut self, _window: &mut Window, init: &Init) {
        self.hints = init.hints;
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.delivered = ack.delivered;
        self.marks.count(ack);
        reno::increase(window, ack);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        match congestion.kind {
            CongestionKind::Ecn => {
                let urgency = self.urgency(window, congestion.now, congestion.srtt);
                reno::give_up(window, libm::pow(self.marks.alpha, urgency) / 2.0);
            }
            CongestionKind::Loss | CongestionKind::Timeout => window.set_ssthresh_for_loss(window.cwnd / 2.0),
        }
    }

    fn needs(&self) -> Needs {
        Needs { ecn: Some(EcnMode::Exact), ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, at: &Observation, values: &mut [f64]) {
        let (alpha, urgency) = (self.marks.alpha, self.urgency(window, at.now, at.srtt));
        values.copy_from_slice(&[alpha, urgency, libm::pow(alpha, urgency)]);
    }
}

impl D2tcp {
    /// d.
    fn urgency(&self, window: &Window, now: Nanos, srtt: Nanos) -> f64 {
        let (Some(bytes), Some(deadline)) = (self.hints.bytes, self.hints.deadline) else { return 1.0 };
        let D2tcpParameters { least_urgency, greatest_urgency, .. } = self.parameters;
        let left = (bytes as f64 / f64::from(window.mss().max(1)) - self.delivered as f64).max(0.0);
        let needed = left / (0.75 * window.cwnd) * srtt.as_secs_f64();
        let remaining = deadline.since(now).as_secs_f64();
        // A product instead of a quotient, because the remaining time can be 0.
        if needed >= greatest_urgency * remaining {
            greatest_urgency
        } else {
            (needed / remaining).max(least_urgency)
        }
    }
}
