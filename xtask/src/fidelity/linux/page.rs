//! A page with both curves of each flow laid over each other.

use super::curves::Curve;
use super::lossless::Both;
use crate::command;
use std::fmt::Write;
use std::path::PathBuf;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 220.0;
/// Room for the numbers on the left and below.
const MARGIN: f64 = 40.0;

/// Write the page beside what cargo builds.
pub fn write(flows: &[Both]) -> Result<PathBuf, String> {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| command::root().join("target"), PathBuf::from);
    std::fs::create_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))?;
    let path = target.join("fidelity-linux-6.1.html");
    std::fs::write(&path, html(flows)).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

fn html(flows: &[Both]) -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Linux 6.1 and --stack linux</title>\n\
         <style>body{font:15px sans-serif;max-width:960px;margin:2em auto}.theirs{stroke:#888;stroke-width:3}\
         .ours{stroke:#c0392b}polyline{fill:none}text{font-size:12px}</style>\n\
         <h1>Linux 6.1 and <code>--stack linux</code></h1>\n\
         <p>Congestion window in segments over time in seconds: Linux 6.1 grey, cwnd red. One flow, 100 Mbit/s, 40 ms, \
         100 packets of buffer.</p>\n",
    );
    for both in flows {
        let most = |curve: &Curve| curve.0.iter().fold(0.0f64, |most, point| most.max(point.cwnd));
        let top = most(&both.recorded).max(most(&both.ours.curve));
        // Writing to a string does not fail.
        let _ = writeln!(
            page,
            "<h2>{} <small>(distance {:.3})</small></h2>\n<svg viewBox=\"0 0 {} {}\">{}{}{}</svg>",
            both.case.module,
            both.distance(),
            WIDTH + MARGIN,
            HEIGHT + MARGIN,
            axes(top),
            line(&both.recorded, top, "theirs"),
            line(&both.ours.curve, top, "ours"),
        );
    }
    page
}

fn place(time: f64, cwnd: f64, top: f64) -> (f64, f64) {
    (MARGIN + time / super::cases::SINGLE_TIME * WIDTH, HEIGHT - cwnd / top * (HEIGHT - 10.0))
}

fn axes(top: f64) -> String {
    let mut text = String::new();
    for step in 0..=6 {
        let (x, _) = place(f64::from(5 * step), 0.0, top);
        let _ = write!(text, "<text x=\"{x:.0}\" y=\"{:.0}\">{}</text>", HEIGHT + 20.0, 5 * step);
    }
    for step in 0..=2 {
        let cwnd = top * f64::from(step) / 2.0;
        let (_, y) = place(0.0, cwnd, top);
        let _ = write!(text, "<text x=\"0\" y=\"{y:.0}\">{cwnd:.0}</text>");
    }
    text
}

fn line(curve: &Curve, top: f64, class: &str) -> String {
    let points = curve.0.iter().map(|point| {
        let (x, y) = place(point.time, point.cwnd, top);
        format!("{x:.1},{y:.1}")
    });
    format!("<polyline class=\"{class}\" points=\"{}\"/>", points.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_in_the_frame() {
        assert_eq!(place(0.0, 0.0, 100.0), (MARGIN, HEIGHT));
        assert_eq!(place(30.0, 100.0, 100.0), (MARGIN + WIDTH, 10.0));
    }
}
