//! Crashes of the store on a disk that fails: random operations, random faults, and what must be left.
//!
//! The store writes to real files through the C library, whose functions this program replaces ([`interpose`]). A simulated
//! disk ([`disk`]) injects the faults and decides what survives. Each [`Mode`] says what the store promises under its faults.
//!
//! `CWND_SEED=17` runs one seed, `CWND_CRASHES=100000` more of them.
#![cfg(target_os = "linux")]

mod disk;
mod interception;
mod interpose;
mod mode;
mod model;

use cwnd_scenario::{Purpose, Stream};
use cwnd_study::store::DATABASE;
use cwnd_study::{RunKey, Store, StoreError, StoreErrorKind, StoredState, trace_file};
use disk::Faults;
use mode::{MODES, Mode};
use model::{Maker, Run, State};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::rc::Rc;

/// Crashes on one directory, one after the other.
const CRASHES: u64 = 5;

/// Seeds of the runs of a directory: few, so that runs are stored again.
const SEEDS: u64 = 12;

/// What the crashes of all seeds have come to.
#[derive(Debug, Default)]
struct Tally {
    crashes: u64,
    operations: u64,
    failed_operations: u64,
    /// Runs that were not read because the disk failed, and runs that were read correctly from that disk.
    unread: u64,
    read: u64,
    /// Runs that were found after a crash.
    found: u64,
    /// Crashes after which transactions were missing.
    lost_transactions: u64,
    /// Crashes after which the transaction in progress, or one that had failed, was there.
    completed: u64,
    /// Stores and runs that were reported as damaged or missing, after lies.
    reported: u64,
    /// Crashes before the store was first complete.
    in_creation: u64,
    disk: disk::Counts,
}

/// The life of one directory.
struct Life<'a> {
    mode: Mode,
    directory: &'a Path,
    random: Stream,
    maker: Maker,
    /// What the store has.
    now: State,
    /// Every state in which a crash may find the store, in order, and whether it is that of a transaction that failed.
    candidates: Vec<(State, bool)>,
    /// The candidate that is `now`.
    current: usize,
    /// The first candidate that may be found: those before it are known to be overwritten for good.
    since: usize,
    /// How often the log had been synced when `since` was last moved.
    syncs: u64,
    /// Whether the store was ever reported as made.
    made: bool,
    /// The texts of all studies. `study.toml` is no part of a transaction, and may be older or newer than the database.
    texts: BTreeSet<String>,
    /// Runs whose trace was written. A trace that replaces another is there before its row is: a crash between the two leaves a
    /// run that is reported as unusable and run again. The runner never records a run again that has all it needs.
    traced: BTreeSet<RunKey>,
    tally: &'a mut Tally,
}

impl Life<'_> {
    /// Works until the power goes or the work is done, and lets the process die.
    fn work(&mut self) {
        let cut = match self.random.below(4) {
            0 => self.random.below(60),
            1 => self.random.below(400),
            _ => self.random.below(4_000),
        };
        let faults = self.mode.faults(&mut self.random);
        disk::with(|disk| {
            disk.faults = faults;
            disk.cut_power_after(1 + cut);
        });
        let mut store = None;
        let operations = 5 + self.random.below(100);
        for _ in 0..operations {
            if disk::with(|disk| disk.is_off()) {
                break;
            }
            self.tally.operations += 1;
            let (current, failed) = (self.current, self.tally.failed_operations);
            match &mut store {
                None => store = self.create(),
                Some(open) => {
                    if self.random.below(25) == 0 {
                        store = None;
                    } else {
                        self.operate(open);
                    }
                }
            }
            self.forget_overwritten(current);
            if self.mode.fails_to_read() && self.tally.failed_operations > failed {
                self.retry(&mut store);
            }
            // A program may give up after an error, as `cwnd run` does, or continue.
            if self.tally.failed_operations > failed && self.random.below(3) == 0 {
                break;
            }
        }
        // Whatever is done from here on happens to a process that is dead: closing the store writes nothing.
        disk::with(|disk| disk.switch_off());
        drop(store);
    }

    /// Stores a run after an operation that failed on a disk that could not read, and now can.
    fn retry(&mut self, store: &mut Option<Store>) {
        let failed = self.tally.failed_operations;
        without_faults(|| {
            if store.is_none() {
                *store = self.create();
            }
            let run = self.run();
            if let Some(store) = store {
                self.put(store, &[run]);
                self.check(store, true);
            }
        });
        assert!(disk::with(|disk| disk.is_off()) || self.tally.failed_operations == failed);
    }

    fn create(&mut self) -> Option<Store> {
        match Store::create(self.directory) {
            Ok(store) => {
                self.made = true;
                // Bytes 18 and 19 of a database are 2 if it has a log.
                let database =
                    without_faults(|| fs::read(self.directory.join(DATABASE)).expect("it is there"));
                assert_eq!(database[18..20], [2, 2], "the database has no log");
                self.check(&store, true);
                Some(store)
            }
            Err(error) => {
                self.fails(&error);
                None
            }
        }
    }

    /// Notes that an operation failed, which happens only if the disk fails.
    fn fails(&mut self, error: &StoreError) {
        self.tally.failed_operations += 1;
        let off = disk::with(|disk| disk.is_off());
        assert!(off || self.mode.has_errors() || !self.mode.is_honest(), "{error}");
        if self.mode.fails_to_read() {
            self.names_a_file(error);
        }
    }

    /// Requires that an error of a disk that cannot read says where, and does not say that the store is another's or none.
    fn names_a_file(&self, error: &StoreError) {
        // The directory itself can only be opened.
        let is_named = error.path != self.directory || self.mode == Mode::OpenErrors;
        assert!(error.path.starts_with(self.directory) && is_named, "{error}");
        assert!(!matches!(error.kind, StoreErrorKind::Foreign | StoreErrorKind::Missing), "{error}");
        // SQLite calls a database malformed if it could not be read.
        let says_so =
            error.kind != StoreErrorKind::Damaged || error.reason.contains("the disk failed to read");
        assert!(says_so, "{error}");
        if self.mode == Mode::OpenErrors {
            let reasons = [
                "Input/output error",
                "Too many open files",
                "Permission denied",
                // SQLite names the call that failed, and not why.
                "unable to open database file",
                "disk I/O error",
                "attempt to write a readonly database",
            ];
            assert!(reasons.iter().any(|reason| error.reason.contains(reason)), "{:?}: {error}", error.kind);
        }
    }

    /// Reads everything from a disk that may fail. What is read must be right, and what is not must be said.
    fn read_what_can_be_read(&mut self, store: &Store) {
        let keys: Vec<RunKey> = self.maker.keys().collect();
        for key in &keys {
            match (store.get(*key), self.now.runs.get(key)) {
                (Ok(None), None) => {}
                (Ok(Some(found)), Some(expected)) => match &found.state {
                    StoredState::Unusable(reason) => {
                        let place = self.directory.join(format!("traces/{key}.parquet"));
                        let start = format!("its trace `{}` cannot be read (", place.display());
                        assert!(reason.starts_with(&start), "{key}: {reason}");
                        self.tally.unread += 1;
                    }
                    state => {
                        assert!(expected.is(state), "{key} is silently wrong: {state:?}");
                        self.tally.read += 1;
                        if let StoredState::Done { trace: Some(trace), .. } = state {
                            match trace.samples.read() {
                                Ok(samples) => assert_eq!(trace_file::digest(&samples), trace.digest),
                                Err(error) => {
                                    assert_eq!(Some(&*error.path), trace.samples.path(), "{error}");
                                    self.names_a_file(&error);
                                }
                            }
                        }
                    }
                },
                (Err(error), _) => {
                    self.names_a_file(&error);
                    self.tally.unread += 1;
                }
                (Ok(found), expected) => panic!("{key}: {expected:?} {found:?}"),
            }
        }
        match store.study() {
            Ok(study) => assert_eq!(study.as_ref(), self.now.study.as_deref()),
            Err(error) => self.names_a_file(&error),
        }
        match store.count(&keys) {
            Ok(counts) => assert_eq!(counts.done + counts.failed, self.now.runs.len()),
            Err(error) => self.names_a_file(&error),
        }
    }

    fn operate(&mut self, store: &mut Store) {
        match self.random.below(20) {
            0 | 1 => {
                let length = [10, 3_000, 40_000][self.random.below(3) as usize];
                let study = self.maker.study(length);
                self.texts.insert(study.text.clone());
                let mut next = self.now.clone();
                next.study = Some(Rc::new(study.clone()));
                self.commit(store.keep_study(&study), next);
            }
            2 => {
                let (cell, seed) = self.place();
                let (scenario, trace) = (self.maker.scenario(cell, seed), self.maker.trace(seed));
                let key = self.maker.key(cell, seed);
                if !self.traced.insert(key) {
                    return;
                }
                match store.traces().write(key, &scenario, trace) {
                    Ok(trace) => {
                        let run = self.maker.done(cell, seed, Some(trace));
                        self.put(store, &[run]);
                    }
                    Err(error) => self.fails(&error),
                }
            }
            3 | 4 => {
                let runs: Vec<Run> = (0..2 + self.random.below(30)).map(|_| self.run()).collect();
                self.put(store, &runs);
            }
            5 => self.check(store, true),
            6 => {
                // Another process reads meanwhile.
                match Store::open(self.directory) {
                    Ok(reader) => self.check(&reader, true),
                    Err(error) => self.fails(&error),
                }
            }
            7 if self.mode.fails_to_read() => self.read_what_can_be_read(store),
            // Another process has nothing in its memory yet, and reads more.
            8 | 9 if self.mode.fails_to_read() => match Store::open(self.directory) {
                Ok(reader) => self.read_what_can_be_read(&reader),
                Err(error) => self.fails(&error),
            },
            _ => {
                let run = self.run();
                self.put(store, &[run]);
            }
        }
    }

    fn place(&mut self) -> (usize, u64) {
        (self.random.below(2) as usize, self.random.below(SEEDS))
    }

    fn run(&mut self) -> Run {
        let (cell, seed) = self.place();
        match self.random.below(3) {
            // Large ones fill the log, so that it is copied into the database.
            0 => {
                let length = [10, 5_000, 100_000][self.random.below(3) as usize];
                self.maker.failed(cell, seed, length)
            }
            _ => self.maker.done(cell, seed, None),
        }
    }

    fn put(&mut self, store: &mut Store, runs: &[Run]) {
        let mut next = self.now.clone();
        runs.iter().for_each(|run| next.add(run));
        let result = store.put_all(runs.iter().map(|run| &run.new));
        self.commit(result, next);
        if !disk::with(|disk| disk.is_off()) {
            // Nothing has changed if it failed, and everything is there if it did not.
            self.check(store, false);
        }
    }

    fn commit(&mut self, result: Result<(), StoreError>, next: State) {
        if let Err(error) = result {
            self.fails(&error);
            // On a disk that only reads badly, what has failed is not there later either.
            if !self.mode.fails_to_read() {
                self.candidates.push((next, true));
            }
        } else {
            self.current = self.candidates.len();
            self.candidates.push((next.clone(), false));
            self.now = next;
        }
    }

    /// Drops the candidates that a sync of the log has overwritten during the last operation, before which `current` was the
    /// state: that state may still be found.
    fn forget_overwritten(&mut self, current: usize) {
        let syncs = disk::with(|disk| disk.log_syncs);
        if syncs != self.syncs {
            (self.syncs, self.since) = (syncs, current);
        }
    }

    /// Compares an open store with what it must have now. `all` compares every run, else one.
    fn check(&mut self, store: &Store, all: bool) {
        if self.mode.fails_to_read() {
            without_faults(|| self.compare(store, all));
        } else {
            self.compare(store, all);
        }
    }

    fn compare(&mut self, store: &Store, all: bool) {
        let one = self.random.below(2 * SEEDS);
        let whole = |state: Result<State, StoreError>| state.unwrap_or_else(|error| panic!("{error}"));
        if all {
            let found = whole(read(store, &self.maker, &self.candidates, true, &mut 0));
            assert!(found == self.now, "{}", difference(&found, &self.now));
        } else {
            let key = self.maker.key((one % 2) as usize, one / 2);
            let found = store.get(key).unwrap_or_else(|error| panic!("{error}"));
            match (self.now.runs.get(&key), found) {
                (None, None) => {}
                (Some(expected), Some(found)) => {
                    assert!(expected.is(&found.state), "{key}: {:?}", found.state)
                }
                (expected, found) => panic!("{key}: {expected:?} {found:?}"),
            }
        }
    }

    /// Restarts the machine, and compares what is left with what was promised. Returns whether nothing was reported as damaged.
    fn recover(&mut self) -> bool {
        self.tally.crashes += 1;
        let reported = self.tally.reported;
        let cuts_power = self.mode.cuts_power();
        disk::with(|disk| {
            disk.faults = Faults::default();
            if cuts_power { disk.restart_after_power_cut() } else { disk.restart() }
        });
        let results = if self.random.below(2) == 0 {
            [Store::open(self.directory), Store::create(self.directory)]
        } else {
            [Store::create(self.directory), Store::open(self.directory)]
        };
        let mut left = None;
        for result in results {
            let store = match result {
                Ok(store) => store,
                Err(error) if !self.mode.is_honest() || !self.made => {
                    // Before it is complete, a store may be missing; a lying disk may leave anything.
                    self.tally.reported += u64::from(self.made);
                    let incomplete = !self.made && error.kind != StoreErrorKind::Damaged;
                    assert!(incomplete || !self.mode.is_honest(), "{error}");
                    continue;
                }
                Err(error) => panic!("the store cannot be opened: {error}"),
            };
            let is_honest = self.mode.is_honest();
            match read(&store, &self.maker, &self.candidates, is_honest, &mut self.tally.reported) {
                Ok(state) => {
                    assert!(left.as_ref().is_none_or(|left| *left == state) || !is_honest);
                    left = Some(state);
                }
                Err(error) => {
                    assert!(!is_honest, "{error}");
                    self.tally.reported += 1;
                }
            }
        }
        if !self.made {
            self.tally.in_creation += 1;
        }
        let left_whole = self.tally.reported == reported;
        let found = left.unwrap_or_default();
        self.tally.found += found.runs.len() as u64;
        if self.mode.is_honest() {
            self.judge(&found);
        }
        self.now = found.clone();
        if self.mode.is_honest() {
            self.candidates.clear();
        }
        // What lies have kept of older states may come back in a page that was free.
        (self.current, self.since) = (self.candidates.len(), 0);
        self.candidates.push((found, false));
        left_whole
    }

    /// Requires that the state is one that may be left.
    fn judge(&mut self, found: &State) {
        // A process that dies takes nothing along that it had written.
        let first = if self.mode.cuts_power() { self.since } else { self.current };
        let found_at = self.candidates.iter().rposition(|(candidate, _)| candidate == found);
        match found_at {
            Some(index) if index >= first => {
                self.tally.lost_transactions += u64::from(index < self.current);
                self.tally.completed += u64::from(self.candidates[index].1);
            }
            Some(index) => panic!("state {index} of {} is left, and {first} was safe", self.candidates.len()),
            None => panic!("no state is left: {}", difference(found, &self.now)),
        }
        if let Ok(text) = fs::read_to_string(self.directory.join("study.toml")) {
            assert!(self.texts.contains(&text), "study.toml is torn: {} bytes", text.len());
        }
    }
}

/// Does something while the disk makes no errors.
fn without_faults<T>(work: impl FnOnce() -> T) -> T {
    let faults = disk::with(|disk| std::mem::take(&mut disk.faults));
    let done = work();
    disk::with(|disk| disk.faults = faults);
    done
}

/// Reads the state of a store. Runs that are reported as unusable are left out and counted; if `is_honest`, there must be none.
///
/// # Panics
/// If a run or the study is none that was ever stored.
fn read(
    store: &Store,
    maker: &Maker,
    candidates: &[(State, bool)],
    is_honest: bool,
    reported: &mut u64,
) -> Result<State, StoreError> {
    let mut state = State::default();
    for key in maker.keys() {
        match store.get(key) {
            Ok(None) => {}
            Ok(Some(run)) => {
                if let StoredState::Unusable(reason) = &run.state {
                    assert!(!is_honest, "{key}: {reason}");
                    *reported += 1;
                    continue;
                }
                let versions = candidates.iter().filter_map(|(state, _)| state.runs.get(&key));
                let version = versions.into_iter().find(|version| version.is(&run.state));
                let version = version.unwrap_or_else(|| panic!("{key} is silently wrong: {:?}", run.state));
                state.runs.insert(key, Rc::clone(version));
            }
            Err(error) if is_honest => return Err(error),
            Err(_) => *reported += 1,
        }
    }
    if let Some(study) = store.study()? {
        let versions = candidates.iter().filter_map(|(state, _)| state.study.as_ref());
        let version = versions.into_iter().find(|version| ***version == study);
        state.study =
            Some(Rc::clone(version.unwrap_or_else(|| panic!("the study is silently wrong: {}", study.name))));
    }
    Ok(state)
}

fn difference(found: &State, expected: &State) -> String {
    let keys: BTreeSet<_> = found.runs.keys().chain(expected.runs.keys()).collect();
    let differ = keys.iter().filter(|key| found.runs.get(key) != expected.runs.get(key)).count();
    let same_study = found.study == expected.study;
    format!("{differ} of {} runs differ, the study is the same: {same_study}", keys.len())
}

/// Crashes one directory [`CRASHES`] times, or until damage is reported.
fn live(seed: u64, tally: &mut Tally) {
    let mode = MODES[(seed % MODES.len() as u64) as usize];
    let directory = tempfile::tempdir().expect("a directory can be made");
    let directory_path = fs::canonicalize(directory.path()).expect("it is there").join("store");
    fs::create_dir(&directory_path).expect("it takes a directory");
    disk::mount(&directory_path, seed);
    let mut life = Life {
        mode,
        directory: &directory_path,
        random: Stream::new(!seed, Purpose::Algorithm, 0),
        maker: Maker::new(SEEDS),
        now: State::default(),
        candidates: vec![(State::default(), false)],
        current: 0,
        since: 0,
        syncs: 0,
        made: false,
        texts: BTreeSet::new(),
        traced: BTreeSet::new(),
        tally,
    };
    for _ in 0..CRASHES {
        life.work();
        if !life.recover() {
            break;
        }
    }
    let counts = disk::unmount().counts;
    let sum = &mut tally.disk;
    for (sum, more) in [
        (&mut sum.short_writes, counts.short_writes),
        (&mut sum.io_errors, counts.io_errors),
        (&mut sum.full, counts.full),
        (&mut sum.lies, counts.lies),
        (&mut sum.syncs, counts.syncs),
        (&mut sum.lost, counts.lost),
        (&mut sum.kept, counts.kept),
        (&mut sum.torn, counts.torn),
        (&mut sum.short_reads, counts.short_reads),
        (&mut sum.read_errors, counts.read_errors),
        (&mut sum.map_errors, counts.map_errors),
        (&mut sum.open_errors, counts.open_errors),
        (&mut sum.stat_errors, counts.stat_errors),
    ] {
        *sum += more;
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

#[test]
fn a_thousand_crashes_leave_what_was_promised() {
    let one = number("CWND_SEED");
    let wanted = if one.is_some() { 1 } else { number("CWND_CRASHES").unwrap_or(1_000) };
    let mut tally = Tally::default();
    for seed in one.unwrap_or(0).. {
        if tally.crashes >= wanted {
            break;
        }
        let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| live(seed, &mut tally)));
        if let Err(panic) = lived {
            eprintln!("seed {seed} fails: CWND_SEED={seed} cargo test -p cwnd-study --test crash");
            std::panic::resume_unwind(panic);
        }
    }
    println!("{tally:#?}");
    if one.is_none() && wanted >= 1_000 {
        let Tally { lost_transactions, reported, in_creation, failed_operations, unread, read, disk, .. } =
            tally;
        let seen = [lost_transactions, reported, in_creation, failed_operations, unread, read];
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
        let disk::Counts { short_writes, io_errors, full, lies, syncs, lost, kept, torn, .. } = disk;
        let seen = [short_writes, io_errors, full, lies, syncs, lost, kept, torn];
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
        let seen = [disk.short_reads, disk.read_errors, disk.map_errors, disk.open_errors, disk.stat_errors];
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    }
}

/// SQLite removes the journal of the creation, and ignores that this may not survive a power cut.
#[test]
fn a_creation_is_reported_as_failed_if_its_directory_cannot_be_synced() {
    let directory = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(directory.path()).unwrap();
    disk::mount(&root, 1);
    for faults in [
        Faults { directory_errors: 1_000, ..Faults::default() },
        Faults { directory_open_errors: 1_000, ..Faults::default() },
    ] {
        disk::with(|disk| disk.faults = faults);
        let error = Store::create(&root).unwrap_err();
        assert!(error.reason.contains("its directory cannot be synced"), "{faults:?}: {error}");
    }
    disk::with(|disk| disk.faults = Faults::default());
    assert!(Store::create(&root).is_ok());
    disk::unmount();
}
