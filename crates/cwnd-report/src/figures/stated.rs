//! What a publication states of a figure: the numbers that it prints, as hollow markers over ours, and lines across panels.

use super::frame::Pane;
use crate::series::SeriesStyles;
use cwnd_plot::style::{GREY, INK, Marker};
use cwnd_plot::{At, Inside, Key, Reference, Swatch};
use cwnd_study::{Figure, FigureKind, Results, StatedAt, Study};

/// The numbers that a figure draws over ours.
#[derive(Clone, Debug, Default)]
pub(super) struct PrintedNumbers {
    /// For each the coordinates of its place, and the number in the metric's own unit.
    numbers: Vec<(Vec<usize>, f64)>,
}

impl PrintedNumbers {
    /// Those of the table that the figure names. At a scale that leaves none of their cells there are none.
    pub fn new(results: &Results, figure: &Figure) -> PrintedNumbers {
        let study = &results.study;
        let table = figure.printed.as_deref().and_then(|name| study.table(name));
        let numbers = table.map(|table| study.printed_in(figure, table)).unwrap_or_default();
        let at = |(cell, value): (usize, f64)| (study.cells[cell].coordinates.clone(), value);
        PrintedNumbers { numbers: numbers.into_iter().map(at).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// All of them.
    pub fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.numbers.iter().map(|(_, value)| *value)
    }

    /// The number at these points (pairs of axis and point).
    pub fn at(&self, points: impl Iterator<Item = (usize, usize)> + Clone) -> Option<f64> {
        let is_there = |coordinates: &[usize]| points.clone().all(|(axis, point)| coordinates[axis] == point);
        self.numbers.iter().find(|(coordinates, _)| is_there(coordinates)).map(|(_, value)| *value)
    }

    /// The entry of the legend, once, and what a reader must know.
    pub fn key_and_note(&self, inside: Inside, marker: Marker) -> Option<(Key, String)> {
        let key = Key::new("printed", Swatch::sign(marker, INK, inside));
        let note = "Hollow markers: the numbers that the paper prints.".to_owned();
        (!self.is_empty()).then_some((key, note))
    }
}

/// The stated lines of a pane of lines or bars, whose values are multiplied by `factor`.
pub(super) fn references(
    study: &Study,
    figure: &Figure,
    pane: &Pane,
    looks: &SeriesStyles,
    factor: f64,
) -> Vec<Reference> {
    of_quantity(study, figure, pane, looks, (None, true), factor)
}

/// The stated lines of a panel over time: those of its quantity, and those at a time, which are named in the first panel.
pub(super) fn references_over_time(
    study: &Study,
    figure: &Figure,
    pane: &Pane,
    looks: &SeriesStyles,
    (quantity, is_first): (&str, bool),
    factor: f64,
) -> Vec<Reference> {
    of_quantity(study, figure, pane, looks, (Some(quantity), is_first), factor)
}

fn of_quantity(
    study: &Study,
    figure: &Figure,
    pane: &Pane,
    looks: &SeriesStyles,
    (quantity, is_first): (Option<&str>, bool),
    factor: f64,
) -> Vec<Reference> {
    let first = match &figure.kind {
        FigureKind::Trace { show, .. } => show.first().map(String::as_str),
        _ => None,
    };
    let is_here = |(axis, labels): (&String, &Vec<String>)| {
        let axis = study.axis(axis);
        let point = pane.at.iter().find(|(of, _)| Some(*of) == axis);
        point.is_none_or(|(axis, point)| labels.contains(&study.axes[*axis].points[*point].label))
    };
    let drawn = figure.lines.iter().filter(|line| line.select.0.iter().all(is_here));
    drawn
        .filter_map(|line| {
            let at = match line.at {
                StatedAt::X(x) => At::X(x),
                StatedAt::Y(_) if line.of.as_deref().or(first) != quantity => return None,
                StatedAt::Y(y) => At::Y(y * factor),
            };
            let is_named = is_first || matches!(at, At::Y(_));
            let label = if is_named { line.label.clone() } else { String::new() };
            let colour = line.series.as_deref().map_or(GREY, |series| looks.of(series).colour());
            Some(Reference { at, label, colour })
        })
        .collect()
}
