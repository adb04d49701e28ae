//! A view of BBR's model for observers.

use super::{Bbr, Mode};
use crate::{Nanos, Window};

/// The model and the state machine at one time; volumes in segments, rates in segments per second.
///
/// [`crate::algorithms::bbr3::Snapshot`] describes how to take one after each event of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// The state.
    pub mode: Mode,
    /// Factor from the bandwidth to the pacing rate.
    pub pacing_gain: f64,
    /// Factor from the bandwidth-delay product to the window.
    pub cwnd_gain: f64,
    /// BtlBw, the largest delivery rate of 10 rounds.
    pub bandwidth: f64,
    /// RTprop, the smallest round-trip time of 10 s; none before the first sample.
    pub rtprop: Option<Nanos>,
    /// BtlBw times RTprop.
    pub bdp: f64,
    /// The bandwidth-delay product plus the minimum for send quanta: the target of Drain.
    pub inflight_target: f64,
    /// Whether the last ACK began a packet-timed round trip.
    pub round_start: bool,
    /// Bandwidth that the search for a plateau compares with.
    pub full_bandwidth: f64,
    /// Consecutive rounds without a growth of 25 %.
    pub full_rounds: u32,
    /// Whether there were three such rounds: the pipe is full.
    pub filled_pipe: bool,
    /// Phase of ProbeBW's gain cycle; 0 is the probe, 1 the draining phase.
    pub cycle: usize,
    /// Whether the flow sends again after an idle time, and no ACK has arrived since.
    pub idle_restart: bool,
}

impl Bbr {
    /// Takes a snapshot; `window` is the flow's.
    pub fn snapshot(&self, window: &Window) -> Snapshot {
        Snapshot {
            mode: self.mode,
            pacing_gain: self.pacing_gain,
            cwnd_gain: self.cwnd_gain,
            bandwidth: self.bandwidth.get(),
            rtprop: (self.rtprop != Nanos::MAX).then_some(self.rtprop),
            bdp: self.bdp,
            inflight_target: self.inflight(window, 1.0),
            round_start: self.round_start,
            full_bandwidth: self.full_bandwidth,
            full_rounds: self.full_rounds,
            filled_pipe: self.filled_pipe,
            cycle: self.cycle,
            idle_restart: self.idle_restart,
        }
    }
}
