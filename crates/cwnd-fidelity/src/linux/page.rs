//! The HTML page: both curves of each flow in one chart, the numbers, and the confusion matrix.

use super::cases::{self, MODULES, PAIR_OFFSET, PAIRS, SINGLE_FROM, SINGLE_TIME};
use super::curves::Curve;
use super::lossless::Both;
use super::matrix;
use super::recordings::Recordings;
use std::fmt::Write;
use std::path::PathBuf;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 220.0;
/// Space for the numbers on the left and below.
const MARGIN: f64 = 40.0;

/// The contents of the page.
pub struct Contents {
    pub flows: Vec<Both>,
    pub recordings: Recordings,
    /// The tables of flows with random loss, and of pairs.
    pub lossy: String,
    pub pairs: String,
    /// cwnd's curves of each pair.
    pub curves: Vec<[Curve; 2]>,
    /// The missed bars and their reasons.
    pub judged: String,
}

/// Writes the page into cargo's target directory, two levels above this program.
pub fn write(contents: &Contents) -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let target = own.ancestors().nth(2).ok_or("this program does not lie in a target directory")?;
    let path = target.join("fidelity-linux-6.1.html");
    std::fs::write(&path, html(contents)).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Linux 6.1 and --stack linux</title>\n\
<style>body{font:15px sans-serif;max-width:960px;margin:2em auto;padding:0 1em}h3{margin:1.5em 0 0}\
h3 small{font-weight:normal}.theirs{stroke:#999;stroke-width:3.5}.ours{stroke:#c0392b;stroke-width:1.2}\
.second.theirs{stroke:#9ec3e6}.second.ours{stroke:#1f5fa8}polyline{fill:none}svg text{font-size:12px}\
.axis{stroke:#ccc}pre{white-space:pre-wrap;font-size:12px}table{border-collapse:collapse;font-size:12px}\
td{padding:2px 4px;text-align:right}th{font-weight:normal;text-align:left;padding:2px 4px}\
thead th{writing-mode:vertical-rl;transform:rotate(180deg)}.own{outline:2px solid #222;outline-offset:-2px}</style>\n\
<h1>Linux 6.1 and <code>--stack linux</code></h1>\n";

fn html(contents: &Contents) -> String {
    let mut page = String::from(HEAD);
    section(&mut page, "What is missed", "");
    preformatted(&mut page, &contents.judged);
    section(
        &mut page,
        "One flow without random loss",
        "Congestion window in segments over time in seconds: Linux 6.1 <b style=\"color:#999\">grey</b>, cwnd \
         <b style=\"color:#c0392b\">red</b>. 100 Mbit/s, 40 ms, 100 packets of buffer. The numbers count from the fifth \
         second on.",
    );
    contents.flows.iter().for_each(|both| draw_flow(&mut page, both));
    section(
        &mut page,
        "Confusion matrix",
        "Distances of our curves (rows) from the recordings (columns), as a part of the mean window; the darker, the \
         nearer. Framed: the algorithm's own.",
    );
    draw_matrix(&mut page, contents);
    section(&mut page, "One flow with random loss", "");
    preformatted(&mut page, &contents.lossy);
    section(
        &mut page,
        "Pairs",
        "Linux 6.1 grey and light blue, cwnd red and blue; both flows of ours start exactly when the recorded ones did. \
         Two flows are chaotic: after one different loss the curves part.",
    );
    for (at, names) in PAIRS.iter().enumerate() {
        draw_pair(&mut page, *names, &contents.recordings.pairs[at], &contents.curves[at]);
    }
    preformatted(&mut page, &contents.pairs);
    page
}

fn section(page: &mut String, title: &str, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(page, "<h2>{title}</h2>");
    if !text.is_empty() {
        let _ = writeln!(page, "<p>{text}</p>");
    }
}

fn preformatted(page: &mut String, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(page, "<pre>{}</pre>", text.trim());
}

fn draw_flow(page: &mut String, both: &Both) {
    let Both { case, recorded, recorded_episodes, ours } = both;
    let goodput = |curve: &Curve| curve.goodput(SINGLE_FROM, SINGLE_TIME);
    let mean = |curve: &Curve| curve.mean_cwnd(SINGLE_FROM, SINGLE_TIME);
    let _ = writeln!(
        page,
        "<h3>{} <small>distance {:.3}; {:.2} and {:.2} Mbit/s; {:.1} and {:.1} segments; {} and {} recoveries</small></h3>",
        case.module,
        both.distance(),
        goodput(recorded),
        goodput(&ours.curve),
        mean(recorded),
        mean(&ours.curve),
        recorded_episodes,
        ours.episodes,
    );
    let frame = Frame::of(SINGLE_TIME, &[recorded, &ours.curve]);
    let lines = [frame.line(recorded, 0.0, "theirs"), frame.line(&ours.curve, 0.0, "ours")];
    frame.draw(page, &lines);
}

fn draw_pair(page: &mut String, names: [&str; 2], recorded: &[Curve; 2], ours: &[Curve; 2]) {
    let _ = writeln!(page, "<h3>{} and, 10 s later, {}</h3>", names[0], names[1]);
    let frame = Frame::of(cases::PAIR_TIME, &[&recorded[0], &recorded[1], &ours[0], &ours[1]]);
    let lines = [
        frame.line(&recorded[0], 0.0, "theirs"),
        frame.line(&recorded[1], PAIR_OFFSET, "second theirs"),
        frame.line(&ours[0], 0.0, "ours"),
        frame.line(&ours[1], PAIR_OFFSET, "second ours"),
    ];
    frame.draw(page, &lines);
}

fn draw_matrix(page: &mut String, contents: &Contents) {
    page.push_str("<table><thead><tr><th></th>");
    MODULES.iter().for_each(|module| {
        let _ = write!(page, "<th>{}</th>", matrix::short(module));
    });
    page.push_str("</tr></thead>\n");
    for both in &contents.flows {
        let _ = write!(page, "<tr><th>{}</th>", both.case.module);
        for (module, distance) in MODULES.iter().zip(matrix::distances(both, &contents.recordings)) {
            let own = if *module == both.case.module { " class=\"own\"" } else { "" };
            let _ = write!(page, "<td{own} style=\"background:{}\">{distance:.2}</td>", shade(distance));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
}

/// Returns the colour of a distance: dark at 0, white from 0.5 on.
fn shade(distance: f64) -> String {
    let light = 55.0 + 45.0 * (2.0 * distance).min(1.0);
    format!("hsl(205 60% {light:.0}%)")
}

/// The axes of a plot.
struct Frame {
    /// Seconds, and the largest window.
    until: f64,
    top: f64,
}

impl Frame {
    fn of(until: f64, curves: &[&Curve]) -> Frame {
        let points = curves.iter().flat_map(|curve| &curve.0);
        Frame { until, top: points.fold(1.0f64, |most, point| most.max(point.cwnd)) }
    }

    fn place(&self, time: f64, cwnd: f64) -> (f64, f64) {
        (MARGIN + time / self.until * WIDTH, HEIGHT - cwnd / self.top * (HEIGHT - 10.0))
    }

    /// Draws a curve whose times count from `since`.
    fn line(&self, curve: &Curve, since: f64, class: &str) -> String {
        let points = curve.0.iter().map(|point| {
            let (x, y) = self.place(point.time + since, point.cwnd);
            format!("{x:.1},{y:.1}")
        });
        format!("<polyline class=\"{class}\" points=\"{}\"/>", points.collect::<Vec<_>>().join(" "))
    }

    fn draw(&self, page: &mut String, lines: &[String]) {
        let _ = write!(page, "<svg viewBox=\"0 0 {} {}\">", WIDTH + 1.5 * MARGIN, HEIGHT + MARGIN);
        for step in 0..=6 {
            let time = self.until * f64::from(step) / 6.0;
            let (x, _) = self.place(time, 0.0);
            let _ = write!(
                page,
                "<text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{time:.0}</text>",
                HEIGHT + 18.0
            );
        }
        for step in 0..=2 {
            let cwnd = self.top * f64::from(step) / 2.0;
            let (x, y) = self.place(0.0, cwnd);
            let _ = write!(
                page,
                "<line class=\"axis\" x1=\"{x}\" x2=\"{:.0}\" y1=\"{y:.0}\" y2=\"{y:.0}\"/>\
                 <text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{cwnd:.0}</text>",
                x + WIDTH,
                x - 4.0,
                y + 4.0
            );
        }
        lines.iter().for_each(|line| page.push_str(line));
        page.push_str("</svg>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_in_the_frame() {
        let frame = Frame { until: 60.0, top: 100.0 };
        assert_eq!(frame.place(0.0, 0.0), (MARGIN, HEIGHT));
        assert_eq!(frame.place(60.0, 100.0), (MARGIN + WIDTH, 10.0));
    }

    #[test]
    fn smaller_distances_are_darker() {
        assert_eq!(
            [0.0, 0.25, 0.5, 2.0].map(shade).map(|shade| shade[12..].to_owned()),
            ["55%)", "78%)", "100%)", "100%)"]
        );
    }
}
