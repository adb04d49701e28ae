//! A study in a web page: read, its runs done one by one in any number of instances, and its report.
//!
//! Each worker of the page has an instance with the same study. A worker does runs ([`Playground::run`]); what comes of one is bytes, which
//! one instance collects ([`Playground::put`]) for the report.

use crate::json::Json;
use crate::{Bench, LineProblem};
use cwnd_report::{figures::traces::Traces, report};
use cwnd_scenario::{Engine, EngineError, Outcome, Scenario, Trace};
use cwnd_sim::Simulator;
use cwnd_study::{Diagnostic, Named, Provenance, Results, RunScale, Study, StudyError};
use serde::{Deserialize, Serialize};

/// A study, and what its runs gave.
///
/// ```
/// use cwnd_wasm::Playground;
///
/// let text = "title = \"T\"\nquestion = \"Q?\"\n[scenario]\nduration = \"1 s\"\n\
///     [[axes]]\nname = \"algorithm\"\nkey = \"algorithm\"\nvalues = [\"cubic\", \"newreno\"]\n";
/// let mut playground = Playground::parse(text, "paper").expect("a valid study");
/// for run in playground.runs() {
///     let result = playground.run(run);
///     playground.put(run, &result).expect("its own result");
/// }
/// assert!(playground.report("").contains("2 scenarios"));
/// ```
pub struct Playground {
    results: Results,
}

/// What came of a run, between instances.
#[derive(Serialize, Deserialize)]
enum RunOutput {
    Done { outcome: Box<Outcome>, trace: Option<Trace> },
    Failed(String),
}

impl Playground {
    /// Reads a study file and reduces it to a scale: `paper`, `quick` or `sample`.
    ///
    /// # Errors
    /// Everything that is wrong, at its place.
    pub fn parse(text: &str, scale: &str) -> Result<Playground, StudyError> {
        let study = Study::parse("playground", "study.toml", text, &check)?;
        let study = study.at_scale(RunScale::find(scale).unwrap_or(RunScale::Paper));
        if let Some(kind) = study.engines().into_iter().find(|kind| kind.is_kernels()) {
            return Err(whole(&format!(
                "the engine `{kind}` needs a machine with Linux: `cwnd run` runs this study there",
            )));
        }
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: None,
            command: "cwnd run study.toml".to_owned(),
            engine: Provenance::engines(&study.engines()),
        };
        let playground = Playground { results: Results::empty(study, provenance) };
        let study = &playground.results.study;
        for cell in 0..study.cells.len() {
            if let Err(problems) = Simulator.check(&study.scenario(cell, 0)) {
                let label = study.cell_label(cell);
                return Err(whole(&format!("{label}: {}", EngineError::Refused(problems))));
            }
        }
        Ok(playground)
    }

    /// Describes the study as JSON: title, question, numbers of cells, repeats and runs, packets, CPU seconds of a native run, and
    /// the memory of the largest run in bytes.
    pub fn describe(&self) -> String {
        let study = &self.results.study;
        let runs = self.runs();
        let (mut packets, mut seconds, mut memory) = (0.0, 0.0, 0.0_f64);
        for place in &runs {
            let run = &self.results.runs[*place];
            if let Ok(cost) = Simulator.check(&study.scenario(run.cell, run.repeat)) {
                packets += cost.packets;
                seconds += cost.cpu_s;
                memory = memory.max(cost.memory);
            }
        }
        let mut json = Json::default();
        json.object(|json| {
            json.text("title", &study.title);
            json.text("question", &study.question);
            json.number("cells", study.cells.len() as f64);
            json.number("repeats", study.repeats.into());
            json.number("packets", packets);
            json.number("seconds", seconds);
            json.number("memory", memory);
            json.member_list("runs", &runs, |json, run| json.item(&run.to_string()));
        });
        json.into_text()
    }

    /// Returns the places of the runs that are to be done. The repeats of a cell in which nothing is random are one run.
    pub fn runs(&self) -> Vec<usize> {
        let study = &self.results.study;
        let is_needed = |place: &usize| {
            let run = &self.results.runs[*place];
            run.repeat == 0 || !study.is_run_once(run.cell)
        };
        (0..self.results.runs.len()).filter(is_needed).collect()
    }

    /// Does a run, and returns what came of it for [`Playground::put`].
    pub fn run(&self, place: usize) -> Vec<u8> {
        let run = &self.results.runs[place];
        let output = match Simulator.run(&self.results.study.scenario(run.cell, run.repeat)) {
            Ok(mut outcome) => {
                let trace = outcome.trace.take();
                RunOutput::Done { outcome: Box::new(outcome), trace }
            }
            Err(error) => RunOutput::Failed(error.to_string()),
        };
        let mut bytes = Vec::new();
        ciborium::into_writer(&output, &mut bytes).expect("a Vec takes everything");
        bytes
    }

    /// Adds what came of a run.
    ///
    /// # Errors
    /// The bytes are not those of a result.
    pub fn put(&mut self, place: usize, result: &[u8]) -> Result<(), String> {
        let output: RunOutput = ciborium::from_reader(result).map_err(|error| error.to_string())?;
        let result = match output {
            RunOutput::Done { outcome, trace } => Ok(Outcome { trace, ..*outcome }),
            RunOutput::Failed(reason) => Err(EngineError::Failed(reason)),
        };
        let cell = self.results.runs[place].cell;
        let repeats = self.results.study.repeats as usize;
        let places = match self.results.study.is_run_once(cell) {
            true => cell * repeats..(cell + 1) * repeats,
            false => place..place + 1,
        };
        for place in places {
            self.results.put(place, result.clone());
        }
        Ok(())
    }

    /// Returns a run of the study that the page samples as it goes: the first repeat of a cell.
    ///
    /// # Errors
    /// The study has no such cell, or the run is impossible.
    pub fn bench(&self, cell: usize) -> Result<Bench, Vec<LineProblem>> {
        let study = &self.results.study;
        if cell >= study.cells.len() {
            let message = format!("the study has {} cells", study.cells.len());
            return Err(vec![LineProblem { line: 0, key: "cell".to_owned(), message }]);
        }
        Bench::unchanging(Scenario { sample: None, ..study.scenario(cell, 0) })
    }

    /// Returns the report of what has been put so far, a whole HTML page. With the script of live reports it simulates runs itself, if the
    /// study permits it.
    pub fn report(&self, script: &str) -> String {
        let mut results = self.results.clone();
        results.derive();
        let plain = || report::html(&results);
        if script.is_empty() {
            return plain();
        }
        report::live(&results, &Traces::of(&results), script).unwrap_or_else(|_| plain())
    }
}

/// Returns the JSON Schema of study files.
pub fn schema() -> String {
    let names: Vec<&str> = cwnd_cc::all().iter().map(|algorithm| algorithm.name).collect();
    cwnd_study::schema(&names).to_string()
}

/// Writes what is wrong with a study as JSON: line, column and width in characters, message and help. The line is 0 for what has no place.
pub(crate) fn diagnostics(error: &StudyError) -> String {
    let mut json = Json::default();
    json.list(&error.diagnostics, |json, diagnostic| {
        let place = diagnostic.place.as_ref();
        json.object(|json| {
            json.number("line", place.map_or(0, |place| place.line) as f64);
            json.number("column", place.map_or(1, |place| place.column) as f64);
            json.number("width", place.map_or(1, |place| place.width) as f64);
            json.text("message", &diagnostic.message);
            json.text("help", diagnostic.help.as_deref().unwrap_or(""));
        });
    });
    json.into_text()
}

fn whole(message: &str) -> StudyError {
    let diagnostic = Diagnostic { message: message.to_owned(), place: None, help: None, problem: None };
    StudyError { diagnostics: vec![diagnostic], more: 0 }
}

/// Checks that an algorithm, a model or a value of an algorithm's state exists.
fn check(named: Named<'_>) -> Result<(), String> {
    match named {
        Named::Algorithm(spec) => cwnd_sim::registered(spec).map(drop),
        Named::Model(name) => match cwnd_models::find(name) {
            Some(_) => Ok(()),
            None => {
                let known: Vec<&str> = cwnd_models::all().iter().map(|model| model.name).collect();
                Err(format!("there is no model `{name}`; there are {}", known.join(", ")))
            }
        },
        Named::State { name, of } => {
            let shown = |algorithm: &&str| cwnd_cc::find(algorithm).map_or(&[][..], |info| info.observables);
            let mut all = of.iter().flat_map(shown).map(|observable| observable.name);
            match all.any(|known| known == name) {
                true => Ok(()),
                false => Err(format!("no algorithm that is drawn has `state.{name}`")),
            }
        }
    }
}
