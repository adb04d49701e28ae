//! The bandwidth estimate as in Linux: bytes of cumulative ACKs, in ticks ([`Jiffies`]) and integers.
//!
//! ```text
//! an ACK that comes as expected    counts what it acknowledges
//! any other that acknowledges      counts that less what duplicates counted before, but one segment at least
//! a duplicate ACK                  counts one segment, whatever it SACKs
//! b     = bytes counted / span     each span longer than max(RTT, 1/20 s); the ACK that ends it counts in the next
//! bw_ns = (7 bw_ns + b)/8;  bw = (7 bw + bw_ns)/8          the first sample fills both
//! ```
//!
//! A SACK of ten segments counts as one until the gap is filled, so that samples during a recovery are too small. RTT is that
//! of the previous ACK, in ticks, rounded up.

#[cfg(doc)]
use crate::DupAck;
use crate::parts::jiffies::Jiffies;
use crate::{Ack, Init, Nanos, Window};

/// Shortest spans a second.
const MOST_SPANS: u64 = 20;

/// Round-trip time before the first sample, seconds.
const NO_RTT: u64 = 20;

/// The filters and the current sample.
#[derive(Clone, Debug)]
pub struct WestwoodLinux {
    clock: Jiffies,
    /// Beginning of the span, ticks.
    begun: u64,
    /// Segments counted in the span.
    segments: u64,
    /// Segments counted by duplicate ACKs that no ACK has acknowledged since.
    ahead: u64,
    /// The latest round-trip time, and the smallest since the last timeout, ticks.
    rtt: u64,
    least_rtt: Option<u64>,
    /// bw_ns and bw, bytes a tick.
    estimate: (u64, u64),
}

impl Default for WestwoodLinux {
    fn default() -> Self {
        let clock = Jiffies::default();
        let rtt = NO_RTT * clock.hz();
        WestwoodLinux { clock, begun: 0, segments: 0, ahead: 0, rtt, least_rtt: None, estimate: (0, 0) }
    }
}

impl WestwoodLinux {
    /// Handles the establishment of the connection.
    pub fn begin(&mut self, init: &Init) {
        self.clock = Jiffies::of(init);
        self.rtt = NO_RTT * self.clock.hz();
        self.begun = self.clock.at(init.now);
    }

    /// Handles a duplicate ACK (see [`DupAck`]).
    pub fn on_dup_ack(&mut self, now: Nanos, mss: u32) {
        self.end_span(now, mss);
        self.ahead += 1;
        self.segments += 1;
        self.note_rtt();
    }

    /// Handles an ACK. An ACK of no new data was counted as a duplicate.
    pub fn on_ack(&mut self, ack: &Ack, mss: u32) {
        if ack.cumulative > 0 {
            self.end_span(ack.now, mss);
            self.segments += self.count(u64::from(ack.cumulative), ack.compat.header_predicted);
            self.note_rtt();
        }
        if let Some(rtt) = ack.rtt {
            self.rtt = self.clock.round_up(rtt);
        }
    }

    fn count(&mut self, acked: u64, predicted: bool) -> u64 {
        if predicted || acked == 1 {
            return acked;
        }
        let known = self.ahead.min(acked);
        self.ahead -= known;
        (acked - known).max(1)
    }

    /// Takes a sample if the span is over.
    pub fn end_span(&mut self, now: Nanos, mss: u32) {
        let now = self.clock.at(now);
        let span = now - self.begun;
        if span <= self.rtt.max(self.clock.hz() / MOST_SPANS) {
            return;
        }
        let sample = self.segments * u64::from(mss) / span;
        let (coarse, fine) = self.estimate;
        self.estimate = match self.estimate {
            (0, 0) => (sample, sample),
            _ => {
                let coarse = (7 * coarse + sample) / 8;
                (coarse, (7 * fine + coarse) / 8)
            }
        };
        self.segments = 0;
        self.begun = now;
    }

    fn note_rtt(&mut self) {
        self.least_rtt = Some(self.least_rtt.unwrap_or(self.rtt).min(self.rtt));
    }

    /// Handles a retransmission timeout: the smallest round-trip time is measured again.
    pub fn forget_least_rtt(&mut self) {
        self.least_rtt = None;
    }

    /// Returns the bandwidth and its product as [`super::OBSERVABLES`] has them.
    pub fn observe(&self, window: &Window) -> [f64; 2] {
        match self.estimate {
            (_, 0) => [f64::NAN; 2],
            (_, bandwidth) => [bandwidth as f64 * (8 * self.clock.hz()) as f64, self.pipe(window.mss())],
        }
    }

    /// Returns the estimated bandwidth times the smallest round-trip time, whole segments.
    pub fn pipe(&self, mss: u32) -> f64 {
        let [bandwidth, rtt] = [self.estimate.1, self.least_rtt.unwrap_or(self.rtt)].map(u128::from);
        (bandwidth * rtt / u128::from(mss)) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AckCompat;
    use crate::testing::ack_rtt;

    const MSS: u32 = 1448;

    fn acknowledge(counted: &mut WestwoodLinux, ms: u64, cumulative: u32, predicted: bool) {
        counted.on_ack(
            &Ack {
                cumulative,
                compat: AckCompat { header_predicted: predicted, ..AckCompat::default() },
                ..ack_rtt(ms, 40)
            },
            MSS,
        );
    }

    /// Ten segments counted in the first 51 ms, in which a span ends.
    fn measured() -> WestwoodLinux {
        let mut counted = WestwoodLinux::default();
        counted.begin(&Init::default());
        acknowledge(&mut counted, 10, 10, true);
        acknowledge(&mut counted, 51, 1, true);
        counted
    }

    #[test]
    fn the_ack_that_ends_a_span_counts_in_the_next() {
        // 14,480 B in 51 ms are 283 B a millisecond: 11,320 B in 40 ms, seven segments.
        let counted = measured();
        assert_eq!((counted.estimate, counted.segments), ((283, 283), 1));
        assert_eq!(counted.pipe(MSS), 7.0);
        // 50 ms more are too few. 51: (7 x 283 + 0)/8 = 247, (7 x 283 + 247)/8 = 278.
        let mut counted = WestwoodLinux { segments: 0, ..measured() };
        counted.end_span(Nanos::from_millis(101), MSS);
        assert_eq!(counted.estimate, (283, 283));
        counted.end_span(Nanos::from_millis(102), MSS);
        assert_eq!(counted.estimate, (247, 278));
    }

    #[test]
    fn a_clock_of_250_ticks_a_second_measures_in_four_milliseconds() {
        let mut counted = WestwoodLinux::default();
        counted.begin(&Init { timer_hz: 250, ..Init::default() });
        acknowledge(&mut counted, 10, 10, true);
        // 51 ms are 12 ticks, a twentieth of a second: too few.
        counted.end_span(Nanos::from_millis(51), MSS);
        assert_eq!(counted.estimate, (0, 0));
        // 14,480 B in 13 ticks are 1,113 B a tick: 11,130 B in the 10 ticks of 40 ms, seven segments, and 2.226 Mbit/s.
        acknowledge(&mut counted, 52, 1, true);
        assert_eq!((counted.estimate, counted.segments), ((1113, 1113), 1));
        assert_eq!(
            counted.observe(&crate::testing::window(10.0, crate::Arithmetic::Linux)),
            [2_226_000.0, 7.0]
        );
    }

    #[test]
    fn a_pipe_of_any_bandwidth_and_time_is_reckoned() {
        // 2^40 B a millisecond for 2^34 ms, in segments of 1,024 B.
        let counted = WestwoodLinux { least_rtt: Some(1 << 34), estimate: (0, 1 << 40), ..measured() };
        assert_eq!(counted.pipe(1024), f64::powi(2.0, 64));
    }

    #[test]
    fn duplicates_count_one_and_are_taken_off_later() {
        let mut counted = measured();
        (0..3).for_each(|_| counted.on_dup_ack(Nanos::from_millis(60), MSS));
        assert_eq!((counted.segments, counted.ahead), (4, 3));
        // Two are acknowledged of the three that were counted: one counts all the same. Then one of five was counted.
        acknowledge(&mut counted, 70, 2, false);
        assert_eq!((counted.segments, counted.ahead), (5, 1));
        acknowledge(&mut counted, 71, 5, false);
        assert_eq!((counted.segments, counted.ahead), (9, 0));
        // What comes as expected takes nothing off.
        counted.on_dup_ack(Nanos::from_millis(72), MSS);
        acknowledge(&mut counted, 73, 4, true);
        assert_eq!((counted.segments, counted.ahead), (14, 1));
    }

    #[test]
    fn a_timeout_forgets_the_least_round_trip_time() {
        let mut counted = measured();
        counted.forget_least_rtt();
        counted.on_ack(&Ack { cumulative: 1, ..ack_rtt(60, 80) }, MSS);
        // The ACK brings 80 ms, but the one before brought 40.
        assert_eq!((counted.least_rtt, counted.rtt), (Some(40), 80));
        counted.forget_least_rtt();
        acknowledge(&mut counted, 61, 1, true);
        assert_eq!(counted.least_rtt, Some(80));
    }
}
