//! CDG: reduces the window with a probability that grows with the gradient of the round-trip time.
//!
//! D. A. Hayes, G. Armitage, "Revisiting TCP Congestion Control using Delay Gradients", IFIP Networking 2011, as Linux has it (`tcp_cdg`). With W the
//! window in segments, and gmin, gmax the changes of a round trip's least and greatest RTT against those of the round trip before, summed over the
//! last `window` round trips:
//!
//! ```text
//! g         = gmin if gmin > 0, else gmax                                     (once a round trip)
//! P(backoff)= 1 - exp(-`backoff_factor` g/1 s)   if g > 0
//! backoff     W = `beta` W, at most `ineffective` times in a row without an effect
//! loss        ssthresh = max(shadow, W/2),   shadow = min(shadow/2, W)
//! growth      as NewReno's
//! ```
//!
//! The shadow window grows as W and is not reduced by backoffs, so that a flow which has given way to its own delay loses less to flows that cause loss.
//! With `tolerance`, losses while the queue is not full leave the window: it is full when the least RTT rises and the greatest does not.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `window` | 8 rounds | 1 to 256 | Linux; the paper's a |
//! | `beta` | 724/1024 | 0.1 to 1 | Linux, sqrt(1/2); the paper has 0.7 |
//! | `backoff_factor` | 42 | 0 to 10,000 | Linux; 1000/(G `window`) with the paper's G = 3 |
//! | `ineffective` | 5 | 0 to 100 | Linux, paper; 0 is no limit |
//! | `shadow` | on | | Linux, paper |
//! | `tolerance` | off | | paper; off in Linux |
//! | `slow_start` | `hystart` | `standard`, `limited`, `hystart`, `hystart++`, `search`, `careful-resume` | Linux has a variant of HyStart |
//!
//! Facts of Linux 6.1: g is in microseconds and not divided by the number of round trips, which the factor contains (it is applied to 1e-6 g); fewer than
//! `window` gradients are extrapolated; sums of -32 us and less count as an effect; `tolerance` rounds sums to multiples of 64 us.
//!
//! Interpretations:
//! - A backoff reduces at once. No gradient is measured and the window does not grow until a segment is acknowledged that was sent after it, as in Linux's
//!   state of reduction; then gradients restart from the last round trip.
//! - Linux's filter for delayed ACKs is left out: every sample counts.
//! - Round trips are those of the transport.

#[cfg(test)]
mod tests;

use crate::parts::{
    draws::Draws,
    reno,
    slow_start::{SlowStart, SlowStartKind},
};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, Init, Nanos, Observable, Observation,
    ParameterSet, Signal, Window, build,
};
use alloc::{vec, vec::Vec};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "cdg",
    title: "CAIA Delay-Gradient (CDG)",
    year: 2011,
    reference: "D. A. Hayes, G. Armitage, Revisiting TCP Congestion Control using Delay Gradients, IFIP \
                Networking 2011",
    summary: "Reno that also reduces, by chance, the more the round-trip time rises.",
    strengths: "Short queues without knowledge of the base RTT; tolerates random losses if asked to; as a \
                scavenger gives way to other flows.",
    weaknesses: "Yields to flows that fill the queue, and backs off on paths whose delay varies by itself; \
                 its parameters do not suit every path.",
    signals: &[Signal::Delay, Signal::Loss, Signal::Ecn],
    based_on: "NewReno",
    implemented_in: "Linux (cdg), FreeBSD",
    reconstruction: false,
    version: 1,
    parameters: CdgParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Cdg>,
};

parameters! {
    /// Settings of [`Cdg`].
    pub struct CdgParameters {
        /// Round trips over which gradients are summed.
        window: number(8.0, 1.0..=256.0), "rounds", "Linux";
        /// Fraction of the window that a backoff leaves.
        beta: number(0.70703, 0.1..=1.0), "1", "Linux";
        /// Scale of the probability of a backoff.
        backoff_factor: number(42.0, 0.0..=10_000.0), "1", "Linux";
        /// Backoffs in a row without an effect after which none follows.
        ineffective: number(5.0, 0.0..=100.0), "1", "Linux";
        /// Whether losses reduce to the shadow window.
        shadow: switch(true), "", "Linux";
        /// Whether losses are ignored while the queue is not full.
        tolerance: switch(false), "", "Linux";
        /// Kind of slow start.
        slow_start: word(SlowStartKind::HyStart), "", "Linux";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("gradient", "g", "s", "Sum of the gradients that the last round trip has used."),
    Observable::new("shadow", "s", "segments", "The shadow window, which backoffs do not reduce."),
    Observable::new("backoffs", "b", "1", "Backoffs in a row without an effect."),
];

/// Least and greatest of something, microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Extremes {
    min: i64,
    max: i64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Queue {
    Unknown,
    Full,
    NotFull,
}

/// Sum of gradients that counts as an effect of a backoff, microseconds.
const EFFECT: i64 = -32;
/// Unit to which tolerance rounds sums, microseconds.
const TOLERANCE_UNIT: i64 = 64;

/// CDG.
#[derive(Clone, Debug)]
pub struct Cdg {
    parameters: CdgParameters,
    slow_start: SlowStart,
    draws: Draws,
    /// RTT of this round trip and of the one before.
    rtt: Option<Extremes>,
    before: Option<Extremes>,
    gradients: Vec<Extremes>,
    /// The place of the oldest gradient, and whether there are as many as places.
    oldest: usize,
    filled: bool,
    sum: Extremes,
    /// g of the last round trip, microseconds.
    gradient: f64,
    queue: Queue,
    shadow: f64,
    backoffs: u32,
    acknowledged: u64,
    /// The segments sent at the last backoff, until one beyond them is acknowledged.
    reducing_to: Option<u64>,
}

impl Configurable for Cdg {
    type Parameters = CdgParameters;

    fn new(parameters: CdgParameters) -> Self {
        Cdg {
            slow_start: SlowStart::new(parameters.slow_start, Nanos::ZERO),
            draws: Draws::new(0),
            rtt: None,
            before: None,
            gradients: vec![Extremes::default(); parameters.window as usize],
            oldest: 0,
            filled: false,
            sum: Extremes::default(),
            gradient: 0.0,
            queue: Queue::Unknown,
            shadow: 0.0,
            backoffs: 0,
            acknowledged: 0,
            reducing_to: None,
            parameters,
        }
    }
}

impl CongestionControl for Cdg {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.slow_start = SlowStart::new(self.parameters.slow_start, init.now);
        self.draws = Draws::new(init.seed);
        self.shadow = window.cwnd;
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.acknowledged += u64::from(ack.cumulative);
        if let Some(rtt) = ack.rtt {
            let us = (rtt.0 / 1000).min(1 << 40) as i64;
            let known = self.rtt.unwrap_or(Extremes { min: us, max: us });
            self.rtt = Some(Extremes { min: known.min.min(us), max: known.max.max(us) });
        }
        if self.reducing_to.is_some_and(|sent| self.acknowledged <= sent) {
            return;
        }
        if self.reducing_to.take().is_some() {
            self.queue = Queue::Unknown;
            self.before = self.rtt.take();
        } else if ack.round_start && self.end_round(window, ack) {
            return;
        }
        if !ack.may_grow() {
            if !ack.cwnd_limited {
                self.shadow = self.shadow.min(window.cwnd);
            }
            return;
        }
        let before = window.cwnd;
        let left = if window.in_slow_start() { self.slow_start.on_ack(window, ack) } else { ack.acked };
        if left > 0 {
            reno::increase(window, &Ack { acked: left, ..*ack });
        }
        self.shadow += (window.cwnd - before).max(0.0);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.slow_start.on_congestion(congestion.kind, congestion.now);
        if congestion.is_repeated_timeout() {
            return;
        }
        if self.parameters.tolerance && self.queue == Queue::NotFull {
            return window.set_ssthresh_for_loss(window.cwnd);
        }
        self.shadow = (self.shadow / 2.0).min(window.cwnd);
        let half = window.cwnd / 2.0;
        window.set_ssthresh_for_loss(if self.parameters.shadow { half.max(self.shadow) } else { half });
    }

    fn on_recovery_exit(&mut self, _window: &mut Window, _now: Nanos) {
        self.queue = Queue::Unknown;
        self.before = self.rtt.take();
    }

    fn on_idle_restart(&mut self, window: &mut Window, _now: Nanos, _idle: Nanos) {
        self.gradients.fill(Extremes::default());
        (self.rtt, self.before, self.oldest, self.filled) = (None, None, 0, false);
        (self.sum, self.queue, self.backoffs) = (Extremes::default(), Queue::Unknown, 0);
        self.shadow = window.cwnd;
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, _window: &Window, _at: &Observation, values: &mut [f64]) {
        values.copy_from_slice(&[self.gradient * 1e-6, self.shadow, f64::from(self.backoffs)]);
    }
}

impl Cdg {
    /// Ends a round trip. Returns whether the window is reduced.
    #[inline(never)]
    fn end_round(&mut self, window: &mut Window, ack: &Ack) -> bool {
        let Some(rtt) = self.rtt.take() else { return false };
        if let Some(before) = self.before.replace(rtt) {
            self.take_gradient(Extremes { min: rtt.min - before.min, max: rtt.max - before.max });
            return self.gradient > 0.0 && self.backs_off(window, ack);
        }
        false
    }

    fn take_gradient(&mut self, gradient: Extremes) {
        let oldest = core::mem::replace(&mut self.gradients[self.oldest], gradient);
        self.sum.min += gradient.min - oldest.min;
        self.sum.max += gradient.max - oldest.max;
        let places = self.gradients.len();
        self.oldest = (self.oldest + 1) % places;
        let Extremes { min, max } = self.sum;
        self.gradient = if min > 0 { min } else { max } as f64;
        if !self.filled {
            self.filled = self.oldest == 0;
            let known = if self.filled { places } else { self.oldest };
            self.gradient *= places as f64 / known as f64;
        }
        if min <= EFFECT || max <= EFFECT {
            self.backoffs = 0;
        }
        if self.parameters.tolerance {
            let round = |sum: i64| libm::round(sum as f64 / TOLERANCE_UNIT as f64);
            let (min, max) = (round(min), round(max));
            if min > 0.0 && max <= 0.0 {
                self.queue = Queue::Full;
            } else if (min > 0.0 && max > 0.0) || max < 0.0 {
                self.queue = Queue::NotFull;
            }
        }
    }

    fn backs_off(&mut self, window: &mut Window, ack: &Ack) -> bool {
        let stays = libm::exp(-self.gradient * self.parameters.backoff_factor * 1e-6);
        if self.draws.share() < stays {
            return false;
        }
        if self.parameters.ineffective > 0.0 {
            self.backoffs = self.backoffs.saturating_add(1);
            if f64::from(self.backoffs) > self.parameters.ineffective {
                return false;
            }
        }
        self.shadow = self.shadow.max(window.cwnd);
        self.reducing_to = Some(ack.sent);
        window.lower_cwnd(window.cwnd * self.parameters.beta);
        window.set_ssthresh(window.cwnd);
        true
    }
}
