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

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, for the range from 1 to 2: the mean decides, and an interval is clear if both of its ends are in the range, or if it lies
    /// outside as a whole.
    #[test]
    fn a_range_is_met_by_the_mean_and_crossed_by_the_interval() {
        const CROSSES: &str = ", though the interval crosses an end of it";
        let verdict = |is_open: bool, mean: f64, ci95: f64| {
            let summary = Summary { ci95: Some(ci95), ..Summary::of(&[mean]).expect("a value") };
            within(&summary, &Range { at_least: Some(1.0), at_most: Some(2.0), is_open })
        };
        for (is_open, mean, ci95, expected, place, crosses) in [
            (false, 1.5, 0.25, Judgement::Reproduced, "within", false),
            (false, 1.5, 0.5, Judgement::Reproduced, "within", false),
            (false, 1.5, 0.75, Judgement::Reproduced, "within", true),
            (false, 1.25, 0.5, Judgement::Reproduced, "within", true),
            (false, 1.0, 0.25, Judgement::Reproduced, "within", true),
            (false, 0.5, 0.25, Judgement::NotReproduced, "under", false),
            (false, 0.5, 0.5, Judgement::NotReproduced, "under", true),
            (false, 0.5, 0.75, Judgement::NotReproduced, "under", true),
            (false, 2.5, 0.25, Judgement::NotReproduced, "over", false),
            (false, 2.5, 0.5, Judgement::NotReproduced, "over", true),
            (false, 2.5, 0.75, Judgement::NotReproduced, "over", true),
            // The ends of an open range do not belong to it.
            (true, 1.0, 0.25, Judgement::NotReproduced, "under", true),
            (true, 2.0, 0.25, Judgement::NotReproduced, "over", true),
            (true, 1.5, 0.5, Judgement::Reproduced, "within", true),
        ] {
            let ground = format!("{place} what is expected{}", if crosses { CROSSES } else { "" });
            assert_eq!(verdict(is_open, mean, ci95), (expected, ground), "{mean} +- {ci95}, {is_open}");
        }
        // Without an interval there is nothing to cross.
        let one = Summary::of(&[0.5]).expect("a value");
        let range = Range { at_least: Some(1.0), at_most: None, is_open: false };
        assert_eq!(within(&one, &range), (Judgement::NotReproduced, "under what is expected".to_owned()));
    }
}
