//! Claims about runs that have no value.

use super::*;

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
    assert_eq!(told(&verdict), not_measured("no run has a value of it"));
    let verdict = evaluated(gaps, mean("none"), Some(0.0), None);
    assert_eq!((verdict.measured, told(&verdict)), (None, not_measured("no cells belong to it")));
    // Where some combinations have values, the others are counted.
    let some: [&[f64]; 4] = [&[1.0; 3], &[nan; 3], &[1.0; 3], &[nan; 3]];
    let all = ClaimKind::Mean { metric: x(), select: Selection::default() };
    let ground = "2 of 4 combinations have no value in any repeat";
    assert_eq!(told(&evaluated(some, all.clone(), Some(0.0), None)), not_measured(ground));
    let in_turn: [&[f64]; 4] = [&[1.0, nan], &[nan, 1.0], &[1.0, 1.0], &[1.0, 1.0]];
    let ground = "no repeat has a value of all 4 combinations";
    assert_eq!(told(&evaluated(in_turn, all, Some(0.0), None)), not_measured(ground));
    for pairs in [PairSummary::Mean, PairSummary::Greatest] {
        let zeros: [&[f64]; 4] = [&[1.0; 3], &[2.0; 3], &[0.0; 3], &[0.0; 3]];
        let verdict = evaluated(zeros, gain(pairs, false), Some(0.0), None);
        assert_eq!(told(&verdict), not_measured("the value to compare with is 0"));
        let both: [&[f64]; 4] = [&[1.0; 3], &[nan; 3], &[0.0; 3], &[1.0; 3]];
        let verdict = evaluated(both, gain(pairs, false), Some(0.0), None);
        let ground = "1 of 2 combinations has no value in any repeat, and the value to compare with is 0 in 1 of 2 pairs";
        assert_eq!(told(&verdict), not_measured(ground));
    }
    let zero: [&[f64]; 4] = [&[1.0; 3], &[2.0; 3], &[0.0; 3], &[1.0; 3]];
    let verdict = evaluated(zero, gain(PairSummary::Mean, false), Some(0.0), None);
    assert_eq!(told(&verdict), not_measured("the value to compare with is 0 in 1 of 2 pairs"));
    // What never happened could be the extreme: a time of completion that no run has is not the least.
    let extreme = |greatest| ClaimKind::Extreme { metric: x(), select: Selection::default(), greatest };
    for greatest in [true, false] {
        let verdict = evaluated(gaps, extreme(greatest), Some(0.0), None);
        assert_eq!(
            told(&verdict),
            not_measured("2 of 4 combinations have no value, and could be the extreme")
        );
    }
    // One run has no interval: it is its own.
    let single: [&[f64]; 4] = [&[2.0], &[3.0], &[0.0], &[4.0]];
    let verdict = evaluated(single, mean("a"), Some(2.5), Some(2.5));
    assert_eq!((verdict.judgement, verdict.measured.unwrap().ci95), (Judgement::Reproduced, None));
    // Nothing can be divided by nothing: at buffer 5 there is no relative gain.
    let verdict = evaluated(single, gain(PairSummary::Greatest, false), None, Some(0.0));
    assert_eq!(verdict.note.as_deref(), Some("`a, 10` against `b, 10`; 1 value is missing"));
}
