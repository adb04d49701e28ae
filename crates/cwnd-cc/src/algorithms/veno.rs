//! Veno: Reno that distinguishes link losses from congestion losses by the queue.
//!
//! C. P. Fu, S. C. Liew, "TCP Veno: TCP Enhancement for Transmission over Wireless Access Networks", IEEE JSAC 21(2), 2003.
//! With W the window in segments and N Vegas's estimate of the backlog:
//!
//! ```text
//! N = W (1 - baseRTT/RTT)
//! slow start             W += 1 for each acknowledged segment
//! congestion avoidance   W += 1/W  if N < beta;  W += 1/(2 W)  otherwise, for each acknowledged segment
//! loss                   W = 4/5 W  if N < beta, the link lost it;  W = W/2  otherwise
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `beta` | 3 segments | 0.1 to 1000 | paper, Linux |
//! | `kept` | 0.8 | 0.5 to 0.95 | paper: the fraction kept at a loss without a queue |
//!
//! Interpretations:
//! - RTT is the latest sample, because Linux resets the smallest one of the round trip at every ACK.
//! - N needs three samples (Linux). Until then, and in real numbers after each recovery, it is Reno, except that a loss
//!   removes a fifth in Linux's arithmetics.
//! - "Every second round trip" is half a segment per round trip here; in integers it is one segment for `2 W` acknowledged
//!   ones.
//! - In Linux's arithmetics N is computed in halves of a segment from whole microseconds, and is updated by ACKs that allow
//!   growth; a loss uses the last one. With N at or above beta, the count of a window is reset each time, and every second
//!   count is a step: counts from an uncongested part of a round trip are lost. In Linux 2.6's arithmetic, the first count is
//!   a step; recordings of today's Linux agree with the second. In Linux 2.6's arithmetic, an ACK without a sample counts as
//!   one of 2^31 microseconds.
//! - A timeout sets ssthresh like a loss (Linux).
//! - baseRTT is the smallest of the connection. Linux resets it after idle times; this file does not.

#[cfg(test)]
mod tests;

use crate::observable::seconds;
use crate::parts::backlog::queued_segments;
use crate::parts::reno;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, CompatNeeds, Configurable, Congestion, CongestionControl, Init, Nanos,
    Needs, Observable, Observation, ParameterSet, Signal, State, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "veno",
    title: "TCP Veno",
    year: 2003,
    reference: "C. P. Fu, S. C. Liew, TCP Veno: TCP Enhancement for Transmission over Wireless Access \
                Networks, IEEE JSAC 21(2), 2003",
    summary: "Reno that grows half as fast once three segments are queued, and gives up a fifth instead of \
              half where fewer are.",
    strengths: "More than Reno over links with random losses, at hardly any cost to competing Reno flows.",
    weaknesses: "Grows no faster than Reno, so long fast paths stay empty; tells the kinds of loss apart only \
                 while the queue is short and baseRTT right.",
    signals: &[Signal::Loss, Signal::Delay],
    based_on: "Reno, Vegas",
    implemented_in: "Linux (veno), ns-2, ns-3",
    reconstruction: false,
    version: 3,
    parameters: VenoParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Veno>,
};

parameters! {
    /// Settings of [`Veno`].
    pub struct VenoParameters {
        /// Queued segments from which the path counts as congested.
        beta: number(3.0, 0.1..=1000.0), "segments", "paper, Linux";
        /// Fraction of the window kept at a loss on a path that is not congested.
        kept: number(0.8, 0.5..=0.95), "1", "paper, Linux";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "n",
        "N",
        "segments",
        "Segments queued: W (1 - baseRTT/RTT); from beta on a loss counts as congestion.",
    ),
    Observable::new("base_rtt", "baseRTT", "s", "The least round-trip time since the last recovery."),
];

const MIN_SAMPLES: u32 = 3;
/// Minimum without samples, microseconds.
const NO_SAMPLE: u64 = 0x7fff_ffff;

/// TCP Veno.
#[derive(Clone, Debug)]
pub struct Veno {
    parameters: VenoParameters,
    base: Nanos,
    rtt: Nanos,
    samples: u32,
    /// In Linux's arithmetics: twice N, and whether the next count of a window is a step.
    halves: u64,
    steps_next: bool,
}

impl Configurable for Veno {
    type Parameters = VenoParameters;

    fn new(parameters: VenoParameters) -> Self {
        Veno { parameters, base: Nanos::MAX, rtt: Nanos::ZERO, samples: 0, halves: 0, steps_next: false }
    }
}

impl CongestionControl for Veno {
    fn init(&mut self, window: &mut Window, _init: &Init) {
        self.steps_next = window.arithmetic() == Arithmetic::Linux26;
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.base = self.base.min(rtt);
            self.samples = self.samples.saturating_add(1);
        }
        if !ack.may_grow() {
            return;
        }
        if window.arithmetic() != Arithmetic::Real {
            return self.grow_as_linux(window, ack);
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        let round_trips =
            if self.samples >= MIN_SAMPLES && self.is_congested(window.cwnd) { 2.0 } else { 1.0 };
        window.increase(acked, round_trips * window.cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        if window.arithmetic() != Arithmetic::Real {
            let of_the_link = (self.halves as f64) < 2.0 * self.parameters.beta;
            return window
                .set_ssthresh_for_loss(window.cwnd * if of_the_link { self.parameters.kept } else { 0.5 });
        }
        let of_the_link = self.samples >= MIN_SAMPLES && !self.is_congested(window.cwnd);
        self.samples = 0;
        window.set_ssthresh_for_loss(window.cwnd * if of_the_link { self.parameters.kept } else { 0.5 });
    }

    fn on_recovery_exit(&mut self, window: &mut Window, _now: Nanos) {
        if window.arithmetic() == Arithmetic::Real {
            self.samples = 0;
        }
    }

    fn needs(&self) -> Needs {
        Needs { compat: CompatNeeds { covered_rtt: true, ..CompatNeeds::default() }, ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let known = self.base != Nanos::MAX && self.rtt.0 > 0;
        let queued = if known { queued_segments(window.cwnd, self.base, self.rtt) } else { f64::NAN };
        values.copy_from_slice(&[queued, seconds(self.base)]);
    }
}

impl Veno {
    /// Grows the window in slow start and congestion avoidance in Linux's integers.
    fn grow_as_linux(&mut self, window: &mut Window, ack: &Ack) {
        if ack.state != State::Open || self.samples < MIN_SAMPLES {
            return reno::increase(window, ack);
        }
        let unknown = ack.rtt.is_none() && window.arithmetic() == Arithmetic::Linux26;
        let rtt = if unknown { NO_SAMPLE } else { microseconds(self.rtt) };
        let (base, cwnd) = (microseconds(self.base), window.cwnd as u64);
        self.halves = (2 * cwnd).saturating_sub((2 * cwnd).saturating_mul(base) / rtt);
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        if (self.halves as f64) < 2.0 * self.parameters.beta {
            window.increase(acked, window.cwnd);
        } else if window.count_window(acked) {
            if self.steps_next {
                window.set_cwnd(window.cwnd + 1.0);
            }
            self.steps_next = !self.steps_next;
        }
    }

    /// Returns whether N >= beta, which is W (RTT - baseRTT) >= beta RTT.
    #[inline]
    fn is_congested(&self, cwnd: f64) -> bool {
        cwnd * self.rtt.since(self.base).0 as f64 >= self.parameters.beta * self.rtt.0 as f64
    }
}

/// Returns a time as Linux counts it: at least 1.
fn microseconds(time: Nanos) -> u64 {
    time.0 / 1000 + 1
}
