//! The text that describes a run: settings of `cwnd compare` and their changes, one a line.

mod link_changes;

use crate::json::Json;
use cwnd_experiment::{ExperimentSpec, settings};
use cwnd_scenario::{DeliveryTrace, Problem, Scenario, Time};
use std::collections::BTreeMap;

/// A run as the page describes it.
///
/// Each line is `KEY=VALUE`, with the keys and values of `cwnd compare`'s flags, and `seed`. A line `@TIME KEY=VALUE` changes a
/// setting at that time; `@TIME stop=N` stops flow N, counted from 1. Empty lines are skipped. A key is there once, except `flow`.
///
/// ```
/// use cwnd_wasm::Setting;
///
/// let setting = Setting::parse("rate=10 Mbit/s\nflow=cubic\n@5 s rate=5 Mbit/s", None).expect("it is possible");
/// assert_eq!(setting.changes.len(), 1);
/// let problems = Setting::parse("rate=10 parsecs", None).err().expect("the unit is wrong");
/// assert_eq!((problems[0].line, problems[0].key.as_str()), (1, "rate"));
/// ```
#[derive(Clone)]
pub struct Setting {
    spec: ExperimentSpec,
    seed: u64,
    /// The changes in the order of their times.
    pub changes: Vec<Change>,
}

/// A change of a setting during the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// When it applies.
    pub at: Time,
    /// The key of the setting, or `stop`.
    pub key: String,
    /// The new value.
    pub value: String,
    /// The line that says it.
    line: usize,
}

/// Something wrong with a line of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// The line, counted from 1; 0 if it is not about one line.
    pub line: usize,
    /// The key of the setting or the place in the scenario.
    pub key: String,
    /// What is wrong and what would be valid.
    pub message: String,
}

/// Settings that can be changed during a run.
pub const CHANGEABLE: [&str; 10] = [
    "rate",
    "delay",
    "rtt",
    "buffer",
    "per",
    "loss",
    "queue",
    "reverse-rate",
    "reverse-buffer",
    "reverse-loss",
];

impl Default for Setting {
    fn default() -> Setting {
        Setting { spec: ExperimentSpec::default(), seed: 1, changes: Vec::new() }
    }
}

impl Setting {
    /// Reads a setting. `trace` is the content of the delivery trace that `rate-trace` names, if the caller has it.
    ///
    /// # Errors
    /// Everything that is wrong, by line. A file that the caller does not have is refused.
    pub fn parse(text: &str, trace: Option<&str>) -> Result<Setting, Vec<LineProblem>> {
        let mut setting = Setting::default();
        let mut problems = Vec::new();
        let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
        // The line of each setting that can be there once.
        let mut once: BTreeMap<&str, usize> = BTreeMap::new();
        for (line, text) in lines {
            let text = text.trim();
            let key = text.split('=').next().unwrap_or_default().trim();
            let first =
                if text.starts_with('@') || key == "flow" { line } else { *once.entry(key).or_insert(line) };
            if first < line {
                let message = format!("it is there twice, first in line {first}: leave one out");
                problems.push(LineProblem { line, key: key.to_owned(), message });
            } else if let Err((key, message)) = setting.read_line(line, text) {
                problems.push(LineProblem { line, key, message });
            }
        }
        setting.changes.sort_by_key(|change| change.at);
        let end = setting.spec.duration;
        for late in setting.changes.iter().filter(|change| change.at >= end) {
            let message = format!("the run ends at {end}: a change must come before that");
            problems.push(LineProblem { line: late.line, key: late.key.clone(), message });
        }
        let given = setting.spec.forward.trace.as_ref().map(|file| file.path.clone());
        let traces = setting.spec.read_traces(&mut |name| {
            let trace = trace.filter(|_| given.as_deref() == Some(name)).ok_or_else(|| no_file(name))?;
            DeliveryTrace::parse(name, trace).map_err(|error| format!("the trace `{name}`: {error}"))
        });
        let sizes = setting.spec.read_sizes(&mut |name| Err(no_file(name)));
        for problem in [traces, sizes].into_iter().filter_map(Result::err) {
            let key = problem.place.replace('_', "-");
            let line = once.get(key.as_str()).copied().unwrap_or(0);
            problems.push(LineProblem { line, key, message: problem.message });
        }
        if problems.is_empty() { Ok(setting) } else { Err(problems) }
    }

    /// Returns the scenario at its beginning.
    ///
    /// # Errors
    /// Everything that is impossible together, by place.
    pub fn scenario(&self) -> Result<Scenario, Vec<LineProblem>> {
        let scenario = self.spec.resolve(self.seed);
        scenario.map_err(|problems| problems.iter().map(LineProblem::anywhere).collect())
    }

    /// Checks that all changes are possible one after the other in a run of this scenario, which is that of the setting.
    ///
    /// # Errors
    /// Everything that is impossible, by line.
    pub fn check_changes(&self, scenario: &Scenario) -> Result<(), Vec<LineProblem>> {
        let mut setting = self.clone();
        let mut links = scenario.network.links.clone();
        let mut problems = Vec::new();
        for change in &self.changes {
            let checked = match change.key.as_str() {
                "stop" => {
                    flow_index(&change.value, scenario.flows.len()).map(drop).map_err(|problem| vec![problem])
                }
                key => setting
                    .change_links(key, &change.value, &links)
                    .map(|changed| changed.into_iter().for_each(|(id, link)| links[id] = link)),
            };
            problems.extend(change.place(checked.err().unwrap_or_default()));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Returns the scenario after a setting has changed.
    ///
    /// # Errors
    /// The value is invalid, or the setting cannot change during a run.
    pub fn changed(&mut self, key: &str, value: &str) -> Result<Scenario, Vec<LineProblem>> {
        let refuse = |message| vec![LineProblem { line: 0, key: key.to_owned(), message }];
        check_changeable(key).map_err(refuse)?;
        let mut next = self.clone();
        next.set(key, value).map_err(refuse)?;
        let scenario = next.scenario()?;
        *self = next;
        Ok(scenario)
    }

    fn read_line(&mut self, line: usize, text: &str) -> Result<(), (String, String)> {
        let (at, assignment) = match text.strip_prefix('@') {
            Some(rest) => split_time(rest).map(|(at, rest)| (Some(at), rest))?,
            None => (None, text),
        };
        let Some((key, value)) = assignment.split_once('=') else {
            return Err((
                assignment.to_owned(),
                "a line is `KEY=VALUE`, such as `rate=10 Mbit/s`".to_owned(),
            ));
        };
        let (key, value) = (key.trim(), value.trim());
        let Some(at) = at else {
            return self.set(key, value).map_err(|message| (key.to_owned(), message));
        };
        let checked = match key {
            "stop" => flow_index(value, usize::MAX).map(drop).map_err(|problem| problem.message),
            _ => check_changeable(key).and_then(|()| Setting::default().set(key, value)),
        };
        checked.map_err(|message| (key.to_owned(), message))?;
        self.changes.push(Change { at, key: key.to_owned(), value: value.to_owned(), line });
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        if key == "seed" {
            let seed = value.parse().map_err(|_| "it must be a whole number, such as `1`".to_owned());
            return seed.map(|seed| self.seed = seed);
        }
        let Some(setting) = settings::find(key) else {
            let keys = settings::SETTINGS.iter().map(|setting| setting.key);
            let meant = cwnd_scenario::nearest(key, keys);
            let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            return Err(format!("there is no such setting{hint}"));
        };
        (setting.set)(&mut self.spec, value)
    }
}

impl Change {
    /// Returns problems of this change with its line.
    pub fn place(&self, problems: Vec<LineProblem>) -> Vec<LineProblem> {
        problems.into_iter().map(|problem| LineProblem { line: self.line, ..problem }).collect()
    }
}

impl LineProblem {
    /// A problem that is not about one line.
    pub fn anywhere(problem: &Problem) -> LineProblem {
        LineProblem { line: 0, key: problem.place.clone(), message: problem.message.clone() }
    }

    pub(crate) fn json(problems: &[LineProblem]) -> String {
        let mut json = Json::default();
        json.list(problems, |json, problem| {
            json.object(|json| {
                json.number("line", problem.line as f64);
                json.text("key", &problem.key);
                json.text("message", &problem.message);
            });
        });
        json.into_text()
    }
}

fn no_file(name: &str) -> String {
    format!("a run of a page does not read the file `{name}`: `cwnd compare` and study files do")
}

/// Returns why a setting cannot change during a run.
fn check_changeable(key: &str) -> Result<(), String> {
    if CHANGEABLE.contains(&key) {
        return Ok(());
    }
    let known = CHANGEABLE.join(", ");
    Err(format!("it cannot change during a run; these can: {known}, stop"))
}

/// Returns the index of a flow that is written as its number, counted from 1.
///
/// # Errors
/// It is not the number of one of this many flows.
pub(crate) fn flow_index(number: &str, flows: usize) -> Result<usize, LineProblem> {
    let index = number.parse().ok().filter(|index| (1..=flows).contains(index));
    index.map(|index: usize| index - 1).ok_or_else(|| {
        let most = if flows == usize::MAX { String::new() } else { format!(": there are {flows}") };
        let message = format!("`{number}` is no flow{most}; flows are counted from 1");
        LineProblem { line: 0, key: "stop".to_owned(), message }
    })
}

/// Splits `12.5 s rate=10 Mbit/s` into the time and the rest.
fn split_time(text: &str) -> Result<(Time, &str), (String, String)> {
    let wrong = || (text.to_owned(), "a change is `@12.5 s rate=10 Mbit/s`, for example".to_owned());
    let mut words = text.trim_start().splitn(3, ' ');
    let (number, unit, rest) = (words.next(), words.next(), words.next());
    let (Some(number), Some(unit), Some(rest)) = (number, unit, rest) else { return Err(wrong()) };
    let time: Time = format!("{number} {unit}").parse().map_err(|_| wrong())?;
    Ok((time, rest.trim_start()))
}
