//! How far the numbers of a table are from those that the publication prints: ours divided by theirs, in colour on a
//! logarithmic scale and as a number.

use super::line::name;
use super::points::{Chosen, Tally};
use super::{Drawn, frame};
use crate::estimate::Estimate;
use crate::measure::{Measure, number, small};
use cwnd_plot::colour_scale::{ColourBar, Colours};
use cwnd_plot::{self as plot, Block, Cells, Grid, Panel, Tile};
use cwnd_study::{Figure, Results, Study, Table};

/// The colours end where one of ours and theirs is this multiple of the other.
const END: f64 = 2.0;

/// Points of axes that a row or a column stands for.
type Place = Vec<(usize, usize)>;

pub(super) fn draw(results: &Results, figure: &Figure, table: &str) -> Drawn {
    let study = &results.study;
    let Some(table) = study.table(table) else {
        let notes = vec!["It cannot be drawn: its table is not run at this scale.".to_owned()];
        return Drawn { grid: Grid::new(&figure.title, 1), notes, samples: None };
    };
    let chosen = Chosen::new(results, &table.select);
    let axes = Axes::new(study, table);
    let (across, mut up) = (places(&chosen, &axes.across), places(&chosen, &axes.up));
    // Names and rows of a table are read from the top.
    up.reverse();
    let metrics: Vec<&String> =
        table.metrics.iter().filter(|name| table.printed.iter().any(|p| p.metric == **name)).collect();

    let mut tally = Tally::default();
    let mut found = Found::default();
    let mut grid = Grid::new(&figure.title, if metrics.len() > 1 { 2 } else { 1 });
    for metric in &metrics {
        let mut tiles = Vec::new();
        for (j, row) in up.iter().enumerate() {
            for (i, column) in across.iter().enumerate() {
                let at: Place = row.iter().chain(column).copied().collect();
                let Some(printed) = printed(study, table, metric, &at) else { continue };
                let ours = tally.estimate(results, &chosen.at(&at), metric);
                tiles.push(found.tile(i, j, ours.map(|e| e.times(table.scale_of(metric))), printed));
            }
        }
        let names = |places: &[Place]| places.iter().map(|place| joined(study, place)).collect::<Vec<_>>();
        let x = plot::Axis::named(&titles(study, &axes.across), names(&across));
        let y = plot::Axis::named(&titles(study, &axes.up), names(&up));
        let mut panel = Panel::new(x, y, (21.0 * up.len() as f64).clamp(60.0, 640.0));
        panel.add(Cells { tiles });
        let title = Measure::of_study(study, metric).heading();
        grid.blocks.push(Block { title, panels: vec![panel] });
    }
    let wide = 190.0 + 46.0 * (across.len() * grid.columns) as f64;
    grid.width = wide.clamp(400.0, 760.0);
    grid.bar = Some(ColourBar { axis: scale(), colours: Colours::Diverging });
    grid.description =
        format!("Ours divided by what the table prints, by {}.", small(&titles(study, &axes.up)));
    Drawn { grid, notes: found.notes(), samples: None }
}

/// The axes of a table: those of its columns to the right, or else the first of its rows, and the others upwards.
struct Axes {
    across: Vec<usize>,
    up: Vec<usize>,
}

impl Axes {
    fn new(study: &Study, table: &Table) -> Axes {
        let rows: Vec<usize> = table.rows.iter().filter_map(|name| study.axis(name)).collect();
        match table.columns.as_deref().and_then(|name| study.axis(name)) {
            Some(columns) => Axes { across: vec![columns], up: rows },
            None => {
                let (first, others) = rows.split_at(rows.len().min(1));
                Axes { across: first.to_vec(), up: others.to_vec() }
            }
        }
    }
}

/// Every combination of points that any cell has; one of nothing where there is no axis.
fn places(chosen: &Chosen<'_>, axes: &[usize]) -> Vec<Place> {
    let mut places: Vec<Place> = vec![Vec::new()];
    for axis in axes {
        let points = chosen.points(*axis);
        let longer =
            |place: Place| points.iter().map(move |p| place.iter().copied().chain([(*axis, *p)]).collect());
        places = places.into_iter().flat_map(longer).collect();
    }
    places.retain(|place| !chosen.at(place).is_empty());
    places
}

fn joined(study: &Study, place: &Place) -> String {
    let names = place.iter().map(|(axis, point)| name(&study.axes[*axis].points[*point]));
    names.collect::<Vec<_>>().join(", ")
}

fn titles(study: &Study, axes: &[usize]) -> String {
    axes.iter().map(|axis| frame::with_unit(&study.axes[*axis])).collect::<Vec<_>>().join(", ")
}

/// The number that is printed at these points.
fn printed(study: &Study, table: &Table, metric: &str, at: &Place) -> Option<f64> {
    let is_at = |axis: &str, label: &str| {
        at.iter()
            .any(|(a, point)| study.axes[*a].name == axis && study.axes[*a].points[*point].label == label)
    };
    let mut of_metric = table.printed.iter().filter(|printed| printed.metric == metric);
    let here = of_metric.find(|printed| printed.at.iter().all(|(axis, label)| is_at(axis, label)));
    here.map(|printed| printed.value)
}

/// The axis of the colours.
fn scale() -> plot::Axis {
    let labels = [1.0 / END, 1.0 / 1.4, 1.0, 1.4, END];
    let labels = labels.map(|ratio| (ratio, number(ratio, if ratio == 1.0 { 0 } else { 1 })));
    plot::Axis::log("ours / printed", "").from(1.0 / END).to(END).tight().labelled(labels.into())
}

/// What the ratios of a figure are.
#[derive(Default)]
struct Found {
    ratios: Vec<f64>,
    /// How many are printed as 0, and have no ratio.
    zeros: usize,
    missing: usize,
}

impl Found {
    fn tile(&mut self, i: usize, j: usize, ours: Option<Estimate>, printed: f64) -> Tile {
        let (x, y) = (i as f64, j as f64);
        let ratio = ours.map(|ours| ours.mean / printed).filter(|ratio| ratio.is_finite() && *ratio >= 0.0);
        match (ratio, ours) {
            (Some(ratio), _) => {
                self.ratios.push(ratio);
                let share = 0.5 + 0.5 * (ratio.ln() / END.ln()).clamp(-1.0, 1.0);
                let decimals = if ratio >= 9.995 { 1 } else { 2 };
                Tile { x, y, colour: Some(Colours::Diverging.of(share)), text: number(ratio, decimals) }
            }
            (None, Some(_)) => {
                self.zeros += 1;
                Tile { x, y, colour: None, text: "\u{2013}".into() }
            }
            (None, None) => {
                self.missing += 1;
                Tile { x, y, colour: None, text: String::new() }
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let within = |part: f64| self.ratios.iter().filter(|ratio| (*ratio - 1.0).abs() <= part).count();
        let mut notes = vec![format!(
            "Ours divided by the printed number: {} of {} are within 5 %, {} within 20 %. Colours end at a factor of {END}.",
            within(0.05),
            self.ratios.len(),
            within(0.2)
        )];
        if self.zeros > 0 {
            notes.push(format!("Striped with a dash: {} printed as 0, which has no ratio.", self.zeros));
        }
        if self.missing > 0 {
            notes.push(format!("Striped: {} without a run.", self.missing));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_symmetric_in_the_logarithm() {
        let of = |mean: f64, printed: f64| {
            let ours = Some(Estimate { mean, half: None, deviation: None, count: 1 });
            Found::default().tile(0, 0, ours, printed)
        };
        let middle = Colours::Diverging.of(0.5);
        assert_eq!((of(7.0, 7.0).colour, of(7.0, 7.0).text.as_str()), (Some(middle), "1.00"));
        assert_eq!(of(20.0, 10.0).colour, Some(Colours::Diverging.of(1.0)));
        assert_eq!(of(10.0, 20.0).colour, Some(Colours::Diverging.of(0.0)));
        assert_eq!(of(90.0, 1.0).colour, of(20.0, 10.0).colour, "beyond the end of the scale");
        assert_eq!((of(1.0, 0.0).colour, of(0.0, 0.0).text.as_str()), (None, "\u{2013}"));
        assert_eq!(of(0.0, 2.0).text, "0.00");
    }
}
