//! The values that explanations cite from runs.

use crate::{Citation, Cited, Results};
use cwnd_metrics::statistics::Summary;

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
        Cited::Pairs { formula, axis, of, over } => {
            let pairs = study.pairs(axis, of, std::slice::from_ref(over), &citation.select);
            let value = |(a, b)| formula.value(mean(a)?, mean(b)?);
            pairs.into_iter().map(value).collect()
        }
    };
    let values = values?;
    let end = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of);
    Some(CitedValues { least: end(f64::min)?, greatest: end(f64::max)? })
}

fn mean(values: &[f64]) -> Option<f64> {
    Summary::of(values).map(|summary| summary.mean)
}
