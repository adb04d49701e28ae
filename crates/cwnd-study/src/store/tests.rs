use super::*;
use crate::testing::{Toy, traced};
use cwnd_scenario::Engine;
use tempfile::TempDir;

struct Fixture {
    directory: TempDir,
    scenario: Scenario,
    outcome: Outcome,
    key: RunKey,
}

fn fixture() -> Fixture {
    let scenario = traced().scenario(0, 0);
    Fixture {
        directory: tempfile::tempdir().unwrap(),
        outcome: Toy::default().run(&scenario).unwrap(),
        key: RunKey::of(&Toy::default(), &scenario),
        scenario,
    }
}

impl Fixture {
    fn store(&self) -> Store {
        Store::create(self.directory.path()).unwrap()
    }

    fn done(&self) -> NewRun {
        let counts = encode(&self.scenario, &self.outcome).unwrap();
        let sampled = Some([("cwnd_max".to_owned(), 0.1), ("x".to_owned(), -0.0)].into());
        NewRun { content: NewContent::Done { counts, sampled, trace: None }, cpu_s: 0.25 }
    }

    fn state(&self, store: &Store) -> StoredState {
        store.get(self.key, &self.scenario).unwrap().expect("it was stored").state
    }

    /// Change the row behind the store's back.
    fn meddle(&self, sql: &str) {
        let connection = Connection::open(self.directory.path().join(DATABASE)).unwrap();
        assert_eq!(connection.execute(sql, []).unwrap(), 1);
    }

    fn error(&self) -> (StoreErrorKind, String) {
        let error = Store::create(self.directory.path()).unwrap_err();
        assert_eq!(error.path, self.directory.path().join(DATABASE));
        let reading = Store::open(self.directory.path());
        assert!(reading.is_err() || error.kind == StoreErrorKind::Damaged, "{reading:?}");
        (error.kind, error.reason)
    }
}

const FAILED: NewRun = NewRun { content: NewContent::Failed(String::new()), cpu_s: 0.0 };

#[test]
fn what_is_stored_is_there() {
    let fixture = fixture();
    let mut store = fixture.store();
    assert_eq!(store.get(fixture.key, &fixture.scenario).unwrap(), None);
    store.put(fixture.key, &fixture.done()).unwrap();
    drop(store);
    let store = Store::open(fixture.directory.path()).unwrap();
    let row = store.get(fixture.key, &fixture.scenario).unwrap().unwrap();
    assert_eq!((row.cpu_s, row.version.as_str()), (0.25, env!("CARGO_PKG_VERSION")));
    let StoredState::Done { outcome, sampled, trace } = row.state else { panic!("{row:?}") };
    assert_eq!(*outcome, Outcome { trace: None, ..fixture.outcome });
    assert_eq!(
        sampled.iter().map(|(k, v)| (k.as_str(), v.to_bits())).collect::<Vec<_>>(),
        [("cwnd_max", 0.1f64.to_bits()), ("x", (-0.0f64).to_bits())]
    );
    assert_eq!(trace, None);
}

#[test]
fn a_failure_does_not_take_the_place_of_what_was_run() {
    let fixture = fixture();
    let mut store = fixture.store();
    store.put(fixture.key, &FAILED).unwrap();
    assert_eq!(fixture.state(&store), StoredState::Failed(String::new()));
    store.put(fixture.key, &fixture.done()).unwrap();
    store.put(fixture.key, &FAILED).unwrap();
    assert!(matches!(fixture.state(&store), StoredState::Done { .. }));
}

#[test]
fn a_row_that_was_written_over_is_noticed() {
    for meddling in [
        "UPDATE runs SET content = zeroblob(length(content))",
        "UPDATE runs SET state = 1",
        "UPDATE runs SET sampled = NULL",
        "UPDATE runs SET trace = zeroblob(64)",
        "UPDATE runs SET checksum = checksum + 1",
    ] {
        let fixture = fixture();
        fixture.store().put(fixture.key, &fixture.done()).unwrap();
        fixture.meddle(meddling);
        let state = fixture.state(&fixture.store());
        assert_eq!(state, StoredState::Unusable("its row in the store is damaged".to_owned()), "{meddling}");
    }
}

#[test]
fn metrics_of_another_definition_are_not_used() {
    let fixture = fixture();
    let mut new = fixture.done();
    let mut store = fixture.store();
    store.put(fixture.key, &new).unwrap();
    // As if an older version had written it: seal the row with another version of the metrics.
    let NewContent::Done { counts, sampled, .. } = &mut new.content else { unreachable!() };
    let mut old = sampled::encode(sampled.as_ref().unwrap());
    old[0] += 1;
    let sealed = Sealed { state: DONE, content: counts.clone(), sampled: Some(old), trace: None };
    let sql = "UPDATE runs SET sampled = ?1, checksum = ?2";
    store.connection.execute(sql, params![sealed.sampled, sealed.checksum(fixture.key)]).unwrap();
    let state = fixture.state(&store);
    assert_eq!(state, StoredState::Unusable("the metrics made from samples have changed since".to_owned()));
}

#[test]
fn what_others_store_is_seen() {
    let fixture = fixture();
    let (mut ours, mut theirs) = (fixture.store(), fixture.store());
    ours.put(RunKey([1; 32]), &FAILED).unwrap();
    let mut cursor = ours.cursor().unwrap();
    assert!(ours.stored_since(&mut cursor).unwrap().is_empty());
    theirs.put(RunKey([2; 32]), &FAILED).unwrap();
    theirs.put(fixture.key, &fixture.done()).unwrap();
    assert_eq!(ours.stored_since(&mut cursor).unwrap(), [RunKey([2; 32]), fixture.key]);
    assert!(ours.stored_since(&mut cursor).unwrap().is_empty());
}

#[test]
fn the_study_is_kept() {
    let fixture = fixture();
    let mut store = fixture.store();
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
    assert_eq!(fs::read_to_string(fixture.directory.path().join("study.toml")).unwrap(), study.text);
}

/// A store of version 1, whose studies had no scale, is read, and brought up to date when it is written to.
#[test]
fn a_store_of_an_earlier_version_is_brought_up_to_date() {
    let fixture = fixture();
    let study = KeptStudy {
        name: "a".to_owned(),
        text: String::new(),
        scale: RunScale::Paper,
        repeats: 1,
        keys: vec![fixture.key],
        provenance: Provenance::default(),
    };
    fixture.store().keep_study(&study).unwrap();
    let path = fixture.directory.path().join(DATABASE);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("ALTER TABLE study DROP COLUMN scale; PRAGMA user_version = 1").unwrap();
    drop(connection);
    assert_eq!(Store::open(fixture.directory.path()).unwrap().study().unwrap().as_ref(), Some(&study));
    let mut store = fixture.store();
    assert_eq!(store.study().unwrap().as_ref(), Some(&study));
    let quick = KeptStudy { scale: RunScale::Quick, ..study };
    store.keep_study(&quick).unwrap();
    assert_eq!(store.study().unwrap(), Some(quick));
    let version = |connection: &Connection| {
        connection.pragma_query_value(None, "user_version", |row| row.get::<_, i32>(0)).unwrap()
    };
    assert_eq!(version(&Connection::open(&path).unwrap()), 2);
}

#[test]
fn files_that_a_study_names_are_kept_with_it() {
    let (fixture, elsewhere) = (fixture(), tempfile::tempdir().unwrap());
    let trace = elsewhere.path().join("a.trace");
    fs::write(&trace, "2\n5\n10\n").unwrap();
    let text =
        "title = \"A\"\nquestion = \"B\"\n[scenario]\nalgorithm = \"cubic\"\nrate-trace = \"a.trace\"\n";
    let file = elsewhere.path().join("a.toml");
    let study = crate::Study::parse("a", &file.display().to_string(), text, &|_| Ok(())).unwrap();
    let mut store = fixture.store();
    store.keep_inputs(&study).unwrap();
    store
        .keep_study(&KeptStudy {
            name: "a".to_owned(),
            text: text.to_owned(),
            scale: RunScale::Paper,
            repeats: 1,
            keys: vec![fixture.key],
            provenance: Provenance::default(),
        })
        .unwrap();
    // The study is whole without the file, and does not see that it has changed.
    fs::write(&trace, "7\n").unwrap();
    assert_eq!(crate::Results::study(&store).unwrap(), study);
    store.keep_inputs(&study).unwrap();
    fs::remove_dir_all(fixture.directory.path().join("inputs")).unwrap();
    let error = crate::Results::study(&store).unwrap_err().to_string();
    assert!(error.contains("which was kept of `a.trace`"), "{error}");
}

#[test]
fn nothing_is_not_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let error = Store::open(directory.path()).unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Missing);
    assert!(error.to_string().ends_with("there are no results; `cwnd run STUDY --out DIR` makes them"));
    assert!(fs::read_dir(directory.path()).unwrap().next().is_none(), "reading makes nothing");
    // A process that was killed at the very beginning leaves an empty file.
    fs::write(directory.path().join(DATABASE), "").unwrap();
    assert_eq!(Store::open(directory.path()).unwrap_err().kind, StoreErrorKind::Missing);
    Store::create(directory.path()).unwrap();
    Store::open(directory.path()).unwrap();
}

#[test]
fn another_version_is_refused() {
    let fixture = fixture();
    drop(fixture.store());
    let connection = Connection::open(fixture.directory.path().join(DATABASE)).unwrap();
    connection.pragma_update(None, "user_version", 3).unwrap();
    drop(connection);
    let (kind, reason) = fixture.error();
    assert_eq!(kind, StoreErrorKind::Foreign);
    assert_eq!(
        reason,
        "it was made by another version of cwnd (its format is 3, this version's is 2); use that version, or choose \
         another directory"
    );
}

#[test]
fn many_may_begin_a_store_at_once() {
    for _ in 0..40 {
        let fixture = fixture();
        let all_at_once = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    all_at_once.wait();
                    fixture.store();
                });
            }
        });
    }
}

#[test]
fn what_is_no_database_or_anothers_is_refused_and_left_alone() {
    let fixture = fixture();
    let path = fixture.directory.path().join(DATABASE);
    let text = "no database at all; ".repeat(400);
    fs::write(&path, &text).unwrap();
    let no_database = "it is no SQLite database; choose another directory";
    assert_eq!(fixture.error(), (StoreErrorKind::Foreign, no_database.to_owned()));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);

    fs::remove_file(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE photos (name TEXT)").unwrap();
    drop(connection);
    let anothers = "it is another program's database; choose another directory";
    assert_eq!(fixture.error(), (StoreErrorKind::Foreign, anothers.to_owned()));
}

#[test]
fn a_torn_page_is_found_before_anything_is_written() {
    let fixture = fixture();
    let mut store = fixture.store();
    for i in 0..60u8 {
        store.put(RunKey([i; 32]), &fixture.done()).unwrap();
    }
    drop(store);
    let path = fixture.directory.path().join(DATABASE);
    let whole = fs::read(&path).unwrap();
    const PAGE: usize = 1024;
    let pages = whole.len() / PAGE;
    assert!(pages > 8);
    let usable = |store: &Store| {
        (0..60u8)
            .filter(|i| {
                let row = store.get(RunKey([*i; 32]), &fixture.scenario);
                matches!(row, Ok(Some(StoredRun { state: StoredState::Done { .. }, .. })))
            })
            .count()
    };
    let mut noticed = 0;
    for page in 1..pages {
        // The second half of the page is lost.
        let mut torn = whole.clone();
        torn[page * PAGE + PAGE / 2..(page + 1) * PAGE].fill(0x5a);
        fs::write(&path, &torn).unwrap();
        match Store::create(fixture.directory.path()) {
            Err(error) => {
                assert_eq!(error.kind, StoreErrorKind::Damaged, "page {page}: {error}");
                assert!(error.reason.contains("Nothing has been changed"), "{error}");
                assert_eq!(fs::read(&path).unwrap(), torn, "page {page}");
                noticed += 1;
            }
            // It was half empty.
            Ok(store) => assert_eq!(usable(&store), 60, "page {page}"),
        }
    }
    assert!(noticed > pages / 2, "{noticed} of {pages} pages noticed");

    // One bit of each row: SQLite sees nothing wrong with it.
    let NewContent::Done { counts, .. } = fixture.done().content else { unreachable!() };
    let mut torn = whole.clone();
    for place in (0..whole.len() - counts.len()).filter(|i| whole[*i..].starts_with(&counts)) {
        torn[place + counts.len() / 2] ^= 4;
    }
    fs::write(&path, &torn).unwrap();
    assert_eq!(usable(&fixture.store()), 0);
}

/// A view over an endless query would hang whoever reads it.
#[test]
fn a_store_whose_tables_compute_something_is_refused_and_not_asked() {
    const COLUMNS: &str =
        "1 AS id, 'a' AS name, '' AS text, 1 AS repeats, x'' AS keys, '' AS version, '' AS source_commit,
        '' AS command, sum(x) AS engine, 'paper' AS scale";
    let view = format!(
        "DROP TABLE study; CREATE VIEW study AS WITH RECURSIVE endless(x) AS (SELECT 1 UNION ALL SELECT 1 FROM endless)
         SELECT {COLUMNS} FROM endless"
    );
    let computed =
        "DROP TABLE runs; CREATE TABLE runs (key BLOB, state INTEGER AS (length(hex(key))))".to_owned();
    for (sql, table) in [(view, "study"), (computed, "runs"), ("DROP TABLE study".to_owned(), "study")] {
        let fixture = fixture();
        drop(fixture.store());
        let connection = Connection::open(fixture.directory.path().join(DATABASE)).unwrap();
        connection.execute_batch(&sql).unwrap();
        drop(connection);
        let reason =
            format!("its `{table}` is no ordinary table, so cwnd did not make it; choose another directory");
        assert_eq!(fixture.error(), (StoreErrorKind::Foreign, reason));
    }
}

/// A trigger would run with every row that is stored.
#[test]
fn triggers_of_a_store_do_not_run() {
    let fixture = fixture();
    drop(fixture.store());
    let connection = Connection::open(fixture.directory.path().join(DATABASE)).unwrap();
    let trigger = "CREATE TRIGGER wipe AFTER INSERT ON runs BEGIN DELETE FROM runs; END";
    connection.execute_batch(trigger).unwrap();
    drop(connection);
    let mut store = fixture.store();
    store.put(fixture.key, &fixture.done()).unwrap();
    assert!(matches!(fixture.state(&store), StoredState::Done { .. }));
}
