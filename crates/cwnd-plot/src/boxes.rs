//! Box plots.

use super::canvas::{Canvas, Inside};
use super::error_bars::draw_bar;
use super::figure::Mark;
use super::frame::{Extent, Frame};
use super::style::{Colour, Marker, Stroke};

/// Boxes of one series.
#[derive(Clone, Debug)]
pub struct Boxes {
    /// The boxes.
    pub boxes: Vec<BoxPlot>,
    /// Their colour.
    pub colour: Colour,
    /// The sign of a value beyond the whiskers.
    pub marker: Marker,
}

/// A box from the lower to the upper quartile with a line at the median, whiskers, and the values beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlot {
    /// Where it begins and ends along the horizontal axis.
    pub x: (f64, f64),
    /// Lower quartile, median and upper quartile.
    pub quartiles: [f64; 3],
    /// The ends of the whiskers.
    pub whiskers: (f64, f64),
    /// The values beyond the whiskers.
    pub outliers: Vec<f64>,
}

const OPACITY: f64 = 0.18;

impl Mark for Boxes {
    fn extent(&self) -> Extent {
        self.boxes.iter().fold(Extent::default(), |extent, one| {
            let ends = [one.whiskers.0, one.whiskers.1];
            let values = one.quartiles.iter().chain(&ends).chain(&one.outliers);
            values.fold(extent, |e, y| e.with(one.x.0, *y).with(one.x.1, *y))
        })
    }

    fn draw(&self, frame: &Frame, canvas: &mut Canvas) {
        let (thin, thick) = (Stroke::solid(self.colour, 1.0), Stroke::solid(self.colour, 2.2));
        for one in &self.boxes {
            let (left, right) = (frame.x(one.x.0), frame.x(one.x.1));
            let middle = (left + right) / 2.0;
            let [lower, median, upper] = one.quartiles.map(|value| frame.y(value));
            for (quartile, end) in [(lower, one.whiskers.0), (upper, one.whiskers.1)] {
                draw_bar(canvas, &thin, middle, (quartile, frame.y(end)), (true, true));
            }
            let outline = [(left, lower), (left, upper), (right, upper), (right, lower), (left, lower)];
            canvas.polygon(&outline, self.colour, OPACITY);
            canvas.line(&outline, &Stroke::solid(self.colour, 1.3));
            canvas.line(&[(left, median), (right, median)], &thick);
            for value in &one.outliers {
                canvas.sign((middle, frame.y(*value)), self.marker, &thin, Inside::Paper);
            }
        }
    }

    fn outlines(&self, frame: &Frame) -> Vec<Vec<(f64, f64)>> {
        let outline = |one: &BoxPlot| {
            let (left, right) = (frame.x(one.x.0), frame.x(one.x.1));
            let [lower, _, upper] = one.quartiles.map(|value| frame.y(value));
            vec![(left, lower), (left, upper), (right, upper), (right, lower)]
        };
        self.boxes.iter().map(outline).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Figure, Panel};
    use super::*;

    #[test]
    fn a_box_has_a_median_and_whiskers_and_outliers() {
        let mut panel = Panel::new(Axis::named("x", ["a"]), Axis::linear("y", "").from(0.0).to(10.0), 100.0);
        let one = BoxPlot {
            x: (-0.25, 0.25),
            quartiles: [2.0, 5.0, 6.0],
            whiskers: (1.0, 8.0),
            outliers: vec![10.0],
        };
        let boxes = Boxes { boxes: vec![one], colour: Colour(1, 2, 3), marker: Marker::Circle };
        assert_eq!(boxes.extent().y, Some((1.0, 10.0)));
        panel.add(boxes);
        let mut figure = Figure::new("");
        figure.panels.push(panel);
        let svg = figure.to_svg();
        // The box is half of the width of the panel and 40 units high; the median is the only thick line.
        assert_eq!(svg.matches("stroke=\"#010203\" stroke-width=\"2.2\"").count(), 1, "{svg}");
        assert_eq!(svg.matches("fill=\"#010203\" fill-opacity=\"0.18\"").count(), 1);
        assert_eq!(svg.matches("fill=\"#ffffff\" stroke=\"#010203\"").count(), 1, "the outlier");
    }
}
