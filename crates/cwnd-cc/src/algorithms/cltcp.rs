//! CLTCP: as aggressive as N flows, where N falls with the fraction of marks.
//!
//! X. Jiang, G. Jin, "CLTCP: An Adaptive TCP Congestion Control Algorithm Based on Congestion Level", IEEE
//! Communications Letters 19(8), 2015. With W the window in segments and F the fraction of a window of data
//! whose ACKs carry the echo of a mark:
//!
//! ```text
//! alpha = (1 - g) alpha + g F         once a window of data, as in DCTCP              (equation 1)
//! N     = N + 1 - alpha^d N           periodically                                    (equation 5)
//! slow start             W += 1 for each acknowledged segment
//! congestion avoidance   W += N/W for each acknowledged segment                       (equation 4)
//! loss                   ssthresh = W (1 - 2/(3 N + 1))                               (equation 4)
//! ```
//!
//! N converges to alpha^-d: 10 flows with one mark in a hundred, 2 with one in four, one where every segment is marked. The
//! queue marks packets that arrive while it holds more than K packets. The paper uses a fifth of the buffer as K, on a queue
//! that is otherwise drop-tail.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `d` | 0.5 | 0.01 to 10 | paper, section III |
//! | `g` | 1/16 | 0.001 to 1 | not given; RFC 8257's |
//! | `n_period` | 0 s | 0 to 10 | not given; 0 is each window of data, TCP-FIT has 0.5 |
//! | `n_max` | 1,000,000 flows | 1 to 1,000,000 | the paper has no limit |
//! | `ecn_cut` | off | | equation 4 cuts "for each loss" |
//! | `n_in_recovery` | off | | not given; see below |
//!
//! Interpretations where the paper has no rule:
//! - N is updated with alpha, at the end of each window of data, and no more often than `n_period`.
//! - g: the paper quotes DCTCP's bound g < 1.386/sqrt(2 (C RTT + K)), which is 0.028 on its own topology, and
//!   DCTCP's value 1/16 is above it. 1/16 is used; `g=0.015625` keeps to the bound.
//! - alpha begins at 0 and N at 1. DCTCP's alpha of 1 would hold N at 1 for some sixteen windows.
//! - A mark alone does not reduce the window. Otherwise, four competing Reno flows that keep the queue above K would halve
//!   CLTCP in every window and starve it. The paper's figure 4(a) shows it near Reno's share. `ecn_cut` treats a mark as a
//!   loss, as ns-2's sender does.
//! - N does not change in slow start and in recovery; alpha is updated in all states. With random losses of some percent, a
//!   large window is nearly always in recovery, and N hardly changes. `n_in_recovery` updates it there, too.
//! - Before the first mark, N grows by one each period without limit. `n_max` sets a limit.
//! - Where ECN was not negotiated, no segment can be marked: N stays 1, which is Reno.
//! - A timeout sets N to 1 and keeps alpha; the threshold is that of a loss.
//! - F counts segments, marked if the ACK that delivers them carries an echo. The echo must be exact
//!   ([`Needs::ecn`]): a classic receiver repeats it until the sender has answered, which would raise F.

#[cfg(test)]
mod tests;

use crate::parts::marks::MarkShare;
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, EcnMode, Init, Nanos,
    Needs, Observable, Observation, ParameterSet, Signal, State, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "cltcp",
    title: "CLTCP",
    year: 2015,
    reference: "X. Jiang, G. Jin, CLTCP: An Adaptive TCP Congestion Control Algorithm Based on Congestion \
                Level, IEEE Communications Letters 19(8), 2015",
    summary: "Behaves as N Reno flows, N growing while little is marked and falling to 1 where all is.",
    strengths: "Fills long fast paths and shrugs off random losses as long as the bottleneck marks before \
                it drops.",
    weaknesses: "Grows without bound between losses where ECN is negotiated and nothing marks; no better \
                 than Reno without ECN; much rests on constants that its paper does not give.",
    signals: &[Signal::Ecn, Signal::Loss],
    based_on: "TCP-FIT, DCTCP",
    implemented_in: "the authors' ns-2 code, which is not public",
    reconstruction: false,
    version: 1,
    parameters: CltcpParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Cltcp>,
};

parameters! {
    /// Settings of [`Cltcp`].
    pub struct CltcpParameters {
        /// Exponent of the congestion level.
        d: number(0.5, 0.01..=10.0), "1", "paper, section III";
        /// Weight of the newest window of data in alpha.
        g: number(0.0625, 0.001..=1.0), "1", "RFC 8257 section 4.2; the paper gives none";
        /// Shortest time between updates of N; 0 updates it with every window of data.
        n_period: number(0.0, 0.0..=10.0), "s", "the paper says periodically; TCP-FIT has 0.5";
        /// Largest N.
        n_max: number(1e6, 1.0..=1e6), "flows", "the paper has no limit";
        /// Whether N is updated in recovery, too.
        n_in_recovery: switch(false), "", "the paper says nothing of it";
        /// Whether a mark is treated as a loss.
        ecn_cut: switch(false), "", "paper, equation 4: for each loss";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "n",
        "N",
        "flows",
        "Reno flows whose growth it has: N + 1 - alpha^d N each period, equation 5.",
    ),
    Observable::new("alpha", "alpha", "1", "Moving average of the marked share of segments, equation 1."),
    Observable::new(
        "level",
        "alpha^d",
        "1",
        "Congestion level alpha^d, the share of N that equation 5 takes off.",
    ),
];

/// CLTCP.
#[derive(Clone, Debug)]
pub struct Cltcp {
    parameters: CltcpParameters,
    marks: MarkShare,
    /// N.
    flows: f64,
    updated: Nanos,
    /// Whether marks can be echoed.
    marking: bool,
}

impl Configurable for Cltcp {
    type Parameters = CltcpParameters;

    fn new(parameters: CltcpParameters) -> Self {
        let marks = MarkShare::new(0.0, parameters.g);
        Cltcp { parameters, marks, flows: 1.0, updated: Nanos::ZERO, marking: false }
    }
}

impl CongestionControl for Cltcp {
    fn init(&mut self, _window: &mut Window, init: &Init) {
        self.marking = init.ecn != EcnMode::Off;
        self.updated = init.now;
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.marks.count(ack) {
            self.update_flows(window, ack);
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
        window.increase_weighted(acked, self.flows, cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        // A transport may begin an episode for a mark against the request; the window then stays the same.
        let cut = congestion.kind != CongestionKind::Ecn || self.parameters.ecn_cut;
        let kept = if cut { 1.0 - 2.0 / (3.0 * self.flows + 1.0) } else { 1.0 };
        window.set_ssthresh_for_loss(window.cwnd * kept);
        if congestion.kind == CongestionKind::Timeout {
            self.flows = 1.0;
        }
    }

    fn needs(&self) -> Needs {
        Needs { ecn: Some(EcnMode::Exact), marks_only: !self.parameters.ecn_cut, ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, _window: &Window, _at: &Observation, values: &mut [f64]) {
        values.copy_from_slice(&[
            self.flows,
            self.marks.alpha,
            libm::pow(self.marks.alpha, self.parameters.d),
        ]);
    }
}

impl Cltcp {
    /// Handles the end of a window of data, and updates N at the end of its period.
    fn update_flows(&mut self, window: &Window, ack: &Ack) {
        let moves = match ack.state {
            State::Open | State::Disorder => !window.in_slow_start(),
            // The window equals its threshold then, and some stacks count that as slow start.
            State::Recovery => self.parameters.n_in_recovery,
            State::Cwr | State::Loss => false,
        };
        let due = ack.now.since(self.updated).as_secs_f64() >= self.parameters.n_period;
        if !(self.marking && moves && due) {
            return;
        }
        self.updated = ack.now;
        let level = libm::pow(self.marks.alpha, self.parameters.d);
        self.flows = (self.flows + 1.0 - level * self.flows).min(self.parameters.n_max);
    }
}
