//! Percentiles.

/// The value below which `percent` of 100 parts of `values` lie; none if there are none. A `percent` outside 0 to 100
/// counts as the nearest of the two.
///
/// Between two values it is interpolated linearly: with the values in order x(0) to x(n-1), the percentile is that at
/// place (n - 1) percent / 100 (definition 7 of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages",
/// 1996; what NumPy, SciPy and R do unless told otherwise).
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    percentiles(values, &[percent]).map(|all| all[0])
}

/// Several percentiles of the same values, which are put in order only once.
pub fn percentiles(values: &[f64], percents: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() {
        return None;
    }
    let mut ordered = values.to_vec();
    ordered.sort_unstable_by(f64::total_cmp);
    Some(percents.iter().map(|percent| of_ordered(&ordered, *percent)).collect())
}

fn of_ordered(ordered: &[f64], percent: f64) -> f64 {
    let last = ordered.len() - 1;
    let place = last as f64 * (percent.clamp(0.0, 100.0) / 100.0);
    let below = (place as usize).min(last);
    let above = (below + 1).min(last);
    ordered[below] + (ordered[above] - ordered[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.percentile(values, percents)`, NumPy 2.
    #[test]
    fn as_numpy_has_them() {
        let check = |values: &[f64], expected: &[(f64, f64)]| {
            for (percent, value) in expected {
                let found = percentile(values, *percent).unwrap();
                assert!((found - value).abs() < 1e-12, "{percent}: {found} is not {value}");
            }
        };
        check(
            &[15.0, 20.0, 35.0, 40.0, 50.0],
            &[
                (0.0, 15.0),
                (5.0, 16.0),
                (25.0, 20.0),
                (30.0, 23.0),
                (40.0, 29.0),
                (50.0, 35.0),
                (75.0, 40.0),
                (95.0, 48.0),
                (99.0, 49.6),
                (100.0, 50.0),
            ],
        );
        check(
            &[3.2, -1.5, 8.25, 0.0, 4.75, 4.75, 100.0, 2.5],
            &[
                (0.0, -1.5),
                (1.0, -1.395),
                (10.0, -0.45),
                (50.0, 3.975),
                (66.6, 4.75),
                (90.0, 35.775),
                (99.0, 93.5775),
                (99.9, 99.35775),
                (100.0, 100.0),
            ],
        );
    }

    #[test]
    fn few_values() {
        assert_eq!(percentile(&[], 50.0), None);
        assert_eq!(percentile(&[4.0], 99.0), Some(4.0));
        assert_eq!(percentiles(&[1.0, 3.0], &[-5.0, 50.0, 200.0]), Some(vec![1.0, 2.0, 3.0]));
    }
}
