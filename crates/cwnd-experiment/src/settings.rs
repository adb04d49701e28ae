//! The words in which an experiment is said: one table, from which study files, their schema and their documents come.

mod family;
mod flows;
mod network;
mod stack;
mod time;

pub use family::{FAMILIES, Family};
pub use flows::FLOWS;
pub use network::{NETWORK, OF_LINES};
pub use stack::STACK;
pub use time::TIME;

use crate::{Buffer, BufferTerm, ExperimentSpec, Topology};
use cwnd_scenario::MAX_FLOWS;
use cwnd_scenario::{ByteSize, LinkSpec, NotationError, QueueLimit, Rate, Scenario, Time};
use std::str::FromStr;

/// One word of an experiment: `buffer`, `per`, `stop-stagger`. `cwnd compare` has a flag of the same name for
/// each.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The word.
    pub key: &'static str,
    /// The title of an axis of it.
    pub title: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// What it is when it is not said.
    pub default: &'static str,
    /// A value, as it is written.
    pub example: &'static str,
    /// What values it takes.
    pub kind: SettingKind,
    /// Puts a value into an experiment, or says what is wrong with it and what would be right.
    pub set: fn(&mut ExperimentSpec, &str) -> Result<(), String>,
    /// Returns the value in effect in an experiment with this scenario, as it is written; none where the setting does
    /// not apply. Where it was left out, this is the default.
    pub get: fn(&ExperimentSpec, &Scenario) -> Option<String>,
    /// A value as a number and the unit of it (empty for a ratio or a count), if it is a quantity.
    pub measure: fn(&str) -> Option<(f64, &'static str)>,
}

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// A number with a unit.
    Quantity,
    /// A number, or one with a unit.
    Number,
    /// A whole number.
    Count,
    /// On or off.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An algorithm, perhaps with parameters.
    Algorithm,
    /// A mix of algorithms.
    Mix,
    /// A list of flows.
    Flows,
    /// A kind of queue, loss or jitter, perhaps with parameters; a loss may be a number.
    Kind(Family),
    /// Steps of a schedule: a text, or a list of texts that are joined by `; `.
    Steps,
    /// The path of a file.
    File,
    /// A text (or a number) that says this.
    Text(&'static str),
    /// A word of a form.
    Form {
        /// The form in words.
        what: &'static str,
        /// The form as a regular expression.
        pattern: &'static str,
    },
}

/// Pairs of keys that cannot be said together.
pub static CONFLICTS: [(&str, &str); 7] = [
    ("delay", "rtt"),
    ("packet-size", "mtu"),
    ("algorithm", "mix"),
    ("algorithm", "flow"),
    ("mix", "flow"),
    ("per", "loss"),
    ("schedule", "rate-trace"),
];

/// The setting of this key.
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// The settings by what they describe, with titles under which the help of `cwnd compare` lists them.
pub static GROUPS: [(&str, &[Setting]); 4] =
    [("Flows", FLOWS), ("Network", NETWORK), ("Stack", STACK), ("Time and chance", TIME)];

/// All of them.
pub static SETTINGS: &[Setting] = &joined::<{ FLOWS.len() + NETWORK.len() + STACK.len() + TIME.len() }>();

const fn joined<const COUNT: usize>() -> [Setting; COUNT] {
    let groups = [FLOWS, NETWORK, STACK, TIME];
    let mut all = [FLOWS[0]; COUNT];
    let (mut group, mut index, mut next) = (0, 0, 0);
    while next < COUNT {
        if index == groups[group].len() {
            (group, index) = (group + 1, 0);
        } else {
            all[next] = groups[group][index];
            (index, next) = (index + 1, next + 1);
        }
    }
    all
}

fn unit(error: cwnd_scenario::UnitError) -> String {
    error.message
}

/// Returns the message of an error in a notation; the first column is the beginning of what is shown anyway.
fn notation(error: NotationError) -> String {
    if error.column == 1 { error.message } else { error.to_string() }
}

fn said<T: ToString>(value: &Option<T>) -> Option<String> {
    value.as_ref().map(T::to_string)
}

fn listed<T: ToString>(values: &[T], separator: &str) -> Option<String> {
    let texts: Vec<String> = values.iter().map(T::to_string).collect();
    (!texts.is_empty()).then(|| texts.join(separator))
}

fn on_off(on: bool) -> Option<String> {
    Some(if on { "on" } else { "off" }.to_owned())
}

fn bottleneck(scenario: &Scenario) -> &LinkSpec {
    &scenario.network.links[scenario.network.bottleneck]
}

/// Returns the link against the bottleneck, if there is one.
fn reverse(scenario: &Scenario) -> Option<&LinkSpec> {
    let name = format!("{}-reverse", bottleneck(scenario).name);
    scenario.network.links.iter().find(|link| link.name == name)
}

/// Returns the base round-trip time of the experiment's own flows, if it is the same for all.
fn base_rtt(scenario: &Scenario) -> Option<Time> {
    let own = |flow: &usize| {
        let flow = &scenario.flows[*flow];
        !flow.short && !flow.reverse && flow.group.as_deref() != Some(crate::experiment::CROSS)
    };
    let mut rtts = (0..scenario.flows.len()).filter(own).map(|flow| scenario.base_rtt(flow));
    let first = rtts.next()?;
    rtts.all(|rtt| rtt == first).then_some(first)
}

/// Returns a link's buffer as it is written. Links of a drawn network may have buffers of their own.
fn buffer_in_effect(spec: &ExperimentSpec, link: &LinkSpec, said: &Buffer) -> String {
    match (&spec.topology, link.queue.limit) {
        (Topology::Graph(_), QueueLimit::Packets(packets)) => packets.to_string(),
        (Topology::Graph(_), QueueLimit::Bytes(bytes)) => ByteSize(bytes).to_string(),
        (Topology::Graph(_), QueueLimit::Unlimited) => "unlimited".to_owned(),
        _ => said.to_string(),
    }
}

fn put<T: FromStr>(
    place: &mut Option<T>,
    text: &str,
    message: impl Fn(T::Err) -> String,
) -> Result<(), String> {
    text.parse().map(|value| *place = Some(value)).map_err(message)
}

/// Puts an effect of a line that can be switched off.
fn put_or_none<T: FromStr>(
    place: &mut Option<Option<T>>,
    text: &str,
    message: impl Fn(T::Err) -> String,
) -> Result<(), String> {
    if text == "none" {
        *place = Some(None);
        return Ok(());
    }
    let hint = if text.starts_with('0') || text == "off" { "; `none` switches it off" } else { "" };
    let value = text.parse().map_err(|error| message(error) + hint)?;
    *place = Some(Some(value));
    Ok(())
}

fn count(text: &str, least: u32) -> Result<u32, String> {
    match whole(text)? {
        count if count < least => Err(format!("there must be at least {least}")),
        count if count > MAX_FLOWS => Err(format!("too many: {MAX_FLOWS} flows are the most")),
        count => Ok(count),
    }
}

fn whole(text: &str) -> Result<u32, String> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    if digits.starts_with('-') {
        return Err("it must not be negative".to_owned());
    }
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("it must be a whole number, such as `4`".to_owned());
    }
    digits.parse().map_err(|_| "it is far too large".to_owned())
}

fn word<T: Clone>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(value.clone());
    }
    let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let meant = cwnd_scenario::nearest(text, names.iter().copied());
    let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    Err(format!("it is one of {}{hint}", names.join(", ")))
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err("it is `on` or `off` (or `true`, `false`)".to_owned()),
    }
}

fn nothing(_: &str) -> Option<(f64, &'static str)> {
    None
}

fn number(text: &str) -> Option<(f64, &'static str)> {
    whole(text).ok().map(|number| (f64::from(number), ""))
}

fn seconds(text: &str) -> Option<(f64, &'static str)> {
    text.parse().ok().map(|time: Time| (time.as_secs_f64(), "s"))
}

fn milliseconds(text: &str) -> Option<(f64, &'static str)> {
    text.parse().ok().map(|time: Time| (time.0 as f64 / 1e6, "ms"))
}

fn megabits(text: &str) -> Option<(f64, &'static str)> {
    let rate: Rate = text.parse().ok().filter(|rate| *rate != Rate::UNLIMITED)?;
    Some((rate.0 as f64 / 1e6, "Mbit/s"))
}

fn buffer(text: &str) -> Option<(f64, &'static str)> {
    match text.parse().ok()? {
        Buffer::Bytes(bytes) => Some((bytes as f64 / 1e3, "KB")),
        Buffer::Unlimited => None,
        Buffer::Packets(terms) => match terms.as_slice() {
            [BufferTerm::Fixed(packets)] => Some((f64::from(*packets), "packets")),
            [BufferTerm::Bdp(factor)] => Some((factor.to_f64(), "BDP")),
            [BufferTerm::PerFlow(packets)] => Some((f64::from(*packets), "packets a flow")),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests;
