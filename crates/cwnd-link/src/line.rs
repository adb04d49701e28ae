//! What becomes of a packet between a transmitter and the other end.

use crate::{BernoulliLoss, Purpose, Stream};
use cwnd_scenario::{LinkSpec, Loss, Time};

/// What becomes of a packet on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// When it comes out of the line. One that is lost keeps its place until then.
    pub at: u64,
    /// It is lost.
    pub lost: bool,
    /// It comes out twice, the second right after the first.
    pub twice: bool,
}

/// A line: what a packet meets after it has left the transmitter.
#[derive(Clone, Debug)]
pub struct Line {
    delay: u64,
    last_out: u64,
    loss: BernoulliLoss,
}

impl Line {
    /// An empty line. The scenario's time zero is `origin` on the clock of all that follows; `index` is the link's
    /// number, which decides its draws together with the seed.
    pub fn new(link: &LinkSpec, origin: u64, seed: u64, index: u64) -> Line {
        let _ = origin;
        let stream = Stream::new(seed, Purpose::Loss, index);
        Line { delay: link.delay.0, last_out: 0, loss: BernoulliLoss::new(probability(&link.loss), stream) }
    }

    /// A packet has left the transmitter at `departure`, which is never earlier than the last one.
    #[inline]
    pub fn cross(&mut self, departure: u64) -> Crossing {
        self.last_out = self.last_out.max(departure + self.delay);
        Crossing { at: self.last_out, lost: self.loss.next_is_lost(), twice: false }
    }

    /// Whether packets may overtake each other. If not, [`Crossing::at`] never falls from one packet to the next.
    pub fn reorders(&self) -> bool {
        false
    }

    /// The least time that a packet ever takes from its departure to the other end.
    pub fn least_delay(&self) -> u64 {
        self.delay
    }

    /// The propagation delay changes at `now`, before all else that happens then, for packets that depart from now on.
    pub fn set_delay(&mut self, now: u64, delay: Time) {
        let _ = now;
        self.delay = delay.0;
    }

    /// Another loss, from the next packet on that crosses.
    pub fn set_loss(&mut self, loss: &Loss) {
        self.loss.set_probability(probability(loss));
    }
}

fn probability(loss: &Loss) -> f64 {
    match loss {
        Loss::Bernoulli(probability) => *probability,
        Loss::None | Loss::GilbertElliott(_) | Loss::Nth(_) => 0.0,
    }
}
