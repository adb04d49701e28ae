//! Copa: moves the rate towards the inverse of the queueing delay.
//!
//! V. Arun, H. Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018,
//! sections 2.1 (rate, velocity, slow start) and 2.2 (competitive mode). With W the window in segments and times
//! in seconds:
//!
//! ```text
//! RTTmin       the least round-trip time of 10 s
//! RTTstanding  the least of srtt/2
//! dq           = RTTstanding - RTTmin                 the standing queue
//! lambda_t     = 1/(delta dq)                         target rate, segments a second; infinite without a queue
//! lambda       = W/RTTstanding
//!
//! W += v/(delta W) where lambda <= lambda_t, else W -= v/(delta W), for each acknowledged segment
//! v    doubles each round trip once W has gone the same way for three of them, else 1
//! slow start   W += 1 for each acknowledged segment, until lambda > lambda_t
//! pacing       = 2 W/RTTstanding
//!
//! competitive mode, when the queue was not nearly empty, dq < 0.1 (RTTmax - RTTmin), for five round trips:
//!     1/delta  += 1 a round trip, halved at a loss, at least 1/delta of the default mode
//! ```
//!
//! Flows with the same delta converge to about 1/delta queued segments each; the queue empties every five round trips (section
//! 3). RTTmax is the largest of four round trips.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `delta` | 0.5 1/segment | 0.01 to 10 | paper, section 2.2 |
//! | `mode_switching` | on | | paper, section 2.2 |
//! | `min_rtt_window` | 10 s | 1 to 100 | paper, section 2.1 |
//!
//! Interpretations:
//! - v counts consecutive round trips in which W changed in the same direction. A round trip with a change in the other
//!   direction, or with none, resets v to 1 and the count to 0.
//! - A step is at most the number of acknowledged segments. Otherwise v would exceed it, and a window that more than doubles
//!   in a round trip is no congestion avoidance.
//! - The filter windows of RTTmin and RTTstanding move in tenths and eighths.
//! - Losses change only delta, in competitive mode. The window is not reduced, and follows the delay in recovery, too. A
//!   timeout halves ssthresh and restarts from one segment, as the standard requires.
//! - W is at least 2.
//! - Other details of kernel and QUIC implementations (smoothing of W, a cap on delta) are not in the paper.

#[cfg(test)]
mod tests;

use crate::observable::{bits_per_second, seconds};
use crate::parts::time_min::TimeMin;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, CongestionKind, Nanos,
    Needs, Observable, Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "copa",
    title: "Copa",
    year: 2018,
    reference: "V. Arun, H. Balakrishnan, Copa: Practical Delay-Based Congestion Control for the Internet, \
                NSDI 2018",
    summary: "Steers its rate to one over the queueing delay, and competes as an AIMD where others keep the \
              queue full.",
    strengths: "Short queues, quick shares and fairness across RTTs among its own kind; unmoved by random \
                losses.",
    weaknesses: "Delay that varies for other reasons (wireless, token buckets) lowers its rate; mode \
                 switching errs with many flows or small buffers.",
    signals: &[Signal::Delay, Signal::Loss],
    based_on: "a target rate from a Markovian model",
    implemented_in: "mvfst (Facebook's QUIC), the authors' user-space sender",
    reconstruction: false,
    version: 1,
    parameters: CopaParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Copa>,
};

parameters! {
    /// Settings of [`Copa`].
    pub struct CopaParameters {
        /// Weight of delay against throughput in the default mode.
        delta: number(0.5, 0.01..=10.0), "1/segment", "paper, section 2.2";
        /// Whether it competes where other flows keep the queue full.
        mode_switching: switch(true), "", "paper, section 2.2";
        /// Time span of the smallest round-trip time.
        min_rtt_window: number(10.0, 1.0..=100.0), "s", "paper, section 2.1";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::mode(
        "mode",
        "mode",
        "Slow start, or whether it competes with flows that fill the queue.",
        &["slow start", "default", "competitive"],
    ),
    Observable::new("velocity", "v", "1", "Velocity: doubles while the window keeps its direction."),
    Observable::new(
        "delta",
        "delta",
        "1",
        "Share that each queued segment takes off the target rate: lambda_t = 1/(delta dq).",
    ),
    Observable::new("queueing", "dq", "s", "The standing queue, RTTstanding - RTTmin."),
    Observable::new("rtt_standing", "RTTstanding", "s", "The least round-trip time of srtt/2."),
    Observable::new("rtt_min", "RTTmin", "s", "The least round-trip time of 10 s."),
    Observable::new("target_rate", "lambda_t", "bit/s", "1/(delta dq), payload; unknown without a queue."),
];

const MIN_CWND: f64 = 2.0;
/// Round trips in one direction after which the velocity doubles.
const STEADY_ROUNDS: u32 = 3;
/// Round trips within which the queue of a path without other flows is nearly empty once.
const EMPTY_ROUNDS: u32 = 5;
/// Number of round trips in the maximum of RTTmax.
const MAX_ROUNDS: usize = 4;
const MIN_SPANS: usize = 10;
const STANDING_SPANS: usize = 8;

/// Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    parameters: CopaParameters,
    /// 1/delta.
    segments: f64,
    velocity: f64,
    /// Consecutive round trips in the direction of `rising`.
    steady_rounds: u32,
    rising: bool,
    /// The window at the beginning of this round trip.
    round_cwnd: f64,
    slow_start: bool,
    min: TimeMin<MIN_SPANS>,
    standing: TimeMin<STANDING_SPANS>,
    /// Largest sample of this round trip and of those before it, the latest first.
    max: [Nanos; MAX_ROUNDS],
    /// Round trips since the queue was nearly empty.
    full_rounds: u32,
    lost: bool,
    /// Pending part of a step where windows are whole numbers.
    owed: f64,
}

impl Configurable for Copa {
    type Parameters = CopaParameters;

    fn new(parameters: CopaParameters) -> Self {
        Copa {
            segments: 1.0 / parameters.delta,
            velocity: 1.0,
            steady_rounds: 0,
            rising: true,
            round_cwnd: 0.0,
            slow_start: true,
            min: TimeMin::default(),
            standing: TimeMin::default(),
            max: [Nanos::ZERO; MAX_ROUNDS],
            full_rounds: 0,
            lost: false,
            owed: 0.0,
            parameters,
        }
    }
}

impl CongestionControl for Copa {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.measure(ack.now, rtt, ack.srtt);
        }
        if ack.round_start {
            self.end_round(window);
        }
        let standing = self.standing.get();
        if standing == Nanos::MAX || ack.acked == 0 {
            return;
        }
        let standing = standing.as_secs_f64().max(1e-9);
        self.steer(window, ack, standing);
        window.pacing_rate = 2.0 * window.cwnd / standing * f64::from(window.mss());
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        match congestion.kind {
            CongestionKind::Timeout => {
                self.velocity = 1.0;
                self.steady_rounds = 0;
                self.slow_start = true;
                window.restart_cwnd = 1.0;
                if !congestion.is_repeated_timeout() {
                    window.set_ssthresh_for_loss(window.cwnd / 2.0);
                }
            }
            CongestionKind::Loss => {
                self.lost = true;
                window.set_ssthresh_for_loss(window.cwnd);
            }
            CongestionKind::Ecn => window.set_ssthresh_for_loss(window.cwnd),
        }
    }

    fn needs(&self) -> Needs {
        Needs { pacing: true, owns_recovery: true, marks_only: true, ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let (standing, min) = (seconds(self.standing.get()), seconds(self.min.get()));
        let queueing = standing - min;
        let competes = self.segments > 1.0 / self.parameters.delta;
        let mode = if self.slow_start { 0 } else { 1 + u8::from(competes) };
        values.copy_from_slice(&[
            f64::from(mode),
            self.velocity,
            1.0 / self.segments,
            queueing,
            standing,
            min,
            bits_per_second(Some(self.segments / queueing), window),
        ]);
    }
}

impl Copa {
    #[inline]
    fn measure(&mut self, now: Nanos, rtt: Nanos, srtt: Nanos) {
        let window = self.parameters.min_rtt_window * (1e9 / MIN_SPANS as f64);
        self.min.add(now, Nanos(window as u64), rtt);
        self.standing.add(now, Nanos(srtt.0 / (2 * STANDING_SPANS as u64)), rtt);
        self.max[0] = self.max[0].max(rtt);
    }

    /// dq, seconds.
    #[inline]
    fn queueing(&self) -> f64 {
        self.standing.get().since(self.min.get()).as_secs_f64()
    }

    fn steer(&mut self, window: &mut Window, ack: &Ack, standing: f64) {
        let cwnd = window.cwnd;
        // lambda <= lambda_t without a division: W delta dq <= RTTstanding.
        let up = cwnd * self.queueing() <= standing * self.segments;
        let acked = f64::from(ack.acked);
        if self.slow_start {
            if up {
                if ack.cwnd_limited {
                    window.set_cwnd(cwnd + acked);
                }
                return;
            }
            self.slow_start = false;
        }
        let step = (acked * self.velocity * self.segments / cwnd).min(acked);
        if !up {
            self.fall(window, step);
        } else if ack.cwnd_limited {
            window.increase_weighted(1, step, 1.0);
        }
    }

    /// Lowers the window; where windows are whole numbers, by whole segments when their sum is reached.
    fn fall(&mut self, window: &mut Window, step: f64) {
        let mut step = step;
        if window.arithmetic() != Arithmetic::Real {
            self.owed += step;
            step = libm::floor(self.owed);
            self.owed -= step;
        }
        if step > 0.0 {
            window.set_cwnd((window.cwnd - step).max(MIN_CWND.min(window.cwnd)));
        }
    }

    /// Updates velocity and mode, once per round trip.
    fn end_round(&mut self, window: &Window) {
        let rising = window.cwnd > self.round_cwnd;
        let moved = window.cwnd != self.round_cwnd;
        if moved && rising == self.rising && !self.slow_start {
            self.steady_rounds += 1;
            if self.steady_rounds >= STEADY_ROUNDS {
                self.velocity = (2.0 * self.velocity).min(window.clamp());
            }
        } else {
            self.velocity = 1.0;
            self.steady_rounds = u32::from(moved && !self.slow_start);
        }
        self.rising = rising;
        self.round_cwnd = window.cwnd;
        self.end_mode_round();
        self.max.rotate_right(1);
        self.max[0] = Nanos::ZERO;
    }

    fn end_mode_round(&mut self) {
        let least = 1.0 / self.parameters.delta;
        let greatest = self.max.iter().copied().max().unwrap_or_default();
        let span = greatest.since(self.min.get()).as_secs_f64();
        if self.queueing() < 0.1 * span || span == 0.0 {
            self.full_rounds = 0;
        } else {
            self.full_rounds = self.full_rounds.saturating_add(1);
        }
        if !self.parameters.mode_switching || self.full_rounds < EMPTY_ROUNDS {
            self.segments = least;
        } else if self.lost {
            self.segments = (self.segments / 2.0).max(least);
        } else {
            self.segments += 1.0;
        }
        self.lost = false;
    }
}
