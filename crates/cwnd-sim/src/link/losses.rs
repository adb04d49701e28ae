//! Losses that are drawn before the packets cross the line, and can be taken back.

use cwnd_link::{LossModel, Stream};
use cwnd_scenario::Loss;
use std::collections::VecDeque;

/// A loss model that can go back: it keeps a copy of itself every `STRIDE` draws.
#[derive(Clone, Debug)]
pub struct Losses {
    model: LossModel,
    /// Copies of the model, each with the number of draws before it, oldest first. The first is early enough for every
    /// draw that may be taken back.
    kept: VecDeque<(u64, LossModel)>,
    decided: u64,
}

/// Draws between two copies.
const STRIDE: u64 = 256;

impl Losses {
    /// Creates a model before its first draw.
    pub fn new(loss: &Loss, stream: Stream) -> Losses {
        let model = LossModel::new(loss, stream);
        Losses { kept: VecDeque::from([(0, model.clone())]), model, decided: 0 }
    }

    /// Returns whether the next packet is lost. At most `most` of the latest draws will ever be taken back.
    #[inline]
    pub fn next_is_lost(&mut self, most: usize) -> bool {
        if self.decided - self.latest() >= STRIDE {
            self.keep(most);
        }
        self.decided += 1;
        self.model.next_is_lost()
    }

    /// Takes back the latest `n` draws.
    pub fn take_back(&mut self, n: usize) {
        let decided = self.decided - n as u64;
        while self.kept.len() > 1 && self.latest() > decided {
            self.kept.pop_back();
        }
        let (begin, model) = self.kept.back().expect("one is always kept");
        (self.model, self.decided) = (model.clone(), *begin);
        while self.decided < decided {
            self.decided += 1;
            self.model.next_is_lost();
        }
    }

    /// Changes the model from the next packet on. Earlier draws stay.
    pub fn set(&mut self, loss: &Loss) {
        self.model.set(loss);
        self.kept = VecDeque::from([(self.decided, self.model.clone())]);
    }

    /// Skips the draws of `n` packets that have crossed the line already.
    pub fn skip(&mut self, n: u64) {
        self.model.skip(n);
        self.kept = VecDeque::from([(self.decided, self.model.clone())]);
    }

    fn latest(&self) -> u64 {
        self.kept.back().map_or(0, |(decided, _)| *decided)
    }

    #[cold]
    fn keep(&mut self, most: usize) {
        self.kept.push_back((self.decided, self.model.clone()));
        while self.kept.get(1).is_some_and(|(decided, _)| decided + most as u64 <= self.decided) {
            self.kept.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_link::Purpose;
    use cwnd_scenario::GilbertElliott;

    fn chain() -> Loss {
        Loss::GilbertElliott(GilbertElliott { to_bad: 0.1, to_good: 0.3, loss_good: 0.02, loss_bad: 0.7 })
    }

    fn stream() -> Stream {
        Stream::new(9, Purpose::Loss, 1)
    }

    #[test]
    fn what_was_taken_back_is_decided_alike() {
        let mut plain = LossModel::new(&chain(), stream());
        let expected: Vec<bool> = (0..5000).map(|_| plain.next_is_lost()).collect();
        let mut losses = Losses::new(&chain(), stream());
        let mut next = 0;
        for back in [0, 1, 255, 256, 257, 700, 3].into_iter().cycle().take(40) {
            for _ in 0..back + 90 {
                assert_eq!(losses.next_is_lost(700), expected[next], "{next}");
                next += 1;
            }
            losses.take_back(back);
            next -= back;
        }
        // No more is kept than may be asked for.
        assert!(losses.kept.len() < 700 / STRIDE as usize + 3, "{}", losses.kept.len());
    }

    #[test]
    fn a_change_is_behind_what_was_decided() {
        let mut losses = Losses::new(&Loss::None, stream());
        losses.skip(10);
        losses.set(&Loss::Nth(vec![3, 12, 14]));
        let lost = |losses: &mut Losses, n| (0..n).map(|_| losses.next_is_lost(8)).collect::<Vec<_>>();
        assert_eq!(lost(&mut losses, 3), [false, true, false]);
        losses.take_back(2);
        assert_eq!(lost(&mut losses, 3), [true, false, true]);
    }
}
