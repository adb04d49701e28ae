//! Removal of points that do not change the picture.

/// Keeps, of each stretch of points that share a column of this width, the lowest and the highest, in their order. What is
/// drawn through them covers the same heights in every column as what was drawn through all of them. The ends of a line are
/// kept too; points that are not finite end it and are kept.
pub(crate) fn decimate(points: &[(f64, f64)], column: f64) -> Vec<(f64, f64)> {
    let is_finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    let place = |&(x, _): &(f64, f64)| (x / column).floor() as i64;
    let mut kept = Vec::new();
    for line in points.chunk_by(|a, b| is_finite(a) == is_finite(b)) {
        let (Some(first), Some(last)) = (line.first().filter(|point| is_finite(point)), line.last()) else {
            kept.extend(line);
            continue;
        };
        kept.push(*first);
        for stretch in line.chunk_by(|a, b| place(a) == place(b)) {
            let lowest = extreme(stretch, |y, best| y < best);
            let highest = extreme(stretch, |y, best| y > best);
            for point in [lowest.min(highest), lowest.max(highest)].map(|i| stretch[i]) {
                if kept.last() != Some(&point) {
                    kept.push(point);
                }
            }
        }
        if kept.last() != Some(last) {
            kept.push(*last);
        }
    }
    kept
}

/// The first point that no other is better than.
fn extreme(points: &[(f64, f64)], better: impl Fn(f64, f64) -> bool) -> usize {
    (1..points.len()).fold(0, |best, i| if better(points[i].1, points[best].1) { i } else { best })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_column_keeps_lowest_and_highest_and_a_line_its_ends() {
        let points =
            [(0.1, 5.0), (0.2, 9.0), (0.3, 6.0), (0.4, 1.0), (0.5, 2.0), (1.1, 3.0), (1.5, 4.0), (1.6, 3.5)];
        let kept = [(0.1, 5.0), (0.2, 9.0), (0.4, 1.0), (1.1, 3.0), (1.5, 4.0), (1.6, 3.5)];
        assert_eq!(decimate(&points, 1.0), kept);
    }

    #[test]
    fn gaps_stay() {
        let gap = (0.2, f64::NAN);
        let kept = decimate(&[(0.1, 1.0), gap, (0.3, 2.0), (0.4, 2.0)], 1.0);
        assert_eq!(kept.len(), 4);
        assert!(kept[1].1.is_nan());
    }

    /// For each column its extremes.
    fn columns(points: &[(f64, f64)]) -> BTreeMap<i64, [f64; 2]> {
        let mut columns: BTreeMap<i64, [f64; 2]> = BTreeMap::new();
        for &(x, y) in points {
            let [low, high] = columns.entry(x.floor() as i64).or_insert([y, y]);
            (*low, *high) = (low.min(y), high.max(y));
        }
        columns
    }

    proptest! {
        #[test]
        fn every_column_keeps_its_extremes_and_the_line_its_ends(
            mut xs in prop::collection::vec(0.0..20.0f64, 1..400),
            ys in prop::collection::vec(-1000i32..1000, 400),
        ) {
            xs.sort_by(f64::total_cmp);
            let points: Vec<(f64, f64)> = xs.into_iter().zip(ys.into_iter().map(f64::from)).collect();
            let kept = decimate(&points, 1.0);
            prop_assert_eq!(columns(&kept), columns(&points));
            prop_assert!(kept.len() <= 2 * 20 + 2);
            prop_assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
            prop_assert!(kept.iter().all(|point| points.contains(point)));
        }
    }
}
