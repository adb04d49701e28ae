//! The figures of a claim as people read them.

use crate::figures::frame::condensed;
use crate::measure::{Measure, Shown, decimals, half_text, number, small};
use cwnd_metrics::statistics::Summary;
use cwnd_study::{ClaimKind, Expectation, PairSummary, Study};

/// In which unit a claim's figures are shown, and what they are of.
pub struct ClaimUnit {
    shown: Shown,
    signed: bool,
    /// What is measured, in words.
    pub what: String,
}

/// A difference of two percentages is in points of them.
fn points(shown: Shown) -> Shown {
    let unit = if shown.unit == "%" { "percentage points".into() } else { shown.unit };
    Shown { unit, ..shown }
}

/// Labels of an axis as they are called among others: the first with the axis's title if it is a quantity.
fn named(study: &Study, axis: &str, labels: &[String]) -> String {
    let of = |label: &String| {
        let axis = &study.axes[study.axis(axis)?];
        Some(condensed(axis, axis.points.iter().find(|point| point.label == *label)?))
    };
    let first = labels.first().map(|label| of(label).unwrap_or_else(|| label.clone()));
    first.into_iter().chain(labels.iter().skip(1).cloned()).collect::<Vec<_>>().join(", ")
}

impl ClaimUnit {
    /// The unit of a claim that is measured.
    pub fn new(study: &Study, kind: &ClaimKind, expect: &Expectation, measured: Option<f64>) -> ClaimUnit {
        let (ends, printed) = match expect {
            Expectation::Within(range) => ([range.at_least, range.at_most], None),
            Expectation::Gain(gain) => ([Some(*gain), None], None),
            Expectation::Printed { value, scale } => ([Some(value / scale), None], Some(*scale)),
        };
        let values = ends.into_iter().flatten().chain(measured);
        let greatest = values.map(f64::abs).filter(|v| v.is_finite()).fold(0.0, f64::max);
        let of = |metric: &str, what: &str| {
            let measure = Measure::of_study(study, metric);
            let shown = printed.and_then(|scale| measure.multiplied(scale));
            (shown.unwrap_or_else(|| measure.shown(greatest)), format!("{what}{}", small(&measure.title)))
        };
        let title = |metric: &str| Measure::of_study(study, metric).title;
        let ((shown, what), signed) = match kind {
            ClaimKind::Mean { metric, .. } => (of(metric, "mean of "), false),
            ClaimKind::Extreme { metric, greatest: true, .. } => (of(metric, "greatest "), false),
            ClaimKind::Extreme { metric, .. } => (of(metric, "least "), false),
            ClaimKind::Gain { metric, axis, of: a, over, pairs, absolute, .. } => {
                let (a, over) = (named(study, axis, std::slice::from_ref(a)), named(study, axis, over));
                let most = match pairs {
                    PairSummary::Mean => "",
                    PairSummary::Greatest => "at most, ",
                    PairSummary::GreatestAbsolute => "at most, up or down, ",
                };
                let title = small(&title(metric));
                let what = format!("{most}{title} of {a} over {over}");
                let shown = match absolute {
                    true => points(of(metric, "").0),
                    false => Shown { factor: 100.0, unit: "%".into() },
                };
                ((shown, what), true)
            }
            ClaimKind::Wins { metric, axis, of: a, over, .. } => {
                let (a, over) = (named(study, axis, std::slice::from_ref(a)), named(study, axis, over));
                let what = format!("of the pairs: {} of {a} above that of {over}", small(&title(metric)));
                ((Shown { factor: 100.0, unit: "%".into() }, what), false)
            }
        };
        ClaimUnit { shown, signed, what }
    }

    /// A measurement with its interval, as `+12.3 ± 0.4 %`.
    pub fn summary(&self, measured: &Summary) -> String {
        let (mean, half) = (measured.mean * self.shown.factor, measured.ci95.map(|h| h * self.shown.factor));
        let digits = decimals(mean, half);
        let spread = half.map(|half| format!(" ± {}", half_text(half, digits))).unwrap_or_default();
        format!("{}{spread}{}", self.signed(mean, digits), self.unit())
    }

    /// What it is held against, in words.
    pub fn expectation(&self, expect: &Expectation) -> String {
        let end = |value: f64| {
            let value = value * self.shown.factor;
            self.signed(value, decimals(value, None))
        };
        let unit = self.unit();
        match expect {
            Expectation::Within(range) => match (range.at_least, range.at_most) {
                (Some(least), Some(most)) => format!("from {} to {}{unit}", end(least), end(most)),
                (Some(least), None) if range.is_open => format!("more than {}{unit}", end(least)),
                (Some(least), None) => format!("at least {}{unit}", end(least)),
                (None, Some(most)) if range.is_open => format!("less than {}{unit}", end(most)),
                (None, Some(most)) => format!("at most {}{unit}", end(most)),
                (None, None) => "anything".into(),
            },
            Expectation::Gain(gain) => format!("{}{unit}", end(*gain)),
            // To the digit, as the publication has it.
            Expectation::Printed { value, .. } => format!("{value}{unit}"),
        }
    }

    fn signed(&self, value: f64, digits: usize) -> String {
        let plus = if self.signed && value > 0.0 { "+" } else { "" };
        format!("{plus}{}", number(value, digits))
    }

    fn unit(&self) -> String {
        if self.shown.unit.is_empty() { String::new() } else { format!(" {}", self.shown.unit) }
    }
}
