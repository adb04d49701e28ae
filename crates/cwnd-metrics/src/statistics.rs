//! What repeats of a run tell: mean, spread and a confidence interval; whether pairs of runs differ; percentiles.

mod paired;
mod percentile;

pub use paired::{Paired, holm, two_sided_p};
pub use percentile::{percentile, percentiles};

use serde::Serialize;

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
            (squares / f64::from(freedom)).sqrt()
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

/// The t for which a variable of Student's distribution lies between -t and t with probability `within` (0.95
/// for a 95 % interval), with `freedom` degrees of freedom, at least 1.
///
/// Up to 200 degrees the distribution function is the finite sum of Abramowitz and Stegun 26.7.3 and 26.7.4,
/// inverted by bisection; beyond, the quantile is the expansion in powers of 1/freedom of 26.7.5, exact there to
/// better than 1e-9 for `within` up to 0.999.
pub fn student_t(within: f64, freedom: u32) -> f64 {
    let within = within.clamp(0.0, 1.0);
    if within >= 1.0 {
        return f64::INFINITY;
    }
    let freedom = freedom.max(1);
    if freedom > 200 {
        return expanded_quantile(within, f64::from(freedom));
    }
    let (mut low, mut high) = (0.0, 1.0);
    while probability_within(high, freedom) < within && high < f64::MAX / 4.0 {
        low = high;
        high *= 2.0;
    }
    bisect(low, high, |t| probability_within(t, freedom) < within)
}

/// The probability that Student's t lies between -`t` and `t`.
fn probability_within(t: f64, freedom: u32) -> f64 {
    let theta = (t / f64::from(freedom).sqrt()).atan();
    let cos2 = theta.cos() * theta.cos();
    // The sum of cos^k with the coefficients of 26.7.3 (odd: 2/3, 2x4/(3x5), ...) or 26.7.4 (even: 1/2,
    // 1x3/(2x4), ...), each term made from the one before.
    let odd = freedom % 2 == 1;
    let (mut term, mut sum) = if odd { (theta.cos(), 0.0) } else { (1.0, 0.0) };
    let terms = if odd { (freedom - 1) / 2 } else { freedom / 2 };
    for k in 1..=terms {
        sum += term;
        let k = 2.0 * f64::from(k);
        term *= cos2 * if odd { k / (k + 1.0) } else { (k - 1.0) / k };
    }
    if odd { (theta + theta.sin() * sum) * std::f64::consts::FRAC_2_PI } else { theta.sin() * sum }
}

fn expanded_quantile(within: f64, freedom: f64) -> f64 {
    let x = normal_quantile(within);
    let x2 = x * x;
    let g1 = x * (x2 + 1.0) / 4.0;
    let g2 = x * (5.0 * x2 * x2 + 16.0 * x2 + 3.0) / 96.0;
    let g3 = x * (3.0 * x2.powi(3) + 19.0 * x2 * x2 + 17.0 * x2 - 15.0) / 384.0;
    let g4 = x * (79.0 * x2.powi(4) + 776.0 * x2.powi(3) + 1482.0 * x2 * x2 - 1920.0 * x2 - 945.0) / 92_160.0;
    x + (g1 + (g2 + (g3 + g4 / freedom) / freedom) / freedom) / freedom
}

/// The x for which a standard normal variable lies between -x and x with probability `within`.
fn normal_quantile(within: f64) -> f64 {
    bisect(0.0, 40.0, |x| normal_within(x) < within)
}

/// The probability that a standard normal variable lies between -`x` and `x` (Abramowitz and Stegun 26.2.11).
fn normal_within(x: f64) -> f64 {
    if x > 9.0 {
        return 1.0;
    }
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term > sum * 1e-17 {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    2.0 * sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Where `below` turns from true to false between `low` and `high`.
fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
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
    fn closed_forms_hold() {
        // One degree is Cauchy's distribution, and two have the closed form t = a sqrt(2 / (1 - a^2)).
        for within in [0.1f64, 0.5, 0.9, 0.95, 0.999] {
            close(student_t(within, 1) / (std::f64::consts::FRAC_PI_2 * within).tan(), 1.0, 1e-12);
            close(student_t(within, 2) / (within * (2.0 / (1.0 - within * within)).sqrt()), 1.0, 1e-12);
        }
    }

    #[test]
    fn the_two_methods_meet() {
        for within in [0.5, 0.95, 0.999] {
            for freedom in [150u32, 200] {
                close(expanded_quantile(within, f64::from(freedom)), student_t(within, freedom), 1e-8);
            }
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
