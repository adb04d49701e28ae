//! From flags to a study: the text of a study file, which is read as any other.

use super::Flags;
use crate::study_text;
use crate::{
    catalogue,
    failure::Failure,
    measured::{QUEUE, QUEUE_DELAYS},
};
use cwnd_scenario::notation::toml_string;
use cwnd_scenario::{AlgorithmSpec, Problem, Time};
use cwnd_study::{Cell, Diagnostic, EngineKind, Study, StudyError, keys, memory::MemoryBudget};
use std::cell::OnceCell;

/// The name of the study, and of the file that errors in it would name.
pub const NAME: &str = "compare";

/// The most times at which a run is sampled, unless an interval is given.
const MOST_TIMES: u64 = 5_000;
/// The most samples of flows that the runs of a comparison take together if nobody asks for them.
const MOST_SAMPLES: f64 = 1e6;
/// The most that one of them takes. A sample costs as much as several packets: a run of a thousand flows took four times as long.
const MOST_SAMPLES_OF_A_RUN: f64 = 1e5;

/// A study file made from flags.
pub struct StudyText {
    /// The text.
    pub text: String,
    /// For each line the flag that it stands for, if it does.
    flags: Vec<Option<String>>,
    /// What the text says, once it has been read.
    read: OnceCell<Study>,
}

/// Flows that run together, under one name.
struct Entry {
    name: String,
    lines: Vec<Line>,
}

/// A line of a study file, and the flag that it stands for.
struct Line {
    text: String,
    flag: Option<String>,
}

impl StudyText {
    /// Writes the study that flags describe: an axis of what is compared, all settings that were given, and a table of
    /// what `cwnd compare` shows.
    ///
    /// # Errors
    /// If nothing is to be compared, or the same twice, or the flows alone take too much memory.
    pub fn new(flags: &Flags, memory: MemoryBudget) -> Result<StudyText, Failure> {
        // Who gives an interval has samples, for the percentiles, or gets the reason.
        let shown = flags.trace.is_some() || flags.plot.is_some() || flags.sketch.is_some();
        let asked = shown || flags.sample.is_some();
        let repeats = if flags.trace.is_some() { flags.repeats } else { 1 };
        StudyText::with_samples(flags, memory, asked, repeats)
    }

    /// The same for a caller that reads the samples itself: with `--sample` all repeats have them, as with `--trace`.
    ///
    /// # Errors
    /// See [`StudyText::new`].
    pub fn sampled(flags: &Flags, memory: MemoryBudget) -> Result<StudyText, Failure> {
        let asked = flags.sample.is_some();
        StudyText::with_samples(flags, memory, asked, if asked { flags.repeats } else { 1 })
    }

    /// Writes the study, with samples of `repeats` repeats if they are asked for or are not too many.
    fn with_samples(
        flags: &Flags,
        memory: MemoryBudget,
        asked: bool,
        repeats: u32,
    ) -> Result<StudyText, Failure> {
        check_descriptions(flags, memory)?;
        let text = StudyText::written(flags, None)?;
        // Errors in it are reported when it is read.
        let Ok(study) = text.study() else { return Ok(text) };
        let every = flags.sample.unwrap_or_else(|| usual_interval(&study));
        let (all, most) = samples(&study, every);
        let sampled = asked || (all <= MOST_SAMPLES && most <= MOST_SAMPLES_OF_A_RUN);
        if sampled { StudyText::written(flags, Some((every, repeats))) } else { Ok(text) }
    }

    /// Writes the study, with samples at this interval of `repeats` repeats, or without.
    fn written(flags: &Flags, sample: Option<(Time, u32)>) -> Result<StudyText, Failure> {
        let entries = entries(flags)?;
        let mut study = StudyText { text: String::new(), flags: Vec::new(), read: OnceCell::new() };
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let (title, metrics) = (names.join(", "), metrics(flags, sample.is_some()));
        study.plain(&format!("title = {}", toml_string(&format!("Comparison: {title}"))));
        study.plain("question = \"What do they make of the same network?\"");
        study.scenario(flags);
        study.plain("\n[run]");
        let engine = flags.engine.unwrap_or_default();
        study.line(format!("engine = \"{}\"", engine), "--engine");
        study.line(format!("repeats = {}", flags.repeats), "--repeats");
        study.line(format!("seed = {}", flags.seed), "--seed");
        study.plain(&format!("metrics = {metrics}"));
        if let Some((every, repeats)) = sample {
            study.plain("\n[trace]");
            study.line(format!("sample = {}", toml_string(&every.to_string())), "--sample");
            study.line(format!("repeats = {repeats}"), "--repeats");
        }
        study.plain("\n[[axes]]\nname = \"algorithm\"\ntitle = \"Algorithm\"");
        for Entry { name, lines } in entries {
            study.plain(&format!("\n[[axes.points]]\nlabel = {}", toml_string(&name)));
            lines.into_iter().for_each(|line| study.push(line));
        }
        study.plain(&format!(
            "\n[[tables]]\nname = \"comparison\"\ntitle = \"Comparison\"\nrows = [\"algorithm\"]\nmetrics = {metrics}"
        ));
        Ok(study)
    }

    /// Reads the study.
    ///
    /// # Errors
    /// Everything that is wrong, by flag.
    pub fn study(&self) -> Result<Study, Failure> {
        if let Some(read) = self.read.get() {
            return Ok(read.clone());
        }
        // Files are looked for from the working directory on.
        let study = Study::parse(NAME, NAME, &self.text, &catalogue::check);
        let study = study.map_err(|error| self.failure(&error))?;
        Ok(self.read.get_or_init(|| study).clone())
    }

    /// What all runs have in common.
    fn scenario(&mut self, flags: &Flags) {
        self.plain("\n[scenario]");
        for given in flags.settings.given() {
            let setting = given.setting;
            if !["mix", "flow"].contains(&setting.key) && !is_of_algorithm(setting.key, flags) {
                self.push(setting_line(setting.key, &given.values[0]));
            }
        }
    }

    fn plain(&mut self, text: &str) {
        self.push(Line { text: text.to_owned(), flag: None });
    }

    fn line(&mut self, text: String, flag: &str) {
        self.push(Line { text, flag: Some(flag.to_owned()) });
    }

    fn push(&mut self, line: Line) {
        self.flags.extend(line.text.lines().map(|_| line.flag.clone()));
        self.text += &line.text;
        self.text.push('\n');
    }

    /// Says by flag what is wrong with the study.
    fn failure(&self, error: &StudyError) -> Failure {
        let problems: Vec<Problem> = error.diagnostics.iter().map(|one| self.problem(one)).collect();
        Failure::problems(&problems)
    }

    fn problem(&self, diagnostic: &Diagnostic) -> Problem {
        let line = diagnostic.place.as_ref().map_or(usize::MAX, |place| place.line - 1);
        let flag = self.flags.get(line).cloned().flatten();
        let Some(problem) = &diagnostic.problem else {
            let (place, message) = (flag.unwrap_or_else(|| NAME.to_owned()), &diagnostic.message);
            // `key`: is what the flag says already.
            let key = format!("`{}`: ", place.trim_start_matches("--"));
            let message = message.strip_prefix(&key).unwrap_or(message).to_owned();
            return Problem { place, message };
        };
        let of_group = problem.place.strip_prefix("flows[").and_then(|rest| rest.split_once("]."));
        let place = match (of_group, problem.place.as_str()) {
            (Some((_, key)), _) => match flag.filter(|flag| flag.contains(' ')) {
                Some(flag) => format!("{flag}, {}", key.replace('_', "-")),
                None => by_flag(key),
            },
            (None, "flows") => flag.unwrap_or_else(|| "--flows".to_owned()),
            (None, place) => by_flag(place),
        };
        Problem { place, message: problem.message.clone() }
    }
}

/// Returns the flag that sets a field of an experiment or a scenario; parts of a network have none.
pub fn by_flag(place: &str) -> String {
    let key = place.replace('_', "-");
    match keys::find(&key).is_some() || key == "sample" {
        true => format!("--{key}"),
        false => place.to_owned(),
    }
}

/// Everything that is compared, in the order of the table.
fn entries(flags: &Flags) -> Result<Vec<Entry>, Failure> {
    let mut entries = Vec::new();
    for algorithm in &flags.algorithms {
        let mut lines = vec![Line { text: format!("algorithm = {}", toml_string(algorithm)), flag: None }];
        for given in flags.settings.given() {
            if is_of_algorithm(given.setting.key, flags) {
                lines.push(setting_line(given.setting.key, &given.values[0]));
            }
        }
        entries.push(Entry { name: algorithm.clone(), lines });
    }
    for mix in flags.settings.values("mix") {
        let line = Line { text: format!("mix = {}", toml_string(mix)), flag: Some(format!("--mix '{mix}'")) };
        entries.push(Entry { name: mix.clone(), lines: vec![line] });
    }
    let flow = flags.settings.values("flow");
    if !flow.is_empty() {
        // What is wrong with all of them is notified of the first.
        let mut lines =
            vec![Line { text: "flow = [".to_owned(), flag: Some(format!("--flow '{}'", flow[0])) }];
        lines.extend(flow.iter().map(|flow| Line {
            text: format!("  {},", toml_string(flow)),
            flag: Some(format!("--flow '{flow}'")),
        }));
        lines.push(Line { text: "]".to_owned(), flag: None });
        entries.push(Entry { name: flow.join(" + "), lines });
    }
    if let (true, Some(short)) = (entries.is_empty(), flags.settings.values("short-flows").first()) {
        entries.push(Entry { name: short.clone(), lines: Vec::new() });
    }
    if entries.is_empty() {
        return Err(Failure::bad_input(
            "nothing to run: name an algorithm (`cwnd compare cubic elastic`), a --mix, a --flow or --short-flows; \
             `cwnd algorithms` lists the algorithms",
        ));
    }
    let names: Vec<String> = entries.iter().map(|entry| as_registered(&entry.name)).collect();
    let twice = (0..names.len()).find(|&one| names[..one].contains(&names[one]));
    match twice {
        Some(one) => Err(Failure::bad_input(match entries[one].name == names[one] {
            true => format!("`{}` is there twice: name it once", names[one]),
            false => {
                format!("`{}` is `{}`, which is there twice: name it once", entries[one].name, names[one])
            }
        })),
        None => Ok(entries),
    }
}

/// A name with which algorithms that are one have one name: `CUBIC` and `cubic`, `reno` and `newreno`.
fn as_registered(text: &str) -> String {
    text.parse::<AlgorithmSpec>().map_or_else(|_| text.to_owned(), |algorithm| algorithm.to_string())
}

/// Whether a setting is of the algorithms that are named alone, and there are others than these.
fn is_of_algorithm(key: &str, flags: &Flags) -> bool {
    let others = ["mix", "flow"].iter().any(|key| !flags.settings.values(key).is_empty());
    // Of no algorithm the number of flows has no effect.
    let nothing = flags.algorithms.is_empty();
    key == "flows" && (others || nothing) || key == "beside" && others && !nothing
}

fn setting_line(key: &str, value: &str) -> Line {
    let text = study_text::value(key, value);
    Line { text: format!("{key} = {text}"), flag: Some(format!("--{key}")) }
}

/// The metrics that the table shows, as an array of TOML.
fn metrics(flags: &Flags, sampled: bool) -> String {
    let parking_lot = flags.settings.values("topology").first().is_some_and(|value| value == "parking-lot");
    let link = if parking_lot { "hop-1" } else { "bottleneck" };
    let shown = [
        "throughput_bps",
        "goodput_bps",
        "utilisation",
        "completion_time_s",
        "loss_ratio",
        "jain_index",
        "rtt_mean_s",
        QUEUE,
        "retransmissions",
        "timeouts",
    ];
    let sampled: &[&str] = if sampled { &QUEUE_DELAYS } else { &[] };
    let line = |name: &&str| match *name {
        name if name == QUEUE || QUEUE_DELAYS.contains(&name) => format!("  \"{link}.{name}\",\n"),
        name => format!("  \"{name}\",\n"),
    };
    let lines: String = shown.iter().chain(sampled).map(line).collect();
    format!("[\n{lines}]")
}

/// Returns a tenth of the shortest base round-trip time, but so much that no run is sampled more than [`MOST_TIMES`] times, and what
/// the sockets of a kernel can be asked for.
fn usual_interval(study: &Study) -> Time {
    let of_cell = |cell: &Cell| cell.scenario.base_rtt(0).0 / 10;
    let shortest = study.cells.iter().map(of_cell).min().unwrap_or_default();
    let longest = study.cells.iter().map(|cell| cell.scenario.duration.0).max().unwrap_or_default();
    let is_simulated = study.cells.iter().all(|cell| cell.engine == EngineKind::Sim);
    let least = if is_simulated { 1_000 } else { 1_000_000 };
    // Whole microseconds are easier to read.
    Time(shortest.max(longest / MOST_TIMES).max(least).next_multiple_of(1_000))
}

/// Returns how many samples of flows the cells of a study have together in a repeat, and the most that one of them has.
fn samples(study: &Study, every: Time) -> (f64, f64) {
    let of_cell = |cell: &Cell| {
        cell.scenario.lasting_flows() as f64 * (cell.scenario.duration.0 as f64 / every.0.max(1) as f64)
    };
    let counts: Vec<f64> = study.cells.iter().map(of_cell).collect();
    (counts.iter().sum(), counts.into_iter().fold(0.0, f64::max))
}

/// Checks, before scenarios are made, that the descriptions of the flows fit into memory.
fn check_descriptions(flags: &Flags, memory: MemoryBudget) -> Result<(), Failure> {
    /// Bytes of a flow's description, with those of the links that only it crosses.
    const DESCRIPTION: f64 = 2_000.0;
    let count: u64 = flags.settings.values("flows").first().and_then(|text| text.parse().ok()).unwrap_or(1);
    let flows = count * flags.algorithms.len() as u64;
    memory.check(flows as f64 * DESCRIPTION).map_err(|error| {
        Failure::bad_input(format!("--flows: to describe {flows} flows {error}: take fewer"))
    })
}
