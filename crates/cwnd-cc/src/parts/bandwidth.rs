//! Westwood+'s bandwidth estimate from the rate of ACKs.
//!
//! S. Mascolo, C. Casetti, M. Gerla, M. Y. Sanadidi, R. Wang, "TCP Westwood: Bandwidth Estimation for Enhanced Transport over
//! Wireless Links", ACM MobiCom 2001; L. A. Grieco, S. Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno,
//! and Vegas TCP Congestion Control", ACM CCR 34(2), 2004. Westwood+ takes one sample per round trip and not one per ACK,
//! because compressed ACKs would make the estimate too high:
//!
//! ```text
//! b     = segments delivered / span         each span longer than max(RTT, 50 ms)
//! bw_ns = 7/8 bw_ns + 1/8 b                 two low-pass filters, one after the other;
//! bw    = 7/8 bw + 1/8 bw_ns                the first sample fills both
//! ```
//!
//! Interpretations:
//! - Segments delivered are those acknowledged or SACKed for the first time. Westwood's own counting gives the same: a
//!   duplicate ACK counts one segment, and the cumulative ACK after it the rest.
//! - RTT is the smoothed one, as in Linux. The 50 ms and the 7/8 are Linux's, by Westwood+'s authors.
//! - A span with a pause of the application counts like any other.

use crate::{Ack, Nanos};

const MIN_SPAN: Nanos = Nanos::from_millis(50);
const GAIN: f64 = 1.0 / 8.0;

/// The filters and the current sample.
#[derive(Clone, Debug, Default)]
pub struct BandwidthFilter {
    /// Beginning of the span; none before the first ACK.
    begun: Option<Nanos>,
    delivered: u64,
    /// bw_ns and bw, segments per second.
    estimate: Option<(f64, f64)>,
}

impl BandwidthFilter {
    /// Measures an ACK. Returns whether it completed a sample.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) -> bool {
        let Some(begun) = self.begun else {
            self.begun = Some(ack.now);
            return false;
        };
        self.delivered += u64::from(ack.acked);
        let span = ack.now.since(begun);
        if span <= ack.srtt || span <= MIN_SPAN {
            return false;
        }
        self.take_sample(span);
        self.begun = Some(ack.now);
        true
    }

    /// Returns the estimate, segments per second; none before the first sample.
    #[inline]
    pub fn segments_per_second(&self) -> Option<f64> {
        self.estimate.map(|(_, bw)| bw)
    }

    /// Returns the estimated bandwidth times the round-trip time without a queue, segments.
    pub fn pipe(&self, min_rtt: Nanos) -> Option<f64> {
        if min_rtt == Nanos::MAX {
            return None;
        }
        self.segments_per_second().map(|rate| rate * min_rtt.as_secs_f64())
    }

    #[inline(never)]
    fn take_sample(&mut self, span: Nanos) {
        let sample = self.delivered as f64 / span.as_secs_f64();
        self.delivered = 0;
        self.estimate = Some(match self.estimate {
            None => (sample, sample),
            Some((coarse, fine)) => {
                let coarse = coarse + GAIN * (sample - coarse);
                (coarse, fine + GAIN * (coarse - fine))
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack_rtt, assert_near};

    /// `acked` segments at `ms` on a path of 100 ms.
    fn deliver(filter: &mut BandwidthFilter, ms: u64, acked: u32) -> bool {
        filter.on_ack(&Ack { acked, ..ack_rtt(ms, 100) })
    }

    #[test]
    fn the_first_sample_fills_both_filters() {
        let mut filter = BandwidthFilter::default();
        assert!(!deliver(&mut filter, 0, 5));
        assert!(!deliver(&mut filter, 60, 10));
        // The span must be longer than the RTT: 100 ms are not.
        assert!(!deliver(&mut filter, 100, 10));
        assert_eq!(filter.segments_per_second(), None);
        // 30 in 120 ms, without the ACK that began the span: 250 a second, 25 in 100 ms.
        assert!(deliver(&mut filter, 120, 10));
        assert_near(filter.segments_per_second().unwrap(), 250.0, 1e-9);
        assert_near(filter.pipe(Nanos::from_millis(100)).unwrap(), 25.0, 1e-9);
        assert_eq!(filter.pipe(Nanos::MAX), None);
    }

    #[test]
    fn later_samples_pass_two_filters() {
        // 250, then 1000 a second: bw_ns = 250 + 750/8 = 343.75, bw = 250 + 93.75/8 = 261.71875; once more:
        // bw_ns = 343.75 + 656.25/8 = 425.78125, bw = 261.71875 + 164.0625/8 = 282.2265625.
        let mut filter = BandwidthFilter::default();
        deliver(&mut filter, 0, 1);
        deliver(&mut filter, 120, 30);
        assert!(deliver(&mut filter, 240, 120));
        assert_near(filter.segments_per_second().unwrap(), 261.718_75, 1e-9);
        assert!(deliver(&mut filter, 360, 120));
        assert_near(filter.segments_per_second().unwrap(), 282.226_562_5, 1e-9);
    }

    #[test]
    fn short_paths_are_sampled_each_50_ms() {
        let mut filter = BandwidthFilter::default();
        filter.on_ack(&ack_rtt(0, 1));
        assert!(!filter.on_ack(&Ack { acked: 40, ..ack_rtt(50, 1) }));
        // 41 in 51 ms.
        assert!(filter.on_ack(&ack_rtt(51, 1)));
        assert_near(filter.segments_per_second().unwrap(), 41.0 / 0.051, 1e-9);
    }

    #[test]
    fn a_clock_that_stands_still_makes_no_sample() {
        let mut filter = BandwidthFilter::default();
        for _ in 0..10 {
            assert!(!filter.on_ack(&Ack { acked: u32::MAX, ..Ack::default() }));
        }
    }
}
