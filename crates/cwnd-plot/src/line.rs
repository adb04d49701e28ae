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

impl Mark for Line {
    fn extent(&self) -> Extent {
        self.points.iter().fold(Extent::default(), |extent, &(x, y)| extent.with(x, y))
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        let points = self.places(frame);
        canvas.line(&decimate(&points, COLUMN), &self.stroke);
        let Some(markers) = self.markers else { return };
        let stroke = Stroke::solid(self.stroke.colour, self.stroke.width.min(1.2));
        let mut next = frame.left() + markers.phase * markers.spacing;
        for point in points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            if markers.spacing <= 0.0 || point.0 >= next {
                canvas.sign(point, markers.marker, &stroke, markers.inside);
                next = (next + markers.spacing).max(point.0 + 0.5 * markers.spacing);
            }
        }
    }

    fn outlines(&self, frame: &Frame) -> Vec<Vec<(f64, f64)>> {
        vec![decimate(&self.places(frame), COLUMN)]
    }
}
