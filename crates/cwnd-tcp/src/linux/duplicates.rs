//! What the receiver tells to have come twice (RFC 2883).

use super::Delivery;
use crate::expand;
use crate::packet::SackBlocks;
use crate::sender::Sender;

impl Sender {
    /// Whether the first block tells of a duplicate (RFC 2883 section 4): it lies below what the ACK acknowledges, or
    /// within the second block. What was never sent again was copied by the network, and says nothing.
    pub(super) fn take_duplicates(&mut self, cumulative: u64, blocks: &SackBlocks, told: &mut Delivery) {
        let mut blocks = blocks.iter().map(|(from, to)| (expand(self.una, from), expand(self.una, to)));
        let Some((from, to)) = blocks.next().filter(|(from, to)| from < to) else { return };
        let second = blocks.next();
        let is_old = from < cumulative;
        if !is_old && !second.is_some_and(|(start, end)| start <= from && to <= end) {
            return;
        }
        let segments = (to - from) as u32;
        self.counts.duplicates += u64::from(segments);
        if self.counts.duplicates > self.counts.retransmissions {
            return;
        }
        told.duplicate = true;
        let una = self.una;
        let linux = self.linux();
        told.duplicate_of_probe = segments == 1 && linux.timer.probed() == Some(from);
        if to <= una {
            linux.undo.on_duplicates(to, segments);
        } else {
            for segment in from.max(una)..to {
                if linux.sent.of(segment).again {
                    linux.undo.on_duplicates(segment + 1, 1);
                }
            }
        }
    }
}
