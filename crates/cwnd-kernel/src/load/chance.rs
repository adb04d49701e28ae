//! Whether a ratio of the canary exceeds its bound by more than chance.
//!
//! Segments of one connection are lost together, and connections differ much, so that counts of segments vary far more than independent
//! ones. Connections are independent draws: the kernel draws for each whether it is a canary, and to which of [`PARTS`](super::PARTS)
//! parts of its group it belongs. How much the parts differ measures the variation of whole connections, whatever its cause (the method
//! of random groups: K. M. Wolter, Introduction to Variance Estimation, 2nd edition, 2007, chapter 2). What moves all connections at the
//! same time, as a bottleneck that fills, moves both groups by about the same factor.
//!
//! With a part's sums y_i (retransmissions) and x_i (segments) over the k parts that have sent something, the ratio R = sum y_i / sum x_i
//! has the variance v = k / (k - 1) sum (y_i - R x_i)^2 / (sum x_i)^2 (W. G. Cochran, Sampling Techniques, 3rd edition, 1977, chapter 6).
//! The excess of the canary (c) over the bound B = f R_r + m, which is stated in terms of the rest (r), is D = R_c - B, with the variance
//! v_c + f^2 v_r. D divided by its standard error has about Student's distribution with Welch's and Satterthwaite's degrees of freedom,
//! (v_c + f^2 v_r)^2 / (v_c^2 / (k_c - 1) + f^4 v_r^2 / (k_r - 1)) (B. L. Welch, Biometrika 34, 1947, pp. 28 to 35).
//!
//! The variance of a count grows with it: v = phi R / sum x_i, where the dispersion phi is 1 of independent segments (P. McCullagh and
//! J. A. Nelder, Generalized Linear Models, 2nd edition, 1989, section 6.2). A canary that happens to have few retransmissions would seem
//! surer than it is, and one with many less sure. v_c is therefore that of a canary at the bound, phi_c B / sum x_i.

use super::canary::{Counts, Group};
use cwnd_metrics::statistics::two_sided_p;

/// A ratio of sums, with its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    variance: f64,
    /// The parts from which the variance was estimated, less one.
    freedom: f64,
    /// Of a ratio of counts.
    counts: Option<CountRatio>,
}

/// What the variance of a ratio of counts depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CountRatio {
    /// The sum of the x.
    x: f64,
    /// The variance as a multiple of that of independent events; none without any event.
    dispersion: Option<f64>,
}

/// Which ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Retransmitted segments, of all segments.
    Retransmissions,
    /// The sum of the round-trip times, microseconds, over their number.
    RoundTripTime,
}

impl Measure {
    fn sums(self, counts: &Counts) -> (f64, f64) {
        match self {
            Measure::Retransmissions => (counts.retransmissions as f64, counts.segments as f64),
            Measure::RoundTripTime => (counts.rtt_sum_us as f64, counts.rtts as f64),
        }
    }

    /// Returns the ratio of a group. None if fewer than two of its parts have sent anything.
    pub fn of(self, group: &Group) -> Option<Ratio> {
        let parts: Vec<(f64, f64)> =
            group.parts.iter().map(|part| self.sums(part)).filter(|(_, x)| *x > 0.0).collect();
        if parts.len() < 2 {
            return None;
        }
        let (y, x) = parts.iter().fold((0.0, 0.0), |(y, x), part| (y + part.0, x + part.1));
        let (value, freedom) = (y / x, parts.len() as f64 - 1.0);
        let squares: f64 = parts.iter().map(|(y, x)| (y - value * x).powi(2)).sum();
        let variance = (freedom + 1.0) / freedom * squares / (x * x);
        if self == Measure::RoundTripTime {
            return Some(Ratio { value, variance, freedom, counts: None });
        }
        // Few events may fall evenly on the parts, or there may be none. Their number varies at least as one of independent events does,
        // and without any there may have been one.
        let variance = variance.max((y + 1.0) / (x * x));
        let dispersion = (y > 0.0).then(|| (variance * x / value).max(1.0));
        Some(Ratio { value, variance, freedom, counts: Some(CountRatio { x, dispersion }) })
    }
}

/// The variance of a canary's ratio if its true value is `bound`.
fn variance_at(bound: f64, canary: &Ratio, rest: &Ratio) -> f64 {
    let Some(CountRatio { x, dispersion }) = canary.counts else { return canary.variance };
    // Without an event, its dispersion is not known.
    let other = rest.counts.and_then(|counts| counts.dispersion);
    dispersion.or(other).unwrap_or(1.0) * bound / x
}

/// Returns the probability that the canary's ratio exceeds `factor` times that of the rest plus `margin` by at least as much as it
/// does, if in truth it is equal to that.
pub fn chance(canary: &Ratio, rest: &Ratio, factor: f64, margin: f64) -> f64 {
    let bound = factor * rest.value + margin;
    let excess = canary.value - bound;
    let variances = [variance_at(bound, canary, rest), factor * factor * rest.variance];
    let variance = variances[0] + variances[1];
    if variance == 0.0 {
        return if excess > 0.0 { 0.0 } else { 1.0 };
    }
    let t = excess / variance.sqrt();
    let freedom =
        variance * variance / (variances[0].powi(2) / canary.freedom + variances[1].powi(2) / rest.freedom);
    // Fewer degrees of freedom are the careful side.
    let half = two_sided_p(t, (freedom as u32).max(1)) / 2.0;
    if t > 0.0 { half } else { 1.0 - half }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(parts: &[(u64, u64)]) -> Group {
        let mut group = Group::default();
        for (part, (segments, retransmissions)) in group.parts.iter_mut().zip(parts) {
            *part = Counts { segments: *segments, retransmissions: *retransmissions, ..Counts::default() };
        }
        group
    }

    #[track_caller]
    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 1e-6 * expected.abs(), "{value} is not {expected}");
    }

    /// Canary: R = 80 / 400 = 0.2, residuals 10 - 20, 40 - 40, 30 - 20, v = 3 / 2 x 200 / 400^2 = 0.001875, which is 3.75 times that of
    /// independent segments, 0.2 / 400.
    /// Rest: R = 100 / 800 = 0.125, residuals 40 - 50, 60 - 50, v = 2 / 1 x 200 / 800^2 = 0.000625.
    /// Bound: 1.2 times, plus 0.01: B = 0.16, where the canary's variance is 3.75 x 0.16 / 400 = 0.0015. D = 0.04 has the variance
    /// 0.0015 + 1.44 x 0.000625 = 0.0024, so that t^2 = 0.0016 / 0.0024 = 2 / 3. Degrees of freedom:
    /// 0.0024^2 / (0.0015^2 / 2 + 0.0009^2 / 1) = 2.98, of which 2 count. With 2 of them, P(T >= t) = 1/2 - t / (2 sqrt(2 + t^2)),
    /// which is 1/2 - sqrt(2/3) / (2 sqrt(8/3)) = 1/4.
    #[test]
    fn a_chance_is_that_of_welchs_test() {
        let canary = Measure::Retransmissions.of(&group(&[(100, 10), (200, 40), (100, 30)])).unwrap();
        let rest = Measure::Retransmissions.of(&group(&[(400, 40), (0, 0), (400, 60)])).unwrap();
        close(canary.value, 0.2);
        close(canary.variance, 0.001_875);
        close(canary.counts.unwrap().dispersion.unwrap(), 3.75);
        close(rest.value, 0.125);
        close(rest.variance, 0.000_625);
        assert_eq!((canary.freedom, rest.freedom), (2.0, 1.0));
        close(chance(&canary, &rest, 1.2, 0.01), 0.25);
        // With a margin of 0.09, D is -0.04 and B is 0.24: 3.75 x 0.24 / 400 = 0.00225, t^2 = 0.0016 / 0.00315 = 0.507937,
        // 1/2 + 0.712697 / (2 x 1.583647).
        close(chance(&canary, &rest, 1.2, 0.09), 0.725_018);
    }

    /// 3 of 400 fall evenly (1 of 100, 1 of 200 and 1 of 100): the parts differ by less than independent events would,
    /// (3 + 1) / 400^2 = 0.000025. None of 400: 1 / 400^2, and the dispersion is that of the other group. At a bound of 0.2 x 0.05 = 0.01,
    /// 3.75 x 0.01 / 400 = 0.00009375.
    #[test]
    fn few_events_vary_as_independent_ones() {
        let even = Measure::Retransmissions.of(&group(&[(100, 1), (200, 1), (100, 1)])).unwrap();
        close(even.variance, 0.000_025);
        let none = Measure::Retransmissions.of(&group(&[(100, 0), (200, 0), (100, 0)])).unwrap();
        close(none.variance, 1.0 / 160_000.0);
        assert_eq!(none.counts.unwrap().dispersion, None);
        let rest = Measure::Retransmissions.of(&group(&[(100, 10), (200, 40), (100, 30)])).unwrap();
        close(variance_at(0.01, &none, &rest), 0.000_093_75);
        close(variance_at(0.01, &none, &none), 0.000_025);
        assert_eq!(Measure::Retransmissions.of(&group(&[(100, 1)])), None);
    }

    /// Means of 20 ms and 30 ms in two parts of 10 round trips each: 25 ms. Residuals of -50 ms and 50 ms, v = 2 x 5,000 / 400 ms^2.
    #[test]
    fn round_trip_times_are_sums_over_round_trips() {
        let mut group = Group::default();
        for (part, sum_us) in group.parts.iter_mut().zip([200_000, 300_000]) {
            *part = Counts { rtts: 10, rtt_sum_us: sum_us, ..Counts::default() };
        }
        let ratio = Measure::RoundTripTime.of(&group).unwrap();
        close(ratio.value, 25_000.0);
        close(ratio.variance, 25e6);
        // Without any variation, the difference decides.
        group.parts[1].rtt_sum_us = 200_000;
        let same = Measure::RoundTripTime.of(&group).unwrap();
        assert_eq!([1.0, 0.9].map(|factor| chance(&same, &same, factor, 0.0)), [1.0, 0.0]);
    }
}
