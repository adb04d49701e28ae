//! From the results of the studies to verdicts.
//!
//! Each criterion has, for each algorithm and seed, the mean over its cells of the effect against the reference with the same
//! seed. A t-test of these means, paired by seed, gives a p-value; Holm's correction is over all criteria of the
//! list. An algorithm is better or worse where the corrected p-value is under 5 % and the effect is more than the criterion's
//! margin, else it is as the reference.

use crate::candidate::{AXIS, Field};
use crate::criteria::{Better, Compare, Criteria, Criterion, Row};
use crate::ledger::{CellEffect, CriterionEntry, Effect, Entry, Interval, Measured, Verdict, Worst};
use cwnd_metrics::statistics::{Summary, holm};
use cwnd_study::Results;
use std::collections::BTreeMap;

/// The chance of an accidental `better` or `worse` anywhere in the list.
pub const LEVEL: f64 = 0.05;

/// Which repeats are compared: each of the algorithm with one of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Those of the same seed.
    BySeed,
    /// Blocks of repeats with others: the repeats of a study are `blocks` blocks, and the reference has the block after the algorithm's. With the same
    /// algorithm in both places the verdicts are false alarms.
    Shifted {
        /// Which block the algorithm has, from 0.
        block: usize,
        /// How many there are.
        blocks: usize,
    },
}

impl Pairing {
    fn pairs(self, repeats: u32) -> Vec<(usize, usize)> {
        match self {
            Pairing::BySeed => (0..repeats as usize).map(|repeat| (repeat, repeat)).collect(),
            Pairing::Shifted { block, blocks } => {
                let length = repeats as usize / blocks;
                (block * length..(block + 1) * length).map(|repeat| (repeat, repeat + length)).collect()
            }
        }
    }
}

/// Judges all rows, with runs paired by seed. `results` has those of each study by its name.
///
/// # Errors
/// A study or a cell is missing.
pub fn judge(
    criteria: &Criteria,
    field: &Field,
    results: &BTreeMap<String, Results>,
) -> Result<Vec<Entry>, String> {
    judge_paired(criteria, field, results, Pairing::BySeed)
}

/// Judges all rows, with this pairing.
///
/// # Errors
/// A study or a cell is missing.
pub fn judge_paired(
    criteria: &Criteria,
    field: &Field,
    results: &BTreeMap<String, Results>,
    pairing: Pairing,
) -> Result<Vec<Entry>, String> {
    let mut rows: Vec<Entry> = Vec::new();
    for row in &criteria.rows {
        let entries: Result<Vec<CriterionEntry>, String> =
            row.criteria.iter().map(|criterion| measure(criterion, field, results, pairing)).collect();
        rows.push(entry(row, entries?));
    }
    for algorithm in
        field.all().into_iter().filter(|name| *name == field.candidate || *name != field.reference)
    {
        correct(&mut rows, algorithm);
    }
    for row in &mut rows {
        let verdicts = row.criteria.iter().filter_map(|criterion| criterion.effects.get(&field.candidate));
        row.verdict = Verdict::of_row(verdicts.map(|effect| effect.verdict), !row.criteria.is_empty());
    }
    Ok(rows)
}

/// Returns the rows of an algorithm that the simulator does not have, with the reason.
pub fn unmeasured(criteria: &Criteria, reason: &str) -> Vec<Entry> {
    let of_row = |row: &Row| {
        let mut entry = entry(row, Vec::new());
        if row.not_applicable.is_none() {
            (entry.verdict, entry.reason) = (Verdict::NotMeasured, Some(reason.to_owned()));
        }
        entry
    };
    criteria.rows.iter().map(of_row).collect()
}

fn entry(row: &Row, criteria: Vec<CriterionEntry>) -> Entry {
    Entry {
        section: row.section.clone(),
        title: row.title.clone(),
        level: row.level.clone(),
        verdict: Verdict::NotApplicable,
        reason: row.not_applicable.clone(),
        note: row.note.clone(),
        criteria,
    }
}

/// Measures a criterion, still without verdicts.
fn measure(
    criterion: &Criterion,
    field: &Field,
    results: &BTreeMap<String, Results>,
    pairing: Pairing,
) -> Result<CriterionEntry, String> {
    let wrong = |why: &str| format!("the criterion `{}`: {why}", criterion.id);
    let results = results.get(&criterion.study).ok_or_else(|| wrong("its study was not run"))?;
    let cells = Cells::of(criterion, field, results, pairing).map_err(|why| wrong(&why))?;
    let mut values = BTreeMap::new();
    let mut effects = BTreeMap::new();
    for algorithm in field.all() {
        values.insert(algorithm.to_owned(), cells.measured(algorithm, &criterion.metric));
        // The candidate may be the reference itself.
        if algorithm == field.candidate || algorithm != field.reference {
            effects.insert(algorithm.to_owned(), cells.effect(algorithm, criterion));
        }
    }
    let of_cells = cells.effects(&field.candidate, criterion);
    Ok(CriterionEntry {
        id: criterion.id.clone(),
        title: criterion.title.clone(),
        study: criterion.study.clone(),
        metric: criterion.metric.clone(),
        better: criterion.better,
        compare: criterion.compare,
        margin: criterion.margin,
        repeats: cells.pairs.len() as u32,
        missing: cells.missing(&field.candidate, criterion),
        values,
        effects,
        worst: cells.worst(&of_cells, field, criterion),
        cells: of_cells,
    })
}

/// The cells of a criterion: for each algorithm the same places.
struct Cells<'a> {
    results: &'a Results,
    reference: &'a str,
    /// For each algorithm its cells, in the order of `labels`.
    by_algorithm: BTreeMap<String, Vec<usize>>,
    /// What the places are called, without the algorithm.
    labels: Vec<String>,
    /// The repeats that are compared: of the algorithm, and of the reference.
    pairs: Vec<(usize, usize)>,
}

/// Returns a point's label, with the name of its axis if it is a number alone: `flows 50`.
fn named(axis: &str, label: &str) -> String {
    if label.parse::<f64>().is_ok() { format!("{axis} {label}") } else { label.to_owned() }
}

impl<'a> Cells<'a> {
    fn of(
        criterion: &Criterion,
        field: &'a Field,
        results: &'a Results,
        pairing: Pairing,
    ) -> Result<Cells<'a>, String> {
        let study = &results.study;
        let axis = study.axis(AXIS).ok_or_else(|| format!("its study has no axis `{AXIS}`"))?;
        let select = criterion.select();
        if let Some(unknown) = select.0.keys().find(|name| study.axis(name).is_none()) {
            return Err(format!("its study has no axis `{unknown}`"));
        }
        let mut by_algorithm: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut labels = Vec::new();
        for cell in study.select(&select) {
            let coordinates = &study.cells[cell].coordinates;
            let algorithm = &study.axes[axis].points[coordinates[axis]].label;
            by_algorithm.entry(algorithm.clone()).or_default().push(cell);
            if *algorithm == field.reference {
                let others = study.axes.iter().zip(coordinates).enumerate().filter(|(i, _)| *i != axis);
                let parts: Vec<String> =
                    others.map(|(_, (axis, point))| named(&axis.name, &axis.points[*point].label)).collect();
                labels.push(parts.join(", "));
            }
        }
        if labels.is_empty() {
            return Err("its selection has no cells".to_owned());
        }
        if let Some(missing) = field
            .all()
            .into_iter()
            .find(|name| by_algorithm.get(*name).is_none_or(|cells| cells.len() != labels.len()))
        {
            return Err(format!("its study has no cells of `{missing}`"));
        }
        let pairs = pairing.pairs(study.repeats);
        Ok(Cells { results, reference: &field.reference, by_algorithm, labels, pairs })
    }

    fn value(&self, algorithm: &str, place: usize, repeat: usize, metric: &str) -> Option<f64> {
        let cell = self.by_algorithm[algorithm][place];
        self.results.runs_of(cell).get(repeat)?.metric(metric).filter(|value| value.is_finite())
    }

    /// Returns the repeats of an algorithm that are compared.
    fn own_repeats(&self) -> impl Iterator<Item = usize> + '_ {
        self.pairs.iter().map(|(own, _)| *own)
    }

    /// Returns the mean of the metric over cells, with the interval over repeats.
    fn measured(&self, algorithm: &str, metric: &str) -> Option<Measured> {
        let of_repeat = |repeat| {
            let values =
                (0..self.labels.len()).filter_map(|place| self.value(algorithm, place, repeat, metric));
            Summary::of(&values.collect::<Vec<f64>>()).map(|summary| summary.mean)
        };
        let summary = Summary::of(&self.own_repeats().filter_map(of_repeat).collect::<Vec<f64>>())?;
        Some(Measured { mean: summary.mean, ci95: summary.ci95 })
    }

    /// Returns the effect at a place in a pair of runs, as it is averaged.
    fn effect_at(
        &self,
        algorithm: &str,
        criterion: &Criterion,
        place: usize,
        (own, other): (usize, usize),
    ) -> Option<f64> {
        let value = self.value(algorithm, place, own, &criterion.metric)?;
        let reference = self.value(self.reference, place, other, &criterion.metric)?;
        Some(criterion.compare.effect(value, reference)).filter(|effect| effect.is_finite())
    }

    /// Returns the effect over all cells, still without its verdict.
    fn effect(&self, algorithm: &str, criterion: &Criterion) -> Effect {
        let of_pair = |pair: &(usize, usize)| {
            let places = 0..self.labels.len();
            let effects = places.filter_map(|place| self.effect_at(algorithm, criterion, place, *pair));
            Summary::of(&effects.collect::<Vec<f64>>()).map(|summary| summary.mean)
        };
        let summary = Summary::of(&self.pairs.iter().filter_map(of_pair).collect::<Vec<f64>>());
        Effect {
            interval: summary.and_then(|summary| interval(criterion.compare, &summary)),
            p: summary.and_then(|summary| summary.p()),
            corrected_p: None,
            verdict: Verdict::As,
        }
    }

    /// Returns the effect in each cell.
    fn effects(&self, algorithm: &str, criterion: &Criterion) -> Vec<CellEffect> {
        let of_place = |(place, label): (usize, &String)| {
            let effects =
                self.pairs.iter().filter_map(|pair| self.effect_at(algorithm, criterion, place, *pair));
            let summary = Summary::of(&effects.collect::<Vec<f64>>());
            let interval = summary.and_then(|summary| interval(criterion.compare, &summary));
            CellEffect { cell: label.clone(), interval }
        };
        self.labels.iter().enumerate().map(of_place).collect()
    }

    /// Returns the cell in which the candidate is worst against the reference.
    fn worst(&self, effects: &[CellEffect], field: &Field, criterion: &Criterion) -> Option<Worst> {
        let harm = |effect: f64| if criterion.better == Better::Less { effect } else { -effect };
        let known = effects.iter().enumerate().filter_map(|(place, cell)| Some((place, cell.interval?)));
        let (place, interval) =
            known.reduce(|worst, one| if harm(one.1.mean) > harm(worst.1.mean) { one } else { worst })?;
        let values = |algorithm: &str| {
            let values = self
                .own_repeats()
                .filter_map(|repeat| self.value(algorithm, place, repeat, &criterion.metric));
            Summary::of(&values.collect::<Vec<f64>>())
                .map(|summary| Measured { mean: summary.mean, ci95: summary.ci95 })
        };
        Some(Worst {
            cell: self.labels[place].clone(),
            label: self.results.study.cell_label(self.by_algorithm[&field.candidate][place]),
            interval,
            candidate: values(&field.candidate),
            reference: values(&field.reference),
        })
    }

    /// Returns how many pairs lack a value, of how many.
    fn missing(&self, algorithm: &str, criterion: &Criterion) -> (usize, usize) {
        let places =
            (0..self.labels.len()).flat_map(|place| self.pairs.iter().map(move |pair| (place, *pair)));
        let all = self.labels.len() * self.pairs.len();
        let known =
            places.filter(|(p, pair)| self.effect_at(algorithm, criterion, *p, *pair).is_some()).count();
        (all - known, all)
    }
}

fn interval(compare: Compare, summary: &Summary) -> Option<Interval> {
    let half = summary.ci95.filter(|half| half.is_finite());
    let end = |sign: f64| compare.shown(summary.mean + sign * half.unwrap_or(0.0));
    let is_finite = summary.mean.is_finite();
    is_finite.then(|| Interval {
        mean: compare.shown(summary.mean),
        low: half.map(|_| end(-1.0)),
        high: half.map(|_| end(1.0)),
    })
}

/// Corrects the p-values of an algorithm over the whole list, and gives its verdicts.
fn correct(rows: &mut [Entry], algorithm: &str) {
    let all = rows.iter().flat_map(|row| &row.criteria);
    let p: Vec<f64> = all.map(|entry| entry.effects[algorithm].p.unwrap_or(1.0)).collect();
    let entries = rows.iter_mut().flat_map(|row| &mut row.criteria);
    for (entry, corrected) in entries.zip(holm(&p)) {
        let (better, margin) = (entry.better, entry.margin);
        let effect = entry.effects.get_mut(algorithm).expect("it was measured");
        effect.corrected_p = Some(corrected);
        effect.verdict = match effect.interval {
            None => Verdict::NotMeasured,
            Some(interval) if corrected < LEVEL && interval.mean.abs() > margin => {
                match (interval.mean > 0.0) == (better == Better::More) {
                    true => Verdict::Better,
                    false => Verdict::Worse,
                }
            }
            Some(_) => Verdict::As,
        };
    }
}
