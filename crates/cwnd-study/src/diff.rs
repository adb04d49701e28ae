//! What changed between the results of two runs of a study, and whether it is more than chance.
//!
//! Cells are matched by the labels of their points, and their runs paired by seed: both met the same losses and starts
//! where they could. An axis that only one side has is left out of the matching if it has one point there, and else
//! nothing matches. For each pair of cells and each metric, the differences (second - first) are held against 0 by the
//! paired t-test, and its p-values corrected for the number of tests by Holm's method. Where every value is the same to
//! the bit there is nothing to test, and such comparisons do not count.

use crate::{Cell, MetricValues, Results, RunState};
use cwnd_metrics::statistics::{Paired, holm};
use std::collections::{BTreeMap, BTreeSet};

/// What changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Every metric of every pair of cells: what changed with significance first, the surest before the less sure; then
    /// what differs otherwise, the greatest relative change first; then what is identical, in the study's order.
    pub comparisons: Vec<Comparison>,
    /// Cells that only the first results have, by their labels.
    pub only_first: Vec<String>,
    /// Cells that only the second have.
    pub only_second: Vec<String>,
    /// Runs of cells in both results that only one side has: of a seed that the other lacks, or missing or failed there.
    pub unpaired: usize,
    /// Values that only one run of a pair has, of the metrics that are compared.
    pub unpaired_values: usize,
    /// What hinders the comparison, a sentence each: axes of one side, runs that are missing or failed.
    pub notes: Vec<String>,
}

/// A metric of a cell in both results.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The cell's labels by axis, in the order of the axes.
    pub cell: Vec<(String, String)>,
    /// The metric.
    pub metric: String,
    /// Means over the paired runs: the first's and the second's.
    pub means: (f64, f64),
    /// Of second - first, paired by seed.
    pub paired: Paired,
    /// Whether every value is the same to the bit.
    pub identical: bool,
    /// The p-value of the test, corrected for the number of tests; none if identical or fewer than two pairs.
    pub p_corrected: Option<f64>,
}

/// Which metrics are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metrics<'a> {
    /// Those that either study names.
    Named,
    /// All that runs have.
    All,
    /// These.
    Only(&'a [String]),
}

/// Below this, a corrected p-value is significant.
pub const SIGNIFICANT: f64 = 0.05;

impl Comparison {
    /// Whether the difference is significant.
    pub fn is_significant(&self) -> bool {
        self.p_corrected.is_some_and(|p| p < SIGNIFICANT)
    }

    /// The mean difference as a part of the first mean; none if that is 0.
    pub fn relative(&self) -> Option<f64> {
        (self.means.0 != 0.0).then(|| self.paired.mean_difference / self.means.0.abs())
    }

    /// What the cell is called.
    pub fn cell_label(&self) -> String {
        self.cell.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl Diff {
    /// Returns whether [`Diff::changes`] has any.
    pub fn is_change(&self) -> bool {
        !self.changes().is_empty()
    }

    /// Returns what counts as a change, a phrase each: a bit of a value; cells, runs or values that only one side has; and
    /// that nothing could be compared. None if all is there on both sides and equal.
    pub fn changes(&self) -> Vec<String> {
        let total = self.comparisons.len();
        let mut changes = Vec::new();
        if total == 0 {
            changes.push("nothing could be compared".to_owned());
        }
        let differ = self.comparisons.iter().filter(|comparison| !comparison.identical).count();
        let mut add = |count: usize, phrase: String| {
            if count > 0 {
                changes.push(phrase);
            }
        };
        add(differ, format!("not identical to the bit: {differ} of {total} comparisons"));
        for (cells, side) in [(&self.only_first, "first"), (&self.only_second, "second")] {
            add(cells.len(), format!("cells that only the {side} results have: {}", cells.len()));
        }
        add(self.unpaired, format!("{} no partner", have(self.unpaired, "run")));
        add(self.unpaired_values, format!("{} no partner", have(self.unpaired_values, "value")));
        changes
    }
}

/// Writes a number of things and "has" or "have".
fn have(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what} has") } else { format!("{count} {what}s have") }
}

/// Compares two results.
pub fn diff(first: &Results, second: &Results, metrics: Metrics<'_>) -> Diff {
    let mut notes = Vec::new();
    let axes = common_axes(first, second, &mut notes);
    let (cells, in_order) = (cells(first, &axes), cells(second, &axes));
    let others: BTreeMap<&[String], usize> =
        in_order.iter().map(|(labels, cell)| (labels.as_slice(), *cell)).collect();
    let metrics = names(first, second, metrics);
    let mut comparisons = Vec::new();
    let (mut unpaired, mut unpaired_values, mut without_both) = (0, 0, 0);
    let mut settings = Differences::new();
    for (labels, cell) in &cells {
        let Some(other) = others.get(labels.as_slice()) else { continue };
        add_differences(&first.study.cells[*cell], &second.study.cells[*other], &mut settings);
        let (ours, theirs) = (by_seed(first, *cell), by_seed(second, *other));
        let seeds: BTreeSet<&u64> = ours.keys().chain(theirs.keys()).collect();
        unpaired += seeds.iter().filter(|s| !(ours.contains_key(*s) && theirs.contains_key(*s))).count();
        let of_second: BTreeSet<u64> = second.runs_of(*other).iter().map(|run| run.seed).collect();
        let is_in_neither = |seed: &u64| of_second.contains(seed) && !seeds.contains(seed);
        without_both += first.runs_of(*cell).iter().filter(|run| is_in_neither(&run.seed)).count();
        for metric in &metrics {
            let has_one = |seed: &u64| match (ours.get(seed), theirs.get(seed)) {
                (Some(run), Some(other)) => run.get(metric).is_some() != other.get(metric).is_some(),
                _ => false,
            };
            unpaired_values += seeds.iter().filter(|seed| has_one(seed)).count();
            let pairs: Vec<(f64, f64)> = ours
                .iter()
                .filter_map(|(seed, run)| Some((*run.get(metric)?, *theirs.get(seed)?.get(metric)?)))
                .collect();
            if let Some(comparison) = compare(&axes, labels, metric, &pairs) {
                comparisons.push(comparison);
            }
        }
    }
    if unpaired > 0 {
        notes.push(format!(
            "{} no partner: a seed that the other side lacks, or a run that is missing or failed",
            have(unpaired, "run")
        ));
    }
    if unpaired_values > 0 {
        notes.push(format!(
            "{} no partner: the run of one side alone has the metric",
            have(unpaired_values, "value")
        ));
    }
    if without_both > 0 {
        notes.push(format!(
            "{} missing or failed on both sides, and not compared",
            if without_both == 1 { "1 run is".to_owned() } else { format!("{without_both} runs are") }
        ));
    }
    notes.extend(settings.iter().map(|(key, (first, second, cells))| match cells {
        1 => format!("`{key}` is {first} in the first results and {second} in the second, in one cell"),
        _ => format!(
            "`{key}` differs in {cells} cells: in the first of them it is {first} in the first results and {second} in the second"
        ),
    }));
    correct(&mut comparisons);
    sort(&mut comparisons);
    let alone = |own: &[(Vec<String>, usize)], others: &[(Vec<String>, usize)]| {
        let others: BTreeSet<&[String]> = others.iter().map(|(labels, _)| labels.as_slice()).collect();
        let alone = own.iter().filter(|(labels, _)| !others.contains(labels.as_slice()));
        alone.map(|(labels, _)| labels.join(", ")).collect::<Vec<_>>()
    };
    let (only_first, only_second) = (alone(&cells, &in_order), alone(&in_order, &cells));
    Diff { comparisons, only_first, only_second, unpaired, unpaired_values, notes }
}

/// The settings that differ: the values in the first cell in which they do, and in how many they do.
type Differences = BTreeMap<&'static str, (String, String, usize)>;

/// Adds the settings in which two cells of the same labels differ, those of axes included whose label says something else.
fn add_differences(first: &Cell, second: &Cell, differences: &mut Differences) {
    let values = |cell: &Cell| {
        cell.settings().map(|(setting, value)| (setting.key, value)).collect::<BTreeMap<_, _>>()
    };
    let (first, second) = (values(first), values(second));
    let keys: BTreeSet<&'static str> = first.keys().chain(second.keys()).copied().collect();
    for key in keys.into_iter().filter(|key| first.get(key) != second.get(key)) {
        let value = |of: &BTreeMap<&str, String>| {
            of.get(key).map_or("not there".to_owned(), |value| format!("`{value}`"))
        };
        differences.entry(key).or_insert_with(|| (value(&first), value(&second), 0)).2 += 1;
    }
}

fn compare(axes: &[String], labels: &[String], metric: &str, pairs: &[(f64, f64)]) -> Option<Comparison> {
    let paired = Paired::of(pairs)?;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
    Some(Comparison {
        cell: axes.iter().cloned().zip(labels.iter().cloned()).collect(),
        metric: metric.to_owned(),
        means: (mean(|pair| pair.0), mean(|pair| pair.1)),
        identical: pairs.iter().all(|(first, second)| first.to_bits() == second.to_bits()),
        paired,
        p_corrected: None,
    })
}

fn correct(comparisons: &mut [Comparison]) {
    let tested: Vec<usize> = (0..comparisons.len())
        .filter(|i| !comparisons[*i].identical && comparisons[*i].paired.p.is_some())
        .collect();
    let p: Vec<f64> = tested.iter().filter_map(|i| comparisons[*i].paired.p).collect();
    for (i, p) in tested.into_iter().zip(holm(&p)) {
        comparisons[i].p_corrected = Some(p);
    }
}

fn sort(comparisons: &mut [Comparison]) {
    let rank = |comparison: &Comparison| match comparison {
        c if c.is_significant() => 0,
        c if !c.identical => 1,
        _ => 2,
    };
    let change = |comparison: &Comparison| comparison.relative().map_or(f64::INFINITY, f64::abs);
    comparisons.sort_by(|a, b| {
        rank(a).cmp(&rank(b)).then_with(|| match rank(a) {
            0 => (a.p_corrected.unwrap_or(1.0).total_cmp(&b.p_corrected.unwrap_or(1.0)))
                .then(change(b).total_cmp(&change(a))),
            1 => change(b).total_cmp(&change(a)),
            _ => std::cmp::Ordering::Equal,
        })
    });
}

/// The axes by which cells are matched.
fn common_axes(first: &Results, second: &Results, notes: &mut Vec<String>) -> Vec<String> {
    let mut axes: Vec<String> = Vec::new();
    for (own, other, side) in [(first, second, "first"), (second, first, "second")] {
        for axis in &own.study.axes {
            if axes.contains(&axis.name) {
                continue;
            }
            if other.study.axis(&axis.name).is_none() {
                notes.push(format!("the axis `{}` is in the {side} results alone", axis.name));
                if axis.points.len() == 1 {
                    continue;
                }
            }
            axes.push(axis.name.clone());
        }
    }
    axes
}

/// The cells with their labels on these axes. A label that a cell does not have matches no label.
fn cells(results: &Results, axes: &[String]) -> Vec<(Vec<String>, usize)> {
    let study = &results.study;
    let label = |cell: usize, axis: &String| match study.axis(axis) {
        Some(axis) => study.axes[axis].points[study.cells[cell].coordinates[axis]].label.clone(),
        None => "(none)".to_owned(),
    };
    (0..study.cells.len()).map(|cell| (axes.iter().map(|axis| label(cell, axis)).collect(), cell)).collect()
}

fn names(first: &Results, second: &Results, metrics: Metrics<'_>) -> Vec<String> {
    let (mut names, mut seen) = (Vec::new(), BTreeSet::new());
    let mut add = |name: &String| {
        if seen.insert(name.clone()) {
            names.push(name.clone());
        }
    };
    match metrics {
        Metrics::Only(only) => only.iter().for_each(add),
        Metrics::Named => first.study.metrics.iter().chain(&second.study.metrics).for_each(add),
        Metrics::All => {
            first.study.metrics.iter().chain(&second.study.metrics).for_each(&mut add);
            let runs = first.runs.iter().chain(&second.runs);
            let all: BTreeSet<&String> = runs
                .filter_map(|run| if let RunState::Done(metrics) = &run.state { Some(metrics) } else { None })
                .flat_map(MetricValues::keys)
                .collect();
            all.into_iter().for_each(add);
        }
    }
    names
}

fn by_seed(results: &Results, cell: usize) -> BTreeMap<u64, &MetricValues> {
    let runs = results.runs_of(cell).iter();
    runs.filter_map(|run| match &run.state {
        RunState::Done(metrics) => Some((run.seed, metrics)),
        RunState::Missing | RunState::Failed(_) => None,
    })
    .collect()
}

#[cfg(test)]
mod tests;
