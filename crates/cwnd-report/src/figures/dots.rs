//! A metric as dots: what bars show, where there would be too many of them. Each group is a row with its name, and each series
//! a dot of it; rows are in order of their means.

use super::Drawn;
use super::frame::{Panes, with_unit};
use super::heat_map::first;
use super::line::{Series, name};
use super::points::{Chosen, Tally};
use super::possible::Possible;
use crate::estimate::Estimate;
use crate::measure::{Measure, Shown, small};
use crate::series::SeriesStyles;
use cwnd_metrics::Better;
use cwnd_plot::style::Stroke;
use cwnd_plot::{self as plot, Inside, Key, Line, Panel, Signs, Swatch};
use cwnd_study::{Figure, Results};

/// The most bars of a panel: more are thinner than 10 of the figure's 560 units and cannot be told apart.
pub(super) const MOST_BARS: usize = 40;
/// Height of a row.
const ROW: f64 = 15.0;

pub(super) fn draw(
    results: &Results,
    figure: &Figure,
    looks: &SeriesStyles,
    (x_axis, y): (usize, &str),
    series: Option<&str>,
) -> Drawn {
    let chosen = Chosen::new(results, &figure.select);
    let study = &results.study;
    let measure = Measure::of_study(study, y);
    let panes = Panes::new(&chosen, figure, true);
    let series = Series::new(&chosen, looks, series);
    let groups = chosen.points(x_axis);

    let mut tally = Tally::default();
    let all = series.means(&chosen, &panes, (x_axis, &groups), y, &mut tally);
    let values = || all.iter().flatten().flatten().flatten().map(|e| e.mean);
    let shown = Shown::of(&measure, values());
    let possible = Possible::new(&chosen, y, &measure, values()).times(shown.factor);
    let quantity = possible.axis(plot::Axis::linear(&measure.heading(), &shown.unit));
    let quantity = if values().all(|mean| mean >= 0.0) { quantity.from(0.0) } else { quantity };

    let order = order(&all, groups.len(), measure.better);
    let axis = &study.axes[x_axis];
    // The last row is at the bottom, where an axis of names begins.
    let names = order.iter().rev().map(|group| name(&axis.points[groups[*group]]));
    let rows = plot::Axis::named(&with_unit(axis), names);
    let place = |row: usize| (order.len() - 1 - row) as f64;

    let mut each = all.iter();
    let mut grid = panes.grid(figure, |_| {
        let mut panel = Panel::new(quantity.clone(), rows.clone(), ROW * order.len() as f64);
        let of_series = each.next().map(Vec::as_slice).unwrap_or_default();
        for (one, means) in series.0.iter().zip(of_series) {
            let dot = |(row, group): (usize, &usize)| {
                let mean = means[*group]?.times(shown.factor);
                Some((mean, place(row)))
            };
            let dots: Vec<(Estimate, f64)> = order.iter().enumerate().filter_map(dot).collect();
            for (mean, row) in &dots {
                if let Some((low, high)) = possible.interval(mean) {
                    panel.add(Line::new(
                        vec![(low, *row), (high, *row)],
                        Stroke::solid(one.look.colour(), 1.0),
                    ));
                }
            }
            let points = dots.iter().map(|(mean, row)| (mean.mean, *row)).collect();
            let stroke = Stroke::solid(one.look.colour(), 1.3);
            panel.add(Signs { points, marker: one.look.marker(), stroke, inside: Inside::Paper });
        }
        vec![panel]
    });
    let named = series.0.iter().filter(|one| !one.label.is_empty());
    let key = |look: crate::series::SeriesStyle| Swatch::sign(look.marker(), look.colour(), Inside::Paper);
    grid.keys = named.map(|one| Key::new(&one.label, key(one.look))).collect();
    let mut used: Vec<usize> = figure.panels.iter().filter_map(|name| study.axis(name)).collect();
    used.extend(series.0.iter().flat_map(|one| one.at.map(|(axis, _)| axis)).chain([x_axis]));
    let mut notes = tally.notes(&chosen, &used, "(no dot)");
    notes.push(format!("Rows are in order of the mean of their dots, {} first.", first(measure.better)));
    grid.description = format!("{} by {}, as dots.", measure.heading(), small(&axis.title));
    Drawn { grid, notes, samples: None }
}

/// The groups in order of the mean of all that they have, the best first; where neither way is better, the greatest. Those
/// without a value come last.
fn order(all: &[Vec<Vec<Option<Estimate>>>], groups: usize, better: Better) -> Vec<usize> {
    let mean = |group: usize| {
        let of_group: Vec<f64> =
            all.iter().flatten().filter_map(|means| Some(means.get(group)?.as_ref()?.mean)).collect();
        let mean = of_group.iter().sum::<f64>() / of_group.len() as f64;
        let rank = if better == Better::Less { mean } else { -mean };
        if rank.is_nan() { f64::INFINITY } else { rank }
    };
    let mut order: Vec<usize> = (0..groups).collect();
    order.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_row_comes_first() {
        let mean = |mean: f64| Some(Estimate { mean, half: None, deviation: None, count: 1 });
        // Two series of four groups: means 2, 5, none and 3.
        let all =
            vec![vec![vec![mean(1.0), mean(5.0), None, mean(2.0)], vec![mean(3.0), None, None, mean(4.0)]]];
        assert_eq!(order(&all, 4, Better::More), [1, 3, 0, 2]);
        assert_eq!(order(&all, 4, Better::Less), [0, 3, 1, 2]);
    }
}
