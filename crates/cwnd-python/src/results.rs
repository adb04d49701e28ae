//! What the runs of a study gave.

use crate::algorithm::AlgorithmClass;
use crate::arrow::Table;
use crate::engine::Classes;
use crate::errors::{self, CwndError, InputError, RunError};
use crate::{packets, samples};
use cwnd::embedding::{self, Prepared};
use cwnd_report::{figures, figures::traces::Traces, series::SeriesStyles};
use cwnd_study::{RunState, claims, export, runner::RunSummary};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Results of a study, with its store.
#[pyclass(frozen, module = "cwnd._cwnd")]
pub struct Results {
    results: cwnd_study::Results,
    /// SQLite's connections are not shared between threads.
    prepared: std::sync::Mutex<Prepared>,
    ran: RunSummary,
    classes: Vec<Py<AlgorithmClass>>,
}

impl Results {
    /// Wraps what was run.
    pub fn new(
        prepared: Prepared,
        results: cwnd_study::Results,
        ran: RunSummary,
        classes: Vec<Py<AlgorithmClass>>,
    ) -> PyResult<Results> {
        Ok(Results { results, prepared: std::sync::Mutex::new(prepared), ran, classes })
    }

    fn export(
        &self,
        py: Python<'_>,
        export: impl Fn(&cwnd_study::Store, cwnd_study::Study) -> Result<export::Sheet, cwnd_study::StoreError>
        + Send
        + Sync,
    ) -> PyResult<Table> {
        let sheet = py.detach(|| {
            let prepared =
                self.prepared.lock().map_err(|_| CwndError::new_err("an earlier call broke down"))?;
            export(prepared.store(), self.results.study.clone()).map_err(|error| errors::store(&error))
        })?;
        Table::of_sheet(&sheet)
    }
}

/// Adds an empty column for each metric of whole runs that no run has, so that every metric has a column.
fn with_all_metrics(mut sheet: export::Sheet) -> export::Sheet {
    let of_runs = cwnd_metrics::all().filter(|metric| metric.is_of(cwnd_metrics::Scope::Run));
    let missing: Vec<export::Column> = of_runs
        .filter(|metric| sheet.columns.iter().all(|column| column.name != metric.name))
        .map(|metric| export::Column { name: metric.name.to_owned(), kind: export::Kind::Double })
        .collect();
    for row in &mut sheet.rows {
        row.extend(missing.iter().map(|_| export::Entry::Absent));
    }
    sheet.columns.extend(missing);
    sheet
}

/// A verdict: claim, source, what is stated, the measured mean with its interval, the verdict, by what, and why it differs.
type VerdictRow =
    (String, Option<String>, Option<String>, Option<f64>, Option<f64>, String, String, Option<String>);

#[pymethods]
impl Results {
    /// One row a run: axes, seed, state, metrics, settings. Metrics that no run has are empty columns.
    fn runs(&self, py: Python<'_>) -> PyResult<Table> {
        self.export(py, |store, study| Ok(with_all_metrics(export::runs(store, study)?)))
    }

    /// One row a flow of each run, short flows included.
    fn flows(&self, py: Python<'_>) -> PyResult<Table> {
        self.export(py, export::flows)
    }

    /// One row a sample of a flow.
    fn samples(&self, py: Python<'_>) -> PyResult<Table> {
        Table::new(py.detach(|| samples::columns(&self.results))?)
    }

    /// One row a packet at the bottleneck of one run, which is run again for it.
    fn packets(&self, py: Python<'_>, cell: &Bound<'_, PyAny>, repeat: &Bound<'_, PyAny>) -> PyResult<Table> {
        let study = &self.results.study;
        let cell = errors::index(cell, "cell", study.cells.len(), "the study")?;
        let repeat = errors::index(repeat, "repeat", study.repeats as usize, "the study")?;
        let scenario = study.scenario(cell, repeat as u32);
        let classes = Classes::new(&self.classes);
        let columns = py.detach(|| packets::columns(&scenario, &classes));
        Table::new(columns.map_err(|error| classes.take_raised().unwrap_or(error))?)
    }

    /// The verdicts on the study's claims.
    fn claims(&self) -> Vec<VerdictRow> {
        let row = |verdict: claims::Verdict| {
            let claim = &self.results.study.claims[verdict.claim];
            let mean = verdict.measured.map(|measured| measured.mean);
            let half = verdict.measured.and_then(|measured| measured.ci95);
            let name = verdict.judgement.name().to_owned();
            (
                claim.text.clone(),
                claim.source.clone(),
                claim.stated.clone(),
                mean,
                half,
                name,
                verdict.ground,
                verdict.note,
            )
        };
        claims::evaluate(&self.results).into_iter().map(row).collect()
    }

    /// Writes the report's page into a directory, which is created if it does not exist, and returns its path.
    fn write_report(&self, py: Python<'_>, directory: PathBuf) -> PyResult<PathBuf> {
        std::fs::create_dir_all(&directory).map_err(|error| {
            InputError::new_err(format!("cannot create the directory `{}`: {error}", directory.display()))
        })?;
        py.detach(|| embedding::write_page(&self.results, &directory)).map_err(errors::failure)
    }

    /// The names and titles of the study's figures.
    fn figures(&self) -> Vec<(String, String)> {
        self.results.study.figures.iter().map(|one| (one.name.clone(), one.title.clone())).collect()
    }

    /// Draws a figure of the study as SVG.
    fn figure(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let Some(figure) = self.results.study.figures.iter().find(|figure| figure.name == name) else {
            let known: Vec<String> = self.figures().into_iter().map(|(name, _)| name).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(InputError::new_err(format!("there is no figure `{name}`; the study has {known}")));
        };
        Ok(py.detach(|| {
            let looks = SeriesStyles::new(&self.results.study);
            figures::file(&self.results, figure, &looks, &Traces::of(&self.results))
        }))
    }

    /// The labels of the cells.
    fn labels(&self) -> Vec<String> {
        (0..self.results.study.cells.len()).map(|cell| self.results.study.cell_label(cell)).collect()
    }

    /// Where the results are stored; None if in memory.
    #[getter]
    fn directory(&self) -> Option<PathBuf> {
        self.prepared.lock().ok()?.directory.clone()
    }

    /// How many runs were done now, how many the store had, and the CPU seconds of those that were done.
    #[getter]
    fn ran(&self) -> (usize, usize, f64) {
        (self.ran.done, self.results.runs.len() - self.ran.missing, self.ran.cpu_s)
    }

    /// Raises an error if runs failed or are missing.
    fn check(&self) -> PyResult<()> {
        let failed = |run: &&cwnd_study::RunResult| !matches!(run.state, RunState::Done(_));
        let mut failed = self.results.runs.iter().filter(failed).peekable();
        let Some(first) = failed.peek() else { return Ok(()) };
        let label = match self.results.study.cell_label(first.cell) {
            label if label.is_empty() => self.results.study.title.clone(),
            label => label,
        };
        let why = match &first.state {
            RunState::Failed(reason) => reason.as_str(),
            _ => "it was not run",
        };
        let message = format!("{label} (seed {}): {why}", first.seed);
        let count = failed.count();
        Err(RunError::new_err(match count {
            1 => message,
            count => format!("{count} runs failed, the first is {message}"),
        }))
    }
}
