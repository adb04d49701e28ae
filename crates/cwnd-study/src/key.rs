//! What tells runs apart: the canonical text of a run, and its hash.

use cwnd_scenario::{Engine, Identity, Scenario};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    fmt,
    io::{self, Write},
    sync::{Arc, OnceLock},
};

/// SHA-256 of a run's canonical text ([`RunSpec::canonical_text`]). Runs with equal keys have equal outcomes, whatever
/// study they belong to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey(pub [u8; 32]);

impl RunKey {
    /// Computes the key of a scenario for an engine. The seed belongs to it, and so does the time between samples: a run
    /// with a trace is another than the same run without.
    pub fn of(engine: &dyn Engine, scenario: &Scenario) -> RunKey {
        RunSpec::new(engine, scenario).key()
    }

    /// Reads what [`Display`](fmt::Display) writes; none if it is something else.
    pub(crate) fn parse(text: &str) -> Option<RunKey> {
        let mut key = [0; 32];
        if text.len() != 2 * key.len() || !text.is_ascii() {
            return None;
        }
        for (byte, place) in key.iter_mut().zip((0..text.len()).step_by(2)) {
            *byte = u8::from_str_radix(&text[place..place + 2], 16).ok()?;
        }
        Some(RunKey(key))
    }
}

impl fmt::Display for RunKey {
    /// 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunKey({self})")
    }
}

/// Everything that decides the outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// The engine, and the versions of what takes part.
    pub identity: Identity,
    /// The scenario without its seed.
    pub scenario: ScenarioText,
    /// The seed.
    pub seed: u64,
}

impl RunSpec {
    /// Creates the specification of a scenario's run by an engine.
    pub fn new(engine: &dyn Engine, scenario: &Scenario) -> RunSpec {
        let identity = engine.identity(scenario);
        RunSpec { identity, scenario: ScenarioText::of(scenario), seed: scenario.seed }
    }

    /// Does as [`RunSpec::new`], but the scenario's text is written when it is first read: a run that is kept in memory needs none.
    pub(crate) fn without_text(engine: &dyn Engine, scenario: &Arc<Scenario>) -> RunSpec {
        let identity = engine.identity(scenario);
        RunSpec { identity, scenario: ScenarioText::later(scenario), seed: scenario.seed }
    }

    /// Returns the canonical text: JSON without white space, members in this order, and versions sorted by name.
    ///
    /// ```text
    /// {"engine":"cwnd-sim","versions":{"cubic":"1","cwnd-sim":"7"},"scenario":{…},"seed":1}
    /// ```
    pub fn canonical_text(&self) -> String {
        format!("{}{}{}", self.identity_text(), self.scenario.as_str(), seed_text(self.seed))
    }

    /// Returns the canonical text up to the scenario.
    fn identity_text(&self) -> String {
        let Identity { engine, versions } = &self.identity;
        let (engine, versions) = (Value::from(engine.as_str()), to_json(0, versions));
        format!(r#"{{"engine":{engine},"versions":{versions},"scenario":"#)
    }

    /// Computes the key.
    pub fn key(&self) -> RunKey {
        self.keys_by_seed().key(self.seed)
    }

    /// Prepares the keys of the runs that differ from this one in their seeds alone.
    pub(crate) fn keys_by_seed(&self) -> KeysBySeed {
        let mut writer = HashWriter(Sha256::new_with_prefix(self.identity_text()));
        self.scenario.write(&mut writer).expect("a hash takes all that is written");
        KeysBySeed(writer.0)
    }
}

/// The keys of runs that differ in their seeds alone. The seed is at the end of the canonical text, so that all before it is
/// hashed once.
#[derive(Clone, Debug)]
pub(crate) struct KeysBySeed(Sha256);

impl KeysBySeed {
    /// Computes the key of the run with this seed.
    pub fn key(&self, seed: u64) -> RunKey {
        RunKey(self.0.clone().chain_update(seed_text(seed)).finalize().into())
    }
}

/// The end of a canonical text.
fn seed_text(seed: u64) -> String {
    format!(r#","seed":{seed}}}"#)
}

/// A writer that hashes what is written to it.
struct HashWriter(Sha256);

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A scenario as canonical JSON: complete, but without the seed and without the names that decide nothing
/// ([`Scenario::without_labels`]). Repeats of a cell that draw no short flows have the same text.
#[derive(Clone)]
pub struct ScenarioText(Arc<Text>);

/// The text of a scenario, or the scenario from which it is written when it is first read: the text of ten thousand flows takes 15 MB.
enum Text {
    Written(String),
    Later(Arc<Scenario>, OnceLock<String>),
}

impl ScenarioText {
    /// Writes a scenario.
    pub fn of(scenario: &Scenario) -> ScenarioText {
        ScenarioText::from_stored(canonical(scenario))
    }

    /// Writes a scenario when its text is first read.
    fn later(scenario: &Arc<Scenario>) -> ScenarioText {
        ScenarioText(Arc::new(Text::Later(Arc::clone(scenario), OnceLock::new())))
    }

    /// Creates it from a text without checks; [`ScenarioText::parse`] checks it.
    pub(crate) fn from_stored(text: String) -> ScenarioText {
        ScenarioText(Arc::new(Text::Written(text)))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        match &*self.0 {
            Text::Written(text) => text,
            Text::Later(scenario, text) => text.get_or_init(|| canonical(scenario)),
        }
    }

    /// Writes the text. If nobody has read it yet, it is not kept either.
    fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match &*self.0 {
            Text::Later(scenario, text) if text.get().is_none() => {
                let mut buffered = io::BufWriter::with_capacity(1 << 14, to);
                serde_json::to_writer(&mut buffered, &without_seed_and_labels(scenario))?;
                buffered.flush()
            }
            _ => to.write_all(self.as_str().as_bytes()),
        }
    }

    /// Reads the scenario, whose seed is then zero.
    ///
    /// # Errors
    /// If the text is none of a scenario as this version writes them.
    pub fn parse(&self) -> Result<Scenario, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// Lists the places in which two texts differ, as far as both are JSON. Those of the stack come first: limits of queues
    /// and the sender's overhead may follow from its packet size.
    pub fn differences(&self, other: &ScenarioText) -> Vec<Difference> {
        let mut found = Vec::new();
        let value = |text: &ScenarioText| serde_json::from_str(text.as_str()).unwrap_or(Value::Null);
        compare("", Some(&value(self)), Some(&value(other)), &mut found);
        found.sort_by_key(|difference| !difference.path.starts_with("stack."));
        found
    }
}

impl PartialEq for ScenarioText {
    fn eq(&self, other: &ScenarioText) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.as_str() == other.as_str()
    }
}

impl Eq for ScenarioText {}

impl fmt::Debug for ScenarioText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScenarioText").field(&self.as_str()).finish()
    }
}

/// A place in which two scenarios differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path, such as `stack.payload` or `flows[2].start`.
    pub path: String,
    /// Each scenario's value as JSON; none if it has no such place.
    pub values: [Option<String>; 2],
}

fn compare(path: &str, one: Option<&Value>, other: Option<&Value>, found: &mut Vec<Difference>) {
    match (one, other) {
        _ if one == other => {}
        (Some(Value::Object(ours)), Some(Value::Object(theirs))) => {
            let added = theirs.keys().filter(|key| !ours.contains_key(*key));
            for key in ours.keys().chain(added) {
                let dot = if path.is_empty() { "" } else { "." };
                compare(&format!("{path}{dot}{key}"), ours.get(key), theirs.get(key), found);
            }
        }
        (Some(Value::Array(ours)), Some(Value::Array(theirs))) => {
            for i in 0..ours.len().max(theirs.len()) {
                compare(&format!("{path}[{i}]"), ours.get(i), theirs.get(i), found);
            }
        }
        _ => {
            let values = [one, other].map(|value| value.map(Value::to_string));
            found.push(Difference { path: path.to_owned(), values });
        }
    }
}

/// Returns the text of a scenario.
fn canonical(scenario: &Scenario) -> String {
    let (flows, links) = (scenario.flows.len(), scenario.network.links.len());
    to_json(512 * flows + 320 * links + 2048, &without_seed_and_labels(scenario))
}

/// Returns the scenario without its labels, and with a seed of zero, which its JSON leaves out.
fn without_seed_and_labels(scenario: &Scenario) -> Scenario {
    Scenario { seed: 0, ..scenario.without_labels() }
}

/// Writes a value as JSON, with memory reserved for `bytes` bytes.
fn to_json(bytes: usize, value: &impl serde::Serialize) -> String {
    json_with_capacity(bytes, value)
        .expect("its maps have text for keys, and its floats are written as they are")
}

/// Writes a value as JSON, with memory reserved for `bytes` bytes. Without it, a text of many flows is copied each time its memory grows.
///
/// # Errors
/// If the value cannot be written as JSON.
pub(crate) fn json_with_capacity(
    bytes: usize,
    value: &impl serde::Serialize,
) -> Result<String, serde_json::Error> {
    let mut text = Vec::with_capacity(bytes);
    serde_json::to_writer(&mut text, value)?;
    Ok(String::from_utf8(text).expect("JSON is UTF-8"))
}

#[cfg(test)]
mod tests;
