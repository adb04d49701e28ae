//! What a publication states of a figure: numbers that it prints in a table, and values that are lines across the figure.

use super::{Figure, FigureKind, Printed, Selection, Study, Table};

/// A value that is stated, as a labelled line across a figure's panels.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedLine {
    /// Where it is.
    pub at: StatedAt,
    /// What is written next to it.
    pub label: String,
    /// The label of the series whose colour it has, if it speaks of one.
    pub series: Option<String>,
    /// Of a figure over time what `y` is of, by its name in `show`; the first if none.
    pub of: Option<String>,
    /// Which panels it is in; all.
    pub select: Selection,
}

/// The value of an axis at which a stated line is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StatedAt {
    /// Of the horizontal axis: in seconds in a figure over time, in the axis's unit elsewhere.
    X(f64),
    /// Of the vertical axis, in the unit of the metric.
    Y(f64),
}

impl Figure {
    /// The axes that it lays out: to the right and upwards, as series, and as panels.
    pub fn laid_out(&self) -> Vec<&str> {
        let kind = match &self.kind {
            FigureKind::Line { x, series, .. }
            | FigureKind::Bars { x, series, .. }
            | FigureKind::Box { x, series, .. } => vec![Some(x), series.as_ref()],
            FigureKind::HeatMap { x, y, .. } => vec![Some(x), Some(y)],
            FigureKind::Trace { series, .. }
            | FigureKind::Cdf { series, .. }
            | FigureKind::Scatter { series, .. } => vec![series.as_ref()],
            FigureKind::Model { .. } | FigureKind::Deviation { .. } => Vec::new(),
        };
        kind.into_iter().flatten().chain(&self.panels).map(String::as_str).collect()
    }

    /// The metric that it draws upwards, of lines and bars.
    pub fn metric_upwards(&self) -> Option<&str> {
        match &self.kind {
            FigureKind::Line { y, .. } | FigureKind::Bars { y, .. } => Some(y),
            _ => None,
        }
    }
}

impl Study {
    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// The cells that a printed number of a table is of.
    pub fn cells_of_printed(&self, table: &Table, printed: &Printed) -> Vec<usize> {
        let is_there = |cell: &usize| {
            printed.at.iter().all(|(axis, label)| self.label(*cell, axis) == Some(label.as_str()))
        };
        self.select(&table.select).filter(is_there).collect()
    }

    /// The numbers of a table that belong into a figure of lines or bars: those of its metric that are of the same cells as
    /// a place in the figure. Each is a cell of that place and the number in the metric's own unit.
    pub fn printed_in(&self, figure: &Figure, table: &Table) -> Vec<(usize, f64)> {
        let Some(metric) = figure.metric_upwards() else { return Vec::new() };
        let axes: Vec<usize> = figure.laid_out().into_iter().filter_map(|name| self.axis(name)).collect();
        let drawn: Vec<usize> = self.select(&figure.select).collect();
        let of_place = |printed: &Printed| {
            let cells = self.cells_of_printed(table, printed);
            let first = *cells.first()?;
            let is_there = |cell: &usize| {
                let at = |cell: usize, axis: usize| self.cells[cell].coordinates[axis];
                axes.iter().all(|axis| at(*cell, *axis) == at(first, *axis))
            };
            let place = drawn.iter().copied().filter(is_there);
            place.eq(cells.iter().copied()).then(|| (first, printed.value / table.scale_of(metric)))
        };
        table.printed.iter().filter(|printed| printed.metric == metric).filter_map(of_place).collect()
    }
}
