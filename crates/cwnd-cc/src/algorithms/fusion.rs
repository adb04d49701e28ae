//! TCP-Fusion, a *reconstruction*: Westwood's bandwidth determines the rate of growth, the queue its direction, and Reno its
//! minimum.
//!
//! K. Kaneko, T. Fujikawa, Z. Su, J. Katto, "TCP-Fusion: A Hybrid Congestion Control Algorithm for High-speed Networks",
//! PFLDnet 2007. The paper's text was not available: the rules come from summaries of it and from two public ns-3 models,
//! which differ. With W the window in segments, B the bandwidth in segments per second from Westwood+'s filter, q = RTT -
//! RTTmin the queueing delay, once a round trip:
//!
//! ```text
//! diff = W q/RTT                                      segments queued, as Vegas estimates them
//! q < Dmin        W += B T                            over the round trip
//! q > 3 Dmin      W -= diff - W Dmin/RTT              what is queued beyond Dmin
//! otherwise       W stays
//! always          W = max(W, W_reno),  W_reno += 1 a round trip
//! loss            W = max(RTTmin/RTT, 1/2) W,  W_reno = W
//! ```
//!
//! Slow start and timeouts are Reno's.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `d_min` | 4 ms | 0.1 to 1000 | Dmin: one clock tick, in both public ns-3 models |
//! | `growth_time` | 1 ms | 0.01 to 100 | T: the models' `B/(12 Mbit/s)`, see below |
//!
//! Interpretations:
//! - *Growth*: the models add B/(12 Mbit/s) segments, which B delivers in 1 ms with segments of 1,500 bytes. One applies a
//!   window's share of it once per round trip, the other all of it at every ACK. Here, W grows by it once per round trip,
//!   spread over the ACKs.
//!   T is therefore those models' choice of a packet size and not a value of the paper. The throughputs of another publication's table
//!   (`studies/comparison/throughput.toml`) come closest with 0.06 ms, where W hardly grows faster than W_reno; that study
//!   has it as a fit, and the default stays what the models have.
//! - RTT is the smallest sample of the round trip; at a loss, it is the latest sample.
//! - *W_reno* grows by one per round trip of this flow, which is 1/W for each acknowledged segment. It begins at the window
//!   after slow start or a loss. W therefore never falls below that window until the next loss.
//! - Summaries say "implemented in Solaris"; they confuse the algorithm with that system's loopback bypass of the same name.

#[cfg(test)]
mod tests;

use crate::observable::{bits_per_second, known, seconds};
use crate::parts::{
    backlog::{DelayRounds, RoundDelay},
    bandwidth::BandwidthFilter,
};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, Nanos, Observable,
    Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "fusion",
    title: "TCP-Fusion (reconstruction)",
    year: 2007,
    reference: "K. Kaneko, T. Fujikawa, Z. Su, J. Katto, TCP-Fusion: A Hybrid Congestion Control Algorithm \
                for High-speed Networks, PFLDnet 2007",
    summary: "A reconstruction from summaries and public models: grows by a millisecond of its bandwidth a round trip while under 4 ms are queued, retreats over \
              12 ms, and is never slower than Reno.",
    strengths: "On fast paths with small queues it grows by many segments a round trip, and gives up at a \
                loss only what was queued.",
    weaknesses: "Its thresholds are times, set by hand: where 4 ms of queue are normal it is Reno; under \
                 about 10 Mbit/s it is Reno too.",
    signals: &[Signal::Loss, Signal::Delay, Signal::Rate],
    based_on: "Reno, Vegas, Westwood+",
    implemented_in: "third-party models for ns-3",
    reconstruction: true,
    version: 1,
    parameters: FusionParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Fusion>,
};

parameters! {
    /// Settings of [`Fusion`].
    pub struct FusionParameters {
        /// Dmin, the queueing delay below which the window grows; from three times that on it shrinks.
        d_min: number(4.0, 0.1..=1000.0), "ms", "public ns-3 models";
        /// Time whose delivered segments are added each round trip.
        growth_time: number(1.0, 0.01..=100.0), "ms", "public ns-3 models, B/(12 Mbit/s)";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("bandwidth", "B", "bit/s", "Westwood+'s bandwidth estimate, payload."),
    Observable::new("growth", "B T", "segments", "Growth of the window in this round trip, beside Reno's."),
    Observable::new(
        "w_reno",
        "W_reno",
        "segments",
        "The window that Reno would have, below which it never falls.",
    ),
    Observable::new(
        "diff",
        "diff",
        "segments",
        "Segments queued: W q/RTT, with the RTT of the last round trip.",
    ),
    Observable::new("base_rtt", "RTTmin", "s", "The least round-trip time."),
];

/// TCP-Fusion, a reconstruction.
#[derive(Clone, Debug)]
pub struct Fusion {
    parameters: FusionParameters,
    rounds: DelayRounds,
    bandwidth: BandwidthFilter,
    /// Growth of the window in this round trip, segments.
    growth: f64,
    /// W_reno.
    reno_window: f64,
}

impl Configurable for Fusion {
    type Parameters = FusionParameters;

    fn new(parameters: FusionParameters) -> Self {
        Fusion {
            parameters,
            rounds: DelayRounds::default(),
            bandwidth: BandwidthFilter::default(),
            growth: 0.0,
            reno_window: 0.0,
        }
    }
}

impl CongestionControl for Fusion {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.bandwidth.on_ack(ack);
        let ended = self.rounds.on_ack(ack);
        if !ack.may_grow() {
            return;
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            self.reno_window = window.cwnd;
            if acked == 0 {
                return;
            }
        }
        if let Some(delay) = ended {
            self.end_round(window, &delay);
        }
        let cwnd = window.cwnd;
        self.reno_window += window.counted(acked) / cwnd;
        if self.growth > 0.0 {
            window.increase_weighted(acked, self.growth, cwnd);
        }
        if self.reno_window > window.cwnd {
            self.reno_window = self.reno_window.min(window.clamp());
            window.set_cwnd(self.reno_window);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.rounds.restart();
        self.growth = 0.0;
        if congestion.is_repeated_timeout() {
            return;
        }
        let kept = match congestion.kind {
            CongestionKind::Timeout => 0.5,
            _ => kept(self.rounds.base(), congestion.rtt),
        };
        window.set_ssthresh_for_loss(kept * window.cwnd);
        self.reno_window = window.ssthresh;
    }

    fn on_recovery_exit(&mut self, _window: &mut Window, _now: Nanos) {
        self.rounds.restart();
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let diff = self.rounds.last().map_or(f64::NAN, |delay| delay.queued_segments(window.cwnd));
        values.copy_from_slice(&[
            bits_per_second(self.bandwidth.segments_per_second(), window),
            self.growth,
            known(self.reno_window),
            diff,
            seconds(self.rounds.base()),
        ]);
    }
}

impl Fusion {
    fn end_round(&mut self, window: &mut Window, delay: &RoundDelay) {
        let FusionParameters { d_min, growth_time } = self.parameters;
        let queueing = delay.queueing_delay().as_secs_f64();
        let d_min = d_min * 1e-3;
        self.growth = 0.0;
        if queueing < d_min {
            let rate = self.bandwidth.segments_per_second().unwrap_or(0.0);
            self.growth = rate * growth_time * 1e-3;
        } else if queueing > 3.0 * d_min {
            let cwnd = window.cwnd;
            let too_many = cwnd * (queueing - d_min) / delay.rtt.as_secs_f64();
            window.lower_cwnd((cwnd - too_many).max(self.reno_window));
        }
    }
}

/// max(RTTmin/RTT, 1/2).
fn kept(base: Nanos, rtt: Nanos) -> f64 {
    if base > rtt || rtt.0 == 0 { 0.5 } else { (base.0 as f64 / rtt.0 as f64).max(0.5) }
}
