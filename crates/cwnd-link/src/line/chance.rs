//! Events with a fixed probability.

use crate::Stream;

/// An event that each packet causes independently with the same probability. One draw gives the gap to the next event (see
/// [`Stream::failures`]).
#[derive(Clone, Debug)]
pub struct Chance {
    probability: f64,
    gap: u64,
    stream: Stream,
}

impl Chance {
    pub fn new(probability: f64, mut stream: Stream) -> Chance {
        Chance { probability, gap: stream.failures(probability), stream }
    }

    /// Returns whether the event occurs this time.
    #[inline]
    pub fn comes(&mut self) -> bool {
        if self.gap == 0 {
            self.gap = self.stream.failures(self.probability);
            return true;
        }
        self.gap -= 1;
        false
    }

    /// Returns the random stream, for a successor that continues with it.
    pub fn into_stream(self) -> Stream {
        self.stream
    }
}
