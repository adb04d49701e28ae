//! Vegas: keeps a few segments in the queue.
//!
//! L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8),
//! 1995. With W the window in segments, once a round trip:
//!
//! ```text
//! Diff = W (1 - baseRTT/RTT)                           segments in queues
//! congestion avoidance   W += 1  if Diff < alpha;  W -= 1  if Diff > beta
//! slow start             W += 1 for each acknowledged segment, until Diff > gamma: W = W baseRTT/RTT + 1
//!                        (the paper: in every other round trip; W -= W/8)
//! loss                   W = W/2 (the paper: W = 3/4 W)
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `alpha` | 2 segments | 0.1 to 1000 | Linux; the paper measured 1 and 3, and 2 and 4 |
//! | `beta` | 4 segments | 0.1 to 1000 | Linux |
//! | `gamma` | 1 segment | 0.1 to 1000 | paper |
//! | `kept` | 0.5 | 0.1 to 0.95 | Linux; 0.75 in the paper |
//! | `slow_start` | `linux` | `paper`, `linux` | see below |
//!
//! The defaults are Linux's, except for Diff in real arithmetic. The paper's Vegas is `vegas:alpha=1,beta=3,kept=0.75,slow_start=paper`.
//!
//! Interpretations:
//! - *Diff* is the paper's. In today's Linux arithmetic it is that of Linux 6.1, `W (RTT - baseRTT)/baseRTT`, which is larger by
//!   RTT/baseRTT (`vegas/linux61.rs`).
//! - *RTT* is the least sample of the round trip, as in Linux and ns-2's module, so that delayed ACKs do not look like a
//!   queue. With fewer than three samples, all may come from delayed ACKs; Vegas then adds one segment per round trip, like
//!   Reno.
//! - *Slow start*: Linux doubles in every round trip, compares after each, and ends with the window that the path delivered.
//!   The paper holds the window in every other round trip and compares after those, when RTT belongs to one window. On a long
//!   fast path, its reduction by an eighth can leave thousands of segments in the queue, which then shrinks by one segment per
//!   round trip.
//! - *Loss*: Linux halves the window. The paper's 3/4 belongs to its fine-grained retransmissions, which the transport would
//!   implement. After a timeout, the stack's restart window is used (1; the paper has 2).
//! - baseRTT is the smallest of the connection. In today's Linux arithmetic, an idle time resets it.
//! - In Linux 2.6's arithmetic, with Linux's slow start, it is the module of Linux 2.6 and ns-2.35 (`vegas/linux.rs`): the
//!   window held during recovery is `ssthresh/2`, and a segment is added or removed in two round trips, not in one.

mod linux;
mod linux61;
#[cfg(test)]
mod tests;

use crate::observable::seconds;
use crate::parts::backlog::{DelayRounds, RoundDelay};
use crate::parts::reno;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, CompatNeeds, Configurable, Congestion, CongestionControl, Nanos, Needs,
    Observable, Observation, ParameterSet, Signal, Window, build,
};
use linux::VegasLinux;

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "vegas",
    title: "TCP Vegas",
    year: 1995,
    reference: "L. Brakmo, L. Peterson, TCP Vegas: End to End Congestion Avoidance on a Global Internet, IEEE \
                JSAC 13(8), 1995",
    summary: "Estimates what it has in queues from the delay and keeps that between two and four segments.",
    strengths: "Full use of a path with next to no queue and no losses of its own making, where it is alone \
                or among its like.",
    weaknesses: "Flows that fill the queue take nearly everything from it; one segment a round trip is slow \
                 on a fast long path; flows that start into a standing queue take it for the path.",
    signals: &[Signal::Loss, Signal::Delay],
    based_on: "Reno",
    implemented_in: "Linux (vegas), FreeBSD (cc_vegas), ns-2, ns-3",
    reconstruction: false,
    version: 3,
    parameters: VegasParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Vegas>,
};

words! {
    /// Kind of slow start.
    pub enum VegasSlowStart {
        /// Doubles in every other round trip; reduces the window by an eighth at its end.
        Paper = "paper",
        /// Doubles in every round trip; ends with the window that the path delivered.
        Linux = "linux",
    }
}

parameters! {
    /// Settings of [`Vegas`].
    pub struct VegasParameters {
        /// Queued segments below which the window grows.
        alpha: number(2.0, 0.1..=1000.0), "segments", "Linux; the paper has 1 and 2";
        /// Queued segments above which the window shrinks.
        beta: number(4.0, 0.1..=1000.0), "segments", "Linux; the paper has 3 and 4";
        /// Queued segments that end slow start.
        gamma: number(1.0, 0.1..=1000.0), "segments", "paper";
        /// The fraction of the window kept at a loss.
        kept: number(0.5, 0.1..=0.95), "1", "Linux; 0.75 in the paper";
        /// Kind of slow start.
        slow_start: word(VegasSlowStart::Linux), "", "Linux; the paper has paper";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "diff",
        "Diff",
        "segments",
        "Segments queued: W (1 - baseRTT/RTT), with the RTT of the last round trip.",
    ),
    Observable::new("base_rtt", "baseRTT", "s", "The least round-trip time."),
    Observable::new("rtt", "RTT", "s", "The least round-trip time of the last round trip."),
];

/// Fewer samples may all come from delayed ACKs.
pub(crate) const MIN_SAMPLES: u32 = 3;

/// TCP Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    parameters: VegasParameters,
    rounds: DelayRounds,
    /// Whether slow start doubles the window in this round trip.
    doubling: bool,
    /// State of Linux 2.6's arithmetic.
    linux: VegasLinux,
}

impl Configurable for Vegas {
    type Parameters = VegasParameters;

    fn new(parameters: VegasParameters) -> Self {
        Vegas { parameters, rounds: DelayRounds::default(), doubling: true, linux: VegasLinux::default() }
    }
}

impl CongestionControl for Vegas {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.uses_linux_rules(window) {
            return self.linux.on_ack(window, ack, &self.parameters);
        }
        if self.uses_linux61_rules(window) {
            return linux61::on_ack(&mut self.rounds, window, ack, &self.parameters);
        }
        let ended = self.rounds.on_ack(ack);
        if !ack.may_grow() {
            return;
        }
        if window.in_slow_start() {
            self.slow_start(window, ack, ended);
        } else if let Some(delay) = ended {
            self.avoid_congestion(window, &delay);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if self.uses_linux61_rules(window) {
            self.rounds.on_congestion(window, congestion);
        } else {
            self.rounds.restart();
        }
        self.doubling = true;
        if congestion.is_repeated_timeout() {
            return;
        }
        window.set_ssthresh_for_loss(self.parameters.kept * window.cwnd);
        reno::hold_half_in_recovery(window);
    }

    fn on_recovery_exit(&mut self, _window: &mut Window, _now: Nanos) {
        self.rounds.restart();
        self.linux.begin_round();
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

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let (base, rtt) = match self.uses_linux_rules(window) {
            true => self.linux.round_trips(),
            false => (self.rounds.base(), self.rounds.last().map_or(Nanos::MAX, |delay| delay.rtt)),
        };
        let (base, rtt) = (seconds(base), seconds(rtt));
        values.copy_from_slice(&[window.cwnd * (1.0 - base / rtt), base, rtt]);
    }
}

impl Vegas {
    fn uses_linux_rules(&self, window: &Window) -> bool {
        window.arithmetic() == Arithmetic::Linux26 && self.parameters.slow_start == VegasSlowStart::Linux
    }

    fn uses_linux61_rules(&self, window: &Window) -> bool {
        window.arithmetic() == Arithmetic::Linux && self.parameters.slow_start == VegasSlowStart::Linux
    }

    /// Measures an ACK. Returns the delay of the round trip that it ends.
    #[inline]
    pub(crate) fn measure(&mut self, ack: &Ack) -> Option<RoundDelay> {
        self.rounds.on_ack(ack)
    }

    /// Handles an ACK in slow start, and ends slow start if too many segments are queued.
    pub(crate) fn slow_start(&mut self, window: &mut Window, ack: &Ack, ended: Option<RoundDelay>) {
        let every_round = self.parameters.slow_start == VegasSlowStart::Linux;
        if ack.round_start {
            let comparable = every_round || !self.doubling;
            self.doubling = every_round || !self.doubling;
            if let Some(delay) = ended
                && comparable
                && delay.samples >= MIN_SAMPLES
                && delay.queued_segments(window.cwnd) > self.parameters.gamma
            {
                let delivered = window.cwnd * (1.0 - delay.queued_share());
                window.lower_cwnd(if every_round { delivered + 1.0 } else { window.cwnd * 7.0 / 8.0 });
                return;
            }
        }
        if self.doubling {
            window.slow_start(ack.acked);
        }
    }

    /// Handles the end of a round trip in congestion avoidance.
    pub(crate) fn avoid_congestion(&self, window: &mut Window, delay: &RoundDelay) {
        let cwnd = window.cwnd;
        let queued = delay.queued_segments(cwnd);
        if delay.samples < MIN_SAMPLES || queued < self.parameters.alpha {
            window.set_cwnd(cwnd + 1.0);
        } else if queued > self.parameters.beta {
            window.lower_cwnd(cwnd - 1.0);
        }
    }

    /// Returns whether fewer than alpha segments are queued.
    pub(crate) fn has_room(&self, window: &Window, delay: &RoundDelay) -> bool {
        delay.samples >= MIN_SAMPLES && delay.queued_segments(window.cwnd) < self.parameters.alpha
    }
}
