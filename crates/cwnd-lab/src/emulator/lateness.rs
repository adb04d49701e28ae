//! How well the emulator keeps its times, and its rate.

use super::pool::Sent;
use cwnd_scenario::Rate;

/// Buckets of a microsecond each; what is later goes into the last.
const BUCKETS: usize = 1 << 16;

/// How much later than due packets came out.
#[derive(Clone)]
pub struct Lateness {
    buckets: Vec<u64>,
    count: u64,
    /// ns.
    pub max: u64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { buckets: vec![0; BUCKETS], count: 0, max: 0 }
    }
}

impl Lateness {
    /// One was so late, ns.
    #[inline]
    pub fn record(&mut self, late: u64) {
        self.buckets[((late / 1000) as usize).min(BUCKETS - 1)] += 1;
        self.count += 1;
        self.max = self.max.max(late);
    }

    /// So many of all packets were no later than this, ns, to the microsecond above (beyond 65 ms: the latest). Nothing
    /// if there was none.
    pub fn quantile(&self, share: f64) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.buckets[..BUCKETS - 1].iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return ((bucket as u64 + 1) * 1000).min(self.max);
            }
        }
        self.max
    }
}

/// How long a link must have been busy for its rate to be measured, ns.
const WINDOW: u64 = 1_000_000_000;

/// The rate at which a link's packets really came, over times in which it never rested.
#[derive(Clone, Debug)]
pub struct RateMeter {
    /// Bit/s.
    rate: f64,
    /// Since when the link has this rate, ns.
    since: u64,
    begin: Option<(Sent, u64)>,
    /// The greatest deviation so far, as a share of the rate.
    pub error: Option<f64>,
}

impl RateMeter {
    /// Creates one for a link of this rate, bit/s.
    pub fn new(rate: u64) -> RateMeter {
        RateMeter { rate: rate as f64, since: 0, begin: None, error: None }
    }

    /// From `now` on the link has another rate, bit/s. Nothing is measured at an unlimited rate.
    pub fn set_rate(&mut self, now: u64, rate: u64) {
        *self = RateMeter { rate: rate as f64, since: now, begin: None, error: self.error };
    }

    /// A packet that left the link as `sent` says came out of the emulator so much later than due, ns.
    #[inline]
    pub fn record(&mut self, sent: Sent, late: u64) {
        if sent.at < self.since || self.rate == Rate::UNLIMITED.0 as f64 {
            return;
        }
        let real = sent.at + late;
        match self.begin {
            Some((begin, _)) if begin.busy_periods == sent.busy_periods && begin.bytes <= sent.bytes => {}
            _ => self.begin = Some((sent, real)),
        }
        if let Some((begin, from)) = self.begin
            && real >= from + WINDOW
        {
            let rate = (sent.bytes - begin.bytes) as f64 * 8e9 / (real - from) as f64;
            let error = (rate / self.rate - 1.0).abs();
            self.error = Some(self.error.map_or(error, |greatest| greatest.max(error)));
            self.begin = Some((sent, real));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_what_was_recorded() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.5), 0);
        (1..=100).for_each(|i| lateness.record(i * 10_000));
        assert_eq!(lateness.quantile(0.5), 501_000);
        assert_eq!(lateness.quantile(0.99), 991_000);
        assert_eq!(lateness.quantile(1.0), 1_000_000);
        lateness.record(5_000_000_000);
        assert_eq!(lateness.quantile(1.0), 5_000_000_000);
        assert_eq!(lateness.max, 5_000_000_000);
    }

    /// Packets of 1,250 bytes at 10 Mbit/s: one a millisecond.
    fn packet(i: u64, busy_periods: u64) -> Sent {
        Sent { at: i * 1_000_000, bytes: i * 1250, busy_periods }
    }

    #[test]
    fn a_rate_is_measured_over_busy_seconds_alone() {
        let mut meter = RateMeter::new(10_000_000);
        (0..500).for_each(|i| meter.record(packet(i, 1), 0));
        (500..1300).for_each(|i| meter.record(packet(i, 2), 0));
        assert_eq!(meter.error, None);
        (1300..1501).for_each(|i| meter.record(packet(i, 2), 0));
        assert_eq!(meter.error, Some(0.0));
    }

    #[test]
    fn a_new_rate_is_measured_by_what_was_sent_at_it() {
        let mut meter = RateMeter::new(10_000_000);
        (0..500).for_each(|i| meter.record(packet(i, 1), 0));
        // From now on a packet each two milliseconds; the last of the old ones come out later.
        meter.set_rate(500_000_000, 5_000_000);
        (450..500).for_each(|i| meter.record(packet(i, 1), 0));
        let slower =
            |i: u64| Sent { at: 500_000_000 + 2_000_000 * i, bytes: (500 + i) * 1250, busy_periods: 1 };
        (1..=501).for_each(|i| meter.record(slower(i), 0));
        assert_eq!(meter.error, Some(0.0));
    }

    #[test]
    fn a_clock_that_falls_behind_is_a_rate_that_is_too_low() {
        let mut meter = RateMeter::new(10_000_000);
        // Each packet comes 2 % later than it should.
        (0..2000).for_each(|i| meter.record(packet(i, 1), i * 20_000));
        assert!((meter.error.unwrap() - 0.0196).abs() < 1e-4, "{:?}", meter.error);
    }
}
