//! Features of monitor intervals, and the observation: the features of the last intervals, the oldest first.

use crate::Interval;
use serde::{Deserialize, Serialize};

/// A number that an observation has of each interval. The first ten are those of PCC-RL (`src/common/sender_obs.py`), with its
/// scales; the ones after them are Orca's (`rl-module/envwrapper.py` of Soheil-ab/Orca).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// The increase of the round-trip time over the interval ([`Interval::rtt_increase_s`]), divided by its length. -1 to 10.
    SentLatencyInflation,
    /// The mean round-trip time, in multiples of the smallest mean of all intervals so far. 1 to 10,000; 1 before the first
    /// sample.
    LatencyRatio,
    /// Packets sent, divided by packets delivered less one. 0 to 1,000; 1 if fewer than two were delivered.
    SendRatio,
    /// The sending rate in units of 10 Mbit/s. 0 to 10,000.
    SendRate,
    /// The rate of delivery ([`Interval::received_pps`]) in units of 10 Mbit/s. 0 to 10,000.
    ReceiveRate,
    /// The mean round-trip time, seconds. 0 to 100.
    AverageLatency,
    /// [`Interval::loss_ratio`]. 0 to 1.
    LossRatio,
    /// The smallest mean round-trip time of all intervals so far, seconds. 0 to 100.
    MinimumLatency,
    /// [`Interval::rtt_increase_s`]. -100 to 100.
    LatencyIncrease,
    /// [`Interval::rtt_slope`], the derivative of latency, which Aurora's paper calls latency gradient. -1 to 10.
    LatencyGradient,
    /// Throughput, in multiples of the highest of all intervals so far. 0 to 1.
    ThroughputRatio,
    /// The pacing rate (without pacing, window by smoothed round-trip time) in multiples of the highest throughput. 0 to 10.
    PacingRatio,
    /// Five times the packets lost a second, in multiples of the highest throughput. 0 to 10.
    LossToThroughput,
    /// Packets delivered, in multiples of the window. 0 to 10.
    DeliveredToWindow,
    /// The interval's length in multiples of the smallest round-trip time. 0 to 100. (Orca has the length itself, less its
    /// mean and divided by its standard deviation.)
    LengthRatio,
    /// The smallest round-trip time divided by the smoothed one. 0 to 1; 1 before the first sample.
    MinimumToSmoothed,
    /// Orca's delay metric: 1 up to 1.25 times the smallest round-trip time, beyond it the quotient. 0 to 1.
    DelayMetric,
}

impl Feature {
    /// PCC-RL's three, which have no unit: they do not depend on the scale of rates and delays.
    pub const AURORA: [Feature; 3] =
        [Feature::SentLatencyInflation, Feature::LatencyRatio, Feature::SendRatio];

    /// Orca's seven.
    pub const ORCA: [Feature; 7] = [
        Feature::ThroughputRatio,
        Feature::PacingRatio,
        Feature::LossToThroughput,
        Feature::DeliveredToWindow,
        Feature::LengthRatio,
        Feature::MinimumToSmoothed,
        Feature::DelayMetric,
    ];

    /// Returns the least and the greatest value. Observations are clipped to them.
    pub fn bounds(self) -> (f32, f32) {
        match self {
            Feature::SentLatencyInflation | Feature::LatencyGradient => (-1.0, 10.0),
            Feature::LatencyRatio => (1.0, 10_000.0),
            Feature::SendRatio => (0.0, 1_000.0),
            Feature::SendRate | Feature::ReceiveRate => (0.0, 10_000.0),
            Feature::AverageLatency | Feature::MinimumLatency | Feature::LengthRatio => (0.0, 100.0),
            Feature::LatencyIncrease => (-100.0, 100.0),
            Feature::LossRatio
            | Feature::ThroughputRatio
            | Feature::MinimumToSmoothed
            | Feature::DelayMetric => (0.0, 1.0),
            Feature::PacingRatio | Feature::LossToThroughput | Feature::DeliveredToWindow => (0.0, 10.0),
        }
    }

    fn of(self, interval: &Interval, extremes: &Extremes) -> f64 {
        const TEN_MEGABIT: f64 = 1e7;
        let highest = extremes.highest_pps;
        let to_highest = |pps: f64| if highest > 0.0 { pps / highest } else { 0.0 };
        match self {
            Feature::SentLatencyInflation => ratio(interval.rtt_increase_s, interval.duration_s, 0.0),
            Feature::LatencyRatio => ratio(interval.rtt_mean_s, extremes.least_mean_rtt_s, 1.0),
            Feature::SendRatio => {
                if interval.acked > 1 {
                    // The greatest ratio that PCC-RL knows is 1,000; it gives 1 beyond it.
                    let ratio = interval.sent as f64 / (interval.acked - 1) as f64;
                    if ratio < 1000.0 { ratio } else { 1.0 }
                } else {
                    1.0
                }
            }
            Feature::SendRate => interval.send_rate_bps() / TEN_MEGABIT,
            Feature::ReceiveRate => {
                interval.received_pps() * 8.0 * f64::from(interval.packet_bytes) / TEN_MEGABIT
            }
            Feature::AverageLatency => interval.rtt_mean_s,
            Feature::LossRatio => interval.loss_ratio(),
            Feature::MinimumLatency => extremes.least_mean_rtt_s,
            Feature::LatencyIncrease => interval.rtt_increase_s,
            Feature::LatencyGradient => interval.rtt_slope,
            Feature::ThroughputRatio => to_highest(interval.throughput_pps()),
            Feature::PacingRatio => {
                let by_window = ratio(interval.cwnd, interval.srtt_s, 0.0);
                to_highest(if interval.pacing_pps.is_finite() { interval.pacing_pps } else { by_window })
            }
            Feature::LossToThroughput => to_highest(5.0 * interval.loss_pps()),
            Feature::DeliveredToWindow => ratio(interval.acked as f64, interval.cwnd, 0.0),
            Feature::LengthRatio => ratio(interval.duration_s, interval.min_rtt_s, 0.0),
            Feature::MinimumToSmoothed => ratio(interval.min_rtt_s, interval.srtt_s, 1.0),
            Feature::DelayMetric => delay_metric(interval, ORCA_DELAY_MARGIN),
        }
    }
}

/// Orca's beta: how far the delay may exceed the least one without a penalty (`delay_margin_coef` of its `params_base.json`).
pub const ORCA_DELAY_MARGIN: f64 = 1.25;

/// Returns Orca's delay metric: 1 while the smoothed round-trip time is at most `margin` times the smallest one.
pub fn delay_metric(interval: &Interval, margin: f64) -> f64 {
    ratio(interval.min_rtt_s * margin, interval.srtt_s, 1.0).min(1.0)
}

fn ratio(value: f64, by: f64, otherwise: f64) -> f64 {
    if by > 0.0 { value / by } else { otherwise }
}

/// Extremes over the intervals of an episode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extremes {
    /// The smallest mean round-trip time of an interval, seconds; zero before the first sample.
    pub least_mean_rtt_s: f64,
    /// The highest throughput of an interval, packets a second.
    pub highest_pps: f64,
}

impl Extremes {
    fn add(&mut self, interval: &Interval) {
        let mean = interval.rtt_mean_s;
        if mean > 0.0 && (self.least_mean_rtt_s == 0.0 || mean < self.least_mean_rtt_s) {
            self.least_mean_rtt_s = mean;
        }
        self.highest_pps = self.highest_pps.max(interval.throughput_pps());
    }
}

/// The features of the last intervals.
#[derive(Clone, Debug)]
pub struct History {
    features: Vec<Feature>,
    values: Vec<f32>,
    pub extremes: Extremes,
}

impl History {
    /// Creates a history of `length` empty intervals.
    pub fn new(features: &[Feature], length: usize) -> History {
        let mut history = History {
            features: features.to_vec(),
            values: vec![0.0; features.len() * length],
            extremes: Extremes::default(),
        };
        history.reset();
        history
    }

    /// Begins an episode.
    pub fn reset(&mut self) {
        self.extremes = Extremes::default();
        let width = self.features.len();
        for i in 0..self.values.len() {
            self.values[i] = self.value(self.features[i % width], &Interval::default());
        }
    }

    /// Adds an interval; the oldest one leaves.
    pub fn push(&mut self, interval: &Interval) {
        self.extremes.add(interval);
        let width = self.features.len();
        self.values.copy_within(width.., 0);
        let last = self.values.len() - width;
        for i in 0..width {
            self.values[last + i] = self.value(self.features[i], interval);
        }
    }

    /// Returns the observation.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    fn value(&self, feature: Feature, interval: &Interval) -> f32 {
        let (least, greatest) = feature.bounds();
        (feature.of(interval, &self.extremes) as f32).clamp(least, greatest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auroras_features_by_hand() {
        let mut history = History::new(&Feature::AURORA, 2);
        assert_eq!(history.values(), [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
        let interval = Interval {
            duration_s: 0.5,
            sent: 60,
            acked: 51,
            rtt_mean_s: 0.2,
            rtt_increase_s: 0.05,
            ..Interval::default()
        };
        // 0.05 / 0.5; the first mean is the least; 60 / 50.
        history.push(&interval);
        assert_eq!(history.values(), [0.0, 1.0, 1.0, 0.1, 1.0, 1.2]);
        history.push(&Interval { rtt_mean_s: 0.5, rtt_increase_s: -2.0, acked: 1, ..interval });
        // -4 is clipped to -1; 0.5 / 0.2; fewer than two packets were delivered.
        assert_eq!(history.values(), [0.1, 1.0, 1.2, -1.0, 2.5, 1.0]);
        history.reset();
        assert_eq!(history.values(), [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn orcas_features_by_hand() {
        let mut history = History::new(&Feature::ORCA, 1);
        let fast = Interval {
            duration_s: 0.1,
            acked: 100,
            cwnd: 50.0,
            pacing_pps: f64::INFINITY,
            srtt_s: 0.05,
            min_rtt_s: 0.05,
            ..Interval::default()
        };
        history.push(&fast);
        // 1,000 packets a second are the most; 50 / 0.05 s are as many; 100 / 50; 0.1 / 0.05.
        assert_eq!(history.values(), [1.0, 1.0, 0.0, 2.0, 2.0, 1.0, 1.0]);
        history.push(&Interval { acked: 50, lost: 2, srtt_s: 0.1, ..fast });
        // 500 of 1,000; 500 of 1,000; 5 x 20 of 1,000; 50 / 50; 2; 0.05 / 0.1; 0.0625 / 0.1.
        assert_eq!(history.values(), [0.5, 0.5, 0.1, 1.0, 2.0, 0.5, 0.625]);
    }

    #[test]
    fn values_are_within_their_bounds_without_any_sample() {
        let all = [Feature::AURORA.as_slice(), &Feature::ORCA].concat();
        let history = History::new(&all, 1);
        for (feature, value) in all.iter().zip(history.values()) {
            let (least, greatest) = feature.bounds();
            assert!((least..=greatest).contains(value), "{feature:?} is {value}");
        }
    }
}
