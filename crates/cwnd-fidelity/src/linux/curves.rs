//! Curves over time, and the distance between two of them.

use cwnd_metrics::statistics::Summary;

/// The state of a flow at one time.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Seconds since it started.
    pub time: f64,
    /// Segments.
    pub cwnd: f64,
    /// Payload bytes acknowledged so far.
    pub acked: f64,
    /// Whether a packet was lost before.
    pub lost: bool,
}

/// A flow over time.
#[derive(Clone, Debug)]
pub struct Curve(pub Vec<Point>);

/// Largest difference of times that count as equal, seconds. Times in a recording are microseconds later than cwnd's.
const TIME_TOLERANCE: f64 = 1e-3;

impl Curve {
    /// Returns the goodput between two times, Mbit/s.
    pub fn goodput(&self, from: f64, to: f64) -> f64 {
        let acked = |time: f64| {
            self.0.iter().rev().find(|point| point.time <= time + TIME_TOLERANCE).map_or(0.0, |p| p.acked)
        };
        (acked(to) - acked(from)) * 8.0 / (to - from) / 1e6
    }

    /// Returns the mean window of the points between two times, segments.
    pub fn mean_cwnd(&self, from: f64, to: f64) -> f64 {
        let within = |point: &&Point| point.time > from + TIME_TOLERANCE && point.time <= to + TIME_TOLERANCE;
        let windows: Vec<f64> = self.0.iter().filter(within).map(|point| point.cwnd).collect();
        Summary::of(&windows).map_or(f64::NAN, |summary| summary.mean)
    }

    /// Returns the last time without a loss, and the first with one; none if nothing is lost.
    pub fn first_loss(&self) -> Option<(f64, f64)> {
        let at = self.0.iter().position(|point| point.lost)?;
        Some((at.checked_sub(1).map_or(0.0, |before| self.0[before].time), self.0[at].time))
    }

    /// Returns the mean distance to another curve after the first second, as a fraction of this curve's mean window. Only times
    /// that both curves have count.
    pub fn distance(&self, other: &Curve) -> f64 {
        let mut others = other.0.iter().peekable();
        let (mut apart, mut sum) = (0.0, 0.0);
        for point in self.0.iter().filter(|point| point.time > 1.0) {
            while others.next_if(|other| other.time < point.time - TIME_TOLERANCE).is_some() {}
            if let Some(other) = others.peek().filter(|other| other.time < point.time + TIME_TOLERANCE) {
                apart += (point.cwnd - other.cwnd).abs();
                sum += point.cwnd;
            }
        }
        apart / sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Curve {
        let point = |&(time, cwnd): &(f64, f64)| Point { time, cwnd, acked: time * 1e6, lost: time > 1.4 };
        Curve(points.iter().map(point).collect())
    }

    #[test]
    fn measures() {
        let recorded = curve(&[(0.5, 7.0), (1.1, 10.0), (1.5, 20.0), (2.0, 30.0)]);
        let ours = curve(&[(0.5, 99.0), (1.1001, 13.0), (1.4, 99.0), (1.5001, 20.0), (2.0001, 27.0)]);
        // 3 + 0 + 3 of 60.
        assert!((recorded.distance(&ours) - 0.1).abs() < 1e-9);
        assert!((recorded.mean_cwnd(1.0, 2.0) - 20.0).abs() < 1e-9);
        // A million bytes a second.
        assert!((recorded.goodput(0.5, 2.0) - 8.0).abs() < 1e-9);
        assert_eq!(recorded.first_loss(), Some((1.1, 1.5)));
    }
}
