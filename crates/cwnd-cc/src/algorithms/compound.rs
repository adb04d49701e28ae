//! Compound TCP: Reno's window plus a delay window that fills the pipe while the delay is low.
//!
//! K. Tan, J. Song, Q. Zhang, M. Sridharan, "A Compound TCP Approach for High-speed and Long Distance
//! Networks", IEEE INFOCOM 2006 (and Microsoft Research TR-2005-86); gamma's tuning: K. Tan, J. Song, M.
//! Sridharan, C.-Y. Ho, "CTCP-TUBE: Improving TCP-Friendliness Over Low-Buffered Network Links", PFLDnet
//! 2008, and draft-sridharan-tcpm-ctcp-02. With cwnd the loss window, dwnd the delay window and win = cwnd
//! + dwnd, in segments:
//!
//! ```text
//! cwnd += 1/win                            for each acknowledged segment
//! diff  = win (1 - baseRTT/RTT)            segments queued, once a round trip
//! dwnd += (alpha win^k - 1)+               diff < gamma, once a round trip
//! dwnd  = (dwnd - zeta diff)+              diff >= gamma, once a round trip
//! dwnd  = (win (1 - beta) - cwnd/2)+,  cwnd = cwnd/2       loss: with beta = 1/2 both parts halve
//! gamma = (1 - g) gamma + g 3/4 diff_reno  tuning, at a loss, within 5 to 30, with the queue of cwnd
//!                                          alone, diff_reno = cwnd (1 - baseRTT/RTT)
//! ```
//!
//! The delay window changes in congestion avoidance only, from a window of W_low = 38 segments up.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `alpha` | 0.125 | 0.001 to 1 | paper |
//! | `beta` | 0.5 | 0.1 to 0.9 | paper, the fraction given up |
//! | `k` | 0.75 | 0.5 to 1 | paper (0.8 would be HighSpeed TCP's) |
//! | `zeta` | 1 | 0.1 to 10 | paper |
//! | `gamma` | 30 segments | 1 to 1000 | paper; the first value where it is tuned |
//! | `w_low` | 38 segments | 1 to 1000 | paper, HighSpeed TCP's threshold |
//! | `tuning_gain` (`compound` only) | 0.25 | 0 to 1 | see below |
//!
//! Three entries: `compound` tunes gamma, `compound-2006` keeps it at 30 as the first paper does, and `compound-ns2` ([`ns2`])
//! follows ns-2.35's module, which papers with simulations of "C-TCP" used.
//!
//! Interpretations:
//! - The increase of dwnd uses win^k as in the papers; drafts 00 and 01 reportedly have dwnd^k.
//! - RTT is the smallest sample of the round trip, and baseRTT the smallest of the connection's data, as in the public Linux
//!   ports. Delayed ACKs do not look like a queue in the smallest sample.
//! - g is 1/4 as in the later of the public ports with tuning; an earlier one has 1/2.
//! - A diff_reno measured before the last loss does not tune gamma again.
//! - A timeout sets dwnd = 0 and otherwise acts as Reno's.
//! - Slow start happens at the beginning of a connection and after a timeout, with dwnd = 0 (draft-02, section 3). A shrinking
//!   delay window in congestion avoidance does not cause slow start: where the sum falls below ssthresh, ssthresh follows it.
//!   Otherwise the loss window would regain in slow start what the delay window lost.
//! - ssthresh is the sum of both parts after a loss, because the transport has only one window. Only dwnd is stored here, and
//!   the rest of the window is cwnd. A change of the window by the transport is therefore a change of cwnd.

pub mod ns2;
#[cfg(test)]
mod tests;

use crate::observable::seconds;
use crate::parts::backlog::{DelayRounds, RoundDelay};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, Nanos, Observable,
    Observation, ParameterSet, Signal, Window, build,
};

/// The registry's entry of the variant with tuned gamma.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "compound",
    title: "Compound TCP",
    year: 2008,
    reference: "K. Tan, J. Song, Q. Zhang, M. Sridharan, INFOCOM 2006; CTCP-TUBE, PFLDnet 2008; \
                draft-sridharan-tcpm-ctcp-02",
    summary: "Reno's window plus one that grows fast while little is queued; how little adapts to losses.",
    strengths: "Fills a long fast path quickly while its queue is short, also where buffers are small, and \
                stays close to Reno against other flows.",
    weaknesses: "Against flows that keep the queue full only the Reno part is left; baseRTT is wrong after \
                 a change of path.",
    signals: &[Signal::Loss, Signal::Delay],
    based_on: "NewReno, HighSpeed TCP, Vegas",
    implemented_in: "Windows Vista to 10",
    reconstruction: false,
    version: 3,
    parameters: CompoundParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Compound>,
};

/// The registry's entry of the variant with fixed gamma.
pub const INFO_2006: AlgorithmInfo = AlgorithmInfo {
    name: "compound-2006",
    title: "Compound TCP (2006)",
    year: 2006,
    reference: "K. Tan, J. Song, Q. Zhang, M. Sridharan, A Compound TCP Approach for High-speed and Long \
                Distance Networks, INFOCOM 2006",
    summary: "Reno's window plus one that grows fast while fewer than 30 segments are queued.",
    strengths: "Fills a long fast path quickly while its queue is short, and stays close to Reno against \
                other flows.",
    weaknesses: "Gains nothing where buffers hold less than 30 segments a flow, or where others keep the \
                 queue full; baseRTT is wrong after a change of path.",
    signals: &[Signal::Loss, Signal::Delay],
    based_on: "NewReno, HighSpeed TCP, Vegas",
    implemented_in: "third-party Linux modules",
    reconstruction: false,
    version: 3,
    parameters: Compound2006Parameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Compound2006>,
};

parameters! {
    /// Settings of [`Compound`].
    pub struct CompoundParameters {
        /// Scale of the delay window's growth.
        alpha: number(0.125, 0.001..=1.0), "1", "paper";
        /// Fraction of the window removed at a loss.
        beta: number(0.5, 0.1..=0.9), "1", "paper";
        /// Exponent of the delay window's growth.
        k: number(0.75, 0.5..=1.0), "1", "paper";
        /// Reduction of the delay window for each queued segment.
        zeta: number(1.0, 0.1..=10.0), "1", "paper";
        /// Queued segments from which the delay window shrinks, until tuned.
        gamma: number(30.0, 1.0..=1000.0), "segments", "paper";
        /// Smallest window with a delay window.
        w_low: number(38.0, 1.0..=1000.0), "segments", "paper (HighSpeed TCP's threshold)";
        /// Weight of a new measurement in gamma; 0 keeps gamma.
        tuning_gain: number(0.25, 0.0..=1.0), "1", "later public port with tuning; 1/2 in an earlier one";
    }
}

parameters! {
    /// Settings of [`Compound2006`].
    pub struct Compound2006Parameters {
        /// Scale of the delay window's growth.
        alpha: number(0.125, 0.001..=1.0), "1", "paper";
        /// Fraction of the window removed at a loss.
        beta: number(0.5, 0.1..=0.9), "1", "paper";
        /// Exponent of the delay window's growth.
        k: number(0.75, 0.5..=1.0), "1", "paper";
        /// Reduction of the delay window for each queued segment.
        zeta: number(1.0, 0.1..=10.0), "1", "paper";
        /// Queued segments from which the delay window shrinks.
        gamma: number(30.0, 1.0..=1000.0), "segments", "paper";
        /// Smallest window with a delay window.
        w_low: number(38.0, 1.0..=1000.0), "segments", "paper (HighSpeed TCP's threshold)";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("cwnd_loss", "cwnd", "segments", "The loss window, which grows as Reno's."),
    Observable::new("dwnd", "dwnd", "segments", "The delay window."),
    Observable::new(
        "diff",
        "diff",
        "segments",
        "Segments queued: win (1 - baseRTT/RTT), with the RTT of the last round trip.",
    ),
    Observable::new("gamma", "gamma", "segments", "Segments queued above which dwnd shrinks."),
    Observable::new("base_rtt", "baseRTT", "s", "The least round-trip time."),
];

/// Compound TCP with tuning.
#[derive(Clone, Debug)]
pub struct Compound {
    parameters: CompoundParameters,
    /// dwnd.
    delay_window: f64,
    gamma: f64,
    /// diff_reno, if measured since the last loss.
    reno_queued: Option<f64>,
    rounds: DelayRounds,
}

/// Compound TCP as first published: gamma is fixed.
#[derive(Clone, Debug)]
pub struct Compound2006(Compound);

const TUNED_GAMMA: (f64, f64) = (5.0, 30.0);

impl Configurable for Compound {
    type Parameters = CompoundParameters;

    fn new(parameters: CompoundParameters) -> Self {
        let gamma = parameters.gamma;
        Compound { parameters, delay_window: 0.0, gamma, reno_queued: None, rounds: DelayRounds::default() }
    }
}

impl CongestionControl for Compound {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let ended = self.rounds.on_ack(ack);
        if !ack.may_grow() {
            return;
        }
        if let Some(delay) = ended {
            self.end_round(window, &delay);
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        window.increase(acked, window.cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.rounds.restart();
        if congestion.is_repeated_timeout() {
            return;
        }
        self.tune();
        let win = window.cwnd;
        let half_loss_window = (win - self.delay_window.min(win)) / 2.0;
        self.delay_window = match congestion.kind {
            CongestionKind::Timeout => 0.0,
            _ => window.whole((win * (1.0 - self.parameters.beta) - half_loss_window).max(0.0)),
        };
        let left = match congestion.kind {
            CongestionKind::Timeout => win / 2.0,
            _ => half_loss_window + self.delay_window,
        };
        window.set_ssthresh_for_loss(left);
    }

    fn on_recovery_exit(&mut self, _window: &mut Window, _now: Nanos) {
        self.rounds.restart();
    }

    fn on_undo(&mut self, window: &mut Window, _now: Nanos) {
        // The sum is restored; the loss window gets the reduction of both parts.
        self.delay_window = self.delay_window.min(window.cwnd);
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let diff = self.rounds.last().map_or(f64::NAN, |delay| delay.queued_segments(window.cwnd));
        let delay_window = self.delay_window.min(window.cwnd);
        values.copy_from_slice(&[
            window.cwnd - delay_window,
            delay_window,
            diff,
            self.gamma,
            seconds(self.rounds.base()),
        ]);
    }
}

impl Compound {
    /// Updates the delay window at the end of a round trip.
    fn end_round(&mut self, window: &mut Window, delay: &RoundDelay) {
        let win = window.cwnd;
        if window.in_slow_start() || win < self.parameters.w_low {
            return;
        }
        self.delay_window = self.delay_window.min(win);
        let diff = delay.queued_segments(win);
        self.reno_queued = Some(delay.queued_segments(win - self.delay_window));

        let target = if diff < self.gamma {
            self.delay_window + (self.parameters.alpha * libm::pow(win, self.parameters.k) - 1.0).max(0.0)
        } else {
            (self.delay_window - self.parameters.zeta * diff).max(0.0)
        };
        let target = window.whole(target);
        let total = win + target - self.delay_window;
        if target < self.delay_window {
            window.lower_cwnd(total);
        } else {
            window.set_cwnd(total);
        }
        self.delay_window = target;
    }

    /// Moves gamma towards 3/4 of the segments that the loss window alone kept in the queue before this loss.
    fn tune(&mut self) {
        let gain = self.parameters.tuning_gain;
        if let Some(queued) = self.reno_queued.take()
            && gain > 0.0
        {
            let (min, max) = TUNED_GAMMA;
            self.gamma = ((1.0 - gain) * self.gamma + gain * 0.75 * queued).clamp(min, max);
        }
    }
}

impl Configurable for Compound2006 {
    type Parameters = Compound2006Parameters;

    fn new(parameters: Compound2006Parameters) -> Self {
        let Compound2006Parameters { alpha, beta, k, zeta, gamma, w_low } = parameters;
        Compound2006(Compound::new(CompoundParameters {
            alpha,
            beta,
            k,
            zeta,
            gamma,
            w_low,
            tuning_gain: 0.0,
        }))
    }
}

impl CongestionControl for Compound2006 {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.0.on_ack(window, ack);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.0.on_congestion(window, congestion);
    }

    fn on_recovery_exit(&mut self, window: &mut Window, now: Nanos) {
        self.0.on_recovery_exit(window, now);
    }

    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        self.0.on_undo(window, now);
    }

    fn observables(&self) -> &'static [Observable] {
        self.0.observables()
    }

    fn observe(&self, window: &Window, at: &Observation, values: &mut [f64]) {
        self.0.observe(window, at, values);
    }
}
