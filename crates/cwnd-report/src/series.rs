//! Which series looks how, the same in every figure of a report.

use cwnd_plot::Hatch;
use cwnd_plot::style::{Colour, Dash, Marker, Stroke};
use cwnd_study::{FigureKind, Study};

/// The looks of all series of a study: a number for each label of an axis that is a series in any figure.
///
/// The points of the first such axis are numbered in the file's order, whether or not a figure shows all of them, then
/// those of the next. A label that two axes share is one series: an algorithm looks the same on both sides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesStyles(Vec<String>);

/// How one series looks: a number from which colour, dash pattern, marker and hatching follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesStyle(pub usize);

impl SeriesStyles {
    /// The looks of a study's series.
    pub fn new(study: &Study) -> SeriesStyles {
        let mut labels: Vec<String> = Vec::new();
        for figure in &study.figures {
            let series = match &figure.kind {
                FigureKind::Line { series, .. }
                | FigureKind::Bars { series, .. }
                | FigureKind::Trace { series, .. } => series.as_deref(),
                FigureKind::HeatMap { .. } | FigureKind::Model { .. } => None,
            };
            let axis = series.and_then(|name| study.axis(name));
            for point in axis.iter().flat_map(|axis| &study.axes[*axis].points) {
                if !labels.contains(&point.label) {
                    labels.push(point.label.clone());
                }
            }
        }
        SeriesStyles(labels)
    }

    /// How the series of this label looks.
    pub fn of(&self, label: &str) -> SeriesStyle {
        SeriesStyle(self.0.iter().position(|known| known == label).unwrap_or(0))
    }
}

impl SeriesStyle {
    /// Its colour.
    pub fn colour(self) -> Colour {
        Colour::of_series(self.0)
    }

    /// Its line.
    pub fn stroke(self, width: f64) -> Stroke {
        Stroke::solid(self.colour(), width).dashed(Dash::of_series(self.0))
    }

    /// Its marker.
    pub fn marker(self) -> Marker {
        Marker::of_series(self.0)
    }

    /// The pattern of its bars.
    pub fn hatch(self) -> Hatch {
        Hatch::of_series(self.0)
    }
}
