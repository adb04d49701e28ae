//! Two recordings over time, as a figure.

use super::align::Difference;
use super::read::Recording;
use cwnd_plot::style::{Colour, Dash, INK, Stroke};
use cwnd_plot::{At, Axis, Figure, Key, Line, Panel, Reference};
use std::path::Path;

/// A quantity of `metrics_updated`: its field, its title and unit, and what one unit of the file is in that unit.
const QUANTITIES: [(&str, &str, &str, f64); 3] = [
    ("congestion_window", "window", "kB", 1e-3),
    ("bytes_in_flight", "in flight", "kB", 1e-3),
    ("smoothed_rtt", "smoothed RTT", "ms", 1.0),
];

const HEIGHT: f64 = 130.0;

/// Returns the windows, bytes in flight and round-trip times of both recordings over time, with the first difference, as SVG. Of
/// several flows it has the one that the difference belongs to, or the first.
pub fn figure(recordings: &[Recording; 2], paths: [&Path; 2], difference: Option<&Difference>) -> String {
    let group = difference.map_or(0, |difference| difference.group);
    let strokes = [
        Stroke::solid(Colour::of_series(0), 1.4),
        Stroke::solid(Colour::of_series(1), 1.4).dashed(Dash::of_series(1)),
    ];
    let mut figure = Figure::new("Two recordings");
    figure.share_x = true;
    let name = |path: &Path| path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    figure.keys = (0..2)
        .map(|side| Key::new(name(paths[side]), Line::new(Vec::new(), strokes[side]).swatch()))
        .collect();
    for (field, title, unit, scale) in QUANTITIES {
        let series = recordings.each_ref().map(|recording| steps(recording, group, field, scale));
        if series.iter().all(Vec::is_empty) {
            continue;
        }
        let mut panel =
            Panel::new(Axis::linear("time", "s").tight(), Axis::linear(title, unit).from(0.0), HEIGHT);
        for (points, stroke) in series.into_iter().zip(strokes) {
            panel.add(Line::new(points, stroke));
        }
        if let Some(difference) = difference {
            let label = if figure.panels.is_empty() { "first difference" } else { "" };
            panel.references.push(Reference {
                at: At::X(difference.time / 1e3),
                label: label.to_owned(),
                colour: INK,
            });
        }
        figure.panels.push(panel);
    }
    figure.caption = match difference {
        Some(difference) => format!("First difference: {}.", difference.text),
        None => "No difference within the tolerances.".to_owned(),
    };
    figure.description =
        format!("Line charts over time of {} and {}. {}", name(paths[0]), name(paths[1]), figure.caption);
    figure.to_svg()
}

/// Returns the values of a field over time, s: each holds until the next.
fn steps(recording: &Recording, group: usize, field: &str, scale: f64) -> Vec<(f64, f64)> {
    let events =
        recording.events.iter().filter(|event| event.group == group && event.kind == "metrics_updated");
    let mut points: Vec<(f64, f64)> = Vec::new();
    for event in events {
        let Some(value) = event.data[field].as_f64() else { continue };
        let time = event.time / 1e3;
        if let Some(&(_, before)) = points.last() {
            points.push((time, before));
        }
        points.push((time, value * scale));
    }
    points
}
