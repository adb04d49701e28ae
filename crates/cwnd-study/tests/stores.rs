//! Stores that other versions of cwnd have written.

use cwnd_study::{Results, RunState, Store, StoreErrorKind};
use std::{fs, path::Path};
use tempfile::TempDir;

/// A copy, since SQLite may create files next to a database that it reads.
fn copy_of(fixture: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture);
    fs::copy(from.join("results.sqlite"), directory.path().join("results.sqlite")).unwrap();
    directory
}

/// Up to version 2 counts were distances from what the program of that time expected.
#[test]
fn earlier_schemas_are_refused_with_the_command_that_recreates_them() {
    for version in [1, 2] {
        let directory = copy_of(&format!("schema-{version}"));
        let (path, file) = (directory.path().display(), directory.path().join("results.sqlite"));
        let before = fs::read(&file).unwrap();
        for result in [Store::open(directory.path()), Store::create(directory.path())] {
            let error = result.unwrap_err();
            assert_eq!(error.kind, StoreErrorKind::Foreign);
            assert_eq!(
                error.reason,
                format!(
                    "it was made by an earlier version of cwnd (its schema is version {version}, this program's is \
                     3), and its counts cannot be read any more; move the directory away and run the study again: \
                     `mv {path} {path}.old && cwnd run two.toml --out {path}`"
                )
            );
        }
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

/// A release never loses the results of the one before it: if this fails, a default or the format has changed, and a user's
/// results of version 3 are refused.
#[test]
fn the_first_store_of_schema_3_is_read() {
    let directory = copy_of("schema-3");
    let results = Results::load(directory.path()).unwrap();
    let values = |metric: &str| {
        let value = |run: &cwnd_study::RunResult| match &run.state {
            RunState::Done(metrics) => metrics[metric],
            other => panic!("{other:?}"),
        };
        results.runs.iter().map(value).collect::<Vec<_>>()
    };
    assert_eq!(values("throughput_bps"), [6227824.0, 6698224.0]);
    assert_eq!(values("rtt_mean_s"), [0.30427952211334824, 0.30096843705581394]);
    assert_eq!(values("packets_sent"), [6281.0, 6496.0]);
}
