//! CUBIC of the Internet standard.
//!
//! RFC 9438 (L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert, 2023). Two earlier generations are separate algorithms: [`v2008`] (the
//! 2008 paper and ns-2.35's module) and [`linux`] (RFC 8312 as Linux runs it). With W the window in segments and t the time
//! since the congestion avoidance stage began:
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max                                                        (figure 1)
//! K          = cbrt((W_max - cwnd_epoch) / C)                                             (figure 2)
//! target     = W_cubic(t + RTT), at least W and at most 1.5 W                             (section 4.2)
//! W_est     += alpha_cubic / W for each acknowledged segment, from cwnd_epoch             (figure 4)
//! alpha_cubic = 3 (1 - beta)/(1 + beta) until W_est reaches cwnd_prior, then 1            (section 4.3)
//! W          = W_est                 where W_cubic(t) < W_est, the Reno-friendly region   (section 4.3)
//! W         += (target - W)/W        otherwise, for each acknowledged segment         (sections 4.4, 4.5)
//! ssthresh   = max(beta FlightSize, 2), cwnd_prior = W                                    (section 4.6)
//! W_max      = W (1 + beta)/2 if W < W_max, fast convergence; W otherwise                 (section 4.7)
//! timeout      as a loss, but the next stage begins with K = 0 and W_max = cwnd_epoch     (section 4.8)
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `c` | 0.4 segments/s^3 | 0.001 to 100 | section 5 |
//! | `beta` | 0.7 | 0.1 to 0.95 | section 4.6, the fraction kept |
//! | `fast_convergence` | on | | section 4.7 |
//! | `slow_start` | `hystart++` | `standard`, `limited`, `hystart`, `hystart++`, `search`, `careful-resume` | section 4.10 |
//! | `saved_cwnd` | 0 segments | 0 to 1,000,000 | RFC 9959, of `careful-resume`; 0 is none |
//! | `saved_rtt` | 0.1 s | 0 to 100 | RFC 9959, of `careful-resume` |
//! | `reduce_from` | `flight-size` | `cwnd`, `flight-size` | section 4.6 |
//!
//! Interpretations:
//! - *Slow start*: section 4.10 says that CUBIC SHOULD use HyStart++, so it is the default. The papers ran without it; for
//!   comparisons use `cubic-2008` or `slow_start = standard`.
//! - The rules speak of an increase "for each received ACK"; here, that is one for each acknowledged segment, as in Linux and
//!   in figure 4, so that delayed ACKs do not halve the growth.
//! - W is set to W_est only upwards: W follows the curve one RTT ahead and can be slightly above W_est where
//!   W_cubic(t) is below it. RTT is the smoothed one (section 4.2).
//! - A stage that begins at or above W_max (which fast convergence or a changed path can cause) has K = 0
//!   and W_max = cwnd_epoch, as after a timeout; figure 2 leaves the case open. So has the first stage
//!   after a slow start that ended without a loss, with cwnd_prior = cwnd_epoch (section 4.10).
//! - *Application-limited time* does not count in t (section 4.2): the beginning of the stage moves by it.
//! - A spurious loss restores the state before it (section 4.9).

mod epoch;
pub mod linux;
#[cfg(test)]
mod tests;
pub mod v2008;

use crate::parts::{
    careful_resume::CarefulResume,
    reno::ReduceFrom,
    slow_start::{SlowStart, SlowStartKind},
};
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, Init, Nanos, Needs,
    Observable, Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "cubic",
    title: "CUBIC (RFC 9438)",
    year: 2023,
    reference: "RFC 9438 (2023), with HyStart++ of RFC 9406 (2023)",
    summary: "Grows as a cubic function of the time since the last loss, flat around that loss's window.",
    strengths: "What the standard asks for: scales to long fast paths, is no slower than Reno on short \
                ones, leaves slow start gently.",
    weaknesses: "Fills whatever buffer there is, so delay follows buffer size; random losses keep it small; \
                 slow to give way to a new flow.",
    signals: &[Signal::Loss, Signal::Ecn],
    based_on: "CUBIC of RFC 8312",
    implemented_in: "FreeBSD, QUIC stacks; close relatives in Windows and Apple's systems",
    reconstruction: false,
    version: 1,
    parameters: CubicParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Cubic>,
};

parameters! {
    /// Settings of [`Cubic`].
    pub struct CubicParameters {
        /// C, the scale of the cubic function.
        c: number(0.4, 0.001..=100.0), "segments/s^3", "RFC 9438 section 5";
        /// beta_cubic, the fraction of the window kept at a loss.
        beta: number(0.7, 0.1..=0.95), "1", "RFC 9438 section 4.6";
        /// Whether the window is reduced further when a loss comes earlier than the last one (fast convergence).
        fast_convergence: switch(true), "", "RFC 9438 section 4.7";
        /// Kind of slow start.
        slow_start: word(SlowStartKind::HyStartPlusPlus), "", "RFC 9438 section 4.10 (SHOULD)";
        /// Window of an earlier connection, to which `careful-resume` refers.
        saved_cwnd: number(0.0, 0.0..=1e6), "segments", "RFC 9959";
        /// Least round-trip time of that connection.
        saved_rtt: number(0.1, 0.0..=100.0), "s", "RFC 9959";
        /// The window that is multiplied at a loss.
        reduce_from: word(ReduceFrom::FlightSize), "", "RFC 9438 section 4.6; Linux has cwnd";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "w_max",
        "W_max",
        "segments",
        "The window of the last loss, reduced by fast convergence, section 4.7.",
    ),
    Observable::new(
        "origin",
        "origin",
        "segments",
        "Plateau of this epoch: W_max, or the window at its beginning if that was higher.",
    ),
    Observable::new(
        "k",
        "K",
        "s",
        "Time from the epoch's beginning to its plateau: cbrt((W_max - cwnd_epoch)/C), figure 2.",
    ),
    Observable::new(
        "target",
        "W_cubic(t + RTT)",
        "segments",
        "The cubic function a round trip ahead, figure 1.",
    ),
    Observable::new("w_est", "W_est", "segments", "The Reno-friendly window, section 4.3."),
];

/// CUBIC of RFC 9438.
#[derive(Clone, Debug)]
pub struct Cubic {
    parameters: CubicParameters,
    /// 3 (1 - beta)/(1 + beta).
    alpha: f64,
    slow_start: SlowStart,
    state: State,
    before_episode: State,
    /// Time of the last ACK in congestion avoidance.
    last_ack: Nanos,
}

/// State that section 4.9 restores after a spurious loss.
#[derive(Clone, Copy, Debug)]
struct State {
    /// t_epoch; none until the stage's first ACK.
    epoch: Option<Nanos>,
    /// W_max; none before the first loss and after a timeout.
    w_max: Option<f64>,
    /// W_max of the current stage.
    origin: f64,
    /// K, seconds.
    k: f64,
    /// W_est.
    w_est: f64,
    /// cwnd_prior.
    cwnd_prior: f64,
    /// alpha_cubic until W_est reaches cwnd_prior, then 1. It is stored to save a comparison for each ACK.
    alpha: f64,
}

const START: State =
    State { epoch: None, w_max: None, origin: 0.0, k: 0.0, w_est: 0.0, cwnd_prior: 0.0, alpha: 1.0 };

impl Configurable for Cubic {
    type Parameters = CubicParameters;

    fn new(parameters: CubicParameters) -> Self {
        Cubic {
            alpha: 3.0 * (1.0 - parameters.beta) / (1.0 + parameters.beta),
            slow_start: slow_start(&parameters, Nanos::ZERO),
            state: START,
            before_episode: START,
            last_ack: Nanos::ZERO,
            parameters,
        }
    }
}

fn slow_start(parameters: &CubicParameters, now: Nanos) -> SlowStart {
    match parameters.slow_start {
        SlowStartKind::CarefulResume => {
            let saved_rtt = Nanos((parameters.saved_rtt * 1e9) as u64);
            SlowStart::CarefulResume(CarefulResume::new(parameters.saved_cwnd, saved_rtt))
        }
        kind => SlowStart::new(kind, now),
    }
}

impl CongestionControl for Cubic {
    fn init(&mut self, _window: &mut Window, init: &Init) {
        self.slow_start = slow_start(&self.parameters, init.now);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // Rare work is a function of its own, so that the common path saves no registers.
        if window.in_slow_start() || !ack.may_grow() || self.slow_start.is_resuming() {
            return self.on_uncommon_ack(window, ack);
        }
        self.last_ack = ack.now;
        self.avoid_congestion(window, ack, ack.acked);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.slow_start.on_congestion(congestion.kind, congestion.now);
        if congestion.is_repeated_timeout() {
            return;
        }
        self.before_episode = self.state;
        let cwnd = window.cwnd;
        let beta = self.parameters.beta;
        let earlier = self.state.w_max.is_some_and(|w_max| cwnd < w_max);
        let w_max =
            if earlier && self.parameters.fast_convergence { cwnd * (1.0 + beta) / 2.0 } else { cwnd };
        self.state.w_max = (congestion.kind != CongestionKind::Timeout).then_some(w_max);
        self.state.cwnd_prior = cwnd;
        self.state.epoch = None;
        window.set_ssthresh_for_loss(beta * self.parameters.reduce_from.segments(window, congestion));
        self.slow_start.retreat(window, congestion.kind);
    }

    fn needs(&self) -> Needs {
        let pacing = self.parameters.slow_start == SlowStartKind::CarefulResume;
        Needs { pacing, ..Needs::default() }
    }

    fn on_undo(&mut self, _window: &mut Window, _now: Nanos) {
        self.state = self.before_episode;
    }

    fn on_idle_restart(&mut self, _window: &mut Window, now: Nanos, idle: Nanos) {
        self.postpone(idle, now);
        self.last_ack = now;
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, _window: &Window, at: &Observation, values: &mut [f64]) {
        let state = &self.state;
        let w_max = state.w_max.unwrap_or(f64::NAN);
        let Some(epoch) = state.epoch else {
            return values.copy_from_slice(&[w_max, f64::NAN, f64::NAN, f64::NAN, f64::NAN]);
        };
        let ahead = at.now.secs_since(epoch) + at.srtt.as_secs_f64();
        let target = w_cubic(self.parameters.c, state, ahead);
        values.copy_from_slice(&[w_max, state.origin, state.k, target, state.w_est]);
    }
}

impl Cubic {
    #[inline(never)]
    fn on_uncommon_ack(&mut self, window: &mut Window, ack: &Ack) {
        let mut acked = ack.acked;
        if window.in_slow_start() || self.slow_start.is_resuming() {
            acked = self.slow_start.on_ack(window, ack);
            if acked == 0 {
                return;
            }
        }
        if ack.may_grow() {
            self.avoid_congestion(window, ack, acked);
        } else if !ack.cwnd_limited {
            // Section 4.2: t does not include application-limited time.
            self.postpone(ack.now.since(self.last_ack), ack.now);
        }
        self.last_ack = ack.now;
    }

    #[inline(always)]
    fn avoid_congestion(&mut self, window: &mut Window, ack: &Ack, acked: u32) {
        match self.state.epoch {
            Some(epoch) => self.follow_curve(window, ack, acked, epoch),
            None => self.begin_curve(window, ack, acked),
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_curve(&mut self, window: &mut Window, ack: &Ack, acked: u32) {
        let epoch = self.begin_stage(window.cwnd, ack.now);
        self.follow_curve(window, ack, acked, epoch);
    }

    #[inline(always)]
    fn follow_curve(&mut self, window: &mut Window, ack: &Ack, acked: u32, epoch: Nanos) {
        let cwnd = window.cwnd;
        let state = &mut self.state;
        let t = ack.now.secs_since(epoch);

        state.w_est += state.alpha * f64::from(acked) / cwnd;
        if state.w_est >= state.cwnd_prior {
            state.alpha = 1.0;
        }

        if w_cubic(self.parameters.c, state, t) < state.w_est {
            if state.w_est > cwnd {
                window.set_cwnd(state.w_est);
            }
            return;
        }
        let target = w_cubic(self.parameters.c, state, t + ack.srtt.as_secs_f64());
        if target > cwnd {
            let (gap, most) = (target - cwnd, 0.5 * cwnd);
            window.increase_weighted(acked, if gap < most { gap } else { most }, cwnd);
        }
    }

    #[cold]
    fn begin_stage(&mut self, cwnd: f64, now: Nanos) -> Nanos {
        let state = &mut self.state;
        match state.w_max {
            Some(w_max) if w_max > cwnd => {
                state.origin = w_max;
                state.k = libm::cbrt((w_max - cwnd) / self.parameters.c);
            }
            w_max => {
                if w_max.is_none() {
                    state.cwnd_prior = state.cwnd_prior.max(cwnd);
                }
                state.origin = cwnd;
                state.k = 0.0;
            }
        }
        state.w_est = cwnd;
        state.alpha = if cwnd < state.cwnd_prior { self.alpha } else { 1.0 };
        state.epoch = Some(now);
        now
    }

    fn postpone(&mut self, span: Nanos, now: Nanos) {
        if let Some(epoch) = &mut self.state.epoch {
            *epoch = (*epoch + span).min(now);
        }
    }
}

#[inline]
fn w_cubic(c: f64, state: &State, t: f64) -> f64 {
    let offset = t - state.k;
    c * offset * offset * offset + state.origin
}
