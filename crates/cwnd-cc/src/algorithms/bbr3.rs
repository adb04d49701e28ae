//! BBR, version 3: also learns from losses how many segments the path can hold.
//!
//! N. Cardwell, I. Swett, J. Beshay (editors), "BBR Congestion Control", draft-ietf-ccwg-bbr, written from commit
//! 007dbe1fd5915300666132b570ca6d8bf0127571 of ietf-wg-ccwg/draft-ietf-ccwg-bbr. Section numbers are those of commit 4ce5e87
//! of 3 August 2026, where each cited function is in the cited section. The names are the draft's without their prefixes.
//! Summary:
//!
//! ```text
//! max_bw    the greatest delivery rate of this and the last ProbeBW cycle;  bw = min(max_bw, bw_shortterm)
//! min_rtt   the least round-trip time of 10 s;  bdp = bw min_rtt
//! pacing    = 0.99 pacing_gain bw;  until full_bw_reached it only rises
//! W         += acked, up to cwnd_gain bdp + extra_acked once full_bw_reached;  within 4 and the volume caps
//!
//! state           pacing_gain  cwnd_gain  volume cap                               until
//! Startup            2.77         2       none                                     rate or loss plateau
//! Drain              0.5          2       inflight_shortterm                       bdp in flight, or 3 rounds
//! ProbeBW_DOWN       0.90         2       inflight_longterm, inflight_shortterm    bdp and headroom, or time to probe
//! ProbeBW_CRUISE     1            2       0.85 inflight_longterm, shortterm        time to probe
//! ProbeBW_REFILL     1            2       inflight_longterm                        a round
//! ProbeBW_UP         1.25         2.25    inflight_longterm                        plateau, loss, or caution
//! ProbeRTT           1            0.5     0.85 inflight_longterm, shortterm        200 ms and a round
//!
//! loss while probing, over 2 % of what was in flight:  inflight_longterm = max(in flight then, 0.7 target)
//! loss otherwise, at the end of its round:             X_shortterm = max(X delivered, 0.7 X_shortterm)
//! time to probe   2 to 3 s after the last time, or after min(target, 63) rounds, as Reno would
//! timeout         W = 1;  after a recovery W is what it was before, within the caps
//! ```
//!
//! | parameter | default | range | source |
//! |---|---|---|---|
//! | `startup_pacing_gain` | 2.77 | 1.5 to 5 | draft: 4 ln 2 |
//! | `cwnd_gain` | 2 | 1 to 5 | draft, DefaultCwndGain |
//! | `loss_thresh` | 0.02 | 0.001 to 0.5 | draft, LossThresh |
//! | `beta` | 0.7 | 0.1 to 0.95 | draft, Beta |
//! | `headroom` | 0.15 | 0 to 0.5 | draft, Headroom |
//! | `min_rtt_filter_len` | 10 s | 1 to 100 | draft, MinRTTFilterLen |
//! | `probe_rtt_cwnd_gain` | 0.5 | 0.1 to 1 | draft, ProbeRTTCwndGain |
//! | `probe_rtt_duration` | 0.2 s | 0.01 to 2 | draft, ProbeRTTDuration |
//! | `pacing_margin` | 0.01 | 0 to 0.1 | draft, PacingMarginPercent |
//!
//! Interpretations:
//! - *Lost ranges in Startup*: the draft counts discontiguous ranges of lost data, which the transport does not report. Each
//!   ACK that finds a loss counts as one range, as in Linux's BBRv3.
//! - *C.is_cwnd_limited* is computed here: the window was full before an ACK of this round or the last one. A transport
//!   without window validation reports every flow as limited.
//! - *MarkConnectionAppLimited* in ProbeRTT: the transport does not learn of it. Samples of segments sent in ProbeRTT count as
//!   limited here.
//! - *C.delivered at a loss*: the transport reports a loss before it counts the ACK. The round of the loss is taken from the
//!   ACK, as in the draft.
//! - An ACK without a sample (it delivers no data, or the sample is implausible) has rate 0 and ends no round.
//! - RS.rtt is the round-trip time that the transport accepts, not that of the rate sample.
//! - Until the first round-trip time, the pacing rate assumes 1 ms. It is then computed again, "after the first non-zero RTT
//!   sample".
//! - In the draft, `StartProbeBW_UP` and the other functions set no gains; the table of section "Summary of Control Behavior"
//!   does. REFILL, DOWN and CRUISE return to the default cwnd gain.
//! - The table caps the window in Drain by inflight_longterm; the pseudocode (BoundCwndForModel) does not. This file follows
//!   the pseudocode.
//! - Loss in the first round of an episode under an earlier cap: `inflight_shortterm` starts from the window.
//! - Entering ProbeRTT saves the current window, the "last known good" one. The order of the pseudocode (EnterProbeRTT, then
//!   SaveCwnd) would keep an older, larger one.
//! - SaveStateUponLoss runs with NoteLoss; where no loss was reported just before, it runs at the beginning of an episode.
//! - After a spurious recovery, the model bounds the restored window at the next ACK.
//! - It ignores congestion marks: the draft does not cover ECN.

mod control;
mod machine;
mod model;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;

pub use snapshot::{Snapshot, Undo};

use self::state::{
    AckPhase, Aggregation, Bounds, Control, Input, LossRound, MinRtt, Model, ProbeBw, ProbeRtt, Round,
    Startup,
};
use crate::observable::{bits_per_second, known};
use crate::parts::draws::Draws;
use crate::{
    Ack, AlgorithmInfo, Configurable, Congestion, CongestionControl, CongestionKind, Init, LostPacket, Nanos,
    Needs, Observable, Observation, ParameterSet, Signal, State, Window, build,
};

/// The entry of the registry.
pub const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "bbr3",
    title: "BBR (version 3)",
    year: 2023,
    reference: "N. Cardwell, I. Swett, J. Beshay, BBR Congestion Control, draft-ietf-ccwg-bbr",
    summary: "BBR that probes for bandwidth every few seconds, and bounds what is in flight where more than \
              2 % is lost.",
    strengths: "Full links and short queues on long paths and with random losses under 2 %; gentler than \
                version 1 to shallow buffers and to competing Reno and CUBIC flows.",
    weaknesses: "Random losses over 2 % throttle it; flows that start later take many probes to reach their \
                 share; still a draft, whose details move.",
    signals: &[Signal::Rate, Signal::Delay, Signal::Loss],
    based_on: "BBR",
    implemented_in: "Linux (google/bbr, v3 branch), QUIC stacks (quiche)",
    reconstruction: false,
    version: 1,
    parameters: Bbr3Parameters::PARAMETERS,
    observables: OBSERVABLES,
    build: build::<Bbr3>,
};

parameters! {
    /// Settings of [`Bbr3`].
    pub struct Bbr3Parameters {
        /// Pacing gain in Startup.
        startup_pacing_gain: number(2.77, 1.5..=5.0), "1", "draft, StartupPacingGain";
        /// Window, bandwidth-delay products.
        cwnd_gain: number(2.0, 1.0..=5.0), "1", "draft, DefaultCwndGain";
        /// Loss rate of a round from which too many segments are in flight.
        loss_thresh: number(0.02, 0.001..=0.5), "1", "draft, LossThresh";
        /// Smallest fraction that a round with losses leaves.
        beta: number(0.7, 0.1..=0.95), "1", "draft, Beta";
        /// Fraction of inflight_longterm that is left to other flows.
        headroom: number(0.15, 0.0..=0.5), "1", "draft, Headroom";
        /// Time after which min_rtt is measured again.
        min_rtt_filter_len: number(10.0, 1.0..=100.0), "s", "draft, MinRTTFilterLen";
        /// Fraction of the bandwidth-delay product in flight in ProbeRTT.
        probe_rtt_cwnd_gain: number(0.5, 0.1..=1.0), "1", "draft, ProbeRTTCwndGain";
        /// Shortest duration of ProbeRTT.
        probe_rtt_duration: number(0.2, 0.01..=2.0), "s", "draft, ProbeRTTDuration";
        /// Fraction by which the pacing rate is below the computed rate.
        pacing_margin: number(0.01, 0.0..=0.1), "1", "draft, PacingMarginPercent";
    }
}

/// What it shows of its state.
pub const OBSERVABLES: &[Observable] = &[
    Observable::mode(
        "mode",
        "state",
        "State of the state machine.",
        &["Startup", "Drain", "ProbeBW_DOWN", "ProbeBW_CRUISE", "ProbeBW_REFILL", "ProbeBW_UP", "ProbeRTT"],
    ),
    Observable::new(
        "max_bw",
        "max_bw",
        "bit/s",
        "The greatest delivery rate of this and the last ProbeBW cycle, payload.",
    ),
    Observable::new("bw", "bw", "bit/s", "min(max_bw, bw_shortterm), payload."),
    Observable::new("min_rtt", "min_rtt", "s", "The least round-trip time of 10 s."),
    Observable::new("bdp", "bdp", "segments", "bw min_rtt."),
    Observable::new("pacing_gain", "pacing_gain", "1", "Pacing rate as a multiple of bw."),
    Observable::new("cwnd_gain", "cwnd_gain", "1", "Window as a multiple of the bdp."),
    Observable::new(
        "inflight_longterm",
        "inflight_longterm",
        "segments",
        "Volume cap from probes with losses (inflight_hi); unknown before the first.",
    ),
    Observable::new(
        "inflight_shortterm",
        "inflight_shortterm",
        "segments",
        "Volume cap from recent losses (inflight_lo); unknown without any.",
    ),
    Observable::new(
        "extra_acked",
        "extra_acked",
        "segments",
        "Segments that ACK aggregation acknowledges beyond the expected number.",
    ),
];

/// The state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Increases the rate until the bandwidth is found.
    Startup,
    /// Sends slowly until the queue that Startup built is empty.
    Drain,
    /// ProbeBW_DOWN: sends a little slower than the bandwidth.
    Down,
    /// ProbeBW_CRUISE: sends at the bandwidth.
    Cruise,
    /// ProbeBW_REFILL: fills the pipe before it probes.
    Refill,
    /// ProbeBW_UP: sends faster to search for more bandwidth.
    Up,
    /// Keeps few segments in flight to measure the round-trip time.
    ProbeRtt,
}

impl Phase {
    /// Returns the draft's name.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Startup => "Startup",
            Phase::Drain => "Drain",
            Phase::Down => "ProbeBW_DOWN",
            Phase::Cruise => "ProbeBW_CRUISE",
            Phase::Refill => "ProbeBW_REFILL",
            Phase::Up => "ProbeBW_UP",
            Phase::ProbeRtt => "ProbeRTT",
        }
    }

    /// Returns IsInAProbeBWState (section 5.3.3.9).
    pub fn is_probe_bw(self) -> bool {
        matches!(self, Phase::Down | Phase::Cruise | Phase::Refill | Phase::Up)
    }

    /// Returns IsProbingBW (section 5.3.3.9).
    fn is_probing(self) -> bool {
        matches!(self, Phase::Startup | Phase::Refill | Phase::Up)
    }
}

/// BBRv3.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    parameters: Bbr3Parameters,
    draws: Draws,
    phase: Phase,
    pacing_gain: f64,
    cwnd_gain: f64,
    idle_restart: bool,
    input: Input,
    round: Round,
    model: Model,
    bounds: Bounds,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    loss_round: LossRound,
    startup: Startup,
    probe_bw: ProbeBw,
    probe_rtt: ProbeRtt,
    control: Control,
    undo: Undo,
}

impl Configurable for Bbr3 {
    type Parameters = Bbr3Parameters;

    fn new(parameters: Bbr3Parameters) -> Self {
        Bbr3 {
            draws: Draws::default(),
            phase: Phase::Startup,
            pacing_gain: parameters.startup_pacing_gain,
            cwnd_gain: parameters.cwnd_gain,
            idle_restart: false,
            input: Input::default(),
            round: Round::default(),
            model: Model::default(),
            bounds: Bounds::default(),
            min_rtt: MinRtt::new(Nanos((parameters.min_rtt_filter_len * 1e9) as u64)),
            aggregation: Aggregation::default(),
            loss_round: LossRound::default(),
            startup: Startup::default(),
            probe_bw: ProbeBw::default(),
            probe_rtt: ProbeRtt::default(),
            control: Control::default(),
            undo: Undo::default(),
            parameters,
        }
    }
}

impl CongestionControl for Bbr3 {
    /// OnInit (section 5.2.1).
    fn init(&mut self, window: &mut Window, init: &Init) {
        self.draws = Draws::new(init.seed);
        self.input.sack = init.sack;
        self.input.now = init.now;
        self.control.initial_cwnd = window.cwnd;
        self.probe_rtt.cwnd = window.cwnd;
        if let Some(rtt) = init.rtt {
            self.set_min_rtt(rtt);
        }
        self.min_rtt.stamp = init.now;
        self.aggregation.start = init.now;
        self.guess_pacing(window, init.rtt);
    }

    /// UpdateOnACK (section 5.2.3), in the draft's order.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.take_sample(window, ack);
        if self.control.pacing_is_guess && ack.rtt.is_some() {
            self.guess_pacing(window, ack.rtt);
        }
        self.update_latest_delivery_signals(ack.rate.is_some());
        self.update_congestion_signals(window, ack.rate.is_some());
        self.update_ack_aggregation(window, ack.acked);
        self.check_full_bw_reached(ack.rate.is_some());
        self.check_startup_done(window, ack);
        self.check_drain_done(ack);
        self.update_probe_bw(window, ack);
        self.update_min_rtt(ack.rtt);
        self.check_probe_rtt(window, ack);
        self.advance_latest_delivery_signals();
        self.model.bw = self.model.max_bw.get().min(self.bounds.bw_shortterm);
        self.set_pacing(window, self.pacing_gain);
        self.set_cwnd(window, ack.acked);
    }

    /// Per-loss steps (section 5.2.4).
    fn on_packet_lost(&mut self, window: &mut Window, lost: &LostPacket) {
        self.input.now = lost.now;
        self.handle_lost_packet(window, lost);
    }

    /// OnEnterRTO and OnEnterFastRecovery (section 5.6.4.4).
    fn on_congestion(&mut self, window: &mut Window, congestion: &Congestion) {
        if congestion.kind != CongestionKind::Ecn {
            // The transport has already reported the loss that begins the episode, and the state is saved.
            if !self.loss_round.is_due {
                self.save_state_upon_loss(window);
            }
            self.control.in_recovery = true;
            window.restart_cwnd = 1.0;
        }
        window.set_ssthresh_for_loss(window.cwnd);
    }

    /// The exit of loss recovery (section 5.6.4.4).
    fn on_recovery_exit(&mut self, window: &mut Window, _now: Nanos) {
        if self.control.in_recovery {
            self.control.in_recovery = false;
            self.restore_cwnd(window);
        }
    }

    /// Spurious loss recovery steps (section 5.2.5).
    fn on_undo(&mut self, window: &mut Window, now: Nanos) {
        self.input.now = now;
        self.control.in_recovery = false;
        self.handle_spurious_recovery(window);
    }

    /// HandleRestartFromIdle (section 5.4.1).
    fn on_idle_restart(&mut self, window: &mut Window, now: Nanos, _idle: Nanos) {
        self.input.now = now;
        self.idle_restart = true;
        self.aggregation.start = now;
        if self.phase.is_probe_bw() {
            self.set_pacing(window, 1.0);
        } else if self.phase == Phase::ProbeRtt {
            self.check_probe_rtt_done(window);
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            rate_samples: true,
            lost_packets: true,
            pacing: true,
            owns_recovery: true,
            marks_only: true,
            ..Needs::default()
        }
    }

    fn observables(&self) -> &'static [Observable] {
        OBSERVABLES
    }

    fn observe(&self, window: &Window, _at: &Observation, values: &mut [f64]) {
        values.copy_from_slice(&[
            f64::from(self.phase as u8),
            bits_per_second(Some(self.model.max_bw.get()), window),
            bits_per_second(Some(self.model.bw), window),
            self.min_rtt.seconds.unwrap_or(f64::NAN),
            if self.min_rtt.seconds.is_some() { self.bdp_multiple(1.0) } else { f64::NAN },
            self.pacing_gain,
            self.cwnd_gain,
            known(self.bounds.inflight_longterm),
            known(self.bounds.inflight_shortterm),
            self.aggregation.extra_acked.get(),
        ]);
    }
}

impl Bbr3 {
    /// Stores the rate sample of this ACK (section 4.1.2.3).
    fn take_sample(&mut self, window: &Window, ack: &Ack) {
        self.input.now = ack.now;
        self.input.delivered = ack.delivered;
        self.input.sample = ack.rate.unwrap_or_default();
        self.input.rate = self.input.sample.segments_per_second();
        self.input.sample.app_limited |= (self.probe_rtt.throttled.0..self.probe_rtt.throttled.1)
            .contains(&self.input.sample.prior_delivered);
        self.input.cwnd_limited[0] |= f64::from(ack.prior_in_flight) + 1.0 > window.cwnd;
        self.loss_round.events += u32::from(ack.lost > 0);
        if self.loss_round.is_due {
            self.loss_round.is_due = false;
            self.loss_round.delivered = ack.delivered;
        }
    }

    /// C.is_cwnd_limited (section 2.2).
    fn is_cwnd_limited(&self) -> bool {
        self.input.cwnd_limited[0] || self.input.cwnd_limited[1]
    }

    fn in_fast_recovery(ack: &Ack) -> bool {
        ack.state == State::Recovery
    }
}
