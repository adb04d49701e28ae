//! Records of outstanding segments, and the delivery-rate samples made from them (draft-ietf-ccwg-bbr section 4.1.1). They
//! are kept only for flows whose algorithm, or lack of timestamps, requires them.

use cwnd_cc::{LostPacket, Nanos, RateSample};

/// The state of a flow when a segment was sent last.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    sent: u64,
    delivered: u64,
    delivered_at: u64,
    first_sent: u64,
    lost: u64,
    marked: u64,
    in_flight: u32,
    app_limited: bool,
    retransmitted: bool,
}

/// Records of the outstanding segments, and the sample under way.
#[derive(Clone, Debug)]
pub struct RateEstimator {
    records: Box<[Record]>,
    delivered: u64,
    delivered_at: u64,
    first_sent: u64,
    lost: u64,
    marked: u64,
    /// Samples are application-limited until more than this number of segments is delivered.
    limited_until: Option<u64>,
    /// The segment sent last among those that this ACK delivers.
    latest: Option<(u64, Record)>,
    /// When it was sent, and whether one of those segments was ever retransmitted.
    timed: Option<u64>,
    ambiguous: bool,
}

impl Default for RateEstimator {
    fn default() -> Self {
        RateEstimator {
            records: vec![Record::default(); 64].into_boxed_slice(),
            delivered: 0,
            delivered_at: 0,
            first_sent: 0,
            lost: 0,
            marked: 0,
            limited_until: None,
            latest: None,
            timed: None,
            ambiguous: false,
        }
    }
}

impl RateEstimator {
    /// Records that a segment is sent, for the first time or `again`. `in_flight` does not count it yet.
    pub fn on_send(&mut self, now: u64, segment: u64, una: u64, in_flight: u32, again: bool) {
        if segment == una && !again {
            // Nothing else is outstanding.
            self.first_sent = now;
            self.delivered_at = now;
        }
        if (segment - una) as usize >= self.records.len() {
            self.grow(una, segment);
        }
        let i = segment as usize & (self.records.len() - 1);
        self.records[i] = Record {
            sent: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            marked: self.marked,
            in_flight: in_flight + 1,
            app_limited: self.limited_until.is_some(),
            retransmitted: again,
        };
    }

    #[cold]
    fn grow(&mut self, una: u64, segment: u64) {
        let old = self.records.len();
        let size = ((segment - una) as usize + 1).next_power_of_two();
        let mut records = vec![Record::default(); size].into_boxed_slice();
        for s in una..una + old as u64 {
            records[s as usize & (size - 1)] = self.records[s as usize & (old - 1)];
        }
        self.records = records;
    }

    /// Records that a segment is delivered for the first time.
    pub fn on_delivered(&mut self, now: u64, segment: u64) {
        let record = self.records[segment as usize & (self.records.len() - 1)];
        self.delivered += 1;
        self.delivered_at = now;
        // Of segments sent together the highest is the newest.
        let newer = |latest: &(u64, Record)| (record.sent, segment) > (latest.1.sent, latest.0);
        if self.latest.as_ref().is_none_or(newer) {
            self.latest = Some((segment, record));
            self.first_sent = record.sent;
        }
        self.timed = self.timed.max(Some(record.sent));
        self.ambiguous |= record.retransmitted;
    }

    /// Records that congestion marks of `segments` segments were echoed.
    pub fn on_marked(&mut self, segments: u32) {
        self.marked += u64::from(segments);
    }

    /// Records that a segment is declared lost. Returns what the algorithm is notified of it.
    pub fn on_lost(&mut self, now: u64, segment: u64) -> LostPacket {
        let record = self.records[segment as usize & (self.records.len() - 1)];
        self.lost += 1;
        LostPacket {
            now: Nanos(now),
            sent: Nanos(record.sent),
            tx_in_flight: record.in_flight,
            delivered: record.delivered,
            lost_at_send: record.lost,
            lost: self.lost,
            app_limited: record.app_limited,
        }
    }

    /// Records that there is too little to send: samples are application-limited until what is in flight is delivered.
    pub fn on_app_limited(&mut self, in_flight: u32) {
        self.limited_until = Some(self.delivered + u64::from(in_flight));
    }

    /// Returns the round-trip time that the segments of this ACK give by Karn's rule: none if one of them was ever
    /// retransmitted, since the others may have waited for it.
    pub fn round_trip(&self, now: u64) -> Option<u64> {
        self.timed.filter(|_| !self.ambiguous).map(|sent| now - sent)
    }

    /// Drops the sample of an ACK that gives none. What it delivered stays counted.
    pub fn discard_sample(&mut self) {
        self.latest = None;
        self.timed = None;
        self.ambiguous = false;
    }

    /// Returns the sample of an ACK, after all its segments were recorded; `None` if its interval is shorter than the least
    /// round-trip time, which indicates a needless retransmission.
    pub fn finish(&mut self, now: u64, min_rtt: u64) -> Option<RateSample> {
        if self.limited_until.is_some_and(|limit| self.delivered > limit) {
            self.limited_until = None;
        }
        self.timed = None;
        self.ambiguous = false;
        let sample = self.latest.take().map(|(_, record)| RateSample {
            delivered: self.delivered - record.delivered,
            prior_delivered: record.delivered,
            interval: Nanos((record.sent - record.first_sent).max(self.delivered_at - record.delivered_at)),
            app_limited: record.app_limited,
            tx_in_flight: record.in_flight,
            lost: self.lost - record.lost,
            marked: self.marked - record.marked,
            rtt: Nanos(now - record.sent),
        });
        sample.filter(|sample| sample.interval.0 >= min_rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_steady_flow_gives_its_rate() {
        // A segment every 1 ms, each acknowledged 10 ms later: 1,000 segments a second.
        let mut rate = RateEstimator::default();
        for i in 0..40u64 {
            if i >= 10 {
                rate.on_delivered(i * MS, i - 10);
                assert_eq!(rate.round_trip(i * MS), Some(10 * MS));
                let sample = rate.finish(i * MS, 0);
                if i >= 30 {
                    let sample = sample.unwrap();
                    assert_eq!((sample.delivered, sample.interval), (10, Nanos(10 * MS)));
                    assert_eq!(sample.segments_per_second(), 1000.0);
                    assert_eq!(sample.tx_in_flight, 10);
                }
            }
            rate.on_send(i * MS, i, i.saturating_sub(9), i.min(9) as u32, false);
        }
    }

    #[test]
    fn the_longer_interval_counts() {
        // Four segments at once at t = 0; their ACKs come compressed at 10, 10.1, 10.2 and 10.3 ms. Sent in
        // no time, so the ACK interval counts: 4 segments in 10.3 ms, not in 0.3.
        let mut rate = RateEstimator::default();
        (0..4).for_each(|i| rate.on_send(0, i, 0, i as u32, false));
        let mut last = None;
        for i in 0..4 {
            let now = 10 * MS + i * MS / 10;
            rate.on_delivered(now, i);
            last = rate.finish(now, 0);
        }
        let last = last.unwrap();
        assert_eq!((last.delivered, last.interval), (4, Nanos(10 * MS + 3 * MS / 10)));
    }

    /// Records are kept in a ring of a power of two. A flight of one segment more than the ring has places keeps its first record.
    #[test]
    fn a_flight_that_fills_the_ring_keeps_its_first_segment() {
        let mut rate = RateEstimator::default();
        let places = rate.records.len() as u64;
        (0..=places).for_each(|i| rate.on_send(i * MS, i, 0, i as u32, false));
        assert_eq!(rate.records.len() as u64, 2 * places);
        // Segment 0 was sent at 0 and with nothing in flight before it.
        let now = 500 * MS;
        rate.on_delivered(now, 0);
        assert_eq!(rate.round_trip(now), Some(now));
        assert_eq!(rate.finish(now, 0).unwrap().tx_in_flight, 1);
    }

    #[test]
    fn a_retransmitted_segment_times_nothing() {
        let mut rate = RateEstimator::default();
        rate.on_send(0, 0, 0, 0, false);
        rate.on_send(5 * MS, 0, 0, 0, true);
        rate.on_delivered(12 * MS, 0);
        assert_eq!(rate.round_trip(12 * MS), None);
        assert_eq!(rate.finish(12 * MS, 0).unwrap().rtt, Nanos(7 * MS));
    }

    #[test]
    fn limits_and_losses_are_remembered() {
        let mut rate = RateEstimator::default();
        rate.on_send(0, 0, 0, 0, false);
        rate.on_app_limited(1);
        rate.on_send(MS, 1, 0, 1, false);
        let lost = rate.on_lost(9 * MS, 0);
        assert_eq!((lost.lost, lost.lost_at_send, lost.tx_in_flight), (1, 0, 1));
        rate.on_delivered(11 * MS, 1);
        let sample = rate.finish(11 * MS, 0).unwrap();
        assert!(sample.app_limited);
        assert_eq!(sample.lost, 1);
    }

    #[test]
    fn a_limit_ends_with_more_than_what_was_in_flight() {
        // Limited at the first write: until more than nothing is delivered. The second flight is not limited.
        let mut rate = RateEstimator::default();
        rate.on_app_limited(0);
        (0..2).for_each(|i| rate.on_send(0, i, 0, i as u32, false));
        rate.on_delivered(10 * MS, 0);
        assert!(rate.finish(10 * MS, 0).unwrap().app_limited);
        rate.on_send(10 * MS, 2, 1, 1, false);
        rate.on_delivered(10 * MS, 1);
        assert!(rate.finish(10 * MS, 0).unwrap().app_limited);
        rate.on_delivered(20 * MS, 2);
        assert!(!rate.finish(20 * MS, 0).unwrap().app_limited);
    }
}
