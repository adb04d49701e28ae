//! Throughput over time, from samples of what flows have delivered.

use cwnd_scenario::{Sample, Time};

/// Throughput is a mean over this part of the run, or over the time between samples if that is longer: between two samples close
/// together a flow delivers a burst or nothing, and a recovery of a round trip acknowledges all that it held back at its end.
const PARTS: f64 = 50.0;

/// Returns the time over which throughput is averaged, seconds.
pub fn window(times: &[Time]) -> f64 {
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return 0.0 };
    let step = times.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0)).max().unwrap_or(0);
    ((last.0.saturating_sub(first.0)) as f64 / 1e9 / PARTS).max(step as f64 / 1e9).max(1e-9)
}

/// The part of the window that samples must reach back: what rounding takes from it is none of their doing.
const REACH: f64 = 0.999;

/// Returns the time that [`throughput`] averages over, seconds: the window in whole steps between samples, which are alike.
pub fn span(times: &[Time]) -> f64 {
    let step = times.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0)).max().unwrap_or(0);
    let window = window(times);
    if step == 0 { window } else { (REACH * window * 1e9 / step as f64).ceil() * step as f64 / 1e9 }
}

/// Returns the bit/s that a flow has delivered, in order, in the window before the last of its samples `upto`; none where the
/// samples do not reach back so far.
pub fn throughput(upto: &[&Sample], times: &[Time], window: f64) -> Option<f64> {
    let last = upto.last()?;
    let before_last =
        |sample: &Sample| Time(times[last.time_index].0 - times[sample.time_index].0).as_secs_f64();
    let first = upto.iter().rfind(|sample| before_last(sample) >= REACH * window)?;
    let bytes = last.delivered_bytes.saturating_sub(first.delivered_bytes);
    Some(bytes as f64 * 8.0 / before_last(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_scenario::SampleState;

    /// Samples every 100 ms, with the bytes delivered until each.
    fn samples(bytes: &[u64]) -> (Vec<Time>, Vec<Sample>) {
        let times = (0..bytes.len()).map(|i| Time::from_millis(100 * i as u64)).collect();
        let sample = |(time_index, &delivered_bytes)| Sample {
            time_index,
            flow: 0,
            cwnd: 2.0,
            ssthresh: f64::INFINITY,
            rtt: None,
            delivered_bytes,
            in_flight: 0,
            sent: None,
            state: SampleState::Open,
        };
        (times, bytes.iter().enumerate().map(sample).collect())
    }

    #[test]
    fn throughput_is_what_was_delivered_in_the_window() {
        let (times, samples) = samples(&[0, 10, 30, 30, 70]);
        let upto = |n: usize| samples[..n].iter().collect::<Vec<_>>();
        let rates: Vec<_> = (1..=5).map(|n| throughput(&upto(n), &times, 0.2)).collect();
        assert_eq!(
            rates,
            [None, None, Some(8.0 * 30.0 / 0.2), Some(8.0 * 20.0 / 0.2), Some(8.0 * 40.0 / 0.2)]
        );
        assert_eq!(throughput(&[], &times, 0.2), None);
    }

    #[test]
    fn the_window_is_a_part_of_the_run_or_the_longest_gap() {
        let every_10_ms: Vec<Time> = (0..=1_000).map(|i| Time::from_millis(10 * i)).collect();
        assert_eq!(window(&every_10_ms), 0.2);
        assert_eq!(window(&every_10_ms[..=10]), 0.01);
    }

    #[test]
    fn the_mean_is_over_whole_steps() {
        let every_100_ms: Vec<Time> = (1..=150).map(|i| Time::from_millis(100 * i)).collect();
        assert_eq!([window(&every_100_ms), span(&every_100_ms)], [0.298, 0.3]);
        let bytes: Vec<u64> = (0..150).map(|i| i * i).collect();
        let (_, samples) = samples(&bytes);
        let upto: Vec<&Sample> = samples[..10].iter().collect();
        assert_eq!(throughput(&upto, &every_100_ms, 0.298), Some(8.0 * (81.0 - 36.0) / 0.3));
        assert_eq!(span(&every_100_ms[..1]), window(&every_100_ms[..1]));
    }
}
