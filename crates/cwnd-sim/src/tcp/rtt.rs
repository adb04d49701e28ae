//! Round-trip time estimation and the retransmission timeout (RFC 6298, with Linux's floor).

/// ns-2.35's TCP-Linux counts milliseconds in integers, and four times the variation does not decay below three of
/// them, ns.
const NS2_LEAST_VARIATION: i64 = 3_000_000;

/// Smoothed round-trip time and its variation, in integers as Jacobson wrote them.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// Eight times the smoothed round-trip time, ns; zero before the first sample.
    srtt8: i64,
    /// Four times the variation, ns.
    rttvar4: i64,
    min_rto: i64,
    /// Least four times the variation, ns: `min_rto`, or ns-2's.
    least_variation: i64,
    max_rto: u64,
    /// The timeout without backoff, ns.
    rto: u64,
    /// Timeouts in a row.
    pub backoff: u32,
    pub sum: u64,
    pub min: u64,
    pub max: u64,
}

impl RttEstimator {
    pub fn new(initial_rto: u64, min_rto: u64, max_rto: u64) -> Self {
        RttEstimator {
            srtt8: 0,
            rttvar4: 0,
            min_rto: min_rto as i64,
            least_variation: min_rto as i64,
            max_rto,
            rto: initial_rto,
            backoff: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// The same with the floor under the whole timeout, as RFC 6298 and ns-2.35 have it, not under the variation.
    pub fn with_floor_under_sum(self) -> Self {
        RttEstimator { least_variation: NS2_LEAST_VARIATION, ..self }
    }

    /// RFC 6298 section 2: the first sample R gives SRTT = R, RTTVAR = R/2; each later one
    /// RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R| and SRTT = 7/8 SRTT + 1/8 R. RTO = SRTT + max(4 RTTVAR, floor):
    /// Linux puts the floor under the variation, not under the sum.
    #[inline(always)]
    pub fn sample(&mut self, rtt: u64) {
        self.smooth(rtt);
        self.set_timeout();
    }

    /// A sample, without the timeout that follows from it. True if it is the least so far.
    #[inline(always)]
    pub fn smooth(&mut self, rtt: u64) -> bool {
        self.sum += rtt;
        let mut least = false;
        // Branches that are hardly ever taken cost less than moves that always are.
        if rtt < self.min {
            self.min = rtt;
            least = true;
        }
        if rtt > self.max {
            self.max = rtt;
        }
        self.estimate(rtt);
        least
    }

    /// A sample that counts for the timeout and the smoothed round-trip time alone: what an ACK echoes that
    /// acknowledges nothing new was sent a while before what caused it.
    #[inline(always)]
    pub fn estimate(&mut self, rtt: u64) {
        let rtt = rtt as i64;
        if self.srtt8 == 0 {
            self.srtt8 = rtt << 3;
            self.rttvar4 = rtt << 1;
        } else {
            let error = rtt - (self.srtt8 >> 3);
            self.srtt8 += error;
            self.rttvar4 += error.abs() - (self.rttvar4 >> 2);
        }
    }

    /// A sample that counts for the least alone.
    #[inline]
    pub fn note_least(&mut self, rtt: u64) {
        self.min = self.min.min(rtt);
    }

    /// The timeout that follows from the samples.
    #[inline(always)]
    pub fn set_timeout(&mut self) {
        let rto = (self.srtt8 >> 3) + self.rttvar4.max(self.least_variation);
        self.rto = (rto.max(self.min_rto) as u64).min(self.max_rto);
    }

    /// No sample makes the timeout shorter than this.
    pub fn least_timeout(&self) -> u64 {
        (self.min_rto as u64).min(self.max_rto)
    }

    /// There is no sample yet: begin with this timeout, without backoff.
    pub fn restart(&mut self, rto: u64) {
        self.rto = rto.max(self.rto).min(self.max_rto);
        self.backoff = 0;
    }

    /// Whether there was a sample.
    pub fn is_known(&self) -> bool {
        self.srtt8 != 0
    }

    /// The smoothed round-trip time, ns; zero before the first sample.
    #[inline(always)]
    pub fn srtt(&self) -> u64 {
        (self.srtt8 >> 3) as u64
    }

    /// RFC 6298's RTTVAR, ns.
    pub fn variation(&self) -> u64 {
        (self.rttvar4 >> 2) as u64
    }

    /// The timeout without backoff, ns.
    #[inline(always)]
    pub fn plain_timeout(&self) -> u64 {
        self.rto
    }

    /// The timeout, doubled for each timeout in a row (RFC 6298 section 5.5), ns.
    #[inline(always)]
    pub fn timeout(&self) -> u64 {
        self.rto.saturating_mul(1 << self.backoff.min(30)).min(self.max_rto)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn follows_rfc_6298() {
        let mut rtt = RttEstimator::new(1000 * MS, 200 * MS, 60_000 * MS);
        assert_eq!((rtt.timeout(), rtt.srtt()), (1000 * MS, 0));
        // First sample 100 ms: SRTT 100, RTTVAR 50, 4 RTTVAR = 200: RTO 300.
        rtt.sample(100 * MS);
        assert_eq!((rtt.timeout(), rtt.srtt()), (300 * MS, 100 * MS));
        // Then 180 ms: RTTVAR = 3/4 50 + 1/4 80 = 57.5, SRTT = 7/8 100 + 1/8 180 = 110: RTO 110 + 230.
        rtt.sample(180 * MS);
        assert_eq!((rtt.timeout(), rtt.srtt()), (340 * MS, 110 * MS));
        assert_eq!((rtt.min, rtt.max, rtt.sum), (100 * MS, 180 * MS, 280 * MS));
    }

    #[test]
    fn the_floor_is_under_the_variation() {
        let mut rtt = RttEstimator::new(1000 * MS, 200 * MS, 60_000 * MS);
        (0..50).for_each(|_| rtt.sample(12 * MS));
        assert_eq!(rtt.timeout(), 212 * MS);
    }

    #[test]
    fn the_floor_is_under_the_sum_in_ns_2() {
        let mut rtt = RttEstimator::new(1000 * MS, 200 * MS, 60_000 * MS).with_floor_under_sum();
        // The first sample: 100 + 200; when the variation is gone, what is left of it is 3 ms.
        rtt.sample(100 * MS);
        assert_eq!(rtt.timeout(), 300 * MS);
        (0..99).for_each(|_| rtt.sample(100 * MS));
        assert_eq!(rtt.timeout(), 200 * MS);
        (0..200).for_each(|_| rtt.sample(250 * MS));
        // SRTT is within an eighth of a nanosecond's step of 250 ms.
        assert_eq!(rtt.timeout().div_ceil(MS), 253);
        // What is only estimated is in no extreme and no sum.
        let before = (rtt.min, rtt.max, rtt.sum);
        rtt.estimate(900 * MS);
        assert_eq!((rtt.min, rtt.max, rtt.sum), before);
        assert!(rtt.srtt() > 300 * MS);
    }

    #[test]
    fn backs_off_to_the_greatest() {
        let mut rtt = RttEstimator::new(1000 * MS, 200 * MS, 60_000 * MS);
        let timeouts: Vec<u64> = (0..8)
            .map(|n| {
                rtt.backoff = n;
                rtt.timeout() / MS
            })
            .collect();
        assert_eq!(timeouts, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    }
}
