//! A view of BBRv3's model for observers.

use super::{Bbr3, Phase};
use crate::{Nanos, Window};

/// The model and the state machine at one time, by the draft's names; volumes in segments, rates in segments per second. The
/// draft's infinity is [`f64::INFINITY`].
///
/// An engine takes a factory of algorithms, so a wrapper that owns a [`Bbr3`] and forwards every event can take a snapshot
/// after each.
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
    /// Factor from the bandwidth to the pacing rate.
    pub pacing_gain: f64,
    /// Factor from the bandwidth-delay product to the window.
    pub cwnd_gain: f64,
    /// The largest delivery rate of this and the last ProbeBW cycle.
    pub max_bw: f64,
    /// The smaller of `max_bw` and `bw_shortterm`, which determines the pacing rate.
    pub bw: f64,
    /// The limit that recent losses set; infinite without recent losses.
    pub bw_shortterm: f64,
    /// The smallest round-trip time of 10 s; none before the first sample.
    pub min_rtt: Option<Nanos>,
    /// Whether the filter of `min_rtt` had expired at the last ACK.
    pub min_rtt_expired: bool,
    /// BBR.bdp: `bw` times `min_rtt`; the initial window before the first sample.
    pub bdp: f64,
    /// Inflight(1.0): the target of Drain, `bdp` with the minimum for offloads.
    pub inflight_target: f64,
    /// InflightWithHeadroom().
    pub inflight_with_headroom: f64,
    /// TargetInflight(): the `bdp`, unless the window is less.
    pub target_inflight: f64,
    /// Segments that the path holds without too many losses, learned from probes; infinite before a probe with losses.
    pub inflight_longterm: f64,
    /// The same limit, learned from recent losses.
    pub inflight_shortterm: f64,
    /// Segments that ACK aggregation acknowledges beyond the expected number.
    pub extra_acked: f64,
    /// Packet-timed round trips so far, and whether the last ACK began one.
    pub round_count: u64,
    /// See `round_count`.
    pub round_start: bool,
    /// The round in which Drain began.
    pub drain_start_round: u64,
    /// Rate that the search for a plateau compares with.
    pub full_bw: f64,
    /// Consecutive rounds without 25 % more than `full_bw`.
    pub full_bw_count: u32,
    /// Whether there were three such rounds: the pipe is full now.
    pub full_bw_now: bool,
    /// Whether the pipe was full once.
    pub full_bw_reached: bool,
    /// Whether a loss was found in this round.
    pub is_loss_in_round: bool,
    /// The start of the ProbeBW cycle, and its waiting time before a probe.
    pub cycle_stamp: Nanos,
    /// See `cycle_stamp`.
    pub bw_probe_wait: Nanos,
    /// Rounds in which `inflight_longterm` has been raised in this probe.
    pub bw_probe_up_rounds: u32,
    /// Acknowledged segments for which `inflight_longterm` rises by one; infinite while it does not rise.
    pub probe_up_acked_per_inc: f64,
    /// Whether the last probe was too high.
    pub prev_probe_too_high: bool,
    /// The window of ProbeRTT, fixed when `min_rtt` expired.
    pub probe_rtt_cwnd: f64,
    /// It sends again after it was idle, and nothing was acknowledged since.
    pub idle_restart: bool,
    /// State that a spurious recovery restores.
    pub undo: Undo,
}

/// What BBRv3 saved when the last loss episode began (SaveStateUponLoss).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Undo {
    /// The state that the losses ended, Startup or ProbeBW_UP; none if they ended no state.
    pub phase: Option<Phase>,
    /// [`Snapshot::bw_shortterm`] then.
    pub bw_shortterm: f64,
    /// [`Snapshot::inflight_shortterm`] then.
    pub inflight_shortterm: f64,
    /// [`Snapshot::inflight_longterm`] then.
    pub inflight_longterm: f64,
}

impl Bbr3 {
    /// Takes a snapshot; `window` is the flow's.
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
