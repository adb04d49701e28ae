//! How far repeats of a run over a real kernel lie apart.
//!
//! The network of each run may have been accurate, and the runs may still differ: where a loss more or less decides, as with short
//! buffers, a kernel's timers and bursts do so differently each time. One run, or the mean of a few, says little then.

use crate::validity_warnings;
use cwnd_metrics::statistics::Summary;
use cwnd_study::{Results, RunState};
use std::fmt;

/// The greatest standard deviation of the repeats' throughput at which their mean is valid, as a share of the mean.
pub const MOST_DEVIATION: f64 = 0.02;

/// The spread of the repeats' throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The number of repeats: two at least.
    pub repeats: usize,
    /// The least throughput, bit/s.
    pub least: f64,
    /// The greatest throughput, bit/s.
    pub greatest: f64,
    /// The sample standard deviation as a share of the mean.
    pub deviation: f64,
}

impl Spread {
    /// Returns the spread of these throughputs, bit/s; none of fewer than two, or if nothing was sent.
    pub fn of(throughputs: &[f64]) -> Option<Spread> {
        let summary = Summary::of(throughputs)?;
        let deviation = summary.standard_deviation.filter(|_| summary.mean > 0.0)? / summary.mean;
        Some(Spread {
            repeats: throughputs.len(),
            least: throughputs.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: throughputs.iter().copied().fold(0.0, f64::max),
            deviation,
        })
    }

    /// Returns the spread of a study's cell, if its runs had an emulated network and the study measures throughput.
    pub fn of_cell(results: &Results, cell: usize) -> Option<Spread> {
        let emulated = results.runs_of(cell).iter().filter(|run| validity_warnings::emulation(run).is_some());
        let throughputs = emulated.filter_map(|run| match &run.state {
            RunState::Done(metrics) => metrics.get("throughput_bps").copied(),
            _ => None,
        });
        Spread::of(&throughputs.collect::<Vec<f64>>())
    }

    /// Returns whether the repeats differ too much for their mean to be valid.
    pub fn is_too_wide(&self) -> bool {
        self.deviation > MOST_DEVIATION
    }
}

/// Whether the mean of a cell's runs is valid: each of them is, and they do not differ too much.
pub fn is_mean_valid(results: &Results, cell: usize) -> bool {
    validity_warnings::of_cell(results, cell) == 0
        && !Spread::of_cell(results, cell).is_some_and(|spread| spread.is_too_wide())
}

impl fmt::Display for Spread {
    /// Writes `82.10 to 88.30 Mbit/s over 5 repeats, standard deviation 3.0 % of the mean`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = if self.greatest >= 1e6 { ("Mbit/s", 1e-6) } else { ("kbit/s", 1e-3) };
        let Spread { repeats, least, greatest, deviation } = self;
        let (least, greatest, percent) = (least * scale, greatest * scale, deviation * 100.0);
        write!(
            f,
            "{least:.2} to {greatest:.2} {unit} over {repeats} repeats, standard deviation {percent:.1} % of the mean"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_that_differ_much_are_not_valid() {
        // The mean is 85.2 Mbit/s, the sample standard deviation 2.56.
        let spread = Spread::of(&[82.1e6, 88.3e6, 85.0e6, 83.4e6, 87.2e6]).unwrap();
        assert_eq!(
            spread.to_string(),
            "82.10 to 88.30 Mbit/s over 5 repeats, standard deviation 3.0 % of the mean"
        );
        assert!(spread.is_too_wide());
        assert!(!Spread::of(&[99.56e6, 99.58e6]).unwrap().is_too_wide());
        assert_eq!(Spread::of(&[1e6]), None);
        assert_eq!(Spread::of(&[0.0, 0.0]), None);
    }
}
