//! From axes to cells: the grid, what is left out, and the scenario of each.

use super::assignment::{Assignment, conflicts};
use super::axes::Drawn;
use super::diagnostic::{Sink, Span};
use super::inputs::Inputs;
use super::network::DrawnNetwork;
use super::refusal::in_cells;
use super::selection::{self, Labels};
use super::{keys::SKIP, reader::Fields};
use crate::{Cell, EngineKind, Selection, engines::ENGINE};
use cwnd_experiment::{ExperimentSpec, Topology};
use cwnd_scenario::Problem;
use std::collections::BTreeMap;

/// The most cells of a study: beyond it their description alone would fill a machine.
pub const MAX_CELLS: usize = 100_000;
/// The most flows of all cells together, for the same reason.
pub const MAX_FLOWS: u64 = 1_000_000;

/// What all cells have in common.
#[derive(Clone, Copy)]
pub(super) struct Common<'a> {
    /// What `[scenario]` says, and `[run]` of the engine.
    pub base: &'a [Assignment],
    /// The network that is drawn, if one is.
    pub network: Option<&'a DrawnNetwork>,
    /// Files that the study names.
    pub inputs: &'a Inputs<'a>,
    /// Where `[scenario]` stands.
    pub scenario: &'a Span,
    /// Seed of the first repeat.
    pub seed: u64,
}

/// All cells, if all are right.
pub(super) fn cells(file: &Fields<'_>, axes: &[Drawn], common: Common<'_>) -> Option<Vec<Cell>> {
    let sink = file.sink;
    let before = sink.count();
    let skips = skips(file, axes);
    let size = axes.iter().try_fold(1usize, |size, axis| size.checked_mul(axis.sets.len()));
    let Some(size) = size.filter(|size| *size <= MAX_CELLS) else {
        let points: Vec<String> = axes.iter().map(|axis| axis.sets.len().to_string()).collect();
        let message = format!("{} cells are too many: {MAX_CELLS} are the most", points.join(" x "));
        sink.error(&axes.last()?.span, message);
        return None;
    };
    let mut maker = Maker { axes, common, sink, flows: 0, problems: BTreeMap::new() };
    let mut used = vec![false; skips.len()];
    let mut cells = Vec::new();
    for index in 0..size {
        let coordinates = coordinates(axes, index);
        let mut skipped = false;
        for (skip, used) in skips.iter().zip(&mut used) {
            if matches(axes, &skip.0, &coordinates) {
                *used = true;
                skipped = true;
            }
        }
        if skipped {
            continue;
        }
        cells.extend(maker.cell(coordinates));
        if maker.flows > MAX_FLOWS {
            let message = format!("the cells have more than {MAX_FLOWS} flows together, which are the most");
            sink.error(common.scenario, message);
            return None;
        }
    }
    maker.report();
    for ((_, span), _) in skips.iter().zip(&used).filter(|(_, used)| !**used) {
        sink.error(span, "nothing is left out by it: no cell has all of these labels");
    }
    if cells.is_empty() && sink.count() == before {
        sink.error(&skips.last()?.1, "no cell is left: every one is skipped");
    }
    (sink.count() == before).then_some(cells)
}

fn skips(file: &Fields<'_>, axes: &[Drawn]) -> Vec<(Selection, Span)> {
    let labels = Labels::of(axes.iter().map(|axis| &axis.axis));
    let read = |fields: Fields<'_>| {
        let selection = selection::table(&fields, &labels)?;
        if selection.0.is_empty() {
            fields
                .sink
                .error(&fields.span, format!("{} names no axis: it would leave out every cell", SKIP.header));
            return None;
        }
        Some((selection, fields.span.clone()))
    };
    file.tables("skip", &SKIP).into_iter().filter_map(read).collect()
}

fn matches(axes: &[Drawn], selection: &Selection, coordinates: &[usize]) -> bool {
    let of = |(axis, point): (&Drawn, &usize)| {
        let labels = selection.0.get(&axis.axis.name);
        labels.is_none_or(|labels| labels.contains(&axis.axis.points[*point].label))
    };
    axes.iter().zip(coordinates).all(of)
}

/// The last axis varies fastest.
fn coordinates(axes: &[Drawn], mut index: usize) -> Vec<usize> {
    let mut coordinates = vec![0; axes.len()];
    for (axis, coordinate) in axes.iter().zip(&mut coordinates).rev() {
        *coordinate = index % axis.sets.len();
        index /= axis.sets.len();
    }
    coordinates
}

struct Maker<'a> {
    axes: &'a [Drawn],
    common: Common<'a>,
    sink: &'a Sink<'a>,
    flows: u64,
    /// What is wrong, by place and message: the problem, the first cell's name, and in how many cells.
    problems: BTreeMap<(usize, usize, String), (Problem, String, u64)>,
}

impl Maker<'_> {
    fn cell(&mut self, coordinates: Vec<usize>) -> Option<Cell> {
        let mut sets: BTreeMap<&str, &Assignment> =
            self.common.base.iter().map(|set| (set.setting.key, set)).collect();
        for (axis, point) in self.axes.iter().zip(&coordinates) {
            sets.extend(axis.sets[*point].iter().map(|set| (set.setting.key, set)));
        }
        let mut experiment = ExperimentSpec::with_defaults(self.common.inputs.defaults);
        let all: Vec<&Assignment> = sets.values().copied().collect();
        let before = self.sink.count();
        conflicts(&all, self.sink);
        if self.sink.count() > before {
            return None;
        }
        all.iter().for_each(|set| set.apply(&mut experiment));
        if let Some(network) = self.common.network {
            if let Some(topology) = sets.get("topology") {
                self.sink.error(&topology.span, "`[network]` draws the network: leave `topology` out");
                return None;
            }
            experiment.topology = Topology::Graph(network.graph.clone());
        }
        let inputs = self.common.inputs;
        let read = experiment.read_traces(&mut |path| inputs.trace(path));
        if let Err(problem) = read.and_then(|()| experiment.read_sizes(&mut |path| inputs.sizes(path))) {
            self.note(&problem, &sets, &coordinates);
            return None;
        }
        let counted =
            experiment.groups().map(|groups| groups.iter().map(|group| u64::from(group.count)).sum());
        self.flows = self.flows.saturating_add(counted.unwrap_or(0u64));
        if self.flows > MAX_FLOWS {
            return None;
        }
        match experiment.resolve(self.common.seed) {
            Ok(scenario) => {
                let short = scenario.flows.len() - scenario.lasting_flows();
                self.flows = self.flows.saturating_add(short as u64);
                let said =
                    sets.get(ENGINE.key).and_then(|set| set.values.first()?.value.parse::<EngineKind>().ok());
                Some(Cell { coordinates, engine: said.unwrap_or_default(), experiment, scenario })
            }
            Err(problems) => {
                problems.iter().for_each(|problem| self.note(problem, &sets, &coordinates));
                None
            }
        }
    }

    fn note(&mut self, problem: &Problem, sets: &BTreeMap<&str, &Assignment>, coordinates: &[usize]) {
        let span = self.cause(&problem.place, sets);
        let labels =
            self.axes.iter().zip(coordinates).map(|(axis, point)| axis.axis.points[*point].label.as_str());
        let name = labels.collect::<Vec<_>>().join(", ");
        let of_link = self.common.network.and_then(|network| network.name(&problem.place));
        let place = match of_link {
            Some((link, key)) => format!("`{key}` of the link `{link}`"),
            None => format!("`{}`", problem.place.replace('_', "-")),
        };
        let key = (span.start, span.end, format!("{place}: {}", problem.message));
        self.problems.entry(key).or_insert((problem.clone(), name, 0)).2 += 1;
    }

    /// The place of the key that a problem speaks of.
    fn cause(&self, place: &str, sets: &BTreeMap<&str, &Assignment>) -> Span {
        if let Some((index, _)) = place.strip_prefix("flows[").and_then(|rest| rest.split_once(']')) {
            let index = index.parse::<usize>().unwrap_or(usize::MAX);
            if let Some(value) = sets.get("flow").and_then(|flow| flow.values.get(index)) {
                return value.span.clone();
            }
        }
        if let Some(span) = self.common.network.and_then(|network| network.cause(place)) {
            return span;
        }
        // What a link leaves out the settings say.
        let own = place.strip_prefix("network.links[").and_then(|rest| rest.split_once("]."));
        let key = own.map_or(place, |(_, key)| key).replace('_', "-");
        let meant: [&str; 5] = match key.as_str() {
            "access-buffer" => ["access-buffer", "buffer", "", "", ""],
            "flows" => ["flows", "mix", "flow", "algorithm", ""],
            _ if key.starts_with("flows[") => ["mix", "flow", "flows", "algorithm", ""],
            key => [key, "", "", "", ""],
        };
        let set = meant.iter().find_map(|key| sets.get(key));
        set.map_or(self.common.scenario.clone(), |set| set.span.clone())
    }

    fn report(&mut self) {
        for ((start, end, message), (problem, cell, count)) in std::mem::take(&mut self.problems) {
            self.sink.problem(&(start..end), message, in_cells(&cell, count), problem);
        }
    }
}
