//! Reasons of claims, with the numbers that they cite from runs.

use crate::synthetic::{self, because, select};
use cwnd_report::explanation::{is_unexplained, why};
use cwnd_study::claims::{Judgement, Verdict};
use cwnd_study::{Citation, Cited, Explanation, Formula, Phrase, Reason, Results, RunState};

/// The made-up results, in which Agile-SD uses half of the link and the others a quarter.
fn results() -> Results {
    let mut results = synthetic::results();
    for run in &mut results.runs {
        let is_agile = results.study.label(run.cell, "variant") == Some("agile-sd");
        if let RunState::Done(metrics) = &mut run.state {
            metrics.insert("utilisation".into(), if is_agile { 0.5 } else { 0.25 });
        }
    }
    results
}

fn verdict(judgement: Judgement) -> Verdict {
    Verdict { claim: 0, measured: None, judgement, ground: "by rule".into(), note: None }
}

/// The text of a reason that consists of one citation.
fn cited(study: Option<&str>, of: Cited, variant: &[&str]) -> String {
    let results = results();
    let select = if variant.is_empty() { select(&[]) } else { select(&[("variant", variant)]) };
    let citation = Citation { study: study.map(str::to_owned), of, metric: "utilisation".into(), select };
    let mut claim = results.study.claims[0].clone();
    claim.reason = Some(Reason::Because(Explanation(vec![Phrase::Cited(citation)])));
    why(&results, &claim, &verdict(Judgement::NotReproduced), &|_| None)
}

#[test]
fn a_reason_stands_where_the_result_differs() {
    let results = results();
    let mut claim = results.study.claims[0].clone();
    let mut text = |reason: Option<Reason>, judgement| {
        claim.reason = reason;
        (why(&results, &claim, &verdict(judgement), &|_| None), is_unexplained(&claim, judgement))
    };
    let known = || Some(because("SACK is off"));
    let unknown = || Some(Reason::Unexplained(Explanation(vec![Phrase::Words("SACK was tried".into())])));
    for judgement in [Judgement::NotReproduced, Judgement::DirectionOnly] {
        assert_eq!(text(known(), judgement), ("SACK is off".into(), false));
        assert_eq!(text(unknown(), judgement), ("unexplained: SACK was tried".into(), true));
        assert_eq!(text(None, judgement), ("by rule".into(), true));
    }
    assert_eq!(text(known(), Judgement::LargerThanStated), ("SACK is off".into(), false));
    assert_eq!(text(None, Judgement::LargerThanStated), ("by rule".into(), false));
    assert_eq!(text(known(), Judgement::Reproduced), ("by rule".into(), false));
}

#[test]
fn cited_values_have_units_and_ranges() {
    assert_eq!(cited(None, Cited::Each, &["agile-sd"]), "50.0 %");
    assert_eq!(cited(None, Cited::Each, &["agile-sd", "cubic-2008"]), "25.0 to 50.0 %");
    assert_eq!(cited(None, Cited::Mean, &["agile-sd", "cubic-2008"]), "37.5 %");
    let pairs = |formula| Cited::Pairs {
        formula,
        axis: "variant".into(),
        of: "agile-sd".into(),
        over: "cubic-2008".into(),
    };
    assert_eq!(cited(None, pairs(Formula::Ratio), &[]), "2.00");
    assert_eq!(cited(None, pairs(Formula::Gain), &[]), "100 %");
    assert_eq!(cited(None, pairs(Formula::Loss), &[]), "\u{2212}100 %");
    assert_eq!(cited(None, pairs(Formula::Difference), &[]), "25.0 %");
}

#[test]
fn what_is_not_there_is_named() {
    assert_eq!(cited(Some("readings"), Cited::Each, &["agile-sd"]), "(see the study readings)");
    let mut results = results();
    results.runs.iter_mut().for_each(|run| run.state = RunState::Missing);
    let citation =
        Citation { study: None, of: Cited::Each, metric: "utilisation".into(), select: select(&[]) };
    let mut claim = results.study.claims[0].clone();
    claim.reason = Some(Reason::Because(Explanation(vec![Phrase::Cited(citation)])));
    assert_eq!(why(&results, &claim, &verdict(Judgement::NotReproduced), &|_| None), "(not run)");
}
