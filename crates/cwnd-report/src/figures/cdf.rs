//! The cumulative distribution of a quantity, a step line for each series.

use super::Drawn;
use super::frame::{Panes, height};
use super::line::Series;
use super::observed::Observed;
use super::points::Chosen;
use super::traces::Traces;
use crate::measure::Shown;
use crate::series::SeriesStyles;
use cwnd_metrics::statistics::cumulative;
use cwnd_plot::{self as plot, Key, Line, Panel, Swatch};
use cwnd_study::{Figure, Per, Results, Scale};

pub(super) fn draw(
    results: &Results,
    figure: &Figure,
    looks: &SeriesStyles,
    traces: &Traces,
    (x, per, scale): (&str, Per, Scale),
) -> Drawn {
    let chosen = Chosen::new(results, &figure.select);
    let panes = Panes::new(&chosen, figure, false);
    let series = Series::new(&chosen, looks, figure.kind.series());
    let mut observed = Observed::new(&chosen, traces, per);
    let measure = observed.measure(x);

    // For every pane and series its values.
    let mut all: Vec<Vec<Vec<f64>>> = Vec::new();
    for pane in &panes.panes {
        let mut values = |at: Option<(usize, usize)>| {
            let fast: Vec<(usize, usize)> = pane.at.iter().copied().chain(at).collect();
            observed.values(&chosen.at(&fast), x)
        };
        all.push(series.0.iter().map(|one| values(one.at)).collect());
    }
    let values = || all.iter().flatten().flatten().copied();
    // The unit suits the middle of the values: the greatest may be far off.
    let middle = cwnd_metrics::statistics::percentile(&values().map(f64::abs).collect::<Vec<_>>(), 75.0);
    let shown = measure.shown(middle.unwrap_or(0.0));
    let quantity = axis(&measure.heading(), &shown, scale, values().any(|value| value <= 0.0));
    let part = plot::Axis::linear("Cumulative share", "%").from(0.0).to(100.0);

    let columns = panes.columns;
    let mut each = all.iter();
    let mut grid = panes.grid(figure, |_| {
        let mut panel = Panel::new(quantity.clone(), part.clone(), height(columns));
        for (one, values) in series.0.iter().zip(each.next().into_iter().flatten()) {
            let values: Vec<f64> = values.iter().map(|value| value * shown.factor).collect();
            panel.add(Line::new(steps(&cumulative(&values)), one.look.stroke(1.6)));
        }
        vec![panel]
    });
    let named = series.0.iter().filter(|one| !one.label.is_empty());
    grid.keys = named.map(|one| Key::new(&one.label, Swatch::line(one.look.stroke(1.6)))).collect();
    grid.description = format!("Cumulative distribution of {}.", crate::measure::small(&measure.title));
    let notes = observed.notes(&figure.kind, &figure.panels);
    Drawn { grid, notes, samples: None }
}

fn axis(heading: &str, shown: &Shown, scale: Scale, has_zero: bool) -> plot::Axis {
    match scale {
        // What is not positive has no place on it.
        Scale::Log if !has_zero => plot::Axis::log(heading, &shown.unit),
        _ => plot::Axis::linear(heading, &shown.unit),
    }
}

/// The corners of the steps, in per cent: up from nothing at the least value, and level to the next.
fn steps(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let mut steps = Vec::with_capacity(2 * points.len());
    for (value, share) in points {
        steps.extend([(*value, before), (*value, 100.0 * share)]);
        before = 100.0 * share;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_rise_at_the_values() {
        let corners = steps(&cumulative(&[4.0, 1.0, 4.0, 2.0]));
        assert_eq!(corners, [(1.0, 0.0), (1.0, 25.0), (2.0, 25.0), (2.0, 50.0), (4.0, 50.0), (4.0, 100.0)]);
        assert!(steps(&[]).is_empty());
    }
}
