//! Send times of the segments sent in a recovery, for the round-trip times of ns-2.35's TCP-Linux.

use std::collections::VecDeque;

/// The send time of a segment that was not recorded.
const UNKNOWN: u64 = u64::MAX;

/// Send times of consecutive segments, ns.
///
/// ns-2.35 takes the time since the last segment that an ACK covers was last sent. While segments arrive in order, that is
/// the echoed timestamp, and nothing need be kept. It differs where a retransmission fills a hole below segments that
/// arrived before it; these were sent in the recovery.
#[derive(Clone, Debug, Default)]
pub(super) struct SendTimes {
    first: u64,
    times: VecDeque<u64>,
}

impl SendTimes {
    /// Records that a segment is sent, for the first time or again.
    pub fn note(&mut self, segment: u64, now: u64) {
        if self.times.is_empty() {
            self.first = segment;
        }
        let Some(at) = segment.checked_sub(self.first) else { return };
        let at = at as usize;
        if at >= self.times.len() {
            self.times.resize(at + 1, UNKNOWN);
        }
        self.times[at] = now;
    }

    /// Returns when a segment was sent last.
    pub fn of(&self, segment: u64) -> Option<u64> {
        let at = segment.checked_sub(self.first)? as usize;
        self.times.get(at).copied().filter(|&time| time != UNKNOWN)
    }

    /// Returns whether no send time is known.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Removes the segments below `to`, which are acknowledged.
    pub fn forget_below(&mut self, to: u64) {
        let known = to.saturating_sub(self.first).min(self.times.len() as u64);
        self.times.drain(..known as usize);
        self.first += known;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_when_a_segment_was_sent_last() {
        let mut times = SendTimes::default();
        assert_eq!(times.of(0), None);
        // 10 and 11, then 14; 11 again, and 9, which was sent before the first of them.
        for (segment, now) in [(10, 100), (11, 110), (14, 140), (11, 150), (9, 160)] {
            times.note(segment, now);
        }
        assert_eq!(
            [9, 10, 11, 12, 13, 14, 15].map(|segment| times.of(segment)),
            [None, Some(100), Some(150), None, None, Some(140), None]
        );
        times.forget_below(11);
        assert_eq!([10, 11, 14].map(|segment| times.of(segment)), [None, Some(150), Some(140)]);
        times.forget_below(100);
        assert_eq!(times.of(14), None);
        times.note(200, 7);
        assert_eq!((times.of(14), times.of(200)), (None, Some(7)));
    }
}
