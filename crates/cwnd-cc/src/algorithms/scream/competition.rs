//! The target of the queue delay, which rises where other flows keep the queue full.

use crate::Nanos;

const INTERVAL: Nanos = Nanos(50_000_000);
/// Samples of the variance, and the latest of them that the mean is of.
const OF_VARIANCE: usize = 200;
const OF_MEAN: usize = 50;
/// The variance, in squares of the least target, below which the delay is steady.
const STEADY: f64 = 0.2;
/// The share of round trips with losses from which others are taken to fill the queue.
const LOSSES: f64 = 0.002;
const LOSS_GAIN: f64 = 0.01;

/// Watches the queue delay for flows that fill the queue.
#[derive(Clone, Debug)]
pub(super) struct Competition {
    least: f64,
    most: f64,
    target: f64,
    /// Delays as multiples of the least target, in a circle.
    history: [f64; OF_VARIANCE],
    samples: usize,
    next: usize,
    sampled: Nanos,
    /// The share of round trips with losses.
    losses: f64,
}

impl Competition {
    /// Creates it with the least and the greatest target, s.
    pub fn new(least: f64, most: f64) -> Competition {
        let history = [0.0; OF_VARIANCE];
        let most = most.max(least);
        Competition {
            least,
            most,
            target: least,
            history,
            samples: 0,
            next: 0,
            sampled: Nanos::ZERO,
            losses: 0.0,
        }
    }

    /// Returns the target, s.
    pub fn target(&self) -> f64 {
        self.target
    }

    /// Ends a round trip.
    pub fn end_round(&mut self, lost: bool) {
        self.losses += LOSS_GAIN * (f64::from(u8::from(lost)) - self.losses);
    }

    /// Adds a queue delay, s, unless one was added a short while ago.
    pub fn add(&mut self, now: Nanos, delay: f64) {
        if now.since(self.sampled) < INTERVAL {
            return;
        }
        self.sampled = now;
        self.history[self.next] = delay / self.least;
        self.next = (self.next + 1) % OF_VARIANCE;
        self.samples = (self.samples + 1).min(OF_VARIANCE);
        self.adjust();
    }

    fn adjust(&mut self) {
        let variance = self.variance();
        let wanted = (self.latest_mean() + libm::sqrt(variance)) * self.least;
        let target = if self.losses > LOSSES {
            1.5 * wanted
        } else if variance < STEADY {
            wanted
        } else if wanted < self.least {
            (self.target * 0.5).max(wanted)
        } else {
            self.target * 0.9
        };
        self.target = target.clamp(self.least, self.most);
    }

    fn variance(&self) -> f64 {
        let values = &self.history[..self.samples];
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count
    }

    fn latest_mean(&self) -> f64 {
        let count = self.samples.min(OF_MEAN);
        let value = |back: usize| self.history[(self.next + OF_VARIANCE - back) % OF_VARIANCE];
        (1..=count).map(value).sum::<f64>() / count as f64
    }
}
