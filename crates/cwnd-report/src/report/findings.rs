//! What was asked, and what was found of it.

use super::html::{definitions, escape, inline, paragraphs};
use crate::measure::{Measure, Shown, decimals, half_text, number, small};
use cwnd_scenario::statistics::Summary;
use cwnd_study::claims::{self, Judgement, Verdict};
use cwnd_study::{Claim, ClaimKind, Results, Study};

/// The question and where it comes from.
pub fn question(study: &Study) -> String {
    let mut out = format!("<div class=\"question\">\n{}</div>\n", paragraphs(&study.question));
    if let Some(source) = &study.source {
        out += &format!("<p class=\"source\">Source: {}</p>\n", inline(source));
    }
    out
}

/// The claims with their verdicts.
pub fn section(results: &Results) -> String {
    let verdicts = claims::evaluate(results);
    if verdicts.is_empty() {
        return "<p>The study claims nothing: what it found is in the figures and tables below.</p>\n".into();
    }
    let claims = &results.study.claims;
    let items: String = verdicts.iter().filter_map(|v| Some(item(claims.get(v.claim)?, v))).collect();
    format!("<p class=\"tally\">{}</p>\n<ol class=\"claims\">\n{items}</ol>\n", tally(&verdicts))
}

fn tally(verdicts: &[Verdict]) -> String {
    let count = |judgement: Judgement| verdicts.iter().filter(|v| v.judgement == judgement).count();
    let part = |judgement: Judgement| {
        let count = count(judgement);
        (count > 0)
            .then(|| format!("<span class=\"{}\">{count} {}</span>", class(judgement), judgement.name()))
    };
    let all = [Judgement::Reproduced, Judgement::NotReproduced, Judgement::Unclear];
    let parts: Vec<String> = all.into_iter().filter_map(part).collect();
    let claims =
        if verdicts.len() == 1 { "Of 1 claim".to_owned() } else { format!("Of {} claims", verdicts.len()) };
    format!("{claims}: {}.", parts.join(", "))
}

fn class(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Reproduced => "good",
        Judgement::NotReproduced => "bad",
        Judgement::Unclear => "open",
    }
}

/// A sign that says the same as the word and the colour.
fn sign(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Reproduced => "\u{2713}",
        Judgement::NotReproduced => "\u{2717}",
        Judgement::Unclear => "?",
    }
}

fn item(claim: &Claim, verdict: &Verdict) -> String {
    let (class, sign, word) = (class(verdict.judgement), sign(verdict.judgement), verdict.judgement.name());
    let source = claim.source.as_ref().map(|s| format!(" <cite>{}</cite>", inline(s))).unwrap_or_default();
    let unit = ClaimUnit::new(claim, verdict.measured);
    let mut rows = Vec::new();
    if let Some(stated) = &claim.stated {
        rows.push(("Stated".to_owned(), inline(stated)));
    }
    let measured = verdict.measured.map_or_else(
        || "<span class=\"none\">nothing measured</span>".into(),
        |m| {
            let what = escape(&unit.what);
            format!("<strong>{}</strong> <span class=\"what\">{what}</span>", escape(&unit.summary(&m)))
        },
    );
    rows.push(("Measured".to_owned(), measured));
    rows.push(("Expected".to_owned(), escape(&unit.expectation(claim))));
    if let Some(note) = &verdict.note {
        rows.push(("Note".to_owned(), inline(note)));
    }
    if let Some(because) = &claim.because {
        rows.push(("Because".to_owned(), inline(because)));
    }
    format!(
        "<li class=\"{class}\">\n<p class=\"verdict\"><span aria-hidden=\"true\">{sign}</span> {word}</p>\n\
         <div><p class=\"claim\">{}{source}</p>\n{}</div></li>\n",
        inline(&claim.text),
        definitions("figures-of-claim", &rows)
    )
}

/// In which unit a claim's figures are shown, and what they are of.
struct ClaimUnit {
    shown: Shown,
    signed: bool,
    what: String,
}

/// A difference of two percentages is in points of them.
fn points(shown: Shown) -> Shown {
    let unit = if shown.unit == "%" { "percentage points".into() } else { shown.unit };
    Shown { unit, ..shown }
}

impl ClaimUnit {
    fn new(claim: &Claim, measured: Option<Summary>) -> ClaimUnit {
        let ends = [claim.expect.at_least, claim.expect.at_most, measured.map(|m| m.mean)];
        let greatest = ends.into_iter().flatten().map(f64::abs).filter(|v| v.is_finite()).fold(0.0, f64::max);
        let of = |metric: &str, what: &str| {
            let measure = Measure::of(metric);
            (measure.shown(greatest), format!("{what}{}", small(&measure.title)))
        };
        let ((shown, what), signed) = match &claim.kind {
            ClaimKind::Mean { metric, .. } => (of(metric, "mean of "), false),
            ClaimKind::Extreme { metric, greatest: true, .. } => (of(metric, "greatest "), false),
            ClaimKind::Extreme { metric, .. } => (of(metric, "least "), false),
            ClaimKind::Gain { metric, of: a, over, greatest, absolute, .. } => {
                let over = over.join(", ");
                let most = if *greatest { "at most, " } else { "" };
                let title = small(&Measure::of(metric).title);
                let what = format!("{most}{title} of {a} over {over}");
                let shown = match absolute {
                    true => points(of(metric, "").0),
                    false => Shown { factor: 100.0, unit: "%".into() },
                };
                ((shown, what), true)
            }
            ClaimKind::Wins { metric, of: a, over, .. } => {
                let what =
                    format!("of the pairs: {a} above {} in {}", Measure::of(metric).title, over.join(", "));
                ((Shown { factor: 100.0, unit: "%".into() }, what), false)
            }
        };
        ClaimUnit { shown, signed, what }
    }

    fn summary(&self, measured: &Summary) -> String {
        let (mean, half) = (measured.mean * self.shown.factor, measured.ci95.map(|h| h * self.shown.factor));
        let digits = decimals(mean, half);
        let spread = half.map(|half| format!(" ± {}", half_text(half, digits))).unwrap_or_default();
        format!("{}{spread}{}", self.signed(mean, digits), self.unit())
    }

    fn expectation(&self, claim: &Claim) -> String {
        let end = |value: f64| {
            let value = value * self.shown.factor;
            self.signed(value, decimals(value, None))
        };
        let unit = self.unit();
        match (claim.expect.at_least, claim.expect.at_most) {
            (Some(least), Some(most)) => format!("from {} to {}{unit}", end(least), end(most)),
            (Some(least), None) => format!("at least {}{unit}", end(least)),
            (None, Some(most)) => format!("at most {}{unit}", end(most)),
            (None, None) => "anything".into(),
        }
    }

    fn signed(&self, value: f64, digits: usize) -> String {
        let plus = if self.signed && value > 0.0 { "+" } else { "" };
        format!("{plus}{}", number(value, digits))
    }

    fn unit(&self) -> String {
        if self.shown.unit.is_empty() { String::new() } else { format!(" {}", self.shown.unit) }
    }
}
