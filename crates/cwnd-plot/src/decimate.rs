//! Removal of points that do not change the picture.

/// Keeps, of each stretch of points that share a column of this width, the first, the lowest, the highest and
/// the last, in their order. What is drawn through them covers the same heights in every column as what was
/// drawn through all of them. Points that are not finite end a stretch and are kept.
pub(crate) fn decimate(points: &[(f64, f64)], column: f64) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    let place = |&(x, y): &(f64, f64)| (x.is_finite() && y.is_finite()).then(|| (x / column).floor() as i64);
    for stretch in points.chunk_by(|a, b| place(a) == place(b) && place(a).is_some()) {
        let lowest = extreme(stretch, |y, best| y < best);
        let highest = extreme(stretch, |y, best| y > best);
        let mut indices = [0, lowest.min(highest), lowest.max(highest), stretch.len() - 1].to_vec();
        indices.dedup();
        kept.extend(indices.into_iter().map(|i| stretch[i]));
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
    fn a_column_keeps_first_lowest_highest_and_last() {
        let points = [(0.1, 5.0), (0.2, 9.0), (0.3, 6.0), (0.4, 1.0), (0.5, 2.0), (0.6, 3.0), (1.5, 4.0)];
        assert_eq!(decimate(&points, 1.0), [(0.1, 5.0), (0.2, 9.0), (0.4, 1.0), (0.6, 3.0), (1.5, 4.0)]);
    }

    #[test]
    fn gaps_stay() {
        let gap = (0.2, f64::NAN);
        let kept = decimate(&[(0.1, 1.0), gap, (0.3, 2.0), (0.4, 2.0)], 1.0);
        assert_eq!(kept.len(), 4);
        assert!(kept[1].1.is_nan());
    }

    /// For each column: the extremes, and the points where the line enters and leaves it.
    fn columns(points: &[(f64, f64)]) -> BTreeMap<i64, [f64; 4]> {
        let mut columns: BTreeMap<i64, [f64; 4]> = BTreeMap::new();
        for &(x, y) in points {
            let [low, high, _, last] = columns.entry(x.floor() as i64).or_insert([y, y, y, y]);
            (*low, *high, *last) = (low.min(y), high.max(y), y);
        }
        columns
    }

    proptest! {
        #[test]
        fn every_column_keeps_its_extremes_and_ends(
            mut xs in prop::collection::vec(0.0..20.0f64, 1..400),
            ys in prop::collection::vec(-1000i32..1000, 400),
        ) {
            xs.sort_by(f64::total_cmp);
            let points: Vec<(f64, f64)> = xs.into_iter().zip(ys.into_iter().map(f64::from)).collect();
            let kept = decimate(&points, 1.0);
            prop_assert_eq!(columns(&kept), columns(&points));
            prop_assert!(kept.len() <= 4 * 20);
            prop_assert!(kept.iter().all(|point| points.contains(point)));
        }
    }
}
