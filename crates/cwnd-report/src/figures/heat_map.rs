//! A metric over two axes, in colour and as a number. Of Jain's index over two algorithm axes it is the fairness
//! matrix.

use super::frame::{Panes, with_unit};
use super::line::name;
use super::points::{Chosen, Tally};
use super::{Drawn, without_axis};
use crate::estimate::Estimate;
use crate::measure::{Measure, Shown, decimals, number, small};
use cwnd_plot::colour_scale::{self, ColourBar, Colours};
use cwnd_plot::{self as plot, Cells, Panel, Tile};
use cwnd_study::{Axis, Figure, Results};

pub(super) fn draw(results: &Results, figure: &Figure, x: &str, y: &str, value: &str) -> Drawn {
    let chosen = Chosen::new(results, &figure.select);
    let study = &results.study;
    let measure = Measure::of_study(study, value);
    let Some(x_axis) = study.axis(x) else { return without_axis(figure, x) };
    let Some(y_axis) = study.axis(y) else { return without_axis(figure, y) };
    let (across, mut up) = (chosen.points(x_axis), chosen.points(y_axis));
    // A quantity grows upwards; names are read from the top.
    if up.iter().any(|point| study.axes[y_axis].points[*point].value.is_none()) {
        up.reverse();
    }
    let panes = Panes::new(&chosen, figure, false);

    let mut tally = Tally::default();
    let mut all: Vec<Vec<Place>> = Vec::new();
    for pane in &panes.panes {
        let mut mean = |i: usize, j: usize| {
            let own = [(x_axis, across[i]), (y_axis, up[j])];
            let fast: Vec<(usize, usize)> = pane.at.iter().copied().chain(own).collect();
            let cells = chosen.at(&fast);
            (i, j, !cells.is_empty(), tally.estimate(results, &cells, value))
        };
        let places = (0..up.len()).flat_map(|j| (0..across.len()).map(move |i| (i, j)));
        all.push(places.map(|(i, j)| mean(i, j)).collect());
    }
    let estimates = || all.iter().flatten().filter_map(|(.., e)| *e);
    let shown = Shown::of(&measure, estimates().map(|e| e.mean));
    let values = || estimates().map(|e| e.mean * shown.factor);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
    let share = |v: f64| if high > low { (v - low) / (high - low) } else { 0.5 };
    let digits = digits(low, high);

    let tile = |&(i, j, exists, e): &Place| {
        let value = e.map(|e| e.mean * shown.factor);
        Tile {
            x: i as f64,
            y: j as f64,
            colour: value.map(|v| colour_scale::colour(share(v))),
            text: value.map_or(if exists { "missing" } else { "" }.into(), |v| number(v, digits)),
        }
    };
    let names = |axis: &Axis, points: &[usize]| -> Vec<String> {
        points.iter().map(|point| name(&axis.points[*point])).collect()
    };
    let (x_names, y_names) = (&study.axes[x_axis], &study.axes[y_axis]);
    let columns = panes.columns;
    let width = if columns == 1 { (250.0 + 62.0 * across.len() as f64).clamp(400.0, 720.0) } else { 720.0 };
    let high_each = if columns == 1 { 40.0 } else { 28.0 };
    let mut each = all.iter();
    let mut grid = panes.grid(figure, |_| {
        let x_drawn = plot::Axis::named(&with_unit(x_names), names(x_names, &across));
        let y_drawn = plot::Axis::named(&with_unit(y_names), names(y_names, &up));
        let height = (high_each * up.len() as f64).clamp(60.0, 640.0);
        let mut panel = Panel::new(x_drawn, y_drawn, height);
        panel.add(Cells { tiles: each.next().into_iter().flatten().map(tile).collect() });
        vec![panel]
    });
    grid.width = width;
    if high > low && estimates().next().is_some() {
        grid.bar = Some(ColourBar {
            axis: plot::Axis::linear(&measure.heading(), &shown.unit).from(low).to(high),
            colours: Colours::Sequential,
        });
    }
    let mut used: Vec<usize> = figure.panels.iter().filter_map(|name| study.axis(name)).collect();
    used.extend([x_axis, y_axis]);
    let mut notes = tally.notes(&chosen, &used, "(striped)");
    // The tiles show no intervals, so the note must not promise any.
    if let Some(first) = notes.first_mut() {
        *first = first.replace(" with 95 % intervals", "").replace(", so there are no intervals", "");
    }
    if high <= low {
        notes.push(format!("All values are in {}.", unit_words(&measure.title, &shown.unit)));
    }
    grid.description =
        format!("{} by {} and {}.", measure.heading(), small(&x_names.title), small(&y_names.title));
    Drawn { grid, notes, samples: None }
}

/// Place to the right and upwards, whether the study has it, and its mean.
type Place = (usize, usize, bool, Option<Estimate>);

/// As many decimals as tell a hundredth of the range.
fn digits(low: f64, high: f64) -> usize {
    let span = high - low;
    if span > 0.0 { decimals(high, Some(span / 40.0)).min(4) } else { decimals(high, None).min(4) }
}

fn unit_words(title: &str, unit: &str) -> String {
    if unit.is_empty() { title.to_owned() } else { format!("{title}, {unit}") }
}
