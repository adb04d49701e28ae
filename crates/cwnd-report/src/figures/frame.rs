//! The blocks of a figure: one for each point of its panel axes.

use super::line::plain;
use super::points::Chosen;
use super::trace::flow_names::FlowNames;
use crate::measure::small;
use cwnd_plot::{Block, Grid, Headings, Panel};
use cwnd_study::{Axis, Figure, Point, Results};

/// What one block shows: the labels that set it apart and the points that it holds fast.
pub(super) struct Pane {
    pub title: String,
    pub at: Vec<(usize, usize)>,
    /// The only flow that it shows, from 0; all if none.
    pub flow: Option<usize>,
}

/// The panes of a figure, row by row, and how many stand side by side.
pub(super) struct Panes {
    pub panes: Vec<Pane>,
    pub columns: usize,
    headings: Option<(Vec<String>, Vec<String>)>,
}

impl Panes {
    /// One for each point of the panel axes: of two, rows and columns; of one, rows of so many that look well.
    pub fn new(chosen: &Chosen<'_>, figure: &Figure, wide: bool) -> Panes {
        let study = &chosen.results.study;
        let axes: Vec<usize> = figure.panels.iter().filter_map(|name| study.axis(name)).take(2).collect();
        let name = |axis: usize, point: usize| label(chosen.results, axis, point);
        match axes.as_slice() {
            [rows, columns] if rows != columns => {
                let (down, across) = (chosen.points(*rows), chosen.points(*columns));
                let headings = (names(&across, |p| name(*columns, p)), names(&down, |p| name(*rows, p)));
                let pane = |(row, column): (usize, usize)| Pane {
                    title: format!("{}, {}", name(*rows, row), name(*columns, column)),
                    at: vec![(*rows, row), (*columns, column)],
                    flow: None,
                };
                let places = down.iter().flat_map(|row| across.iter().map(move |column| (*row, *column)));
                let panes: Vec<Pane> = places.map(pane).collect();
                Panes { panes, columns: across.len().max(1), headings: Some(headings) }
            }
            [axis, ..] => {
                let points = chosen.points(*axis);
                let panes: Vec<Pane> = points
                    .iter()
                    .map(|&p| Pane {
                        title: heading(chosen.results, *axis, p),
                        at: vec![(*axis, p)],
                        flow: None,
                    })
                    .collect();
                let columns = columns(panes.len(), wide);
                Panes { panes, columns, headings: None }
            }
            [] => Panes {
                panes: vec![Pane { title: String::new(), at: Vec::new(), flow: None }],
                columns: 1,
                headings: None,
            },
        }
    }

    /// One for each of some flows (from 0), of all cells.
    pub fn of_flows(flows: impl IntoIterator<Item = usize>, names: &FlowNames) -> Panes {
        let pane =
            |flow| Pane { title: format!("Flow {}", names.of(flow)), at: Vec::new(), flow: Some(flow) };
        let panes: Vec<Pane> = flows.into_iter().map(pane).collect();
        Panes { columns: columns(panes.len(), true), panes, headings: None }
    }

    /// The same with fewer side by side, if names along the horizontal axis would touch even where they are turned.
    pub fn with_names(self, count: usize) -> Panes {
        const ALL: f64 = 560.0;
        const NAME: f64 = 13.0;
        let most = (ALL / (NAME * count.max(1) as f64)) as usize;
        // Rows and columns that have headings stay as they are.
        let columns = if self.headings.is_some() { self.columns } else { self.columns.min(most.max(1)) };
        Panes { columns, ..self }
    }

    /// A grid of these panes, whose panels are made by `panels`.
    pub fn grid(self, figure: &Figure, mut panels: impl FnMut(&Pane) -> Vec<Panel>) -> Grid {
        let mut grid = Grid::new(&figure.title, self.columns);
        grid.width = if self.columns == 1 { 560.0 } else { 720.0 };
        grid.blocks =
            self.panes.iter().map(|pane| Block { title: pane.title.clone(), panels: panels(pane) }).collect();
        if let Some((columns, rows)) = self.headings {
            grid.headings = Headings::Matrix { columns, rows };
        }
        grid
    }
}

/// Returns the number of panes in a row, of a total number of panes.
fn columns(count: usize, wide: bool) -> usize {
    match count {
        4 => 2,
        count => count.clamp(1, if wide { 2 } else { 3 }),
    }
}

/// How high a panel is where so many stand side by side.
pub(super) fn height(columns: usize) -> f64 {
    match columns {
        1 => 250.0,
        2 => 190.0,
        _ => 140.0,
    }
}

/// The title of an axis with its unit.
pub(super) fn with_unit(axis: &Axis) -> String {
    match &axis.unit {
        Some(unit) if !unit.is_empty() => format!("{} ({unit})", axis.title),
        _ => axis.title.clone(),
    }
}

/// What a point is called among others in a legend or a heading: a quantity after what it is of, `buffer 100` and not `100`.
pub(crate) fn condensed(axis: &Axis, point: &Point) -> String {
    match (point.value, point.label.parse::<f64>()) {
        (Some(value), Ok(_)) => format!("{} {}", small(&axis.title), plain(value)),
        (Some(_), Err(_)) => format!("{} {}", small(&axis.title), point.label),
        (None, _) => point.label.clone(),
    }
}

/// What a point is called where it stands alone: with the axis's title if it is a quantity, since `0` by itself says
/// nothing.
fn label(results: &Results, axis: usize, point: usize) -> String {
    let axis = &results.study.axes[axis];
    let Point { label, value } = &axis.points[point];
    let unit = axis.unit.as_deref().filter(|unit| !unit.is_empty());
    match (value, label.parse::<f64>()) {
        (Some(value), Ok(_)) => {
            let unit = unit.map(|unit| format!(" {unit}")).unwrap_or_default();
            format!("{} {}{unit}", axis.title, plain(*value))
        }
        (Some(_), Err(_)) => format!("{} {label}", axis.title),
        (None, _) => label.clone(),
    }
}

/// The same with the axis's title in any case, where there is room for it.
fn heading(results: &Results, axis: usize, point: usize) -> String {
    let label = label(results, axis, point);
    match results.study.axes[axis].points[point].value {
        Some(_) => label,
        None => format!("{}: {label}", results.study.axes[axis].title),
    }
}

fn names(points: &[usize], name: impl Fn(usize) -> String) -> Vec<String> {
    points.iter().map(|point| name(*point)).collect()
}
