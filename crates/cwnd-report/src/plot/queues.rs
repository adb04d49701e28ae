//! The panel of queues in the figure of traced runs.

use super::Axis;
use super::band::Band;
use super::figure::Panel;
use super::key::{Key, Swatch};
use super::line::Line;
use super::style::{Colour, Dash, GREY, INK, Marker, Stroke};
use super::trace::{Cast, markers, time_axis};
use crate::TracedRun;

/// The most queues besides the bottleneck's that are drawn one by one.
const MOST_QUEUES: usize = 3;

/// The panel, and what the caption should say of it.
pub(super) fn panel(cast: &Cast<'_>, runs: &[TracedRun<'_>]) -> (Panel, Vec<String>) {
    let drawn = first_seeds(runs);
    let others = fuller_than_the_bottleneck(&drawn);
    let mut panel = Panel::new(time_axis(), Axis::linear("queue", "packets").from(0.0).whole(), 130.0);
    let mut notes = Vec::new();

    for (i, run) in drawn.iter().enumerate() {
        let marker = (cast.runs.len() > 1).then(|| markers(Marker::of_series(i), i, drawn.len()));
        let mut add = |link: &str, points, dash| {
            let stroke = Stroke { colour: colour(cast, run, link), width: 1.1, dash };
            panel.add(Line::new(points, stroke).markers(marker));
        };
        if others.len() <= MOST_QUEUES {
            for (j, link) in others.iter().enumerate() {
                add(link, lengths(run, link), Dash::of_series(j + 1));
            }
            add(run.bottleneck, lengths(run, run.bottleneck), Dash::Solid);
        } else {
            let spread = spread(run, &others);
            add("", spread.iter().map(|&(time, [_, mean, _])| (time, mean)).collect(), Dash::Dashed);
            add(run.bottleneck, lengths(run, run.bottleneck), Dash::Solid);
            let points = spread.iter().map(|&(time, [low, _, high])| (time, low, high)).collect();
            panel.marks.insert(0, Box::new(Band { points, colour: colour(cast, run, ""), opacity: 0.12 }));
        }
    }

    let Some(first) = drawn.first() else { return (panel, notes) };
    let key = |link: &str, dash| {
        let colour = if cast.runs.len() > 1 { INK } else { colour(cast, first, link) };
        Swatch::line(Stroke { colour, width: 1.1, dash })
    };
    panel.keys.push(Key::new(first.bottleneck, key(first.bottleneck, Dash::Solid)));
    match others.as_slice() {
        [] => {}
        [links @ .., last] if others.len() > MOST_QUEUES => {
            let label = format!("{} to {last}: mean, and from the least to the greatest", links[0]);
            let swatch = key("", Dash::Dashed);
            let fill = swatch.line.map(|line| (line.colour, 0.12));
            panel.keys.push(Key::new(label, Swatch { fill, ..swatch }));
        }
        links => {
            let other = |(i, link): (usize, &&str)| Key::new(*link, key(link, Dash::of_series(i + 1)));
            panel.keys.extend(links.iter().enumerate().map(other));
        }
    }
    if !others.is_empty() {
        notes.push("Queues besides the bottleneck's are shown where they held more.".into());
    }
    if drawn.len() < runs.len() {
        notes.push("Queues are of the first seed.".into());
    }
    (panel, notes)
}

/// The first run of each name.
fn first_seeds<'a, 'b>(runs: &'b [TracedRun<'a>]) -> Vec<&'b TracedRun<'a>> {
    let mut first: Vec<&TracedRun<'a>> = Vec::new();
    for run in runs {
        if first.iter().all(|known| known.algorithm != run.algorithm) {
            first.push(run);
        }
    }
    first
}

/// The links whose queue, in any run, was longer than the bottleneck's ever was.
fn fuller_than_the_bottleneck<'a>(runs: &[&TracedRun<'a>]) -> Vec<&'a str> {
    let mut fuller: Vec<&str> = Vec::new();
    for run in runs {
        let greatest = |link: &str| {
            let place = run.trace.queues.iter().position(|name| name == link);
            place.and_then(|i| run.trace.queue_lengths.iter().map(|lengths| lengths[i]).max()).unwrap_or(0)
        };
        let bottleneck = greatest(run.bottleneck);
        for link in &run.trace.queues {
            if greatest(link) > bottleneck && !fuller.contains(&link.as_str()) {
                fuller.push(link);
            }
        }
    }
    fuller
}

/// The length of a queue over time; nothing if the run has no such queue.
fn lengths(run: &TracedRun<'_>, link: &str) -> Vec<(f64, f64)> {
    let Some(place) = run.trace.queues.iter().position(|name| name == link) else { return Vec::new() };
    let rows = run.trace.times.iter().zip(&run.trace.queue_lengths);
    rows.map(|(time, lengths)| (time.as_secs_f64(), lengths[place].into())).collect()
}

/// Least, mean and greatest length of some queues over time.
fn spread(run: &TracedRun<'_>, links: &[&str]) -> Vec<(f64, [f64; 3])> {
    let own = run.trace.queues.iter().enumerate().filter(|(_, name)| links.contains(&name.as_str()));
    let places: Vec<usize> = own.map(|(place, _)| place).collect();
    let at = |lengths: &Vec<u32>| {
        let chosen = || places.iter().map(|&place| f64::from(lengths[place]));
        let (low, high) = (chosen().fold(f64::NAN, f64::min), chosen().fold(f64::NAN, f64::max));
        [low, chosen().sum::<f64>() / places.len() as f64, high]
    };
    let rows = run.trace.times.iter().zip(&run.trace.queue_lengths);
    rows.map(|(time, lengths)| (time.as_secs_f64(), at(lengths))).collect()
}

/// With several runs, a queue has the colour of its run. With one, the bottleneck's is dark, the queue of a
/// sender has the colour of its flow, and any other is grey.
fn colour(cast: &Cast<'_>, run: &TracedRun<'_>, link: &str) -> Colour {
    if cast.runs.len() > 1 {
        return cast.colour(run.algorithm);
    }
    if link == run.bottleneck {
        return INK;
    }
    let flow = link.strip_prefix("access-").and_then(|rest| rest.split('-').next()?.parse::<usize>().ok());
    flow.and_then(|number| number.checked_sub(1)).map_or(GREY, |flow| cast.flow_colour(run, flow))
}
