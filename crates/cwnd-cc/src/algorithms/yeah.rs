//! YeAH: Scalable TCP while the queue is short, Reno while it is long; it drains its own queue.
//!
//! A. Baiocchi, A. P. Castellani, F. Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007, with the constants and the
//! order of steps of Linux's module, written by one of the authors. With W the window in segments, once a round trip of at
//! least three samples:
//!
//! ```text
//! Q = W (1 - baseRTT/RTT)                                    the queue, as Vegas estimates it
//! slow mode   if Q > alpha or RTT - baseRTT > baseRTT/phi;  fast mode otherwise
//! fast        W += 1/min(W, 100) for each acknowledged segment, Scalable TCP's growth
//! slow        W += 1/W for each acknowledged segment
//! decongest   in slow mode, if Q > alpha and W > W_reno:
//!             W = max(W - min(Q/gamma, epsilon W), W_reno), ssthresh = W
//! W_reno      += 1 in each slow round trip; begins again, at W/2, after zeta fast ones
//! loss        W -= W/2                            after rho slow round trips or more in a row: Reno competes
//!             W -= min(max(Q, delta W), W/2)      otherwise
//!             W_reno = max(W_reno/2, 2)
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `alpha` | 80 segments | 1 to 10000 | Linux (Q_max of the paper) |
//! | `phi` | 8 | 1 to 100 | paper, Linux |
//! | `gamma` | 1 | 0.1 to 100 | paper, Linux |
//! | `epsilon` | 0.5 | 0.01 to 0.9 | Linux |
//! | `delta` | 0.125 | 0.01 to 0.5 | Linux |
//! | `rho` | 16 round trips | 0 to 1000 | Linux |
//! | `zeta` | 50 round trips | 0 to 1000 | Linux |
//!
//! Interpretations:
//! - *phi*: summaries write `Q/RTTmin < phi`, whose units do not agree. Here, the queueing delay's share of baseRTT is
//!   compared with 1/phi, as in Linux.
//! - RTT is the smallest sample of the round trip. It is used in slow start, too, where decongestion removes the overshoot and
//!   ends slow start by ssthresh (Linux).
//! - Q at a loss is that of the last whole round trip. A timeout sets ssthresh like a loss.
//! - In Linux 2.6's arithmetic, the window during recovery is `ssthresh/2`, as in ns-2.35's module. That arithmetic counts
//!   ACKs in fast mode; the others count acknowledged segments, like the first kernel module. In slow mode, it takes the step
//!   with the ACK that completes the window.
//! - In the integer arithmetics, Q and reductions are whole segments, computed from whole microseconds. A round trip ends with the
//!   first ACK beyond the segments sent at its beginning, and the sample of that ACK counts in it. The end of a recovery begins
//!   another round trip. In today's Linux, so does the end of reordering, and baseRTT is forgotten when nothing is in flight.

#[cfg(test)]
mod tests;

use crate::observable::seconds;
use crate::parts::backlog::{DelayRounds, RoundDelay};
use crate::parts::reno;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, CompatNeeds, Configurable, Congestion, CongestionControl, Nanos, Needs,
    Observable, Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "yeah",
    title: "YeAH-TCP",
    year: 2007,
    reference: "A. Baiocchi, A. P. Castellani, F. Vacirca, YeAH-TCP: Yet Another Highspeed TCP, PFLDnet 2007",
    summary: "Scalable TCP's growth while the queue is short, Reno's while it is long; drains its own queue \
              and gives up only that at a loss.",
    strengths: "Fills long fast paths with a short queue and few losses, and gives way to Reno where it \
                meets it.",
    weaknesses: "Where buffers hold fewer than 80 segments a flow it loses before it decongests; a baseRTT \
                 that is wrong makes it greedy; late flows see the queue of the others as their path.",
    signals: &[Signal::Loss, Signal::Delay],
    based_on: "Scalable TCP, Reno, Vegas",
    implemented_in: "Linux (yeah), ns-2, ns-3",
    reconstruction: false,
    version: 5,
    parameters: YeahParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Yeah>,
};

parameters! {
    /// Settings of [`Yeah`].
    pub struct YeahParameters {
        /// Queued segments from which the flow decongests.
        alpha: number(80.0, 1.0..=10000.0), "segments", "Linux";
        /// Divisor of baseRTT that gives the queueing delay of slow mode.
        phi: number(8.0, 1.0..=100.0), "1", "paper, Linux";
        /// Divisor of the queue that gives the reduction of a decongestion.
        gamma: number(1.0, 0.1..=100.0), "1", "paper, Linux";
        /// Largest fraction of the window that a decongestion removes.
        epsilon: number(0.5, 0.01..=0.9), "1", "Linux";
        /// Smallest fraction of the window removed at a loss.
        delta: number(0.125, 0.01..=0.5), "1", "Linux";
        /// Consecutive slow round trips that indicate Reno flows on the same path.
        rho: number(16.0, 0.0..=1000.0), "round trips", "Linux";
        /// Fast round trips after which the estimate of Reno's window restarts.
        zeta: number(50.0, 0.0..=1000.0), "round trips", "Linux";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::mode("mode", "mode", "Fast grows as Scalable TCP, slow as Reno.", &["fast", "slow"]),
    Observable::new("queue", "Q", "segments", "Segments queued in the last round trip: W (1 - baseRTT/RTT)."),
    Observable::new(
        "w_reno",
        "W_reno",
        "segments",
        "The window that Reno would have, below which decongestion never takes it.",
    ),
    Observable::new("base_rtt", "baseRTT", "s", "The least round-trip time."),
];

const MIN_SAMPLES: u32 = 3;
/// Scalable TCP's a is 1/100, where ACKs are not delayed.
const SCALABLE_SEGMENTS: f64 = 100.0;
const LEAST_RENO_WINDOW: f64 = 2.0;

/// YeAH-TCP.
#[derive(Clone, Debug)]
pub struct Yeah {
    parameters: YeahParameters,
    rounds: DelayRounds,
    /// Q of the last round trip.
    queue: f64,
    /// W_reno.
    reno_window: f64,
    /// Consecutive slow round trips.
    slow_rounds: u32,
    /// Fast round trips since the last loss or restart of W_reno.
    fast_rounds: u32,
}

impl Configurable for Yeah {
    type Parameters = YeahParameters;

    fn new(parameters: YeahParameters) -> Self {
        Yeah {
            parameters,
            rounds: DelayRounds::default(),
            queue: 0.0,
            reno_window: LEAST_RENO_WINDOW,
            slow_rounds: 0,
            fast_rounds: 0,
        }
    }
}

impl CongestionControl for Yeah {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let ended = self.rounds.on_ack_as_module(window, ack);
        if !ack.may_grow() {
            return;
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
        }
        if acked > 0 {
            if self.slow_rounds == 0 {
                window.increase(acked, window.cwnd.min(SCALABLE_SEGMENTS));
            } else {
                window.increase_by_window(acked);
            }
        }
        if let Some(delay) = ended
            && delay.samples >= MIN_SAMPLES
        {
            self.end_round(window, &delay);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.rounds.on_congestion(window, congestion);
        if congestion.is_repeated_timeout() {
            return;
        }
        let cwnd = window.cwnd;
        let YeahParameters { delta, rho, .. } = self.parameters;
        let half = cwnd / 2.0;
        let given_up =
            if f64::from(self.slow_rounds) < rho { self.queue.min(half).max(delta * cwnd) } else { half };
        self.fast_rounds = 0;
        self.reno_window = window.whole(self.reno_window / 2.0).max(LEAST_RENO_WINDOW);
        window.set_ssthresh_for_loss(cwnd - window.whole(given_up));
        reno::hold_half_in_recovery(window);
    }

    fn on_recovery_exit(&mut self, _window: &mut Window, _now: Nanos) {
        self.rounds.restart();
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        self.rounds.on_undo(window, now);
    }

    fn on_idle_restart(&mut self, window: &mut Window, _now: Nanos, _idle: Nanos) {
        self.rounds.on_idle_restart(window);
    }

    fn needs(&self) -> Needs {
        Needs { compat: CompatNeeds { covered_rtt: true, ..CompatNeeds::default() }, ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, _window: &Window, _at: &Observation, values: &mut [f64]) {
        let slow = f64::from(u8::from(self.slow_rounds > 0));
        values.copy_from_slice(&[slow, self.queue, self.reno_window, seconds(self.rounds.base())]);
    }
}

impl Yeah {
    fn end_round(&mut self, window: &mut Window, delay: &RoundDelay) {
        let YeahParameters { alpha, phi, gamma, epsilon, zeta, .. } = self.parameters;
        let cwnd = window.cwnd;
        let arithmetic = window.arithmetic();
        let whole = arithmetic != Arithmetic::Real;
        self.queue = if whole { delay.whole_segments(cwnd) } else { delay.queued_segments(cwnd) };
        let is_short = if arithmetic == Arithmetic::Linux {
            let [base, rtt] = delay.microseconds();
            (rtt - base) as f64 <= libm::floor(base as f64 / phi)
        } else {
            delay.queueing_delay().0 as f64 <= delay.base.0 as f64 / phi
        };
        if self.queue <= alpha && is_short {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if f64::from(self.fast_rounds) > zeta {
                self.reno_window = LEAST_RENO_WINDOW;
                self.fast_rounds = 0;
            }
            return;
        }
        if self.queue > alpha && cwnd > self.reno_window {
            let taken = (self.queue / gamma).min(epsilon * cwnd);
            let taken = if whole { libm::floor(taken) } else { taken };
            window.set_cwnd((cwnd - taken).max(self.reno_window));
            window.set_ssthresh(window.cwnd);
        }
        self.reno_window = if self.reno_window <= LEAST_RENO_WINDOW {
            window.whole(window.cwnd / 2.0).max(LEAST_RENO_WINDOW)
        } else {
            self.reno_window + 1.0
        };
        self.slow_rounds = self.slow_rounds.saturating_add(1);
    }
}
