//! A first-in first-out queue that drops packets that do not fit, and can mark arrivals above a threshold.

use cwnd_scenario::{Counting, QueueLimit, QueueSpec};
use std::collections::VecDeque;

/// A queue's decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is accepted.
    Accepted {
        /// It gets a congestion mark, if it can carry one.
        mark: bool,
    },
    /// It is dropped.
    Dropped,
}

/// A [`QueueSpec`] turned into comparisons with the number of packets *in the system* (waiting, and the
/// one in transmission), which both ways of counting come down to: whenever a packet waits, the
/// transmitter is busy, so "waiting" is one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of packets in the system from which an arrival is dropped.
    pub drop_at: u64,
    /// Largest number of counted bytes with an arrival; the queue drops the arrival otherwise.
    pub bytes: u64,
    /// Whether the bytes in transmission count. A packet that leaves at the very moment of an arrival then
    /// counts too: ns-2 takes a packet from its queue when the transmitter asks for it, which it does after
    /// what arrives at that moment.
    pub transmission_counts: bool,
    /// Number of packets in the system from which an arrival is marked.
    pub mark_at: u64,
    /// Number of waiting packets below which an arrival of any size fits.
    roomy_below: u64,
}

impl Limits {
    /// Creates the comparisons of a specification. An arrival at an idle transmitter always passes.
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

    /// Whether a packet of so many bytes fits that finds so many packets and bytes waiting, and maybe one in
    /// transmission. One that finds neither always does.
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

    /// Returns whether the waiting packets, with or without a packet in transmission, are within the limit.
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

    /// What `drop_at` and `mark_at` are compared with. They reckon with one in transmission; where that does not
    /// count, it makes no difference whether there is one.
    #[inline]
    fn compared(&self, waiting: u64, transmitting: Option<u32>) -> u64 {
        waiting + u64::from(!self.transmission_counts || transmitting.is_some())
    }
}

/// A drop-tail queue, with an ECN threshold or without, that holds its packets.
#[derive(Clone, Debug)]
pub struct Fifo<P> {
    limits: Limits,
    waiting: VecDeque<(P, u32)>,
    waiting_bytes: u64,
    /// Bytes of the packet in transmission.
    transmitting: Option<u32>,
}

impl<P> Fifo<P> {
    /// Creates an empty queue before an idle transmitter.
    pub fn new(spec: &QueueSpec) -> Self {
        Fifo { limits: Limits::new(spec), waiting: VecDeque::new(), waiting_bytes: 0, transmitting: None }
    }

    /// Changes limit, counting and threshold; waiting packets stay.
    pub fn set_spec(&mut self, spec: &QueueSpec) {
        self.limits = Limits::new(spec);
    }

    /// Handles the arrival of a packet of this size in wire bytes.
    pub fn enqueue(&mut self, packet: P, bytes: u32) -> Verdict {
        self.enqueue_as_leaves(packet, bytes, None)
    }

    /// Handles the arrival of a packet of this size in wire bytes, at the time at which one of `leaving` bytes leaves.
    /// The latter counts where packets in transmission count.
    pub fn enqueue_as_leaves(&mut self, packet: P, bytes: u32, leaving: Option<u32>) -> Verdict {
        let leaving = leaving.filter(|_| self.limits.transmission_counts);
        let begun = self.transmitting.filter(|_| leaving.is_some());
        if let Some(transmitting) = leaving.or(self.transmitting) {
            // What the transmitter has just begun to send was still waiting before the other left.
            let waiting = self.waiting.len() as u64 + u64::from(begun.is_some());
            let in_system = waiting + 1;
            let counted = if self.limits.transmission_counts { u64::from(transmitting) } else { 0 };
            let waiting_bytes = self.waiting_bytes + u64::from(begun.unwrap_or(0));
            let bytes_after = waiting_bytes + counted + u64::from(bytes);
            if in_system >= self.limits.drop_at || bytes_after > self.limits.bytes {
                return Verdict::Dropped;
            }
            let mark = in_system >= self.limits.mark_at;
            self.waiting_bytes += u64::from(bytes);
            self.waiting.push_back((packet, bytes));
            return Verdict::Accepted { mark };
        }
        self.waiting_bytes += u64::from(bytes);
        self.waiting.push_back((packet, bytes));
        Verdict::Accepted { mark: false }
    }

    /// Removes the next packet, if there is one, for the free transmitter.
    pub fn dequeue(&mut self) -> Option<(P, u32)> {
        let next = self.waiting.pop_front();
        self.transmitting = next.as_ref().map(|&(_, bytes)| bytes);
        self.waiting_bytes -= u64::from(self.transmitting.unwrap_or(0));
        next
    }

    /// Returns whether a packet is in transmission.
    pub fn is_transmitting(&self) -> bool {
        self.transmitting.is_some()
    }

    /// Returns the number of waiting packets, without the one in transmission.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the waiting packets in the order of departure.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.waiting.iter().map(|(packet, _)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(limit: QueueLimit, counting: Counting, ecn_threshold: Option<u32>) -> QueueSpec {
        QueueSpec { ecn_threshold, ..QueueSpec::drop_tail(limit, counting) }
    }

    /// How many of a burst of `n` packets of 1,000 B pass; the first goes straight into transmission.
    fn burst(spec: &QueueSpec, n: usize) -> (usize, usize) {
        let mut queue = Fifo::new(spec);
        let (mut passed, mut marked) = (0, 0);
        for i in 0..n {
            if let Verdict::Accepted { mark } = queue.enqueue(i, 1000) {
                passed += 1;
                marked += usize::from(mark);
                if !queue.is_transmitting() {
                    queue.dequeue();
                }
            }
        }
        (passed, marked)
    }

    #[test]
    fn counts_the_packet_in_transmission_or_not() {
        let five = QueueLimit::Packets(5);
        assert_eq!(burst(&spec(five, Counting::WithTransmission, None), 20).0, 5);
        assert_eq!(burst(&spec(five, Counting::WaitingOnly, None), 20).0, 6);
        let bytes = QueueLimit::Bytes(5000);
        assert_eq!(burst(&spec(bytes, Counting::WithTransmission, None), 20).0, 5);
        assert_eq!(burst(&spec(bytes, Counting::WaitingOnly, None), 20).0, 6);
        assert_eq!(burst(&spec(QueueLimit::Unlimited, Counting::WaitingOnly, None), 20).0, 20);
    }

    #[test]
    fn marks_above_the_threshold() {
        // K = 3: the arrival that finds 0, 1, 2 or 3 is not marked, the one that finds 4 is. Counting the
        // packet in transmission, the fifth to tenth of a burst find 4 to 9; not counting it, the sixth on.
        let ten = QueueLimit::Packets(100);
        assert_eq!(burst(&spec(ten, Counting::WithTransmission, Some(3)), 10), (10, 6));
        assert_eq!(burst(&spec(ten, Counting::WaitingOnly, Some(3)), 10), (10, 5));
    }

    #[test]
    fn an_idle_transmitter_takes_anything() {
        assert_eq!(burst(&spec(QueueLimit::Packets(0), Counting::WaitingOnly, None), 3).0, 1);
        assert_eq!(burst(&spec(QueueLimit::Bytes(10), Counting::WithTransmission, None), 3).0, 1);
    }

    #[test]
    fn a_packet_that_leaves_as_another_arrives_may_still_count() {
        let limit = QueueLimit::Packets(2);
        for (counting, taken) in [(Counting::WithTransmission, false), (Counting::WaitingOnly, true)] {
            let mut queue = Fifo::new(&spec(limit, counting, None));
            queue.enqueue(0, 1000);
            queue.dequeue();
            queue.enqueue(1, 1000);
            // Packet 0 leaves and packet 1 begins just as packet 2 arrives: with packet 0 there are two.
            queue.dequeue();
            let verdict = queue.enqueue_as_leaves(2, 1000, Some(1000));
            assert_eq!(verdict != Verdict::Dropped, taken, "{counting:?}");
        }
    }

    #[test]
    fn keeps_the_order() {
        let mut queue = Fifo::new(&spec(QueueLimit::Unlimited, Counting::WaitingOnly, None));
        for i in 0..3 {
            queue.enqueue(i, 100);
        }
        assert_eq!(queue.waiting(), 3);
        assert_eq!(std::iter::from_fn(|| queue.dequeue()).map(|(p, _)| p).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(!queue.is_transmitting());
    }
}
