//! Compares what two implementations say of their senders as values over time.
//!
//! Each implementation writes `metrics_updated` at its own moments and with its own choice of fields, so that the n-th event of one has
//! no counterpart in the other. What both write are values that hold until the next: they are compared at every moment.

use super::align::{Difference, Tolerance};
use super::read::{Event, Recording};
use std::collections::{BTreeMap, BTreeSet};

/// The kind of event that has the metrics of a sender.
pub const KIND: &str = "metrics_updated";

/// The fields of qlog that every implementation means alike. Numbers of packets, and of timeouts, are left out: not all mean the same.
const FIELDS: [&str; 4] = ["congestion_window", "bytes_in_flight", "smoothed_rtt", "min_rtt"];

/// Returns the first time at which a metric of a group differs for longer than the tolerance of times.
pub fn first_difference(recordings: [&Recording; 2], tolerance: Tolerance) -> Option<Difference> {
    let groups: BTreeSet<usize> = recordings[0].events.iter().map(|event| event.group).collect();
    let pairs = groups.into_iter().flat_map(|group| FIELDS.map(|field| (group, field)));
    let found = pairs.filter_map(|(group, field)| {
        let series = recordings.map(|recording| values(recording, group, field));
        first_lasting(&series, tolerance).map(|(time, [a, b])| Difference {
            text: format!("`{field}` is {a} and {b} from {time:.6} ms on"),
            time,
            group,
            places: recordings.map(|recording| place(recording, time)),
            events: [false, false],
        })
    });
    found.min_by(|a, b| a.time.total_cmp(&b.time))
}

/// Returns the values of a field and since when each holds, ms.
fn values(recording: &Recording, group: usize, field: &str) -> Vec<(f64, f64)> {
    let is_meant = |event: &&Event| event.group == group && event.kind == KIND;
    let events = recording.events.iter().filter(is_meant);
    events.filter_map(|event| Some((event.time, event.data[field].as_f64()?))).collect()
}

/// Returns since when two series differ for longer than the tolerance of times, and their values then.
fn first_lasting(series: &[Vec<(f64, f64)>; 2], tolerance: Tolerance) -> Option<(f64, [f64; 2])> {
    // At each time the last values; times of both series once.
    let mut changes: BTreeMap<u64, [Option<f64>; 2]> = BTreeMap::new();
    for (side, values) in series.iter().enumerate() {
        for &(time, value) in values {
            // Times are not negative, so that their bits have their order.
            changes.entry(time.max(0.0).to_bits()).or_default()[side] = Some(value);
        }
    }
    let mut now = [None; 2];
    let mut since: Option<(f64, [f64; 2])> = None;
    for (time, changed) in changes {
        let time = f64::from_bits(time);
        if let Some((start, values)) = since.filter(|(start, _)| time - start > tolerance.time_ms) {
            return Some((start, values));
        }
        for side in 0..2 {
            now[side] = changed[side].or(now[side]);
        }
        let [Some(a), Some(b)] = now else { continue };
        let equal = (a - b).abs() <= tolerance.relative * a.abs().max(b.abs());
        since = if equal { None } else { since.or(Some((time, [a, b]))) };
    }
    None
}

/// Returns the place of the first event that is not earlier.
fn place(recording: &Recording, time: f64) -> usize {
    recording.events.iter().position(|event| event.time >= time).unwrap_or(recording.events.len())
}
