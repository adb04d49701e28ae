//! New Vegas, a *reconstruction*: Vegas with paced packets in slow start and faster growth after it.
//!
//! J. Sing, B. Soh, "TCP New Vegas: Improving the Performance of TCP Vegas Over High Latency Links", IEEE NCA
//! 2005. **The paper's equations are not public.** Summaries name three changes at the sender. They are for paths with long
//! delay, on which Vegas leaves slow start too early and then adds one segment per round trip:
//!
//! - *packet pairing*: two packets are sent back to back, so that delayed ACKs do not inflate RTTs;
//! - *packet pacing* in slow start, so that bursts do not look like a queue;
//! - *rapid window convergence*: after slow start the window grows by more than one segment per round trip, with decreasing
//!   intensity, until the target queue is reached.
//!
//! This file implements that with its own equations. With W the window in segments, in addition to Vegas's rules
//! ([`super::vegas`]):
//!
//! ```text
//! slow start    as the paper on Vegas has it, packets spaced at 2 W/RTT
//! convergence   W += S over a round trip, then S = S/2, from S = W first_step,
//!               until S < 1 or Diff >= alpha
//! then          as Vegas
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `first_step` | 0.25 | 0.01 to 1 | reconstruction |
//! | `alpha` | 2 segments | 0.1 to 1000 | Vegas |
//! | `beta` | 4 segments | 0.1 to 1000 | Vegas |
//! | `gamma` | 1 segment | 0.1 to 1000 | Vegas |
//!
//! Interpretations:
//! - *first_step*: the last doubling round trip of slow start added half of the window. The halving continues: 1/4, 1/8, …, in
//!   total half of W.
//! - *Pairing* belongs to the transport. The smallest RTT of a round trip has the same purpose.
//! - The pacing rate of slow start is two windows per round trip, as in Linux.
//! - A loss ends the convergence; the slow start after a timeout is followed by a new one.
//! - Its results must not be compared with the paper's.

#[cfg(test)]
mod tests;

use super::vegas::{Vegas, VegasParameters, VegasSlowStart};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, Nanos, Needs, Observable, Observation,
    ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "new-vegas-reconstruction",
    title: "TCP New Vegas (reconstruction)",
    year: 2005,
    reference: "after J. Sing, B. Soh, TCP New Vegas: Improving the Performance of TCP Vegas Over High \
                Latency Links, IEEE NCA 2005, whose equations are not public",
    summary: "A reconstruction from summaries: Vegas with a paced slow start and steps that halve after it.",
    strengths: "On long paths it comes nearer to the bandwidth than Vegas before it slows down.",
    weaknesses: "Not the published algorithm, so no result of the paper can be held against it; has Vegas's \
                 weaknesses, above all a small share against flows that fill the queue.",
    signals: &[Signal::Loss, Signal::Delay],
    based_on: "Vegas",
    implemented_in: "nowhere in public",
    reconstruction: true,
    version: 1,
    parameters: NewVegasParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<NewVegas>,
};

parameters! {
    /// Settings of [`NewVegas`].
    pub struct NewVegasParameters {
        /// Fraction of the window that the first round trip after slow start adds.
        first_step: number(0.25, 0.01..=1.0), "1", "reconstruction: half of slow start's last";
        /// Queued segments below which the window grows.
        alpha: number(2.0, 0.1..=1000.0), "segments", "Vegas";
        /// Queued segments above which the window shrinks.
        beta: number(4.0, 0.1..=1000.0), "segments", "Vegas";
        /// Queued segments that end slow start.
        gamma: number(1.0, 0.1..=1000.0), "segments", "Vegas";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "step",
        "S",
        "segments",
        "Growth of this round trip while the window converges; unknown before and after.",
    ),
    Observable::new("diff", "Diff", "segments", "Segments queued: W (1 - baseRTT/RTT), as in Vegas."),
    Observable::new("base_rtt", "baseRTT", "s", "The least round-trip time."),
];

/// Pacing rate of slow start, as a multiple of the window per round trip.
const PACING_GAIN: f64 = 2.0;

/// New Vegas, a reconstruction.
#[derive(Clone, Debug)]
pub struct NewVegas {
    first_step: f64,
    vegas: Vegas,
    /// S, while the window converges.
    step: Option<f64>,
}

impl Configurable for NewVegas {
    type Parameters = NewVegasParameters;

    fn new(parameters: NewVegasParameters) -> Self {
        let NewVegasParameters { first_step, alpha, beta, gamma } = parameters;
        let slow_start = VegasSlowStart::Paper;
        let vegas = VegasParameters { alpha, beta, gamma, slow_start, ..Default::default() };
        NewVegas { first_step, vegas: Vegas::new(vegas), step: None }
    }
}

impl CongestionControl for NewVegas {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let ended = self.vegas.measure(ack);
        if !ack.may_grow() {
            return;
        }
        if window.in_slow_start() {
            self.vegas.slow_start(window, ack, ended);
            if window.in_slow_start() {
                pace(window, ack.srtt);
            } else {
                window.pacing_rate = f64::INFINITY;
                self.step = Some(self.first_step * window.cwnd);
            }
            return;
        }
        if let Some(delay) = ended {
            let had_room = self.vegas.has_room(window, &delay);
            self.step = self.step.map(|step| step / 2.0).filter(|&step| had_room && step >= 1.0);
            if self.step.is_none() {
                self.vegas.avoid_congestion(window, &delay);
            }
        }
        if let Some(step) = self.step {
            window.increase_weighted(ack.acked, step, window.cwnd);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.step = None;
        window.pacing_rate = f64::INFINITY;
        self.vegas.on_congestion(window, congestion);
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        self.vegas.on_recovery_exit(window, now);
    }

    fn needs(&self) -> Needs {
        Needs { pacing: true, ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, at: &Observation, values: &mut [f64]) {
        let mut vegas = [f64::NAN; 3];
        self.vegas.observe(window, at, &mut vegas);
        values.copy_from_slice(&[self.step.unwrap_or(f64::NAN), vegas[0], vegas[1]]);
    }
}

fn pace(window: &mut Window, srtt: Nanos) {
    if srtt > Nanos::ZERO {
        let segments_per_second = PACING_GAIN * window.cwnd / srtt.as_secs_f64();
        window.pacing_rate = segments_per_second * f64::from(window.mss());
    }
}
