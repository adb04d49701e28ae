//! Throughput, round-trip times, windows and queues over time: the figure of traced runs.
//!
//! Who is drawn how:
//! - With several algorithms each has a colour and a marker, and its flows differ by dash pattern. With one
//!   algorithm each flow has a colour.
//! - Of more than `MOST_FLOWS` flows of an algorithm the mean is drawn, in a band from the least to the
//!   greatest; and so for every algorithm if there would be more than `MOST_LINES` lines.
//! - Of several seeds the first is drawn. A mean over seeds would flatten the sawtooth that the figure is
//!   about; so the others are there as a band, from the least to the greatest of all flows of all seeds.
//! - The queue of the bottleneck is always drawn. Another is drawn if it held more (and is not short beside
//!   the longest): where no link is slower than the sender's own, packets wait there and the bottleneck's
//!   queue stays empty.
//!
//! The caption says which of these apply.

mod quantity;
mod queues;

use std::collections::BTreeMap;

use crate::sampled_throughput;
use cwnd_scenario::{Sample, Time};
use quantity::Quantity;

use cwnd_plot::style::{Colour, Dash, INK, Marker, Stroke};
use cwnd_plot::{Axis, Band, Figure, Inside, Key, Line, Markers, Panel, Swatch};
use cwnd_study::TracedRun;

/// The most flows of an algorithm that are drawn one by one.
const MOST_FLOWS: usize = 8;
/// The most lines of flows in all.
const MOST_LINES: usize = 12;

/// Returns the flows of `runs` over time and, below, the queues, as SVG. See [`over_time_figure`].
pub fn over_time(runs: &[TracedRun<'_>], title: &str) -> String {
    over_time_figure(runs, title).to_svg()
}

/// Returns the throughput, the round-trip times and the windows of the flows of `runs` over time and, below, the queues: a figure
/// to which the caller can add, such as what made it.
///
/// Several algorithms have a colour and a marker each, and their flows differ by dash pattern; the flows of
/// one algorithm have a colour each. Of more than eight flows of an algorithm, or more than twelve in all,
/// the mean is drawn in a band from the least to the greatest. Of several seeds of an algorithm the first is
/// drawn, with a band over all of them. The queue of the bottleneck is always there; others are where they
/// held more. The caption says what applies.
///
/// # Panics
/// If a trace contradicts itself (a sample without a time, a time without a queue length).
pub fn over_time_figure(runs: &[TracedRun<'_>], title: &str) -> Figure {
    let casts = Quantity::ALL.map(|quantity| Cast::new(runs, quantity));
    let cast = &casts[0];
    let mut figure = Figure::new(title);
    figure.share_x = true;
    figure.keys = cast.keys();
    figure.panels =
        casts.iter().zip(Quantity::ALL).map(|(cast, quantity)| flows_panel(cast, quantity)).collect();
    if let [only] = cast.groups.as_slice()
        && only.lines() > 1
    {
        figure.panels[0].title = only.algorithm.into();
    }
    figure.panels[0].keys = flow_keys(cast);
    let mut notes = flow_notes(cast);
    let (queues, queue_notes) = queues::panel(cast, runs);
    figure.panels.push(queues);
    notes.extend(queue_notes);
    notes.extend(sampling_note(runs));
    figure.caption = notes.join(" ");
    figure.description = format!(
        "Four line charts over time. From above: throughput, round-trip time and congestion window of {}; the packets that \
         wait in the queue of the bottleneck. {}",
        cast.groups.iter().map(|group| group.algorithm).collect::<Vec<_>>().join(", "),
        figure.caption
    );
    figure
}

/// The horizontal axis of all panels.
pub(super) fn time_axis() -> Axis {
    Axis::linear("time", "s").from(0.0).tight()
}

/// Everything that is drawn, by algorithm.
pub(super) struct Cast<'a> {
    pub groups: Vec<Group<'a>>,
    /// The names of the runs, each once.
    pub runs: Vec<&'a str>,
    /// Whether each flow has a colour of its own.
    pub colour_by_flow: bool,
}

/// The flows of an algorithm, over all runs.
pub(super) struct Group<'a> {
    algorithm: &'a str,
    /// For each run that has such flows: the seed and its flows.
    runs: Vec<(u64, Vec<Flow>)>,
    /// The times of all samples of these runs.
    times: Vec<Time>,
    /// Whether the mean of its flows is drawn, and not each of them.
    is_averaged: bool,
}

/// A flow's values of a quantity.
struct Flow {
    index: usize,
    /// Place of the sample among the run's times, time and value.
    samples: Vec<(usize, Time, f64)>,
}

impl<'a> Cast<'a> {
    fn new(runs: &[TracedRun<'a>], quantity: Quantity) -> Cast<'a> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        for run in runs {
            if !names.contains(&run.algorithm) {
                names.push(run.algorithm);
            }
            for (algorithm, flows) in flows_by_algorithm(run, quantity) {
                let place = groups.iter().position(|g| g.algorithm == algorithm).unwrap_or_else(|| {
                    groups.push(Group { algorithm, runs: Vec::new(), times: Vec::new(), is_averaged: false });
                    groups.len() - 1
                });
                groups[place].runs.push((run.seed, flows));
                groups[place].times.extend(&run.trace.times);
            }
        }
        for group in &mut groups {
            group.times.sort();
            group.times.dedup();
            group.is_averaged = group.first_seed().len() > MOST_FLOWS;
        }
        let lines: usize = groups.iter().map(Group::lines).sum();
        for group in &mut groups {
            group.is_averaged |= lines > MOST_LINES && group.first_seed().len() > 1;
        }
        let colour_by_flow = groups.len() == 1 && !groups[0].is_averaged;
        Cast { groups, runs: names, colour_by_flow }
    }

    /// The place of an algorithm among the series, or of a run that is not named after one.
    pub fn series(&self, name: &str) -> usize {
        let algorithms = self.groups.iter().map(|group| group.algorithm);
        let mut all = algorithms.chain(self.runs_without_key());
        all.position(|known| known == name).unwrap_or(0)
    }

    /// The runs that are not named after an algorithm, such as mixes.
    pub fn runs_without_key(&self) -> impl Iterator<Item = &'a str> {
        let is_algorithm = |run: &&str| self.groups.iter().any(|group| group.algorithm == *run);
        self.runs.iter().copied().filter(move |run| !is_algorithm(run))
    }

    /// The colour of a flow of a run.
    pub fn flow_colour(&self, run: &TracedRun<'_>, flow: usize) -> Colour {
        match self.colour_by_flow {
            true => Colour::of_series(flow),
            false => Colour::of_series(self.series(run.algorithm_of(flow))),
        }
    }

    /// What the colours and markers of algorithms mean; nothing where colours are those of several flows.
    fn keys(&self) -> Vec<Key> {
        match self.groups.as_slice() {
            [only] if only.lines() > 1 => Vec::new(),
            groups => groups.iter().enumerate().map(|(i, g)| Key::new(g.algorithm, self.swatch(i))).collect(),
        }
    }

    fn swatch(&self, group: usize) -> Swatch {
        let line = Swatch::line(Stroke::solid(Colour::of_series(group), 1.6)).marker(self.marker(group));
        let banded = self.groups[group].has_band();
        Swatch { fill: banded.then_some((Colour::of_series(group), BAND)), ..line }
    }

    /// One algorithm needs no marker.
    fn marker(&self, group: usize) -> Option<Marker> {
        (self.groups.len() > 1).then(|| Marker::of_series(group))
    }

    /// How a flow is drawn: the `i`-th of its algorithm.
    fn stroke(&self, group: usize, i: usize, flow: &Flow) -> Stroke {
        let colour =
            if self.colour_by_flow { Colour::of_series(flow.index) } else { Colour::of_series(group) };
        let width = if i == 0 { 1.3 } else { 1.0 };
        Stroke { colour, width, dash: Dash::of_series(i) }
    }
}

impl Group<'_> {
    /// The flows of the first seed.
    fn first_seed(&self) -> &[Flow] {
        self.runs.first().map_or(&[], |(_, flows)| flows)
    }

    /// How many lines it has in the panel.
    fn lines(&self) -> usize {
        if self.is_averaged { 1 } else { self.first_seed().len() }
    }

    fn has_band(&self) -> bool {
        self.is_averaged || self.runs.len() > 1
    }

    /// Least, mean and greatest window of some runs at every time; not finite where no flow has a sample.
    fn spread(&self, runs: &[(u64, Vec<Flow>)]) -> Vec<(f64, [f64; 3])> {
        let mut at: BTreeMap<Time, (f64, f64, f64, f64)> = BTreeMap::new();
        for &(_, time, cwnd) in runs.iter().flat_map(|(_, flows)| flows).flat_map(|flow| &flow.samples) {
            let (low, sum, high, count) = at.entry(time).or_insert((cwnd, 0.0, cwnd, 0.0));
            (*low, *sum, *high, *count) = (low.min(cwnd), *sum + cwnd, high.max(cwnd), *count + 1.0);
        }
        let spread = |time: &Time| match at.get(time) {
            Some((low, sum, high, count)) => [*low, sum / count, *high],
            None => [f64::NAN; 3],
        };
        self.times.iter().map(|time| (time.as_secs_f64(), spread(time))).collect()
    }
}

impl Flow {
    /// The line of its windows, with a gap wherever a sample time has none.
    fn points(&self) -> Vec<(f64, f64)> {
        let mut points = Vec::with_capacity(self.samples.len());
        let mut expected = None;
        for &(place, time, cwnd) in &self.samples {
            if expected.is_some_and(|expected| expected != place) {
                points.push((time.as_secs_f64(), f64::NAN));
            }
            points.push((time.as_secs_f64(), cwnd));
            expected = Some(place + 1);
        }
        points
    }
}

const BAND: f64 = 0.16;

/// Returns the panel of a quantity of all flows.
fn flows_panel(cast: &Cast<'_>, quantity: Quantity) -> Panel {
    let mut panel = Panel::new(time_axis(), quantity.axis(), quantity.height());
    for (group, i) in cast.groups.iter().zip(0..) {
        if group.has_band() {
            let spread = group.spread(&group.runs);
            let points = spread.iter().map(|&(time, [low, _, high])| (time, low, high)).collect();
            panel.add(Band { points, colour: Colour::of_series(i), opacity: BAND });
        }
    }
    let lines: usize = cast.groups.iter().map(Group::lines).sum();
    let mut drawn = 0;
    for (group, i) in cast.groups.iter().zip(0..) {
        let mut add = |points, stroke| {
            let marker = cast.marker(i).map(|marker| markers(marker, drawn, lines));
            panel.add(Line::new(points, stroke).markers(marker));
            drawn += 1;
        };
        if group.is_averaged {
            let mean =
                group.spread(&group.runs[..1]).iter().map(|&(time, [_, mean, _])| (time, mean)).collect();
            add(mean, Stroke::solid(Colour::of_series(i), 1.6));
        } else {
            for (j, flow) in group.first_seed().iter().enumerate() {
                add(flow.points(), cast.stroke(i, j, flow));
            }
        }
    }
    panel
}

/// Markers of the `index`-th of `lines` lines: few where there are many lines, and not one above the other.
pub(super) fn markers(marker: Marker, index: usize, lines: usize) -> Markers {
    let spacing = if lines <= 6 { 75.0 } else { 150.0 };
    Markers { marker, spacing, phase: (index as f64 + 0.5) / lines as f64, inside: Inside::Paper }
}

/// What the colours or the dash patterns of flows mean. Nothing where algorithms have different flows, so
/// that a pattern stands for another flow in each.
fn flow_keys(cast: &Cast<'_>) -> Vec<Key> {
    let indices = |group: &Group<'_>| group.first_seed().iter().map(|flow| flow.index).collect::<Vec<_>>();
    let mut single = cast.groups.iter().filter(|group| !group.is_averaged);
    let Some(first) = single.next().filter(|group| group.lines() > 1) else { return Vec::new() };
    if single.any(|other| indices(other) != indices(first)) {
        return Vec::new();
    }
    let key = |(i, flow): (usize, &Flow)| {
        let stroke = cast.stroke(0, i, flow);
        let colour = if cast.colour_by_flow { stroke.colour } else { INK };
        Key::new(format!("flow {}", flow.index + 1), Swatch::line(Stroke { colour, ..stroke }))
    };
    first.first_seed().iter().enumerate().map(key).collect()
}

fn flow_notes(cast: &Cast<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let averaged = cast.groups.iter().filter(|group| group.is_averaged);
    let counts: Vec<usize> = averaged.map(|group| group.first_seed().len()).collect();
    match counts.as_slice() {
        [] => {}
        [first, ..] if counts.iter().all(|count| count == first) && counts.len() == cast.groups.len() => {
            notes.push(format!("Lines are means of {first} flows; bands span the least to the greatest."));
        }
        _ => {
            let text = "The line of an algorithm with a band is the mean of its flows; the band spans the least to the greatest.";
            notes.push(text.into());
        }
    }
    if let Some(group) = cast.groups.iter().find(|group| group.runs.len() > 1) {
        let (first, count) = (group.runs[0].0, group.runs.len());
        notes.push(format!("Lines are of seed {first}; bands span all {count} seeds."));
    }
    if cast.groups.iter().any(|group| group.lines() > 1) && flow_keys(cast).is_empty() {
        notes.push("Dash patterns tell the flows of an algorithm apart.".into());
    }
    notes
}

/// How often was looked, if always at the same distance: what happens in between is not in the figure.
fn sampling_note(runs: &[TracedRun<'_>]) -> Option<String> {
    let gaps = |run: &TracedRun<'_>| run.trace.times.windows(2).map(|w| w[1].0 - w[0].0).collect::<Vec<_>>();
    let mut all = runs.iter().flat_map(gaps);
    let first = all.next()?;
    let span = runs.first().map_or(0.0, |run| sampled_throughput::span(&run.trace.times));
    let is_longer = span > Time(first).as_secs_f64() * 1.001;
    // To the millisecond, without the digits of binary fractions.
    let span = (span * 1e3).round().max(1.0) / 1e3;
    let averaged = match is_longer {
        true => format!("; throughput is payload acknowledged in order, a mean over {span} s"),
        false => String::new(),
    };
    all.all(|gap| gap == first).then(|| format!("Sampled every {}{averaged}.", Time(first)))
}

/// Returns a quantity of the flows of a run, by algorithm, in the order of the flows.
fn flows_by_algorithm<'a>(run: &TracedRun<'a>, quantity: Quantity) -> Vec<(&'a str, Vec<Flow>)> {
    let mut samples: BTreeMap<usize, Vec<&Sample>> = BTreeMap::new();
    for sample in &run.trace.samples {
        samples.entry(sample.flow).or_default().push(sample);
    }
    let mut groups: Vec<(&str, Vec<Flow>)> = Vec::new();
    for (index, samples) in samples {
        let flow = Flow { index, samples: quantity.values(&samples, &run.trace.times) };
        let algorithm = run.algorithm_of(flow.index);
        match groups.iter_mut().find(|(name, _)| *name == algorithm) {
            Some((_, flows)) => flows.push(flow),
            None => groups.push((algorithm, vec![flow])),
        }
    }
    groups
}

#[cfg(test)]
mod tests;
