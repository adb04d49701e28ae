//! Whether what is claimed was measured: the verdicts. Their rules, and why they are as they are, stand in
//! `docs/claims.md`.

mod cite;
mod fingerprint;
mod judge;
mod measure;

use crate::{Claim, ClaimTest, Results};
pub use cite::{CitedValues, cite};
use cwnd_metrics::statistics::Summary;
pub use fingerprint::fingerprint;
pub use judge::agrees_with_printed;
use measure::measure;

/// What came of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Index into [`Study::claims`](crate::Study::claims).
    pub claim: usize,
    /// What was measured, over the repeats; none if no repeat has all that it takes.
    pub measured: Option<Summary>,
    /// How it stands to what was expected.
    pub judgement: Judgement,
    /// By what it is so: what the rule found, in a line.
    pub ground: String,
    /// What a reader should know of the measurement: between which cells, or what was missing.
    pub note: Option<String>,
}

/// How a measurement stands to what is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// It is as claimed.
    Reproduced,
    /// A gain is there, and at least three times as large as stated.
    LargerThanStated,
    /// A gain is there, but not as large as stated.
    DirectionOnly,
    /// It is not as claimed.
    NotReproduced,
    /// The scenario is random, and there are fewer than [`MIN_REPEATS`] repeats.
    TooFewRepeats,
    /// It cannot be checked, and the claim says why.
    NotTestable,
    /// No run has measured it yet, or none at this scale.
    NotMeasured,
}

impl Judgement {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Judgement; 7] = [
        Judgement::Reproduced,
        Judgement::LargerThanStated,
        Judgement::DirectionOnly,
        Judgement::NotReproduced,
        Judgement::TooFewRepeats,
        Judgement::NotTestable,
        Judgement::NotMeasured,
    ];

    /// Returns whether it differs from the claim, so that a [`Reason`](crate::Reason) is asked for.
    pub fn differs(self) -> bool {
        matches!(self, Judgement::LargerThanStated | Judgement::DirectionOnly | Judgement::NotReproduced)
    }

    /// Returns the judgement of this name.
    pub fn find(name: &str) -> Option<Judgement> {
        Judgement::ALL.into_iter().find(|judgement| judgement.name() == name)
    }

    /// In words, as reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Reproduced => "reproduced",
            Judgement::LargerThanStated => "larger than stated",
            Judgement::DirectionOnly => "in direction only",
            Judgement::NotReproduced => "not reproduced",
            Judgement::TooFewRepeats => "too few repeats",
            Judgement::NotTestable => "not testable",
            Judgement::NotMeasured => "not measured",
        }
    }
}

/// The fewest repeats of a random scenario that give a verdict. With fewer, Student's interval is so wide that almost any
/// number lies inside it.
pub const MIN_REPEATS: usize = 5;

/// Returns a verdict on every claim of the study, in order.
///
/// A measure is taken for each repeat by itself, from the runs of that seed alone, so that what is compared is paired
/// by seed; the mean over repeats and its 95 % interval (Student's t) are held against what is claimed.
pub fn evaluate(results: &Results) -> Vec<Verdict> {
    let claims = results.study.claims.iter().enumerate();
    claims.map(|(index, claim)| verdict(results, index, claim)).collect()
}

/// Judges a claim; where the scenario is random and the repeats are too few, the judgement is withheld.
fn verdict(results: &Results, index: usize, claim: &Claim) -> Verdict {
    let mut verdict = judged(results, index, claim);
    let repeats = verdict.measured.map_or(0, |measured| measured.count);
    if verdict.measured.is_some() && repeats < MIN_REPEATS && is_random(results, claim) {
        verdict.judgement = Judgement::TooFewRepeats;
        verdict.ground = format!(
            "{repeats} of the {MIN_REPEATS} repeats that a verdict needs; as it is, {}",
            verdict.ground
        );
    }
    verdict
}

/// Returns whether the runs that a claim is measured from differ by chance: they draw from the seed, a kernel ran them, or
/// repeats differ because an algorithm draws.
fn is_random(results: &Results, claim: &Claim) -> bool {
    let Some(kind) = claim.kind() else { return false };
    let study = &results.study;
    study.select(kind.select()).any(|cell| {
        let runs = results.runs_of(cell);
        let values: Vec<f64> = runs.iter().filter_map(|run| run.metric(kind.metric())).collect();
        study.cells[cell].engine.is_kernels()
            || study.cells[cell].scenario.is_random()
            || values.windows(2).any(|pair| pair[0] != pair[1])
    })
}

fn judged(results: &Results, index: usize, claim: &Claim) -> Verdict {
    let (kind, expect) = match &claim.test {
        ClaimTest::Measured { kind, expect } => (kind, expect),
        ClaimTest::NotTestable(why) => {
            let (judgement, ground) = (Judgement::NotTestable, why.clone());
            return Verdict { claim: index, measured: None, judgement, ground, note: None };
        }
    };
    let mut measured = measure(results, kind, expect);
    if !is_random(results, claim) {
        measured.of_one_run();
    }
    let (judgement, ground) = match &measured.summary {
        Some(summary) => judge::judge(summary, expect, &measured.gain),
        None => (Judgement::NotMeasured, measured.note.clone().unwrap_or_default()),
    };
    let note = measured.note.filter(|_| measured.summary.is_some());
    Verdict { claim: index, measured: measured.summary, judgement, ground, note }
}

#[cfg(test)]
mod tests;
