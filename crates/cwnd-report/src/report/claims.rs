//! Claims and their verdicts as a table: what is stated, the publication's value, ours, the verdict and why.

use super::claim_unit::ClaimUnit;
use crate::html::{escape, inline};
use cwnd_study::claims::{self, Judgement, Verdict};
use cwnd_study::{Claim, ClaimTest, Expectation, Results, Study};

/// A claim with what came of it.
pub struct Told<'a> {
    study: &'a Study,
    /// The claim.
    pub claim: &'a Claim,
    /// What came of it.
    pub verdict: Verdict,
}

impl<'a> Told<'a> {
    /// Every claim of a study, in its order.
    pub fn of(results: &'a Results) -> Vec<Told<'a>> {
        let study = &results.study;
        let told = |verdict: Verdict| Some(Told { study, claim: study.claims.get(verdict.claim)?, verdict });
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
pub fn tally(judgements: &[Judgement]) -> String {
    let claims = match judgements.len() {
        1 => "Of 1 claim".to_owned(),
        count => format!("Of {count} claims"),
    };
    let part = |judgement: Judgement| {
        let count = judgements.iter().filter(|one| **one == judgement).count();
        (count > 0)
            .then(|| format!("<span class=\"{}\">{count} {}</span>", class(judgement), judgement.name()))
    };
    let parts: Vec<String> = Judgement::ALL.into_iter().filter_map(part).collect();
    format!("{claims}: {}.", parts.join(", "))
}

/// By which the style knows a verdict.
pub fn class(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Reproduced => "good",
        Judgement::DirectionOnly => "half-way",
        Judgement::NotReproduced => "bad",
        Judgement::NotTestable | Judgement::NotMeasured => "open",
    }
}

/// A sign that says the same as the word and the colour.
fn sign(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Reproduced => "\u{2713}",
        Judgement::DirectionOnly => "\u{2197}",
        Judgement::NotReproduced => "\u{2717}",
        Judgement::NotTestable | Judgement::NotMeasured => "?",
    }
}

/// A verdict as a sign and a word.
pub fn badge(judgement: Judgement) -> String {
    let (class, sign, word) = (class(judgement), sign(judgement), judgement.name());
    format!("<span class=\"verdict {class}\"><span aria-hidden=\"true\">{sign}</span> {word}</span>")
}

/// A table of claims.
pub fn table(rows: &str) -> String {
    format!(
        "<div class=\"scroll\"><table class=\"claims\">\n<thead><tr><th scope=\"col\">Verdict</th>\
         <th scope=\"col\">Claim, and why</th><th scope=\"col\">Stated</th><th scope=\"col\">Measured</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

/// A claim's row. `from` is HTML that stands after the claim: where it is checked.
pub fn row(told: &Told<'_>, from: &str) -> String {
    let (claim, verdict) = (told.claim, &told.verdict);
    let source = claim.source.as_ref().map(|s| format!(" <cite>{}</cite>", inline(s))).unwrap_or_default();
    let why = claims::why(claim, verdict);
    // What the rule found stands there too where somebody has found out more.
    let ground = if why == verdict.ground { "" } else { &verdict.ground };
    let notes: Vec<&str> = [ground, verdict.note.as_deref().unwrap_or_default()]
        .into_iter()
        .filter(|note| !note.is_empty())
        .collect();
    let notes = match notes.is_empty() {
        true => String::new(),
        false => format!("<p class=\"note\">{}</p>", inline(&sentences(&notes))),
    };
    let ours = told.ours().map_or("<span class=\"none\">\u{2013}</span>".to_owned(), |ours| {
        let what = escape(&told.what().unwrap_or_default());
        // Where nothing else is stated the range stands there already.
        let range = told.range().filter(|_| claim.stated.is_some());
        let range = range.map(|range| format!(" <span class=\"what\">expected: {}</span>", escape(&range)));
        let range = range.unwrap_or_default();
        format!("<strong>{}</strong> <span class=\"what\">{what}</span>{range}", escape(&ours))
    });
    format!(
        "<tr class=\"{class}\"><td>{badge}</td><td><p class=\"claim\">{text}{source}{from}</p> \
         <p class=\"why{by_rule}\">{why}</p>{notes}</td><td class=\"stated\">{stated}</td><td class=\"ours\">{ours}</td></tr>\n",
        by_rule =
            if ground.is_empty() && verdict.judgement != Judgement::NotTestable { " by-rule" } else { "" },
        class = class(verdict.judgement),
        badge = badge(verdict.judgement),
        text = inline(&claim.text),
        why = inline(&sentences(&[why])),
        stated = inline(&told.stated()),
    )
}

/// Parts as sentences: each with a large letter before it and a stop behind it.
fn sentences(parts: &[&str]) -> String {
    let sentence = |part: &&str| {
        let stop = if part.ends_with(['.', '!', '?']) { "" } else { "." };
        format!("{}{stop}", crate::measure::capital(part))
    };
    parts.iter().map(sentence).collect::<Vec<_>>().join(" ")
}
