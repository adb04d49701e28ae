//! Bytes counted in segments.

/// Counts bytes as whole segments, and carries what is left over to the next count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SegmentCounter {
    /// Segments counted so far.
    pub total: u64,
    /// Bytes that were counted and are not part of `total`; negative if a segment was rounded up.
    rest: i64,
}

impl SegmentCounter {
    /// Adds bytes. The total is rounded to the nearest segment, so that a packet a few bytes short of full size counts at once.
    pub fn add(&mut self, bytes: u64, mss: u32) {
        let mss = i64::from(mss.max(1));
        self.rest = self.rest.saturating_add(i64::try_from(bytes).unwrap_or(i64::MAX));
        let segments = (self.rest.saturating_add(mss / 2)).div_euclid(mss).max(0);
        self.rest -= segments * mss;
        self.total += segments as u64;
    }
}

/// Returns bytes in flight in segments, rounded up.
pub(super) fn in_segments(bytes: u64, mss: u32) -> u32 {
    bytes.div_ceil(u64::from(mss.max(1))).try_into().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(mss: u32, bytes: &[u64]) -> alloc::vec::Vec<u64> {
        let mut counter = SegmentCounter::default();
        let add = |&bytes| {
            counter.add(bytes, mss);
            counter.total
        };
        bytes.iter().map(add).collect()
    }

    #[test]
    fn full_packets_count_one_each() {
        assert_eq!(totals(1200, &[1200; 4]), [1, 2, 3, 4]);
        // Packets that are 100 bytes short: after six of them half a segment is missing.
        assert_eq!(totals(1200, &[1100; 8]), [1, 2, 3, 4, 5, 6, 6, 7]);
    }

    #[test]
    fn small_packets_add_up() {
        // 500, 1,000 (rounded up: 200 too many), 1,500, 2,000 (rounded up again), 2,500.
        assert_eq!(totals(1200, &[500; 5]), [0, 1, 1, 2, 2]);
    }

    #[test]
    fn a_larger_segment_keeps_the_total() {
        let mut counter = SegmentCounter::default();
        counter.add(1700, 1200);
        assert_eq!(counter.total, 1);
        // 500 and 300 bytes are more than half of 1,500.
        counter.add(300, 1500);
        assert_eq!(counter.total, 2);
    }

    #[test]
    fn bytes_in_flight_are_rounded_up() {
        assert_eq!([0, 1, 1200, 1201].map(|bytes| in_segments(bytes, 1200)), [0, 1, 1, 2]);
    }
}
