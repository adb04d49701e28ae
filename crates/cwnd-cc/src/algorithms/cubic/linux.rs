//! CUBIC in Linux.
//!
//! RFC 8312 (I. Rhee, L. Xu, S. Ha, A. Zimmermann, L. Eggert, R. Scheffenegger, 2018) with the choices of Linux's module
//! (version 2.3), which most hosts used before RFC 9438. With W the window in segments, `cnt` the segments to acknowledge for
//! each segment of growth, and t the time since the epoch's first ACK:
//!
//! ```text
//! W(t)    = C (t - K)^3 + W_max,  K = cbrt((W_max - W_epoch)/C)
//! target  = W(t + RTTmin)
//! cnt     = W/(target - W) if target > W, else 100 W
//! cnt     at most 20 before the first loss and after a timeout
//! Wtcp   += 1 for every W (1 + beta)/(3 (1 - beta)) acknowledged segments
//! cnt     at most W/(Wtcp - W) if Wtcp > W
//! cnt     at least 2: the window grows to 1.5 times itself a round trip at most
//! loss    W_max = W (1 + beta)/2 if W < W_max, else W;  ssthresh = beta W
//! timeout likewise, then all is forgotten
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `c` | 410/1024 segments/s^3 | 0.001 to 100 | Linux (0.4 in RFC 8312) |
//! | `beta` | 717/1024 | 0.1 to 0.95 | Linux (0.7 in RFC 8312), the fraction kept |
//! | `fast_convergence` | on | | Linux, RFC 8312 section 4.6 |
//! | `tcp_friendliness` | on | | Linux, RFC 8312 section 4.2 |
//! | `hystart` | on | | Linux; not in RFC 8312's rules |
//!
//! Interpretations:
//! - In integer arithmetic time counts in milliseconds (HZ = 1000), K and t in 1/1024 s, windows and `cnt` in whole numbers,
//!   the Reno divisor in eighths; the cubic function is computed at most once per millisecond, and not for 31 ms while the
//!   window stays the same. The arithmetic of real numbers has the same rules without these limits.
//! - RTTmin is the smallest sample since the start or the last timeout. Samples in the first second of an epoch do not count,
//!   because the recovery before it disturbs them.
//! - Idle time moves the beginning of the epoch. Linux does not move it while the application limits the flow without a pause.
//! - `target` is computed one RTTmin ahead, where the RFC says RTT.

#[cfg(test)]
mod tests;

use super::epoch::{Epoch, HOLD_MS, KERNEL_C, LEAST_GROWTH, OBSERVABLES, cnt_to, jiffies};
use crate::observable::known;
use crate::parts::hystart::HyStart;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, CongestionKind, Init, Nanos,
    Observable, Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "cubic-linux",
    title: "CUBIC (Linux)",
    year: 2018,
    reference: "RFC 8312 (2018) and Linux's tcp_cubic 2.3; HyStart: S. Ha, I. Rhee, Computer Networks 55, \
                2011",
    summary: "The CUBIC that Linux runs: keeps 0.7 at a loss, leaves slow start early by HyStart.",
    strengths: "The standard of most servers: fast on long paths, friendly to Reno on short ones, calm in \
                slow start.",
    weaknesses: "Fills whatever buffer there is, so delay follows buffer size; random losses keep it small; \
                 HyStart may leave slow start early where delay varies.",
    signals: &[Signal::Loss, Signal::Ecn],
    based_on: "CUBIC of 2008",
    implemented_in: "Linux, its default (with HyStart since 2.6.29)",
    reconstruction: false,
    version: 1,
    parameters: CubicLinuxParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<CubicLinux>,
};

parameters! {
    /// Settings of [`CubicLinux`].
    pub struct CubicLinuxParameters {
        /// C, the scale of the cubic function.
        c: number(KERNEL_C, 0.001..=100.0), "segments/s^3", "Linux; 0.4 in RFC 8312";
        /// The fraction of the window kept at a loss.
        beta: number(717.0 / 1024.0, 0.1..=0.95), "1", "Linux; 0.7 in RFC 8312";
        /// Whether the window is reduced further when a loss comes earlier than the last one (fast convergence).
        fast_convergence: switch(true), "", "Linux, RFC 8312 section 4.6";
        /// Whether growth is at least Reno's.
        tcp_friendliness: switch(true), "", "Linux, RFC 8312 section 4.2";
        /// Whether ACK trains or delay end slow start early (HyStart).
        hystart: switch(true), "", "Linux";
    }
}

/// cnt before the first loss: the window grows by at least 5 % per round trip.
const FIRST_CNT: f64 = 20.0;
const MIN_CNT: f64 = 2.0;
/// Time after the beginning of an epoch in which samples do not count for RTTmin.
const SETTLING: Nanos = Nanos::from_millis(1000);

/// CUBIC in Linux.
#[derive(Clone, Debug)]
pub struct CubicLinux {
    parameters: CubicLinuxParameters,
    hystart: HyStart,
    epoch: Epoch,
    /// W_max (`last_max_cwnd`); 0 before the first loss and after a timeout.
    w_max: f64,
    /// RTTmin; [`Nanos::MAX`] if not known.
    delay_min: Nanos,
    cnt: f64,
    updated_cwnd: f64,
    updated_ms: u64,
    /// Whether the epoch has just begun, so that `cnt` must be computed.
    begun: bool,
}

impl Configurable for CubicLinux {
    type Parameters = CubicLinuxParameters;

    fn new(parameters: CubicLinuxParameters) -> Self {
        CubicLinux {
            hystart: HyStart::new(Nanos::ZERO),
            epoch: Epoch::default(),
            w_max: 0.0,
            delay_min: Nanos::MAX,
            cnt: 0.0,
            updated_cwnd: 0.0,
            updated_ms: 0,
            begun: false,
            parameters,
        }
    }
}

impl CubicLinux {
    /// Makes HyStart follow rounds as Linux 5.16 to 6.13 did: from 16 segments up only.
    pub fn with_late_hystart_rounds(self) -> CubicLinux {
        CubicLinux { hystart: HyStart::with_late_rounds(Nanos::ZERO), ..self }
    }
}

impl CongestionControl for CubicLinux {
    fn init(&mut self, _window: &mut Window, init: &Init) {
        self.hystart = self.hystart.restarted(init.now);
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt
            && self.epoch.start.is_none_or(|start| ack.now.since(start) >= SETTLING)
        {
            self.delay_min = self.delay_min.min(Nanos(rtt.0.max(1)));
        }
        if window.in_slow_start() && self.parameters.hystart {
            self.hystart.on_ack(window, ack, self.delay_min);
        }
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
            self.update_cnt(window.cwnd, ack.now, acked);
            window.increase(acked, self.cnt);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if !congestion.is_repeated_timeout() {
            let cwnd = window.cwnd;
            let beta = self.parameters.beta;
            let earlier = cwnd < self.w_max && self.parameters.fast_convergence;
            self.w_max = if earlier { window.whole(cwnd * (1.0 + beta) / 2.0) } else { cwnd };
            self.epoch.start = None;
            window.set_ssthresh_for_loss(beta * cwnd);
        }
        if congestion.kind == CongestionKind::Timeout {
            let hystart = self.hystart.restarted(congestion.now);
            *self = CubicLinux { hystart, ..CubicLinux::new(self.parameters.clone()) };
        }
    }

    fn on_idle_restart(&mut self, _window: &mut Window, now: Nanos, idle: Nanos) {
        if let Some(start) = &mut self.epoch.start {
            *start = (*start + idle).min(now);
        }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, at: &Observation, values: &mut [f64]) {
        let epoch = self.epoch.observe(window, at.now, self.ahead(), self.parameters.c);
        let [origin, k, target, w_est] = epoch;
        values.copy_from_slice(&[known(self.w_max), origin, k, target, w_est]);
    }
}

impl CubicLinux {
    /// Returns W/cnt in real numbers: the segments of growth for a window of acknowledged ones.
    #[inline]
    fn growth(&mut self, cwnd: f64, now: Nanos, acked: u32) -> f64 {
        let (target, _) = self.epoch.curve(now, self.ahead(), self.parameters.c);
        let mut growth = if target > cwnd { target - cwnd } else { LEAST_GROWTH };
        if self.w_max == 0.0 {
            growth = growth.max(cwnd / FIRST_CNT);
        }
        if self.parameters.tcp_friendliness {
            let reno = self.epoch.reno_friendly(cwnd, f64::from(acked));
            // A rarely true comparison costs less than a maximum, which waits for the division.
            if reno > cwnd {
                growth = growth.max(reno - cwnd);
            }
        }
        growth.min(cwnd / MIN_CNT)
    }

    /// Updates `cnt` in integers.
    #[inline]
    fn update_cnt(&mut self, cwnd: f64, now: Nanos, acked: u32) {
        self.epoch.count(f64::from(acked));
        let now_ms = jiffies(now);
        if self.updated_cwnd == cwnd && now_ms.saturating_sub(self.updated_ms) <= HOLD_MS && !self.begun {
            return;
        }
        if now_ms != self.updated_ms || self.begun {
            self.begun = false;
            self.updated_cwnd = cwnd;
            self.updated_ms = now_ms;
            // Linux rounds RTTmin up to jiffies.
            let ahead = jiffies(self.ahead() + Nanos(999_999));
            let (target, _) = self.epoch.curve_in_integers(now, ahead, self.parameters.c);
            self.cnt = cnt_to(target, cwnd);
            if self.w_max == 0.0 {
                self.cnt = self.cnt.min(FIRST_CNT);
            }
        }
        if self.parameters.tcp_friendliness {
            self.cnt = self.epoch.keep_up_with_reno(cwnd, self.cnt);
        }
        self.cnt = self.cnt.max(MIN_CNT);
    }

    #[cold]
    fn begin_epoch(&mut self, window: &Window, now: Nanos) {
        self.epoch.begin(window, now, self.w_max, self.parameters.c, self.parameters.beta);
        self.begun = true;
    }

    #[inline]
    fn ahead(&self) -> Nanos {
        if self.delay_min == Nanos::MAX { Nanos::ZERO } else { self.delay_min }
    }
}
