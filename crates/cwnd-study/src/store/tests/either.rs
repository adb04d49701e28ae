//! What stores in a directory and stores in memory have in common.

use super::{Fixture, fixture};
use crate::store::*;

/// Does the same with a store in a directory and with one in memory.
fn in_either(test: impl Fn(&Fixture, Store)) {
    let fixture = fixture();
    test(&fixture, fixture.store());
    test(&fixture, Store::in_memory());
}

/// A run comes as the thread that did it has it, or encoded by another process.
#[test]
fn counts_are_the_same_whichever_form_they_come_in() {
    for form in [CountsForm::Encoded, CountsForm::Whole] {
        in_either(|fixture, mut store| {
            assert_eq!(store.get(fixture.key).unwrap(), None);
            let counts = fixture.counts(form, &fixture.outcome).unwrap();
            let sampled = Some([("x".to_owned(), -0.0)].into());
            let content = NewContent::Done { counts, sampled, trace: None };
            store.put(&NewRun { content, ..fixture.done() }).unwrap();
            let row = store.get(fixture.key).unwrap().unwrap();
            assert_eq!((row.cpu_s, row.version.as_str()), (0.25, env!("CARGO_PKG_VERSION")));
            let StoredState::Done { spec, scenario, outcome, sampled, trace } = row.state else { panic!() };
            assert_eq!((&*spec, &*scenario), (&fixture.spec, &fixture.scenario));
            assert_eq!(*outcome, Outcome { trace: None, ..fixture.outcome.clone() });
            assert_eq!(sampled["x"].to_bits(), (-0.0f64).to_bits());
            assert_eq!((sampled.len(), trace), (1, None));
        });
    }
}

/// The names of groups belong to the study.
#[test]
fn scenarios_have_no_labels() {
    for form in [CountsForm::Encoded, CountsForm::Whole] {
        in_either(|fixture, mut store| {
            let mut scenario = fixture.scenario.clone();
            scenario.flows[0].group = Some("bulk".to_owned());
            assert!(scenario.has_labels() && !fixture.scenario.has_labels());
            let counts = Counts::new(form, &Arc::new(scenario), fixture.outcome.clone()).unwrap();
            let content = NewContent::Done { counts, sampled: None, trace: None };
            store.put(&NewRun { content, ..fixture.done() }).unwrap();
            let StoredState::Done { scenario, .. } = fixture.state(&store) else { panic!() };
            assert_eq!(*scenario, fixture.scenario);
        });
    }
}

#[test]
fn each_repeat_has_its_own_seed() {
    in_either(|fixture, mut store| {
        let seeds = [7, 3, 7, 101];
        for seed in seeds {
            let scenario = Arc::new(Scenario { seed, ..fixture.scenario.clone() });
            let counts = Counts::new(store.counts_form(), &scenario, fixture.outcome.clone()).unwrap();
            let content = NewContent::Done { counts, sampled: None, trace: None };
            store.put(&NewRun { content, ..fixture.done_with_seed(seed) }).unwrap();
        }
        let mut other = fixture.scenario.clone();
        other.stack.payload += 400;
        let spec = RunSpec { scenario: crate::ScenarioText::of(&other), ..fixture.spec.clone() };
        let counts =
            Counts::new(store.counts_form(), &Arc::new(other.clone()), fixture.outcome.clone()).unwrap();
        let content = NewContent::Done { counts, sampled: None, trace: None };
        store.put(&NewRun { key: spec.key(), spec: spec.clone(), content, cpu_s: 0.0 }).unwrap();
        for seed in seeds {
            let StoredState::Done { scenario, .. } = fixture.get(&store, seed).state else { panic!() };
            assert_eq!(*scenario, Scenario { seed, ..fixture.scenario.clone() });
        }
        let StoredState::Done { scenario, .. } = store.get(spec.key()).unwrap().unwrap().state else {
            panic!()
        };
        assert_eq!(*scenario, other);
    });
}

#[test]
fn a_failure_does_not_take_the_place_of_what_was_run() {
    in_either(|fixture, mut store| {
        store.put(&fixture.failed("no luck")).unwrap();
        assert_eq!(fixture.state(&store), StoredState::Failed("no luck".to_owned()));
        store.put(&fixture.failed("none again")).unwrap();
        assert_eq!(fixture.state(&store), StoredState::Failed("none again".to_owned()));
        store.put(&fixture.done()).unwrap();
        store.put(&fixture.failed("no luck")).unwrap();
        assert!(matches!(fixture.state(&store), StoredState::Done { .. }));
    });
}

#[test]
fn what_cannot_be_read_is_not_used() {
    let fixture = fixture();
    let mut store = Store::in_memory();
    let content =
        NewContent::Done { counts: Counts::Encoded(b"nothing".to_vec()), sampled: None, trace: None };
    store.put(&NewRun { content, ..fixture.done() }).unwrap();
    let StoredState::Unusable(reason) = fixture.state(&store) else { panic!() };
    assert_eq!(reason, "its counts cannot be read (they are not compressed text)");
    store.put(&fixture.done()).unwrap();
    assert!(matches!(fixture.state(&store), StoredState::Done { .. }));
}

#[test]
fn runs_are_counted_by_what_came_of_them() {
    in_either(|fixture, mut store| {
        store.put(&fixture.failed("no reason")).unwrap();
        store.put(&fixture.done_with_seed(5)).unwrap();
        let keys = [5, 6, 5].map(|seed| fixture.spec_with_seed(seed).key());
        assert_eq!(store.count(&keys).unwrap(), RunCounts { done: 2, failed: 0 });
        assert_eq!(store.count(&[fixture.key, keys[0]]).unwrap(), RunCounts { done: 1, failed: 1 });
    });
}

#[test]
fn runs_are_told_in_the_order_in_which_they_were_stored() {
    in_either(|fixture, mut store| {
        store.put(&fixture.done_with_seed(101)).unwrap();
        let mut cursor = store.cursor().unwrap();
        assert!(store.stored_since(&mut cursor).unwrap().is_empty());
        store.put_all(&[fixture.done_with_seed(102), fixture.done(), fixture.done_with_seed(101)]).unwrap();
        let new = [fixture.spec_with_seed(102).key(), fixture.key];
        assert_eq!(store.stored_since(&mut cursor).unwrap(), new);
        assert!(store.stored_since(&mut cursor).unwrap().is_empty());
    });
}

#[test]
fn the_study_is_kept() {
    in_either(|fixture, mut store| {
        assert_eq!(store.study().unwrap(), None);
        let mut study = KeptStudy {
            name: "a/b".to_owned(),
            text: "title = \"β\"".to_owned(),
            scale: RunScale::Paper,
            repeats: 3,
            keys: vec![fixture.key, RunKey([7; 32])],
            provenance: Provenance { commit: Some("abc".to_owned()), ..Provenance::default() },
        };
        for repeats in [3, 4] {
            study.repeats = repeats;
            store.keep_study(&study).unwrap();
            assert_eq!(store.study().unwrap().as_ref(), Some(&study));
        }
    });
}
