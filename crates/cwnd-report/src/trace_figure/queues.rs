//! The panel of queues in the figure of traced runs.

use super::{Cast, markers, time_axis};
use cwnd_plot::style::{Colour, Dash, GREY, INK, Marker, Stroke};
use cwnd_plot::{Axis, Band, Key, Line, Panel, Swatch};
use cwnd_study::TracedRun;

/// The most queues besides the bottleneck's that are drawn one by one.
const MOST_QUEUES: usize = 3;
/// Opacity of the band.
const BAND: f64 = 0.14;

/// The panel, and what the caption should say of it.
pub(super) fn panel(cast: &Cast<'_>, runs: &[TracedRun<'_>]) -> (Panel, Vec<String>) {
    let drawn = first_seeds(runs);
    let others = other_queues(&drawn);
    let mut panel = Panel::new(time_axis(), Axis::linear("queue", "packets").from(0.0).whole(), 120.0);
    let mut notes = Vec::new();
    // The longest queues have the clearest lines.
    let bottleneck_dash =
        if others.len() <= MOST_QUEUES { Dash::of_series(others.len()) } else { Dash::Dashed };

    for (i, run) in drawn.iter().enumerate() {
        let sign = Marker::of_series(cast.series(run.algorithm));
        let marker = (cast.runs.len() > 1).then(|| markers(sign, i, drawn.len()));
        let line = |link: &str, points, dash| {
            let stroke = Stroke { colour: colour(cast, run, link), width: 1.1, dash };
            // Where other queues are longer, that of the bottleneck hardly leaves the axis.
            let marked = others.is_empty() || link != run.bottleneck;
            Line::new(points, stroke).markers(marker.filter(|_| marked))
        };
        if others.len() <= MOST_QUEUES {
            for (j, link) in others.iter().enumerate() {
                panel.add(line(link, lengths(run, link), Dash::of_series(j)));
            }
        } else {
            let spread = spread(run, &others);
            let mean = spread.iter().map(|&(time, [_, mean, _])| (time, mean)).collect();
            panel.add(line("", mean, Dash::Solid));
            let points = spread.iter().map(|&(time, [low, _, high])| (time, low, high)).collect();
            panel.marks.insert(0, Box::new(Band { points, colour: colour(cast, run, ""), opacity: BAND }));
        }
        panel.add(line(run.bottleneck, lengths(run, run.bottleneck), bottleneck_dash));
    }

    let Some(first) = drawn.first() else { return (panel, notes) };
    let key = |link: &str, dash| {
        let colour = if cast.runs.len() > 1 { INK } else { colour(cast, first, link) };
        Swatch::line(Stroke { colour, width: 1.1, dash })
    };
    match others.as_slice() {
        [start, .., last] if others.len() > MOST_QUEUES => {
            let swatch = key("", Dash::Solid);
            let fill = swatch.line.map(|line| (line.colour, BAND));
            let label = format!("{start} to {last}: mean, and from the least to the greatest");
            panel.keys.push(Key::new(label, Swatch { fill, ..swatch }));
        }
        links => {
            let other = |(i, link): (usize, &&str)| Key::new(*link, key(link, Dash::of_series(i)));
            panel.keys.extend(links.iter().enumerate().map(other));
        }
    }
    panel.keys.push(Key::new(first.bottleneck, key(first.bottleneck, bottleneck_dash)));
    if cast.runs.len() > 1 {
        for name in cast.runs_without_key() {
            let series = cast.series(name);
            let line = Swatch::line(Stroke::solid(Colour::of_series(series), 1.1));
            panel.keys.push(Key::new(name, line.marker(Some(Marker::of_series(series)))));
        }
    }
    if !others.is_empty() {
        notes.push("Queues besides the bottleneck's are shown where they held more.".into());
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

/// The links whose queue, in any run, was longer than the bottleneck's ever was, and at least half as long as
/// the longest of that run: a few ACKs on their way back are no news beside a thousand packets at the sender.
fn other_queues<'a>(runs: &[&TracedRun<'a>]) -> Vec<&'a str> {
    let mut others: Vec<&str> = Vec::new();
    for run in runs {
        let greatest =
            |place: usize| run.trace.queue_lengths.iter().map(|lengths| lengths[place]).max().unwrap_or(0);
        let all: Vec<(&str, u32)> = run
            .trace
            .queues
            .iter()
            .enumerate()
            .map(|(place, link)| (link.as_str(), greatest(place)))
            .collect();
        let longest = all.iter().map(|(_, most)| *most).max().unwrap_or(0);
        let bottleneck = all.iter().find(|(link, _)| *link == run.bottleneck).map_or(0, |(_, most)| *most);
        for (link, most) in all {
            if most > bottleneck && 2 * u64::from(most) >= longest.into() && !others.contains(&link) {
                others.push(link);
            }
        }
    }
    others
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
        return Colour::of_series(cast.series(run.algorithm));
    }
    if link == run.bottleneck {
        return INK;
    }
    let flow = link.strip_prefix("access-").and_then(|rest| rest.split('-').next()?.parse::<usize>().ok());
    flow.and_then(|number| number.checked_sub(1)).map_or(GREY, |flow| cast.flow_colour(run, flow))
}
