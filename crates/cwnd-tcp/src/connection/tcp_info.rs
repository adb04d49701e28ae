//! A snapshot of a sender's state in the terms of Linux's `tcp_info`.

use super::Connection;
use cwnd_cc::State;

/// What Linux's `tcp_info` reports of a sender. Counts are in segments, times in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpInfo {
    /// The congestion window.
    pub cwnd: f64,
    /// The slow-start threshold; infinite until it is set.
    pub ssthresh: f64,
    /// The state of loss recovery.
    pub state: State,
    /// Segments sent and not acknowledged cumulatively.
    pub unacked: u32,
    /// Segments SACKed.
    pub sacked: u32,
    /// Segments declared lost and neither SACKed nor acknowledged since.
    pub lost: u32,
    /// Retransmissions in flight.
    pub retransmitted: u32,
    /// The greatest distance over which segments were reordered, at least 3.
    pub reordering: u32,
    /// How many ACKs revealed reordering.
    pub reordering_events: u32,
    /// The smoothed round-trip time; zero before the first sample.
    pub srtt: u64,
    /// Its variation.
    pub rtt_variation: u64,
    /// The least round-trip time; `None` before the first sample.
    pub min_rtt: Option<u64>,
    /// The retransmission timeout, with its backoff.
    pub timeout: u64,
    /// Timeouts since the last ACK of new data.
    pub timeouts: u32,
    /// How many times the timeout is doubled.
    pub backoff: u32,
    /// Retransmissions since the start.
    pub total_retransmissions: u64,
    /// Retransmission timeouts since the start.
    pub total_timeouts: u64,
    /// Segments delivered since the start.
    pub delivered: u64,
    /// Segments that the receiver has reported as received twice.
    pub duplicates: u64,
    /// Data segments sent since the start, retransmissions included.
    pub sent: u64,
    /// Segments that the application has provided and that were not sent.
    pub unsent: u64,
    /// The pacing rate, payload bytes a second; infinite if packets are not paced.
    pub pacing_rate: f64,
    /// Payload of a full segment, bytes.
    pub mss: u32,
}

impl Connection {
    /// Returns the snapshot. `reordering`: the distance and the count that the loss-recovery strategy knows.
    pub(crate) fn tcp_info(&self, reordering: (u32, u32)) -> TcpInfo {
        let estimator = &self.rtt.estimator;
        TcpInfo {
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            state: self.state,
            unacked: self.outstanding(),
            sacked: self.scoreboard.sacked,
            lost: self.scoreboard.lost,
            retransmitted: self.scoreboard.retransmitted,
            reordering: reordering.0,
            reordering_events: reordering.1,
            srtt: estimator.srtt(),
            rtt_variation: estimator.variation(),
            min_rtt: estimator.extremes().map(|(least, _)| least),
            timeout: estimator.timeout(),
            timeouts: self.episode.timeouts,
            backoff: estimator.backoff,
            total_retransmissions: self.counts.retransmissions,
            total_timeouts: self.counts.timeouts,
            delivered: self.counts.delivered,
            duplicates: self.counts.duplicates,
            sent: self.counts.sent,
            unsent: self.data_end - self.next,
            pacing_rate: self.window.pacing_rate,
            mss: self.window.mss(),
        }
    }
}
