//! An area between two lines.

use super::canvas::Canvas;
use super::decimate::decimate;
use super::figure::Mark;
use super::frame::{Extent, Frame};
use super::key::Swatch;
use super::line::COLUMN;
use super::style::Colour;

/// An area between a lower and an upper line, such as an interval.
#[derive(Clone, Debug)]
pub struct Band {
    /// `x`, the lower and the upper value, by rising `x`. One that is not finite is a gap.
    pub points: Vec<(f64, f64, f64)>,
    /// Its colour.
    pub colour: Colour,
    /// Its opacity, 0 to 1.
    pub opacity: f64,
}

impl Band {
    /// Returns its symbol in a legend.
    pub fn swatch(&self) -> Swatch {
        Swatch::fill(self.colour, self.opacity)
    }
}

impl Mark for Band {
    fn extent(&self) -> Extent {
        self.points.iter().fold(Extent::default(), |e, &(x, low, high)| e.with(x, low).with(x, high))
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        let place = |&(x, low, high): &(f64, f64, f64)| (frame.x(x), frame.y(low), frame.y(high));
        let points: Vec<(f64, f64, f64)> = self.points.iter().map(place).collect();
        let finite = |p: &(f64, f64, f64)| p.0.is_finite() && p.1.is_finite() && p.2.is_finite();
        for stretch in points.chunk_by(|a, b| finite(a) && finite(b)).filter(|s| finite(&s[0])) {
            let lower: Vec<(f64, f64)> = stretch.iter().map(|&(x, low, _)| (x, low)).collect();
            let upper: Vec<(f64, f64)> = stretch.iter().map(|&(x, _, high)| (x, high)).collect();
            let mut outline = decimate(&upper, COLUMN);
            outline.extend(decimate(&lower, COLUMN).into_iter().rev());
            canvas.polygon(&outline, self.colour, self.opacity);
        }
    }
}
