//! HighSpeed TCP: the larger the window, the faster its growth and the smaller its reduction at a loss.
//!
//! RFC 3649 (S. Floyd, 2003), and RFC 3742 (S. Floyd, 2004) for the slow start that it goes with. With w the
//! window in segments:
//!
//! ```text
//! congestion avoidance   w += a(w)/w for each acknowledged segment
//! loss, mark, timeout    w -= b(w) w
//! ```
//!
//! a(w) and b(w) are Reno's 1 and 0.5 up to 38 segments, and reach 72 and 0.1 at 83,000; the equations are in
//! [`crate::parts::highspeed_response`].
//!
//! | parameter | default | values | source |
//! |---|---|---|---|
//! | `slow_start` | `standard` | `standard`, `limited`, `hystart`, `hystart++`, `search`, `careful-resume` | off in Linux and ns-2.35 |
//! | `max_ssthresh` | 100 segments | 2 to 1,000,000 | RFC 3742; of the limited slow start |
//!
//! Interpretations:
//! - *Slow start*: RFC 3649 recommends limited slow start, which is off in Linux 2.6 and ns-2.35. The comparisons ran without
//!   it, so `standard` is the default; `limited` follows the RFC.
//! - *Timeout*: the RFC changes only fast recovery, so that a timeout halves the window. Linux and ns-2.35 use b(w) there,
//!   too, and so does this file. A slow start from one segment follows in any case.
//! - FlightSize: b(w) applies to cwnd, as in Linux. In integers it belongs to the table row of the last growth, as in Linux's
//!   modules; before the first growth it is a half.

#[cfg(test)]
mod tests;

use crate::parts::{
    highspeed_response::HighSpeedResponse,
    limited_slow_start::{LimitedSlowStart, MAX_SSTHRESH},
    reno,
    slow_start::{SlowStart, SlowStartKind},
};
use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, Init, Nanos, Observable,
    Observation, ParameterSet, Signal, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "highspeed",
    title: "HighSpeed TCP",
    year: 2003,
    reference: "RFC 3649 (2003), RFC 3742 (2004)",
    summary: "Reno up to 38 segments; larger windows grow by up to 72 segments a round trip and give up as \
              little as a tenth.",
    strengths: "Fills fast long paths at loss rates that standard TCP cannot live with, and is standard TCP \
                in small windows.",
    weaknesses: "Large windows grow faster than small ones: new flows catch up slowly, short RTTs win by \
                 far, and competing Reno flows starve on fast paths.",
    signals: &[Signal::Loss, Signal::Ecn],
    based_on: "NewReno",
    implemented_in: "Linux (highspeed), ns-2.35, ns-3",
    reconstruction: false,
    version: 4,
    parameters: HighSpeedParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<HighSpeed>,
};

parameters! {
    /// Settings of [`HighSpeed`].
    pub struct HighSpeedParameters {
        /// Kind of slow start.
        slow_start: word(SlowStartKind::Standard), "", "Linux, ns-2.35; RFC 3649 recommends limited";
        /// Window from which limited slow start no longer doubles.
        max_ssthresh: number(MAX_SSTHRESH, 2.0..=1e6), "segments", "RFC 3742 section 2";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "a",
        "a(w)",
        "segments",
        "Growth in a round trip, RFC 3649 section 5; of the window up to a segment ago.",
    ),
    Observable::new("b", "b(w)", "1", "Share of the window that a loss takes off, RFC 3649 section 5."),
];

/// HighSpeed TCP.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    parameters: HighSpeedParameters,
    slow_start: SlowStart,
    response: HighSpeedResponse,
}

impl Configurable for HighSpeed {
    type Parameters = HighSpeedParameters;

    fn new(parameters: HighSpeedParameters) -> Self {
        let slow_start = slow_start(&parameters, Nanos::ZERO);
        HighSpeed { parameters, slow_start, response: HighSpeedResponse::default() }
    }
}

fn slow_start(parameters: &HighSpeedParameters, now: Nanos) -> SlowStart {
    match parameters.slow_start {
        SlowStartKind::Limited => SlowStart::Limited(LimitedSlowStart::new(parameters.max_ssthresh)),
        kind => SlowStart::new(kind, now),
    }
}

impl CongestionControl for HighSpeed {
    fn init(&mut self, _window: &mut Window, init: &Init) {
        self.slow_start = slow_start(&self.parameters, init.now);
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = self.slow_start.on_ack(window, ack);
        }
        if acked == 0 || !ack.may_grow() {
            return;
        }
        // Linux's modules count each ACK once, independent of the segments that it acknowledges.
        let counted = if window.arithmetic() == Arithmetic::Real { acked } else { 1 };
        window.increase_weighted(counted, self.response.increase(window), window.cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        self.slow_start.on_congestion(congestion.kind, congestion.now);
        if congestion.is_repeated_timeout() {
            return;
        }
        reno::give_up(window, self.response.decrease(window));
        reno::hold_half_in_recovery(window);
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        values.copy_from_slice(&[self.response.last_increase(), self.response.decrease(window)]);
    }
}
