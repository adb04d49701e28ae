//! The limits of a queue.

use cwnd_scenario::{Counting, QueueLimit, QueueSpec};

/// A [`QueueSpec`] turned into comparisons with the number of packets *in the system* (waiting, and the
/// one in transmission), which both ways of counting come down to: whenever a packet waits, the
/// transmitter is busy, so "waiting" is one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of packets in the system from which an arrival is dropped.
    pub drop_at: u64,
    /// Drop an arrival whose bytes would raise those that count over this.
    pub bytes: u64,
    /// Whether the bytes in transmission count. A packet that leaves at the very moment of an arrival then
    /// counts too: ns-2 takes a packet from its queue when the transmitter asks for it, which it does after
    /// what arrives at that moment.
    pub transmission_counts: bool,
    /// Number of packets in the system from which an arrival is marked.
    pub mark_at: u64,
    /// Whatever its bytes, an arrival fits that finds fewer waiting.
    roomy_below: u64,
}

impl Limits {
    /// The comparisons of a specification. An arrival that finds the transmitter idle always passes.
    pub fn new(spec: &QueueSpec) -> Limits {
        let transmission_counts = spec.counting == Counting::WithTransmission;
        let in_system = |n: u64| n + u64::from(!transmission_counts);
        let (drop_at, bytes) = match spec.limit {
            QueueLimit::Packets(n) => (in_system(u64::from(n)).max(1), u64::MAX),
            QueueLimit::Bytes(bytes) => (u64::MAX, bytes),
            QueueLimit::Unlimited => (u64::MAX, u64::MAX),
        };
        let mark_at = spec.ecn_threshold.map_or(u64::MAX, |k| in_system(u64::from(k) + 1));
        // One may be in transmission.
        let roomy_below = if bytes == u64::MAX { drop_at - 1 } else { 0 };
        Limits { drop_at, bytes, transmission_counts, mark_at, roomy_below }
    }

    /// Returns whether a packet fits, given the packets and bytes that wait and the packet in transmission, if any. A packet
    /// that finds none of these always fits.
    #[inline]
    pub fn admit(&self, waiting: u64, waiting_bytes: u64, transmitting: Option<u32>, bytes: u32) -> bool {
        waiting < self.roomy_below || self.admit_closely(waiting, waiting_bytes, transmitting, bytes)
    }

    #[inline(never)]
    fn admit_closely(&self, waiting: u64, waiting_bytes: u64, transmitting: Option<u32>, bytes: u32) -> bool {
        if waiting == 0 && transmitting.is_none() {
            return true;
        }
        let counted = if self.transmission_counts { transmitting.unwrap_or(0) } else { 0 };
        self.compared(waiting, transmitting) < self.drop_at
            && waiting_bytes + u64::from(counted) + u64::from(bytes) <= self.bytes
    }

    /// Whether what waits, maybe beside a packet in transmission, is within the limit.
    #[inline]
    pub fn holds(&self, waiting: u64, waiting_bytes: u64, transmitting: Option<u32>) -> bool {
        waiting < self.roomy_below || self.holds_closely(waiting, waiting_bytes, transmitting)
    }

    #[inline(never)]
    fn holds_closely(&self, waiting: u64, waiting_bytes: u64, transmitting: Option<u32>) -> bool {
        let counted = if self.transmission_counts { transmitting.unwrap_or(0) } else { 0 };
        waiting <= 1 && transmitting.is_none()
            || self.compared(waiting, transmitting) <= self.drop_at
                && waiting_bytes + u64::from(counted) <= self.bytes
    }

    /// Returns whether an arrival that finds this number of packets is over the threshold.
    #[inline]
    pub fn mark(&self, waiting: u64, transmitting: Option<u32>) -> bool {
        self.compared(waiting, transmitting) >= self.mark_at
    }

    /// Returns the number of packets to compare with `drop_at` and `mark_at`, which include a packet in transmission. Where
    /// that packet does not count, the number is the same with and without it.
    #[inline]
    fn compared(&self, waiting: u64, transmitting: Option<u32>) -> u64 {
        waiting + u64::from(!self.transmission_counts || transmitting.is_some())
    }
}
