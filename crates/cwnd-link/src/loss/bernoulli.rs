//! Independent losses.

use crate::Stream;

/// Independent losses: each packet with the same probability.
///
/// Instead of a draw a packet it draws the gap to the next loss, which is geometric (see [`Stream::failures`]).
#[derive(Clone, Debug)]
pub struct BernoulliLoss {
    probability: f64,
    /// Packets that pass before the next loss; `u64::MAX` when nothing is ever lost.
    gap: u64,
    stream: Stream,
}

impl BernoulliLoss {
    /// Loses each packet with `probability` (clamped to 0..=1).
    pub fn new(probability: f64, stream: Stream) -> Self {
        let mut loss = BernoulliLoss { probability: 0.0, gap: u64::MAX, stream };
        loss.set_probability(probability);
        loss
    }

    /// Changes the probability from the next packet on. Draws a new gap.
    pub fn set_probability(&mut self, probability: f64) {
        self.probability = probability.clamp(0.0, 1.0);
        self.gap = self.stream.failures(self.probability);
    }

    /// Returns the random stream in its current state.
    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns the probability.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Returns whether the next packet is lost.
    #[inline]
    pub fn next_is_lost(&mut self) -> bool {
        if self.gap == 0 {
            self.gap = self.stream.failures(self.probability);
            return true;
        }
        // A gap of u64::MAX never reaches zero in the life of a simulation.
        self.gap -= 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    fn count(probability: f64, packets: u64) -> u64 {
        let mut loss = BernoulliLoss::new(probability, Stream::new(1, Purpose::Loss, 0));
        (0..packets).filter(|_| loss.next_is_lost()).count() as u64
    }

    #[test]
    fn loses_with_its_probability() {
        // Binomial(1e6, 0.01): mean 10,000, standard deviation 99.5; five of them allowed.
        assert!(count(0.01, 1_000_000).abs_diff(10_000) < 498);
        // Binomial(1e6, 0.5): mean 500,000, standard deviation 500.
        assert!(count(0.5, 1_000_000).abs_diff(500_000) < 2500);
        assert_eq!(count(0.0, 1000), 0);
        assert_eq!(count(1.0, 1000), 1000);
    }

    #[test]
    fn gaps_have_no_memory() {
        // P(loss right after a loss) must be p as well: 1e6 packets at p = 0.1 give about 1e5 losses,
        // of which a tenth follow at once (mean 10,000, standard deviation about 95).
        let mut loss = BernoulliLoss::new(0.1, Stream::new(3, Purpose::Loss, 0));
        let (mut pairs, mut last) = (0u64, false);
        for _ in 0..1_000_000 {
            let lost = loss.next_is_lost();
            pairs += u64::from(lost && last);
            last = lost;
        }
        assert!(pairs.abs_diff(10_000) < 500, "{pairs}");
    }
}
