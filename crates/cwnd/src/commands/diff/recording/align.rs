//! Matches the events of two recordings, and finds the first that differs.
//!
//! An event is matched with that of the same group, kind and packet number (with its space). Of several such events, and of events
//! without a packet number, the n-th of one file is matched with the n-th of the other. Times do not matter for the match.

use super::read::{Event, Recording};
use serde_json::Value;
use std::collections::BTreeMap;

/// What still counts as equal.
#[derive(Clone, Copy)]
pub struct Tolerance {
    /// Difference between the times of matched events, ms.
    pub time_ms: f64,
    /// Difference between two numbers, relative to the larger.
    pub relative: f64,
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
    let mut earliest: Option<Difference> = None;
    let mut consider = |difference: Difference| {
        if earliest.as_ref().is_none_or(|known| difference.time < known.time) {
            earliest = Some(difference);
        }
    };
    for (i, (key, event)) in keys[0].iter().zip(&first.events).enumerate() {
        let Some(&j) = places.get(key) else {
            consider(only(recordings, 0, i));
            continue;
        };
        matched[j] = true;
        let other = &second.events[j];
        if let Some(what) = compare(event, other, tolerance) {
            let text = format!("{} {what}", name(event));
            let time = event.time.min(other.time);
            consider(Difference { text, time, group: event.group, places: [i, j], events: [true, true] });
        }
    }
    for j in (0..second.events.len()).filter(|j| !matched[*j]) {
        consider(only(recordings, 1, j));
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

/// Returns what differs between matched events.
fn compare(first: &Event, second: &Event, tolerance: Tolerance) -> Option<String> {
    if (first.time - second.time).abs() > tolerance.time_ms {
        return Some(format!("is at {:.6} ms and at {:.6} ms", first.time, second.time));
    }
    compare_values("", &first.data, &second.data, tolerance.relative)
}

/// Compares the fields that both events have, or either. Objects and lists are compared element by element.
fn compare_values(place: &str, first: &Value, second: &Value, relative: f64) -> Option<String> {
    let shown = |value: &Value| if value.is_null() { "no value".to_owned() } else { value.to_string() };
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
