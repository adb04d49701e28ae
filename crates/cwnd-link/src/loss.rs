//! Losses on a line.

mod bernoulli;
mod gilbert_elliott;

pub use bernoulli::BernoulliLoss;
pub use gilbert_elliott::GilbertElliottLoss;

use crate::Stream;
use cwnd_scenario::Loss;

/// Any loss model. It is called for each packet that crosses a line.
#[derive(Clone, Debug)]
pub struct LossModel {
    kind: Kind,
    /// Number of packets that have crossed.
    crossed: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Stands for no loss at a probability of zero.
    Bernoulli(BernoulliLoss),
    GilbertElliott(GilbertElliottLoss),
    Nth {
        /// The numbers that are yet to come, the next one last.
        numbers: Vec<u64>,
        stream: Stream,
    },
}

impl LossModel {
    /// Creates the model of `loss`. All draws are from `stream`.
    pub fn new(loss: &Loss, stream: Stream) -> LossModel {
        LossModel { kind: Kind::new(loss, stream, 0), crossed: 0 }
    }

    /// Returns whether the next packet is lost.
    #[inline]
    pub fn next_is_lost(&mut self) -> bool {
        self.crossed += 1;
        match &mut self.kind {
            Kind::Bernoulli(loss) => loss.next_is_lost(),
            Kind::GilbertElliott(loss) => loss.next_is_lost(),
            Kind::Nth { numbers, .. } => {
                let lost = numbers.last() == Some(&self.crossed);
                if lost {
                    numbers.pop();
                }
                lost
            }
        }
    }

    /// Returns whether no packet is lost until a change.
    pub fn never_loses(&self) -> bool {
        match &self.kind {
            Kind::Bernoulli(loss) => loss.probability() == 0.0,
            Kind::GilbertElliott(_) => false,
            Kind::Nth { numbers, .. } => numbers.is_empty(),
        }
    }

    /// Counts packets that crossed without a call of the model.
    pub fn skip(&mut self, packets: u64) {
        self.crossed += packets;
    }

    /// Changes the losses from the next packet on. The random streams continue; a chain begins good; the numbers of given
    /// packets are counted from the first that ever crossed.
    pub fn set(&mut self, loss: &Loss) {
        match (&mut self.kind, loss) {
            (Kind::Bernoulli(old), Loss::None) => old.set_probability(0.0),
            (Kind::Bernoulli(old), Loss::Bernoulli(probability)) => old.set_probability(*probability),
            (kind, _) => *kind = Kind::new(loss, kind.stream().clone(), self.crossed),
        }
    }
}

impl Kind {
    fn new(loss: &Loss, stream: Stream, crossed: u64) -> Kind {
        match loss {
            Loss::None => Kind::Bernoulli(BernoulliLoss::new(0.0, stream)),
            Loss::Bernoulli(probability) => Kind::Bernoulli(BernoulliLoss::new(*probability, stream)),
            Loss::GilbertElliott(chain) => Kind::GilbertElliott(GilbertElliottLoss::new(chain, stream)),
            Loss::Nth(numbers) => {
                let mut numbers: Vec<u64> = numbers.iter().copied().filter(|&n| n > crossed).collect();
                numbers.sort_unstable_by(|a, b| b.cmp(a));
                numbers.dedup();
                Kind::Nth { numbers, stream }
            }
        }
    }

    fn stream(&self) -> &Stream {
        match self {
            Kind::Bernoulli(loss) => loss.stream(),
            Kind::GilbertElliott(loss) => loss.stream(),
            Kind::Nth { stream, .. } => stream,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;
    use cwnd_scenario::GilbertElliott;

    fn stream() -> Stream {
        Stream::new(4, Purpose::Loss, 2)
    }

    /// Returns the numbers of lost packets among the next `n`, the first of which is `first`.
    fn lost(loss: &mut LossModel, first: u64, n: u64) -> Vec<u64> {
        (first..first + n).filter(|_| loss.next_is_lost()).collect()
    }

    #[test]
    fn given_packets_are_lost() {
        let mut loss = LossModel::new(&Loss::Nth(vec![1, 4, 5, 100]), stream());
        assert_eq!(lost(&mut loss, 1, 1000), [1, 4, 5, 100]);
        // In any order, and more than once said: still each of them, once.
        let mut loss = LossModel::new(&Loss::Nth(vec![5, 0, 5, 1]), stream());
        assert_eq!(lost(&mut loss, 1, 1000), [1, 5]);
    }

    #[test]
    fn a_live_change_counts_from_the_first_packet() {
        let mut loss = LossModel::new(&Loss::None, stream());
        assert_eq!(lost(&mut loss, 1, 10), []);
        loss.set(&Loss::Nth(vec![3, 12, 15]));
        assert_eq!(lost(&mut loss, 11, 3), [12]);
        loss.set(&Loss::Bernoulli(1.0));
        assert_eq!(lost(&mut loss, 14, 2), [14, 15]);
    }

    #[test]
    fn it_draws_as_its_parts_do() {
        let mut model = LossModel::new(&Loss::Bernoulli(0.1), stream());
        let mut part = BernoulliLoss::new(0.1, stream());
        let same = |model: &mut LossModel, part: &mut BernoulliLoss| {
            assert!((0..1000).all(|_| model.next_is_lost() == part.next_is_lost()));
        };
        same(&mut model, &mut part);
        model.set(&Loss::Bernoulli(0.3));
        part.set_probability(0.3);
        same(&mut model, &mut part);
        // Without losses first: the first draw is that of the change.
        let mut model = LossModel::new(&Loss::None, stream());
        assert!(!(0..1000).any(|_| model.next_is_lost()));
        model.set(&Loss::Bernoulli(0.3));
        same(&mut model, &mut BernoulliLoss::new(0.3, stream()));
    }

    #[test]
    fn another_kind_goes_on_with_the_draws() {
        let chain = GilbertElliott { to_bad: 0.2, to_good: 0.3, loss_good: 0.0, loss_bad: 1.0 };
        let mut model = LossModel::new(&Loss::Bernoulli(0.5), stream());
        // The first gap is drawn already; what comes after it is the chain's.
        model.set(&Loss::Nth(vec![]));
        model.set(&Loss::GilbertElliott(chain));
        let mut later = stream();
        later.next_u64();
        let mut part = GilbertElliottLoss::new(&chain, later);
        assert!((0..1000).all(|_| model.next_is_lost() == part.next_is_lost()));
    }
}
