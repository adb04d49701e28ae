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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_a_sample() {
        // Of 2, 4, 4, 6 the squared distances from 4 add up to 8; 8/3 = 1.633^2.
        let values = [4.0, 6.0, 2.0, 4.0];
        assert_eq!((median(&values), mean(&values), ends(&values)), (4.0, 4.0, (2.0, 6.0)));
        assert!((deviation(&values) - 1.633).abs() < 1e-3);
        assert_eq!((median(&[3.0, 1.0, 2.0]), deviation(&[3.0])), (2.0, 0.0));
    }
}
