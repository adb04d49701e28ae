//! The store's decoding: a run's counts, and a whole database file. The first byte chooses.

use cwnd_scenario::{Identity, Scenario};
use cwnd_study::store::{Counts, CountsForm, NewContent, NewRun};
use cwnd_study::{RunSpec, ScenarioText, Store, StoredState, Study};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

const STUDY: &str =
    "title = \"a\"\nquestion = \"b?\"\n[scenario]\nalgorithm = \"cubic\"\nduration = \"1 s\"\n";

static SCENARIO: LazyLock<Arc<Scenario>> = LazyLock::new(|| {
    let study = Study::parse("fuzz", "fuzz.toml", STUDY, &|_| Ok(())).expect("the study is right");
    Arc::new(study.scenario(0, 0))
});

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder can be made").keep();
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
});

pub fn fuzz(data: &[u8]) {
    match data.split_first() {
        Some((0, counts)) => read_counts(counts),
        Some((_, file)) => read_file(file),
        None => {}
    }
}

/// Stores the bytes as the counts of a run, under the right checksum, and reads them.
fn read_counts(counts: &[u8]) {
    let scenario = &*SCENARIO;
    let identity = Identity::new("fuzz", []);
    let spec = RunSpec { identity, scenario: ScenarioText::of(scenario), seed: scenario.seed };
    let key = spec.key();
    let mut store = Store::in_memory();
    let counts = Counts::Encoded(counts.to_vec());
    let content = NewContent::Done { counts, sampled: None, trace: None };
    store.put(&NewRun { key, spec, content, cpu_s: 0.0 }).expect("memory is not full");
    let run = store.get(key).expect("memory can be read").expect("it was stored");
    if let StoredState::Done { outcome, .. } = run.state {
        let again = Counts::new(CountsForm::Encoded, scenario, (*outcome).clone());
        let again = again.expect("what was read can be written");
        assert!(again.encoded().is_ok_and(|bytes| !bytes.is_empty()));
        // Metrics of any counts are numbers or absent, never a panic.
        cwnd_metrics::values(scenario, &outcome);
    }
}

/// Opens the bytes as a database.
fn read_file(file: &[u8]) {
    let folder = &*FOLDER;
    for name in ["results.sqlite-wal", "results.sqlite-shm", "results.sqlite-journal"] {
        let _ = fs::remove_file(folder.join(name));
    }
    fs::write(folder.join("results.sqlite"), file).expect("the folder takes a file");
    let Ok(store) = Store::open(folder) else { return };
    let keys = match store.study() {
        Ok(Some(study)) => study.keys,
        Ok(None) => Vec::new(),
        Err(error) => {
            assert!(!error.reason.is_empty());
            Vec::new()
        }
    };
    let stored = store.stored_since(&mut 0).unwrap_or_default();
    for key in keys.iter().chain(&stored).take(20) {
        if let Ok(Some(run)) = store.get(*key)
            && let StoredState::Done { spec, .. } = run.state
        {
            assert_eq!(spec.key(), *key, "a run is under the key of another");
        }
    }
    let _ = store.count(&stored);
}
