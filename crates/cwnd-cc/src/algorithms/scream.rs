//! SCReAM v2: congestion control for real-time media, which gives the encoder its rate.
//!
//! I. Johansson, M. Westerlund, M. Kühlewind, "Self-Clocked Rate Adaptation for Multimedia",
//! draft-ietf-ccwg-rfc8298bis-screamv2. With R the reference window in bytes, s the smoothed round-trip time, V = 25 ms:
//!
//! ```text
//! qd      = round-trip time - the least of ten minutes, averaged: it falls at once and rises by 1/4 each min(V, s)
//! loss    R *= beta_loss            mark   R *= 1 - a/2 (L4S), R *= beta_ecn (classic)
//! delay   R *= 1 - b/2              b from 0 at qd = target/2 to 1 at qd = target
//!         at most one of them each min(V, s); a/2 and b/2 are divided by max(1, s/V)
//! growth  R += MSS a round trip, less for s < V and near the window of the last reduction; R (1 + mul_increase) long after one
//!         while R <= MSS + 1.5 bytes in flight and the encoder is below its greatest rate
//! window  = 3 R,   pacing = 1.5 rate or more,   rate = 8 R/s/(1.2 + what waits at the sender), at most the encoder's
//! target  = 60 ms; with other flows that fill the queue up to 400 ms (mean + deviation of qd; `compensation`)
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `beta_loss` | 0.7 | 0.1 to 0.99 | draft |
//! | `beta_ecn` | 0.8 | 0.1 to 0.99 | draft |
//! | `target` | 60 ms | 1 to 1000 | draft |
//! | `greatest_target` | 400 ms | 1 to 10000 | draft |
//! | `mul_increase` | 0.02 | 0 to 1 | draft |
//! | `compensation` | on | | draft, optional |
//!
//! Interpretations:
//! - The queue delay comes from round-trip times, since TCP measures no one-way delays.
//! - Bytes in flight are the transport's, without segments that are SACKed or lost; the transport repairs losses.
//! - A timeout, which the draft does not have, is a loss after which R begins at its least value, and one segment is sent
//!   (RFC 5681 section 3.1).
//! - The history of qd has a value every 50 ms. The rate of losses is a mean over round trips with a weight of 1/100.
//! - The draft's optional parts for jitter, link-layer losses, policers, undershoot and clock drift are left out.
//! - Frames have the size that the encoder was asked for, so that their deviation is zero.

mod competition;
mod rate;
#[cfg(test)]
mod tests;

use crate::observable::{bits_per_second, known};
use crate::parts::time_min::TimeMin;
use crate::{
    Ack, AlgorithmInfo, Arithmetic, Configurable, Congestion, CongestionControl, CongestionKind, EcnMode,
    Frame, Init, Nanos, Needs, Observable, Observation, ParameterSet, Signal, Window, build,
};
use competition::Competition;
use rate::MediaRate;

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "scream",
    title: "SCReAM v2",
    year: 2024,
    reference: "I. Johansson, M. Westerlund, M. Kuehlewind, Self-Clocked Rate Adaptation for Multimedia, \
                draft-ietf-ccwg-rfc8298bis-screamv2 (2026)",
    summary: "Keeps the queue below 60 ms by delay, losses and marks, and sets the rate of a media encoder.",
    strengths: "Frames wait little, at the sender and in the network; with L4S, hardly at all.",
    weaknesses: "Others that fill the queue take its share or its delay; made for a source that follows its rate.",
    signals: &[Signal::Delay, Signal::Loss, Signal::Ecn],
    based_on: "SCReAM (RFC 8298), with the scalable response of DCTCP",
    implemented_in: "the authors' library (EricssonResearch/scream), WebRTC",
    reconstruction: false,
    version: 1,
    parameters: ScreamParameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Scream>,
};

parameters! {
    /// Settings of [`Scream`].
    pub struct ScreamParameters {
        /// Share of the reference window that remains after a loss.
        beta_loss: number(0.7, 0.1..=0.99), "", "draft";
        /// Share of the reference window that remains after a mark of classic ECN.
        beta_ecn: number(0.8, 0.1..=0.99), "", "draft";
        /// Queue delay that it stays below.
        target: number(60.0, 1.0..=1000.0), "ms", "draft";
        /// Largest queue delay that it accepts alongside flows that fill the queue.
        greatest_target: number(400.0, 1.0..=10000.0), "ms", "draft";
        /// Share of the reference window by which it grows a round trip, long after congestion.
        mul_increase: number(0.02, 0.0..=1.0), "", "draft";
        /// Whether the target rises alongside flows that fill the queue.
        compensation: switch(true), "", "draft, optional";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::new("reference_window", "R", "segments", "The reference window."),
    Observable::new("queueing", "qd", "s", "The averaged queue delay."),
    Observable::new("target", "target", "s", "The queue delay that it stays below."),
    Observable::new("alpha", "a", "1", "The averaged share of marked segments."),
    Observable::new("rate", "rate", "bit/s", "The rate that the encoder is given, payload."),
];

/// The round-trip time below which growth slows down, and the least time between reductions on longer paths.
const VIRTUAL_RTT: Nanos = Nanos(25_000_000);
const BASE_SPAN: Nanos = Nanos(60_000_000_000);
/// Least reference window, bytes.
const LEAST: f64 = 3000.0;
/// How far the bytes in flight may exceed the reference window, without the filter of jitter.
const OVERHEAD: f64 = 3.0;
/// How far the reference window may exceed the bytes in flight.
const HEAD_ROOM: f64 = 1.5;
/// Round trips after congestion during which growth is cautious.
const CAUTIOUS_ROUNDS: f64 = 100.0;
const DELAY_GAIN: f64 = 0.25;
const ALPHA_UP: f64 = 1.0 / 8.0;
const ALPHA_DOWN: f64 = 1.0 / 128.0;
const ALPHA_SPAN: Nanos = Nanos(10_000_000);

/// SCReAM v2.
#[derive(Clone, Debug)]
pub struct Scream {
    parameters: ScreamParameters,
    /// R, bytes.
    reference: f64,
    /// R at the last reduction before which it had grown, bytes.
    inflection: f64,
    has_grown: bool,
    base: TimeMin<10>,
    /// The averaged queue delay and the latest sample, s.
    queueing: f64,
    latest_queueing: f64,
    queueing_at: Nanos,
    is_l4s: bool,
    alpha: f64,
    alpha_at: Nanos,
    delivered: u64,
    marked: u64,
    /// What came since the last reduction.
    saw_loss: bool,
    saw_mark: bool,
    lost_in_round: bool,
    reduced: Nanos,
    congested: Option<Nanos>,
    /// Most bytes in flight of this round trip and of the one before.
    in_flight: [f64; 2],
    competition: Competition,
    rate: MediaRate,
}

impl Configurable for Scream {
    type Parameters = ScreamParameters;

    fn new(parameters: ScreamParameters) -> Self {
        Scream {
            reference: LEAST,
            inflection: 1.0,
            has_grown: true,
            base: TimeMin::default(),
            queueing: 0.0,
            latest_queueing: 0.0,
            queueing_at: Nanos::ZERO,
            is_l4s: false,
            alpha: 0.0,
            alpha_at: Nanos::ZERO,
            delivered: 0,
            marked: 0,
            saw_loss: false,
            saw_mark: false,
            lost_in_round: false,
            reduced: Nanos::ZERO,
            congested: None,
            in_flight: [0.0; 2],
            competition: Competition::new(parameters.target * 1e-3, parameters.greatest_target * 1e-3),
            rate: MediaRate::default(),
            parameters,
        }
    }
}

impl CongestionControl for Scream {
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.is_l4s = init.ecn == EcnMode::Exact;
        (self.reduced, self.queueing_at, self.alpha_at) = (init.now, init.now, init.now);
        self.publish(window, init.rtt.unwrap_or_default());
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.round_start {
            self.competition.end_round(self.lost_in_round);
            self.lost_in_round = false;
            self.in_flight = [0.0, self.in_flight[0]];
        }
        let in_flight = f64::from(ack.prior_in_flight) * f64::from(window.mss());
        self.in_flight[0] = self.in_flight[0].max(in_flight);
        self.measure(ack);
        self.count_marks(ack);
        // The beginning of an episode was reported just before.
        if ack.lost > 0 && self.congested != Some(ack.now) {
            self.note_loss(ack.now);
        }
        // Without a round-trip time neither a rate nor a delay is known.
        if ack.srtt > Nanos::ZERO {
            self.reduce(ack.now, ack.srtt);
            self.grow(window, ack);
        }
        self.publish(window, ack.srtt);
    }

    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        match congestion.kind {
            CongestionKind::Loss => self.note_loss(congestion.now),
            CongestionKind::Ecn => {
                self.saw_mark = true;
                self.congested = Some(congestion.now);
            }
            CongestionKind::Timeout => {
                self.note_loss(congestion.now);
                self.note_inflection();
                self.reference = LEAST;
                self.reduced = congestion.now;
                self.saw_loss = false;
            }
        }
        if congestion.srtt > Nanos::ZERO {
            self.reduce(congestion.now, congestion.srtt);
        }
        // After a timeout the window is below its least value until the next ACK; congestion does not raise it.
        let held = self.segments(window).min(window.cwnd);
        window.set_ssthresh_for_loss(held);
        window.recovery_cwnd = Some(held);
    }

    fn on_frame(&mut self, window: &Window, frame: &Frame) -> f64 {
        self.rate.on_frame(frame);
        self.rate.of(self.reference, window.mss(), frame.srtt)
    }

    fn needs(&self) -> Needs {
        Needs {
            ecn: Some(EcnMode::Exact),
            pacing: true,
            owns_recovery: true,
            marks_only: true,
            ..Needs::default()
        }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, at: &Observation, values: &mut [f64]) {
        let mss = f64::from(window.mss());
        let rate = self.rate.of(self.reference, window.mss(), at.srtt);
        values.copy_from_slice(&[
            self.reference / mss,
            self.queueing,
            self.target(),
            self.alpha,
            bits_per_second(Some(known(rate) / mss), window),
        ]);
    }
}

impl Scream {
    /// Returns the target of the queue delay, s.
    fn target(&self) -> f64 {
        match self.parameters.compensation {
            true => self.competition.target(),
            false => self.parameters.target * 1e-3,
        }
    }

    /// Measures the queue delay.
    fn measure(&mut self, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        self.base.add(ack.now, BASE_SPAN, rtt);
        self.latest_queueing = rtt.since(self.base.get()).as_secs_f64();
        self.competition.add(ack.now, self.latest_queueing);
        if ack.now.since(self.queueing_at) >= VIRTUAL_RTT.min(ack.srtt) {
            let rise = DELAY_GAIN * (self.latest_queueing - self.queueing);
            self.queueing = self.latest_queueing.min(self.queueing + rise);
            self.queueing_at = ack.now;
        }
    }

    /// Updates the share of marked segments.
    fn count_marks(&mut self, ack: &Ack) {
        if !self.is_l4s {
            return;
        }
        self.delivered += u64::from(ack.acked);
        self.marked += u64::from(ack.marked.min(ack.acked));
        if ack.marked > 0 {
            self.saw_mark = true;
            self.congested = Some(ack.now);
        }
        if ack.now.since(self.alpha_at) >= ALPHA_SPAN.min(ack.srtt) && self.delivered > 0 {
            let share = self.marked as f64 / self.delivered as f64;
            if share >= self.alpha {
                self.alpha += ALPHA_UP * (share - self.alpha);
            } else {
                self.alpha -= ALPHA_DOWN * self.alpha;
            }
            (self.delivered, self.marked, self.alpha_at) = (0, 0, ack.now);
        }
    }

    /// Reduces the reference window for what has come since the last reduction, at most once each min(V, s).
    fn reduce(&mut self, now: Nanos, srtt: Nanos) {
        let target = self.target();
        let since = now.since(self.reduced);
        if since < VIRTUAL_RTT.min(srtt) {
            return;
        }
        let on_long_path = || (srtt.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).max(1.0);
        let factor = if self.saw_loss {
            self.parameters.beta_loss
        } else if self.saw_mark && self.is_l4s {
            let far = if self.latest_queueing < target / 4.0 { self.nearness().max(0.25) } else { 1.0 };
            1.0 - self.alpha / 2.0 / on_long_path() * far
        } else if self.saw_mark {
            self.parameters.beta_ecn
        } else if self.queueing > target / 2.0 {
            let share = ((self.queueing - target / 2.0) / (target / 2.0)).clamp(0.0, 1.0);
            1.0 - share / 2.0 / on_long_path()
        } else {
            return;
        };
        self.note_inflection();
        let long = CAUTIOUS_ROUNDS * VIRTUAL_RTT.max(srtt).as_secs_f64();
        if self.saw_mark && !self.saw_loss && self.is_l4s && since.as_secs_f64() > long {
            // R may be far above what the encoder used.
            self.reference = self.reference.min(self.in_flight[1]);
        }
        self.reference = (self.reference * factor).max(LEAST);
        self.reduced = now;
        (self.saw_loss, self.saw_mark) = (false, false);
    }

    fn note_loss(&mut self, now: Nanos) {
        self.saw_loss = true;
        self.lost_in_round = true;
        self.congested = Some(now);
    }

    /// Keeps the window from which the first of several reductions begins.
    fn note_inflection(&mut self) {
        if self.has_grown {
            self.inflection = self.reference;
            self.has_grown = false;
        }
    }

    /// Returns how far R is from that of the last reduction: 0.1 near it, 1 from an eighth of it on.
    fn nearness(&self) -> f64 {
        let distance = 8.0 * (self.reference - self.inflection);
        // A quotient of at least one, which is most of the time, needs no division.
        if distance >= self.inflection {
            return 1.0;
        }
        let distance = distance / self.inflection;
        (distance * distance).clamp(0.1, 1.0)
    }

    fn grow(&mut self, window: &Window, ack: &Ack) {
        let mss = f64::from(window.mss());
        let most = mss + HEAD_ROOM * self.in_flight[0].max(self.in_flight[1]);
        let most = most.min(window.clamp() * mss);
        // An increment is not negative: where there is no room, it need not be known.
        if self.reference > most {
            return;
        }
        let (srtt, reference_rtt) = (ack.srtt.as_secs_f64(), VIRTUAL_RTT.as_secs_f64());
        let marked = if self.is_l4s { ack.marked.min(ack.acked) } else { 0 };
        let nearness = self.nearness();
        let rested = self.congested.map_or(1.0, |at| {
            let cautious = CAUTIOUS_ROUNDS * srtt.max(reference_rtt);
            (ack.now.since(at).as_secs_f64() / cautious).clamp(0.0, 1.0)
        });
        let additive = f64::from(ack.acked - marked) * mss * (mss / self.reference).min(1.0);
        // On a path of at least V this is one.
        let short = if srtt >= reference_rtt { 1.0 } else { srtt / reference_rtt };
        let multiplicative = self.parameters.mul_increase * self.reference / mss * rested * nearness;
        let increment = additive * short * nearness.max(0.25) * (1.0 + multiplicative);
        let wanted = self.reference + increment;
        let has_room = increment > 0.0 && wanted <= most;
        if has_room && self.rate.is_below_most(self.reference, window.mss(), ack.srtt) {
            self.reference = wanted;
            self.has_grown = true;
        }
    }

    /// Returns the window of the transport.
    fn segments(&self, window: &Window) -> f64 {
        let segments = OVERHEAD * self.reference / f64::from(window.mss());
        let whole = window.arithmetic() != Arithmetic::Real;
        // Positive and far below 2^63, so that the conversion rounds down.
        let segments = if whole { segments as i64 as f64 } else { segments };
        segments.clamp(1.0, window.clamp())
    }

    fn publish(&self, window: &mut Window, srtt: Nanos) {
        window.set_cwnd(self.segments(window));
        // The threshold has no part in it; where it is, slow start is over.
        window.ssthresh = window.ssthresh.min(window.cwnd);
        if srtt > Nanos::ZERO {
            window.pacing_rate = self.rate.pacing(self.reference, window.mss(), srtt);
        }
    }
}
