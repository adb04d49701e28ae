//! What the shape of a sample is: its cumulative distribution, quartiles, and the covariance of pairs.

use super::percentiles;

/// Returns the empirical cumulative distribution: each distinct value, in rising order, with the part of all values that do
/// not exceed it. Values that are not finite are left out.
pub fn cumulative(values: &[f64]) -> Vec<(f64, f64)> {
    let mut ordered: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    ordered.sort_unstable_by(f64::total_cmp);
    let count = ordered.len() as f64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (place, value) in ordered.iter().enumerate() {
        let share = (place + 1) as f64 / count;
        match points.last_mut() {
            Some(last) if last.0 == *value => last.1 = share,
            _ => points.push((*value, share)),
        }
    }
    points
}

/// Quartiles, whiskers and outliers, as a box plot shows them (J. W. Tukey, "Exploratory Data Analysis", 1977).
#[derive(Clone, Debug, PartialEq)]
pub struct Quartiles {
    /// The 25th percentile.
    pub lower: f64,
    /// The 50th percentile.
    pub median: f64,
    /// The 75th percentile.
    pub upper: f64,
    /// The least and the greatest value within 1.5 interquartile ranges of the box.
    pub whiskers: (f64, f64),
    /// The values beyond, in rising order.
    pub outliers: Vec<f64>,
}

impl Quartiles {
    /// Returns those of the values that are finite; none if there are none. Percentiles are those of
    /// [`percentile`](super::percentile()).
    pub fn of(values: &[f64]) -> Option<Quartiles> {
        let mut ordered: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        ordered.sort_unstable_by(f64::total_cmp);
        let quartiles = percentiles(&ordered, &[25.0, 50.0, 75.0])?;
        let [lower, median, upper] = [quartiles[0], quartiles[1], quartiles[2]];
        let reach = 1.5 * (upper - lower);
        let is_near = |value: &f64| (lower - reach..=upper + reach).contains(value);
        let near = || ordered.iter().copied().filter(is_near);
        let outliers = ordered.iter().copied().filter(|value| !is_near(value)).collect();
        // A quartile between two values may lie beyond all that are near.
        let whiskers = (near().fold(lower, f64::min), near().fold(upper, f64::max));
        Some(Quartiles { lower, median, upper, whiskers, outliers })
    }
}

/// The ellipse of one standard deviation around the mean of pairs: the contour of the normal distribution with the sample's
/// mean and covariance at a Mahalanobis distance of 1. It holds 39 % of such a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipse {
    /// The mean.
    pub centre: (f64, f64),
    /// The longer half axis, as a vector.
    pub major: (f64, f64),
    /// The shorter half axis, as a vector at a right angle to the longer.
    pub minor: (f64, f64),
}

impl Ellipse {
    /// Returns the ellipse of the pairs of which both are finite; none of fewer than two. The covariance has n - 1 in its
    /// divisor. The half axes are its eigenvectors, as long as the roots of its eigenvalues.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Ellipse> {
        let pairs: Vec<(f64, f64)> =
            pairs.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        if pairs.len() < 2 {
            return None;
        }
        let count = pairs.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
        let centre = (mean(|pair| pair.0), mean(|pair| pair.1));
        let moment = |of: &dyn Fn(f64, f64) -> f64| {
            pairs.iter().map(|(x, y)| of(x - centre.0, y - centre.1)).sum::<f64>() / (count - 1.0)
        };
        let (xx, xy, yy) = (moment(&|x, _| x * x), moment(&|x, y| x * y), moment(&|_, y| y * y));
        // Eigenvalues of [[xx, xy], [xy, yy]], and the angle of the greater one's vector.
        let (middle, radius) = ((xx + yy) / 2.0, ((xx - yy) / 2.0).hypot(xy));
        let (long, short) = ((middle + radius).sqrt(), (middle - radius).max(0.0).sqrt());
        let angle = 0.5 * (2.0 * xy).atan2(xx - yy);
        let (sin, cos) = angle.sin_cos();
        let ellipse = Ellipse { centre, major: (long * cos, long * sin), minor: (-short * sin, short * cos) };
        [ellipse.centre, ellipse.major, ellipse.minor]
            .iter()
            .all(|(x, y)| x.is_finite() && y.is_finite())
            .then_some(ellipse)
    }

    /// Returns the point of the outline at a parameter from 0 to 2 pi.
    pub fn at(&self, parameter: f64) -> (f64, f64) {
        let (sin, cos) = parameter.sin_cos();
        (
            self.centre.0 + cos * self.major.0 + sin * self.minor.0,
            self.centre.1 + cos * self.major.1 + sin * self.minor.1,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_distribution() {
        assert_eq!(cumulative(&[3.0, 1.0, 2.0, 2.0]), [(1.0, 0.25), (2.0, 0.75), (3.0, 1.0)]);
        assert_eq!(cumulative(&[f64::NAN, 5.0, f64::INFINITY]), [(5.0, 1.0)]);
        assert_eq!(cumulative(&[]), []);
    }

    #[test]
    fn quartiles_by_hand() {
        // Places of 8 values: 1.75, 3.5 and 5.25. In order 1 2 3 4 6 7 8 30: 2 + 0.75, (4 + 6)/2, 7 + 0.25. The box is 4.5
        // high, so whiskers end within 2.75 - 6.75 and 7.25 + 6.75 = 14.
        let found = Quartiles::of(&[30.0, 1.0, 2.0, 3.0, 8.0, 7.0, 6.0, 4.0]).unwrap();
        assert_eq!((found.lower, found.median, found.upper), (2.75, 5.0, 7.25));
        assert_eq!((found.whiskers, found.outliers), ((1.0, 8.0), vec![30.0]));
        // A hundred more, and only the places change.
        let moved = Quartiles::of(&[130.0, 101.0, 102.0, 103.0, 108.0, 107.0, 106.0, 104.0]).unwrap();
        assert_eq!((moved.lower, moved.median, moved.upper), (102.75, 105.0, 107.25));
        assert_eq!((moved.whiskers, moved.outliers), ((101.0, 108.0), vec![130.0]));
        // One value is everything; none is nothing.
        let one = Quartiles::of(&[4.0]).unwrap();
        assert_eq!((one.lower, one.median, one.upper, one.whiskers), (4.0, 4.0, 4.0, (4.0, 4.0)));
        assert_eq!(Quartiles::of(&[f64::NAN]), None);
    }

    #[test]
    fn half_axes_by_hand() {
        let close = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1e-12 && (a.1 - b.1).abs() < 1e-12;
        // Mean (0, 0); xx = (4 + 4)/3 = 8/3, yy = 2/3, xy = 0: half axes 1.633 to the right and 0.816 upwards.
        let level = Ellipse::of(&[(2.0, 0.0), (-2.0, 0.0), (0.0, 1.0), (0.0, -1.0)]).unwrap();
        assert!(close(level.centre, (0.0, 0.0)));
        assert!(
            close(level.major, ((8.0f64 / 3.0).sqrt(), 0.0))
                && close(level.minor, (0.0, (2.0f64 / 3.0).sqrt()))
        );
        // The same turned by 45 degrees and moved: (2, 0) becomes (sqrt 2, sqrt 2).
        let half = 0.5f64.sqrt();
        let turned = [(2.0, 0.0), (-2.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
            .map(|(x, y): (f64, f64)| (10.0 + half * (x - y), 20.0 + half * (x + y)));
        let turned = Ellipse::of(&turned).unwrap();
        let long = (8.0f64 / 3.0).sqrt() * half;
        assert!(close(turned.centre, (10.0, 20.0)) && close(turned.major, (long, long)), "{turned:?}");
        assert!(close(turned.at(0.0), (10.0 + long, 20.0 + long)));
        // On a line there is no width: variance 1 of either, covariance -1.
        let line = Ellipse::of(&[(0.0, 2.0), (1.0, 1.0), (2.0, 0.0)]).unwrap();
        assert!(close(line.minor, (0.0, 0.0)) && close((line.major.0.abs(), line.major.1.abs()), (1.0, 1.0)));
        // A pair of which one is missing is not there.
        let missing = [(0.0, 2.0), (f64::NAN, 7.0), (1.0, 1.0), (7.0, f64::INFINITY), (2.0, 0.0)];
        assert_eq!(Ellipse::of(&missing), Some(line));
        assert_eq!(Ellipse::of(&[(1.0, 1.0), (f64::NAN, 2.0)]), None);
    }

    #[test]
    fn every_point_of_the_outline_has_distance_one() {
        let pairs = [(1.0, 5.0), (2.0, 3.0), (4.0, 4.0), (3.0, 9.0)];
        let ellipse = Ellipse::of(&pairs).unwrap();
        // Mean (2.5, 5.25); xx = 5/3, yy = (0.0625 + 5.0625 + 1.5625 + 14.0625)/3 = 6.9166…, xy = (0.375 + 1.125 - 1.875 +
        // 1.875)/3 = 0.5.
        let (xx, yy, xy) = (5.0 / 3.0, 20.75 / 3.0, 0.5);
        for i in 0..16 {
            let (x, y) = ellipse.at(f64::from(i) * 0.4);
            let (x, y) = (x - 2.5, y - 5.25);
            let squared = (yy * x * x - 2.0 * xy * x * y + xx * y * y) / (xx * yy - xy * xy);
            assert!((squared - 1.0f64).abs() < 1e-9, "{squared}");
        }
    }
}
