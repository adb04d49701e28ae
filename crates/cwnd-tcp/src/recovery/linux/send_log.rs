//! When each outstanding segment was sent last.

/// The bit of a time that marks a segment as retransmitted.
const RETRANSMITTED: u64 = 1 << 63;

/// How a segment was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendRecord {
    /// When it was sent last, ns.
    pub at: u64,
    /// Whether it was retransmitted.
    pub retransmitted: bool,
}

/// A ring of send times. It still knows a segment that was just acknowledged.
#[derive(Clone, Debug)]
pub struct SendLog {
    times: Box<[u64]>,
    /// No segment from this one on was ever retransmitted.
    pub original_from: u64,
}

impl Default for SendLog {
    fn default() -> Self {
        // Two cache lines: as long as the window is small, few of them are used.
        SendLog { times: vec![0; 16].into_boxed_slice(), original_from: 0 }
    }
}

impl SendLog {
    /// Records that a segment is sent, where `una` is the first outstanding one.
    #[inline]
    pub fn record(&mut self, now: u64, segment: u64, una: u64, retransmitted: bool) {
        if segment - una >= self.times.len() as u64 {
            self.grow(una, segment);
        }
        if retransmitted {
            self.original_from = self.original_from.max(segment + 1);
        }
        let i = self.index(segment);
        self.times[i] = now | if retransmitted { RETRANSMITTED } else { 0 };
    }

    /// Records that `count` segments from `first` on are sent for the first time.
    #[inline]
    pub fn record_new(&mut self, now: u64, first: u64, count: u64, una: u64) {
        let last = first + count - 1;
        if last - una >= self.times.len() as u64 {
            self.grow(una, last);
        }
        // At the end of the ring they continue at its beginning.
        let (begin, count) = (self.index(first), count as usize);
        let before_end = count.min(self.times.len() - begin);
        self.times[begin..begin + before_end].fill(now);
        self.times[..count - before_end].fill(now);
    }

    /// Returns how a segment was sent.
    #[inline]
    pub fn of(&self, segment: u64) -> SendRecord {
        let time = self.times[self.index(segment)];
        SendRecord { at: time & !RETRANSMITTED, retransmitted: time & RETRANSMITTED != 0 }
    }

    #[inline]
    fn index(&self, segment: u64) -> usize {
        segment as usize & (self.times.len() - 1)
    }

    #[cold]
    fn grow(&mut self, una: u64, segment: u64) {
        let size = ((segment - una) as usize + 1).next_power_of_two();
        let mut times = vec![0; size].into_boxed_slice();
        for old in una..una + self.times.len() as u64 {
            times[old as usize & (size - 1)] = self.times[self.index(old)];
        }
        self.times = times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_its_records_while_it_grows() {
        let mut log = SendLog::default();
        (100..300).for_each(|segment| log.record(10 * segment, segment, 100, segment % 7 == 0));
        for segment in 100..300 {
            let record = SendRecord { at: 10 * segment, retransmitted: segment % 7 == 0 };
            assert_eq!(log.of(segment), record);
        }
    }
}
