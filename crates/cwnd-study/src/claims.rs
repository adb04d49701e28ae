//! Whether what is claimed was measured.

mod measure;

use crate::{Claim, Expectation, Results};
use cwnd_scenario::statistics::Summary;
use measure::measure;
pub(crate) use measure::pairs;

/// What came of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Index into [`Study::claims`](crate::Study::claims).
    pub claim: usize,
    /// What was measured, over the repeats; none if no repeat has all that it takes.
    pub measured: Option<Summary>,
    /// How it stands to what was expected.
    pub judgement: Judgement,
    /// What a reader should know of the measurement: between which cells, or what was missing.
    pub note: Option<String>,
}

/// How a measurement stands to an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The whole 95 % interval lies inside. (A single repeat, or repeats without spread, are their own interval.)
    Reproduced,
    /// The whole 95 % interval lies outside, on one side.
    NotReproduced,
    /// The interval crosses an end of what is expected, or nothing was measured.
    Unclear,
}

impl Judgement {
    /// In words, as reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Reproduced => "reproduced",
            Judgement::NotReproduced => "not reproduced",
            Judgement::Unclear => "unclear",
        }
    }
}

/// A verdict on every claim of the study, in order.
///
/// A measure is taken for each repeat by itself, from the runs of that seed alone, so that what is compared is paired
/// by seed; the mean over repeats and its 95 % interval (Student's t) are held against the expectation.
pub fn evaluate(results: &Results) -> Vec<Verdict> {
    let claims = results.study.claims.iter().enumerate();
    claims.map(|(index, claim)| verdict(results, index, claim)).collect()
}

fn verdict(results: &Results, index: usize, claim: &Claim) -> Verdict {
    let measured = measure(results, &claim.kind);
    Verdict {
        claim: index,
        judgement: measured.summary.map_or(Judgement::Unclear, |summary| judge(&summary, &claim.expect)),
        measured: measured.summary,
        note: measured.note,
    }
}

/// The 95 % interval of a summary against an expectation.
pub fn judge(measured: &Summary, expect: &Expectation) -> Judgement {
    let half = measured.ci95.unwrap_or(0.0);
    let (low, high) = (measured.mean - half, measured.mean + half);
    let (least, most) =
        (expect.at_least.unwrap_or(f64::NEG_INFINITY), expect.at_most.unwrap_or(f64::INFINITY));
    if low >= least && high <= most {
        Judgement::Reproduced
    } else if high < least || low > most {
        Judgement::NotReproduced
    } else {
        Judgement::Unclear
    }
}

#[cfg(test)]
mod tests;
