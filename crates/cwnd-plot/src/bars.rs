//! Bars from zero to a value, with intervals.

use super::canvas::Canvas;
use super::error_bars::draw_interval;
use super::figure::Mark;
use super::frame::{Extent, Frame};
use super::hatch::Hatch;
use super::style::{Colour, INK, Stroke};

/// Bars of one series.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The bars.
    pub bars: Vec<Bar>,
    /// Their colour.
    pub colour: Colour,
    /// Their pattern, which distinguishes them without colour.
    pub hatch: Hatch,
    /// The values that are possible: an interval that goes beyond them is cut there, and has no cap at the cut.
    pub within: (f64, f64),
}

/// One bar, from zero (or from the axis's end, if that has no place) to its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Where it begins and ends along the horizontal axis.
    pub x: (f64, f64),
    /// Its value; one that is not finite has no bar.
    pub value: f64,
    /// The ends of its interval, if it has one.
    pub interval: Option<(f64, f64)>,
}

impl Bars {
    /// The ends of a bar's interval, as far as they are possible; its value if it has none.
    fn interval(&self, bar: &Bar) -> (f64, f64) {
        let (least, most) = self.within;
        let ends = bar.interval.map(|(low, high)| (low.clamp(least, most), high.clamp(least, most)));
        ends.unwrap_or((bar.value, bar.value))
    }
}

impl Mark for Bars {
    fn extent(&self) -> Extent {
        self.bars.iter().fold(Extent::default(), |extent, bar| {
            let (low, high) = self.interval(bar);
            let all = [0.0, bar.value, low, high];
            all.iter().fold(extent, |e, y| e.with(bar.x.0, *y).with(bar.x.1, *y))
        })
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        let base = Some(frame.y(0.0)).filter(|y| y.is_finite()).unwrap_or(frame.bottom());
        for bar in self.bars.iter().filter(|bar| bar.value.is_finite()) {
            let (left, right) = (frame.x(bar.x.0), frame.x(bar.x.1));
            let value = frame.y(bar.value);
            let (top, bottom) = (value.min(base), value.max(base));
            self.hatch.fill(canvas, [left, top, right, bottom], &Stroke::solid(self.colour, 1.0));
            let outline = [(left, bottom), (left, top), (right, top), (right, bottom), (left, bottom)];
            canvas.line(&outline, &Stroke::solid(self.colour, 1.2));
        }
        // Intervals are dark, so that they show on the bar as well as above it.
        for bar in self.bars.iter().filter(|bar| bar.value.is_finite()) {
            let middle = (frame.x(bar.x.0) + frame.x(bar.x.1)) / 2.0;
            if let Some(interval) = bar.interval {
                draw_interval(canvas, &Stroke::solid(INK, 1.0), frame, middle, interval, self.within);
            }
        }
    }

    fn outlines(&self, frame: &Frame) -> Vec<Vec<(f64, f64)>> {
        let base = Some(frame.y(0.0)).filter(|y| y.is_finite()).unwrap_or(frame.bottom());
        let outline = |bar: &Bar| {
            let (left, right, value) = (frame.x(bar.x.0), frame.x(bar.x.1), frame.y(bar.value));
            let middle = (left + right) / 2.0;
            let (low, high) = self.interval(bar);
            let gap = (f64::NAN, f64::NAN);
            vec![
                (left, base),
                (left, value),
                (right, value),
                (right, base),
                gap,
                (middle, frame.y(low)),
                (middle, frame.y(high)),
            ]
        };
        self.bars.iter().map(outline).collect()
    }
}
