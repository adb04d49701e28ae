//! Runs that other processes do: the driver's half and the worker's.

use crate::algorithm::AlgorithmClass;
use crate::engine::{Classes, PythonEngine};
use crate::errors::{self, CwndError, InputError};
use crate::results::Results;
use cwnd::embedding::{self, Elsewhere, Prepared};
use cwnd_study::{SharedEngine, runner, runner::batch};
use pyo3::{prelude::*, types::PyBytes};
use std::{
    ffi::OsString,
    sync::{Arc, Mutex, MutexGuard},
};

/// A study whose missing runs are handed out in batches. [`run_batch`] does one, in whatever process.
#[pyclass(frozen, module = "cwnd._cwnd")]
pub struct Sweep {
    /// None once the results were taken.
    state: Mutex<Option<(Prepared, runner::Sweep)>>,
    unknown: String,
    classes: Vec<Py<AlgorithmClass>>,
}

impl Sweep {
    /// Begins with a study that is ready to be run. `unknown` is the version of classes whose source is not known.
    ///
    /// # Errors
    /// If it has cells that cannot be run elsewhere, or the store cannot be read.
    pub fn begin(
        prepared: Prepared,
        workers: usize,
        unknown: String,
        classes: Vec<Py<AlgorithmClass>>,
    ) -> PyResult<Sweep> {
        let sweep = prepared.sweep(workers).map_err(errors::failure)?;
        Ok(Sweep { state: Mutex::new(Some((prepared, sweep))), unknown, classes })
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Prepared, &mut runner::Sweep) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut state = self.lock()?;
            let (prepared, sweep) =
                state.as_mut().ok_or_else(|| CwndError::new_err("the results were taken already"))?;
            work(prepared, sweep)
        })
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, Option<(Prepared, runner::Sweep)>>> {
        self.state.lock().map_err(|_| CwndError::new_err("an earlier call broke down"))
    }
}

#[pymethods]
impl Sweep {
    /// The version of classes whose source is not known.
    #[getter]
    fn unknown(&self) -> &str {
        &self.unknown
    }

    /// Says how many batches may be done at once from now on.
    fn set_workers(&self, py: Python<'_>, workers: usize) -> PyResult<()> {
        self.with(py, |_, sweep| {
            sweep.set_workers(workers);
            Ok(())
        })
    }

    /// Returns a batch that takes about this many CPU seconds; None when all runs are handed out.
    fn next_batch<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let batch = self.with(py, |_, sweep| Ok(sweep.next_batch(seconds)))?;
        Ok(batch.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Stores the results of a batch. Those of runs that are stored already are ignored.
    fn put(&self, py: Python<'_>, results: &[u8]) -> PyResult<()> {
        self.with(py, |prepared, sweep| prepared.put(sweep, results).map_err(errors::failure))
    }

    /// How many runs are stored of those that were missing, how many were missing, and how many results were ignored.
    #[getter]
    fn status(&self, py: Python<'_>) -> PyResult<(usize, usize, usize)> {
        self.with(py, |_, sweep| {
            let status = sweep.status();
            Ok((status.stored, status.total, sweep.ignored()))
        })
    }

    /// Ends it, and returns the results of the study.
    fn results(&self, py: Python<'_>) -> PyResult<Results> {
        let (prepared, results, ran) = py.detach(|| {
            let taken = self.lock()?.take();
            let (prepared, sweep) =
                taken.ok_or_else(|| CwndError::new_err("the results were taken already"))?;
            let results = prepared.results().map_err(errors::failure)?;
            Ok::<_, PyErr>((prepared, results, sweep.summary()))
        })?;
        let classes = self.classes.iter().map(|one| one.clone_ref(py)).collect();
        Results::new(prepared, results, ran, classes)
    }
}

/// Does the runs of a batch, and returns their results. `classes` are those that the runs name, and `unknown` the version of
/// those whose source is not known.
#[pyfunction]
#[pyo3(signature = (batch, classes, unknown))]
pub fn run_batch<'py>(
    py: Python<'py>,
    batch: &[u8],
    classes: Vec<Py<AlgorithmClass>>,
    unknown: String,
) -> PyResult<Bound<'py, PyBytes>> {
    let engine: SharedEngine = match classes.is_empty() {
        true => embedding::simulator(),
        false => Arc::new(PythonEngine::of_version(Classes::new(&classes), unknown)),
    };
    let results = py.detach(|| batch::run(&*engine, batch));
    Ok(PyBytes::new(py, &results.map_err(|error| InputError::new_err(error.to_string()))?))
}

/// Prepares what `cwnd run --executor` runs elsewhere, given all words of the command: the value of the flag, whether no progress is
/// shown, and the sweep (None if nothing of the study can be run here). None if this is another command, or a wrong one.
#[pyfunction]
pub fn elsewhere(
    py: Python<'_>,
    arguments: Vec<OsString>,
    workers: usize,
) -> PyResult<Option<(String, bool, Option<Sweep>)>> {
    py.detach(|| {
        let found = embedding::elsewhere(&arguments).map_err(errors::failure)?;
        let Some(Elsewhere { executor, quiet, prepared }) = found else { return Ok(None) };
        let begin = |prepared| Sweep::begin(prepared, workers, String::new(), Vec::new());
        Ok(Some((executor, quiet, prepared.map(begin).transpose()?)))
    })
}
