//! The figures of a study, drawn from its results.
//!
//! [`draw`] makes any figure that a study can ask for. What cannot be drawn, because a run is missing or failed, is
//! shown as missing and counted in the notes; it never becomes a zero or a line across the gap.

mod bars;
mod box_plot;
mod cdf;
mod deviation;
mod dots;
pub(crate) mod frame;
mod heat_map;
mod line;
mod missing;
pub mod model;
mod observed;
pub(crate) mod points;
mod possible;
mod scatter;
mod stated;
mod trace;
pub mod traces;

use crate::series::SeriesStyles;
use cwnd_plot::Grid;
use cwnd_study::{Figure, FigureKind, Results};
use traces::Traces;

/// A figure that is drawn.
pub struct Drawn {
    /// The picture.
    pub grid: Grid,
    /// How it is to be read and what is missing, a sentence each.
    pub notes: Vec<String>,
    /// What a reader can zoom into, where it is drawn over time.
    pub samples: Option<Samples>,
}

/// What stands in the place of a figure whose axis the study does not have.
fn without_axis(figure: &Figure, axis: &str) -> Drawn {
    let notes = vec![format!("It cannot be drawn: the study has no axis `{axis}`.")];
    Drawn { grid: Grid::new(&figure.title, 1), notes, samples: None }
}

/// What is drawn over time: for each block its panels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// The blocks, as in the picture.
    pub blocks: Vec<SampleBlock>,
}

/// Panels with a common time.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleBlock {
    /// What sets it apart from the others.
    pub title: String,
    /// The panels.
    pub panels: Vec<SamplePanel>,
}

/// Lines of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplePanel {
    /// The quantity with its unit.
    pub label: String,
    /// Its lines.
    pub lines: Vec<SampleLine>,
    /// What is stated, as lines across it.
    pub references: Vec<cwnd_plot::Reference>,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleLine {
    /// What it is of.
    pub label: String,
    /// The flow that its label names, from 0, if it names one.
    pub flow: Option<usize>,
    /// Its stroke.
    pub stroke: cwnd_plot::style::Stroke,
    /// Time in seconds and value; a value that is not finite is a gap.
    pub points: Vec<(f64, f64)>,
}

/// Draws a figure of a study. `traces` has the samples that figures over time are of.
pub fn draw(results: &Results, figure: &Figure, looks: &SeriesStyles, traces: &Traces) -> Drawn {
    let mut drawn = match &figure.kind {
        FigureKind::Line { x, y, series } => line::draw(results, figure, looks, x, y, series.as_deref()),
        FigureKind::Bars { x, y, series } => bars::draw(results, figure, looks, x, y, series.as_deref()),
        FigureKind::Cdf { x, per, scale, .. } => cdf::draw(results, figure, looks, traces, (x, *per, *scale)),
        FigureKind::Scatter { x, y, per, .. } => scatter::draw(results, figure, looks, traces, (x, y, *per)),
        FigureKind::Box { x, y, per, .. } => box_plot::draw(results, figure, looks, traces, (x, y, *per)),
        FigureKind::HeatMap { x, y, value } => heat_map::draw(results, figure, x, y, value),
        FigureKind::Deviation { table } => deviation::draw(results, figure, table),
        FigureKind::Model { model } => model::draw(&figure.title, model),
        FigureKind::Trace { show, series } => {
            trace::draw(results, figure, looks, traces, show, series.as_deref())
        }
    };
    let caption = figure.caption.iter().map(String::as_str).chain(drawn.notes.iter().map(String::as_str));
    drawn.grid.caption = caption.collect::<Vec<_>>().join(" ");
    drawn.grid.description = format!("{} {}", drawn.grid.description, drawn.notes.join(" "));
    drawn
}

/// The name of a figure's file, without extension: its own name, with anything but letters, digits, `.`, `_` and `-`
/// replaced, so that no name leads out of its directory.
pub fn file_name(figure: &Figure) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = figure.name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    match name.trim_start_matches('.') {
        "" => "figure".into(),
        name => name.into(),
    }
}

/// The figure as a file for a paper: with its notes and what made it below.
pub fn file(results: &Results, figure: &Figure, looks: &SeriesStyles, traces: &Traces) -> String {
    let mut drawn = draw(results, figure, looks, traces);
    drawn.grid.caption = format!("{}\n{}", drawn.grid.caption, crate::made_by::line(results));
    drawn.grid.to_svg()
}
