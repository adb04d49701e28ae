//! Round-trip time estimation and the retransmission timeout: of RFC 6298 with Linux's floor, of Linux 6.1, and of ns-2.35's
//! TCP-Linux.

use crate::TimerWheel;

/// The unit in which ns-2.35's TCP-Linux counts round-trip times, ns.
const NS2_TICK: u64 = 1_000_000;
/// The number of timeouts in a row after which ns-2.35's TCP-Linux takes the next sample as its first.
const NS2_TIMEOUTS_TO_FORGET: u32 = 4;

/// The smoothed round-trip time and its variation, in Jacobson's scaled integers.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// Eight times the smoothed round-trip time, ns; zero before the first sample.
    srtt8: i64,
    variation: Variation,
    min_rto: i64,
    max_rto: u64,
    /// The timeout without backoff, ns.
    rto: u64,
    /// Whether the next sample is taken as the first.
    afresh: bool,
    /// Timeouts in a row: each doubles the timeout.
    pub backoff: u32,
    /// The timeout that is doubled is a whole number of ticks of this.
    pub wheel: TimerWheel,
    pub sum: u64,
    pub min: u64,
    pub max: u64,
}

/// How much longer than the smoothed time a round trip may take: the part of the timeout that the profiles compute in
/// different ways. It is data and not a strategy, since the fast path of ACKs is compiled once.
#[derive(Clone, Copy, Debug)]
enum Variation {
    /// RFC 6298's, four times, ns.
    Rfc6298(i64),
    Linux(Deviation),
    /// ns-2 computes the timeout from its own count.
    Ns2(Ticks),
}

/// Linux's variation: the greatest value of the mean deviation in a round trip, which falls only between round trips.
#[derive(Clone, Copy, Debug)]
struct Deviation {
    /// Four times the mean deviation, ns.
    mean: i64,
    /// Its greatest value in this round trip, ns, and at least the floor.
    greatest: i64,
    /// What is added to the smoothed round-trip time, ns.
    added: i64,
    /// A round trip ends when more than this is acknowledged.
    round_end: u64,
}

impl Deviation {
    fn first(rtt: i64, floor: i64) -> Deviation {
        let added = (rtt << 1).max(floor);
        Deviation { mean: rtt << 1, greatest: added, added, round_end: 0 }
    }

    fn estimate(&mut self, error: i64) {
        self.mean += damped(error, self.mean);
        self.greatest = self.greatest.max(self.mean);
        self.added = self.added.max(self.greatest);
    }

    fn follow_round(&mut self, una: u64, next: u64, floor: i64) {
        if una > self.round_end {
            self.added -= (self.added - self.greatest) >> 2;
            self.greatest = floor;
            self.round_end = next;
        }
    }
}

/// Returns what an error adds to four times the mean deviation. A round trip that is shorter than expected counts for an
/// eighth: otherwise timeouts would be too long once a queue has emptied.
#[inline(always)]
fn damped(error: i64, deviation4: i64) -> i64 {
    let more = error.abs() - (deviation4 >> 2);
    if error < 0 && more > 0 { more >> 3 } else { more }
}

/// The estimate of ns-2.35's TCP-Linux, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Ticks {
    /// Eight times the smoothed round-trip time.
    srtt8: i64,
    /// Four times the variation.
    rttvar4: i64,
}

impl Ticks {
    /// Returns a sample in whole ticks, at least one.
    #[inline(always)]
    fn of(rtt: u64) -> i64 {
        ((rtt + NS2_TICK / 2) / NS2_TICK).max(1) as i64
    }

    /// Creates the estimate from the first sample.
    fn first(rtt: u64) -> Ticks {
        let ticks = Ticks::of(rtt);
        Ticks { srtt8: ticks << 3, rttvar4: ticks << 1 }
    }

    /// Takes in another sample.
    #[inline(always)]
    fn estimate(&mut self, rtt: u64) {
        let error = Ticks::of(rtt) - (self.srtt8 >> 3);
        self.srtt8 += error;
        self.rttvar4 += damped(error, self.rttvar4);
    }

    /// Returns the timeout, ns.
    #[inline(always)]
    fn timeout(&self) -> i64 {
        ((self.srtt8 >> 3) + self.rttvar4) * NS2_TICK as i64
    }
}

impl RttEstimator {
    /// Creates the estimator of RFC 6298, with the timeouts before the first sample, at least, and at most, ns.
    pub fn new(initial_rto: u64, min_rto: u64, max_rto: u64) -> Self {
        RttEstimator {
            srtt8: 0,
            variation: Variation::Rfc6298(0),
            min_rto: min_rto as i64,
            max_rto,
            rto: initial_rto,
            afresh: true,
            backoff: 0,
            wheel: TimerWheel::default(),
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// Creates the estimator of Linux 6.1: the timeout falls by a quarter of its excess in a round trip, not in a sample.
    pub fn linux(initial_rto: u64, min_rto: u64, max_rto: u64, wheel: TimerWheel) -> Self {
        let variation = Variation::Linux(Deviation::first(0, min_rto as i64));
        RttEstimator { variation, wheel, ..RttEstimator::new(initial_rto, min_rto, max_rto) }
    }

    /// Creates the estimator of ns-2.35's TCP-Linux. Its timeouts are computed in whole milliseconds: SRTT + 4 RTTVAR with
    /// the floor under the sum. A sample that is shorter than expected adds to the variation an eighth of what a longer one
    /// would.
    pub fn ns2(initial_rto: u64, min_rto: u64, max_rto: u64) -> Self {
        let variation = Variation::Ns2(Ticks::default());
        RttEstimator { variation, ..RttEstimator::new(initial_rto, min_rto, max_rto) }
    }

    /// Takes in a sample, as RFC 6298 section 2 says: the first sample R gives SRTT = R, RTTVAR = R/2; each later one
    /// RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R| and SRTT = 7/8 SRTT + 1/8 R. RTO = SRTT + max(4 RTTVAR, floor):
    /// Linux puts the floor under the variation, not under the sum.
    #[inline(always)]
    pub fn sample(&mut self, rtt: u64) {
        self.smooth(rtt);
        self.set_timeout();
    }

    /// Takes in a sample of a connection that has sent all segments below `next`, of which those below `una` are
    /// acknowledged.
    pub fn sample_in_round(&mut self, rtt: u64, una: u64, next: u64) {
        self.smooth(rtt);
        self.follow_round(una, next);
        self.set_timeout();
    }

    /// Ends Linux's round trip if all is acknowledged that was sent before it. Call it after a sample.
    #[inline(always)]
    pub fn follow_round(&mut self, una: u64, next: u64) {
        if let Variation::Linux(deviation) = &mut self.variation {
            deviation.follow_round(una, next, self.min_rto);
        }
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

    /// Takes in a sample that counts for the timeout and the smoothed round-trip time alone: an ACK that acknowledges
    /// nothing new echoes a packet that was sent a while before the one that caused it.
    #[inline(always)]
    pub fn estimate(&mut self, rtt: u64) {
        if self.afresh {
            return self.begin(rtt);
        }
        let error = rtt as i64 - (self.srtt8 >> 3);
        self.srtt8 += error;
        match &mut self.variation {
            Variation::Ns2(ticks) => ticks.estimate(rtt),
            Variation::Rfc6298(rttvar4) => *rttvar4 += error.abs() - (*rttvar4 >> 2),
            Variation::Linux(deviation) => deviation.estimate(error),
        }
    }

    /// Takes in the first sample, or one that is taken as the first (by ns-2 for its timeouts alone).
    #[cold]
    fn begin(&mut self, rtt: u64) {
        self.afresh = false;
        let signed = rtt as i64;
        self.variation = match self.variation {
            Variation::Ns2(_) => Variation::Ns2(Ticks::first(rtt)),
            Variation::Rfc6298(_) => Variation::Rfc6298(signed << 1),
            Variation::Linux(_) => Variation::Linux(Deviation::first(signed, self.min_rto)),
        };
        self.srtt8 = match self.srtt8 {
            0 => signed << 3,
            srtt8 => srtt8 + signed - (srtt8 >> 3),
        };
    }

    /// Takes in a sample that counts for the least alone.
    #[inline]
    pub fn note_least(&mut self, rtt: u64) {
        self.min = self.min.min(rtt);
    }

    /// Computes the timeout from the samples.
    #[inline(always)]
    pub fn set_timeout(&mut self) {
        let rto = match &self.variation {
            Variation::Ns2(ticks) => ticks.timeout(),
            Variation::Rfc6298(rttvar4) => (self.srtt8 >> 3) + (*rttvar4).max(self.min_rto),
            Variation::Linux(deviation) => (self.srtt8 >> 3) + deviation.added,
        };
        self.rto = (rto.max(self.min_rto) as u64).min(self.max_rto);
    }

    /// Returns the least timeout that samples can give.
    pub fn least_timeout(&self) -> u64 {
        (self.min_rto as u64).min(self.max_rto)
    }

    /// Begins with this timeout and without backoff, before the first sample.
    pub fn restart(&mut self, rto: u64) {
        self.rto = rto.max(self.rto).min(self.max_rto);
        self.backoff = 0;
    }

    /// Records a timeout. In ns-2 several in a row invalidate the estimate.
    pub fn back_off(&mut self) {
        self.backoff += 1;
        let ns2 = matches!(self.variation, Variation::Ns2(_));
        self.afresh |= ns2 && self.backoff >= NS2_TIMEOUTS_TO_FORGET;
    }

    /// Returns whether there was a sample.
    pub fn is_known(&self) -> bool {
        self.srtt8 != 0
    }

    /// Returns the least and the greatest sample, ns; `None` before the first. In ns-2 an ACK that acknowledges nothing new can give a
    /// smoothed round-trip time earlier ([`RttEstimator::estimate`]).
    pub fn extremes(&self) -> Option<(u64, u64)> {
        (self.min != u64::MAX).then_some((self.min, self.max))
    }

    /// Returns the smoothed round-trip time, ns; zero before the first sample.
    #[inline(always)]
    pub fn srtt(&self) -> u64 {
        (self.srtt8 >> 3) as u64
    }

    /// Returns RFC 6298's RTTVAR, ns; in Linux the mean deviation.
    pub fn variation(&self) -> u64 {
        match &self.variation {
            Variation::Ns2(ticks) => ticks.rttvar4 as u64 * NS2_TICK / 4,
            Variation::Rfc6298(rttvar4) => (rttvar4 >> 2) as u64,
            Variation::Linux(deviation) => (deviation.mean >> 2) as u64,
        }
    }

    /// Returns the timeout without backoff, ns.
    #[inline(always)]
    pub fn plain_timeout(&self) -> u64 {
        self.rto
    }

    /// Returns the timeout, doubled for each timeout in a row (RFC 6298 section 5.5), ns.
    #[inline(always)]
    pub fn timeout(&self) -> u64 {
        if self.backoff == 0 {
            // The timer wheel rounds it up.
            return self.rto;
        }
        self.wheel.round_up(self.rto).saturating_mul(1 << self.backoff.min(30)).min(self.max_rto)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Eight times the smoothed time and four times the variation, in ticks.
    fn ticks(rtt: &RttEstimator) -> (i64, i64) {
        let Variation::Ns2(ticks) = rtt.variation else { panic!("the estimator is not ns-2's") };
        (ticks.srtt8, ticks.rttvar4)
    }

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
        let mut rtt = RttEstimator::ns2(1000 * MS, 200 * MS, 60_000 * MS);
        // The first sample: 100 + 200; four times the variation decays to 3 ms, a quarter of which is none.
        rtt.sample(100 * MS);
        assert_eq!(rtt.timeout(), 300 * MS);
        (0..99).for_each(|_| rtt.sample(100 * MS));
        assert_eq!((rtt.timeout(), rtt.variation()), (200 * MS, 750_000));
        (0..200).for_each(|_| rtt.sample(250 * MS));
        assert_eq!(rtt.timeout(), 253 * MS);
        // Such a sample changes neither the extremes nor the sum.
        let before = (rtt.min, rtt.max, rtt.sum);
        rtt.estimate(900 * MS);
        assert_eq!((rtt.min, rtt.max, rtt.sum), before);
        assert!(rtt.srtt() > 300 * MS);
    }

    #[test]
    fn ns_2_counts_whole_milliseconds() {
        let mut rtt = RttEstimator::ns2(1000 * MS, 200 * MS, 60_000 * MS);
        // 0.4 ms counts as one: SRTT 1, RTTVAR 0.5.
        rtt.sample(400_000);
        assert_eq!((ticks(&rtt), rtt.variation()), ((8, 2), MS / 2));
        // 2.5 ms as three: 8 SRTT = 8 + 2, 4 RTTVAR = 2 + (2 - 0), a quarter of two being none in whole ones.
        rtt.sample(2_500_000);
        assert_eq!((ticks(&rtt), rtt.variation()), ((10, 4), MS));
        // 2.49 ms as two, one over SRTT's whole part: 8 SRTT = 11, 4 RTTVAR = 4 + (1 - 1).
        rtt.sample(2_490_000);
        assert_eq!(ticks(&rtt), (11, 4));
        // The smoothed time itself is exact: 0.4, 0.6625 (7/8 of that and 1/8 of 2.5), 0.8909375.
        assert_eq!((rtt.srtt(), rtt.min), (890_937, 400_000));
    }

    #[test]
    fn a_short_sample_moves_ns_2_s_variation_by_an_eighth() {
        let mut rtt = RttEstimator::ns2(1000 * MS, 200 * MS, 60_000 * MS);
        // SRTT 100, 4 RTTVAR 200; eighty that agree leave 3 of it.
        (0..81).for_each(|_| rtt.sample(100 * MS));
        assert_eq!(ticks(&rtt), (800, 3));
        // 20 ms: 8 SRTT = 800 - 80; 4 RTTVAR = 3 + (80 - 0) / 8.
        rtt.sample(20 * MS);
        assert_eq!(ticks(&rtt), (720, 13));
        // 170 ms, that is 80 more: 4 RTTVAR = 13 + 80 - 3. SRTT + 4 RTTVAR = 190 is under the floor.
        rtt.sample(170 * MS);
        assert_eq!((ticks(&rtt), rtt.timeout()), ((800, 90), 200 * MS));
        // 70 ms: the error of 30 is over a quarter of 90 by 8, of which an eighth counts.
        rtt.sample(70 * MS);
        assert_eq!(ticks(&rtt), (770, 91));
        // 90 ms: the error of 6 is not, and counts as it is: 91 + 6 - 22.
        rtt.sample(90 * MS);
        assert_eq!(ticks(&rtt), (764, 75));
    }

    #[test]
    fn four_timeouts_in_a_row_make_ns_2_begin_anew() {
        let mut rtt = RttEstimator::ns2(1000 * MS, 200 * MS, 60_000 * MS);
        rtt.sample(400 * MS);
        (0..3).for_each(|_| rtt.back_off());
        let mut three = rtt.clone();
        three.sample(100 * MS);
        // 8 SRTT = 3200 - 300, 4 RTTVAR = 800 + (300 - 200) / 8.
        assert_eq!(ticks(&three), (2900, 812));
        rtt.back_off();
        // The timeout itself stands: 16 times 400 + 800 ms.
        assert_eq!(rtt.timeout(), 19_200 * MS);
        rtt.sample(100 * MS);
        assert_eq!((ticks(&rtt), rtt.srtt()), ((800, 200), 362_500_000));
    }

    #[test]
    fn linux_rounds_a_timeout_to_its_ticks_before_it_doubles_it() {
        let mut rtt = RttEstimator::linux(1000 * MS, 200 * MS, 120_000 * MS, TimerWheel::new(250));
        // The first sample: 101 + 202. In ticks of 4 ms these are 304.
        rtt.sample(101 * MS);
        rtt.backoff = 1;
        assert_eq!((rtt.plain_timeout(), rtt.timeout()), (303 * MS, 608 * MS));
    }

    #[test]
    fn linux_keeps_the_greatest_deviation_of_a_round_trip() {
        let mut rtt = RttEstimator::linux(1000 * MS, 200 * MS, 60_000 * MS, TimerWheel::default());
        // The first sample, of the handshake: 400 + 800. Everything below is of the data: 100 segments a round trip.
        rtt.sample(400 * MS);
        assert_eq!(rtt.timeout(), 1200 * MS);
        // Samples that agree make the mean deviation 600 ms, 450, ... . The first ends a round trip, in which 800 was the
        // greatest; then the greatest is 450, and at the end of the round trip the 800 fall by a quarter of what
        // they are over that.
        rtt.sample_in_round(400 * MS, 1, 100);
        assert_eq!((rtt.timeout(), rtt.variation()), (1200 * MS, 150 * MS));
        for una in 2..=100 {
            rtt.sample_in_round(400 * MS, una, 100 + una);
            assert_eq!(rtt.timeout(), 1200 * MS, "{una}");
        }
        rtt.sample_in_round(400 * MS, 101, 201);
        // 800 - (800 - 450) / 4 = 712.5
        assert_eq!(rtt.timeout(), 1_112_500_000);
        // And from now on by a quarter of what is over the floor of 200 ms: 584.375 and so on.
        rtt.sample_in_round(400 * MS, 202, 302);
        assert_eq!(rtt.timeout(), 984_375_000);
        (3..100).for_each(|round| rtt.sample_in_round(400 * MS, round * 101, round * 101 + 100));
        // Down to less than four nanoseconds, a quarter of which is none.
        assert_eq!(rtt.timeout(), 600 * MS + 3);
        // A sample of 800 ms in the middle of a round trip counts at once: SRTT 450, four times the mean deviation 400.
        rtt.sample_in_round(800 * MS, 10_001, 10_100);
        assert_eq!(rtt.timeout() / MS, 450 + 400);
        // One of 400 takes nothing of the 400 back in that round trip: SRTT 443.75.
        rtt.sample_in_round(400 * MS, 10_002, 10_100);
        assert_eq!(rtt.timeout() / 1000, 443_750 + 400_000);
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
