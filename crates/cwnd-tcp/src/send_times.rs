//! When the segments left that were sent in a recovery, for the round-trip times of ns-2.35's TCP-Linux.

use std::collections::VecDeque;

/// Nobody knows when a segment of a gap was sent.
const UNKNOWN: u64 = u64::MAX;

/// Send times of consecutive segments, ns.
///
/// ns-2.35 measures by when the last segment that an ACK covers was last sent. Where segments come in order that is the
/// echoed timestamp, so that nothing need be kept. It is another where a retransmission fills a hole below segments that
/// came before it, and these were sent in the recovery.
#[derive(Clone, Debug, Default)]
pub(super) struct SendTimes {
    first: u64,
    times: VecDeque<u64>,
}

impl SendTimes {
    /// A segment is sent, maybe again.
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

    /// When a segment was sent last.
    pub fn of(&self, segment: u64) -> Option<u64> {
        let at = segment.checked_sub(self.first)? as usize;
        self.times.get(at).copied().filter(|&time| time != UNKNOWN)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The segments below `to` are acknowledged.
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
    fn tells_when_a_segment_was_sent_last() {
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
