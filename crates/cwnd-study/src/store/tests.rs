mod either;
mod foreign_tables;

use super::rows::{DONE, Sealed};
use super::*;
use crate::testing::{Toy, traced};
use crate::{ScenarioText, StoreErrorKind};
use cwnd_scenario::Engine;
use rusqlite::{Connection, params};
use std::fs;
use tempfile::TempDir;

struct Fixture {
    directory: TempDir,
    scenario: Scenario,
    outcome: Outcome,
    spec: RunSpec,
    key: RunKey,
}

/// The database behind a store.
fn connection(store: &Store) -> &Connection {
    let Contents::Rows(rows) = &store.contents else { panic!("{store:?}") };
    &rows.connection
}

fn encoded(scenario: &Scenario, outcome: &Outcome) -> Vec<u8> {
    columns::write_counts(scenario, outcome).unwrap()
}

fn fixture() -> Fixture {
    let scenario = traced().scenario(0, 0);
    let spec = RunSpec::new(&Toy::default(), &scenario);
    Fixture {
        directory: tempfile::tempdir().unwrap(),
        outcome: Toy::default().run(&scenario).unwrap(),
        key: spec.key(),
        spec,
        scenario,
    }
}

impl Fixture {
    fn store(&self) -> Store {
        Store::create(self.directory.path()).unwrap()
    }

    fn done(&self) -> NewRun {
        let counts = self.counts(CountsForm::Encoded, &self.outcome).unwrap();
        let sampled = Some([("cwnd_max".to_owned(), 0.1), ("x".to_owned(), -0.0)].into());
        let content = NewContent::Done { counts, sampled, trace: None };
        NewRun { key: self.key, spec: self.spec.clone(), content, cpu_s: 0.25 }
    }

    fn counts(&self, form: CountsForm, outcome: &Outcome) -> Result<Counts, String> {
        Counts::new(form, &Arc::new(self.scenario.clone()), outcome.clone())
    }

    /// The same of another seed.
    fn done_with_seed(&self, seed: u64) -> NewRun {
        let spec = self.spec_with_seed(seed);
        NewRun { key: spec.key(), spec, ..self.done() }
    }

    fn spec_with_seed(&self, seed: u64) -> RunSpec {
        RunSpec { seed, ..self.spec.clone() }
    }

    fn failed(&self, reason: &str) -> NewRun {
        let content = NewContent::Failed(reason.to_owned());
        NewRun { key: self.key, spec: self.spec.clone(), content, cpu_s: 0.0 }
    }

    fn get(&self, store: &Store, seed: u64) -> StoredRun {
        store.get(self.spec_with_seed(seed).key()).unwrap().expect("it was stored")
    }

    fn state(&self, store: &Store) -> StoredState {
        store.get(self.key).unwrap().expect("it was stored").state
    }

    /// Change the row behind the store's back.
    fn meddle(&self, sql: &str) {
        let connection = Connection::open(self.directory.path().join(DATABASE)).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
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

#[test]
fn what_is_stored_is_there() {
    let fixture = fixture();
    let mut store = fixture.store();
    assert_eq!(store.get(fixture.key).unwrap(), None);
    store.put(&fixture.done()).unwrap();
    drop(store);
    let store = Store::open(fixture.directory.path()).unwrap();
    let row = store.get(fixture.key).unwrap().unwrap();
    assert_eq!((row.cpu_s, row.version.as_str()), (0.25, env!("CARGO_PKG_VERSION")));
    let StoredState::Done { spec, scenario, outcome, sampled, trace } = row.state else { panic!("{row:?}") };
    assert_eq!((*spec, &*scenario), (fixture.spec, &fixture.scenario));
    assert_eq!(*outcome, Outcome { trace: None, ..fixture.outcome });
    assert_eq!(
        sampled.iter().map(|(k, v)| (k.as_str(), v.to_bits())).collect::<Vec<_>>(),
        [("cwnd_max", 0.1f64.to_bits()), ("x", (-0.0f64).to_bits())]
    );
    assert_eq!(trace, None);
}

#[test]
fn a_row_that_was_written_over_is_noticed_and_stored_again() {
    for meddling in [
        "UPDATE runs SET content = zeroblob(length(content))",
        "UPDATE runs SET state = 1",
        "UPDATE runs SET sampled = NULL",
        "UPDATE runs SET trace = zeroblob(64)",
        "UPDATE runs SET checksum = checksum + 1",
        "UPDATE runs SET seed = seed + 1",
        "UPDATE runs SET engine = replace(engine, '0', '1')",
        "UPDATE runs SET scenario = scenario + 1",
        "UPDATE scenarios SET text = zeroblob(length(text))",
        "DELETE FROM scenarios",
    ] {
        let fixture = fixture();
        fixture.store().put(&fixture.done()).unwrap();
        fixture.meddle(meddling);
        let mut store = fixture.store();
        let state = fixture.state(&store);
        assert_eq!(state, StoredState::Unusable("its row in the store is damaged".to_owned()), "{meddling}");
        store.put(&fixture.done()).unwrap();
        drop(store);
        assert!(matches!(fixture.state(&fixture.store()), StoredState::Done { .. }), "{meddling}");
    }
}

/// A whole row of another run, checksum included.
#[test]
fn a_row_under_the_key_of_another_run_is_noticed() {
    let damaged = "its row in the store is damaged: its scenario, engine and seed do not have its key";
    let of = |spec: &RunSpec| {
        let scenario = Scenario { seed: spec.seed, ..spec.scenario.parse().unwrap() };
        assert_eq!(ScenarioText::of(&scenario), spec.scenario);
    };
    let mut other_scenario = fixture().scenario;
    other_scenario.stack.payload += 400;
    let own = fixture().spec;
    let identity = cwnd_scenario::Identity::new("toy", [("toy", "1".to_owned())]);
    for other in [
        RunSpec { seed: own.seed + 1, ..own.clone() },
        RunSpec { identity, ..own.clone() },
        RunSpec { scenario: ScenarioText::of(&other_scenario), ..own.clone() },
    ] {
        of(&other);
        let fixture = fixture();
        let mut store = fixture.store();
        store.put(&NewRun { key: other.key(), spec: other, ..fixture.done() }).unwrap();
        let sql = "SELECT engine, seed, state, content, sampled, trace FROM runs";
        let sealed = connection(&store).query_row(sql, [], |row| {
            let (engine, seed, state) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Sealed { engine, seed, state, content: row.get(3)?, sampled: row.get(4)?, trace: row.get(5)? })
        });
        let checksum = sealed.unwrap().checksum(fixture.key);
        let sql = "UPDATE runs SET key = ?1, checksum = ?2";
        connection(&store).execute(sql, params![&fixture.key.0[..], checksum]).unwrap();
        assert_eq!(fixture.state(&store), StoredState::Unusable(damaged.to_owned()));
    }
}

/// Puts a row into the store as another version might have written it.
fn seal(fixture: &Fixture, content: Vec<u8>, sampled: Option<Vec<u8>>) -> Store {
    let mut store = fixture.store();
    store.put(&fixture.done()).unwrap();
    let engine = serde_json::to_string(&fixture.spec.identity).unwrap();
    let seed = fixture.spec.seed as i64;
    let sealed = Sealed { engine, seed, state: DONE, content, sampled, trace: None };
    let sql = "UPDATE runs SET content = ?1, sampled = ?2, checksum = ?3";
    let checksum = sealed.checksum(fixture.key);
    connection(&store).execute(sql, params![sealed.content, sealed.sampled, checksum]).unwrap();
    store
}

#[test]
fn metrics_of_another_definition_are_not_used() {
    let fixture = fixture();
    let counts = encoded(&fixture.scenario, &fixture.outcome);
    let text = columns::decompress(&columns::write_sampled(&BTreeMap::new())).unwrap();
    let version = cwnd_metrics::SAMPLED_VERSION;
    assert_eq!(text, format!(r#"{{"version":{version},"values":{{}}}}"#));
    let old = text.replace(&version.to_string(), &(version + 1).to_string());
    let state = fixture.state(&seal(&fixture, counts, Some(columns::compress(&old))));
    assert_eq!(state, StoredState::Unusable("the metrics made from samples have changed since".to_owned()));
}

#[test]
fn counts_of_another_format_or_scenario_are_not_used() {
    let fixture = fixture();
    let text = columns::decompress(&encoded(&fixture.scenario, &fixture.outcome)).unwrap();
    let versions = format!("; cwnd {0} stored it, and this is {0}", crate::VERSION);
    let mut fewer = fixture.outcome.clone();
    fewer.flows.pop();
    let mut fewer_flows = fixture.scenario.clone();
    fewer_flows.flows.pop();
    let fewer = columns::decompress(&encoded(&fewer_flows, &fewer)).unwrap();
    for (text, reason) in [
        (
            text.replace(r#""format":1"#, r#""format":2"#),
            "its counts have format 2, and this version reads 1",
        ),
        (text.replace("packets-sent", "packets-shipped"), "its counts cannot be read (unknown field"),
        (text[..text.len() / 2].to_owned(), "its counts cannot be read (EOF"),
        (fewer, "its counts cannot be read (they are of other flows and links)"),
    ] {
        let state = fixture.state(&seal(&fixture, columns::compress(&text), None));
        let StoredState::Unusable(said) = state else { panic!("{state:?}") };
        assert!(said.starts_with(reason) && said.ends_with(&versions), "{said}");
    }
}

/// Counts that are read back as others, or not at all, are not stored.
#[test]
fn an_outcome_that_does_not_fit_is_refused() {
    let fixture = fixture();
    let mut fewer = fixture.outcome.clone();
    fewer.flows.pop();
    for form in [CountsForm::Encoded, CountsForm::Whole] {
        let error = fixture.counts(form, &fewer).unwrap_err();
        assert!(error.starts_with("the engine answered with 1 flows and "), "{error}");
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let of_flow = |change: fn(&mut cwnd_scenario::FlowOutcome, f64)| {
                let mut outcome = fixture.outcome.clone();
                change(&mut outcome.flows[1], value);
                fixture.counts(form, &outcome)
            };
            let said = format!("the engine's counts cannot be stored: one of flow 2 is {value}");
            assert_eq!(of_flow(|flow, value| flow.cwnd_integral = value).unwrap_err(), said);
            assert_eq!(of_flow(|flow, value| flow.rtt_sum_s = value).unwrap_err(), said);
            assert_eq!(of_flow(|flow, value| flow.cwnd = value).unwrap_err(), said);
            // Where there is no threshold, it is infinite.
            let no_threshold = of_flow(|flow, value| flow.ssthresh = value);
            assert_eq!(no_threshold.err(), (value != f64::INFINITY).then_some(said));
            let mut outcome = fixture.outcome.clone();
            outcome.links[0].waiting_integral = value;
            let error = fixture.counts(form, &outcome).unwrap_err();
            assert_eq!(error, format!("the engine's counts cannot be stored: one of link 1 is {value}"));
        }
    }
}

#[test]
fn repeats_share_the_text_of_their_scenario() {
    let fixture = fixture();
    let mut store = fixture.store();
    for seed in 0..20 {
        store.put(&fixture.done_with_seed(seed)).unwrap();
    }
    let count = |table| {
        let sql = format!("SELECT count(*) FROM {table}");
        connection(&store).query_row(&sql, [], |row| row.get::<_, u32>(0)).unwrap()
    };
    assert_eq!((count("runs"), count("scenarios")), (20, 1));
    for seed in 0..20 {
        let state = store.get(fixture.spec_with_seed(seed).key()).unwrap().unwrap().state;
        let StoredState::Done { scenario, .. } = state else { panic!("{state:?}") };
        assert_eq!(*scenario, Scenario { seed, ..fixture.scenario.clone() });
    }
}

#[test]
fn what_others_store_is_seen() {
    let fixture = fixture();
    let (mut ours, mut theirs) = (fixture.store(), fixture.store());
    ours.put(&fixture.done_with_seed(101)).unwrap();
    let mut cursor = ours.cursor().unwrap();
    assert!(ours.stored_since(&mut cursor).unwrap().is_empty());
    theirs.put(&fixture.done_with_seed(102)).unwrap();
    theirs.put(&fixture.done()).unwrap();
    let new = [fixture.spec_with_seed(102).key(), fixture.key];
    assert_eq!(ours.stored_since(&mut cursor).unwrap(), new);
    assert!(ours.stored_since(&mut cursor).unwrap().is_empty());
}

#[test]
fn the_text_of_the_study_is_there_for_people() {
    let fixture = fixture();
    let mut store = fixture.store();
    let study = KeptStudy {
        name: "a/b".to_owned(),
        text: "title = \"β\"".to_owned(),
        scale: RunScale::Paper,
        repeats: 3,
        keys: vec![fixture.key],
        provenance: Provenance::default(),
    };
    store.keep_study(&study).unwrap();
    assert_eq!(fs::read_to_string(fixture.directory.path().join("study.toml")).unwrap(), study.text);
}

#[test]
fn a_study_that_was_written_over_is_noticed_and_kept_again() {
    let study = KeptStudy {
        name: "a".to_owned(),
        text: "title = \"a\"".to_owned(),
        scale: RunScale::Paper,
        repeats: 3,
        keys: vec![RunKey([7; 32])],
        provenance: Provenance::default(),
    };
    for meddling in [
        "UPDATE study SET name = 'b'",
        "UPDATE study SET text = replace(text, 'a', 'b')",
        "UPDATE study SET repeats = 4",
        "UPDATE study SET keys = zeroblob(length(keys))",
        "UPDATE study SET keys = zeroblob(33)",
        "UPDATE study SET version = 'b'",
        "UPDATE study SET source_commit = 'b'",
        "UPDATE study SET command = 'b'",
        "UPDATE study SET engine = 'b'",
        "UPDATE study SET scale = 'quick'",
    ] {
        let fixture = fixture();
        fixture.store().keep_study(&study).unwrap();
        fixture.meddle(meddling);
        let mut store = fixture.store();
        let error = store.study().unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Damaged, "{meddling}");
        assert!(error.reason.starts_with("the row of its study is damaged; run the study again"), "{error}");
        store.keep_study(&study).unwrap();
        assert_eq!(store.study().unwrap().as_ref(), Some(&study), "{meddling}");
    }
    // In stores of earlier versions nothing follows the keys.
    let fixture = fixture();
    fixture.store().keep_study(&study).unwrap();
    fixture.meddle("UPDATE study SET keys = substr(keys, 1, 32)");
    assert_eq!(fixture.store().study().unwrap().as_ref(), Some(&study));
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
fn a_later_schema_is_refused() {
    let fixture = fixture();
    drop(fixture.store());
    let connection = Connection::open(fixture.directory.path().join(DATABASE)).unwrap();
    connection.pragma_update(None, "user_version", 4).unwrap();
    drop(connection);
    let (kind, reason) = fixture.error();
    assert_eq!(kind, StoreErrorKind::Foreign);
    assert_eq!(
        reason,
        "it was made by a later version of cwnd (its schema is version 4, this program's is 3); use that version, or \
         choose another directory"
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
    for seed in 0..60 {
        store.put(&fixture.done_with_seed(seed)).unwrap();
    }
    drop(store);
    let path = fixture.directory.path().join(DATABASE);
    let whole = fs::read(&path).unwrap();
    const PAGE: usize = 4096;
    let pages = whole.len() / PAGE;
    assert!(pages > 8);
    // Whatever is read as done is what was stored.
    let usable = |store: &Store| {
        let is_usable = |seed: &u64| match fixture.get(store, *seed).state {
            StoredState::Done { outcome, .. } => {
                assert_eq!(*outcome, Outcome { trace: None, ..fixture.outcome.clone() });
                true
            }
            StoredState::Unusable(reason) => {
                assert!(reason.starts_with("its row in the store is damaged"), "{reason}");
                false
            }
            StoredState::Failed(reason) => panic!("{reason}"),
        };
        (0..60).filter(is_usable).count()
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
            // It was half empty, or only a text in it is damaged.
            Ok(store) => noticed += usize::from(usable(&store) < 60),
        }
    }
    assert!(noticed > pages / 2, "{noticed} of {pages} pages noticed");

    // One bit of each row: SQLite sees nothing wrong with it.
    let counts = encoded(&fixture.scenario, &fixture.outcome);
    let mut torn = whole.clone();
    for place in (0..whole.len() - counts.len()).filter(|i| whole[*i..].starts_with(&counts)) {
        torn[place + counts.len() / 2] ^= 4;
    }
    fs::write(&path, &torn).unwrap();
    assert_eq!(usable(&fixture.store()), 0);
}

/// A power cut loses one transaction of the log and keeps the next. The lost one wrote the bytes with which every store is opened.
#[test]
fn what_a_power_cut_has_lost_stays_lost() {
    let fixture = fixture();
    // The files as a process leaves them that is killed: a store that is closed removes its log.
    let kill = |directory: &Path| {
        let left = tempfile::tempdir().unwrap();
        for name in [DATABASE.to_owned(), format!("{DATABASE}-wal")] {
            fs::copy(directory.join(&name), left.path().join(&name)).unwrap();
        }
        left
    };
    let mut store = fixture.store();
    store.put(&fixture.done()).unwrap();
    let killed = kill(fixture.directory.path());
    let log = |directory: &TempDir| directory.path().join(format!("{DATABASE}-wal"));
    let gap = fs::metadata(log(&killed)).unwrap().len() as usize;
    let connection = Connection::open(killed.path().join(DATABASE)).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE; PRAGMA user_version = 3; COMMIT").unwrap();
    let end = fs::metadata(log(&killed)).unwrap().len() as usize;
    connection.execute("DELETE FROM runs", []).unwrap();
    let cut = kill(killed.path());
    let mut bytes = fs::read(log(&cut)).unwrap();
    assert!(gap < end && end < bytes.len());
    bytes[gap..end].fill(0);
    fs::write(log(&cut), bytes).unwrap();

    let store = Store::create(cut.path()).unwrap();
    assert!(store.get(fixture.key).unwrap().is_some());
    let killed = kill(cut.path());
    assert!(Store::open(killed.path()).unwrap().get(fixture.key).unwrap().is_some());
}

/// The database holds a part of a transaction, and the journal what must be put back.
#[test]
fn an_incomplete_change_is_not_read() {
    let fixture = fixture();
    let mut store = fixture.store();
    for seed in 0..60 {
        store.put(&fixture.done_with_seed(seed)).unwrap();
    }
    drop(store);
    let path = fixture.directory.path().join(DATABASE);
    let writer = Connection::open(&path).unwrap();
    // A cache of one page: the transaction changes the database before it is complete.
    let change =
        "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN; UPDATE runs SET content = zeroblob(900)";
    writer.execute_batch(change).unwrap();
    let killed = tempfile::tempdir().unwrap();
    let copy = killed.path().join(DATABASE);
    fs::copy(&path, &copy).unwrap();
    let journal = format!("{DATABASE}-journal");
    fs::copy(fixture.directory.path().join(&journal), killed.path().join(&journal)).unwrap();
    let torn = fs::read(&copy).unwrap();

    let error = Store::open(killed.path()).unwrap_err();
    assert_eq!(
        error.reason,
        "a process was interrupted while it wrote the database; `cwnd run STUDY --out DIR` undoes the incomplete change"
    );
    assert_eq!(fs::read(&copy).unwrap(), torn);
    let store = Store::create(killed.path()).unwrap();
    assert!((0..60).all(|seed| matches!(fixture.get(&store, seed).state, StoredState::Done { .. })));
    assert!(Store::open(killed.path()).is_ok());
}

/// A process that reads keeps the log from being emptied.
#[test]
fn a_store_is_opened_for_writing_while_others_read() {
    let fixture = fixture();
    let mut store = fixture.store();
    store.put(&fixture.done()).unwrap();
    let reader = Store::open(fixture.directory.path()).unwrap();
    connection(&reader).execute_batch("BEGIN; SELECT count(*) FROM runs").unwrap();
    fixture.store().put(&fixture.done_with_seed(5)).unwrap();
    assert_eq!(reader.get(fixture.spec_with_seed(5).key()).unwrap(), None);
    connection(&reader).execute_batch("COMMIT").unwrap();
    assert!(reader.get(fixture.spec_with_seed(5).key()).unwrap().is_some());
}
