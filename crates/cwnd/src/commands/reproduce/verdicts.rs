//! The verdicts as a table for other programs.

use cwnd_report::explanation;
use cwnd_report::report::PaperResults;
use cwnd_study::claims::{self, Judgement};
use cwnd_study::{Claim, ClaimTest, Expectation};
use serde::Serialize;

/// A claim of a paper with what came of it. Values are in the metrics' own units, or in that of the printed number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The paper's name.
    pub paper: String,
    /// The study that checks it.
    pub study: String,
    /// How much of the study was run.
    pub scale: &'static str,
    /// Its number in the study, from 1.
    pub claim: usize,
    /// Whether the paper claims it; else it is a claim of our own models and readings.
    pub of_paper: bool,
    /// What is claimed.
    pub text: String,
    /// What the paper states.
    pub stated: Option<String>,
    /// What was measured.
    pub measured: Option<f64>,
    /// The ends of its 95 % interval.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Over how many repeats.
    pub repeats: Option<usize>,
    /// The verdict.
    pub verdict: &'static str,
    /// Why.
    pub why: String,
    #[serde(skip)]
    pub judgement: Judgement,
}

/// The claims of a paper.
pub fn rows(of: &PaperResults) -> Vec<Row> {
    let study = |study: &cwnd_report::report::PaperStudy| {
        let results = &study.results;
        let row = |verdict: claims::Verdict| {
            let claim = &results.study.claims[verdict.claim];
            let factor = factor(claim);
            let interval = verdict.measured.and_then(|measured| measured.interval());
            Row {
                paper: of.paper.name.clone(),
                study: study.name.clone(),
                scale: of.scale.name(),
                claim: verdict.claim + 1,
                of_paper: claim.is_of_publication(),
                text: claim.text.clone(),
                stated: claim.stated.clone(),
                measured: verdict.measured.map(|measured| measured.mean * factor),
                low: interval.map(|(low, _)| low * factor),
                high: interval.map(|(_, high)| high * factor),
                repeats: verdict.measured.map(|measured| measured.count),
                verdict: verdict.judgement.name(),
                why: explanation::why(results, claim, &verdict, &|name| of.results(name)),
                judgement: verdict.judgement,
            }
        };
        claims::evaluate(results).into_iter().map(row).collect::<Vec<Row>>()
    };
    of.studies.iter().flat_map(study).collect()
}

/// What measures are multiplied by to be in the unit of a printed number.
fn factor(claim: &Claim) -> f64 {
    match &claim.test {
        ClaimTest::Measured { expect: Expectation::Printed { scale, .. }, .. } => *scale,
        _ => 1.0,
    }
}

/// As CSV (RFC 4180, with line feeds).
pub fn csv(rows: &[Row]) -> String {
    let mut text =
        "paper,study,scale,claim,of_paper,text,stated,measured,low,high,repeats,verdict,why\n".to_owned();
    for row in rows {
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let cells = [
            row.paper.clone(),
            row.study.clone(),
            row.scale.to_owned(),
            row.claim.to_string(),
            row.of_paper.to_string(),
            row.text.clone(),
            row.stated.clone().unwrap_or_default(),
            number(row.measured),
            number(row.low),
            number(row.high),
            row.repeats.map(|repeats| repeats.to_string()).unwrap_or_default(),
            row.verdict.to_owned(),
            row.why.clone(),
        ];
        text += &cells.map(|cell| quoted(&cell)).join(",");
        text.push('\n');
    }
    text
}

fn quoted(cell: &str) -> String {
    match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// Counts the verdicts on the claims of papers: `7 reproduced, 2 not reproduced`; claims of our own are counted apart.
pub fn tally(rows: &[Row]) -> String {
    let count = |of_paper: bool| {
        let part = |judgement: Judgement| {
            let of_kind = rows.iter().filter(|row| row.of_paper == of_paper && row.judgement == judgement);
            let count = of_kind.count();
            (count > 0).then(|| format!("{count} {}", judgement.name()))
        };
        Judgement::ALL.into_iter().filter_map(part).collect::<Vec<String>>().join(", ")
    };
    match (count(true), count(false)) {
        (none, own) if none.is_empty() && own.is_empty() => "nothing is claimed".to_owned(),
        (of_papers, own) if own.is_empty() => of_papers,
        (none, own) if none.is_empty() => format!("our own: {own}"),
        (of_papers, own) => format!("{of_papers}; our own: {own}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(tally(&[]), "nothing is claimed");
    }
}
