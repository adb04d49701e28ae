//! A study: a question, the scenarios that answer it, and how the answer is shown.

mod effect;
mod figure;
mod pairs;
mod reason;
mod scale;
mod stated;

pub use figure::{FLOW_PANELS, Figure, FigureKind, Per};
pub use reason::{Citation, Cited, Explanation, Phrase, Reason};
pub use scale::{Quick, Reduced, RunScale};
pub use stated::{StatedAt, StatedLine};

use crate::{EngineKind, STATE, engines::ENGINE};
use cwnd_experiment::{
    ExperimentSpec, FlowGroup, StackChoice,
    settings::{SETTINGS, Setting},
};
use cwnd_scenario::{DeliveryTrace, Scenario, SizeTable, Time};
use std::collections::BTreeMap;

/// What a study file says, checked and expanded.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Short name, such as `agile-sd/throughput`: the file's path under `studies/`, or its stem elsewhere.
    pub name: String,
    /// One line.
    pub title: String,
    /// What it is after, in a sentence or some paragraphs.
    pub question: String,
    /// Where the question comes from (`Agile-SD, figure 11`), if from a publication.
    pub source: Option<String>,
    /// Readings, deviations and hints that a reader of the results must know, a paragraph each.
    pub notes: Vec<String>,
    /// The file's own text, for provenance.
    pub text: String,
    /// How messages name the file that it was loaded from, if it was.
    pub file: Option<String>,
    /// What differs between cells.
    pub axes: Vec<Axis>,
    /// The axis that says which engine answers a cell, if one does: an index into `axes`.
    pub engine_axis: Option<usize>,
    /// Every combination that is run, in the order of the axes (the last varies fastest).
    pub cells: Vec<Cell>,
    /// How many times each cell is run, at least 1. Repeat i (from 0) has seed `seed + i`.
    pub repeats: u32,
    /// Seed of the first repeat.
    pub seed: u64,
    /// The cells in which nothing is random, if any are named: all repeats of each are one run, with the first seed.
    pub once: Option<Selection>,
    /// Names of the metrics that tables and exports show first.
    pub metrics: Vec<String>,
    /// What is recorded over time, if anything.
    pub trace: Option<TracePlan>,
    /// Figures, in the report's order.
    pub figures: Vec<Figure>,
    /// Tables, in the report's order.
    pub tables: Vec<Table>,
    /// What is claimed, by a paper or by the study.
    pub claims: Vec<Claim>,
    /// Metrics between cells, which figures, tables and claims name like any other.
    pub derived: Vec<Derived>,
    /// What is run of it at the quick scale, if that is less than all.
    pub quick: Option<Quick>,
    /// The whole study, if this is a part of it ([`Study::at_scale`](crate::Study::at_scale)).
    pub reduced: Option<Reduced>,
    /// The delivery traces that it names, called by their paths as the file has them.
    pub traces: Vec<DeliveryTrace>,
    /// The tables of flow sizes that it names, called in the same way.
    pub sizes: Vec<SizeTable>,
}

/// One thing that differs between cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name by which figures, tables and selections call it, such as `buffer`.
    pub name: String,
    /// Title with which it is drawn, such as `Buffer`.
    pub title: String,
    /// Unit of [`Point::value`], such as `packets`; none if the axis is no quantity, or a ratio such as `per`.
    pub unit: Option<String>,
    /// How it is drawn, if it is a quantity (its points have values).
    pub scale: Scale,
    /// Its points, in the file's order.
    pub points: Vec<Point>,
}

/// One place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What it is called, as the file says it (`agile-sd`, `100 ms`, `single`).
    pub label: String,
    /// Its value in the axis's unit, if every point of the axis has one.
    pub value: Option<f64>,
}

/// How a quantity is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// In proportion.
    #[default]
    Linear,
    /// By its logarithm; 0 stands apart at the left.
    Log,
}

/// One combination of points, with its scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// For each axis the index of its point.
    pub coordinates: Vec<usize>,
    /// What answers it.
    pub engine: EngineKind,
    /// What the file and its axes set.
    pub experiment: ExperimentSpec,
    /// What is run, with the seed of the first repeat. It samples if a metric that is asked for needs samples.
    pub scenario: Scenario,
}

/// What is recorded over time.
#[derive(Clone, Debug, PartialEq)]
pub struct TracePlan {
    /// Time between samples.
    pub sample: Time,
    /// Which cells are recorded.
    pub select: Selection,
    /// Of how many repeats, from the first.
    pub repeats: u32,
}

/// Some cells of a study: for each axis named, the labels that belong. An axis that is not named is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection(pub BTreeMap<String, Vec<String>>);

/// One table of the report: means with intervals over repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name, unique in the study.
    pub name: String,
    /// One line.
    pub title: String,
    /// Axes that make rows.
    pub rows: Vec<String>,
    /// Axis whose points make columns, if any; each then has a column a metric.
    pub columns: Option<String>,
    /// Metrics.
    pub metrics: Vec<String>,
    /// Which cells it describes.
    pub select: Selection,
    /// What the publication prints.
    pub printed: Vec<Printed>,
    /// For metrics that are printed in another unit than their own: what ours are multiplied by (`1e-6` for Mbit/s).
    pub scale: BTreeMap<String, f64>,
    /// Whether the standard deviation over the repeats and the standard error stand below each mean.
    pub deviations: bool,
}

impl Table {
    /// What a metric is multiplied by to be in the unit in which the publication prints it.
    pub fn scale_of(&self, metric: &str) -> f64 {
        self.scale.get(metric).copied().unwrap_or(1.0)
    }
}

/// A number that a publication prints in a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    /// Where it stands: for each axis that makes rows or columns its label.
    pub at: BTreeMap<String, String>,
    /// The metric.
    pub metric: String,
    /// The number, in the publication's unit.
    pub value: f64,
}

/// A metric between cells: what one has in proportion to another, which differs from it in one axis alone. It is taken
/// seed by seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// By which figures, tables and claims call it.
    pub name: String,
    /// With which it is shown.
    pub title: String,
    /// The metric of the two runs.
    pub metric: String,
    /// The axis in which they differ.
    pub axis: String,
    /// The label of the one that the other is held against.
    pub reference: String,
    /// How it is made of the two.
    pub formula: Formula,
}

/// How a metric is made of a run and its reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    /// (reference - this) / reference.
    Loss,
    /// (this - reference) / reference.
    Gain,
    /// this / reference.
    Ratio,
    /// this - reference.
    Difference,
}

impl Formula {
    /// All of them, by the word of study files.
    pub const ALL: [(&'static str, Formula); 4] = [
        ("loss", Formula::Loss),
        ("gain", Formula::Gain),
        ("ratio", Formula::Ratio),
        ("difference", Formula::Difference),
    ];

    /// Returns the value of a run compared with its reference; none if it is not finite.
    pub fn value(self, this: f64, reference: f64) -> Option<f64> {
        let value = match self {
            Formula::Loss => (reference - this) / reference,
            Formula::Gain => (this - reference) / reference,
            Formula::Ratio => this / reference,
            Formula::Difference => this - reference,
        };
        Some(value).filter(|value| value.is_finite())
    }

    /// Written out, with the words `this` and `reference`.
    pub fn written(self) -> &'static str {
        match self {
            Formula::Loss => "(reference - this) / reference",
            Formula::Gain => "(this - reference) / reference",
            Formula::Ratio => "this / reference",
            Formula::Difference => "this - reference",
        }
    }
}

/// Something that is claimed, and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What is claimed, in words.
    pub text: String,
    /// Where, such as `section 5.2`, if in a publication.
    pub source: Option<String>,
    /// The publication's figure, as it prints it, if it gives one.
    pub stated: Option<String>,
    /// How it is checked.
    pub test: ClaimTest,
    /// Why it is not reproduced, if somebody has investigated it.
    pub reason: Option<Reason>,
}

/// How a claim is checked.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimTest {
    /// It cannot be, for this reason.
    NotTestable(String),
    /// By a measure, and what it is held against.
    Measured {
        /// How it is measured.
        kind: ClaimKind,
        /// When it counts as reproduced.
        expect: Expectation,
    },
}

impl Claim {
    /// Returns whether a publication claims it. A claim without a source is our own: of a model, or of another reading of what
    /// a publication leaves open.
    pub fn is_of_publication(&self) -> bool {
        self.source.is_some()
    }

    /// How it is measured, if it can be.
    pub fn kind(&self) -> Option<&ClaimKind> {
        match &self.test {
            ClaimTest::NotTestable(_) => None,
            ClaimTest::Measured { kind, .. } => Some(kind),
        }
    }
}

/// What a measure is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expectation {
    /// A range that it must lie in.
    Within(Range),
    /// A gain or a difference that is stated (a fraction, or in the metric's unit), over 0.
    Gain(f64),
    /// A number that is printed.
    Printed {
        /// The number.
        value: f64,
        /// What the measure is multiplied by to be in the number's unit.
        scale: f64,
    },
}

/// How a claim is measured. A selection leaves open what is averaged (or maximised) over.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimKind {
    /// The mean of a metric over the selected cells.
    Mean {
        /// Metric.
        metric: String,
        /// Cells.
        select: Selection,
    },
    /// The greatest (or least) cell mean of a metric over the selected cells.
    Extreme {
        /// Metric.
        metric: String,
        /// Cells.
        select: Selection,
        /// Greatest, else least.
        greatest: bool,
    },
    /// (a - b) / b or a - b, paired by seed, where a and b are cells that differ in one axis only.
    Gain {
        /// Metric.
        metric: String,
        /// Axis in which the pairs differ.
        axis: String,
        /// Label of a.
        of: String,
        /// Labels of b.
        over: Vec<String>,
        /// Cells.
        select: Selection,
        /// Which pairs decide.
        pairs: PairSummary,
        /// a - b instead of (a - b) / b.
        absolute: bool,
    },
    /// The share of such pairs in which a is above b, from 0 to 1.
    Wins {
        /// Metric.
        metric: String,
        /// Axis in which the pairs differ.
        axis: String,
        /// Label of a.
        of: String,
        /// Labels of b.
        over: Vec<String>,
        /// Cells.
        select: Selection,
    },
}

/// How the gains of several pairs become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSummary {
    /// The mean of all pairs.
    Mean,
    /// The pair whose mean over the repeats is the greatest.
    Greatest,
    /// The pair whose mean over the repeats is furthest from zero, without its sign.
    GreatestAbsolute,
}

/// A range in which a measure must lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower end, if any.
    pub at_least: Option<f64>,
    /// The upper end, if any.
    pub at_most: Option<f64>,
    /// Whether the ends do not belong to the range.
    pub is_open: bool,
}

impl Range {
    /// Returns whether a value lies in the range.
    pub fn contains(&self, value: f64) -> bool {
        match self.is_open {
            true => {
                self.at_least.is_none_or(|least| value > least)
                    && self.at_most.is_none_or(|most| value < most)
            }
            false => {
                self.at_least.is_none_or(|least| value >= least)
                    && self.at_most.is_none_or(|most| value <= most)
            }
        }
    }
}

impl ClaimKind {
    /// The metric.
    pub fn metric(&self) -> &str {
        match self {
            ClaimKind::Mean { metric, .. }
            | ClaimKind::Extreme { metric, .. }
            | ClaimKind::Gain { metric, .. }
            | ClaimKind::Wins { metric, .. } => metric,
        }
    }

    /// The cells that it speaks of.
    pub fn select(&self) -> &Selection {
        match self {
            ClaimKind::Mean { select, .. }
            | ClaimKind::Extreme { select, .. }
            | ClaimKind::Gain { select, .. }
            | ClaimKind::Wins { select, .. } => select,
        }
    }
}

impl Study {
    /// The index of the axis of this name.
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis.name == name)
    }

    /// Returns the label of a cell on one axis.
    pub fn label(&self, cell: usize, axis: &str) -> Option<&str> {
        let axis = self.axis(axis)?;
        Some(self.axes[axis].points[self.cells[cell].coordinates[axis]].label.as_str())
    }

    /// What a cell is called: its labels, such as `agile-sd, 100 packets, 1e-5`.
    pub fn cell_label(&self, cell: usize) -> String {
        let labels = self.axes.iter().zip(&self.cells[cell].coordinates);
        labels.map(|(axis, point)| axis.points[*point].label.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Every metric of a run that the study asks for, each once: those shown first, those of figures, tables and claims,
    /// and those that others are derived from.
    pub fn metrics_asked(&self) -> Vec<&str> {
        let figures = self.figures.iter().flat_map(|figure| figure.kind.metrics().0);
        let claims = self.claims.iter().filter_map(|claim| claim.kind().map(ClaimKind::metric));
        let tables = self.tables.iter().flat_map(|table| &table.metrics);
        let mut asked: Vec<&str> = Vec::new();
        let named = self.metrics.iter().map(String::as_str).chain(figures);
        let named = named.chain(tables.map(String::as_str)).chain(claims);
        for metric in named.map(|name| self.derived(name).map_or(name, |derived| derived.metric.as_str())) {
            if !asked.contains(&metric) {
                asked.push(metric);
            }
        }
        asked
    }

    /// The metrics of single flows that figures draw, each once.
    pub fn flow_metrics_asked(&self) -> Vec<&str> {
        let of_flows = |figure: &'_ Figure| figure.kind.metrics().1 == Per::Flow;
        let mut asked: Vec<&str> = Vec::new();
        for metric in self.figures.iter().filter(|figure| of_flows(figure)).flat_map(|f| f.kind.metrics().0) {
            if !asked.contains(&metric) {
                asked.push(metric);
            }
        }
        asked
    }

    /// Returns whether a figure shows the state of algorithms in a cell.
    pub fn shows_state(&self, cell: usize) -> bool {
        self.figures.iter().any(|figure| match &figure.kind {
            FigureKind::Trace { show, .. } => {
                show.iter().any(|name| name.starts_with(STATE)) && figure.select.contains(self, cell)
            }
            _ => false,
        })
    }

    /// The metric between cells of this name.
    pub fn derived(&self, name: &str) -> Option<&Derived> {
        self.derived.iter().find(|derived| derived.name == name)
    }

    /// For each cell the one that a derived metric holds it against, if there is one.
    pub fn references(&self, derived: &Derived) -> Vec<Option<usize>> {
        let Some(axis) = self.axis(&derived.axis) else { return vec![None; self.cells.len()] };
        let point = self.axes[axis].points.iter().position(|point| point.label == derived.reference);
        let at: BTreeMap<&[usize], usize> =
            self.cells.iter().enumerate().map(|(i, cell)| (cell.coordinates.as_slice(), i)).collect();
        let of = |cell: &Cell| {
            let mut coordinates = cell.coordinates.clone();
            coordinates[axis] = point?;
            at.get(coordinates.as_slice()).copied()
        };
        self.cells.iter().map(of).collect()
    }

    /// What a repeat (from 0) of a cell runs: the cell's scenario with the repeat's seed, sampled if its trace is
    /// to be kept or a metric needs it. All repeats of a cell that is run once are the same.
    pub fn scenario(&self, cell: usize, repeat: u32) -> Scenario {
        let mut scenario = self.cells[cell].scenario.with_seed(self.seed_of(cell, repeat));
        scenario.sample = self.sample_of(cell, repeat);
        scenario
    }

    /// Returns the seed of a repeat (from 0) of a cell.
    pub(crate) fn seed_of(&self, cell: usize, repeat: u32) -> u64 {
        let offset = if self.is_run_once(cell) { 0 } else { u64::from(repeat) };
        self.seed.wrapping_add(offset)
    }

    /// Returns the time between the samples of a repeat (from 0) of a cell, if it is sampled.
    pub(crate) fn sample_of(&self, cell: usize, repeat: u32) -> Option<Time> {
        let traced = self.trace.as_ref().filter(|_| self.is_traced(cell, repeat));
        traced.map(|plan| plan.sample).or(self.cells[cell].scenario.sample)
    }

    /// Whether the trace of a repeat (from 0) of a cell is kept.
    pub fn is_traced(&self, cell: usize, repeat: u32) -> bool {
        let is_kept = |plan: &TracePlan| repeat < plan.repeats || self.is_run_once(cell);
        self.trace.as_ref().is_some_and(|plan| is_kept(plan) && plan.select.contains(self, cell))
    }

    /// Whether all repeats of a cell are one run, since nothing in it is random.
    pub fn is_run_once(&self, cell: usize) -> bool {
        self.once.as_ref().is_some_and(|once| once.contains(self, cell))
    }

    /// The cells of a selection, in order.
    pub fn select<'a>(&'a self, selection: &'a Selection) -> impl Iterator<Item = usize> + 'a {
        (0..self.cells.len()).filter(move |cell| selection.contains(self, *cell))
    }
}

/// Settings of the simulator alone.
const SIMULATED: [&str; 4] = ["timer-hz", "linux-version", "send-overhead", "ties"];

impl Cell {
    /// Returns the settings whose values in effect are others than those of an experiment with the same topology, bottleneck, duration and
    /// stack that says nothing else, as they are written.
    pub fn unusual_settings(&self) -> Vec<(&'static Setting, String)> {
        let said = &self.experiment;
        let StackChoice { profile, transport, packet_size, mtu, .. } = said.stack;
        let stack = StackChoice { profile, transport, packet_size, mtu, ..StackChoice::default() };
        let plain = ExperimentSpec {
            algorithm: "cubic".parse().ok(),
            topology: said.topology.clone(),
            rate: said.rate,
            delay: said.delay,
            buffer: said.buffer.clone(),
            duration: said.duration,
            stack,
            ..ExperimentSpec::default()
        };
        let scenario = plain.resolve(1).ok();
        let usual =
            |setting: &Setting| scenario.as_ref().and_then(|scenario| (setting.get)(&plain, scenario));
        self.settings().filter(|(setting, value)| usual(setting).as_ref() != Some(value)).collect()
    }

    /// Returns every setting that applies, with its value in effect as it is written: what was set, and defaults. The
    /// engine comes first. Those that say how the simulator's sender is are not a kernel's.
    pub fn settings(&self) -> impl Iterator<Item = (&'static Setting, String)> + '_ {
        let of =
            |setting: &'static Setting| Some((setting, (setting.get)(&self.experiment, &self.scenario)?));
        let applies = |setting: &&Setting| !(self.engine.is_kernels() && SIMULATED.contains(&setting.key));
        [(&ENGINE, self.engine.to_string())].into_iter().chain(SETTINGS.iter().filter(applies).filter_map(of))
    }

    /// Returns the flows that last, equal ones together, cross flows included.
    pub fn groups(&self) -> Vec<FlowGroup> {
        let groups = self.experiment.with_candidate().and_then(|spec| spec.with_cross_flows(&spec.groups()?));
        groups.unwrap_or_default()
    }
}

impl Selection {
    /// Whether a cell belongs.
    pub fn contains(&self, study: &Study, cell: usize) -> bool {
        self.0.iter().all(|(axis, labels)| {
            study.axis(axis).is_some_and(|axis| {
                let point = study.cells[cell].coordinates[axis];
                labels.contains(&study.axes[axis].points[point].label)
            })
        })
    }
}
