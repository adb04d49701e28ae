//! TCP Prague: DCTCP for the Internet, with less bias to short round-trip times and a paced, fractional window.
//!
//! K. De Schepper, O. Tilmans, B. Briscoe, V. Goel, "Prague Congestion Control",
//! draft-briscoe-iccrg-prague-congestion-control. The sections and equations are those of revision 00 (2021). Revision 04 (2024)
//! sets the first value of alpha, and calls the reference RTT *virtual RTT*. With W the window in segments, and F the fraction of
//! the segments of a round trip whose ACKs carry the echo of a mark:
//!
//! ```text
//! ECT(1)    on every packet                                                     (section 2.2)
//! alpha     = 1 at the first mark of the connection                             (revision 04)
//! alpha    += g (F - alpha)            once a reference round trip              (section 2.3.2)
//! mark      W = ssthresh = W (1 - alpha/2)   at most once a reference round trip    (section 2.4.2)
//! loss      ssthresh = W/2                                                      (section 2.4.1)
//! growth    W += 1/(M^2 W)             for each acknowledged segment without a mark, in a reduction too (section 2.4.3)
//! RTT_ref   = max(RTT, rtt_ref),   M = RTT_ref/RTT   after `transition` round trips, before that M = 1   (section 2.4.4)
//! start     slow start, until the first mark or loss                            (section 2.4.5)
//! pacing    = max(W, in flight)/RTT,   twice that while W < ssthresh/2          (section 2.5.1)
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `g` | 1/16 | 0.001 to 1 | section 2.3.2 |
//! | `rtt_ref` | 0.025 s | 0 to 1 | section 2.4.4; 0 turns the reference RTT off |
//! | `transition` | 500 rounds | 0 to 100,000 | section 2.4.4; Linux has 4 since version 0.7 of its module |
//! | `pacing_gain` | 1 | 1 to 2 | section 2.5.1; the 1.2 of Linux's other algorithms is left out on purpose |
//!
//! What of the draft is where:
//!
//! | section | here |
//! |---|---|
//! | 2.2, packet identification | the transport's, on request of [`Needs::ecn`]; `l4s = off` sends ECT(0) |
//! | 2.3.1, accurate feedback | the transport's; without it the flow is Reno, paced |
//! | 2.3.2, moving average | as above, in floating point: alpha neither sticks nor drops to zero |
//! | 2.3.3, loss detection in units of time | RACK, in the transport of the `linux` stack |
//! | 2.4.1, loss | halves; the smaller reduction soon after one for a mark, which the draft permits, is left out, as in Linux |
//! | 2.4.2 to 2.4.5, 2.5.1 | as above |
//! | 2.5.2, bursts of 250 us for segmentation offload | left out: every packet has its own time |
//! | 3, variants and future work | left out |
//!
//! Interpretations:
//! - A mark reduces the window at once. In Linux it falls by a segment for each ACK, down to the same fraction.
//! - *A round trip of a reduction* ends when a segment is acknowledged that was sent after it. Once the reference RTT applies,
//!   `RTT_ref` must have passed as well. The same holds for alpha, whose round trips are those of the transport.
//! - `transition` counts the round trips after slow start, as in Linux; section 2.4.4 says "D rounds".
//! - *The fractional window*: integer arithmetics use it rounded up (section 2.4.2, notes). It is at least two segments.
//! - Marks in a recovery move alpha and reduce nothing. A loss soon after a mark halves what the mark has left.
//! - RTT is the smoothed one.

#[cfg(test)]
mod tests;

use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, EcnMode, Init, Nanos, Needs,
    Observable, Observation, ParameterSet, Signal, State, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "prague",
    title: "TCP Prague",
    year: 2021,
    reference: "K. De Schepper, O. Tilmans, B. Briscoe, V. Goel, Prague Congestion Control, \
                draft-briscoe-iccrg-prague-congestion-control",
    summary: "DCTCP for L4S queues: growth at unmarked ACKs only, short RTTs slowed to 25 ms, and pacing.",
    strengths: "Full links with queues under a millisecond where a dual queue marks; fair to flows of other \
                short RTTs, and to classic flows in the other queue.",
    weaknesses: "Needs a queue that marks ECT(1), and is Reno where nothing marks; starves classic flows in \
                 a single queue that marks.",
    signals: &[Signal::Ecn, Signal::Loss],
    based_on: "DCTCP",
    implemented_in: "Linux (L4STeam/linux), Apple's systems, ns-3, QUIC stacks",
    reconstruction: false,
    version: 1,
    parameters: PragueParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Prague>,
};

parameters! {
    /// Settings of [`Prague`].
    pub struct PragueParameters {
        /// Weight of the newest round trip in alpha.
        g: number(0.0625, 0.001..=1.0), "1", "draft section 2.3.2";
        /// Least reference round-trip time.
        rtt_ref: number(0.025, 0.0..=1.0), "s", "draft section 2.4.4";
        /// Round trips after slow start from which the reference round-trip time applies.
        transition: number(500.0, 0.0..=100_000.0), "rounds", "draft section 2.4.4; Linux has 4";
        /// Pacing rate in congestion avoidance, windows a round-trip time.
        pacing_gain: number(1.0, 1.0..=2.0), "1", "draft section 2.5.1";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new(
        "alpha",
        "alpha",
        "1",
        "Moving average of the marked share of segments, section 2.3.2; 0 before the first mark.",
    ),
    Observable::new("fraction", "W", "segments", "The window with its fraction of a segment, section 2.4.2."),
    Observable::new(
        "increase",
        "1/M^2",
        "1",
        "Segments that a round trip without marks adds, section 2.4.4.",
    ),
];

/// Least window, segments.
const MIN_CWND: f64 = 2.0;
/// Pacing rate in slow start, windows a round-trip time.
const SLOW_START_PACING_GAIN: f64 = 2.0;

/// TCP Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    parameters: PragueParameters,
    /// `rtt_ref`.
    rtt_ref: Nanos,
    /// Whether the feedback is accurate. Without it the flow is Reno.
    scalable: bool,
    /// None before the first mark.
    alpha: Option<f64>,
    /// Segments delivered since the last update of alpha, and the marked ones among them.
    acked: u64,
    marked: u64,
    alpha_updated: Nanos,
    /// Segments acknowledged cumulatively.
    acknowledged: u64,
    /// The segments sent before the last reduction, and its time.
    reduced_at: u64,
    reduced: Nanos,
    /// Round trips since slow start.
    rounds: u64,
    /// W.
    cwnd: f64,
    /// The window as last set here. If it is another, the transport has changed it.
    published: f64,
    /// 1/M^2.
    increase: f64,
}

impl Configurable for Prague {
    type Parameters = PragueParameters;

    fn new(parameters: PragueParameters) -> Self {
        Prague {
            rtt_ref: Nanos((parameters.rtt_ref * 1e9) as u64),
            scalable: true,
            alpha: None,
            acked: 0,
            marked: 0,
            alpha_updated: Nanos::ZERO,
            acknowledged: 0,
            reduced_at: 0,
            reduced: Nanos::ZERO,
            rounds: 0,
            cwnd: 0.0,
            published: 0.0,
            increase: 1.0,
            parameters,
        }
    }
}

impl CongestionControl for Prague {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.scalable = init.ecn == EcnMode::Exact;
        self.alpha_updated = init.now;
        self.follow(window);
        self.pace(window, 0, init.rtt.unwrap_or_default());
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.follow(window);
        self.acknowledged += u64::from(ack.cumulative);
        let marked = if self.scalable { ack.marked.min(ack.acked) } else { 0 };
        self.acked += u64::from(ack.acked);
        self.marked += u64::from(marked);
        if ack.round_start {
            self.end_round(window, ack);
        }
        if ack.marked > 0 && self.scalable {
            self.on_mark(window, ack);
        }
        if ack.may_grow() && ack.acked > marked {
            self.grow(window, ack.acked - marked);
        }
        self.pace(window, ack.in_flight, ack.srtt);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.is_repeated_timeout() {
            return;
        }
        self.follow(window);
        window.set_ssthresh_for_loss(self.cwnd / 2.0);
    }

    fn needs(&self) -> Needs {
        Needs { ecn: Some(EcnMode::Exact), pacing: true, marks_only: true, ..Needs::default() }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        let cwnd = if window.cwnd == self.published { self.cwnd } else { window.cwnd };
        values.copy_from_slice(&[self.alpha.unwrap_or(0.0), cwnd, self.increase]);
    }
}

impl Prague {
    /// Adopts a window that the transport has changed: in recovery, after a timeout or a pause.
    #[inline]
    fn follow(&mut self, window: &Window) {
        if window.cwnd != self.published {
            self.cwnd = window.cwnd;
            self.published = window.cwnd;
        }
    }

    /// Sets the window from its fractional value.
    #[inline]
    fn publish(&mut self, window: &mut Window) {
        let whole = window.arithmetic() != Arithmetic::Real;
        window.set_cwnd(if whole { libm::ceil(self.cwnd) } else { self.cwnd });
        self.published = window.cwnd;
    }

    /// Whether the reference round-trip time applies.
    fn is_rtt_independent(&self) -> bool {
        self.scalable && self.rounds as f64 >= self.parameters.transition
    }

    /// Ends a round trip of the transport.
    fn end_round(&mut self, window: &Window, ack: &Ack) {
        if !window.in_slow_start() {
            self.rounds += 1;
        }
        let independent = self.is_rtt_independent();
        let of_reference = ack.srtt.as_secs_f64() / self.rtt_ref.max(ack.srtt).as_secs_f64();
        // A round-trip time of zero is not known.
        let known = independent && ack.srtt > Nanos::ZERO;
        self.increase = if known { of_reference * of_reference } else { 1.0 };
        if !independent || ack.now.since(self.alpha_updated) >= self.rtt_ref {
            self.update_alpha(ack.now);
        }
    }

    fn update_alpha(&mut self, now: Nanos) {
        if let Some(alpha) = self.alpha.as_mut().filter(|_| self.acked > 0) {
            let share = self.marked as f64 / self.acked as f64;
            *alpha += self.parameters.g * (share - *alpha);
        }
        self.acked = 0;
        self.marked = 0;
        self.alpha_updated = now;
    }

    /// Reduces the window for marks, unless it was reduced less than a round trip ago.
    #[inline(never)]
    fn on_mark(&mut self, window: &mut Window, ack: &Ack) {
        if matches!(ack.state, State::Recovery | State::Loss) || self.acknowledged <= self.reduced_at {
            return;
        }
        if self.is_rtt_independent() && ack.now.since(self.reduced) < self.rtt_ref {
            return;
        }
        self.reduced_at = ack.sent;
        self.reduced = ack.now;
        let alpha = *self.alpha.get_or_insert(1.0);
        self.cwnd = (self.cwnd * (1.0 - alpha / 2.0)).max(MIN_CWND.min(self.cwnd));
        self.publish(window);
        window.set_ssthresh_for_loss(self.cwnd);
        if window.in_slow_start() {
            // Where `cwnd == ssthresh` counts as slow start.
            window.set_ssthresh(self.cwnd - 1.0);
        }
    }

    /// Grows the window by `unmarked` acknowledged segments.
    #[inline]
    fn grow(&mut self, window: &mut Window, unmarked: u32) {
        let mut left = unmarked;
        if window.in_slow_start() {
            left = window.slow_start(unmarked);
            self.cwnd = window.cwnd;
            self.published = window.cwnd;
        }
        if left > 0 {
            self.cwnd = (self.cwnd + f64::from(left) * self.increase / self.cwnd).min(window.clamp());
            self.publish(window);
        }
    }

    #[inline]
    fn pace(&self, window: &mut Window, in_flight: u32, srtt: Nanos) {
        if srtt == Nanos::ZERO {
            return;
        }
        let slow = window.cwnd < window.ssthresh / 2.0;
        let gain = if slow { SLOW_START_PACING_GAIN } else { self.parameters.pacing_gain };
        let segments = self.cwnd.max(f64::from(in_flight));
        window.pacing_rate = gain * segments * f64::from(window.mss()) / srtt.as_secs_f64();
    }
}
