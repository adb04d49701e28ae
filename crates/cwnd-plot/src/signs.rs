//! Markers by themselves, such as numbers from elsewhere over lines.

use super::canvas::{Canvas, Inside};
use super::figure::Mark;
use super::frame::{Extent, Frame};
use super::style::{Marker, Stroke};

/// Markers at points, without a line.
#[derive(Clone, Debug)]
pub struct Signs {
    /// The points. One that is not finite is left out.
    pub points: Vec<(f64, f64)>,
    /// Their shape.
    pub marker: Marker,
    /// Their style.
    pub stroke: Stroke,
    /// What is inside each.
    pub inside: Inside,
}

impl Mark for Signs {
    fn extent(&self) -> Extent {
        self.points.iter().fold(Extent::default(), |extent, &(x, y)| extent.with(x, y))
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        for &(x, y) in &self.points {
            canvas.sign((frame.x(x), frame.y(y)), self.marker, &self.stroke, self.inside);
        }
    }

    fn outlines(&self, frame: &Frame) -> Vec<Vec<(f64, f64)>> {
        let cross = |&(x, y): &(f64, f64)| {
            let (x, y) = (frame.x(x), frame.y(y));
            vec![(x - 5.0, y), (x + 5.0, y), (f64::NAN, y), (x, y - 5.0), (x, y + 5.0)]
        };
        self.points.iter().map(cross).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Figure, Panel};
    use super::*;
    use crate::style::INK;

    #[test]
    fn hollow_signs_stand_at_their_places_and_are_larger() {
        let draw = |inside: Inside| {
            let axis = |name: &str| Axis::linear(name, "").from(0.0).to(10.0);
            let mut panel = Panel::new(axis("x"), axis("y"), 100.0);
            let points = vec![(0.0, 0.0), (10.0, 10.0), (5.0, f64::NAN)];
            panel.add(Signs { points, marker: Marker::Square, stroke: Stroke::solid(INK, 1.2), inside });
            let mut figure = Figure::new("");
            figure.panels.push(panel);
            figure.to_svg()
        };
        let (hollow, filled) = (draw(Inside::Nothing), draw(Inside::Colour));
        // The width is 640 with a margin of 14; a square of 2 x 2.7, 1.7 times as large when hollow.
        assert_eq!(hollow.matches("fill=\"none\" stroke=\"#222222\" stroke-width=\"1.2\"").count(), 2);
        assert!(hollow.contains(&format!("{} ", 626.0 - 1.7 * 2.7)), "{hollow}");
        assert!(filled.contains(&format!("{} ", 626.0 - 2.7)), "{filled}");
        assert_eq!(filled.matches("fill=\"#222222\" stroke=\"#222222\"").count(), 2);
    }
}
