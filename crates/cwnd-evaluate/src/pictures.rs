//! The small pictures of the summary: effects with intervals, the effect in each cell, and the worst cell.
//!
//! In all of them the right is better. The line in the middle is the reference, the grey band its margin.

use crate::criteria::Better;
use crate::ledger::{CriterionEntry, Interval, Measured, Verdict};
use cwnd_plot::style::{Colour, GREY, INK, Marker, Stroke};
use cwnd_plot::{Canvas, Inside};

const WIDTH: f64 = 132.0;
const HEIGHT: f64 = 22.0;
const BETTER: Colour = Colour(0x00, 0x72, 0xb2);
const WORSE: Colour = Colour(0xd5, 0x5e, 0x00);
const BAND: Colour = Colour(0xe4, 0xe4, 0xe4);

/// The candidate's effect over all cells with its interval, and those of the others as lighter marks above and below.
pub fn effects(entry: &CriterionEntry, candidate: &str) -> String {
    let of = |name: &str| entry.effects.get(name).and_then(|effect| effect.interval);
    let others: Vec<Interval> =
        entry.effects.keys().filter(|name| *name != candidate).filter_map(|name| of(name)).collect();
    let own = of(candidate);
    let scale = Scale::of(entry, own.iter().chain(&others));
    let mut canvas = scale.canvas();
    for (place, other) in others.iter().enumerate() {
        let y = if place % 2 == 0 { 4.0 } else { HEIGHT - 4.0 };
        draw(&mut canvas, &scale, entry, other, y, GREY.tint(0.6));
    }
    if let Some(own) = own {
        let verdict = entry.effects.get(candidate).map_or(Verdict::NotMeasured, |effect| effect.verdict);
        draw(&mut canvas, &scale, entry, &own, HEIGHT / 2.0, colour(verdict));
    }
    canvas.into_inline_svg(WIDTH, HEIGHT, "Effect over all cells with its interval; right is better")
}

/// The candidate's effect in each cell, in order of size.
pub fn cells(entry: &CriterionEntry) -> String {
    let mut intervals: Vec<Interval> = entry.cells.iter().filter_map(|cell| cell.interval).collect();
    intervals.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    let scale = Scale::of(entry, &intervals);
    let mut canvas = scale.canvas();
    let step = (HEIGHT - 4.0) / intervals.len().max(1) as f64;
    for (place, interval) in intervals.iter().enumerate() {
        let (zero, end) = (scale.x(0.0), scale.x(signed(entry, interval.mean)));
        let better = signed(entry, interval.mean) > 0.0;
        let y = 2.0 + step * place as f64;
        let width = (end - zero).abs().max(0.8);
        let height = (step - 0.6).clamp(0.5, 5.0);
        canvas.rectangle(zero.min(end), y, width, height, if better { BETTER } else { WORSE }, 0.9);
    }
    canvas.into_inline_svg(WIDTH, HEIGHT, "Effect in each cell; right is better")
}

/// The candidate's value (above) and the reference's in the worst cell, as bars from zero.
pub fn worst(entry: &CriterionEntry) -> String {
    let mut canvas = Canvas::default();
    if let Some(worst) = &entry.worst {
        let both = [(worst.candidate, INK), (worst.reference, GREY.tint(0.5))];
        let end = |value: &Measured| value.mean.abs() + value.ci95.filter(|ci| ci.is_finite()).unwrap_or(0.0);
        let most = both.iter().filter_map(|(value, _)| value.as_ref()).map(end).fold(0.0, f64::max);
        let factor = if most > 0.0 { (WIDTH - 4.0) / most } else { 0.0 };
        for (place, (value, colour)) in both.into_iter().enumerate() {
            let Some(value) = value else { continue };
            let y = 3.0 + 9.0 * place as f64;
            let length = value.mean.abs() * factor;
            canvas.rectangle(2.0, y, length.max(0.8), 7.0, colour, 1.0);
            if let Some(half) = value.ci95.filter(|ci| ci.is_finite()) {
                let ends = [
                    (2.0 + (length - half * factor).max(0.0), y + 3.5),
                    (2.0 + length + half * factor, y + 3.5),
                ];
                canvas.line(&ends, &Stroke::solid(WORSE, 1.2));
            }
        }
    }
    canvas.into_inline_svg(
        WIDTH,
        HEIGHT,
        "Values in the worst cell: the candidate above, the reference below",
    )
}

fn colour(verdict: Verdict) -> Colour {
    match verdict {
        Verdict::Better => BETTER,
        Verdict::Worse => WORSE,
        Verdict::As | Verdict::NotMeasured | Verdict::NotApplicable => INK,
    }
}

fn draw(
    canvas: &mut Canvas,
    scale: &Scale,
    entry: &CriterionEntry,
    interval: &Interval,
    y: f64,
    colour: Colour,
) {
    let x = |value: f64| scale.x(signed(entry, value));
    if let Some((low, high)) = interval.low.zip(interval.high) {
        canvas.line(&[(x(low), y), (x(high), y)], &Stroke::solid(colour, 1.6));
    }
    canvas.sign((x(interval.mean), y), Marker::Circle, &Stroke::solid(colour, 1.4), Inside::Colour);
}

/// Returns an effect so that more is better.
fn signed(entry: &CriterionEntry, effect: f64) -> f64 {
    if entry.better == Better::More { effect } else { -effect }
}

/// From effects to places.
struct Scale {
    most: f64,
    margin: f64,
}

impl Scale {
    fn of<'a>(entry: &CriterionEntry, intervals: impl IntoIterator<Item = &'a Interval>) -> Scale {
        // An interval of few seeds can be far wider than the effects.
        let size = |interval: &Interval| 1.25 * interval.mean.abs();
        let most = intervals.into_iter().map(size).fold(1.6 * entry.margin, f64::max);
        Scale { most: if most > 0.0 { most } else { 1.0 }, margin: entry.margin }
    }

    fn x(&self, value: f64) -> f64 {
        WIDTH / 2.0 + (value / self.most).clamp(-1.0, 1.0) * (WIDTH / 2.0 - 3.0)
    }

    fn canvas(&self) -> Canvas {
        let mut canvas = Canvas::default();
        let (left, right) = (self.x(-self.margin), self.x(self.margin));
        canvas.rectangle(left, 0.0, (right - left).max(0.5), HEIGHT, BAND, 1.0);
        canvas.line(&[(self.x(0.0), 0.0), (self.x(0.0), HEIGHT)], &Stroke::solid(GREY, 0.8));
        canvas
    }
}
