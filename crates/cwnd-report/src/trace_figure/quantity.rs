//! What the panels of flows show.

use crate::sampled_throughput::{throughput, window};
use cwnd_plot::Axis;
use cwnd_scenario::{Sample, Time};

/// A quantity of a flow over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Payload acknowledged in order, averaged over a [window].
    Throughput,
    /// Smoothed round-trip time.
    RoundTripTime,
    /// Congestion window.
    Window,
}

impl Quantity {
    /// All of them, in the order of their panels.
    pub const ALL: [Quantity; 3] = [Quantity::Throughput, Quantity::RoundTripTime, Quantity::Window];

    /// Returns the vertical axis.
    pub fn axis(self) -> Axis {
        let (name, unit) = match self {
            Quantity::Throughput => ("throughput", "Mbit/s"),
            Quantity::RoundTripTime => ("RTT", "ms"),
            Quantity::Window => ("cwnd", "packets"),
        };
        Axis::linear(name, unit).from(0.0)
    }

    /// Returns the height of the panel, pixels.
    pub fn height(self) -> f64 {
        if self == Quantity::Window { 170.0 } else { 120.0 }
    }

    /// Returns the values of a flow's samples in the axis's unit, each with the place of its time among `times`. A sample
    /// without a value is left out.
    pub fn values(self, samples: &[&Sample], times: &[Time]) -> Vec<(usize, Time, f64)> {
        let window = window(times);
        let value = |(i, sample): (usize, &&Sample)| {
            let value = match self {
                Quantity::Throughput => throughput(&samples[..=i], times, window)? / 1e6,
                Quantity::RoundTripTime => sample.rtt?.as_secs_f64() * 1e3,
                Quantity::Window => sample.cwnd,
            };
            Some((sample.time_index, times[sample.time_index], value))
        };
        samples.iter().enumerate().filter_map(value).collect()
    }
}
