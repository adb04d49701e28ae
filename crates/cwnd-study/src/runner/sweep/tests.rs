use super::*;
use crate::{
    Results, RunState, Study,
    export::{self, Format},
    runner::{self, Limits, plan, tests::kept},
    testing::{STUDY, Toy, simulator, study, traced},
};
use cwnd_scenario::Engine;
use std::sync::{Arc, atomic::AtomicBool};
use tempfile::TempDir;

/// What one machine makes of a study, as a canonical export.
fn alone(study: &Study) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::create(directory.path()).unwrap();
    let engines = simulator(Arc::default());
    let plan = plan(&engines, study, &store).unwrap();
    store.keep_study(&kept(study, &plan)).unwrap();
    let limits = Limits { threads: 2, memory: 1e9 };
    runner::run(&engines, &plan, &mut store, limits, &mut (), &AtomicBool::new(false)).unwrap();
    canonical(&store, study)
}

fn canonical(store: &Store, study: &Study) -> String {
    let mut text = Vec::new();
    export::write(store, study.clone(), Format::Csv, true, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// A driver.
struct Driver {
    _directory: TempDir,
    store: Store,
    sweep: Sweep,
}

impl Driver {
    fn new(study: &Study) -> Driver {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::create(directory.path()).unwrap();
        let sweep = begin(study, &mut store);
        Driver { _directory: directory, store, sweep }
    }

    fn put(&mut self, results: &[u8]) -> Result<(), SweepError> {
        self.sweep.put(&mut self.store, results)
    }

    /// All batches that are left, each of about one run.
    fn batches(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.sweep.next_batch(1e-9)).collect()
    }
}

fn begin(study: &Study, store: &mut Store) -> Sweep {
    let engines = simulator(Arc::default());
    let plan = plan(&engines, study, store).unwrap();
    store.keep_study(&kept(study, &plan)).unwrap();
    Sweep::new(&engines, &plan, store, 3).unwrap()
}

fn work(batch: &[u8]) -> Vec<u8> {
    batch::run(&Toy::default(), batch).unwrap()
}

#[test]
fn batches_in_any_order_give_the_bytes_of_one_machine() {
    let study = traced();
    let mut driver = Driver::new(&study);
    let mut batches = driver.batches();
    assert_eq!((batches.len(), driver.sweep.out()), (12, 12));
    batches.reverse();
    for batch in &batches {
        driver.put(&work(batch)).unwrap();
    }
    let ran = driver.sweep.summary();
    assert_eq!((ran.done, ran.missing, ran.stopped, driver.sweep.ignored()), (12, 12, false, 0));
    assert_eq!(canonical(&driver.store, &study), alone(&study));
    // Nothing is left, and traces are there.
    assert!(begin(&study, &mut driver.store).next_batch(1.0).is_none());
    let results = Results::of(study.clone(), &driver.store).unwrap();
    let traces: Vec<_> = results.runs.iter().filter_map(|run| run.read_trace().unwrap()).collect();
    let expected = Toy::default().run(&study.scenario(1, 0)).unwrap().trace.unwrap();
    assert_eq!((traces.len(), &*traces[0]), (4, &expected));
}

#[test]
fn a_store_in_memory_takes_traces_too() {
    let study = traced();
    let mut store = Store::in_memory();
    let mut sweep = begin(&study, &mut store);
    while let Some(batch) = sweep.next_batch(1.0) {
        sweep.put(&mut store, &work(&batch)).unwrap();
    }
    assert_eq!(canonical(&store, &study), alone(&study));
}

#[test]
fn a_second_copy_is_ignored() {
    let study = study(STUDY);
    let mut driver = Driver::new(&study);
    let batches = driver.batches();
    for batch in batches.iter().chain(&batches) {
        driver.put(&work(batch)).unwrap();
    }
    assert_eq!((driver.sweep.summary().done, driver.sweep.ignored()), (12, 12));
    assert_eq!(canonical(&driver.store, &study), alone(&study));
}

#[test]
fn what_another_driver_has_stored_is_not_handed_out() {
    let study = study(STUDY);
    let mut driver = Driver::new(&study);
    let first = driver.sweep.next_batch(1e-9).unwrap();
    let mut other = begin(&study, &mut driver.store);
    while let Some(batch) = other.next_batch(1.0) {
        other.put(&mut driver.store, &work(&batch)).unwrap();
    }
    std::thread::sleep(LOOK);
    driver.put(&work(&first)).unwrap();
    let ran = driver.sweep.summary();
    assert_eq!((ran.by_others, ran.done, ran.stopped, driver.sweep.ignored()), (12, 0, false, 1));
    assert!(driver.sweep.next_batch(1.0).is_none());
}

#[test]
fn a_killed_sweep_goes_on_where_it_was() {
    let study = study(STUDY);
    let mut driver = Driver::new(&study);
    for _ in 0..5 {
        let batch = driver.sweep.next_batch(1e-9).unwrap();
        driver.put(&work(&batch)).unwrap();
    }
    driver.sweep.next_batch(1.0).unwrap();
    assert!(driver.sweep.summary().stopped);
    driver.sweep = begin(&study, &mut driver.store);
    let batches = driver.batches();
    assert_eq!(batches.len(), 7);
    batches.iter().for_each(|batch| driver.put(&work(batch)).unwrap());
    assert_eq!(canonical(&driver.store, &study), alone(&study));
}

#[test]
fn failed_runs_are_results() {
    let study = study(STUDY);
    let mut driver = Driver::new(&study);
    let bad = Toy { fails_at: Some(2), panics_at: Some(3), ..Toy::default() };
    for batch in driver.batches() {
        driver.put(&batch::run(&bad, &batch).unwrap()).unwrap();
    }
    assert_eq!(driver.sweep.summary().failures.len(), 8);
    let results = Results::of(study, &driver.store).unwrap();
    assert_eq!(results.runs[1].state, RunState::Failed("the seed is no good".to_owned()));
    let RunState::Failed(reason) = &results.runs[2].state else { panic!("it should have failed") };
    assert!(reason.starts_with("it panicked: assertion `left != right` failed: the seed is bad"), "{reason}");
}

#[test]
fn a_worker_with_another_version_refuses() {
    let mut driver = Driver::new(&study(STUDY));
    let batches = driver.batches();
    let other = Toy { newreno: 7, ..Toy::default() };
    let refusals: Vec<_> = batches.iter().filter_map(|batch| batch::run(&other, batch).err()).collect();
    assert_eq!(refusals.len(), 6);
    assert_eq!(
        refusals[0].to_string(),
        "of `toy` the driver has version 0 and this worker 7: install the same version on both"
    );
    let newer = replaced(&batches[0], r#""format":1"#, r#""format":9"#);
    let message = batch::run(&Toy::default(), &newer).unwrap_err().to_string();
    assert!(
        message.ends_with("install the same version of cwnd on the driver and on all workers"),
        "{message}"
    );
    let results = replaced(&work(&batches[0]), r#""version":"0"#, r#""version":"9"#);
    let error = driver.put(&results).unwrap_err();
    assert!(error.to_string().starts_with("results of cwnd 9"), "{error}");
    // A scenario that was changed on the way gives another key.
    let changed = replaced(&batches[0], r#""traced""#, r#""traced""#);
    assert!(batch::run(&Toy::default(), &changed).is_ok());
    let seed = replaced(&batches[0], r#""seed":1,"key""#, r#""seed":9,"key""#);
    let seed =
        if seed == batches[0] { replaced(&seed, r#""seed":2,"key""#, r#""seed":9,"key""#) } else { seed };
    let seed =
        if seed == batches[0] { replaced(&seed, r#""seed":3,"key""#, r#""seed":9,"key""#) } else { seed };
    let message = batch::run(&Toy::default(), &seed).unwrap_err().to_string();
    assert!(message.contains("another run of what the driver asked for (seed 9)"), "{message}");
}

#[test]
fn bytes_that_are_no_batch_are_refused() {
    let mut driver = Driver::new(&study(STUDY));
    let results = work(&driver.batches()[0]);
    for length in 0..results.len() {
        assert!(matches!(driver.put(&results[..length]), Err(SweepError::Batch(_))), "{length} bytes");
    }
    assert!(batch::run(&Toy::default(), b"").is_err());
    assert!(batch::run(&Toy::default(), b"{}").is_err());
    driver.put(&results).unwrap();
    assert_eq!(driver.sweep.summary().done, 1);
}

#[test]
fn batches_have_the_time_that_is_asked_for() {
    // A run is planned with 10 us.
    let study = Study { repeats: 250, ..study(STUDY) };
    let mut driver = Driver::new(&study);
    let runs = |batch: &[u8]| String::from_utf8_lossy(batch).matches("\"key\"").count();
    // A quarter at first, when nothing is known.
    let batch = driver.sweep.next_batch(400e-6).unwrap();
    assert_eq!(runs(&batch), 10);
    // No worker gets more than half of what remains for it, so that all end together.
    let batch = driver.sweep.next_batch(1e9).unwrap();
    assert!((164..=165).contains(&runs(&batch)), "{}", runs(&batch));
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let place = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
    bytes
}
