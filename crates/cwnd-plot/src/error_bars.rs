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
    /// The values that are possible: an interval that goes beyond them is cut there, and has no cap at the cut.
    pub within: (f64, f64),
    /// Their style.
    pub stroke: Stroke,
}

/// Half the width of a cap.
const CAP: f64 = 3.0;

impl Mark for ErrorBars {
    fn extent(&self) -> Extent {
        let cut = |end: f64| end.clamp(self.within.0, self.within.1);
        self.points
            .iter()
            .fold(Extent::default(), |e, &(x, low, high)| e.with(x, cut(low)).with(x, cut(high)))
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        for &(x, low, high) in &self.points {
            draw_interval(canvas, &self.stroke, frame, frame.x(x), (low, high), self.within);
        }
    }

    fn outlines(&self, frame: &Frame) -> Vec<Vec<(f64, f64)>> {
        let place = |x: f64, end: f64| (frame.x(x), frame.y(end.clamp(self.within.0, self.within.1)));
        let bar = |&(x, low, high): &(f64, f64, f64)| vec![place(x, low), place(x, high)];
        self.points.iter().map(bar).collect()
    }
}

/// One interval between two values, cut to what is possible.
pub(super) fn draw_interval(
    canvas: &mut Canvas,
    stroke: &Stroke,
    frame: &Frame,
    x: f64,
    (low, high): (f64, f64),
    within: (f64, f64),
) {
    let end = |value: f64| frame.y(value.clamp(within.0, within.1));
    let caps = (low >= within.0, high <= within.1);
    draw_bar(canvas, stroke, x, (end(low), end(high)), caps);
}

/// One interval between two heights, with or without a cap at each; nothing if any of them has no place.
pub(super) fn draw_bar(
    canvas: &mut Canvas,
    stroke: &Stroke,
    x: f64,
    (low, high): (f64, f64),
    caps: (bool, bool),
) {
    const GAP: (f64, f64) = (f64::NAN, f64::NAN);
    if !(x.is_finite() && low.is_finite() && high.is_finite()) {
        return;
    }
    let cap = |y, is_drawn: bool| if is_drawn { [(x - CAP, y), (x + CAP, y)] } else { [GAP; 2] };
    let ([a, b], [c, d]) = (cap(low, caps.0), cap(high, caps.1));
    canvas.line(&[a, b, GAP, (x, low), (x, high), GAP, c, d], stroke);
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Figure, Panel};
    use super::*;
    use crate::style::INK;

    #[test]
    fn an_interval_that_is_cut_has_no_cap_there() {
        let svg = |low: f64, high: f64| {
            let axis = |name: &str| Axis::linear(name, "").from(0.0).to(1.0);
            let mut panel = Panel::new(axis("x"), axis("y"), 100.0);
            let (points, stroke) = (vec![(0.5, low, high)], Stroke::solid(INK, 1.1));
            panel.add(ErrorBars { points, within: (0.0, 1.0), stroke });
            let mut figure = Figure::new("");
            figure.panels.push(panel);
            figure.to_svg()
        };
        let strokes = |svg: String| {
            let path = svg.lines().find(|line| line.contains("stroke-width=\"1.1\"")).unwrap().to_owned();
            path.matches('M').count()
        };
        assert_eq!(strokes(svg(0.2, 0.8)), 3);
        assert_eq!(strokes(svg(0.0, 1.0)), 3, "the ends are possible");
        assert_eq!(strokes(svg(0.2, 1.8)), 2);
        assert_eq!(strokes(svg(-0.2, 1.8)), 1);
    }
}
