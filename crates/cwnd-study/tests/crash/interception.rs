//! Tests of the test: the simulated disk sees what SQLite and the standard library do with files.

use crate::SEEDS;
use crate::disk::{self, Faults};
use crate::model::Maker;
use cwnd_study::{Store, StoreErrorKind, StoredState, trace_file};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Creates an empty store on a simulated disk. Returns its directory, too, which is removed with the first value.
fn store_on_disk() -> (TempDir, PathBuf, Store, Maker) {
    let directory = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(directory.path()).unwrap();
    disk::mount(&root, 1);
    let store = Store::create(&root).unwrap();
    (directory, root, store, Maker::new(SEEDS))
}

/// The faults reach the files of SQLite and of the standard library.
#[test]
fn calls_are_intercepted() {
    let (_directory, _root, mut store, mut maker) = store_on_disk();
    disk::with(|disk| disk.faults.io_errors = 1_000);
    let error = store.traces().write(maker.key(0, 1), &maker.scenario(0, 1), maker.trace(1)).unwrap_err();
    assert!(error.reason.contains("Input/output error"), "{error}");
    let error = store.put(&maker.done(0, 1, None).new).unwrap_err();
    assert!(error.reason.starts_with("the disk failed or is full"), "{error}");
    disk::with(|disk| disk.faults = Faults { full: 1_000, ..Faults::default() });
    let error = store.put(&maker.done(0, 1, None).new).unwrap_err();
    assert!(error.reason.starts_with("the disk is full"), "{error}");
    let error = store.keep_study(&maker.study(10)).unwrap_err();
    assert!(error.reason.contains("No space left"), "{error}");
    disk::with(|disk| disk.switch_off());
    drop(store);
    disk::unmount();
}

/// Errors of reads and of mappings reach SQLite and the standard library.
#[test]
fn reads_and_mappings_are_intercepted() {
    let (_directory, root, mut store, mut maker) = store_on_disk();
    let trace = store.traces().write(maker.key(0, 1), &maker.scenario(0, 1), maker.trace(1)).unwrap();
    let digest = trace.digest;
    let run = maker.done(0, 1, Some(trace));
    store.put(&run.new).unwrap();
    drop(store);
    // A reader that cannot map the file of locks reads a database without a log as it is.
    for (faults, opens, creates) in [
        (Faults { read_errors: 1_000, ..Faults::default() }, false, false),
        (Faults { map_errors: 1_000, ..Faults::default() }, true, false),
        (Faults { short_reads: 1_000, ..Faults::default() }, true, true),
    ] {
        disk::with(|disk| disk.faults = faults);
        assert_eq!(
            (Store::open(&root).is_ok(), Store::create(&root).is_ok()),
            (opens, creates),
            "{faults:?}"
        );
    }
    disk::with(|disk| disk.faults = Faults::default());
    let store = Store::open(&root).unwrap();
    let samples = |store: &Store| match store.get(run.key).unwrap().unwrap().state {
        StoredState::Done { trace: Some(trace), .. } => trace.samples,
        other => panic!("{other:?}"),
    };
    let there = samples(&store);
    disk::with(|disk| disk.faults.read_errors = 1_000);
    let error = there.read().unwrap_err();
    assert_eq!(Some(&*error.path), there.path());
    assert!(error.reason.contains("Input/output error"), "{error}");
    disk::with(|disk| disk.faults = Faults { short_reads: 1_000, ..Faults::default() });
    assert_eq!(trace_file::digest(&samples(&store).read().unwrap()), digest);
    disk::unmount();
}

/// Errors of calls that open files, and that ask for their types and sizes, reach SQLite and the standard library. Each is reported as
/// what the system said.
#[test]
fn opens_and_stats_are_intercepted() {
    let (_directory, root, mut store, mut maker) = store_on_disk();
    let trace = store.traces().write(maker.key(0, 1), &maker.scenario(0, 1), maker.trace(1)).unwrap();
    let run = maker.done(0, 1, Some(trace));
    store.put(&run.new).unwrap();
    drop(store);
    for faults in [
        Faults { open_errors: 1_000, ..Faults::default() },
        Faults { stat_errors: 1_000, ..Faults::default() },
    ] {
        for open in [Store::open, Store::create] {
            disk::with(|disk| disk.faults = faults);
            let error = open(&root).map(drop).unwrap_err();
            assert_eq!(error.kind, StoreErrorKind::Unwritable, "{error}");
            disk::with(|disk| disk.faults = Faults::default());
            let store = open(&root).unwrap();
            let state = |store: &Store| store.get(run.key).map(|run| run.unwrap().state);
            assert!(matches!(state(&store), Ok(StoredState::Done { .. })));
            disk::with(|disk| disk.faults = faults);
            match state(&store) {
                // The database is open, and its trace is not.
                Ok(StoredState::Unusable(reason)) => assert!(reason.contains("cannot be read ("), "{reason}"),
                // SQLite asks for the size of the database.
                Err(error) if faults.stat_errors > 0 => assert_eq!(error.kind, StoreErrorKind::Unwritable),
                other => panic!("{other:?}"),
            }
            let written = store.traces().write(maker.key(0, 2), &maker.scenario(0, 2), maker.trace(2));
            let error = written.unwrap_err();
            assert!(error.reason.contains("(os error "), "{error}");
        }
    }
    let counts = disk::unmount().counts;
    assert!(counts.open_errors > 0 && counts.stat_errors > 0, "{counts:?}");
}

/// A mapped file whose disk fails kills the process (SIGBUS). SQLite maps the file that coordinates processes, which is made
/// again if it is lost, and neither the database nor its log.
#[test]
fn sqlite_maps_neither_the_database_nor_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(directory.path()).unwrap();
    let mut store = Store::create(&root).unwrap();
    let mut maker = Maker::new(SEEDS);
    store.put(&maker.done(0, 1, None).new).unwrap();
    let reader = Store::open(&root).unwrap();
    assert!(reader.get(maker.key(0, 1)).unwrap().is_some());
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let root = root.to_string_lossy();
    let mapped: BTreeSet<&str> =
        maps.lines().filter_map(|line| Some(line.split_once(&*root)?.1.trim_start_matches('/'))).collect();
    assert_eq!(mapped, BTreeSet::from(["results.sqlite-shm"]));
}
