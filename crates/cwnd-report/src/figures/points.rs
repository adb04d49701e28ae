//! The cells of a figure, and where they stand on its axes.

use crate::estimate::Estimate;
use crate::measure::small;
use crate::validity_warnings;
use cwnd_study::{Results, Selection};
use std::collections::BTreeSet;

/// The cells that a figure or a table shows.
pub(crate) struct Chosen<'a> {
    pub results: &'a Results,
    pub cells: Vec<usize>,
}

impl<'a> Chosen<'a> {
    pub fn new(results: &'a Results, select: &Selection) -> Chosen<'a> {
        Chosen { results, cells: results.study.select(select).collect() }
    }

    /// The points of an axis that any of the cells has, in the axis's order.
    pub fn points(&self, axis: usize) -> Vec<usize> {
        let has = |point: &usize| self.cells.iter().any(|cell| self.point(*cell, axis) == Some(*point));
        (0..self.results.study.axes[axis].points.len()).filter(has).collect()
    }

    /// The cells at these points (pairs of axis and point).
    pub fn at(&self, points: &[(usize, usize)]) -> Vec<usize> {
        let is_there =
            |cell: &&usize| points.iter().all(|&(axis, point)| self.point(**cell, axis) == Some(point));
        self.cells.iter().filter(is_there).copied().collect()
    }

    /// Whether there is any cell at these points; a study can leave combinations out.
    pub fn has(&self, points: &[(usize, usize)]) -> bool {
        !self.at(points).is_empty()
    }

    fn point(&self, cell: usize, axis: usize) -> Option<usize> {
        self.results.study.cells[cell].coordinates.get(axis).copied()
    }

    /// The axes that none of `used` is and on which the cells differ: over these is averaged.
    pub fn open_axes(&self, used: &[usize]) -> Vec<usize> {
        let differs = |axis: &usize| !used.contains(axis) && self.points(*axis).len() > 1;
        (0..self.results.study.axes.len()).filter(differs).collect()
    }
}

/// Counts what is there and what is not, while a figure or a table is made.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Places that should have a value.
    places: usize,
    /// Those without one.
    missing: usize,
    /// Cells of these, and those of them without a value in any repeat.
    cells_of_missing: BTreeSet<usize>,
    silent: BTreeSet<usize>,
    /// A cell of each of those with fewer repeats than the study has.
    partial: Vec<usize>,
    /// Whether any has an interval.
    has_interval: bool,
    /// Cells that rest on runs which are not valid.
    doubted: BTreeSet<usize>,
}

impl Tally {
    /// The mean of a metric over cells, counted. A place without cells belongs to a combination that the study does not
    /// have, and is not missing.
    pub fn estimate(&mut self, results: &Results, cells: &[usize], metric: &str) -> Option<Estimate> {
        let estimate = Estimate::of(results, cells, metric);
        self.places += usize::from(!cells.is_empty());
        match estimate {
            None => {
                self.missing += usize::from(!cells.is_empty());
                self.cells_of_missing.extend(cells);
                let is_silent = |cell: &&usize| Estimate::of(results, &[**cell], metric).is_none();
                self.silent.extend(cells.iter().filter(is_silent));
            }
            Some(estimate) => {
                let is_partial = estimate.count < results.study.repeats as usize;
                self.partial.extend(cells.first().filter(|_| is_partial));
                self.has_interval |= estimate.half.is_some();
                let doubted = cells.iter().filter(|cell| validity_warnings::of_cell(results, **cell) > 0);
                self.doubted.extend(doubted);
            }
        }
        estimate
    }

    /// What a reader must know: what the values are, and what is missing. `how` says how a missing value is shown.
    pub fn notes(&self, chosen: &Chosen<'_>, used: &[usize], how: &str) -> Vec<String> {
        let study = &chosen.results.study;
        let mut notes = Vec::new();
        let open = chosen.open_axes(used);
        let over: Vec<String> = open.iter().map(|axis| small(&study.axes[*axis].title)).collect();
        let over =
            if over.is_empty() { String::new() } else { format!(", averaged over {}", over.join(" and ")) };
        notes.push(match (study.repeats, self.has_interval) {
            (0 | 1, _) => format!("One run each{over}, so there are no intervals."),
            (repeats, true) => format!("Means of {repeats} repeats with 95 % intervals{over}."),
            (repeats, false) => format!("Means of up to {repeats} repeats{over}."),
        });
        let places = self.places;
        if self.missing > 0 && self.missing == places {
            notes.push(self.why_all_are_missing());
        } else if self.missing > 0 {
            let are = if self.missing == 1 { "is" } else { "are" };
            notes.push(format!("{} of {places} values {are} missing {how}.", self.missing));
        }
        if !self.doubted.is_empty() {
            let runs: usize =
                self.doubted.iter().map(|cell| validity_warnings::of_cell(chosen.results, *cell)).sum();
            let are = if runs == 1 { "run in it is" } else { "runs in it are" };
            notes.push(format!("{} {runs} {are} not valid.", validity_warnings::MARK));
        }
        let which = self.partial_places(chosen, used);
        match self.partial.len() {
            0 => {}
            1 => notes.push(format!("One mean rests on fewer repeats{which}.")),
            count => notes.push(format!("{count} means rest on fewer repeats{which}.")),
        }
        notes
    }

    /// Names the places whose means rest on fewer repeats by their labels on the axes that are shown, each once: the first ones, and how
    /// many more there are.
    fn partial_places(&self, chosen: &Chosen<'_>, used: &[usize]) -> String {
        const NAMED: usize = 3;
        let axes = &chosen.results.study.axes;
        let shown = (0..axes.len()).filter(|axis| used.contains(axis));
        let label = |cell: &usize| {
            let point = |axis: usize| Some(axes[axis].points[chosen.point(*cell, axis)?].label.as_str());
            shown.clone().filter_map(point).collect::<Vec<_>>().join(", ")
        };
        let mut labels: Vec<String> =
            self.partial.iter().map(label).filter(|label| !label.is_empty()).collect();
        let mut known = BTreeSet::new();
        labels.retain(|label| known.insert(label.clone()));
        match labels.len() {
            0 => String::new(),
            count if count <= NAMED => format!(": {}", labels.join("; ")),
            count => format!(": {} and {} more", labels[..NAMED].join("; "), count - NAMED),
        }
    }

    /// Says why no place has a value: a mean over several cells needs a repeat with a value in each.
    fn why_all_are_missing(&self) -> String {
        let cells = self.cells_of_missing.len();
        match self.silent.len() {
            silent if silent == cells => "No run has a value of it.".to_owned(),
            0 => "No mean has a repeat with a value in all its combinations.".to_owned(),
            silent => {
                let have = if silent == 1 { "has" } else { "have" };
                format!("{silent} of {cells} combinations {have} no value in any repeat, so no mean has one.")
            }
        }
    }
}
