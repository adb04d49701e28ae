//! Compound TCP as in ns-2.35's module.
//!
//! The module `tcp_compound` of ns-2.35's TCP-Linux (A. P. Castellani, S. Hemminger; for Linux 2.6), which simulations of
//! "C-TCP" with ns-2 used. It follows the paper's equations (see [`super`]) with alpha = 1/8, k = 3/4, zeta = 1 and a fixed
//! gamma, and differs as follows. With cwnd the loss window, dwnd the delay window, win their sum:
//!
//! - *Loss*: ssthresh is win/2 and the window held during recovery ssthresh/2 (`min_cwnd` of Linux 2.6's Reno family). dwnd is
//!   not halved: the loss window absorbs the reduction. If either part exceeds the remaining window, which is nearly always
//!   so, cwnd becomes all of it and dwnd 0.
//! - No least window (W_low), and dwnd grows in slow start too.
//! - Slow start lasts while the *loss window* is at or under ssthresh, whatever the sum.
//! - diff is of the segments sent in the round trip before, not of win, and in half segments. After a recovery, that count
//!   includes all segments sent since the beginning of the round trip with the loss. A round trip with fewer than three
//!   samples is skipped; RTT is its least sample, in microseconds plus one.
//! - Idle restart forgets baseRTT and the windows.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `gamma` | 30 segments | 1 to 1000 | module |
//! | `overflow_32bit` | off | | see below |
//!
//! Interpretations:
//! - *The overflow.* The module computes `2 window baseRTT_us` in a kernel `u32`. ns-2 makes that an `unsigned long`: 32 bits
//!   in a 32-bit build, where the product wraps from `window baseRTT_us = 2^31` on (10,526 segments at 204 ms), diff comes out
//!   near 2 window and the delay window collapses; 64 bits in a 64-bit build, where nothing wraps. A 64-bit ns-2.35 reaches
//!   25,000 segments at 204 ms, as the Elastic-TCP paper's figure shows, so the default has no overflow; `overflow_32bit` is
//!   the other build.
//! - *Roots* are by Newton's iteration in integers, x = (3 x + a/x^3)/4, which starts at a power of two and stops when x
//!   changes by at most one. Roots may therefore be one too large. Divisors of more than 32 bits lose their lower bits.
//! - The arithmetic of round trips is always in integers. The growth of the loss window follows the window's own arithmetic.

#[cfg(test)]
mod tests;

use crate::parts::round::SentRound;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, CompatNeeds, Configurable, Congestion, CongestionControl, Nanos, Needs,
    Observable, Observation, ParameterSet, Signal, State, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "compound-ns2",
    title: "Compound TCP (ns-2.35's module)",
    year: 2006,
    reference: "tcp_compound of ns-2.35's TCP-Linux, after K. Tan et al., INFOCOM 2006",
    summary: "Compound TCP with the quirks of the module that papers using ns-2 simulated.",
    strengths: "Reproduces what papers that simulated C-TCP in ns-2 measured.",
    weaknesses: "Its delay window hardly ever comes into play with several flows, so that it is close to \
                 Reno on the paths for which Compound was made; not for use.",
    signals: &[Signal::Loss, Signal::Delay],
    based_on: "Compound TCP",
    implemented_in: "ns-2.35",
    reconstruction: false,
    version: 3,
    parameters: CompoundNs2Parameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<CompoundNs2>,
};

parameters! {
    /// Settings of [`CompoundNs2`].
    pub struct CompoundNs2Parameters {
        /// Queued segments from which the delay window shrinks.
        gamma: number(30.0, 1.0..=1000.0), "segments", "module";
        /// Whether the product of window and RTT wraps at 32 bits, as in a 32-bit build.
        overflow_32bit: switch(false), "", "a 64-bit ns-2.35 does not wrap";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("cwnd_loss", "cwnd", "segments", "The loss window."),
    Observable::new("dwnd", "dwnd", "segments", "The delay window."),
    Observable::new("base_rtt", "baseRTT", "s", "The least round-trip time; the module adds 1 us."),
];

const MIN_SAMPLES: u32 = 3;

/// Compound TCP as in ns-2.35's module.
#[derive(Clone, Debug)]
pub struct CompoundNs2 {
    parameters: CompoundNs2Parameters,
    /// cwnd.
    loss_window: f64,
    /// dwnd.
    delay_window: f64,
    /// Round trips as the module follows them (`beg_snd_nxt`, `beg_snd_una`).
    round: SentRound,
    /// Microseconds plus one.
    base_rtt: u64,
    round_rtt: u64,
    samples: u32,
    /// Handles an ACK.
    started: bool,
}

impl Configurable for CompoundNs2 {
    type Parameters = CompoundNs2Parameters;

    fn new(parameters: CompoundNs2Parameters) -> Self {
        CompoundNs2 {
            parameters,
            loss_window: 0.0,
            delay_window: 0.0,
            round: SentRound::default(),
            base_rtt: u64::MAX,
            round_rtt: u64::MAX,
            samples: 0,
            started: false,
        }
    }
}

impl CongestionControl for CompoundNs2 {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.round.on_ack(ack);
        if !self.started {
            self.restart(window);
        } else if let Some(rtt) = ack.rtt {
            let rtt = (rtt.0.saturating_add(500)) / 1000 + 1;
            self.base_rtt = self.base_rtt.min(rtt);
            self.round_rtt = self.round_rtt.min(rtt);
            self.samples = self.samples.saturating_add(1);
        }
        if ack.cumulative == 0 || matches!(ack.state, State::Cwr | State::Recovery) {
            return;
        }
        self.reconcile(window.cwnd, window.arithmetic());
        if !ack.cwnd_limited {
            return;
        }
        self.grow_loss_window(window, ack.acked);
        if self.round.is_over() {
            self.end_round();
        }
        window.set_cwnd(self.loss_window + self.delay_window);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        window.set_ssthresh_for_loss(window.cwnd / 2.0);
        window.recovery_cwnd = Some(window.whole(window.ssthresh / 2.0).max(1.0));
    }

    fn on_recovery_exit(&mut self, _window: &mut Window, _now: Nanos) {
        self.begin_round();
    }

    fn on_undo(&mut self, window: &mut Window, _now: Nanos) {
        // ns-2 has no undo: the restored segments go to the loss window.
        self.loss_window = (window.cwnd - self.delay_window).max(0.0);
    }

    fn on_idle_restart(&mut self, _window: &mut Window, _now: Nanos, _idle: Nanos) {
        self.started = false;
    }

    fn needs(&self) -> Needs {
        Needs { compat: CompatNeeds { covered_rtt: true, ..CompatNeeds::default() }, ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, _window: &Window, _at: &Observation, values: &mut [f64]) {
        let base = if self.base_rtt == u64::MAX { f64::NAN } else { self.base_rtt as f64 * 1e-6 };
        values.copy_from_slice(&[self.loss_window, self.delay_window, base]);
    }
}

impl CompoundNs2 {
    /// Initialises the module at the first ACK, and ignores the sample of that ACK.
    fn restart(&mut self, window: &Window) {
        self.base_rtt = u64::MAX;
        self.loss_window = window.cwnd;
        self.delay_window = 0.0;
        self.begin_round();
        self.started = true;
    }

    /// Begins a round trip with the segments sent from here on.
    fn begin_round(&mut self) {
        self.round.restart();
        self.forget_samples();
    }

    fn forget_samples(&mut self) {
        self.round_rtt = u64::MAX;
        self.samples = 0;
    }

    /// Adjusts both parts to the window that the transport left.
    #[inline]
    fn reconcile(&mut self, cwnd: f64, arithmetic: Arithmetic) {
        let sum = self.loss_window + self.delay_window;
        if sum > cwnd {
            if self.loss_window > cwnd || self.delay_window > cwnd {
                self.loss_window = cwnd;
                self.delay_window = 0.0;
            } else {
                self.loss_window = cwnd - self.delay_window;
            }
        } else if sum < cwnd && arithmetic != Arithmetic::Linux26 {
            // A window that the transport raised belongs to the loss window. ns-2 raises it at the end of the slow start after
            // a timeout; the module ignores that and sets its own window again.
            self.loss_window = cwnd - self.delay_window;
        }
    }

    #[inline]
    fn grow_loss_window(&mut self, window: &mut Window, acked: u32) {
        let before = window.cwnd;
        let integer26 = window.arithmetic() == Arithmetic::Linux26;
        if window.below_ssthresh(self.loss_window) {
            let room = (window.ssthresh - self.loss_window).max(1.0);
            let step = if integer26 { 1.0 } else { f64::from(acked).min(room) };
            window.set_cwnd(before + step);
        } else {
            // The module counts before it compares, so that a step takes cwnd ACKs and not one more.
            let per_segment = if integer26 { (before - 1.0).max(1.0) } else { before };
            window.increase(acked, per_segment);
        }
        self.loss_window += window.cwnd - before;
    }

    fn end_round(&mut self) {
        let sent = self.round.begin_next();
        let (rtt, samples) = (self.round_rtt, self.samples);
        self.forget_samples();
        if samples < MIN_SAMPLES {
            return;
        }
        // Half segments: diff = 2 (sent - sent baseRTT/RTT).
        let mut product = sent.saturating_mul(self.base_rtt).saturating_mul(2);
        if self.parameters.overflow_32bit {
            product &= u64::from(u32::MAX);
        }
        let diff = (2 * sent).saturating_sub(product / rtt) as f64;
        let dwnd = self.delay_window;
        self.delay_window = if diff < 2.0 * self.parameters.gamma {
            dwnd + (fourth_root(sent.saturating_pow(3)) / 8).saturating_sub(1) as f64
        } else {
            libm::floor((dwnd - diff / 2.0).max(0.0))
        };
    }
}

/// Returns the fourth root of `a` in the module's integer arithmetic.
fn fourth_root(a: u64) -> u64 {
    let mut root = 1u64 << ((u64::BITS - a.leading_zeros()) / 4);
    loop {
        let cube = root * root * root;
        let dropped = (u64::BITS - cube.leading_zeros()).saturating_sub(32);
        let next = (3 * root + (a >> dropped) / (cube >> dropped)) / 4;
        if root.abs_diff(next) <= 1 {
            return next;
        }
        root = next;
    }
}
