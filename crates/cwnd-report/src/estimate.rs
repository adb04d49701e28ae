//! What the repeats of some cells tell of a metric.

use cwnd_metrics::statistics::Summary;
use cwnd_study::Results;

/// A mean over repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half of its 95 % interval; none of a single repeat.
    pub half: Option<f64>,
    /// The standard deviation of the repeats; none of a single one.
    pub deviation: Option<f64>,
    /// How many repeats it rests on.
    pub count: usize,
}

impl Estimate {
    /// The mean of a metric over cells: for each repeat the mean over the cells, from the repeats that have it in every
    /// cell; then the mean of those with its interval. None if no repeat has it in all.
    pub fn of(results: &Results, cells: &[usize], metric: &str) -> Option<Estimate> {
        if cells.is_empty() {
            return None;
        }
        let repeats = results.study.repeats as usize;
        let of_repeat = |repeat: usize| {
            let mut sum = 0.0;
            for cell in cells {
                let run = results.runs.get(cell * repeats + repeat)?;
                sum += run.metric(metric).filter(|value| value.is_finite())?;
            }
            Some(sum / cells.len() as f64).filter(|mean| mean.is_finite())
        };
        let values: Vec<f64> = (0..repeats).filter_map(of_repeat).collect();
        let summary = Summary::of(&values)?;
        let half = summary.ci95.filter(|half| half.is_finite());
        let deviation = summary.standard_deviation.filter(|deviation| deviation.is_finite());
        Some(Estimate { mean: summary.mean, half, deviation, count: values.len() })
            .filter(|e| e.mean.is_finite())
    }

    /// The same in another unit.
    pub fn times(self, factor: f64) -> Estimate {
        let times = |value: Option<f64>| value.map(|value| value * factor);
        Estimate {
            mean: self.mean * factor,
            half: times(self.half),
            deviation: times(self.deviation),
            ..self
        }
    }

    /// The standard error of the mean; none of a single repeat.
    pub fn error(&self) -> Option<f64> {
        self.deviation.map(|deviation| deviation / (self.count as f64).sqrt())
    }

    /// The ends of its interval; none of a single repeat, or where all repeats are equal.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.half.filter(|half| *half > 0.0).map(|half| (self.mean - half, self.mean + half))
    }
}
