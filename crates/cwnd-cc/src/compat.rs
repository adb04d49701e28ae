//! Details of Linux's and ns-2's TCP that only imitations of these stacks provide.
//!
//! A transport may ignore this module: [`Ack::compat`](crate::Ack::compat) and
//! [`Needs::compat`](crate::Needs::compat) have defaults, and every algorithm works with them. The details exist so that
//! `cwnd-tcp` can reproduce recordings of Linux and of ns-2.35 exactly.

use crate::Nanos;

/// Details of one ACK that only Linux's modules read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AckCompat {
    /// Linux's header prediction held: the ACK acknowledges new data, carries no SACK block and no mark, and advertises
    /// the same window as the ACK before it. Westwood+ counts such an ACK in full. With the default, `false`, it first
    /// subtracts the duplicate ACKs that it has already counted.
    pub header_predicted: bool,
    /// The window may grow on an ACK that only SACKs segments, because the connection sees reordering over more than three
    /// segments.
    pub grows_on_sack: bool,
    /// Time until pacing lets the next segment leave; zero if one may leave at once. BBR with Linux's rules subtracts what
    /// is delivered until then from the segments in flight.
    pub until_departure: Nanos,
}

/// What an algorithm's module receives or changes in place of the plain events, in ns-2.35 or in Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompatNeeds {
    /// The round-trip time samples are those of ns-2.35's TCP-Linux agent, if the transport imitates that agent with
    /// SACK and timestamps. Such a sample is the time since the last transmission of the last segment that the cumulative
    /// acknowledgement covers. There is no sample if the ACK covers or SACKs a segment that is known to be retransmitted.
    /// The agent forgets its retransmissions when a recovery ends, so the next sample can be too long or too short.
    pub covered_rtt: bool,
    /// Pacing rate below which Linux sends single segments, not two at least, bytes a second (`min_tso_segs` of Linux's module).
    pub single_segments_below: u64,
}
