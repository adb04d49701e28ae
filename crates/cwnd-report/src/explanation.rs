//! Explanations of claims as text: the numbers that they cite come from the runs of their studies.

use crate::measure::{Measure, Shown, number};
use cwnd_study::claims::{self, CitedValues, Judgement, Verdict};
use cwnd_study::{Citation, Cited, Claim, Explanation, Phrase, Reason, Results};

/// Finds the results of another study of the same paper by its short name.
pub type OtherStudies<'a> = &'a dyn Fn(&str) -> Option<&'a Results>;

/// Returns why a verdict is as it is: what an investigation has found, where the result differs from the claim, or else what
/// the rule found.
pub fn why(results: &Results, claim: &Claim, verdict: &Verdict, others: OtherStudies<'_>) -> String {
    match claim.reason.as_ref().filter(|_| verdict.judgement.differs()) {
        Some(Reason::Because(text)) => explain(results, text, others),
        Some(Reason::Unexplained(text)) => format!("unexplained: {}", explain(results, text, others)),
        None => verdict.ground.clone(),
    }
}

/// Whether the result differs from the claim, and its mechanism is not known.
pub fn is_unexplained(claim: &Claim, judgement: Judgement) -> bool {
    let needs_reason = matches!(judgement, Judgement::DirectionOnly | Judgement::NotReproduced);
    needs_reason && !matches!(claim.reason, Some(Reason::Because(_)))
}

/// Returns an explanation with the numbers that it cites.
fn explain(results: &Results, explanation: &Explanation, others: OtherStudies<'_>) -> String {
    let phrase = |phrase: &Phrase| match phrase {
        Phrase::Words(words) => words.clone(),
        Phrase::Cited(citation) => cited(results, citation, others),
    };
    explanation.0.iter().map(phrase).collect::<String>().trim().to_owned()
}

/// Returns a cited value with its unit, such as `93.2 %`, or a range of values, such as `0.73 to 0.78`.
fn cited(results: &Results, citation: &Citation, others: OtherStudies<'_>) -> String {
    let found = match &citation.study {
        None => Some(results),
        Some(name) => others(name),
    };
    let Some(source) = found else {
        return format!("(see the study {})", citation.study.as_deref().unwrap_or_default());
    };
    let Some(values) = claims::cite(source, citation) else { return "(not run)".to_owned() };
    let CitedValues { least, greatest } = values;
    let size = least.abs().max(greatest.abs());
    let metric = Measure::of_study(&source.study, &citation.metric);
    let measure = match &citation.of {
        Cited::Pairs { formula, .. } => metric.compared(*formula),
        Cited::Each | Cited::Mean => metric,
    };
    let Shown { factor, unit } = measure.shown(size);
    let digits = digits(size * factor);
    let [least, greatest] = [least, greatest].map(|value| number(value * factor, digits));
    let values = if least == greatest { least } else { format!("{least} to {greatest}") };
    if unit.is_empty() { values } else { format!("{values} {unit}") }
}

/// Returns how many decimals give three significant digits of a value.
fn digits(size: f64) -> usize {
    if size == 0.0 || !size.is_finite() {
        return 0;
    }
    (2 - size.log10().floor() as i32).clamp(0, 6) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_shown() {
        assert_eq!([0.0, 0.05, 0.731, 9.31, 97.2, 435.0, 25_020.0].map(digits), [0, 4, 3, 2, 1, 0, 0]);
    }
}
