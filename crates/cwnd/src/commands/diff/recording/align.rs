//! Matches the events of two recordings, and finds the first that differs.
//!
//! An event is matched with that of the same group, kind and packet number (with its space). Of several such events, and of events
//! without a packet number, the n-th of one file is matched with the n-th of the other. Times do not matter for the match.
//!
//! Different implementations write different events. Of their files are compared: losses, the kinds of event and the fields that both
//! have, and the metrics of senders as [values over time](super::metrics). Connection IDs are names that are drawn, and are not compared.

use super::metrics;
use super::read::{Event, Recording};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What still counts as equal.
#[derive(Clone, Copy)]
pub struct Tolerance {
    /// Difference between the times of matched events, ms.
    pub time_ms: f64,
    /// Difference between two numbers, relative to the larger.
    pub relative: f64,
}

/// Fields that are drawn for each connection, and the numbers of paths that some implementations add.
const NAMES: [&str; 9] = [
    "connection_ids",
    "dcid",
    "initial_source_connection_id",
    "original_destination_connection_id",
    "path_id",
    "retry_source_connection_id",
    "scid",
    "stateless_reset_token",
    "tuple_id",
];

/// The kinds of event, with their fields, that are compared.
struct Common {
    /// Fields by kind.
    fields: BTreeMap<String, BTreeSet<String>>,
    /// Kinds that one file alone has.
    pub others: BTreeSet<String>,
}

/// Returns the kinds of event that one of the files alone has, if different implementations wrote them: these are not compared.
pub fn not_compared(recordings: [&Recording; 2]) -> BTreeSet<String> {
    common(recordings).map(|common| common.others).unwrap_or_default()
}

/// Returns what two implementations both write; none if the files are of the same.
fn common(recordings: [&Recording; 2]) -> Option<Common> {
    if recordings[0].writer == recordings[1].writer {
        return None;
    }
    let [first, second] = recordings.map(|recording| {
        let mut fields: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for event in &recording.events {
            let known = fields.entry(event.kind.clone()).or_default();
            known.extend(event.data.as_object().into_iter().flatten().map(|(name, _)| name.clone()));
        }
        fields
    });
    let (kept, others) = {
        let kinds: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
        let is_common = |kind: &String| first.contains_key(kind) && second.contains_key(kind);
        kinds
            .into_iter()
            .cloned()
            .partition::<BTreeSet<String>, _>(|kind| is_common(kind) || kind == "packet_lost")
    };
    let empty = BTreeSet::new();
    let fields = kept.into_iter().map(|kind| {
        let [a, b] = [&first, &second].map(|fields| fields.get(&kind).unwrap_or(&empty));
        let both = a.intersection(b).cloned().collect();
        (kind, both)
    });
    Some(Common { fields: fields.collect(), others })
}

/// Where two recordings part.
#[derive(Debug)]
pub struct Difference {
    /// What differs, with both values.
    pub text: String,
    /// When, ms: the earlier of the two times.
    pub time: f64,
    /// The group of its event.
    pub group: usize,
    /// The place of the event in each recording, or of the first event that is not earlier where there is none.
    pub places: [usize; 2],
    /// Whether each recording has the event.
    pub events: [bool; 2],
}

/// Group, kind, packet number with its space, and which of several.
type Key<'a> = (usize, &'a str, String, usize);

/// Returns the earliest difference, by the earlier time of the two sides.
pub fn first_difference(recordings: [&Recording; 2], tolerance: Tolerance) -> Option<Difference> {
    let [first, second] = recordings;
    let keys = recordings.map(keys);
    let places: BTreeMap<&Key<'_>, usize> = keys[1].iter().enumerate().map(|(i, key)| (key, i)).collect();
    let mut matched = vec![false; second.events.len()];
    let common = common(recordings);
    let mut earliest = common.as_ref().and_then(|_| metrics::first_difference(recordings, tolerance));
    let is_compared = |event: &Event| {
        let of_both =
            |common: &Common| event.kind != metrics::KIND && common.fields.contains_key(&event.kind);
        common.as_ref().is_none_or(of_both)
    };
    // What is not earlier than a difference that is known need not be looked at.
    let is_later =
        |earliest: &Option<Difference>, time: f64| earliest.as_ref().is_some_and(|known| time >= known.time);
    let events = keys[0].iter().zip(&first.events).enumerate();
    for (i, (key, event)) in events.filter(|(_, (_, event))| is_compared(event)) {
        let Some(&j) = places.get(key) else {
            if !is_later(&earliest, event.time) {
                earliest = Some(only(recordings, 0, i));
            }
            continue;
        };
        matched[j] = true;
        let other = &second.events[j];
        let time = event.time.min(other.time);
        if is_later(&earliest, time) {
            continue;
        }
        let fields = common.as_ref().and_then(|common| common.fields.get(&event.kind));
        if let Some(what) = compare(event, other, fields, tolerance) {
            let text = format!("{} {what}", name(event));
            earliest =
                Some(Difference { text, time, group: event.group, places: [i, j], events: [true, true] });
        }
    }
    for j in (0..second.events.len()).filter(|j| !matched[*j] && is_compared(&second.events[*j])) {
        if !is_later(&earliest, second.events[j].time) {
            earliest = Some(only(recordings, 1, j));
        }
    }
    earliest
}

fn keys(recording: &Recording) -> Vec<Key<'_>> {
    let mut seen = BTreeMap::new();
    let key = |event| {
        let number = packet(event).unwrap_or_default();
        let count: &mut usize = seen.entry((event.group, event.kind.as_str(), number.clone())).or_default();
        *count += 1;
        (event.group, event.kind.as_str(), number, *count - 1)
    };
    recording.events.iter().map(key).collect()
}

/// Returns the number of an event's packet, with its packet number space.
fn packet(event: &Event) -> Option<String> {
    let header = &event.data["header"];
    let number = header.get("packet_number").or_else(|| event.data.get("packet_number"))?;
    let space = header["packet_type"].as_str().or_else(|| event.data["packet_type"].as_str());
    Some(format!("{} {number}", space.unwrap_or("1RTT")))
}

/// Returns the kind of an event and its packet, for a person.
fn name(event: &Event) -> String {
    match packet(event) {
        Some(packet) => format!("{} of packet {packet}", event.kind),
        None => event.kind.clone(),
    }
}

/// The difference of an event that one side alone has.
fn only(recordings: [&Recording; 2], side: usize, place: usize) -> Difference {
    let event = &recordings[side].events[place];
    let other = &recordings[1 - side].events;
    let there = other.iter().position(|other| other.time >= event.time).unwrap_or(other.len());
    let which = ["first", "second"][side];
    let text = format!("only the {which} has {} at {:.6} ms", name(event), event.time);
    let places = if side == 0 { [place, there] } else { [there, place] };
    Difference { text, time: event.time, group: event.group, places, events: [side == 0, side == 1] }
}

/// Returns what differs between matched events: in these fields, or in all.
fn compare(
    first: &Event,
    second: &Event,
    fields: Option<&BTreeSet<String>>,
    tolerance: Tolerance,
) -> Option<String> {
    if (first.time - second.time).abs() > tolerance.time_ms {
        return Some(format!("is at {:.6} ms and at {:.6} ms", first.time, second.time));
    }
    let Some(fields) = fields else {
        return compare_values("", &first.data, &second.data, tolerance.relative);
    };
    // Within a field, too, each implementation has more or less.
    fields.iter().find_map(|field| match (&first.data[field], &second.data[field]) {
        (Value::Object(a), Value::Object(b)) => {
            a.iter().filter(|(name, _)| b.contains_key(*name)).find_map(|(name, value)| {
                compare_values(&format!("{field}.{name}"), value, &b[name], tolerance.relative)
            })
        }
        (a, b) => compare_values(field, a, b, tolerance.relative),
    })
}

/// Compares the fields that both events have, or either. Objects and lists are compared element by element.
fn compare_values(place: &str, first: &Value, second: &Value, relative: f64) -> Option<String> {
    let shown = |value: &Value| if value.is_null() { "no value".to_owned() } else { value.to_string() };
    if NAMES.contains(&place.rsplit('.').next().unwrap_or(place)) {
        return None;
    }
    let differ = || Some(format!("has `{place}` {} and {}", shown(first), shown(second)));
    match (first, second) {
        (Value::Object(a), Value::Object(b)) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                let value = |map: &serde_json::Map<String, Value>| map.get(name).cloned().unwrap_or_default();
                compare_values(&place, &value(a), &value(b), relative)
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.into_iter().find_map(|(i, (a, b))| compare_values(&format!("{place}[{i}]"), a, b, relative))
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64()?, b.as_f64()?);
            if (a - b).abs() > relative * a.abs().max(b.abs()) { differ() } else { None }
        }
        _ if first == second => None,
        _ => differ(),
    }
}
