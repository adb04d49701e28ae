//! Something that happens now and then.

use crate::Stream;

/// Something that happens at each packet independently with the same probability. The gaps are drawn, not each packet (see
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

    /// Whether it happens this time.
    #[inline]
    pub fn comes(&mut self) -> bool {
        if self.gap == 0 {
            self.gap = self.stream.failures(self.probability);
            return true;
        }
        self.gap -= 1;
        false
    }

    /// What it draws from, for whoever continues with that.
    pub fn into_stream(self) -> Stream {
        self.stream
    }
}
