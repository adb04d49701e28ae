//! The result directories that the command line names. Requests select one by its number in this list, never by a path.

use crate::{refusal::Refusal, workbench::Workbench};
use axum::http::StatusCode;
use cwnd_study::{
    EngineKind, KeptStudy, Results, RunCounts, RunScale, RunState, Store, StoreErrorKind, Study,
    claims::{self, Judgement},
    store::DATABASE,
};
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// How many directories deep results are looked for.
const DEPTH: usize = 4;
/// Directories that are listed at most.
const MOST: usize = 1_000;

/// A directory of results, and the study file that fills it if the command line names one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorePlace {
    /// The directory; it may not exist yet.
    pub directory: PathBuf,
    /// The study file.
    pub file: Option<PathBuf>,
}

/// The list of stores.
pub struct Stores {
    places: Vec<StorePlace>,
    workbench: Arc<dyn Workbench>,
    /// The studies that were read last.
    studies: Vec<Mutex<Option<CachedStudy>>>,
}

/// A study, and what of the store it was read from.
struct CachedStudy {
    kept: KeptStudy,
    study: Arc<Study>,
}

/// A study as it is in its store, or as its file would begin one.
pub struct StoredStudy {
    /// The study.
    pub study: Arc<Study>,
    /// How the store keeps it; none before the first run.
    pub kept: Option<KeptStudy>,
    /// The command that makes the same results.
    pub command: String,
}

/// A line of the list.
#[derive(Serialize)]
pub struct Summary {
    id: usize,
    directory: String,
    /// None if the store cannot be read.
    name: Option<String>,
    title: String,
    question: String,
    scale: &'static str,
    engines: Vec<String>,
    cells: usize,
    repeats: u32,
    claims: usize,
    runs: usize,
    done: usize,
    failed: usize,
    /// Its file, if that has changed since the runs.
    changed: Option<String>,
    /// Why it cannot be read.
    problem: Option<String>,
}

/// What came of a study, claim by claim.
#[derive(Serialize)]
pub struct Detail {
    command: String,
    version: String,
    /// Runs that failed, with the reasons: the first of them.
    failures: Vec<String>,
    claims: Vec<ClaimResult>,
    verdicts: Vec<VerdictCount>,
}

#[derive(Serialize)]
struct ClaimResult {
    text: String,
    stated: Option<String>,
    verdict: &'static str,
    /// With its interval.
    measured: Option<String>,
    ground: String,
}

#[derive(Serialize)]
struct VerdictCount {
    verdict: &'static str,
    claims: usize,
}

/// Finds the result directories that these arguments of the command line mean: a directory of results, a directory that has such directories in it, or a study
/// file. Without arguments it is `results`, if that exists.
///
/// # Errors
/// An argument is none of these.
pub fn find(arguments: &[PathBuf], workbench: &dyn Workbench) -> Result<Vec<StorePlace>, String> {
    let mut places = Vec::new();
    if arguments.is_empty() {
        collect(Path::new("results"), DEPTH, &mut places);
    }
    for argument in arguments {
        let shown = argument.display();
        if argument.is_file() && argument.extension().is_some_and(|extension| extension == "toml") {
            let study = workbench.load_study(argument)?;
            let directory = Path::new("results").join(&study.name);
            places.push(StorePlace { directory, file: Some(argument.clone()) });
        } else if argument.is_dir() {
            let before = places.len();
            collect(argument, DEPTH, &mut places);
            if places.len() == before {
                return Err(format!(
                    "`{shown}`: there are no results in this directory; `cwnd run STUDY --out {shown}` makes some, and `cwnd serve STUDY` \
                     lists a study that was not run yet"
                ));
            }
        } else if argument.exists() {
            return Err(format!(
                "`{shown}`: it is neither a directory of results nor a study file (`.toml`)"
            ));
        } else {
            return Err(format!("`{shown}`: there is no such directory or study file"));
        }
    }
    // A study file and its directory are the same store.
    let mut unique: Vec<StorePlace> = Vec::new();
    for place in places {
        match unique.iter_mut().find(|other| other.directory == place.directory) {
            Some(other) => other.file = other.file.take().or(place.file),
            None => unique.push(place),
        }
    }
    Ok(unique)
}

/// Lists directories with a database, this one or those in it. Links are not followed below the named directory.
fn collect(directory: &Path, depth: usize, places: &mut Vec<StorePlace>) {
    if directory.join(DATABASE).is_file() {
        places.push(StorePlace { directory: directory.into(), file: None });
        return;
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut inside: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    inside.sort();
    for path in inside.into_iter().take_while(|_| depth > 0) {
        if places.len() < MOST {
            collect(&path, depth - 1, places);
        }
    }
}

impl Stores {
    /// Creates the list.
    pub fn new(places: Vec<StorePlace>, workbench: Arc<dyn Workbench>) -> Stores {
        let studies = places.iter().map(|_| Mutex::default()).collect();
        Stores { places, workbench, studies }
    }

    /// Returns the directory with this number.
    ///
    /// # Errors
    /// If the list has no such number.
    pub fn place(&self, id: usize) -> Result<&StorePlace, Refusal> {
        self.places.get(id).ok_or_else(|| {
            let message = format!("there is no store {id}: the server has {}, from 0 on", self.places.len());
            Refusal::new(StatusCode::NOT_FOUND, &message)
        })
    }

    /// Returns a line for each store. This reads files.
    pub fn list(&self) -> Vec<Summary> {
        (0..self.places.len()).map(|id| self.summary(id)).collect()
    }

    fn summary(&self, id: usize) -> Summary {
        let directory = self.places[id].directory.display().to_string();
        let (stored, counts) = match self.counted(id) {
            Ok(counted) => counted,
            Err(problem) => {
                let (title, question) = (directory.clone(), String::new());
                return Summary {
                    id,
                    directory,
                    name: None,
                    title,
                    question,
                    scale: "",
                    engines: Vec::new(),
                    cells: 0,
                    repeats: 0,
                    claims: 0,
                    runs: 0,
                    done: 0,
                    failed: 0,
                    changed: None,
                    problem: Some(problem),
                };
            }
        };
        let study = &stored.study;
        Summary {
            id,
            directory,
            name: Some(study.name.clone()),
            title: study.title.clone(),
            question: study.question.clone(),
            scale: study.scale().name(),
            engines: study.engines().iter().map(EngineKind::to_string).collect(),
            cells: study.cells.len(),
            repeats: study.repeats,
            claims: study.claims.len(),
            runs: stored
                .kept
                .as_ref()
                .map_or(study.cells.len() * study.repeats as usize, |kept| kept.keys.len()),
            done: counts.done,
            failed: counts.failed,
            changed: self.changed_file(id, &stored).map(|file| file.display().to_string()),
            problem: None,
        }
    }

    fn counted(&self, id: usize) -> Result<(StoredStudy, RunCounts), String> {
        let stored = self.study(id)?;
        let Some(kept) = &stored.kept else { return Ok((stored, RunCounts::default())) };
        let store = Store::open(&self.places[id].directory).map_err(|error| error.to_string())?;
        let counts = store.count(&kept.keys).map_err(|error| error.to_string())?;
        Ok((stored, counts))
    }

    /// Returns the study of a store, or that of its file if the store has none yet.
    ///
    /// # Errors
    /// If neither can be read.
    pub fn study(&self, id: usize) -> Result<StoredStudy, String> {
        let StorePlace { directory, file } = &self.places[id];
        let store = match Store::open(directory) {
            Ok(store) => Some(store),
            Err(error) if error.kind == StoreErrorKind::Missing && file.is_some() => None,
            Err(error) => return Err(error.to_string()),
        };
        let kept = match &store {
            Some(store) => store.study().map_err(|error| error.to_string())?,
            None => None,
        };
        match (store, kept, file) {
            (Some(store), Some(kept), _) => {
                let study = self.cached(id, &kept, &store)?;
                let command = kept.provenance.command.clone();
                Ok(StoredStudy { study, kept: Some(kept), command })
            }
            (_, None, Some(file)) => {
                let study = self.workbench.load_study(file)?.at_scale(RunScale::Paper);
                let command = format!("cwnd run {}", quoted(&file.to_string_lossy()));
                Ok(StoredStudy { study: Arc::new(study), kept: None, command })
            }
            (store, ..) => Err(match store.map(|store| Results::study(&store)) {
                Some(Err(error)) => error.to_string(),
                _ => format!("`{}`: no study was run here yet", directory.display()),
            }),
        }
    }

    /// Returns the study to run: that of a store, or that of its file if the file has changed since. What the command of the store's runs chose, scale,
    /// repeats and engine, stays.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn study_to_run(&self, id: usize) -> Result<StoredStudy, String> {
        let stored = self.study(id)?;
        let Some(file) = self.changed_file(id, &stored) else { return Ok(stored) };
        let study = self.workbench.load_study(file)?;
        let store = Store::open(&self.places[id].directory).map_err(|error| error.to_string())?;
        let study = Results::as_run_before(&study, &store).map_err(|error| error.to_string())?;
        Ok(StoredStudy { study: Arc::new(study), ..stored })
    }

    /// Returns the study file, if its text is not that of the study that was run.
    fn changed_file(&self, id: usize, stored: &StoredStudy) -> Option<&Path> {
        let (file, kept) = (self.places[id].file.as_deref()?, stored.kept.as_ref()?);
        // A file that is gone changes nothing.
        fs::read_to_string(file).is_ok_and(|text| text != kept.text).then_some(file)
    }

    /// Returns the study of a store; it is read again only if the store keeps another.
    fn cached(&self, id: usize, kept: &KeptStudy, store: &Store) -> Result<Arc<Study>, String> {
        let mut cached = self.studies[id].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(CachedStudy { study, .. }) = cached.as_ref().filter(|cached| cached.kept == *kept) {
            return Ok(Arc::clone(study));
        }
        let study = Arc::new(Results::study(store).map_err(|error| error.to_string())?);
        *cached = Some(CachedStudy { kept: kept.clone(), study: Arc::clone(&study) });
        Ok(study)
    }

    /// Returns what came of a study. This reads all of its runs.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn detail(&self, id: usize) -> Result<Detail, Refusal> {
        const FAILURES: usize = 10;
        let results = self.results(id)?;
        let study = &results.study;
        let verdicts = claims::evaluate(&results);
        let count = |judgement: &Judgement| VerdictCount {
            verdict: judgement.name(),
            claims: verdicts.iter().filter(|verdict| verdict.judgement == *judgement).count(),
        };
        let claims = verdicts.iter().map(|verdict| ClaimResult {
            text: study.claims[verdict.claim].text.clone(),
            stated: study.claims[verdict.claim].stated.clone(),
            verdict: verdict.judgement.name(),
            measured: cwnd_report::report::measured(study, verdict),
            ground: verdict.ground.clone(),
        });
        let failure = |run: &cwnd_study::RunResult| match &run.state {
            RunState::Failed(reason) => {
                Some(format!("{} (seed {}): {reason}", study.cell_label(run.cell), run.seed))
            }
            _ => None,
        };
        Ok(Detail {
            command: results.provenance.command.clone(),
            version: results.provenance.version.clone(),
            failures: results.runs.iter().filter_map(failure).take(FAILURES).collect(),
            claims: claims.collect(),
            verdicts: Judgement::ALL.iter().map(count).filter(|count| count.claims > 0).collect(),
        })
    }

    /// Returns the page of a study's results, as `cwnd report` writes it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn report(&self, id: usize) -> Result<String, Refusal> {
        Ok(cwnd_report::report::html(&self.results(id)?))
    }

    fn results(&self, id: usize) -> Result<Results, Refusal> {
        Results::load(&self.place(id)?.directory).map_err(|error| match error.kind {
            StoreErrorKind::Missing | StoreErrorKind::Foreign => {
                Refusal::new(StatusCode::NOT_FOUND, &error.to_string())
            }
            _ => Refusal::broken(&error.to_string()),
        })
    }
}

/// Returns a word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
