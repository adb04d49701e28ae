//! Losses in bursts.

use crate::Stream;
use cwnd_scenario::GilbertElliott;

/// The chain of two states of [`GilbertElliott`]: it makes a step before each packet, and begins good.
///
/// Instead of one or two draws a packet it draws how many steps leave the state as it is, and how many packets pass in
/// each state before one is lost there. Both are geometric (see [`Stream::failures`]), and have no memory: a gap that a
/// change of state interrupts continues when the state comes back.
#[derive(Clone, Debug)]
pub struct GilbertElliottLoss {
    /// Probability of leaving each state, good and bad.
    leave: [f64; 2],
    /// Probability of loss in each.
    loss: [f64; 2],
    stream: Stream,
    bad: bool,
    /// Steps that change nothing before one that does.
    stay: u64,
    /// In each state, packets that pass before one is lost.
    gaps: [u64; 2],
}

impl GilbertElliottLoss {
    /// A line that is good until the first packet's step. Probabilities are clamped to 0..=1.
    pub fn new(chain: &GilbertElliott, mut stream: Stream) -> GilbertElliottLoss {
        let leave = [chain.to_bad, chain.to_good];
        let loss = [chain.loss_good, chain.loss_bad];
        let stay = stream.failures(leave[0]);
        let gaps = loss.map(|probability| stream.failures(probability));
        GilbertElliottLoss { leave, loss, stream, bad: false, stay, gaps }
    }

    /// Returns whether the next packet is lost.
    #[inline]
    pub fn next_is_lost(&mut self) -> bool {
        // A count of u64::MAX never reaches zero in the life of a simulation.
        if self.stay == 0 {
            self.bad = !self.bad;
            self.stay = self.stream.failures(self.leave[usize::from(self.bad)]);
        } else {
            self.stay -= 1;
        }
        let state = usize::from(self.bad);
        if self.gaps[state] == 0 {
            self.gaps[state] = self.stream.failures(self.loss[state]);
            return true;
        }
        self.gaps[state] -= 1;
        false
    }

    /// Returns the random stream in its current state.
    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    fn chain(to_bad: f64, to_good: f64, loss_good: f64, loss_bad: f64) -> GilbertElliottLoss {
        let chain = GilbertElliott { to_bad, to_good, loss_good, loss_bad };
        GilbertElliottLoss::new(&chain, Stream::new(1, Purpose::Loss, 0))
    }

    /// Losses among `n` packets, and the lengths of the bursts in which they come.
    fn bursts(loss: &mut GilbertElliottLoss, n: u64) -> (u64, Vec<u64>) {
        let (mut lost, mut bursts, mut last) = (0, vec![], false);
        for _ in 0..n {
            let now = loss.next_is_lost();
            lost += u64::from(now);
            match bursts.last_mut() {
                Some(length) if now && last => *length += 1,
                _ if now => bursts.push(1),
                _ => {}
            }
            last = now;
        }
        (lost, bursts)
    }

    #[test]
    fn simple_gilbert_loses_all_of_each_bad_stretch() {
        // p = 0.01 and r = 0.25: bad for p / (p + r) = 0.03846 of all packets, in stretches of 1 / r = 4.
        // The share of n packets has the variance pi (1 - pi) / n x (1 + c) / (1 - c) with the chain's correlation
        // c = 1 - p - r = 0.74: of 1e6 packets the deviation is sqrt(36,982 x 6.692) = 497; five of them allowed.
        let (lost, bursts) = bursts(&mut chain(0.01, 0.25, 0.0, 1.0), 1_000_000);
        assert!(lost.abs_diff(38_462) < 2485, "{lost}");
        // Stretches are geometric with variance (1 - r) / r^2 = 12. There are about 9,615, so the mean's deviation is
        // sqrt(12 / 9,615) = 0.0353.
        let mean = bursts.iter().sum::<u64>() as f64 / bursts.len() as f64;
        assert!((mean - 4.0).abs() < 5.0 * 0.0353, "{mean}");
        // Cycles of good and bad stretches come every 1 / p + 1 / r = 104 packets.
        assert!((bursts.len() as u64).abs_diff(9615) < 500, "{}", bursts.len());
    }

    #[test]
    fn elliotts_states_lose_each_with_its_own_probability() {
        // Bad for 0.1 / (0.1 + 0.3) = 1/4 of all packets: 0.75 x 0.02 + 0.25 x 0.4 = 0.115. The deviation of 1e6 packets:
        // binomial sqrt(1e6 x 0.115 x 0.885) = 319, and the states' share 0.38 x sqrt(1e6 x 0.1875 x 1.6 / 0.4) = 329
        // beside it: 458 together.
        let (lost, _) = bursts(&mut chain(0.1, 0.3, 0.02, 0.4), 1_000_000);
        assert!(lost.abs_diff(115_000) < 5 * 458, "{lost}");
    }

    #[test]
    fn its_first_steps_are_those_of_its_stream() {
        // p = 0.2 and r = 0.3. The stream's first numbers are U = 0.5615, 0.3543, 0.5282, 0.5105, 0.2154, 0.7007, ...:
        // ln(1 - U) / ln(1 - p or r) = 3.694, 1.227, 3.366, 2.003, 1.087, 3.382 by turns. So 3 good steps; it becomes bad
        // with packet 4 and stays so for 1 step; good with 6, 3 steps; bad with 10, 2 steps; good with 13, 1 step;
        // bad with 15, 3 steps, until 18. Losses of probability 0 and 1 draw nothing.
        let mut loss = chain(0.2, 0.3, 0.0, 1.0);
        let lost: Vec<u64> = (1..=19).filter(|_| loss.next_is_lost()).collect();
        assert_eq!(lost, [4, 5, 10, 11, 12, 15, 16, 17, 18]);
    }

    #[test]
    fn its_extremes() {
        let lost =
            |mut loss: GilbertElliottLoss| (0..8).map(|_| u8::from(loss.next_is_lost())).collect::<Vec<_>>();
        // It is bad from the first packet on, by turns with good ones, or never.
        assert_eq!(lost(chain(1.0, 0.0, 0.0, 1.0)), [1; 8]);
        assert_eq!(lost(chain(1.0, 1.0, 0.0, 1.0)), [1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(lost(chain(0.0, 1.0, 0.0, 1.0)), [0; 8]);
        assert_eq!(lost(chain(0.0, 1.0, 1.0, 0.0)), [1; 8]);
    }
}
