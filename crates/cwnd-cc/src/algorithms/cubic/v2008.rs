//! CUBIC of the 2008 paper, as in ns-2.35 and Linux 2.6.22.
//!
//! S. Ha, I. Rhee, L. Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant", ACM SIGOPS Operating Systems Review 42(5), 2008,
//! and module version 2.1, which ns-2.35's TCP-Linux uses. With W the window in segments, `cnt` the ACKs for each segment of
//! growth, and t the time since the epoch's first ACK:
//!
//! ```text
//! W(t)    = C (t - K)^3 + W_max
//! K       = cbrt((W_max - W_epoch)/C), the paper's cbrt(0.2 W_max/C)
//! target  = W(t + RTTmin)
//! cnt     = W/(target - W) if target > W, else 100 W
//! cnt     at least W/(max_increment RTTmin/0.1 s) once t > K: growth capped above the origin only
//! cnt     50 before the first loss and after a timeout: 2 % a round trip
//! Wtcp   += 1 for every W (1 + beta)/(3 (1 - beta)) ACKs
//! cnt     at most W/(Wtcp - W) if Wtcp > W
//! cnt     divided by the segments an ACK acknowledges (EWMA, 15/16 old), at least 1
//! loss    W_max = W (1 + beta)/2 if W < W_max, else W;  ssthresh = beta W
//! timeout likewise, then all is forgotten
//! ```
//!
//! There is no HyStart; slow start is standard.
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `c` | 410/1024 segments/s^3 | 0.001 to 100 | module 2.1 (0.4 in the paper) |
//! | `beta` | 819/1024 | 0.1 to 0.95 | module 2.1 (the paper decreases by 0.2), the fraction kept |
//! | `max_increment` | 16 segments | 1 to 1000 | module 2.1, in 0.1 s (the paper's S_max of 160 segments/s) |
//! | `fast_convergence` | on | | paper |
//! | `tcp_friendliness` | on | | paper |
//!
//! Interpretations:
//! - *Integers of Linux 2.6*: the module counts ACKs, so it divides by the segments an ACK acknowledges. Its fixed point
//!   starts that ratio at 2 and, rounding down, never falls below 31/16: with an ACK for each segment the module grows almost
//!   twice as fast as its own cubic function says. ns-2.35 does that, and this file does so in that arithmetic. The other
//!   arithmetics count acknowledged segments and need no ratio.
//! - Also in integers: times in milliseconds, K and t in 1/1024 s, all windows and counts rounded down, the Reno divisor in
//!   eighths (2.875 instead of 2.996), no new value of the cubic function for 31 ms while the window stays the same.
//! - RTTmin comes from timestamps in whole milliseconds: a rounded one is subtracted from a truncated clock, so that the
//!   result is mostly one less than the RTT. Samples in the first second of an epoch do not count. Before the first epoch,
//!   samples in the first second of the transport's clock do not count.
//! - Undo raises the window to W_max (Linux 2.6; ns-2.35 has no undo).

#[cfg(test)]
mod tests;

use super::epoch::{Epoch, HOLD_MS, KERNEL_C, LEAST_GROWTH, OBSERVABLES, cnt_to, jiffies};
use crate::observable::known;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, CongestionKind, Nanos,
    Observable, Observation, ParameterSet, Signal, State, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "cubic-2008",
    title: "CUBIC (2008)",
    year: 2008,
    reference: "S. Ha, I. Rhee, L. Xu, CUBIC: A New TCP-Friendly High-Speed TCP Variant, ACM SIGOPS OSR \
                42(5), 2008; module 2.1 of Linux 2.6.22",
    summary: "The first CUBIC, without HyStart: keeps 0.8 at a loss. What papers using ns-2.35 simulated.",
    strengths: "Recovers a large window in a time that does not hang on the RTT; what results of the ns-2 \
                years are compared with.",
    weaknesses: "Slow start overshoots without HyStart; in ns-2 integers it grows almost twice as fast as \
                 its own equations say; gives up only a fifth, so newcomers wait long for their share.",
    signals: &[Signal::Loss],
    based_on: "BIC, H-TCP",
    implemented_in: "Linux 2.6.22, ns-2.35",
    reconstruction: false,
    version: 1,
    parameters: Cubic2008Parameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Cubic2008>,
};

parameters! {
    /// Settings of [`Cubic2008`].
    pub struct Cubic2008Parameters {
        /// C, the scale of the cubic function.
        c: number(KERNEL_C, 0.001..=100.0), "segments/s^3", "module 2.1; 0.4 in the paper";
        /// The fraction of the window kept at a loss.
        beta: number(819.0 / 1024.0, 0.1..=0.95), "1", "module 2.1; 0.8 in the paper";
        /// Largest growth in 0.1 s above the window of the last loss.
        max_increment: number(16.0, 1.0..=1000.0), "segments", "module 2.1";
        /// Whether the window is reduced further when a loss comes earlier than the last one (fast convergence).
        fast_convergence: switch(true), "", "paper";
        /// Whether growth is at least Reno's.
        tcp_friendliness: switch(true), "", "paper";
    }
}

/// cnt before the first loss: the window grows by 2 % per round trip.
const FIRST_CNT: f64 = 50.0;
/// Initial value of the segments that an ACK acknowledges, in sixteenths.
const FIRST_ACK_RATIO: u32 = 2 * 16;
const SETTLING: Nanos = Nanos::from_millis(1000);

/// CUBIC of 2008.
#[derive(Clone, Debug)]
pub struct Cubic2008 {
    parameters: Cubic2008Parameters,
    epoch: Epoch,
    /// W_max (`last_max_cwnd`); 0 before the first loss and after a timeout.
    w_max: f64,
    /// Whether there was a loss since the start or the last timeout.
    lost: bool,
    /// RTTmin, seconds or whole milliseconds by the arithmetic; infinite if not known.
    delay_min: f64,
    /// Smallest sample that cannot lower RTTmin.
    delay_bound: Nanos,
    /// Segments an ACK acknowledges, in sixteenths (`delayed_ack`).
    ack_ratio: u32,
    /// Whether there was no recovery before this ACK.
    calm: bool,
    cnt: f64,
    updated_cwnd: f64,
    updated_ms: u64,
    /// Whether the epoch has just begun, so that `cnt` must be computed.
    begun: bool,
}

impl Configurable for Cubic2008 {
    type Parameters = Cubic2008Parameters;

    fn new(parameters: Cubic2008Parameters) -> Self {
        Cubic2008 {
            epoch: Epoch::default(),
            w_max: 0.0,
            lost: false,
            delay_min: f64::INFINITY,
            delay_bound: Nanos::MAX,
            ack_ratio: FIRST_ACK_RATIO,
            calm: true,
            cnt: 0.0,
            updated_cwnd: 0.0,
            updated_ms: 0,
            begun: false,
            parameters,
        }
    }
}

impl CongestionControl for Cubic2008 {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // The state before this ACK decides, because the ACK that ends a recovery acknowledges too many segments at once.
        if self.calm && ack.cumulative > 0 {
            // ratio = 15/16 ratio + acknowledged, both in sixteenths, rounded as the module does.
            self.ack_ratio = (self.ack_ratio - self.ack_ratio / 16).saturating_add(ack.cumulative);
            self.measure_delay(window, ack);
        }
        self.calm = matches!(ack.state, State::Open | State::Disorder);

        if !ack.may_grow() {
            return;
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        if self.epoch.start.is_none() {
            self.begin_epoch(window, ack.now);
        }
        if window.arithmetic() == Arithmetic::Real {
            let growth = self.growth(window.cwnd, ack.now, acked);
            window.increase_weighted(acked, growth, window.cwnd);
        } else {
            self.update_cnt(window, ack.now, acked);
            window.increase(acked, self.cnt);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if !congestion.is_repeated_timeout() {
            let cwnd = window.cwnd;
            let beta = self.parameters.beta;
            let earlier = cwnd < self.w_max && self.parameters.fast_convergence;
            self.w_max = if earlier { window.whole(cwnd * (1.0 + beta) / 2.0) } else { cwnd };
            self.lost = true;
            self.epoch.start = None;
            window.set_ssthresh_for_loss(beta * cwnd);
        }
        if congestion.kind == CongestionKind::Timeout {
            let parameters = self.parameters.clone();
            *self = Cubic2008::new(parameters);
        }
        self.calm = false;
    }

    fn on_undo(&mut self, window: &mut Window, _now: Nanos) {
        window.set_cwnd(window.cwnd.max(self.w_max));
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, at: &Observation, values: &mut [f64]) {
        let ahead = if self.delay_bound == Nanos::MAX { Nanos::ZERO } else { self.delay_bound };
        let epoch = self.epoch.observe(window, at.now, ahead, self.parameters.c);
        let [origin, k, target, w_est] = epoch;
        values.copy_from_slice(&[known(self.w_max), origin, k, target, w_est]);
    }
}

impl Cubic2008 {
    #[inline]
    fn measure_delay(&mut self, window: &Window, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        if rtt >= self.delay_bound || ack.now.since(self.epoch.start.unwrap_or(Nanos::ZERO)) < SETTLING {
            return;
        }
        if window.arithmetic() == Arithmetic::Real {
            self.delay_min = self.delay_min.min(rtt.0.max(1) as f64 * 1e-9);
            self.delay_bound = rtt;
        } else {
            let sent_ms = jiffies(ack.now.since(rtt) + Nanos(500_000));
            let delay_ms = jiffies(ack.now).saturating_sub(sent_ms).max(1);
            self.delay_min = self.delay_min.min(delay_ms as f64);
            // The two roundings together are below 1.5 ms, so a longer sample cannot become smaller.
            self.delay_bound = Nanos((self.delay_min as u64).saturating_mul(1_000_000)) + Nanos(1_500_000);
        }
    }

    /// Returns W/cnt in real numbers: the segments of growth for a window of acknowledged ones.
    #[inline]
    fn growth(&mut self, cwnd: f64, now: Nanos, acked: u32) -> f64 {
        let mut growth = cwnd / FIRST_CNT;
        if self.lost {
            let known = self.delay_min < f64::INFINITY;
            let ahead = if known { self.delay_bound } else { Nanos::ZERO };
            let (target, above) = self.epoch.curve(now, ahead, self.parameters.c);
            growth = if target > cwnd { target - cwnd } else { LEAST_GROWTH };
            if above && known {
                growth = growth.min(10.0 * self.parameters.max_increment * self.delay_min);
            }
        }
        if self.parameters.tcp_friendliness {
            let reno = self.epoch.reno_friendly(cwnd, f64::from(acked));
            // A rarely true comparison costs less than a maximum, which waits for the division.
            if reno > cwnd {
                growth = growth.max(reno - cwnd);
            }
        }
        growth.min(cwnd)
    }

    /// Updates `cnt` in integers.
    #[inline]
    fn update_cnt(&mut self, window: &Window, now: Nanos, acked: u32) {
        let cwnd = window.cwnd;
        let counts_acks = window.arithmetic() == Arithmetic::Linux26;
        self.epoch.count(if counts_acks { 1.0 } else { f64::from(acked) });
        let now_ms = jiffies(now);
        if self.updated_cwnd == cwnd && now_ms.saturating_sub(self.updated_ms) <= HOLD_MS && !self.begun {
            return;
        }
        self.begun = false;
        self.updated_cwnd = cwnd;
        self.updated_ms = now_ms;
        let mut cnt = FIRST_CNT;
        if self.lost {
            let known = self.delay_min < f64::INFINITY;
            let ahead = if known { self.delay_min as u64 } else { 0 };
            let (target, above) = self.epoch.curve_in_integers(now, ahead, self.parameters.c);
            cnt = cnt_to(target, cwnd);
            if above && known {
                // 10 max_increment segments a second, with RTTmin in milliseconds.
                let per_round = 10.0 * self.parameters.max_increment * self.delay_min;
                cnt = cnt.max(libm::floor(cwnd * 1000.0 / per_round));
            }
        }
        if self.parameters.tcp_friendliness {
            cnt = self.epoch.keep_up_with_reno(cwnd, cnt);
        }
        if counts_acks {
            cnt = libm::floor(cnt * 16.0 / f64::from(self.ack_ratio));
        }
        self.cnt = cnt.max(1.0);
    }

    #[cold]
    fn begin_epoch(&mut self, window: &Window, now: Nanos) {
        self.epoch.begin(window, now, self.w_max, self.parameters.c, self.parameters.beta);
        self.begun = true;
    }
}
