//! Retransmissions of which nothing is known yet, to tell when one is lost itself.

use std::collections::{BTreeMap, VecDeque};

/// A retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub segment: u64,
    /// The next new segment when it was sent.
    pub next: u64,
    /// Its number among the retransmissions.
    pub number: u64,
}

/// All of them, in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Some of these may be known to have arrived.
    order: VecDeque<Copy>,
    /// The number of each segment's copy that is not.
    open: BTreeMap<u64, u64>,
    sent: u64,
    /// One more than the number of the one that counts as the latest to have arrived.
    latest: u64,
    /// Those that this ACK SACKs, with one more than the number of each.
    sacked: Vec<(u64, u64)>,
}

impl Copies {
    /// A segment is sent again, where the next new one is `next`.
    pub fn push(&mut self, segment: u64, next: u64) {
        self.order.push_back(Copy { segment, next, number: self.sent });
        self.open.insert(segment, self.sent);
        self.sent += 1;
    }

    /// All segments below `to` have arrived.
    pub fn acknowledge(&mut self, to: u64) {
        while let Some(first) = self.open.first_entry().filter(|first| *first.key() < to) {
            self.latest = self.latest.max(first.remove() + 1);
        }
    }

    /// A segment is SACKed.
    pub fn sack(&mut self, segment: u64) {
        if let Some(number) = self.open.remove(&segment) {
            self.sacked.push((segment, number + 1));
        }
    }

    /// Forget the lost ones, and tell their segments. `is_lost` gets a copy and one more than the number of the latest that
    /// has arrived, and says of a later one no more than of an earlier.
    ///
    /// ns-2.35 goes over its scoreboard once, from the lowest segment up, and learns on the way which copies have arrived:
    /// what it learns at a segment counts for those above it, and for those below from the next ACK on. What it learns last
    /// stands, whether it is the latest or not.
    pub fn take_lost(&mut self, is_lost: impl Fn(&Copy, u64) -> bool, mut lost: impl FnMut(u64)) {
        self.sacked.sort_unstable();
        let most = self.sacked.iter().map(|&(_, number)| number).fold(self.latest, u64::max);
        let mut kept = Vec::new();
        while let Some(&copy) = self.order.front() {
            let open = self.open.get(&copy.segment) == Some(&copy.number);
            if open && !is_lost(&copy, most) {
                break;
            }
            self.order.pop_front();
            if !open {
                continue;
            }
            let below = self.sacked.partition_point(|&(segment, _)| segment < copy.segment);
            let latest = if below == 0 { self.latest } else { self.sacked[below - 1].1 };
            if is_lost(&copy, latest) {
                self.open.remove(&copy.segment);
                lost(copy.segment);
            } else {
                kept.push(copy);
            }
        }
        while let Some(copy) = kept.pop() {
            self.order.push_front(copy);
        }
        if let Some(&(_, number)) = self.sacked.last() {
            self.latest = number;
        }
        self.sacked.clear();
    }

    /// Begin anew.
    pub fn clear(&mut self) {
        *self = Copies::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy is lost when one sent five later has arrived.
    fn lost(copies: &mut Copies) -> Vec<u64> {
        let mut lost = Vec::new();
        copies.take_lost(|copy, latest| copy.number + 5 < latest, |segment| lost.push(segment));
        lost
    }

    fn ten() -> Copies {
        let mut copies = Copies::default();
        (100..110).for_each(|segment| copies.push(segment, 200));
        copies
    }

    #[test]
    fn what_is_acknowledged_counts_at_once() {
        // Numbers 0 to 9. Number 6, of 106, would make 0 and 1 lost, but they have arrived with it.
        let mut copies = ten();
        copies.acknowledge(107);
        assert_eq!(lost(&mut copies), []);
        // Segments 60 to 62 go as 10 to 12 and are acknowledged: 12 is five later than 107's number 7, and no more than four
        // later than 8.
        (60..63).for_each(|segment| copies.push(segment, 200));
        copies.acknowledge(63);
        assert_eq!(lost(&mut copies), [107]);
    }

    #[test]
    fn what_is_sacked_counts_for_segments_below_from_the_next_ack_on() {
        // 7 makes 0, 1 and 2 lost.
        let mut copies = ten();
        copies.sack(107);
        assert_eq!(lost(&mut copies), []);
        assert_eq!(lost(&mut copies), [100, 101, 102]);
        // They go again as 10, 11 and 12. Number 10, of 100, counts at once for what lies above: 3, 4 and 5.
        (100..103).for_each(|segment| copies.push(segment, 200));
        copies.sack(100);
        assert_eq!(lost(&mut copies), [103, 104, 105]);
    }

    #[test]
    fn what_is_sacked_last_stands() {
        // 9, and in the same ACK 0 at a lower segment, which counts in between: nothing is lost yet, and 1 to 4 then are.
        let mut copies = ten();
        copies.sack(109);
        copies.sack(100);
        assert_eq!(lost(&mut copies), []);
        assert_eq!(lost(&mut copies), [101, 102, 103, 104]);
        // With 5, at 105, the latest is an older one again, so that 6 is not lost when 10 and 11 are under way.
        copies.sack(105);
        (120..122).for_each(|segment| copies.push(segment, 200));
        assert_eq!((lost(&mut copies), copies.latest), (vec![], 6));
    }
}
