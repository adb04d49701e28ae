//! One metric against another: a mean for each series with the ellipse of one standard deviation, as Remy (K. Winstein and
//! H. Balakrishnan, SIGCOMM 2013) and Pantheon (F. Y. Yan and others, USENIX ATC 2018) draw throughput against delay.

use super::Drawn;
use super::frame::{Panes, height};
use super::line::Series;
use super::observed::Observed;
use super::points::Chosen;
use super::traces::Traces;
use crate::measure::{Measure, Shown, small};
use crate::series::SeriesStyles;
use cwnd_metrics::Better;
use cwnd_metrics::statistics::Ellipse;
use cwnd_plot::style::Stroke;
use cwnd_plot::{self as plot, Inside, Key, Panel, Signs, Swatch};
use cwnd_study::{Figure, Per, Results};

pub(super) fn draw(
    results: &Results,
    figure: &Figure,
    looks: &SeriesStyles,
    traces: &Traces,
    (x, y, per): (&str, &str, Per),
) -> Drawn {
    let chosen = Chosen::new(results, &figure.select);
    let panes = Panes::new(&chosen, figure, false);
    let series = Series::new(&chosen, looks, figure.kind.series());
    let mut observed = Observed::new(&chosen, traces, per);
    let (across, up) = (observed.measure(x), observed.measure(y));

    let mut all: Vec<Vec<Vec<(f64, f64)>>> = Vec::new();
    for pane in &panes.panes {
        let mut pairs = |at: Option<(usize, usize)>| {
            let fast: Vec<(usize, usize)> = pane.at.iter().copied().chain(at).collect();
            observed.pairs(&chosen.at(&fast), [x, y])
        };
        all.push(series.0.iter().map(|one| pairs(one.at)).collect());
    }
    let pairs = || all.iter().flatten().flatten();
    let shown = [Shown::of(&across, pairs().map(|pair| pair.0)), Shown::of(&up, pairs().map(|pair| pair.1))];
    let is_reversed = across.better == Better::Less;
    let ellipses: Vec<Ellipse> = all.iter().flatten().filter_map(|pairs| Ellipse::of(pairs)).collect();
    let least = |of: fn(&Ellipse) -> [f64; 3]| {
        let lowest = |ellipse: &Ellipse| {
            let [centre, major, minor] = of(ellipse);
            centre - major.hypot(minor)
        };
        ellipses.iter().map(lowest).fold(f64::INFINITY, f64::min)
    };
    let lowest =
        [least(|e| [e.centre.0, e.major.0, e.minor.0]), least(|e| [e.centre.1, e.major.1, e.minor.1])];
    let x_axis = axis(&across, &shown[0], lowest[0]);
    let x_axis = if is_reversed { x_axis.reversed() } else { x_axis };
    let y_axis = axis(&up, &shown[1], lowest[1]);

    let columns = panes.columns;
    let mut each = all.iter();
    let mut grid = panes.grid(figure, |_| {
        let mut panel = Panel::new(x_axis.clone(), y_axis.clone(), 1.3 * height(columns));
        let scaled = |pairs: &Vec<(f64, f64)>| -> Vec<(f64, f64)> {
            pairs.iter().map(|(x, y)| (x * shown[0].factor, y * shown[1].factor)).collect()
        };
        let drawn: Vec<_> = series.0.iter().zip(each.next().into_iter().flatten().map(scaled)).collect();
        for (one, pairs) in &drawn {
            if let Some(Ellipse { centre, major, minor }) = Ellipse::of(pairs) {
                panel.add(plot::Ellipse {
                    centre,
                    major,
                    minor,
                    stroke: Stroke::solid(one.look.colour(), 1.0),
                });
            }
        }
        for (one, pairs) in drawn {
            let count = pairs.len().max(1) as f64;
            let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
            let points = if pairs.is_empty() { Vec::new() } else { vec![(mean(|p| p.0), mean(|p| p.1))] };
            let stroke = Stroke::solid(one.look.colour(), 1.4);
            panel.add(Signs { points, marker: one.look.marker(), stroke, inside: Inside::Colour });
        }
        vec![panel]
    });
    let named = series.0.iter().filter(|one| !one.label.is_empty());
    let swatch = |marker, colour| Swatch::sign(marker, colour, Inside::Colour);
    grid.keys = named.map(|one| Key::new(&one.label, swatch(one.look.marker(), one.look.colour()))).collect();
    grid.description = format!("{} against {}.", up.heading(), small(&across.title));
    let of = if per == Per::Flow { "flows" } else { "repeats" };
    let mut notes = vec![format!("Markers are means; an ellipse spans one standard deviation of the {of}.")];
    notes.extend(is_reversed.then(|| format!("{} falls to the right.", across.heading())));
    notes.extend(match (across.better, up.better) {
        (Better::Less | Better::More, Better::More) => Some("Better is up and to the right.".to_owned()),
        _ => None,
    });
    notes.extend(observed.notes(&figure.kind, &figure.panels));
    Drawn { grid, notes, samples: None }
}

/// The axis of a metric. An ellipse that reaches below the least possible value is cut off there.
fn axis(measure: &Measure, shown: &Shown, lowest: f64) -> plot::Axis {
    let (least, most) = measure.range;
    let axis = plot::Axis::linear(&measure.heading(), &shown.unit);
    let axis = axis.within(least * shown.factor, most * shown.factor);
    if lowest < least { axis.from(least * shown.factor) } else { axis }
}
