//! Box plots: groups along one axis, a box of each group for each series.

use super::frame::{Panes, height, with_unit};
use super::line::{Series, name};
use super::observed::Observed;
use super::points::Chosen;
use super::traces::Traces;
use super::{Drawn, without_axis};
use crate::measure::{Shown, small};
use crate::series::SeriesStyles;
use cwnd_metrics::statistics::Quartiles;
use cwnd_plot::style::Marker;
use cwnd_plot::{self as plot, BoxPlot, Boxes, Key, Panel, Swatch};
use cwnd_study::{Figure, Per, Results};

/// Part of a group's room that its boxes take.
const FULL: f64 = 0.78;

pub(super) fn draw(
    results: &Results,
    figure: &Figure,
    looks: &SeriesStyles,
    traces: &Traces,
    (x, y, per): (&str, &str, Per),
) -> Drawn {
    let chosen = Chosen::new(results, &figure.select);
    let study = &results.study;
    let Some(x_axis) = study.axis(x) else { return without_axis(figure, x) };
    let panes = Panes::new(&chosen, figure, false);
    let series = Series::new(&chosen, looks, figure.kind.series());
    let groups = chosen.points(x_axis);
    let mut observed = Observed::new(&chosen, traces, per);
    let measure = observed.measure(y);

    let mut all: Vec<Vec<Vec<Option<Quartiles>>>> = Vec::new();
    for pane in &panes.panes {
        let mut quartiles = |at: Option<(usize, usize)>, group: usize| {
            let fast: Vec<(usize, usize)> =
                pane.at.iter().copied().chain(at).chain([(x_axis, group)]).collect();
            Quartiles::of(&observed.values(&chosen.at(&fast), y))
        };
        let of_series = |at| groups.iter().map(|group| quartiles(at, *group)).collect();
        let at: Vec<Option<(usize, usize)>> = series.0.iter().map(|one| one.at).collect();
        all.push(at.into_iter().map(of_series).collect());
    }
    let found = || all.iter().flatten().flatten().flatten();
    let shown = Shown::of(&measure, found().map(|q| q.whiskers.1));
    let (least, most) = measure.range;
    let y_axis = plot::Axis::linear(&measure.heading(), &shown.unit);
    let y_axis = y_axis.within(least * shown.factor, most * shown.factor);
    let axis = &study.axes[x_axis];
    let names = groups.iter().map(|group| name(&axis.points[*group]));
    let x_drawn = plot::Axis::named(&with_unit(axis), names);

    let columns = panes.columns;
    let mut each = all.iter();
    let mut grid = panes.grid(figure, |_| {
        let mut panel = Panel::new(x_drawn.clone(), y_axis.clone(), height(columns));
        let width = FULL / series.0.len().max(1) as f64;
        let of_series = each.next().map(Vec::as_slice).unwrap_or_default();
        for (s, (one, of_groups)) in series.0.iter().zip(of_series).enumerate() {
            let draw = |(group, quartiles): (usize, &Option<Quartiles>)| {
                let quartiles = quartiles.as_ref()?;
                let left = group as f64 - FULL / 2.0 + width * s as f64;
                let times = |value: f64| value * shown.factor;
                Some(BoxPlot {
                    x: (left + 0.1 * width, left + 0.9 * width),
                    quartiles: [quartiles.lower, quartiles.median, quartiles.upper].map(times),
                    whiskers: (times(quartiles.whiskers.0), times(quartiles.whiskers.1)),
                    outliers: quartiles.outliers.iter().copied().map(times).collect(),
                })
            };
            let boxes = of_groups.iter().enumerate().filter_map(draw).collect();
            panel.add(Boxes { boxes, colour: one.look.colour(), marker: Marker::Circle });
        }
        vec![panel]
    });
    let named = series.0.iter().filter(|one| !one.label.is_empty());
    grid.keys = named.map(|one| Key::new(&one.label, Swatch::fill(one.look.colour(), 0.6))).collect();
    grid.description = format!("{} by {}, as box plots.", measure.heading(), small(&axis.title));
    let mut notes = vec![
        "Boxes span the quartiles with a line at the median; whiskers reach to the furthest value within 1.5 \
         interquartile ranges, and circles are the values beyond."
            .to_owned(),
    ];
    notes.extend(observed.notes(&figure.kind, &figure.panels));
    Drawn { grid, notes, samples: None }
}
