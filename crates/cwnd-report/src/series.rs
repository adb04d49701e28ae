//! Which series looks how, the same in every figure of a report.

use cwnd_plot::Hatch;
use cwnd_plot::style::{COLOURS, Colour, Dash, Marker, Stroke};
use cwnd_study::Study;

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
            let axis = figure.kind.series().and_then(|name| study.axis(name));
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

    /// How the series of one figure look: each as in the other figures, unless another of the figure has its colour. That
    /// one takes the first colour that is free, as long as there are any.
    pub fn of_all<'a>(&self, labels: impl Iterator<Item = &'a str>) -> Vec<SeriesStyle> {
        let mut looks: Vec<SeriesStyle> = Vec::new();
        let wanted: Vec<SeriesStyle> = labels.map(|label| self.of(label)).collect();
        for (i, own) in wanted.iter().enumerate() {
            let is_taken = |look: &SeriesStyle| {
                let others = looks.iter().chain(&wanted[i + 1..]).filter(|other| **other != *own);
                looks.contains(look) || others.into_iter().any(|other| other.colour() == look.colour())
            };
            let free = (0..COLOURS.len()).map(SeriesStyle).find(|look| !is_taken(look));
            let is_repeated = looks.iter().any(|earlier| earlier.colour() == own.colour());
            looks.push(if is_repeated { free.unwrap_or(*own) } else { *own });
        }
        looks
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_colour_is_twice_in_a_legend() {
        let label = |i: usize| format!("series {i}");
        let styles = SeriesStyles((0..40).map(label).collect());
        for count in 1..=COLOURS.len() {
            for first in 0..40 - count {
                let labels: Vec<String> = (first..first + count).map(label).collect();
                let looks = styles.of_all(labels.iter().map(String::as_str));
                let is_own = looks
                    .iter()
                    .enumerate()
                    .all(|(i, look)| looks[..i].iter().all(|other| other.colour() != look.colour()));
                assert!(is_own, "{count} from {first}: {looks:?}");
            }
        }
        // Two that share a colour with each other, and not with those between.
        let looks = styles.of_all(["series 1", "series 0", "series 15"].into_iter());
        assert_eq!(looks[..2], [SeriesStyle(1), SeriesStyle(0)]);
        assert_eq!(looks[2], SeriesStyle(2));
        // More than there are colours differ in dash and marker.
        let labels: Vec<String> = (0..20).map(label).collect();
        let looks = styles.of_all(labels.iter().map(String::as_str));
        assert!(looks.iter().enumerate().all(|(i, look)| !looks[..i].contains(look)));
    }
}
