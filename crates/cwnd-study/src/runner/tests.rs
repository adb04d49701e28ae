use super::*;
use crate::{
    EngineKind, Engines, KeptStudy, Provenance, Results, RunSpec, RunState, StoredState, Study,
    export::{self, Format},
    memory::MemoryBudget,
    store::StoredTrace,
    testing::{STUDY, Toy, ToyLab, simulator, study, traced},
};
use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};
use tempfile::TempDir;

const LIMITS: Limits = Limits { threads: 2, memory: 1e9 };

struct Bench {
    directory: TempDir,
}

/// What a command does: plan, keep the study, run.
impl Bench {
    fn new() -> Bench {
        Bench { directory: tempfile::tempdir().unwrap() }
    }

    fn store(&self) -> Store {
        Store::create(self.directory.path()).unwrap()
    }

    fn run_with(&self, engine: Toy, study: &Study, limits: Limits) -> (Plan, RunSummary, usize) {
        let mut store = self.store();
        let engine = Arc::new(engine);
        let engines = simulator(engine.clone());
        let plan = plan(&engines, study, &store).unwrap();
        store.keep_study(&kept(study, &plan)).unwrap();
        let ran = run(&engines, &plan, &mut store, limits, &mut (), &AtomicBool::new(false)).unwrap();
        (plan, ran, engine.runs.load(Relaxed))
    }

    fn run(&self, engine: Toy, study: &Study) -> (Plan, RunSummary, usize) {
        self.run_with(engine, study, LIMITS)
    }

    fn canonical(&self, study: &Study) -> String {
        let mut text = Vec::new();
        let store = Store::open(self.directory.path()).unwrap();
        export::write(&store, study.clone(), Format::Csv, true, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn results(&self) -> Results {
        Results::load(self.directory.path()).unwrap()
    }
}

pub(super) fn kept(study: &Study, plan: &Plan) -> KeptStudy {
    KeptStudy {
        name: study.name.clone(),
        text: study.text.clone(),
        scale: study.scale(),
        repeats: study.repeats,
        keys: plan.keys.clone(),
        provenance: Provenance {
            command: "cwnd run toy.toml".to_owned(),
            engine: Provenance::engines(&study.engines()),
            ..Provenance::default()
        },
    }
}

#[test]
fn what_was_run_is_not_run_again() {
    let (bench, study) = (Bench::new(), study(STUDY));
    let (plan, ran, runs) = bench.run(Toy::default(), &study);
    assert_eq!((plan.missing(), plan.present, ran.done, runs), (12, 0, 12, 12));
    let first = bench.canonical(&study);
    let (plan, ran, runs) = bench.run(Toy::default(), &study);
    assert_eq!((plan.missing(), plan.present, ran.done, runs), (0, 12, 0, 0));
    assert_eq!(bench.canonical(&study), first);
    // More repeats run only what is new.
    let more = Study { repeats: 5, ..study };
    assert_eq!(bench.run(Toy::default(), &more).2, 8);
    assert_eq!(bench.results().runs.len(), 20);
}

#[test]
fn a_new_version_of_an_algorithm_runs_what_it_changes() {
    let (bench, study) = (Bench::new(), study(STUDY));
    bench.run(Toy::default(), &study);
    let before = bench.results();
    let (_, ran, runs) = bench.run(Toy { newreno: 1, ..Toy::default() }, &study);
    assert_eq!((ran.done, runs), (6, 6));
    let after = bench.results();
    for (old, new) in before.runs.iter().zip(&after.runs) {
        // The first axis is the variant, and its second point is newreno.
        let changed = study.cells[old.cell].coordinates[0] == 1;
        assert_eq!(old.metric("throughput_bps") != new.metric("throughput_bps"), changed, "{old:?}");
    }
    // And back again costs nothing.
    assert_eq!(bench.run(Toy::default(), &study).2, 0);
    assert_eq!(bench.results(), before);
}

#[test]
fn threads_do_not_matter() {
    let (one, two, study) = (Bench::new(), Bench::new(), traced());
    one.run_with(Toy::default(), &study, Limits { threads: 1, ..LIMITS });
    two.run_with(Toy::default(), &study, Limits { threads: 7, ..LIMITS });
    assert_eq!(one.canonical(&study), two.canonical(&study));
}

#[test]
fn a_failed_run_is_kept_and_tried_again() {
    let (bench, study) = (Bench::new(), study(STUDY));
    let (_, ran, _) = bench.run(Toy { fails_at: Some(2), ..Toy::default() }, &study);
    assert_eq!((ran.done, ran.failures.len()), (12, 4));
    let failed = bench.results();
    assert_eq!(failed.runs[1].state, RunState::Failed("the seed is no good".to_owned()));
    let (plan, ran, runs) = bench.run(Toy::default(), &study);
    assert_eq!((plan.missing(), plan.notes.len(), ran.failures.len(), runs), (4, 4, 0, 4));
    assert_eq!(plan.notes[0], "cubic, 5 (seed 2) failed before and is tried again: the seed is no good");
}

#[test]
fn a_panic_is_a_failed_run() {
    let (bench, study) = (Bench::new(), study(STUDY));
    let (_, ran, _) = bench.run(Toy { panics_at: Some(3), ..Toy::default() }, &study);
    assert_eq!((ran.done, ran.failures.len()), (12, 4));
    let RunState::Failed(reason) = &bench.results().runs[2].state else { panic!("it should have failed") };
    assert!(reason.starts_with("it panicked: assertion `left != right` failed: the seed is bad"), "{reason}");
    assert!(reason.contains("testing.rs:"), "{reason}");
}

/// Stops at the first look.
struct StopAt<'a>(&'a AtomicBool);

impl Progress for StopAt<'_> {
    fn update(&mut self, _: &Status) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_stop_keeps_what_is_done() {
    /// Takes its time.
    struct Slow(Toy);
    impl Engine for Slow {
        fn check(&self, scenario: &cwnd_scenario::Scenario) -> Result<cwnd_scenario::Cost, Vec<Problem>> {
            self.0.check(scenario)
        }
        fn identity(&self, scenario: &cwnd_scenario::Scenario) -> cwnd_scenario::Identity {
            self.0.identity(scenario)
        }
        fn run(&self, scenario: &cwnd_scenario::Scenario) -> Result<cwnd_scenario::Outcome, EngineError> {
            thread::sleep(Duration::from_millis(60));
            self.0.run(scenario)
        }
    }
    let (bench, study) = (Bench::new(), study(STUDY));
    let mut store = bench.store();
    let engine = Engines::new(Arc::new(Slow(Toy::default())));
    let plan = plan(&engine, &study, &store).unwrap();
    store.keep_study(&kept(&study, &plan)).unwrap();
    let stop = AtomicBool::new(false);
    let ran = run(&engine, &plan, &mut store, LIMITS, &mut StopAt(&stop), &stop).unwrap();
    assert!(ran.stopped && ran.done < 12, "{ran:?}");
    drop(store);
    let done = |run: &&crate::RunResult| matches!(run.state, RunState::Done(_));
    assert_eq!(bench.results().runs.iter().filter(done).count(), ran.done);
    let (_, rest, _) = bench.run(Toy::default(), &study);
    assert_eq!(ran.done + rest.done, 12);
}

/// A program that continues after a stop (a server, an interpreter) must not continue its runs.
#[test]
fn no_run_goes_on_after_a_stop() {
    /// Runs until it is to stop, as a long simulation.
    struct Endless {
        toy: Toy,
        on: Arc<AtomicUsize>,
    }
    impl Engine for Endless {
        fn check(&self, scenario: &Scenario) -> Result<cwnd_scenario::Cost, Vec<Problem>> {
            self.toy.check(scenario)
        }
        fn identity(&self, scenario: &Scenario) -> cwnd_scenario::Identity {
            self.toy.identity(scenario)
        }
        fn run(&self, _: &Scenario) -> Result<cwnd_scenario::Outcome, EngineError> {
            unreachable!("the runner gives helpers")
        }
        fn run_with_helpers(
            &self,
            _: &Scenario,
            helpers: &Helpers,
        ) -> Result<cwnd_scenario::Outcome, EngineError> {
            self.on.fetch_add(1, Ordering::Relaxed);
            while !helpers.is_stopped() {
                thread::sleep(Duration::from_millis(1));
            }
            self.on.fetch_sub(1, Ordering::Relaxed);
            Err(EngineError::stopped())
        }
    }
    let (bench, study, on) = (Bench::new(), study(STUDY), Arc::new(AtomicUsize::new(0)));
    let mut store = bench.store();
    let engine = Engines::new(Arc::new(Endless { toy: Toy::default(), on: Arc::clone(&on) }));
    let plan = plan(&engine, &study, &store).unwrap();
    store.keep_study(&kept(&study, &plan)).unwrap();
    let stop = AtomicBool::new(false);
    let ran = run(&engine, &plan, &mut store, LIMITS, &mut StopAt(&stop), &stop).unwrap();
    assert!(ran.stopped && ran.done == 0 && ran.failures.is_empty(), "{ran:?}");
    assert_eq!(on.load(Ordering::Relaxed), 0);
}

/// Threads without a run help with those in progress, and the CPU time of a run includes its helpers.
#[test]
fn idle_threads_help() {
    /// Waits until it can have as many helpers as it wants.
    struct Helped {
        toy: Toy,
        begun: AtomicUsize,
        wanted: usize,
    }
    impl Engine for Helped {
        fn check(&self, scenario: &cwnd_scenario::Scenario) -> Result<cwnd_scenario::Cost, Vec<Problem>> {
            self.toy.check(scenario)
        }
        fn identity(&self, scenario: &cwnd_scenario::Scenario) -> cwnd_scenario::Identity {
            self.toy.identity(scenario)
        }
        fn run(&self, scenario: &cwnd_scenario::Scenario) -> Result<cwnd_scenario::Outcome, EngineError> {
            self.toy.run(scenario)
        }
        fn run_with_helpers(
            &self,
            scenario: &cwnd_scenario::Scenario,
            helpers: &Helpers,
        ) -> Result<cwnd_scenario::Outcome, EngineError> {
            // The last run to begin is the only one that waits for helpers.
            if self.begun.fetch_add(1, Relaxed) == 11 {
                let begin = Instant::now();
                while helpers.spare() < self.wanted {
                    assert!(begin.elapsed() < Duration::from_secs(60), "{} spare threads", helpers.spare());
                    thread::sleep(Duration::from_millis(1));
                }
                assert_eq!(helpers.take(self.wanted), self.wanted);
                let helper = helpers.clone();
                let spin = move || {
                    let clock = Clock::start();
                    while clock.seconds() < 0.05 {}
                    helper.note_cpu_time();
                };
                thread::spawn(spin).join().unwrap();
                helpers.give_back(self.wanted);
            }
            self.toy.run(scenario)
        }
    }
    // Twelve runs on three threads: two are idle at the end. On twenty, eight are idle from the beginning.
    for (threads, wanted) in [(3, 2), (20, 8)] {
        let (bench, study) = (Bench::new(), study(STUDY));
        let mut store = bench.store();
        let engine = Helped { toy: Toy::default(), begun: AtomicUsize::new(0), wanted };
        let engines = Engines::new(Arc::new(engine));
        let plan = plan(&engines, &study, &store).unwrap();
        let limits = Limits { threads, ..LIMITS };
        let ran = run(&engines, &plan, &mut store, limits, &mut (), &AtomicBool::new(false)).unwrap();
        assert_eq!((ran.done, ran.failures.len()), (12, 0), "{:?}", ran.failures);
        assert!(ran.cpu_s >= 0.05, "{} s", ran.cpu_s);
    }
}

#[test]
fn little_memory_runs_one_after_the_other() {
    let (bench, study) = (Bench::new(), study(STUDY));
    let (_, ran, _) = bench.run(Toy { memory: 0.7e9, ..Toy::default() }, &study);
    assert_eq!(ran.done, 12);
    let checked = check(&simulator(Toy { memory: 2e9, ..Toy::default() }.into()), &study).unwrap();
    let error = checked.fit(MemoryBudget::stated(1_000_000_000), 0.0).unwrap_err();
    assert!(matches!(error, RunError::TooLarge { cell: 0, .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "one run is too large: about 2.0 GB of memory may be needed, and 1.0 GB may be used (as --memory states)"
    );
}

#[test]
fn cells_that_ask_the_same_share_a_run() {
    let text = STUDY.replace("values = [5, 50]", "values = [5, \"max(5, 3)\"]");
    let (bench, study) = (Bench::new(), study(&text));
    let (plan, _, runs) = bench.run(Toy::default(), &study);
    assert_eq!((plan.keys.len(), plan.missing(), runs), (12, 6, 6));
    assert!(bench.results().runs.iter().all(|run| matches!(run.state, RunState::Done(_))));
}

#[test]
fn traces_are_read_back() {
    let (bench, study) = (Bench::new(), traced());
    bench.run(Toy::default(), &study);
    let results = bench.results();
    for run in &results.runs {
        let traced = study.is_traced(run.cell, run.repeat);
        assert_eq!(run.trace.is_some(), traced);
        let scenario = study.scenario(run.cell, run.repeat);
        let expected = Toy::default().run(&scenario).unwrap().trace;
        assert_eq!(run.read_trace().unwrap(), expected.filter(|_| traced).map(Arc::new));
    }
    assert_eq!(results.runs.iter().filter(|run| run.trace.is_some()).count(), 4);
}

#[test]
fn a_trace_that_is_wanted_later_is_run_again() {
    let (bench, plain) = (Bench::new(), study(STUDY));
    bench.run(Toy::default(), &plain);
    assert_eq!(bench.run(Toy::default(), &traced()).2, 4);
    assert_eq!(bench.run(Toy::default(), &plain).2, 0);
}

/// Removes the state of algorithms from the traces of a store, as an older version left them.
fn forget_states(store: &mut Store, plan: &Plan) {
    for key in &plan.keys {
        let StoredState::Done { spec, scenario, outcome, sampled, trace: Some(trace) } =
            store.get(*key).unwrap().unwrap().state
        else {
            continue;
        };
        let trace = Some(StoredTrace { has_states: false, ..*trace });
        let counts = Counts::new(CountsForm::Encoded, &scenario, (*outcome).clone()).unwrap();
        let content = NewContent::Done { counts, sampled: Some(sampled), trace };
        store.put(&NewRun { key: *key, spec: *spec, content, cpu_s: 0.0 }).unwrap();
    }
}

#[test]
fn a_trace_without_states_is_run_again_where_a_figure_shows_them() {
    let (bench, plain) = (Bench::new(), traced());
    let (plan, ..) = bench.run(Toy::default(), &plain);
    let whole = bench.canonical(&plain);
    forget_states(&mut bench.store(), &plan);
    // It is as good as any other for whoever shows no state.
    assert_eq!(bench.run(Toy::default(), &plain).2, 0);
    let figure = "[[figures]]\nname = \"a\"\ntitle = \"A\"\nkind = \"trace\"\nshow = [\"state.gain\"]\n\
                  series = \"variant\"\nwhere = { buffer = 50 }\n";
    let shown = crate::testing::study(&format!("{}{figure}", plain.text));
    let (plan, _, runs) = bench.run(Toy::default(), &shown);
    assert_eq!((runs, plan.notes.len()), (4, 4));
    let note = "is run again: the state of its algorithms was not recorded";
    assert!(plan.notes[0].ends_with(note), "{:?}", plan.notes);
    assert_eq!(bench.run(Toy::default(), &shown).2, 0);
    // The samples are the same with and without.
    assert_eq!(bench.canonical(&plain), whole);
}

#[test]
fn a_trace_that_is_gone_or_torn_makes_its_run_missing() {
    let (bench, study) = (Bench::new(), traced());
    bench.run(Toy::default(), &study);
    let whole = bench.canonical(&study);
    let files: Vec<_> = bench.results().runs.iter().filter_map(|run| run.trace.clone()).collect();
    fs::remove_file(files[0].path().unwrap()).unwrap();
    let mut torn = fs::read(files[1].path().unwrap()).unwrap();
    let middle = torn.len() / 2;
    torn[middle] ^= 1;
    fs::write(files[1].path().unwrap(), torn).unwrap();
    let short = fs::read(files[2].path().unwrap()).unwrap();
    fs::write(files[2].path().unwrap(), &short[..short.len() / 2]).unwrap();

    let failed: Vec<String> = (bench.results().runs.iter())
        .filter_map(|run| if let RunState::Failed(why) = &run.state { Some(why.clone()) } else { None })
        .collect();
    assert_eq!(failed.len(), 3);
    assert!(
        failed[0].contains("cannot be read") && failed[0].ends_with("; `cwnd run toy.toml` runs it again")
    );
    assert!(failed[1].contains("is torn, or was changed"), "{}", failed[1]);
    let (plan, _, runs) = bench.run(Toy::default(), &study);
    assert_eq!((plan.notes.len(), runs), (3, 3));
    assert_eq!(bench.canonical(&study), whole);
}

#[test]
fn two_at_once_share_the_work() {
    let (bench, study) = (Bench::new(), Study { repeats: 200, ..study(STUDY) });
    let rans: Vec<RunSummary> = thread::scope(|scope| {
        let one = || bench.run(Toy::default(), &study).1;
        let handles = [scope.spawn(one), scope.spawn(one)];
        handles.map(|handle| handle.join().unwrap()).into()
    });
    for ran in &rans {
        assert_eq!(ran.done + ran.by_others, ran.missing, "{ran:?}");
    }
    let alone = Bench::new();
    alone.run(Toy::default(), &study);
    assert_eq!(bench.canonical(&study), alone.canonical(&study));
}

#[test]
fn time_left_follows_what_runs_took() {
    let study = study(STUDY);
    let bench = Bench::new();
    let plan = plan(&simulator(Toy::default().into()), &study, &bench.store()).unwrap();
    let mut tally = Tally::new(&plan, 2);
    assert_eq!(tally.status(Duration::ZERO).left, None);
    // Each run was expected to take 10 us, and the first takes 1 s: ten others take 10 s, on two threads 5 s. One is about to
    // end.
    let spec = RunSpec::new(&Toy::default(), &plan.tasks[0].scenario());
    let new = NewRun { key: spec.key(), spec, content: NewContent::Failed(String::new()), cpu_s: 1.0 };
    let second = Duration::from_secs(1);
    plan.tasks[..2].iter().for_each(|task| tally.began(task, Duration::ZERO));
    tally.done(&plan.tasks[0], &new, second);
    let status = tally.status(second);
    assert_eq!((status.stored, status.failed, status.total), (1, 1, 12));
    assert!((status.left.unwrap().as_secs_f64() - 5.0).abs() < 1e-6, "{status:?}");
    tally.done(&plan.tasks[1], &new, second);
    tally.by_others(&plan.tasks[2..]);
    assert_eq!(tally.status(second).left, Some(Duration::ZERO));
}

/// [`STUDY`] on both engines: four cells each, three repeats.
fn on_both() -> Study {
    study(&format!("{STUDY}[[axes]]\nname = \"engine\"\nkey = \"engine\"\nvalues = [\"sim\", \"kernel\"]\n"))
}

/// Two engines that know of each other's runs.
fn both(
    lasts: Duration,
    stop: &Arc<AtomicBool>,
    validity_warnings: &[&str],
) -> (Arc<Toy>, Arc<ToyLab>, Engines) {
    let on: Arc<AtomicUsize> = Arc::default();
    let toy = Arc::new(Toy { lasts: Duration::from_millis(5), on: Arc::clone(&on), ..Toy::default() });
    let validity_warnings = validity_warnings.iter().map(|doubt| (*doubt).to_owned()).collect();
    let lab = Arc::new(ToyLab { lasts, stop: Arc::clone(stop), on, validity_warnings, ..ToyLab::default() });
    (toy.clone(), lab.clone(), Engines::new(toy).with(EngineKind::Kernel, Ok(lab)))
}

/// What a progress was told.
#[derive(Default)]
struct Told(Vec<Status>);

impl Progress for Told {
    fn update(&mut self, status: &Status) {
        self.0.push(*status);
    }
}

#[test]
fn runs_in_real_time_come_last_and_are_alone() {
    let (bench, study, stop) = (Bench::new(), on_both(), Arc::default());
    let (toy, lab, engines) = both(Duration::from_millis(120), &stop, &[]);
    let mut store = bench.store();
    let plan = plan(&engines, &study, &store).unwrap();
    assert_eq!((plan.missing_of(EngineKind::Sim), plan.missing_of(EngineKind::Kernel)), (12, 12));
    assert!((plan.wall_s(2) - 12.0 * (0.12 + 10e-6 / 2.0)).abs() < 1e-9, "{}", plan.wall_s(2));
    store.keep_study(&kept(&study, &plan)).unwrap();
    let mut told = Told::default();
    let ran = run(&engines, &plan, &mut store, LIMITS, &mut told, &stop).unwrap();
    // A run that is not alone fails.
    assert_eq!((ran.done, ran.failures.as_slice()), (24, &[][..]));
    assert_eq!((toy.runs.load(Relaxed), lab.runs.load(Relaxed)), (12, 12));
    for status in told.0.iter().filter(|status| status.running.is_some()) {
        let running = status.running.unwrap();
        assert!(status.stored >= 12 && running.engine == EngineKind::Kernel, "{status:?}");
        assert_eq!(study.cells[running.cell].engine, EngineKind::Kernel);
        assert_eq!(running.expected, Duration::from_millis(120));
        assert!(status.left.is_some(), "{status:?}");
    }
    assert!(told.0.iter().any(|status| status.running.is_some()));
    let results = bench.results();
    for run in &results.runs {
        let kernel = study.cells[run.cell].engine == EngineKind::Kernel;
        assert_eq!((run.emulation.is_some(), run.metric("valid").is_some()), (kernel, kernel));
    }
    drop(store);
    // Nothing of it is run again, and each engine has its own runs.
    let (_, lab, engines) = both(Duration::ZERO, &stop, &[]);
    let again = super::plan(&engines, &study, &bench.store()).unwrap();
    assert_eq!((again.missing(), again.present, lab.runs.load(Relaxed)), (0, 24, 0));
}

#[test]
fn a_run_in_real_time_is_ended_and_waited_for() {
    struct StopIn<'a>(&'a AtomicBool);
    impl Progress for StopIn<'_> {
        fn update(&mut self, status: &Status) {
            if status.stored == 14 && status.running.is_some() {
                self.0.store(true, Relaxed);
            }
        }
    }
    let (bench, study, stop) = (Bench::new(), on_both(), Arc::new(AtomicBool::new(false)));
    let (_, lab, engines) = both(Duration::from_millis(400), &stop, &[]);
    let mut store = bench.store();
    let plan = plan(&engines, &study, &store).unwrap();
    store.keep_study(&kept(&study, &plan)).unwrap();
    let ran = run(&engines, &plan, &mut store, LIMITS, &mut StopIn(&stop), &stop).unwrap();
    assert!(ran.stopped, "{ran:?}");
    // The one that was ended is over, did not fail, and is missing.
    assert_eq!(lab.on.load(Relaxed), 0);
    assert_eq!((ran.done, ran.failures.len(), lab.runs.load(Relaxed)), (14, 0, 3));
    let missing = bench.results().runs.iter().filter(|run| run.state == RunState::Missing).count();
    assert_eq!(missing, 10);
    let (_, _, engines) = both(Duration::ZERO, &Arc::default(), &[]);
    assert_eq!(super::plan(&engines, &study, &store).unwrap().missing(), 10);
}

#[test]
fn a_stop_leaves_out_what_is_in_real_time() {
    let (bench, study) = (Bench::new(), Study { repeats: 60, ..on_both() });
    let stop = Arc::new(AtomicBool::new(false));
    let (_, lab, engines) = both(Duration::ZERO, &stop, &[]);
    let mut store = bench.store();
    let plan = plan(&engines, &study, &store).unwrap();
    let ran = run(&engines, &plan, &mut store, LIMITS, &mut StopAt(&stop), &stop).unwrap();
    assert!(ran.stopped && ran.done < 240, "{ran:?}");
    assert_eq!(lab.runs.load(Relaxed), 0);
}

#[test]
fn an_engine_that_is_not_there_refuses_its_cells() {
    let (bench, study) = (Bench::new(), on_both());
    let engines = simulator(Toy::default().into());
    let error = plan(&engines, &study, &bench.store()).unwrap_err();
    assert_eq!(error.to_string(), "engine: there is no laboratory here");
    let error = check(&engines, &study).unwrap_err();
    assert!(matches!(error, RunError::Refused { cell: 1, .. }), "{error:?}");
    // One engine alone needs no other.
    let simulated = study.on_engine(EngineKind::Sim).unwrap();
    assert_eq!(plan(&engines, &simulated, &bench.store()).unwrap().missing(), 12);
}

#[test]
fn results_know_which_engine_ran_them() {
    let stop = Arc::default();
    for text in [on_both().text, STUDY.to_owned()] {
        let bench = Bench::new();
        let study = study(&text).on_engine(EngineKind::Kernel).unwrap();
        assert_eq!(study.engines(), [EngineKind::Kernel]);
        let (_, lab, engines) = both(Duration::ZERO, &stop, &["it was late"]);
        let mut store = bench.store();
        let plan = plan(&engines, &study, &store).unwrap();
        store.keep_study(&kept(&study, &plan)).unwrap();
        run(&engines, &plan, &mut store, LIMITS, &mut (), &stop).unwrap();
        drop(store);
        assert_eq!(lab.runs.load(Relaxed), 12);
        let results = bench.results();
        assert_eq!(results.study.cells, study.cells);
        for run in &results.runs {
            assert_eq!((run.is_valid(), run.metric("valid")), (false, Some(0.0)));
            assert_eq!(run.metric("emulation_late_p99_s"), Some(80e-6));
            assert_eq!(run.emulation.as_ref().map(|e| e.validity_warnings.len()), Some(1));
        }
        assert!(bench.canonical(&results.study).lines().next().unwrap().contains(",valid,"));
    }
}

/// Stored scenarios have no names of groups: the study has them.
#[test]
fn groups_have_the_names_that_the_study_gives_them() {
    let text = STUDY.replace("flows = 2", "topology = \"parking-lot\"\ncross-flows = \"newreno\"");
    let (bench, study) = (Bench::new(), study(&text));
    let (_, ran, _) = bench.run(Toy::default(), &study);
    assert_eq!((ran.done, ran.failures.len()), (12, 0));
    for run in &bench.results().runs {
        assert!(run.metric("own.throughput_bps").is_some() && run.metric("cross.throughput_bps").is_some());
    }
}

#[test]
fn counts_that_are_not_finite_are_a_failed_run() {
    struct Infinite(Toy);
    impl Engine for Infinite {
        fn check(&self, scenario: &cwnd_scenario::Scenario) -> Result<cwnd_scenario::Cost, Vec<Problem>> {
            self.0.check(scenario)
        }
        fn identity(&self, scenario: &cwnd_scenario::Scenario) -> cwnd_scenario::Identity {
            self.0.identity(scenario)
        }
        fn run(&self, scenario: &cwnd_scenario::Scenario) -> Result<cwnd_scenario::Outcome, EngineError> {
            let mut outcome = self.0.run(scenario)?;
            outcome.links[0].waiting_integral = f64::INFINITY;
            Ok(outcome)
        }
    }
    let (bench, study) = (Bench::new(), study(STUDY));
    let mut store = bench.store();
    let engines = Engines::new(Arc::new(Infinite(Toy::default())));
    let plan = plan(&engines, &study, &store).unwrap();
    let ran = run(&engines, &plan, &mut store, LIMITS, &mut (), &AtomicBool::new(false)).unwrap();
    assert_eq!((ran.done, ran.failures.len()), (12, 12));
    assert!(ran.failures[0].2.starts_with("the engine's counts cannot be stored"), "{:?}", ran.failures[0]);
}
