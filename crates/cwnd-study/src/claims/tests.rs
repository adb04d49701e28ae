//! Verdicts worked out by hand.

use super::*;
use crate::{
    Axis, Cell, ClaimKind, Expectation, Point, Provenance, Range, RunResult, RunState, Scale, Selection,
    Study,
};
use cwnd_scenario::{AlgorithmSpec, FlowGroup, build::Setup};
use std::collections::BTreeMap;

/// Two variants and two buffers: cells a-5, a-10, b-5, b-10.
fn study(repeats: u32, claims: Vec<Claim>) -> Study {
    let scenario = Setup::default()
        .scenario(&[FlowGroup::new(AlgorithmSpec::default(), 1)], 1)
        .expect("it can be built");
    let axis = |name: &str, labels: [&str; 2]| Axis {
        name: name.to_owned(),
        title: name.to_owned(),
        unit: None,
        scale: Scale::Linear,
        points: labels.map(|label| Point { label: label.to_owned(), value: None }).into(),
    };
    let cell = |variant, buffer| Cell { coordinates: vec![variant, buffer], scenario: scenario.clone() };
    Study {
        name: "test".to_owned(),
        title: String::new(),
        question: String::new(),
        source: None,
        notes: Vec::new(),
        text: String::new(),
        axes: vec![axis("variant", ["a", "b"]), axis("buffer", ["5", "10"])],
        cells: vec![cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1)],
        repeats,
        seed: 1,
        metrics: Vec::new(),
        trace: None,
        figures: Vec::new(),
        tables: Vec::new(),
        claims,
        derived: Vec::new(),
        quick: None,
        reduced: None,
        traces: Vec::new(),
    }
}

/// One row of values a cell, one value a repeat.
fn evaluated(values: [&[f64]; 4], kind: ClaimKind, least: Option<f64>, most: Option<f64>) -> Verdict {
    held(values, kind, Expectation::Within(Range { at_least: least, at_most: most }))
}

fn held(values: [&[f64]; 4], kind: ClaimKind, expect: Expectation) -> Verdict {
    let claim = Claim {
        text: String::new(),
        source: None,
        stated: None,
        test: ClaimTest::Measured { kind, expect },
        because: None,
    };
    let run = |cell, repeat: usize, value: f64| RunResult {
        cell,
        repeat: repeat as u32,
        seed: 1 + repeat as u64,
        state: match value.is_nan() {
            true => RunState::Missing,
            false => RunState::Done(BTreeMap::from([("x".to_owned(), value)])),
        },
        trace: None,
    };
    let runs = values.iter().enumerate().flat_map(|(cell, values)| {
        values.iter().enumerate().map(move |(repeat, value)| run(cell, repeat, *value))
    });
    let results = Results {
        study: study(values[0].len() as u32, vec![claim]),
        runs: runs.collect(),
        provenance: Provenance::default(),
    };
    evaluate(&results).remove(0)
}

fn x() -> String {
    "x".to_owned()
}

fn only(axis: &str, label: &str) -> Selection {
    Selection(BTreeMap::from([(axis.to_owned(), vec![label.to_owned()])]))
}

fn gain(greatest: bool, absolute: bool) -> ClaimKind {
    ClaimKind::Gain {
        metric: x(),
        axis: "variant".to_owned(),
        of: "a".to_owned(),
        over: vec!["b".to_owned()],
        select: Selection::default(),
        greatest,
        absolute,
    }
}

#[track_caller]
fn close(verdict: &Verdict, mean: f64, ci95: f64) {
    let measured = verdict.measured.expect("measured");
    assert!((measured.mean - mean).abs() < 1e-9, "{} is not {mean}", measured.mean);
    let half = measured.ci95.expect("an interval");
    assert!((half - ci95).abs() < 1e-4, "{half} is not {ci95}");
}

const VALUES: [&[f64]; 4] =
    [&[12.0, 13.0, 14.0], &[20.0, 20.0, 20.0], &[10.0, 10.0, 10.0], &[10.0, 16.0, 25.0]];

#[test]
fn a_mean_over_cells_and_its_interval() {
    let kind = ClaimKind::Mean { metric: x(), select: only("variant", "a") };
    // Means by seed: 16, 16.5, 17; mean 16.5, standard deviation 0.5, standard error 0.288675, t(2) = 4.302653.
    let verdict = evaluated(VALUES, kind.clone(), Some(15.0), None);
    close(&verdict, 16.5, 1.242_07);
    assert_eq!((verdict.judgement, verdict.note), (Judgement::Reproduced, None));
    // 15.258 to 17.742.
    assert_eq!(evaluated(VALUES, kind.clone(), Some(15.5), None).judgement, Judgement::Reproduced);
    assert_eq!(evaluated(VALUES, kind.clone(), Some(17.8), None).judgement, Judgement::NotReproduced);
    assert_eq!(evaluated(VALUES, kind.clone(), None, Some(15.2)).judgement, Judgement::NotReproduced);
    let close = evaluated(VALUES, kind.clone(), Some(15.2), Some(17.7));
    let ground = "within what is expected, though the interval crosses an end of it";
    assert_eq!((close.judgement, close.ground.as_str()), (Judgement::Reproduced, ground));
    let under = evaluated(VALUES, kind, Some(17.0), None);
    let ground = "under what is expected, though the interval crosses an end of it";
    assert_eq!((under.judgement, under.ground.as_str()), (Judgement::NotReproduced, ground));
}

#[test]
fn the_greatest_and_the_least_name_their_cell() {
    let extreme = |greatest| ClaimKind::Extreme { metric: x(), select: Selection::default(), greatest };
    let verdict = evaluated(VALUES, extreme(true), Some(19.0), Some(21.0));
    close(&verdict, 20.0, 0.0);
    assert_eq!(verdict.note.as_deref(), Some("in `a, 10`"));
    assert_eq!(verdict.judgement, Judgement::Reproduced);
    let verdict = evaluated(VALUES, extreme(false), None, Some(9.0));
    close(&verdict, 10.0, 0.0);
    assert_eq!((verdict.note.as_deref(), verdict.judgement), (Some("in `b, 5`"), Judgement::NotReproduced));
}

#[test]
fn gains_are_paired_by_seed() {
    // Relative, by seed: buffer 5: 0.2, 0.3, 0.4; buffer 10: 1, 0.25, -0.2. Means: 0.6, 0.275, 0.1.
    let verdict = evaluated(VALUES, gain(false, false), Some(0.0), None);
    // Mean 0.325, standard deviation sqrt((0.275^2 + 0.05^2 + 0.225^2) / 2) = 0.253722, / sqrt(3) x 4.302653.
    close(&verdict, 0.325, 0.630_28);
    assert_eq!(verdict.judgement, Judgement::Reproduced);
    // The greatest pair is buffer 10 with mean 0.35.
    let verdict = evaluated(VALUES, gain(true, false), Some(0.0), None);
    assert!((verdict.measured.unwrap().mean - 0.35).abs() < 1e-12);
    assert_eq!(verdict.note.as_deref(), Some("`a, 10` against `b, 10`"));
    // Differences: 2, 3, 4 at buffer 5; 10, 4, -5 at 10: both have mean 3, and the first is taken.
    let verdict = evaluated(VALUES, gain(true, true), Some(0.5), Some(5.5));
    close(&verdict, 3.0, 2.484_14);
    assert_eq!(verdict.judgement, Judgement::Reproduced);
    assert_eq!(verdict.note.as_deref(), Some("`a, 5` against `b, 5`"));
}

#[test]
fn wins_are_counted() {
    let kind = ClaimKind::Wins {
        metric: x(),
        axis: "variant".to_owned(),
        of: "a".to_owned(),
        over: vec!["b".to_owned()],
        select: Selection::default(),
    };
    // By seed: 2 of 2, 2 of 2, 1 of 2: mean 5/6, standard error 1/6.
    close(&evaluated(VALUES, kind.clone(), Some(1.0), None), 5.0 / 6.0, 0.717_11);
    let equal: [&[f64]; 4] = [&[1.0]; 4];
    assert_eq!(evaluated(equal, kind, Some(0.5), None).measured.unwrap().mean, 0.0);
}

#[test]
fn what_is_missing_is_said() {
    let nan = f64::NAN;
    let gaps: [&[f64]; 4] = [&[1.0, nan, 3.0], &[1.0, 1.0, 3.0], &[nan; 3], &[nan; 3]];
    let mean = |label| ClaimKind::Mean { metric: x(), select: only("variant", label) };
    let verdict = evaluated(gaps, mean("a"), Some(0.0), None);
    assert_eq!(verdict.measured.unwrap().count, 2);
    assert_eq!(verdict.note.as_deref(), Some("2 of 3 repeats have all of it"));
    let verdict = evaluated(gaps, mean("b"), Some(0.0), None);
    let told = |verdict: &Verdict| (verdict.judgement, verdict.ground.clone(), verdict.note.clone());
    let not_measured = |ground: &str| (Judgement::NotMeasured, ground.to_owned(), None);
    assert_eq!(told(&verdict), not_measured("no run has measured it"));
    let verdict = evaluated(gaps, mean("none"), Some(0.0), None);
    assert_eq!((verdict.measured, told(&verdict)), (None, not_measured("no cells belong to it")));
    // One run has no interval: it is its own.
    let single: [&[f64]; 4] = [&[2.0], &[3.0], &[0.0], &[4.0]];
    let verdict = evaluated(single, mean("a"), Some(2.5), Some(2.5));
    assert_eq!((verdict.judgement, verdict.measured.unwrap().ci95), (Judgement::Reproduced, None));
    // Nothing can be divided by nothing: at buffer 5 there is no relative gain.
    let verdict = evaluated(single, gain(true, false), None, Some(0.0));
    assert_eq!(verdict.note.as_deref(), Some("`a, 10` against `b, 10`; 1 values are missing"));
}
