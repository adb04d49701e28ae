//! TCP-FIT: imitates a number of Reno flows that depends on the queue.
//!
//! J. Wang, J. Wen, J. Zhang, Y. Han, "TCP-FIT: An Improved TCP Congestion Control Algorithm and Its Performance", IEEE
//! INFOCOM 2011. With W the window in segments and N the number of imitated Reno flows:
//!
//! ```text
//! slow start             W += 1 for each acknowledged segment
//! congestion avoidance   W += N/W for each acknowledged segment
//! loss                   W = W (1 - 2/(3N + 1))
//! once a period          N = max(1, N + 1 - N Q/(a W)),   Q = W (RTT - RTTmin)/RTT
//! ```
//!
//! Q/W is the queue's share of the delay, so N converges to `a RTT/(RTT - RTTmin)`: ten Reno flows with a = 1 and a queue of a
//! tenth of the delay.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `a` | 1 | 0.01 to 1 | a public INET model, after the authors' white paper; not the INFOCOM paper |
//! | `period` | 0.5 s | 0.01 to 10 | the same model |
//!
//! Interpretations:
//! - *a* is uncertain. The paper reportedly requires 0 < a < 1; a public ns-3 model has 0.125 (with another rule), the INET
//!   model 1. N is proportional to it where there is a queue, so state it with every result.
//! - RTT is the mean of the samples of the period, which lasts for `max(RTT, period)` (INET model).
//! - N is a real number from 1 on. It changes only at the end of a period that used the full window, because an empty queue
//!   without traffic means nothing.
//! - N is updated in slow start, too. A timeout reduces ssthresh like a loss, and resets N and the period.

#[cfg(test)]
mod tests;

use crate::observable::seconds;
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, Nanos, Observable,
    Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "tcp-fit",
    title: "TCP-FIT",
    year: 2011,
    reference: "J. Wang, J. Wen, J. Zhang, Y. Han, TCP-FIT: An Improved TCP Congestion Control Algorithm and \
                Its Performance, IEEE INFOCOM 2011",
    summary: "Behaves as N parallel Reno flows; N grows while the queue is a small share of the delay.",
    strengths: "Holds up on fast paths and under random losses, where N grows until the queue shows.",
    weaknesses: "Gets N shares against Reno; a wrong RTTmin, or the delay of other flows, changes N; \
                 the parameter that scales N is not known for sure.",
    signals: &[Signal::Loss, Signal::Delay],
    based_on: "MulTCP, Reno, Vegas",
    implemented_in: "third-party models for INET and ns-3",
    reconstruction: false,
    version: 1,
    parameters: TcpFitParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<TcpFit>,
};

parameters! {
    /// Settings of [`TcpFit`].
    pub struct TcpFitParameters {
        /// Target for N times the queue's share of the delay.
        a: number(1.0, 0.01..=1.0), "1", "public INET model; another has 0.125, the paper less than 1";
        /// Shortest time between two changes of N.
        period: number(0.5, 0.01..=10.0), "s", "public INET model";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "n",
        "N",
        "flows",
        "Reno flows whose growth it has: max(1, N + 1 - N Q/(a W)) once a period.",
    ),
    Observable::new("rtt_min", "RTTmin", "s", "The least round-trip time."),
];

/// TCP-FIT.
#[derive(Clone, Debug)]
pub struct TcpFit {
    parameters: TcpFitParameters,
    /// N.
    flows: f64,
    period: Nanos,
    /// RTTmin.
    base_rtt: Nanos,
    /// Beginning of the current period; none before the first ACK.
    begun: Option<Nanos>,
    /// Sum of the period's RTT samples, nanoseconds, and their number.
    rtt_sum: f64,
    samples: u32,
}

impl Configurable for TcpFit {
    type Parameters = TcpFitParameters;

    fn new(parameters: TcpFitParameters) -> Self {
        let period = Nanos((parameters.period * 1e9) as u64);
        TcpFit { parameters, flows: 1.0, period, base_rtt: Nanos::MAX, begun: None, rtt_sum: 0.0, samples: 0 }
    }
}

impl CongestionControl for TcpFit {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = self.base_rtt.min(rtt);
            self.rtt_sum += rtt.0 as f64;
            self.samples = self.samples.saturating_add(1);
        }
        let begun = *self.begun.get_or_insert(ack.now);
        let span = ack.now.since(begun);
        if span >= self.period && span >= ack.srtt {
            self.end_period(ack);
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
        window.increase_weighted(acked, self.flows, window.cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        window.set_ssthresh_for_loss(window.cwnd * (1.0 - 2.0 / (3.0 * self.flows + 1.0)));
        if congestion.kind == CongestionKind::Timeout {
            self.flows = 1.0;
            self.begin_period(congestion.now);
        }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, _window: &Window, _at: &Observation, values: &mut [f64]) {
        values.copy_from_slice(&[self.flows, seconds(self.base_rtt)]);
    }
}

impl TcpFit {
    fn begin_period(&mut self, now: Nanos) {
        self.begun = Some(now);
        self.rtt_sum = 0.0;
        self.samples = 0;
    }

    #[inline(never)]
    fn end_period(&mut self, ack: &Ack) {
        let (sum, samples) = (self.rtt_sum, self.samples);
        self.begin_period(ack.now);
        if samples == 0 || !ack.cwnd_limited {
            return;
        }
        let rtt = sum / f64::from(samples);
        let queueing = (rtt - self.base_rtt.0 as f64).max(0.0);
        // An RTT of 0 has no queueing delay.
        let queued_share = if rtt > 0.0 { queueing / rtt } else { 0.0 };
        self.flows = (self.flows + 1.0 - self.flows * queued_share / self.parameters.a).max(1.0);
    }
}
