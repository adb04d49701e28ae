//! Intervals at points: a vertical line with a cap at either end.

use super::canvas::Canvas;
use super::figure::Mark;
use super::frame::{Extent, Frame};
use super::style::Stroke;

/// Intervals at points.
#[derive(Clone, Debug)]
pub struct ErrorBars {
    /// `x`, the lower and the upper end. One that is not finite is left out.
    pub points: Vec<(f64, f64, f64)>,
    /// Their style.
    pub stroke: Stroke,
}

/// Half the width of a cap.
const CAP: f64 = 3.0;

impl Mark for ErrorBars {
    fn extent(&self) -> Extent {
        self.points.iter().fold(Extent::default(), |e, &(x, low, high)| e.with(x, low).with(x, high))
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        for &(x, low, high) in &self.points {
            draw_bar(canvas, &self.stroke, frame.x(x), frame.y(low), frame.y(high));
        }
    }

    fn outlines(&self, frame: &Frame) -> Vec<Vec<(f64, f64)>> {
        let bar =
            |&(x, low, high): &(f64, f64, f64)| vec![(frame.x(x), frame.y(low)), (frame.x(x), frame.y(high))];
        self.points.iter().map(bar).collect()
    }
}

/// One interval between two heights; nothing if any of them has no place.
pub(super) fn draw_bar(canvas: &mut Canvas, stroke: &Stroke, x: f64, low: f64, high: f64) {
    const GAP: (f64, f64) = (f64::NAN, f64::NAN);
    if !(x.is_finite() && low.is_finite() && high.is_finite()) {
        return;
    }
    let cap = |y| [(x - CAP, y), (x + CAP, y)];
    let ([a, b], [c, d]) = (cap(low), cap(high));
    canvas.line(&[a, b, GAP, (x, low), (x, high), GAP, c, d], stroke);
}
