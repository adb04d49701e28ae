//! What is drawn for packets before they cross the line, and can be taken back.

use cwnd_link::{JitterSource, LossModel, Stream};
use cwnd_scenario::{JitterShape, Loss};
use std::collections::VecDeque;

/// What draws one value for each packet.
pub trait Source: Clone {
    /// What it draws.
    type Value;

    /// Draws for the next packet.
    fn draw(&mut self) -> Self::Value;
}

impl Source for LossModel {
    /// Whether the packet is lost.
    type Value = bool;

    #[inline(always)]
    fn draw(&mut self) -> bool {
        self.next_is_lost()
    }
}

impl Source for JitterSource {
    /// The additional delay, ns.
    type Value = u64;

    #[inline(always)]
    fn draw(&mut self) -> u64 {
        JitterSource::draw(self)
    }
}

/// A source that can go back: it keeps a copy of itself every `STRIDE` draws.
#[derive(Clone, Debug)]
pub struct Draws<S> {
    source: S,
    /// Copies of the source, each with the number of draws before it, oldest first. The first is early enough for every
    /// draw that may be taken back.
    kept: VecDeque<(u64, S)>,
    drawn: u64,
    /// The number of draws at which the next copy is due.
    keep_at: u64,
}

/// Draws between two copies.
const STRIDE: u64 = 256;

impl<S: Source> Draws<S> {
    fn of(source: S) -> Draws<S> {
        Draws { kept: VecDeque::from([(0, source.clone())]), source, drawn: 0, keep_at: STRIDE }
    }

    /// Draws for the next packet. At most `most` of the latest draws will ever be taken back.
    #[inline(always)]
    pub fn draw(&mut self, most: usize) -> S::Value {
        if self.drawn == self.keep_at {
            self.keep(most);
        }
        self.drawn += 1;
        self.source.draw()
    }

    /// Withdraws the latest `n` draws.
    pub fn take_back(&mut self, n: usize) {
        let drawn = self.drawn - n as u64;
        while self.kept.len() > 1 && self.latest() > drawn {
            self.kept.pop_back();
        }
        let (begin, source) = self.kept.back().expect("one is always kept");
        (self.source, self.drawn) = (source.clone(), *begin);
        self.keep_at = *begin + STRIDE;
        while self.drawn < drawn {
            self.drawn += 1;
            self.source.draw();
        }
    }

    /// The source is another one from the next packet on. Earlier draws stay.
    fn forget(&mut self) {
        self.kept = VecDeque::from([(self.drawn, self.source.clone())]);
        self.keep_at = self.drawn + STRIDE;
    }

    fn latest(&self) -> u64 {
        self.kept.back().map_or(0, |(drawn, _)| *drawn)
    }

    #[cold]
    fn keep(&mut self, most: usize) {
        self.kept.push_back((self.drawn, self.source.clone()));
        self.keep_at = self.drawn + STRIDE;
        while self.kept.get(1).is_some_and(|(drawn, _)| drawn + most as u64 <= self.drawn) {
            self.kept.pop_front();
        }
    }
}

impl Draws<LossModel> {
    /// Creates a loss model before its first draw.
    pub fn losses(loss: &Loss, stream: Stream) -> Self {
        Draws::of(LossModel::new(loss, stream))
    }

    /// Changes the model from the next packet on. Earlier draws stay.
    pub fn set(&mut self, loss: &Loss) {
        self.source.set(loss);
        self.forget();
    }

    /// Skips the draws of `n` packets that have crossed the line already.
    pub fn skip(&mut self, n: u64) {
        self.source.skip(n);
        self.forget();
    }
}

impl Draws<JitterSource> {
    /// Creates a jitter before its first draw.
    pub fn jitter(shape: JitterShape, stream: Stream) -> Self {
        Draws::of(JitterSource::new(shape, stream))
    }

    /// Changes the jitter from the next packet on; its stream continues. Earlier draws stay.
    pub fn set_shape(&mut self, shape: JitterShape) {
        self.source = JitterSource::new(shape, self.source.clone().into_stream());
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_link::Purpose;
    use cwnd_scenario::{GilbertElliott, Time};

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
        let mut losses = Draws::losses(&chain(), stream());
        let mut next = 0;
        for back in [0, 1, 255, 256, 257, 700, 3].into_iter().cycle().take(40) {
            for _ in 0..back + 90 {
                assert_eq!(losses.draw(700), expected[next], "{next}");
                next += 1;
            }
            losses.take_back(back);
            next -= back;
        }
        // No more is kept than may be asked for.
        assert!(losses.kept.len() < 700 / STRIDE as usize + 3, "{}", losses.kept.len());
    }

    #[test]
    fn jitter_that_was_taken_back_is_drawn_alike() {
        // Normal draws come in pairs, of which the second is kept.
        let shape = JitterShape::Normal(Time::from_millis(5), Time::from_millis(1));
        let stream = || Stream::new(9, Purpose::Jitter, 1);
        let mut plain = JitterSource::new(shape, stream());
        let expected: Vec<u64> = (0..2000).map(|_| plain.draw()).collect();
        let mut jitter = Draws::jitter(shape, stream());
        let mut next = 0;
        for back in [1, 256, 3, 300].into_iter().cycle().take(16) {
            for _ in 0..back + 91 {
                assert_eq!(jitter.draw(300), expected[next], "{next}");
                next += 1;
            }
            jitter.take_back(back);
            next -= back;
        }
    }

    #[test]
    fn a_change_is_behind_what_was_decided() {
        let mut losses = Draws::losses(&Loss::None, stream());
        losses.skip(10);
        losses.set(&Loss::Nth(vec![3, 12, 14]));
        let lost = |losses: &mut Draws<LossModel>, n| (0..n).map(|_| losses.draw(8)).collect::<Vec<_>>();
        assert_eq!(lost(&mut losses, 3), [false, true, false]);
        losses.take_back(2);
        assert_eq!(lost(&mut losses, 3), [true, false, true]);
    }
}
