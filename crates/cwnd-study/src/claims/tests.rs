//! Verdicts worked out by hand.

mod missing;
mod repeats;

use super::*;
use crate::Engines;
use crate::testing::{STUDY, Toy};
use crate::{
    Axis, Cell, Citation, Cited, ClaimKind, Expectation, Formula, MetricValues, PairSummary, Point,
    Provenance, Range, RunResult, RunState, Scale, Selection, Study,
};
use cwnd_experiment::{ExperimentSpec, FlowGroup};
use cwnd_scenario::AlgorithmSpec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Two variants and two buffers: cells a-5, a-10, b-5, b-10.
fn study(repeats: u32, claims: Vec<Claim>) -> Study {
    let scenario = ExperimentSpec::default()
        .scenario(&[FlowGroup::new(AlgorithmSpec::default(), 1)], 1)
        .expect("it can be built");
    let axis = |name: &str, labels: [&str; 2]| Axis {
        name: name.to_owned(),
        title: name.to_owned(),
        unit: None,
        scale: Scale::Linear,
        points: labels.map(|label| Point { label: label.to_owned(), value: None }).into(),
    };
    let cell = |variant, buffer| Cell {
        experiment: ExperimentSpec::default(),
        coordinates: vec![variant, buffer],
        engine: crate::EngineKind::Sim,
        scenario: scenario.clone(),
    };
    Study {
        name: "test".to_owned(),
        title: String::new(),
        question: String::new(),
        source: None,
        notes: Vec::new(),
        text: String::new(),
        axes: vec![axis("variant", ["a", "b"]), axis("buffer", ["5", "10"])],
        engine_axis: None,
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
        once: None,
        reduced: None,
        traces: Vec::new(),
        sizes: Vec::new(),
        file: None,
    }
}

/// A claim without words.
fn measured(kind: ClaimKind, expect: Expectation) -> Claim {
    Claim {
        text: String::new(),
        source: None,
        stated: None,
        test: ClaimTest::Measured { kind, expect },
        reason: None,
    }
}

/// A run that gave this value, or none if it is not a number.
fn run(cell: usize, repeat: usize, value: f64) -> RunResult {
    RunResult {
        cell,
        repeat: repeat as u32,
        seed: 1 + repeat as u64,
        state: match value.is_nan() {
            true => RunState::Missing,
            false => RunState::Done(MetricValues::from([("x".to_owned(), value)])),
        },
        trace: None,
        emulation: None,
        flows: Default::default(),
    }
}

/// One row of values a cell, one value a repeat.
fn evaluated(values: [&[f64]; 4], kind: ClaimKind, least: Option<f64>, most: Option<f64>) -> Verdict {
    held(values, kind, Expectation::Within(Range { at_least: least, at_most: most, is_open: false }))
}

fn held(values: [&[f64]; 4], kind: ClaimKind, expect: Expectation) -> Verdict {
    let runs = values.iter().enumerate().flat_map(|(cell, values)| {
        values.iter().enumerate().map(move |(repeat, value)| run(cell, repeat, *value))
    });
    let results = Results {
        study: study(values[0].len() as u32, vec![measured(kind, expect)]),
        runs: runs.collect(),
        provenance: Provenance::default(),
    };
    super::judged(&results, 0, &results.study.claims[0])
}

fn x() -> String {
    "x".to_owned()
}

fn only(axis: &str, label: &str) -> Selection {
    Selection(BTreeMap::from([(axis.to_owned(), vec![label.to_owned()])]))
}

fn gain(pairs: PairSummary, absolute: bool) -> ClaimKind {
    ClaimKind::Gain {
        metric: x(),
        axis: "variant".to_owned(),
        of: "a".to_owned(),
        over: vec!["b".to_owned()],
        select: Selection::default(),
        pairs,
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
    let verdict = evaluated(VALUES, gain(PairSummary::Mean, false), Some(0.0), None);
    // Mean 0.325, standard deviation sqrt((0.275^2 + 0.05^2 + 0.225^2) / 2) = 0.253722, / sqrt(3) x 4.302653.
    close(&verdict, 0.325, 0.630_28);
    assert_eq!(verdict.judgement, Judgement::Reproduced);
    // The greatest pair is buffer 10 with mean 0.35.
    let verdict = evaluated(VALUES, gain(PairSummary::Greatest, false), Some(0.0), None);
    assert!((verdict.measured.unwrap().mean - 0.35).abs() < 1e-12);
    assert_eq!(verdict.note.as_deref(), Some("`a, 10` against `b, 10`"));
    // Differences: 2, 3, 4 at buffer 5; 10, 4, -5 at 10: both have mean 3, and the first is taken.
    let verdict = evaluated(VALUES, gain(PairSummary::Greatest, true), Some(0.5), Some(5.5));
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

/// Ten per cent more, in every repeat; and one cell with nothing but noise.
const GAINS: [&[f64]; 4] = [&[1.10, 1.12, 1.11], &[1.9, 0.6, 1.7], &[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]];

#[track_caller]
fn judged(verdict: &Verdict, judgement: Judgement, ground: &str) {
    assert_eq!((verdict.judgement, verdict.ground.as_str()), (judgement, ground));
}

/// The worked examples of `docs/claims.md`.
#[test]
fn a_stated_gain_takes_most_of_it_and_an_interval_over_0() {
    let only_5 = |select: Selection| match gain(PairSummary::Mean, false) {
        ClaimKind::Gain { metric, axis, of, over, pairs, absolute, .. } => {
            ClaimKind::Gain { metric, axis, of, over, select, pairs, absolute }
        }
        _ => unreachable!(),
    };
    let steady = only_5(only("buffer", "5"));
    // Gains 0.10, 0.12, 0.11: mean 0.11, standard error 0.01 / sqrt(3), t = 19.05, and p = 1 - t / sqrt(t^2 + 2) = 0.00274.
    let verdict = held(GAINS, steady.clone(), Expectation::Gain(0.13));
    close(&verdict, 0.11, 0.024_84);
    judged(&verdict, Judgement::Reproduced, "85 % of what is stated, and surely over 0 (p = 0.0027)");
    let verdict = held(GAINS, steady.clone(), Expectation::Gain(0.55));
    judged(&verdict, Judgement::DirectionOnly, "20 % of what is stated, and surely over 0 (p = 0.0027)");
    let verdict = held(GAINS, steady, Expectation::Gain(0.05));
    judged(&verdict, Judgement::Reproduced, "2.2 times what is stated, and surely over 0 (p = 0.0027)");
    // Gains 0.9, -0.4, 0.7: mean 0.4, standard error 0.4041, t = 0.99.
    let noisy = only_5(only("buffer", "10"));
    let verdict = held(GAINS, noisy, Expectation::Gain(0.4));
    judged(&verdict, Judgement::NotReproduced, "100 % of what is stated, but not surely over 0 (p = 0.43)");
    let down = [GAINS[2], GAINS[3], GAINS[0], GAINS[1]];
    let verdict = held(down, only_5(only("buffer", "5")), Expectation::Gain(0.1));
    let ground = "the other way round (p = 0.0022)";
    judged(&verdict, Judgement::NotReproduced, ground);
}

#[test]
fn the_greatest_of_several_gains_is_corrected() {
    // Buffer 10 has the greatest mean, 0.4, but by accident; buffer 5 is surely over 0: 2 x 0.00274.
    let verdict = held(GAINS, gain(PairSummary::Greatest, false), Expectation::Gain(0.13));
    judged(
        &verdict,
        Judgement::Reproduced,
        "85 % of what is stated, and surely over 0 (Holm over 2 pairs, p = 0.0055)",
    );
    let note = "`a, 5` against `b, 5`; a greater one is not surely over 0";
    assert_eq!(verdict.note.as_deref(), Some(note));
    let verdict = held(GAINS, gain(PairSummary::Greatest, false), Expectation::Gain(0.4));
    assert_eq!((verdict.judgement, verdict.note.as_deref()), (Judgement::DirectionOnly, Some(note)));
    // A greater one that is not near to what is stated, 0.4 of 0.6, is not mentioned.
    let verdict = held(GAINS, gain(PairSummary::Greatest, false), Expectation::Gain(0.6));
    let note = Some("`a, 5` against `b, 5`");
    assert_eq!((verdict.judgement, verdict.note.as_deref()), (Judgement::DirectionOnly, note));
    // Gains 0.1, 0.12, 0.17: mean 0.13, standard error 0.0208, t = 6.24, p = 0.0248; twice that is just under 0.05.
    let weak: [&[f64]; 4] = [&[1.1, 1.12, 1.17], &[1.1, 1.12, 1.17], &[1.0; 3], &[1.0; 3]];
    let alone = held(weak, gain(PairSummary::Mean, false), Expectation::Gain(0.13));
    judged(&alone, Judgement::Reproduced, "100 % of what is stated, and surely over 0 (p = 0.02)");
    let verdict = held(weak, gain(PairSummary::Greatest, false), Expectation::Gain(0.13));
    let ground = "100 % of what is stated, and surely over 0 (Holm over 2 pairs, p = 0.05)";
    judged(&verdict, Judgement::Reproduced, ground);
    assert_eq!(verdict.note.as_deref(), Some("`a, 5` against `b, 5`"), "it is the greatest itself");
    // Gains 0.09, 0.12, 0.18: mean 0.13, standard error 0.0265, t = 4.91, p = 0.039; twice that is not.
    let weaker: [&[f64]; 4] = [&[1.09, 1.12, 1.18], &[1.09, 1.12, 1.18], &[1.0; 3], &[1.0; 3]];
    let alone = held(weaker, gain(PairSummary::Mean, false), Expectation::Gain(0.13));
    assert_eq!(alone.judgement, Judgement::Reproduced, "{alone:?}");
    let verdict = held(weaker, gain(PairSummary::Greatest, false), Expectation::Gain(0.13));
    assert_eq!(verdict.judgement, Judgement::NotReproduced, "{verdict:?}");
}

#[test]
fn one_run_decides_by_itself_and_says_so() {
    let single: [&[f64]; 4] = [&[1.3], &[1.1], &[1.0], &[1.0]];
    let verdict = held(single, gain(PairSummary::Greatest, false), Expectation::Gain(0.3));
    let ground = "100 % of what is stated; one run without an interval: its value alone decides";
    judged(&verdict, Judgement::Reproduced, ground);
    let verdict = held(single, gain(PairSummary::Greatest, false), Expectation::Gain(0.5));
    assert_eq!(verdict.judgement, Judgement::DirectionOnly);
    // Repeats without any chance in them are all equal, and have an interval of no width.
    let equal: [&[f64]; 4] = [&[1.5; 3], &[1.25; 3], &[1.0; 3], &[1.0; 3]];
    let verdict = held(equal, gain(PairSummary::Greatest, false), Expectation::Gain(0.5));
    let ground = "100 % of what is stated, and surely over 0 (Holm over 2 pairs, p < 0.0001)";
    judged(&verdict, Judgement::Reproduced, ground);
}

#[test]
fn a_printed_number_is_near_or_inside_the_interval() {
    let of = |label| ClaimKind::Mean { metric: x(), select: only("variant", label) };
    let printed = |value, scale| Expectation::Printed { value, scale };
    // Means by seed 16, 16.5, 17: 16.5 ± 1.242.
    let verdict = held(VALUES, of("a"), printed(16.0, 1.0));
    judged(&verdict, Judgement::Reproduced, "3.1 % over what is printed");
    let verdict = held(VALUES, of("a"), printed(15.5, 1.0));
    judged(&verdict, Judgement::Reproduced, "6.5 % over what is printed, which lies inside the interval");
    let verdict = held(VALUES, of("a"), printed(18.0, 1.0));
    judged(
        &verdict,
        Judgement::NotReproduced,
        "8.3 % under what is printed, which lies outside the interval",
    );
    let verdict = held(VALUES, of("a"), printed(1.65, 0.1));
    assert_eq!(verdict.judgement, Judgement::Reproduced);
    // The scale applies to the interval, too: 1.65 ± 0.124.
    let verdict = held(VALUES, of("a"), printed(1.55, 0.1));
    judged(&verdict, Judgement::Reproduced, "6.5 % over what is printed, which lies inside the interval");
    let verdict = held(VALUES, of("a"), printed(1.8, 0.1));
    judged(
        &verdict,
        Judgement::NotReproduced,
        "8.3 % under what is printed, which lies outside the interval",
    );
    let verdict = held(VALUES, of("a"), printed(4.0, 1.0));
    judged(&verdict, Judgement::NotReproduced, "4.1 times what is printed, which lies outside the interval");
    // Exactly 5 % is near.
    let exact: [&[f64]; 4] = [&[1.05], &[1.05], &[1.0], &[1.0]];
    let verdict = held(exact, of("a"), printed(1.0, 1.0));
    let ground = "5.0 % over what is printed; one run without an interval: its value alone decides";
    judged(&verdict, Judgement::Reproduced, ground);
    let verdict = held(exact, of("a"), printed(0.0, 1.0));
    let ground = "not the 0 that is printed; one run without an interval: its value alone decides";
    judged(&verdict, Judgement::NotReproduced, ground);
}

#[test]
fn what_cannot_be_tested_says_why() {
    let claim = Claim {
        text: String::new(),
        source: None,
        stated: None,
        test: ClaimTest::NotTestable("its figure is lost".to_owned()),
        reason: None,
    };
    let mut results =
        Results { study: study(1, vec![claim]), runs: Vec::new(), provenance: Provenance::default() };
    let verdict = evaluate(&results).remove(0);
    judged(&verdict, Judgement::NotTestable, "its figure is lost");
    results.study.claims.clear();
    assert!(evaluate(&results).is_empty());
}

#[test]
fn a_part_of_a_study_says_that_it_is_one() {
    let mut whole = study(1, Vec::new());
    whole.quick = Some(crate::Quick { repeats: None, axes: only("buffer", "10") });
    whole.claims = [Selection::default(), only("buffer", "5")]
        .map(|select| Claim {
            text: String::new(),
            source: None,
            stated: None,
            test: ClaimTest::Measured {
                kind: ClaimKind::Mean { metric: x(), select },
                expect: Expectation::Within(Range { at_least: Some(1.0), at_most: None, is_open: false }),
            },
            reason: None,
        })
        .into();
    let part = whole.at_scale(crate::RunScale::Quick);
    let run = |cell| RunResult {
        cell,
        repeat: 0,
        seed: 1,
        state: RunState::Done(MetricValues::from([(x(), 2.0)])),
        trace: None,
        emulation: None,
        flows: Default::default(),
    };
    let runs = (0..part.cells.len()).map(run).collect();
    let verdicts = evaluate(&Results { study: part, runs, provenance: Provenance::default() });
    assert_eq!(verdicts[0].note.as_deref(), Some("at the quick scale, over 2 of 4 places"));
    let ground = "the quick scale has 0 of the 2 places that it is measured over";
    judged(&verdicts[1], Judgement::NotMeasured, ground);
}

#[test]
fn derived_metrics_are_paired_by_seed() {
    let mut study = study(2, Vec::new());
    let derived = |name: &str, formula| crate::Derived {
        name: name.to_owned(),
        title: String::new(),
        metric: x(),
        axis: "variant".to_owned(),
        reference: "b".to_owned(),
        formula,
    };
    study.derived = crate::Formula::ALL.map(|(name, formula)| derived(name, formula)).into();
    // a, 5: 30 and 10; a, 10: none; b, 5: 40 and 20; b, 10: 0.
    let values = [[30.0, 10.0], [f64::NAN, 1.0], [40.0, 20.0], [0.0, 0.0]];
    let run = |(cell, repeat): (usize, usize)| RunResult {
        cell,
        repeat: repeat as u32,
        seed: 1,
        state: match values[cell][repeat] {
            value if value.is_nan() => RunState::Missing,
            value => RunState::Done(MetricValues::from([(x(), value)])),
        },
        trace: None,
        emulation: None,
        flows: Default::default(),
    };
    let runs = (0..4).flat_map(|cell| [(cell, 0), (cell, 1)]).map(run).collect();
    let mut results = Results { study, runs, provenance: Provenance::default() };
    results.derive();
    assert_eq!(results.values(0, "loss"), [0.25, 0.5]);
    assert_eq!(results.values(0, "gain"), [-0.25, -0.5]);
    assert_eq!(results.values(0, "ratio"), [0.75, 0.5]);
    assert_eq!(results.values(0, "difference"), [-10.0, -10.0]);
    // Beside nothing there is only a difference; the reference has none to itself.
    assert_eq!((results.values(1, "ratio"), results.values(1, "difference")), (vec![], vec![1.0]));
    assert_eq!((results.values(2, "loss"), results.values(2, "ratio")), (vec![0.0, 0.0], vec![1.0, 1.0]));
}

/// Without randomness the sign alone decides whether a gain is over 0.
#[test]
fn a_gain_of_one_run_is_over_0_if_it_is_positive() {
    let test = ClaimTest::Measured { kind: gain(PairSummary::Mean, false), expect: Expectation::Gain(0.5) };
    let claim = Claim { text: String::new(), source: None, stated: None, test, reason: None };
    let verdict = |a: f64| {
        let mut study = study(2, vec![claim.clone()]);
        for cell in &mut study.cells {
            cell.scenario.start_jitter = cwnd_scenario::Time::ZERO;
            cell.scenario.send_overhead = cwnd_scenario::Time::ZERO;
        }
        let run = |(cell, repeat): (usize, u32)| RunResult {
            cell,
            repeat,
            seed: 1,
            state: RunState::Done(MetricValues::from([(x(), if cell < 2 { a } else { 1.0 })])),
            trace: None,
            emulation: None,
            flows: Default::default(),
        };
        let runs = (0..4).flat_map(|cell| [(cell, 0), (cell, 1)]).map(run).collect();
        evaluate(&Results { study, runs, provenance: Provenance::default() }).remove(0)
    };
    let one_run = "one run without an interval: its value alone decides";
    judged(&verdict(1.5), Judgement::Reproduced, &format!("100 % of what is stated; {one_run}"));
    judged(&verdict(0.5), Judgement::NotReproduced, &format!("the other way round; {one_run}"));
    judged(&verdict(1.0), Judgement::NotReproduced, &format!("0 % of what is stated; {one_run}"));
}

/// The means over the repeats: a, 5: 20; a, 10: 4; b, 5: 40; b, 10: 8.
#[test]
fn what_is_cited_is_a_mean_over_the_repeats() {
    let results = |missing: Option<usize>| {
        let values = [[30.0, 10.0], [3.0, 5.0], [50.0, 30.0], [8.0, 8.0]];
        let run = |(cell, repeat): (usize, usize)| RunResult {
            cell,
            repeat: repeat as u32,
            seed: 1,
            state: match missing == Some(cell) {
                true => RunState::Missing,
                false => RunState::Done(MetricValues::from([(x(), values[cell][repeat])])),
            },
            trace: None,
            emulation: None,
            flows: Default::default(),
        };
        let runs = (0..4).flat_map(|cell| [(cell, 0), (cell, 1)]).map(run).collect();
        Results { study: study(2, Vec::new()), runs, provenance: Provenance::default() }
    };
    let of = |missing, of: Cited, select: Selection| {
        let citation = Citation { study: None, of, metric: x(), select };
        cite(&results(missing), &citation).map(|cited| (cited.least, cited.greatest))
    };
    assert_eq!(of(None, Cited::Each, Selection::default()), Some((4.0, 40.0)));
    assert_eq!(of(None, Cited::Each, only("variant", "a")), Some((4.0, 20.0)));
    assert_eq!(of(None, Cited::Mean, only("variant", "b")), Some((24.0, 24.0)));
    let pairs = |formula| {
        let [axis, of, over] = ["variant", "a", "b"].map(str::to_owned);
        Cited::Pairs { formula, axis, of, over }
    };
    assert_eq!(of(None, pairs(Formula::Difference), Selection::default()), Some((-20.0, -4.0)));
    assert_eq!(of(None, pairs(Formula::Ratio), only("buffer", "5")), Some((0.5, 0.5)));
    // Part of what is cited is not cited.
    assert_eq!(of(Some(1), Cited::Each, Selection::default()), None);
    assert_eq!(of(Some(1), Cited::Mean, only("variant", "a")), None);
    assert_eq!(of(Some(1), pairs(Formula::Ratio), Selection::default()), None);
    assert_eq!(of(Some(1), Cited::Each, only("variant", "b")), Some((8.0, 40.0)));
    assert_eq!(of(None, Cited::Each, only("variant", "none")), None);
}

#[test]
fn opposite_differences_do_not_cancel() {
    // a - b is 1 with a buffer of 5 and -1.2 with a buffer of 10: the mean is -0.1, the greatest magnitude 1.2.
    let values: [&[f64]; 4] = [&[3.0, 3.0], &[1.0, 1.0], &[2.0, 2.0], &[2.2, 2.2]];
    let mean = evaluated(values, gain(PairSummary::Mean, true), Some(-0.25), Some(0.25));
    assert_eq!(mean.judgement, Judgement::Reproduced);
    let greatest = evaluated(values, gain(PairSummary::GreatestAbsolute, true), None, Some(0.25));
    assert_eq!(greatest.judgement, Judgement::NotReproduced);
    assert!((greatest.measured.unwrap().mean - 1.2).abs() < 1e-12);
    assert!(greatest.note.unwrap().contains("`a, 10` against `b, 10`"));
}

#[test]
fn three_times_a_stated_gain_is_larger_than_stated() {
    // Gains of 10 to 12 % at both buffers.
    let values: [&[f64]; 4] = [&[1.1, 1.12, 1.11], &[1.1, 1.12, 1.11], &[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]];
    let stated =
        |gain_stated| held(values, gain(PairSummary::Mean, false), Expectation::Gain(gain_stated)).judgement;
    assert_eq!(stated(0.04), Judgement::Reproduced);
    assert_eq!(stated(0.036), Judgement::LargerThanStated);
    assert_eq!(stated(0.5), Judgement::DirectionOnly);
}

#[test]
fn a_fingerprint_follows_the_rule_and_the_runs() {
    const CLAIMS: &str = r#"
[[derived]]
name = "of_newreno"
title = "Of NewReno's"
metric = "throughput_bps"
axis = "variant"
reference = "newreno"
formula = "ratio"
[[claims]]
text = "a"
measure = "mean"
metric = "throughput_bps"
where = { variant = "cubic" }
expect = ">= 1"
[[claims]]
text = "b"
measure = "mean"
metric = "throughput_bps"
where = { variant = "newreno" }
expect = ">= 1"
[[claims]]
text = "c"
measure = "mean"
metric = "of_newreno"
where = { variant = "cubic" }
expect = ">= 1"
"#;
    let of = |text: &str, newreno: u32| {
        let study = crate::testing::study(text);
        let engines = Engines::new(Arc::new(Toy { newreno, ..Toy::default() }));
        let fingerprints = study.claims.iter().map(|claim| fingerprint(&study, claim, &engines));
        fingerprints.collect::<Vec<String>>()
    };
    let text = format!("{STUDY}{CLAIMS}");
    let now = of(&text, 0);
    assert_eq!(now, of(&text.replace("text = \"a\"", "text = \"z\""), 0), "words do not matter");
    let changed = |other: Vec<String>| now.iter().zip(&other).map(|(a, b)| a != b).collect::<Vec<bool>>();
    // A new version of NewReno matters to whatever is measured from its runs, as a reference as well.
    assert_eq!(changed(of(&text, 1)), [false, true, true]);
    assert_eq!(changed(of(&text.replacen(">= 1", "> 1", 1), 0)), [true, false, false]);
    assert_eq!(changed(of(&text.replace("repeats = 3", "repeats = 4"), 0)), [true; 3]);
    assert_eq!(
        changed(of(&text.replace("formula = \"ratio\"", "formula = \"gain\""), 0)),
        [false, false, true]
    );
}
