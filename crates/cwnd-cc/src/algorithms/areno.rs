//! Adaptive Reno (TCP-AReno): Reno's window plus a second window that probes fast while the RTT shows free capacity.
//!
//! H. Shimonishi, T. Hama, T. Murase, "TCP-Adaptive Reno for Improving Efficiency-Friendliness Tradeoffs of TCP
//! Congestion Control Algorithm", PFLDnet 2006. The window W is Wbase + Wprobe, in segments; B is the bandwidth
//! that Westwood+'s filter finds:
//!
//! ```text
//! c       = min((RTT - RTTmin)/(RTTcong - RTTmin), 1)                       congestion level
//! RTTcong = a RTTcong + (1 - a) RTT at each loss                            a = 0.85
//! Winc(c) = Wmax e^(-al c) + be c + ga,   Wmax = B/M                        segments a round trip, al = 10
//!           be = 2 Wmax (1/al - (1/al + 1) e^-al)
//!           ga = 1 - 2 Wmax (1/al - (1/al + 1/2) e^-al)
//! Wbase  += 1/W                       for each acknowledged segment
//! Wprobe  = max(Wprobe + Winc/W, 0)   for each acknowledged segment
//! loss      Wbase = W/(1 + c), Wprobe = 0
//! ```
//!
//! be and ga make Winc(1) = 1 and the mean of Winc over c from 0 to 1 equal to Reno's, 1. Winc(0) is about 0.8 Wmax + 1. In
//! the middle Winc is negative, so that the probing window shrinks before a loss. The decrease grows from 0 at c = 0 to a half
//! at c = 1.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `m` | 10 Mbit/s | 0.1 to 1000 | comments of public ns-3 models on the paper |
//! | `gain` | 0.85 | 0 to 0.99 | the models: a, the weight of the past in RTTcong |
//!
//! Interpretations. The paper's text was not available; about ten public ns-3 models have these formulas:
//! - *Wmax = B/M* is a plain number, taken as segments. The models multiply by 1000 and by the MSS twice.
//! - *Before the first loss* RTTcong is unknown: Winc = 0, so growth is Reno's, and c = 1 for that loss.
//! - A loss uses the c before it. RTTcong is updated afterwards, once for each loss and not for each ACK.
//! - *RTTcong = RTTmin*, which random losses cause: c is 0 without a queue and 1 with any queue.
//! - RTT is the latest sample. Slow start is standard, with Wprobe = 0; a timeout halves (c = 1), clears Wprobe, and does not
//!   update RTTcong, because its RTT is older than the loss.

#[cfg(test)]
mod tests;

use crate::observable::bits_per_second;
use crate::parts::bandwidth::BandwidthFilter;
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, Nanos, Observable,
    Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "areno",
    title: "TCP-Adaptive Reno",
    year: 2006,
    reference: "H. Shimonishi, T. Hama, T. Murase, TCP-Adaptive Reno for Improving Efficiency-Friendliness \
                Tradeoffs of TCP Congestion Control Algorithm, PFLDnet 2006",
    summary: "Reno plus a probing window that grows with the bandwidth while the RTT is far from where losses \
              came, and retreats as it nears.",
    strengths: "Fills a fast path quickly while its queue is empty and is on the average no more than Reno \
                where the queue is full; random losses cost it little.",
    weaknesses: "Needs losses to learn where congestion is, so it starts as Reno; random losses teach it wrong; \
                 its constants are known from third-party models only.",
    signals: &[Signal::Loss, Signal::Delay, Signal::Rate],
    based_on: "Reno, Westwood+",
    implemented_in: "third-party models for ns-3",
    reconstruction: false,
    version: 1,
    parameters: ARenoParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<AReno>,
};

parameters! {
    /// Settings of [`AReno`].
    pub struct ARenoParameters {
        /// M: bandwidth for which the probing window may grow by one segment per round trip.
        m: number(10.0, 0.1..=1000.0), "Mbit/s", "public ns-3 models, on the paper";
        /// a: weight of earlier losses in RTTcong.
        gain: number(0.85, 0.0..=0.99), "1", "public ns-3 models";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("level", "c", "1", "Congestion level (RTT - RTTmin)/(RTTcong - RTTmin), at most 1."),
    Observable::new(
        "growth",
        "Winc",
        "segments",
        "Growth of the probing part in a round trip: Wmax e^(-al c) + be c + ga.",
    ),
    Observable::new("probe", "Wprobe", "segments", "The probing part of the window."),
    Observable::new("base", "Wbase", "segments", "The rest of the window, which grows as Reno's."),
    Observable::new("rtt_congested", "RTTcong", "s", "Moving average of the round-trip times at losses."),
    Observable::new("bandwidth", "B", "bit/s", "Bandwidth estimate, payload."),
];

/// al.
const ALPHA: f64 = 10.0;
/// e^-al, exact in f64.
const EXP_MINUS_ALPHA: f64 = 4.539_992_976_248_485e-5;

/// TCP-Adaptive Reno.
#[derive(Clone, Debug)]
pub struct AReno {
    parameters: ARenoParameters,
    bandwidth: BandwidthFilter,
    /// Wprobe; the rest of the window is Wbase.
    probe: f64,
    base_rtt: Nanos,
    /// RTTcong, nanoseconds; none before the first loss.
    congested_rtt: Option<f64>,
    /// The latest RTT, and Winc for it.
    rtt: Nanos,
    growth: f64,
}

impl Configurable for AReno {
    type Parameters = ARenoParameters;

    fn new(parameters: ARenoParameters) -> Self {
        AReno {
            parameters,
            bandwidth: BandwidthFilter::default(),
            probe: 0.0,
            base_rtt: Nanos::MAX,
            congested_rtt: None,
            rtt: Nanos::ZERO,
            growth: 0.0,
        }
    }
}

impl CongestionControl for AReno {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let new_bandwidth = self.bandwidth.on_ack(ack);
        let rtt = ack.rtt.unwrap_or(self.rtt);
        // The exponential is computed only for a changed RTT.
        if rtt != self.rtt || new_bandwidth {
            self.rtt = rtt;
            self.base_rtt = self.base_rtt.min(rtt);
            self.update_growth(window);
        }
        if !ack.may_grow() {
            return;
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            self.probe = 0.0;
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        let cwnd = window.cwnd;
        window.increase(acked, cwnd);
        self.probe(window, window.counted(acked) * self.growth / cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        self.probe = 0.0;
        if congestion.kind == CongestionKind::Timeout {
            return window.set_ssthresh_for_loss(window.cwnd / 2.0);
        }
        window.set_ssthresh_for_loss(window.cwnd / (1.0 + self.congestion_level().unwrap_or(1.0)));
        let rtt = self.rtt.0 as f64;
        let gain = self.parameters.gain;
        self.congested_rtt = Some(match self.congested_rtt {
            None => rtt,
            Some(before) => gain * before + (1.0 - gain) * rtt,
        });
        self.update_growth(window);
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        values.copy_from_slice(&[
            self.congestion_level().unwrap_or(f64::NAN),
            self.growth,
            self.probe,
            window.cwnd - self.probe,
            self.congested_rtt.map_or(f64::NAN, |rtt| rtt * 1e-9),
            bits_per_second(self.bandwidth.segments_per_second(), window),
        ]);
    }
}

impl AReno {
    /// Changes Wprobe by `change`, at least to 0, and the window by the segments that its arithmetic can represent.
    #[inline]
    fn probe(&mut self, window: &mut Window, change: f64) {
        let before = self.probe;
        let after = before + change;
        let after = if after > 0.0 { after } else { 0.0 };
        let step = window.whole(after) - window.whole(before);
        if step != 0.0 {
            window.set_cwnd(window.cwnd + step);
        }
        self.probe = if after < window.cwnd { after } else { window.cwnd };
    }

    /// c; none before the first loss.
    fn congestion_level(&self) -> Option<f64> {
        let congested = self.congested_rtt?;
        let queueing = self.rtt.since(self.base_rtt).0 as f64;
        let span = congested - self.base_rtt.0 as f64;
        Some(if queueing <= 0.0 {
            0.0
        } else if queueing >= span {
            1.0
        } else {
            queueing / span
        })
    }

    /// Winc(c).
    fn update_growth(&mut self, window: &Window) {
        let (Some(c), Some(rate)) = (self.congestion_level(), self.bandwidth.segments_per_second()) else {
            self.growth = 0.0;
            return;
        };
        let wmax = rate * f64::from(window.mss()) * 8.0 / (self.parameters.m * 1e6);
        let beta = 2.0 * wmax * (1.0 / ALPHA - (1.0 / ALPHA + 1.0) * EXP_MINUS_ALPHA);
        let gamma = 1.0 - 2.0 * wmax * (1.0 / ALPHA - (1.0 / ALPHA + 0.5) * EXP_MINUS_ALPHA);
        self.growth = wmax * libm::exp(-ALPHA * c) + beta * c + gamma;
    }
}
