//! The detection of token-bucket policers by long-term bandwidth samples, as in Linux 6.1.
//!
//! ```text
//! interval   begins at a loss; ends at the first loss after 4 rounds, if lost >= 50/256 of what was delivered in it;
//!            is given up after 16 rounds, and when the application limits
//! lt_bw      delivered / time of an interval
//! policed    two intervals in a row whose rates differ by 1/8 of the first or less, or by 4 kbit/s
//! ```
//!
//! The mean of the two rates then takes the place of BtlBw for 48 rounds of ProbeBW, without probes.

/// Rounds of an interval: the least, and the most.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;

/// Part of the delivered segments that must be lost, in 1/256.
const LOSS_THRESHOLD: u64 = 50;

/// Largest difference of two rates that agree: a part of the first, or bytes a second (4 kbit/s).
const RATE_RATIO: f64 = 1.0 / 8.0;
const RATE_DIFFERENCE: f64 = 500.0;

/// Rounds for which the long-term rate is used.
const USED_ROUNDS: u32 = 48;

/// What an ACK or a timeout reports to the detection.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// When segments were delivered last, ms.
    pub ms: u64,
    /// Segments delivered and lost since the start.
    pub delivered: u64,
    pub lost: u64,
    /// Whether this report has revealed losses.
    pub losses: bool,
    pub app_limited: bool,
    pub round_start: bool,
    pub in_probe_bw: bool,
}

/// What follows from a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing changes.
    Unchanged,
    /// The flow is policed: the long-term rate is used from now on.
    Policed,
    /// The long-term rate has been used long enough.
    Expired,
}

/// The interval under way, and the long-term rate.
#[derive(Clone, Debug, Default)]
pub struct Policer {
    /// Segments a second; 0 if there was no interval yet.
    rate: f64,
    used: bool,
    sampling: bool,
    /// Rounds of the interval, or for which the rate is used.
    rounds: u32,
    /// Where the interval began: time (ms), delivered and lost segments.
    start: (u64, u64, u64),
}

impl Policer {
    /// Returns the long-term rate, segments a second, while it is used.
    pub fn rate(&self) -> Option<f64> {
        self.used.then_some(self.rate)
    }

    /// Forgets all.
    pub fn reset(&mut self) {
        *self = Policer::default();
    }

    /// Handles a report. `mss` is the payload of a segment, bytes.
    pub fn on_report(&mut self, report: &Report, mss: f64) -> Verdict {
        if self.used {
            return self.use_rate(report);
        }
        if !self.sampling {
            if !report.losses {
                return Verdict::Unchanged;
            }
            self.begin_interval(report);
            self.sampling = true;
        }
        if report.app_limited {
            self.reset();
            return Verdict::Unchanged;
        }
        self.rounds += u32::from(report.round_start);
        if self.rounds > MOST_ROUNDS {
            self.reset();
            return Verdict::Unchanged;
        }
        if self.rounds < LEAST_ROUNDS || !report.losses {
            return Verdict::Unchanged;
        }
        let (since, delivered, lost) = self.start;
        let (delivered, lost) = (report.delivered - delivered, report.lost - lost);
        let ms = report.ms.saturating_sub(since);
        if delivered == 0 || lost * 256 < LOSS_THRESHOLD * delivered || ms == 0 {
            return Verdict::Unchanged;
        }
        self.end_interval(report, delivered as f64 / (ms as f64 * 1e-3), mss)
    }

    fn begin_interval(&mut self, report: &Report) {
        self.start = (report.ms, report.delivered, report.lost);
        self.rounds = 0;
    }

    /// Compares the rate of an interval with that of the one before.
    fn end_interval(&mut self, report: &Report, rate: f64, mss: f64) -> Verdict {
        let apart = (rate - self.rate).abs();
        let agrees = apart <= RATE_RATIO * self.rate || apart * mss <= RATE_DIFFERENCE;
        if self.rate > 0.0 && agrees {
            self.rate = (rate + self.rate) / 2.0;
            self.used = true;
            self.rounds = 0;
            return Verdict::Policed;
        }
        self.rate = rate;
        self.begin_interval(report);
        Verdict::Unchanged
    }

    fn use_rate(&mut self, report: &Report) -> Verdict {
        if !report.in_probe_bw || !report.round_start {
            return Verdict::Unchanged;
        }
        self.rounds += 1;
        if self.rounds < USED_ROUNDS {
            return Verdict::Unchanged;
        }
        self.reset();
        Verdict::Expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: f64 = 1448.0;

    /// A report at the end of a round of 100 ms, with losses.
    fn lossy(ms: u64, delivered: u64, lost: u64) -> Report {
        let [losses, round_start, in_probe_bw] = [true; 3];
        Report { ms, delivered, lost, losses, app_limited: false, round_start, in_probe_bw }
    }

    /// A policer that has seen an interval: 400 delivered and 100 lost in 400 ms, which is 1,000 a second.
    fn after_an_interval() -> Policer {
        let mut policer = Policer::default();
        // The first report counts as a round of the interval that it begins.
        for (round, ms) in [0, 100, 200, 400].into_iter().enumerate() {
            let report = lossy(ms, 5000 + ms, 10 + ms / 4);
            assert_eq!(policer.on_report(&report, MSS), Verdict::Unchanged, "{round}");
        }
        assert_eq!((policer.rate, policer.start, policer.rounds), (1000.0, (400, 5400, 110), 0));
        policer
    }

    #[test]
    fn two_intervals_that_agree() {
        // From 400 to 800 ms: 450 segments or 1,125 a second are an eighth more, 452 or 1,130 are not.
        for (delivered, verdict) in [(450, Verdict::Policed), (452, Verdict::Unchanged)] {
            let mut policer = after_an_interval();
            for ms in [500, 600, 700] {
                assert_eq!(policer.on_report(&lossy(ms, 5400, 300), MSS), Verdict::Unchanged);
            }
            assert_eq!(policer.on_report(&lossy(800, 5400 + delivered, 300), MSS), verdict);
            let rate = (verdict == Verdict::Policed).then_some(1062.5);
            assert_eq!(policer.rate(), rate);
        }
    }

    #[test]
    fn the_loss_must_be_50_of_256() {
        // Of 256 delivered 49 lost are too few, so that the interval continues; 50 end it.
        for (lost, ended) in [(49, false), (50, true)] {
            let mut policer = Policer::default();
            for round in 0..4 {
                policer.on_report(&lossy(100 * round, if round == 3 { 256 } else { 0 }, 0), MSS);
            }
            policer.on_report(&lossy(400, 256, lost), MSS);
            assert_eq!(policer.rate > 0.0, ended);
        }
    }

    #[test]
    fn an_interval_is_given_up() {
        // In its 17th round, or when the application limits.
        let mut policer = after_an_interval();
        for round in 1..=16 {
            policer.on_report(&Report { losses: false, ..lossy(400 + 100 * round, 9000, 110) }, MSS);
            assert_eq!(policer.rate, 1000.0);
        }
        policer.on_report(&Report { losses: false, ..lossy(2100, 9000, 110) }, MSS);
        assert_eq!((policer.rate, policer.sampling), (0.0, false));
        let mut policer = after_an_interval();
        policer.on_report(&Report { app_limited: true, ..lossy(500, 5500, 120) }, MSS);
        assert_eq!((policer.rate, policer.sampling), (0.0, false));
    }

    #[test]
    fn the_rate_is_used_for_48_rounds_of_probe_bw() {
        let mut policer = after_an_interval();
        (policer.used, policer.rounds) = (true, 0);
        let report = lossy(900, 6000, 200);
        policer.on_report(&Report { in_probe_bw: false, ..report }, MSS);
        for _ in 1..48 {
            assert_eq!(policer.on_report(&report, MSS), Verdict::Unchanged);
            assert_eq!(policer.rate(), Some(1000.0));
        }
        assert_eq!(policer.on_report(&report, MSS), Verdict::Expired);
        assert_eq!(policer.rate(), None);
    }
}
