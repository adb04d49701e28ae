use super::*;
use crate::{Provenance, RunResult, Study, testing};

/// Results of the toy study in which each run has this value.
fn results(study: Study, value: impl Fn(usize, u64) -> Option<f64>) -> Results {
    let places = (0..study.cells.len()).flat_map(|cell| (0..study.repeats).map(move |repeat| (cell, repeat)));
    let runs = places.map(|(cell, repeat)| {
        let seed = study.seed + u64::from(repeat);
        let state = match value(cell, seed) {
            Some(value) => {
                RunState::Done([("throughput_bps".to_owned(), value), ("other".to_owned(), 1.0)].into())
            }
            None => RunState::Missing,
        };
        RunResult { cell, repeat, seed, state, trace: None, emulation: None, flows: Default::default() }
    });
    Results { runs: runs.collect(), study, provenance: Provenance::default() }
}

fn study() -> Study {
    testing::study(testing::STUDY)
}

fn base(cell: usize, seed: u64) -> Option<f64> {
    Some(100.0 * cell as f64 + seed as f64)
}

#[test]
fn equal_results_are_identical() {
    let diff = diff(&results(study(), base), &results(study(), base), Metrics::All);
    assert_eq!(diff.comparisons.len(), 8);
    assert!(diff.comparisons.iter().all(|comparison| comparison.identical));
    assert!(diff.comparisons.iter().all(|comparison| comparison.p_corrected.is_none()));
    assert!(!diff.is_change() && diff.notes.is_empty());
}

/// The same labels do not make the same scenario.
#[test]
fn settings_that_differ_are_noted() {
    let other = testing::study(&testing::STUDY.replace("[scenario]", "[scenario]\nwarm-up = \"10 ms\""));
    let diff = diff(&results(study(), base), &results(other, base), Metrics::All);
    assert_eq!(
        diff.notes,
        [
            "`warm-up` differs in 4 cells: in the first of them it is `0 s` in the first results and `10 ms` in the second"
        ]
    );
}

#[test]
fn what_changed_comes_first() {
    let after = |cell: usize, seed: u64| {
        let noise = [0.0, 2.0, -1.5, 1.0][seed as usize % 4];
        let nudge = [0.0, 0.1, 0.2, 0.15][seed as usize % 4];
        base(cell, seed).map(|value| match cell {
            // Clear, unclear, and clearer still.
            1 => value + 10.0 + nudge,
            2 => value + noise,
            3 => value + 1_000.0 + nudge,
            _ => value,
        })
    };
    let diff = diff(&results(study(), base), &results(study(), after), Metrics::Named);
    let order: Vec<(String, bool)> =
        diff.comparisons.iter().map(|c| (c.cell_label(), c.is_significant())).collect();
    assert_eq!(
        order,
        [
            ("newreno, 50".to_owned(), true),
            ("cubic, 50".to_owned(), true),
            ("newreno, 5".to_owned(), false),
            ("cubic, 5".to_owned(), false),
        ]
    );
    let second = &diff.comparisons[1];
    assert_eq!((second.means.0, second.paired.count), (102.0, 3));
    assert!((second.paired.mean_difference - 10.15).abs() < 1e-9);
    assert!((second.relative().unwrap() - 10.15 / 102.0).abs() < 1e-12);
    // Three tests: the second least p-value is doubled.
    assert_eq!(second.p_corrected.unwrap(), 2.0 * second.paired.p.unwrap());
    assert!(diff.comparisons[3].identical && diff.is_change());
}

#[test]
fn pairs_are_made_by_seed() {
    // The second study has other seeds: 2 to 4 instead of 1 to 3; and one run is missing.
    let shifted = Study { seed: 2, ..study() };
    let second = results(shifted, |cell, seed| base(cell, seed).filter(|_| (cell, seed) != (0, 2)));
    let diff = diff(&results(study(), base), &second, Metrics::Named);
    assert!(diff.comparisons.iter().all(|comparison| comparison.identical));
    assert_eq!(diff.comparisons.iter().map(|c| c.paired.count).collect::<Vec<_>>(), [1, 2, 2, 2]);
    assert_eq!(
        diff.notes,
        ["9 runs have no partner: a seed that the other side lacks, or a run that is missing or failed"]
    );
    // What both have is equal to the bit, and yet the results are not the same.
    assert_eq!(diff.unpaired, 9);
    assert_eq!(diff.changes(), ["9 runs have no partner"]);
}

#[test]
fn results_without_a_common_run_are_a_change() {
    let other = Study { seed: 100, ..study() };
    let apart = diff(&results(study(), base), &results(other, base), Metrics::All);
    assert!(apart.comparisons.is_empty());
    assert_eq!(apart.changes(), ["nothing could be compared", "24 runs have no partner"]);
    let nothing = diff(&results(study(), |_, _| None), &results(study(), |_, _| None), Metrics::All);
    assert_eq!(nothing.changes(), ["nothing could be compared"]);
    assert_eq!(nothing.notes, ["12 runs are missing or failed on both sides, and not compared"]);
}

#[test]
fn a_run_that_failed_on_one_side_is_a_change() {
    let mut second = results(study(), base);
    second.runs[4].state = RunState::Failed("out of memory".to_owned());
    let one_side = diff(&results(study(), base), &second, Metrics::Named);
    assert!(one_side.comparisons.iter().all(|comparison| comparison.identical));
    assert!(one_side.notes[0].starts_with("1 run has no partner: "), "{:?}", one_side.notes);
    assert_eq!((one_side.unpaired, one_side.changes()), (1, vec!["1 run has no partner".to_owned()]));
    // Failed on both sides, it is equal; the note says that it was not compared.
    let both = diff(&second, &second, Metrics::Named);
    assert!(!both.is_change());
    assert_eq!(both.notes, ["1 run is missing or failed on both sides, and not compared"]);
}

#[test]
fn a_value_of_one_side_is_a_change() {
    let mut second = results(study(), base);
    second.runs[0].state = RunState::Done([("throughput_bps".to_owned(), 1.0)].into());
    let diff = diff(&results(study(), base), &second, Metrics::All);
    assert!(diff.comparisons.iter().all(|comparison| comparison.identical));
    assert_eq!((diff.unpaired, diff.unpaired_values), (0, 1));
    assert_eq!(diff.changes(), ["1 value has no partner"]);
}

#[test]
fn cells_and_axes_of_one_side_are_told() {
    let text = testing::STUDY.replace("[5, 50]", "[5, 500]");
    let diff = super::diff(&results(study(), base), &results(testing::study(&text), base), Metrics::Named);
    assert_eq!(diff.only_first, ["cubic, 50", "newreno, 50"]);
    assert_eq!(diff.only_second, ["cubic, 500", "newreno, 500"]);
    assert_eq!(diff.comparisons.len(), 2);
    assert!(diff.is_change());

    // An axis of a single point is no hindrance.
    let text = format!("{}[[axes]]\nname = \"loss\"\nkey = \"per\"\nvalues = [0]\n", testing::STUDY);
    let diff = super::diff(&results(study(), base), &results(testing::study(&text), base), Metrics::Named);
    assert_eq!(diff.notes, ["the axis `loss` is in the second results alone"]);
    assert_eq!((diff.comparisons.len(), diff.only_first.len(), diff.only_second.len()), (4, 0, 0));
}

#[test]
fn only_what_is_asked_for() {
    let (first, second) = (results(study(), base), results(study(), base));
    let only = diff(&first, &second, Metrics::Only(&["other".to_owned()]));
    assert!(only.comparisons.iter().all(|comparison| comparison.metric == "other"));
    assert_eq!(only.comparisons.len(), 4);
}
