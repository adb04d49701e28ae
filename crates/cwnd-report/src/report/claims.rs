//! Claims and their verdicts as a table: what is stated, the publication's value, ours, the verdict and why.

use super::claim_list::Listed;
use super::claim_unit::ClaimUnit;
use super::paper::StoredVerdict;
use crate::explanation::{self, OtherStudies};
use crate::html::{inline, stop};
use cwnd_study::claims::{self, Judgement, Verdict};
use cwnd_study::{Claim, ClaimTest, Expectation, Results, Study};
use maud::{Markup, html};

/// A claim with what came of it.
pub struct Told<'a> {
    study: &'a Study,
    /// The claim.
    pub claim: &'a Claim,
    /// What came of it.
    pub verdict: Verdict,
    /// Why the verdict is as it is.
    pub why: String,
    /// What came of it at the paper's scale, where this is another.
    pub stored: Option<&'a StoredVerdict>,
}

impl<'a> Told<'a> {
    /// Returns every claim of a study, in its order. Explanations may cite other studies of the same paper.
    pub fn of(results: &'a Results, others: OtherStudies<'_>) -> Vec<Told<'a>> {
        let study = &results.study;
        let told = |verdict: Verdict| {
            let claim = study.claims.get(verdict.claim)?;
            let why = explanation::why(results, claim, &verdict, others);
            Some(Told { study, claim, verdict, why, stored: None })
        };
        claims::evaluate(results).into_iter().filter_map(told).collect()
    }

    /// The publication's value: as it is stated, or else what is expected.
    pub fn stated(&self) -> String {
        let expected = || match &self.claim.test {
            ClaimTest::Measured { expect, .. } => self.unit().map(|unit| unit.expectation(expect)),
            ClaimTest::NotTestable(_) => None,
        };
        self.claim.stated.clone().or_else(expected).unwrap_or_default()
    }

    /// Ours with its interval; none if nothing was measured.
    pub fn ours(&self) -> Option<String> {
        let unit = self.unit()?;
        self.verdict.measured.map(|measured| unit.summary(&measured))
    }

    /// What came of it at the paper's scale, in a sentence.
    fn at_paper_scale(&self) -> Option<String> {
        let stored = self.stored?;
        let value = stored
            .measured
            .zip(self.unit())
            .map(|(measured, unit)| format!(" ({})", unit.summary(&measured)));
        Some(format!("At the paper's scale: {}{}.", stored.judgement.name(), value.unwrap_or_default()))
    }

    /// What is measured, in words; none if it cannot be.
    pub fn what(&self) -> Option<String> {
        self.unit().map(|unit| unit.what)
    }

    /// The range that ours must lie in, where it is held against one: what the publication's words were read as.
    pub fn range(&self) -> Option<String> {
        match &self.claim.test {
            ClaimTest::Measured { expect: expect @ Expectation::Within(_), .. } => {
                self.unit().map(|unit| unit.expectation(expect))
            }
            ClaimTest::Measured { .. } | ClaimTest::NotTestable(_) => None,
        }
    }

    /// What was measured as a multiple of what is stated: of a printed number, of a stated gain, or of the middle of a range
    /// with two ends. None where there is no such number; a bound is met or not.
    pub fn ratio(&self) -> Option<f64> {
        let ClaimTest::Measured { expect, .. } = &self.claim.test else { return None };
        let measured = self.verdict.measured?.mean;
        let stated = match expect {
            Expectation::Printed { value, scale } => value / scale,
            Expectation::Gain(gain) => *gain,
            Expectation::Within(range) => match (range.at_least, range.at_most) {
                (Some(least), Some(most)) => (least + most) / 2.0,
                _ => return None,
            },
        };
        Some(measured / stated).filter(|ratio| ratio.is_finite())
    }

    /// What was measured as a multiple of the bound that it does not keep.
    pub fn ratio_to_bound(&self) -> Option<f64> {
        let ClaimTest::Measured { expect: Expectation::Within(range), .. } = &self.claim.test else {
            return None;
        };
        let measured = self.verdict.measured?.mean;
        let ((Some(end), None) | (None, Some(end))) = (range.at_least, range.at_most) else { return None };
        Some(measured / end).filter(|ratio| ratio.is_finite() && !range.contains(measured))
    }

    fn unit(&self) -> Option<ClaimUnit> {
        match &self.claim.test {
            ClaimTest::Measured { kind, expect } => {
                Some(ClaimUnit::new(self.study, kind, expect, self.verdict.measured.map(|m| m.mean)))
            }
            ClaimTest::NotTestable(_) => None,
        }
    }
}

/// `Of 12 claims: 7 reproduced, 3 in direction only, 2 not reproduced.`
pub fn tally(judgements: &[Judgement]) -> Markup {
    let count = |judgement: &Judgement| judgements.iter().filter(|one| *one == judgement).count();
    let given = Judgement::ALL.into_iter().filter(|judgement| count(judgement) > 0);
    html! {
        "Of " (judgements.len()) @if judgements.len() == 1 { " claim: " } @else { " claims: " }
        @for (i, judgement) in given.enumerate() {
            @if i > 0 { ", " }
            span class=(class(judgement)) { (count(&judgement)) " " (judgement.name()) }
        }
        "."
    }
}

/// By which the style knows a verdict.
pub fn class(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Reproduced | Judgement::LargerThanStated => "good",
        Judgement::DirectionOnly => "half-way",
        Judgement::NotReproduced => "bad",
        Judgement::TooFewRepeats | Judgement::NotTestable | Judgement::NotMeasured => "open",
    }
}

/// A sign that says the same as the word and the colour.
pub fn sign(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Reproduced => "\u{2713}",
        Judgement::LargerThanStated => "\u{2713}+",
        Judgement::DirectionOnly => "\u{2197}",
        Judgement::NotReproduced => "\u{2717}",
        Judgement::TooFewRepeats | Judgement::NotTestable | Judgement::NotMeasured => "?",
    }
}

/// A table of claims.
pub fn table(rows: &Markup) -> Markup {
    html! {
        div.scroll { table.claims {
            thead { tr { @for head in ["Verdict", "Claim, and why", "Stated", "Measured"] { th scope="col" { (head) } } } }
            tbody { (rows) }
        } }
    }
}

/// A claim's row.
pub fn row(listed: &Listed<'_>) -> Markup {
    let told = &listed.told;
    let (claim, verdict) = (told.claim, &told.verdict);
    let (class, sign) = (class(verdict.judgement), sign(verdict.judgement));
    let why = told.why.as_str();
    // What the rule found stands there too where somebody has found out more.
    let ground = if why == verdict.ground { "" } else { &verdict.ground };
    let by_rule = ground.is_empty() && verdict.judgement != Judgement::NotTestable;
    let notes = [ground, verdict.note.as_deref().unwrap_or_default()];
    let notes: Vec<&str> = notes.into_iter().filter(|note| !note.is_empty()).collect();
    html! {
        tr class=(class) id=(listed.id) {
            td {
                span class={ "verdict " (class) } {
                    span aria-hidden="true" { (sign) } " " (verdict.judgement.name())
                }
            }
            td {
                p.claim {
                    (inline(&claim.text))
                    @if let Some(source) = &claim.source { " " cite { (inline(source)) } }
                    @for (id, label) in &listed.shown_in { " " a.back href={ "#" (id) } { "\u{2191} " (inline(label)) } }
                }
                " "
                p.why.by-rule[by_rule] { (inline(&sentences(&[why]))) }
                @if !notes.is_empty() { p.note { (inline(&sentences(&notes))) } }
                @if let Some(stored) = told.at_paper_scale() { p.note { (stored) } }
            }
            td.stated { (inline(&told.stated())) }
            td.ours {
                @if let Some(ours) = told.ours() {
                    strong { (ours) } " " span.what { (told.what().unwrap_or_default()) }
                    // Where nothing else is stated the range stands there already.
                    @if let Some(range) = told.range().filter(|_| claim.stated.is_some()) {
                        " " span.what { "expected: " (range) }
                    }
                } @else {
                    span.none { "\u{2013}" }
                }
            }
        }
    }
}

/// Parts as sentences: each with a large letter before it and a stop behind it.
fn sentences(parts: &[&str]) -> String {
    let sentence = |part: &&str| format!("{}{}", crate::measure::capital(part), stop(part));
    parts.iter().map(sentence).collect::<Vec<_>>().join(" ")
}
