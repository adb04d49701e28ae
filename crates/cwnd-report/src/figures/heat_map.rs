//! A metric over two axes, in colour and as a number. Of Jain's index over two algorithm axes it is the fairness
//! matrix.

use super::frame::{Panes, with_unit};
use super::line::name;
use super::points::{Chosen, Tally};
use super::{Drawn, without_axis};
use crate::estimate::Estimate;
use crate::measure::{Measure, Shown, decimals, number, small};
use cwnd_metrics::Better;
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
    let panes = Panes::new(&chosen, figure, false).with_names(across.len());
    let is_sorted = is_sorted(&study.axes[x_axis], &study.axes[y_axis], up.len());
    if is_sorted {
        sort(&mut up, measure.better, |point| {
            let cells = chosen.at(&[(y_axis, point)]);
            let means =
                cells.iter().filter_map(|cell| Estimate::of(results, &[*cell], value)).map(|e| e.mean);
            means.collect()
        });
    }

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
    notes.extend(
        is_sorted.then(|| format!("Rows are in order of their means, {} first.", first(measure.better))),
    );
    notes.extend(equal_rows(&all, &names(&study.axes[y_axis], &up)));
    if high <= low {
        notes.push(format!("All values are in {}.", unit_words(&measure.title, &shown.unit)));
    }
    grid.description =
        format!("{} by {} and {}.", measure.heading(), small(&x_names.title), small(&y_names.title));
    Drawn { grid, notes, samples: None }
}

/// Place to the right and upwards, whether the study has it, and its mean.
type Place = (usize, usize, bool, Option<Estimate>);

/// Rows of names beyond this number are sorted.
const MOST_UNSORTED: usize = 12;

/// Whether rows are put in order: many names, on an axis that is not the other's as well (as in a fairness matrix).
fn is_sorted(across: &Axis, up: &Axis, rows: usize) -> bool {
    let has_values = up.points.iter().any(|point| point.value.is_some());
    let is_matrix =
        up.points.iter().all(|point| across.points.iter().any(|other| other.label == point.label));
    rows > MOST_UNSORTED && !has_values && !is_matrix
}

/// What the uppermost of ordered rows is called; of a metric without a better direction it is only the greatest.
pub(super) fn first(better: Better) -> &'static str {
    if better == Better::Neither { "the greatest" } else { "the best" }
}

/// Puts points in order from the bottom: the best mean comes last (the greatest, where neither way is better), and is the
/// uppermost row. Those without values are lowest.
fn sort(points: &mut [usize], better: Better, values: impl Fn(usize) -> Vec<f64>) {
    let rank = |point: &usize| {
        let values = values(*point);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let rank = if better == Better::Less { -mean } else { mean };
        if rank.is_nan() { f64::NEG_INFINITY } else { rank }
    };
    points.sort_by_cached_key(|point| Rank(rank(point)));
}

/// A number that is ordered.
#[derive(PartialEq)]
struct Rank(f64);

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Rank) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Rank) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Which rows have equal values in every column: algorithms that differ only in what no path here does, such as marking.
fn equal_rows(all: &[Vec<Place>], names: &[String]) -> Option<String> {
    let row = |row: usize| -> Vec<Option<u64>> {
        let places = all.iter().flatten().filter(|(_, j, ..)| *j == row);
        places.map(|(.., estimate)| estimate.map(|e| e.mean.to_bits())).collect()
    };
    let mut groups: Vec<(Vec<Option<u64>>, Vec<&str>)> = Vec::new();
    for (i, name) in names.iter().enumerate().rev() {
        let values = row(i);
        // A single column, or one without values, says nothing of two rows.
        if values.len() < 2 || values.iter().any(Option::is_none) {
            continue;
        }
        match groups.iter_mut().find(|(known, _)| *known == values) {
            Some((_, names)) => names.push(name),
            None => groups.push((values, vec![name])),
        }
    }
    let equal: Vec<String> =
        groups.iter().filter(|(_, names)| names.len() > 1).map(|(_, names)| names.join(" = ")).collect();
    (!equal.is_empty()).then(|| {
        format!(
            "Equal to the bit in every column, since nothing here lets them differ: {}.",
            equal.join("; ")
        )
    })
}

/// As many decimals as tell a hundredth of the range.
fn digits(low: f64, high: f64) -> usize {
    let span = high - low;
    if span > 0.0 { decimals(high, Some(span / 40.0)).min(4) } else { decimals(high, None).min(4) }
}

fn unit_words(title: &str, unit: &str) -> String {
    if unit.is_empty() { title.to_owned() } else { format!("{title}, {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_row_is_the_uppermost() {
        let values = |point: usize| [vec![0.5, 0.7], vec![0.9], vec![], vec![0.1, 0.2]][point].clone();
        let mut points = vec![0, 1, 2, 3];
        sort(&mut points, Better::More, values);
        assert_eq!(points, [2, 3, 0, 1]);
        sort(&mut points, Better::Less, values);
        assert_eq!(points, [2, 1, 0, 3]);
        sort(&mut points, Better::Neither, values);
        assert_eq!((points, first(Better::Neither)), (vec![2, 3, 0, 1], "the greatest"));
        assert_eq!([Better::More, Better::Less].map(first), ["the best"; 2]);
    }

    #[test]
    fn equal_rows_are_named() {
        let place =
            |i, j, mean: f64| (i, j, true, Some(Estimate { mean, half: None, deviation: None, count: 1 }));
        let row = |j, a, b| [place(0, j, a), place(1, j, b)];
        let all = vec![[row(0, 1.0, 2.0), row(1, 1.0, 3.0), row(2, 1.0, 2.0)].concat()];
        let names = ["dctcp", "cubic", "newreno"].map(str::to_owned);
        let note = equal_rows(&all, &names).unwrap();
        assert!(note.ends_with(": newreno = dctcp."), "{note}");
        assert_eq!(equal_rows(&all[..0], &names), None);
    }
}
