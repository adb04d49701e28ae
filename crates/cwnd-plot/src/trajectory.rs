//! A way through the plane.

use super::canvas::Canvas;
use super::figure::Mark;
use super::frame::{Extent, Frame};
use super::style::Stroke;

/// Straight stretches from point to point, with an arrow on each that is long enough to carry one.
///
/// Unlike a [`Line`](super::Line) it may go in any direction, and keeps all its points.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// The points, in order.
    pub points: Vec<(f64, f64)>,
    /// Its style.
    pub stroke: Stroke,
}

/// Length of an arrow's head, and the shortest stretch that has one.
const HEAD: f64 = 8.0;
const SHORTEST: f64 = 18.0;

impl Mark for Trajectory {
    fn extent(&self) -> Extent {
        self.points.iter().fold(Extent::default(), |extent, &(x, y)| extent.with(x, y))
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        let places: Vec<(f64, f64)> = self.points.iter().map(|&(x, y)| (frame.x(x), frame.y(y))).collect();
        canvas.line(&places, &self.stroke);
        for pair in places.windows(2) {
            if let Some(head) = head(pair[0], pair[1]) {
                canvas.polygon(&head, self.stroke.colour, 1.0);
            }
        }
    }
}

/// The arrow's head, a little beyond the middle of its stretch.
fn head(from: (f64, f64), to: (f64, f64)) -> Option<[(f64, f64); 3]> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if !length.is_finite() || length < SHORTEST {
        return None;
    }
    let (ux, uy) = (dx / length, dy / length);
    let at = 0.5 * length + 0.5 * HEAD;
    let tip = (from.0 + at * ux, from.1 + at * uy);
    let (back, half) = (HEAD, 0.4 * HEAD);
    let side = |sign: f64| (tip.0 - back * ux - sign * half * uy, tip.1 - back * uy + sign * half * ux);
    Some([tip, side(1.0), side(-1.0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_points_where_the_way_goes() {
        let [tip, left, right] = head((0.0, 0.0), (100.0, 0.0)).unwrap();
        assert_eq!(tip, (54.0, 0.0));
        assert_eq!((left.0, right.0), (46.0, 46.0));
        assert_eq!(left.1, -right.1);
        let [tip, ..] = head((0.0, 100.0), (0.0, 0.0)).unwrap();
        assert_eq!(tip, (0.0, 46.0));
        assert!(head((0.0, 0.0), (10.0, 0.0)).is_none(), "too short");
        assert!(head((0.0, f64::NAN), (100.0, 0.0)).is_none());
    }
}
