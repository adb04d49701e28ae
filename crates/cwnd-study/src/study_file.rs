//! Study files: TOML, read with all that is wrong in them, each thing at its place.

mod assignment;
mod axes;
mod cells;
mod claim;
mod derived;
mod diagnostic;
mod document;
mod inputs;
pub mod keys;
mod network;
mod paper;
mod printed;
mod quick;
mod reader;
mod reason;
mod refusal;
mod schema;
mod scope;
mod selection;
mod show;
mod stated;

pub use cells::{MAX_CELLS, MAX_FLOWS};
pub use diagnostic::{Diagnostic, Place, StudyError};
pub use document::markdown;
pub use schema::schema;

use crate::engines::ENGINE;
use crate::input_file::{self, MAX_INPUT};
use crate::{Cell, Selection, Study, TracePlan};
use cells::Common;
use cwnd_experiment::Defaults;
use cwnd_metrics::{self as metrics, Metric};
use cwnd_scenario::{AlgorithmSpec, MAX_SAMPLES, Time};
use diagnostic::Sink;
use inputs::Inputs;
use keys::{FILE, RUN, SCENARIO, TRACE};
use reader::Fields;
use scope::Scope;
use std::{
    ffi::OsStr,
    path::{Component, Path},
};
use toml::de::DeTable;

/// Says whether there is something of this name, or what is wrong and what would be right. Studies know no algorithms
/// and no models themselves.
pub type CheckName<'a> = &'a dyn Fn(Named<'_>) -> Result<(), String>;

/// Something that a study file calls by its name.
#[derive(Clone, Copy, Debug)]
pub enum Named<'a> {
    /// An algorithm with its parameters.
    Algorithm(&'a AlgorithmSpec),
    /// A model that a figure draws.
    Model(&'a str),
    /// A value of the state of an algorithm, which a figure shows.
    State {
        /// Its name, without `state.`.
        name: &'a str,
        /// The algorithms of the cells that are drawn, each once. At least one must have it.
        of: &'a [&'a str],
    },
}

/// The most repeats of a cell.
pub const MAX_REPEATS: u64 = 100_000;
/// The longest file that is read, bytes.
const MAX_LENGTH: u64 = 4_000_000;
/// Time between samples, where the file does not say it.
const USUAL_SAMPLE: Time = Time::from_millis(100);
/// The most samples of a run, where the file does not say how close they are.
const MOST_SAMPLES: u64 = 1_000_000;
/// What tables and exports show first, where the file does not say it.
const USUAL_METRICS: [&str; 4] = ["throughput_bps", "utilisation", "loss_ratio", "jain_index"];

impl Study {
    /// Read a study file. Its name is its path under `studies/`, or its stem elsewhere.
    ///
    /// # Errors
    /// The file cannot be read, or everything that is wrong with it.
    pub fn load(path: &Path, check: CheckName<'_>) -> Result<Study, StudyError> {
        let shown = path.display().to_string();
        let cannot = |why: String| StudyError::whole(format!("cannot read the study `{shown}`: {why}"));
        let text = input_file::read_text(path, MAX_LENGTH).map_err(|error| cannot(error.reason))?;
        let study = Study::parse(&name(path), &shown, &text, check)?;
        Ok(Study { file: Some(shown), ..study })
    }

    /// Read the text of a study file. `file_name` is how errors call it; files that it names are looked for from the
    /// folder of that on.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(name: &str, file_name: &str, text: &str, check: CheckName<'_>) -> Result<Study, StudyError> {
        let folder = Path::new(file_name).parent().unwrap_or(Path::new(""));
        let read = |path: &str| {
            input_file::read_text(&folder.join(path), MAX_INPUT).map_err(|error| error.to_string())
        };
        Study::parse_with(name, file_name, text, check, Defaults::Current, &read)
    }

    /// The same, by other rules of what is not said, and with a function that gives the text of a file by the path that the
    /// study calls it by.
    pub(crate) fn parse_with(
        name: &str,
        file_name: &str,
        text: &str,
        check: CheckName<'_>,
        defaults: Defaults,
        read_file: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Study, StudyError> {
        let inputs = Inputs::new(defaults, read_file);
        let sink = Sink::new(file_name, text);
        let study = {
            let (table, errors) = DeTable::parse_recoverable(text);
            // Of a text that has nothing of a study, such as a README, the first error says it all.
            let is_study =
                table.get_ref().keys().any(|key| FILE.keys.iter().any(|known| known.name == key.get_ref()));
            let shown = if is_study { errors.len() } else { errors.len().min(1) };
            for error in &errors[..shown] {
                sink.error(&error.span().unwrap_or(0..0), format!("this is not TOML: {}", error.message()));
            }
            // What else is wrong with a text that is not TOML is not known.
            if errors.is_empty() {
                read(&Fields::new(table.get_ref(), 0..0, &FILE, &sink), name, text, check, &inputs)
            } else {
                None
            }
        };
        match (sink.into_error(), study) {
            (None, Some(study)) => Ok(study),
            (Some(error), _) => Err(error),
            (None, None) => Err(StudyError::whole(format!("the study `{file_name}` cannot be read"))),
        }
    }
}

fn read(
    file: &Fields<'_>,
    name: &str,
    text: &str,
    check: CheckName<'_>,
    inputs: &Inputs<'_>,
) -> Option<Study> {
    let sink = file.sink;
    let before = sink.count();
    let scenario = file.table("scenario", &SCENARIO);
    let mut base =
        scenario.as_ref().map(|scenario| assignment::assignments(scenario, check)).unwrap_or_default();
    let network = network::network(file, check, inputs);
    let run = file.table("run", &RUN);
    base.extend(
        run.as_ref().and_then(|run| assignment::assignment(&ENGINE, run.get(ENGINE.key)?, sink, check)),
    );
    let base_is_right = sink.count() == before;
    let header = scenario.map_or(file.span.clone(), |scenario| scenario.span);
    let axes = axes::axes(file, check);
    let (repeats, seed) = run.as_ref().map_or((1, 1), repeats_and_seed);
    let cells = axes.as_ref().filter(|_| base_is_right).and_then(|axes| {
        axes::shadowed(axes, &base, sink);
        if let Some(network) = &network {
            network.shadowed(axes, &base, sink);
        }
        let common = Common { base: &base, network: network.as_ref(), inputs, scenario: &header, seed };
        cells::cells(file, axes, common)
    });
    let axes_are_right = axes.is_some();
    let sets_engine =
        |axis: &axes::Drawn| axis.sets.iter().flatten().any(|set| set.setting.key == ENGINE.key);
    let engine_axis = axes.as_ref().and_then(|axes| axes.iter().position(sets_engine));
    let mut study = Study {
        name: name.to_owned(),
        title: file.text("title").map(|title| title.value).unwrap_or_default(),
        question: file.text("question").map(|question| question.value).unwrap_or_default(),
        source: file.text("source").map(|source| source.value),
        notes: file.texts("notes").into_iter().flatten().map(|note| note.value).collect(),
        text: text.to_owned(),
        file: None,
        axes: axes.into_iter().flatten().map(|drawn| drawn.axis).collect(),
        engine_axis,
        cells: cells.unwrap_or_default(),
        repeats,
        seed,
        once: None,
        metrics: Vec::new(),
        trace: None,
        figures: Vec::new(),
        tables: Vec::new(),
        claims: Vec::new(),
        derived: Vec::new(),
        quick: None,
        reduced: None,
        traces: inputs.traces(),
        sizes: inputs.all_sizes(),
    };
    let cells_are_right = !study.cells.is_empty();
    let (axes, cells) = (axes_are_right, cells_are_right);
    study.once = run.as_ref().and_then(|run| once(run, &Scope { study: &study, axes, cells }));
    study.derived = derived::derived(file, &Scope { study: &study, axes, cells });
    study.quick = quick::quick(file, &Scope { study: &study, axes, cells });
    let metrics = asked(run.as_ref(), &Scope { study: &study, axes, cells });
    let trace = trace(file, &Scope { study: &study, axes, cells });
    (study.metrics, study.trace) = (metrics, trace);
    let scope = Scope { study: &study, axes, cells };
    let before = sink.count();
    let tables = show::tables(file, &scope);
    // What is wrong with the tables is not told a second time of figures that name them.
    let known = (sink.count() == before).then_some(tables.as_slice());
    let figures = show::figures(file, &scope, known, check);
    let claims = claim::claims(file, &scope);
    (study.figures, study.tables, study.claims) = (figures, tables, claims);
    sample_where_needed(&mut study);
    check_samples(file, &study);
    sink.is_clean().then_some(study)
}

/// A metric that needs samples has them in every cell: as `[trace]` says, or usually, and then as close as the metric needs them.
fn sample_where_needed(study: &mut Study) {
    let asked = study.metrics_asked();
    let any = |needs: fn(&Metric) -> bool| asked.iter().any(|name| metrics::find(name).is_some_and(needs));
    if !any(Metric::needs_samples) {
        return;
    }
    let close = any(Metric::needs_close_samples);
    let said = study.trace.as_ref().map(|plan| plan.sample);
    for cell in &mut study.cells {
        let usual = if close { USUAL_SAMPLE.min(close_sample(cell)) } else { USUAL_SAMPLE };
        cell.scenario.sample = Some(said.unwrap_or(usual));
    }
}

/// Checks that no cell has more samples than an engine takes. Only `[trace]` asks for more.
fn check_samples(file: &Fields<'_>, study: &Study) {
    let too_many = |cell: usize| {
        let (sample, duration) = (study.sample_of(cell, 0)?, study.cells[cell].scenario.duration);
        let samples = duration.0 / sample.0.max(1);
        (samples > MAX_SAMPLES).then_some((cell, sample, samples, duration))
    };
    let Some((cell, sample, samples, duration)) = (0..study.cells.len()).find_map(too_many) else { return };
    let Some(trace) = file.table("trace", &TRACE) else { return };
    let label = study.cell_label(cell);
    let help = if label.is_empty() { String::new() } else { format!("in the cell `{label}`") };
    let message = format!(
        "`sample`: one every {sample} makes {samples} samples of {duration}; {MAX_SAMPLES} are the most"
    );
    file.sink.error_with(&trace.span_of("sample"), message, help);
}

/// Returns a tenth of the shortest round trip, in whole microseconds, but at most a million samples of a run; the sockets of a kernel
/// cannot be asked more than once in a millisecond.
fn close_sample(cell: &Cell) -> Time {
    let flows = 0..cell.scenario.flows.len();
    let shortest = flows.map(|flow| cell.scenario.base_rtt(flow)).min().unwrap_or(USUAL_SAMPLE);
    let least = if cell.engine.is_kernels() { 1_000_000 } else { 1_000 };
    Time((shortest.0 / 10).max(least).max(cell.scenario.duration.0 / MOST_SAMPLES).next_multiple_of(1_000))
}

fn repeats_and_seed(run: &Fields<'_>) -> (u32, u64) {
    let repeats = run.count("repeats", 1);
    let seed = run.count("seed", 0).map_or(1, |seed| seed.value);
    let Some(repeats) = repeats else { return (1, seed) };
    if repeats.value > MAX_REPEATS {
        run.sink.error(&repeats.span, format!("too many: {MAX_REPEATS} repeats are the most"));
        return (1, seed);
    }
    if seed.checked_add(repeats.value - 1).is_none() {
        let message =
            format!("{} repeats from {seed} on run out of seeds: take a smaller one", repeats.value);
        run.sink.error(&run.span_of("seed"), message);
    }
    (repeats.value as u32, seed)
}

/// The cells that are run once. Repeats of what is random are not equal, and cannot be one run.
fn once(run: &Fields<'_>, scope: &Scope<'_>) -> Option<Selection> {
    run.get("once")?;
    let once = scope.selection(run, "once")?;
    let study = scope.study;
    if scope.cells && study.select(&once).next().is_none() {
        run.sink.error(&run.span_of("once"), "no cell belongs to it: the study skips them all");
    }
    let is_random =
        |cell: &usize| study.cells[*cell].engine.is_kernels() || study.cells[*cell].scenario.is_random();
    if let Some(cell) = study.select(&once).find(is_random) {
        let message = format!("the cell `{}` is random: its repeats are not equal", study.cell_label(cell));
        run.sink.error(&run.span_of("once"), message);
    }
    Some(once)
}

fn asked(run: Option<&Fields<'_>>, scope: &Scope<'_>) -> Vec<String> {
    match run.filter(|run| run.get("metrics").is_some()) {
        Some(run) => scope.metrics(run, "metrics").unwrap_or_default(),
        None => USUAL_METRICS.map(str::to_owned).into(),
    }
}

fn trace(file: &Fields<'_>, scope: &Scope<'_>) -> Option<TracePlan> {
    let fields = file.table("trace", &TRACE)?;
    let sink = fields.sink;
    let sample = match fields.get("sample") {
        None => Some(USUAL_SAMPLE),
        Some(_) => fields.text("sample").and_then(|text| match text.value.parse::<Time>() {
            Ok(Time(0)) => {
                sink.error(&text.span, "samples need a time between them: write `100 ms`, for example");
                None
            }
            Ok(time) => Some(time),
            Err(error) => {
                sink.error(&text.span, format!("`sample`: {}", error.message));
                None
            }
        }),
    };
    let repeats = match fields.get("repeats") {
        None => Some(1),
        Some(_) => fields.count("repeats", 1).and_then(|repeats| {
            let most = u64::from(scope.study.repeats);
            if repeats.value > most {
                let message = format!("more than the repeats of a cell, {most}, cannot be recorded");
                sink.error(&repeats.span, message);
            }
            u32::try_from(repeats.value).ok()
        }),
    };
    let select: Option<Selection> = scope.select(&fields);
    Some(TracePlan { sample: sample?, select: select?, repeats: repeats? })
}

/// Returns `agile-sd/throughput` for `…/studies/agile-sd/throughput.toml`, else the file's stem. It is a relative path that
/// never leads upwards: directories of results are named by it.
fn name(path: &Path) -> String {
    let text = |text: &OsStr| text.to_string_lossy().into_owned();
    // The stem of `...toml` is `..`.
    let stem = path.file_stem().filter(|stem| *stem != "." && *stem != "..").or(path.file_name());
    let mut folders = Vec::new();
    for component in path.parent().into_iter().flat_map(Path::components) {
        match component {
            Component::Normal(folder) => folders.push(text(folder)),
            Component::ParentDir => drop(folders.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    let under = folders.iter().rposition(|folder| folder == "studies").map_or(folders.len(), |at| at + 1);
    let parts = folders.split_off(under).into_iter().chain(stem.map(text));
    parts.collect::<Vec<String>>().join("/")
}

#[cfg(test)]
mod tests;
