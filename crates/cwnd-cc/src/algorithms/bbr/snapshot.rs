//! What BBR holds of its path, for those who look on.

use super::{Bbr, Mode};
use crate::{Nanos, Window};

/// The model and the state machine at one moment; volumes in segments, rates in segments a second.
///
/// [`crate::algorithms::bbr3::Snapshot`] tells how to take one after each event of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snapshot {
    /// The state.
    pub mode: Mode,
    /// What the bandwidth is multiplied by for the pacing rate.
    pub pacing_gain: f64,
    /// What the bandwidth-delay product is multiplied by for the window.
    pub cwnd_gain: f64,
    /// BtlBw, the greatest delivery rate of 10 rounds.
    pub bandwidth: f64,
    /// RTprop, the least round-trip time of 10 s; none before the first sample.
    pub rtprop: Option<Nanos>,
    /// BtlBw times RTprop.
    pub bdp: f64,
    /// The bandwidth-delay product with the least that send quanta need: what Drain drains to.
    pub inflight_target: f64,
    /// The last ACK began a packet-timed round trip.
    pub round_start: bool,
    /// The bandwidth that the search for a plateau compares with.
    pub full_bandwidth: f64,
    /// Rounds in a row without 25 % more.
    pub full_rounds: u32,
    /// Three such rounds: the pipe is full.
    pub filled_pipe: bool,
    /// Where it is in the cycle of gains of ProbeBW; 0 is the probe, 1 the draining phase.
    pub cycle: usize,
    /// It sends again after it was idle, and no ACK came since.
    pub idle_restart: bool,
}

impl Bbr {
    /// Look at it; `window` is the flow's.
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
