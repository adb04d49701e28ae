//! What repeats of a run tell: mean, spread and a confidence interval; whether pairs of runs differ; percentiles; the
//! shape of a sample.

mod distribution;
mod paired;
mod percentile;

pub use distribution::{Ellipse, Quartiles, cumulative};
pub use paired::{Paired, holm};
pub use percentile::{percentile, percentiles};

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The relative deviation below which values count as equal: a sum of thousands of doubles is more exact.
const ROUNDING: f64 = 1e-12;

/// A summary of repeated measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n - 1 in the divisor); none for fewer than two.
    pub standard_deviation: Option<f64>,
    /// Standard error of the mean: the standard deviation / sqrt(n).
    pub standard_error: Option<f64>,
    /// Half the width of the 95 % confidence interval of the mean: the standard error x Student's t at 0.975
    /// with n - 1 degrees of freedom.
    pub ci95: Option<f64>,
}

impl Summary {
    /// The summary of `values`; none if there are none.
    pub fn of(values: &[f64]) -> Option<Summary> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let freedom = u32::try_from(count - 1).unwrap_or(u32::MAX);
        let deviation = (freedom > 0).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            let deviation = (squares / f64::from(freedom)).sqrt();
            // Equal values differ from their computed mean by its rounding.
            if deviation > ROUNDING * mean.abs() { deviation } else { 0.0 }
        });
        let error = deviation.map(|deviation| deviation / (count as f64).sqrt());
        Some(Summary {
            count,
            mean,
            standard_deviation: deviation,
            standard_error: error,
            ci95: error.map(|error| error * student_t(0.95, freedom)),
        })
    }

    /// The mean / its standard error. If all values are the same it is infinite, or none if they are nothing; none of a
    /// single value.
    pub fn t(&self) -> Option<f64> {
        match self.standard_error {
            Some(0.0) if self.mean == 0.0 => None,
            error => error.map(|error| self.mean / error),
        }
    }

    /// Two-sided p-value of the t-test: how probable a mean as far from 0 would be if the true one were 0. If all values
    /// are the same it is 0, or 1 if they are nothing; none of a single value.
    pub fn p(&self) -> Option<f64> {
        let freedom = u32::try_from(self.count - 1).unwrap_or(u32::MAX);
        self.standard_error.map(|_| self.t().map_or(1.0, |t| two_sided_p(t, freedom)))
    }

    /// The ends of the 95 % interval; none of a single value.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.ci95.map(|half| (self.mean - half, self.mean + half))
    }
}

/// Returns the t for which a variable of Student's distribution lies between -t and t with probability `within` (0.95
/// for a 95 % interval), with `freedom` degrees of freedom, at least 1.
pub fn student_t(within: f64, freedom: u32) -> f64 {
    // The inversion loses digits in large samples. There two terms of the expansion in powers of 1/freedom are exact to 1e-7
    // for intervals up to 95 % (Abramowitz and Stegun 26.7.5).
    const EXPANDED_FROM: u32 = 5_000;
    let probability = (1.0 + within.clamp(0.0, 1.0)) / 2.0;
    if freedom >= EXPANDED_FROM {
        let x = Normal::standard().inverse_cdf(probability);
        return x + x * (x * x + 1.0) / (4.0 * f64::from(freedom));
    }
    distribution(freedom).inverse_cdf(probability)
}

/// Returns the probability that Student's t is at least as far from 0 as `t`, with `freedom` degrees of freedom, at least 1.
pub fn two_sided_p(t: f64, freedom: u32) -> f64 {
    if t.is_nan() {
        return f64::NAN;
    }
    // What is smaller than any number has no value in the library.
    Some(2.0 * distribution(freedom).sf(t.abs())).filter(|p| !p.is_nan()).unwrap_or(0.0)
}

fn distribution(freedom: u32) -> StudentsT {
    StudentsT::new(0.0, 1.0, f64::from(freedom.max(1))).expect("the degrees of freedom are positive")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
    }

    #[test]
    fn student_t_agrees_with_the_tables() {
        for (freedom, t) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (10, 2.228),
            (29, 2.045),
            (30, 2.042),
            (120, 1.980),
            (1_000, 1.962),
        ] {
            close(student_t(0.95, freedom), t, 5.1e-4);
        }
        close(student_t(0.99, 1), 63.657, 5.1e-4);
        close(student_t(0.99, 9), 3.250, 5.1e-4);
        close(student_t(0.9, 4), 2.132, 5.1e-4);
        close(student_t(0.95, u32::MAX), 1.959_963_984_540, 1e-9);
    }

    #[test]
    fn equal_values_have_no_deviation() {
        let equal = Summary::of(&[0.1; 3]).unwrap();
        assert_ne!(equal.mean, 0.1, "the mean is rounded");
        assert_eq!((equal.standard_deviation, equal.ci95), (Some(0.0), Some(0.0)));
        assert!(Summary::of(&[1.0, 1.0 + 1e-9]).unwrap().ci95.unwrap() > 0.0);
    }

    #[test]
    fn closed_forms_hold() {
        // One degree is Cauchy's distribution, and two have the closed form t = a sqrt(2 / (1 - a^2)).
        for within in [0.1f64, 0.5, 0.9, 0.95, 0.999] {
            close(student_t(within, 1) / (std::f64::consts::FRAC_PI_2 * within).tan(), 1.0, 1e-12);
            close(student_t(within, 2) / (within * (2.0 / (1.0 - within * within)).sqrt()), 1.0, 1e-12);
        }
    }

    #[test]
    fn large_samples_continue_small_ones() {
        // The expansion to the fourth power of 1/freedom.
        for (freedom, t) in [(4_999, 1.960_438_646_662), (5_000, 1.960_438_551_707)] {
            close(student_t(0.95, freedom), t, 2e-7);
        }
    }

    #[test]
    fn extremes_are_harmless() {
        close(student_t(0.0, 5), 0.0, 1e-300);
        assert_eq!(student_t(1.0, 5), f64::INFINITY);
        close(student_t(0.95, 0), 12.706, 5.1e-4);
    }

    #[test]
    fn a_summary_by_hand() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, sum of squares 32, variance 32/7.
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((summary.count, summary.mean), (8, 5.0));
        close(summary.standard_deviation.unwrap(), 2.138_089_935, 1e-9);
        close(summary.standard_error.unwrap(), 0.755_928_946, 1e-9);
        // t at 0.975 with 7 degrees is 2.364624.
        close(summary.ci95.unwrap(), 0.755_928_946 * 2.364_624_252, 1e-8);
    }

    #[test]
    fn one_value_has_no_spread() {
        let summary = Summary::of(&[3.0]).unwrap();
        assert_eq!((summary.mean, summary.standard_deviation, summary.ci95), (3.0, None, None));
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[2.0, 2.0]).unwrap().ci95, Some(0.0));
    }
}
