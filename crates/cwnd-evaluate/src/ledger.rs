//! The ledger: verdicts with their numbers, as a JSON document that can be kept in a repository and compared between versions.
//!
//! `docs/reference/evaluation.schema.json` describes it. Criteria are known by their identifiers, which stay the same between
//! versions; a new version of the format has another [`FORMAT`].

use crate::criteria::{Better, Compare};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format of the document, and its version.
pub const FORMAT: &str = "cwnd-rfc9743-ledger-1";

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ledger {
    /// [`FORMAT`].
    pub format: String,
    /// The algorithm under test.
    pub candidate: String,
    /// What it is compared with.
    pub reference: String,
    /// Others alongside both.
    pub others: Vec<String>,
    /// How much was run: `paper` is all, `quick` a part.
    pub scale: String,
    /// The section, if only one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The version of cwnd and its engine.
    pub made_by: String,
    /// The command that makes the same document.
    pub command: String,
    /// How verdicts are found.
    pub method: String,
    /// The sections of the RFC.
    pub rows: Vec<Entry>,
    /// Cells that were also run over a real kernel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spot_checks: Vec<SpotCheck>,
}

/// A cell with one of the algorithms, over a real kernel and in the simulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SpotCheck {
    /// The study.
    pub study: String,
    /// The cell, without the algorithm.
    pub cell: String,
    /// The algorithm.
    pub algorithm: String,
    /// The seed of both runs.
    pub seed: u64,
    /// What was measured.
    pub values: Vec<SpotValue>,
    /// Why the kernel engine cannot express the cell; empty if it can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_possible: Vec<String>,
    /// Why the kernel's result is not valid; empty if it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A metric of a spot check, in its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SpotValue {
    /// The metric.
    pub metric: String,
    /// The simulator's value.
    pub sim: Option<f64>,
    /// The kernel's value.
    pub kernel: Option<f64>,
}

/// A section of the RFC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Entry {
    /// Its number.
    pub section: String,
    /// What it is about.
    pub title: String,
    /// How the RFC asks for it.
    pub level: String,
    /// The candidate's verdict: worse if a criterion is, else better if one is, else as.
    pub verdict: Verdict,
    /// Why it is not applicable, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What else must be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What was measured.
    pub criteria: Vec<CriterionEntry>,
}

/// A criterion with what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CriterionEntry {
    /// Its stable identifier.
    pub id: String,
    /// What it is.
    pub title: String,
    /// The study.
    pub study: String,
    /// The metric.
    pub metric: String,
    /// Which way is better.
    pub better: Better,
    /// How values are compared.
    pub compare: Compare,
    /// The least effect that counts.
    pub margin: f64,
    /// How many seeds.
    pub repeats: u32,
    /// How many pairs of the candidate and the reference lack a value, of how many.
    pub missing: (usize, usize),
    /// For each algorithm the mean over cells, in the metric's unit.
    pub values: BTreeMap<String, Option<Measured>>,
    /// For each algorithm its effect against the reference.
    pub effects: BTreeMap<String, Effect>,
    /// The cell in which the candidate is worst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<Worst>,
    /// The candidate's effect in each cell.
    pub cells: Vec<CellEffect>,
}

/// A mean with half of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// Half of the interval; none of a single seed.
    pub ci95: Option<f64>,
}

/// An effect with its 95 % interval: a share for a ratio (0.1 is 10 % more), else in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The lower end; none of a single seed.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// An algorithm's effect against the reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Effect {
    /// The effect; none if nothing was measured in pairs.
    pub interval: Option<Interval>,
    /// The p-value of the t-test paired by seed.
    pub p: Option<f64>,
    /// The same, corrected for the number of criteria.
    pub corrected_p: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// The candidate's effect in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CellEffect {
    /// The cell.
    pub cell: String,
    /// The effect.
    pub interval: Option<Interval>,
}

/// The cell in which the candidate is worst against the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Worst {
    /// The cell, without the algorithm.
    pub cell: String,
    /// What the study calls the candidate's cell.
    pub label: String,
    /// The effect; its interval is not corrected for the choice of the cell.
    pub interval: Interval,
    /// The candidate's value.
    pub candidate: Option<Measured>,
    /// The reference's.
    pub reference: Option<Measured>,
}

/// What came of a comparison with the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better than the reference.
    Better,
    /// As the reference, within the interval or the margin.
    As,
    /// Worse than the reference.
    Worse,
    /// No pair of runs has a value.
    NotMeasured,
    /// The section does not apply.
    NotApplicable,
}

impl Verdict {
    /// Returns the verdict of a row from those of its criteria.
    pub fn of_row(verdicts: impl Iterator<Item = Verdict>, is_measured: bool) -> Verdict {
        let all: Vec<Verdict> = verdicts.collect();
        let first = [Verdict::Worse, Verdict::Better, Verdict::As].into_iter().find(|one| all.contains(one));
        first.unwrap_or(if is_measured { Verdict::NotMeasured } else { Verdict::NotApplicable })
    }

    /// Returns the word for readers.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::As => "as",
            Verdict::Worse => "worse",
            Verdict::NotMeasured => "not measured",
            Verdict::NotApplicable => "not applicable",
        }
    }

    /// Returns how good it is; less is worse. None where nothing was compared.
    fn rank(self) -> Option<u8> {
        match self {
            Verdict::Worse => Some(0),
            Verdict::As => Some(1),
            Verdict::Better => Some(2),
            Verdict::NotMeasured | Verdict::NotApplicable => None,
        }
    }
}

/// A difference between two ledgers.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The criterion.
    pub id: String,
    /// The candidate's effect and verdict before; none if the criterion is new.
    pub before: Option<Effect>,
    /// The same now; none if the criterion is gone.
    pub now: Option<Effect>,
}

impl Change {
    /// Returns whether the verdict has become worse.
    pub fn is_regression(&self) -> bool {
        let rank = |effect: &Option<Effect>| effect.as_ref().and_then(|effect| effect.verdict.rank());
        rank(&self.before).zip(rank(&self.now)).is_some_and(|(before, now)| now < before)
    }
}

impl Ledger {
    /// Returns the candidate's effect of each criterion.
    fn effects(&self) -> BTreeMap<&str, Effect> {
        let criteria = self.rows.iter().flat_map(|row| &row.criteria);
        let effect = |entry: &CriterionEntry| entry.effects.get(&self.candidate).copied();
        criteria.filter_map(|entry| Some((entry.id.as_str(), effect(entry)?))).collect()
    }

    /// Returns the criteria whose verdict differs from an older ledger's, or whose intervals do not overlap, or that only one of
    /// both has; in the order of their identifiers.
    pub fn changes_since(&self, old: &Ledger) -> Vec<Change> {
        let (before, now) = (old.effects(), self.effects());
        let ids: std::collections::BTreeSet<&str> = before.keys().chain(now.keys()).copied().collect();
        let change = |id: &str| {
            let change =
                Change { id: id.to_owned(), before: before.get(id).copied(), now: now.get(id).copied() };
            let differs = match (&change.before, &change.now) {
                (Some(before), Some(now)) => before.verdict != now.verdict || are_apart(before, now),
                _ => true,
            };
            differs.then_some(change)
        };
        ids.into_iter().filter_map(change).collect()
    }

    /// Returns how many rows have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }
}

/// Returns whether the intervals of two effects do not overlap.
fn are_apart(a: &Effect, b: &Effect) -> bool {
    let ends = |effect: &Effect| {
        let interval = effect.interval?;
        Some((interval.low.unwrap_or(interval.mean), interval.high.unwrap_or(interval.mean)))
    };
    match (ends(a), ends(b)) {
        (Some((a_low, a_high)), Some((b_low, b_high))) => a_high < b_low || b_high < a_low,
        (None, None) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(mean: f64, half: f64, verdict: Verdict) -> Effect {
        let interval = Interval { mean, low: Some(mean - half), high: Some(mean + half) };
        Effect { interval: Some(interval), p: Some(0.01), corrected_p: Some(0.02), verdict }
    }

    fn ledger(effects: &[(&str, Effect)]) -> Ledger {
        let criterion = |(id, effect): &(&str, Effect)| CriterionEntry {
            id: (*id).to_owned(),
            title: String::new(),
            study: String::new(),
            metric: String::new(),
            better: Better::Less,
            compare: Compare::Difference,
            margin: 0.0,
            repeats: 5,
            missing: (0, 5),
            values: BTreeMap::new(),
            effects: BTreeMap::from([("elastic".to_owned(), *effect)]),
            worst: None,
            cells: Vec::new(),
        };
        let row = Entry {
            section: "5.1".to_owned(),
            title: String::new(),
            level: String::new(),
            verdict: Verdict::As,
            reason: None,
            note: None,
            criteria: effects.iter().map(criterion).collect(),
        };
        Ledger {
            format: FORMAT.to_owned(),
            candidate: "elastic".to_owned(),
            reference: "cubic".to_owned(),
            others: Vec::new(),
            scale: "paper".to_owned(),
            section: None,
            made_by: String::new(),
            command: String::new(),
            method: String::new(),
            rows: vec![row],
            spot_checks: Vec::new(),
        }
    }

    #[test]
    fn changes_are_of_verdicts_and_of_intervals_that_do_not_overlap() {
        let old = ledger(&[
            ("a", effect(1.0, 0.5, Verdict::As)),
            ("b", effect(1.0, 0.5, Verdict::As)),
            ("c", effect(1.0, 0.1, Verdict::As)),
            ("gone", effect(0.0, 0.1, Verdict::Better)),
        ]);
        let new = ledger(&[
            ("a", effect(1.2, 0.5, Verdict::As)),
            ("b", effect(1.2, 0.5, Verdict::Worse)),
            ("c", effect(1.5, 0.1, Verdict::As)),
            ("new", effect(0.0, 0.1, Verdict::Worse)),
        ]);
        let changes = new.changes_since(&old);
        let told: Vec<(&str, bool)> = changes.iter().map(|c| (c.id.as_str(), c.is_regression())).collect();
        assert_eq!(told, [("b", true), ("c", false), ("gone", false), ("new", false)]);
        assert!(old.changes_since(&old).is_empty());
    }

    #[test]
    fn a_ledger_reads_back_as_it_was() {
        let ledger = ledger(&[("a", effect(0.1, 0.05, Verdict::Better))]);
        let text = serde_json::to_string(&ledger).unwrap();
        assert_eq!(serde_json::from_str::<Ledger>(&text).unwrap(), ledger);
    }

    #[test]
    fn a_row_is_worse_if_a_criterion_is() {
        let of = |verdicts: &[Verdict]| Verdict::of_row(verdicts.iter().copied(), true);
        assert_eq!(of(&[Verdict::Better, Verdict::Worse, Verdict::As]), Verdict::Worse);
        assert_eq!(of(&[Verdict::Better, Verdict::As]), Verdict::Better);
        assert_eq!(of(&[Verdict::NotMeasured, Verdict::As]), Verdict::As);
        assert_eq!(of(&[Verdict::NotMeasured]), Verdict::NotMeasured);
        assert_eq!(Verdict::of_row(std::iter::empty(), false), Verdict::NotApplicable);
    }
}
