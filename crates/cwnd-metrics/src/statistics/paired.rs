//! What pairs of measurements tell: whether, and how much, the second differ from the first.

use super::Summary;
use serde::Serialize;

/// Measurements in pairs (two algorithms with the same seed, one scenario before and after a change).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// How many pairs.
    pub count: usize,
    /// Mean of second - first.
    pub mean_difference: f64,
    /// Sample standard deviation of the differences (n - 1 in the divisor); none for fewer than two pairs.
    pub standard_deviation: Option<f64>,
    /// Its standard error: the standard deviation / sqrt(n).
    pub standard_error: Option<f64>,
    /// Half the width of the 95 % confidence interval of the mean difference (Student's t, n - 1 degrees of freedom).
    pub ci95: Option<f64>,
    /// The mean difference / its standard error. If all differences are the same it is infinite, or none if they are
    /// nothing.
    pub t: Option<f64>,
    /// Two-sided p-value of the paired t-test: how probable a t as far from 0 would be if there were no difference. If
    /// all differences are the same it is 0, or 1 if they are nothing; none for fewer than two pairs.
    pub p: Option<f64>,
}

impl Paired {
    /// What pairs of (first, second) tell; none if there are none.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Paired> {
        let differences: Vec<f64> = pairs.iter().map(|(first, second)| second - first).collect();
        let summary = Summary::of(&differences)?;
        Some(Paired {
            count: summary.count,
            mean_difference: summary.mean,
            standard_deviation: summary.standard_deviation,
            standard_error: summary.standard_error,
            ci95: summary.ci95,
            t: summary.t(),
            p: summary.p(),
        })
    }
}

/// Holm's correction of p-values for many comparisons (S. Holm, "A simple sequentially rejective multiple test
/// procedure", 1979): the i-th least of m is multiplied by m - i + 1, made at least as large as the one before it, and
/// at most 1. What is below 0.05 afterwards is significant with a chance of at most 5 % that any of it is an accident.
/// The corrected values are in the order of the given ones.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut corrected = vec![0.0; p.len()];
    let mut least = 0.0f64;
    for (rank, index) in order.into_iter().enumerate() {
        least = least.max((p[index] * (p.len() - rank) as f64).min(1.0));
        corrected[index] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{student_t, two_sided_p};

    #[track_caller]
    fn close(value: f64, expected: f64, relative: f64) {
        assert!((value - expected).abs() <= relative * expected.abs(), "{value:e} is not {expected:e}");
    }

    /// `scipy.stats.ttest_rel(second, first)`, `confidence_interval(0.95)` and `numpy.std(ddof=1)`, SciPy 1.17.1.
    #[test]
    fn pairs_as_scipy_has_them() {
        let first = [512.3, 498.7, 505.1, 520.9, 489.4];
        let second = [530.2, 501.9, 519.6, 541.0, 488.8];
        let pairs: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
        let paired = Paired::of(&pairs).unwrap();
        assert_eq!(paired.count, 5);
        close(paired.mean_difference, 11.020_000_000_000_028, 1e-12);
        close(paired.standard_deviation.unwrap(), 9.193_312_787_020_806, 1e-12);
        close(paired.standard_error.unwrap(), 4.111_374_466_039_313, 1e-12);
        close(paired.ci95.unwrap(), 11.415_005_511_870_046, 1e-10);
        close(paired.t.unwrap(), 2.680_368_837_970_657, 1e-12);
        close(paired.p.unwrap(), 0.055_207_420_119_618_61, 1e-12);
    }

    /// By hand: differences 1/2, 1/4, 1/8 have mean 7/24 and squares about it that sum to 7/96, so the standard
    /// deviation is sqrt(7/192) and t = 7/24 / sqrt(7/576) = sqrt(7). With two degrees of freedom
    /// p = 1 - t / sqrt(t^2 + 2) = 1 - sqrt(7) / 3.
    #[test]
    fn pairs_by_hand() {
        let paired = Paired::of(&[(1.0, 1.5), (2.0, 2.25), (3.0, 3.125)]).unwrap();
        close(paired.mean_difference, 7.0 / 24.0, 1e-15);
        close(paired.standard_deviation.unwrap(), (7.0f64 / 192.0).sqrt(), 1e-14);
        close(paired.t.unwrap(), 7f64.sqrt(), 1e-14);
        close(paired.p.unwrap(), 1.0 - 7f64.sqrt() / 3.0, 1e-13);
    }

    #[test]
    fn pairs_without_spread() {
        assert_eq!(Paired::of(&[]), None);
        let one = Paired::of(&[(1.0, 3.0)]).unwrap();
        assert_eq!((one.mean_difference, one.ci95, one.t, one.p), (2.0, None, None, None));
        let same = Paired::of(&[(1.0, 1.0), (2.0, 2.0)]).unwrap();
        assert_eq!((same.mean_difference, same.ci95, same.t, same.p), (0.0, Some(0.0), None, Some(1.0)));
        let shifted = Paired::of(&[(1.0, 3.0), (2.0, 4.0)]).unwrap();
        assert_eq!((shifted.t, shifted.p), (Some(f64::INFINITY), Some(0.0)));
        let down = Paired::of(&[(3.0, 1.0), (4.0, 2.0)]).unwrap();
        assert_eq!((down.t, down.p), (Some(f64::NEG_INFINITY), Some(0.0)));
    }

    /// `2 * scipy.stats.t.sf(abs(t), freedom)`, SciPy 1.17.1.
    #[test]
    fn p_values_as_scipy_has_them() {
        for (t, freedom, p) in [
            (0.5, 1, 0.704_832_764_699_133_5),
            (12.706, 1, 0.050_000_802_358_133_19),
            (2.0, 2, 0.183_503_419_072_273_97),
            (3.3, 4, 0.029_933_420_084_126_066),
            (10.0, 4, 0.000_562_003_622_715_991),
            (50.0, 9, 2.568_952_910_874_797_6e-12),
            (-2.5, 29, 0.018_325_344_338_426_086),
            (8.0, 30, 6.265_822_475_700_759e-9),
            (40.0, 200, 2.248_739_653_520_219_7e-97),
            (1.96, 1_000, 0.050_273_184_955_748_736),
            (3.0, 1_000_000, 0.002_699_862_541_421_8),
            (0.0, 7, 1.0),
            (1e3, 3, 2.205_307_642_576_592e-9),
            (1e-3, 5, 0.999_240_786_772_197_6),
        ] {
            let tolerance = if freedom >= 1_000_000 { 1e-4 } else { 1e-11 };
            close(two_sided_p(t, freedom), p, tolerance);
        }
    }

    #[test]
    fn p_values_and_quantiles_are_inverse() {
        for freedom in [1, 2, 3, 9, 30, 100, 200, 500] {
            for within in [0.1, 0.5, 0.9, 0.95, 0.99] {
                close(two_sided_p(student_t(within, freedom), freedom), 1.0 - within, 1e-7);
            }
        }
    }

    #[test]
    fn extremes_are_harmless() {
        assert_eq!(two_sided_p(f64::INFINITY, 3), 0.0);
        assert_eq!(two_sided_p(f64::NEG_INFINITY, u32::MAX), 0.0);
        assert!(two_sided_p(f64::NAN, 3).is_nan());
        assert_eq!(two_sided_p(0.0, 0), 1.0);
        assert_eq!(two_sided_p(1e200, 5), 0.0);
    }

    /// By hand: 0.005 x 4, 0.01 x 3, 0.03 x 2, and 0.04 x 1, which must not be less than the one before.
    #[test]
    fn holm_by_hand() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[0.6, 0.5]), [1.0, 1.0]);
        assert_eq!(holm(&[0.2]), [0.2]);
        assert!(holm(&[]).is_empty());
    }
}
