//! Of a few measurements: the middle, the ends, the spread.

/// The middle one; of an even number the mean of the two in the middle. Not a number if there is none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// The least and the greatest.
pub fn ends(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation of a sample; zero for one value.
pub fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1).max(1) as f64).sqrt()
}

/// Half the 95 % confidence interval of the mean, by Student's t; not a number for fewer than two values.
pub fn half_interval(values: &[f64]) -> f64 {
    /// The 97.5 % quantiles for 1, 2, … degrees of freedom.
    const T: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    let Some(freedom) = values.len().checked_sub(1).filter(|&freedom| freedom > 0) else { return f64::NAN };
    let t = T.get(freedom - 1).copied().unwrap_or(1.96);
    t * deviation(values) / (values.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_a_sample() {
        // Of 2, 4, 4, 6 the squared distances from 4 add up to 8; 8/3 = 1.633^2.
        let values = [4.0, 6.0, 2.0, 4.0];
        assert_eq!((median(&values), mean(&values), ends(&values)), (4.0, 4.0, (2.0, 6.0)));
        assert!((deviation(&values) - 1.633).abs() < 1e-3);
        // 1.633 / sqrt(4) x 3.182.
        assert!((half_interval(&values) - 2.598).abs() < 1e-3);
        assert!(half_interval(&[3.0]).is_nan());
        assert_eq!((median(&[3.0, 1.0, 2.0]), deviation(&[3.0])), (2.0, 0.0));
    }
}
