//! Studies: read, checked and run.

use crate::algorithm::AlgorithmClass;
use crate::engine::{Classes, PythonEngine};
use crate::errors::{self, InputError};
use crate::results::Results;
use crate::sweep::Sweep;
use cwnd::embedding::{self, Prepared};
use cwnd_gym::AGENT;
use cwnd_scenario::{AlgorithmSpec, Scenario};
use cwnd_study::{
    EngineKind, Engines, Named, RunScale,
    runner::{self, Progress, Status},
};
use pyo3::prelude::*;
use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, TryLockError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

/// How often it checks for Ctrl-C.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// Does what `cwnd evaluate` does with these arguments, and returns the ledger as JSON. The algorithm may be one of the classes.
#[pyfunction]
pub fn evaluation(
    py: Python<'_>,
    arguments: Vec<String>,
    classes: Vec<Py<AlgorithmClass>>,
) -> PyResult<String> {
    let python = Arc::new(PythonEngine::new(Classes::new(&classes)));
    let stop = embedding::stop();
    let evaluate = || {
        let engines = |study: &cwnd_study::Study| {
            embedding::engines(study).with(EngineKind::Sim, Ok(Arc::clone(&python) as _))
        };
        embedding::evaluation(&arguments, &engines)
    };
    let _alone = alone(py)?;
    let (done, interrupted) = py.detach(|| {
        let ended = until_interrupted(evaluate, &stop);
        stop.store(false, Ordering::Relaxed);
        ended
    });
    let raised = python.end(py);
    if let Some(error) = interrupted {
        return Err(error);
    }
    done.map_err(|failure| raised.unwrap_or_else(|| errors::failure(failure)))
}

/// Waits for the evaluations of other threads: all have one flag.
///
/// # Errors
/// Ctrl-C was pressed.
fn alone(py: Python<'_>) -> PyResult<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    loop {
        match ONE.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(left)) => return Ok(left.into_inner()),
            Err(TryLockError::WouldBlock) => {
                py.check_signals()?;
                py.detach(|| thread::sleep(SIGNAL_CHECK));
            }
        }
    }
}

/// Works on a thread of its own, while this one looks for Ctrl-C and then sets `stop`. Returns what came of the work, and what was raised.
fn until_interrupted<T: Send>(work: impl FnOnce() -> T + Send, stop: &AtomicBool) -> (T, Option<PyErr>) {
    let mut interrupted = None;
    let done = thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            // Nothing is sent: the other end sees that this one is gone.
            let _ended = ended;
            work()
        });
        while end.recv_timeout(SIGNAL_CHECK) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                stop.store(true, Ordering::Relaxed);
                interrupted.get_or_insert(error);
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    (done, interrupted)
}

/// Returns the file and the name of the class that `cwnd evaluate FILE.py:CLASS` names, given all words of the command; None if this is
/// another command or algorithm.
#[pyfunction]
pub fn class_of_file(arguments: Vec<OsString>) -> Option<(String, String)> {
    embedding::class_of_file(&arguments)
}

/// Does what the command `cwnd evaluate` does, given all its words, with a class as the algorithm. Returns the exit code, or raises
/// what the class raised.
#[pyfunction]
pub fn evaluate_class(
    py: Python<'_>,
    arguments: Vec<OsString>,
    algorithm: Py<AlgorithmClass>,
) -> PyResult<u8> {
    let python = Arc::new(PythonEngine::new(Classes::new(&[algorithm])));
    let engines = |study: &cwnd_study::Study| {
        embedding::engines(study).with(EngineKind::Sim, Ok(Arc::clone(&python) as _))
    };
    let done = py.detach(|| embedding::evaluate_with(&arguments, &engines));
    match (done, python.end(py)) {
        (Ok(()), _) => Ok(0),
        (Err(_), Some(raised)) => Err(raised),
        (Err(failure), None) => Ok(failure.report()),
    }
}

/// A study file, read.
#[pyclass(frozen, module = "cwnd._cwnd")]
pub struct Study {
    study: cwnd_study::Study,
    classes: Vec<Py<AlgorithmClass>>,
}

#[pymethods]
impl Study {
    /// Reads the text of a study. `file_name` is how errors call it, and where files that it names are looked for from.
    #[new]
    fn new(name: &str, file_name: &str, text: &str, classes: Vec<Py<AlgorithmClass>>) -> PyResult<Study> {
        let study = cwnd_study::Study::parse(name, file_name, text, &check_name);
        Ok(Study { study: study.map_err(|error| errors::study(&error))?, classes })
    }

    /// Reads a study file. Its name is its path under `studies/`, or its stem elsewhere.
    #[staticmethod]
    fn load(path: PathBuf, classes: Vec<Py<AlgorithmClass>>) -> PyResult<Study> {
        let study = cwnd_study::Study::load(&path, &check_name);
        Ok(Study { study: study.map_err(|error| errors::study(&error))?, classes })
    }

    /// Returns a study of one of the papers by its name, such as `agile-sd/throughput`.
    #[staticmethod]
    fn paper(name: &str) -> PyResult<Study> {
        let Some(text) = embedding::paper_study(name) else {
            return Err(InputError::new_err(format!(
                "there is no study `{name}` of a paper: `cwnd reproduce` lists them"
            )));
        };
        Study::new(name, &format!("studies/{name}.toml"), text, Vec::new())
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.study.name
    }

    /// Its title.
    #[getter]
    fn title(&self) -> &str {
        &self.study.title
    }

    /// Its text, as TOML.
    #[getter]
    fn text(&self) -> &str {
        &self.study.text
    }

    /// Names of the metrics that are shown first.
    #[getter]
    fn metrics(&self) -> Vec<String> {
        self.study.metrics.clone()
    }

    /// Its axes: the name of each, with the labels of its points.
    #[getter]
    fn axes(&self) -> Vec<(String, Vec<String>)> {
        let labels = |axis: &cwnd_study::Axis| axis.points.iter().map(|point| point.label.clone()).collect();
        self.study.axes.iter().map(|axis| (axis.name.clone(), labels(axis))).collect()
    }

    /// How many combinations it has.
    #[getter]
    pub(crate) fn cells(&self) -> usize {
        self.study.cells.len()
    }

    /// How many times each is run.
    #[getter]
    fn repeats(&self) -> u32 {
        self.study.repeats
    }

    /// Returns the study at a scale, "paper", "quick" or "sample".
    fn at_scale(&self, py: Python<'_>, scale: &str) -> PyResult<Study> {
        let classes = self.classes.iter().map(|class| class.clone_ref(py)).collect();
        let found = RunScale::ALL.into_iter().find(|one| one.name() == scale);
        let Some(scale) = found else {
            let known = RunScale::ALL.map(RunScale::name).join("`, `");
            return Err(InputError::new_err(format!("there is no scale `{scale}`: there are `{known}`")));
        };
        Ok(Study { study: self.study.at_scale(scale), classes })
    }

    /// Checks that the engines take all cells, and returns what the study costs: runs, CPU seconds, and bytes of memory of its
    /// largest run.
    fn check(&self, py: Python<'_>) -> PyResult<(usize, f64, f64)> {
        self.refuse_agents()?;
        let (engines, known) = (self.engines(), self.classes());
        py.detach(|| {
            let mut cost = (self.study.cells.len() * self.study.repeats as usize, 0.0, 0.0f64);
            for (index, cell) in self.study.cells.iter().enumerate() {
                let scenario = self.study.scenario(index, 0);
                let of_cell = engines.of(cell.engine).check(&scenario).map_err(|problems| {
                    let error = runner::RunError::Refused { cell: index, problems };
                    known.take_raised().unwrap_or_else(|| InputError::new_err(error.to_string()))
                })?;
                cost.1 += of_cell.cpu_s * f64::from(self.study.repeats);
                cost.2 = cost.2.max(of_cell.memory);
            }
            Ok(cost)
        })
    }

    /// Runs what is missing in the store of a directory, or in memory, and returns the results. `progress` is called with (stored,
    /// total) some times a second. Ctrl-C ends it; what was stored is safe.
    #[pyo3(signature = (directory, threads, memory, progress))]
    fn run(
        &self,
        py: Python<'_>,
        directory: Option<PathBuf>,
        threads: Option<usize>,
        memory: Option<&str>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Results> {
        let python = Arc::new(PythonEngine::new(self.classes()));
        let engines = self.engines_with(Arc::clone(&python));
        let threads = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
        self.refuse_agents()?;
        let memory = embedding::memory(memory).map_err(errors::failure)?;
        let study = self.study.clone();
        let stop = AtomicBool::new(false);
        let mut told = Told { progress, stop: &stop, raised: None };
        let done = py.detach(|| {
            let command = "cwnd.Study.run".to_owned();
            let mut prepared = Prepared::new(study, engines, directory, command, memory)?;
            let ran = prepared.run_until(threads, &mut told, &stop)?;
            let results = prepared.results()?;
            Ok((prepared, results, ran))
        });
        let raised = python.end(py);
        if let Some(error) = told.raised {
            return Err(error);
        }
        let (prepared, results, ran) = match (done, raised) {
            (Ok(done), None) => done,
            (Ok(done), Some(_)) if done.2.failures.is_empty() => done,
            (_, Some(error)) => return Err(error),
            (Err(failure), None) => return Err(errors::failure(failure)),
        };
        Results::new(prepared, results, ran, self.classes.iter().map(|one| one.clone_ref(py)).collect())
    }

    /// Begins to have what is missing in the store of a directory, or in memory, done by other processes.
    fn sweep(
        &self,
        py: Python<'_>,
        directory: Option<PathBuf>,
        workers: usize,
        memory: Option<&str>,
    ) -> PyResult<Sweep> {
        self.refuse_agents()?;
        let memory = embedding::memory(memory).map_err(errors::failure)?;
        let known = self.classes();
        let python = Arc::new(PythonEngine::new(known.clone()));
        let (engines, unknown) = (self.engines_with(Arc::clone(&python)), python.unknown.clone());
        let study = self.study.clone();
        let classes = self.classes.iter().map(|one| one.clone_ref(py)).collect();
        py.detach(move || {
            let command = "cwnd.Study.run".to_owned();
            let prepared = Prepared::new(study, engines, directory, command, memory)
                .map_err(|failure| known.take_raised().unwrap_or_else(|| errors::failure(failure)))?;
            Sweep::begin(prepared, workers, unknown, classes)
        })
    }

    /// The scenario of a cell and a repeat, as JSON.
    fn scenario(&self, cell: &Bound<'_, PyAny>, repeat: &Bound<'_, PyAny>) -> PyResult<String> {
        let scenario = self.scenario_at(cell, repeat)?;
        serde_json::to_string(&scenario).map_err(|error| InputError::new_err(error.to_string()))
    }
}

impl Study {
    /// The classes that it may name.
    pub fn classes(&self) -> Classes {
        Classes::new(&self.classes)
    }

    /// The scenario of a cell in its first repeat, in which a flow may learn.
    pub fn scenario_of(&self, cell: usize) -> Scenario {
        self.study.scenario(cell, 0)
    }

    /// The scenario of a cell and a repeat.
    ///
    /// # Errors
    /// There is no such cell or repeat, or a flow of it learns.
    pub fn scenario_at(&self, cell: &Bound<'_, PyAny>, repeat: &Bound<'_, PyAny>) -> PyResult<Scenario> {
        let cell = errors::index(cell, "cell", self.study.cells.len(), "the study")?;
        let repeat = errors::index(repeat, "repeat", self.study.repeats as usize, "the study")?;
        self.refuse_agents()?;
        Ok(self.study.scenario(cell, repeat as u32))
    }

    /// The scenario of a cell and a repeat that the simulator runs.
    ///
    /// # Errors
    /// See [`Study::scenario_at`]; or the cell is of another engine.
    pub fn simulated_scenario(
        &self,
        cell: &Bound<'_, PyAny>,
        repeat: &Bound<'_, PyAny>,
    ) -> PyResult<Scenario> {
        let number = errors::index(cell, "cell", self.study.cells.len(), "the study")?;
        match self.study.cells[number].engine {
            EngineKind::Sim => self.scenario_at(cell, repeat),
            other => Err(InputError::new_err(format!(
                "engine: is {other}; a run that is halted and changed has the engine `sim`: use `cwnd.compare` or `Study.run` for others"
            ))),
        }
    }

    /// Refuses to run a study with a flow that learns: only an environment has what it obeys.
    fn refuse_agents(&self) -> PyResult<()> {
        let learns = |cell: &cwnd_study::Cell| cell.groups().iter().any(|group| is_agent(&group.algorithm));
        let Some(cell) = self.study.cells.iter().position(learns) else { return Ok(()) };
        Err(InputError::new_err(format!(
            "{}: the flow of `{AGENT}` learns in `cwnd.gym.VectorEnv(study=...)` and cannot be run here; name an algorithm \
             (`cwnd.algorithms()`), or a trained policy as `policy:file=FILE.json`",
            self.study.cell_label(cell)
        )))
    }

    /// The engines: with classes the simulator that knows them, else those of the command line.
    fn engines(&self) -> Engines {
        self.engines_with(Arc::new(PythonEngine::new(self.classes())))
    }

    fn engines_with(&self, python: Arc<PythonEngine>) -> Engines {
        let own = embedding::engines(&self.study);
        if self.classes.is_empty() {
            return own;
        }
        // A simulator that knows classes.
        own.with(EngineKind::Sim, Ok(python))
    }
}

/// Says whether there is what a study names. A study for learning has a flow of the agent.
fn check_name(named: Named<'_>) -> Result<(), String> {
    match named {
        Named::Algorithm(spec) if is_agent(spec) => Ok(()),
        named => embedding::check_name(named),
    }
}

fn is_agent(spec: &AlgorithmSpec) -> bool {
    spec.name == AGENT && spec.parameters.is_empty()
}

/// Reports to a function of Python, and stops when Ctrl-C was pressed or the function raises.
struct Told<'a> {
    progress: Option<Py<PyAny>>,
    stop: &'a AtomicBool,
    raised: Option<PyErr>,
}

impl Progress for Told<'_> {
    fn update(&mut self, status: &Status) {
        let told = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(progress) => progress.call1(py, (status.stored, status.total)).map(drop),
                None => Ok(()),
            }
        });
        if let Err(error) = told {
            self.stop.store(true, Ordering::Relaxed);
            self.raised.get_or_insert(error);
        }
    }
}
