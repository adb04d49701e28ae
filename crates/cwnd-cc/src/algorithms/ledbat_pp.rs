//! LEDBAT++: background traffic that yields to all other traffic from a queueing delay of 60 ms on.
//!
//! P. Balasubramanian, O. Ertugay, D. Havey, M. Bagnulo, "LEDBAT++: Congestion Control for Background
//! Traffic", draft-irtf-iccrg-ledbat-plus-plus; LEDBAT itself: S. Shalunov, G. Hazel, J. Iyengar, M.
//! Kuehlewind, RFC 6817, 2012. With W the window in segments:
//!
//! ```text
//! base    the least round-trip time of ten minutes, in steps of one
//! qd      = the least of the last four round-trip times - base
//! GAIN    = 1/min(16, ceil(2 TARGET/base))
//!
//! qd <= TARGET   W += GAIN                                              a round trip
//! qd >  TARGET   W += max(GAIN - C W (qd/TARGET - 1), -W/2)             a round trip; at least 2
//! slow start     W += GAIN for each acknowledged segment; the first one ends at qd > 3/4 TARGET
//! loss           ssthresh = W/2
//! slowdown       W = 2 for two round trips, then slow start to the window of before
//!                first two round trips after the first slow start, then each time after nine times as long
//!                as the last took, down and up again
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `target` | 60 ms | 1 to 1000 | draft |
//! | `constant` | 1 | 0.1 to 10 | draft, C |
//! | `slowdowns` | on | | draft |
//! | `greatest_divisor` | 16 | 1 to 64 | draft |
//!
//! The text of the draft's version 06 was not available. The rules come from a summary of it and from public implementations.
//!
//! Interpretations:
//! - The rules of a round trip are spread over it: an ACK of n segments takes n/W of them.
//! - base and qd use round-trip times, as in the draft (RFC 6817 uses one-way delays).
//! - A slowdown begins when the window is above 2 outside of recovery; W becomes ssthresh. It ends when slow start reaches
//!   ssthresh or a loss occurs.
//! - Later slow starts (after slowdowns and timeouts) ignore the delay; ssthresh bounds them.
//! - The threshold at which qd counts as over TARGET is TARGET itself.
//! - "Never more than Reno": GAIN is at most 1.
//! - Slowdowns use the transport's rounds and times; two round trips are two smoothed round-trip times.

#[cfg(test)]
mod tests;

use crate::observable::seconds;
use crate::parts::time_min::TimeMin;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, CongestionKind, Nanos,
    Observable, Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "ledbat-pp",
    title: "LEDBAT++",
    year: 2019,
    reference: "P. Balasubramanian, O. Ertugay, D. Havey, M. Bagnulo, LEDBAT++: Congestion Control for \
                Background Traffic, draft-irtf-iccrg-ledbat-plus-plus; RFC 6817 (2012)",
    summary: "Grows slower than Reno, gives way to a queue of 60 ms, and slows down from time to time to see \
              the empty path.",
    strengths: "Uses what others leave and gets out of their way; several of it share evenly, whoever came \
                first.",
    weaknesses: "Buffers of less than 60 ms hide the others from it; takes long to fill a long fast path, \
                 and a tenth of its time is slowdowns; not for traffic that matters.",
    signals: &[Signal::Delay, Signal::Loss],
    based_on: "LEDBAT (RFC 6817)",
    implemented_in: "Windows, macOS and iOS",
    reconstruction: false,
    version: 1,
    parameters: LedbatPpParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<LedbatPp>,
};

parameters! {
    /// Settings of [`LedbatPp`].
    pub struct LedbatPpParameters {
        /// Queueing delay that it stays below.
        target: number(60.0, 1.0..=1000.0), "ms", "draft";
        /// Strength of the reduction for a longer queue.
        constant: number(1.0, 0.1..=10.0), "1", "draft, C";
        /// Whether it slows down periodically.
        slowdowns: switch(true), "", "draft";
        /// Largest factor by which it grows slower than Reno.
        greatest_divisor: number(16.0, 1.0..=64.0), "1", "draft";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::mode(
        "mode",
        "mode",
        "Initial slow start, adaptation to the target, slowdown, or slow start after one.",
        &["start", "adapt", "slowdown", "refill"],
    ),
    Observable::new(
        "queueing",
        "qd",
        "s",
        "Queueing delay: the least of the last four round-trip times - base.",
    ),
    Observable::new("base", "base", "s", "The least round-trip time of ten minutes."),
    Observable::new("gain", "GAIN", "1", "1/min(16, ceil(2 TARGET/base))."),
];

const MIN_CWND: f64 = 2.0;
const BASE_SPAN: Nanos = Nanos(60_000_000_000);
const CURRENT: usize = 4;
/// Time to the next slowdown, as a multiple of the duration of the last one.
const PAUSE: u64 = 9;

/// The next phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// The first slow start.
    Start,
    /// Waits for a slowdown at that time.
    SlowAt(Nanos),
    /// Holds the smallest window between these times.
    Reduced(Nanos, Nanos),
    /// Slow start after a slowdown that began at that time.
    Refill(Nanos),
}

/// LEDBAT++.
#[derive(Clone, Debug)]
pub struct LedbatPp {
    parameters: LedbatPpParameters,
    base: TimeMin<10>,
    current: [Nanos; CURRENT],
    next: usize,
    /// GAIN, and the base from which it was computed.
    gain: f64,
    gain_base: Nanos,
    plan: Plan,
    /// Pending part of a step where windows are whole numbers.
    owed: f64,
}

impl Configurable for LedbatPp {
    type Parameters = LedbatPpParameters;

    fn new(parameters: LedbatPpParameters) -> Self {
        LedbatPp {
            gain: 1.0 / parameters.greatest_divisor,
            parameters,
            base: TimeMin::default(),
            current: [Nanos::MAX; CURRENT],
            next: 0,
            gain_base: Nanos::MAX,
            plan: Plan::Start,
            owed: 0.0,
        }
    }
}

impl CongestionControl for LedbatPp {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.measure(ack.now, rtt);
        }
        if self.parameters.slowdowns && self.hold(window, ack) {
            return;
        }
        if !ack.may_grow() {
            return;
        }
        if is_starting(window) {
            self.slow_start(window, ack);
        } else {
            self.avoid_congestion(window, ack);
        }
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        // A loss ends the slowdown; its duration counts up to here.
        match self.plan {
            Plan::Start => self.plan_slowdown(congestion.now, two_round_trips(congestion.srtt)),
            Plan::Reduced(since, _) | Plan::Refill(since) => self.end_slowdown(congestion.now, since),
            Plan::SlowAt(_) => {}
        }
        self.owed = 0.0;
        window.set_ssthresh_for_loss(window.cwnd / 2.0);
        if congestion.kind == CongestionKind::Timeout {
            window.restart_cwnd = 1.0;
        }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, _window: &Window, _at: &Observation, values: &mut [f64]) {
        let mode = match self.plan {
            Plan::Start => 0,
            Plan::SlowAt(_) => 1,
            Plan::Reduced(..) => 2,
            Plan::Refill(_) => 3,
        };
        let base = seconds(self.base.get());
        let queueing = if base.is_nan() { base } else { self.queueing() * self.parameters.target * 1e-3 };
        values.copy_from_slice(&[f64::from(mode), queueing, base, self.gain]);
    }
}

impl LedbatPp {
    #[inline]
    fn measure(&mut self, now: Nanos, rtt: Nanos) {
        self.base.add(now, BASE_SPAN, rtt);
        self.current[self.next] = rtt;
        self.next = (self.next + 1) % CURRENT;
        let base = self.base.get();
        if base != self.gain_base {
            self.gain_base = base;
            let divisor = libm::ceil(2.0 * self.parameters.target / (base.0.max(1) as f64 * 1e-6));
            self.gain = 1.0 / divisor.clamp(1.0, self.parameters.greatest_divisor);
        }
    }

    /// Returns qd as a multiple of TARGET.
    #[inline]
    fn queueing(&self) -> f64 {
        let current = self.current.iter().copied().min().unwrap_or(Nanos::MAX);
        if current == Nanos::MAX {
            return 0.0;
        }
        current.since(self.base.get()).0 as f64 / (self.parameters.target * 1e6)
    }

    /// Controls slowdowns. Returns whether the smallest window is held.
    #[inline]
    fn hold(&mut self, window: &mut Window, ack: &Ack) -> bool {
        match self.plan {
            Plan::SlowAt(at) if ack.now >= at && ack.may_grow() && window.cwnd > MIN_CWND => {
                window.set_ssthresh(window.cwnd);
                window.reset_counter();
                window.set_cwnd(MIN_CWND);
                self.plan = Plan::Reduced(ack.now, ack.now + two_round_trips(ack.srtt));
                true
            }
            Plan::Reduced(since, until) => {
                if ack.now >= until {
                    self.plan = Plan::Refill(since);
                }
                ack.now < until
            }
            Plan::Refill(since) if !is_starting(window) => {
                self.end_slowdown(ack.now, since);
                false
            }
            _ => false,
        }
    }

    fn end_slowdown(&mut self, now: Nanos, since: Nanos) {
        self.plan_slowdown(now, Nanos(now.since(since).0.saturating_mul(PAUSE)));
    }

    fn plan_slowdown(&mut self, now: Nanos, pause: Nanos) {
        self.plan = Plan::SlowAt(now + pause);
    }

    fn slow_start(&mut self, window: &mut Window, ack: &Ack) {
        if self.plan == Plan::Start && self.queueing() > 0.75 {
            window.set_ssthresh(window.cwnd);
            self.plan_slowdown(ack.now, two_round_trips(ack.srtt));
            return;
        }
        let step = (f64::from(ack.acked) * self.gain).min(window.ssthresh - window.cwnd);
        window.increase_weighted(1, step, 1.0);
    }

    fn avoid_congestion(&mut self, window: &mut Window, ack: &Ack) {
        if self.plan == Plan::Start {
            self.plan_slowdown(ack.now, two_round_trips(ack.srtt));
        }
        let cwnd = window.cwnd;
        let over = self.queueing() - 1.0;
        let share = f64::from(ack.acked) / cwnd;
        let step = (self.gain - self.parameters.constant * cwnd * over.max(0.0)).max(-cwnd / 2.0);
        if step >= 0.0 {
            window.increase_weighted(ack.acked, step, cwnd);
        } else {
            self.fall(window, -step * share.min(1.0));
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
        window.set_cwnd((window.cwnd - step).max(MIN_CWND.min(window.cwnd)));
        // The window is no longer that of slow start, and slow start must not return to it.
        window.ssthresh = window.ssthresh.min(window.cwnd.max(MIN_CWND));
    }
}

/// Ends slow start at ssthresh in every arithmetic, because no step would remain from there.
fn is_starting(window: &Window) -> bool {
    window.cwnd < window.ssthresh
}

/// Returns the time that a slowdown holds the window, which is also the waiting time of the first one.
fn two_round_trips(srtt: Nanos) -> Nanos {
    srtt + srtt
}
