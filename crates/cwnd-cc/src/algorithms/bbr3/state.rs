//! The state of BBRv3 in the groups of the draft's section 2. Volumes are in segments, rates in segments a second.

use crate::parts::round_max::RoundMax;
use crate::{Nanos, RateSample};

const MAX_BW_CYCLES: usize = 2;
const EXTRA_ACKED_ROUNDS: usize = 10;

/// Connection state and rate sample of the latest event (sections 2.2 and 2.3).
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    pub now: Nanos,
    /// C.delivered.
    pub delivered: u64,
    pub sample: RateSample,
    /// The delivery rate of `sample`.
    pub rate: f64,
    /// C.is_cwnd_limited of this round and of the last one.
    pub cwnd_limited: [bool; 2],
    /// Whether the transport uses selective acknowledgements.
    pub sack: bool,
}

/// Packet-timed round trips (section 5.5.1).
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// The round ends when a segment is acknowledged that was sent after this many were delivered.
    pub next_delivered: u64,
    /// Whether this ACK starts a round.
    pub start: bool,
    pub count: u64,
}

/// Estimates of the bandwidth (section 2.9.1).
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub max_bw: RoundMax<MAX_BW_CYCLES>,
    /// min(max_bw, bw_shortterm).
    pub bw: f64,
}

/// Limits learned from losses; infinite without one (sections 2.9.1 and 2.9.2).
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub bw_shortterm: f64,
    pub inflight_shortterm: f64,
    pub inflight_longterm: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        let none = f64::INFINITY;
        Bounds { bw_shortterm: none, inflight_shortterm: none, inflight_longterm: none }
    }
}

/// Filter of min_rtt (section 2.16.1).
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    pub value: Nanos,
    /// `value` in seconds; `None` before the first sample.
    pub seconds: Option<f64>,
    pub stamp: Nanos,
    pub expired: bool,
    pub filter_len: Nanos,
}

impl MinRtt {
    pub fn new(filter_len: Nanos) -> Self {
        MinRtt { value: Nanos::MAX, seconds: None, stamp: Nanos::ZERO, expired: false, filter_len }
    }
}

/// Estimate of ACK aggregation (section 2.12).
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    pub extra_acked: RoundMax<EXTRA_ACKED_ROUNDS>,
    /// extra_acked_interval_start.
    pub start: Nanos,
    pub delivered: f64,
}

/// Losses of the current round and the delivery signals that are compared with them (section 2.10).
#[derive(Clone, Debug, Default)]
pub(super) struct LossRound {
    pub bw_latest: f64,
    pub inflight_latest: f64,
    /// loss_round_delivered.
    pub delivered: u64,
    /// loss_round_start.
    pub start: bool,
    /// is_loss_in_round.
    pub has_loss: bool,
    /// Whether the loss round starts with the next ACK.
    pub is_due: bool,
    /// ACKs of this round that found a loss.
    pub events: u32,
}

/// Search for the bandwidth plateau, and the start of Drain (section 2.13).
#[derive(Clone, Debug, Default)]
pub(super) struct Startup {
    pub full_bw: f64,
    pub full_bw_count: u32,
    pub full_bw_now: bool,
    pub full_bw_reached: bool,
    pub drain_start_round: u64,
}

/// State of the ProbeBW cycle (section 2.14).
#[derive(Clone, Debug)]
pub(super) struct ProbeBw {
    pub ack_phase: AckPhase,
    /// is_bw_probe_sample.
    pub is_probe_sample: bool,
    /// bw_probe_up_acked: segments acknowledged since `inflight_longterm` last rose.
    pub up_acked: f64,
    /// probe_up_acked_per_inc: segments acknowledged for each segment by which `inflight_longterm` rises.
    pub up_acked_per_inc: f64,
    /// bw_probe_up_rounds.
    pub up_rounds: u32,
    /// rounds_since_probe_up.
    pub rounds_since_up: u64,
    /// bw_probe_wait.
    pub wait: Nanos,
    pub cycle_stamp: Nanos,
    /// prev_probe_too_high.
    pub prev_too_high: bool,
    /// prev_probe_precautionary.
    pub prev_precautionary: bool,
}

impl Default for ProbeBw {
    fn default() -> Self {
        ProbeBw {
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            up_acked: 0.0,
            up_acked_per_inc: f64::INFINITY,
            up_rounds: 0,
            rounds_since_up: 0,
            wait: Nanos::ZERO,
            cycle_stamp: Nanos::ZERO,
            prev_too_high: false,
            prev_precautionary: false,
        }
    }
}

/// Which part of the last bandwidth probe the current ACKs report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// State of ProbeRTT (section 2.16.2).
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeRtt {
    /// probe_rtt_done_stamp.
    pub done: Option<Nanos>,
    pub round_done: bool,
    /// The window to hold, fixed when min_rtt expires.
    pub cwnd: f64,
    /// Values of C.delivered between which segments were sent in ProbeRTT.
    pub throttled: (u64, u64),
}

/// State behind the pacing rate and the window (sections 2.5 and 2.6).
#[derive(Clone, Debug)]
pub(super) struct Control {
    /// Three quanta, and four segments at least; stored because computing it needs a division.
    pub budget: f64,
    pub initial_cwnd: f64,
    pub prior_cwnd: f64,
    pub in_recovery: bool,
    /// The pacing rate comes from an assumed round-trip time.
    pub pacing_is_guess: bool,
}

impl Default for Control {
    fn default() -> Self {
        Control {
            budget: 6.0,
            initial_cwnd: 10.0,
            prior_cwnd: 0.0,
            in_recovery: false,
            pacing_is_guess: true,
        }
    }
}
