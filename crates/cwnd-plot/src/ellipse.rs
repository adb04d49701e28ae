//! Ellipses, such as those of one standard deviation around a mean.

use super::canvas::Canvas;
use super::figure::Mark;
use super::frame::{Extent, Frame};
use super::style::Stroke;

/// An ellipse in the units of the axes, filled faintly.
#[derive(Clone, Copy, Debug)]
pub struct Ellipse {
    /// Its centre.
    pub centre: (f64, f64),
    /// One half axis, as a vector.
    pub major: (f64, f64),
    /// The other.
    pub minor: (f64, f64),
    /// The style of the outline.
    pub stroke: Stroke,
}

/// Corners of the polygon that is drawn.
const CORNERS: u32 = 72;
const OPACITY: f64 = 0.15;

impl Ellipse {
    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        (0..=CORNERS).map(|corner| {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(corner) / f64::from(CORNERS)).sin_cos();
            let at = |c: f64, a: f64, b: f64| c + cos * a + sin * b;
            (at(self.centre.0, self.major.0, self.minor.0), at(self.centre.1, self.major.1, self.minor.1))
        })
    }

    fn places(&self, frame: &Frame) -> Vec<(f64, f64)> {
        self.points().map(|(x, y)| (frame.x(x), frame.y(y))).collect()
    }
}

impl Mark for Ellipse {
    fn extent(&self) -> Extent {
        self.points().fold(Extent::default(), |extent, (x, y)| extent.with(x, y))
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        let places = self.places(frame);
        canvas.polygon(&places, self.stroke.colour, OPACITY);
        canvas.line(&places, &self.stroke);
    }

    fn outlines(&self, frame: &Frame) -> Vec<Vec<(f64, f64)>> {
        vec![self.places(frame)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::INK;

    #[test]
    fn it_covers_its_half_axes() {
        let stroke = Stroke::solid(INK, 1.0);
        let level = Ellipse { centre: (10.0, 5.0), major: (3.0, 0.0), minor: (0.0, 1.0), stroke };
        let Extent { x: Some(x), y: Some(y) } = level.extent() else { panic!("it has an extent") };
        let close = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9;
        assert!(close(x, (7.0, 13.0)) && close(y, (4.0, 6.0)), "{x:?} {y:?}");
        // A circle of radius 5 with half axes (3, 4) and (-4, 3).
        let circle = Ellipse { major: (3.0, 4.0), minor: (-4.0, 3.0), ..level };
        assert!(circle.points().all(|(x, y)| ((x - 10.0).hypot(y - 5.0) - 5.0).abs() < 1e-9));
    }
}
