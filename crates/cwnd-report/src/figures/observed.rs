//! The values that figures of distributions are drawn of: one of each run, flow or sample.

use super::points::Chosen;
use super::trace::quantity::{self, Flows, Quantity};
use super::traces::Traces;
use crate::measure::{Measure, number, small};
use cwnd_study::{FigureKind, Per, RunState};
use std::collections::BTreeSet;

/// Reads the values of cells, and counts what is missing.
pub(super) struct Observed<'a> {
    chosen: &'a Chosen<'a>,
    traces: &'a Traces,
    per: Per,
    /// How many values were read, of how many runs, and how many runs have none.
    values: usize,
    runs: usize,
    without: usize,
}

impl<'a> Observed<'a> {
    pub fn new(chosen: &'a Chosen<'a>, traces: &'a Traces, per: Per) -> Observed<'a> {
        Observed { chosen, traces, per, values: 0, runs: 0, without: 0 }
    }

    /// How a metric or a sampled quantity is shown.
    pub fn measure(&self, name: &str) -> Measure {
        match self.per {
            Per::Sample => self.quantity(name).measure,
            Per::Run | Per::Flow => Measure::of_study(&self.chosen.results.study, name),
        }
    }

    fn quantity(&self, name: &str) -> Quantity {
        let results = self.chosen.results;
        let scenarios = || self.chosen.cells.iter().map(|cell| &results.study.cells[*cell].scenario);
        let runs = self.chosen.cells.iter().filter_map(|cell| {
            let (_, trace) = self.traces.of_cell(results, *cell).ok()?;
            Some((*cell, trace))
        });
        Quantity::new(name, quantity::queue(results, runs).as_deref(), scenarios())
    }

    /// The finite values of one quantity in some cells.
    pub fn values(&mut self, cells: &[usize], name: &str) -> Vec<f64> {
        self.rows(cells, &[name]).into_iter().map(|row| row[0]).collect()
    }

    /// The pairs of two metrics of the same run or flow, of which both are finite.
    pub fn pairs(&mut self, cells: &[usize], names: [&str; 2]) -> Vec<(f64, f64)> {
        self.rows(cells, &names).into_iter().map(|row| (row[0], row[1])).collect()
    }

    fn rows(&mut self, cells: &[usize], names: &[&str]) -> Vec<Vec<f64>> {
        let results = self.chosen.results;
        let mut all = Vec::new();
        for cell in cells {
            if self.per == Per::Sample {
                let found = self.samples(*cell, names[0]);
                self.count(found.len());
                all.extend(found.into_iter().map(|value| vec![value]));
                continue;
            }
            for run in results.runs_of(*cell) {
                let columns: Vec<Vec<f64>> = names
                    .iter()
                    .map(|name| match (self.per, &run.state) {
                        (Per::Flow, RunState::Done(_)) => run.flows.get(*name).cloned().unwrap_or_default(),
                        _ => run.metric(name).into_iter().collect(),
                    })
                    .collect();
                let count = columns.iter().map(Vec::len).min().unwrap_or(0);
                let row = |i: usize| columns.iter().map(|column| column[i]).collect::<Vec<f64>>();
                let is_whole = |row: &Vec<f64>| row.iter().all(|value| value.is_finite());
                let rows: Vec<Vec<f64>> = (0..count).map(row).filter(is_whole).collect();
                self.count(rows.len());
                all.extend(rows);
            }
        }
        all
    }

    fn count(&mut self, values: usize) {
        self.values += values;
        self.runs += usize::from(values > 0);
        self.without += usize::from(values == 0);
    }

    /// The samples of the recorded run of a cell.
    fn samples(&self, cell: usize, name: &str) -> Vec<f64> {
        let results = self.chosen.results;
        let Ok((_, trace)) = self.traces.of_cell(results, cell) else { return Vec::new() };
        let quantity = self.quantity(name);
        let flows = Flows::new(&results.study.cells[cell].scenario, trace);
        let points = match quantity.of_all(&flows) {
            Some(points) => points,
            None if quantity.is_queue() => quantity.queue_points(trace),
            None => flows.each(&quantity).flat_map(|(_, points)| points).collect(),
        };
        points.into_iter().map(|(_, value)| value).filter(|value| value.is_finite()).collect()
    }

    /// What the values are, over what they are taken together, and what is missing.
    pub fn notes(&self, kind: &FigureKind, panels: &[String]) -> Vec<String> {
        let study = &self.chosen.results.study;
        let axes = match kind {
            FigureKind::Box { x, .. } => vec![Some(x.as_str()), kind.series()],
            _ => vec![kind.series()],
        };
        let named = axes.into_iter().flatten().chain(panels.iter().map(String::as_str));
        let used: Vec<usize> = named.filter_map(|name| study.axis(name)).collect();
        let open: BTreeSet<String> =
            self.chosen.open_axes(&used).iter().map(|axis| small(&study.axes[*axis].title)).collect();
        let over = match open.is_empty() {
            true => String::new(),
            false => format!(" and all of {}", open.into_iter().collect::<Vec<_>>().join(" and ")),
        };
        let (values, runs) = (number(self.values as f64, 0), self.runs);
        let runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
        let mut notes = vec![match self.per {
            Per::Run => format!("One value for each of {runs}{over}."),
            Per::Flow => format!("One value for each of {values} flows of {runs}{over}."),
            Per::Sample => format!("{values} samples of {runs}{over}."),
        }];
        if self.without > 0 {
            let are = if self.without == 1 { "run has" } else { "runs have" };
            notes.push(format!("{} {are} no value.", self.without));
        }
        notes
    }
}
