//! What the panels of flows show.

use cwnd_plot::Axis;
use cwnd_scenario::{Sample, Time};

/// A quantity of a flow over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Payload acknowledged, averaged over the span before each sample ([`throughput_span`]).
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
        let value = |(i, sample): (usize, &&Sample)| {
            let value = match self {
                Quantity::Throughput => rate(&samples[..=i], times)? / 1e6,
                Quantity::RoundTripTime => sample.rtt?.as_secs_f64() * 1e3,
                Quantity::Window => sample.cwnd,
            };
            Some((sample.time_index, times[sample.time_index], value))
        };
        samples.iter().enumerate().filter_map(value).collect()
    }
}

/// Returns the time over which throughput is averaged, seconds: a hundredth of what was sampled. Between two samples close
/// together a flow delivers a burst or nothing.
pub(super) fn throughput_span(times: &[Time]) -> f64 {
    match times {
        [first, .., last] => (last.as_secs_f64() - first.as_secs_f64()) / 100.0,
        _ => 0.0,
    }
}

/// Returns the bit/s that a flow has delivered in the span before its last sample; none at its first.
fn rate(samples: &[&Sample], times: &[Time]) -> Option<f64> {
    let at = |sample: &Sample| times[sample.time_index].as_secs_f64();
    let (last, before) = samples.split_last()?;
    let begin = at(last) - throughput_span(times);
    // Times in seconds are not exact.
    let first = before.iter().rfind(|sample| at(sample) <= begin * (1.0 + 1e-9)).or(before.first())?;
    let bits = 8.0 * (last.delivered_bytes.saturating_sub(first.delivered_bytes)) as f64;
    Some(bits / (at(last) - at(first)))
}
