//! A metric against an axis, a line for each series.

use super::Drawn;
use super::frame::{Panes, condensed, height};
use super::missing::Missing;
use super::points::{Chosen, Tally};
use super::possible::Possible;
use super::stated::{self, PrintedNumbers};
use crate::estimate::Estimate;
use crate::measure::{Measure, Shown, number, small};
use crate::series::{SeriesStyle, SeriesStyles};
use cwnd_plot::style::{INK, Marker};
use cwnd_plot::{
    self as plot, Band, ErrorBars, Inside, Key, Line, Link, Links, Markers, Panel, Signs, Swatch,
};
use cwnd_study::{Axis, Figure, Point, Results, Scale};

/// More points than this have a band instead of error bars, and not a marker each.
const MANY: usize = 20;
/// More points than this have round ticks instead of one each.
const TICKS: usize = 12;

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
    let panes = Panes::new(&chosen, figure, false);
    let Some(x_axis) = study.axis(x) else { return super::without_axis(figure, x) };
    let series = Series::new(&chosen, looks, series);
    let x_points = chosen.points(x_axis);
    let places = Places::new(&study.axes[x_axis], &x_points);

    let mut tally = Tally::default();
    let mut means = |at: &[(usize, usize)]| -> Vec<Vec<Option<Estimate>>> {
        let one = |series: &One| {
            let point = |point: &usize| {
                let fast = at.iter().copied().chain(series.at).chain([(x_axis, *point)]);
                chosen.at(&fast.collect::<Vec<_>>())
            };
            x_points.iter().map(point).collect::<Vec<_>>()
        };
        let cells: Vec<Vec<Vec<usize>>> = series.0.iter().map(one).collect();
        cells.iter().map(|s| s.iter().map(|cells| tally.estimate(results, cells, y)).collect()).collect()
    };
    let all: Vec<Vec<Vec<Option<Estimate>>>> = panes.panes.iter().map(|pane| means(&pane.at)).collect();
    let printed = PrintedNumbers::new(results, figure);
    let ours = || all.iter().flatten().flatten().flatten().map(|e| e.mean);
    let values = || ours().chain(printed.values());
    let shown = Shown::of(&measure, values());
    let possible = Possible::new(&chosen, y, &measure, values()).times(shown.factor);
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(f64::NEG_INFINITY, f64::max);
    let y_axis = possible.axis(plot::Axis::linear(&measure.heading(), &shown.unit));
    // Where values lie close together far from zero, an axis from zero would show none of their difference.
    let y_axis = if least >= 0.0 && least < 0.7 * most { y_axis.from(0.0) } else { y_axis };

    let columns = panes.columns;
    // Where printed numbers are hollow, ours are filled.
    let inside = if printed.is_empty() { Inside::Paper } else { Inside::Colour };
    let mut each = all.iter();
    let mut grid = panes.grid(figure, |pane| {
        let mut panel = Panel::new(places.axis.clone(), y_axis.clone(), height(columns));
        let means = each.next().map(Vec::as_slice).unwrap_or_default();
        for (i, (one, means)) in series.0.iter().zip(means).enumerate() {
            let means: Vec<_> = means.iter().map(|e| e.map(|e| e.times(shown.factor))).collect();
            let aside = (i as f64 - (series.0.len() as f64 - 1.0) / 2.0) * 4.0;
            let exists = |point: &usize| {
                let at = pane.at.iter().copied().chain(one.at).chain([(x_axis, *point)]);
                chosen.has(&at.collect::<Vec<_>>())
            };
            let exists: Vec<bool> = x_points.iter().map(exists).collect();
            let drawn = Drawing { look: one.look, inside, possible, means: &means, exists: &exists };
            drawn.add(&mut panel, &places, aside);
            let link = |(place, (point, mean)): (&f64, (&usize, &Option<Estimate>))| {
                let at = pane.at.iter().copied().chain(one.at).chain([(x_axis, *point)]);
                let cell = *chosen.at(&at.collect::<Vec<_>>()).first()?;
                let (name, label) = (cell.to_string(), study.cell_label(cell));
                Some(Link { at: (*place, mean.as_ref()?.mean), name, label })
            };
            panel.add(Links(places.at.iter().zip(x_points.iter().zip(&means)).filter_map(link).collect()));
        }
        for one in &series.0 {
            let number = |(place, point): (&f64, &usize)| {
                let at = pane.at.iter().copied().chain(one.at).chain([(x_axis, *point)]);
                printed.at(at).map(|number| (*place, number * shown.factor))
            };
            let points = places.at.iter().zip(&x_points).filter_map(number).collect();
            let stroke = plot::style::Stroke::solid(one.look.colour(), 1.3);
            panel.add(Signs { points, marker: one.look.marker(), stroke, inside: Inside::Nothing });
        }
        panel.references = stated::references(study, figure, pane, looks, shown.factor);
        vec![panel]
    });
    let keys = series.0.iter().filter(|one| !one.label.is_empty()).map(|one| one.key(inside));
    grid.keys = keys.collect();
    let of_paper = printed.key_and_note(Inside::Nothing, Marker::Circle);
    grid.keys.extend(of_paper.iter().map(|(key, _)| key.clone()));
    let mut used: Vec<usize> = figure.panels.iter().filter_map(|name| study.axis(name)).collect();
    used.extend(series.0.iter().flat_map(|one| one.at.map(|(axis, _)| axis)).chain([x_axis]));
    let mut notes = tally.notes(&chosen, &used, "(crosses on the axis)");
    notes.extend(of_paper.map(|(_, note)| note));
    if notes.iter().any(|note| note.contains("(crosses")) {
        let cross = Swatch { marker: Some(Marker::Cross), line: None, ..Swatch::default() };
        grid.keys.push(Key::new("no value", Swatch { sign: Some(INK), ..cross }));
    }
    grid.description = format!("{} against {}.", measure.heading(), small(&study.axes[x_axis].title));
    Drawn { grid, notes, samples: None }
}

/// A series as it is drawn.
struct Drawing<'a> {
    look: SeriesStyle,
    /// What is inside its markers.
    inside: Inside,
    possible: Possible,
    /// For each point on the axis.
    means: &'a [Option<Estimate>],
    /// For each point whether the study has it.
    exists: &'a [bool],
}

impl Drawing<'_> {
    /// Adds it to a panel.
    fn add(&self, panel: &mut Panel, places: &Places, aside: f64) {
        let Drawing { look, inside, possible, means, exists } = *self;
        let is_dense = places.at.len() > MANY;
        let stretches = [&places.apart[..], &places.joined[..]];
        for stretch in stretches.into_iter().filter(|stretch| !stretch.is_empty()) {
            let of = |i: &usize| (places.at[*i], means[*i]);
            let points = stretch.iter().map(of).map(|(x, e)| (x, e.map_or(f64::NAN, |e| e.mean))).collect();
            let bars: Vec<(f64, f64, f64)> = stretch
                .iter()
                .map(of)
                .map(|(x, e)| match is_dense {
                    true => (x, e.and_then(|e| possible.interval(&e))),
                    false => (x, e.and_then(|e| e.interval())),
                })
                .map(|(x, ends)| ends.map_or((x, f64::NAN, f64::NAN), |(low, high)| (x, low, high)))
                .collect();
            if is_dense {
                panel.marks.insert(0, Box::new(Band { points: bars, colour: look.colour(), opacity: 0.16 }));
            } else {
                let stroke = plot::style::Stroke::solid(look.colour(), 1.0);
                panel.add(ErrorBars { points: bars, within: possible.ends(), stroke });
            }
            let spacing = if is_dense { 48.0 } else { 0.0 };
            let markers = Markers { marker: look.marker(), spacing, phase: 0.0, inside };
            panel.add(Line::new(points, look.stroke(1.5)).markers(Some(markers)));
        }
        let missing = |i: &usize| means[*i].is_none() && exists[*i];
        let places = (0..places.at.len()).filter(missing).map(|i| (places.at[i], aside)).collect();
        panel.add(Missing { places, colour: look.colour() });
    }
}

/// The lines or bars of a figure.
pub(super) struct Series(pub Vec<One>);

/// One line, or one bar of each group.
pub(super) struct One {
    /// Empty if it is the only one.
    pub label: String,
    pub look: SeriesStyle,
    /// Its axis and its point, unless it is the only one.
    pub at: Option<(usize, usize)>,
}

impl Series {
    /// One for each point of the axis, if there is such an axis.
    pub fn new(chosen: &Chosen<'_>, looks: &SeriesStyles, axis: Option<&str>) -> Series {
        let study = &chosen.results.study;
        let Some(axis) = axis.and_then(|name| study.axis(name)) else {
            return Series(vec![One { label: String::new(), look: SeriesStyle(0), at: None }]);
        };
        let points = chosen.points(axis);
        let labels = points.iter().map(|point| study.axes[axis].points[*point].label.as_str());
        let looks = looks.of_all(labels);
        let one = |(point, look): (usize, SeriesStyle)| {
            let label = condensed(&study.axes[axis], &study.axes[axis].points[point]);
            One { look, label, at: Some((axis, point)) }
        };
        Series(points.into_iter().zip(looks).map(one).collect())
    }
}

/// For every pane, series and group the mean, if any run has a value.
pub(super) type Means = Vec<Vec<Vec<Option<Estimate>>>>;

impl Series {
    /// Returns the means of a metric for every pane, series and group, where groups are points of an axis.
    pub fn means(
        &self,
        chosen: &Chosen<'_>,
        panes: &Panes,
        (axis, groups): (usize, &[usize]),
        metric: &str,
        tally: &mut Tally,
    ) -> Means {
        let mut mean = |pane: &[(usize, usize)], one: &One, group: usize| {
            let at: Vec<(usize, usize)> = pane.iter().copied().chain(one.at).chain([(axis, group)]).collect();
            tally.estimate(chosen.results, &chosen.at(&at), metric)
        };
        let mut of_series = |pane: &[(usize, usize)], one: &One| -> Vec<Option<Estimate>> {
            groups.iter().map(|group| mean(pane, one, *group)).collect()
        };
        let of_pane = |pane: &super::frame::Pane| self.0.iter().map(|one| of_series(&pane.at, one)).collect();
        panes.panes.iter().map(of_pane).collect()
    }
}

impl One {
    /// Its entry in the legend.
    fn key(&self, inside: Inside) -> Key {
        let swatch = Swatch::line(self.look.stroke(1.5)).marker(Some(self.look.marker()));
        Key::new(&self.label, Swatch { inside, ..swatch })
    }
}

/// Where the points of a horizontal axis stand.
struct Places {
    axis: plot::Axis,
    /// The place of each point.
    at: Vec<f64>,
    /// Indices of those that a line joins, from the left.
    joined: Vec<usize>,
    /// Those that stand apart: zero, on an axis by ratios.
    apart: Vec<usize>,
}

impl Places {
    fn new(axis: &Axis, points: &[usize]) -> Places {
        let unit = axis.unit.as_deref().unwrap_or_default();
        let value = |point: &usize| axis.points[*point].value.filter(|v| v.is_finite());
        let values: Option<Vec<f64>> = points.iter().map(value).collect();
        let Some(values) = values.filter(|values| !values.is_empty()) else {
            let names = points.iter().map(|point| axis.points[*point].label.clone());
            let at: Vec<f64> = (0..points.len()).map(|i| i as f64).collect();
            let joined = (0..points.len()).collect();
            return Places { axis: plot::Axis::named(&axis.title, names), at, joined, apart: Vec::new() };
        };
        let sorted = |keep: &dyn Fn(f64) -> bool| {
            let mut kept: Vec<usize> = (0..values.len()).filter(|i| keep(values[*i])).collect();
            kept.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
            kept
        };
        let positive = || values.iter().copied().filter(|v| *v > 0.0);
        let (low, high) = (positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max));
        if axis.scale == Scale::Linear || high == 0.0 {
            let joined = sorted(&|_| true);
            let ends = (values[joined[0]], values[joined[joined.len() - 1]]);
            let pad = if ends.1 > ends.0 { 0.03 * (ends.1 - ends.0) } else { 0.5 };
            let drawn = plot::Axis::linear(&axis.title, unit).from(ends.0 - pad).to(ends.1 + pad);
            let drawn =
                if joined.len() <= TICKS { drawn.labelled(ticks(&values, &joined, None)) } else { drawn };
            return Places { axis: drawn, at: values, joined, apart: Vec::new() };
        }
        // Zero stands so far to the left as two neighbours are apart.
        let joined = sorted(&|v| v > 0.0);
        let apart = sorted(&|v| v <= 0.0);
        let ratio = (high / low).powf(1.0 / (joined.len() - 1).max(1) as f64).clamp(2.0, 100.0);
        let zero = low / ratio;
        let at: Vec<f64> = values.iter().map(|v| if *v > 0.0 { *v } else { zero }).collect();
        let start = if apart.is_empty() { low } else { zero };
        let margin = if high > start { (high / start).powf(0.05) } else { 2.0 };
        let drawn = plot::Axis::log(&axis.title, unit).from(start / margin).to(high * margin);
        let broken_at = (!apart.is_empty()).then_some(zero * ratio.sqrt());
        let drawn = plot::Axis { broken_at, ..drawn };
        let all: Vec<usize> = apart.iter().chain(&joined).copied().collect();
        let drawn = if all.len() <= TICKS || !apart.is_empty() {
            drawn.labelled(ticks(&values, &all, Some(zero)))
        } else {
            drawn
        };
        Places { axis: drawn, at, joined, apart }
    }
}

/// A tick at every point; what is not positive stands at `zero`.
fn ticks(values: &[f64], order: &[usize], zero: Option<f64>) -> Vec<(f64, String)> {
    let place = |v: f64| if v > 0.0 { v } else { zero.unwrap_or(v) };
    let mut ticks: Vec<(f64, String)> =
        order.iter().map(|i| (place(values[*i]), plain(values[*i]))).collect();
    ticks.dedup_by(|a, b| a.0 == b.0);
    ticks
}

/// What a point is called on an axis of names: a number is written as on other axes.
pub(super) fn name(point: &Point) -> String {
    match (point.value, point.label.parse::<f64>()) {
        (Some(value), Ok(_)) => plain(value),
        _ => point.label.clone(),
    }
}

/// A value as short as it can be written: `500`, `10⁻⁵`, `0.0125`.
pub(super) fn plain(value: f64) -> String {
    let text = value.to_string();
    let decimals = text.find('.').map_or(0, |point| text.len() - point - 1);
    if value != 0.0 && ((decimals > 3 && value.abs() < 1e-3) || value.abs() >= 1e7) {
        return plot::exponent(value);
    }
    number(value, decimals)
}
