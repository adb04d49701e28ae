//! The rules of the verdicts.

use super::measure::OverZero;
use super::{Judgement, MIN_REPEATS};
use crate::{Expectation, Range};
use cwnd_metrics::statistics::Summary;

/// A stated gain is reproduced from this part of it on.
pub(super) const ENOUGH: f64 = 0.8;
/// From this multiple of the stated gain on, the finding is another one.
const MUCH_MORE: f64 = 3.0;
/// A printed number is reproduced within this part of it.
const NEAR: f64 = 0.05;

/// What a measurement is held to be, and by what.
pub(super) fn judge(measured: &Summary, expect: &Expectation, over: &OverZero) -> (Judgement, String) {
    let (judgement, ground) = match expect {
        Expectation::Within(range) => within(measured, range),
        Expectation::Gain(stated) => gain(measured, *stated, over),
        Expectation::Printed { value, scale } => printed(measured, *value, *scale),
    };
    let ground = match over.rivals.is_empty() {
        true => ground,
        false => format!("{ground} ({})", over.rivals.join(", ")),
    };
    match measured.ci95 {
        Some(_) => (judgement, ground),
        None => (judgement, format!("{ground}; one run without an interval: its value alone decides")),
    }
}

/// The mean lies in the range, or it does not.
fn within(measured: &Summary, range: &Range) -> (Judgement, String) {
    let (least, most) = (range.at_least.unwrap_or(f64::NEG_INFINITY), range.at_most.unwrap_or(f64::INFINITY));
    let has = |value: f64| range.contains(value);
    let is_clear =
        measured.interval().is_none_or(|(low, high)| (has(low) && has(high)) || high < least || low > most);
    let (judgement, place) = match has(measured.mean) {
        true => (Judgement::Reproduced, "within what is expected"),
        false if measured.mean <= least => (Judgement::NotReproduced, "under what is expected"),
        false => (Judgement::NotReproduced, "over what is expected"),
    };
    let close = if is_clear { "" } else { ", though the interval crosses an end of it" };
    (judgement, format!("{place}{close}"))
}

/// Enough of the stated gain and surely over 0; surely over 0 alone; or neither.
fn gain(measured: &Summary, stated: f64, over: &OverZero) -> (Judgement, String) {
    let share = measured.mean / stated;
    let judgement = match (over.is_over, share >= ENOUGH) {
        (true, true) if share >= MUCH_MORE => Judgement::LargerThanStated,
        (true, true) => Judgement::Reproduced,
        (true, false) => Judgement::DirectionOnly,
        (false, _) => Judgement::NotReproduced,
    };
    let size = match share {
        share if share >= 2.0 => format!("{share:.1} times what is stated"),
        share if share >= 0.0 => format!("{:.0} % of what is stated", share * 100.0),
        _ => "the other way round".to_owned(),
    };
    let sure = match over.is_over {
        _ if over.p.is_none() || share < 0.0 => "",
        true => ", and surely over 0",
        false => ", but not surely over 0",
    };
    let several = if over.tested > 1 { format!("Holm over {} pairs, ", over.tested) } else { String::new() };
    let test = over.p.map(|p| format!(" ({several}p {})", probability(p))).unwrap_or_default();
    (judgement, format!("{size}{sure}{test}"))
}

fn probability(p: f64) -> String {
    match p {
        p if p < 0.0001 => "< 0.0001".to_owned(),
        p if p < 0.01 => format!("= {p:.4}"),
        p => format!("= {p:.2}"),
    }
}

/// Returns whether a mean of some repeats with half of its 95 % interval agrees with a number that is printed, in the
/// number's unit: it is within 5 % of it, or has it inside the interval. None if the repeats differ and are too few to tell.
pub fn agrees_with_printed(mean: f64, half: Option<f64>, repeats: usize, printed: f64) -> Option<bool> {
    let is_enough = repeats >= MIN_REPEATS || half.is_none_or(|half| half == 0.0);
    is_enough.then(|| agrees(mean, half, printed))
}

fn agrees(mean: f64, half: Option<f64>, printed: f64) -> bool {
    is_near(mean, printed) || half.is_some_and(|half| (mean - printed).abs() <= half)
}

fn is_near(ours: f64, printed: f64) -> bool {
    // A hair of rounding must not tell 5 % from 5 %.
    (ours - printed).abs() <= NEAR * printed.abs() * (1.0 + 1e-12)
}

/// Near to the number, or with it inside the interval.
fn printed(measured: &Summary, value: f64, scale: f64) -> (Judgement, String) {
    let ours = measured.mean * scale;
    let is_reproduced = agrees(ours, measured.ci95.map(|half| half * scale), value);
    let judgement = if is_reproduced { Judgement::Reproduced } else { Judgement::NotReproduced };
    let off = (ours - value) / value.abs();
    let distance = match off {
        _ if ours == value => "as printed".to_owned(),
        off if !off.is_finite() => "not the 0 that is printed".to_owned(),
        off if off.abs() >= 1.0 => format!("{:.1} times what is printed", ours / value),
        off => {
            format!("{:.1} % {} what is printed", off.abs() * 100.0, if off > 0.0 { "over" } else { "under" })
        }
    };
    let interval = match (is_near(ours, value), is_reproduced) {
        (false, true) => ", which lies inside the interval",
        (false, false) if measured.ci95.is_some() => ", which lies outside the interval",
        _ => "",
    };
    (judgement, format!("{distance}{interval}"))
}
