//! The retransmissions whose fate is open, to find those that are lost themselves.

use std::collections::{BTreeMap, VecDeque};

/// A retransmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmission {
    pub segment: u64,
    /// The next new segment when it was sent.
    pub next: u64,
    /// Its number among all retransmissions.
    pub number: u64,
}

/// All of them, in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct Retransmissions {
    /// Some of these may be known to have arrived.
    order: VecDeque<Retransmission>,
    /// The number of each segment's retransmission that is not known to have arrived.
    open: BTreeMap<u64, u64>,
    sent: u64,
    /// One more than the number of the retransmission that counts as the latest to have arrived.
    latest: u64,
    /// The ones that this ACK SACKs, with one more than the number of each.
    sacked: Vec<(u64, u64)>,
}

impl Retransmissions {
    /// Records the retransmission of a segment, where the next new segment is `next`.
    pub fn push(&mut self, segment: u64, next: u64) {
        self.order.push_back(Retransmission { segment, next, number: self.sent });
        self.open.insert(segment, self.sent);
        self.sent += 1;
    }

    /// Records that all segments below `to` are acknowledged.
    pub fn acknowledge(&mut self, to: u64) {
        while let Some(first) = self.open.first_entry().filter(|first| *first.key() < to) {
            self.latest = self.latest.max(first.remove() + 1);
        }
    }

    /// Records that a segment is SACKed.
    pub fn sack(&mut self, segment: u64) {
        if let Some(number) = self.open.remove(&segment) {
            self.sacked.push((segment, number + 1));
        }
    }

    /// Removes the lost retransmissions, and calls `lost` with the segment of each. `is_lost` gets a retransmission and one
    /// more than the number of the latest that has arrived; it must not hold for a later retransmission if it does not hold
    /// for an earlier one.
    ///
    /// ns-2.35 goes over its scoreboard once, from the lowest segment up, and learns on the way which retransmissions have
    /// arrived. What it learns at a segment counts at once for the segments above it, and for those below from the next ACK
    /// on. What it learns last counts as the latest, whether it is or not.
    pub fn take_lost(&mut self, is_lost: impl Fn(&Retransmission, u64) -> bool, mut lost: impl FnMut(u64)) {
        self.sacked.sort_unstable();
        let most = self.sacked.iter().map(|&(_, number)| number).fold(self.latest, u64::max);
        let mut kept = Vec::new();
        while let Some(&first) = self.order.front() {
            let open = self.open.get(&first.segment) == Some(&first.number);
            if open && !is_lost(&first, most) {
                break;
            }
            self.order.pop_front();
            if !open {
                continue;
            }
            let below = self.sacked.partition_point(|&(segment, _)| segment < first.segment);
            let latest = if below == 0 { self.latest } else { self.sacked[below - 1].1 };
            if is_lost(&first, latest) {
                self.open.remove(&first.segment);
                lost(first.segment);
            } else {
                kept.push(first);
            }
        }
        while let Some(retransmission) = kept.pop() {
            self.order.push_front(retransmission);
        }
        if let Some(&(_, number)) = self.sacked.last() {
            self.latest = number;
        }
        self.sacked.clear();
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        *self = Retransmissions::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A retransmission is lost when one sent five later has arrived.
    fn lost(retransmissions: &mut Retransmissions) -> Vec<u64> {
        let mut lost = Vec::new();
        retransmissions.take_lost(|sent, latest| sent.number + 5 < latest, |segment| lost.push(segment));
        lost
    }

    fn ten() -> Retransmissions {
        let mut retransmissions = Retransmissions::default();
        (100..110).for_each(|segment| retransmissions.push(segment, 200));
        retransmissions
    }

    #[test]
    fn an_acknowledged_retransmission_counts_at_once() {
        // Numbers 0 to 9. Number 6, of 106, would make 0 and 1 lost, but they have arrived with it.
        let mut retransmissions = ten();
        retransmissions.acknowledge(107);
        assert_eq!(lost(&mut retransmissions), []);
        // Segments 60 to 62 go as 10 to 12 and are acknowledged: 12 is five later than 107's number 7, and no more than four
        // later than 8.
        (60..63).for_each(|segment| retransmissions.push(segment, 200));
        retransmissions.acknowledge(63);
        assert_eq!(lost(&mut retransmissions), [107]);
    }

    #[test]
    fn a_sacked_retransmission_counts_for_segments_below_from_the_next_ack_on() {
        // 7 makes 0, 1 and 2 lost.
        let mut retransmissions = ten();
        retransmissions.sack(107);
        assert_eq!(lost(&mut retransmissions), []);
        assert_eq!(lost(&mut retransmissions), [100, 101, 102]);
        // They go again as 10, 11 and 12. Number 10, of 100, counts at once for what lies above: 3, 4 and 5.
        (100..103).for_each(|segment| retransmissions.push(segment, 200));
        retransmissions.sack(100);
        assert_eq!(lost(&mut retransmissions), [103, 104, 105]);
    }

    #[test]
    fn the_retransmission_sacked_last_counts_as_the_latest() {
        // 9, and in the same ACK 0 at a lower segment, which counts in between: nothing is lost yet, and 1 to 4 then are.
        let mut retransmissions = ten();
        retransmissions.sack(109);
        retransmissions.sack(100);
        assert_eq!(lost(&mut retransmissions), []);
        assert_eq!(lost(&mut retransmissions), [101, 102, 103, 104]);
        // With 5, at 105, the latest is an older one again, so that 6 is not lost when 10 and 11 are under way.
        retransmissions.sack(105);
        (120..122).for_each(|segment| retransmissions.push(segment, 200));
        assert_eq!((lost(&mut retransmissions), retransmissions.latest), (vec![], 6));
    }
}
