//! A study in its directory: what is left of it is found out, run and stored.

use super::progress::{Announce, Shown};
use crate::{engines, failure::Failure, interrupt};
use cwnd_scenario::Problem;
use cwnd_study::{
    EngineKind, Engines, KeptStudy, Provenance, Results, RunResult, RunScale, Store, StoreErrorKind,
    StoredRun, Study,
    memory::MemoryBudget,
    runner::{self, Checked, Limits, Plan, Progress, RunError, RunSummary, Sweep, SweepError},
};
use std::{path::PathBuf, sync::atomic::AtomicBool};

/// A study that is ready to be run.
pub struct Prepared {
    /// The study.
    pub study: Study,
    /// Where its results are; in memory if nowhere.
    pub directory: Option<PathBuf>,
    /// What is left of it.
    pub plan: Plan,
    store: Store,
    engines: Engines,
    memory: MemoryBudget,
}

impl Prepared {
    /// Opens the store of a study, in a directory or in memory, and finds out what it has not yet. `command` is what makes
    /// the same results; runs may use so much `memory` together.
    ///
    /// # Errors
    /// If an engine does not take the study, or is not there, or the directory is not for it, or a run needs too much memory.
    pub fn new(
        study: Study,
        engines: Engines,
        directory: Option<PathBuf>,
        command: String,
        memory: MemoryBudget,
    ) -> Result<Prepared, Failure> {
        // Before anything is written.
        let checked = runner::check(&engines, &study).and_then(|checked| checked.fit(memory, 0.0));
        let checked = checked.map_err(|error| refused(&study, &error))?;
        Prepared::checked(study, checked, engines, directory, command, memory)
    }

    /// Does as [`Prepared::new`] for a study that these engines have checked, and whose largest run fits into memory.
    ///
    /// # Errors
    /// If the directory is not for the study.
    pub(crate) fn checked(
        study: Study,
        checked: Checked,
        engines: Engines,
        directory: Option<PathBuf>,
        command: String,
        memory: MemoryBudget,
    ) -> Result<Prepared, Failure> {
        let failed = |error| Failure::store(&error);
        let mut store =
            directory.as_deref().map_or_else(|| Ok(Store::in_memory()), Store::create).map_err(failed)?;
        let kept_study = match store.study() {
            // The study is about to be kept again.
            Err(error) if error.kind == StoreErrorKind::Damaged => None,
            kept_study => kept_study.map_err(failed)?,
        };
        let other = kept_study.filter(|kept| kept.name != study.name);
        if let (Some(other), Some(directory)) = (other, &directory) {
            return Err(Failure::bad_input(format!(
                "`{}` has the results of another study, `{}`; choose another directory {}",
                directory.display(),
                other.name,
                where_to_choose(&command)
            )));
        }
        let plan = runner::plan_checked(checked, &engines, &study, &store);
        let plan = plan.map_err(|error| refused(&study, &error))?;
        store.keep_inputs(&study).map_err(failed)?;
        store.keep_study(&kept(&study, &plan, command)).map_err(failed)?;
        Ok(Prepared { study, directory, plan, store, engines, memory })
    }

    /// Runs what is left. Who is interrupted keeps what is stored.
    ///
    /// # Errors
    /// If the store cannot be written, or the user has stopped it.
    pub fn run(&mut self, threads: usize, progress: &mut dyn Progress) -> Result<RunSummary, Failure> {
        let stop = interrupt::catch().map_err(Failure::broken)?;
        self.run_until(threads, progress, &stop)
    }

    /// Runs what is left, until `stop` is true.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn run_until(
        &mut self,
        threads: usize,
        progress: &mut dyn Progress,
        stop: &AtomicBool,
    ) -> Result<RunSummary, Failure> {
        let limits = Limits { threads, memory: self.memory.bytes };
        let ran = runner::run(&self.engines, &self.plan, &mut self.store, limits, progress, stop);
        ran.map_err(|error| refused(&self.study, &error))
    }

    /// Begins to have what is left done elsewhere, by this many workers.
    ///
    /// # Errors
    /// If a cell is for an engine that is on this machine alone, or the store cannot be read.
    pub fn sweep(&self, workers: usize) -> Result<Sweep, Failure> {
        if let Some(kind) = self.study.engines().into_iter().find(|kind| kind.is_kernels()) {
            return Err(Failure::bad_input(format!(
                "{}: it has cells for {}, which is on one machine: an executor runs the simulator alone. Leave them out \
                 (`--engine sim`), or run the study without an executor",
                self.study.name,
                kind.title()
            )));
        }
        Sweep::new(&self.engines, &self.plan, &self.store, workers).map_err(|error| Failure::store(&error))
    }

    /// Stores results of a batch of a sweep.
    ///
    /// # Errors
    /// If these are none, or those of another version, or the store cannot be written.
    pub fn put(&mut self, sweep: &mut Sweep, results: &[u8]) -> Result<(), Failure> {
        sweep.put(&mut self.store, results).map_err(|error| match &error {
            SweepError::Batch(_) => Failure::bad_input(error.to_string()),
            SweepError::Store(error) => Failure::store(error),
        })
    }

    /// Does what is missing and shows the progress, with as many threads as a flag says or as there are cores. Returns what
    /// was done, and how many ran at once at most.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub(crate) fn run_shown(
        &mut self,
        threads: Option<u16>,
        announce: Announce,
    ) -> Result<(RunSummary, usize), Failure> {
        let threads = super::threads(threads);
        let engines = self.plan.engines();
        let alone = !engines.is_empty() && engines.iter().all(|engine| engine.is_real_time());
        let runs = if alone { 1 } else { threads.min(self.plan.missing().max(1)) };
        let mut shown = Shown::new(&self.study, &self.plan, runs, announce);
        let ran = self.run(threads, &mut shown);
        shown.clear();
        Ok((ran?, runs))
    }

    /// What it says when the user has stopped it.
    pub(crate) fn stopped(&self, ran: &RunSummary) -> Failure {
        let done = self.plan.present + ran.done + ran.by_others - ran.failures.len();
        let all = self.plan.present + self.plan.missing();
        Failure::stopped(match &self.directory {
            None => format!("stopped: {done} of {all} runs are done"),
            Some(directory) => format!(
                "stopped: {done} of {all} runs are stored in {}; run the same command again to continue",
                directory.display()
            ),
        })
    }

    /// Returns what the runs gave, and what `make` makes of each and of its row of the store.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn results_with<T: Send>(
        &self,
        make: &(dyn Fn(&RunResult, Option<StoredRun>) -> T + Sync),
    ) -> Result<(Results, Vec<T>), Failure> {
        Results::with_each(self.study.clone(), &self.store, make).map_err(|error| Failure::store(&error))
    }

    /// Returns the store, which knows the runs that were done.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What the runs gave.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn results(&self) -> Result<Results, Failure> {
        Results::of(self.study.clone(), &self.store).map_err(|error| Failure::store(&error))
    }
}

/// What of a study can be run here. At the sample scale, which machines check at every change, the cells for kernels are left
/// out, loudly, where one does not take them; none if that is all of them. At the other scales they stay, and are refused.
pub fn possible(study: Study) -> Option<Study> {
    if study.scale() != RunScale::Sample {
        return Some(study);
    }
    let engines = engines::of_study(&study);
    let of_kernel = |cell: &usize| study.cells[*cell].engine.is_kernels();
    let cells: Vec<usize> = (0..study.cells.len()).filter(of_kernel).collect();
    let refused = |cell: &usize| {
        let kind = study.cells[*cell].engine;
        let problems = engines.of(kind).check(&study.scenario(*cell, 0)).err()?;
        let why = engines.why_not(kind).map(str::to_owned);
        Some(why.unwrap_or_else(|| refusal(&study, *cell, &problems)))
    };
    let Some(why) = cells.iter().find_map(refused) else { return Some(study) };
    let (cells, all) = (cells.len(), study.cells.len());
    crate::terminal::tell!("SKIPPED: {}: {cells} of {all} cells, those for kernels: {why}", study.name);
    if cells == all { None } else { study.on_engine(EngineKind::Sim).ok() }
}

/// Why an engine does not take a cell: the first thing that is wrong.
pub fn refusal(study: &Study, cell: usize, problems: &[Problem]) -> String {
    let first = problems.first().map(Problem::to_string).unwrap_or_default();
    let label = study.cell_label(cell);
    if label.is_empty() { first } else { format!("{first} (in `{label}`)") }
}

fn kept(study: &Study, plan: &Plan, command: String) -> KeptStudy {
    KeptStudy {
        name: study.name.clone(),
        text: study.text.clone(),
        scale: study.scale(),
        repeats: study.repeats,
        keys: plan.keys.clone(),
        provenance: Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("CWND_COMMIT").map(str::to_owned),
            command,
            engine: Provenance::engines(&study.engines()),
        },
    }
}

/// What engines found wrong with cells: at its place in the study's file, or if there is none, as `described` for each cell.
pub fn refused_at(
    study: &Study,
    found: &[(usize, Problem)],
    described: impl Fn(usize, Problem) -> Problem,
) -> Failure {
    /// The first problems are shown.
    const MOST: usize = 20;
    match study.refusal(found) {
        Some(error) => Failure::bad_input(error.to_string()),
        None => {
            let described = found.iter().take(MOST).map(|(cell, problem)| described(*cell, problem.clone()));
            Failure::problems(&described.collect::<Vec<_>>())
        }
    }
}

/// Says how the directory of a study is chosen where this command is given: Python has arguments instead of flags.
fn where_to_choose(command: &str) -> &'static str {
    if command.starts_with("cwnd.") {
        "(`directory` of `Study.run`, `save` of `cwnd.compare`)"
    } else if ["cwnd compare ", "cwnd advise "].iter().any(|name| command.starts_with(name)) {
        "with --save"
    } else {
        "with --out"
    }
}

/// What an engine or the store did not take.
pub fn refused(study: &Study, error: &RunError) -> Failure {
    let cell = |cell: usize| match study.axes.is_empty() {
        true => study.name.clone(),
        false => format!("{}: {}", study.name, study.cell_label(cell)),
    };
    match error {
        RunError::Refused { cell: place, problems } => {
            let of_cell: Vec<(usize, Problem)> = problems.iter().map(|p| (*place, p.clone())).collect();
            refused_at(study, &of_cell, |_, p| Problem {
                place: format!("{}: {}", cell(*place), p.place),
                ..p
            })
        }
        RunError::TooLarge { cell: place, memory } => Failure::bad_input(format!(
            "{}: the run is too large: {memory}: take fewer flows, a lower rate or delay, smaller buffers, or a longer \
             time between samples; or say with --memory what may be used",
            cell(*place)
        )),
        RunError::Store(error) => Failure::store(error),
    }
}
