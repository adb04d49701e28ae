//! How many repeats a verdict needs.

use super::*;

/// The values of one cell, judged as [`evaluate`] does, with the scenario's randomness.
fn gated(values: &[f64], is_random: bool) -> Verdict {
    let kind = ClaimKind::Mean { metric: x(), select: Selection::default() };
    let expect = Expectation::Printed { value: 16.0, scale: 1.0 };
    let mut study = study(values.len() as u32, vec![measured(kind, expect)]);
    study.cells.truncate(1);
    if !is_random {
        study.cells[0].scenario.start_jitter = cwnd_scenario::Time::ZERO;
        study.cells[0].scenario.send_overhead = cwnd_scenario::Time::ZERO;
    }
    let runs = values.iter().enumerate().map(|(repeat, value)| run(0, repeat, *value)).collect();
    evaluate(&Results { study, runs, provenance: Provenance::default() }).remove(0)
}

#[test]
fn fewer_than_five_random_repeats_give_no_verdict() {
    // With two repeats the interval is 10 ± 12.7 x 6 = 76: the printed 16 lies inside it, as would almost anything.
    let two = gated(&[4.0, 16.0], true);
    assert_eq!(two.judgement, Judgement::TooFewRepeats);
    assert!(two.ground.starts_with("2 of the 5 repeats that a verdict needs"), "{}", two.ground);
    assert_eq!(two.measured.unwrap().mean, 10.0);
    assert_eq!(gated(&[16.0], true).judgement, Judgement::TooFewRepeats);
    assert_eq!(gated(&[16.0, 15.9, 16.1, 16.0], true).judgement, Judgement::TooFewRepeats);
    assert_eq!(gated(&[16.0, 15.9, 16.1, 16.0, 16.0], true).judgement, Judgement::Reproduced);
}

#[test]
fn repeats_without_randomness_are_one_run() {
    let equal = gated(&[16.0, 16.0], false);
    assert_eq!((equal.judgement, equal.measured.unwrap().ci95), (Judgement::Reproduced, None));
    assert!(
        equal.ground.ends_with("one run without an interval: its value alone decides"),
        "{}",
        equal.ground
    );
    assert_eq!(gated(&[20.0], false).judgement, Judgement::NotReproduced);
    // Repeats that differ show that something is random, such as an algorithm's own draws.
    assert_eq!(gated(&[16.0, 16.1], false).judgement, Judgement::TooFewRepeats);
}
