//! Samples over time: for each quantity a panel, a line for each series and flow.
//!
//! - Of several repeats the first that was recorded is drawn: a mean would flatten the sawtooth that the figure is
//!   about.
//! - With a series axis each of its points has a colour and a marker, and flows differ by dash pattern; without one
//!   each flow has a colour. Of many flows the mean is drawn, in a band from the least to the greatest.
//! - Where the series are engines, each pane says how far the simulator's window is from the kernel's.
//! - A value of the algorithms' state is drawn for the flows whose algorithm has it; a mode as steps between names.
//! - Of the queues the bottleneck's is drawn, unless another held more: where no link is slower than the sender's
//!   own, packets wait there.

pub(super) mod flow_names;
pub(super) mod quantity;
mod state;

use super::frame::{Pane, Panes};
use super::line::Series;
use super::points::Chosen;
use super::stated;
use super::traces::Traces;
use super::{Drawn, SampleBlock, SampleLine, SamplePanel, Samples};
use crate::engines::CurveDeviation;
use crate::measure::{Shown, number};
use crate::series::{SeriesStyle, SeriesStyles};
use crate::validity_warnings;
use cwnd_plot::style::{Dash, INK, Stroke};
use cwnd_plot::{self as plot, Band, Headings, Inside, Key, Line, Markers, Panel, Swatch};
use cwnd_study::{FLOW_PANELS, Figure, Results};
use flow_names::FlowNames;
use quantity::{Flows, Quantity};
use std::collections::BTreeSet;

/// More flows of a run than this are a mean in a band where they share a colour.
const MOST_OF_SERIES: usize = 4;
/// The same where each has a colour.
const MOST_FLOWS: usize = 8;
const BAND: f64 = 0.14;

pub(super) fn draw(
    results: &Results,
    figure: &Figure,
    looks: &SeriesStyles,
    traces: &Traces,
    show: &[String],
    series: Option<&str>,
) -> Drawn {
    let chosen = Chosen::new(results, &figure.select);
    let names = FlowNames::new(&chosen);
    let panes = panes(&chosen, figure, &names);
    let series_axis = series.and_then(|name| results.study.axis(name));
    let series = Series::new(&chosen, looks, series);
    let mut gathered =
        Gathered { chosen: &chosen, traces, series: &series, missing: Vec::new(), runs: Vec::new() };
    let runs: Vec<Vec<Option<Run<'_>>>> = panes.panes.iter().map(|pane| gathered.runs(pane)).collect();
    let Gathered { missing, runs: drawn_runs, .. } = gathered;

    let queue =
        quantity::queue(results, runs.iter().flatten().flatten().map(|run| (run.cell, run.flows.trace)));
    let drawn = || runs.iter().flatten().flatten();
    let scenarios = || drawn().map(|run| &results.study.cells[run.cell].scenario);
    let quantities: Vec<Quantity> =
        show.iter().map(|name| Quantity::new(name, queue.as_deref(), scenarios())).collect();
    let is_one = series.0.iter().all(|one| one.at.is_none());
    let most = if is_one { MOST_FLOWS } else { MOST_OF_SERIES };
    let each_flow = quantities.iter().any(|quantity| !quantity.is_of_all());
    let is_apart = panes.panes.iter().any(|pane| pane.flow.is_some());
    let averaged =
        each_flow && !is_apart && runs.iter().flatten().flatten().any(|run| run.flows.count() > most);

    // For every pane, quantity and series what is drawn.
    let lines = |quantity: &Quantity, runs: &[Option<Run<'_>>], flow: Option<usize>| -> Vec<Drawing> {
        let each = runs.iter().enumerate().filter_map(|(i, run)| Some((i, run.as_ref()?)));
        let drawings = each.flat_map(|(i, run)| drawings(quantity, run, &series, &names, i, averaged));
        drawings.filter(|drawing| drawing.flow.is_none_or(|of| flow.is_none_or(|flow| flow == of))).collect()
    };
    let of_pane = |(runs, pane): (&Vec<Option<Run<'_>>>, &Pane)| {
        quantities.iter().map(|q| lines(q, runs, pane.flow)).collect()
    };
    let all: Vec<Vec<Vec<Drawing>>> = runs.iter().zip(&panes.panes).map(of_pane).collect();
    let shown: Vec<Shown> = (0..quantities.len())
        .map(|q| {
            let drawings = all.iter().flat_map(|pane| &pane[q]);
            Shown::of(&quantities[q].measure, drawings.flat_map(|d| d.points.iter().map(|(_, v)| *v)))
        })
        .collect();

    let without = (0..quantities.len()).filter(|q| all.iter().all(|pane| pane[*q].is_empty()));
    let without: Vec<&str> = without.map(|q| quantities[q].measure.title.as_str()).collect();
    let without = (!without.is_empty())
        .then(|| format!("The samples have no values of {}; `cwnd run` records them.", without.join(", ")));

    let windows = show.iter().any(|name| name == "cwnd" || name == "mean_cwnd");
    let engines = series_axis.is_some() && series_axis == results.study.engine_axis && windows;
    let apart: Vec<Option<String>> =
        runs.iter().map(|runs| if engines { apart(results, runs) } else { None }).collect();
    let mut of_pane = apart.iter();
    let titles: Vec<String> = panes.panes.iter().map(|pane| pane.title.clone()).collect();
    let mut samples = Samples::default();
    let mut each = all.into_iter();
    let heights = if panes.columns == 1 { (210.0, 130.0) } else { (140.0, 90.0) };
    let several = series.0.len() > 1;
    let mut grid = panes.grid(figure, |pane| {
        let mut panels = Vec::new();
        let mut block = SampleBlock { title: pane.title.clone(), panels: Vec::new() };
        if let Some(Some(apart)) = of_pane.next() {
            block.title = with(&pane.title, apart);
        }
        for (i, (q, drawings)) in
            each.next().into_iter().flatten().enumerate().map(|(i, d)| (i, (&quantities[i], d)))
        {
            let (least, most) = q.measure.range;
            let axis = q.axis(&shown[i].unit).within(least * shown[i].factor, most * shown[i].factor);
            let height = if i == 0 { heights.0 } else { heights.1 };
            let time = plot::Axis::linear("Time", "s").from(0.0).tight();
            let mut panel = Panel::new(time, axis, height);
            let label = panel.y.label.clone();
            let drawings: Vec<Drawing> = drawings.into_iter().map(|d| d.times(shown[i].factor)).collect();
            add(&mut panel, &drawings, several);
            let of = (show[i].as_str(), i == 0);
            panel.references =
                stated::references_over_time(&results.study, figure, pane, looks, of, shown[i].factor);
            let references = panel.references.clone();
            let line = |d: Drawing| SampleLine {
                label: d.label,
                flow: d.flow.filter(|_| d.names_flow),
                stroke: d.stroke,
                points: d.points,
            };
            let lines = drawings.into_iter().map(line).collect();
            block.panels.push(SamplePanel { label, lines, references });
            panels.push(panel);
        }
        samples.blocks.push(block);
        panels
    });
    grid.share_y = false;
    for (block, apart) in grid.blocks.iter_mut().zip(&apart) {
        if let Some(apart) = apart {
            block.title = with(&block.title, apart);
        }
    }
    grid.keys = if is_apart && is_one { Vec::new() } else { keys(&series, &samples, &names, averaged) };
    let quantities: Vec<&str> = quantities.iter().map(|q| q.measure.title.as_str()).collect();
    grid.description = format!("{} over time.", quantities.join(", "));
    let mut notes = notes(results, &drawn_runs, &missing, averaged, most);
    notes.extend(without.filter(|_| !drawn_runs.is_empty()));
    notes.extend(apart.iter().any(Option::is_some).then(|| APART.to_owned()));
    if matches!(grid.headings, Headings::Matrix { .. }) {
        // Rows and columns are headed there, and panes are not.
        let each = apart.iter().zip(&titles);
        let each: Vec<String> =
            each.filter_map(|(apart, title)| Some(with(title, apart.as_ref()?))).collect();
        notes.extend((!each.is_empty()).then(|| format!("{}.", each.join("; "))));
    }
    notes.extend(
        queue
            .filter(|_| show.iter().any(|s| s == "queue"))
            .map(|link| format!("The queue is that of the link {link}.")),
    );
    if grid.blocks.len() > 1 && (0..show.len()).any(|panel| !grid.is_shared(panel)) {
        notes.push("Vertical axes differ between panels.".into());
    }
    notes.extend(quantity::window_note(show, runs.iter().flatten().flatten().map(|run| run.flows.trace)));
    Drawn { grid, notes, samples: Some(samples) }
}

/// The panes of a figure; of one with a panel for each flow those of the flows that last in any of its cells.
fn panes(chosen: &Chosen<'_>, figure: &Figure, names: &FlowNames) -> Panes {
    let study = &chosen.results.study;
    let is_of_flows =
        figure.panels.iter().any(|name| name == FLOW_PANELS) && study.axis(FLOW_PANELS).is_none();
    if !is_of_flows {
        return Panes::new(chosen, figure, true);
    }
    let lasting = |cell: &usize| {
        let flows = study.cells[*cell].scenario.flows.iter().enumerate();
        flows.filter(|(_, flow)| !flow.short && !flow.reverse).map(|(i, _)| i).collect::<Vec<usize>>()
    };
    let flows: BTreeSet<usize> = chosen.cells.iter().flat_map(lasting).collect();
    Panes::of_flows(flows, names)
}

/// How what [`apart`] says is to be read.
const APART: &str = "How far the simulator's mean window is from the kernel's, and the RMS distance of the two curves, are \
                     parts of the kernel's mean.";

/// A pane's title with how far the engines are apart in it.
fn with(title: &str, apart: &str) -> String {
    if title.is_empty() { apart.to_owned() } else { format!("{title}: {apart}") }
}

/// How far the simulator's windows are from the kernel's, if a pane has a run of each.
fn apart(results: &Results, runs: &[Option<Run<'_>>]) -> Option<String> {
    let of = |kernels: bool| {
        runs.iter().flatten().find(|run| results.study.cells[run.cell].engine.is_kernels() == kernels)
    };
    let (sim, kernel) = (of(false)?, of(true)?);
    let scenario = &results.study.cells[sim.cell].scenario;
    let found = CurveDeviation::of_windows(scenario, sim.flows.trace, kernel.flows.trace)?;
    let sign = if found.mean > 0.0 { "+" } else { "" };
    // Figures over time have no other place for it.
    let mark = if validity_warnings::of_cell(results, kernel.cell) > 0 { " (!)" } else { "" };
    Some(format!(
        "mean {sign}{} %, RMS {} %{mark}",
        number(100.0 * found.mean, 1),
        number(100.0 * found.rms, 1)
    ))
}

/// A run that is drawn.
struct Run<'a> {
    cell: usize,
    flows: Flows<'a>,
}

/// One line with its band.
struct Drawing {
    label: String,
    stroke: Stroke,
    look: SeriesStyle,
    /// The flow that it is of, from 0, if it is of one.
    flow: Option<usize>,
    /// Whether the label names that flow.
    names_flow: bool,
    points: Vec<(f64, f64)>,
    band: Vec<(f64, f64, f64)>,
}

impl Drawing {
    /// Creates a line of all flows.
    fn of_all(label: String, stroke: Stroke, look: SeriesStyle, points: Vec<(f64, f64)>) -> Drawing {
        Drawing { label, stroke, look, flow: None, names_flow: false, points, band: Vec::new() }
    }

    fn times(self, factor: f64) -> Drawing {
        Drawing {
            points: self.points.into_iter().map(|(t, v)| (t, v * factor)).collect(),
            band: self.band.into_iter().map(|(t, low, high)| (t, low * factor, high * factor)).collect(),
            ..self
        }
    }
}

/// Finds the runs of panes, and keeps account of those that have no samples.
struct Gathered<'a> {
    chosen: &'a Chosen<'a>,
    traces: &'a Traces,
    series: &'a Series,
    missing: Vec<String>,
    /// Indices of the runs that are drawn.
    runs: Vec<usize>,
}

impl<'a> Gathered<'a> {
    /// For each series the run of a pane: of several cells the first.
    fn runs(&mut self, pane: &Pane) -> Vec<Option<Run<'a>>> {
        let results = self.chosen.results;
        let mut runs = Vec::new();
        for one in &self.series.0 {
            let fast: Vec<(usize, usize)> = pane.at.iter().copied().chain(one.at).collect();
            let Some(&cell) = self.chosen.at(&fast).first() else {
                runs.push(None);
                continue;
            };
            match self.traces.of_cell(results, cell) {
                Ok((run, trace)) => {
                    self.runs.push(run);
                    runs.push(Some(Run {
                        cell,
                        flows: Flows::new(&results.study.cells[cell].scenario, trace),
                    }));
                }
                Err(why) => {
                    self.missing.push(format!("{} ({why})", results.study.cell_label(cell)));
                    runs.push(None);
                }
            }
        }
        runs
    }
}

fn drawings(
    quantity: &Quantity,
    run: &Run<'_>,
    series: &Series,
    names: &FlowNames,
    place: usize,
    averaged: bool,
) -> Vec<Drawing> {
    let one = &series.0[place];
    let is_one = one.at.is_none();
    if quantity.is_queue() {
        let look = if is_one { None } else { Some(one.look) };
        let stroke = Stroke::solid(look.map_or(INK, SeriesStyle::colour), 1.1);
        let label = if is_one { "queue".to_owned() } else { one.label.clone() };
        let points = quantity.queue_points(run.flows.trace);
        return vec![Drawing::of_all(label, stroke, one.look, points)];
    }
    if let Some(points) = quantity.of_all(&run.flows) {
        let label = if is_one { quantity.measure.title.clone() } else { one.label.clone() };
        let stroke = Stroke::solid(one.look.colour(), 1.3);
        return vec![Drawing::of_all(label, stroke, one.look, points)];
    }
    let count = run.flows.count();
    let name = |flow: Option<usize>| match (is_one, flow) {
        (true, Some(flow)) => format!("flow {}", names.of(flow)),
        (true, None) => "mean of flows".into(),
        (false, Some(flow)) if count > 1 => format!("{}, flow {}", one.label, names.of(flow)),
        (false, _) => one.label.clone(),
    };
    // A mode has no mean, so that of the first flow stands for all.
    if averaged && count > 1 && !quantity.is_mode() {
        let (points, band) = run.flows.mean(quantity);
        if !has_values(quantity, &points) {
            return Vec::new();
        }
        let stroke = Stroke::solid(one.look.colour(), 1.5);
        return vec![Drawing { band, ..Drawing::of_all(name(None), stroke, one.look, points) }];
    }
    run.flows
        .each(quantity)
        .enumerate()
        .map(|(i, (flow, points))| {
            let look = if is_one { SeriesStyle(i) } else { one.look };
            let stroke = Stroke::solid(look.colour(), 1.2).dashed(Dash::of_series(i));
            let drawing = Drawing::of_all(name(Some(flow)), stroke, look, points);
            Drawing { flow: Some(flow), names_flow: is_one || count > 1, ..drawing }
        })
        .filter(|drawing| has_values(quantity, &drawing.points))
        .take(if averaged { 1 } else { usize::MAX })
        .collect()
}

/// Whether a line belongs into its panel: flows whose algorithm has no such state are left out.
fn has_values(quantity: &Quantity, points: &[(f64, f64)]) -> bool {
    quantity.state().is_none() || points.iter().any(|(_, value)| value.is_finite())
}

fn add(panel: &mut Panel, drawings: &[Drawing], several: bool) {
    for drawing in drawings.iter().filter(|drawing| !drawing.band.is_empty()) {
        let (points, colour) = (drawing.band.clone(), drawing.stroke.colour);
        panel.add(Band { points, colour, opacity: BAND });
    }
    let spacing = if drawings.len() <= 6 { 75.0 } else { 150.0 };
    for (i, drawing) in drawings.iter().enumerate() {
        let phase = (i as f64 + 0.5) / drawings.len() as f64;
        let marker =
            several.then(|| Markers { marker: drawing.look.marker(), spacing, phase, inside: Inside::Paper });
        panel.add(Line::new(drawing.points.clone(), drawing.stroke).markers(marker));
    }
}

/// The legend: series by colour and marker, flows by dash pattern, or by colour where there are no series.
fn keys(series: &Series, samples: &Samples, names: &FlowNames, averaged: bool) -> Vec<Key> {
    let several = series.0.len() > 1;
    let named = series.0.iter().filter(|one| !one.label.is_empty());
    let mut keys: Vec<Key> = named
        .map(|one| {
            let line = Swatch::line(Stroke::solid(one.look.colour(), 1.4));
            let fill = averaged.then_some((one.look.colour(), BAND));
            Key::new(&one.label, Swatch { fill, ..line.marker(several.then(|| one.look.marker())) })
        })
        .collect();
    let lines = samples.blocks.iter().flat_map(|block| &block.panels).flat_map(|panel| &panel.lines);
    let mut seen = BTreeSet::new();
    let has_series = !keys.is_empty();
    for (flow, stroke) in lines.filter_map(|line| Some((line.flow?, line.stroke))) {
        if seen.insert(flow) {
            let colour = if has_series { INK } else { stroke.colour };
            let line = Swatch::line(Stroke::solid(colour, 1.2).dashed(stroke.dash));
            keys.push(Key::new(format!("flow {}", names.of(flow)), line));
        }
    }
    keys
}

fn notes(results: &Results, runs: &[usize], missing: &[String], averaged: bool, most: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let seeds: BTreeSet<u64> = runs.iter().map(|run| results.runs[*run].seed).collect();
    match (seeds.len(), seeds.first()) {
        (1, Some(seed)) if results.study.repeats > 1 => notes.push(format!("The runs with seed {seed}.")),
        (2.., _) => notes.push("Of each cell the first repeat that was recorded.".into()),
        _ => {}
    }
    if averaged {
        notes.push(format!(
            "Of more than {most} flows the mean is drawn; the band spans the least to the greatest."
        ));
    }
    if !missing.is_empty() {
        const NAMED: usize = 3;
        let named = missing.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
        let more = missing.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!("Missing: {named}{more}."));
    }
    notes
}
