//! Samples as data in the page, for the script that lets a reader zoom.
//!
//! A line with more than [`MOST`] samples keeps of each of [`PARTS`] equal parts of the time the lowest and the highest:
//! more than a screen has columns. Values are whole multiples of a step that leaves four digits of the greatest, each
//! told as its difference from the one before.

use crate::figures::{SampleBlock, SampleLine, SamplePanel, Samples};
use cwnd_plot::style::{COLOURS, Colour};
use cwnd_plot::{At, Reference};
use maud::{Markup, PreEscaped, html};
use std::fmt::Write;

/// The most samples of a line that are kept as they are.
const MOST: usize = 4_000;
/// How many parts of the time keep two samples each, where there are more.
const PARTS: usize = 1_500;

/// Whether there is anything to zoom into.
pub fn has_any(samples: &Samples) -> bool {
    samples.blocks.iter().flat_map(|b| &b.panels).flat_map(|p| &p.lines).any(|line| line.points.len() > 1)
}

/// A data block of the page and the place of the interactive charts.
pub fn embed(samples: &Samples, number: usize) -> Markup {
    let blocks: Vec<String> = samples.blocks.iter().map(block).collect();
    let thinned = samples.blocks.iter().any(|block| times(block).len() > MOST);
    html! {
        div.zoom data-samples={ "samples-" (number) } {}
        @if thinned {
            p.rule {
                "Charts that zoom show of each " (PARTS) "th of the time the lowest and the highest sample."
            }
        }
        script type="application/json" id={ "samples-" (number) } {
            (PreEscaped(format!("{{\"blocks\":[{}]}}", blocks.join(","))))
        }
    }
}

fn block(block: &SampleBlock) -> String {
    let times = times(block);
    let panel = |panel: &SamplePanel| {
        let lines: Vec<String> = panel.lines.iter().map(|l| line(l, &times)).collect();
        let stated: Vec<String> = panel.references.iter().map(stated).collect();
        let (label, lines) = (string(&panel.label), lines.join(","));
        format!("{{\"label\":{label},\"lines\":[{lines}],\"stated\":[{}]}}", stated.join(","))
    };
    let panels: Vec<String> = block.panels.iter().map(panel).collect();
    // Of thinned lines every part of the time has two places.
    let places: Vec<f64> = if times.len() > MOST {
        let (first, last) = (times[0], times[times.len() - 1]);
        (0..2 * PARTS).map(|i| first + (i as f64 + 0.5) / (2 * PARTS) as f64 * (last - first)).collect()
    } else {
        times
    };
    let seconds: Vec<Option<f64>> = places.iter().copied().map(Some).collect();
    format!(
        "{{\"title\":{},\"t\":{},\"panels\":[{}]}}",
        string(&block.title),
        numbers(&seconds),
        panels.join(",")
    )
}

/// All times at which any line of a block has a sample.
fn times(block: &SampleBlock) -> Vec<f64> {
    let points = block.panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points);
    let mut times: Vec<f64> = points.map(|(t, _)| *t).filter(|t| t.is_finite()).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

fn line(line: &SampleLine, times: &[f64]) -> String {
    let values = if times.len() > MOST { thinned(&line.points, times) } else { at(&line.points, times) };
    let dash: String = line
        .stroke
        .dash
        .lengths()
        .unwrap_or_default()
        .split(' ')
        .filter(|d| !d.is_empty())
        .fold(String::new(), |all, d| if all.is_empty() { d.to_owned() } else { format!("{all},{d}") });
    format!(
        "{{\"name\":{},\"colour\":{},\"dash\":[{dash}],\"v\":{}}}",
        string(&line.label),
        colour(line.stroke.colour),
        numbers(&values)
    )
}

/// A stated line: its axis and value, its colour and its label.
fn stated(reference: &Reference) -> String {
    let (axis, value) = match reference.at {
        At::X(value) => ("x", value),
        At::Y(value) => ("y", value),
    };
    let (colour, label) = (colour(reference.colour), string(&reference.label));
    format!("{{\"axis\":\"{axis}\",\"at\":{value},\"colour\":{colour},\"label\":{label}}}")
}

/// The number of a series' colour, or -1.
fn colour(of: Colour) -> i32 {
    COLOURS.iter().position(|colour| *colour == of).map_or(-1, |place| place as i32)
}

/// The values of a line at these times; none where it has no sample.
fn at(points: &[(f64, f64)], times: &[f64]) -> Vec<Option<f64>> {
    let mut values = vec![None; times.len()];
    for (time, value) in points.iter().filter(|(t, v)| t.is_finite() && v.is_finite()) {
        if let Ok(place) = times.binary_search_by(|known| known.total_cmp(time)) {
            values[place] = Some(*value);
        }
    }
    values
}

/// Two values for each part of the time, the lowest and the highest, in the order in which they came.
fn thinned(points: &[(f64, f64)], times: &[f64]) -> Vec<Option<f64>> {
    let (first, last) = (times[0], times[times.len() - 1]);
    let mut values = vec![None; 2 * PARTS];
    let part = |t: f64| (((t - first) / (last - first) * PARTS as f64) as usize).min(PARTS - 1);
    let finite: Vec<(f64, f64)> =
        points.iter().copied().filter(|(t, v)| t.is_finite() && v.is_finite()).collect();
    for stretch in finite.chunk_by(|a, b| part(a.0) == part(b.0)) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (Some(low), Some(high)) = (stretch.iter().min_by(by_value), stretch.iter().max_by(by_value))
        else {
            continue;
        };
        let (one, two) = if low.0 <= high.0 { (low, high) } else { (high, low) };
        let place = 2 * part(stretch[0].0);
        (values[place], values[place + 1]) = (Some(one.1), Some(two.1));
    }
    values
}

/// Numbers as `{"q":step,"d":[…]}`: whole multiples of the step, each less the one before; null where there is none.
fn numbers(values: &[Option<f64>]) -> String {
    let greatest = values.iter().flatten().fold(0.0f64, |most, v| most.max(v.abs()));
    let exponent = if greatest > 0.0 { greatest.log10().floor() as i32 - 3 } else { 0 };
    let step = format!("1e{exponent}");
    let size: f64 = step.parse().unwrap_or(1.0);
    let mut out = format!("{{\"q\":{step},\"d\":[");
    let mut before = 0i64;
    for (i, value) in values.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        match value {
            Some(value) => {
                let whole = (value / size).round() as i64;
                write!(out, "{comma}{}", whole - before).expect("a String takes everything");
                before = whole;
            }
            None => write!(out, "{comma}null").expect("a String takes everything"),
        }
    }
    out + "]}"
}

/// Returns a string of JSON that can stand in a script element: no `<`, so that nothing in it ends the element.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_differences_of_whole_steps() {
        assert_eq!(
            numbers(&[Some(1.0), Some(1.5), None, Some(1.25)]),
            "{\"q\":1e-3,\"d\":[1000,500,null,-250]}"
        );
        assert_eq!(numbers(&[Some(31_000.0), Some(31_004.0)]), "{\"q\":1e1,\"d\":[3100,0]}");
        assert_eq!(numbers(&[]), "{\"q\":1e0,\"d\":[]}");
    }

    #[test]
    fn strings_cannot_end_their_element() {
        assert_eq!(string("</script>\"\\\n"), "\"\\u003c/script>\\\"\\\\\\n\"");
    }

    #[test]
    fn a_thinned_line_keeps_its_extremes() {
        let points: Vec<(f64, f64)> = (0..30_000).map(|i| (f64::from(i), f64::from(i % 100))).collect();
        let times: Vec<f64> = points.iter().map(|(t, _)| *t).collect();
        let values = thinned(&points, &times);
        assert_eq!(values.len(), 3_000);
        let all = || values.iter().flatten().copied();
        assert_eq!((all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max)), (0.0, 99.0));
    }
}
