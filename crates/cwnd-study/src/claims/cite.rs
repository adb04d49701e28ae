//! The values that explanations cite from runs.

use crate::{Citation, Cited, Comparison, Results};

/// The range of the values that a citation selects, in the metric's own unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CitedValues {
    /// The least; with one value the only one.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

/// Returns the values that a citation selects of its study's results: for each cell, or pair of cells, the mean over the
/// repeats. Returns none if any of them was not run.
pub fn cite(results: &Results, citation: &Citation) -> Option<CitedValues> {
    let study = &results.study;
    let mean = |cell: usize| mean(&results.values(cell, &citation.metric));
    let cells = || study.select(&citation.select);
    let values: Option<Vec<f64>> = match &citation.of {
        Cited::Each => cells().map(mean).collect(),
        Cited::Mean => {
            let values: Option<Vec<f64>> = cells().map(mean).collect();
            values.map(|values| self::mean(&values).into_iter().collect())
        }
        Cited::Pairs { comparison, axis, of, over } => {
            let pairs = study.pairs(axis, of, std::slice::from_ref(over), &citation.select);
            let value = |(a, b)| Some(compared(*comparison, mean(a)?, mean(b)?));
            pairs.into_iter().map(value).collect()
        }
    };
    let values =
        values.filter(|values| !values.is_empty() && values.iter().all(|value| value.is_finite()))?;
    let (least, greatest) =
        (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
    Some(CitedValues { least, greatest })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn compared(comparison: Comparison, a: f64, b: f64) -> f64 {
    match comparison {
        Comparison::Gain => (a - b) / b,
        Comparison::Difference => a - b,
        Comparison::Ratio => a / b,
    }
}
