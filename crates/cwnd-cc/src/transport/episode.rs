//! The congestion episode under way, or the last one.

use crate::CongestionKind;

/// A recovery period (RFC 9002 section 7.3.2).
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    pub kind: CongestionKind,
    /// The first packet sent after its beginning. The ACK of this packet or a later one ends it; the loss of one begins another.
    pub end: u64,
    /// Window and threshold before it, segments.
    pub cwnd: f64,
    pub ssthresh: f64,
    pub undone: bool,
}

impl Episode {
    /// Returns whether it ends with the ACK of a packet, or does not answer for its loss.
    pub fn is_before(&self, packet: u64) -> bool {
        packet >= self.end
    }

    /// Returns whether it can be undone once: a mark is never spurious.
    pub fn can_be_undone(&self) -> bool {
        !self.undone && self.kind != CongestionKind::Ecn
    }
}
