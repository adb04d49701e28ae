//! The values that a metric can have: beyond them there is no axis and no interval.

use super::points::Chosen;
use crate::estimate::Estimate;
use crate::measure::Measure;
use cwnd_plot::Axis;

/// The metrics that count what crosses the bottleneck, so that its rate bounds them.
const CARRIED: [&str; 4] = ["throughput_bps", "throughput_active_bps", "throughput_mean_bps", "goodput_bps"];

/// The least and the greatest value that is possible; either may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Possible {
    least: f64,
    most: f64,
}

impl Possible {
    /// Of a metric over the cells of a figure, of which these are the means. A bound that a mean exceeds is none: several
    /// bottlenecks carry more than one.
    pub fn new(
        chosen: &Chosen<'_>,
        metric: &str,
        measure: &Measure,
        means: impl Iterator<Item = f64> + Clone,
    ) -> Possible {
        let (least, mut most) = measure.range;
        if CARRIED.contains(&metric.rsplit('.').next().unwrap_or(metric)) {
            most = most.min(rate(chosen).unwrap_or(f64::INFINITY));
        }
        let is_kept =
            |bound: f64, exceeds: fn(f64, f64) -> bool| !means.clone().any(|mean| exceeds(mean, bound));
        Possible {
            least: if is_kept(least, |mean, bound| mean < bound) { least } else { f64::NEG_INFINITY },
            most: if is_kept(most, |mean, bound| mean > bound) { most } else { f64::INFINITY },
        }
    }

    /// The same in another unit.
    pub fn times(self, factor: f64) -> Possible {
        Possible { least: self.least * factor, most: self.most * factor }
    }

    /// Returns both.
    pub fn ends(self) -> (f64, f64) {
        (self.least, self.most)
    }

    /// The axis of the metric, in the same unit.
    pub fn axis(self, axis: Axis) -> Axis {
        axis.within(self.least, self.most)
    }

    /// The part of an estimate's interval that is possible, in the same unit.
    pub fn interval(self, estimate: &Estimate) -> Option<(f64, f64)> {
        estimate.interval().map(|(low, high)| (low.max(self.least), high.min(self.most)))
    }
}

/// The rate of the fastest bottleneck of some cells in bit/s; none if any varies.
fn rate(chosen: &Chosen<'_>) -> Option<f64> {
    let of_cell = |cell: &usize| {
        let network = &chosen.results.study.cells[*cell].scenario.network;
        let link = network.links.get(network.bottleneck).filter(|link| link.schedule.is_none())?;
        Some(link.rate.0 as f64)
    };
    let rates: Option<Vec<f64>> = chosen.cells.iter().map(of_cell).collect();
    rates.filter(|rates| !rates.is_empty()).map(|rates| rates.into_iter().fold(0.0, f64::max))
}
