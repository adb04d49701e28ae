//! A metric as bars: groups along one axis, a bar of each group for each series. Too many bars become dots.

use super::dots;
use super::frame::{Panes, height, with_unit};
use super::line::{Series, name};
use super::missing::Missing;
use super::points::{Chosen, Tally};
use super::possible::Possible;
use super::stated::{self, PrintedNumbers};
use super::{Drawn, without_axis};
use crate::estimate::Estimate;
use crate::measure::{Measure, Shown, small};
use crate::series::SeriesStyles;
use cwnd_plot::style::{INK, Marker, Stroke};
use cwnd_plot::{self as plot, Bar, Bars, Inside, Key, Panel, Signs, Swatch};
use cwnd_study::{Figure, Results};

/// Part of a group's room that its bars take.
const FULL: f64 = 0.78;

pub(super) fn draw(
    results: &Results,
    figure: &Figure,
    looks: &SeriesStyles,
    x: &str,
    y: &str,
    series: Option<&str>,
) -> Drawn {
    let chosen = Chosen::new(results, &figure.select);
    let study = &results.study;
    let measure = Measure::of_study(study, y);
    let Some(x_axis) = study.axis(x) else { return without_axis(figure, x) };
    let by = series;
    let series = Series::new(&chosen, looks, series);
    let groups = chosen.points(x_axis);
    let panes = Panes::new(&chosen, figure, false).with_names(groups.len());
    // Printed numbers and stated lines are drawn over bars.
    let is_plain = figure.printed.is_none() && figure.lines.is_empty();
    if is_plain && groups.len() * series.0.len() > dots::MOST_BARS {
        return dots::draw(results, figure, looks, (x_axis, y), by);
    }

    let mut tally = Tally::default();
    let all = series.means(&chosen, &panes, (x_axis, &groups), y, &mut tally);
    let printed = PrintedNumbers::new(results, figure);
    let ours = || all.iter().flatten().flatten().flatten().map(|e| e.mean);
    let values = || ours().chain(printed.values());
    let shown = Shown::of(&measure, values());
    let possible = Possible::new(&chosen, y, &measure, values()).times(shown.factor);
    let y_axis = possible.axis(plot::Axis::linear(&measure.heading(), &shown.unit));
    let is_positive = values().all(|mean| mean >= 0.0);
    let y_axis = if is_positive { y_axis.from(0.0) } else { y_axis };
    let axis = &study.axes[x_axis];
    let names = groups.iter().map(|group| name(&axis.points[*group]));
    let x_drawn = plot::Axis::named(&with_unit(axis), names);

    let columns = panes.columns;
    let mut each = all.iter();
    let mut grid = panes.grid(figure, |pane| {
        let mut panel = Panel::new(x_drawn.clone(), y_axis.clone(), height(columns));
        let means = each.next().map(Vec::as_slice).unwrap_or_default();
        let width = FULL / series.0.len().max(1) as f64;
        for (s, (one, means)) in series.0.iter().zip(means).enumerate() {
            let left = |group: usize| group as f64 - FULL / 2.0 + width * s as f64;
            let bar = |(group, mean): (usize, &Option<Estimate>)| {
                let mean = mean.map(|e| e.times(shown.factor));
                let room = 0.06 * width;
                Bar {
                    x: (left(group) + room, left(group) + width - room),
                    value: mean.map_or(f64::NAN, |e| e.mean),
                    interval: mean.and_then(|e| e.interval()),
                }
            };
            let bars = means.iter().enumerate().map(bar).collect();
            let (colour, hatch) = (one.look.colour(), one.look.hatch());
            panel.add(Bars { bars, colour, hatch, within: possible.ends() });
            let is_missing = |(group, mean): &(usize, &Option<Estimate>)| {
                let at = pane.at.iter().copied().chain(one.at).chain([(x_axis, groups[*group])]);
                mean.is_none() && chosen.has(&at.collect::<Vec<_>>())
            };
            let missing = means.iter().enumerate().filter(is_missing);
            let places = missing.map(|(group, _)| (left(group) + width / 2.0, 0.0)).collect();
            panel.add(Missing { places, colour: one.look.colour() });
            let number = |(group, point): (usize, &usize)| {
                let at = pane.at.iter().copied().chain(one.at).chain([(x_axis, *point)]);
                printed.at(at).map(|number| (left(group) + width / 2.0, number * shown.factor))
            };
            let points = groups.iter().enumerate().filter_map(number).collect();
            let stroke = Stroke::solid(one.look.colour(), 1.3);
            panel.add(Signs { points, marker: Marker::Diamond, stroke, inside: Inside::Paper });
        }
        panel.references = stated::references(study, figure, pane, looks, shown.factor);
        vec![panel]
    });
    let named = series.0.iter().filter(|one| !one.label.is_empty());
    grid.keys =
        named.map(|one| Key::new(&one.label, Swatch::hatch(one.look.hatch(), one.look.colour()))).collect();
    let mut used: Vec<usize> = figure.panels.iter().filter_map(|name| study.axis(name)).collect();
    used.extend(series.0.iter().flat_map(|one| one.at.map(|(axis, _)| axis)).chain([x_axis]));
    let mut notes = tally.notes(&chosen, &used, "(crosses)");
    if let Some((key, note)) = printed.key_and_note(Inside::Paper, Marker::Diamond) {
        grid.keys.push(key);
        notes.push(note);
    }
    if notes.iter().any(|note| note.contains("(crosses)")) {
        let cross = Swatch { marker: Some(Marker::Cross), sign: Some(INK), ..Swatch::default() };
        grid.keys.push(Key::new("no value", cross));
    }
    grid.description = format!("{} by {}.", measure.heading(), small(&axis.title));
    Drawn { grid, notes, samples: None }
}
