//! The results that a store has.

use super::{Results, RunResult, RunState, in_order, measure};
use crate::store::{StoreView, inputs};
use crate::{
    EngineKind, KeptStudy, Provenance, ScenarioText, Store, StoreError, StoreErrorKind, StoredRun,
    StoredState, Study, VERSION, metric_values::SharedNames,
};
use cwnd_experiment::Defaults;
use cwnd_scenario::Scenario;
use std::{borrow::Cow, collections::BTreeMap, convert::Infallible, path::Path};

impl Results {
    /// The results in a directory: the study as it was last run, and what its runs gave. Runs that are missing,
    /// failed or cannot be used are there as such.
    ///
    /// # Errors
    /// If there are none, or they cannot be read.
    pub fn load(directory: &Path) -> Result<Results, StoreError> {
        let store = Store::open(directory)?;
        Results::of(Results::study(&store)?, &store)
    }

    /// The study that was last run in a store, as it was run.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn study(store: &Store) -> Result<Study, StoreError> {
        let kept = kept(store)?;
        let study = kept_study(&store.place(), &kept, Defaults::Current)?;
        if gave(&study, &kept, store)? {
            return Ok(study);
        }
        // If neither gave what is stored, reading the results tells the difference.
        match kept_study(&store.place(), &kept, Defaults::Ns2) {
            Ok(earlier) if gave(&earlier, &kept, store)? => Ok(earlier),
            _ => Ok(study),
        }
    }

    /// Returns a study, such as that of a file that has changed since, as the study of a store was last run: at the same scale, and with the repeats and the
    /// engine of that run where its command chose others than its file says.
    ///
    /// # Errors
    /// If the store has no study, or the engine has no cell of this one.
    pub fn as_run_before(study: &Study, store: &Store) -> Result<Study, StoreError> {
        let kept = kept(store)?;
        let written = written_study(&store.place(), &kept, Defaults::Current)?;
        let mut again = study.at_scale(kept.scale);
        if kept.repeats != written.repeats {
            again.repeats = kept.repeats;
        }
        on_chosen_engine(&store.place(), again, chosen_engine(&kept, &written))
    }

    /// What a store has of the study that was last run in it.
    ///
    /// # Errors
    /// If the store cannot be read, or its study has other runs, or a run's stored scenario is not the one that the study
    /// gives today.
    pub fn of(study: Study, store: &Store) -> Result<Results, StoreError> {
        Ok(Results::with_each(study, store, &|_, _| ())?.0)
    }

    /// Returns the same, and what `make` makes of each run and its row of the store, in the order of the runs. Not all rows are in
    /// memory at once. Several threads read runs and call `make`. Derived metrics are not there yet.
    ///
    /// # Errors
    /// As [`Results::of`].
    pub fn with_each<T: Send>(
        study: Study,
        store: &Store,
        make: &(dyn Fn(&RunResult, Option<StoredRun>) -> T + Sync),
    ) -> Result<(Results, Vec<T>), StoreError> {
        let kept = kept(store)?;
        let order: Vec<usize> = (0..kept.keys.len()).collect();
        let (mut runs, mut all) = (Vec::with_capacity(order.len()), Vec::with_capacity(order.len()));
        let maker = || {
            |_: usize, run: RunResult, row: Option<StoredRun>| {
                let made = make(&run, row);
                (run, made)
            }
        };
        let read = in_order((&study, store, &kept), &order, &maker, |(run, made)| {
            runs.push(run);
            all.push(made);
            Ok::<(), Infallible>(())
        })?;
        let Ok(()) = read;
        let mut results = Results { study, runs, provenance: kept.provenance };
        results.derive();
        Ok((results, all))
    }
}

/// Reads the runs of a study one by one, in any order. Derived metrics are not there.
pub(super) struct RunReader<'a> {
    study: &'a Study,
    store: &'a Store,
    kept: &'a KeptStudy,
    flow_metrics: Vec<&'a str>,
    today: Option<Today>,
    names: SharedNames,
    view: Option<StoreView<'a>>,
    /// How many runs the view has been read for.
    viewed: usize,
}

/// The most runs that are read in one view.
const VIEW: usize = 256;

/// What a study gives today for the repeats of a cell with the same time between samples.
struct Today {
    cell: usize,
    /// Without labels ([`Scenario::without_labels`]).
    scenario: Scenario,
    /// The names of its flows' groups.
    groups: Vec<Option<String>>,
}

impl<'a> RunReader<'a> {
    /// Begins to read the runs of the study that is kept in a store.
    ///
    /// # Errors
    /// If that study has other runs.
    pub fn new(study: &'a Study, store: &'a Store, kept: &'a KeptStudy) -> Result<RunReader<'a>, StoreError> {
        if kept.keys.len() != study.cells.len() * study.repeats as usize {
            let reason = format!(
                "the store has {} runs of the study, and the study {} cells with {} repeats; run it again: `{}`",
                kept.keys.len(),
                study.cells.len(),
                study.repeats,
                kept.provenance.command
            );
            return Err(StoreError::new(&store.place(), StoreErrorKind::Foreign, reason));
        }
        let (flow_metrics, names) = (study.flow_metrics_asked(), SharedNames::default());
        Ok(RunReader { study, store, kept, flow_metrics, today: None, names, view: None, viewed: 0 })
    }

    /// Lets others empty their log while nothing is read.
    pub fn pause(&mut self) {
        self.view = None;
    }

    /// Reads a run by its place: cell by cell, repeats in order. Returns its row of the store as well.
    ///
    /// # Errors
    /// If the store cannot be read, or the run's stored scenario is not the one that the study gives today.
    pub fn read(&mut self, place: usize) -> Result<(RunResult, Option<StoredRun>), StoreError> {
        let (study, store) = (self.study, self.store);
        if self.view.is_none() || self.viewed == VIEW {
            // The former view ends before the next one begins.
            self.view = None;
            (self.view, self.viewed) = (Some(store.view()?), 0);
        }
        self.viewed += 1;
        let (cell, repeat) = (place / study.repeats as usize, (place % study.repeats as usize) as u32);
        let seed = study.seed_of(cell, repeat);
        let row = store.get(self.kept.keys[place])?;
        let (mut emulation, mut flows) = (None, BTreeMap::new());
        let (state, trace) = match row.as_ref().map(|row| &row.state) {
            None => (RunState::Missing, None),
            Some(StoredState::Failed(reason)) => (RunState::Failed(reason.clone()), None),
            Some(StoredState::Unusable(reason)) => {
                let command = &self.kept.provenance.command;
                (RunState::Failed(format!("{reason}; `{command}` runs it again")), None)
            }
            Some(StoredState::Done { spec, scenario, outcome, sampled, trace }) => {
                let version = row.as_ref().map_or("", |row| &row.version);
                let today = self.today(cell, repeat);
                // Scenarios that are equal have equal texts, which take longer to write than the scenarios to compare.
                let is_todays = **scenario == today.scenario;
                if let Some(reason) = (!is_todays)
                    .then(|| difference(&spec.scenario, &ScenarioText::of(&today.scenario), version))
                    .flatten()
                {
                    let place = format!("{} (repeat {repeat})", study.cell_label(cell));
                    let place = place.trim_start();
                    let command = Provenance::command_in(&self.kept.provenance.command, &store.place());
                    let reason = format!("{place}: {reason}; `{command}` runs it again");
                    return Err(StoreError::new(&store.place(), StoreErrorKind::Foreign, reason));
                }
                let scenario = labelled(scenario, &today.groups);
                let metrics;
                (metrics, flows) = measure(&mut self.names, &self.flow_metrics, &scenario, outcome, sampled);
                emulation = outcome.emulation.clone().map(Box::new);
                (RunState::Done(metrics), trace.as_ref().map(|trace| trace.samples.clone()))
            }
        };
        Ok((RunResult { cell, repeat, seed, state, trace, emulation, flows }, row))
    }

    /// Returns what the study gives today for a run.
    fn today(&mut self, cell: usize, repeat: u32) -> &Today {
        let (seed, sample) = (self.study.seed_of(cell, repeat), self.study.sample_of(cell, repeat));
        let is_same = |Today { cell: of, scenario, .. }: &Today| {
            *of == cell && scenario.sample == sample && scenario.arrivals.is_none()
        };
        let mut today = self.today.take().filter(is_same).unwrap_or_else(|| {
            let mut scenario = self.study.scenario(cell, repeat);
            let groups = scenario.take_labels();
            Today { cell, scenario, groups }
        });
        today.scenario.seed = seed;
        self.today.insert(today)
    }
}

/// Returns whether a study gives the scenario of the first run that is stored of it, or whether none is.
fn gave(study: &Study, kept: &KeptStudy, store: &Store) -> Result<bool, StoreError> {
    let places = (0..study.cells.len()).flat_map(|cell| (0..study.repeats).map(move |i| (cell, i)));
    for ((cell, repeat), key) in places.zip(&kept.keys) {
        if let Some(StoredState::Done { spec, .. }) = store.get(*key)?.map(|row| row.state) {
            return Ok(spec.scenario == ScenarioText::of(&study.scenario(cell, repeat)));
        }
    }
    Ok(true)
}

/// Says in what the scenario of a stored run differs from the one that its study gives today; none if it does not.
/// Another version of cwnd may have other defaults, or the study's text was changed.
fn difference(stored: &ScenarioText, today: &ScenarioText, version: &str) -> Option<String> {
    if stored == today {
        return None;
    }
    let differences = stored.differences(today);
    let first = differences.first().map_or_else(String::new, |first| {
        let [then, now] = first.values.each_ref().map(|value| value.as_deref().unwrap_or("absent"));
        format!("{}: {then}, today {now}", first.path)
    });
    let more = match differences.len() {
        0 | 1 => String::new(),
        several => format!(" (and {} more)", several - 1),
    };
    Some(format!(
        "its stored scenario is not the one that the study gives today: {first}{more}; cwnd {version} stored it, and \
         this is {VERSION}"
    ))
}

/// Returns a stored scenario with the names that the study has for its groups of flows.
fn labelled<'a>(stored: &'a Scenario, groups: &[Option<String>]) -> Cow<'a, Scenario> {
    if groups.iter().all(Option::is_none) {
        return Cow::Borrowed(stored);
    }
    let mut scenario = stored.clone();
    for (flow, group) in scenario.flows.iter_mut().zip(groups) {
        flow.group.clone_from(group);
    }
    Cow::Owned(scenario)
}

/// Returns the study that was last run in a store.
///
/// # Errors
/// If there is none, or it cannot be read.
pub(crate) fn kept(store: &Store) -> Result<KeptStudy, StoreError> {
    store.study()?.ok_or_else(|| {
        let reason = "no study was run here yet; `cwnd run STUDY --out DIR` runs one";
        StoreError::new(&store.place(), StoreErrorKind::Missing, reason)
    })
}

/// The study of a store, as it was run.
fn kept_study(directory: &Path, kept: &KeptStudy, defaults: Defaults) -> Result<Study, StoreError> {
    let mut study = written_study(directory, kept, defaults)?;
    let engine = chosen_engine(kept, &study);
    study.repeats = kept.repeats;
    on_chosen_engine(directory, study, engine)
}

/// The study of a store at its scale, as its text has it. Algorithms are not checked: these have been run, whether or not they are still
/// there.
fn written_study(directory: &Path, kept: &KeptStudy, defaults: Defaults) -> Result<Study, StoreError> {
    let file = directory.join("study.toml");
    let read = |path: &str| inputs::read(directory, path);
    let study =
        Study::parse_with(&kept.name, &file.display().to_string(), &kept.text, &|_| Ok(()), defaults, &read)
            .map_err(|error| {
                StoreError::new(directory, StoreErrorKind::Foreign, format!("its study: {error}"))
            })?;
    Ok(study.at_scale(kept.scale))
}

/// Returns the engine by which a study was run, if it is another one than its text says, or one alone of those that the text names.
fn chosen_engine(kept: &KeptStudy, written: &Study) -> Option<EngineKind> {
    kept.provenance.engine.parse::<EngineKind>().ok().filter(|engine| written.engines() != [*engine])
}

fn on_chosen_engine(directory: &Path, study: Study, engine: Option<EngineKind>) -> Result<Study, StoreError> {
    match engine {
        None => Ok(study),
        Some(engine) => study
            .on_engine(engine)
            .map_err(|why| StoreError::new(directory, StoreErrorKind::Foreign, format!("its study: {why}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunScale;

    const TEXT: &str = "title = \"A\"\nquestion = \"B\"\n[run]\nrepeats = 5\nmetrics = [\"throughput_bps\"]\n[[axes]]\nname = \"algorithm\"\n\
                        key = \"algorithm\"\nvalues = [\"cubic\"]\n[quick]\nrepeats = 2\n";

    #[test]
    fn a_changed_study_has_what_the_command_before_chose() {
        let read = |text: &str| Study::parse("a", "a.toml", text, &|_| Ok(())).expect("it is a study");
        let changed = read(&TEXT.replace("repeats = 5", "repeats = 6").replace("repeats = 2", "repeats = 3"));
        let again = |scale, repeats, engine: &str| {
            let mut store = Store::in_memory();
            let provenance = Provenance { engine: engine.to_owned(), ..Provenance::default() };
            let kept = KeptStudy {
                name: "a".to_owned(),
                text: TEXT.to_owned(),
                scale,
                repeats,
                keys: Vec::new(),
                provenance,
            };
            store.keep_study(&kept).expect("it is kept");
            let study = Results::as_run_before(&changed, &store).expect("it can be run again");
            (study.scale(), study.repeats, study.engines())
        };
        let sim = vec![EngineKind::Sim];
        assert_eq!(
            again(RunScale::Paper, 5, "sim"),
            (RunScale::Paper, 6, sim.clone()),
            "the file has these repeats"
        );
        assert_eq!(again(RunScale::Paper, 7, "sim"), (RunScale::Paper, 7, sim.clone()));
        assert_eq!(again(RunScale::Quick, 2, "sim"), (RunScale::Quick, 3, sim.clone()));
        assert_eq!(again(RunScale::Quick, 9, "sim"), (RunScale::Quick, 9, sim));
        assert_eq!(again(RunScale::Paper, 7, "kernel"), (RunScale::Paper, 7, vec![EngineKind::Kernel]));
    }
}
