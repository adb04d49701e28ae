//! A line through points.

use super::canvas::{Canvas, Inside};
use super::decimate::decimate;
use super::figure::Mark;
use super::frame::{Extent, Frame};
use super::key::Swatch;
use super::style::{Marker, Stroke};

/// A line through points, with markers on some of them.
#[derive(Clone, Debug)]
pub struct Line {
    /// The points, by rising `x`. One that is not finite is a gap.
    pub points: Vec<(f64, f64)>,
    /// Style of the line; none draws only the markers.
    pub stroke: Stroke,
    /// The signs on it.
    pub markers: Option<Markers>,
}

/// The signs on a line. They stand on points of the data, never between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Markers {
    /// The sign.
    pub marker: Marker,
    /// The least distance between two, in the units of the figure; 0 marks every point.
    pub spacing: f64,
    /// Where the first may stand, as a share of the spacing, so that the markers of several lines do not
    /// meet.
    pub phase: f64,
    /// What is inside each.
    pub inside: Inside,
}

impl Line {
    fn places(&self, frame: &Frame) -> Vec<(f64, f64)> {
        self.points.iter().map(|&(x, y)| (frame.x(x), frame.y(y))).collect()
    }

    /// A line without markers.
    pub fn new(points: Vec<(f64, f64)>, stroke: Stroke) -> Line {
        Line { points, stroke, markers: None }
    }

    /// The same with markers.
    pub fn markers(self, markers: Option<Markers>) -> Line {
        Line { markers, ..self }
    }

    /// Returns its symbol in a legend.
    pub fn swatch(&self) -> Swatch {
        let swatch = Swatch::line(self.stroke).marker(self.markers.map(|m| m.marker));
        Swatch { inside: self.markers.map(|m| m.inside).unwrap_or_default(), ..swatch }
    }
}

/// Width of a column within which a line keeps its extremes: a unit of the figure, which is less than the width of a line.
pub(crate) const COLUMN: f64 = 1.0;

fn is_finite((x, y): (f64, f64)) -> bool {
    x.is_finite() && y.is_finite()
}

/// The indices of points that have a gap or an end of the line on either side, in order.
fn isolated(points: &[(f64, f64)]) -> Vec<usize> {
    let is_there = |i: Option<usize>| i.and_then(|i| points.get(i)).is_some_and(|point| is_finite(*point));
    let is_alone = |i: &usize| is_there(Some(*i)) && !is_there(i.checked_sub(1)) && !is_there(Some(i + 1));
    (0..points.len()).filter(is_alone).collect()
}

impl Mark for Line {
    fn extent(&self) -> Extent {
        self.points.iter().fold(Extent::default(), |extent, &(x, y)| extent.with(x, y))
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        let points = self.places(frame);
        canvas.line(&decimate(&points, COLUMN), &self.stroke);
        let stroke = Stroke::solid(self.stroke.colour, self.stroke.width.min(1.2));
        // A point without neighbours has no line, and would not be seen.
        let alone = isolated(&points);
        let Some(markers) = self.markers else {
            alone.into_iter().for_each(|i| canvas.sign(points[i], Marker::Circle, &stroke, Inside::Colour));
            return;
        };
        let mut next = frame.left() + markers.phase * markers.spacing;
        for (i, point) in points.into_iter().enumerate().filter(|(_, point)| is_finite(*point)) {
            if markers.spacing <= 0.0 || point.0 >= next {
                canvas.sign(point, markers.marker, &stroke, markers.inside);
                next = (next + markers.spacing).max(point.0 + 0.5 * markers.spacing);
            } else if alone.binary_search(&i).is_ok() {
                canvas.sign(point, markers.marker, &stroke, markers.inside);
            }
        }
    }

    fn outlines(&self, frame: &Frame) -> Vec<Vec<(f64, f64)>> {
        vec![decimate(&self.places(frame), COLUMN)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Figure, Panel};
    use super::*;
    use crate::style::INK;

    #[test]
    fn a_point_without_neighbours_is_a_marker() {
        let svg = |points: Vec<(f64, f64)>, markers: Option<Markers>| {
            let axis = |name: &str| Axis::linear(name, "").from(0.0).to(10.0);
            let mut panel = Panel::new(axis("x"), axis("y"), 100.0);
            panel.add(Line::new(points, Stroke::solid(INK, 1.1)).markers(markers));
            let mut figure = Figure::new("");
            figure.panels.push(panel);
            figure.to_svg()
        };
        let count = |svg: &str| svg.matches("stroke-width=\"1.1\"/>").count();
        let gap = (4.0, f64::NAN);
        assert_eq!(count(&svg(vec![(2.0, 1.0)], None)), 1);
        assert_eq!(count(&svg(vec![(1.0, 1.0), (2.0, 1.0), gap, (5.0, 1.0), gap, (7.0, 1.0)], None)), 2);
        assert_eq!(count(&svg(vec![(1.0, 1.0), (2.0, 1.0)], None)), 0);
        // Markers are so far apart that the first would stand beyond both points.
        let marker = Marker::Square;
        let far = Markers { marker, spacing: 2_000.0, phase: 0.5, inside: Inside::Paper };
        assert_eq!(count(&svg(vec![(1.0, 1.0), gap, (5.0, 1.0)], Some(far))), 2);
    }
}
