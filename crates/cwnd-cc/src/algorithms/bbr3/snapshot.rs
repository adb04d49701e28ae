//! What BBRv3 holds of its path, for those who look on.

use super::{Bbr3, Phase};
use crate::{Nanos, Window};

/// The model and the state machine at one moment, by the draft's names; volumes in segments, rates in segments a second.
/// What the draft calls infinite is [`f64::INFINITY`].
///
/// An engine takes a factory of algorithms, so that a wrapper that owns a [`Bbr3`] and passes every event on can take one
/// after each event and keep it.
///
/// ```
/// use cwnd_cc::algorithms::bbr3::{Bbr3, Bbr3Parameters, Phase};
/// use cwnd_cc::{Configurable, CongestionControl, Init, Window, WindowConfig};
///
/// let mut bbr = Bbr3::new(Bbr3Parameters::default());
/// let mut window = Window::new(&WindowConfig::default());
/// bbr.init(&mut window, &Init::default());
/// let seen = bbr.snapshot(&window);
/// assert_eq!((seen.phase, seen.phase.name()), (Phase::Startup, "Startup"));
/// assert_eq!((seen.pacing_gain, seen.max_bw, seen.min_rtt), (2.77, 0.0, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// The state.
    pub phase: Phase,
    /// What the bandwidth is multiplied by for the pacing rate.
    pub pacing_gain: f64,
    /// What the bandwidth-delay product is multiplied by for the window.
    pub cwnd_gain: f64,
    /// The greatest delivery rate of this and the last ProbeBW cycle.
    pub max_bw: f64,
    /// The least of `max_bw` and `bw_shortterm`: what it sends by.
    pub bw: f64,
    /// The rate that recent losses leave; infinite without such.
    pub bw_shortterm: f64,
    /// The least round-trip time of 10 s; none before the first sample.
    pub min_rtt: Option<Nanos>,
    /// `min_rtt` had not been met for that long at the last ACK.
    pub min_rtt_expired: bool,
    /// BBR.bdp: `bw` times `min_rtt`; the initial window before the first sample.
    pub bdp: f64,
    /// Inflight(1.0): what Drain drains to, the `bdp` with the least that offloads need.
    pub inflight_target: f64,
    /// InflightWithHeadroom().
    pub inflight_with_headroom: f64,
    /// TargetInflight(): the `bdp`, unless the window is less.
    pub target_inflight: f64,
    /// What the path holds without losing too much, as far as a probe has shown; infinite if none has.
    pub inflight_longterm: f64,
    /// The same by recent losses.
    pub inflight_shortterm: f64,
    /// What aggregation acknowledges beyond the expected.
    pub extra_acked: f64,
    /// Packet-timed round trips so far, and whether the last ACK began one.
    pub round_count: u64,
    /// See `round_count`.
    pub round_start: bool,
    /// The round in which Drain began.
    pub drain_start_round: u64,
    /// The rate that the search for a plateau compares with.
    pub full_bw: f64,
    /// Rounds in a row without 25 % more than `full_bw`.
    pub full_bw_count: u32,
    /// Three such rounds: the pipe is full now.
    pub full_bw_now: bool,
    /// The pipe was full once.
    pub full_bw_reached: bool,
    /// A loss was found in this round.
    pub is_loss_in_round: bool,
    /// When the cycle of ProbeBW began, and how long it waits before it probes.
    pub cycle_stamp: Nanos,
    /// See `cycle_stamp`.
    pub bw_probe_wait: Nanos,
    /// Rounds in which `inflight_longterm` has been raised in this probe.
    pub bw_probe_up_rounds: u32,
    /// Acknowledged segments for which it rises by one; infinite while it does not.
    pub probe_up_acked_per_inc: f64,
    /// The last probe went too high.
    pub prev_probe_too_high: bool,
    /// The window of ProbeRTT, fixed when `min_rtt` expired.
    pub probe_rtt_cwnd: f64,
    /// It sends again after it was idle, and nothing was acknowledged since.
    pub idle_restart: bool,
    /// What a recovery that proves spurious restores.
    pub undo: Undo,
}

/// What BBRv3 saved when the last loss episode began (SaveStateUponLoss).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Undo {
    /// The state that was left because of the losses, if one was: Startup or ProbeBW_UP.
    pub phase: Option<Phase>,
    /// [`Snapshot::bw_shortterm`] then.
    pub bw_shortterm: f64,
    /// [`Snapshot::inflight_shortterm`] then.
    pub inflight_shortterm: f64,
    /// [`Snapshot::inflight_longterm`] then.
    pub inflight_longterm: f64,
}

impl Bbr3 {
    /// Look at it; `window` is the flow's.
    pub fn snapshot(&self, window: &Window) -> Snapshot {
        Snapshot {
            phase: self.phase,
            pacing_gain: self.pacing_gain,
            cwnd_gain: self.cwnd_gain,
            max_bw: self.model.max_bw.get(),
            bw: self.model.bw,
            bw_shortterm: self.bounds.bw_shortterm,
            min_rtt: self.min_rtt.seconds.map(|_| self.min_rtt.value),
            min_rtt_expired: self.min_rtt.expired,
            bdp: self.bdp_multiple(1.0),
            inflight_target: self.inflight(1.0),
            inflight_with_headroom: self.inflight_with_headroom(),
            target_inflight: self.target_inflight(window),
            inflight_longterm: self.bounds.inflight_longterm,
            inflight_shortterm: self.bounds.inflight_shortterm,
            extra_acked: self.aggregation.extra_acked.get(),
            round_count: self.round.count,
            round_start: self.round.start,
            drain_start_round: self.startup.drain_start_round,
            full_bw: self.startup.full_bw,
            full_bw_count: self.startup.full_bw_count,
            full_bw_now: self.startup.full_bw_now,
            full_bw_reached: self.startup.full_bw_reached,
            is_loss_in_round: self.loss_round.has_loss,
            cycle_stamp: self.probe_bw.cycle_stamp,
            bw_probe_wait: self.probe_bw.wait,
            bw_probe_up_rounds: self.probe_bw.up_rounds,
            probe_up_acked_per_inc: self.probe_bw.up_acked_per_inc,
            prev_probe_too_high: self.probe_bw.prev_too_high,
            probe_rtt_cwnd: self.probe_rtt.cwnd,
            idle_restart: self.idle_restart,
            undo: self.undo,
        }
    }
}
