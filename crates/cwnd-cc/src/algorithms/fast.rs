//! FAST TCP: an equation whose equilibrium has alpha segments of each flow in queues.
//!
//! D. X. Wei, C. Jin, S. H. Low, S. Hegde, "FAST TCP: Motivation, Architecture, Algorithms, Performance", IEEE/ACM
//! Transactions on Networking 14(6), 2006 (C. Jin, D. X. Wei, S. H. Low, IEEE INFOCOM 2004). With W the window
//! in segments and W_old that of a round trip ago:
//!
//! ```text
//! W   = min(2 W, (1 - g) W + g (baseRTT/RTT W_old + alpha))       in every second round trip
//! RTT = RTT + min(3/W, 1/4) (sample - RTT)
//! start   W += 1 for each acknowledged segment, while RTT - baseRTT < mi_threshold
//! loss    W = W/2
//! ```
//!
//! The equilibrium is `W (1 - baseRTT/RTT) = alpha`: each flow has alpha queued segments, independent of its RTT.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `alpha` | 100 segments | 1 to 10000 | not universal, see below |
//! | `gain` | 0.5 | 0.01 to 1 | g; paper and ns-2 module |
//! | `mi_threshold` | 0.75 ms | 0.01 to 100 | the authors' Linux and ns-2 code |
//! | `update_every` | 2 round trips | 1 to 10 | Linux and ns-2 module |
//!
//! Interpretations:
//! - *alpha* is set by hand for the bottleneck: public ports have 5 to 250, and the authors used 200 for about 1 Gbit/s. The
//!   queueing delay of all flows together must exceed mi_threshold, or the start never ends (100 segments of 1,500 bytes are
//!   1.2 ms at 1 Gbit/s and 0.12 ms at 10). The buffer must hold alpha for each flow; otherwise FAST halves its window like
//!   Reno, with fast growth between.
//! - The module does not change the window while between alpha and beta segments are queued; with beta = alpha it is the
//!   equation.
//! - *The weight of an RTT sample* is the paper's; the ns-2 module has min(3/W, 1/256).
//! - An increase is spread over the ACKs of the next round trip; a decrease is immediate. The window does not change in the
//!   round trips between two updates, so that RTT belongs to one window.
//! - *The start* is not a state: it adds a segment for each acknowledged one whenever the queue is below the threshold, after
//!   a loss too (ns-2 module). The measured delay is a round trip old, so the start overshoots by up to a window. With buffers
//!   far smaller than a BDP, it does so after each loss.
//! - Slow start happens only after a timeout, up to ssthresh, which is half the window; elsewhere the start above replaces it.
//!   The stack's restart window is used (1; the module has 2), and baseRTT is kept.

#[cfg(test)]
mod tests;

use crate::observable::{known, seconds};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, Nanos, Observable, Observation,
    ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "fast",
    title: "FAST TCP",
    year: 2004,
    reference: "D. X. Wei, C. Jin, S. H. Low, S. Hegde, FAST TCP: Motivation, Architecture, Algorithms, \
                Performance, IEEE/ACM ToN 14(6), 2006; C. Jin, D. X. Wei, S. H. Low, INFOCOM 2004",
    summary: "Moves the window each second round trip towards the one that keeps alpha segments queued.",
    strengths: "Fills the fastest paths within a few round trips and then stands still, without losses and \
                fair over RTTs.",
    weaknesses: "alpha fits one bandwidth and one buffer; where buffers hold much less than a BDP its start \
                 overshoots again after each loss; flows that fill the queue take its share.",
    signals: &[Signal::Loss, Signal::Delay],
    based_on: "Vegas",
    implemented_in: "FastSoft's (now Akamai's) products, an ns-2 module",
    reconstruction: false,
    version: 1,
    parameters: FastParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Fast>,
};

parameters! {
    /// Settings of [`Fast`].
    pub struct FastParameters {
        /// Segments that the flow keeps in queues.
        alpha: number(100.0, 1.0..=10000.0), "segments", "set by hand; public ports have 5 to 250";
        /// g: step of an update towards the equation's window, as a fraction.
        gain: number(0.5, 0.01..=1.0), "1", "paper, ns-2 module";
        /// Queueing delay that ends the start.
        mi_threshold: number(0.75, 0.01..=100.0), "ms", "authors' Linux and ns-2 code";
        /// Round trips from one update to the next.
        update_every: number(2.0, 1.0..=10.0), "round trips", "Linux, ns-2 module";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "rtt",
        "RTT",
        "s",
        "Moving average of the round-trip time, RTT + min(3/W, 1/4) (sample - RTT).",
    ),
    Observable::new("base_rtt", "baseRTT", "s", "The least round-trip time."),
    Observable::new(
        "queue",
        "q",
        "segments",
        "Segments queued: W (1 - baseRTT/RTT), which FAST keeps at alpha.",
    ),
];

/// FAST TCP.
#[derive(Clone, Debug)]
pub struct Fast {
    parameters: FastParameters,
    /// mi_threshold, nanoseconds.
    mi_threshold: f64,
    /// RTT, nanoseconds; none before the first sample.
    rtt: Option<f64>,
    base_rtt: Nanos,
    /// W_old: the window when the last round trip began.
    last_window: f64,
    /// Round trips since the last update.
    rounds: u32,
    rise: Option<Rise>,
}

/// A pending increase.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rise {
    /// Target window.
    target: f64,
    /// Segments to add, and the acknowledged segments over which they are spread.
    segments: f64,
    over: f64,
}

impl Configurable for Fast {
    type Parameters = FastParameters;

    fn new(parameters: FastParameters) -> Self {
        Fast {
            mi_threshold: parameters.mi_threshold * 1e6,
            parameters,
            rtt: None,
            base_rtt: Nanos::MAX,
            last_window: 0.0,
            rounds: 0,
            rise: None,
        }
    }
}

impl CongestionControl for Fast {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.measure(rtt, window.cwnd);
        }
        if !ack.may_grow() {
            return;
        }
        let starting = self.queueing_delay() < self.mi_threshold;
        if window.in_slow_start() && (starting || window.ssthresh.is_finite()) {
            window.slow_start(ack.acked);
            return self.rest(window);
        }
        if starting {
            window.set_cwnd(window.cwnd + window.counted(ack.acked));
            return self.rest(window);
        }
        if window.in_slow_start() {
            window.lower_cwnd(window.cwnd);
        }
        if ack.round_start {
            self.end_round(window);
        }
        if let Some(rise) = self.rise {
            window.increase_weighted(ack.acked, rise.segments, rise.over);
            if window.cwnd >= rise.target {
                window.set_cwnd(rise.target);
                self.rise = None;
            }
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if !congestion.is_repeated_timeout() {
            window.set_ssthresh_for_loss(window.cwnd / 2.0);
        }
        self.rest(window);
    }

    fn on_recovery_exit(&mut self, window: &mut Window, _now: Nanos) {
        self.rest(window);
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let (rtt, base) = (self.rtt.map_or(f64::NAN, |rtt| rtt * 1e-9), seconds(self.base_rtt));
        values.copy_from_slice(&[rtt, base, window.cwnd * (1.0 - base / known(rtt))]);
    }
}

impl Fast {
    #[inline]
    fn measure(&mut self, sample: Nanos, cwnd: f64) {
        self.base_rtt = self.base_rtt.min(sample);
        let sample = sample.0 as f64;
        self.rtt = Some(match self.rtt {
            None => sample,
            Some(rtt) => rtt + if cwnd > 12.0 { 3.0 / cwnd } else { 0.25 } * (sample - rtt),
        });
    }

    /// RTT - baseRTT, nanoseconds.
    #[inline]
    fn queueing_delay(&self) -> f64 {
        self.rtt.map_or(0.0, |rtt| rtt - self.base_rtt.0 as f64)
    }

    /// Skips updates for a round trip, because the measured delay does not belong to the current window yet.
    #[inline]
    fn rest(&mut self, window: &Window) {
        self.last_window = window.cwnd;
        self.rounds = 0;
        self.rise = None;
    }

    #[inline(never)]
    fn end_round(&mut self, window: &mut Window) {
        let old = core::mem::replace(&mut self.last_window, window.cwnd);
        self.rounds += 1;
        if f64::from(self.rounds) < self.parameters.update_every {
            return;
        }
        let target = self.equation(window.cwnd, old);
        self.rest(window);
        let cwnd = window.cwnd;
        if target > cwnd {
            let target = window.whole(target.min(window.clamp()));
            let segments = target - cwnd;
            self.rise = (segments > 0.0).then_some(Rise { target, segments, over: cwnd });
        } else {
            window.lower_cwnd(target);
        }
    }

    fn equation(&self, cwnd: f64, old: f64) -> f64 {
        let FastParameters { alpha, gain, .. } = self.parameters;
        let ratio = match self.rtt {
            Some(rtt) if rtt > 0.0 => (self.base_rtt.0 as f64 / rtt).min(1.0),
            _ => 1.0,
        };
        let settled = ratio * old + alpha;
        ((1.0 - gain) * cwnd + gain * settled).min(2.0 * cwnd)
    }
}
